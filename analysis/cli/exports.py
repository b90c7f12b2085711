"""Runs, judgements, texts, per-query values and tables out again, in formats other tools read."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import numpy as np

from analysis.cli.output import plain
from analysis.cli.read import opened, query_rows, selection
from analysis.errors import InputError
from analysis.model import unranked
from analysis.paths import Cache
from analysis.report.files import named, whole_file, whole_folder
from analysis.store.read import DocumentColumns, QueryColumns, RunRow, Store, TaskRow
from analysis.views import validation
from analysis.views.delimited import write_csv
from analysis.views.evidence import chosen_tasks

TABLES = (
    "overview",
    "composites",
    "papers",
    "routes",
    "recoverability",
    "tiers",
    "fairness",
    "tax",
    "pairs",
    "orders",
    "causes",
    "map",
)
"""The keys of ``analysis.report.tables.TABLES``, which loads Plotly."""


def export(cache: Cache, options: argparse.Namespace) -> None:
    """Write what ``--format`` names.

    Raises:
        InputError: no single task, no such run, imported scores without what the format holds, an id that the format
            cannot hold, or a path that cannot be written.
    """
    store = opened(options)
    if options.per_query:
        _per_query(store, options)
    elif options.format == "latex":
        _latex(store, options)
    else:
        _WRITERS[options.format](store, _one_task(store, options), options)


def _one_task(store: Store, options: argparse.Namespace) -> TaskRow:
    """The task whose files are written, whole.

    Raises:
        InputError: not exactly one task, one of imported scores, or a part of it asked for.
    """
    for name in ("system", "where", "without_flagged"):
        if getattr(options, name):
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} goes with --per-query and --format latex: --format {options.format} writes all")
    tasks = chosen_tasks(store, selection(options))
    if len(tasks) != 1:
        raise InputError(f"--task is needed: {options.benchmark} has {', '.join(task.name for task in tasks)}")
    if not tasks[0].n_documents:
        what = f"--format {options.format} needs rankings or documents"
        raise InputError(unranked(what, n_queries=tasks[0].n_queries))
    return tasks[0]


def _run(store: Store, task: TaskRow, options: argparse.Namespace) -> RunRow:
    runs = {run.system: run for run in store.runs([task.task_id]) if run.status == "complete"}
    if options.run not in runs:
        raise InputError(f"--run {options.run!r}: {task.name} has runs of {', '.join(runs) or 'no system'}")
    run = runs[options.run]
    if run.hits_kept < run.depth:
        print(
            f"note: {run.hits_kept} of {run.depth} hits a query were kept, so this run is {run.hits_kept} deep",
            file=sys.stderr,
        )
    return run


@contextlib.contextmanager
def _target(options: argparse.Namespace) -> Iterator[IO[str]]:
    """Stdout, or a file that appears only when it is complete."""
    if options.output is None:
        yield sys.stdout
        return
    with whole_file(options.output) as handle:
        yield handle


def _ids(store: Store, task: TaskRow) -> tuple[Sequence[str], Sequence[str]]:
    """Ids of queries and documents, by position."""
    return store.queries(task.task_id).id.tolist(), store.documents(task.task_id).id.tolist()


def _word(text: str, what: str) -> str:
    """A text that a line of columns can hold.

    Raises:
        InputError: it is empty, or white space in it would end the column.
    """
    if text.split() != [text]:
        raise InputError(f"{what} {text!r}: white space separates the columns of TREC files; --format ranx can hold it")
    return text


def _words(texts: Sequence[str], places: Iterator[int], what: str) -> dict[int, str]:
    """The ids at some positions, each fit for a line of columns."""
    return {place: _word(texts[place], what) for place in dict.fromkeys(places)}


def _trec(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    run = _run(store, task, options)
    system = _word(run.system, "system")
    hits = store.hits(run)
    queries, documents = _ids(store, task)
    asked = _words(queries, (hit.query for hit in hits), "query id")
    found = _words(documents, (hit.document for hit in hits), "document id")
    with _target(options) as handle:
        handle.writelines(
            f"{asked[hit.query]} Q0 {found[hit.document]} {hit.rank} {hit.score!r} {system}\n" for hit in hits
        )


def _qrels(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    rows = store.judgements(task.task_id, all_grades=True)
    queries, documents = _ids(store, task)
    asked = _words(queries, iter(rows.query.tolist()), "query id")
    found = _words(documents, iter(rows.document.tolist()), "document id")
    with _target(options) as handle:
        for query, document, grade in zip(rows.query, rows.document, rows.grade, strict=True):
            handle.write(f"{asked[query]} 0 {found[document]} {_grade(grade)}\n")


def _ranx(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    """Query id -> document id -> score as JSON: a run, or without ``--run`` the judgements."""
    queries, documents = _ids(store, task)
    if options.run is None:
        rows = store.judgements(task.task_id, all_grades=True)
        grades: list[float] = [int(grade) if float(grade).is_integer() else float(grade) for grade in rows.grade]
        pairs: Iterable[tuple[int, int, float]] = zip(rows.query.tolist(), rows.document.tolist(), grades, strict=True)
    else:
        pairs = ((hit.query, hit.document, hit.score) for hit in store.hits(_run(store, task, options)))
    with _target(options) as handle:
        separator = "{\n"
        for query, group in groupby(pairs, key=lambda pair: pair[0]):
            values = json.dumps({documents[document]: value for _, document, value in group}, ensure_ascii=False)
            handle.write(f"{separator}{json.dumps(queries[query], ensure_ascii=False)}: {values}")
            separator = ",\n"
        handle.write("\n}\n" if separator == ",\n" else "{}\n")


def _csv(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    run = _run(store, task, options)
    queries, documents = _ids(store, task)
    with _target(options) as handle:
        write_csv(handle, [["query_id", "document_id", "rank", "score"]])
        write_csv(
            handle, ([queries[hit.query], documents[hit.document], hit.rank, hit.score] for hit in store.hits(run))
        )


def _parquet(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    run, target = _run(store, task, options), _path(options, "a file name")
    with named(target):
        store.export_hits(run, target)


# Per query


def _per_query(store: Store, options: argparse.Namespace) -> None:
    """The values of each query, of one system or all, as CSV or Parquet.

    Raises:
        InputError: another format.
    """
    if options.format not in {"csv", "parquet"}:
        raise InputError(f"--per-query --format {options.format}: expected csv or parquet")
    asked = selection(options)
    if options.run is not None:
        asked = asked._replace(systems=(options.run,))
    rows = [plain(row) for row in query_rows(store, asked)]
    if not rows:
        raise InputError(f"--per-query: {options.benchmark} has no complete run of what is asked for")
    names = list(dict.fromkeys(name for row in rows for name in row))
    if options.format == "csv":
        with _target(options) as handle:
            write_csv(handle, [names, *([row.get(name) for name in names] for row in rows)])
    else:
        _write_parquet(rows, names, _path(options, "a file name"))


def _write_parquet(rows: Sequence[Mapping[str, Any]], names: Sequence[str], target: Path) -> None:
    """Columns typed by what they hold; a column in which nothing is known is text."""
    import pyarrow
    from pyarrow import parquet

    columns = {name: [row.get(name) for row in rows] for name in names}
    kinds = {name: _kind(column) for name, column in columns.items()}
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    table = pyarrow.table({name: pyarrow.array(column, types[kinds[name]]) for name, column in columns.items()})
    with whole_file(target) as handle:
        parquet.write_table(table, handle.buffer)


def _kind(column: Sequence[object]) -> type:
    found = {type(value) for value in column if value is not None}
    return float if float in found else int if int in found else str


# A benchmark


def _beir(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    corpus, documents, queries = store.corpus(task.task_id), store.documents(task.task_id), store.queries(task.task_id)
    excluded = store.excluded(task.task_id)
    rows = store.judgements(task.task_id, all_grades=True)
    with whole_folder(_path(options, "a folder")) as folder:
        _json_lines(
            folder / "corpus.jsonl",
            (
                {
                    "_id": corpus.ids[place],
                    "title": "",
                    "text": corpus.texts[place],
                    "language": corpus.languages[place],
                    "family": documents.family[place],
                    **_given(documents, place, ("sibling_group", "related_group")),
                    **({"image": corpus.images[place].path} if place in corpus.images else {}),
                }
                for place in range(len(corpus))
            ),
        )
        _json_lines(
            folder / "queries.jsonl",
            (
                {
                    "_id": queries.id[place],
                    "text": queries.text[place],
                    "language": queries.language[place],
                    "family": queries.family[place],
                    **_attributes(queries, place),
                    "excluded_documents": [documents.id[document] for document in excluded.get(place, [])],
                }
                for place in range(len(queries.id))
            ),
        )
        (folder / "qrels").mkdir()
        with (folder / "qrels" / "test.tsv").open("w", encoding="utf-8", newline="") as handle:
            handle.write("query-id\tcorpus-id\tscore\n")
            handle.writelines(
                f"{_field(queries.id[query], 'query id')}\t{_field(documents.id[document], 'document id')}\t"
                f"{_grade(grade)}\n"
                for query, document, grade in zip(rows.query, rows.document, rows.grade, strict=True)
            )


def _field(text: str, what: str) -> str:
    """An id that a line of tab-separated fields can hold.

    Raises:
        InputError: a tab or a line break is in it.
    """
    if {"\t", "\n", "\r"} & set(text):
        raise InputError(f"{what} {text!r}: a tab or line break cannot stand in qrels/test.tsv")
    return text


def _attributes(queries: QueryColumns, place: int) -> dict[str, Any]:
    """What one query has of the optional attributes; free ones go where BEIR keeps what it does not know."""
    names = ("tier", "mode", "strategy", "audit_status", "source_query", "sibling_group", "related_group")
    free = {name: column[place] for name, column in queries.attributes.items() if column[place] is not None}
    return _given(queries, place, names) | ({"metadata": free} if free else {})


def _given(columns: QueryColumns | DocumentColumns, place: int, names: Sequence[str]) -> dict[str, Any]:
    """What a row has of some columns."""
    own = {name: getattr(columns, name)[place] for name in names}
    return {name: value for name, value in own.items() if value is not None}


def _grade(grade: float | np.floating) -> str:
    """A grade in as few digits as bring it back exactly."""
    return repr(float(grade)).removesuffix(".0")


def _json_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as handle:
        handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# Tables


def _latex(store: Store, options: argparse.Namespace) -> None:
    """Tables of one name for a paper."""
    from analysis.report import latex, tables  # loads Plotly

    found = tables.tables(store, selection(options), name=options.table)
    with _target(options) as handle:
        handle.write(latex.document(found, fragment=options.fragment))


def _sets(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    """The confusion sets that a task was made of."""
    text = validation.sets(store, selection(options)._replace(tasks=(task.name,)))
    with _target(options) as handle:
        handle.write(text)


def _path(options: argparse.Namespace, what: str) -> Path:
    if options.output is None:
        raise InputError(f"--format {options.format} needs {what}: -o PATH")
    return Path(options.output)


_WRITERS: dict[str, Callable[[Store, TaskRow, argparse.Namespace], None]] = {
    "trec": _trec,
    "qrels": _qrels,
    "ranx": _ranx,
    "beir": _beir,
    "csv": _csv,
    "parquet": _parquet,
    "sets": _sets,
}
FORMATS = (*_WRITERS, "latex")
