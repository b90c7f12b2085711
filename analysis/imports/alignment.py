"""Whether the rows of a parallel table belong together, looked at before anything is scored.

A stretch of rows whose texts belong to other rows looks exactly like a language that a system cannot read. Every
language is compared with the first one, row by row (:mod:`analysis.imports.translations`); where most of the others
disagree with it in a row, the fault is its own. A row is taken for misaligned

* inside a stretch, which is a run of rows with far more doubtful ones than the rest (binomial tail, Bonferroni over all
  runs of all documents and languages): where its odds are against it, or its text fits another row much better;
* elsewhere: where its odds are a thousand to one against it, or fifty to one when its text stands in several rows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.imports import translations
from analysis.imports.translations import ABBREVIATION, NUMBER, Evidence, Signature
from analysis.languages import language_name
from analysis.model import Flag
from analysis.text import same_text_key

Rows = NDArray[np.int64]
Bools = NDArray[np.bool_]

MISALIGNED = "misaligned"
"""The reason of a flag."""

DOUBT = -2.0
"""Logarithm of odds below which a row is doubtful."""
ALONE = -math.log(1000)
"""Logarithm of odds below which it is misaligned wherever it stands."""
REPEATED = -math.log(50)
"""Logarithm of odds below which it is misaligned when its text stands in other rows too."""
LEVEL = 0.01
"""A stretch is named where chance finds one in fewer than one of a hundred files."""
ENOUGH = 30
"""With fewer rows nothing can be learned and nothing is checked."""
SEARCH = 300
"""How many rows before and after a misaligned one its text is looked for."""
EXAMPLES = 3

_USUAL = (0.003, 0.15)  # bounds of the share of doubtful rows outside stretches that these are tested against
_TRUSTED = 0.8  # a check that would notice fewer exchanged rows says so
_UNRELATED = 0.75  # where rows fit better than their neighbours more rarely, nothing seems to belong together
_FOUND = 5.0  # a text is found elsewhere when its odds there are by so much better than where it stands, and than even
_SOME = 0.1  # share of misaligned rows found elsewhere from which they are said to belong to other rows
_BLOCK = 30
_DOCUMENT = 10  # families of fewer rows on average are no documents: stretches are looked for in the whole file


@dataclass(frozen=True)
class Example:
    """One row that does not belong together."""

    row: str
    text: str
    first: str  # the text of the first language beside it


@dataclass(frozen=True)
class Stretch:
    """Rows in a run whose texts belong to other rows.

    Attributes:
        document: the family that they are in; None where the file has no documents.
        first: the first row.
        last: the last row.
        n_rows: rows of the run with both texts.
        n_misaligned: of these, rows that do not belong together.
        n_found: of these, rows whose text fits another row within ``SEARCH``.
        offset: how many rows later the row stands that most of these fit; None where no number holds for half of them.
        offsets: from the 10th to the 90th percentile; None where none was found.
        p: chance of so many doubtful rows in some run, after Bonferroni.
        examples: the first few.
    """

    document: str | None
    first: str
    last: str
    n_rows: int
    n_misaligned: int
    n_found: int
    offset: int | None
    offsets: tuple[int, int] | None
    p: float
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class LanguageCheck:
    """How the texts of one language fit.

    Attributes:
        language: its tag.
        n_rows: rows in which it and the first language have a text; of the first language, rows with two others.
        n_misaligned: rows that do not belong together.
        n_repeated: rows whose text stands in several rows, beside different texts of the first language.
        noticed: share of exchanged neighbouring rows that would be doubted: how far the check can be trusted.
        fits_better: chance that a row fits better than a neighbouring one; 0.5 where nothing belongs together.
        length_ratio: median of its lengths in characters over the first language's.
        length_spread: robust standard deviation of the logarithm of that.
        numbers_kept: share of the first language's numbers that it has too; None without any.
        abbreviations_kept: the same of abbreviations of Latin letters.
        stretches: in the order of the file.
        sentence: all this for people.
    """

    language: str
    n_rows: int
    n_misaligned: int
    n_repeated: int
    noticed: float | None
    fits_better: float | None
    length_ratio: float | None
    length_spread: float | None
    numbers_kept: float | None
    abbreviations_kept: float | None
    stretches: tuple[Stretch, ...]
    sentence: str

    @property
    def doubtful(self) -> bool:
        """Whether its texts are not what they should be, or nobody can tell."""
        return self.n_misaligned > 0 or (self.fits_better is not None and self.fits_better < _UNRELATED)


@dataclass(frozen=True)
class Alignment:
    """How the languages of a table fit.

    Attributes:
        pivot: the language that all others are compared with.
        languages: the checks in the order of the table; the pivot has one where there are two others to judge it.
        misaligned: language -> numbers of the rows that do not belong together, from 0, in order.
    """

    pivot: str
    languages: tuple[LanguageCheck, ...]
    misaligned: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class _Compared:
    """One language beside the pivot."""

    odds: NDArray[np.float64]  # (n,) NaN where a text is missing
    evidence: Evidence | None  # None for the pivot
    noticed: float | None
    fits_better: float | None


def check(texts: Mapping[str, Sequence[str]], *, rows: Sequence[str], documents: Sequence[str]) -> Alignment:
    """Compare every language with the first.

    Args:
        texts: language -> ``n`` texts, blank where a row has none; all rows in the order of the file.
        rows: ``(n,)`` what each row is called.
        documents: ``(n,)`` the document that each row is of; in files without, one a row.
    """
    pivot, *others = texts
    if len(rows) < ENOUGH:
        return Alignment(pivot, tuple(_unchecked(tag, texts[tag]) for tag in texts), dict.fromkeys(texts, ()))
    signatures = {tag: translations.signature(texts[tag]) for tag in texts}
    compared = {tag: _compared(signatures[pivot], signatures[tag]) for tag in others}
    if len(others) > 1:
        own = _of_pivot([found.odds for found in compared.values()])
        compared = {pivot: _Compared(own, None, None, None), **compared}
    units = _units(documents)
    wrong: dict[str, Bools] = {}
    checks = []
    for tag, found in compared.items():
        blameless = wrong.get(pivot, np.zeros(len(rows), dtype=bool))
        odds = np.where(blameless, np.nan, found.odds)
        repeated = _repeated(texts[tag], texts[pivot] if tag != pivot else texts[others[0]])
        runs = _stretches(odds, units, n_languages=len(texts))
        wrong[tag] = _misaligned(odds, repeated, runs, found.evidence)
        names = _Names(tag, pivot, texts, rows, documents if len(units) > 1 else None)
        stretches = tuple(_stretch(names, found, run, p, wrong[tag]) for run, p in runs)
        checks.append(_check(names, signatures, found=found, wrong=wrong[tag], repeated=repeated, stretches=stretches))
    return Alignment(pivot, tuple(checks), {tag: _numbers(found) for tag, found in wrong.items()})


def _numbers(found: Bools) -> tuple[int, ...]:
    return tuple(np.flatnonzero(found).tolist())


def flags(found: Alignment, ids: Mapping[str, Sequence[str]]) -> list[Flag]:
    """A flag for each query and document of a misaligned text; ``ids``: language -> the id of each row's text."""
    return [
        Flag(item, ids[tag][row], MISALIGNED)
        for tag, numbers in found.misaligned.items()
        for row in numbers
        for item in ("query", "document")
    ]


def _unchecked(tag: str, texts: Sequence[str]) -> LanguageCheck:
    n = sum(bool(text.strip()) for text in texts)
    sentence = f"{language_name(tag)}: {n:,} rows are too few to check, expected at least {ENOUGH}"
    return LanguageCheck(tag, n, 0, 0, None, None, None, None, None, None, (), sentence)


def _compared(pivot: Signature, other: Signature) -> _Compared:
    found = translations.evidence(pivot, other)
    apart, own = (np.sort(odds[np.isfinite(odds)]) for odds in (found.others, found.own))
    if not len(apart) or not len(own):
        return _Compared(found.own, found, None, None)
    better = np.searchsorted(apart, own, "left") + np.searchsorted(apart, own, "right")  # Mann–Whitney's U, twice
    return _Compared(found.own, found, float((apart < 0).mean()), float(better.mean() / len(apart) / 2))


def _of_pivot(odds: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """``(n,)`` the odds that more than half of the other languages, and at least two, stay below; NaN without two."""
    ordered = np.sort(np.stack(odds), axis=0)  # NaN last
    known = np.isfinite(ordered).sum(axis=0)
    needed = np.maximum(known // 2, 1)  # from 0: more than half of the known ones lie at it or below
    found = np.take_along_axis(ordered, np.minimum(needed, len(odds) - 1)[None, :], axis=0)[0]
    return np.where(known >= 2, found, np.nan)


def _units(documents: Sequence[str]) -> list[Rows]:
    """Rows of each document in the order of the file; all rows where there are no documents."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(documents):
        found[name].append(row)
    if len(documents) < _DOCUMENT * len(found):
        return [np.arange(len(documents))]
    return [np.array(rows) for rows in found.values()]


def _repeated(texts: Sequence[str], beside: Sequence[str]) -> Bools:
    """``(n,)`` whether a text stands in several rows beside different texts."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(texts):
        if text.strip() and beside[row].strip():
            groups[same_text_key(text)].append(row)
    found = np.zeros(len(texts), dtype=bool)
    for rows in groups.values():
        found[rows] = len({same_text_key(beside[row]) for row in rows}) > 1
    return found


def _stretches(odds: NDArray[np.float64], units: Sequence[Rows], *, n_languages: int) -> list[tuple[Rows, float]]:
    """Runs with far more doubtful rows than what lies outside of them all, each with its p, in order."""
    known = [unit[np.isfinite(odds[unit])] for unit in units]
    windows = n_languages * sum(len(unit) * (len(unit) + 1) // 2 for unit in known)
    doubtful = odds < DOUBT
    share = _of_most(doubtful[np.isfinite(odds)])
    found: list[tuple[Rows, float]] = []
    for _ in range(10):  # until the runs and the share outside of them agree
        usual = float(np.clip(share, *_USUAL))
        before = [run.tolist() for run, _ in found]
        found = [run for unit in known for run in _runs(unit, doubtful, usual, windows)]
        if [run.tolist() for run, _ in found] == before:
            break
        outside = np.isfinite(odds)
        for run, _ in found:
            outside[run] = False
        share = doubtful[outside].mean() if outside.any() else 1.0
    return sorted(found, key=lambda pair: int(pair[0][0]))


def _of_most(doubtful: Bools) -> float:
    """The median over blocks of rows of how many are doubtful: a first guess that stretches do not move."""
    blocks = np.array_split(doubtful, max(1, len(doubtful) // _BLOCK))
    return float(np.median([block.mean() for block in blocks])) if len(doubtful) else 1.0


def _runs(unit: Rows, doubtful: Bools, usual: float, windows: int) -> list[tuple[Rows, float]]:
    """The best run of a document if it is no chance, and those before and after it."""
    from scipy import stats

    found: list[tuple[Rows, float]] = []
    waiting = [unit]
    while waiting:
        rows = waiting.pop()
        if not doubtful[rows].any():
            continue
        first, last = _best(np.where(doubtful[rows], math.log(0.5 / usual), math.log(0.5 / (1 - usual))))
        run = rows[first : last + 1]
        p = min(1.0, windows * float(stats.binom.sf(doubtful[run].sum() - 1, len(run), usual)))
        if p < LEVEL:
            found.append((run, p))
            waiting += [rows[:first], rows[last + 1 :]]
    return found


def _best(gains: NDArray[np.float64]) -> tuple[int, int]:
    """First and last place of the run with the greatest sum."""
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    lowest = np.minimum.accumulate(sums[:-1])
    last = int((sums[1:] - lowest).argmax())
    return int(sums[: last + 1].argmin()), last


def _misaligned(
    odds: NDArray[np.float64], repeated: Bools, runs: Sequence[tuple[Rows, float]], evidence: Evidence | None
) -> Bools:
    found = (odds < ALONE) | (repeated & (odds < REPEATED))
    for run, _ in runs:
        found[run] |= (odds[run] < 0) | (_offsets(evidence, run) != 0)
    return found


@dataclass(frozen=True)
class _Names:
    """What the rows of one language are called."""

    language: str
    pivot: str
    texts: Mapping[str, Sequence[str]]
    rows: Sequence[str]
    documents: Sequence[str] | None

    @property
    def beside(self) -> str:
        """The language that it is shown with."""
        return self.pivot if self.language != self.pivot else next(tag for tag in self.texts if tag != self.pivot)


def _stretch(names: _Names, found: _Compared, run: Rows, p: float, wrong: Bools) -> Stretch:
    misaligned = run[wrong[run]]
    offsets = _offsets(found.evidence, misaligned)
    elsewhere = offsets[offsets != 0]
    return Stretch(
        document=names.documents[int(run[0])] if names.documents is not None else None,
        first=names.rows[int(run[0])],
        last=names.rows[int(run[-1])],
        n_rows=len(run),
        n_misaligned=len(misaligned),
        n_found=len(elsewhere),
        offset=_most_frequent(elsewhere),
        offsets=_range(elsewhere) if len(elsewhere) else None,
        p=p,
        examples=tuple(
            Example(names.rows[row], names.texts[names.language][row], names.texts[names.beside][row])
            for row in misaligned[:EXAMPLES].tolist()
        ),
    )


def _most_frequent(offsets: NDArray[np.int64]) -> int | None:
    """The offset that holds for at least half; None where there is none."""
    values, counts = np.unique(offsets, return_counts=True)
    return int(values[counts.argmax()]) if len(values) and 2 * counts.max() >= len(offsets) else None


def _range(offsets: NDArray[np.int64]) -> tuple[int, int]:
    low, high = np.percentile(offsets, [10, 90], method="nearest")
    return int(low), int(high)


def _offsets(evidence: Evidence | None, rows: Rows) -> NDArray[np.int64]:
    """How many rows later the row stands that the text of each of ``rows`` fits much better; 0 where there is none."""
    offsets = np.zeros(len(rows), dtype=np.int64)
    if evidence is None:
        return offsets
    for first in range(0, len(rows), SEARCH):
        texts = rows[first : first + SEARCH]
        near = np.arange(max(0, texts[0] - SEARCH), min(len(evidence.own), texts[-1] + SEARCH + 1))
        odds = np.nan_to_num(evidence.fits.between(near, texts), nan=-np.inf)
        odds[np.abs(near[:, None] - texts[None, :]) > SEARCH] = -np.inf
        best = odds.argmax(axis=0)
        sure = odds[best, np.arange(len(texts))] > np.maximum(evidence.own[texts], 0.0) + _FOUND
        offsets[first : first + SEARCH] = np.where(sure, near[best] - texts, 0)
    return offsets


def _check(
    names: _Names,
    signatures: Mapping[str, Signature],
    *,
    found: _Compared,
    wrong: Bools,
    repeated: Bools,
    stretches: tuple[Stretch, ...],
) -> LanguageCheck:
    sound = np.flatnonzero(np.isfinite(found.odds) & ~wrong)
    kept = {
        kind: _kept(signatures[names.pivot], signatures[names.language], sound, kind) if found.evidence else None
        for kind in (NUMBER, ABBREVIATION)
    }
    return LanguageCheck(
        language=names.language,
        n_rows=int(np.isfinite(found.odds).sum()),
        n_misaligned=int(wrong.sum()),
        n_repeated=int(repeated.sum()),
        noticed=found.noticed,
        fits_better=found.fits_better,
        length_ratio=found.evidence.ratio if found.evidence else None,
        length_spread=found.evidence.spread if found.evidence else None,
        numbers_kept=kept[NUMBER],
        abbreviations_kept=kept[ABBREVIATION],
        stretches=stretches,
        sentence=_sentence(names, found, wrong, stretches),
    )


def _kept(pivot: Signature, other: Signature, rows: Rows, kind: int) -> float | None:
    """The share of the pivot's tokens of a kind that stand in the other language too, over sound rows."""
    tokens = [token for token, place in pivot.places.items() if pivot.kinds[place] == kind]
    n = pivot.words[rows][:, [pivot.places[token] for token in tokens]].sum() if tokens else 0
    if not n:
        return None
    both = [token for token in tokens if token in other.places]
    ours = pivot.words[rows][:, [pivot.places[token] for token in both]]
    theirs = other.words[rows][:, [other.places[token] for token in both]]
    return float(ours.multiply(theirs).sum() / n)


def _sentence(names: _Names, found: _Compared, wrong: Bools, stretches: Sequence[Stretch]) -> str:
    """What was found in one language, in a sentence."""
    name, of = language_name(names.language), int(np.isfinite(found.odds).sum())
    own = names.language == names.pivot
    against = "the other languages" if own else f"the {language_name(names.pivot)} texts"
    if not of:
        lacking = "two other languages" if own else f"{language_name(names.pivot)} beside it"
        return f"{name}: nothing to check, expected rows with texts in {lacking}"
    counted = f"{wrong.sum():,} of {of:,} rows"
    if stretches:
        found_elsewhere = sum(stretch.n_found for stretch in stretches)
        what = "seem to belong to other rows" if found_elsewhere > _SOME * wrong.sum() else f"do not fit {against}"
        return f"{name}: {counted} {what}, {_places(stretches, int(wrong.sum()))}: a data fault, not a collapse"
    if found.fits_better is not None and found.fits_better < _UNRELATED:
        return f"{name}: rows fit {against} no better than their neighbours do: nothing seems to belong together"
    if wrong.any():
        shown = ", ".join(names.rows[row] for row in np.flatnonzero(wrong)[:EXAMPLES].tolist())
        return f"{name}: {counted} do not fit {against}: {shown}{' …' if wrong.sum() > EXAMPLES else ''}"
    doubt = ""
    if found.noticed is not None and found.noticed < _TRUSTED:
        doubt = f", as far as can be told: {found.noticed:.0%} of exchanged rows would be noticed"
    return f"{name}: {of:,} rows fit {against}{doubt}"


def _places(stretches: Sequence[Stretch], n_wrong: int) -> str:
    """The largest stretches, with how many rows each."""
    shown = sorted(stretches, key=lambda stretch: -stretch.n_misaligned)[:EXAMPLES]
    first, *others = [(f"{row.n_misaligned:,}", _place(row)) for row in shown]
    more = f" and {len(stretches) - EXAMPLES:,} more stretches" if len(stretches) > EXAMPLES else ""
    leading = "all of them" if stretches[0].n_misaligned == n_wrong else f"{first[0]} of them"
    return ", ".join([f"{leading} {first[1]}", *(f"{n} {place}" for n, place in others)]) + more


def _place(stretch: Stretch) -> str:
    where = f"in {stretch.document} " if stretch.document is not None else ""
    shift = ""
    if stretch.offset is not None and 4 * stretch.n_found >= stretch.n_misaligned:
        rows = "row" if abs(stretch.offset) == 1 else "rows"
        shift = f", {abs(stretch.offset):,} {rows} too {'early' if stretch.offset > 0 else 'late'}"
    return f"{where}({stretch.first} to {stretch.last}{shift})"
