"""How far two rankings, or two raters, agree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from analysis.stats.bootstrap import Floats
from analysis.stats.proportion import wilson


class Accuracy(NamedTuple):
    """How often two raters say the same, with Wilson's interval; NaN without an item."""

    value: float
    low: float
    high: float
    n: int


def accuracy(first: Sequence[Hashable], second: Sequence[Hashable], *, level: float = 0.95) -> Accuracy:
    """Share of the items on which two raters agree, from 0 to 1.

    Args:
        first: one label an item.
        second: the other rater's, in the same order.
        level: of the interval.

    Raises:
        ValueError: the two differ in length.
    """
    n = len(first)
    agreed = sum(ours == theirs for ours, theirs in zip(first, second, strict=True))
    bounds = wilson(agreed, n, level=level)
    return Accuracy(agreed / n if n else float("nan"), float(bounds.low), float(bounds.high), n)


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's κ: agreement beyond what the two raters' own label frequencies make likely.

    ``(p_o - p_e) / (1 - p_e)`` with ``p_e = sum over labels of p_1 p_2``. Up to 1, 0 is chance. It collapses where
    nearly all items have one label, however often the raters agree: Gwet's AC1 does not.

    Args:
        first: one label an item.
        second: the other rater's, in the same order.

    Returns:
        NaN without an item, and where both raters gave one and the same label throughout.

    Source:
        Cohen (1960), Educational and Psychological Measurement 20(1).
    """
    shares = _label_shares(first, second)
    return _beyond_chance(accuracy(first, second).value, float((shares[0] * shares[1]).sum()))


def gwet_ac1(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Gwet's AC1: agreement beyond chance that stays steady where one label is frequent.

    ``(p_o - p_e) / (1 - p_e)`` with ``p_e = sum over K labels of π (1 - π) / (K - 1)`` and π a label's share in both
    raters' answers. Up to 1.

    Args:
        first: one label an item.
        second: the other rater's, in the same order.

    Returns:
        NaN without an item; 1 where only one label occurs.

    Source:
        Gwet (2008), British Journal of Mathematical and Statistical Psychology 61(1).
    """
    shares = _label_shares(first, second).mean(axis=0)
    by_chance = float((shares * (1 - shares)).sum()) / max(len(shares) - 1, 1)
    return _beyond_chance(accuracy(first, second).value, by_chance)


def mean_absolute_error(first: Sequence[float], second: Sequence[float]) -> float:
    """Mean absolute difference of two raters' grades, from 0, lower is better; NaN without an item.

    Raises:
        ValueError: the two differ in length.
    """
    apart = [abs(ours - theirs) for ours, theirs in zip(first, second, strict=True)]
    return float(np.mean(apart)) if apart else float("nan")


def _label_shares(first: Sequence[Hashable], second: Sequence[Hashable]) -> Floats:
    """How often each rater gives each label that either gives, ``(2, K)``."""
    labels = list(dict.fromkeys([*first, *second]))
    return np.array(
        [[sum(item == label for item in rater) / len(rater) for label in labels] for rater in (first, second)]
    )


def _beyond_chance(observed: float, by_chance: float) -> float:
    return float("nan") if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def rank_biased_overlap(first: Sequence[Hashable], second: Sequence[Hashable], *, p: float = 0.9) -> float | None:
    """Extrapolated rank-biased overlap: 1 for the same order, 0 for nothing in common, the top weighing most.

    Args:
        first: items in rank order, none twice; the lists may differ in length.
        second: the other list.
        p: how far down a reader goes; 0.9 puts 86 % of the weight on the first ten ranks.

    Returns:
        A value from 0 to 1; None where a list is empty.

    Source:
        Webber, Moffat & Zobel (2010), ACM TOIS 28(4), equation 32.
    """
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)
    if not s:
        return None
    shared = _overlaps(short, long)
    total = sum(shared[depth - 1] / depth * p**depth for depth in range(1, n + 1))
    total += sum(shared[s - 1] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, n + 1))
    return (1 - p) / p * total + ((shared[n - 1] - shared[s - 1]) / n + shared[s - 1] / s) * p**n


def _overlaps(short: Sequence[Hashable], long: Sequence[Hashable]) -> list[int]:
    """How many items the two lists share down to each rank of the longer one."""
    ours: set[Hashable] = set()
    theirs: set[Hashable] = set()
    shared, counted = [], 0
    for depth, item in enumerate(long):
        other = short[depth] if depth < len(short) else None
        if depth < len(short):
            counted += item == other or (item in ours) + (other in theirs)
            ours.add(other)
        else:
            counted += item in ours
        theirs.add(item)
        shared.append(int(counted))
    return shared
