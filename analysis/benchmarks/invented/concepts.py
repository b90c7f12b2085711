"""Which invented concepts there are, in which languages, and which traps each has: one answer a seed and number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.benchmarks.invented.words import ENGLISH, EVERY, Places, Speech, joined
from analysis.errors import InputError

FEWEST, MOST = 40, 5_000_000
SPOKEN = 0.65  # share of concepts that a language other than English has a name for


@dataclass(frozen=True)
class Concepts:
    """Invented concepts, numbered from 0; what a trap depends on is the number."""

    seed: int
    n: int

    def __post_init__(self) -> None:
        if not FEWEST <= self.n <= MOST:
            raise InputError(f"concepts {self.n}: expected {FEWEST} to {MOST:,}")
        if self.seed < 0:
            raise InputError(f"seed {self.seed}: expected 0 or more")

    @cached_property
    def numbers(self) -> Places:
        """All of them, ``(n,)``."""
        return np.arange(self.n, dtype=np.int64)

    @cached_property
    def _spellings(self) -> dict[str, Places]:
        """By language, which word each concept has now, had before, and shares with its neighbour: ``(3 n,)``."""
        return {speech.lat: self._random(place, 0).permutation(3 * self.n) for place, speech in enumerate(EVERY)}

    @cached_property
    def _spoken(self) -> dict[str, NDArray[np.bool_]]:
        rolls = {speech.lat: self._random(place, 1).random(self.n) for place, speech in enumerate(EVERY)}
        some = ~english(self.numbers)
        return {
            lat: (lat == ENGLISH.lat) | everywhere(self.numbers) | (some & (roll < SPOKEN))
            for lat, roll in rolls.items()
        }

    def _random(self, place: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, place, purpose])

    def spoken(self, speech: Speech) -> NDArray[np.bool_]:
        """Which concepts a language has a name for, ``(n,)``."""
        return self._spoken[speech.lat]

    def term(self, speech: Speech, chosen: Places, *, capital: bool = True) -> pa.Array:
        """The term that each concept prefers; of those that read alike in English it ends with a digit."""
        same = alike(chosen) & (speech is ENGLISH)
        of = np.where(same, chosen // 10 * 10, chosen)
        term = joined(self._name(speech, of, 0, capital=capital), speech.class_of(chosen), between=speech.space)
        return pc.if_else(pa.array(same), joined(term, pa.array(chosen % 10).cast(pa.string()), between=" "), term)

    def synonym(self, speech: Speech, chosen: Places) -> pa.Array:
        """Another term of each: class of name."""
        name = self._name(speech, chosen, 0)
        return joined(speech.class_of(chosen), speech.of, name, between=speech.space)

    def quoted(self, speech: Speech, chosen: Places) -> pa.Array:
        """The preferred term with quotes and a backslash in it."""
        return joined('"', self._name(speech, chosen, 0), '" \\ ', speech.class_of(chosen))

    def former(self, speech: Speech, chosen: Places) -> pa.Array:
        """A term that each had once; every atom of it is suppressed."""
        return joined(self._name(speech, chosen, 1), speech.class_of(chosen), between=speech.space)

    def shared(self, speech: Speech, chosen: Places) -> pa.Array:
        """A term that each concept and the next one have, which is even less theirs than a name."""
        first = chosen - chosen % 2
        return joined(self._name(speech, first, 2), speech.class_of(first), between=speech.space)

    def short(self, chosen: Places) -> pa.Array:
        """Two letters, which many concepts have."""
        consonants = pa.array([text[0].upper() for text in ENGLISH.names[:: len("aeiou")]])
        return joined(*(consonants.take(pa.array(chosen // 5 // divisor % len(consonants))) for divisor in (1, 14)))

    def _name(self, speech: Speech, chosen: Places, shelf: int, *, capital: bool = True) -> pa.Array:
        return speech.name(self._spellings[speech.lat][chosen + shelf * self.n], capital=capital)


Which = NDArray[np.bool_]


def everywhere(numbers: Places) -> Which:
    """Concepts that every language has a name for."""
    return np.equal(numbers % 5, 0)


def english(numbers: Places) -> Which:
    """Concepts that English alone has a name for: its two terms read alike, whoever reads them."""
    return np.equal(numbers // 10 % 10, 4) & ~everywhere(numbers)


def undefined(numbers: Places) -> Which:
    """Concepts without a definition."""
    return np.equal(numbers % 10, 9)


def formerly(numbers: Places) -> Which:
    """Concepts with a suppressed atom."""
    return np.equal(numbers % 4, 0)


def twins(numbers: Places) -> Which:
    """Concepts that share a string with another."""
    return np.equal(numbers % 20 // 2, 6)


def abbreviated(numbers: Places) -> Which:
    """Concepts with a term of two letters."""
    return np.equal(numbers % 5, 2)


def in_quotes(numbers: Places) -> Which:
    """Concepts with a term in quotes."""
    return np.equal(numbers % 7, 3)


def alike(numbers: Places) -> Which:
    """Ten concepts whose English terms differ in one character: no encoder tells them apart as siblings."""
    return np.equal(numbers // 10, 3)
