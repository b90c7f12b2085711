"""One query opened: its other versions, where each system has its answers, and lists of systems side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from analysis.errors import InputError
from analysis.model import SystemLabel
from analysis.store import one_query
from analysis.store.one_query import AnswerRow, QueryRow
from analysis.store.read import Hit, RunRow, Store, TaskRow
from analysis.systems.bm25 import bigrams
from analysis.views.evidence import benchmark_label, chosen_runs, one_task, task_label
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel

NEAR = 10  # ranks that a reader looks at
MOST_LISTS = 4
"""Systems whose lists stand side by side; more do not fit a page."""


class Place(NamedTuple):
    """Where a document stands in one system's list."""

    rank: int | None  # None: beyond the depth of the run, or of the hits that are kept
    score: float | None  # None where the hits are not kept that deep


class Answer(NamedTuple):
    """A document that was judged for the query."""

    document_id: str
    language: str | None  # None: it is not in the corpus, so that no system can find it
    text: str
    grade: float
    places: tuple[Place, ...]  # one a system


class Listed(NamedTuple):
    """A document that stands in the top k of a system that is shown."""

    document_id: str
    language: str | None
    text: str
    grade: float | None  # None: nobody judged it for this query
    relevant: bool
    same_concept: bool  # of the query's family, judged or not
    places: tuple[Place, ...]  # one a shown system
    shared: tuple[str, ...]  # words that the query has too; of Chinese and Japanese, pairs of characters


class Version(NamedTuple):
    """The same question in other words or another language, with the first answer of each system."""

    query_id: str
    language: str
    text: str
    first: tuple[int | None, ...]  # rank of the first right answer, one a system; None beyond its depth


@dataclass(frozen=True)
class OpenedQuery:
    """All that is known of one query.

    Attributes:
        benchmark: where it is.
        task: the one task.
        query_id: its id.
        text: what is asked.
        language: of the query.
        family: what language versions and right answers share.
        attributes: what else is known of it.
        flags: why it is doubtful.
        systems: all chosen ones.
        depths: of each one's run.
        versions: the same question otherwise, this one first.
        answers: right answers by language, then what was judged to be none.
        shown: systems whose lists are shown.
        k: how deep.
        listed: documents in the top k of any of these, by their best rank.
        takeaway: what became of it.
    """

    benchmark: BenchmarkLabel
    task: TaskLabel
    query_id: str
    text: str
    language: str
    family: str
    attributes: Mapping[str, str]
    flags: tuple[str, ...]
    systems: tuple[SystemLabel, ...]
    depths: tuple[int, ...]
    versions: tuple[Version, ...]
    answers: tuple[Answer, ...]
    shown: tuple[SystemLabel, ...]
    k: int
    listed: tuple[Listed, ...]
    takeaway: Sentence


def opened(store: Store, selection: Selection, *, query_id: str, shown: Sequence[str] = (), k: int = 10) -> OpenedQuery:
    """Open a query.

    Args:
        store: where it is.
        selection: one task; the systems chosen.
        query_id: its id.
        shown: up to four of these whose lists are put side by side; the first two where none is named.
        k: how deep the lists are.

    Raises:
        InputError: not exactly one task, an unknown query or system, or too many to show.
        StoreError: a file of texts or rankings is missing or damaged.
    """
    labels, task = store.system_labels(), one_task(store, selection)
    runs = chosen_runs(store, task, selection, labels)
    versions = one_query.versions(store, task.task_id, query_id)
    if not versions:
        raise InputError(f"query {query_id!r}: {task.name} has no such query")
    names, query = _shown(runs, shown, k), versions[0].query
    best = _best(one_query.hits(store, [run for run in runs if run.system in names], query, k=k), names)
    documents = {row.document: row for row in one_query.answers(store, task.task_id, query, also=list(best))}
    hits = one_query.hits(store, runs, query, k=0, also=list(documents))
    return _Desk(store, task, versions, runs, documents, hits, names, labels).opened(selection, best, k)


def _best(lists: Mapping[str, Mapping[int, Hit]], names: Sequence[str]) -> dict[int, int]:
    """The best rank of each document in some lists, in its order; of equal ranks the first system's stands first."""
    best: dict[int, int] = {}
    for name in names:
        for hit in lists[name].values():
            best[hit.document] = min(hit.rank, best.get(hit.document, hit.rank))
    return dict(sorted(best.items(), key=lambda item: item[1]))


def _shown(runs: Sequence[RunRow], shown: Sequence[str], k: int) -> tuple[str, ...]:
    """The systems whose lists are shown: those asked for, or else the first two that keep any."""
    known = [run.system for run in runs if run.hits_file is not None]
    for name in shown:
        if name not in known:
            raise InputError(f"system {name!r} has no ranking among the chosen ones: {', '.join(known) or 'none'}")
    if len(shown) > MOST_LISTS or k < 1:
        raise InputError(f"{len(shown)} systems, k {k}: expected up to {MOST_LISTS} systems and k from 1")
    return tuple(dict.fromkeys(shown or known[:2]))


@dataclass(frozen=True, eq=False)
class _Desk:
    """What was read of one query."""

    store: Store
    task: TaskRow
    versions: list[QueryRow]  # the query itself first
    runs: list[RunRow]
    documents: dict[int, AnswerRow]  # those that were judged, and those in a list that is shown
    hits: dict[str, dict[int, Hit]]  # of these by system and document, as deep as hits are kept
    shown: tuple[str, ...]
    labels: dict[str, SystemLabel]

    def opened(self, selection: Selection, listed: Iterable[int], k: int) -> OpenedQuery:
        query = self.versions[0]
        texts = self.store.texts(self.task.task_id, list(self.documents))
        run_ids = [run.run_id for run in self.runs]
        ranks = one_query.ranks(self.store, run_ids, query.query)
        firsts = one_query.first_ranks(
            self.store, self.task.task_id, run_ids, [version.query for version in self.versions]
        )
        answers = tuple(self._answer(row, texts, ranks) for row in self.documents.values() if row.grade is not None)
        return OpenedQuery(
            benchmark=benchmark_label(self.store.benchmark(selection.benchmark)),
            task=task_label(self.task),
            query_id=query.id,
            text=query.text,
            language=query.language,
            family=query.family,
            attributes=one_query.attributes(self.store, self.task.task_id, query.query),
            flags=one_query.flags(self.store, self.task.task_id, query.query),
            systems=tuple(self.labels[run.system] for run in self.runs),
            depths=tuple(run.depth for run in self.runs),
            versions=tuple(self._version(version, firsts) for version in self.versions),
            answers=tuple(sorted(answers, key=lambda answer: (answer.grade < 1, answer.language != query.language))),
            shown=tuple(self.labels[name] for name in self.shown),
            k=k,
            listed=tuple(self._listed(self.documents[document], texts) for document in listed),
            takeaway=self._takeaway(answers),
        )

    def _answer(self, row: AnswerRow, texts: Mapping[int, str], ranks: Mapping[tuple[int, int], int | None]) -> Answer:
        places = []
        for run in self.runs:
            hit = self.hits.get(run.system, {}).get(row.document)
            rank = ranks.get((run.run_id, row.document))
            places.append(Place(rank if hit is None else hit.rank, None if hit is None else hit.score))
        return Answer(row.id, row.language, texts.get(row.document, ""), row.grade or 0.0, tuple(places))

    def _listed(self, row: AnswerRow, texts: Mapping[int, str]) -> Listed:
        query, text = self.versions[0], texts.get(row.document, "")
        hits = [self.hits[name].get(row.document) for name in self.shown]
        return Listed(
            document_id=row.id,
            language=row.language,
            text=text,
            grade=row.grade,
            relevant=(row.grade or 0) >= 1,
            same_concept=row.family == query.family,
            places=tuple(Place(hit.rank, hit.score) if hit else Place(None, None) for hit in hits),
            shared=words_in_common(query.text, text),
        )

    def _version(self, version: QueryRow, firsts: Mapping[tuple[int, int], int]) -> Version:
        found = tuple(firsts.get((run.run_id, version.query)) for run in self.runs)
        return Version(version.id, version.language, version.text, found)

    def _takeaway(self, answers: Sequence[Answer]) -> Sentence:
        """How many systems have an answer in the first ten, and who comes first."""
        right = [answer for answer in answers if answer.grade >= 1]
        if not right:
            return Sentence("Nothing is judged right for this query.", "It counts in no mean.")
        if not self.runs:
            return Sentence("No system has run on it.", "")
        firsts = _firsts(right, [self.labels[run.system].short for run in self.runs])
        near = sum(rank <= NEAR for rank in firsts.values())
        has = "has" if near == 1 else "have"
        bold = f"{near} of {len(self.runs)} systems {has} a right answer in the first {NEAR}."
        if not firsts:
            return Sentence(bold, "None has one at any depth.")
        best = min(firsts, key=lambda name: firsts[name])
        return Sentence(bold, f"The first comes from {best}, at rank {firsts[best]:,}.")


def _firsts(right: Sequence[Answer], names: Sequence[str]) -> dict[str, int]:
    """The rank of the first right answer of each system that has one."""
    found: dict[str, int] = {}
    for answer in right:
        for name, place in zip(names, answer.places, strict=True):
            if place.rank is not None:
                found[name] = min(place.rank, found.get(name, place.rank))
    return found


def words_in_common(query: str, document: str) -> tuple[str, ...]:
    """The tokens of a query that a document has too, as BM25 with character bigrams sees both, in the query's order."""
    there = set(bigrams(document))
    return tuple(token for token in dict.fromkeys(bigrams(query)) if token in there)
