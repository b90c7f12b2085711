"""Runs in lines: TREC and MS MARCO."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports.lines import Block, Source
from analysis.imports.run_rows import NUMBER, Choices, RowFaults, Rows, numbers

SHIFTED = re.compile(rf"{NUMBER.pattern}\s+\S.*", re.ASCII)
METADATA = ("# ir_metadata.start", "# ir_metadata.end")
AHEAD = 2  # blocks that are parsed beside the one that is worked on
TYPES = {
    "query": pa.string(),
    "iteration": pa.string(),
    "document": pa.string(),
    "rank": pa.float64(),
    "score": pa.float64(),
    "tag": pa.string(),
}
"""The columns of a TREC run."""


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


def _split(source: Source, block: Block, most: int) -> _Fields:
    """Lines with up to ``most`` fields, the last one holding the rest; blank lines are none."""
    skipped = _metadata(source, block.lines) if block.first == 1 else 0
    lines = block.lines.slice(skipped)
    split = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(lines), max_splits=most - 1)
    offsets = split.offsets.to_numpy().astype(np.int64)
    lengths = pc.binary_length(split.values).to_numpy()
    start, count = offsets[:-1], np.diff(offsets)
    there = lengths[start] > 0
    number = block.first + skipped + np.arange(len(lines), dtype=np.int64)
    return _Fields(number[there], count[there], start[there], split.values)


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


def trec(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """Query, iteration, document, rank, score, tag; the iteration says nothing."""
    for block, table in _tables(source.blocks()):
        yield _trec_rows(_split(source, block, 6), faults) if table is None else _table_rows(block, table)


def _tables(blocks: Iterable[Block]) -> Iterator[tuple[Block, pa.Table | None]]:
    """Each block with its table, made while the caller works on the blocks before."""
    with ThreadPoolExecutor(AHEAD) as pool:
        waiting: deque[tuple[Block, Future[pa.Table | None]]] = deque()
        for block in blocks:
            waiting.append((block, pool.submit(_table, block.data)))
            if len(waiting) > AHEAD:
                first, table = waiting.popleft()
                yield first, table.result()
        for first, table in waiting:
            yield first, table.result()


def _table(data: bytes) -> pa.Table | None:
    """The columns of lines that are all alike and sound: pyarrow's parser reads them several times faster.

    None where they are not, which is no fault yet: the lines are then split and checked one by one.
    """
    from pyarrow import csv

    data = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    delimiter = _delimiter(data)
    if delimiter is None:
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=list(TYPES), use_threads=False, block_size=len(data) + 1),
            parse_options=csv.ParseOptions(
                delimiter=delimiter,
                quote_char=False,
                double_quote=False,
                escape_char=False,
                newlines_in_values=False,
                ignore_empty_lines=False,
            ),
            convert_options=csv.ConvertOptions(
                column_types=TYPES, null_values=[], strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return table if _is_sound(table) else None


def _delimiter(data: bytes) -> str | None:
    """The one kind of white space within lines; None where there are several."""
    if b"\v" in data or b"\f" in data or (b"\t" in data and b" " in data):
        return None
    return "\t" if b"\t" in data else " "


def _is_sound(table: pa.Table) -> bool:
    """Whether no field is empty, as where white space stands together, and no score is infinite or no number."""
    texts = (column for column in table.columns if pa.types.is_string(column.type))
    return all(pc.min(pc.binary_length(column)).as_py() for column in texts) and bool(
        np.isfinite(table["score"].to_numpy()).all()
    )


def _table_rows(block: Block, table: pa.Table) -> Rows:
    rank = table["rank"].to_numpy()
    finite = np.isfinite(rank)
    return Rows(
        _whole(table["query"]),
        _whole(table["document"]),
        table["score"].to_numpy(),
        rank if finite.all() else np.where(finite, rank, np.nan),
        block.first + np.arange(table.num_rows, dtype=np.int64),
        tuple(pc.unique(pc.run_end_encode(_whole(table["tag"])).values).to_pylist()),
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _trec_rows(fields: _Fields, faults: RowFaults) -> Rows:
    _check_columns(fields, faults)
    keep = fields.width >= 5
    number, texts = fields.number[keep], fields.column(4, keep)
    score, tag = numbers(texts), fields.column(5, fields.width == 6)
    shifted = _shifted(fields, tag, faults)[keep]
    bad = np.isnan(score) & ~shifted
    _add_scores(faults, number[bad], texts.filter(pa.array(bad)))
    sound = ~(bad | shifted)
    keep[keep] = sound
    return Rows(
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


def msmarco(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """Query, document, rank: the score is minus the rank."""
    for block in source.blocks():
        yield _msmarco_rows(_split(source, block, 4), faults)


def _msmarco_rows(fields: _Fields, faults: RowFaults) -> Rows:
    other = np.flatnonzero(fields.width != 3)
    faults.add(
        "columns",
        fields.number[other],
        lambda place: (
            f"{fields.width[other[place]]}{' or more' if fields.width[other[place]] == 4 else ''} columns, "
            "expected 3: query, document, rank"
        ),
    )
    keep = fields.width == 3
    texts = fields.column(2, keep)
    rank, number = numbers(texts), fields.number[keep]
    bad = ~(rank == np.floor(rank)) | (rank < 0)
    wrong = texts.filter(pa.array(bad))
    faults.add("rank", number[bad], lambda place: f"rank {wrong[place].as_py()!r}, expected a whole number from 0")
    keep[keep] = ~bad
    return Rows(fields.column(0, keep), fields.column(1, keep), -rank[~bad], None, fields.number[keep])
