"""Runs in tables with named columns: CSV, JSON Lines and Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports import arrow
from analysis.imports.lines import Source
from analysis.imports.run_rows import BATCH, Choices, RowFaults, Rows, Scores, as_ids, numbers, sound_rows

COLUMNS = {
    "query": ("query_id", "q_id", "qid"),
    "document": ("doc_id", "document_id", "docno", "docid"),
    "score": ("score",),
}
"""Names of the columns of a table: ours and ir_measures', ranx's, PyTerrier's."""

FIELDS = tuple(names[0] for names in COLUMNS.values())
BUFFER = 1 << 20  # bytes of a Parquet column that are read at a time


def check_columns(columns: Mapping[str, str]) -> None:
    """Refuse a mapping to what a run has not.

    Raises:
        InputError: a field other than query, document and score.
    """
    for column, name in columns.items():
        if name not in FIELDS:
            raise InputError(f"--map {column}={name}: expected a field among {', '.join(FIELDS)}")


def _places(names: Sequence[str], columns: Mapping[str, str]) -> list[int]:
    """Where query, document and score stand among ``names``; what is mapped goes before what is known by name.

    Raises:
        InputError: one of them has no column, or several.
    """
    places = []
    for what, known in COLUMNS.items():
        wanted = [column for column, name in columns.items() if name == known[0]] or known
        found = [place for place, name in enumerate(names) if name in wanted]
        if len(found) != 1:
            raise InputError(
                f"{len(found)} columns for the {what}, expected one called {' or '.join(wanted)} "
                f"among {', '.join(names)}"
            )
        places.append(found[0])
    return places


def _named(source: Source, names: Sequence[str], choices: Choices, *, where: str = "") -> list[int]:
    try:
        return _places(names, choices.columns)
    except InputError as error:
        raise InputError(f"{source.path}{where}: {error}") from error


def csv(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """A header and cells separated by commas."""
    records = source.records()
    line, header = next(records, (1, []))
    if not header:
        return
    places = _named(source, header, choices, where=f", line {line}")
    batch: list[tuple[Any, ...]] = []  # line, query, document, score
    for line, cells in records:
        if len(cells) != len(header):
            text = f"{len(cells)} cells, expected {len(header)} as in the header"
            faults.add("columns", np.array([line]), lambda _, text=text: text)  # type: ignore[misc]
            continue
        batch.append((line, *(cells[place] for place in places)))
        if len(batch) == BATCH:
            yield _csv_rows(batch, faults)
            batch = []
    if batch:
        yield _csv_rows(batch, faults)


def _csv_rows(batch: Sequence[tuple[Any, ...]], faults: RowFaults) -> Rows:
    number, query, document, score = zip(*batch, strict=True)
    scores = Scores(numbers(pa.array(score)), score)
    return sound_rows((pa.array(query), pa.array(document)), scores, np.array(number), faults)


class _Whole(str):
    """A whole number as it is written; as an id it is text, as a score it is a number."""

    __slots__ = ()


OBJECT = json.JSONDecoder(object_pairs_hook=tuple, parse_int=_Whole)
"""Reads an object as pairs, so that a key that stands there twice is seen."""


@dataclass
class _Lines:
    """JSON Lines: sound rows so far, and where the columns stand in objects with the same keys."""

    columns: Mapping[str, str]
    faults: RowFaults
    rows: list[tuple[int, str, str, Any]] = field(default_factory=list)
    known: dict[tuple[str, ...], list[int]] = field(default_factory=dict)

    def take(self, line: int, text: str) -> None:
        try:
            self.rows.append((line, *self._row(text)))
        except InputError as error:
            says = str(error)
            self.faults.add("object", np.array([line]), lambda _: says)

    def _row(self, text: str) -> tuple[str, str, Any]:
        try:
            pairs = OBJECT.decode(text)
        except json.JSONDecodeError as error:
            raise InputError(f"{error.msg}, expected one JSON object") from error
        except RecursionError as error:
            raise InputError("nested too deep, expected one JSON object") from error
        if not isinstance(pairs, tuple):
            raise InputError(f"{str(pairs)[:40]!r}, expected one JSON object")
        names = tuple(name for name, _ in pairs)
        if names not in self.known:
            self.known[names] = _places(names, self.columns)
        query, document, score = (pairs[place][1] for place in self.known[names])
        for what, value in (("query", query), ("document", document)):
            if not isinstance(value, str):
                raise InputError(f"{what} {str(value)[:40]!r}, expected text")
        return str(query), str(document), score


def jsonl(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """One object a line; an id may be text or a whole number."""
    for block in source.blocks():
        found = _Lines(choices.columns, faults)
        for line, text in enumerate(block.lines.to_pylist(), start=block.first):
            if text.strip():
                found.take(line, text)
        if found.rows:
            number, query, document, score = zip(*found.rows, strict=True)
            values = [float(value) if isinstance(value, float | _Whole) else np.nan for value in score]
            ids = as_ids(source, query), as_ids(source, document)
            yield sound_rows(ids, Scores(np.array(values), score), np.array(number), faults)


def parquet(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """Columns of a Parquet file, some rows at a time."""
    import pyarrow.parquet as pq

    with source.seekable() as opened:
        try:
            file = pq.ParquetFile(opened, buffer_size=BUFFER)
            names = file.schema_arrow.names
            chosen = [names[place] for place in _named(source, names, choices)]
            first = 1
            for batch in file.iter_batches(batch_size=BATCH, columns=chosen):
                query, document = (_ids(source, name, batch.column(name)) for name in chosen[:2])
                number = first + np.arange(batch.num_rows, dtype=np.int64)
                first += batch.num_rows
                score = batch.column(chosen[2])
                scores = Scores(_doubles(source, chosen[2], score), score)
                yield sound_rows((query, document), scores, number, faults)
        except (pa.ArrowException, OSError) as error:  # pyarrow raises OSError for what is damaged inside
            raise InputError(f"{source.path}: {error}; expected a Parquet file") from error


def _ids(source: Source, name: str, column: pa.Array) -> pa.Array:
    kind = arrow.spelled_out(column.type)
    if not (arrow.is_text(kind) or pa.types.is_integer(kind)):
        raise InputError(f"{source.path}: column {name} is {kind}, expected text")
    if column.null_count:
        raise InputError(f"{source.path}: column {name} has {column.null_count} empty ids, expected none")
    return column.cast(kind).cast(pa.string())


def _doubles(source: Source, name: str, column: pa.Array) -> NDArray[np.float64]:
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise InputError(f"{source.path}: column {name} is {column.type}, expected numbers")
    found: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return found
