"""The interval of a single proportion, such as a route cell in which every query has one such document."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from analysis.stats.bootstrap import Bounds


def wilson(successes: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> Bounds:
    """The Wilson score interval, which stays inside 0 to 1 and has a width even at 0 and n successes.

    ``(p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)`` with ``p = successes / n`` and z the normal quantile of
    ``(1 + level) / 2``. From 0 to 1.

    Args:
        successes: any shape; from 0 to n.
        n: trials, broadcast against ``successes``.
        level: of the interval, between 0 and 1.

    Returns:
        Two arrays of the common shape; NaN where n is 0. Low is exactly 0 without a success, high exactly 1 without a
        failure.

    Source:
        Wilson (1927), JASA 22(158); Brown, Cai & DasGupta (2001), Statistical Science 16(2), eq. 4.
    """
    hits, trials = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64))
    trials = np.where(trials > 0, trials, np.nan)
    share = hits / trials
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    centre = share + z2 / (2 * trials)
    half = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * trials)) / trials)
    scale = 1 + z2 / trials
    low = np.where(share == 0, 0.0, (centre - half) / scale)
    high = np.where(share == 1, 1.0, (centre + half) / scale)
    return Bounds(low, high)
