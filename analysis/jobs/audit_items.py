"""Which items of a task a blind sheet asks of: seeded, the same number in each query language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from analysis.errors import InputError
from analysis.jobs.stored import ranked_runs
from analysis.store import audits
from analysis.store.audits import RELEVANCE, TIER, TRANSLATION
from analysis.store.read import DocumentColumns, QueryColumns, Store, TaskRow

PER_LANGUAGE = 30  # rows of each query language, if there are as many: with fewer a share says little
HARD = 20  # ranks of each run among which documents that are not relevant are looked for
NEAREST = 5  # of those that fit, the best ranked among which one is drawn


class Item(NamedTuple):
    """What one row of a sheet asks of."""

    query_id: str
    other_id: str  # the document; of a translation the query that it is a version of
    told: str  # what the benchmark says; empty where nobody judged the pair
    drawn: str  # how it came into the sample


@dataclass(frozen=True)
class Sampler:
    """Draws items of a task."""

    store: Store
    task: TaskRow
    rng: np.random.Generator

    def draw(self, question: str, per_language: int | None) -> tuple[list[Item], int]:
        """Items in the order of a sheet, shuffled inside each query language; and how many each language has.

        Args:
            question: what is asked.
            per_language: as many; None for 30, or as many as every language has.

        Raises:
            InputError: there is nothing of the kind, or less than asked for in some language.
        """
        if not self.task.n_documents and question != TRANSLATION:
            raise InputError(f"{self.task.name} has no documents: a sheet asks of a query and a document")
        most, of_language = {
            RELEVANCE: (self._most_pairs, self._pairs),
            TRANSLATION: (self._most_versions, self._versions),
            TIER: (self._most_tiered, self._tiered),
        }[question]
        found = most()
        n = _number(found, per_language, task=self.task.name, question=question)
        items = []
        for language in found:
            cell = of_language(language, n)
            items += [cell[place] for place in self.rng.permutation(len(cell))]
        return items, n

    # Pairs of a query and a document

    @cached_property
    def _queries(self) -> QueryColumns:
        return self.store.queries(self.task.task_id)

    @cached_property
    def _documents(self) -> DocumentColumns:
        return self.store.documents(self.task.task_id)

    @cached_property
    def _unshowable(self) -> set[int]:
        return audits.unshowable(self.store, self.task.task_id)

    @cached_property
    def _grades(self) -> dict[int, dict[int, float]]:
        """Every grade, by query and document."""
        found = self.store.judgements(self.task.task_id, all_grades=True)
        grades: dict[int, dict[int, float]] = {}
        for query, document, grade in zip(
            found.query.tolist(), found.document.tolist(), found.grade.tolist(), strict=True
        ):
            grades.setdefault(query, {})[document] = grade
        return grades

    @cached_property
    def _relevant(self) -> dict[int, list[int]]:
        """For each query the relevant documents that a sheet can show, of queries that it can show."""
        texts, pictured = self._queries.text, {image.id for image in self.store.images(self.task.task_id)}
        found = {
            query: [document for document, grade in of.items() if grade >= 1 and self._can_show(document)]
            for query, of in self._grades.items()
            if str(texts[query]).strip() or self._queries.id[query] in pictured
        }
        return {query: documents for query, documents in found.items() if documents}

    def _can_show(self, document: int) -> bool:
        return self._documents.language[document] is not None and document not in self._unshowable

    @cached_property
    def _excluded(self) -> dict[int, set[int]]:
        return {query: set(of.tolist()) for query, of in self.store.excluded(self.task.task_id).items()}

    def _in(self, language: str, queries: Sequence[int]) -> list[int]:
        return [query for query in queries if self._queries.language[query] == language]

    def _most_pairs(self) -> dict[str, int]:
        """How many pairs each language can give: every query once with an answer and once with another document."""
        return self._counted(list(self._relevant), times=2)

    def _counted(self, queries: Sequence[int], *, times: int = 1) -> dict[str, int]:
        found = Counter(str(self._queries.language[query]) for query in queries)
        order = [str(tag) for tag in dict.fromkeys(self._queries.language)]
        return {tag: times * found[tag] for tag in order if found[tag]}

    def _pairs(self, language: str, n: int) -> list[Item]:
        """Half answers and half others; others are in the languages in which the answers are."""
        asked = self.rng.permutation(self._in(language, sorted(self._relevant))).tolist()
        answers = [self._answer(query, used) for used in [Counter[str]()] for query in asked[: n - n // 2]]
        languages = [self._documents.language[document] for _, document in answers]
        others_of = [asked[(len(answers) + place) % len(asked)] for place in range(n // 2)]
        hard = self._hard(others_of)
        found = [self._item(query, document, "relevant") for query, document in answers]
        for query, wanted in zip(others_of, languages, strict=False):
            found.append(self._other(query, str(wanted), hard.get(query, [])))
        return found

    def _answer(self, query: int, used: Counter[str]) -> tuple[int, int]:
        """An answer to a query, in the language that came up least so far."""
        documents = self._relevant[query]
        least = min(used[str(self._documents.language[document])] for document in documents)
        fitting = [document for document in documents if used[str(self._documents.language[document])] == least]
        chosen = fitting[int(self.rng.integers(len(fitting)))]
        used[str(self._documents.language[chosen])] += 1
        return query, chosen

    def _hard(self, queries: Sequence[int]) -> dict[int, list[tuple[int, str]]]:
        """For each query the documents that stored runs rank best, and which run has it where."""
        found: dict[int, list[tuple[int, int, str]]] = {}
        if not queries:
            return {}
        for system, run in sorted(ranked_runs(self.store, self.task.task_id).items()):
            for hit in self.store.hits(run, sorted(set(queries)), top=HARD):
                found.setdefault(hit.query, []).append((hit.rank, hit.document, system))
        return {
            query: [(document, f"rank {rank} of {system}") for rank, document, system in sorted(of, key=lambda h: h[0])]
            for query, of in found.items()
        }

    def _other(self, query: int, language: str, hard: Sequence[tuple[int, str]]) -> Item:
        """A document that is no answer: hard where a run has one in the language that is wanted, else at random."""
        ranked: dict[int, str] = {}
        for document, drawn in hard:
            if self._is_other(query, document):
                ranked.setdefault(document, drawn)
        fitting = [document for document in ranked if self._documents.language[document] == language][:NEAREST]
        if fitting:
            chosen = fitting[int(self.rng.integers(len(fitting)))]
            return self._item(query, chosen, ranked[chosen])
        everything = self.rng.permutation(len(self._documents.id)).tolist()
        others = (document for document in everything if self._is_other(query, document))
        of_language = (document for document in others if self._documents.language[document] == language)
        at_random = next(of_language, None)
        if at_random is None:
            at_random = next((document for document in everything if self._is_other(query, document)), None)
        if at_random is None:
            name = self._queries.id[query]
            raise InputError(f"{self.task.name}: every document that can be shown is an answer to query {name!r}")
        return self._item(query, at_random, "random")

    def _is_other(self, query: int, document: int) -> bool:
        """Whether a document can be shown, is no answer, no version of one, and stays in the query's ranking."""
        grades = self._grades.get(query, {})
        families = {self._documents.family[place] for place, grade in grades.items() if grade >= 1}
        return (
            self._can_show(document)
            and grades.get(document, 0.0) < 1
            and self._documents.family[document] not in families
            and document not in self._excluded.get(query, ())
        )

    def _item(self, query: int, document: int, drawn: str) -> Item:
        grade = self._grades.get(query, {}).get(document)
        told = "" if grade is None else f"{grade:g}"
        return Item(str(self._queries.id[query]), str(self._documents.id[document]), told, drawn)

    # Queries by tier

    def _most_tiered(self) -> dict[str, int]:
        return self._counted([query for query in self._relevant if self._queries.tier[query] is not None])

    def _tiered(self, language: str, n: int) -> list[Item]:
        """Queries with an answer, the tiers in turn."""
        asked = self.rng.permutation(self._in(language, sorted(self._relevant))).tolist()
        by_tier: dict[str, list[int]] = {}
        for query in asked:
            if (tier := self._queries.tier[query]) is not None:
                by_tier.setdefault(str(tier), []).append(query)
        chosen = _in_turn([by_tier[tier] for tier in sorted(by_tier)], n)
        return [
            self._item(*self._answer(query, Counter()), "relevant")._replace(told=str(self._queries.tier[query]))
            for query in chosen
        ]

    # Versions of queries

    @cached_property
    def _sources(self) -> dict[int, int]:
        found = sources(self._queries).items()
        texts = self._queries.text
        return {query: source for query, source in found if str(texts[query]).strip() and str(texts[source]).strip()}

    def _most_versions(self) -> dict[str, int]:
        return self._counted(list(self._sources))

    def _versions(self, language: str, n: int) -> list[Item]:
        asked = self.rng.permutation(self._in(language, sorted(self._sources))).tolist()[:n]
        return [
            Item(
                str(self._queries.id[query]),
                str(self._queries.id[self._sources[query]]),
                "0" if self._queries.audit_status[query] == "fail" else "1",
                str(self._queries.audit_status[query] or "version"),
            )
            for query in asked
        ]


def _number(most: dict[str, int], wanted: int | None, *, task: str, question: str) -> int:
    """How many items each language gives.

    Raises:
        InputError: there are none, or fewer than asked for.
    """
    missing = {
        RELEVANCE: "a query with a right answer that can be shown",
        TRANSLATION: "a query that is a version of one in another language",
        TIER: "a query with a tier",
    }[question]
    if not most:
        raise InputError(f"{task} has nothing to ask of: a sheet for {question} needs {missing}")
    least = min(most, key=lambda tag: most[tag])
    if wanted is None:
        return min(PER_LANGUAGE, most[least])
    if not 1 <= wanted <= most[least]:
        raise InputError(f"--per-language {wanted}: expected 1 to {most[least]:,}, as many as {least} of {task} has")
    return wanted


def _in_turn(lists: Sequence[Sequence[int]], n: int) -> list[int]:
    """The first of each list, then the second of each, until there are n."""
    found: list[int] = []
    for place in range(max(map(len, lists), default=0)):
        found += [row[place] for row in lists if place < len(row)]
    return found[:n]


def sources(queries: QueryColumns) -> dict[int, int]:
    """For each query that is a version of one in another language, that one, both by position.

    The source is the query that the others name, else the English one, else one in the task's first language.
    """
    groups: dict[str, list[int]] = {}
    for query, question in enumerate(queries.question):
        groups.setdefault(question, []).append(query)
    first = next(iter(queries.language), None)
    found: dict[int, int] = {}
    for question, members in groups.items():
        source = _source(queries, question, members, first)
        if source is not None:
            found |= {query: source for query in members if queries.language[query] != queries.language[source]}
    return found


def _source(queries: QueryColumns, question: str, members: Sequence[int], first: object) -> int | None:
    tests: tuple[Callable[[int], bool], ...] = (
        lambda query: bool(queries.id[query] == question),
        lambda query: bool(queries.language[query] == "en"),
        lambda query: bool(queries.language[query] == first),
    )
    return next((query for test in tests for query in members if test(query)), None)
