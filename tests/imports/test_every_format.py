"""The examples of docs/formats.md: each is imported, goes out in another format, comes back, and measures the same."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.imports import folder, run_rows
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from tests.imports.imported import command, task_of, written

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
FIELD = {"id": ("d7", "q1"), "text": ("angina pectoris", "angina"), "language": ("en", "es")}
TOLD = {
    "trec": ("--query-language", "es"),
    "parallel": ("--languages", "en,es", "--family", "source"),
    "tmx": ("--languages", "en,es"),
}
"""What an example leaves to the command line."""
REST = {  # of files of which an example shows the header alone
    "table": {"documents.csv": "d7,angina pectoris,en\n", "queries.tsv": "q1\tangina\tes\n"},
}


def examples(first, *, below="# Formats"):
    """The lines of each example in the first table below a heading whose first column is called so."""
    _, _, table = DOCS.partition(below)[2].partition(f"| {first} | three lines |")
    found = {}
    for row in table.splitlines()[2:]:
        if not row.startswith("|"):
            break
        names, lines, _ = (cell.strip() for cell in row.strip("|").split(" | ", 2))
        for name in re.findall(r"`([^`]+)`", names):
            found[name] = [line.replace("⇥", "\t") for line in re.findall(r"`([^`]*)`", lines)]
    return found


def packed(path, lines):
    """What a file of these lines holds; a table of columns and rows for those that are no text."""
    if not path.endswith((".parquet", ".arrow")):
        return "\n".join(lines) + "\n"
    header, *rows = (line.split(",") for line in lines)
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(header)})
    if header[-1] in {"score", "relevance"}:
        table = table.set_column(len(header) - 1, header[-1], pa.array([float(row[-1]) for row in rows]))
    sink = pa.BufferOutputStream()
    if path.endswith(".parquet"):
        pq.write_table(table, sink)
    else:
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return sink.getvalue().to_pybytes()


def files_of(form, lines):
    """The files of a benchmark's example by their paths."""
    found = {}
    for line in lines:
        path, _, content = line.partition(" » ")
        found.setdefault(path, []).append(content)
    for path, rest in REST.get(form, {}).items():
        found[path].append(rest.removesuffix("\n"))
    for path, content in found.items():
        if path.endswith((".parquet", ".arrow")):
            side = 0 if path.startswith("corpus") else 1
            content.append("q1,d7,1" if "score" in content[0] else ",".join(value[side] for value in FIELD.values()))
    made = {path: packed(path, content) for path, content in found.items()}
    states = {str(Path(path).parent / "state.json"): Path(path).name for path in made if path.endswith(".arrow")}
    return made | {path: json.dumps({"_data_files": [{"filename": name}]}) for path, name in states.items()}


RUNS = examples("`--format`")
BENCHMARKS = examples("`--format`", below="## Benchmarks")
JUDGEMENTS = examples("judgements")


def test_every_format_has_an_example_of_three_lines():
    assert set(RUNS) == set(run_rows.FORMATS)
    assert set(BENCHMARKS) == set(folder.FORMATS)
    assert all(len(lines) == 3 for lines in (*RUNS.values(), *BENCHMARKS.values(), *JUDGEMENTS.values()))


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A store that the examples of runs and judgements are about."""
    documents = tuple(Document(f"d{n}", "en" if n % 2 else "fr", f"text {n}", f"c{n}") for n in (1, 3, 7))
    queries = (Query("q1", "en", "one", "c7"), Query("q2", "fr", "two", "c3"))
    grades = [("q1", "d7", 1), ("q1", "d3", 2), ("q2", "d7", 0), ("q2", "d1", 1)]
    task = Task("main", "Main", "?", documents, queries, tuple(Judgement(*row) for row in grades), default=True)
    cache = Cache(tmp_path_factory.mktemp("asked"))
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("asked", "1", "Asked", False, "CC0", "by hand", (), {}, (task,)))
    return cache


def per_query(cache, system):
    rows = json.loads(command(cache.root, "per-query", "--benchmark", "asked", "--system", system, "--format", "json"))
    return [{**row, "system": None} for row in rows]


@pytest.mark.parametrize("form", RUNS)
def test_the_example_of_a_run_comes_back_through_every_format(asked, tmp_path, form):
    file = tmp_path / "run"
    content = packed(f"run.{form}", RUNS[form])
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    command(asked.root, "import-run", file, "--benchmark", "asked", "--system", form, "--format", form)
    first = per_query(asked, form)
    assert [row["rr"] for row in first] == [1.0, 0.0]  # d7 stands first for q1, nothing relevant for q2
    assert first[0]["ndcg_at_10"] == pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))
    for out in ("trec", "ranx", "csv", "parquet"):
        again, system = tmp_path / f"again.{out}", f"{form} through {out}"
        command(asked.root, "export", "--benchmark", "asked", "--run", form, "--format", out, "-o", again)
        command(asked.root, "import-run", again, "--benchmark", "asked", "--system", system)
        assert per_query(asked, system) == first
    assert read.open_store(asked).faults() == []


def through_beir(path, tmp_path, *told):
    """Every query's measures of a benchmark with a run that finds each document, and of both once they went out and in.

    Returns:
        The rows as imported, and the rows of what was exported and imported again.
    """
    cache, lines = tmp_path / "cache", tmp_path / "run.trec"
    command(cache, "import-benchmark", path, "--benchmark", "one", *told)
    store, task = task_of(Cache(cache), "one")
    documents = store.corpus(task.task_id).ids
    lines.write_text(
        "".join(
            f"{query} Q0 {name} 0 {len(documents) - place} t\n"
            for query in store.queries(task.task_id).id
            for place, name in enumerate(documents)
        )
    )
    command(cache, "import-run", lines, "--benchmark", "one", "--system", "all")
    command(cache, "export", "--benchmark", "one", "--format", "beir", "-o", tmp_path / "out")
    command(cache, "export", "--benchmark", "one", "--run", "all", "--format", "trec", "-o", tmp_path / "again.trec")
    command(cache, "import-benchmark", tmp_path / "out", "--benchmark", "two", "--format", "beir")
    command(cache, "import-run", tmp_path / "again.trec", "--benchmark", "two", "--system", "all")
    return [json.loads(command(cache, "per-query", "--benchmark", name, "--format", "json")) for name in ("one", "two")]


@pytest.mark.parametrize("ending", JUDGEMENTS)
def test_the_example_of_judgements_is_read(tmp_path, ending):
    documents = (
        '{"_id": "d7", "text": "sore heart", "language": "en"}\n{"_id": "d3", "text": "leg", "language": "en"}\n'
    )
    queries = '{"_id": "q1", "text": "heart", "language": "en"}\n{"_id": "q2", "text": "leg", "language": "en"}\n'
    judged = packed(f"qrels/test{ending}", JUDGEMENTS[ending])
    if ending == ".jsonl":
        header, *rows = (line.split(",") for line in JUDGEMENTS[ending])
        judged = "".join(
            json.dumps({**dict(zip(header, row, strict=True)), "relevance": int(row[2])}) + "\n" for row in rows
        )
    files = {"corpus.jsonl": documents, "queries.jsonl": queries, f"qrels/test{ending}": judged}
    first, second = through_beir(written(tmp_path / "mine", files), tmp_path, "--format", "beir")
    assert first == second
    assert first[0]["rr"] == 1.0


@pytest.mark.parametrize("form", [form for form in BENCHMARKS if form != "ir_datasets"])
def test_the_example_of_a_benchmark_comes_back_as_beir(tmp_path, form):
    """The ids of ir_datasets stand for no file; test_ir_datasets_source.py has their round trip."""
    root = written(tmp_path / "mine", files_of(form, BENCHMARKS[form]))
    path = next(root.iterdir()) if form in folder.PARALLEL else root
    first, second = through_beir(path, tmp_path, "--format", form, *TOLD.get(form, ()))
    assert first == second
    assert {row["query_language"] for row in first} <= {"en", "es"}
    assert any(row["rr"] is not None for row in first)
