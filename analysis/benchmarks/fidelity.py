"""Whether a translation keeps what a question is about: its terms, and its words on the way back."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

PASS, FLAG, FAIL = ("pass", "flag", "fail")
ORIGINAL = "source"  # a question as it was asked
ABBREVIATIONS = Path(__file__).with_name("abbreviations.txt")

PASS_PRESERVED, PASS_F1 = 0.9, 0.8  # at least, both
FAIL_PRESERVED, FAIL_F1 = 0.7, 0.6  # less, either

_WORD = re.compile(r"[^\W_]+")


class SourceTerm(NamedTuple):
    """Something of a question that its translation must keep."""

    words: str  # as terms are compared, or an abbreviation as it is written
    cui: str | None  # None: an abbreviation alone
    abbreviations: tuple[str, ...]  # of the protected ones, those in it


class Kept(NamedTuple):
    """What became of the terms of one question in one translation."""

    checked: int  # terms that could be looked for
    kept: int  # of these, found
    abbreviations: int  # protected abbreviations in the question
    abbreviations_kept: int  # of these, found as they were written
    unknown: int  # terms for which the lexicon has no word in the language, and no abbreviation could stand

    @property
    def preservation(self) -> float | None:
        """Share of the terms that are kept; None where there was none to look for."""
        return self.kept / self.checked if self.checked else None


@cache
def abbreviations() -> tuple[str, ...]:
    """Abbreviations that a translation keeps as they are."""
    return tuple(ABBREVIATIONS.read_text(encoding="utf-8").split())


def written_in(text: str) -> tuple[str, ...]:
    """The protected abbreviations in a text, in the order of their list: as written, and no part of a longer word.

    Full-width letters count as ordinary ones.
    """
    narrow = unicodedata.normalize("NFKC", text)
    return tuple(name for name in abbreviations() if _pattern(name).search(narrow))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


def source_terms(text: str, found: Iterable[tuple[str, str]]) -> tuple[SourceTerm, ...]:
    """What a translation of a question must keep.

    Args:
        text: the question.
        found: its terms of the lexicon, as they are compared, each with its concept.

    Returns:
        The terms, then the protected abbreviations that stand in none of them.
    """
    here = written_in(text)
    terms = [SourceTerm(key, cui, tuple(name for name in here if _inside(name, key))) for key, cui in found]
    told = {name for term in terms for name in term.abbreviations}
    return (*terms, *(SourceTerm(name, None, (name,)) for name in here if name not in told))


def _inside(name: str, key: str) -> bool:
    """Whether an abbreviation is among the words of a term."""
    return f" {' '.join(_words(name))} " in f" {key} "


def kept(terms: Sequence[SourceTerm], text: str, *, spoken: Collection[str], there: Collection[str]) -> Kept:
    """What a translation keeps.

    A term is kept where a word of the lexicon for its concept stands in the translation, or an abbreviation that it
    holds. A concept for which the lexicon has no word in the language cannot be looked for.

    Args:
        terms: of the question.
        text: the translation.
        spoken: concepts that the lexicon has words for in its language.
        there: concepts of which a word stands in it.
    """
    here = set(written_in(text))
    able = [term for term in terms if term.abbreviations or term.cui in spoken]
    found = sum(term.cui in there or bool(here.intersection(term.abbreviations)) for term in able)
    short = {name for term in terms for name in term.abbreviations}
    return Kept(len(able), found, len(short), len(short & here), len(terms) - len(able))


def token_f1(first: str, second: str) -> float:
    """How many words two texts share: twice the words in both over the words of both, each as often as it occurs.

    From 0 to 1; words are runs of letters and digits in lower case. 0 where neither has a word.
    """
    one, other = Counter(_words(first)), Counter(_words(second))
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def status(preservation: float | None, f1: float | None) -> str:
    """Whether a translation passes.

    Args:
        preservation: None where there was no term to look for: then nothing of it can be lost, and F1 decides alone.
        f1: None where nobody translated it back: it may fail, and does not pass.
    """
    if (preservation is not None and preservation < FAIL_PRESERVED) or (f1 is not None and f1 < FAIL_F1):
        return FAIL
    passes = (preservation is None or preservation >= PASS_PRESERVED) and f1 is not None and f1 >= PASS_F1
    return PASS if passes else FLAG


def limits() -> Mapping[str, float]:
    """The bounds, for the record."""
    return {
        "pass_preservation": PASS_PRESERVED,
        "pass_f1": PASS_F1,
        "fail_preservation": FAIL_PRESERVED,
        "fail_f1": FAIL_F1,
    }
