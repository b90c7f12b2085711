"""Exact search, and the one order in which documents of equal score stand.

Documents are looked at block by block, so that vectors may lie in a mapped file: memory holds a block of them, and the
best of each query so far.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.model import Progress, Ranking, silent
from analysis.store.vector_file import Rows, blocks
from analysis.systems.lists import joined

Excluded = Mapping[int, NDArray[np.int32]]

EXACT_LIMIT = 1_000_000
"""Documents up to which search is exact; beyond, see :mod:`analysis.systems.approximate`."""

BATCH = 256
"""Queries searched between two progress reports."""

FOUND = 2**27
"""Bytes of the best documents of queries held while the documents are gone through."""

MANY = 10_000
"""Excluded documents of a query beyond which it is scored in full: as many more would have to be found for all."""

Hits = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]]
"""Query, document and score of each hit."""


class Index:
    """The vectors of a corpus, ready for exact inner-product search.

    Equal vectors are searched once and tie exactly: a product of matrices may give two equal rows scores that differ
    in the last bit, depending on where they stand.

    Args:
        documents: ``(M, d)`` float32 unit vectors, in memory or in a file.
        tie_order: ``(M,)`` int32; of equal scores the smaller comes first. By default corpus order.
        threads: of one search; by default every core.
    """

    def __init__(
        self, documents: Rows, *, tie_order: NDArray[np.int32] | None = None, threads: int | None = None
    ) -> None:
        count = documents.shape[0]
        self.tie_order = np.arange(count, dtype=np.int32) if tie_order is None else tie_order
        self._rows = documents
        self._first, self._group = distinct(documents)
        self._members = np.lexsort((self.tie_order, self._group)).astype(np.int32)  # by group, then tie order
        self._sizes = np.bincount(self._group, minlength=len(self._first))
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
        most = max((len(gone) for gone in without.values() if len(gone) <= MANY), default=0)
        reach = min(len(self._first), depth + 1 + most)
        size = max(BATCH, FOUND // (8 * max(1, reach)) // BATCH * BATCH)
        made: list[Ranking] = []
        for start in range(0, len(queries) if reach else 0, size):
            some = np.ascontiguousarray(queries[start : start + size], dtype=np.float32)

            def told(done: float, start: int = start) -> None:
                progress(step, start + int(done), len(queries))

            scores, groups = self._nearest(some, reach, told)
            for at in range(0, len(some), BATCH):
                batch = slice(at, at + BATCH)
                hits = self._hits(
                    some[batch], scores[batch], groups[batch], start=start + at, depth=depth, excluded=without
                )
                made.append(_in_order(list(hits), depth=depth))
        progress(step, len(queries), len(queries))
        return joined(made, depth=depth)

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
        scores = self._scores(query)
        best = top(scores, depth=depth, tie_order=self.tie_order, excluded=excluded)
        places = () if sought is None else sought
        return best, scores[best], ranks(scores, places, tie_order=self.tie_order, excluded=excluded)

    def vector(self, document: int) -> NDArray[np.float32]:
        """The vector of the document at this position, ``(d,)``."""
        found: NDArray[np.float32] = self._rows[document : document + 1][0]
        return found

    @property
    def nbytes(self) -> int:
        """Memory that it takes; vectors in a file take none."""
        own = sum(part.nbytes for part in (self._first, self._group, self._members, self._sizes, self._starts))
        return own + (self._rows.nbytes if isinstance(self._rows, np.ndarray) else 0)

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """The vectors block by block, of equal ones the first only: their groups, and ``(n, d)``."""
        for block in blocks(self._rows):
            groups = slice(*np.searchsorted(self._first, [block.start, block.stop]).tolist())
            places = self._first[groups] - block.start
            vectors = self._rows[block]
            yield groups, vectors if len(places) == len(vectors) else vectors[places]

    def _scores(self, query: NDArray[np.float32]) -> NDArray[np.float64]:
        """The score of every document, ``(M,)``."""
        of_groups = np.empty(len(self._first), dtype=np.float64)
        for groups, vectors in self._blocks():
            of_groups[groups] = vectors @ query
        return of_groups if len(of_groups) == len(self._group) else of_groups[self._group]

    def _nearest(
        self, queries: NDArray[np.float32], reach: int, told: Callable[[float], None]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Scores and groups of the ``reach`` best of each query, ``(Q, reach)``, best first; of equals any."""
        import faiss

        if self._threads:
            faiss.omp_set_num_threads(self._threads)
        scores = np.full((len(queries), reach), -np.inf, dtype=np.float32)
        groups = np.full((len(queries), reach), -1, dtype=np.int32)
        for some, vectors in self._blocks():
            for start in range(0, len(queries) if len(vectors) else 0, BATCH):
                told((some.start * len(queries) + start * len(vectors)) / len(self._first))
                batch = slice(start, start + BATCH)
                near, places = faiss.knn(
                    queries[batch], vectors, min(reach, len(vectors)), metric=faiss.METRIC_INNER_PRODUCT
                )
                scores[batch], groups[batch] = _best(scores[batch], groups[batch], near, places + some.start)
        return scores, groups

    def _hits(
        self,
        queries: NDArray[np.float32],
        scores: NDArray[np.float32],
        groups: NDArray[np.int32],
        *,
        start: int,
        depth: int,
        excluded: Excluded,
    ) -> Iterator[Hits]:
        """The hits of a batch, sorted by query and rank; ambiguous queries come after the others.

        Enough groups were found to fill ``depth`` after the excluded have left, and one more. Where the score at the
        cut is that of the last group found, a group left out might tie: such a query is scored in full.
        """
        gone = [excluded.get(start + position, np.zeros(0, np.int32)) for position in range(len(queries))]
        query, document, score = self._expanded(scores.astype(np.float64), groups)
        kept = ~_are_excluded(query, document, gone=gone, count=len(self.tie_order))
        kept[kept] = _ranks(query[kept]) <= depth
        query, document, score = query[kept], document[kept], score[kept]
        ambiguous = np.array([len(documents) > MANY for documents in gone])
        if scores.shape[1] < len(self._first):
            ambiguous[query[score <= scores[query, -1]]] = True
        clear = ~ambiguous[query]
        yield (query[clear] + start).astype(np.int32), document[clear], score[clear]
        for position in np.flatnonzero(ambiguous):
            best, exact = self.one(queries[position], depth=depth, excluded=gone[position])
            yield np.full(len(best), position + start, dtype=np.int32), best, exact

    def _expanded(
        self, scores: NDArray[np.float64], groups: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Documents instead of groups, in exact order: score down, then tie order."""
        sizes = np.where(groups < 0, 0, self._sizes[groups])  # of a search that found fewer
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
    documents: Rows,
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


def _in_order(hits: Sequence[Hits], *, depth: int) -> Ranking:
    """The hits of some queries, in pieces of (query, document, score), each sorted by rank; a query is in one only."""
    query, document, score = (np.concatenate(column) for column in zip(*hits, strict=True))
    if (query[1:] < query[:-1]).any():
        order = np.argsort(query, kind="stable")
        query, document, score = query[order], document[order], score[order]
    return Ranking(query.astype(np.int32), document.astype(np.int32), score, depth)


def distinct(rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Groups of equal rows: position of the first of each group ``(U,)``, ascending, and the group of each ``(M,)``."""
    count = rows.shape[0]
    digests = np.empty((count, 2), dtype=np.uint64)
    for block in blocks(rows):
        found = b"".join(hashlib.blake2b(row, digest_size=16).digest() for row in np.ascontiguousarray(rows[block]))
        digests[block] = np.frombuffer(found, dtype=np.uint64).reshape(-1, 2)
    order = np.lexsort((digests[:, 1], digests[:, 0]))
    ordered = digests[order]
    starts = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)][:count])
    everything = np.arange(count, dtype=np.int32)
    if len(starts) == count:
        return everything, everything
    first = np.repeat(order[starts], np.diff(np.r_[starts, count]))  # of each row in that order
    firsts, group = np.unique(first, return_inverse=True)
    groups = np.empty(count, dtype=np.int32)
    groups[order] = group
    return firsts.astype(np.int32), groups


def _best(
    scores: NDArray[np.float32],
    groups: NDArray[np.int32],
    more_scores: NDArray[np.float32],
    more_groups: NDArray[np.int64],
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """The best of what was found before and what was found now, as many as before, best first."""
    every = np.concatenate([scores, more_scores], axis=1)
    best = np.argsort(-every, axis=1, kind="stable")[:, : scores.shape[1]]
    named = np.concatenate([groups, more_groups.astype(np.int32)], axis=1)
    return np.take_along_axis(every, best, axis=1), np.take_along_axis(named, best, axis=1)


def _ranks(query: NDArray[np.int64]) -> NDArray[np.int64]:
    """1-based rank of each row within its query; rows are sorted by query."""
    if not len(query):
        return np.zeros(0, np.int64)
    starts = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    ranks: NDArray[np.int64] = np.arange(len(query)) - np.repeat(starts, np.diff(np.r_[starts, len(query)])) + 1
    return ranks


def _are_excluded(
    query: NDArray[np.int64], document: NDArray[np.integer], *, gone: Sequence[NDArray[np.int32]], count: int
) -> NDArray[np.bool_]:
    """Which hits are documents that leave their query's ranking; ``count`` documents exist."""
    lengths = [len(documents) for documents in gone]
    if not sum(lengths):
        return np.zeros(len(query), dtype=bool)
    pairs = np.repeat(np.arange(len(gone)), lengths) * count + np.concatenate(gone).astype(np.int64)
    return np.isin(query * count + document, pairs)
