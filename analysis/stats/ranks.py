"""Orders of systems: whether their ranks differ at all, by how much, and whether two orders agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.stats.bootstrap import Floats

FEWEST_SYSTEMS = 3
"""Friedman's test, and the agreement of two orders, say nothing of two systems."""

EXACT_DIGITS = 12
"""Means that differ beyond these differ by rounding only: the systems tie."""


class Friedman(NamedTuple):
    """Friedman's omnibus test over S systems."""

    statistic: float  # chi-squared, corrected for ties
    df: int  # S - 1
    p: float
    n: int  # blocks: queries with a value of every system
    average_ranks: Floats  # (S,) 1 is best; ties share their mean rank


def friedman(scores: Floats) -> Friedman | None:
    """Whether any system ranks differently from the others, blocked by query.

    Args:
        scores: ``(S, Q)``, higher is better; a query with a NaN is left out.

    Returns:
        None with fewer than three systems, without a complete query, or where every query ties throughout.

    Source:
        Friedman (1937), JASA 32(200); Demšar (2006), JMLR 7, section 3.2.2.
    """
    from scipy.stats import friedmanchisquare, rankdata

    complete = scores[:, ~np.isnan(scores).any(axis=0)]
    if len(complete) < FEWEST_SYSTEMS or not (complete != complete[:1]).any():
        return None
    found = friedmanchisquare(*complete)
    average = rankdata(-complete, axis=0).mean(axis=1)
    return Friedman(float(found.statistic), len(scores) - 1, float(found.pvalue), complete.shape[1], average)


def critical_difference(systems: int, blocks: int, *, level: float = 0.05) -> float:
    """Nemenyi's critical difference: average ranks closer than this cannot be told apart.

    ``CD = q / sqrt(2) * sqrt(k (k + 1) / (6 N))`` with q the upper quantile of the studentised range of k groups.

    Args:
        systems: k, at least 2.
        blocks: N, at least 1.
        level: the chance of a false difference among all pairs.

    Source:
        Demšar (2006), JMLR 7, section 3.2.2 and table 5.
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - level, systems, np.inf))
    return q / math.sqrt(2) * math.sqrt(systems * (systems + 1) / (6 * blocks))


def joined(average_ranks: Floats, *, difference: float) -> tuple[tuple[int, ...], ...]:
    """The bars of a critical-difference diagram: the largest groups in which no two systems can be told apart.

    Args:
        average_ranks: ``(S,)``.
        difference: the critical one; a smaller distance joins.

    Returns:
        Groups of at least two positions, each from the best rank to the worst, in that order.
    """
    order = np.argsort(average_ranks, kind="stable")
    groups, reached = [], 0
    for first in range(len(order)):
        near = average_ranks[order[first:]] - average_ranks[order[first]] < difference
        last = first + int(near.sum())
        if last - first > 1 and last > reached:
            groups.append(tuple(order[first:last].tolist()))
        reached = max(reached, last)
    return tuple(groups)


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's ρ of two scorings of the same systems, from -1 to 1; ties share their mean rank.

    NaN with fewer than two systems and where one scoring is constant.

    Source:
        Spearman (1904), American Journal of Psychology 15(1).
    """
    from scipy.stats import spearmanr

    return float(spearmanr(first, second).statistic) if _vary(first, second) else float("nan")


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """Kendall's τ-b of two scorings of the same systems, from -1 to 1; corrected for ties.

    NaN with fewer than two systems and where one scoring is constant.

    Source:
        Kendall (1945), Biometrika 33(3).
    """
    from scipy.stats import kendalltau

    return float(kendalltau(first, second).statistic) if _vary(first, second) else float("nan")


def _vary(first: Sequence[float], second: Sequence[float]) -> bool:
    return len(set(first)) > 1 and len(set(second)) > 1
