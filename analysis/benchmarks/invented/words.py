"""Invented words in several scripts: numbers spelt with syllables, so that millions of them differ from each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Places = NDArray[np.int64]

KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワ"
SCRAMBLE = 2_654_435_761  # a prime: neighbouring numbers get names that are nothing alike


@dataclass(frozen=True)
class Speech:
    """How words of one language are made; what names, classes and fillers are spelt with never meets."""

    lat: str  # as UMLS writes the language
    file: str  # as MMedBench names its file
    names: tuple[str, ...]  # syllables
    length: int  # syllables of a name
    classes: tuple[str, ...]  # what kind of thing a concept is
    fillers: tuple[str, ...]  # words that mean nothing
    of: str  # between class and name in a synonym
    space: str  # between words
    mark: str  # at the end of a question

    def name(self, numbers: Places, *, capital: bool = True) -> pa.Array:
        """The name of each number, which no other number has."""
        base, parts = len(self.names), []
        rest = (numbers * SCRAMBLE + 97) % base**self.length  # one to one: the factor shares no divisor with the base
        for place in range(self.length):
            syllables = [text.capitalize() for text in self.names] if capital and not place else list(self.names)
            parts.append(pa.array(syllables).take(pa.array(rest % base)))
            rest = rest // base
        return joined(*parts)

    def class_of(self, numbers: Places) -> pa.Array:
        """The class of each number, by tens."""
        return pa.array(self.classes).take(pa.array(numbers // 10 % len(self.classes)))

    def sentence(self, numbers: Places, words: int) -> pa.Array:
        """Fillers that mean nothing, as many as asked for, different for most numbers."""
        base, parts, rest = len(self.fillers), [], numbers * 7919 + 12_345
        for _ in range(words):
            parts.append(pa.array(self.fillers).take(pa.array(rest % base)))
            rest = rest // 3 + 101
        return joined(*parts, between=self.space)


def joined(*parts: pa.Array | str, between: str = "") -> pa.Array:
    """Arrays of texts put together, row by row; a text stands in every row."""
    found: pa.Array = pc.binary_join_element_wise(*parts, between)
    return found


def _syllables(consonants: str, vowels: str) -> tuple[str, ...]:
    return tuple(map("".join, product(consonants, vowels)))


def _latin(lat: str, file: str, vowels: str, of: str) -> Speech:
    classes = tuple(f"{a}x{b}" for a, b in product(_syllables("bdfgk", vowels[:2]), vowels[:3]))
    fillers = tuple(map("".join, product(_syllables("hjwy", vowels), repeat=2)))
    return Speech(lat, file, _syllables("bdfgklmnprstvz", vowels), 4, classes, fillers, of, " ", "?")


def _han(first: int, n: int) -> tuple[str, ...]:
    return tuple(chr(first + number) for number in range(n))


ENGLISH = _latin("ENG", "English", "aeiou", "ov")
OTHERS = (
    _latin("SPA", "Spanish", "aeióú", "dez"),
    _latin("FRE", "French", "aéèoù", "dus"),
    _latin("GER", "German", "aäeöü", "vun"),
    _latin("POR", "Portuguese", "aãeõu", "dao"),
    Speech(
        "RUS",
        "Russian",
        _syllables("бвгджзклмнпрст", "аеиоу"),
        4,
        tuple(f"{a}щ{b}" for a, b in product(_syllables("бвгдк", "ао"), "аеу")),
        tuple(map("".join, product(_syllables("фхцч", "аеиоу"), repeat=2))),
        "из",
        " ",
        "?",
    ),
    Speech("CHI", "Chinese", _han(0x6C10, 80), 4, _han(0x75C0, 30), _han(0x5B50, 60), "之", "", "？"),
    Speech("JPN", "Japanese", tuple(KANA), 5, _han(0x7600, 30),
           tuple("あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほ"), "の", "", "？"),
)  # fmt: skip
EVERY = (ENGLISH, *OTHERS)
