"""Adjusted p of several tests that are read together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats


def holm(p: Floats) -> Floats:
    """Holm's step-down adjustment, which bounds the chance of a single false alarm among all tests.

    ``max over j <= i of min(1, (m - j + 1) p_(j))`` for the i-th smallest of m.

    Args:
        p: ``(m,)``; NaN tests are left out and do not count.

    Returns:
        ``(m,)`` in the order given; NaN where ``p`` is.

    Source:
        Holm (1979), Scandinavian Journal of Statistics 6(2).
    """
    ordered, places = _ascending(p)
    steps = np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    return _put_back(np.minimum(steps, 1.0), places, len(p))


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini & Hochberg's step-up adjustment, which bounds the share of false alarms among the discoveries.

    ``min over j >= i of min(1, m p_(j) / j)`` for the i-th smallest of m.

    Args:
        p: ``(m,)``; NaN tests are left out and do not count.

    Returns:
        ``(m,)`` in the order given; NaN where ``p`` is.

    Source:
        Benjamini & Hochberg (1995), JRSS B 57(1).
    """
    ordered, places = _ascending(p)
    raised = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
    steps = np.minimum.accumulate(raised[::-1])[::-1]
    return _put_back(np.minimum(steps, 1.0), places, len(p))


def _ascending(p: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """What is not NaN in ascending order, and where each stood."""
    places = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]  # NaN last
    return p[places], places


def _put_back(adjusted: Floats, places: NDArray[np.intp], n: int) -> Floats:
    out = np.full(n, np.nan)
    out[places] = adjusted
    return out
