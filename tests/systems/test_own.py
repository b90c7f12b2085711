"""Systems that a reader adds: what is read of their files, what is refused, and that a fault changes nothing."""

import json

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError, SystemLoadError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.paths import Cache
from analysis.systems import bm25, catalogue, encoders, model_files, own
from analysis.systems.assemble import build
from analysis.systems.entry import Prompts
from analysis.systems.readiness import readiness
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench
from analysis.views.system_facts import system_facts


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A cache folder in force, with nothing in it."""
    cache = Cache(tmp_path / "cache")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(cache.root))
    return cache


@pytest.fixture
def command(capsys, home):
    def call(*arguments):
        code = main([*arguments, "--cache", str(home.root)])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def folder(tiny_model):
    """A tiny random model with the files of sentence-transformers beside it."""
    path = tiny_model("bert")
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    (path / "modules.json").write_text(json.dumps(modules))
    (path / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 32, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (path / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    prompts = {"query": "query : ", "passage": "passage : "}
    (path / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    return path


def test_a_folder_says_dimension_pooling_and_prompts(folder):
    assert model_files.read_folder(folder) == {
        "dimension": 32,
        "pooling": "cls",
        "prompts": {"query": "query : ", "document": "passage : "},
    }


def test_the_newer_form_of_a_pooling_file_and_a_dense_layer_on_top(folder):
    (folder / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 32, "pooling_mode": "lasttoken"}')
    assert model_files.read_folder(folder)["pooling"] == "last"
    (folder / "1_Pooling" / "config.json").write_text('{"embedding_dimension": 32, "pooling_mode": ["cls", "mean"]}')
    several = model_files.read_folder(folder)
    assert several["dimension"] == 64
    assert "pooling" not in several  # no setting of ours says both: the model's own stays
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "config.json").write_text('{"in_features": 64, "out_features": 16}')
    assert model_files.read_folder(folder)["dimension"] == 16


def test_an_added_folder_ranks_with_its_prompts(command, folder, home, small_task):
    code, _, said = command("add-system", "mine", "--folder", str(folder), "--max-length", "20")
    assert code == 0, said
    assert "32 dimensions, cls pooling, query prompt 'query : ', document prompt 'passage : ', 20 tokens" in said
    corpus, questions = small_task
    bench = Workbench(home)
    found = bench.rank(build("mine"), corpus, questions, depth=3)
    documents = bench.vectors(catalogue.entry("mine"), corpus.texts, role="document")
    asked = bench.vectors(catalogue.entry("mine"), questions.texts, role="query")
    assert found.document[0] in np.flatnonzero(np.isclose(documents @ asked[0], (documents @ asked[0]).max()))
    assert not np.allclose(asked[0], documents[2])  # the same text: only the prompts differ


def test_what_is_said_wins_over_the_files(home, folder):
    entry = own_systems.add(NewSystem("mine", folder=folder, pooling="mean", query_prompt=""))
    assert entry.pooling == "mean"
    assert entry.prompts == Prompts("", "passage : ")


def test_listed_run_by_name_and_removed(command, home):
    assert command("add-system", "bm25-short", "--k1", "0.9", "--b", "0.4", "--title", "BM25 Δ")[0] == 0
    rows = {row["system"]: row for row in json.loads(command("list", "systems", "--format", "json")[1])}
    assert list(rows) == list(catalogue.systems())  # every one, though nothing is stored yet
    assert rows["bm25-short"]["title"] == rows["bm25-short"]["short"] == "BM25 Δ"
    assert rows["bm25-short"]["runs_here"] is True
    assert rows["bm25-short"]["has_run"] is False
    assert catalogue.entry("bm25-short").k1 == 0.9
    assert command("remove-system", "bm25-short")[0] == 0
    assert "bm25-short" not in catalogue.catalogue()


def test_own_bm25_settings_change_the_scores(home, small_task):
    own_systems.add(NewSystem("flat", k1=0.0, b=0.0))
    corpus, questions = small_task
    flat = build("flat").rank(corpus, questions, depth=5, workbench=Workbench(home))
    usual = build("bm25").rank(corpus, questions, depth=5, workbench=Workbench(home))
    assert bm25.tokeniser(catalogue.entry("flat")) is bm25.whitespace
    assert not np.array_equal(flat.score, usual.score)
    first = flat.document[flat.query == 0][0]
    assert corpus.texts[first] == "Fracture of the wrist"


def test_compositions_stand_on_the_catalogue_and_on_each_other(home):
    own_systems.add(NewSystem("short", tokens="cjk-bigrams", k1=0.9))
    fused = own_systems.add(NewSystem("fused", fuse=("short", "all-minilm-l6-v2"), k=10))
    staged = own_systems.add(NewSystem("staged", first="fused", second="maxsim-all-minilm", pool=5))
    assert (fused.paradigm, fused.k, staged.parts) == ("hybrid", 10, ("fused", "maxsim-all-minilm"))
    assert build("staged").first.entry == fused
    with pytest.raises(InputError, match=r"staged is composed of it"):
        own_systems.remove("fused")


FAULTS = {
    "the catalogue has a system of this name": ["bm25", "--k1", "1"],
    "expected a name of lower-case letters": ["Mine!", "--k1", "1"],
    "a system needs a name": [" ", "--k1", "1"],
    "expected --model, --folder": ["x"],
    "b = 1.5: expected a number from 0 to 1": ["x", "--b", "1.5"],
    "k1 = nan: expected a number": ["x", "--k1", "nan"],
    "--k1 does not go with --model": ["x", "--model", "a/b", "--dimension", "8", "--k1", "1"],
    "expected --dimension": ["x", "--model", "nobody/has-this"],
    "dimension = 0: expected a whole number above 0": ["x", "--model", "a/b", "--dimension", "0"],
    "'nothing' is none": ["x", "--fuse", "bm25,nothing"],
    "expected at least two systems that rank, each once": ["x", "--fuse", "bm25"],
    "expected a first stage, then a late interaction or a cross-encoder": [
        "x",
        "--first",
        "bm25",
        "--second",
        "bm25-cjk",
    ],
    "a composition that does not contain itself": ["x", "--fuse", "bm25,x"],
    "nowhere: does not exist": ["x", "--folder", "nowhere"],
    "there is one of this name": ["kept", "--k1", "1"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence_and_changes_nothing(command, home, fault):
    assert command("add-system", "kept", "--k1", "1")[0] == 0
    before = home.own_systems.read_bytes()
    code, out, said = command("add-system", *FAULTS[fault])
    assert (code, out) == (1, "")
    assert fault in said
    assert said.count("\n") == 1
    assert home.own_systems.read_bytes() == before
    assert sorted(path.name for path in home.root.iterdir()) == ["systems.lock", "systems.toml"]


def test_a_folder_must_say_how_it_pools(home, tiny_model):
    bare = tiny_model("bert")
    with pytest.raises(InputError, match=r"--pooling mean, cls, last, max \(the wrong one gives plausible"):
        own_systems.add(NewSystem("bare", folder=bare))
    assert own_systems.add(NewSystem("bare", folder=bare, pooling="cls")).dimension == 32


def test_a_hub_model_must_say_how_it_pools_once_it_is_here(home, tiny_model, tmp_path, monkeypatch):
    named = tmp_path / "hub" / "models--org--bare"
    (named / "refs").mkdir(parents=True)
    (named / "refs" / "main").write_text("a" * 40)
    entry = own_systems.add(NewSystem("bare", model="org/bare", dimension=32))  # nothing of it is here yet
    (named / "snapshots").mkdir()
    tiny_model("bert").rename(named / "snapshots" / ("a" * 40))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(SystemLoadError, match="its files do not say how token vectors become one; expected a pooling"):
        encoders.load(entry, LoadOptions(offline=True))


def test_a_changed_configuration_of_a_folder_is_another_system(home, folder):
    before = catalogue.fingerprint(own_systems.add(NewSystem("mine", folder=folder)))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 8}')
    assert catalogue.fingerprint(catalogue.entry("mine")) != before


def test_a_pooling_that_the_files_contradict_is_told(command, folder):
    code, _, said = command("add-system", "mine", "--folder", str(folder), "--pooling", "mean", "--dry-run")
    assert code == 0
    assert "checked, nothing kept: mine: multilingual dense, 32 dimensions, mean pooling" in said
    assert "warning: Its pooling is set to mean, its files say cls." in said
    assert own_systems.added() == ()


def test_a_folder_without_safetensors_is_refused(home, tmp_path):
    (tmp_path / "config.json").write_text('{"hidden_size": 8}')
    with pytest.raises(InputError, match=r"expected weights in \.safetensors"):
        own_systems.add(NewSystem("x", folder=tmp_path, pooling="cls"))


def test_a_damaged_file_is_named_and_an_unknown_system_is_not_removed(home):
    own_systems.add(NewSystem("kept", k1=1.0))
    with pytest.raises(InputError, match="expected one of kept"):
        own.remove(home, "other")
    home.own_systems.write_text("[kept", encoding="utf-8")
    with pytest.raises(InputError, match=r"systems\.toml: not a TOML file"):
        catalogue.catalogue()


@pytest.mark.parametrize("text", ['quote " and \\ backslash', "line\nbreak\ttab", "日本語 \x7f", "\U0001f600"])
def test_every_text_comes_back_as_it_was(home, text):
    entry = own_systems.add(NewSystem("x", model="a/b", dimension=8, query_prompt=text, title=text))
    assert catalogue.entry("x") == entry
    assert entry.prompts.query == text


def test_what_is_missing_is_said_and_a_hub_model_may_be_downloaded(home, tmp_path, tiny_model):
    hub = own_systems.add(NewSystem("hub", model="nobody/has-this", dimension=8))
    fused = own_systems.add(NewSystem("fused", fuse=("bm25", "hub")))
    for system in (hub, fused):
        assert readiness(system, benchmark="mine").missing == "hub is to be downloaded"
        assert readiness(system, benchmark="mine").command.endswith(f"--benchmark mine --systems {system.name}")
        assert readiness(system).by_run
    tiny_model("bert", folder="gone")
    gone = own_systems.add(NewSystem("gone", folder=tmp_path / "gone", pooling="cls"))
    assert readiness(gone).where == "in a local folder"
    assert readiness(gone).runs
    (tmp_path / "gone").rename(tmp_path / "elsewhere")
    assert readiness(gone).missing == f"the folder {tmp_path / 'gone'} is not there"
    assert not readiness(gone).by_run


def test_a_fingerprint_of_the_catalogue_does_not_depend_on_own_systems(home):
    before = catalogue.fingerprint(catalogue.entry("rrf-bm25-use"))
    own_systems.add(NewSystem("x", k1=1.0))
    assert catalogue.fingerprint(catalogue.entry("rrf-bm25-use")) == before


def test_what_is_known_of_systems_of_ones_own(home):
    own_systems.add(NewSystem("hub", model="nobody/has-this", dimension=8, query_prompt="q: "))
    own_systems.add(NewSystem("remote", url="http://127.0.0.1:1/v1", model="m", dimension=8))
    (hub,), (remote,) = (system_facts(name).models for name in ("hub", "remote"))
    assert (hub.origin, hub.commit, hub.query_prompt, hub.document_prompt) == ("nobody/has-this", None, "q: ", None)
    assert (remote.origin, remote.query_prompt, remote.precision) == ("http://127.0.0.1:1/v1", "", "")
