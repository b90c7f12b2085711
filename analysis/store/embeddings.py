"""Vectors that encoders have computed, kept in chunks so that no text is encoded twice and a killed run goes on.

A *space* is everything that decides a vector except the text: model, revision, prompt, length limit. Its key is a
text; its folder holds a manifest and chunk files. A chunk is written under a temporary name, synced, renamed and never
changed, and its name is unique, so several processes may write into one space. A damaged chunk is set aside and its
texts are encoded again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import struct
import threading
import time
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.errors import StoreError
from analysis.store.vector_file import Rows, room

Offsets = NDArray[np.int64]
Room = TypeVar("Room", NDArray[np.float32], Rows)

DAY = 86_400.0
"""Seconds after which a temporary file is taken for the leftover of a killed process."""

UNTOLD = -1
"""The length of a text that was stored without."""

CHUNK_ROWS = 2**32
"""More rows than any chunk has."""


class Lengths(NamedTuple):
    """How long texts are for an encoder, whatever it reads of them."""

    tokens: NDArray[np.integer]  # (n,)
    limit: int  # tokens that it reads of one; 0 where no length is known


class DamageError(StoreError):
    """A chunk was found damaged and set aside: its texts are to be encoded again."""


_LOG = logging.getLogger(__name__)
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, KeyError, RuntimeError)
"""What reading a damaged chunk raises; RuntimeError where it seems to be encrypted, or compressed in an unknown way."""

_ARRAYS = ({"hashes", "vectors"}, {"hashes", "vectors", "lengths", "limit"}, {"hashes", "offsets", "tokens"})
"""Of a chunk; vectors without lengths were stored before these were."""


@dataclass
class _Shelf:
    """One sort of chunk ("vectors" or "tokens") of one space, as far as this process has seen it."""

    folder: Path
    sort: str
    chunks: list[Path] = field(default_factory=list)
    states: list[tuple[int, int]] = field(default_factory=list)  # of each chunk: time and size as it was verified
    seen: set[str] = field(default_factory=set)  # names of chunks
    places: dict[bytes, int] = field(default_factory=dict)  # text hash -> chunk · CHUNK_ROWS + row

    def refresh(self) -> None:
        """Take in chunks that appeared since, whoever wrote them; start over where one has vanished."""
        present = {path.name: path for path in self.folder.glob(f"{self.sort}-*.npz")}
        if self.seen - present.keys():
            self.chunks, self.states, self.seen, self.places = [], [], set(), {}
        for name in sorted(present.keys() - self.seen):
            if (found := _verified(present[name])) is not None:
                self._add(present[name], *found)

    def _add(self, path: Path, state: tuple[int, int], hashes: Sequence[bytes]) -> None:
        self.seen.add(path.name)
        self.chunks.append(path)
        self.states.append(state)
        for row, digest in enumerate(hashes):
            self.places.setdefault(digest, (len(self.chunks) - 1) * CHUNK_ROWS + row)

    def known(self, hashes: Sequence[bytes]) -> NDArray[np.bool_]:
        return np.fromiter((digest in self.places for digest in hashes), dtype=bool, count=len(hashes))

    def located(self, hashes: Sequence[bytes]) -> NDArray[np.int64]:
        """``(n, 2)`` chunk and row of each text; all must be known."""
        absent = sum(digest not in self.places for digest in hashes)
        if absent:
            raise StoreError(f"{self.folder}: {absent} of {len(hashes)} texts have no {self.sort} yet")
        places = np.fromiter((self.places[digest] for digest in hashes), dtype=np.int64, count=len(hashes))
        return np.stack(np.divmod(places, CHUNK_ROWS), axis=1)


class EmbeddingStore:
    """Vectors by space and text. Safe to share between threads; several processes may use one folder.

    Args:
        root: the folder that holds one folder a space; made when first written to.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._shelves: dict[tuple[str, str], _Shelf] = {}
        self._lock = threading.RLock()

    def known(self, space: str, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts have a vector, ``(n,)`` bool."""
        return self._known(space, texts, sort="vectors")

    def known_tokens(self, space: str, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts have token vectors, ``(n,)`` bool."""
        return self._known(space, texts, sort="tokens")

    def get(self, space: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors, ``(n, d)`` float32; ``(0, 0)`` for no texts.

        Raises:
            StoreError: a text has none.
            DamageError: a chunk broke since this process first read it.
        """
        return self._filled(space, texts, make=_array)

    def rows(self, space: str, texts: Sequence[str], *, folder: Path) -> Rows:
        """The same, in a file without a name in the folder where memory should not hold them.

        Raises:
            StoreError: as :meth:`get`, or the disk has no room for the file.
        """
        return self._filled(space, texts, make=partial(room, folder))

    def lengths(self, space: str, texts: Sequence[str]) -> Lengths:
        """How long the texts are for the encoder, ``UNTOLD`` where they were stored without; raises as :meth:`get`."""
        found, limit = np.full(len(texts), UNTOLD, dtype=np.int64), 0
        with self._lock:
            shelf = self._shelf(space, "vectors")
            for chunk, rows, arrays in _per_chunk(shelf.chunks, shelf.states, shelf.located(_hashes(texts))):
                if "lengths" in arrays:
                    found[rows], limit = arrays["lengths"][chunk], int(arrays["limit"][0])
        return Lengths(found, limit)

    def put(
        self, space: str, texts: Sequence[str], *, vectors: NDArray[np.float32], lengths: Lengths | None = None
    ) -> None:
        """Store the vectors, ``(n, d)``, of texts; those already known are passed over."""
        with self._lock:
            fresh = self._fresh(space, texts, sort="vectors")
            if len(fresh):
                hashes = _hashes([texts[position] for position in fresh])
                arrays: dict[str, NDArray[Any]] = {"vectors": np.ascontiguousarray(vectors[fresh], dtype=np.float32)}
                if lengths:
                    arrays["lengths"] = lengths.tokens[fresh].astype(np.int32)
                    arrays["limit"] = np.array([lengths.limit], dtype=np.int32)
                self._write(space, "vectors", hashes=hashes, arrays=arrays)

    def get_tokens(self, space: str, texts: Sequence[str]) -> tuple[Offsets, NDArray[np.float16]]:
        """The texts' token vectors: offsets ``(n + 1,)`` int64 into ``(T, d)`` float16.

        Raises:
            StoreError: a text has none.
            DamageError: a chunk broke since this process first read it.
        """
        with self._lock:
            shelf = self._shelf(space, "tokens")
            places = shelf.located(_hashes(texts))
            pieces = [(rows, arrays, chunk) for chunk, rows, arrays in _per_chunk(shelf.chunks, shelf.states, places)]
        lengths = np.zeros(len(texts), dtype=np.int64)
        for rows, arrays, chunk in pieces:
            lengths[rows] = np.diff(arrays["offsets"])[chunk]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        width = pieces[0][1]["tokens"].shape[1] if pieces else 0
        tokens = np.empty((offsets[-1], width), dtype=np.float16)
        for rows, arrays, chunk in pieces:
            source, target = arrays["offsets"][:-1][chunk], offsets[:-1][rows]
            tokens[spans(target, lengths[rows])] = arrays["tokens"][spans(source, lengths[rows])]
        return offsets, tokens

    def put_tokens(self, space: str, texts: Sequence[str], *, offsets: Offsets, tokens: NDArray[np.float16]) -> None:
        """Store token vectors, ``(T, d)`` with offsets ``(n + 1,)``; texts already known are passed over."""
        with self._lock:
            fresh = self._fresh(space, texts, sort="tokens")
            if len(fresh):
                hashes = _hashes([texts[position] for position in fresh])
                lengths = np.diff(offsets)[fresh]
                arrays: dict[str, NDArray[Any]] = {
                    "offsets": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
                    "tokens": np.ascontiguousarray(tokens[spans(offsets[:-1][fresh], lengths)], dtype=np.float16),
                }
                self._write(space, "tokens", hashes=hashes, arrays=arrays)

    def folder(self, space: str) -> Path:
        """Where a space lives."""
        return self.root / hashlib.blake2b(space.encode(), digest_size=12).hexdigest()

    def _filled(self, space: str, texts: Sequence[str], *, make: Callable[[tuple[int, int]], Room]) -> Room:
        """The texts' vectors, chunk by chunk; in what is made for as many."""
        with self._lock:
            shelf = self._shelf(space, "vectors")
            places, chunks, states = shelf.located(_hashes(texts)), shelf.chunks, shelf.states
        found = None
        for chunk, positions, arrays in _per_chunk(chunks, states, places):
            found = make((len(texts), arrays["vectors"].shape[1])) if found is None else found
            found[positions] = arrays["vectors"][chunk]
        return make((0, 0)) if found is None else found

    def _known(self, space: str, texts: Sequence[str], *, sort: str) -> NDArray[np.bool_]:
        with self._lock:
            shelf = self._shelf(space, sort)
            shelf.refresh()
            return shelf.known(_hashes(texts))

    def _fresh(self, space: str, texts: Sequence[str], *, sort: str) -> NDArray[np.int64]:
        """Positions of texts to write: not known, and of equal texts the first."""
        known = self._known(space, texts, sort=sort)
        first = {text: position for position, text in reversed(list(enumerate(texts)))}
        return np.array([p for p, text in enumerate(texts) if not known[p] and first[text] == p], dtype=np.int64)

    def _shelf(self, space: str, sort: str) -> _Shelf:
        key = (space, sort)
        if key not in self._shelves:
            folder = self.folder(space)
            _sweep(folder)
            self._shelves[key] = _Shelf(folder, sort)
            self._shelves[key].refresh()
        return self._shelves[key]

    def _write(self, space: str, sort: str, *, hashes: Sequence[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
        folder = self.folder(space)
        packed = np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, 16)
        path = folder / f"{sort}-{time.time_ns()}-{uuid.uuid4().hex}.npz"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_manifest(folder, space)
            with _renamed(path) as file:
                np.savez(file, allow_pickle=False, hashes=packed, **arrays)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error}") from error
        self._shelf(space, sort).refresh()


def _array(shape: tuple[int, int]) -> NDArray[np.float32]:
    return np.empty(shape, dtype=np.float32)


def spans(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of many spans one after the other: ``[3, 4, 9]`` for starts ``[3, 9]``, lengths ``[2, 1]``."""
    ends = np.cumsum(lengths)
    shift = np.repeat(starts - (ends - lengths), lengths)
    positions: NDArray[np.int64] = shift + np.arange(len(shift), dtype=np.int64)
    return positions


def _hashes(texts: Sequence[str]) -> list[bytes]:
    """BLAKE2b-128 of each text's UTF-8 bytes."""
    return [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]


def _per_chunk(
    chunks: Sequence[Path], states: list[tuple[int, int]], places: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], dict[str, NDArray[Any]]]]:
    """For each chunk that is needed: rows in it, the positions they go to, and its arrays."""
    order = np.argsort(places[:, 0], kind="stable")
    needed, starts = np.unique(places[order, 0], return_index=True)
    for chunk, positions in zip(needed, np.split(order, starts)[1:], strict=True):
        path = chunks[chunk]
        try:
            if _state(path) != states[chunk]:  # it was written to since
                states[chunk], _ = _checked(path)
            arrays = _mapped(path)
        except _DAMAGE as error:
            _set_aside(path, error)
            raise DamageError(f"{path} broke while it was in use; run again to encode its texts anew") from error
        yield places[positions, 1], positions, arrays


def _verified(path: Path) -> tuple[tuple[int, int], list[bytes]] | None:
    """The state and the text hashes of a chunk that matches its checksums; a damaged chunk is set aside."""
    try:
        return _checked(path)
    except FileNotFoundError:
        return None  # another process has just set it aside
    except _DAMAGE as error:
        _set_aside(path, error)
        return None


def _checked(path: Path) -> tuple[tuple[int, int], list[bytes]]:
    """The same; raises one of ``_DAMAGE`` where a byte differs from what was written."""
    state = _state(path)
    with zipfile.ZipFile(path) as archive:
        if (broken := archive.testzip()) is not None:  # compares the CRC-32 of every array
            raise zipfile.BadZipFile(f"bad checksum of {broken}")
        if {name.removesuffix(".npy") for name in archive.namelist()} not in _ARRAYS:
            raise zipfile.BadZipFile(f"arrays {', '.join(archive.namelist())}")
    with np.load(path, allow_pickle=False) as arrays:
        return state, [row.tobytes() for row in arrays["hashes"]]


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a chunk without reading them: a live query takes a few rows out of many.

    NumPy stores the members of an ``.npz`` uncompressed, each a whole ``.npy``, but maps only ``.npy`` files itself.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        for member in archive.infolist():
            file.seek(member.header_offset + 26)  # of the local header: lengths of name and extra field, then both
            file.seek(sum(struct.unpack("<HH", file.read(4))), os.SEEK_CUR)
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)  # in C order: put() wrote it
            name = member.filename.removesuffix(".npy")
            arrays[name] = _mapped_array(path, shape, dtype=dtype, offset=file.tell())
    return arrays


def _mapped_array(path: Path, shape: tuple[int, ...], *, dtype: np.dtype[Any], offset: int) -> NDArray[Any]:
    if 0 in shape:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, mode="r", offset=offset, shape=shape)


def _set_aside(path: Path, error: Exception) -> None:
    _LOG.warning("%s is damaged (%s): set aside, its texts are encoded again", path, error)
    with suppress(OSError):  # another process was faster, or the folder is read-only: it is looked at again next time
        path.rename(path.with_suffix(".damaged"))


def _sweep(folder: Path) -> None:
    """Delete temporary files that a killed process left behind."""
    for path in folder.glob("*.tmp"):
        if time.time() - path.stat().st_mtime > DAY:
            path.unlink(missing_ok=True)


@contextmanager
def _renamed(path: Path) -> Iterator[IO[bytes]]:
    """A file under a temporary name; synced, then given the name ``path``. After an error it is gone."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_manifest(folder: Path, space: str) -> None:
    """Say in the folder what its vectors are of, for people."""
    path = folder / "manifest.json"
    if not path.exists():
        with _renamed(path) as file:
            file.write(json.dumps({"space": space}, ensure_ascii=False, indent=1).encode())
