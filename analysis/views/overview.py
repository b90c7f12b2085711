"""Which system, and can I trust the difference?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.errors import StoreError
from analysis.model import Interval, SystemLabel
from analysis.stats import bootstrap
from analysis.store.read import Store, TaskRow
from analysis.views.composite import Composite, composites, task_score
from analysis.views.composite import takeaway as composite_takeaway
from analysis.views.evidence import (
    Evidence,
    benchmark_label,
    chosen_tasks,
    measure_label,
    number,
    of_100,
    task_label,
)
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel


@dataclass(frozen=True)
class OverviewRow:
    """One system on one task."""

    task: str
    system: SystemLabel
    measures: Mapping[str, Interval]  # by measure key
    task_score: Interval | None  # of the three tasks of MMed-Bench-IR; None for other tasks
    depth: int
    n_queries: int  # judged queries that have a relevant document
    n_missing: int  # of those, absent from the run: they count 0
    n_unjudged: int  # queries without a relevant document, left out of every mean
    n_tied_at_10: int  # queries whose scores tie across rank 10
    tie_range_ndcg_at_10: tuple[float, float] | None  # lowest and highest mean that tied orders allow
    judged_at_10: float | None
    n_dangling: int  # relevant documents absent from the corpus
    distinct_documents_at_10: int
    largest_document_share_at_10: float
    degenerate: bool | None  # R@10 cross below 0.10; None where there is no cross-language answer
    hits_kept: int
    n_hits: int
    created_at: str  # ISO time
    texts_per_second: float | None
    composed_of: tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """A system that declined a task."""

    task: str
    system: SystemLabel
    reason: str


@dataclass(frozen=True)
class TaskOverview:
    """The leaderboard of one task."""

    task: TaskLabel
    takeaway: Sentence
    caption: str  # the grey line: what is drawn, n, caveat
    rows: tuple[OverviewRow, ...]  # best first by the lead measure
    refusals: tuple[Refusal, ...]
    lead: MeasureLabel  # the measure the rows are ordered by
    coverage_note: str | None  # said aloud where systems answer different queries


@dataclass(frozen=True)
class OverviewView:
    """The leaderboards of one benchmark."""

    benchmark: BenchmarkLabel
    tasks: tuple[TaskOverview, ...]
    measures: tuple[MeasureLabel, ...]  # columns, in order
    composites: tuple[Composite, ...]  # over the three tasks of MMed-Bench-IR; empty for other benchmarks
    composite_takeaway: Sentence


@dataclass(frozen=True)
class Contents:
    """What a store holds: what the sidebar offers."""

    benchmarks: tuple[BenchmarkLabel, ...]
    benchmark: BenchmarkLabel  # the chosen one
    tasks: tuple[TaskLabel, ...]  # of the chosen benchmark, the default first
    systems: tuple[SystemLabel, ...]  # with a complete run on the chosen tasks
    slices: tuple[tuple[str, str], ...]  # query attribute and value: the parts of the chosen tasks' queries


LEAD = "ndcg_at_10"
SLICED = ("language", "tier", "mode", "strategy", "audit_status")  # attributes of few values
MEASURES = (
    "ndcg_at_10",
    "recall_at_10",
    "recall_at_10_same",
    "recall_at_10_cross",
    "language_transfer",
    "hit_at_1",
    "rr",
)


def contents(store: Store, benchmark: str | None = None, *, tasks: tuple[str, ...] = ()) -> Contents:
    """What the sidebar offers; the benchmark built last when none is named.

    Raises:
        InputError: an unknown benchmark or task.
        StoreError: no benchmark is stored yet.
    """
    known = store.benchmarks()
    if not known:
        raise StoreError("no benchmark is stored yet: python -m analysis build bedside")
    row = store.benchmark(benchmark) if benchmark else known[0]
    chosen = benchmark_label(row)
    rows = chosen_tasks(store, Selection(chosen.address, tasks))
    ran = {run.system for run in store.runs([task.task_id for task in rows]) if run.status == "complete"}
    labels = store.system_labels()
    return Contents(
        benchmarks=tuple(benchmark_label(row) for row in known),
        benchmark=chosen,
        tasks=tuple(task_label(task) for task in store.tasks(row.benchmark_id)),
        systems=tuple(label for name, label in labels.items() if name in ran),
        slices=_slices(store, rows),
    )


def _slices(store: Store, tasks: Sequence[TaskRow]) -> tuple[tuple[str, str], ...]:
    """Attribute and value of every part that some but not all queries of these tasks belong to."""
    found: dict[tuple[str, str], None] = {}
    for task in tasks:
        queries = store.queries(task.task_id)
        for attribute in SLICED:
            values = dict.fromkeys(value for value in getattr(queries, attribute) if value is not None)
            if len(values) > 1:
                found |= dict.fromkeys((attribute, value) for value in values)
    return tuple(found)


def overview(store: Store, selection: Selection, *, measures: tuple[str, ...] = MEASURES) -> OverviewView:
    """The leaderboard of each chosen task.

    Raises:
        InputError: an unknown benchmark, task, system or measure.
    """
    labels = store.system_labels()
    composed = composites(store, selection)
    tasks = tuple(_task_overview(store, task, selection, labels, measures) for task in chosen_tasks(store, selection))
    return OverviewView(
        benchmark_label(store.benchmark(selection.benchmark)),
        tasks,
        tuple(measure_label(key) for key in measures),
        composed,
        composite_takeaway(composed),
    )


def _task_overview(
    store: Store, task: TaskRow, selection: Selection, labels: dict[str, SystemLabel], measures: tuple[str, ...]
) -> TaskOverview:
    evidence = Evidence.load(store, task, selection=selection, labels=labels)
    rows = sorted(
        _rows(evidence, labels, measures),
        key=lambda row: -(row.measures[LEAD].value or 0.0) if LEAD in row.measures else 0.0,
    )
    refusals = tuple(
        Refusal(task.name, labels[run.system], run.reason or "")
        for run in store.runs([task.task_id])
        if run.status == "refused" and (not selection.systems or run.system in selection.systems)
    )
    return TaskOverview(
        task=task_label(task),
        takeaway=_takeaway(evidence, rows),
        caption=_caption(evidence),
        rows=tuple(rows),
        refusals=refusals,
        lead=measure_label(LEAD),
        coverage_note=_coverage_note(rows),
    )


def _rows(evidence: Evidence, labels: dict[str, SystemLabel], measures: tuple[str, ...]) -> list[OverviewRow]:
    if not evidence.runs:
        return []
    by_measure = evidence.intervals(measures)
    score = task_score(evidence)
    scored = score.intervals() if score else {}
    health = _health(evidence)
    degenerate = evidence.degenerate()
    return [
        OverviewRow(
            task=evidence.task.name,
            system=labels[run.system],
            measures={key: intervals[place] for key, intervals in by_measure.items()},
            task_score=scored.get(run.system),
            depth=run.depth,
            n_queries=int(evidence.domain.sum()),
            n_unjudged=int((evidence.mask & ~evidence.domain).sum()),
            n_dangling=int(
                (evidence.judged.relevant & (evidence.judged.language < 0) & evidence.mask[evidence.judged.query]).sum()
            ),
            degenerate=degenerate[place],
            hits_kept=run.hits_kept,
            n_hits=run.n_hits,
            created_at=run.created_at.isoformat(),
            texts_per_second=run.provenance.get("texts_per_second"),
            composed_of=run.parents,
            **health[place],
        )
        for place, run in enumerate(evidence.runs)
    ]


def _health(evidence: Evidence) -> list[dict[str, Any]]:
    """Missing queries, ties and concentration of each run, over the judged queries of the slice."""
    domain, facts = evidence.domain, evidence.facts
    found = []
    for place, run in enumerate(evidence.runs):
        low, high = (
            bootstrap.pooled_mean(np.where(domain, facts[f"ndcg_at_10_{end}"][place].astype(float), np.nan)).value
            for end in ("low", "high")
        )
        distinct, largest = evidence.store.concentration(run.run_id).get(10, (0, 0.0))
        judged = bootstrap.pooled_mean(np.where(domain, facts["judged_at_10"][place].astype(float), np.nan)).value
        found.append(
            {
                "n_missing": int((domain & (facts["depth"][place] == 0)).sum()),
                "n_tied_at_10": int((domain & facts["tied_at_10"][place].astype(bool)).sum()),
                "tie_range_ndcg_at_10": None if np.isnan(low) else (float(low), float(high)),
                "judged_at_10": number(float(judged)),
                "distinct_documents_at_10": distinct,
                "largest_document_share_at_10": largest,
            }
        )
    return found


def _takeaway(evidence: Evidence, rows: list[OverviewRow]) -> Sentence:
    """Which system leads, by how much, and what happens to the one that loses most across languages."""
    if not rows:
        return Sentence(
            "No system has run on this task yet.", "Run one: python -m analysis run --benchmark … --systems all"
        )
    return Sentence(_lead_sentence(evidence, rows), _collapse_sentence(rows))


def _lead_sentence(evidence: Evidence, rows: list[OverviewRow]) -> str:
    best = rows[0]
    score = best.measures[LEAD].value if LEAD in best.measures else None
    if score is None or len(rows) < 2:
        return (
            f"{best.system.short} reaches nDCG@10 {score:.2f}."
            if score is not None
            else "No query of this slice has a relevant document."
        )
    place = {run.system: index for index, run in enumerate(evidence.runs)}
    apart = evidence.difference(LEAD, first=place[best.system.name], second=place[rows[1].system.name])
    if apart is None:
        return f"{best.system.short} leads with nDCG@10 {score:.2f}."
    if apart[1] <= 0:
        return (
            f"{best.system.short} and {rows[1].system.short} cannot be told apart at nDCG@10 {score:.2f} "
            f"(95 % interval of the difference {apart[1]:+.2f} to {apart[2]:+.2f})."
        )
    return (
        f"{best.system.short} leads with nDCG@10 {score:.2f}, {apart[0]:.2f} above {rows[1].system.short} "
        f"(95 % interval {apart[1]:.2f} to {apart[2]:.2f})."
    )


def _collapse_sentence(rows: list[OverviewRow]) -> str:
    """The system that loses most between its own language and the others, in counts a person can picture."""
    dense = [row for row in rows if row.system.paradigm != "lexical"]  # words do not cross languages: no surprise
    drops = []
    for row in dense or rows:
        same, cross = row.measures.get("recall_at_10_same"), row.measures.get("recall_at_10_cross")
        if same and cross and same.value is not None and cross.value is not None:
            drops.append((same.value - cross.value, row.system.short, same.value, cross.value))
    if not drops:
        return "No answer here is in the query's own language, so same-language measures are blank."
    _, name, same_value, cross_value = max(drops)
    return (
        f"{name} finds {of_100(same_value)} answers in the query's own language and {of_100(cross_value)} in another."
    )


def _caption(evidence: Evidence) -> str:
    tags = ", ".join(evidence.languages)
    return (
        f"{int(evidence.domain.sum()):,} queries in {len(evidence.languages)} languages ({tags}) "
        f"over {evidence.task.n_documents:,} documents · bars and ranges are 95 % bootstrap intervals"
    )


def _coverage_note(rows: list[OverviewRow]) -> str | None:
    """Said aloud where a system returned nothing for queries that another one answered."""
    partial = [row for row in rows if row.n_missing]
    if not partial:
        return None
    parts = [f"{row.system.short} returned nothing for {row.n_missing:,} of {row.n_queries:,}" for row in partial]
    return (
        f"Not every system answered every query: {'; '.join(parts)}. "
        "Those queries count 0; leaving them out would flatter the system."
    )
