"""Texts, images and pairs through a model, in batches of like length; what is made is stored as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.store.embeddings import EmbeddingStore, Lengths
from analysis.systems import devices, images
from analysis.systems.batching import Found, Positions, Room, batches, halved
from analysis.systems.cross_encoder import MOST_PAIRS, Pair, Scorer, Scores
from analysis.systems.encoders import MOST_TEXTS, Encoder, Role, TokenMatrix, Vectors
from analysis.systems.entry import Entry

CHUNK_TEXTS = 2048
"""Encoded texts after which a chunk is stored."""

CHUNK_SECONDS = 10.0
"""Seconds after which a chunk is stored, however few its texts: what a kill may cost."""

BATCH_TOKENS = 3072
"""Tokens of a padded batch: more do not fit the processor's cache (measured), and long texts would wait for a report.
"""

Told = Callable[[int], None]
"""Told how many are done, between batches; may raise JobCancelledError."""

Count = Callable[[int, float], None]
"""Told of how many texts, images or pairs a model has just made something, and in how many seconds."""


@dataclass(frozen=True)
class Piece:
    """Texts of one space that have no vectors yet; or images, by what is in their files."""

    space: str
    entry: Entry
    role: Role
    texts: list[str]
    tokens: bool
    language: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)

    def lengths(self, encoder: Encoder, some: slice) -> NDArray[np.int64]:
        """What some of them weigh in a batch: tokens of texts, pixels of images."""
        if not self.files:
            return encoder.lengths(self.texts[some], role=self.role)
        images.sighted(self.entry.name, encoder)
        return images.pixels([self.files[key] for key in self.texts[some]])

    def refusal(self, encoder: Encoder, text: str) -> SystemLoadError:
        """What is raised where one of them alone does not fit into the memory."""
        if not self.files:
            return _too_long(encoder, "text", text)
        return SystemLoadError(
            f"{self.entry.name}: the memory of {encoder.device} does not hold the image {self.files[text]}"
        )


class Pending:
    """Encoded texts that are not stored yet."""

    def __init__(self, store: EmbeddingStore, space: str) -> None:
        self._store = store
        self._space = space
        self._clear()

    def _clear(self) -> None:
        self._texts: list[str] = []
        self._vectors: list[Vectors] = []
        self._matrices: list[TokenMatrix] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._limit: int | None = None
        self._since = time.monotonic()

    def add(
        self,
        texts: Sequence[str],
        vectors: Vectors,
        *,
        matrices: Sequence[TokenMatrix] = (),
        lengths: NDArray[np.int64],
        limit: int | None,
    ) -> None:
        """Vectors of texts that are to be stored."""
        self._texts += texts
        self._vectors.append(vectors)
        self._matrices += matrices
        self._lengths.append(lengths)
        self._limit = limit

    def due(self) -> bool:
        """Whether there are many, or they have waited for long."""
        return len(self._texts) >= CHUNK_TEXTS or time.monotonic() - self._since >= CHUNK_SECONDS

    def flush(self) -> None:
        """Store them."""
        if self._texts:
            told = None if self._limit is None else Lengths(np.concatenate(self._lengths), self._limit)
            self._store.put(self._space, self._texts, vectors=np.concatenate(self._vectors), lengths=told)
        if self._matrices:
            offsets = np.concatenate([[0], np.cumsum([len(matrix) for matrix in self._matrices])]).astype(np.int64)
            tokens = np.concatenate(self._matrices)
            self._store.put_tokens(self._space, self._texts, offsets=offsets, tokens=tokens)
        self._clear()


def encode(encoder: Encoder, piece: Piece, *, pending: Pending, told: Told, count: Count) -> None:
    """Vectors of a piece, stored a chunk now and then and at the end, however it ends.

    Raises:
        SystemLoadError: one text or image alone does not fit into the memory.
        JobCancelledError: raised by ``told``.
    """
    lengths = _lengths(lambda some: piece.lengths(encoder, some), len(piece.texts), told)
    seen = bool(piece.files)
    limit, most = (None, images.MOST) if seen else (encoder.limit, MOST_TEXTS)

    def keep(part: Positions, found: tuple[Vectors, list[TokenMatrix]]) -> None:
        vectors, matrices = found
        texts = [piece.texts[at] for at in part]
        pending.add(texts, vectors, matrices=matrices, lengths=lengths[part], limit=limit)

    _through(
        encoder,
        _read(lengths, limit),
        room=Room(images.BATCH_PIXELS if seen else BATCH_TOKENS),
        most=most,
        compute=lambda batch: _pass(encoder, piece, [piece.texts[at] for at in batch]),
        refuse=lambda at: piece.refusal(encoder, piece.texts[at]),
        keep=keep,
        pending=pending,
        told=told,
        count=count,
    )


def score(scorer: Scorer, missing: Mapping[str, Pair], *, pending: Pending, told: Told, count: Count) -> None:
    """Scores of pairs, by the texts they are stored by; else as :func:`encode`."""
    keys, pairs = list(missing), list(missing.values())
    lengths = _lengths(lambda some: scorer.lengths(pairs[some]), len(pairs), told)

    def keep(part: Positions, scores: Scores) -> None:
        high = scores.astype(np.float32)  # a store of single precision holds a double as two
        two = np.stack([high, (scores - high).astype(np.float32)], axis=1)
        pending.add([keys[at] for at in part], two, lengths=lengths[part], limit=scorer.limit)

    _through(
        scorer,
        _read(lengths, scorer.limit),
        room=Room(BATCH_TOKENS),
        most=MOST_PAIRS,
        compute=lambda batch: scorer.score([pairs[at] for at in batch]),
        refuse=lambda at: _too_long(scorer, "pair", "\n".join(pairs[at])),
        keep=keep,
        pending=pending,
        told=told,
        count=count,
    )


def _lengths(of: Callable[[slice], NDArray[np.int64]], n: int, told: Told) -> NDArray[np.int64]:
    """What each of n weighs in a batch."""
    lengths = np.empty(n, dtype=np.int64)
    for start in range(0, n, CHUNK_TEXTS):
        told(0)
        lengths[start : start + CHUNK_TEXTS] = of(slice(start, start + CHUNK_TEXTS))
    return lengths


def _through(
    model: Encoder | Scorer,
    lengths: NDArray[np.int64],
    *,
    room: Room,
    most: int,
    compute: Callable[[Positions], Found],
    refuse: Callable[[int], Exception],
    keep: Callable[[Positions, Found], None],
    pending: Pending,
    told: Told,
    count: Count,
) -> None:
    done = 0
    try:
        for batch in batches(lengths, room=room, most=most, passes=devices.passes(model)):
            told(done)
            started = time.perf_counter()
            for part, found in halved(compute, batch, room=room, refuse=refuse):
                keep(part, found)
                count(len(part), time.perf_counter() - started)
                started = time.perf_counter()
                done += len(part)
            if pending.due():
                pending.flush()
        told(done)
    finally:
        pending.flush()


def _read(lengths: NDArray[np.int64], limit: int | None) -> NDArray[np.int64]:
    """Tokens of each text that are read."""
    return lengths if limit is None else np.minimum(lengths, limit)


def _too_long(model: Encoder | Scorer, what: str, text: str) -> SystemLoadError:
    return SystemLoadError(
        f"{model.entry.name}: the memory of {model.device} does not hold one {what} of {len(text):,} characters "
        f"({text[:60]!r}); a smaller --max-length cuts it"
    )


def _pass(encoder: Encoder, piece: Piece, batch: list[str]) -> tuple[Vectors, list[TokenMatrix]]:
    if piece.files:
        return images.encode(piece.entry.name, encoder, [piece.files[key] for key in batch]), []
    if piece.tokens:
        return encoder.encode_tokens(batch, role=piece.role)
    return encoder.encode(batch, role=piece.role), []
