"""What the tasks of a benchmark have in common: concepts, queries, documents, words; of one task, its languages."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from analysis.languages import language_name
from analysis.store import texts as held
from analysis.store.read import TaskRow
from analysis.store.texts import MOST_PAIRS, NEAR, NearQueries, Part, SharedKeys, SharedWords, TextCounts, Texts
from analysis.views.selection import Sentence

KINDS: Mapping[str, str] = {
    "concepts": "Concepts asked",
    "queries": "Queries, letter by letter",
    "queries_normalised": "Queries, normalised",
    "documents": "Documents, letter by letter",
    "documents_normalised": "Documents, normalised",
}
"""What two parts may share, and what it is called."""

NORMALISED = (
    "Normalised: only letters, marks and digits count, in NFC and lower case; full-width ones as ordinary ones."
)
NEAR_QUERIES = f"Queries whose sets of words have a Jaccard of at least {NEAR}; the same words in any order are 1."
CONCEPTS = "Concepts are the families of queries, compared by their names."
NOT_COMPARED = f"Near-duplicates were not looked for: more than {MOST_PAIRS:,} pairs of queries share a rare word."


def legend(found: Separation) -> str:
    """What is counted, in sentences."""
    return f"{CONCEPTS} {NORMALISED} {NEAR_QUERIES if found.near_looked_for else NOT_COMPARED}"


@dataclass(frozen=True, order=True)
class Shared:
    """What two parts share of one kind; a text counts once in a part."""

    kind: str
    shared: int
    of_a: int  # different ones in a
    of_b: int


@dataclass(frozen=True)
class Near:
    """Queries of two parts that are nearly the same."""

    of_a: int  # queries of a with a near-duplicate in b
    n_a: int
    of_b: int
    n_b: int

    @property
    def smaller(self) -> tuple[int, int]:
        """Of the part that asks fewer queries: those with a near-duplicate, and all."""
        return (self.of_a, self.n_a) if self.n_a <= self.n_b else (self.of_b, self.n_b)


@dataclass(frozen=True)
class Pair:
    """Two tasks, or two languages of a task."""

    a: str
    b: str
    shared: tuple[Shared, ...]  # kinds that both have
    near: Near | None  # None: not looked for, or one of them asks nothing

    def of(self, kind: str) -> Shared | None:
        """What is shared of one kind; None where one of the two has nothing of it."""
        return next((row for row in self.shared if row.kind == kind), None)


@dataclass(frozen=True)
class WordOverlap:
    """How many words two sides share."""

    a: str  # part
    a_item: str  # query | document
    b: str
    b_item: str
    language: str | None  # None: words of all languages
    shared: int
    of_a: int
    of_b: int

    @property
    def jaccard(self) -> float:
        """Words of both ÷ words of either, 0 to 1."""
        return self.shared / (self.of_a + self.of_b - self.shared)


class Side(NamedTuple):
    """The queries or the documents of a part."""

    part: str
    item: str  # query | document

    @property
    def words(self) -> str:
        """What it holds, in words."""
        return "queries" if self.item == "query" else "documents"


def side_name(side: Side) -> str:
    """A part with what it holds, in words."""
    return f"{side.part}, {side.words}"


@dataclass(frozen=True)
class Separation:
    """How far apart the parts of a benchmark are."""

    between: str  # tasks | languages
    takeaway: Sentence
    note: str  # why languages and not tasks are compared, or why nothing is; may be empty
    parts: tuple[str, ...]  # by title; languages by tag
    pairs: tuple[Pair, ...]
    words: tuple[WordOverlap, ...]  # every two sides once, each with itself too
    near_looked_for: bool

    @property
    def sides(self) -> tuple[Side, ...]:
        """What has words, documents of all parts first."""
        known = {(row.a, row.a_item) for row in self.words if row.language is None}
        return tuple(Side(part, item) for item in ("document", "query") for part in self.parts if (part, item) in known)

    def words_of(self, a: Side, b: Side) -> WordOverlap | None:
        """The words that two sides share in all languages; None where one of them has no word."""
        return self._overlaps.get((a, b), self._overlaps.get((b, a)))

    def jaccard(self, a: Side, b: Side) -> float | None:
        """Of two sides in all languages; None where one of them has no word."""
        found = self.words_of(a, b)
        return found.jaccard if found else None

    @functools.cached_property
    def _overlaps(self) -> dict[tuple[Side, Side], WordOverlap]:
        rows = (row for row in self.words if row.language is None)
        return {(Side(row.a, row.a_item), Side(row.b, row.b_item)): row for row in rows}


def separation(texts: Texts, tasks: Sequence[TaskRow], *, lengths: Mapping[held.Side, TextCounts]) -> Separation:
    """What tasks share, or where there is one, what its languages share.

    Args:
        texts: of the tasks.
        tasks: all of the benchmark that have queries.
        lengths: how many texts each side has.
    """
    between = "tasks" if len(tasks) > 1 else "languages"
    parts = _parts(tasks, lengths)
    titles = [task.title for task in tasks]
    names = [
        part.language or (tasks[place].title if titles.count(tasks[place].title) == 1 else tasks[place].name)
        for place, part in enumerate(parts)
    ]
    if not any(counts.mean for counts in lengths.values()):
        note = "No text is stored: nothing can be compared."
        return Separation(between, Sentence(note, ""), note, tuple(names), (), (), near_looked_for=False)
    if len(parts) < 2:
        only = language_name(names[0]) if names else "no language"
        note = f"There is one task, in {only}: nothing to compare it with."
        return Separation(between, Sentence(note, ""), note, tuple(names), (), (), near_looked_for=False)
    near = texts.near_queries(parts)
    pairs = _pairs(parts, names, texts.shared_keys(parts), near, lengths)
    words = _words(names, texts.shared_words(parts, by_language=between == "tasks"))
    note = "" if between == "tasks" else "There is one task, so no pair of tasks: its languages are compared instead."
    return Separation(between, _takeaway(between, pairs), note, tuple(names), pairs, words, near is not None)


def _parts(tasks: Sequence[TaskRow], lengths: Mapping[held.Side, TextCounts]) -> list[Part]:
    if len(tasks) > 1:
        return [Part(task.task_id, None) for task in tasks]
    sizes: dict[str, int] = {}
    for side, counts in lengths.items():
        if side.language:
            sizes[side.language] = sizes.get(side.language, 0) + counts.n
    return [Part(tasks[0].task_id, tag) for tag in sorted(sizes, key=lambda tag: (-sizes[tag], tag))] if tasks else []


def _pairs(
    parts: Sequence[Part],
    names: Sequence[str],
    keys: Sequence[SharedKeys],
    near: Sequence[NearQueries] | None,
    lengths: Mapping[held.Side, TextCounts],
) -> tuple[Pair, ...]:
    known = {(row.kind, row.a, row.b): row.shared for row in keys}
    alike = {(row.a, row.b): row for row in near or ()}

    def one(a: int, b: int) -> Pair:
        shared = tuple(
            Shared(kind, known.get((kind, a, b), 0), known[kind, a, a], known[kind, b, b])
            for kind in KINDS
            if (kind, a, a) in known and (kind, b, b) in known
        )
        asked = [lengths.get(held.Side(part.task_id, "query", part.language)) for part in (parts[a], parts[b])]
        found = alike.get((a, b), NearQueries(a, b, 0, 0))
        counts = [side.n for side in asked if side]
        looked = near is not None and len(counts) == 2
        return Pair(names[a], names[b], shared, Near(found.of_a, counts[0], found.of_b, counts[1]) if looked else None)

    return tuple(one(a, b) for a, b in itertools.combinations(range(len(parts)), 2))


def _words(names: Sequence[str], rows: Sequence[SharedWords]) -> tuple[WordOverlap, ...]:
    own = {(row.a, row.a_item, row.language): row.shared for row in rows if (row.a, row.a_item) == (row.b, row.b_item)}
    sides: dict[str | None, list[tuple[int, str]]] = {}
    for place, item, language in own:
        sides.setdefault(language, []).append((place, item))
    shared = {(row.language, row.a, row.a_item, row.b, row.b_item): row.shared for row in rows}
    return tuple(
        WordOverlap(
            names[a],
            a_item,
            names[b],
            b_item,
            language,
            shared.get((language, a, a_item, b, b_item), 0),
            own[a, a_item, language],
            own[b, b_item, language],
        )
        for language, found in sides.items()
        for (a, a_item), (b, b_item) in itertools.combinations_with_replacement(sorted(found), 2)
    )


def _takeaway(between: str, pairs: Sequence[Pair]) -> Sentence:
    """The pair that shares most queries, and what is shared of concepts."""
    asked = [(found, pair) for pair in pairs if (found := pair.of("queries_normalised"))]
    what = "task" if between == "tasks" else "language"
    if not asked:
        return Sentence("Queries are asked in one of them only.", "So there is nothing that two of them could share.")
    found, pair = max(asked, key=lambda row: row[0].shared / min(row[0].of_a, row[0].of_b))
    bold = f"No query of one {what} is asked in another."
    if found.shared:
        bold = (
            f"{_named(between, pair.a)} and {_named(between, pair.b)} share "
            f"{found.shared:,} of {min(found.of_a, found.of_b):,} different queries."
        )
    concepts = [(row, pair) for pair in pairs if (row := pair.of("concepts")) and between == "tasks"]
    if not concepts:
        return Sentence(bold, "")
    most, both = max(concepts, key=lambda row: row[0].shared / min(row[0].of_a, row[0].of_b))
    rest = "No concept is asked about in two tasks."
    if most.shared:
        rest = f"{both.a} and {both.b} ask about the same {most.shared:,} of {min(most.of_a, most.of_b):,} concepts."
    return Sentence(bold, rest)


def _named(between: str, name: str) -> str:
    return name if between == "tasks" else language_name(name)
