"""Show me the failures: the queries of a task, filtered by what systems make of them, and put in order of a gap."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.languages import language_name
from analysis.model import NEVER, SystemLabel
from analysis.paths import Cache
from analysis.store.read import Store
from analysis.views.evidence import Evidence, benchmark_label, one_task, task_label
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel

ANY, SAME, OTHER = "any", "same", "other"
PAGE = 25  # queries on a page

OUTCOMES = {
    "all": "every query",
    "first": "A finds it, B does not",
    "second": "B finds it, A does not",
    "both": "both find it",
    "neither": "neither finds it",
    "nobody": "no system finds it",
    "everybody": "every system finds it",
}
"""What becomes of a query, of systems A and B or of all chosen ones."""

ORDERS = {
    "depth": "worst answered by A",
    "gap": "A ahead of B",
    "behind": "B ahead of A",
    "language": "lost to the language in A",
    "spread": "systems farthest apart",
    "benchmark": "as in the benchmark",
}
"""How queries are put in order; gaps are ratios of ranks."""


class Asked(NamedTuple):
    """Which queries, by what becomes of them.

    Attributes:
        query_language: of the queries; None for any.
        answers: which right answers count: ``any``, those in the ``same`` or an ``other`` language, or of one tag.
        a: system A; None for the first chosen one.
        b: system B; None for the second chosen one.
        outcome: a key of ``OUTCOMES``.
        k: found is what stands in the first k.
        least: rank of the first answer in A from here on.
        most: rank of the first answer in A up to here; None for no end.
        apart: ranks between A and B at least.
        text: that the query contains, in any case, or its id or family.
        ids: only these queries; None for all.
        places: only the queries at these positions of the task; None for all.
        order: a key of ``ORDERS``.
    """

    query_language: str | None = None
    answers: str = ANY
    a: str | None = None
    b: str | None = None
    outcome: str = "all"
    k: int = 10
    least: int = 1
    most: int | None = None
    apart: int = 0
    text: str = ""
    ids: tuple[str, ...] | None = None
    places: tuple[int, ...] | None = None
    order: str = "depth"


EVERYTHING = Asked()
"""Every query, the worst answered first."""


class FirstRanks(NamedTuple):
    """Where one system's list has the first right answers; None beyond its depth."""

    counted: int | None  # of those that count
    same: int | None  # in the query's language
    other: int | None  # in another language


class QueryLine(NamedTuple):
    """One query with what each system made of it."""

    query_id: str
    text: str
    language: str
    has_same: bool  # a right answer is in its language
    has_other: bool  # one is in another
    first: tuple[FirstRanks, ...]  # one a system


@dataclass(frozen=True)
class QueriesView:
    """The queries that were asked for.

    Attributes:
        benchmark: where they are.
        task: the one task.
        systems: all chosen ones, A and B first.
        depths: of each one's run.
        languages: of the task's queries and documents, tag to name, in the benchmark's order.
        asked: what they have in common, with A and B named.
        n_domain: queries of the slice and language with an answer that counts.
        counts: how many of these have each outcome.
        takeaway: of all in the domain.
        ids: those that pass every filter, in order.
        lines: the first of them, or the part that was asked for.
    """

    benchmark: BenchmarkLabel
    task: TaskLabel
    systems: tuple[SystemLabel, ...]
    depths: tuple[int, ...]
    languages: dict[str, str]
    asked: Asked
    n_domain: int
    counts: dict[str, int]
    takeaway: Sentence
    ids: tuple[str, ...]
    lines: tuple[QueryLine, ...]


def queries(
    store: Store, selection: Selection, asked: Asked = EVERYTHING, *, start: int = 0, n: int = PAGE
) -> QueriesView:
    """The queries that have in common what is asked for.

    Args:
        store: where they are.
        selection: one task; the systems chosen.
        asked: what they have in common.
        start: how many of them to leave out.
        n: how many to tell in full.

    Raises:
        InputError: not exactly one task, one without rankings, an unknown language, system, outcome or order.
    """
    labels = store.system_labels()
    evidence = _evidence(store.cache, store.path, selection)
    sorted_out = _SortedOut.of(evidence, asked)
    places = sorted_out.places()
    systems = tuple(labels[evidence.runs[place].system] for place in sorted_out.order)
    return QueriesView(
        benchmark=benchmark_label(evidence.benchmark),
        task=task_label(evidence.task),
        systems=systems,
        depths=tuple(evidence.runs[place].depth for place in sorted_out.order),
        languages={tag: language_name(tag) for tag in evidence.languages},
        asked=sorted_out.asked,
        n_domain=int(np.count_nonzero(sorted_out.domain)),
        counts={name: int(np.count_nonzero(found)) for name, found in sorted_out.outcomes.items()},
        takeaway=_takeaway(sorted_out, systems),
        ids=tuple(evidence.queries.id[places].tolist()),
        lines=tuple(_lines(sorted_out, places[start : start + n])),
    )


@functools.lru_cache(maxsize=2)
def _evidence(cache: Cache, generation: Path, selection: Selection) -> Evidence:
    """The ranks of a task: kept while a reader changes filters, as a generation never changes; 40 MB of a large one."""
    store = Store(cache, generation)
    task = one_task(store, selection)
    evidence = Evidence.load(store, task, selection=selection, labels=store.system_labels())
    evidence.need_ranks("the query explorer needs rankings")
    return evidence


def answer_words(answers: str) -> str:
    """Which right answers count, in words."""
    known = {
        ANY: "a right answer",
        SAME: "a right answer in the query's language",
        OTHER: "a right answer in another language",
    }
    return known.get(answers) or f"a right answer in {language_name(answers)}"


@dataclass(frozen=True, eq=False)
class _SortedOut:
    """What becomes of each query.

    Attributes:
        evidence: ranks of S systems.
        asked: with A and B named.
        order: places of the systems, A and B first.
        first: ``(3, S, Q)`` int32 ranks of the first answers that count, in the query's language, in another.
        domain: ``(Q,)`` queries of the slice and language with an answer that counts.
    """

    evidence: Evidence
    asked: Asked
    order: tuple[int, ...]
    first: NDArray[np.int32]
    domain: NDArray[np.bool_]

    @classmethod
    def of(cls, evidence: Evidence, asked: Asked) -> _SortedOut:
        order = _order(evidence, asked)
        judged, names = evidence.judged, [evidence.runs[place].system for place in order]
        among = _counting(evidence, asked.answers)
        first = np.stack([judged.first(evidence.ranks, among=which) for which in (among, judged.same, judged.cross)])
        domain = evidence.mask & (judged.count(among) > 0)
        if asked.query_language is not None:
            domain = domain & (judged.query_language == _code(evidence, asked.query_language))
        named = asked._replace(a=names[0] if names else None, b=names[1] if len(names) > 1 else None)
        _check(named)
        return cls(evidence, named, order, first[:, list(order)], np.asarray(domain))

    @property
    def outcomes(self) -> dict[str, NDArray[np.bool_]]:
        """``(Q,)`` queries of the domain with each outcome that can be told with these systems."""
        found = (self.first[0] <= self.asked.k) & self.domain
        known = {"all": self.domain}
        if len(found) > 1:
            a, b = found[:2]
            known |= {"first": a & ~b, "second": b & ~a, "both": a & b, "neither": self.domain & ~a & ~b}
        if len(found):
            known |= {"nobody": self.domain & ~found.any(axis=0), "everybody": found.all(axis=0)}
        return known

    @property
    def log_ranks(self) -> NDArray[np.float64]:
        """``(3, S, Q)`` logarithms of the ranks; one place below a list for what is not in it."""
        beyond = np.array([self.evidence.runs[place].depth + 1 for place in self.order], dtype=np.float64)
        return np.log(np.where(self.first == NEVER, beyond[:, np.newaxis], self.first))

    def places(self) -> NDArray[np.intp]:
        """Positions of the queries that pass every filter, in order."""
        asked = self.asked
        keep = self.domain & self.outcomes.get(asked.outcome, self.domain) & self._says()
        if len(self.order):
            keep = keep & self._deep()
        if len(self.order) > 1 and asked.apart:
            keep = keep & self._apart()
        if asked.ids is not None:
            keep = keep & np.isin(self.evidence.queries.id.astype(str), asked.ids)
        if asked.places is not None:
            keep = keep & np.isin(np.arange(len(keep)), asked.places)
        found = np.flatnonzero(keep)
        return found[np.argsort(-self._gap()[found], kind="stable")]

    def _says(self) -> NDArray[np.bool_]:
        """``(Q,)``: the text, the id or the family holds the words looked for."""
        wanted = self.asked.text.casefold().strip()
        if not wanted:
            return np.ones(len(self.domain), dtype=bool)
        queries = self.evidence.queries
        columns = (queries.text, queries.id, queries.family)
        found = [[wanted in value.casefold() for value in column] for column in columns]
        return np.asarray(np.any(found, axis=0))

    def _deep(self) -> NDArray[np.bool_]:
        ranks = self.first[0, 0]
        return np.asarray((ranks >= self.asked.least) & (self.asked.most is None or ranks <= (self.asked.most or 0)))

    def _apart(self) -> NDArray[np.bool_]:
        """``(Q,)``: the first answers of A and B are so many ranks apart; what is not found stands below the list."""
        beyond = [self.evidence.runs[place].depth + 1 for place in self.order[:2]]
        a, b = (np.minimum(ranks, last) for ranks, last in zip(self.first[0, :2], beyond, strict=True))
        return np.asarray(np.abs(a.astype(np.int64) - b) >= self.asked.apart)

    def _gap(self) -> NDArray[np.float64]:
        """``(Q,)`` what queries are put in order by, the largest first."""
        order = self.asked.order
        if order == "benchmark" or not self.order:
            return np.zeros(len(self.domain))
        logs = self.log_ranks
        if order == "depth":
            return np.asarray(logs[0, 0])
        if order == "language":
            has_both = (self.evidence.judged.count(self.evidence.judged.same) > 0) & (
                self.evidence.judged.count(self.evidence.judged.cross) > 0
            )
            return np.where(has_both, logs[2, 0] - logs[1, 0], -np.inf)
        if order == "spread":
            return np.asarray(logs[0].max(axis=0) - logs[0].min(axis=0))
        ahead = logs[0, 1] - logs[0, 0] if len(self.order) > 1 else np.zeros(len(self.domain))
        return ahead if order == "gap" else -ahead


def _order(evidence: Evidence, asked: Asked) -> tuple[int, ...]:
    """Places of the systems, A and B first."""
    names = [run.system for run in evidence.runs]
    for name in (asked.a, asked.b):
        if name is not None and name not in names:
            known = ", ".join(names) or "none"
            raise InputError(f"system {name!r} has no run of {evidence.task.name} among the chosen ones: {known}")
    rest = [name for name in names if name not in {asked.a, asked.b}]
    a = asked.a or (rest.pop(0) if rest else None)
    b = asked.b if asked.b not in {None, a} else (rest.pop(0) if rest else None)
    return tuple(names.index(name) for name in (a, b, *rest) if name is not None)


def _counting(evidence: Evidence, answers: str) -> NDArray[np.bool_]:
    """``(J,)`` right answers that count."""
    judged = evidence.judged
    known = {ANY: judged.reachable, SAME: judged.same, OTHER: judged.cross}
    if answers in known:
        return known[answers]
    return np.asarray(judged.reachable & (judged.language == _code(evidence, answers)))


def _code(evidence: Evidence, language: str) -> int:
    if language not in evidence.languages:
        raise InputError(f"language {language!r}: {evidence.task.name} has {', '.join(evidence.languages)}")
    return evidence.languages.index(language)


def _check(asked: Asked) -> None:
    for name, value, known in (("outcome", asked.outcome, OUTCOMES), ("order", asked.order, ORDERS)):
        if value not in known:
            raise InputError(f"{name} {value!r}: expected one of {', '.join(known)}")
    if asked.k < 1 or asked.least < 1 or asked.apart < 0 or (asked.most is not None and asked.most < asked.least):
        ranks = f"k {asked.k}, ranks {asked.least} to {asked.most}, {asked.apart} apart"
        raise InputError(f"{ranks}: expected ranks from 1, the last one not before the first")


def _lines(found: _SortedOut, places: Sequence[Any] | NDArray[np.intp]) -> list[QueryLine]:
    queries, judged = found.evidence.queries, found.evidence.judged
    has_same, has_other = (judged.count(among) > 0 for among in (judged.same, judged.cross))
    return [
        QueryLine(
            str(queries.id[place]),
            str(queries.text[place]),
            str(queries.language[place]),
            bool(has_same[place]),
            bool(has_other[place]),
            tuple(FirstRanks(*(_rank(rank) for rank in ranks)) for ranks in found.first[:, :, place].T),
        )
        for place in places
    ]


def _rank(rank: int) -> int | None:
    return None if rank == NEVER else int(rank)


def _takeaway(found: _SortedOut, systems: Collection[SystemLabel]) -> Sentence:
    """How many queries defeat everybody, and what A and B find alone."""
    counts = {name: int(np.count_nonzero(flags)) for name, flags in found.outcomes.items()}
    words, k = answer_words(found.asked.answers), found.asked.k
    if not counts["all"]:
        return Sentence(f"No query here has {words}.", "Choose another language pair, or other queries on the left.")
    n = f"{counts['all']:,} queries" if counts["all"] > 1 else "1 query"
    if not systems:
        return Sentence(f"{n} with {words}.", "No system has run on them yet.")
    a, *others = systems
    near = "at rank 1" if k == 1 else f"in the first {k}"
    if not others:
        bold = f"{a.short} has {words} {near} for {counts['everybody']:,} of {n}."
        return Sentence(bold, "")
    bold = f"{counts['nobody']:,} of {n} defeat all {len(systems)} systems: none has {words} {near}."
    rest = f"{a.short} has one where {others[0].short} has none for {counts['first']:,}, and the other way round for "
    return Sentence(bold, f"{rest}{counts['second']:,}.")
