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
from analysis.systems.names import known_as
from analysis.text import counted
from analysis.views import language_choice, published, slices
from analysis.views.composite import Composite, composites, task_score
from analysis.views.composite import takeaway as composite_takeaway
from analysis.views.evidence import (
    TIE_RANGE,
    Evidence,
    Floats,
    benchmark_label,
    chosen_tasks,
    measure_label,
    number,
    of_100,
    task_label,
)
from analysis.views.published import PublishedBoard
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel


@dataclass(frozen=True)
class OverviewRow:
    """One system on one task."""

    task: str
    system: SystemLabel
    measures: Mapping[str, Interval]  # by measure key
    task_score: Interval | None  # of the three tasks of MMed-Bench-IR; None for other tasks
    depth: int | None  # None, here and below: imported scores do not say
    n_queries: int  # judged queries that have a relevant document, or of imported scores any score
    n_missing: int  # of those, absent from the run: they count 0
    n_unjudged: int  # queries without a relevant document, left out of every mean
    trec_eval_c: float | None  # what to multiply a pooled mean by for trec_eval -c's, which counts those judged in vain
    n_tied_at_10: int | None  # queries whose scores tie across rank 10
    tie_range_ndcg_at_10: tuple[float, float] | None  # lowest and highest mean that tied orders allow
    judged_at_10: float | None
    n_dangling: int | None  # relevant documents absent from the corpus
    distinct_documents_at_10: int | None  # None, here and below, of a part of the queries: it is counted over all
    largest_document_share_at_10: float | None
    degenerate: bool | None  # R@10 cross below 0.10; None where there is no cross-language answer
    hits_kept: int | None
    n_hits: int | None
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
    tasks: tuple[TaskOverview, ...]  # without those of which only published figures are known
    measures: tuple[MeasureLabel, ...]  # columns, in order; a task of imported scores has only those imported
    composites: tuple[Composite, ...]  # over the three tasks of MMed-Bench-IR; empty for other benchmarks
    composite_takeaway: Sentence
    published: tuple[PublishedBoard, ...] = ()  # of these tasks; never ranked together with what was measured


@dataclass(frozen=True)
class Contents:
    """What a store holds: what the sidebar offers."""

    benchmarks: tuple[BenchmarkLabel, ...]
    benchmark: BenchmarkLabel  # the chosen one
    tasks: tuple[TaskLabel, ...]  # of the chosen benchmark, the default first
    systems: tuple[SystemLabel, ...]  # with a complete run of the chosen tasks, or published figures
    unmeasured: tuple[str, ...]  # of these, the ones without a run
    slices: tuple[tuple[str, str], ...]  # query attribute and value: the parts of the chosen tasks' queries


MOST_VALUES = 20  # of an attribute that the sidebar offers
MEASURES = (
    "ndcg_at_10",
    "recall_at_10",
    "recall_at_10_same",
    "recall_at_10_cross",
    "language_transfer",
    "hit_at_1",
    "rr",
)
OF_HITS = (
    "depth",
    "hits_kept",
    "n_hits",
    "n_dangling",
    "n_tied_at_10",
    "tie_range_ndcg_at_10",
    "judged_at_10",
    "distinct_documents_at_10",
    "largest_document_share_at_10",
)
"""What only a ranking tells, in the order of _of_hits()."""


def contents(
    store: Store, benchmark: str | None = None, *, tasks: tuple[str, ...] = (), without_flagged: bool = False
) -> Contents:
    """What the sidebar offers; the benchmark built last when none is named.

    Args:
        store: where the benchmark is.
        benchmark: name or name@version.
        tasks: whose systems and slices are offered; all if none is named.
        without_flagged: what is flagged does not count.

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
    ids = [task.task_id for task in rows]
    ran = {run.system for run in store.runs(ids) if run.status == "complete"}
    by_any_name = {known_as(name) for name in ran}
    unmeasured = {row.system for row in store.published_sources(ids) if known_as(row.system) not in by_any_name}
    labels = store.system_labels()
    return Contents(
        benchmarks=tuple(benchmark_label(row) for row in known),
        benchmark=chosen,
        tasks=tuple(task_label(task) for task in store.tasks(row.benchmark_id)),
        systems=tuple(label for name, label in labels.items() if name in ran | unmeasured),
        unmeasured=tuple(sorted(unmeasured)),
        slices=_slices(store, rows, without_flagged=without_flagged),
    )


def _slices(store: Store, tasks: Sequence[TaskRow], *, without_flagged: bool) -> tuple[tuple[str, str], ...]:
    """Attribute and value of every part that some but not all queries of these tasks belong to, where they are few."""
    found: dict[tuple[str, str], None] = {}
    for task in tasks:
        queries = store.queries(task.task_id)
        for attribute in slices.names(task, queries):
            column = slices.column(store, task, queries, attribute=attribute, without_flagged=without_flagged)
            values = slices.values(column)
            if 1 < len(values) <= MOST_VALUES:
                found |= dict.fromkeys((attribute, value) for value in values)
    return tuple(found)


def absent(store: Store, selection: Selection) -> tuple[tuple[str, str], ...]:
    """What a selection asks of the queries that none of them has: attribute and value.

    Raises:
        InputError: an unknown benchmark, task or attribute.
    """
    held: set[tuple[str, str]] = set()
    for task in chosen_tasks(store, selection):
        queries = store.queries(task.task_id)
        for name in {name for name, _ in selection.where}:
            column = slices.column(store, task, queries, attribute=name, without_flagged=selection.without_flagged)
            found = slices.values(column)
            held |= {(name, value) for value in found}
    return tuple(pair for pair in selection.where if pair not in held)


def overview(store: Store, selection: Selection, *, measures: tuple[str, ...] = MEASURES) -> OverviewView:
    """The leaderboard of each chosen task.

    Raises:
        InputError: an unknown benchmark, task, system or measure.
    """
    labels = store.system_labels()
    measured = [task for task in chosen_tasks(store, selection) if not task_label(task).published_only]
    composed = composites(store, selection) if measured else ()
    gathered = [Evidence.load(store, task, selection=selection, labels=labels) for task in measured]
    shown = dict.fromkeys(key for evidence in gathered for key in evidence.measures(measures))
    tasks = tuple(_task_overview(evidence, selection, labels, measures) for evidence in gathered)
    return OverviewView(
        benchmark_label(store.benchmark(selection.benchmark)),
        tasks,
        tuple(measure_label(key) for key in shown),
        composed,
        composite_takeaway(composed),
        published.boards(store, selection),
    )


def _task_overview(
    evidence: Evidence, selection: Selection, labels: dict[str, SystemLabel], measures: tuple[str, ...]
) -> TaskOverview:
    task, lead = evidence.task, evidence.lead
    rows = sorted(
        _rows(evidence, labels, evidence.measures(measures)),
        key=lambda row: -(row.measures[lead].value or 0.0) if lead in row.measures else 0.0,
    )
    refusals = tuple(
        Refusal(task.name, labels[run.system], run.reason or "")
        for run in evidence.store.runs([task.task_id])
        if run.status == "refused" and (not selection.systems or run.system in selection.systems)
    )
    return TaskOverview(
        task=task_label(task),
        takeaway=_takeaway(evidence, rows),
        caption=_caption(evidence),
        rows=tuple(rows),
        refusals=refusals,
        lead=measure_label(lead),
        coverage_note=_coverage_note(evidence, rows),
    )


def _rows(evidence: Evidence, labels: dict[str, SystemLabel], measures: tuple[str, ...]) -> list[OverviewRow]:
    if not evidence.runs:
        return []
    by_measure = evidence.intervals(measures)
    score = task_score(evidence)
    scored = score.intervals() if score else {}
    health = _health(evidence)
    degenerate, in_trec_eval = evidence.degenerate(), _trec_eval_c(evidence)
    return [
        OverviewRow(
            task=evidence.task.name,
            system=labels[run.system],
            measures={key: intervals[place] for key, intervals in by_measure.items()},
            task_score=scored.get(run.system),
            n_queries=int(evidence.domain.sum()),
            n_missing=int(evidence.missing[place].sum()),
            n_unjudged=int((evidence.mask & ~evidence.domain).sum()),
            trec_eval_c=in_trec_eval,
            degenerate=degenerate[place],
            created_at=run.created_at.isoformat(),
            texts_per_second=run.provenance.get("texts_per_second"),
            composed_of=run.parents,
            **health[place],
        )
        for place, run in enumerate(evidence.runs)
    ]


def _trec_eval_c(evidence: Evidence) -> float | None:
    """Queries with an answer ÷ queries with a judgement; None where these are the same, or scores were imported."""
    if not evidence.has_ranks:
        return None
    task_id, judged = evidence.task.task_id, np.zeros(len(evidence.mask), dtype=bool)
    every = evidence.store.judgements(task_id, all_grades=True)
    counts = np.ones(len(every.query), dtype=bool)
    if not evidence.counted.all():
        counts = ~np.isin(every.document, evidence.store.flagged(task_id).documents)
    judged[every.query[counts]] = True
    n, n_judged = (int(np.count_nonzero(some & evidence.mask)) for some in (evidence.domain, judged))
    return n / n_judged if 0 < n < n_judged else None


def _health(evidence: Evidence) -> list[dict[str, Any]]:
    """What only a ranking tells of each run, over the judged queries of the slice: depth, ties and concentration."""
    if not evidence.has_ranks:
        return [dict.fromkeys(OF_HITS)] * len(evidence.runs)
    return [dict(zip(OF_HITS, _of_hits(evidence, place), strict=True)) for place in range(len(evidence.runs))]


def _of_hits(evidence: Evidence, place: int) -> tuple[Any, ...]:
    domain, facts, run, judged = evidence.domain, evidence.facts, evidence.runs[place], evidence.judged
    low, high = (_mean_of_all(facts[name][place][domain]) for name in TIE_RANGE)
    known = bootstrap.pooled_mean(np.where(domain, facts["judged_at_10"][place].astype(float), np.nan)).value
    return (
        run.depth,
        run.hits_kept,
        run.n_hits,
        int((judged.relevant & (judged.language < 0) & evidence.mask[judged.query]).sum()),
        int((domain & facts["tied_at_10"][place].astype(bool)).sum()),
        None if np.isnan(low) else (low, high),
        number(float(known)),
        *(evidence.store.concentration(run.run_id).get(10, (0, 0.0)) if _is_whole(evidence) else (None, None)),
    )


def _is_whole(evidence: Evidence) -> bool:
    """Whether it is about all queries, but for those that are left out as doubtful."""
    return bool((evidence.mask | evidence.store.flagged(evidence.task.task_id).queries).all())


def _mean_of_all(values: Floats) -> float:
    """NaN where one value is, or there are none."""
    return float(values.mean()) if len(values) else float("nan")


def _takeaway(evidence: Evidence, rows: list[OverviewRow]) -> Sentence:
    """Which system leads, by how much, and what happens to the one that loses most across languages."""
    if not rows:
        return Sentence(
            "No system has run on this task yet.", "Run one: python -m analysis run --benchmark … --systems all"
        )
    return Sentence(_lead_sentence(evidence, rows), _collapse_sentence(evidence, rows))


def _lead_sentence(evidence: Evidence, rows: list[OverviewRow]) -> str:
    best, label = rows[0], measure_label(evidence.lead).label
    score = best.measures[evidence.lead].value if evidence.lead in best.measures else None
    if score is None or len(rows) < 2:
        return (
            f"{best.system.short} reaches {label} {score:.2f}."
            if score is not None
            else f"No query of this slice has a {'relevant document' if evidence.has_ranks else 'score'}."
        )
    place = {run.system: index for index, run in enumerate(evidence.runs)}
    apart = evidence.difference(evidence.lead, first=place[best.system.name], second=place[rows[1].system.name])
    if apart is None:
        return f"{best.system.short} leads with {label} {score:.2f}."
    if apart[1] <= 0:
        return (
            f"{best.system.short} and {rows[1].system.short} cannot be told apart at {label} {score:.2f} "
            f"(95 % interval of the difference {apart[1]:+.2f} to {apart[2]:+.2f})."
        )
    return (
        f"{best.system.short} leads with {label} {score:.2f}, {apart[0]:.2f} above {rows[1].system.short} "
        f"(95 % interval {apart[1]:.2f} to {apart[2]:.2f})."
    )


def _collapse_sentence(evidence: Evidence, rows: list[OverviewRow]) -> str:
    """The system that loses most between its own language and the others, in counts a person can picture."""
    dense = [row for row in rows if row.system.paradigm != "lexical"]  # words do not cross languages: no surprise
    drops = []
    for row in dense or rows:
        same, cross = row.measures.get("recall_at_10_same"), row.measures.get("recall_at_10_cross")
        if same and cross and same.value is not None and cross.value is not None:
            drops.append((same.value - cross.value, row.system.short, same.value, cross.value))
    if not drops and not evidence.has_ranks:
        return "The imported scores do not tell same-language from cross-language answers."
    if not drops and any((same := row.measures.get("recall_at_10_same")) and same.value is not None for row in rows):
        return "Every answer here is in its query's own language, so there is nothing across languages to measure."
    if not drops:
        return "No answer here is in the query's own language, so same-language measures are blank."
    _, name, same_value, cross_value = max(drops)
    return (
        f"{name} finds {of_100(same_value)} answers in the query's own language and {of_100(cross_value)} in another."
    )


def _caption(evidence: Evidence) -> str:
    asked = set(evidence.judged.query_language[evidence.domain].tolist())
    tags = [tag for code, tag in enumerate(evidence.languages) if code in asked]
    base = f"over {evidence.task.n_documents:,} documents" if evidence.has_ranks else "· imported per-query scores"
    named = f" ({', '.join(tags)})" if len(tags) <= language_choice.MOST else ""
    return (
        f"{int(evidence.domain.sum()):,} queries in {counted(len(tags), 'language')}{named} "
        f"{base} · bars and ranges are 95 % bootstrap intervals"
    )


def _coverage_note(evidence: Evidence, rows: list[OverviewRow]) -> str | None:
    """Said aloud where a system returned nothing for queries that another one answered."""
    partial = [row for row in rows if row.n_missing]
    if not partial:
        return None
    lacks = "returned nothing for" if evidence.has_ranks else "has no score for"
    parts = [f"{row.system.short} {lacks} {row.n_missing:,} of {row.n_queries:,}" for row in partial]
    return (
        f"Not every system answered every query: {'; '.join(parts)}. "
        "Those queries count 0; leaving them out would flatter the system."
    )
