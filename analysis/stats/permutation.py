"""Paired tests by flipping signs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats

EXACT = 13
"""Up to this many units every assignment of signs is tried: 8,192."""

RESAMPLES = 10_000

_SIGNS_AT_ONCE = 500
"""Assignments drawn at a time. Part of what a seed means: another number draws other signs."""


def sign_flip_p(differences: Floats, *, seed: int, resamples: int = RESAMPLES) -> float:
    """The p of one column of paired differences, see :func:`sign_flip_ps`.

    Args:
        differences: ``(F,)`` one a unit (a family: its queries flip together); NaN units are left out.
        seed: of the drawn assignments.
        resamples: B.

    Returns:
        From above 0 to 1; 1 where all differences are 0, NaN without a unit.
    """
    return float(sign_flip_ps(differences[:, np.newaxis], seed=seed, resamples=resamples)[0])


def sign_flip_ps(differences: Floats, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Two-sided p that paired differences of this size come about when each sign is a coin's, column by column.

    ``p = #{|T*| >= |T|} / 2^F`` over all assignments of signs where F <= 13, else
    ``p = (1 + #{|T*| >= |T|}) / (B + 1)`` over B drawn ones, which all columns share, with T the sum of a column.

    Args:
        differences: ``(F, C)`` one row a unit (a family: its queries flip together), weighted as in the mean that is
            tested; NaN units are left out of their column.
        seed: of the drawn assignments.
        resamples: B.

    Returns:
        ``(C,)`` from above 0 to 1; 1 where all differences are 0, NaN without a unit.

    Source:
        Edgington & Onghena (2007), Randomization Tests; the correction of Davison & Hinkley (1997), equation 4.11.
    """
    known = ~np.isnan(differences)
    n = known.sum(axis=0)
    p = np.full(differences.shape[1], np.nan)
    for column in np.flatnonzero((n > 0) & (n <= EXACT)):
        sound = differences[known[:, column], column][:, np.newaxis]
        p[column] = _reached(sound, [_every_assignment(len(sound))])[0] / 2 ** len(sound)
    drawn = n > EXACT
    if drawn.any():
        units = known[:, drawn].any(axis=1)
        sound = np.nan_to_num(differences[np.ix_(units, drawn)])
        p[drawn] = (1 + _reached(sound, _drawn_assignments(len(sound), resamples, seed))) / (resamples + 1)
    return p


def _reached(differences: Floats, assignments: Iterable[NDArray[np.integer[Any]]]) -> NDArray[np.int64]:
    """Under how many assignments of signs the sum of each column is at least as far from 0 as it is."""
    # The same sum in another order may differ in its last bits.
    bar = np.abs(differences.sum(axis=0)) - 1e-12 * np.abs(differences).sum(axis=0)
    count = np.zeros(differences.shape[1], dtype=np.int64)
    for signs in assignments:
        count += np.count_nonzero(np.abs(signs.astype(np.float64) @ differences) >= bar, axis=0)
    return count


def _every_assignment(units: int) -> NDArray[np.int64]:
    """All ``(2^F, F)`` assignments."""
    return 1 - 2 * ((np.arange(2**units)[:, np.newaxis] >> np.arange(units)) & 1)


def _drawn_assignments(units: int, resamples: int, seed: int) -> Iterator[NDArray[np.int8]]:
    """B drawn assignments, some rows ``(..., F)`` at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, _SIGNS_AT_ONCE):
        rows = min(_SIGNS_AT_ONCE, resamples - start)
        yield rng.integers(0, 2, size=(rows, units), dtype=np.int8) * np.int8(2) - np.int8(1)
