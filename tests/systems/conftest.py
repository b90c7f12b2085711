"""Tiny random models of real architectures, built in a temporary folder and named by a catalogue of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.model import Corpus, Questions
from analysis.systems import catalogue
from analysis.systems.entry import Entry

WORDS = (
    "the patient has a high fever train leaves at seven in morning knee pain wrist broken kidney stone query passage :"
)


@pytest.fixture
def extend_catalogue(tmp_path, monkeypatch) -> Callable[..., Entry]:
    """Adds a table to the catalogue, as a user would, and returns its entry."""
    file = tmp_path / "catalogue.toml"
    file.write_text(catalogue.CATALOGUE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(catalogue, "CATALOGUE", file)

    def extend(name: str, **settings: object) -> Entry:
        values = {"title": name, "short_title": name, "paradigm": "multilingual dense", "kind": "dense", **settings}
        lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"\n[{name}]\n" + "\n".join(lines) + "\n")
        return catalogue.entry(name)

    return extend


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(str(value) if isinstance(value, Path) else value)


@pytest.fixture
def tiny_model(tmp_path) -> Callable[..., Path]:
    """Builds a model folder: 32 dimensions, two layers, random weights, one token a word."""

    def build(architecture: str = "bert", *, folder: str = "tiny", seed: int = 1) -> Path:
        import torch
        import transformers
        from tokenizers import Tokenizer, models, pre_tokenizers, processors

        roman = architecture == "bert"
        names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] if roman else ["<pad>", "<unk>", "<s>", "</s>"]
        pad, unknown, start, end = names
        vocabulary = {token: i for i, token in enumerate([*names, *dict.fromkeys(WORDS.split())])}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        template = "$A </s>" if architecture == "qwen3" else f"{start} $A {end}"
        special = [(token, vocabulary[token]) for token in (start, end)]
        tokenizer.post_processor = processors.TemplateProcessing(single=template, special_tokens=special)
        path = tmp_path / folder
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            pad_token=pad,
            unk_token=unknown,
            cls_token=start,
            sep_token=end,
            padding_side="left" if architecture == "qwen3" else "right",
            model_max_length=40,
        ).save_pretrained(path)
        torch.manual_seed(seed)
        _MODELS[architecture](transformers, len(vocabulary)).save_pretrained(path)
        return path

    return build


def _bert(transformers, size):
    return transformers.BertModel(transformers.BertConfig(vocab_size=size, max_position_embeddings=48, **_SMALL))


def _xlm_roberta(transformers, size):
    config = transformers.XLMRobertaConfig(vocab_size=size, pad_token_id=0, max_position_embeddings=48, **_SMALL)
    return transformers.XLMRobertaModel(config)


def _mpnet(transformers, size):
    config = transformers.MPNetConfig(vocab_size=size, pad_token_id=0, max_position_embeddings=48, **_SMALL)
    return transformers.MPNetModel(config)


def _qwen3(transformers, size):
    config = transformers.Qwen3Config(vocab_size=size, num_key_value_heads=2, head_dim=8, pad_token_id=0, **_SMALL)
    return transformers.Qwen3Model(config)


_SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
_MODELS = {"bert": _bert, "xlm-roberta": _xlm_roberta, "mpnet": _mpnet, "qwen3": _qwen3}


@pytest.fixture
def small_task() -> tuple[Corpus, Questions]:
    """Three sentences in two languages, one of them twice, and two questions; the second excludes a document."""
    import numpy as np

    texts = (
        "The patient has a high fever.",
        "Le patient a une forte fièvre.",
        "Fracture of the wrist",
        "Fracture du poignet",
        "The train leaves at seven in the morning.",
        "Fracture of the wrist",
    )
    corpus = Corpus.of(("a", "b", "c", "d", "e", "f"), languages=("en", "fr", "en", "fr", "en", "en"), texts=texts)
    questions = Questions(
        ("q1", "q2"),
        ("en", "en"),
        ("Fracture of the wrist", "The patient has a high fever."),
        {1: np.array([0], dtype=np.int32)},
    )
    return corpus, questions
