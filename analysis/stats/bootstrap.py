"""The bootstrap over families, by weights: draw counts times per-family sums, never copied rows.

A *family* is what is drawn: queries about one source document or concept, in whatever languages. ``values`` is
``(C, Q)``, a column a system and measure, with NaN for the queries outside that measure's domain; ``family`` is
``(Q,)``, the code 0 ... F - 1 of each query's family; ``draws`` is ``(B, F)``, how often each of B draws contains each
family. The same draws serve every column, so every comparison is paired.

Two units of drawing: *joint* (:func:`family_draws`), where a family brings all its languages along, for parallel
benchmarks; and *stratified* (:func:`stratified_draws`), where each language draws as many families as it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[Any]
Weights = NDArray[np.uint8]
Unit = Literal["joint", "stratified"]

RESAMPLES = 2000
"""B of the percentile intervals, as in MMed-Bench-IR."""

_CELLS_AT_ONCE = 4_000_000
"""How many cells of a weight matrix are worked on at a time: 32 MB in double precision.

The draws themselves are one byte a cell, 120 MB for 10,000 draws of 12,000 families: no family comes up 256 times.
"""

_PICKS_AT_ONCE = 2**16
"""How many picks of families are counted at a time: what stays in a processor's cache."""


class Bounds(NamedTuple):
    """Ends of an interval, arrays of one shape; NaN where undefined."""

    low: Floats
    high: Floats


class Mean(NamedTuple):
    """A mean over queries with the number of queries behind it, arrays of one shape."""

    value: Floats
    n: NDArray[np.int64]


class Strata(NamedTuple):
    """Draws within each language, in the same form as joint ones: pass both fields on together."""

    family: NDArray[np.intp]  # (Q,) code of each query's family within its language
    draws: Weights  # (B, U), U such codes


class LanguageSums(NamedTuple):
    """What the G families that ask in one language weigh in C columns, which have D different domains."""

    families: slice | NDArray[np.intp]  # their codes; a slice where these follow one another
    sums: Floats  # (C, G) sums of each column
    counts: Floats  # (D, G) queries in each domain
    domain_of: NDArray[np.intp]  # (C,) the domain of each column


def family_draws(n_families: int, *, resamples: int = RESAMPLES, seed: int) -> Weights:
    """Joint draws: how often each family is in each of B samples of F families with replacement.

    Args:
        n_families: F.
        resamples: B.
        seed: fixed, stored and shown with the interval.

    Returns:
        ``(B, F)`` counts; every row sums to F. The same seed gives the same draws, and fewer draws are the first of
        more.

    Source:
        Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 6.2; families as in Field & Welsh (2007),
        JRSS B 69(3).
    """
    return _draw(n_families, resamples, np.random.default_rng(seed))


def stratified_draws(family: Codes, language: Codes, *, resamples: int = RESAMPLES, seed: int) -> Strata:
    """Stratified draws: in each language as many families as it has, languages independent of one another.

    Args:
        family: ``(Q,)`` codes of the families.
        language: ``(Q,)`` codes of the query languages.
        resamples: B.
        seed: fixed, stored and shown with the interval.

    Returns:
        Codes of the families within languages and their draws; in every draw the counts of each language sum to the
        number of its families. Fewer draws are the first of more.

    Source:
        ChemCLIR-Bench; Davison & Hinkley (1997), Bootstrap Methods and their Application, section 3.2.
    """
    pairs, within = np.unique(np.stack([language, family]), axis=1, return_inverse=True)
    _, sizes = np.unique(pairs[0], return_counts=True)  # pairs are sorted by language: a block of columns each
    draws = np.empty((resamples, int(sizes.sum())), dtype=np.uint8)
    ends = np.cumsum(sizes)
    for number, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        draws[:, end - size : end] = _draw(int(size), resamples, np.random.default_rng([seed, number]))
    return Strata(within.ravel(), draws)


def method_name(unit: Unit = "joint", resamples: int = RESAMPLES) -> str:
    """How a percentile interval names itself, such as ``percentile-joint, B = 2000``."""
    return f"percentile-{unit}, B = {resamples}"


def pooled_mean(values: Floats) -> Mean:
    """Mean over all queries of the domain, each weighing the same.

    Args:
        values: ``(..., Q)``, NaN outside the domain.

    Returns:
        Mean and number of queries, ``(...)`` each; NaN and 0 for an empty domain. Exact where all values are equal.
    """
    floor, above = lift(values)
    n = np.count_nonzero(~np.isnan(values), axis=-1)
    return Mean(floor + ratio(np.nansum(above, axis=-1), n), np.asarray(n))


def language_means(values: Floats, *, language: Codes, n_languages: int) -> Floats:
    """Mean over the queries of each language.

    Args:
        values: ``(..., Q)``, NaN outside the domain.
        language: ``(Q,)`` codes 0 ... L - 1.
        n_languages: L.

    Returns:
        ``(..., L)``; NaN for a language without queries in the domain.
    """
    means = [pooled_mean(values[..., language == code]).value for code in range(n_languages)]
    return np.stack(means, axis=-1)


def balanced_mean(values: Floats, *, language: Codes, n_languages: int) -> Mean:
    """Plain mean of the query languages' means, so that a language with many queries does not drown the others.

    Args:
        values: ``(..., Q)``, NaN outside the domain.
        language: ``(Q,)`` codes 0 ... L - 1.
        n_languages: L.

    Returns:
        Mean and number of queries, ``(...)`` each; a language without queries in the domain is left out, NaN and 0 when
        all are. Exact where all values are equal.

    Source:
        ChemCLIR-Bench.
    """
    floor, above = lift(values)
    means = language_means(above, language=language, n_languages=n_languages)
    n = np.count_nonzero(~np.isnan(values), axis=-1)
    return Mean(floor + mean_of_defined(means, axis=-1), np.asarray(n))


def max_minus_min(means: Floats) -> Floats:
    """Largest less smallest of the languages' means ``(..., L)``: the fairness gap; NaN with fewer than two languages.

    From 0, lower is better.

    Source:
        MMed-Bench-IR.
    """
    gap = np.fmax.reduce(means, axis=-1) - np.fmin.reduce(means, axis=-1)
    return np.where(np.count_nonzero(~np.isnan(means), axis=-1) > 1, gap, np.nan)


def pooled_draws(values: Floats, *, family: Codes, draws: Weights) -> Floats:
    """The pooled mean in each draw: weighted sums over weighted counts.

    Args:
        values: ``(C, Q)``, NaN outside the domain.
        family: ``(Q,)``.
        draws: ``(B, F)``.

    Returns:
        ``(B, C)``; NaN where no drawn family has a query in the domain.
    """
    floor, above = lift(values)
    inside = ~np.isnan(above)
    domains, domain_of = np.unique(inside, axis=0, return_inverse=True)  # columns often share one domain
    sums = per_family(np.nan_to_num(above), family, draws.shape[1])
    table = np.concatenate([sums, per_family(domains, family, draws.shape[1])]).T
    means = np.empty((len(draws), len(values)))
    for rows, block in _blocks(draws):
        weighted = block.astype(np.float64) @ table
        means[rows] = ratio(weighted[:, : len(sums)], weighted[:, len(sums) :][:, domain_of.ravel()])
    return floor + means


def balanced_draws(values: Floats, *, family: Codes, language: Codes, n_languages: int, draws: Weights) -> Floats:
    """The language-balanced mean in each draw; ratios and differences are formed from these, draw by draw.

    Args:
        values: ``(C, Q)``, NaN outside the domain.
        family: ``(Q,)``.
        language: ``(Q,)`` codes 0 ... L - 1.
        n_languages: L.
        draws: ``(B, F)``.

    Returns:
        ``(B, C)``; a language that is not in a draw is left out of it, NaN where none is.

    Source:
        ChemCLIR-Bench.
    """
    floor, above = lift(values)
    spoken = list(language_sums(above, family=family, language=language, n_languages=n_languages))
    tables = [np.concatenate([part.sums, part.counts]).T for part in spoken]
    means = np.empty((len(draws), len(values)))
    for rows, block in _blocks(draws):
        total, defined = np.zeros(means[rows].shape), np.zeros(means[rows].shape)
        for part, table in zip(spoken, tables, strict=True):
            weighted = block[:, part.families].astype(np.float64) @ table
            counts = weighted[:, len(values) :][:, part.domain_of]
            total += np.nan_to_num(ratio(weighted[:, : len(values)], counts))
            defined += counts > 0
        means[rows] = ratio(total, defined)
    return floor + means


def ratio_draws(parts: Floats, wholes: Floats, *, family: Codes, draws: Weights) -> Floats:
    """The ratio of two sums in each draw, formed inside the draw.

    Args:
        parts: ``(C, Q)``, NaN outside the domain.
        wholes: ``(C, Q)``, NaN outside the same domain.
        family: ``(Q,)``.
        draws: ``(B, F)``.

    Returns:
        ``(B, C)``; NaN where the drawn families have nothing to have a share of.

    Source:
        Davison & Hinkley (1997), Bootstrap Methods and their Application, section 2.2.
    """
    table = np.concatenate([per_family(np.nan_to_num(side), family, draws.shape[1]) for side in (parts, wholes)]).T
    found = np.empty((len(draws), len(parts)))
    for rows, block in _blocks(draws):
        weighted = block.astype(np.float64) @ table
        found[rows] = ratio(weighted[:, : len(parts)], weighted[:, len(parts) :])
    return found


def language_sums(values: Floats, *, family: Codes, language: Codes, n_languages: int) -> Iterator[LanguageSums]:
    """Per-family sums and counts, language by language; a language nobody asks in is left out.

    Args:
        values: ``(C, Q)``, NaN outside the domain.
        family: ``(Q,)``.
        language: ``(Q,)`` codes 0 ... L - 1.
        n_languages: L.
    """
    for code in range(n_languages):
        spoken = language == code
        families, within = np.unique(family[spoken], return_inverse=True)
        if not len(families):
            continue
        mine = values[:, spoken]
        domains, domain_of = np.unique(~np.isnan(mine), axis=0, return_inverse=True)
        first, last = int(families[0]), int(families[-1])
        yield LanguageSums(
            slice(first, last + 1) if last - first + 1 == len(families) else families,
            per_family(np.nan_to_num(mine), within, len(families)),
            per_family(domains, within, len(families)),
            domain_of.ravel(),
        )


def interval_of_draws(draws: Floats, *, level: float = 0.95) -> Bounds:
    """Percentile interval: the ``(1 - level) / 2`` quantiles of the draws from below and above, linearly interpolated.

    Args:
        draws: ``(B, ...)`` values, one a draw; NaN draws are left out.
        level: between 0 and 1.

    Returns:
        Two arrays ``(...)``; NaN where every draw is NaN, low equals high where all are equal.

    Source:
        Efron & Tibshirani (1993), section 13.3.
    """
    ordered = np.sort(draws, axis=0)  # NaN last
    n = np.count_nonzero(~np.isnan(draws), axis=0)
    tail = (1 - level) / 2
    return Bounds(quantile(ordered, n, tail), quantile(ordered, n, 1 - tail))


def _draw(n_families: int, resamples: int, rng: np.random.Generator) -> Weights:
    """Counts of F picks out of F families, ``(B, F)``, many draws at a time."""
    counts = np.empty((resamples, n_families), dtype=np.uint8)
    at_once = max(1, _PICKS_AT_ONCE // max(1, n_families))
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        picks = rng.integers(n_families, size=(rows, n_families)) if n_families else np.empty((rows, 0), np.int64)
        cells = picks + n_families * np.arange(rows)[:, np.newaxis]
        counts[start : start + rows] = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape)
    return counts


def lift(values: Floats) -> tuple[Floats, Floats]:
    """The smallest value of each column and what each value exceeds it by.

    Means are taken of the excess, so that a column of equal values has exactly that value as its mean in every draw.
    """
    floor = np.fmin.reduce(values, axis=-1, initial=np.inf)
    floor = np.where(np.isinf(floor), np.nan, floor)
    return floor, values - floor[..., np.newaxis]


def per_family(values: NDArray[Any], family: Codes, n_families: int) -> Floats:
    """Sum of ``values`` ``(C, Q)`` over the queries of each family, ``(C, F)``."""
    cell = family + n_families * np.arange(len(values))[:, np.newaxis]
    sums = np.bincount(cell.ravel(), weights=values.ravel(), minlength=len(values) * n_families)
    return np.asarray(sums.reshape(len(values), n_families), dtype=np.float64)


def _blocks(draws: Weights) -> Iterator[tuple[slice, Weights]]:
    """Some rows of the draws at a time: all of them in double precision would be eight times as large."""
    at_once = max(1, _CELLS_AT_ONCE // max(1, draws.shape[1]))
    for start in range(0, len(draws), at_once):
        rows = slice(start, start + at_once)
        yield rows, draws[rows]


def mean_of_defined(values: Floats, *, axis: int) -> Floats:
    """Mean of what is not NaN along an axis, NaN where nothing is."""
    return ratio(np.nansum(values, axis=axis), np.count_nonzero(~np.isnan(values), axis=axis))


def ratio(numerator: NDArray[Any], denominator: NDArray[Any] | int) -> Floats:
    """``numerator / denominator``, NaN where the denominator is 0."""
    out = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
    return out


def quantile(ordered: Floats, n: NDArray[np.int64], q: float | Floats) -> Floats:
    """Linearly interpolated quantile of the first n of each sorted column, NaN where n is 0."""
    place = q * np.maximum(n - 1, 0)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(n - 1, 0))
    low, high = (np.take_along_axis(ordered, index[np.newaxis], axis=0)[0] for index in (below, above))
    return np.asarray(low + (high - low) * (place - below))
