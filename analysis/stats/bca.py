"""Bias-corrected and accelerated (BCa) bootstrap intervals of language-balanced means and what is made of them.

A :class:`Resampled` carries a statistic of C columns in three forms: its estimate, its bootstrap draws, and its values
with one family left out. Ratios and differences are formed in all three alike (:meth:`Resampled.with_`), and
:func:`interval` turns any of them into ends. ``values`` ``(C, Q)``, ``family`` ``(Q,)`` and draws are as in
:mod:`analysis.stats.bootstrap`.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import (
    Codes,
    Floats,
    Strata,
    Unit,
    balanced_draws,
    balanced_mean,
    language_sums,
    lift,
    method_name,
    quantile,
    ratio,
)

RESAMPLES = 10_000
"""B of the BCa intervals, as in ChemCLIR-Bench."""

_SAME = 1e-12
"""Draws and left-out values this close to each other, relative to their size, differ by rounding only."""

_NORMAL = NormalDist()


class Resampled(NamedTuple):
    """A statistic of C columns with what its interval needs."""

    estimate: Floats  # (C,)
    draws: Floats  # (B, C) NaN where the draw leaves it undefined
    left_out: Floats  # (F, C) without one family each; NaN for a family outside the column's domain

    def with_(self, other: Resampled, make: Callable[[Floats, Floats], Floats]) -> Resampled:
        """The statistic that ``make`` forms of two others, elementwise: a ratio or a difference inside each draw."""
        return Resampled(*(make(mine, theirs) for mine, theirs in zip(self, other, strict=True)))

    def split(self, parts: int) -> list[Resampled]:
        """The C columns in equal parts, in order."""
        return [Resampled(*part) for part in zip(*(np.split(each, parts, axis=-1) for each in self), strict=True)]


class BcaBounds(NamedTuple):
    """Ends of C intervals, and which are BCa; the others fell back to the percentile interval of the same draws."""

    low: Floats  # (C,)
    high: Floats  # (C,)
    is_bca: NDArray[np.bool_]  # (C,)


def resampled_balanced(
    values: Floats, *, family: Codes, strata: Strata, language: Codes, n_languages: int
) -> Resampled:
    """The language-balanced mean of each column: estimate, draws, and without each family.

    Args:
        values: ``(C, Q)``, NaN outside the domain.
        family: ``(Q,)`` codes of whole families, which leave the jackknife in all their languages at once.
        strata: what is drawn: joint draws with ``family`` itself, or stratified ones with codes of their own.
        language: ``(Q,)`` codes 0 ... L - 1.
        n_languages: L.

    Source:
        ChemCLIR-Bench.
    """
    drawn = balanced_draws(values, family=strata.family, language=language, n_languages=n_languages, draws=strata.draws)
    return Resampled(
        balanced_mean(values, language=language, n_languages=n_languages).value,
        drawn,
        leave_one_out(values, family=family, language=language, n_languages=n_languages),
    )


def leave_one_out(values: Floats, *, family: Codes, language: Codes, n_languages: int) -> Floats:
    """The language-balanced mean of each column without one family, which leaves all its languages at once.

    Args:
        values: ``(C, Q)``, NaN outside the domain.
        family: ``(Q,)`` codes 0 ... F - 1.
        language: ``(Q,)`` codes 0 ... L - 1.
        n_languages: L.

    Returns:
        ``(F, C)``; NaN for a family that has no query in the column's domain, and where it is the only one that has.
    """
    floor, above = lift(values)
    n_families = int(family.max(initial=-1)) + 1
    total, defined = np.zeros((2, len(values), n_families))
    inside = np.zeros((len(values), n_families), dtype=bool)
    for part in language_sums(above, family=family, language=language, n_languages=n_languages):
        counts = part.counts[part.domain_of]
        rest_sums, rest_counts = (
            np.repeat(each.sum(axis=1, keepdims=True), n_families, axis=1) for each in (part.sums, counts)
        )
        rest_sums[:, part.families] -= part.sums
        rest_counts[:, part.families] -= counts
        total += np.nan_to_num(ratio(rest_sums, rest_counts))
        defined += rest_counts > 0
        inside[:, part.families] |= counts > 0
    means = floor[:, np.newaxis] + ratio(total, defined)
    return np.where(inside, means, np.nan).T


def interval(resampled: Resampled, *, level: float = 0.95) -> BcaBounds:
    """BCa interval of each column; where it is undefined, the percentile interval of the same draws.

    Undefined where the bias correction or the acceleration is not finite, such as with one family or without any
    spread, or where an adjusted level leaves 0 to 1.

    Args:
        resampled: C columns.
        level: between 0 and 1.

    Returns:
        Ends ``(C,)``, NaN where every draw is NaN.

    Source:
        Efron (1987), JASA 82(397); Efron & Tibshirani (1993), An Introduction to the Bootstrap, eq. 14.9 to 14.15.
    """
    tails = ((1 - level) / 2, (1 + level) / 2)
    z0, a = bias_correction(resampled.estimate, resampled.draws), acceleration(resampled.left_out)
    lower, upper = (_adjusted(z0, a, level=tail) for tail in tails)
    is_bca = (lower > 0) & (lower < upper) & (upper < 1)  # False where NaN
    ordered = np.sort(resampled.draws, axis=0)  # NaN last
    n = np.count_nonzero(~np.isnan(ordered), axis=0)
    low, high = (
        quantile(ordered, n, np.where(is_bca, adjusted, tail))
        for adjusted, tail in zip((lower, upper), tails, strict=True)
    )
    return BcaBounds(low, high, is_bca)


def method_names(is_bca: NDArray[np.bool_], unit: Unit, *, resamples: int = RESAMPLES) -> list[str]:
    """How each interval names itself, such as ``bca-joint, B = 10000``."""
    fallen = f"{method_name(unit, resamples)} (BCa undefined)"
    return [f"bca-{unit}, B = {resamples}" if sound else fallen for sound in is_bca]


def bias_correction(estimate: Floats, draws: Floats) -> Floats:
    """``z0``: the normal quantile of the share of draws below the estimate, ties counted half.

    Args:
        estimate: ``(C,)``.
        draws: ``(B, C)``; NaN draws are left out.

    Returns:
        ``(C,)``; infinite where no or every draw is below, NaN without a draw.

    Source:
        Efron & Tibshirani (1993), eq. 14.14; half for ties as in scipy.stats.bootstrap.
    """
    apart = draws - estimate
    slack = _SAME * np.maximum(np.abs(estimate), 1.0)
    below = np.count_nonzero(apart < -slack, axis=0) + 0.5 * np.count_nonzero(np.abs(apart) <= slack, axis=0)
    return _normal_quantile(ratio(below, np.count_nonzero(~np.isnan(draws), axis=0)))


def acceleration(left_out: Floats) -> Floats:
    """``a = sum((m - m_i)^3) / (6 sum((m - m_i)^2)^(3/2))`` with m the mean of the left-out values m_i.

    Args:
        left_out: ``(F, C)``; NaN families are left out.

    Returns:
        ``(C,)``; NaN without spread and with fewer than two families.

    Source:
        Efron & Tibshirani (1993), eq. 14.15.
    """
    n = np.count_nonzero(~np.isnan(left_out), axis=0)
    mean = ratio(np.nansum(left_out, axis=0), n)
    apart = np.nan_to_num(mean - left_out)
    scale = np.abs(apart).max(axis=0, initial=0.0)
    apart[:, scale <= _SAME * np.maximum(np.abs(np.nan_to_num(mean)), 1.0)] = 0.0  # nothing but rounding
    return ratio((apart**3).sum(axis=0), 6 * (apart**2).sum(axis=0) ** 1.5)


def _adjusted(z0: Floats, a: Floats, *, level: float) -> Floats:
    """The level of the draws to cut at: Efron & Tibshirani (1993), eq. 14.10."""
    reach = z0 + _NORMAL.inv_cdf(level)
    with np.errstate(invalid="ignore"):
        places = z0 + ratio(reach, 1 - a * reach)
    return np.array([np.nan if np.isnan(place) else _NORMAL.cdf(place) for place in places])


def _normal_quantile(shares: Floats) -> Floats:
    ends = {0.0: -np.inf, 1.0: np.inf}
    return np.array(
        [np.nan if np.isnan(share) else ends[share] if share in ends else _NORMAL.inv_cdf(share) for share in shares]
    )
