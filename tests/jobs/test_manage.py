"""Rename and delete as jobs and commands; what is refused leaves the store as it was."""

import csv
import hashlib
import threading

import pytest

from analysis.cli import main
from analysis.errors import InputError, JobCancelledError
from analysis.jobs import annotate, manage
from analysis.model import Figure, PublishedResult, silent
from analysis.paths import Cache
from analysis.store import notes, read, write
from tests.hand_made import put, ranking_of, worked_example


@pytest.fixture
def cache(tmp_path):
    """The worked example with two runs, the second composed of the first, and one of a catalogue system."""
    cache = Cache(tmp_path / "cache")
    made = worked_example()
    ranking = ranking_of(made.tasks[0], [["c-en"], ["c-ja"]], depth=10)
    put(cache, made, {("mine", "lexical"): ranking, ("fused", "hybrid"): ranking, ("bm25", "lexical"): ranking})
    with write.writer(cache) as writer:
        writer._run("UPDATE run SET parents = '[\"mine\"]' WHERE system = 'fused'")
    return cache


def content(cache):
    """Every byte of a cache folder except what jobs said."""
    return {
        str(path.relative_to(cache.root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in cache.root.rglob("*")
        if path.is_file() and path.parent != cache.jobs
    }


def systems(cache):
    store = read.open_store(cache)
    return [run.system for row in store.benchmarks() for task in store.tasks(row.benchmark_id)
            for run in store.runs([task.task_id])]  # fmt: skip


def command(cache, *arguments):
    return main([*arguments, "--cache", str(cache.root)])


def test_deleting_a_run_names_those_composed_of_it(cache, capsys):
    arguments = ("delete", "run", "--benchmark", "example", "--task", "main", "--system", "mine")
    before = content(cache)
    assert command(cache, *arguments) == 2
    said = capsys.readouterr().err
    assert "this would delete the run of mine on main of example" in said
    assert "composed of it and kept: fused" in said
    assert said.splitlines()[-1] == "babelscope: nothing was deleted; --yes does it"
    assert content(cache) == before
    assert command(cache, *arguments, "--yes") == 0
    assert systems(cache) == ["bm25", "fused"]
    assert read.open_store(cache).faults() == []


def test_deleting_published_results_leaves_the_run_of_the_system(cache, capsys):
    figures = (Figure("test", "default", "en", "en", "ndcg_at_10", 0.5), Figure("test", "ja", "ja", "ja", "rr", 0.1))
    with write.writer(cache) as writer:
        (task,) = writer._run("SELECT task_id FROM task")[0]
        for name in ("mine", "theirs"):
            writer.add_system(name, title=name, short=name, paradigm="lexical")
            writer.add_published(task, PublishedResult("main", name, "x.json", "0", None, None, None, None, figures))
    arguments = ("delete", "results", "--benchmark", "example", "--system", "mine")
    before = content(cache)
    assert command(cache, *arguments) == 2
    assert "this would delete 2 published figures of mine on main of example" in capsys.readouterr().err
    assert content(cache) == before
    assert command(cache, *arguments, "--yes") == 0
    store = read.open_store(cache)
    assert [row.system for row in store.published_sources([task])] == ["theirs"]
    assert systems(cache) == ["bm25", "fused", "mine"]
    assert store.faults() == []
    assert command(cache, *arguments, "--yes") == 1
    assert "system 'mine': main has published results of theirs" in capsys.readouterr().err
    assert command(cache, "rename", "run", "--system", "theirs", "--to", "ours") == 0
    assert [row.system for row in read.open_store(cache).published_sources([task])] == ["ours"]


def test_deleting_a_benchmark(cache, capsys):
    assert command(cache, "delete", "benchmark", "example") == 2
    assert "example with 1 task and 3 runs" in capsys.readouterr().err
    assert command(cache, "delete", "benchmark", "example", "--yes") == 0
    assert read.open_store(cache).benchmarks() == []


def test_a_version_of_its_own_can_be_deleted(cache):
    doomed = manage.delete_benchmark(cache, "example@1", progress=silent)
    assert (doomed.n_runs, doomed.children) == (3, ())
    assert doomed.n_bytes > 0
    assert read.open_store(cache).benchmarks() == []


def test_what_was_said_goes_by_the_new_names(cache):
    annotate.add("example", "main", "q1", author="Ana", tag="other", system="mine", folder=cache.root)
    manage.rename_benchmark(cache, "example", "ours", progress=silent)
    manage.rename_system(cache, "mine", "new", progress=silent)
    (row,) = notes.listed(cache, "ours")
    assert (row.query_id, row.system, row.tag) == ("q1", "new", "other")


def test_renaming(cache, capsys):
    assert command(cache, "rename", "benchmark", "example", "--to", "ours") == 0
    assert command(cache, "rename", "run", "--system", "mine", "--to", "org/new") == 0
    store = read.open_store(cache)
    assert [row.name for row in store.benchmarks()] == ["ours"]
    assert systems(cache) == ["bm25", "fused", "org/new"]
    assert store.system_labels()["org/new"].short == "new"
    assert "mine is called org/new now" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("delete", "benchmark", "none", "--yes"), "unknown benchmark 'none': stored are example@1"),
        (
            ("delete", "run", "--benchmark", "example", "--system", "x", "--yes"),
            "system 'x': main has runs of bm25, fused, mine",
        ),
        (
            ("delete", "run", "--benchmark", "example", "--task", "t", "--system", "mine", "--yes"),
            "task 't': example has main",
        ),
        (("rename", "benchmark", "none", "--to", "x"), "unknown benchmark 'none': stored are example"),
        (("rename", "benchmark", "example", "--to", "a@b"), "name 'a@b': expected one without @ and comma"),
        (("rename", "benchmark", "example", "--to", "icd10"), "benchmark 'icd10': the name is taken"),
        (("rename", "run", "--system", "x", "--to", "y"), "unknown system 'x': nothing is stored of it"),
        (("rename", "run", "--system", "bm25", "--to", "y"), "system 'bm25' is in the catalogue and keeps its name"),
        (("rename", "run", "--system", "mine", "--to", "fused"), "system 'fused': the name is taken"),
        (("rename", "run", "--system", "mine", "--to", "a,b"), "name 'a,b': expected one without comma"),
        (("rename", "run", "--system", "mine", "--to", "a\nb"), r"name 'a\nb': expected one without comma"),
    ],
)
def test_what_is_refused_leaves_the_store_byte_identical(cache, capsys, arguments, message):
    before = content(cache)
    assert command(cache, *arguments) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert content(cache) == before


def test_built_benchmarks_keep_their_names(tmp_path):
    cache = Cache(tmp_path)
    made = worked_example()
    put(cache, type(made)(**{**vars(made), "name": "bedside"}), {})
    with pytest.raises(InputError, match="is built by the program and keeps its name"):
        manage.rename_benchmark(cache, "bedside", "x", progress=silent)


def test_a_queued_deletion_can_be_cancelled(cache):
    before = content(cache)
    said = []

    def progress(step, done, total):
        said.append(step)
        raise JobCancelledError("cancelled")

    holds, let_go = threading.Event(), threading.Event()

    def hold():
        with write.locked(cache):
            holds.set()
            let_go.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    assert holds.wait(20)
    try:
        with pytest.raises(JobCancelledError):
            manage.delete_benchmark(cache, "example", progress=progress)
    finally:
        let_go.set()
        other.join()
    assert said == [write.WAITING]
    assert content(cache) == before


def test_an_empty_store_has_nothing_to_delete(tmp_path, capsys):
    assert command(Cache(tmp_path), "delete", "benchmark", "x", "--yes") == 1
    assert "the store is empty" in capsys.readouterr().err


def test_the_size_of_a_run_is_listed(cache, capsys):
    assert command(cache, "list", "runs", "--format", "csv") == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert sorted(int(row["n_bytes"]) for row in rows) == sorted(file.stat().st_size for file in cache.hits.iterdir())
