"""What is built here goes out as BEIR, comes back in, and measures the same, query by query."""

import dataclasses
import json

import pytest

from analysis.benchmarks import bedside
from analysis.cli import main
from analysis.paths import Cache
from analysis.store import read, write
from analysis.views import data

FAMILIES = 6  # of Bedside that are asked


def small_bedside(folder, request):
    """Bedside's three tasks, asked about its first few concepts."""
    made = bedside.build()

    def asked(task):
        kept = sorted({query.family for query in task.queries})[:FAMILIES]
        queries = tuple(query for query in task.queries if query.family in kept)
        names = {query.id for query in queries}
        judgements = tuple(row for row in task.judgements if row.query_id in names)
        return dataclasses.replace(task, queries=queries, judgements=judgements)

    with write.writer(Cache(folder)) as writer:
        writer.add_benchmark(dataclasses.replace(made, tasks=tuple(map(asked, made.tasks))))


def mmed_task1(folder, request):
    """Task 1 of MMed-Bench-IR from invented sources."""
    sources = folder / "invented"
    for source, more in (("umls", ()), ("mmedbench", ("--questions", "30"))):
        told = ("generate-sources", source, str(sources / source), "--seed", "3", "--concepts", "100", *more)
        assert main(told) == 0
    flags = ("--umls", sources / "umls", "--mmedbench", sources / "mmedbench", "--least", "15", "--negatives", "20")
    assert main(["build", "mmed-task1", *map(str, flags), "--cache", str(folder)]) == 0


def icd10(folder, request):
    """A few categories of ICD-10."""
    sources = request.getfixturevalue("icd10_sources")
    (folder / "sources").symlink_to(sources)
    flags = ("--concepts", "20", "--queries", "15", "--languages", "en,de,ja", "--cache", str(folder))
    assert main(["build", "icd10", *flags]) == 0


BUILT = {
    "bedside": (small_bedside, ("t1-alignment", "t2-discrimination", "t3-evidence")),
    "mmed-bench-ir-invented": (mmed_task1, ("t1-alignment",)),
    "icd10": (icd10, ("category", "parallel-titles", "discrimination")),
}
"""What is built, and its tasks."""


def measured(capsys, folder, benchmark):
    """Every value of every query, and what the card counts of judgements."""
    assert main(["run", "--benchmark", benchmark, "--systems", "bm25", "--cache", str(folder)]) == 0
    capsys.readouterr()
    assert main(["per-query", "--benchmark", benchmark, "--format", "json", "--cache", str(folder)]) == 0
    rows = json.loads(capsys.readouterr().out)
    card = data.card(read.open_store(Cache(folder)), benchmark)
    counts = {
        task.task.name: (task.n_families, task.n_judgements, task.n_relevant, task.n_cross_language, task.languages)
        for task in card.tasks
    }
    return rows, counts, card.separation


@pytest.mark.parametrize("name", ["bedside", "mmed-bench-ir-invented", pytest.param("icd10", marks=pytest.mark.slow)])
def test_a_built_benchmark_comes_back_with_the_same_measures(name, tmp_path, capsys, request):
    build, tasks = BUILT[name]
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    build(one, request)
    for task in tasks:
        beir = str(tmp_path / task)
        told = ("--benchmark", name, "--task", task, "--format", "beir", "-o", beir, "--cache", str(one))
        assert main(["export", *told]) == 0
        told = ("--benchmark", "back", "--task", task, "--format", "beir", "--cache", str(two))
        assert main(["import-benchmark", beir, *told]) == 0
    before, after = measured(capsys, one, name), measured(capsys, two, "back")
    assert {row["task"] for row in before[0]} == set(tasks)
    assert sorted(map(str, before[0])) == sorted(map(str, after[0]))
    assert before[1] == after[1]
    assert sorted(pair.shared for pair in before[2].pairs) == sorted(pair.shared for pair in after[2].pairs)
    assert any(row["recall_at_10"] for row in before[0])
