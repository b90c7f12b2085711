"""Models from a hub and its cache: which files, at which commit, and what is said where they cannot be had."""

import hashlib
import shutil
import time

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError, SystemLoadError
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.systems import catalogue, encoders, weights
from analysis.systems.weights import LoadOptions
from tests.systems import tiny_models
from tests.systems.hub_server import Hub

OLD, NEW = "0" * 39 + "1", "0" * 39 + "2"
ONLINE, OFFLINE = LoadOptions(threads=1), LoadOptions(offline=True, threads=1)
TEXTS = ["fever", "knee pain"]
TABLE = {"backend": "sentence-transformers", "model": "org/tiny", "dimension": 32, "pooling": "mean"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The folders of a model at two commits: the same words, other weights."""
    old, new = (tmp_path_factory.mktemp(name) for name in ("old", "new"))
    tiny_models.backbone(old, architecture="bert", dimension=32, positions=64)
    shutil.copytree(old, new, dirs_exist_ok=True)
    from safetensors.torch import load_file, save_file

    kept = load_file(old / "model.safetensors")
    save_file(
        {name: tensor * 1.5 for name, tensor in kept.items()}, new / "model.safetensors", metadata={"format": "pt"}
    )
    return {OLD: old, NEW: new}


@pytest.fixture
def hub(monkeypatch, tmp_path, models):
    """A hub with the model at both commits, a pickle and a second format beside its weights, and an empty cache."""
    from huggingface_hub import constants

    served = Hub()
    for commit, folder in models.items():
        served.keep("org/tiny", commit, folder, **{"pytorch_model.bin": b"pickle", "onnx/model.onnx": b"another"})
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "ENDPOINT", served.endpoint)
    address = served.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path / "models"))
    weights._answers.cache_clear()
    yield served
    served.close()


def gone(hub):
    hub.close()
    weights._answers.cache_clear()


def vectors(system, options):
    return encoders.load(system, options).encode(TEXTS, role="document")


def refusal(system, options):
    began = time.monotonic()
    with pytest.raises(SystemLoadError) as caught:
        encoders.load(system, options)
    assert time.monotonic() - began < 10  # the client alone would try again for half a minute
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_pinned_commit_is_fetched_without_its_pickle_and_found_again_without_a_hub(
    hub, models, extend_catalogue, tmp_path
):
    pinned = {commit: extend_catalogue(f"t{commit[-1]}", **TABLE, revision=commit) for commit in (OLD, NEW)}
    local = {c: extend_catalogue(f"l{c[-1]}", **{**TABLE, "model": "org/l", "folder": models[c]}) for c in (OLD, NEW)}
    expected = {commit: vectors(system, OFFLINE) for commit, system in local.items()}
    assert np.abs(expected[OLD] - expected[NEW]).max() > 1e-3
    assert not catalogue.available(pinned[OLD])
    assert vectors(pinned[OLD], ONLINE) == pytest.approx(expected[OLD], abs=1e-6)
    asked = " ".join(hub.asked)
    assert "model.safetensors" in asked
    assert NEW not in asked
    assert not any(name in asked for name in ("pytorch_model", "onnx"))
    assert catalogue.available(pinned[OLD])
    assert not catalogue.available(pinned[NEW])
    home = tmp_path / "hub" / "models--org--tiny" / "snapshots"
    assert sorted(file.name for file in (home / OLD).iterdir()) == sorted(file.name for file in models[OLD].iterdir())
    gone(hub)
    for options in (OFFLINE, ONLINE):
        assert vectors(pinned[OLD], options) == pytest.approx(expected[OLD], abs=1e-6)
    said = refusal(pinned[NEW], OFFLINE)
    assert said.startswith(
        "t2: org/tiny is not in the hub's cache, and --offline asks no hub; where there is a network"
    )
    assert f"hf download org/tiny --revision {NEW} --include" in said


def test_a_hub_that_does_not_answer_is_said_at_once(hub, extend_catalogue):
    gone(hub)
    said = refusal(extend_catalogue("tiny", **TABLE, revision=OLD), ONLINE)
    assert f"tiny: org/tiny is not in the hub's cache, and the hub ({hub.endpoint}) does not answer" in said
    assert f"hf download org/tiny --revision {OLD}" in said


def test_a_switched_off_hub_is_not_asked(hub, extend_catalogue, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE forbids" in refusal(extend_catalogue("tiny", **TABLE, revision=OLD), ONLINE)
    assert hub.asked == []


def test_a_repository_with_a_pickle_alone_is_refused_with_the_way_out(hub, models, extend_catalogue, tmp_path):
    hub.keep("org/bare", OLD, models[OLD], **{"pytorch_model.bin": b"pickle"})
    del hub.files["org/bare", OLD]["model.safetensors"]
    unknown = extend_catalogue("bare", **{**TABLE, "model": "org/bare"}, revision=OLD)
    said = refusal(unknown, ONLINE)
    assert "has no weights as safetensors: hf download org/bare --revision" in said
    assert said.endswith(f"python -m analysis convert-weights {tmp_path / 'models' / 'bare'}")
    assert "pytorch_model" not in " ".join(hub.asked)
    hub.asked.clear()
    said = refusal(catalogue.entry("bge-m3"), ONLINE)
    assert said.startswith("bge-m3: BAAI/bge-m3 has a pickle alone: hf download BAAI/bge-m3 --revision 5617a9f6")
    assert hub.asked == []


def test_another_pickle_than_the_catalogues_is_not_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path))
    (tmp_path / "bge-m3").mkdir()
    (tmp_path / "bge-m3" / "pytorch_model.bin").write_bytes(b"anything")
    assert main(["convert-weights", str(tmp_path / "bge-m3")]) != 0
    found, wanted = hashlib.sha256(b"anything").hexdigest(), catalogue.entry("bge-m3").pickle
    assert f"has the SHA-256 {found}, the catalogue says {wanted}" in capsys.readouterr().err


def test_terms_that_were_not_accepted_are_named(hub, extend_catalogue):
    hub.gated.add("org/tiny")
    said = refusal(extend_catalogue("tiny", **TABLE, revision=OLD), ONLINE)
    assert said == f"tiny: org/tiny wants its terms accepted at {hub.endpoint}/org/tiny, then: hf auth login"


def test_code_is_not_even_fetched_before_it_is_allowed(hub, models, extend_catalogue):
    hub.keep("org/tiny", OLD, models[OLD], **{"modeling.py": b"raise SystemExit"})
    said = refusal(extend_catalogue("tiny", **TABLE, revision=OLD, trust_remote_code=True), ONLINE)
    assert said == "tiny: the model brings its own code; read it, then pass --trust-remote-code"
    assert hub.asked == []
    encoders.load(extend_catalogue("plain", **TABLE, revision=OLD), ONLINE)
    assert "modeling.py" not in " ".join(hub.asked)


def test_a_run_told_to_ask_no_hub_names_the_run_that_may(hub, example_store):
    request = RunRequest("example", systems=("labse",), load=OFFLINE)
    with pytest.raises(InputError) as caught:
        run(example_store.cache, request=request, progress=silent)
    command = "python -m analysis run --benchmark example --systems labse"
    missing = "LaBSE (1.9 GB) is to be downloaded, and --offline asks no hub"
    assert str(caught.value) == f"system 'labse': {missing}: {command}"
    assert hub.asked == []
