"""The commands `export` and `report`: what comes out goes in again and measures the same."""

import csv
import io
import json
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from analysis.cli import exports, main
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.report.tables import TABLES
from tests.hand_made import put, put_map, ranking_of, state, worked_example

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("en", "fr", "ja")
BASE = ("--benchmark", "made")


def a_benchmark():
    """Graded and negative judgements, a dangling document, an unanswered query, ids that look like numbers."""
    draw = np.random.default_rng(11)
    documents = tuple(
        Document(f"0{n}:{tag}/é", tag, f"text {n} \u2028 in {tag}", f"f{n}", f"s{n // 3}", f"r{n // 6}")
        for n in range(12)
        for tag in LANGUAGES
    )
    queries = tuple(
        Query(
            f"{n}_{tag}",
            tag,
            f"question {n} 質問",
            f"f{n}",
            f"s{n // 3}",
            f"r{n // 6}",
            tier=("easy", "hard")[n % 2],
            mode="patient" if n % 3 else None,
            excluded_documents=(f"0{n}:{tag}/é",) if n == 5 else (),
            attributes={"topic": f"=t{n % 4}", **({"@": "odd"} if n % 2 else {})},
        )
        for n in range(12)
        for tag in LANGUAGES
    )
    judgements = [
        Judgement(query.id, document.id, (2.0, 1.0, 0.5)[LANGUAGES.index(document.language)])
        for query in queries
        for document in documents
        if query.family == document.family and document.id not in query.excluded_documents
    ]
    judgements += [Judgement(query.id, documents[int(draw.integers(len(documents)))].id, 0.0) for query in queries[3:9]]
    judgements = {(row.query_id, row.document_id): row for row in reversed(judgements)}
    judgements["0_en", "gone"] = Judgement("0_en", "gone", 1.0)
    judgements["1_en", documents[-1].id] = Judgement("1_en", documents[-1].id, -1.0)
    task = Task("main", "Made", "?", documents, queries, tuple(judgements.values()), default=True)
    return Benchmark("made", "1", "Made", True, "CC0", "here", (), {}, (task,))


def lists(task, seed):
    """A ranking of twenty documents a query, without those that leave it; one query has none."""
    draw = np.random.default_rng(seed)
    ids = [document.id for document in task.documents]
    found = []
    for place, query in enumerate(task.queries):
        order = [ids[at] for at in draw.permutation(len(ids)) if ids[at] not in query.excluded_documents]
        found.append([] if place == 4 else order[:20])
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    made = a_benchmark()
    rankings = {
        (name, "lexical"): ranking_of(made.tasks[0], lists(made.tasks[0], seed), depth=20)
        for seed, name in enumerate(("one", "two"))
    }
    found = put(cache := Cache(tmp_path_factory.mktemp("made")), made, rankings)
    (task,) = found.tasks(found.benchmark(made.name).benchmark_id)
    n = task.n_documents + task.n_queries
    return put_map(cache, task, "one", [(place, 0) for place in range(n)], [[(place + 1) % n] for place in range(n)])


@pytest.fixture
def command(capsys, store):
    def call(*arguments, cache=store.cache):
        code = main([*map(str, arguments), "--cache", str(cache.root)])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def per_query(command, benchmark, system, cache):
    """Every value of every query by its id."""
    asked = ("per-query", "--benchmark", benchmark, "--system", system, "--format", "csv")
    code, out, err = command(*asked, cache=cache)
    assert code == 0, err
    return {row["query_id"]: row for row in csv.DictReader(io.StringIO(out))}


MEASURES = ("ndcg_at_10", "recall_at_10", "recall_at_10_same", "recall_at_10_cross", "rr", "ap", "first_cross_rank")


@pytest.mark.parametrize("form", ["trec", "ranx", "csv", "parquet"])
def test_a_benchmark_and_its_run_come_back_and_measure_the_same(command, store, tmp_path, form):
    again = Cache(tmp_path / "again")
    folder, run = tmp_path / "beir", tmp_path / f"run.{form}"
    assert command("export", *BASE, "--format", "beir", "-o", folder)[0] == 0
    assert command("export", *BASE, "--format", form, "--run", "one", "-o", run)[0] == 0
    code, _, err = command("import-benchmark", folder, "--benchmark", "back", "--format", "beir", cache=again)
    assert code == 0, err
    code, _, err = command("import-run", run, "--benchmark", "back", "--system", "one", cache=again)
    assert code == 0, err
    before = per_query(command, "made", "one", store.cache)
    after = per_query(command, "back", "one", again)
    assert len(before) == 36
    for name in (*MEASURES, "query_language", "family", "tier", "mode", "topic", "@"):
        assert {query: row[name] for query, row in after.items()} == {q: row[name] for q, row in before.items()}, name


def test_trec_judgements_come_back_beside_the_same_corpus(command, store, tmp_path):
    again = Cache(tmp_path / "again")
    folder, run = tmp_path / "beir", tmp_path / "run"
    command("export", *BASE, "--format", "beir", "-o", folder)
    (folder / "qrels" / "test.tsv").unlink()
    assert command("export", *BASE, "--format", "qrels", "-o", folder / "qrels" / "test.trec")[0] == 0
    command("export", *BASE, "--format", "trec", "--run", "two", "-o", run)
    code, _, err = command("import-benchmark", folder, "--benchmark", "back", "--format", "beir", cache=again)
    assert code == 0, err
    command("import-run", run, "--benchmark", "back", "--system", "two", cache=again)
    before, after = (per_query(command, *where) for where in (("made", "two", store.cache), ("back", "two", again)))
    assert [[row[name] for name in MEASURES] for row in after.values()] == [
        [row[name] for name in MEASURES] for row in before.values()
    ]


def test_judgements_as_ranx_have_whole_grades_where_they_are_whole(command):
    found = json.loads(command("export", *BASE, "--format", "ranx")[1])
    assert found["0_en"] == {"00:en/é": 2, "00:fr/é": 1, "00:ja/é": 0.5, "gone": 1}
    assert found["1_en"]["011:ja/é"] == -1
    assert len(found) == 36


def test_an_empty_run_is_an_empty_object(command, tmp_path):
    made = worked_example()
    cache = Cache(tmp_path / "cache")
    put(cache, made, {("none", "lexical"): ranking_of(made.tasks[0], [[], []], depth=10)})
    out = command("export", "--benchmark", "example", "--run", "none", "--format", "ranx", cache=cache)[1]
    assert json.loads(out) == {}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_per_query_values_as_the_command_prints_them(command, tmp_path, form):
    target = tmp_path / "values"
    assert command("export", *BASE, "--per-query", "--format", form, "-o", target)[0] == 0
    printed = list(csv.DictReader(io.StringIO(command("per-query", *BASE, "--format", "csv")[1])))
    if form == "csv":
        with target.open(encoding="utf-8", newline="") as handle:
            assert list(csv.DictReader(handle)) == printed
        return
    table = parquet.read_table(target)
    assert table.schema.field("ndcg_at_10").type == "double"
    assert table.schema.field("first_same_rank").type == "int64"
    assert table.schema.field("query_id").type == "string"
    rows = [{name: "" if value is None else str(value) for name, value in row.items()} for row in table.to_pylist()]
    assert rows == printed
    assert len(rows) == 72


def test_per_query_values_of_one_system_and_a_part_of_the_queries(command):
    out = command("export", *BASE, "--per-query", "--run", "two", "--where", "language=ja", "--format", "csv")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {(row["system"], row["query_language"]) for row in rows} == {("two", "ja")}
    assert len(rows) == 12
    assert rows[0]["topic"] == "=t0"  # for programs: ids and attributes are never changed


def test_imported_scores_have_per_query_values_and_no_run(command, imported_store, tmp_path):
    cache = imported_store.cache
    target = tmp_path / "values.parquet"
    asked = ("export", "--benchmark", "imported")
    assert command(*asked, "--per-query", "--format", "parquet", "-o", target, cache=cache)[0] == 0
    table = parquet.read_table(target)
    assert table.num_rows == 120
    code, _, err = command(*asked, "--run", "large", "--format", "trec", cache=cache)
    assert (code, err.splitlines()[-1]) == (
        1,
        "babelscope: this benchmark has per-query scores only: --format trec needs rankings or documents",
    )


@pytest.mark.parametrize("name", [name for name in TABLES if name not in {"composites", "orders", "papers"}])
def test_every_table_in_latex(command, name):
    code, out, err = command("export", *BASE, "--format", "latex", "--table", name)
    assert code == 0, err
    assert out.startswith("\\documentclass{article}\n")
    assert out.count("\\begin{") == out.count("\\end{") >= 3
    assert name == "routes" or "one &" in out
    fragment = command("export", *BASE, "--format", "latex", "--table", name, "--fragment")[1]
    assert fragment.startswith("% Needs")
    assert "\\begin{document}" not in fragment


def test_the_names_of_tables_are_those_of_the_report():
    assert tuple(TABLES) == exports.TABLES


def spaced(tmp_path, change):
    made = worked_example()
    task = change(made.tasks[0])
    ranking = ranking_of(task, [[task.documents[0].id], []], depth=10)
    cache = Cache(tmp_path / "cache")
    name = "my system" if task == made.tasks[0] else "good"
    put(cache, replace(made, tasks=(task,)), {(name, "lexical"): ranking})
    return cache, name


def renamed_document(task, name):
    first = task.documents[0]
    judgements = tuple(
        row._replace(document_id=name) if row.document_id == first.id else row for row in task.judgements
    )
    return replace(task, documents=(first._replace(id=name), *task.documents[1:]), judgements=judgements)


def renamed_query(task, name):
    first = task.queries[0]
    judgements = tuple(row._replace(query_id=name) if row.query_id == first.id else row for row in task.judgements)
    return replace(task, queries=(first._replace(id=name), *task.queries[1:]), judgements=judgements)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda task: task, "system 'my system'"),
        (lambda task: renamed_query(task, "q 1"), "query id 'q 1'"),
        (lambda task: renamed_query(task, "q\u00a01"), "query id 'q\\xa01'"),
        (lambda task: renamed_document(task, "d\t1"), "document id 'd\\t1'"),
        (lambda task: renamed_document(task, "d\n1"), "document id 'd\\n1'"),
    ],
)
def test_what_a_line_of_columns_cannot_hold_is_named_and_ranx_holds_it(command, tmp_path, change, says):
    cache, name = spaced(tmp_path, change)
    target = tmp_path / "run.trec"
    base = ("export", "--benchmark", "example", "--run", name)
    code, out, err = command(*base, "--format", "trec", "-o", target, cache=cache)
    assert (code, out) == (1, "")
    assert err == (f"babelscope: {says}: white space separates the columns of TREC files; --format ranx can hold it\n")
    assert not target.exists()
    if "system" not in says:
        assert command("export", "--benchmark", "example", "--format", "qrels", cache=cache)[0] == 1
    assert command(*base, "--format", "ranx", "-o", target, cache=cache)[0] == 0
    before = per_query(command, "example", name, cache)
    code, _, err = command("import-run", target, "--benchmark", "example", "--system", "again", cache=cache)
    assert code == 0, err
    after = per_query(command, "example", "again", cache)
    assert [row["ndcg_at_10"] for row in after.values()] == [row["ndcg_at_10"] for row in before.values()]


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--format", "trec"), "--run None: main has runs of one, two"),
        (("--format", "trec", "--run", "three"), "--run 'three': main has runs of one, two"),
        (("--format", "parquet", "--run", "one"), "--format parquet needs a file name: -o PATH"),
        (("--format", "beir"), "--format beir needs a folder: -o PATH"),
        (("--format", "parquet", "--per-query"), "--format parquet needs a file name: -o PATH"),
        (("--format", "trec", "--per-query"), "--per-query --format trec: expected csv or parquet"),
        (("--format", "latex", "--per-query"), "--per-query --format latex: expected csv or parquet"),
        (("--format", "csv", "--per-query", "--run", "three"), "unknown system 'three': stored are one, two"),
        (
            ("--format", "trec", "--run", "one", "--where", "language=ja"),
            "--where goes with --per-query and --format latex: --format trec writes all",
        ),
        (
            ("--format", "beir", "--without-flagged"),
            "--without-flagged goes with --per-query and --format latex: --format beir writes all",
        ),
        (("--format", "latex", "--table", "composites"), "--table composites: made has nothing to show in it"),
        (("--format", "latex", "--table", "orders"), "--table orders: made has nothing to show in it"),
        (("--format", "latex", "--task", "nope"), "unknown task 'nope': made has main"),
    ],
)
def test_a_refused_export_is_one_line_and_writes_nothing(command, store, flags, says):
    before = state(store.cache.root)
    assert command("export", *BASE, *flags) == (1, "", f"babelscope: {says}\n")
    assert state(store.cache.root) == before


def test_a_folder_that_holds_something_is_never_touched(command, tmp_path):
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("kept")
    code, _, err = command("export", *BASE, "--format", "beir", "-o", full)
    assert (code, err) == (1, f"babelscope: -o {full}: expected a new or an empty folder\n")
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine"]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert command("export", *BASE, "--format", "beir", "-o", empty)[0] == 0
    assert sorted(path.name for path in empty.rglob("*")) == ["corpus.jsonl", "qrels", "queries.jsonl", "test.tsv"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    "flags",
    [
        ("--format", "qrels"),
        ("--format", "latex"),
        ("--format", "beir"),
        ("--format", "parquet", "--run", "one"),
        ("--format", "parquet", "--per-query"),
    ],
)
def test_a_path_that_cannot_be_written_is_named(command, tmp_path, flags):
    target = tmp_path / "nope" / "file"
    code, _, err = command("export", *BASE, *flags, "-o", target)
    assert (code, err) == (1, f"babelscope: -o {target}: there is no folder {target.parent}\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "full").touch()
    code, _, err = command("export", *BASE, *flags, "-o", folder)
    assert code == 1
    assert err.startswith(f"babelscope: -o {folder}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.slow  # processes of their own
@pytest.mark.parametrize("flags", [("export", "--format", "qrels"), ("export", "--format", "beir"), ("report",)])
def test_a_disk_that_takes_no_more_is_named_and_nothing_is_left(store, tmp_path, flags):
    """A limit on the size of files, which the system reports as it does a full disk."""
    target = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-m", "analysis", *flags, *BASE, "--cache", str(store.cache.root), "-o", str(target)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)),
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"babelscope: -o {target}: File too large"
    assert not list(tmp_path.iterdir())


def test_what_only_an_imported_run_retrieved_comes_back_too(command, store, tmp_path):
    """A document outside the corpus pushes others down; it is in the run's file and not among BEIR's documents."""
    again, run, folder = Cache(tmp_path / "again"), tmp_path / "run", tmp_path / "beir"
    command("export", *BASE, "--format", "beir", "-o", folder)
    command("import-benchmark", folder, "--benchmark", "back", "--format", "beir", cache=again)
    run.write_text("0_en Q0 strange 1 9.5 x\n0_en Q0 00:fr/é 2 8.25 x\n", encoding="utf-8")
    bring = ("import-run", run, "--benchmark", "back", "--allow-unknown-documents", "--system")
    assert command(*bring, "first", cache=again)[0] == 0
    out = ("export", "--benchmark", "back", "--run", "first", "--format", "trec", "-o", run)
    assert command(*out, cache=again)[0] == 0
    assert run.read_text(encoding="utf-8").splitlines()[0] == "0_en Q0 strange 1 9.5 first"
    assert command(*bring, "second", cache=again)[0] == 0
    first, second = (per_query(command, "back", name, again) for name in ("first", "second"))
    assert first["0_en"]["first_cross_rank"] == "2"
    assert [list(row.values())[2:] for row in first.values()] == [list(row.values())[2:] for row in second.values()]


@pytest.mark.slow
def test_the_report_is_a_file_or_stdout_with_its_steps_on_stderr(command, tmp_path):
    target = tmp_path / "report.html"
    code, out, err = command("report", *BASE, "-o", target)
    assert (code, out) == (0, "")
    assert err.splitlines()[0] == "report: Overview (0 of 11)"
    assert err.splitlines()[-1] == "report: put together (11 of 11)"
    written = target.read_text(encoding="utf-8")
    assert written.startswith("<!DOCTYPE html>")
    assert command("report", *BASE)[1].startswith("<!DOCTYPE html>")
    assert command("report", "--benchmark", "nope", "-o", target)[::2] == (
        1,
        "babelscope: unknown benchmark 'nope': stored are made@1\n",
    )
    assert target.read_text(encoding="utf-8") == written


def test_csv_quotes_what_would_end_a_line(command, tmp_path):
    cache, name = spaced(tmp_path, lambda task: renamed_document(task, "d\r1"))
    out = command("export", "--benchmark", "example", "--run", name, "--format", "csv", cache=cache)[1]
    assert list(csv.reader(io.StringIO(out, newline="")))[1][:3] == ["q1", "d\r1", "1"]
