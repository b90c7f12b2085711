"""Each model of the catalogue driven through its own table on tiny random weights, against a calculation by hand.

What is expected of a model stands here a second time, in the words of its card, so that a slip in the catalogue fails.
"""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest

from analysis.errors import SystemLoadError
from analysis.systems import catalogue, cross_encoder, encoders
from analysis.systems.weights import LoadOptions
from tests.systems import tiny_models

TEXTS = ["the patient has a high fever", "knee", "broken wrist, in the morning"]
SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


class Proof(NamedTuple):
    architecture: str
    dimension: int
    pooling: str
    limit: int
    query: str = ""
    document: str = ""
    layout: str = "sentence-transformers"
    shipped: Mapping = MappingProxyType({})


SMALL = 64  # dimensions of the random models

PROJECTED = {"projections": [96, SMALL]}
PROOFS = {
    "sapbert": Proof("bert", 768, "cls", 512, layout="transformers"),
    "sapbert-xlmr": Proof("xlm-roberta", 768, "cls", 512, layout="transformers"),
    "biolord-2023": Proof("mpnet", 768, "mean", 128, shipped={"limit": 128}),
    "bge-m3": Proof("xlm-roberta", 1024, "cls", 8192),
    "multilingual-e5-large": Proof("xlm-roberta", 1024, "mean", 512, "query: ", "passage: "),
    "multilingual-e5-large-instruct": Proof("xlm-roberta", 1024, "mean", 512, SEARCH + " "),
    "embeddinggemma-300m": Proof(
        "gemma3", 768, "mean", 2048, "task: search result | query: ", "title: none | text: ", shipped=PROJECTED
    ),
    "granite-278m-multilingual": Proof("xlm-roberta", 768, "cls", 512),
    "nomic-embed-text-v2-moe": Proof("nomic", 768, "mean", 512, "search_query: ", "search_document: ", "own code"),
    "qwen3-embedding-0.6b": Proof("qwen3", 1024, "lasttoken", 8192, SEARCH),
    "labse": Proof("bert", 768, "cls", 256, shipped={"limit": 256, "projections": [SMALL], "bias": True, "tanh": True}),
    "mmed-embed": Proof("xlm-roberta", 768, "mean", 256),
    "clip-vit-b-32-multilingual": Proof("distilbert", 512, "mean", 128, shipped={"projections": [SMALL]}),
}
SEEING = {  # what of a query is read; what their vectors are is proven in test_images.py
    "clip-vit-b-32": "text",
    "clip-vit-b-32-image": "image",
    "clip-vit-b-32-text-image": "text-image-mean",
    "clip-vit-b-32-multilingual": "text",
    "clip-vit-b-32-multilingual-text-image": "text-image-mean",
}
PAIRS = {"bge-reranker-v2-m3": 512}


def row(name):
    """The table as it is, but small; random weights know no language, so that part of the load check is left out."""
    entry = catalogue.entry(name)
    return dataclasses.replace(entry, languages=(), dimension=entry.dimension and SMALL)


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """Builds the folder of a system among the reader's own models."""
    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))

    def build(name):
        import torch

        proof, folder = PROOFS[name], tmp_path / "models" / name
        plain = folder if proof.layout == "transformers" else tmp_path / "plain"
        positions = 8194 if proof.limit == 8192 else 514
        tiny_models.backbone(plain, architecture=proof.architecture, dimension=SMALL, positions=positions)
        if plain != folder:
            more = {"activation": torch.nn.Tanh if proof.shipped.get("tanh") else torch.nn.Identity, **proof.shipped}
            tiny_models.shipped(plain, folder, pooling=proof.pooling, dimension=SMALL, **more)
        if proof.layout == "own code":
            entry = catalogue.entry(name)
            where = {"repository": entry.code, "revision": entry.code_revision}
            tiny_models.with_code_of_its_own(folder, tmp_path / "hub", **where)
        return folder, plain

    return build


def by_hand(folder, plain, texts, proof):
    """One text at a time, so without padding: the last hidden state, cut, pooled, projected, of length 1."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(plain)
    source = plain if (plain / "config.json").is_file() else folder
    model = AutoModel.from_pretrained(source).eval()
    dense = [load_file(file) for file in sorted(folder.glob("*_Dense/model.safetensors"))]
    vectors = []
    for text in texts:
        read = tokenizer(text, return_tensors="pt", truncation=True, max_length=proof.limit)
        with torch.no_grad():
            hidden = model(**read).last_hidden_state[0]
        vector = {"mean": hidden.mean(dim=0), "cls": hidden[0], "lasttoken": hidden[-1]}[proof.pooling]
        for layer in dense:
            vector = layer["linear.weight"] @ vector + layer.get("linear.bias", 0)
            vector = torch.tanh(vector) if proof.shipped.get("tanh") else vector
        vectors.append((vector / vector.norm()).numpy())
    return np.array(vectors)


def test_every_model_of_the_catalogue_has_its_proof():
    models = [entry for entry in catalogue.catalogue().values() if (entry.model or entry.folder) and not entry.package]
    assert {entry.name for entry in models if entry.kind == "dense"} == set(PROOFS) | set(SEEING)
    assert {entry.name: entry.reads for entry in models if entry.reads} == SEEING
    assert {(entry.dimension, entry.paradigm) for entry in models if entry.reads} == {(512, "multimodal dense")}
    assert {entry.name for entry in models if entry.kind == "cross-encoder"} == set(PAIRS)


@pytest.mark.parametrize("name", PROOFS)
def test_a_table_gives_the_vectors_of_a_calculation_by_hand(at_home, name):
    proof, (folder, plain) = PROOFS[name], at_home(name)
    entry = row(name)
    assert entry.folder == str(folder)
    assert (catalogue.entry(name).dimension or proof.dimension, entry.dtype) == (proof.dimension, "float32")
    encoder = encoders.load(entry, LoadOptions(trust_remote_code=proof.layout == "own code", offline=True))
    long = "fever, " * (proof.limit // 7 + 9)
    asked = [*TEXTS, long] if proof.limit <= 512 else TEXTS
    for role, prompt in (("query", proof.query), ("document", proof.document)):
        found = encoder.encode(asked, role=role)
        assert found == pytest.approx(by_hand(folder, plain, [prompt + text for text in asked], proof), abs=2e-5)
        assert encoder.tokens("pain", role=role) == list(prompt + "pain")
        frame = 1 if proof.architecture == "qwen3" else 2
        assert len(encoder.tokens(long, role=role)) == proof.limit - frame
    if proof.architecture == "qwen3":
        assert encoder._model.tokenizer.padding_side == "left"


def test_code_of_its_own_is_asked_for(at_home):
    at_home("nomic-embed-text-v2-moe")
    with pytest.raises(SystemLoadError, match="brings its own code; read it, then pass --trust-remote-code"):
        encoders.load(row("nomic-embed-text-v2-moe"), LoadOptions(offline=True))


@pytest.mark.parametrize("name", PAIRS)
def test_a_cross_encoders_table_gives_the_scores_of_a_calculation_by_hand(tmp_path, monkeypatch, name):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path))
    tiny_models.backbone(tmp_path / name, architecture="pairs", dimension=32, positions=8194)
    scorer = cross_encoder.load(row(name), LoadOptions(offline=True))
    pairs = [("knee pain", "pain of the knee"), ("fever", "x" * 900), ("fever", ""), ("knee " * 200, "pain " * 200)]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / name)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / name).eval()
    for pair, score in zip(pairs, scorer.score(pairs), strict=True):
        read = tokenizer([pair[0]], [pair[1]], return_tensors="pt", truncation=True, max_length=PAIRS[name])
        with torch.no_grad():
            logit = model(**read).logits[0, 0].double()
        assert score == pytest.approx(1 / (1 + np.exp(-float(logit))), abs=1e-6)
    assert scorer.lengths(pairs).tolist() == [9 + 16 + 4, 512, 5 + 4, 512]
