"""Runs, judgements and texts out again, in formats other tools read."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from analysis.cli.read import opened, selection
from analysis.errors import InputError
from analysis.model import Interval, scores_only
from analysis.paths import Cache
from analysis.store.read import DocumentColumns, QueryColumns, RunRow, Store, TaskRow
from analysis.views import overview
from analysis.views.evidence import chosen_tasks


def export(cache: Cache, options: argparse.Namespace) -> None:
    """Write what ``--format`` names.

    Raises:
        InputError: no single task, no such run, imported scores without what the format holds, or no output path.
    """
    store = opened(options)
    tasks = chosen_tasks(store, selection(options))
    if len(tasks) != 1:
        raise InputError(f"--task is needed: {options.benchmark} has {', '.join(task.name for task in tasks)}")
    if not tasks[0].n_documents and options.format != "latex":
        raise InputError(scores_only(f"--format {options.format} needs rankings or documents"))
    _WRITERS[options.format](store, tasks[0], options)


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
    temporary = options.output.with_name(options.output.name + ".tmp")
    with temporary.open("w", encoding="utf-8", newline="") as handle:
        yield handle
    temporary.replace(options.output)


def _trec(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    run = _run(store, task, options)
    queries, documents = store.queries(task.task_id).id, store.documents(task.task_id).id
    with _target(options) as handle:
        for hit in store.hits(run):
            handle.write(f"{queries[hit.query]} Q0 {documents[hit.document]} {hit.rank} {hit.score!r} {run.system}\n")


def _qrels(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    queries, documents = store.queries(task.task_id).id, store.documents(task.task_id).id
    rows = store.judgements(task.task_id, all_grades=True)
    with _target(options) as handle:
        for query, document, grade in zip(rows.query, rows.document, rows.grade, strict=True):
            handle.write(f"{queries[query]} 0 {documents[document]} {_grade(grade)}\n")


def _csv(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    import csv

    run = _run(store, task, options)
    queries, documents = store.queries(task.task_id).id, store.documents(task.task_id).id
    with _target(options) as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["query_id", "document_id", "rank", "score"])
        writer.writerows(
            [queries[hit.query], documents[hit.document], hit.rank, repr(hit.score)] for hit in store.hits(run)
        )


def _parquet(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    store.export_hits(_run(store, task, options), _path(options, "a file name"))


def _beir(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    folder = _path(options, "a folder")
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    corpus, documents, queries = store.corpus(task.task_id), store.documents(task.task_id), store.queries(task.task_id)
    excluded = store.excluded(task.task_id)
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
                "excluded_documents": [corpus.ids[document] for document in excluded.get(place, [])],
            }
            for place in range(len(queries.id))
        ),
    )
    rows = store.judgements(task.task_id, all_grades=True)
    lines = (
        f"{queries.id[query]}\t{documents.id[document]}\t{_grade(grade)}\n"
        for query, document, grade in zip(rows.query, rows.document, rows.grade, strict=True)
    )
    with (folder / "qrels" / "test.tsv").open("w", encoding="utf-8") as handle:
        handle.write("query-id\tcorpus-id\tscore\n")
        handle.writelines(lines)


def _attributes(queries: QueryColumns, place: int) -> dict[str, Any]:
    """What one query has of the optional attributes; free ones go where BEIR keeps what it does not know."""
    names = ("tier", "mode", "strategy", "audit_status", "source_query", "sibling_group", "related_group")
    free = {name: column[place] for name, column in queries.attributes.items() if column[place] is not None}
    return _given(queries, place, names) | ({"metadata": free} if free else {})


def _given(columns: QueryColumns | DocumentColumns, place: int, names: Sequence[str]) -> dict[str, Any]:
    """What a row has of some columns."""
    own = {name: getattr(columns, name)[place] for name in names}
    return {name: value for name, value in own.items() if value is not None}


def _grade(grade: float) -> str:
    """A grade in as few digits as bring it back exactly."""
    return repr(float(grade)).removesuffix(".0")


def _latex(store: Store, task: TaskRow, options: argparse.Namespace) -> None:
    """The leaderboard as a table for a paper; intervals as ranges, missing as a dash."""
    view = overview.overview(store, selection(options)._replace(tasks=(task.name,)))
    lines = [
        f"\\begin{{tabular}}{{l{'r' * len(view.measures)}}}",
        "\\toprule",
        " & ".join(["System", *(_escaped(measure.label) for measure in view.measures)]) + " \\\\",
        "\\midrule",
        *(
            " & ".join([_escaped(row.system.title), *(_cell(row.measures[measure.key]) for measure in view.measures)])
            + " \\\\"
            for row in view.tasks[0].rows
        ),
        "\\bottomrule",
        "\\end{tabular}",
        f"% {_escaped(view.tasks[0].caption)}",
    ]
    with _target(options) as handle:
        handle.write("\n".join(lines) + "\n")


def _cell(interval: Interval) -> str:
    if interval.value is None:
        return "--"
    digits = 1 if abs(interval.value) > 1 else 2
    return f"{interval.value:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" if character in "#$%&_{}" else character for character in text)


def _json_lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as handle:
        handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _path(options: argparse.Namespace, what: str) -> Path:
    if options.output is None:
        raise InputError(f"--format {options.format} needs {what}: -o PATH")
    return Path(options.output)


_WRITERS: dict[str, Callable[[Store, TaskRow, argparse.Namespace], None]] = {
    "trec": _trec,
    "qrels": _qrels,
    "beir": _beir,
    "csv": _csv,
    "parquet": _parquet,
    "latex": _latex,
}
FORMATS = tuple(_WRITERS)
