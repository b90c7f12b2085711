"""The form of Data and runs that adds a system of the reader's own."""

import json
import shutil

import pytest
from visits import Visit, words

from analysis import jobs
from analysis.jobs import places
from analysis.jobs.own_systems import NewSystem
from analysis.systems import catalogue


@pytest.fixture
def own(example_store, tmp_path, monkeypatch):
    """A visit to a copy of the worked example that the test may change."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(shutil.copytree(example_store.cache.root, tmp_path / "store")))
    return Visit()


def press(page, label):
    next(button for button in page.button if button.label == label).click()
    return page.run()


def fill(page, **fields):
    for field in (*page.text_input, *page.number_input, *page.selectbox):
        if field.label in fields:
            field.set_value(fields[field.label])


def test_a_system_is_added_offered_and_removed(own):
    page = own.page("data", part="run", own="bm25")
    fill(page, Name="short", k1=0.9)
    press(page, "Add it")
    assert not page.exception
    assert "Added short: lexical, whitespace, k1 0.9, b 0.75. It can run now." in words(page)
    assert "short" in next(field for field in page.multiselect if field.label == "Systems").options
    press(page, "Remove it")
    assert "Removed short." in words(page)
    assert "short" not in catalogue.catalogue()


@pytest.mark.parametrize(
    ("sort", "fields", "fault"),
    [
        ("bm25", {"Name": "bm25"}, "the catalogue has a system of this name"),
        ("bm25", {}, "a system needs a name"),
        ("model", {"Name": "x"}, "expected the id of a model"),
        ("model", {"Name": "x", "Model id": "nobody/has-this"}, "expected --dimension"),
        ("fusion", {"Name": "x", "The other": "bm25"}, "at least two systems that rank, each once"),
    ],
)
def test_a_fault_is_said_and_changes_nothing(own, sort, fields, fault):
    page = own.page("data", part="run", own=sort)
    fill(page, **fields)
    press(page, "Add it")
    assert not page.exception
    (error,) = page.error
    assert fault in error.value
    assert jobs.own_systems.added() == ()


@pytest.mark.parametrize("sort", ["folder", "fusion", "two-stage", "maxsim"])
def test_every_sort_has_its_fields(own, tmp_path, monkeypatch, sort):
    monkeypatch.setenv(places.VARIABLE, str(tmp_path))
    page = own.page("data", part="run", own=sort)
    fill(page, Name="x", Folder="/etc")
    press(page, "Add it")
    assert not page.exception
    if sort == "folder":
        assert "outside of what this server allows" in page.error[0].value
    else:
        assert [entry.kind for entry in jobs.own_systems.added()] == ["late-interaction" if sort == "maxsim" else sort]


def test_a_family_that_expects_prefixes_is_told_before_and_after_it_is_kept(own):
    page = own.page("data", part="run", own="model")
    fill(page, **{"Name": "e5", "Model id": "intfloat/multilingual-e5-base", "Dimension": 768})
    press(page, "Show what would be in force")
    assert "e5: multilingual dense, 768 dimensions, pooling as its files say, query prompt as its files say" in words(
        page
    )
    assert "Nothing is kept yet." in words(page)
    (warning,) = page.warning
    expected = "E5 models expect 'query: ' before each query and 'passage: ' before each document: none is set"
    assert expected in warning.value
    assert jobs.own_systems.added() == ()
    fill(page, **{"Query prompt": "query: "})
    press(page, "Add it")
    (warning,) = page.warning
    assert "E5 models expect 'passage: ' before each document: none is set" in warning.value
    said = words(page)
    assert "Added e5: multilingual dense, 768 dimensions" in said
    assert "E5 models expect" in words(own.page("data", part="run", about="e5"))  # as long as it is there


def test_a_cross_encoder_is_added_and_offered_as_a_second_stage(own, tmp_path, monkeypatch):
    monkeypatch.setenv(places.VARIABLE, str(tmp_path))
    (tmp_path / "pairs").mkdir()
    config = {"architectures": ["XLMRobertaForSequenceClassification"], "id2label": {"0": "LABEL_0"}}
    (tmp_path / "pairs" / "config.json").write_text(json.dumps(config))
    (tmp_path / "pairs" / "model.safetensors").touch()  # loaded by runs only
    page = own.page("data", part="run", own="cross-encoder")
    fill(page, **{"Name": "reader", "Or a folder on the server": "pairs", "Most tokens of a pair": 40})
    press(page, "Add it")
    assert not page.exception
    assert "its scores count after its sigmoid, as its files say. It ranks nothing by itself" in words(page)
    page = own.page("data", part="run", own="two-stage")
    assert "reader" in page.selectbox(key="own-second").options
    assert "reader" not in page.selectbox(key="own-first").options
    page = own.page("data", part="run", own="cross-encoder")
    fill(page, Name="nothing")
    press(page, "Add it")
    assert "expected the id of a model" in page.error[0].value


def test_without_allowed_folders_no_folder_is_offered(own, monkeypatch):
    monkeypatch.delenv(places.VARIABLE, raising=False)
    page = own.page("data", part="run")
    assert "A model folder on the server" not in page.selectbox(key="data-own").options


def test_code_runs_from_no_page_and_an_endpoint_only_where_it_is_chosen(own, tmp_path):
    (tmp_path / "own_module.py").touch()
    jobs.own_systems.add(NewSystem("code", function="own_module:f", folder=tmp_path, dimension=3))
    jobs.own_systems.add(NewSystem("remote", url="http://127.0.0.1:1/v1", model="m", dimension=3))
    jobs.own_systems.add(NewSystem("fused", fuse=("bm25", "remote")))
    page = own.page("data", part="run")
    said = words(page)
    assert "Code is code of your own (own_module:f), which runs only if you allow it" in said
    assert said.count("n a server, to which its texts go") == 2
    assert "Added here: hybrid, bm25 and remote, k 60." in said
    systems = next(field for field in page.multiselect if field.label == "Systems")
    assert "code" not in systems.options
    assert {"remote", "fused"} <= set(systems.options)
    assert {"remote", "fused"}.isdisjoint(systems.value)
