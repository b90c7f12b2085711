"""Better or worse: two runs query by query, as a change of one system makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analysis.errors import InputError
from analysis.metrics import routes as metrics
from analysis.model import Interval, SystemLabel
from analysis.stats import effects
from analysis.stats.effects import WinTieLoss
from analysis.store.read import Store
from analysis.views.evidence import Evidence, Floats, benchmark_label, measure_label, one_task, task_label
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel

MEASURE = "ndcg_at_10"
K = 10  # of the recall by which routes are compared
UNTOLD = {
    *("report", "name", "title", "short_title", "note", "seconds", "search_seconds", "texts_per_second", "ranked"),
    "truncated",
}
"""What a run records that says nothing of how it was made, or that follows from it."""


class ChangedQuery(NamedTuple):
    """One query in both runs."""

    query_id: str
    text: str
    language: str
    before: float
    after: float


class ChangedRoute(NamedTuple):
    """What became of the queries of one language and their answers in another."""

    query_language: str
    document_language: str
    delta: Interval  # R@10 after less before
    counts: WinTieLoss  # queries that got better, stayed, got worse


class Setting(NamedTuple):
    """Something that the two runs were not made alike in."""

    name: str
    before: str
    after: str


@dataclass(frozen=True)
class ChangeView:
    """Two runs of a task, the second less the first."""

    benchmark: BenchmarkLabel
    task: TaskLabel
    before: SystemLabel
    after: SystemLabel
    measure: MeasureLabel
    takeaway: Sentence
    delta: Interval  # of the measure, over all queries
    counts: WinTieLoss
    routes: tuple[ChangedRoute, ...]  # those with a query, in the benchmark's order
    queries: tuple[ChangedQuery, ...]  # all that have the measure, the greatest loss first
    settings: tuple[Setting, ...]


def change(store: Store, selection: Selection, *, before: str, after: str) -> ChangeView:
    """Compare two runs, query by query and route by route, on shared draws.

    Args:
        store: where they are.
        selection: one task, and which of its queries.
        before: a system with a run of it.
        after: another one.

    Raises:
        InputError: not exactly one task, one without rankings, or not two systems with a run of it.
    """
    if before == after:
        raise InputError(f"system {before!r} twice: expected two different ones")
    task, labels = one_task(store, selection), store.system_labels()
    evidence = Evidence.load(store, task, selection=selection._replace(systems=(before, after)), labels=labels)
    evidence.need_ranks("better or worse needs rankings")
    place = {run.system: index for index, run in enumerate(evidence.runs)}
    for name in (before, after):
        if name not in place:
            raise InputError(f"system {name!r} has no run of {task.name}")
    order = [place[before], place[after]]
    values = evidence.values(MEASURE)[order]
    (delta,) = evidence.means_of(MEASURE, (values[1] - values[0])[np.newaxis])
    counts = effects.win_tie_loss(values[1] - values[0])
    return ChangeView(
        benchmark=benchmark_label(evidence.benchmark),
        task=task_label(task),
        before=labels[before],
        after=labels[after],
        measure=measure_label(MEASURE),
        takeaway=_takeaway(labels[after], counts, delta),
        delta=delta,
        counts=counts,
        routes=tuple(_routes(evidence, order)),
        queries=tuple(_queries(evidence, values)),
        settings=_settings(*(evidence.runs[at].provenance for at in order)),
    )


def _routes(evidence: Evidence, order: Sequence[int]) -> Iterator[ChangedRoute]:
    found = metrics.recall_by_language(evidence.judged, evidence.ranks, k=K)[order]
    apart = np.where(evidence.mask[:, np.newaxis], found[1] - found[0], np.nan)  # (Q, L)
    for code, source in enumerate(evidence.languages):
        mine = evidence.judged.query_language == code
        columns: Floats = np.where(mine, apart.T, np.nan)  # (L, Q)
        known = [place for place, column in enumerate(columns) if not np.isnan(column).all()]
        if not known:
            continue
        for place, delta in zip(known, evidence.pooled(columns[known]), strict=True):
            yield ChangedRoute(source, evidence.languages[place], delta, effects.win_tie_loss(columns[place]))


def _queries(evidence: Evidence, values: Floats) -> Iterator[ChangedQuery]:
    """Those with a value in both, the greatest loss first, of equal ones in the benchmark's order."""
    apart = values[1] - values[0]
    known = np.flatnonzero(~np.isnan(apart))
    queries = evidence.queries
    for at in known[np.argsort(apart[known], kind="stable")].tolist():
        yield ChangedQuery(
            str(queries.id[at]),
            str(queries.text[at]),
            str(queries.language[at]),
            float(values[0, at]),
            float(values[1, at]),
        )


def _settings(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[Setting, ...]:
    """What the records of two runs differ in, by name; nested ones joined."""
    ours, theirs = dict(_flat(before)), dict(_flat(after))
    names = dict.fromkeys([*ours, *theirs])
    return tuple(
        Setting(name, ours.get(name, ""), theirs.get(name, "")) for name in names if ours.get(name) != theirs.get(name)
    )


def _flat(record: Mapping[str, object], lead: str = "") -> Iterator[tuple[str, str]]:
    for name, value in record.items():
        if name in UNTOLD:
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{lead}{name} ")
        else:
            yield f"{lead}{name}", "" if value is None else str(value)


def _takeaway(after: SystemLabel, counts: WinTieLoss, delta: Interval) -> Sentence:
    n = counts.win + counts.tie + counts.loss
    if not n:
        return Sentence("No query has a value in both runs.", "")
    bold = f"{counts.win:,} of {n:,} queries got better with {after.short}, {counts.loss:,} got worse."
    if delta.value is None or delta.low is None or delta.high is None:
        return Sentence(bold, "")
    up = "up" if delta.value >= 0 else "down"
    sure = "" if delta.low > 0 or delta.high < 0 else "; the interval holds 0, so that it may be chance"
    between = f"{delta.low:.3f} to {delta.high:.3f}".replace("-", "−")
    return Sentence(bold, f"Mean nDCG@10 goes {up} by {abs(delta.value):.3f} (95 % interval {between}){sure}.")
