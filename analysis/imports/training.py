"""The texts of a file that something was trained on: lines, or columns of a table, some megabytes at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports import tables
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import BLOCK, opened
from analysis.imports.records import Written

TEXTS = (
    "text",
    "title",
    "query",
    "question",
    "passage",
    "document",
    "contents",
    "body",
    "sentence",
    "sentence1",
    "sentence2",
    "anchor",
    "positive",
    "negative",
    "pos",
    "neg",
    "answer",
    "instruction",
    "input",
    "output",
    "completion",
    "prompt",
)
"""Columns that are read where nobody says which."""

CONCEPTS = ("cui", "family", "concept")
"""Columns that name concepts, where nobody says which; the first that occurs counts."""

CHARACTERS = 1 << 22  # of a batch of texts
SHOWN = 80  # characters of a value in a message


class Batch(NamedTuple):
    """Some texts, by the line or record that each stands in."""

    rows: NDArray[np.int64]  # ascending
    texts: pa.Array
    concept_rows: NDArray[np.int64]
    concepts: pa.Array
    last: int  # line or record that was read last


class Reading(NamedTuple):
    """How a file is read."""

    form: str  # lines | json | csv | tsv | parquet | arrow
    columns: tuple[str, ...]  # empty: those of TEXTS that occur, in a file of lines none
    concept: str | None  # None: the first of CONCEPTS that occurs


def form_of(path: Path) -> str:
    """Which form a file has: that of a table by its first bytes or its name, else lines.

    Raises:
        InputError: the file cannot be opened, or stands for one that Git LFS has not fetched.
    """
    found = tables.form_of(path)
    return "lines" if found == "csv" and ".csv" not in path.suffixes else found


def read(path: Path, reading: Reading) -> Iterator[Batch]:
    """Yield all texts of a file; how it is cut into batches hangs on the file alone.

    Raises:
        InputError: a fault, with file, line, value and what was expected.
    """
    return _lines(path) if reading.form == "lines" else _batches(_rows(path, reading))


def _lines(path: Path) -> Iterator[Batch]:
    with opened(path) as source:
        for block in source.blocks(BLOCK):
            texts = block.lines
            rows = np.arange(block.first, block.first + len(texts), dtype=np.int64)
            yield Batch(rows, texts, np.zeros(0, np.int64), pa.array([], pa.string()), block.first + len(texts) - 1)


class _Row(NamedTuple):
    number: int
    texts: list[str]
    concepts: list[str]


def _batches(rows: Iterator[_Row]) -> Iterator[Batch]:
    held: list[_Row] = []
    n = 0
    for row in rows:
        held.append(row)
        n += 1 + sum(map(len, row.texts))
        if n >= CHARACTERS:
            yield _batch(held)
            held, n = [], 0
    if held:
        yield _batch(held)


def _batch(held: Sequence[_Row]) -> Batch:
    texts = [(row.number, text) for row in held for text in row.texts]
    concepts = [(row.number, name) for row in held for name in row.concepts]
    return Batch(*_columns(texts), *_columns(concepts), held[-1].number)


def _columns(pairs: Sequence[tuple[int, str]]) -> tuple[NDArray[np.int64], pa.Array]:
    return np.array([row for row, _ in pairs], np.int64), pa.array([text for _, text in pairs], pa.string())


def _rows(path: Path, reading: Reading) -> Iterator[_Row]:
    names = reading.columns or TEXTS
    wanted = (reading.concept,) if reading.concept else CONCEPTS
    known = {name: (name,) for name in (*names, *wanted)}
    columns = tables.Columns("training text", known, (), {}, kept=())
    faults, first = Faults(lenient=False), True
    for where, record in tables.read(path, columns, faults=faults, kind="row dropped"):
        faults.end()
        present = [name for name in names if name in record]
        if first or reading.form == "json":
            _check(where, record, present, reading, named=names)
            first = False
        concept = next((name for name in wanted if name in record), None)
        texts = [text for name in present for text in _texts(record[name], name, where)]
        concepts = _texts(record[concept], concept, where) if concept else []
        yield _Row(where.number, texts, [name.strip() for name in concepts])
    faults.end()


def _check(
    where: Place, record: dict[str, Any], present: Sequence[str], reading: Reading, *, named: Sequence[str]
) -> None:
    """Refuse a table without the columns that were named, or a record without any text."""
    keys = ", ".join(record) or "none"
    missing = [name for name in reading.columns if name not in record]
    if reading.form != "json" and missing:
        raise InputError(f"{where.file}: no column {missing[0]!r} among {keys}, expected it there")
    if not present:
        raise InputError(f"{where}: no text among {keys}, expected one of {', '.join(named)} (--columns NAME)")
    if reading.concept and reading.form != "json" and reading.concept not in record:
        raise InputError(f"{where.file}: no column {reading.concept!r} among {keys}, expected it there")


def _texts(value: Any, name: str, where: Place) -> list[str]:
    """A text, or a list of texts; nothing for null.

    Raises:
        InputError: something else.
    """
    values = value if isinstance(value, list) else [] if value is None else [value]
    for one in values:
        if not isinstance(one, str) or isinstance(one, Written):
            shown = str(one) if len(str(one)) <= SHOWN else f"{str(one)[:SHOWN]}…"
            raise InputError(f"{where}: {name} is {shown}, expected a text, a list of texts or null")
    return values
