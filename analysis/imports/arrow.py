"""Arrow files, as a stream or as a file, read as Parquet files are: a schema and batches of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa

FILE = b"ARROW1"
STREAM = b"\xff\xff\xff\xff"
MAGIC = (FILE, STREAM)
"""What Arrow files begin with."""
END = STREAM + b"\x00\x00\x00\x00"


def spelled_out(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, also where they stand in a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    """Whether values are text, in any of Arrow's layouts."""
    return any(same(kind) for same in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


class ArrowTable:
    """An opened file.

    Attributes:
        schema_arrow: its columns.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        """Open it.

        Raises:
            pa.ArrowException: it is damaged. A stream that was cut between two batches reads like a whole one, but
                for its end mark.
        """
        is_file = stream.read(len(FILE)) == FILE
        if not is_file:
            stream.seek(-min(len(END), stream.seek(0, os.SEEK_END)), os.SEEK_END)
            if stream.read() != END:
                raise pa.ArrowInvalid("the end is missing")
        stream.seek(0)
        self._reader: Any = pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)
        self._batches = map(self._reader.get_batch, range(self._reader.num_record_batches)) if is_file else self._reader
        self.schema_arrow: pa.Schema = self._reader.schema

    def iter_batches(self, *, batch_size: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield rows of some columns, at most ``batch_size`` at a time."""
        for batch in self._batches:
            chosen = batch.select(list(columns))
            for start in range(0, chosen.num_rows, batch_size):
                yield chosen.slice(start, batch_size)
