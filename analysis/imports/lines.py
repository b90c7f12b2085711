"""Bytes in, lines out: plain, gzip, Zstandard or LZ4, told by their first bytes and never by the name."""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import hashlib
import io
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa

from analysis.errors import InputError

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
LZ4 = b"\x04\x22\x4d\x18"
PACKED = {ZSTANDARD: ("Zstandard", "zstd"), LZ4: ("LZ4", "lz4")}
"""First bytes -> name, and what pyarrow calls it."""

REFUSED = {b"PK\x03\x04": "ZIP", b"BZh": "bzip2", b"\xfd7zXZ": "XZ"}
WAYS = "plain, gzip, Zstandard or LZ4"
MARK = b"\xef\xbb\xbf"  # byte order mark
BLOCK = 1 << 23  # 8 MB: some hundred thousand lines; the memory that reading takes is a small multiple of it
UNPACKED = 1 << 34  # 16 GB: what is packed and cannot be read in a stream takes no more room than this while it is read
LAYERS = 3  # a file packed more often than this is none that a tool writes


class Block(NamedTuple):
    """Some whole lines of a file."""

    data: bytes  # UTF-8
    first: int  # physical line number of the first

    @property
    def lines(self) -> pa.StringArray:
        """The lines with their ends, which are white space."""
        return _lines(self.data)


class Source:
    """An opened file, unpacked as it is read.

    Attributes:
        path: the file.
        packed: how it was packed, the outermost first; empty for a plain file.
    """

    def __init__(self, path: Path, stream: io.BufferedReader[Any], packed: tuple[str, ...]) -> None:
        self.path = path
        self.packed = packed
        self._stream = stream
        self._digest = hashlib.sha256()

    @property
    def checksum(self) -> str:
        """SHA-256 of what was read so far, unpacked."""
        return self._digest.hexdigest()

    def head(self) -> bytes:
        """The first bytes, without moving on and without a byte order mark; empty for an empty file."""
        with self._translated():
            return self._stream.peek(io.DEFAULT_BUFFER_SIZE).removeprefix(MARK)

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes, or all that is left; shorter only at the end."""
        with self._translated():
            data = self._stream.read(size)
        self._digest.update(data)
        return data

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """The lines, many at a time; a line ends with LF or CR LF, and the last one may end without.

        Raises:
            InputError: no UTF-8, a carriage return inside a line, or a line longer than ``size`` bytes.
        """
        rest, first, data = b"", 1, self.read(size).removeprefix(MARK)
        while data:
            following = self.read(size)
            end = data.rfind(b"\n") + 1 if following else len(data)
            if not end:
                raise InputError(f"{self.path}, line {first}: longer than {size:,} bytes, expected shorter lines")
            whole, rest, data = b"".join((rest, memoryview(data)[:end])), data[end:], following
            self._check(whole, first)
            yield Block(whole, first)
            first += int(np.count_nonzero(np.frombuffer(whole, dtype=np.uint8) == ord("\n")))

    def text(self) -> str:
        """The whole file as text.

        Raises:
            InputError: it is no UTF-8.
        """
        return "".join(self.texts())

    def texts(self, size: int = BLOCK) -> Iterator[str]:
        """The whole file as text, some ``size`` bytes at a time, cut anywhere between two characters.

        Raises:
            InputError: it is no UTF-8.
        """
        decoder = codecs.getincrementaldecoder("utf-8")()
        first, data = 1, self.read(size).removeprefix(MARK)
        while data:
            following = self.read(size)
            try:
                yield decoder.decode(data, final=not following)
            except UnicodeDecodeError as error:
                raise self._no_utf8(error, first) from error
            first += data.count(b"\n")
            data = following

    @contextlib.contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """The whole file for a reader that jumps about; what is packed is unpacked into a temporary file first."""
        with self.path.open("rb") if not self.packed else tempfile.TemporaryFile() as unpacked:
            while data := self.read(BLOCK):
                if self.packed and unpacked.write(data) and unpacked.tell() > UNPACKED:
                    raise InputError(f"{self.path}: unpacks to more than {UNPACKED:,} bytes, expected a plain file")
            unpacked.seek(0)
            yield unpacked

    def records(self, *, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
        """All records of a CSV with the physical line that each begins on; blank lines are none.

        Raises:
            InputError: it is no UTF-8; or, once that record is reached, a quote is left open.
        """
        reader = csv.reader(_whole_lines(self.texts()), delimiter=separator, strict=True)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{self.path}, line {line}: {error}; expected cells separated by commas") from error

    def _check(self, data: bytes, first: int) -> None:
        if not data.isascii():
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._no_utf8(error, first) from error
        if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
            return
        bytes_ = np.frombuffer(data, dtype=np.uint8)
        lone = np.flatnonzero((bytes_ == ord("\r")) & (np.r_[bytes_[1:], 0] != ord("\n")))[0]
        line = first + data.count(b"\n", 0, int(lone))
        raise InputError(f"{self.path}, line {line}: a carriage return inside the line, expected lines to end with \\n")

    def _no_utf8(self, error: UnicodeDecodeError, first: int) -> InputError:
        """``first``: the line on which the data begins that could not be decoded."""
        line = first + error.object.count(b"\n", 0, error.start)
        return InputError(f"{self.path}, line {line}: byte 0x{error.object[error.start]:02X}, expected UTF-8")

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
            raise InputError(f"{self.path}: {error}; expected a whole file, {WAYS}") from error


def _whole_lines(texts: Iterable[str]) -> Iterator[str]:
    """Lines with their ends, as a CSV reader wants them."""
    rest = ""
    for text in texts:
        end = (rest + text).rfind("\n") + 1
        yield from io.StringIO((rest + text)[:end], newline="")
        rest = (rest + text)[end:]
    yield from io.StringIO(rest, newline="")


def _lines(data: bytes) -> pa.StringArray:
    """Lines over the bytes themselves, without a copy."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1
    offsets = np.r_[0, ends, len(data)] if not data.endswith(b"\n") else np.r_[0, ends]
    return pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data), null_count=0
    )


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a file, plain or packed; what is packed twice is unpacked twice.

    Raises:
        InputError: it cannot be opened, or is packed in another way.
    """
    with contextlib.ExitStack() as stack:
        try:
            stream: io.BufferedReader[Any] = stack.enter_context(path.open("rb"))
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}; expected a file") from error
        packed: tuple[str, ...] = ()
        for _ in range(LAYERS):
            head = Source(path, stream, packed).head()
            if head.startswith(GZIP):
                stream, packed = io.BufferedReader(gzip.GzipFile(fileobj=stream, mode="rb")), (*packed, "gzip")
            elif head[:4] in PACKED:
                name, codec = PACKED[head[:4]]
                unpacked = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), codec)
                stream, packed = io.BufferedReader(unpacked), (*packed, name)
            else:
                break
        for magic, name in REFUSED.items():
            if head.startswith(magic):
                raise InputError(f"{path}: packed with {name}, expected a file that is {WAYS}")
        yield Source(path, stream, packed)


def numbered(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line with its physical number, without its end; only a line feed ends a line.

    Raises:
        InputError: the file cannot be read, or is no UTF-8.
    """
    with opened(path) as source:
        for block in source.blocks():
            for line, text in enumerate(block.lines.to_pylist(), start=block.first):
                yield line, text.removesuffix("\n").removesuffix("\r")
