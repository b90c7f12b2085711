"""The bench a system works at: encoders loaded once, texts encoded once, rankings of parts made once."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.model import Corpus, Progress, Questions, Ranking, silent
from analysis.paths import Cache
from analysis.store.embeddings import EmbeddingStore, spans
from analysis.store.vector_file import Rows
from analysis.systems import cross_encoder, encoders
from analysis.systems.approximate import Measured
from analysis.systems.catalogue import Entry, catalogue, fingerprint, limited, local_weights
from analysis.systems.cross_encoder import MOST_PAIRS, Pair, Scorer, Scores
from analysis.systems.encoders import MOST_TEXTS, Encoder, Role, TokenMatrix, Vectors
from analysis.systems.weights import LoadOptions

CHUNK_TEXTS = 2048
"""Encoded texts after which a chunk is stored."""

CHUNK_SECONDS = 10.0
"""Seconds after which a chunk is stored, however few its texts: what a kill may cost."""

BATCH_TOKENS = 3072
"""Tokens of a padded batch: more do not fit the processor's cache (measured), and long texts would wait for a report.
"""

Model = TypeVar("Model", Encoder, Scorer)

_LOADING = threading.Lock()
"""One encoder is loaded at a time: libraries keep loggers and defaults for the whole process meanwhile."""

KEPT_RANKINGS = 4
"""Rankings of parts remembered; 12,000 queries at depth 1,000 take 190 MB each."""


@dataclass(frozen=True)
class TokenVectors:
    """Token vectors of several texts, end to end.

    Attributes:
        offsets: ``(n + 1,)`` int64; text ``i`` owns rows ``offsets[i]`` to ``offsets[i + 1]``.
        tokens: ``(T, d)`` float16 unit vectors.
    """

    offsets: NDArray[np.int64]
    tokens: NDArray[np.float16]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each text, ``(n,)``."""
        return np.diff(self.offsets)

    def take(self, positions: NDArray[np.integer]) -> TokenVectors:
        """The texts at these positions, in this order."""
        lengths = self.lengths[positions]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return TokenVectors(offsets, self.tokens[spans(self.offsets[:-1][positions], lengths)])

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Need:
    """Texts that a system will ask vectors of."""

    entry: Entry  # a dense system: the encoder
    role: Role
    texts: Sequence[str]
    tokens: bool = False  # token vectors too


@dataclass(frozen=True)
class EncodedFacts:
    """What this bench has encoded with one encoder, for the provenance of a run; cached texts are not counted."""

    texts: int = 0
    seconds: float = 0.0  # of encoding, without loading and the load check
    device: str | None = None  # None where nothing was encoded, as everything was cached
    dtype: str | None = None
    libraries: Mapping[str, str] = field(default_factory=dict)  # name -> version

    @property
    def texts_per_second(self) -> float | None:
        """None where nothing was encoded."""
        return self.texts / self.seconds if self.seconds else None


class System(Protocol):
    """A retrieval system: from a corpus and questions to a ranking."""

    entry: Entry

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """The vectors it will ask for, so that one pass of each encoder serves all systems of a job.

        Raises:
            SystemRefusedError: it could not finish this task in reasonable time.
        """
        ...

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """The ``depth`` best documents of each question.

        Raises:
            SystemRefusedError: it could not finish this task in reasonable time.
            SystemLoadError: an encoder it needs does not load or fails its check.
            JobCancelledError: raised by the workbench's progress.
        """
        ...


class Workbench:
    """Vectors and rankings for the systems of one job, or of the sessions of one server.

    Args:
        cache: where vectors are kept.
        options: how encoders are loaded.
        progress: told what is done, between batches; may raise JobCancelledError.
        keep: encoders stay loaded as long as the bench; else only as long as somebody holds them.
        exact: every document is compared with every query, however many there are.
    """

    def __init__(
        self,
        cache: Cache,
        *,
        options: LoadOptions | None = None,
        progress: Progress = silent,
        keep: bool = True,
        exact: bool = False,
    ) -> None:
        self.options = options or LoadOptions()
        self.progress = progress
        self.folder = cache.root
        self.exact = exact
        self._store = EmbeddingStore(cache.embeddings)
        self._measured: dict[tuple[str, str], Measured] = {}
        self._encoders: MutableMapping[str, Encoder] = {} if keep else WeakValueDictionary()
        self._scorers: MutableMapping[str, Scorer] = {} if keep else WeakValueDictionary()
        self._doors: dict[str, threading.Lock] = {}
        self._facts: dict[str, EncodedFacts] = {}
        self._rankings: OrderedDict[tuple[str, str, int], Ranking] = OrderedDict()
        self._lock = threading.RLock()

    def encoder(self, system: Entry) -> Encoder:
        """The loaded and proven encoder of a dense system.

        Raises:
            SystemLoadError: it does not load or fails its check.
        """
        return self._loaded(system, self._encoders, encoders.load)

    def scorer(self, system: Entry) -> Scorer:
        """The loaded and proven model of a cross-encoder.

        Raises:
            SystemLoadError: it does not load or fails its check.
        """
        return self._loaded(system, self._scorers, cross_encoder.load)

    def _loaded(
        self, system: Entry, kept: MutableMapping[str, Model], load: Callable[[Entry, LoadOptions], Model]
    ) -> Model:
        key = self._key(system)
        if (model := kept.get(key)) is not None:
            return model
        with self._lock:
            door = self._doors.setdefault(key, threading.Lock())
        with door:  # whoever waits for this model does not wait for the next one
            if (model := kept.get(key)) is None:
                with _LOADING:
                    self.progress(f"load {system.short_title}", 0, 1)
                    model = kept[key] = load(system, self.options)
                    self.progress(f"load {system.short_title}", 1, 1)
        return model

    def prepare(self, needs: Sequence[Need]) -> None:
        """Encode and store what is missing: each text once, pooled and token vectors from one forward pass.

        Raises:
            SystemLoadError: an encoder does not load or fails its check.
            JobCancelledError: raised by progress; what was encoded until then is stored.
        """
        pieces = self._missing(needs)
        for key in dict.fromkeys(self._key(piece.entry) for piece in pieces):
            mine = [piece for piece in pieces if self._key(piece.entry) == key]
            done, total = 0, sum(len(piece.texts) for piece in mine)
            for piece in mine:
                self._encode(piece, done=done, total=total)
                done += len(piece.texts)

    def vectors(self, system: Entry, texts: Sequence[str], *, role: Role) -> Vectors:
        """Unit vectors, ``(n, d)`` float32, from the cache or encoded now. Raises as :meth:`prepare`."""
        self.prepare([Need(system, role, texts)])
        return self._store.get(self._space(system, role), texts)

    def rows(self, system: Entry, texts: Sequence[str], *, role: Role) -> Rows:
        """The same for very many texts: beyond what memory should hold, they are in a mapped file of the cache folder.

        Raises:
            StoreError: the disk has no room for the file.
        """
        self.prepare([Need(system, role, texts)])
        return self._store.rows(self._space(system, role), texts, folder=self.folder)

    def token_vectors(self, system: Entry, texts: Sequence[str], *, role: Role) -> TokenVectors:
        """Token vectors, float16, from the cache or encoded now. Raises as :meth:`prepare`."""
        self.prepare([Need(system, role, texts, tokens=True)])
        return TokenVectors(*self._store.get_tokens(self._space(system, role), texts))

    def stored(self, system: Entry, texts: Sequence[str], *, role: Role) -> Vectors | None:
        """Unit vectors, ``(n, d)`` float32, as far as they are cached: None where a text is not."""
        space = self._space(system, role)
        return self._store.get(space, texts) if self._store.known(space, texts).all() else None

    def pair_scores(self, system: Entry, pairs: Sequence[Pair], *, step: str) -> Scores:
        """What a cross-encoder says of each (query, document), ``(n,)``, from the cache or scored now.

        Raises:
            SystemLoadError: it does not load or fails its check.
            JobCancelledError: raised by progress; what was scored until then is stored.
        """
        space = self._space(system, "query")
        keys = [json.dumps(pair, ensure_ascii=False) for pair in pairs]
        distinct = dict(zip(keys, pairs, strict=True))
        known = self._store.known(space, list(distinct))
        missing = {key: pair for (key, pair), there in zip(distinct.items(), known, strict=True) if not there}
        if missing:
            self._score(system, missing, space=space, step=step)
        halves: Scores = self._store.get(space, keys).astype(np.float64).reshape(-1, 2).sum(axis=1)
        return halves

    def _score(self, system: Entry, missing: Mapping[str, Pair], *, space: str, step: str) -> None:
        """Score pairs in batches of like length, storing a chunk now and then and at the end, however it ends."""
        scorer, pending, done = self.scorer(system), _Pending(self._store, space), 0
        keys = list(missing)
        lengths = np.concatenate(
            [
                scorer.lengths([missing[key] for key in keys[start : start + CHUNK_TEXTS]])
                for start in range(0, len(keys), CHUNK_TEXTS)
            ]
        )
        try:
            for batch in batches(keys, lengths=lengths, room=Room(BATCH_TOKENS), most=MOST_PAIRS):
                self.progress(step, done, len(keys))
                started = time.perf_counter()
                scores = scorer.score([missing[key] for key in batch])
                high = scores.astype(np.float32)  # a store of single precision holds a double as two
                pending.add(batch, np.stack([high, (scores - high).astype(np.float32)], axis=1))
                self._count(scorer, system, texts=len(batch), seconds=time.perf_counter() - started)
                done += len(batch)
                if pending.due():
                    pending.flush()
            self.progress(step, done, len(keys))
        finally:
            pending.flush()

    def encoded(self, system: Entry) -> EncodedFacts:
        """What this bench has encoded with a dense system, or scored with a cross-encoder, so far."""
        return self._facts.get(self._key(system), EncodedFacts())

    def measured(self, system: Entry, corpus: Corpus, questions: Questions, found: Measured) -> None:
        """Keep how well an approximate search of a dense system did."""
        with self._lock:
            self._measured[self._key(system), _digest(corpus, questions)] = found

    def recall(self, systems: Sequence[Entry], corpus: Corpus, questions: Questions) -> dict[str, Measured]:
        """How well approximate searches of these dense systems did, by name; without those that searched exactly."""
        if not self._measured:
            return {}
        task = _digest(corpus, questions)
        return {
            system.name: self._measured[key, task]
            for system in systems
            if (key := self._key(system)) and (key, task) in self._measured
        }

    def rank(self, system: System, corpus: Corpus, questions: Questions, *, depth: int) -> Ranking:
        """The system's ranking; that of a part of a composition is remembered, so that it is made once.

        Raises:
            SystemRefusedError, SystemLoadError, JobCancelledError: as :meth:`System.rank`.
        """
        key = (self._key(system.entry), _digest(corpus, questions), depth)
        with self._lock:
            known = self._rankings.get(key)
        found = known or system.rank(corpus, questions, depth=depth, workbench=self)
        if not _is_part(system.entry.name):
            return found
        with self._lock:
            self._rankings[key] = found
            self._rankings.move_to_end(key)
            while len(self._rankings) > KEPT_RANKINGS:
                self._rankings.popitem(last=False)
        return found

    def _key(self, system: Entry) -> str:
        return fingerprint(system, max_length=self.options.max_length)

    def _space(self, system: Entry, role: Role) -> str:
        """The key of the embedding space: everything that decides a vector except the text."""
        effective = limited(system, self.options.max_length)
        prompt = getattr(effective.prompts, role)
        facts = {
            "backend": effective.backend,
            "model": effective.model or f"{effective.package or ''}:{effective.folder}",
            "revision": effective.revision,
            "sha256": effective.sha256,
            "files": local_weights(effective),
            "pooling": effective.pooling,
            "max_length": effective.max_length,
            "dtype": effective.dtype,
            "role": "any" if encoders.symmetric(effective) else role,
            "prompt": prompt,
            **({"url": effective.url} if effective.url else {}),
            **({"function": effective.function} if effective.function else {}),
        }
        if effective.kind == "cross-encoder":
            facts["kind"] = effective.kind
        if effective.code:
            facts["code"] = f"{effective.code}@{effective.code_revision}"
        return json.dumps(facts, sort_keys=True, ensure_ascii=False)

    def _missing(self, needs: Sequence[Need]) -> list[_Piece]:
        """The texts to encode, each in one piece only: with its tokens if any need wants them."""
        pieces: list[_Piece] = []
        claimed: dict[str, set[str]] = {}
        for need in sorted(needs, key=lambda need: not need.tokens):
            space = self._space(need.entry, need.role)
            taken = claimed.setdefault(space, set())
            texts = [text for text in dict.fromkeys(need.texts) if text not in taken]
            taken.update(texts)
            known = self._store.known(space, texts)
            if need.tokens:
                known &= self._store.known_tokens(space, texts)
            missing = [text for text, there in zip(texts, known, strict=True) if not there]
            if missing:
                pieces.append(_Piece(space, need.entry, need.role, missing, need.tokens))
        return pieces

    def _encode(self, piece: _Piece, *, done: int, total: int) -> None:
        """Encode a piece, storing a chunk now and then and at the end, however it ends."""
        encoder = self.encoder(piece.entry)
        step = f"encode {piece.entry.short_title}"
        pending = _Pending(self._store, piece.space)
        lengths = np.empty(len(piece.texts), dtype=np.int64)
        for start in range(0, len(lengths), CHUNK_TEXTS):
            self.progress(step, done, total)
            lengths[start : start + CHUNK_TEXTS] = encoder.lengths(piece.texts[start : start + CHUNK_TEXTS])
        room = Room(BATCH_TOKENS)
        try:
            for batch in batches(piece.texts, lengths=lengths, room=room):
                self.progress(step, done, total)
                started = time.perf_counter()
                for texts, vectors, matrices in _passes(encoder, piece, batch, room=room):
                    pending.add(texts, vectors, matrices=matrices)
                    self._count(encoder, piece.entry, texts=len(texts), seconds=time.perf_counter() - started)
                    started = time.perf_counter()
                    done += len(texts)
                if pending.due():
                    pending.flush()
            self.progress(step, done, total)
        finally:
            pending.flush()

    def _count(self, encoder: Encoder | Scorer, system: Entry, *, texts: int, seconds: float) -> None:
        with self._lock:
            before = self.encoded(system)
            self._facts[self._key(system)] = EncodedFacts(
                texts=before.texts + texts,
                seconds=before.seconds + seconds,
                device=encoder.device,
                dtype=encoder.entry.dtype,
                libraries=encoder.libraries,
            )


@dataclass(frozen=True)
class _Piece:
    """Texts of one space that have no vectors yet."""

    space: str
    entry: Entry
    role: Role
    texts: list[str]
    tokens: bool


class _Pending:
    """Encoded texts that are not stored yet."""

    def __init__(self, store: EmbeddingStore, space: str) -> None:
        self._store = store
        self._space = space
        self._texts: list[str] = []
        self._vectors: list[Vectors] = []
        self._matrices: list[TokenMatrix] = []
        self._since = time.monotonic()

    def add(self, texts: Sequence[str], vectors: Vectors, *, matrices: Sequence[TokenMatrix] = ()) -> None:
        self._texts += texts
        self._vectors.append(vectors)
        self._matrices += matrices

    def due(self) -> bool:
        return len(self._texts) >= CHUNK_TEXTS or time.monotonic() - self._since >= CHUNK_SECONDS

    def flush(self) -> None:
        if self._texts:
            self._store.put(self._space, self._texts, vectors=np.concatenate(self._vectors))
        if self._matrices:
            offsets = np.concatenate([[0], np.cumsum([len(matrix) for matrix in self._matrices])]).astype(np.int64)
            tokens = np.concatenate(self._matrices)
            self._store.put_tokens(self._space, self._texts, offsets=offsets, tokens=tokens)
        self._texts, self._vectors, self._matrices, self._since = [], [], [], time.monotonic()


@dataclass
class Room:
    """What fits into one forward pass, in tokens of a padded batch; less from the moment that a batch did not fit."""

    tokens: int


def _passes(
    encoder: Encoder, piece: _Piece, batch: list[str], *, room: Room
) -> Iterator[tuple[list[str], Vectors, list[TokenMatrix]]]:
    """A batch in one forward pass; where the memory does not hold it, its halves, and smaller batches after it."""
    try:
        vectors, matrices = _pass(encoder, piece, batch)
    except (MemoryError, RuntimeError) as error:
        if not encoders.is_out_of_memory(error):
            raise
        if len(batch) == 1:
            raise SystemLoadError(
                f"{piece.entry.name}: the memory of {encoder.device} does not hold one text of {len(batch[0]):,} "
                f"characters ({batch[0][:60]!r}); a smaller --max-length cuts it"
            ) from error
    else:
        yield batch, vectors, matrices
        return
    encoders.free_memory()
    room.tokens = max(1, room.tokens // 2)
    half = len(batch) // 2
    for part in (batch[:half], batch[half:]):
        yield from _passes(encoder, piece, part, room=room)


def _pass(encoder: Encoder, piece: _Piece, batch: list[str]) -> tuple[Vectors, list[TokenMatrix]]:
    if piece.tokens:
        return encoder.encode_tokens(batch, role=piece.role)
    return encoder.encode(batch, role=piece.role), []


def batches(
    texts: Sequence[str], *, lengths: NDArray[np.int64], room: Room, most: int | None = None
) -> Iterator[list[str]]:
    """The texts in batches of similar length, longest first, so that padding is little and time left is not rosy.

    Args:
        texts: the texts.
        lengths: ``(n,)`` their tokens.
        room: of one batch; looked at before each.
        most: texts in a batch; omitted: those of one forward pass of an encoder.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        fitting = max(1, room.tokens // max(1, int(lengths[order[start]])))
        stop = start + min(most or MOST_TEXTS, fitting)
        yield [texts[position] for position in order[start:stop]]
        start = stop


def _is_part(name: str) -> bool:
    """Whether a composition of the catalogue ranks by way of this system."""
    return any(name in system.parts for system in catalogue().values() if system.kind in ("fusion", "two-stage"))


def _digest(corpus: Corpus, questions: Questions) -> str:
    """A hash of all that a ranking depends on besides the system and the depth."""
    digest = hashlib.blake2b(digest_size=16)
    for column in (corpus.ids, corpus.languages, corpus.texts, questions.languages, questions.texts):
        digest.update(len(column).to_bytes(8))
        for text in column:
            encoded = text.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8) + encoded)
    for position, documents in sorted(questions.excluded.items()):
        digest.update(position.to_bytes(8) + np.sort(documents).astype(np.int64).tobytes())
    return digest.hexdigest()
