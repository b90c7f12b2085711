"""Vectors that are too many for memory: rows in a file without a name, of which only what is looked at is mapped."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.errors import StoreError

HELD = 2**28
"""Bytes of vectors that memory holds; more are put into a file."""

BLOCK = 2**26
"""Bytes of vectors looked at at a time: 43,690 rows at 384 dimensions."""

Number = TypeVar("Number", np.int32, np.float64)
Places = NDArray[np.integer] | slice


class VectorFile:
    """Rows of float32 that are read and written as those of an array are, in a file that goes when this does.

    A part is mapped when it is asked for and let go with the array that was given, so that memory never holds the
    whole. It may be read by several threads.

    Args:
        folder: of the file; exists.
        shape: ``(n, d)``.

    Raises:
        StoreError: the disk has no room for it.
    """

    def __init__(self, folder: Path, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.nbytes = 4 * shape[0] * shape[1]
        with fitting(folder, self.nbytes, "vectors"):
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (lives as long as the rows)
            reserve(self._file.fileno(), self.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> NDArray[np.float32]:
        """The rows of a range, mapped."""
        start, stop, _ = rows.indices(len(self))
        if stop <= start:
            return np.zeros((0, self.shape[1]), dtype=np.float32)
        offset, shape = 4 * start * self.shape[1], (stop - start, self.shape[1])
        return np.asarray(np.memmap(self._file, np.float32, mode="r", offset=offset, shape=shape))

    def __setitem__(self, places: Places, vectors: NDArray[np.float32]) -> None:
        mapped = np.memmap(self._file, np.float32, mode="r+", shape=self.shape)
        mapped[places] = vectors


Rows = NDArray[np.float32] | VectorFile
"""``(n, d)`` vectors, in memory where they are few."""


def room(folder: Path, shape: tuple[int, int]) -> Rows:
    """Room for vectors: an array, or a file in the folder where memory should not hold them.

    Raises:
        StoreError: the disk has no room for them.
    """
    if 4 * shape[0] * shape[1] <= HELD:
        return np.empty(shape, dtype=np.float32)
    return VectorFile(folder, shape)


def blocks(rows: Rows) -> Iterator[slice]:
    """Ranges of rows that are looked at one after the other."""
    count, width = rows.shape
    size = max(1, BLOCK // max(1, 4 * width))
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))


def taken(parts: Sequence[Rows], places: NDArray[np.integer]) -> NDArray[np.float32]:
    """Some rows of several parts, which are numbered from the first row of the first part; places ascend."""
    found, first = [], 0
    for rows in parts:
        for block in blocks(rows):
            start, stop = np.searchsorted(places, [first + block.start, first + block.stop])
            found.append(rows[block][places[start:stop] - first - block.start])
        first += rows.shape[0]
    return np.concatenate(found)


def checksum(parts: Sequence[Rows]) -> str:
    """SHA-256 of the bytes of all rows."""
    digest = hashlib.sha256()
    for rows in parts:
        for block in blocks(rows):
            digest.update(np.ascontiguousarray(rows[block]).data)
    return digest.hexdigest()


def column(folder: Path, values: NDArray[Number]) -> NDArray[Number]:
    """A long array, moved into a file without a name that is mapped, and goes when the array does.

    Raises:
        StoreError: the disk has no room for it.
    """
    with fitting(folder, values.nbytes, "a ranking"), tempfile.TemporaryFile(dir=folder) as file:
        reserve(file.fileno(), values.nbytes)
        mapped = np.memmap(file, values.dtype, mode="r+", shape=values.shape)
    mapped[:] = values
    return np.asarray(mapped)


@contextlib.contextmanager
def fitting(folder: Path, size: int, what: str) -> Iterator[None]:
    """Make room on the disk for so many bytes; what the disk says against it is one sentence.

    Raises:
        StoreError: it has no room.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{folder}: no room for {size / 1e9:.1f} GB of {what}: {error}") from error


def reserve(descriptor: int, size: int) -> None:
    """Take the room now: a mapped file that the disk cannot hold would end the process when it is written."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    zeros = bytes(2**20)
    for start in range(0, size, len(zeros)):
        os.write(descriptor, zeros[: size - start])
