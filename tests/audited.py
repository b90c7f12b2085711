"""A benchmark to audit: two languages, binary judgements, every count small enough for a hand."""

import csv
import io

from analysis.jobs import audit_sheet
from analysis.jobs.audit_sheet import SheetRequest
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import audits, read, write
from tests.hand_made import put, ranking_of

LANGUAGES = ("en", "ja")
N = 40  # queries of each language


def made(*, grades=(1.0,), tiers=(None,), texts=str):
    """Query ``qNN-en`` asks for ``dNN-en`` and ``dNN-ja``; one of its versions failed an audit."""
    documents = tuple(
        Document(f"d{n}-{tag}", tag, texts(f"answer {n} {tag}"), family=f"c{n}") for n in range(N) for tag in LANGUAGES
    )
    queries = tuple(
        Query(
            *(f"q{n}-{tag}", tag, f"question {n} {tag}", f"c{n}"),
            source_query=f"q{n}-en",
            tier=tiers[n % len(tiers)],
            audit_status="fail" if (n, tag) == (0, "ja") else "pass",
            attributes={"ward": "even" if n % 2 == 0 else "odd"},
        )
        for n in range(N)
        for tag in LANGUAGES
    )
    judgements = tuple(
        Judgement(f"q{n}-{asked}", f"d{n}-{tag}", grades[n % len(grades)])
        for n in range(N)
        for asked in LANGUAGES
        for tag in LANGUAGES
    )
    task = Task("main", "Main task", "A question.", documents, queries, judgements, default=True)
    return Benchmark("example", "1", "Audited example", True, "CC0", "by hand", (), {}, (task,))


def stored(folder, *, run=True, **how):
    """A store with the benchmark, and a run that ranks the next three families before the right one."""
    benchmark = made(**how)
    (task,) = benchmark.tasks
    lists = [
        [f"d{(n + step) % N}-{tag}" for step in (1, 2, 3, 0) for tag in LANGUAGES] for n in range(N) for _ in LANGUAGES
    ]
    rankings = {("dense", "multilingual dense"): ranking_of(task, lists, depth=10)} if run else {}
    return put(Cache(folder), benchmark, rankings)


def rows(text):
    """The rows of a CSV, by column."""
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def sheet(store, **how):
    """A sheet of the example, with its rows and the key of each."""
    found = audit_sheet.make(SheetRequest("example", **how), store.cache.root)
    return found, rows(found.text), {row["row"]: row for row in rows(found.key)}


def filled(path, sheet_rows, judge, *, separator=",", annotator="ann"):
    """The sheet as somebody would send it back, with what ``judge`` says of each row."""
    with path.open("w", encoding="utf-8-sig", newline="") as handle:
        writer = csv.DictWriter(handle, list(sheet_rows[0]), delimiter=separator)
        writer.writeheader()
        for row in sheet_rows:
            writer.writerow(row | {"judgement": judge(row), "annotator": annotator})
    return path


def said(store):
    """All judgements on the example."""
    return audits.listed(store.cache, "example")


def again(store, benchmark):
    """Another version of the example, in the same store."""
    with write.writer(store.cache) as writer:
        writer.add_benchmark(benchmark)
    return read.open_store(store.cache)
