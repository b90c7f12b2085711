"""One live query: a system opened on a corpus once, then asked again and again, with its time split."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.model import Corpus, Questions, Ranking
from analysis.systems.bm25 import BM25, Lexical, tokeniser
from analysis.systems.catalogue import Entry
from analysis.systems.dense import Dense
from analysis.systems.encoders import Encoder
from analysis.systems.fusion import Fusion, fuse
from analysis.systems.index import Index
from analysis.systems.late_interaction import LateInteraction, maxsim, search
from analysis.systems.rerank import TwoStage, merge
from analysis.systems.why import Share, of_tokens, of_wholes
from analysis.systems.workbench import System, TokenVectors, Workbench

NOTHING = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Answer:
    """The whole ranking of one query.

    Attributes:
        documents: ``(n,)`` int32 positions, best first; a lexical system leaves out what shares no token.
        scores: ``(n,)`` float64.
        encode_seconds: spent on turning the text into vectors; 0 for lexical systems.
        search_seconds: spent on everything after that.
    """

    documents: NDArray[np.int32]
    scores: NDArray[np.float64]
    encode_seconds: float
    search_seconds: float


class Live(Protocol):
    """A system opened on a corpus."""

    def ask(self, text: str, *, excluded: NDArray[np.int32] = NOTHING) -> Answer:
        """Rank the whole corpus for one text; excluded documents leave the ranking."""
        ...

    def tokens(self, text: str) -> list[str]:
        """What the system sees of a text."""
        ...

    def why(self, text: str, document: int) -> tuple[Share, ...]:
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
        return _LiveDense(system.entry, corpus, workbench)
    if isinstance(system, Fusion):
        return _LiveFusion(system, corpus, workbench)
    if isinstance(system, LateInteraction):
        return _LiveMaxSim(system, corpus, workbench)
    if isinstance(system, TwoStage):
        return _LiveTwoStage(system, corpus, workbench)
    raise SystemLoadError(f"{system.entry.name}: a system of kind {system.entry.kind} cannot be asked live")


class _LiveLexical:
    def __init__(self, entry: Entry, corpus: Corpus) -> None:
        self._index = Lexical(corpus.texts, system=entry, tie_order=corpus.tie_order)
        self._depth = len(corpus)
        self._split = tokeniser(entry)

    def ask(self, text: str, *, excluded: NDArray[np.int32] = NOTHING) -> Answer:
        began = time.perf_counter()
        documents, scores = self._index.one(text, depth=self._depth, excluded=excluded)
        return Answer(documents, scores, 0.0, time.perf_counter() - began)

    def tokens(self, text: str) -> list[str]:
        return self._split(text)

    def why(self, text: str, document: int) -> tuple[Share, ...]:
        return tuple(Share(token, token, value) for token, value in self._index.shares(text, document))


class _LiveDense:
    def __init__(self, entry: Entry, corpus: Corpus, workbench: Workbench) -> None:
        self._vectors = workbench.vectors(entry, corpus.texts, role="document")
        self._index = Index(self._vectors, tie_order=corpus.tie_order)
        self._encoder = workbench.encoder(entry)
        self._depth = len(corpus)

    def ask(self, text: str, *, excluded: NDArray[np.int32] = NOTHING) -> Answer:
        began = time.perf_counter()
        vector = self._encoder.encode([text], role="query")[0]
        encoded = time.perf_counter()
        documents, scores = self._index.one(vector, depth=self._depth, excluded=excluded)
        return Answer(documents, scores, encoded - began, time.perf_counter() - encoded)

    def tokens(self, text: str) -> list[str]:
        return self._encoder.tokens(text, role="query")

    def why(self, text: str, document: int) -> tuple[Share, ...]:
        return of_wholes(text, self._vectors[document], encoder=self._encoder)


class _LiveMaxSim:
    def __init__(self, system: LateInteraction, corpus: Corpus, workbench: Workbench) -> None:
        workbench.prepare(system.needs(corpus, _no_questions()))  # refuses a corpus that is too large
        texts = list(dict.fromkeys(corpus.texts))
        place = {text: position for position, text in enumerate(texts)}
        self._group = np.fromiter((place[text] for text in corpus.texts), dtype=np.int64, count=len(corpus))
        self._documents = workbench.token_vectors(system.encoder, texts, role="document")
        self._encoder = workbench.encoder(system.encoder)
        self._tie_order = corpus.tie_order
        self._texts = corpus.texts

    def ask(self, text: str, *, excluded: NDArray[np.int32] = NOTHING) -> Answer:
        began = time.perf_counter()
        query = _query_tokens(self._encoder.encode_tokens([text], role="query")[1])
        encoded = time.perf_counter()
        found = search(
            self._documents,
            query,
            group=self._group,
            depth=len(self._group),
            tie_order=self._tie_order,
            excluded={0: excluded},
        )
        return Answer(found.document, found.score, encoded - began, time.perf_counter() - encoded)

    def tokens(self, text: str) -> list[str]:
        return self._encoder.tokens(text, role="query")

    def why(self, text: str, document: int) -> tuple[Share, ...]:
        return _token_shares(self._encoder, text, self._texts[document])


class _LiveFusion:
    def __init__(self, system: Fusion, corpus: Corpus, workbench: Workbench) -> None:
        self._parts = [open_live(part, corpus, workbench=workbench) for part in system.parts]
        self._k = system.entry.k or 60
        self._tie_order = corpus.tie_order

    def ask(self, text: str, *, excluded: NDArray[np.int32] = NOTHING) -> Answer:
        answers = [part.ask(text, excluded=excluded) for part in self._parts]
        began = time.perf_counter()
        fused = fuse(
            [_one(answer) for answer in answers], k=self._k, depth=len(self._tie_order), tie_order=self._tie_order
        )
        searching = time.perf_counter() - began + sum(answer.search_seconds for answer in answers)
        return Answer(fused.document, fused.score, sum(answer.encode_seconds for answer in answers), searching)

    def tokens(self, text: str) -> list[str]:
        return self._parts[-1].tokens(text)

    def why(self, text: str, document: int) -> tuple[Share, ...]:
        return ()  # its score is made of ranks: the answers of its parts say why


class _LiveTwoStage:
    def __init__(self, system: TwoStage, corpus: Corpus, workbench: Workbench) -> None:
        self._first = open_live(system.first, corpus, workbench=workbench)
        self._second = system.second
        self._pool = system.entry.pool or 0
        self._corpus = corpus
        self._workbench = workbench
        self._encoder = workbench.encoder(system.second.encoder)

    def ask(self, text: str, *, excluded: NDArray[np.int32] = NOTHING) -> Answer:
        first = self._first.ask(text, excluded=excluded)
        began = time.perf_counter()
        query = _query_tokens(self._encoder.encode_tokens([text], role="query")[1])
        encoded = time.perf_counter()
        pool = first.documents[: self._pool]
        texts = [self._corpus.texts[position] for position in pool]
        documents = self._workbench.token_vectors(self._second.encoder, texts, role="document")
        scores = maxsim(query.tokens, documents).astype(np.float64)
        second = np.full(len(first.documents), np.nan)
        second[: len(pool)] = np.where(np.isneginf(scores), np.nan, scores)
        ranking = merge(_one(first), second=second, depth=len(second), tie_order=self._corpus.tie_order).ranking
        encoding = first.encode_seconds + encoded - began
        return Answer(ranking.document, ranking.score, encoding, first.search_seconds + time.perf_counter() - encoded)

    def tokens(self, text: str) -> list[str]:
        return self._first.tokens(text)

    def why(self, text: str, document: int) -> tuple[Share, ...]:
        return _token_shares(self._encoder, text, self._corpus.texts[document])


def _token_shares(encoder: Encoder, query: str, document: str) -> tuple[Share, ...]:
    (asked,) = encoder.encode_tokens([query], role="query")[1]
    (answered,) = encoder.encode_tokens([document], role="document")[1]
    tokens = encoder.tokens(query, role="query"), encoder.tokens(document, role="document")
    return of_tokens(*tokens, vectors=(asked, answered))


def _query_tokens(matrices: list[NDArray[np.float16]]) -> TokenVectors:
    return TokenVectors(np.array([0, len(matrices[0])], dtype=np.int64), matrices[0])


def _one(answer: Answer) -> Ranking:
    return Ranking(np.zeros(len(answer.documents), np.int32), answer.documents, answer.scores, len(answer.documents))


def _no_questions() -> Questions:
    return Questions((), (), ())
