"""The rows of a run file in any format, many at a time; ids stay text and nothing is guessed from a sample."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports.faults import LISTED
from analysis.imports.lines import Source

FORMATS = ("trec", "ranx", "pyterrier", "msmarco", "csv", "parquet")
COLUMNS = {
    "query": ("query_id", "q_id", "qid"),
    "document": ("doc_id", "document_id", "docno", "docid"),
    "score": ("score",),
}
"""Names of the columns of a table: ours and ir_measures', ranx's, PyTerrier's."""

BATCH = 1 << 18  # rows of a table or object at a time
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SHIFTED = re.compile(rf"{NUMBER.pattern}\s+\S.*", re.ASCII)
METADATA = ("# ir_metadata.start", "# ir_metadata.end")


class Fault(NamedTuple):
    """One faulty row."""

    number: int  # physical line; in JSON the entry and in Parquet the row, from 1
    kind: str
    text: str  # value and what was expected


@dataclass
class RowFaults:
    """Faulty rows: all counted by kind, the first of each kind listed."""

    counts: Counter[str] = field(default_factory=Counter)
    listed: list[Fault] = field(default_factory=list)

    def add(self, kind: str, numbers: NDArray[np.int64], describe: Callable[[int], str]) -> None:
        """Count the rows ``numbers`` ``(n,)``; ``describe(place)`` says what is wrong with one of them."""
        for place in range(min(len(numbers), LISTED - self.counts[kind])):
            self.listed.append(Fault(int(numbers[place]), kind, describe(place)))
        if len(numbers):
            self.counts[kind] += len(numbers)


class Rows(NamedTuple):
    """Some rows of a run, in the order of the file, each column of length n; rows with a fault are left out."""

    query: pa.Array  # ids as text
    document: pa.Array
    score: NDArray[np.float64]  # finite
    rank: NDArray[np.float64] | None  # as written, NaN where it is no number; None where the format has none
    number: NDArray[np.int64]  # as in Fault
    tags: tuple[str, ...] = ()  # the different ones


def format_of(source: Source, asked: str | None) -> str:
    """trec, msmarco, json, csv or parquet: as asked, else by the first bytes; three columns are never guessed at.

    Raises:
        InputError: no such format.
    """
    if asked is not None and asked not in FORMATS:
        raise InputError(f"format {asked!r}: expected one of {', '.join(FORMATS)}")
    if asked not in {None, "ranx"}:
        return "trec" if asked == "pyterrier" else str(asked)
    head = source.head()
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.lstrip().startswith(b"{"):
        return "json"
    names = head.partition(b"\n")[0].decode("utf-8", "replace").strip().split(",")
    return "csv" if asked is None and all(set(names) & set(known) for known in COLUMNS.values()) else "trec"


def rows(source: Source, form: str, faults: RowFaults) -> Iterator[Rows]:
    """Read a run; ``form`` as :func:`format_of` says.

    Args:
        source: the opened file.
        form: the format.
        faults: gets every row that is left out, and rows of five columns, which are kept.

    Raises:
        InputError: the file is not of this format at all.
    """
    readers = {"trec": _trec, "msmarco": _msmarco, "json": _json, "csv": _csv, "parquet": _parquet}
    return readers[form](source, faults)


class _Fields(NamedTuple):
    """Lines split on white space."""

    number: NDArray[np.int64]  # physical line
    width: NDArray[np.int64]  # fields of each line
    start: NDArray[np.int64]  # where they begin in values
    values: pa.Array

    def column(self, place: int, keep: NDArray[np.bool_]) -> pa.Array:
        return self.values.take(pa.array(self.start[keep] + place))

    def line(self, row: int) -> list[str]:
        return list(self.values.slice(self.start[row], self.width[row]).to_pylist())


def _split(source: Source, most: int) -> Iterator[_Fields]:
    """Lines with up to ``most`` fields, the last one holding the rest; blank lines are none."""
    for block in source.blocks():
        skipped = _metadata(source, block.lines) if block.first == 1 else 0
        lines = block.lines.slice(skipped)
        split = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(lines), max_splits=most - 1)
        offsets = split.offsets.to_numpy().astype(np.int64)
        lengths = pc.binary_length(split.values).to_numpy()
        start, count = offsets[:-1], np.diff(offsets)
        there = lengths[start] > 0
        number = block.first + skipped + np.arange(len(lines), dtype=np.int64)
        yield _Fields(number[there], count[there], start[there], split.values)


def _metadata(source: Source, lines: pa.StringArray) -> int:
    """Lines of an ir_metadata header; 0 without one. Other lines may begin with #: it is part of an id."""
    start, end = METADATA
    if not len(lines) or lines[0].as_py().strip() != start:
        return 0
    for number, line in enumerate(lines, start=1):
        text = line.as_py().strip()
        if text == end:
            return number
        if not text.startswith("#"):
            raise InputError(f"{source.path}, line {number}: {text!r}, expected {end!r} before the first row")
    raise InputError(f"{source.path}, line 1: {start!r}, expected {end!r} after it")


def numbers(texts: pa.Array) -> NDArray[np.float64]:
    """Texts as doubles; NaN for what is no finite decimal number."""
    try:
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        values = np.array([float(text) if NUMBER.fullmatch(text) else np.nan for text in texts.to_pylist()])
    return np.where(np.isfinite(values), values, np.nan)


def _trec(source: Source, faults: RowFaults) -> Iterator[Rows]:
    for fields in _split(source, 6):
        _check_columns(fields, faults)
        keep = fields.width >= 5
        number, texts = fields.number[keep], fields.column(4, keep)
        score, tag = numbers(texts), fields.column(5, fields.width == 6)
        shifted = _shifted(fields, tag, faults)[keep]
        bad = np.isnan(score) & ~shifted
        _add_scores(faults, number[bad], texts.filter(pa.array(bad)))
        sound = ~(bad | shifted)
        keep[keep] = sound
        yield Rows(
            fields.column(0, keep),
            fields.column(2, keep),
            score[sound],
            numbers(fields.column(3, keep)),
            fields.number[keep],
            tuple(pc.unique(tag.filter(pa.array(keep[fields.width == 6]))).to_pylist()),
        )


def _check_columns(fields: _Fields, faults: RowFaults) -> None:
    few, five = np.flatnonzero(fields.width < 5), np.flatnonzero(fields.width == 5)

    def describe(place: int) -> str:
        count = fields.width[few[place]]
        hint = " (query, document, rank needs --format msmarco)" if count == 3 else ""
        plural = "" if count == 1 else "s"
        return f"{count} column{plural}, expected 6: query, iteration, document, rank, score, tag{hint}"

    faults.add("columns", fields.number[few], describe)
    faults.add("tag", fields.number[five], lambda _: "5 columns, expected 6: the tag is missing")


def _shifted(fields: _Fields, tag: pa.Array, faults: RowFaults) -> NDArray[np.bool_]:
    """Lines whose document id seems to hold a blank: a rank where the score belongs, and a score before the tag."""
    shifted = np.zeros(len(fields.width), dtype=bool)
    suspects = [text for text in pc.unique(tag).to_pylist() if SHIFTED.fullmatch(text)]
    if not suspects:
        return shifted
    shifted[fields.width == 6] = pc.is_in(tag, value_set=pa.array(suspects)).to_numpy(zero_copy_only=False)
    shifted[shifted] = pc.match_substring_regex(fields.column(4, shifted), "^[0-9]+$").to_numpy(zero_copy_only=False)
    found = np.flatnonzero(shifted)

    def describe(place: int) -> str:
        _, _, document, rank, score, rest = fields.line(int(found[place]))
        return (
            f"document {document!r}, rank {rank!r}, score {score!r}, tag {rest!r}, "
            "expected a document id without a blank"
        )

    faults.add("blank in id", fields.number[found], describe)
    return shifted


def _add_scores(faults: RowFaults, number: NDArray[np.int64], texts: pa.Array) -> None:
    faults.add("score", number, lambda place: f"score {texts[place].as_py()!r}, expected a finite number")


def _msmarco(source: Source, faults: RowFaults) -> Iterator[Rows]:
    """Query, document, rank: the score is minus the rank."""
    for fields in _split(source, 4):
        other = np.flatnonzero(fields.width != 3)
        faults.add(
            "columns",
            fields.number[other],
            lambda place, other=other, fields=fields: (  # type: ignore[misc]
                f"{fields.width[other[place]]}{' or more' if fields.width[other[place]] == 4 else ''} columns, "
                "expected 3: query, document, rank"
            ),
        )
        keep = fields.width == 3
        texts = fields.column(2, keep)
        rank, number = numbers(texts), fields.number[keep]
        bad = ~(rank == np.floor(rank)) | (rank < 0)
        wrong = texts.filter(pa.array(bad))
        faults.add(
            "rank",
            number[bad],
            lambda place, wrong=wrong: f"rank {wrong[place].as_py()!r}, expected a whole number from 0",  # type: ignore[misc]
        )
        keep[keep] = ~bad
        yield Rows(fields.column(0, keep), fields.column(1, keep), -rank[~bad], None, fields.number[keep])


class _Scores(NamedTuple):
    """Scores of a table or object."""

    value: NDArray[np.float64]  # NaN or infinite where it is no score
    written: Sequence[Any]  # as it stands in the file


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with every key it has, twice if it stands there twice."""


def _json(source: Source, faults: RowFaults) -> Iterator[Rows]:
    shape = 'expected {"query": {"document": score}}'
    try:
        found = json.loads(source.text().strip() or "{}", object_pairs_hook=_Pairs, parse_int=float)
    except json.JSONDecodeError as error:
        raise InputError(f"{source.path}, line {error.lineno}: {error.msg}, {shape}") from error
    except RecursionError as error:
        raise InputError(f"{source.path}: nested too deep, {shape}") from error
    if not isinstance(found, _Pairs):
        raise InputError(f"{source.path}: {type(found).__name__} at the top, {shape}")
    for name, documents in found:
        if not isinstance(documents, _Pairs):
            raise InputError(f"{source.path}, query {name!r}: {str(documents)[:40]!r}, {shape}")
    entries = [(name, document, score) for name, documents in found for document, score in documents]
    for first in range(0, len(entries), BATCH):
        query, document, written = zip(*entries[first : first + BATCH], strict=True)
        number = first + 1 + np.arange(len(query), dtype=np.int64)
        scores = _Scores(np.array([value if isinstance(value, float) else np.nan for value in written]), written)
        try:
            ids = pa.array(query), pa.array(document)
        except UnicodeEncodeError as error:
            raise InputError(f"{source.path}: id {error.object!r}, expected text without half a surrogate") from error
        yield _table_rows(ids, scores, number, faults)


def _table_rows(ids: tuple[pa.Array, pa.Array], score: _Scores, number: NDArray[np.int64], faults: RowFaults) -> Rows:
    """Rows with a finite score; ``ids`` of query and document."""
    sound = np.isfinite(score.value)
    wrong = np.flatnonzero(~sound)
    query, document = ids

    def describe(place: int) -> str:
        row = int(wrong[place])
        where = f"query {query[row].as_py()!r}, document {document[row].as_py()!r}"
        return f"{where}: score {str(score.written[row])[:40]!r}, expected a finite number"

    faults.add("score", number[wrong], describe)
    kept = pa.array(sound)
    return Rows(query.filter(kept), document.filter(kept), score.value[sound], None, number[sound])


def _named(source: Source, names: Sequence[str], *, where: str) -> list[int]:
    """Where the columns query, document and score stand among ``names``."""
    places = []
    for what, known in COLUMNS.items():
        found = [place for place, name in enumerate(names) if name in known]
        if len(found) != 1:
            raise InputError(
                f"{source.path}{where}: {len(found)} columns for the {what}, expected one called {' or '.join(known)} "
                f"among {', '.join(names)}"
            )
        places.append(found[0])
    return places


def _csv(source: Source, faults: RowFaults) -> Iterator[Rows]:
    records = source.records()
    line, header = next(records, (1, []))
    if not header:
        return
    places = _named(source, header, where=f", line {line}")
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
    scores = _Scores(numbers(pa.array(score)), score)
    return _table_rows((pa.array(query), pa.array(document)), scores, np.array(number), faults)


def _parquet(source: Source, faults: RowFaults) -> Iterator[Rows]:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(source.read()))
        names = file.schema_arrow.names
        chosen = [names[place] for place in _named(source, names, where="")]
        first = 1
        for batch in file.iter_batches(batch_size=BATCH, columns=chosen):
            columns = [batch.column(name) for name in chosen]
            ids = [_ids(source, name, column) for name, column in zip(chosen[:2], columns[:2], strict=True)]
            number = first + np.arange(batch.num_rows, dtype=np.int64)
            first += batch.num_rows
            scores = _Scores(_doubles(source, columns[2]), columns[2])
            yield _table_rows((ids[0], ids[1]), scores, number, faults)
    except pa.ArrowException as error:
        raise InputError(f"{source.path}: {error}; expected a Parquet file") from error


def _ids(source: Source, name: str, column: pa.Array) -> pa.Array:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not (is_text or pa.types.is_integer(kind)):
        raise InputError(f"{source.path}: column {name} is {kind}, expected text")
    if column.null_count:
        raise InputError(f"{source.path}: column {name} has {column.null_count} empty ids, expected none")
    return column.cast(kind).cast(pa.string())


def _doubles(source: Source, column: pa.Array) -> NDArray[np.float64]:
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise InputError(f"{source.path}: column score is {column.type}, expected numbers")
    found: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return found
