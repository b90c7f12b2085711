"""Exact search, and the one order in which documents of equal score stand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.model import Progress, Ranking, silent

Excluded = Mapping[int, NDArray[np.int32]]

EXACT_LIMIT = 1_000_000
"""Documents up to which search is exact; beyond, see :mod:`analysis.systems.approximate`."""

BATCH = 256
"""Queries searched between two progress reports."""


class Index:
    """The vectors of a corpus, ready for exact inner-product search.

    Equal vectors are searched once and tie exactly: a product of matrices may give two equal rows scores that differ
    in the last bit, depending on where they stand.

    Args:
        documents: ``(M, d)`` float32 unit vectors.
        tie_order: ``(M,)`` int32; of equal scores the smaller comes first. By default corpus order.
        threads: of one search; by default every core.
    """

    def __init__(
        self, documents: NDArray[np.float32], *, tie_order: NDArray[np.int32] | None = None, threads: int | None = None
    ) -> None:
        count = len(documents)
        self.tie_order = np.arange(count, dtype=np.int32) if tie_order is None else tie_order
        first, self._group = distinct(documents)
        self._vectors = documents if len(first) == count else documents[first]
        self._members = np.lexsort((self.tie_order, self._group))  # documents by group, then tie order
        self._sizes = np.bincount(self._group, minlength=len(first))
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._threads = threads

    def search(
        self,
        queries: NDArray[np.float32],
        *,
        depth: int,
        excluded: Excluded | None = None,
        progress: Progress = silent,
        step: str = "search",
    ) -> Ranking:
        """The ``depth`` nearest documents of each query.

        Args:
            queries: ``(Q, d)`` float32 unit vectors.
            depth: most documents a query, at least 1.
            excluded: query position -> documents that leave its ranking before it is cut.
            progress: told the number of queries done, between batches.
            step: what progress calls this.
        """
        without = excluded or {}
        hits: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
        engine = self._engine() if len(self._vectors) else None
        for start in range(0, len(queries) if engine else 0, BATCH):
            progress(step, start, len(queries))
            hits += self._batch(engine, queries[start : start + BATCH], start=start, depth=depth, excluded=without)
        progress(step, len(queries), len(queries))
        return ranking(hits, depth=depth)

    def one(
        self, query: NDArray[np.float32], *, depth: int, excluded: NDArray[np.int32] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The ``depth`` nearest documents of a single vector ``(d,)``: positions and scores, best first."""
        best, scores, _ = self.wanted(query, depth=depth, excluded=excluded)
        return best, scores

    def wanted(
        self,
        query: NDArray[np.float32],
        *,
        depth: int,
        sought: NDArray[np.int32] | None = None,
        excluded: NDArray[np.int32] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
        """The same, and the ranks of the documents sought among all, which are counted: nothing else is sorted."""
        scores = (self._vectors @ query).astype(np.float64)[self._group]
        best = top(scores, depth=depth, tie_order=self.tie_order, excluded=excluded)
        places = () if sought is None else sought
        return best, scores[best], ranks(scores, places, tie_order=self.tie_order, excluded=excluded)

    def vector(self, document: int) -> NDArray[np.float32]:
        """The vector of the document at this position, ``(d,)``."""
        found: NDArray[np.float32] = self._vectors[self._group[document]]
        return found

    @property
    def nbytes(self) -> int:
        """Memory that the vectors take."""
        return self._vectors.nbytes

    def _engine(self) -> Any:
        import faiss

        if self._threads:
            faiss.omp_set_num_threads(self._threads)
        engine = faiss.IndexFlatIP(self._vectors.shape[1])
        engine.add(np.ascontiguousarray(self._vectors, dtype=np.float32))
        return engine

    def _batch(
        self, engine: Any, queries: NDArray[np.float32], *, start: int, depth: int, excluded: Excluded
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
        """Query, document and score of each hit, sorted by query and rank; ambiguous queries come after the others.

        The engine returns enough groups to fill ``depth`` after the excluded have left, and one more. Where the score
        at the cut is that of the last group returned, a group left out might tie: such a query is scored in full.
        """
        gone = [excluded.get(start + position, np.zeros(0, np.int32)) for position in range(len(queries))]
        reach = min(len(self._vectors), depth + 1 + max(map(len, gone), default=0))
        scores, groups = engine.search(np.ascontiguousarray(queries, dtype=np.float32), reach)
        query, document, score = self._expanded(scores.astype(np.float64), groups)
        kept = ~_are_excluded(query, document, gone=gone, count=len(self.tie_order))
        kept[kept] = _ranks(query[kept]) <= depth
        query, document, score = query[kept], document[kept], score[kept]
        ambiguous = np.zeros(len(queries), dtype=bool)
        if reach < len(self._vectors):
            ambiguous[query[score <= scores[query, -1]]] = True
        clear = ~ambiguous[query]
        yield query[clear] + start, document[clear], score[clear]
        for position in np.flatnonzero(ambiguous):
            best, exact = self.one(queries[position], depth=depth, excluded=gone[position])
            yield np.full(len(best), position + start, dtype=np.int64), best.astype(np.int64), exact

    def _expanded(
        self, scores: NDArray[np.float64], groups: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Documents instead of groups, in exact order: score down, then tie order."""
        sizes = self._sizes[groups]
        query = np.repeat(np.arange(len(groups)), sizes.sum(axis=1))
        flat = sizes.ravel()
        within = np.arange(flat.sum()) - np.repeat(np.cumsum(flat) - flat, flat)
        document = self._members[np.repeat(self._starts[groups.ravel()], flat) + within]
        score = np.repeat(scores.ravel(), flat)
        tied = (scores[:, 1:] == scores[:, :-1]).any(axis=1)[query]  # only these may stand in the wrong order
        mixed = np.flatnonzero(tied)
        order = mixed[np.lexsort((self.tie_order[document[mixed]], -score[mixed], query[mixed]))]
        document[mixed], score[mixed] = document[order], score[order]
        return query, document, score


def search(
    documents: NDArray[np.float32],
    queries: NDArray[np.float32],
    *,
    depth: int,
    tie_order: NDArray[np.int32] | None = None,
    excluded: Excluded | None = None,
    progress: Progress = silent,
) -> Ranking:
    """Exact search of ``(Q, d)`` queries over ``(M, d)`` documents; see :class:`Index`."""
    return Index(documents, tie_order=tie_order).search(queries, depth=depth, excluded=excluded, progress=progress)


def top(
    scores: NDArray[np.floating],
    *,
    depth: int,
    tie_order: NDArray[np.int32],
    excluded: NDArray[np.int32] | None = None,
    floor: float = -np.inf,
) -> NDArray[np.int32]:
    """Positions of the ``depth`` best scores above ``floor``, in exact order.

    Args:
        scores: ``(M,)``, one a document.
        depth: most positions returned.
        tie_order: ``(M,)``; of equal scores the smaller comes first.
        excluded: documents left out.
        floor: scores must be larger than this.
    """
    kept = scores > floor
    if excluded is not None:
        kept[excluded] = False
    candidates = np.flatnonzero(kept)
    if len(candidates) > depth:
        values = scores[candidates]
        cut = np.partition(values, len(values) - depth)[len(values) - depth]
        candidates = candidates[values >= cut]
    order = np.lexsort((tie_order[candidates], -scores[candidates]))[:depth]
    return candidates[order].astype(np.int32)


def ranks(
    scores: NDArray[np.floating],
    sought: Sequence[int] | NDArray[np.int32],
    *,
    tie_order: NDArray[np.int32],
    excluded: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """The ranks that a few documents have in the exact order of :func:`top`, counted without sorting the others.

    Args:
        scores: ``(M,)``, one a document.
        sought: ``(n,)`` positions.
        tie_order: ``(M,)``, no number twice; of equal scores the smaller comes first.
        excluded: documents left out.

    Returns:
        ``(n,)`` 1-based ranks; 0 for a document that is left out.
    """
    kept = np.ones(len(scores), dtype=bool)
    if excluded is not None:
        kept[excluded] = False
    found = np.zeros(len(sought), dtype=np.int64)
    for place, document in enumerate(sought):
        if kept[document]:
            level = (scores == scores[document]) & (tie_order < tie_order[document])
            found[place] = 1 + np.count_nonzero(kept & ((scores > scores[document]) | level))
    return found


def ranking(hits: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]], *, depth: int) -> Ranking:
    """One ranking from pieces of (query, document, score), each sorted by rank; a query stands in one piece only."""
    if not hits:
        return Ranking(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), depth)
    query, document, score = (np.concatenate(column) for column in zip(*hits, strict=True))
    order = np.argsort(query, kind="stable")
    return Ranking(
        query[order].astype(np.int32), document[order].astype(np.int32), score[order].astype(np.float64), depth
    )


def distinct(rows: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Groups of equal rows: position of one row of each group ``(U,)``, and the group of each row ``(M,)``."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    digests = b"".join(hashlib.blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(rows))
    _, first, group = np.unique(np.frombuffer(digests, dtype="V16"), return_index=True, return_inverse=True)
    if len(first) == len(rows):
        everything = np.arange(len(rows), dtype=np.int64)
        return everything, everything
    return first, group


def _ranks(query: NDArray[np.int64]) -> NDArray[np.int64]:
    """1-based rank of each row within its query; rows are sorted by query."""
    if not len(query):
        return np.zeros(0, np.int64)
    starts = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    ranks: NDArray[np.int64] = np.arange(len(query)) - np.repeat(starts, np.diff(np.r_[starts, len(query)])) + 1
    return ranks


def _are_excluded(
    query: NDArray[np.int64], document: NDArray[np.int64], *, gone: Sequence[NDArray[np.int32]], count: int
) -> NDArray[np.bool_]:
    """Which hits are documents that leave their query's ranking; ``count`` documents exist."""
    lengths = [len(documents) for documents in gone]
    if not sum(lengths):
        return np.zeros(len(query), dtype=bool)
    pairs = np.repeat(np.arange(len(gone)), lengths) * count + np.concatenate(gone).astype(np.int64)
    return np.isin(query * count + document, pairs)
