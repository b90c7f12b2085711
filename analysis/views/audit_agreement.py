"""How far raters agree with a benchmark and with each other: labels, cells and pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from analysis.stats.agreement import accuracy, cohen_kappa, gwet_ac1, mean_absolute_error
from analysis.store.audits import HUMAN, MODEL, QUESTIONS, RELEVANCE, TIER, TRANSLATION, Audit
from analysis.store.read import DocumentColumns, QueryColumns, Store, TaskRow
from analysis.views.evidence import LEVEL, number

ENOUGH = 30  # judgements below which a share is descriptive only
PEOPLE = "people together"
LOW_KAPPA, HIGH_AGREEMENT = 0.2, 0.8  # a κ below the one with an agreement above the other wants an explanation

LABELS = {RELEVANCE: ("not relevant", "relevant"), TRANSLATION: ("not faithful", "faithful")}
"""What is compared where grades are given: below 1, and from 1."""

Key = tuple[str, ...]
"""What is judged: task, question, query, and the document or source."""


class Agreed(NamedTuple):
    """How far two say the same, the benchmark being one of them or not; None where undefined."""

    n: int  # items that both judged
    n_agreed: int
    value: float | None  # share of the items
    low: float | None  # Wilson's interval of it
    high: float | None
    kappa: float | None  # Cohen's
    ac1: float | None  # Gwet's
    mae: float | None  # of grades, or of tiers that are numbers; None where there are but 0 and 1
    few: bool  # n below 30: descriptive only
    remark: str | None  # why κ is undefined, or low where nearly all agree


class AuditCell(NamedTuple):
    """How far one rater agrees with the benchmark."""

    task: str
    question: str
    rater: str  # a name; PEOPLE: each item once, by the majority of those who judged it
    kind: str
    language: str | None  # of the query; None: all of them
    agreed: Agreed
    n_tied: int  # of people together: items without a majority, which are left out


class StatusCell(NamedTuple):
    """How far one rater agrees with the benchmark on queries of one audit status."""

    task: str
    question: str
    rater: str
    kind: str
    status: str  # as the queries have it: pass, flag, fail …
    agreed: Agreed


class AuditPair(NamedTuple):
    """How far two raters agree."""

    task: str
    question: str
    first: str
    second: str
    kinds: tuple[str, str]
    agreed: Agreed


class Item(NamedTuple):
    """What is judged, with what the benchmark says of it."""

    task: str
    question: str
    query: int
    query_id: str
    other_id: str
    language: str
    language_place: int  # among the query languages of the task
    status: str | None  # audit status of the query
    label: str  # the benchmark's: one of LABELS, or a tier
    grade: float | None  # as a number


@dataclass(frozen=True)
class JudgedTask:
    """A task, by the ids of its queries and documents."""

    row: TaskRow
    queries: QueryColumns
    documents: DocumentColumns
    of_query: Mapping[str, int]
    of_document: Mapping[str, int]
    grades: Mapping[tuple[int, int], float]
    languages: tuple[str, ...]  # of the queries, as they first show them

    @classmethod
    def load(cls, store: Store, row: TaskRow) -> JudgedTask:
        """What a store has of a task."""
        queries, documents = store.queries(row.task_id), store.documents(row.task_id)
        judged = store.judgements(row.task_id, all_grades=True)
        pairs = zip(judged.query.tolist(), judged.document.tolist(), strict=True)
        return cls(
            row,
            queries,
            documents,
            {name: place for place, name in enumerate(queries.id.tolist())},
            {name: place for place, name in enumerate(documents.id.tolist())},
            dict(zip(pairs, judged.grade.tolist(), strict=True)),
            tuple(dict.fromkeys(queries.language.tolist())),
        )

    def item(self, audit: Audit) -> Item | None:
        """What a judgement is about; None where it is not stored any more."""
        query = self.of_query.get(audit.query_id)
        others = self.of_query if audit.question == TRANSLATION else self.of_document
        other = others.get(audit.other_id)
        if query is None or other is None:
            return None
        language = str(self.queries.language[query])
        place = self.languages.index(language)
        status = self.queries.audit_status[query]
        head = (audit.task, audit.question, query, audit.query_id, audit.other_id, language, place, status)
        if audit.question == TIER:
            tier = self.queries.tier[query]
            return None if tier is None else Item(*head, str(tier), _number(str(tier)))
        if audit.question == TRANSLATION:
            grade = 0.0 if status == "fail" else 1.0
        else:
            grade = self.grades.get((query, other), 0.0)
        return Item(*head, LABELS[audit.question][grade >= 1], grade)


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if np.isfinite(found) else None


def label_of(audit: Audit) -> str:
    """What is compared: whether it is an answer, or the tier."""
    if audit.question == TIER:
        return audit.judgement
    return LABELS[audit.question][float(audit.judgement) >= 1]


# How far two agree


class Judged(NamedTuple):
    """One judgement as a label and as a number."""

    label: str
    grade: float | None


def agreed_on(first: Sequence[Judged], second: Sequence[Judged]) -> Agreed:
    """How far two say the same of some items, in the same order."""
    ours, theirs = [one.label for one in first], [one.label for one in second]
    same = accuracy(ours, theirs, level=LEVEL)
    kappa = number(cohen_kappa(ours, theirs))
    return Agreed(
        n=same.n,
        n_agreed=sum(a == b for a, b in zip(ours, theirs, strict=True)),
        value=number(same.value),
        low=number(same.low),
        high=number(same.high),
        kappa=kappa,
        ac1=number(gwet_ac1(ours, theirs)),
        mae=_mae(first, second),
        few=same.n < ENOUGH,
        remark=_remark(ours, theirs, kappa),
    )


def _mae(first: Sequence[Judged], second: Sequence[Judged]) -> float | None:
    """The mean absolute error where grades say more than labels do."""
    ours, theirs = [one.grade for one in first], [one.grade for one in second]
    grades = [grade for grade in (*ours, *theirs) if grade is not None]
    if len(grades) < 2 * len(ours) or set(grades) <= {0.0, 1.0}:
        return None
    return number(
        mean_absolute_error([grade for grade in ours if grade is not None], [g for g in theirs if g is not None])
    )


def _remark(first: Sequence[str], second: Sequence[str], kappa: float | None) -> str | None:
    """Why κ says little although nearly all agree."""
    n = len(first)
    agreed = sum(a == b for a, b in zip(first, second, strict=True)) / n if n else 0.0
    if kappa is None:
        return "both give one and the same label throughout: κ is not defined" if n else None
    if kappa >= LOW_KAPPA or agreed < HIGH_AGREEMENT:
        return None
    label, often = Counter([*first, *second]).most_common(1)[0]
    chance = sum(first.count(one) / n * second.count(one) / n for one in {*first, *second})
    return (
        f"κ is low although {100 * agreed:.1f} % agree: {50 * often / n:.1f} % of all labels are “{label}”, so that "
        f"chance alone would agree on {100 * chance:.1f} %; AC1 does not depend on that"
    )


# Cells and pairs


def groups(found: Iterable[Audit]) -> dict[tuple[str, str], list[Audit]]:
    """Judgements by task and question, in the order of the questions."""
    groups: dict[tuple[str, str], list[Audit]] = {}
    for audit in found:
        groups.setdefault((audit.task, audit.question), []).append(audit)
    return dict(sorted(groups.items(), key=lambda group: (group[0][0], QUESTIONS.index(group[0][1]))))


def _by_rater(of: Iterable[Audit]) -> dict[tuple[str, str], dict[Key, Judged]]:
    """What each rater says of each item; people before models, and last people together where they are several."""
    found: dict[tuple[str, str], dict[Key, Judged]] = {}
    for audit in of:
        judged = Judged(label_of(audit), _number(audit.judgement))
        found.setdefault((audit.kind, audit.annotator), {})[audit.item] = judged
    return {(name, kind): found[kind, name] for kind, name in sorted(found)}


def _together(
    raters: Mapping[tuple[str, str], Mapping[Key, Judged]],
) -> tuple[dict[Key, Judged], int]:
    """The majority of people on each item, with the mean of those grades; and how many items have none."""
    said: dict[Key, list[Judged]] = {}
    for (_, kind), judged in raters.items():
        if kind == HUMAN:
            for item, one in judged.items():
                said.setdefault(item, []).append(one)
    found: dict[Key, Judged] = {}
    for item, votes in said.items():
        counts = Counter(vote.label for vote in votes).most_common()
        if len(counts) == 1 or counts[0][1] > counts[1][1]:
            grades = [vote.grade for vote in votes if vote.label == counts[0][0] and vote.grade is not None]
            found[item] = Judged(counts[0][0], float(np.mean(grades)) if grades else None)
    return found, len(said) - len(found)


def cells_of(found: Sequence[Audit], items: Mapping[Key, Item]) -> tuple[AuditCell, ...]:
    """Every rater against the benchmark, and people together where they are several, in all and by language."""
    cells: list[AuditCell] = []
    for (task, question), group in groups(found).items():
        raters = _by_rater(group)
        for (rater, kind), judged in raters.items():
            cells += [
                AuditCell(task, question, rater, kind, language, agreed, 0)
                for language, agreed in _by_language(judged, items)
            ]
        if sum(kind == HUMAN for _, kind in raters) > 1:
            judged, n_tied = _together(raters)
            cells += [
                AuditCell(task, question, PEOPLE, HUMAN, language, agreed, 0 if language else n_tied)
                for language, agreed in _by_language(judged, items)
            ]
    return tuple(cells)


def _by_language(judged: Mapping[Key, Judged], items: Mapping[Key, Item]) -> Iterator[tuple[str | None, Agreed]]:
    """All languages, then each in the order of the task."""
    places = {key: items[key] for key in sorted(judged, key=lambda key: items[key].query)}
    found = dict(sorted({(item.language_place, item.language) for item in places.values()}))
    for language in (None, *found.values()):
        chosen = [key for key, item in places.items() if language in (None, item.language)]
        yield language, _with_benchmark(chosen, judged, items)


def _with_benchmark(chosen: Sequence[Key], judged: Mapping[Key, Judged], items: Mapping[Key, Item]) -> Agreed:
    """How far a rater agrees with the benchmark on some items."""
    theirs = [Judged(items[key].label, items[key].grade) for key in chosen]
    return agreed_on([judged[key] for key in chosen], theirs)


def statuses_of(found: Sequence[Audit], items: Mapping[Key, Item]) -> tuple[StatusCell, ...]:
    """Every rater against the benchmark by audit status of the query; nothing where queries have none."""
    cells = []
    for (task, question), group in groups(found).items():
        for (rater, kind), judged in _by_rater(group).items():
            for status in sorted({status for key in judged if (status := items[key].status) is not None}):
                chosen = [key for key in judged if items[key].status == status]
                agreed = _with_benchmark(chosen, judged, items)
                cells.append(StatusCell(task, question, rater, kind, status, agreed))
    return tuple(cells)


def pairs_of(found: Sequence[Audit]) -> tuple[AuditPair, ...]:
    """Every two raters who judged something in common, and each model against people together."""
    pairs = []
    for (task, question), group in groups(found).items():
        raters = _by_rater(group)
        compared = list(combinations(raters, 2))
        models = [rater for rater in raters if rater[1] == MODEL]
        if models and sum(kind == HUMAN for _, kind in raters) > 1:
            raters[PEOPLE, HUMAN] = _together(raters)[0]
            compared += [((PEOPLE, HUMAN), model) for model in models]
        for one, other in compared:
            both = [item for item in raters[one] if item in raters[other]]
            agreed = agreed_on([raters[one][item] for item in both], [raters[other][item] for item in both])
            pairs.append(AuditPair(task, question, one[0], other[0], (one[1], other[1]), agreed))
    return tuple(pair for pair in pairs if pair.agreed.n)
