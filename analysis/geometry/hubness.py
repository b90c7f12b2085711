"""Documents that come up whatever is asked.

N_k of a document is the number of queries whose top k holds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

DEPTH = 10
"""k of N_k."""

DEVIATIONS = 3
"""Standard deviations above the mean from which on a document is a hub."""

Appearances = NDArray[np.int64]


def appearances(documents: NDArray[Any], *, n_documents: int) -> Appearances:
    """N_k of every document of the corpus, ``(M,)``; 0 for one that no top k holds.

    Args:
        documents: ``(H,)`` positions of the documents in the top k of every query; what is not of the corpus is passed
            over.
        n_documents: M.
    """
    inside = documents[(documents >= 0) & (documents < n_documents)]
    return np.bincount(inside, minlength=n_documents)


def skewness(counts: Appearances) -> float:
    """How lopsided N_k is over the documents: the third standardised moment.

    ``mean((N - m)^3) / sd^3``. About 0 where all documents come up alike; above 1 few of them crowd the others out. NaN
    where all are equal.

    Source:
        Radovanović, Nanopoulos & Ivanović (2010), JMLR 11, equation 1.
    """
    apart = counts - counts.mean() if len(counts) else np.zeros(0)
    spread = np.sqrt((apart**2).mean()) if len(counts) else 0.0
    return float((apart**3).mean() / spread**3) if spread > 0 else float("nan")


def skewness_of_moments(first: Any, second: Any, third: Any) -> NDArray[np.float64]:
    """The same of means of N, N² and N³, arrays of one shape: for draws, in which only means are known."""
    spread = np.maximum(second - first**2, 0)
    apart = third - 3 * first * second + 2 * first**3
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(spread > 0, apart / spread**1.5, np.nan))


def hubs(counts: Appearances) -> NDArray[np.intp]:
    """Positions of the hubs, the largest N_k first: those with N_k above mean + 3 standard deviations."""
    if not len(counts):
        return np.zeros(0, dtype=np.intp)
    above = np.flatnonzero(counts > counts.mean() + DEVIATIONS * counts.std())
    return np.asarray(above[np.argsort(-counts[above], kind="stable")], dtype=np.intp)
