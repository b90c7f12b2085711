"""Each model of the catalogue driven through its own table on tiny random weights, against a calculation by hand.

What is expected of a model stands here a second time, in the words of its card, so that a slip in the catalogue fails.
"""

import dataclasses
import shutil
from typing import NamedTuple

import numpy as np
import pytest

from analysis.errors import SystemLoadError
from analysis.systems import catalogue, cross_encoder, encoders
from analysis.systems.weights import LoadOptions
from tests.systems import tiny_models
from tests.systems.test_multi_vector import PROVEN

TEXTS = ["the patient has a high fever", "knee", "", " broken wrist, in the morning "]
SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


class Proof(NamedTuple):
    architecture: str
    dimension: int
    pooling: str
    limit: int
    query: str = ""
    document: str = ""
    layout: str = "sentence-transformers"
    projections: tuple[int, ...] = ()
    activation: str = "Identity"  # after each projection; one that has an activation has a bias too
    own_limit: int | None = None  # tokens that the folder says itself


SMALL, SCALE = 64, 12  # dimensions of the random models, and how much narrower their projections are

PROOFS = {
    "sapbert": Proof("bert", 768, "cls", 512, layout="transformers"),
    "sapbert-xlmr": Proof("xlm-roberta", 768, "cls", 512, layout="transformers"),
    "biolord-2023": Proof("mpnet", 768, "mean", 128, own_limit=128),
    "bge-m3": Proof("xlm-roberta", 1024, "cls", 8192),
    "multilingual-e5-large": Proof("xlm-roberta", 1024, "mean", 512, "query: ", "passage: "),
    "multilingual-e5-large-instruct": Proof("xlm-roberta", 1024, "mean", 512, SEARCH + " "),
    "embeddinggemma-300m": Proof(
        *("gemma3", 768, "mean", 2048, "task: search result | query: ", "title: none | text: "),
        projections=(3072, 768),
    ),
    "granite-278m-multilingual": Proof("xlm-roberta", 768, "cls", 512),
    "nomic-embed-text-v2-moe": Proof("nomic", 768, "mean", 512, "search_query: ", "search_document: ", "own code"),
    "qwen3-embedding-0.6b": Proof("qwen3", 1024, "lasttoken", 8192, SEARCH),
    "labse": Proof("bert", 768, "cls", 256, projections=(768,), activation="Tanh", own_limit=256),
    "mmed-embed": Proof("xlm-roberta", 768, "mean", 256),
    "clip-vit-b-32-multilingual": Proof("distilbert", 512, "mean", 128, projections=(512,)),
}
SEEING = {  # what of a query is read; what their vectors are is proven in test_images.py
    "clip-vit-b-32": "text",
    "clip-vit-b-32-image": "image",
    "clip-vit-b-32-text-image": "text-image-mean",
    "clip-vit-b-32-multilingual": "text",
    "clip-vit-b-32-multilingual-text-image": "text-image-mean",
}
PAIRS = {"bge-reranker-v2-m3": 512}
ALONE = LoadOptions(offline=True, threads=1)


def narrowed(wide):
    """Widths of the projections, the last of them as wide as the vectors."""
    return tuple(SMALL if width == wide.dimension else width // SCALE for width in wide.projections)


def row(name):
    """The table as it is, but small; random weights know no language, so that part of the load check is left out."""
    entry = catalogue.entry(name)
    narrow = {"dimension": entry.dimension and SMALL, "projections": narrowed(entry)}
    return dataclasses.replace(entry, languages=(), **narrow)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A folder of transformers with random weights, made once for each architecture and number of positions."""
    made = {}

    def build(architecture, positions):
        if (key := (architecture, positions)) not in made:
            made[key] = tmp_path_factory.mktemp(architecture)
            tiny_models.backbone(made[key], architecture=architecture, dimension=SMALL, positions=positions)
        return made[key]

    return build


@pytest.fixture
def at_home(tmp_path, monkeypatch, plain):
    """Builds the folder of a system among the reader's own models."""
    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))

    def build(name):
        proof, folder = PROOFS[name], tmp_path / "models" / name
        source = plain(proof.architecture, 8194 if proof.limit == 8192 else 514)
        if proof.layout == "transformers":
            shutil.copytree(source, folder)
        else:
            after = {"projections": narrowed(proof), "activation": proof.activation}
            tiny_models.shipped(source, folder, pooling=proof.pooling, dimension=SMALL, limit=proof.own_limit, **after)
        if proof.layout == "own code":
            entry = catalogue.entry(name)
            where = {"repository": entry.code, "revision": entry.code_revision}
            tiny_models.with_code_of_its_own(folder, tmp_path / "hub", **where)
        return folder, source

    return build


def read_by_hand(tokenizer, text, proof):
    """One token a character between its frame, which stays when the text is cut: ``(1, tokens)``."""
    import torch

    start = [] if proof.architecture == "qwen3" else [tokenizer.cls_token_id]
    characters = tokenizer.convert_tokens_to_ids(list(text))[: proof.limit - len(start) - 1]
    return torch.tensor([[*start, *characters, tokenizer.sep_token_id]])


def by_hand(folder, source, texts, proof):
    """One text at a time, so without padding: the last hidden state, pooled, projected, of length 1."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source).eval()
    dense = [load_file(file) for file in sorted(folder.glob("*_Dense/model.safetensors"))]
    assert len(dense) == len(proof.projections)
    vectors = []
    for text in texts:
        with torch.inference_mode():
            hidden = model(read_by_hand(tokenizer, text, proof)).last_hidden_state[0]
        vector = {"mean": hidden.mean(dim=0), "cls": hidden[0], "lasttoken": hidden[-1]}[proof.pooling]
        for layer in dense:
            vector = layer["linear.weight"] @ vector
            vector = torch.tanh(vector + layer["linear.bias"]) if proof.activation == "Tanh" else vector
        vectors.append((vector / vector.norm()).numpy())
    return np.array(vectors)


def test_every_model_of_the_catalogue_has_its_proof():
    models = [entry for entry in catalogue.catalogue().values() if (entry.model or entry.folder) and not entry.package]
    assert {entry.name for entry in models if entry.kind == "dense"} == set(PROOFS) | set(SEEING)
    assert {entry.name: entry.reads for entry in models if entry.reads} == SEEING
    assert {(entry.dimension, entry.paradigm) for entry in models if entry.reads} == {(512, "multimodal dense")}
    assert {entry.name for entry in models if entry.kind == "cross-encoder"} == set(PAIRS)
    assert {entry.name for entry in models if entry.kind not in ("dense", "cross-encoder")} == set(PROVEN)


@pytest.mark.parametrize("name", PROOFS)
def test_a_table_gives_the_vectors_of_a_calculation_by_hand(at_home, name):
    proof, (folder, source) = PROOFS[name], at_home(name)
    entry, table = row(name), catalogue.entry(name)
    assert entry.folder == str(folder)
    assert (table.dimension or proof.dimension, table.dtype) == (proof.dimension, "float32")
    assert table.projections == proof.projections
    trust = proof.layout == "own code"
    encoder = encoders.load(entry, dataclasses.replace(ALONE, trust_remote_code=trust))
    long = "fever, " * (proof.limit // 7 + 9)
    asked = [*TEXTS, long] if proof.limit <= 512 else TEXTS
    for role, prompt in (("query", proof.query), ("document", proof.document)):
        found = encoder.encode(asked, role=role)
        assert found == pytest.approx(by_hand(folder, source, [prompt + text for text in asked], proof), abs=2e-5)
        assert encoder.tokens("pain", role=role) == list(prompt + "pain")
        frame = 1 if proof.architecture == "qwen3" else 2
        assert encoder.tokens(long, role=role) == list(prompt + long)[: proof.limit - frame]
        assert encoder.lengths([long, "pain"], role=role).tolist() == [
            len(prompt + text) + frame for text in (long, "pain")
        ]
        assert encoder.limit == proof.limit
    if proof.architecture == "qwen3":
        assert encoder._model.tokenizer.padding_side == "left"
    if proof.layout == "own code":
        assert table.code_revision in type(encoder._model[0].auto_model).__module__
    if proof.architecture in ("gemma3", "qwen3"):  # a Gemma of the usual kind reads in one direction, as Qwen3 does
        _, (one, other) = encoder.encode_tokens(["ab", "ac"], role="document")
        assert np.allclose(one[0], other[0], atol=1e-4) == (proof.architecture == "qwen3")


def test_code_of_its_own_is_asked_for(at_home):
    at_home("nomic-embed-text-v2-moe")
    with pytest.raises(SystemLoadError, match="brings its own code; read it, then pass --trust-remote-code"):
        encoders.load(row("nomic-embed-text-v2-moe"), ALONE)


def test_code_of_its_own_that_leaves_weights_at_random_is_refused(at_home):
    from safetensors.torch import load_file, save_file

    weights = at_home("nomic-embed-text-v2-moe")[0] / "model.safetensors"
    save_file({name: tensor for name, tensor in load_file(weights).items() if "intermediate" not in name}, weights)
    with pytest.raises(SystemLoadError, match="a second load of the same files gave other vectors"):
        encoders.load(row("nomic-embed-text-v2-moe"), dataclasses.replace(ALONE, trust_remote_code=True))


def test_a_folder_without_its_projection_is_refused(at_home):
    folder, source = at_home("labse")
    shutil.rmtree(folder)
    shutil.copytree(source, folder)  # what is there when another program fetched the model alone
    expected = "labse: projections after the pooling to none dimensions, the catalogue says 64; fetch its folder whole"
    with pytest.raises(SystemLoadError, match=expected):
        encoders.load(row("labse"), ALONE)


@pytest.mark.parametrize("name", PAIRS)
def test_a_cross_encoders_table_gives_the_scores_of_a_calculation_by_hand(tmp_path, monkeypatch, name):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path))
    tiny_models.backbone(tmp_path / name, architecture="pairs", dimension=32, positions=8194)
    scorer = cross_encoder.load(row(name), ALONE)
    pairs = [("knee pain", "pain of the knee"), ("fever", "x" * 900), ("fever", ""), ("knee " * 200, "pain " * 200)]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / name)
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / name).eval()
    for pair, score in zip(pairs, scorer.score(pairs), strict=True):
        read = tokenizer([pair[0]], [pair[1]], return_tensors="pt", truncation=True, max_length=PAIRS[name])
        with torch.no_grad():
            logit = model(**read).logits[0, 0].double()
        assert score == pytest.approx(1 / (1 + np.exp(-float(logit))), abs=1e-6)
    assert scorer.lengths(pairs).tolist() == [9 + 16 + 4, 5 + 900 + 4, 5 + 4, 1000 + 1000 + 4]
    assert scorer.limit == PAIRS[name]
