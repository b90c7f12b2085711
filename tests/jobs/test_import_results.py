"""Result files into the store: a benchmark of their own, or beside what was measured."""

import json

import pytest

from analysis.errors import InputError, JobCancelledError
from analysis.jobs.import_results import ResultsRequest, StoredResults, read_results, report, store_results
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from tests.hand_made import put, ranking_of, state, worked_example
from tests.imports.test_mteb_results import MALFORMED
from tests.published_files import LARGE, SMALL, WORDS, pairs, put_file, put_published, put_results, result


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def stored(cache, root, name="clinic", **more):
    found = read_results(ResultsRequest(root, name, **more), progress=silent)
    return store_results(cache, benchmark=name, results=found, progress=silent)


def test_a_new_name_becomes_a_benchmark_of_published_figures(cache, tmp_path):
    root = put_results(tmp_path / "results")
    assert stored(cache, root) == StoredResults("clinic@1", 5, 0, 0)
    store = read.open_store(cache)
    row = store.benchmark("clinic")
    assert (row.title, dict(row.settings), row.parallel) == ("clinic", {"published": True}, False)
    tasks = store.tasks(row.benchmark_id)
    assert [(task.name, task.n_queries, task.n_documents, task.n_published) for task in tasks] == [
        ("Clinic", 0, 0, 3),
        ("Many", 0, 0, 2),
    ]
    assert tasks[0].is_default
    assert {label.name: label.short for label in store.system_labels().values()} == {
        LARGE: "large",
        SMALL: "small",
        WORDS: "words",
    }
    assert store.faults() == []


def test_the_same_files_are_stored_once(cache, tmp_path):
    root = put_results(tmp_path / "results")
    stored(cache, root)
    before = state(cache.root)
    assert stored(cache, root) == StoredResults("clinic@1", 0, 0, 5)
    assert state(cache.root) == before


def test_another_file_takes_the_place_of_the_one_before_and_further_tasks_are_added(cache, tmp_path):
    root = put_results(tmp_path / "results")
    stored(cache, root, tasks=("Clinic",))
    assert [task.name for task in read.open_store(cache).tasks(1)] == ["Clinic"]
    put_file(root, SMALL, "Clinic", result("Clinic", {"all": pairs(0.9, 0.9, 0.9)}))
    assert stored(cache, root) == StoredResults("clinic@1", 3, 1, 2)
    store = read.open_store(cache)
    assert [task.name for task in store.tasks(1)] == ["Clinic", "Many"]
    main = store.published(1, "main_score")
    assert [value for system, value in zip(main.system, main.value, strict=True) if system == SMALL] == [0.9] * 3
    assert store.faults() == []


def measured(cache, task="main"):
    made = worked_example()
    put(cache, made, {("good", "lexical"): ranking_of(made.tasks[0], [["c-en"], ["c-ja"]], depth=10)})


def test_figures_of_a_stored_task_stand_beside_its_runs(cache, tmp_path):
    measured(cache)
    put_file(tmp_path / "r", LARGE, "main", result("main", {"test": pairs(0.6, 0.5, 0.4)}))
    assert stored(cache, tmp_path / "r", "example") == StoredResults("example@1", 1, 0, 0)
    store = read.open_store(cache)
    (task,) = store.tasks(1)
    assert (task.n_queries, task.n_published) == (2, 1)
    assert [run.system for run in store.runs([task.task_id])] == ["good"]


def test_a_measured_benchmark_gets_no_further_task(cache, tmp_path):
    measured(cache)
    before = state(cache.root)
    with pytest.raises(InputError) as caught:
        stored(cache, put_results(tmp_path / "r"), "example")
    assert str(caught.value) == (
        "benchmark 'example' has main and no task 'Clinic'; expected results of its tasks, or another name"
    )
    assert state(cache.root) == before


@pytest.mark.parametrize("name", ["a@b", "a,b", " "])
def test_an_impossible_name(cache, tmp_path, name):
    with pytest.raises(InputError, match="expected one without @ and comma"):
        stored(cache, put_results(tmp_path / "r"), name)
    put_file(tmp_path / "s", LARGE, "Clinic", result(name, {"test": pairs(0.6, 0.5, 0.4)}))
    with pytest.raises(InputError, match=r"expected (one without @ and comma|a name)"):
        stored(cache, tmp_path / "s")


@pytest.mark.parametrize("name", MALFORMED)
def test_after_a_malformed_file_the_store_is_as_before(cache, tmp_path, name):
    root = put_results(tmp_path / "r")
    stored(cache, root)
    before = state(cache.root)
    content, _ = MALFORMED[name]
    put_file(root, WORDS, "Many", "").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=r"other__words/abc123/Many\.json"):
        stored(cache, root)
    assert state(cache.root) == before


def test_a_cancelled_import_stores_nothing(cache, tmp_path):
    root = put_results(tmp_path / "r")
    put_published(cache, root, tasks=("Clinic",))
    before = state(cache.root)

    def stop(step, done, total):
        if step == "store the figures":
            raise JobCancelledError("cancelled")

    found = read_results(ResultsRequest(root, "clinic"), progress=silent)
    with pytest.raises(JobCancelledError):
        store_results(cache, benchmark="clinic", results=found, progress=stop)
    assert state(cache.root) == before


def test_the_report_names_what_is_there(tmp_path):
    root = put_results(tmp_path / "r")
    (root / "paths.json").write_text(json.dumps({}))
    found = report(read_results(ResultsRequest(root, "x"), progress=silent))
    clinic, many = found.tasks
    assert (clinic.task, clinic.systems, clinic.splits) == ("Clinic", (LARGE, SMALL, WORDS), ("all", "heart"))
    assert (clinic.n_subsets, clinic.languages, clinic.n_figures) == (3, ("en", "es", "fr"), 3 * (6 + 6 + 2))
    assert many.languages[:5] == ("en", "es", "ru", "zh", "zh-Hant")
    assert found.notices == ("1 file outside <org>__<model>/<revision>/ left out: paths.json",)
