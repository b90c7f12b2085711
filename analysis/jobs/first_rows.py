"""The first rows of a file that somebody is about to import, so that they see what is which."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

import pyarrow as pa

from analysis.imports.lines import GZIP, MARK, PACKED

ROWS = 3
HEAD = 1 << 16  # bytes that are looked at, unpacked


@dataclass(frozen=True)
class Preview:
    """The first rows of a file.

    Attributes:
        file: its name.
        columns: as the file names them, or "column 1" and so on where it names none.
        rows: the first few; a record without a column has an empty text there.
        named: whether the names of the columns come from the file.
    """

    file: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    named: bool


def preview(file: str, content: IO[bytes]) -> Preview | None:
    """The first rows of a table, of records, or of lines; None where the file has no rows to show.

    Args:
        file: its name, which says whether commas or tabs separate its columns.
        content: opened for reading; plain, or packed in a way that an import reads. It is rewound.
    """
    content.seek(0)
    head = content.read(HEAD)
    content.seek(0)
    if head.startswith(b"PAR1"):
        return _parquet(file, content)
    text = _unpacked(head).removeprefix(MARK).decode("utf-8", "replace")
    lines = text.splitlines()[: ROWS + 1] if text.count("\n") > ROWS else text.splitlines()
    lines = [line for line in lines if line.strip()]
    if not lines or "\0" in text:
        return None
    if lines[0].lstrip().startswith("{"):
        return _records(file, lines[:ROWS])
    return _table(file, lines)


def _unpacked(head: bytes) -> bytes:
    """The first bytes of what is packed; what is cut off in the middle is left out."""
    _, kind = (GZIP, "gzip") if head.startswith(GZIP) else PACKED.get(head[:4], ("", ""))
    if not kind:
        return head
    found = bytearray()
    with contextlib.suppress(OSError, pa.ArrowInvalid):  # the head ends inside a block
        stream = pa.CompressedInputStream(pa.BufferReader(head), kind)
        while len(found) < HEAD and (block := stream.read(1 << 12)):
            found += block
    return bytes(found)


def _records(file: str, lines: list[str]) -> Preview | None:
    found: list[Mapping[str, object]] = []
    for line in lines:
        with contextlib.suppress(json.JSONDecodeError):
            record = json.loads(line)
            if isinstance(record, dict):
                found.append(record)
    columns = tuple(dict.fromkeys(name for record in found for name in record))
    rows = tuple(tuple(_shown(record.get(name, "")) for name in columns) for record in found)
    return Preview(file, columns, rows, named=True) if found else None


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _table(file: str, lines: list[str]) -> Preview:
    rows = list(_cells(lines))
    named = file.casefold().split(".")[1:2] == ["csv"] or _is_header(rows)
    columns = rows[0] if named else [f"column {number}" for number in range(1, max(map(len, rows)) + 1)]
    width = len(columns)
    shown = (tuple((row + [""] * width)[:width]) for row in itertools.islice(rows[named:], ROWS))
    return Preview(file, tuple(columns), tuple(shown), named)


def _cells(lines: list[str]) -> Iterator[list[str]]:
    first = lines[0]
    if "\t" in first:
        yield from (line.split("\t") for line in lines)
    elif "," in first:
        with contextlib.suppress(csv.Error):
            yield from csv.reader(io.StringIO("\n".join(lines)))
    else:
        yield from (line.split() for line in lines)


def _is_header(rows: list[list[str]]) -> bool:
    """Names of columns: no number among them, and a number below one of them."""
    return len(rows) > 1 and not any(map(_number, rows[0])) and any(map(_number, rows[1]))


def _number(text: str) -> bool:
    with contextlib.suppress(ValueError):
        float(text)
        return True
    return False


def _parquet(file: str, content: IO[bytes]) -> Preview | None:
    import pyarrow.parquet as pq

    try:
        batch = next(pq.ParquetFile(content).iter_batches(batch_size=ROWS), None)
    except (pa.ArrowInvalid, OSError):
        return None  # the check names what is wrong with it
    finally:
        content.seek(0)
    if batch is None:
        return None
    records = batch.slice(0, ROWS).to_pylist()
    columns = tuple(batch.schema.names)
    return Preview(file, columns, tuple(tuple(_shown(row[name]) for name in columns) for row in records), named=True)
