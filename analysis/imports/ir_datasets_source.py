"""Benchmarks of the library ``ir_datasets``, by their ids: ``beir/scifact/test``.

The library finds, and where it may downloads, what an id names. Texts are those that it says a retriever reads
(``default_text``); what else a record of a query holds becomes attributes. Languages are those that the library
states, else as the options say.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports.faults import Faults, Place
from analysis.imports.parts import Options, Parts
from analysis.imports.qrels import Qrels
from analysis.imports.records import Records, Written

PARTS = ("docs", "queries", "qrels")
RAISED = (OSError, RuntimeError, ValueError, TypeError, LookupError, EOFError, ImportError, AssertionError)
"""What the library raises where it cannot download or read something."""


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of a dataset.

    Args:
        path: its id.
        options: how it is read; the id itself says which split.
        faults: takes the faults of its rows.

    Raises:
        InputError: the library is not installed, knows no such id, cannot load it, or it lacks a part.
    """
    try:
        import ir_datasets
    except ImportError as error:
        raise InputError("ir_datasets is not installed; expected it (pip install ir_datasets)") from error
    name = path.as_posix()
    try:
        dataset = ir_datasets.load(name)
    except KeyError as error:
        raise InputError(
            f"{name!r}: no such dataset in ir_datasets {ir_datasets.__version__}, expected an id"
        ) from error
    needed = PARTS[:2] if options.relevant_by else PARTS
    lacking = [part for part in needed if not dataset.has(part)]
    if lacking:
        has = ", ".join(part for part in PARTS if dataset.has(part)) or "nothing"
        raise InputError(f"{name!r} has {has}, expected {lacking[0]} too (an id below it may have them)")
    return Parts(
        files=(),
        queries=_records(path, "query", dataset.queries_iter, dataset.queries_lang()),
        documents=_records(path, "document", dataset.docs_iter, dataset.docs_lang()),
        judgements=lambda: _judgements(path, dataset, faults),
        source=f"{name} (ir_datasets {ir_datasets.__version__})",
    )


def _rows(path: Path, what: str, found: Callable[[], Iterable[Any]]) -> Iterator[tuple[Place, Any]]:
    """Records of the library with their numbers; its own errors become ours."""
    number = 0
    with _translated(path, what):
        rows = iter(found())
    while True:
        with _translated(path, f"{what} {number + 1}"):
            row = next(rows, None)
        if row is None:
            return
        number += 1
        yield Place(path, number, what), row


@contextlib.contextmanager
def _translated(path: Path, where: str) -> Iterator[None]:
    try:
        yield
    except RAISED as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}, {where}: {said}; expected what ir_datasets can load here") from error


def _records(path: Path, what: str, found: Callable[[], Iterable[Any]], language: str | None) -> Records:
    own = "doc_id" if what == "document" else "query_id"
    for where, row in _rows(path, what, found):
        fields = row._asdict()
        record = {name: _plain(value) for name, value in fields.items() if not isinstance(value, bytes)}
        record["_id"] = record.pop(own)
        text = row.default_text()
        title = record.pop("title", None)
        if title is not None and text == f"{title} {record.get('text')}":
            record["title"] = title  # the two are joined where one is not blank
        else:
            record["text"] = text
            if what == "query" and title not in (None, text):
                record["title"] = title
        if language:
            record.setdefault("language", language)
        yield where, record


def _plain(value: Any) -> Any:
    """A value as a line of JSON would give it."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        return Written(str(value))
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else str(value)


def _judgements(path: Path, dataset: Any, faults: Faults) -> Qrels:
    found = Qrels(())
    for where, row in _rows(path, "judgement", dataset.qrels_iter):
        found.add(row.query_id, row.doc_id, float(row.relevance), place=where, faults=faults)
    if not found.grades:
        raise InputError(f"{path}: no judgements, expected one for each judged pair")
    return found
