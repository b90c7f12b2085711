"""Differences between the languages that a system is asked in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.metrics.ranking import Floats


class Extremes(NamedTuple):
    """Positions of the languages with the highest and the lowest mean; -1 with fewer than two languages."""

    best: int
    worst: int


def extremes(means: Floats) -> Extremes:
    """The best and the worst of the languages' means ``(L,)``, NaN for a language without queries; ties: the first."""
    if np.count_nonzero(~np.isnan(means)) < 2:
        return Extremes(-1, -1)
    return Extremes(int(np.nanargmax(means)), int(np.nanargmin(means)))
