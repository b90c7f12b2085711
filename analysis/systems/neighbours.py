"""The nearest others of every row, exactly, from half of the table of all products: it is the same both ways."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096
"""Rows at most whose products with as many others are held at once."""

SHARE = 32
"""Numbers of which only the largest is looked at when a row's k-th largest is bounded from below."""

Numbers = NDArray[np.float32]
Places = NDArray[np.int64]


def neighbours(vectors: NDArray[np.float32], *, k: int) -> tuple[Places, Numbers]:
    """The nearest others of every row by inner product, and these products, ``(n, min(k, n - 1))``, nearest first.

    Args:
        vectors: ``(n, d)`` unit rows.
        k: how many, at least 1.
    """
    n = len(vectors)
    k = max(0, min(k, n - 1))
    near, product = np.zeros((n, k), np.int64), np.zeros((n, k), np.float32)
    if not k:
        return near, product
    blocks = _blocks(n, k=k)
    for rows in blocks:  # first each block alone, so that every row has k to be beaten
        scores = vectors[rows] @ vectors[rows].T
        np.fill_diagonal(scores, -np.inf)
        row, place = _where(scores >= _floor(scores, k=k)[:, np.newaxis])
        near[rows], product[rows] = _largest(row, place + rows.start, scores[row, place], k=k)
    for number, rows in enumerate(blocks):
        for others in blocks[number + 1 :]:
            scores = vectors[rows] @ vectors[others].T
            row, other = _where(scores >= product[rows, -1:])
            _add(near[rows], product[rows], row, other + others.start, scores[row, other])
            row, other = _where(scores >= product[others, -1])
            _add(near[others], product[others], other, row + rows.start, scores[row, other])
    return near, product


def _blocks(n: int, *, k: int) -> list[slice]:
    """Runs of rows, of which each has more than ``k``."""
    count = -(-n // max(BLOCK, 4 * k))
    return list(itertools.starmap(slice, itertools.pairwise(n * number // count for number in range(count + 1))))


def _where(table: NDArray[np.bool_]) -> tuple[Places, Places]:
    """Rows and columns, as ``np.nonzero`` finds them, which takes several times as long of a table."""
    row, column = np.divmod(np.flatnonzero(table), table.shape[1])
    return row, column


def _add(near: Places, product: Numbers, row: Places, place: Places, number: Numbers) -> None:
    """Let what was found take the places of what is farther."""
    n, k = near.shape
    rows = np.concatenate([np.repeat(np.arange(n), k), row])
    places, numbers = np.concatenate([near.ravel(), place]), np.concatenate([product.ravel(), number])
    near[:], product[:] = _largest(rows, places, numbers, k=k)


def _largest(row: Places, place: Places, number: Numbers, *, k: int) -> tuple[Places, Numbers]:
    """The ``k`` largest numbers of each row and where they stand, largest first; every row has as many."""
    order = np.lexsort((-number, row))
    starts = np.flatnonzero(np.diff(row[order], prepend=-1))
    kept = order[starts[:, np.newaxis] + np.arange(k)]
    return place[kept], number[kept]


def _floor(scores: NDArray[Any], *, k: int) -> NDArray[Any]:
    """What the ``k`` largest of each row reach and few others do: the k-th largest of the best of equal shares."""
    shares = scores.shape[1] // SHARE
    best = scores
    if shares >= k:
        best = scores[:, :shares].copy()
        for start in range(shares, shares * SHARE, shares):
            np.maximum(best, scores[:, start : start + shares], out=best)
    return np.asarray(np.partition(best, best.shape[1] - k, axis=1)[:, best.shape[1] - k])
