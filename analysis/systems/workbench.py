"""The bench a system works at: encoders loaded once, texts encoded once, rankings of parts made once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.model import Corpus, Progress, Questions, Ranking, silent
from analysis.paths import Cache
from analysis.store.embeddings import DamageError, EmbeddingStore, Lengths, spans
from analysis.store.vector_file import Rows
from analysis.systems import cross_encoder, devices, encoders, encoding, images, multi_vector, tokenizers
from analysis.systems.approximate import Measured
from analysis.systems.catalogue import catalogue, fingerprint, limited, local_weights, towers
from analysis.systems.cross_encoder import Pair, Scorer, Scores
from analysis.systems.encoders import Encoder, Role, Vectors
from analysis.systems.encoding import Pending, Piece
from analysis.systems.entry import Entry
from analysis.systems.lists import aside
from analysis.systems.weights import LoadOptions

Model = TypeVar("Model", Encoder, Scorer)
Read = TypeVar("Read")

_LOADING = threading.Lock()
"""One encoder is loaded at a time: libraries keep loggers and defaults for the whole process meanwhile."""

KEPT_RANKINGS = 4
"""Rankings of parts remembered; 67,000 queries at depth 1,000 take 1.1 GB each, in mapped files."""


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

    @classmethod
    def joined(cls, parts: Sequence[TokenVectors]) -> TokenVectors:
        """The texts of several, one after the other."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(offsets, np.concatenate([part.tokens for part in parts] or [np.zeros((0, 0), np.float16)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Need:
    """Texts, or images, that a system will ask vectors of."""

    entry: Entry  # a dense system, or a model trained for late interaction: the encoder
    role: Role
    texts: Sequence[str]
    tokens: bool = False  # token vectors too
    language: str = ""  # of the texts, where the encoder has an adapter for each; else it makes no difference
    files: Sequence[Path] = ()  # of images, which are then asked for instead of texts


def token_needs(system: Entry, role: Role, texts: Sequence[str], languages: Sequence[str]) -> list[Need]:
    """Token vectors of texts, by language where the encoder has an adapter for each."""
    if not system.adapters:
        return [Need(system, role, texts, tokens=True)]
    said: dict[str, list[str]] = {}
    for text, language in zip(texts, languages, strict=True):
        said.setdefault(language, []).append(text)
    return [Need(system, role, part, tokens=True, language=language) for language, part in said.items()]


def _as_asked(needs: Sequence[Need], languages: Sequence[str]) -> NDArray[np.intp]:
    """What puts texts that were taken language by language back into their order, ``(n,)``."""
    spoken = np.array(languages, dtype=object)
    return np.argsort(np.concatenate([np.zeros(0, np.intp), *(np.flatnonzero(spoken == n.language) for n in needs)]))


@dataclass(frozen=True)
class EncodedFacts:
    """What this bench has encoded with one encoder, for the provenance of a run; cached texts are not counted."""

    texts: int = 0
    seconds: float = 0.0  # of encoding texts, without loading and the load check
    images: int = 0
    image_seconds: float = 0.0  # of opening and encoding them
    device: str | None = None  # None where nothing was encoded, as everything was cached
    dtype: str | None = None
    libraries: Mapping[str, str] = field(default_factory=dict)  # name -> version

    @property
    def texts_per_second(self) -> float | None:
        """None where nothing was encoded."""
        return self.texts / self.seconds if self.seconds else None


class Cut(NamedTuple):
    """Which of several texts, or pairs, a model does not read to their ends."""

    limit: int  # tokens that it reads
    cut: NDArray[np.bool_]  # (n,)


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
        """The loaded and proven encoder of a dense system, or model trained for late interaction.

        Raises:
            SystemLoadError: it does not load or fails its check.
        """
        late = system.kind == "late-interaction"
        load: Callable[[Entry, LoadOptions], Encoder] = multi_vector.load if late else encoders.load
        return self._loaded(towers(system)[0], self._encoders, load)

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
            loaded = self.encoder(mine[0].entry)
            done, total = 0, sum(len(piece.texts) for piece in mine)
            for piece in sorted(mine, key=lambda piece: piece.tokens):
                encoder = multi_vector.for_texts(loaded, role=piece.role, language=piece.language)
                with (
                    nullcontext() if piece.tokens or piece.files else devices.at_work(encoder, self.progress)
                ):  # token vectors and those of images are made by one
                    self._encode(encoder, piece, done=done, total=total)
                done += len(piece.texts)

    def vectors(self, system: Entry, texts: Sequence[str], *, role: Role) -> Vectors:
        """Unit vectors, ``(n, d)`` float32, from the cache or encoded now. Raises as :meth:`prepare`."""
        space = self._space(system, role)
        return self._sound(lambda: self.prepare([Need(system, role, texts)]), lambda: self._store.get(space, texts))

    def rows(self, system: Entry, texts: Sequence[str], *, role: Role) -> Rows:
        """The same for very many texts: beyond what memory should hold, they are in a mapped file of the cache folder.

        Raises:
            StoreError: the disk has no room for the file.
        """
        space = self._space(system, role)
        prepare = partial(self.prepare, [Need(system, role, texts)])
        return self._sound(prepare, lambda: self._store.rows(space, texts, folder=self.folder))

    def token_vectors(
        self, system: Entry, texts: Sequence[str], *, role: Role, languages: Sequence[str] = ()
    ) -> TokenVectors:
        """Token vectors, float16, from the cache or encoded now. Raises as :meth:`prepare`.

        Args:
            system: the encoder.
            texts: n texts.
            role: of all of them.
            languages: ``(n,)`` of each, where the encoder has an adapter for each language.
        """
        needs = token_needs(system, role, texts, languages)
        spaces = [self._space(system, role, need.language) for need in needs]

        def read() -> list[TokenVectors]:
            stored = zip(spaces, needs, strict=True)
            return [TokenVectors(*self._store.get_tokens(space, need.texts)) for space, need in stored]

        found = TokenVectors.joined(self._sound(lambda: self.prepare(needs), read))
        return found if len(needs) < 2 else found.take(_as_asked(needs, languages))

    def _sound(self, prepare: Callable[[], None], read: Callable[[], Read]) -> Read:
        """What is stored after a preparation; where some of it was found damaged, prepared once more."""
        prepare()
        with suppress(DamageError):
            return read()
        prepare()
        return read()

    def cut(self, system: Entry, texts: Sequence[str], *, role: Role, languages: Sequence[str]) -> Cut | None:
        """Which texts with stored vectors the encoder did not read to their ends; None where that is not known."""
        if system.backend != "sentence-transformers":
            return None
        lengths, limit = self._lengths(system, texts, role, languages)
        untold = np.flatnonzero(lengths < 0)
        cut = lengths > limit
        if len(untold) and system.kind != "dense":
            return None
        if len(untold):  # vectors that were stored before lengths were
            try:
                found = tokenizers.count(system, [texts[at] for at in untold.tolist()], role=role, options=self.options)
            except SystemLoadError:  # the vectors are here and the model is not
                return None
            if found is None or found.limit is None:
                return None
            cut[untold], limit = found.truncated, found.limit
        return Cut(limit, cut) if limit else None

    def _lengths(self, system: Entry, texts: Sequence[str], role: Role, languages: Sequence[str]) -> Lengths:
        needs = token_needs(system, role, texts, languages)
        parts = [self._store.lengths(self._space(system, role, need.language), need.texts) for need in needs]
        if len(parts) == 1:
            return parts[0]
        tokens = np.concatenate([np.zeros(0, np.int64), *(part.tokens for part in parts)])
        return Lengths(tokens[_as_asked(needs, languages)], max((part.limit for part in parts), default=0))

    def cut_pairs(self, system: Entry, pairs: Sequence[Pair]) -> Cut | None:
        """Which pairs with stored scores the cross-encoder did not read to their ends; None where not known."""
        lengths, limit = self._store.lengths(self._space(system, "query"), _keys(pairs))
        return Cut(limit, lengths > limit) if limit and (lengths >= 0).all() else None

    def image_vectors(self, system: Entry, files: Sequence[Path]) -> Vectors:
        """Unit vectors of the images in files, ``(n, d)`` float32, from the cache or encoded now.

        An image is known by the bytes of its file, wherever it lies.

        Raises:
            InputError: a file is no image, damaged, or larger than is safe.
            SystemLoadError, JobCancelledError: as :meth:`prepare`.
        """
        space, need = self._image_space(system), Need(system, "query", (), files=files)
        return self._sound(
            lambda: self.prepare([need]), lambda: self._store.get(space, list(map(images.hashed, files)))
        )

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
        keys = _keys(pairs)
        distinct = dict(zip(keys, pairs, strict=True))

        def prepare() -> None:
            known = self._store.known(space, list(distinct))
            missing = {key: pair for (key, pair), there in zip(distinct.items(), known, strict=True) if not there}
            if missing:
                self._score(system, missing, space=space, step=step)

        halves = self._sound(prepare, lambda: self._store.get(space, keys))
        scores: Scores = halves.astype(np.float64).reshape(-1, 2).sum(axis=1)
        return scores

    def _score(self, system: Entry, missing: Mapping[str, Pair], *, space: str, step: str) -> None:
        scorer = self.scorer(system)
        with devices.at_work(scorer, self.progress):
            encoding.score(
                scorer,
                missing,
                pending=Pending(self._store, space),
                told=lambda done: self.progress(step, done, len(missing)),
                count=partial(self._count, scorer, system),
            )

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
        if known is None:
            found = aside(found, self.folder)
        with self._lock:
            self._rankings[key] = found
            self._rankings.move_to_end(key)
            while len(self._rankings) > KEPT_RANKINGS:
                self._rankings.popitem(last=False)
        return found

    def _key(self, system: Entry) -> str:
        return fingerprint(system, max_length=self.options.max_length, dtype=self.options.dtype)

    def _space(self, system: Entry, role: Role, language: str = "") -> str:
        """The key of the embedding space: everything that decides a vector except the text."""
        effective = limited(system, self.options.max_length, self.options.dtype)
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
        if effective.kind == "late-interaction":
            facts |= {name: getattr(effective, name) for name in ("kind", "query_length", "attend_to_masks")}
            facts |= {"marker": getattr(effective, f"{role}_marker"), "skip_punctuation": effective.skip_punctuation}
            facts["language"] = language
        if effective.code:
            facts["code"] = f"{effective.code}@{effective.code_revision}"
        return json.dumps(facts, sort_keys=True, ensure_ascii=False)

    def _image_space(self, system: Entry) -> str:
        """The same of images: neither a prompt nor a limit in tokens decides a vector, and no role does."""
        facts = json.loads(self._space(system, "query"))
        for key in ("role", "prompt", "max_length", "pooling"):
            facts.pop(key)
        return json.dumps({**facts, "item": "image"}, sort_keys=True, ensure_ascii=False)

    def _hashed(self, files: Sequence[Path]) -> dict[str, Path]:
        """Files of images by what is in them."""
        found: dict[str, Path] = {}
        for place, file in enumerate(files):
            if not place % encoding.CHUNK_TEXTS:
                self.progress("look at the images", place, len(files))
            found.setdefault(images.hashed(file), file)
        return found

    def _missing(self, needs: Sequence[Need]) -> list[Piece]:
        """The texts to encode, each in one piece only: with its tokens if any need wants them; and the images."""
        pieces: list[Piece] = []
        claimed: dict[str, set[str]] = {}
        for need in sorted(needs, key=lambda need: not need.tokens):
            files = self._hashed(need.files)
            space = self._image_space(need.entry) if files else self._space(need.entry, need.role, need.language)
            taken = claimed.setdefault(space, set())
            texts = [text for text in dict.fromkeys(files or need.texts) if text not in taken]
            taken.update(texts)
            known = self._store.known(space, texts)
            if need.tokens:
                known &= self._store.known_tokens(space, texts)
            missing = [text for text, there in zip(texts, known, strict=True) if not there]
            if missing:
                absent = {key: files[key] for key in missing} if files else {}
                pieces.append(Piece(space, need.entry, need.role, missing, need.tokens, need.language, absent))
        return pieces

    def _encode(self, encoder: Encoder, piece: Piece, *, done: int, total: int) -> None:
        step = f"encode {piece.entry.short_title}"
        encoding.encode(
            encoder,
            piece,
            pending=Pending(self._store, piece.space),
            told=lambda here: self.progress(step, done + here, total),
            count=partial(self._count, encoder, piece.entry, seen=bool(piece.files)),
        )

    def _count(
        self, encoder: Encoder | Scorer, system: Entry, texts: int, seconds: float, *, seen: bool = False
    ) -> None:
        """Count what was encoded: texts, or where ``seen`` images."""
        read, looked = (0, texts) if seen else (texts, 0)
        with self._lock:
            before = self.encoded(system)
            self._facts[self._key(system)] = EncodedFacts(
                texts=before.texts + read,
                seconds=before.seconds + (seconds if read else 0),
                images=before.images + looked,
                image_seconds=before.image_seconds + (seconds if looked else 0),
                device=encoder.device,
                dtype=encoder.entry.dtype,
                libraries=encoder.libraries,
            )


def _keys(pairs: Sequence[Pair]) -> list[str]:
    """Pairs as the texts that their scores are stored by."""
    return [json.dumps(pair, ensure_ascii=False) for pair in pairs]


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
    for named in (corpus.images, questions.images):
        digest.update(repr(sorted(named.items())).encode())
    for position, documents in sorted(questions.excluded.items()):
        digest.update(position.to_bytes(8) + np.sort(documents).astype(np.int64).tobytes())
    return digest.hexdigest()
