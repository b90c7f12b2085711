"""Queries for publications: taken from a table or planned for generation, sampled evenly over languages."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from analysis.errors import InputError

TECHNICAL, GENERAL = "technical", "general"
MODES = (TECHNICAL, GENERAL)
SAID_AS = {"semantic": GENERAL}
"""Other words for a mode."""

EXISTING, MISSING, RANDOM, EVERY = "random-existing", "random-missing", "random", "all"
STRATEGIES = (EXISTING, MISSING, RANDOM, EVERY)
PLANNED = (EVERY, EXISTING, MISSING)
"""Those that queries can be planned by, in the order in which they draw."""

NOT_ASKED_FOR = "mode or strategy not asked for"
NO_PUBLICATION = "its publication is not in the corpus"
NO_LANGUAGE = "language not asked for"
OTHERWISE = "the corpus says another strategy"
REPEATED = "repeated"
BEYOND = "beyond the sample"

Homes = Mapping[str, frozenset[str]]
"""Publication -> the languages it is kept in."""


@dataclass(frozen=True)
class Wanted:
    """Which queries a benchmark asks."""

    modes: tuple[str, ...] = MODES
    strategies: tuple[str, ...] = STRATEGIES
    languages: tuple[str, ...] = ()  # empty: all
    most: int | None = None  # of each language, mode and strategy; None: all
    seed: int = 1


class Asked(NamedTuple):
    """A query of a publication."""

    id: str  # empty: none
    key: str  # of the publication
    language: str
    text: str
    mode: str
    strategy: str  # empty: the corpus says it
    place: str  # where it stands
    score: str = ""  # what a verifier gave it


class Planned(NamedTuple):
    """A query that is to be written."""

    task: str
    key: str
    language: str
    mode: str
    strategy: str


def mode_of(word: str) -> str:
    """A mode by any of its words.

    Raises:
        InputError: it is none.
    """
    plain = word.strip().lower()
    found = SAID_AS.get(plain, plain)
    if found not in MODES:
        raise InputError(f"mode {word!r}: expected technical or general (also spelled semantic)")
    return found


def strategy_of(word: str) -> str:
    """A strategy by any of its spellings.

    Raises:
        InputError: it is none.
    """
    found = word.strip().lower().replace("_", "-")
    if found not in STRATEGIES:
        raise InputError(f"strategy {word!r}: expected one of {', '.join(STRATEGIES)}")
    return found


def chosen(asked: Iterable[Asked], homes: Homes, wanted: Wanted) -> tuple[list[Asked], Counter[tuple[str, str]]]:
    """The queries of a task, each with its strategy; and those left out, counted by language and reason."""
    left: Counter[tuple[str, str]] = Counter()
    kept: list[Asked] = []
    seen: set[tuple[str, str, str]] = set()
    numbers = _by_number(homes)
    for row in asked:
        placed = row._replace(key=numbers.get(row.key, row.key))
        found = placed._replace(strategy=row.strategy or _strategy(placed, homes))
        reason = _reason(found, homes, wanted, seen)
        if reason:
            left[row.language, reason] += 1
            continue
        seen.add((found.key, found.language, found.text))
        kept.append(found)
    if wanted.most is None:
        return kept, left
    sample = _sampled(kept, wanted)
    left.update((row.language, BEYOND) for place, row in enumerate(kept) if place not in sample)
    return [row for place, row in enumerate(kept) if place in sample], left


def _by_number(homes: Homes) -> dict[str, str]:
    """Publications by their number without the office, where one office alone has it."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in homes:
        found[key.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")].append(key)
    return {number: keys[0] for number, keys in found.items() if len(keys) == 1}


def _strategy(row: Asked, homes: Homes) -> str:
    return EXISTING if row.language in homes.get(row.key, ()) else MISSING


def _reason(row: Asked, homes: Homes, wanted: Wanted, seen: Collection[tuple[str, str, str]]) -> str | None:
    if row.key not in homes:
        return NO_PUBLICATION
    if row.mode not in wanted.modes or row.strategy not in wanted.strategies:
        return NOT_ASKED_FOR
    if wanted.languages and row.language not in wanted.languages:
        return NO_LANGUAGE
    if row.strategy in (EXISTING, MISSING) and row.strategy != _strategy(row, homes):
        return OTHERWISE
    return REPEATED if (row.key, row.language, row.text) in seen else None


def _sampled(rows: Sequence[Asked], wanted: Wanted) -> set[int]:
    """Places of the queries drawn, as many of each language, mode and strategy."""
    cells: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        cells[row.language, row.mode, row.strategy].append(place)
    found: set[int] = set()
    for cell, places in cells.items():
        drawn = sorted(places, key=lambda place: _lot(wanted.seed, *cell, rows[place].key, rows[place].text))
        found.update(drawn[: wanted.most])
    return found


def plan(task: str, homes: Homes, wanted: Wanted) -> list[Planned]:
    """The queries to be written for a task: in each language as many of each mode and strategy, where there are.

    With ``all``, each publication drawn is asked for in every language. No publication is asked for twice in one
    language and mode.
    """
    languages = wanted.languages or tuple(sorted({tag for tags in homes.values() for tag in tags}))
    found: list[Planned] = []
    for mode in wanted.modes:
        every: set[str] = set()
        for strategy in (name for name in PLANNED if name in wanted.strategies):
            if strategy == EVERY:
                every = set(_drawn(homes, wanted, EVERY, mode))
                found += [Planned(task, key, tag, mode, EVERY) for key in sorted(every) for tag in languages]
                continue
            for tag in languages:
                able = [key for key in homes if key not in every and (tag in homes[key]) == (strategy == EXISTING)]
                found += [Planned(task, key, tag, mode, strategy) for key in _drawn(able, wanted, tag, mode, strategy)]
    return found


def _drawn(keys: Iterable[str], wanted: Wanted, *of: str) -> list[str]:
    return sorted(keys, key=lambda key: _lot(wanted.seed, *of, key))[: wanted.most]


def _lot(seed: int, *parts: str) -> bytes:
    """A lot that depends on nothing else: another publication in the corpus changes no other lot."""
    return hashlib.sha256("\0".join((str(seed), *parts)).encode()).digest()
