"""How large a paired difference is beside its mean, and whether there is enough to test it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from analysis.stats.bootstrap import Floats

FEWEST_PAIRS = 30
FEWEST_FAMILIES = 10
FEWEST_UNEQUAL = 10

_SAME = 1e-12
"""Scores from 0 to 1 this close to each other are equal."""


class WinTieLoss(NamedTuple):
    """On how many queries a difference is above 0, 0, and below 0."""

    win: int
    tie: int
    loss: int


def win_tie_loss(differences: Floats) -> WinTieLoss:
    """Count wins, ties and losses among ``differences`` ``(Q,)``; NaN are left out."""
    win, loss = (int(np.count_nonzero(sign * differences > _SAME)) for sign in (1, -1))
    return WinTieLoss(win, int(np.count_nonzero(np.abs(differences) <= _SAME)), loss)


def rank_biserial(differences: Floats) -> float:
    """Matched-pairs rank-biserial correlation: by how much the larger differences point one way.

    ``(W - L) / (W + L)`` with W and L the sums of the ranks of the absolute differences above and below 0; equal ones
    share their mean rank and zeros are left out. From -1 to 1; 1 where every difference is a win.

    Args:
        differences: ``(Q,)``; NaN are left out.

    Returns:
        NaN where all differences are 0 or NaN.

    Source:
        Kerby (2014), Comprehensive Psychology 3, with the signed-rank sums of Wilcoxon (1945).
    """
    from scipy.stats import rankdata

    unequal = differences[np.abs(differences) > _SAME]
    if not len(unequal):
        return float("nan")
    ranks = rankdata(np.round(np.abs(unequal), 12))
    won = ranks[unequal > 0].sum()
    return float((2 * won - ranks.sum()) / ranks.sum())


def too_few(*, pairs: int, families: int, unequal: int) -> str | None:
    """The backstop: why a p would say nothing here; None where it may be shown.

    Args:
        pairs: queries with both values.
        families: units whose signs are flipped.
        unequal: of those, how many differ at all.
    """
    for found, fewest, what in (
        (pairs, FEWEST_PAIRS, "paired queries"),
        (families, FEWEST_FAMILIES, "families"),
        (unequal, FEWEST_UNEQUAL, "families that differ at all"),
    ):
        if found < fewest:
            return f"descriptive only: {found:,} {what}, a test needs {fewest}"
    return None
