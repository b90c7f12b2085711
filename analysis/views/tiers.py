"""What does it confuse?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.metrics import outcomes
from analysis.metrics.outcomes import RELATIONS
from analysis.metrics.routes import first_rank
from analysis.model import NEVER, Interval, SystemLabel
from analysis.store.read import Store, TaskRow
from analysis.text import counted
from analysis.views import language_choice
from analysis.views import validation as validations
from analysis.views.evidence import Evidence, Floats, benchmark_label, chosen_tasks, of_100, one_task, task_label
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel
from analysis.views.validation import TIERS, Validation

SAME_CONCEPT, AGAINST = RELATIONS[0], RELATIONS[1:]  # sibling, related, unrelated


Outcomes = Mapping[str, Mapping[str, float]]
"""Relation -> same or other language -> share of the queries."""


@dataclass(frozen=True)
class TierRow:
    """One system on one task, and one tier where queries carry one."""

    task: str
    system: SystemLabel
    tier: str | None  # None: all queries
    recall_at_1: Interval
    recall_at_5: Interval
    hit_at_1: Interval
    discrimination: Mapping[str, Interval]  # by relation: how often the answer stands above the first such document
    outcome_at_1: Outcomes


@dataclass(frozen=True)
class Example:
    """One query with what stands at rank 1 of one system's list."""

    query_id: str
    query_text: str
    query_language: str
    document_text: str  # at rank 1
    document_language: str
    answer_rank: int | None  # of the first right answer; None beyond the run's depth


@dataclass(frozen=True)
class TierTask:
    """One task of the page."""

    task: TaskLabel
    takeaway: Sentence
    caption: str
    rows: tuple[TierRow, ...]  # all queries first, then tier by tier
    by_language: Mapping[str, Mapping[str, Outcomes]]  # system -> query language -> what stands at rank 1
    validation: Validation | None = None  # of its confusion sets; None: it was not made of any

    @property
    def tiers(self) -> tuple[str, ...]:
        """Those that queries carry, the first the easiest; empty where they carry none."""
        return tuple(dict.fromkeys(row.tier for row in self.rows if row.tier is not None))

    @property
    def answer(self) -> str:
        """What an answer at rank 1 is to its query."""
        return SAME_CONCEPT if self.compares else "an answer"

    @property
    def compares(self) -> bool:
        """Whether an answer is one concept and what stands above it another; in confusion sets siblings are answers."""
        return self.validation is None or self.validation.answers != validations.SET


@dataclass(frozen=True)
class TiersView:
    """What the chosen systems confuse on the chosen tasks."""

    benchmark: BenchmarkLabel
    tasks: tuple[TierTask, ...]


def page(store: Store, selection: Selection, *, languages: tuple[str, ...] = ()) -> TiersView:
    """The answer of the page *Difficulty tiers*.

    Args:
        store: where the runs are.
        selection: what is asked.
        languages: of the queries, those to show apart; empty for all. All other numbers are over all.

    Raises:
        InputError: an unknown benchmark, task or system, a task without rankings, or none of the languages.
    """
    labels = store.system_labels()
    tasks = []
    for task in chosen_tasks(store, selection):
        evidence = _evidence(store, task, selection, labels)
        mine = tuple(_task_rows(evidence, labels))
        caption = "No system has run on this task."
        if mine and any(row.tier for row in mine):
            asked = {row.tier: row.hit_at_1.n for row in mine if row.tier}
            counts = " · ".join(f"{tier} {n:,}" for tier, n in asked.items())
            caption = f"Queries by tier: {counts} · 95 % bootstrap intervals"
        elif mine:
            counts = " · ".join(f"{name} {mine[0].discrimination[name].n:,}" for name in AGAINST)
            caption = f"Queries whose concept has such a neighbour in the corpus: {counts} · 95 % bootstrap intervals"
        parents = {run.system: run.parents for run in evidence.runs}
        tasks.append(
            TierTask(
                task_label(task),
                _by_tier(mine) or _takeaway(mine),
                caption,
                mine,
                _by_language(evidence, languages),
                validations.validation(evidence.benchmark.settings, task.name, mine, parents),
            )
        )
    return TiersView(benchmark_label(store.benchmark(selection.benchmark)), tuple(tasks))


def _by_language(evidence: Evidence, asked: tuple[str, ...]) -> dict[str, dict[str, Outcomes]]:
    spoken = {
        tag: evidence.domain & (evidence.judged.query_language == code) for code, tag in enumerate(evidence.languages)
    }
    spoken = {tag: domain for tag, domain in spoken.items() if domain.any()}
    tags = language_choice.shown(tuple(spoken), asked)
    return {
        run.system: {tag: _outcomes(evidence, place, spoken[tag]) for tag in tags}
        for place, run in enumerate(evidence.runs)
    }


def examples(store: Store, selection: Selection, *, system: str, relation: str, language: str) -> tuple[Example, ...]:
    """The queries at whose rank 1 a system puts a document of one relation, the worst answered first.

    Args:
        store: where the runs are.
        selection: exactly one task.
        system: with a run of it.
        relation: one of RELATIONS.
        language: "same" as the query's, or "other".

    Raises:
        InputError: an unknown task, system or relation, not exactly one task, or one without rankings.
    """
    task = one_task(store, selection)
    evidence = _evidence(store, task, selection._replace(systems=(system,)), store.system_labels())
    if relation not in RELATIONS or language not in {"same", "other"} or not evidence.runs:
        raise InputError(
            f"{system}, {relation}, {language}: expected a system with a run and one of {', '.join(RELATIONS)}"
        )
    is_same = evidence.facts["outcome_at_1_same_language"][0] == True  # noqa: E712 (an object array)
    chosen = evidence.domain & (evidence.facts["outcome_at_1"][0] == relation) & (is_same == (language == "same"))
    asked = np.flatnonzero(chosen)
    first = first_rank(evidence.judged, evidence.ranks, which="any")[0]
    asked = asked[np.argsort(-first[asked].astype(np.int64), kind="stable")]
    top = {hit.query: hit.document for hit in store.hits(evidence.runs[0], asked.tolist(), top=1)}
    texts = store.texts(task.task_id, sorted(set(top.values())))
    tags = store.documents(task.task_id).language
    queries = evidence.queries
    return tuple(
        Example(
            str(queries.id[query]),
            str(queries.text[query]),
            str(queries.language[query]),
            texts[top[query]],
            str(tags[top[query]]),
            None if first[query] == NEVER else int(first[query]),
        )
        for query in asked.tolist()
    )


def _by_tier(rows: Sequence[TierRow]) -> Sentence | None:
    """How the best system does on the first and the last tier; None where queries carry none."""
    names = list(dict.fromkeys(row.tier for row in rows if row.tier is not None))
    whole = [row for row in rows if row.tier is None and row.hit_at_1.value is not None]
    if not names or not whole:
        return None
    best = max(whole, key=lambda row: row.hit_at_1.value or 0.0).system
    found = {row.tier: row.hit_at_1 for row in rows if row.system == best}
    ends = dict.fromkeys((names[0], names[-1]))
    parts = [f"{of_100(found[name].value or 0.0)} {name} queries" for name in ends]
    return Sentence(
        f"{best.short} puts an answer at rank 1 for {' and '.join(parts)}.",
        f"{counted(len(whole), 'system')} ran." if len(whole) > 1 else "",
    )


def _takeaway(rows: Sequence[TierRow]) -> Sentence:
    """Who is fooled by siblings most often, and who least."""
    fooled = [
        (1 - accuracy, row.system.short)
        for row in rows
        if row.tier is None and (accuracy := row.discrimination[AGAINST[0]].value) is not None
    ]
    if not fooled:
        return Sentence(
            "No concept of this task has a sibling in the corpus.", "Only related and unrelated ones can be confused."
        )
    worst, best = max(fooled), min(fooled)
    bold = f"{worst[1]} fails to put the answer above every sibling for {of_100(worst[0])} queries."
    return Sentence(bold, f"{best[1]} does best: it fails for {of_100(best[0])}." if len(fooled) > 1 else "")


def tiers(store: Store, selection: Selection) -> tuple[TierRow, ...]:
    """What stood above the answer, and what stood at rank 1 instead, for each chosen task and system.

    Raises:
        InputError: an unknown benchmark, task or system, or a task without rankings.
    """
    labels = store.system_labels()
    rows: list[TierRow] = []
    for task in chosen_tasks(store, selection):
        rows += _task_rows(_evidence(store, task, selection, labels), labels)
    return tuple(rows)


def _evidence(store: Store, task: TaskRow, selection: Selection, labels: dict[str, SystemLabel]) -> Evidence:
    evidence = Evidence.load(store, task, selection=selection, labels=labels)
    evidence.need_ranks("difficulty tiers need rankings")
    return evidence


def _task_rows(whole: Evidence, labels: Mapping[str, SystemLabel]) -> Iterator[TierRow]:
    """All queries first, then tier by tier where queries carry one."""
    yield from _rows(whole, labels, None)
    for tier in tiers_of(whole):
        yield from _rows(whole.part("tier", tier), labels, tier)


def tiers_of(evidence: Evidence) -> list[str]:
    """Those that its queries carry: of confusion sets first, the easiest before the hardest."""
    known = {tier for tier in evidence.queries.tier[evidence.domain] if tier is not None}
    return sorted(known, key=lambda tier: (TIERS.index(tier) if tier in TIERS else len(TIERS), tier))


def _rows(evidence: Evidence, labels: Mapping[str, SystemLabel], tier: str | None) -> list[TierRow]:
    if not evidence.runs:
        return []
    measures = evidence.intervals(("recall_at_1", "recall_at_5", "hit_at_1"))
    against = {name: evidence.pooled(values) for name, values in discriminated(evidence).items()}
    return [
        TierRow(
            task=evidence.task.name,
            system=labels[run.system],
            tier=tier,
            recall_at_1=measures["recall_at_1"][place],
            recall_at_5=measures["recall_at_5"][place],
            hit_at_1=measures["hit_at_1"][place],
            discrimination={name: intervals[place] for name, intervals in against.items()},
            outcome_at_1=_outcomes(evidence, place, evidence.domain),
        )
        for place, run in enumerate(evidence.runs)
    ]


def discriminated(evidence: Evidence) -> dict[str, Floats]:
    """For each relation, whether each query's answer stands above the first document of it, ``(S, Q)``.

    NaN outside the slice, and for queries whose concept has no such document in the corpus: nothing could be confused.
    """
    first = first_rank(evidence.judged, evidence.ranks, which="any")
    has_relevant = evidence.judged.n_relevant > 0
    exists = _exists(evidence)
    return {
        name: np.where(
            evidence.mask & exists[name],
            outcomes.discriminated(
                first, evidence.facts[f"first_{name}_rank"].astype(np.int32), has_relevant=has_relevant
            ),
            np.nan,
        )
        for name in AGAINST
    }


def _exists(evidence: Evidence) -> dict[str, NDArray[np.bool_]]:
    """For each relation, which queries have such a document in the corpus, ``(Q,)``."""
    queries, documents = evidence.queries, evidence.store.documents(evidence.task.task_id)
    sibling, related = Counter(documents.sibling_group), Counter(documents.related_group)
    family = Counter(zip(documents.family, documents.sibling_group, documents.related_group, strict=True))
    inside = Counter(zip(documents.sibling_group, documents.related_group, strict=True))
    n = sum(tag is not None for tag in documents.language)
    found: dict[str, list[bool]] = {name: [] for name in AGAINST}
    for own, group, chapter in zip(queries.family, queries.sibling_group, queries.related_group, strict=True):
        same = family[own, group, chapter]
        siblings = sibling[group] - same if group is not None else 0
        near = inside[group, chapter] if group is not None else same
        relatives = related[chapter] - near if chapter is not None else 0
        found["sibling"].append(siblings > 0)
        found["related"].append(relatives > 0)
        found["unrelated"].append(n - same - siblings - relatives > 0)
    return {name: np.array(flags, dtype=bool) for name, flags in found.items()}


def _outcomes(evidence: Evidence, place: int, domain: NDArray[np.bool_]) -> dict[str, dict[str, float]]:
    """Shares of the queries of ``domain`` by what stands at rank 1; an empty list counts to none of them."""
    relation, same = (evidence.facts[name][place][domain] for name in ("outcome_at_1", "outcome_at_1_same_language"))
    total = max(int(domain.sum()), 1)
    return {
        name: {
            "same": float(np.sum((relation == name) & (same == True)) / total),  # noqa: E712 (an object array)
            "other": float(np.sum((relation == name) & (same == False)) / total),  # noqa: E712
        }
        for name in RELATIONS
    }
