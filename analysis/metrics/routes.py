"""Measures of language routes: how well a query finds documents in its own and in each other language.

``same`` documents are relevant and in the query's language, ``cross`` ones relevant and in another; a relevant document
that is not in the corpus is neither. ``ranks`` is ``(S, J)`` as in :mod:`analysis.metrics.ranking`. Languages are codes
``0 ... L - 1`` into ``judged.languages``, of queries and of documents alike.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.ranking import Flags, Floats, Judged, Ranks, found_share, ratio

Route = Literal["same", "cross", "any"]

SMALLEST_DIAGONAL = 0.05
"""Retention is undefined where the same-language cell is smaller: a ratio to almost nothing says nothing."""

FEWEST_QUERIES = 30
"""Retention is undefined where the same-language cell rests on fewer queries."""

DEGENERATE_BELOW = 0.10
"""A system whose balanced R@10 cross is lower does not retrieve across languages at all."""


def recall_same(judged: Judged, ranks: Ranks, *, k: int) -> Floats:
    """R@k same, the share of the relevant documents in the query's own language that stand in the top k.

    ``same in the top k / all same``. From 0 to ``min(k, n) / n``, higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.

    Returns:
        ``(S, Q)``; NaN for a query without a same-language relevant document, 0 when nothing is retrieved.

    Source:
        ChemCLIR-Bench.
    """
    return found_share(judged, ranks, among=judged.same, k=k)


def recall_cross(judged: Judged, ranks: Ranks, *, k: int) -> Floats:
    """R@k cross, the share of the relevant documents in other languages than the query's that stand in the top k.

    ``cross in the top k / all cross``: a fraction of the documents, not whether one was found. From 0 to
    ``min(k, n) / n``, higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.

    Returns:
        ``(S, Q)``; NaN for a query without a relevant document in another language, 0 when nothing is retrieved.

    Source:
        ChemCLIR-Bench.
    """
    return found_share(judged, ranks, among=judged.cross, k=k)


def both_gold(judged: Judged) -> Flags:
    """Which queries have a relevant document in their own language and one in another; ``(Q,)``."""
    return (judged.count(judged.same) > 0) & (judged.count(judged.cross) > 0)


def n_by_language(judged: Judged) -> NDArray[np.int64]:
    """Relevant documents of each query in each language, ``(Q, L)``; dangling documents are in none."""
    return _count_cells(judged, judged.reachable)


def recall_by_language(judged: Judged, ranks: Ranks, *, k: int) -> Floats:
    """R@k restricted to the relevant documents of one language, for every language.

    ``relevant of language d in the top k / all relevant of language d``. From 0 to 1, higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.

    Returns:
        ``(S, Q, L)``; NaN where the query has no relevant document of that language, 0 when nothing is retrieved.

    Source:
        ChemCLIR-Bench, per-route recall.
    """
    shape = (len(ranks), judged.n_queries, len(judged.languages))
    found = np.empty(shape)
    for system, row in enumerate(ranks):
        found[system] = _count_cells(judged, judged.reachable & (row <= k))
    return ratio(found, n_by_language(judged))


def route_counts(judged: Judged) -> NDArray[np.int64]:
    """Queries of each language that have a relevant document of each language, ``(L, L)``, query language first."""
    return _by_query_language(judged, n_by_language(judged) > 0).astype(np.int64)


def route_cells(judged: Judged, by_language: Floats) -> Floats:
    """Mean over the queries of each language of what they reach in each language: the cells of the route heatmap.

    Args:
        judged: the task's judgements.
        by_language: ``(S, Q, L)`` of :func:`recall_by_language`.

    Returns:
        ``(S, L, L)``, query language before document language; NaN where no query has such a document, never 0.

    Source:
        ChemCLIR-Bench, per-route recall.
    """
    return ratio(_by_query_language(judged, np.nan_to_num(by_language)), route_counts(judged))


def first_rank(judged: Judged, ranks: Ranks, *, which: Route) -> Ranks:
    """Rank of the first relevant document in the query's language, in another, or in any.

    From 1, lower is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        which: "same", "cross", or "any" (every relevant document).

    Returns:
        ``(S, Q)`` int32; ``NEVER`` where there is no such document or it is beyond the run's depth.
    """
    among = {"same": judged.same, "cross": judged.cross, "any": judged.relevant}[which]
    return judged.first(ranks, among=among)


def jbc(judged: Judged, ranks: Ranks, *, k: int) -> Floats:
    """JBC@k, joint base coverage: whether the top k holds a relevant document of the query's language and of another.

    ``1 if first same <= k and first cross <= k else 0``. 0 or 1, higher is better.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        k: the cut, at least 1.

    Returns:
        ``(S, Q)``; NaN for queries that do not have both, 0 when nothing is retrieved.

    Source:
        ChemCLIR-Bench.
    """
    same, cross = (first_rank(judged, ranks, which=which) <= k for which in ("same", "cross"))
    return np.where(both_gold(judged), same & cross, np.nan)


def retention(cells: Floats, counts: NDArray[Any]) -> Floats:
    """What is left of a query language's own performance when the answer is in another language.

    ``retention(q, d) = cell(q, d) / cell(q, q)``. From 0, higher is better; 1 on the diagonal, above 1 where a foreign
    language does better than the own.

    Args:
        cells: ``(S, L, L)`` of :func:`route_cells`.
        counts: ``(L, L)`` of :func:`route_counts`.

    Returns:
        ``(S, L, L)``; NaN where the cell is empty and for query languages whose own cell is empty, below 0.05 or
        rests on fewer than 30 queries.
    """
    own = np.diagonal(cells, axis1=1, axis2=2)
    sound = (np.diagonal(counts) >= FEWEST_QUERIES) & (own >= SMALLEST_DIAGONAL)
    return ratio(cells, np.where(sound, own, np.nan)[:, :, np.newaxis])


def language_transfer(same_balanced: Floats, cross_balanced: Floats) -> Floats:
    """LT%, the part of the same-language recall that survives when the answer is in another language.

    ``100 * R@10 cross / R@10 same``, both language-balanced means on the queries that have both. From 0, higher is
    better; 100 means nothing is lost.

    Args:
        same_balanced: balanced R@10 same, any shape: systems, or draws by systems.
        cross_balanced: balanced R@10 cross, the same shape.

    Returns:
        The common shape; NaN where R@10 same is 0 or NaN.

    Source:
        ChemCLIR-Bench.
    """
    return 100.0 * ratio(cross_balanced, same_balanced)


def degenerate(cross_balanced_at_10: Floats) -> Flags:
    """Whether a system hardly retrieves across languages: balanced R@10 cross below 0.10; False where that is NaN.

    Depth figures of such a system (XRC, knee, ARI) are not interpretable.
    """
    return np.asarray(cross_balanced_at_10 < DEGENERATE_BELOW)


def preference(counts: NDArray[Any], corpus_share: Floats) -> Floats:
    """How much more often a language stands above the first relevant document than its share of the corpus explains.

    ``share of language d among the non-relevant documents above the first relevant one / d's share of the corpus``.
    From 0; 1 is no preference, above 1 the system favours d.

    Args:
        counts: ``(S, Lq, Ld)`` such documents, summed over the queries of each language
            (:func:`analysis.metrics.outcomes.language_above`).
        corpus_share: ``(Ld,)`` share of each language in the corpus.

    Returns:
        ``(S, Lq, Ld)``; NaN where nothing stands above, and for languages that the corpus lacks.
    """
    return ratio(ratio(counts, counts.sum(axis=-1, keepdims=True)), corpus_share)


def _count_cells(judged: Judged, among: Flags) -> NDArray[np.int64]:
    """Rows marked in ``among`` by query and document language, ``(Q, L)``; none of them may dangle."""
    n_languages = len(judged.languages)
    cell = judged.query[among].astype(np.int64) * n_languages + judged.language[among]
    counts = np.bincount(cell, minlength=judged.n_queries * n_languages)
    return counts.reshape(judged.n_queries, n_languages)


def _by_query_language(judged: Judged, values: NDArray[Any]) -> Floats:
    """Sum of ``values`` ``(..., Q, L)`` over the queries of each language, ``(..., L, L)``."""
    totals = [values[..., judged.query_language == code, :].sum(axis=-2) for code in range(len(judged.languages))]
    return np.stack(totals, axis=-2).astype(np.float64)
