"""One live query: a system opened on a corpus once, then asked again and again, with its time split."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.model import Corpus, Questions, Ranking
from analysis.systems.bm25 import BM25, Lexical, tokeniser
from analysis.systems.dense import Dense
from analysis.systems.encoders import Encoder
from analysis.systems.entry import Entry
from analysis.systems.fusion import Fusion, fuse
from analysis.systems.index import Index
from analysis.systems.late_interaction import Distinct, LateInteraction, maxsim, search
from analysis.systems.multi_vector import in_language
from analysis.systems.rerank import CrossEncoder, TwoStage, merge
from analysis.systems.why import Share, of_tokens, of_wholes
from analysis.systems.workbench import System, TokenVectors, Workbench

NOTHING = np.zeros(0, dtype=np.int32)


WHOLE = 2**31 - 1
"""A depth that cuts nothing off."""


@dataclass(frozen=True)
class Wanted:
    """What is wanted of the ranking of the whole corpus.

    Attributes:
        depth: most documents returned.
        sought: ``(n,)`` int32 positions whose ranks are wanted, however far down they stand.
        excluded: documents that leave the ranking.
        language: of the text; empty where it is not known. It counts for models with an adapter for each language.
    """

    depth: int = WHOLE
    sought: NDArray[np.int32] = field(default_factory=lambda: NOTHING)
    excluded: NDArray[np.int32] = field(default_factory=lambda: NOTHING)
    language: str = ""

    @property
    def whole(self) -> Wanted:
        """The whole ranking, for what is composed of it."""
        return Wanted(excluded=self.excluded, language=self.language)


@dataclass(frozen=True)
class Answer:
    """What one query found in the whole corpus.

    Attributes:
        documents: ``(n,)`` int32 positions, best first; a lexical system leaves out what shares no token.
        scores: ``(n,)`` float64.
        ranks: ``(s,)`` int64, of the documents sought; 0 for one that is not in the ranking.
        encode_seconds: spent on turning the text into vectors; 0 for lexical systems.
        search_seconds: spent on everything after that.
    """

    documents: NDArray[np.int32]
    scores: NDArray[np.float64]
    ranks: NDArray[np.int64]
    encode_seconds: float
    search_seconds: float


EVERYTHING = Wanted()


class Live(Protocol):
    """A system opened on a corpus."""

    @property
    def nbytes(self) -> int:
        """Memory that it keeps of the corpus, about."""
        ...

    def ask(self, text: str, wanted: Wanted = EVERYTHING) -> Answer:
        """Rank the whole corpus for one text.

        Raises:
            SystemRefusedError: the model does not read the language of the text.
        """
        ...

    def tokens(self, text: str) -> list[str]:
        """What the system sees of a text."""
        ...

    def why(self, text: str, document: int, *, language: str = "") -> tuple[Share, ...]:
        """What each part of a text adds to the score of the document at this position; empty where that is not told."""
        ...


def open_live(system: System, corpus: Corpus, *, workbench: Workbench) -> Live:
    """Open a system on a corpus: its documents are encoded now, unless they are cached.

    Raises:
        SystemRefusedError: the corpus is too large for it.
        SystemLoadError: an encoder does not load or fails its check.
    """
    if isinstance(system, BM25):
        return _LiveLexical(system.entry, corpus)
    if isinstance(system, Dense):
        return _LiveDense(system, corpus, workbench)
    if isinstance(system, Fusion):
        return _LiveFusion(system, corpus, workbench)
    if isinstance(system, LateInteraction):
        return _LiveMaxSim(system, corpus, workbench)
    if isinstance(system, TwoStage) and isinstance(system.second, CrossEncoder):
        return _LiveReranked(system, system.second, corpus, workbench)
    if isinstance(system, TwoStage) and isinstance(system.second, LateInteraction):
        return _LiveTwoStage(system, system.second, corpus, workbench)
    raise SystemLoadError(f"{system.entry.name}: a system of kind {system.entry.kind} cannot be asked live")


class _LiveLexical:
    def __init__(self, entry: Entry, corpus: Corpus) -> None:
        self._index = Lexical(corpus.texts, system=entry, tie_order=corpus.tie_order)
        self._depth = len(corpus)
        self._split = tokeniser(entry)

    @property
    def nbytes(self) -> int:
        return self._index.nbytes

    def ask(self, text: str, wanted: Wanted = EVERYTHING) -> Answer:
        began = time.perf_counter()
        documents, scores = self._index.one(text, depth=self._depth, excluded=wanted.excluded)
        return _cut(documents, scores, wanted, encode=0.0, began=began)

    def tokens(self, text: str) -> list[str]:
        return self._split(text)

    def why(self, text: str, document: int, *, language: str = "") -> tuple[Share, ...]:
        return tuple(Share(token, token, value) for token, value in self._index.shares(text, document))


class _LiveDense:
    def __init__(self, system: Dense, corpus: Corpus, workbench: Workbench) -> None:
        self._encoder = workbench.encoder(system.entry)
        self._index = Index(system.documents(corpus, workbench=workbench), tie_order=corpus.tie_order)

    @property
    def nbytes(self) -> int:
        return self._index.nbytes

    def ask(self, text: str, wanted: Wanted = EVERYTHING) -> Answer:
        began = time.perf_counter()
        vector = self._encoder.encode([text], role="query")[0]
        encoded = time.perf_counter()
        documents, scores, ranks = self._index.wanted(
            vector, depth=wanted.depth, sought=wanted.sought, excluded=wanted.excluded
        )
        return Answer(documents, scores, ranks, encoded - began, time.perf_counter() - encoded)

    def tokens(self, text: str) -> list[str]:
        return self._encoder.tokens(text, role="query")

    def why(self, text: str, document: int, *, language: str = "") -> tuple[Share, ...]:
        return of_wholes(text, self._index.vector(document), encoder=self._encoder)


class _LiveMaxSim:
    def __init__(self, system: LateInteraction, corpus: Corpus, workbench: Workbench) -> None:
        needs = system.needs(corpus, _no_questions())  # refuses a corpus that is too large
        self._encoder = workbench.encoder(system.encoder)
        workbench.prepare(needs)
        distinct = Distinct.of(system.encoder, corpus.texts, corpus.languages)
        self._documents, self._group = distinct.vectors(system.encoder, workbench), distinct.group
        self._corpus = corpus

    @property
    def nbytes(self) -> int:
        return self._documents.tokens.nbytes

    def ask(self, text: str, wanted: Wanted = EVERYTHING) -> Answer:
        began = time.perf_counter()
        asked = in_language(self._encoder, wanted.language)
        query = _query_tokens(asked.encode_tokens([text], role="query")[1])
        encoded = time.perf_counter()
        found = search(
            self._documents,
            query,
            group=self._group,
            depth=len(self._group),
            tie_order=self._corpus.tie_order,
            excluded={0: wanted.excluded},
        )
        return _cut(found.document, found.score, wanted, encode=encoded - began, began=encoded)

    def tokens(self, text: str) -> list[str]:
        return self._encoder.tokens(text, role="query")

    def why(self, text: str, document: int, *, language: str = "") -> tuple[Share, ...]:
        return _token_shares(self._encoder, text, self._corpus, document, language=language)


class _LiveFusion:
    def __init__(self, system: Fusion, corpus: Corpus, workbench: Workbench) -> None:
        self._parts = [open_live(part, corpus, workbench=workbench) for part in system.parts]
        self._k = system.entry.k or 60
        self._tie_order = corpus.tie_order

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._parts)

    def ask(self, text: str, wanted: Wanted = EVERYTHING) -> Answer:
        answers = [part.ask(text, wanted.whole) for part in self._parts]
        began = time.perf_counter() - sum(answer.search_seconds for answer in answers)
        fused = fuse(
            [_one(answer) for answer in answers], k=self._k, depth=len(self._tie_order), tie_order=self._tie_order
        )
        encode = sum(answer.encode_seconds for answer in answers)
        return _cut(fused.document, fused.score, wanted, encode=encode, began=began)

    def tokens(self, text: str) -> list[str]:
        return self._parts[-1].tokens(text)

    def why(self, text: str, document: int, *, language: str = "") -> tuple[Share, ...]:
        return ()  # its score is made of ranks: the answers of its parts say why


class _LiveTwoStage:
    def __init__(self, system: TwoStage, second: LateInteraction, corpus: Corpus, workbench: Workbench) -> None:
        self._first = open_live(system.first, corpus, workbench=workbench)
        self._second = second
        self._pool = system.entry.pool or 0
        self._corpus = corpus
        self._workbench = workbench
        second.check_languages(corpus, _no_questions())
        self._encoder = workbench.encoder(second.encoder)

    @property
    def nbytes(self) -> int:
        return self._first.nbytes

    def ask(self, text: str, wanted: Wanted = EVERYTHING) -> Answer:
        first = self._first.ask(text, wanted.whole)
        began = time.perf_counter()
        asked = in_language(self._encoder, wanted.language)
        query = _query_tokens(asked.encode_tokens([text], role="query")[1])
        encoded = time.perf_counter()
        pool = first.documents[: self._pool]
        columns = (self._corpus.texts, self._corpus.languages)
        texts, languages = ([column[place] for place in pool] for column in columns)
        documents = self._workbench.token_vectors(self._second.encoder, texts, role="document", languages=languages)
        scores = maxsim(query.tokens, documents).astype(np.float64)
        second = np.full(len(first.documents), np.nan)
        second[: len(pool)] = np.where(np.isneginf(scores), np.nan, scores)
        ranking = merge(_one(first), second=second, depth=len(second), tie_order=self._corpus.tie_order).ranking
        encode = first.encode_seconds + encoded - began
        return _cut(ranking.document, ranking.score, wanted, encode=encode, began=encoded - first.search_seconds)

    def tokens(self, text: str) -> list[str]:
        return self._first.tokens(text)

    def why(self, text: str, document: int, *, language: str = "") -> tuple[Share, ...]:
        return _token_shares(self._encoder, text, self._corpus, document, language=language)


class _LiveReranked:
    def __init__(self, system: TwoStage, second: CrossEncoder, corpus: Corpus, workbench: Workbench) -> None:
        self._first = open_live(system.first, corpus, workbench=workbench)
        self._scorer = workbench.scorer(second.entry)
        self._pool = system.entry.pool or 0
        self._corpus = corpus

    @property
    def nbytes(self) -> int:
        return self._first.nbytes

    def ask(self, text: str, wanted: Wanted = EVERYTHING) -> Answer:
        first = self._first.ask(text, wanted.whole)
        began = time.perf_counter()
        pool = first.documents[: self._pool]
        second = np.full(len(first.documents), np.nan)
        if len(pool):
            second[: len(pool)] = self._scorer.score([(text, self._corpus.texts[position]) for position in pool])
        ranking = merge(_one(first), second=second, depth=len(second), tie_order=self._corpus.tie_order).ranking
        found = began - first.search_seconds
        return _cut(ranking.document, ranking.score, wanted, encode=first.encode_seconds, began=found)

    def tokens(self, text: str) -> list[str]:
        return self._first.tokens(text)

    def why(self, text: str, document: int, *, language: str = "") -> tuple[Share, ...]:
        return ()  # it reads the pair as a whole


def _cut(
    documents: NDArray[np.int32], scores: NDArray[np.float64], wanted: Wanted, *, encode: float, began: float
) -> Answer:
    """What is wanted of a whole ranking, whose search began at that moment."""
    place = np.zeros(max(documents.max(initial=-1), wanted.sought.max(initial=-1)) + 1, dtype=np.int64)
    place[documents] = np.arange(1, len(documents) + 1)
    ranks = place[wanted.sought]
    searching = time.perf_counter() - began
    return Answer(documents[: wanted.depth], scores[: wanted.depth], ranks, encode, searching)


def _token_shares(encoder: Encoder, query: str, corpus: Corpus, place: int, *, language: str) -> tuple[Share, ...]:
    document = corpus.texts[place]
    (asked,) = in_language(encoder, language).encode_tokens([query], role="query")[1]
    (answered,) = in_language(encoder, corpus.languages[place]).encode_tokens([document], role="document")[1]
    tokens = encoder.tokens(query, role="query"), encoder.tokens(document, role="document")
    return of_tokens(*tokens, vectors=(asked, answered))


def _query_tokens(matrices: list[NDArray[np.float16]]) -> TokenVectors:
    return TokenVectors(np.array([0, len(matrices[0])], dtype=np.int64), matrices[0])


def _one(answer: Answer) -> Ranking:
    return Ranking(np.zeros(len(answer.documents), np.int32), answer.documents, answer.scores, len(answer.documents))


def _no_questions() -> Questions:
    return Questions((), (), ())
