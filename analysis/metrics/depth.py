"""Measures of depth: how far down a ranking the first answer stands, and what a re-ranker of the top K could still fix.

*Depths* are float64 ``(..., Q)``: the 1-based rank of each query's first such document, infinite where the run does not
have it (it is right-censored: somewhere beyond the run's depth N), NaN for a query without such a document. ``ks`` are
cuts, ``(K,)`` whole numbers in ascending order. A *cross* query has a relevant document in another language than its
own; RRC@K, the share of those whose first cross document stands in the top K, is the mean of :func:`within`.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.ranking import Flags, Floats, Judged, Ranks, ratio
from analysis.model import NEVER

Bound = Literal["exact", "at_least", "undefined"]
Cuts = NDArray[np.integer[Any]]

GRID = (1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000)
"""The cuts at which curves are drawn and knees are looked for, as far as the run goes."""

K80 = 0.8
"""The share of queries that the depths called k80 answer."""

SMALLEST_KNEE = 0.1
"""A curve that stays nearer to its chord has no clear knee."""

TIE = 1e-12
"""Distances to the chord that differ by less are equal: the smaller K is the knee."""

FIXED_AT = 10
"""A re-ranker has done its work where the answer stands in the top 10."""


class Depths(NamedTuple):
    """Depths of the first answers, ``(S, Q)`` each; NaN outside their domains."""

    same: Floats  # in the query's language, over queries that have one
    cross: Floats  # in another language, over queries that have one
    both: Floats  # by which both are found, over queries that have both


class Xrc(NamedTuple):
    """A cross-language reading cost."""

    value: float  # NaN where undefined
    bound: Bound  # at_least: the true value is this or larger


class Knees(NamedTuple):
    """The knees of some curves, arrays of one shape."""

    k: Floats  # NaN for a flat curve
    distance: Floats  # to the chord, from 0 to 1; NaN for a flat curve
    late: Flags  # the curve lies below the chord there: returns speed up instead of diminishing


def grid(depth: int) -> tuple[int, ...]:
    """The cuts of GRID that a run of this depth reaches."""
    return tuple(k for k in GRID if k <= depth)


def first_depths(judged: Judged, ranks: Ranks, *, answers: Flags | None = None) -> Depths:
    """How deep each system's first same and first cross document stand.

    Args:
        judged: the task's judgements.
        ranks: ``(S, J)``.
        answers: ``(J,)`` the cross documents that count, such as those of one language; all by default.

    Returns:
        Three arrays ``(S, Q)``, from 1, lower is better; infinite where nothing of the kind is retrieved.
    """
    crossing = judged.cross if answers is None else judged.cross & answers
    same, cross = _depths(judged, ranks, judged.same), _depths(judged, ranks, crossing)
    return Depths(same, cross, np.maximum(same, cross))  # NaN where either is


def _depths(judged: Judged, ranks: Ranks, among: Flags) -> Floats:
    first = judged.first(ranks, among=among)
    return np.where(judged.count(among) > 0, np.where(first == NEVER, np.inf, first), np.nan)


def percentile(depths: Floats, *, share: float) -> Floats:
    """D_C, the depth by which a share C of the queries have their answer: the nearest-rank percentile.

    Of n depths in ascending order the ``ceil(C n - 1e-9)``-th, never interpolated; the small term keeps a product such
    as 0.07 x 100 = 7.000000000000001 from rounding up. From 1, lower is better.

    Args:
        depths: ``(..., Q)``.
        share: C, from 0 to 1; below 1 / n it is the first depth.

    Returns:
        ``(...)``; infinite where it is beyond the run's depth, NaN for an empty domain.

    Source:
        Hyndman & Fan (1996), The American Statistician 50(4), definition 1.
    """
    ordered = np.sort(depths, axis=-1)  # infinite after every number, NaN last
    n = np.count_nonzero(~np.isnan(depths), axis=-1)
    place = np.maximum(_nearest_rank(share, n) - 1, 0).astype(np.intp)
    return np.asarray(np.take_along_axis(ordered, place[..., np.newaxis], axis=-1)[..., 0])


def percentile_draws(depths: Floats, *, share: float, family: NDArray[Any], draws: NDArray[Any]) -> Floats:
    """:func:`percentile` in each bootstrap draw, every query counted as often as its family was drawn.

    Args:
        depths: ``(C, Q)``.
        share: C, from 0 to 1.
        family: ``(Q,)`` code of each query's family.
        draws: ``(B, F)`` how often each draw contains each family.

    Returns:
        ``(B, C)``; infinite as in :func:`percentile`, NaN where no drawn family has a query in the domain.
    """
    weights = draws.astype(np.float32)  # whole numbers: sums are exact below 16.7 million queries
    found = np.empty((len(draws), len(depths)))
    for place, column in enumerate(depths):
        found[:, place] = _column_in_draws(column, share, family, weights)
    return found


def _column_in_draws(depths: Floats, share: float, family: NDArray[Any], draws: NDArray[np.float32]) -> Floats:
    """One column of :func:`percentile_draws`, ``(B,)``.

    The sorted queries are cut into about sqrt(n) chunks. The weights of whole chunks, one matrix product, say in which
    chunk each draw's percentile lies; only there queries are looked at one by one.
    """
    inside = np.flatnonzero(~np.isnan(depths))
    found = np.full(len(draws), np.nan)
    if not len(inside):
        return found
    order = inside[np.argsort(depths[inside], kind="stable")]
    chunks = np.array_split(order, math.isqrt(len(order)))
    chunk_of = np.repeat(np.arange(len(chunks)), [len(chunk) for chunk in chunks])
    cells = np.bincount(family[order] * len(chunks) + chunk_of, minlength=draws.shape[1] * len(chunks))
    upto = np.cumsum(draws @ cells.reshape(draws.shape[1], len(chunks)).astype(np.float32), axis=1)
    target = _nearest_rank(share, upto[:, -1])
    hit = np.where(upto[:, -1] > 0, np.count_nonzero(upto < target[:, np.newaxis], axis=1), -1)
    for place in np.unique(hit[hit >= 0]):
        chunk, rows = chunks[place], np.flatnonzero(hit == place)
        before = upto[rows, place - 1] if place else np.zeros(len(rows), np.float32)
        within_chunk = before[:, np.newaxis] + np.cumsum(draws[np.ix_(rows, family[chunk])], axis=1)
        found[rows] = depths[chunk[np.count_nonzero(within_chunk < target[rows, np.newaxis], axis=1)]]
    return found


def _nearest_rank(share: float, n: NDArray[Any]) -> Floats:
    """The 1-based place of the nearest-rank percentile among n, at least 1; 0 where n is 0."""
    size = np.asarray(n, dtype=np.float64)
    return np.minimum(np.maximum(np.ceil(share * size - 1e-9), 1.0), size)


def within(depths: Floats, *, ks: Cuts) -> Floats:
    """Whether each query's answer stands in the top k, for each k; the mean over cross depths is RRC@K.

    0 or 1, never falling with k. Of the depths by which both answers are found, the mean is JBC@K.

    Args:
        depths: ``(S, Q)``.
        ks: ``(K,)``.

    Returns:
        ``(S, K, Q)``; NaN outside the domain, 0 where the depth is infinite.
    """
    found = depths[:, np.newaxis, :] <= ks[:, np.newaxis]
    return np.where(np.isnan(depths)[:, np.newaxis, :], np.nan, found)


def xrc(cross: float, same: float, *, depth: int) -> Xrc:
    """XRC_C, how many times deeper one must read for a share C of cross answers than for one of same answers.

    ``D_C of the first cross documents / D_C of the first same documents``. From 1 / N, lower is better; 1 means that
    answers in other languages are no deeper.

    Args:
        cross: D_C over the queries with a cross document, see :func:`percentile`.
        same: D_C over the queries with a same document.
        depth: N, the run's depth.

    Returns:
        At least ``N / same`` where the cross answers are beyond N; undefined where the same answers are, or where
        there are no such queries.
    """
    if math.isnan(cross) or not math.isfinite(same):
        return Xrc(math.nan, "undefined")
    return Xrc(depth / same, "at_least") if math.isinf(cross) else Xrc(cross / same, "exact")


def knees(curves: Floats, *, ks: Cuts) -> Knees:
    """K*, the cut at which a curve is farthest from the straight line between its ends on a logarithmic axis.

    With ``x = log10 k`` and y the curve, both scaled to 0 ... 1 by their end points, K* has the largest ``|x - y|``.

    Args:
        curves: ``(..., K)`` RRC at each cut.
        ks: ``(K,)`` starting at 1.

    Returns:
        Arrays ``(...)``; of equal distances the smaller k. NaN where the curve starts as high as it ends.

    Source:
        The chord distance of Satopää et al. (2011), ICDCS Workshops (Kneedle), of either sign.
    """
    x = ratio(np.log10(ks), np.log10(ks[-1]))
    y = ratio(curves - curves[..., :1], curves[..., -1:] - curves[..., :1])
    apart = np.abs(x - y)
    largest = apart.max(axis=-1)
    place = np.argmax(apart >= largest[..., np.newaxis] - TIE, axis=-1)
    below = np.take_along_axis(y < x, place[..., np.newaxis], axis=-1)[..., 0]
    return Knees(np.where(np.isnan(largest), np.nan, ks[place]), largest, below)


def k_reaching(depths: Floats, *, share: float) -> Floats:
    """The smallest k at which RRC@k reaches a share of RRC@N.

    From 1 to N, lower is better.

    Args:
        depths: ``(S, Q)`` of the first cross documents.
        share: such as 0.9.

    Returns:
        ``(S,)``; NaN where nothing is found at any depth.
    """
    return percentile(np.where(np.isinf(depths), np.nan, depths), share=share)


def ari(at_k: Floats, at_depth: Floats) -> Floats:
    """ARI@K, the part of what the top K misses that no re-ranker of the whole run can reach.

    ``(1 - RRC@N) / (1 - RRC@K)``. From 0 to 1, lower is better: at 1 reading on below K finds nothing more.

    Args:
        at_k: RRC@K, any shape.
        at_depth: RRC@N, broadcast against it.

    Returns:
        The common shape; NaN where RRC@K is 1 or NaN.
    """
    return ratio(1.0 - at_depth, 1.0 - at_k)


def chance(n_answers: NDArray[Any], n_documents: NDArray[Any], *, ks: Cuts) -> Floats:
    """RRC@K of a system that returns the documents in random order.

    ``1 - C(M - c, K) / C(M, K)``, averaged over queries: a product of K factors ``1 - c / (M - i)``, summed as
    logarithms so that neither tiny nor huge figures lose their digits.

    Args:
        n_answers: ``(Q,)`` c, the cross documents of each query, at least 1.
        n_documents: ``(Q,)`` M, the documents that a query's ranking may hold.
        ks: ``(K,)``.

    Returns:
        ``(K,)``, never falling, 1 from ``K > M - c`` on; NaN without a query.

    Source:
        The hypergeometric distribution.
    """
    if not len(n_answers):
        return np.full(len(ks), np.nan)
    kinds, counts = np.unique(np.stack([n_answers, n_documents]), axis=1, return_counts=True)
    left = np.maximum(kinds[1][:, np.newaxis] - np.arange(ks.max()), 1)
    taken = np.minimum(kinds[0][:, np.newaxis] / left, 1.0)
    with np.errstate(divide="ignore"):  # log 0: an answer is certain from there on
        missed = np.cumsum(np.log1p(-taken), axis=1)
    return np.asarray(counts @ -np.expm1(missed[:, ks - 1]) / counts.sum())


class StageFaults(NamedTuple):
    """Which stage of a two-stage run loses each query's first cross answer, ``(Q,)`` of 0 and 1 each; NaN outside."""

    candidate_miss: Floats  # the first stage: it does not stand in the pool
    reranker_fault: Floats  # the second: it stands in the pool, yet not in the top 10 afterwards


def stage_faults(first: Floats, second: Floats, *, pool: int) -> StageFaults:
    """Whether a two-stage system's first stage misses the answer, or its second stage does not raise it.

    Args:
        first: ``(Q,)`` depths of the first cross documents in the first stage's ranking.
        second: ``(Q,)`` the same after re-ranking.
        pool: K, how many candidates the second stage rescores.
    """
    known, pooled = ~np.isnan(first), first <= pool
    return StageFaults(
        np.where(known, ~pooled, np.nan),
        np.where(known, pooled & (second > FIXED_AT), np.nan),
    )


def frontier(cost: Floats, gain: Floats) -> Flags:
    """Which systems no other beats: none has at most the cost and at least the gain, and is better in one of them.

    Args:
        cost: ``(S,)``, lower is better; infinite where it is only known to be large, NaN where the system is left out.
        gain: ``(S,)``, higher is better; NaN where the system is left out.

    Returns:
        ``(S,)``; equal systems stand on the frontier together.
    """
    known = ~(np.isnan(cost) | np.isnan(gain))
    mine, other = (np.stack([cost, -gain])[:, :, np.newaxis], np.stack([cost, -gain])[:, np.newaxis, :])
    beaten = (other <= mine).all(axis=0) & (other < mine).any(axis=0)
    return np.asarray(known & ~(beaten & known).any(axis=1))
