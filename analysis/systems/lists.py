"""Rankings taken apart and put together, some queries at a time: their rows may be very many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.model import Ranking
from analysis.store.vector_file import HELD, Number, column

ROWS = 4_000_000
"""Rows of all rankings that are looked at at once: adding them up takes about 300 MB."""


def by_queries(rankings: Sequence[Ranking]) -> Iterator[list[Ranking]]:
    """Some queries' lists of each of several rankings, then the next ones', until there is none; nothing is copied."""
    n_queries = max((int(part.query[-1]) + 1 for part in rankings if len(part.query)), default=0)
    ends = np.cumsum(sum(np.bincount(part.query, minlength=n_queries) for part in rankings))
    start = 0
    while start < n_queries:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + ROWS, side="right")))
        yield [_between(part, start, stop) for part in rankings]
        start = stop


def _between(part: Ranking, start: int, stop: int) -> Ranking:
    rows = slice(*np.searchsorted(part.query, [start, stop]).tolist())
    return Ranking(part.query[rows], part.document[rows], part.score[rows], part.depth)


def joined(parts: list[Ranking], *, depth: int) -> Ranking:
    """One ranking of several, the queries of each after those of the one before it.

    They are taken out of the list and let go column by column, so that memory never holds all rows twice.
    """
    columns = [[getattr(part, name) for part in parts] for name in ("query", "document", "score")]
    parts.clear()
    query, document = (_column(columns.pop(0), np.int32) for _ in range(2))
    return Ranking(query, document, _column(columns.pop(0), np.float64), depth)


def aside(ranking: Ranking, folder: Path) -> Ranking:
    """A ranking that is kept for later: where memory should not hold it, in files of this folder without a name.

    Raises:
        StoreError: the disk has no room for it.
    """
    if ranking.nbytes <= HELD:
        return ranking
    query, document = (column(folder, rows) for rows in (ranking.query, ranking.document))
    return Ranking(query, document, column(folder, ranking.score), ranking.depth)


def _column(pieces: Sequence[NDArray[Number]], dtype: type[Number]) -> NDArray[Number]:
    return np.concatenate([np.zeros(0, dtype), *pieces])
