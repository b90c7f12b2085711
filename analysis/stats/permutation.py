"""Paired tests by flipping signs."""

from __future__ import annotations

import numpy as np

from analysis.stats.bootstrap import Floats

EXACT = 13
"""Up to this many units every assignment of signs is tried: 8,192."""

RESAMPLES = 10_000


def sign_flip_p(differences: Floats, *, seed: int, resamples: int = RESAMPLES) -> float:
    """Two-sided p that paired differences of this size come about when each sign is a coin's.

    ``p = #{|T*| >= |T|} / 2^F`` over all assignments of signs where F <= 13, else
    ``p = (1 + #{|T*| >= |T|}) / (B + 1)`` over B drawn ones, with T the sum of the differences.

    Args:
        differences: ``(F,)`` one a unit (a family: its queries flip together); NaN units are left out.
        seed: of the drawn assignments.
        resamples: B.

    Returns:
        From above 0 to 1; 1 where all differences are 0, NaN without a unit.

    Source:
        Edgington & Onghena (2007), Randomization Tests; the correction of Davison & Hinkley (1997), equation 4.11.
    """
    sound = differences[~np.isnan(differences)]
    if not len(sound):
        return float("nan")
    observed = abs(sound.sum())
    tolerance = 1e-12 * np.abs(sound).sum()  # the same sum in another order may differ in its last bits
    if len(sound) <= EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(sound))[:, np.newaxis] >> np.arange(len(sound))) & 1)
        return float(np.mean(np.abs(signs @ sound) >= observed - tolerance))
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2, size=(resamples, len(sound)), dtype=np.int8) * np.int8(2) - np.int8(1)
    reached = np.count_nonzero(np.abs(signs @ sound) >= observed - tolerance)
    return float((1 + reached) / (resamples + 1))
