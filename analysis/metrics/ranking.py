"""Measures of one ranking against graded judgements: nDCG, recall, hit, precision, reciprocal rank, average precision.

Each returns one value a query for every system at once; averaging is done elsewhere. ``ranks`` is ``(S, J)``: the
1-based rank that each of S systems gave to each of J judged documents, ``NEVER`` where the document is not in the run.
Ties are settled where ranks are made (score descending, then the larger document id), so ranks never tie here. A query
that a run lacks has ``NEVER`` everywhere and scores 0; a query without a relevant document is NaN and in no mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.model import NEVER

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ranks = NDArray[np.int32]
Gain = Literal["linear", "exponential"]


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged documents of one task, a row a judgement, sorted by query.

    Attributes:
        query: ``(J,)`` int32 position of the query; queries nobody judged have no row.
        grade: ``(J,)`` float64; relevant from 1 on, negative for junk.
        language: ``(J,)`` int16 code of the document's language; -1 when the document is not in the corpus (dangling).
        query_language: ``(Q,)`` int16 code of each query's language.
        languages: the tag that each code stands for.
    """

    query: NDArray[np.int32]
    grade: Floats
    language: NDArray[np.int16]
    query_language: NDArray[np.int16]
    languages: tuple[str, ...]

    @property
    def n_queries(self) -> int:
        """Q, the queries of the task, judged or not."""
        return len(self.query_language)

    @cached_property
    def relevant(self) -> Flags:
        """``(J,)``: grade of at least 1."""
        return np.asarray(self.grade >= 1)

    @cached_property
    def reachable(self) -> Flags:
        """``(J,)``: relevant and in the corpus, so that a system can retrieve it."""
        return self.relevant & (self.language >= 0)

    @cached_property
    def same(self) -> Flags:
        """``(J,)``: relevant, in the corpus and in the query's language."""
        return np.asarray(self.reachable & (self.language == self.query_language[self.query]))

    @cached_property
    def cross(self) -> Flags:
        """``(J,)``: relevant, in the corpus and in another language than the query's."""
        return self.reachable & ~self.same

    @cached_property
    def n_relevant(self) -> NDArray[np.int64]:
        """``(Q,)`` relevant documents of each query, dangling ones included."""
        return self.count(self.relevant)

    @cached_property
    def ordinal(self) -> NDArray[np.int64]:
        """``(J,)`` 1-based position of each row among the rows of its query."""
        return np.arange(1, len(self.query) + 1) - np.searchsorted(self.query, self.query)

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
        """The queries that have rows, and the first row of each."""
        queries, starts = np.unique(self.query, return_index=True)
        return queries, starts

    def rows(self, keep: Flags) -> Judged:
        """The same task with only the rows marked in ``keep`` ``(J,)``; every query keeps its position."""
        return Judged(self.query[keep], self.grade[keep], self.language[keep], self.query_language, self.languages)

    def count(self, among: Flags) -> NDArray[np.int64]:
        """How many rows of each query are marked in ``among`` ``(J,)``; ``(Q,)``."""
        return np.bincount(self.query[among], minlength=self.n_queries)

    def total(self, values: NDArray[Any]) -> Floats:
        """Sum of ``values`` ``(..., J)`` over the rows of each query, ``(..., Q)``; 0 for a query without rows."""
        queries, starts = self._groups
        totals = np.zeros((*values.shape[:-1], self.n_queries))
        if len(starts):
            totals[..., queries] = np.add.reduceat(values, starts, axis=-1, dtype=np.float64)
        return totals

    def first(self, ranks: Ranks, *, among: Flags) -> Ranks:
        """Smallest of ``ranks`` ``(S, J)`` over each query's rows marked in ``among``, ``(S, Q)``; else ``NEVER``."""
        queries, starts = self._groups
        first = np.full((len(ranks), self.n_queries), NEVER, dtype=np.int32)
        if len(starts):
            first[:, queries] = np.minimum.reduceat(np.where(among, ranks, NEVER), starts, axis=1)
        return first


def ratio(numerator: NDArray[Any] | float, denominator: NDArray[Any] | float) -> Floats:
    """``numerator / denominator`` with the usual broadcasting, NaN where the denominator is 0."""
    top, bottom = np.broadcast_arrays(numerator, denominator)
    out = np.full(top.shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


def gains(grade: Floats, *, gain: Gain) -> Floats:
    """What a document of each grade adds: ``max(g, 0)`` when linear, ``2^max(g, 0) - 1`` when exponential.

    Negative grades gain 0; fractional grades below 1 gain although they are not relevant.

    Source:
        Linear as in trec_eval's ``m_ndcg_cut``; exponential as in Burges et al. (2005), ICML.
    """
    positive = np.maximum(grade, 0.0)
    return np.asarray(positive if gain == "linear" else np.exp2(positive) - 1.0)


def discounts(ranks: NDArray[np.integer[Any]], *, k: int) -> Floats:
    """``1 / log2(rank + 1)`` of each 1-based rank, 0 beyond rank k; the shape of ``ranks``."""
    table = np.zeros(k + 2)
    table[1 : k + 1] = 1.0 / np.log2(np.arange(2, k + 2))
    return np.asarray(table[np.minimum(ranks, k + 1)])


def ideal_dcg(judged: Judged, *, k: int, gain: Gain = "linear") -> Floats:
    """DCG of the best conceivable ranking: all judged grades in descending order, cut at k; ``(Q,)``.

    Dangling and unretrieved documents count: what a system cannot reach still lowers its nDCG.
    """
    gained = gains(judged.grade, gain=gain)
    best_first = np.lexsort((-gained, judged.query))
    return judged.total(gained[best_first] * discounts(judged.ordinal, k=k))


def ndcg(judged: Judged, ranks: Ranks, *, k: int, gain: Gain = "linear") -> Floats:
    """nDCG@k, the gain collected in the top k, discounted by depth, relative to the best order of the judged documents.

    ``nDCG@k = DCG / ideal DCG`` with ``DCG = sum over ranks r <= k of gain(g) / log2(r + 1)``. From 0 to 1, higher is
    better. With ``gain="exponential"`` it is another measure, and its label has to say so.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.
        gain: what a grade is worth, see :func:`gains`.

    Returns:
        ``(S, Q)``; NaN without a relevant document, 0 when nothing relevant or graded is retrieved.

    Source:
        Järvelin & Kekäläinen (2002), ACM TOIS 20(4), eq. 2, with the discount of trec_eval.
    """
    collected = judged.total(gains(judged.grade, gain=gain) * discounts(ranks, k=k))
    ideal = ideal_dcg(judged, k=k, gain=gain)
    return ratio(collected, np.where(judged.n_relevant > 0, ideal, 0.0))


def found_share(judged: Judged, ranks: Ranks, *, among: Flags, k: int) -> Floats:
    """Share of the documents marked in ``among`` ``(J,)`` that stand in the top k; ``(S, Q)``, NaN without such."""
    return ratio(judged.total(among & (ranks <= k)), judged.count(among))


def recall(judged: Judged, ranks: Ranks, *, k: int) -> Floats:
    """R@k, the share of a query's relevant documents that stand in the top k.

    ``R@k = relevant in the top k / all relevant``, dangling documents included below the line. From 0 to
    ``min(k, n) / n`` (:func:`recall_ceiling`), higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.

    Returns:
        ``(S, Q)``; NaN without a relevant document, 0 when nothing is retrieved.

    Source:
        Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, eq. 8.2, over the top k.
    """
    return found_share(judged, ranks, among=judged.relevant, k=k)


def recall_ceiling(judged: Judged, *, k: int, among: Flags | None = None) -> Floats:
    """The largest R@k that any ranking of the corpus can reach on each query.

    ``ceiling = min(k, reachable) / n`` with n relevant documents of which ``reachable`` are in the corpus. From 0 to 1;
    below 1 where more than k documents are relevant or some dangle.

    Args:
        judged: the task's judgements.
        k: the cut, at least 1.
        among: ``(J,)`` the documents that count, such as ``judged.same``; all relevant ones by default.

    Returns:
        ``(Q,)``; NaN without such a document, 0 when all of them dangle.
    """
    counted = judged.relevant if among is None else among
    return ratio(np.minimum(k, judged.count(counted & judged.reachable)), judged.count(counted))


def hit(judged: Judged, ranks: Ranks, *, k: int) -> Floats:
    """Hit@k, whether any relevant document stands in the top k (some call this Recall@k; it is Success@k in trec_eval).

    ``Hit@k = 1 if the first relevant rank <= k else 0``. 0 or 1, higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.

    Returns:
        ``(S, Q)``; NaN without a relevant document, 0 when nothing is retrieved.

    Source:
        ``success`` of trec_eval.
    """
    return _where_relevant(judged, judged.first(ranks, among=judged.relevant) <= k)


def precision(judged: Judged, ranks: Ranks, *, k: int) -> Floats:
    """P@k, the share of the top k that is relevant.

    ``P@k = relevant in the top k / k``, also when fewer than k were retrieved: empty places are misses. From 0 to 1
    (to n / k with fewer than k relevant documents), higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.

    Returns:
        ``(S, Q)``; NaN without a relevant document, 0 when nothing is retrieved.

    Source:
        Manning, Raghavan & Schütze (2008), eq. 8.1, over the top k.
    """
    return _where_relevant(judged, judged.total(judged.relevant & (ranks <= k)) / k)


def reciprocal_rank(judged: Judged, ranks: Ranks, *, k: int | None = None) -> Floats:
    """RR, the inverse of the rank at which the first relevant document stands.

    ``RR = 1 / first relevant rank``, 0 when there is none in the run, or in the top k. From 0 to 1, higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut; None takes the whole run.

    Returns:
        ``(S, Q)``; NaN without a relevant document, 0 when nothing is retrieved.

    Source:
        Voorhees (1999), The TREC-8 question answering track report.
    """
    first = judged.first(ranks, among=judged.relevant)
    deepest = NEVER - 1 if k is None else k
    return _where_relevant(judged, np.where(first <= deepest, 1.0 / first, 0.0))


def average_precision(judged: Judged, ranks: Ranks) -> Floats:
    """AP, precision averaged over the ranks of the relevant documents of the whole run.

    ``AP = sum over retrieved relevant documents of (relevant at or above its rank / its rank) / all relevant``. From 0
    to 1, higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.

    Returns:
        ``(S, Q)``; NaN without a relevant document, 0 when nothing is retrieved.

    Source:
        Manning, Raghavan & Schütze (2008), eq. 8.8, for one query; ``map`` of trec_eval.
    """
    relevant = judged.rows(judged.relevant)
    # Query in the high bits, rank in the low ones: one sort orders the ranks inside every query of every system.
    keyed = np.sort((relevant.query.astype(np.int64) << 32) + ranks[:, judged.relevant], axis=1)
    by_rank = keyed & 0xFFFFFFFF
    at_rank = np.where(by_rank < NEVER, relevant.ordinal / by_rank, 0.0)
    return ratio(relevant.total(at_rank), judged.n_relevant)


def negative_grades(judged: Judged) -> int:
    """How many judgements carry a negative grade: they gain 0, are not relevant, and are reported on their own."""
    return int(np.count_nonzero(judged.grade < 0))


def _where_relevant(judged: Judged, values: NDArray[Any]) -> Floats:
    """``values`` ``(S, Q)`` with NaN for the queries that have no relevant document."""
    return np.where(judged.n_relevant > 0, values, np.nan)
