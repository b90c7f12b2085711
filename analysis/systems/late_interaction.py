"""Late interaction: a score summed over the query's tokens, each taking its best match in the document (MaxSim)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from analysis.errors import SystemRefusedError
from analysis.model import Corpus, Progress, Questions, Ranking, silent
from analysis.systems.encoders import Role
from analysis.systems.entry import Entry
from analysis.systems.index import Excluded, top
from analysis.systems.lists import joined
from analysis.systems.reading import refuse_unread
from analysis.systems.workbench import Need, TokenVectors, Workbench, token_needs

LIMIT = 20_000
"""Documents beyond which comparing every token with every token takes too long to do unasked."""

QUERY_TOKENS = 2048
"""Query tokens compared at once."""

CHUNK_VALUES = 1_000_000
"""Similarities held at once, 4 MB: more do not fit the processor's cache."""


_ALONE = threading.Lock()


class LateInteraction:
    """MaxSim over the token vectors of one encoder.

    Args:
        system: the catalogue's entry.
        encoder: the dense system whose token vectors are compared, or the system itself where it was trained for it.
        force: rank corpora beyond the limit too.
    """

    def __init__(self, system: Entry, *, encoder: Entry, force: bool = False) -> None:
        self.entry = system
        self.encoder = encoder
        self.force = force

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """Token vectors of all documents and questions.

        Raises:
            SystemRefusedError: the corpus is beyond the limit, or texts are in a language that the model does not read.
        """
        self._check_size(corpus)
        self.check_languages(corpus, questions)
        return [*self.tokens_of("document", corpus), *self.tokens_of("query", questions)]

    def tokens_of(self, role: Role, texts: Corpus | Questions) -> list[Need]:
        """Token vectors of all documents, or of all questions."""
        return token_needs(self.encoder, role, texts.texts, texts.languages)

    def check_languages(self, corpus: Corpus, questions: Questions) -> None:
        """Raise SystemRefusedError where texts are in a language that the model does not read."""
        refuse_unread(self.encoder, {*corpus.languages, *questions.languages})

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """The ``depth`` documents of highest MaxSim; see :class:`~analysis.systems.workbench.System`."""
        workbench.prepare(self.needs(corpus, questions))
        distinct = Distinct.of(self.encoder, corpus.texts, corpus.languages)
        return search(
            distinct.vectors(self.encoder, workbench),
            workbench.token_vectors(self.encoder, questions.texts, role="query", languages=questions.languages),
            group=distinct.group,
            depth=depth,
            tie_order=corpus.tie_order,
            excluded=questions.excluded,
            threads=workbench.options.cores,
            progress=workbench.progress,
            step=f"search {self.entry.short_title}",
        )

    def _check_size(self, corpus: Corpus) -> None:
        if len(corpus) > LIMIT and not self.force:
            raise SystemRefusedError(
                f"{self.entry.name} compares every token with every token and declines {len(corpus):,} documents "
                f"(limit {LIMIT:,}); --force runs it all the same"
            )


@dataclass(frozen=True)
class Distinct:
    """Documents that an encoder tells apart: by text, and by language too where it has an adapter for each."""

    texts: tuple[str, ...]  # (U,)
    languages: tuple[str, ...]  # (U,)
    group: NDArray[np.int64]  # (M,) which of them each document is

    @classmethod
    def of(cls, encoder: Entry, texts: Sequence[str], languages: Sequence[str]) -> Distinct:
        """The distinct ones of M documents, in the order of their first."""
        keys = list(zip(texts, languages if encoder.adapters else [""] * len(texts), strict=True))
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        group = np.fromiter((places[key] for key in keys), dtype=np.int64, count=len(keys))
        return cls(tuple(text for text, _ in places), tuple(language for _, language in places), group)

    def vectors(self, encoder: Entry, workbench: Workbench) -> TokenVectors:
        """Their token vectors."""
        return workbench.token_vectors(encoder, self.texts, role="document", languages=self.languages)


def search(
    documents: TokenVectors,
    queries: TokenVectors,
    *,
    group: NDArray[np.int64],
    depth: int,
    tie_order: NDArray[np.int32],
    excluded: Excluded | None = None,
    threads: int = 1,
    progress: Progress = silent,
    step: str = "search",
) -> Ranking:
    """The ``depth`` best documents of each query. Texts without a token find nothing and are not found.

    Args:
        documents: token vectors of U distinct texts.
        queries: token vectors of Q queries.
        group: ``(M,)`` the text of each document; documents of equal text tie exactly.
        depth: most documents a query.
        tie_order: ``(M,)``; of equal scores the smaller comes first.
        excluded: query position -> documents that leave its ranking before it is cut.
        threads: each multiplies and takes the maximum of its own documents; NumPy alone takes maxima on one core.
        progress: told the number of queries done, between batches.
        step: what progress calls this.
    """
    without = excluded or {}
    blocks = _blocks(documents)
    made: list[Ranking] = []
    with workers(threads) as pool:
        for batch in _query_batches(queries.lengths):
            progress(step, int(batch[0]), len(queries))
            scores = _scores(blocks, queries.take(batch), count=len(documents), pool=pool)
            for position, row in zip(batch, scores, strict=True):
                everyone = row[group]
                best = top(everyone, depth=depth, tie_order=tie_order, excluded=without.get(int(position)))
                query = np.full(len(best), position, dtype=np.int32)
                made.append(Ranking(query, best, everyone[best].astype(np.float64), depth))
    progress(step, len(queries), len(queries))
    return joined(made, depth=depth)


@contextmanager
def workers(threads: int) -> Iterator[Executor]:
    """Threads that multiply matrices on one core each; sessions of one server take turns, as the limit is global."""
    with _ALONE, threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        yield pool


def maxsim(query: NDArray[np.float16], documents: TokenVectors) -> NDArray[np.float32]:
    """MaxSim of one query with each of a few documents (Khattab & Zaharia 2020, equation 3).

    Σ over the query's tokens of the largest inner product with a token of the document.

    Args:
        query: ``(t, d)`` unit vectors of the query's tokens.
        documents: n documents.

    Returns:
        ``(n,)`` scores, at most t; -inf for a document without tokens, and for every document if the query has none.
    """
    scores = np.full(len(documents), -np.inf, dtype=np.float32)
    filled = np.flatnonzero(documents.lengths > 0)
    if len(filled) and len(query):
        similar = documents.tokens.astype(np.float32) @ query.astype(np.float32).T
        scores[filled] = np.maximum.reduceat(similar, documents.offsets[:-1][filled], axis=0).sum(axis=1)
    return scores


@dataclass(frozen=True)
class _Block:
    """Documents of one length, so that the best match is a maximum along an axis: faster than over ragged rows."""

    positions: NDArray[np.int64]  # (n,) of the documents
    tokens: NDArray[np.float16]  # (n, length, d)

    def cut(self, tokens: int) -> Iterator[_Block]:
        """Blocks of about this many tokens."""
        rows = max(1, tokens // self.tokens.shape[1])
        for start in range(0, len(self.positions), rows):
            yield _Block(self.positions[start : start + rows], self.tokens[start : start + rows])


def _blocks(documents: TokenVectors) -> list[_Block]:
    lengths = documents.lengths
    blocks = []
    for length in np.unique(lengths[lengths > 0]):
        positions = np.flatnonzero(lengths == length)
        rows = documents.offsets[:-1][positions][:, None] + np.arange(length)
        blocks.append(_Block(positions, documents.tokens[rows]))
    return blocks


def _query_batches(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Runs of queries that have at most QUERY_TOKENS tokens together; a longer query is a batch of its own."""
    start = 0
    while start < len(lengths):
        fitting = int(np.searchsorted(np.cumsum(lengths[start:]), QUERY_TOKENS, side="right"))
        stop = start + max(1, fitting)
        yield np.arange(start, min(stop, len(lengths)))
        start = stop


def _scores(blocks: Sequence[_Block], queries: TokenVectors, *, count: int, pool: Executor) -> NDArray[np.float32]:
    """``(Q, count)`` MaxSim of every query with every document; -inf where either has no tokens."""
    scores = np.full((len(queries), count), -np.inf, dtype=np.float32)
    asking = np.flatnonzero(queries.lengths > 0)
    if not len(asking):
        return scores
    starts = queries.offsets[:-1][asking]
    tokens = queries.tokens.astype(np.float32).T

    def fill(part: _Block) -> None:
        documents, length, width = part.tokens.shape
        similar = part.tokens.astype(np.float32).reshape(-1, width) @ tokens  # (n · length, query tokens)
        best = similar.reshape(documents, length, -1).max(axis=1)
        total = np.add.reduceat(best, starts, axis=1)  # (n, queries)
        scores[np.ix_(asking, part.positions)] = total.T

    parts = (part for block in blocks for part in block.cut(CHUNK_VALUES // tokens.shape[1]))
    list(pool.map(fill, parts))  # reading the results raises what a thread raised
    return scores
