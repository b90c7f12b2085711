"""Keys of texts and of runs of their words, and sets of keys that a stream goes past.

Keys are 64-bit hashes. Those of runs of words are polynomials over the hashes of the words, so that the key of any run
follows from two prefix sums; that two different runs share a key is about as likely as two hashes being equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.store.texts import COMPACT, TRIMMED, WORDS

BASE = 0x9E3779B97F4A7C15
MODULUS = 1 << 64
LARGEST_FILTER = 24  # bits

Hashes = NDArray[np.uint64]

TELL = f"""
coalesce(CASE WHEN {TRIMMED} <> '' THEN hash({TRIMMED}) END, 0::UBIGINT) AS trimmed,
coalesce(CASE WHEN {COMPACT} <> '' THEN hash({COMPACT}) END, 0::UBIGINT) AS compact,
list_transform({WORDS}, lambda word: hash(word)) AS words
"""
"""SQL for the keys of a text."""


@dataclass(frozen=True, eq=False)
class Told:
    """What is told of some texts.

    Attributes:
        trimmed: ``(n,)`` keys of the texts as they are; 0 for a text without anything.
        compact: ``(n,)`` keys of their letters, marks and digits; 0 without any.
        words: ``(w,)`` keys of all their words, one text after the other.
        ends: ``(n + 1,)`` where the words of each text begin, and the end.
    """

    trimmed: Hashes
    compact: Hashes
    words: Hashes
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, table: pa.Table) -> Told:
        """From the columns of TELL."""
        lists = table.column("words").combine_chunks()
        return cls(
            table.column("trimmed").to_numpy(),
            table.column("compact").to_numpy(),
            lists.flatten().to_numpy(zero_copy_only=False),
            lists.offsets.to_numpy().astype(np.int64) - lists.offsets[0].as_py(),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """``(n,)`` words of each text."""
        return np.diff(self.ends)


class Sums:
    """Keys of runs of words."""

    def __init__(self, words: Hashes) -> None:
        self._backwards = _powers(pow(BASE, -1, MODULUS), len(words))
        weighted = words * _powers(BASE, len(words))[:-1]
        self._sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weighted, dtype=np.uint64)])

    def keys(self, first: NDArray[np.int64], length: int | NDArray[np.int64]) -> Hashes:
        """Of the runs that begin at these words and have so many."""
        found: Hashes = (self._sums[first + length] - self._sums[first]) * self._backwards[first]
        return found


def _powers(base: int, n: int) -> Hashes:
    """``(n + 1,)`` powers modulo 2 to the 64th, from the 0th on."""
    return np.concatenate([np.ones(1, np.uint64), np.cumprod(np.full(n, base, np.uint64), dtype=np.uint64)])


class Keys:
    """Keys that are looked for, each with the first row that had it."""

    def __init__(self, wanted: Hashes) -> None:
        self._keys = np.unique(wanted)
        self.first = np.full(len(self._keys), -1, np.int64)
        bits = min(LARGEST_FILTER, max(8, len(self._keys).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        self._filter = np.zeros(1 << bits, dtype=bool)
        self._filter[(self._keys >> self._shift).astype(np.intp)] = True

    def meet(self, keys: Hashes, rows: NDArray[np.int64]) -> NDArray[np.intp]:
        """Note in which rows, ascending, keys stand; returns the positions of those that are looked for."""
        at: NDArray[np.intp] = np.flatnonzero(self._filter[(keys >> self._shift).astype(np.intp)])
        if not len(self._keys) or not len(at):
            return np.zeros(0, np.intp)
        place = np.minimum(np.searchsorted(self._keys, keys[at]), len(self._keys) - 1)
        hit = self._keys[place] == keys[at]
        at, place = at[hit], place[hit]
        fresh = self.first[place] < 0
        self.first[place[fresh][::-1]] = rows[at[fresh]][::-1]  # of several rows the first stays
        return at

    def rows(self, keys: Hashes) -> NDArray[np.int64]:
        """The first row of each of some keys that are looked for; -1 where none had it."""
        found: NDArray[np.int64] = self.first[np.searchsorted(self._keys, keys)]
        return found
