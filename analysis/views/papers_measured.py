"""What was measured here of what papers print: one value a task, system and printed measure, page by page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from analysis.stats import ranks
from analysis.store.read import Store, TaskRow
from analysis.views import fairness, recoverability, routes, tiers
from analysis.views.evidence import Evidence, number
from analysis.views.recoverability import DepthRow, Reach, ReadingCost
from analysis.views.selection import Selection

RECALLS = tuple(f"recall_at_{k}_{which}" for k in (10, 25, 50) for which in ("same", "cross"))
N_COMPARED = 8
"""Systems that the printed Friedman tests compare; with others it is another test."""

DEPTH = 1000
"""How deep the printed rankings go: the printed floor is what RRC@1,000 leaves."""


class Key(NamedTuple):
    """What a value is of."""

    task: str | None  # None: pooled over the paper's tasks
    system: str  # as it is stored here; empty: all of them
    measure: str
    query_language: str | None = None
    document_language: str | None = None
    tier: str | None = None


class Measured(NamedTuple):
    """A value, and how it is written."""

    value: float | None
    words: str


NONE = Measured(None, "")


def of(
    store: Store, selection: Selection, tasks: Sequence[TaskRow], *, pages: Collection[str], pooled: Sequence[str]
) -> dict[Key, Measured]:
    """What was measured on some tasks of what some pages answer.

    Args:
        store: where the runs are.
        selection: systems, and queries.
        tasks: of the benchmark.
        pages: of PAGES.
        pooled: the names of tasks over which a printed figure is pooled; none where one of them is not there.
    """
    ids = [task.task_id for task in tasks if task.n_queries]
    if not any(run.status == "complete" for run in store.runs(ids)):
        return {}
    found: dict[Key, Measured] = {}
    for page in pages:
        for task in tasks:
            if task.n_documents or (task.n_queries and page in OF_SCORES):
                found |= PAGES[page](store, selection._replace(tasks=(task.name,)), task)
        if page == "recoverability" and pooled:
            found |= _pooled(store, selection._replace(tasks=tuple(pooled)))
    return found


def _share(value: float | None) -> Measured:
    return NONE if value is None else Measured(value, f"{value:.2f}")


def _evidence(store: Store, asked: Selection, task: TaskRow) -> Evidence:
    return Evidence.load(store, task, selection=asked, labels=store.system_labels())


def _overview(store: Store, asked: Selection, task: TaskRow) -> Iterator[tuple[Key, Measured]]:
    evidence = _evidence(store, asked, task)
    keys = [key for key in evidence.measures(RECALLS) if key in RECALLS] if evidence.runs else []
    for key, intervals in (evidence.intervals(keys) if keys else {}).items():
        for run, interval in zip(evidence.runs, intervals, strict=True):
            yield Key(task.name, run.system, key), _share(interval.value)


def _routes(store: Store, asked: Selection, task: TaskRow) -> Iterator[tuple[Key, Measured]]:
    for cell in routes.routes(store, asked, k=10).cells:
        key = Key(task.name, cell.system, "recall_at_10", cell.query_language, cell.document_language)
        yield key, _share(cell.value)


def _recoverability(store: Store, asked: Selection, task: TaskRow) -> Iterator[tuple[Key, Measured]]:
    (answer,) = recoverability.recoverability(store, asked).tasks
    for row in answer.rows:
        points = {point.k: point.rrc for point in row.curve.points} if row.curve else {}
        shares = {f"rrc_at_{k}": points[k] for k in (5, 100, DEPTH) if k in points}
        shares |= {"floor": 1 - points[DEPTH]} if DEPTH in points else {}
        yield Key(task.name, row.system.name, "xrc_0.5"), _cost(row.xrc.get("0.5"))
        for measure, share in shares.items():
            yield Key(task.name, row.system.name, measure), _share(share)


def _pooled(store: Store, asked: Selection) -> Iterator[tuple[Key, Measured]]:
    for row in recoverability.recoverability(store, asked, pooled=True).pooled:
        for measure, reach in (("k80_same", row.k80_same), ("k80_cross", row.k80_cross), ("k80_both", row.k80_both)):
            yield Key(None, row.system.name, measure), _reach(reach, row)


def _cost(cost: ReadingCost | None) -> Measured:
    if cost is None or cost.value is None:
        return NONE
    return Measured(cost.value, f"{'≥ ' if cost.bound == 'at_least' else ''}{cost.value:,.1f}")


def _reach(reach: Reach | None, row: DepthRow) -> Measured:
    if reach is None:
        return NONE
    return Measured(reach.value, f"> {row.depth:,}" if reach.value is None else f"{reach.value:,}")


def _tiers(store: Store, asked: Selection, task: TaskRow) -> Iterator[tuple[Key, Measured]]:
    for row in tiers.tiers(store, asked):
        yield Key(task.name, row.system.name, "recall_at_1", tier=row.tier), _share(row.recall_at_1.value)


def _fairness(store: Store, asked: Selection, task: TaskRow) -> Iterator[tuple[Key, Measured]]:
    for row in fairness.fairness(store, asked):
        if row.measure == "ndcg_at_10":
            yield Key(task.name, row.system.name, "fairness_gap"), _share(row.gap.value)
            for tag, found in row.by_language.items():
                yield Key(task.name, row.system.name, "ndcg_at_10", tag), _share(found.value)


def _significance(store: Store, asked: Selection, task: TaskRow) -> Iterator[tuple[Key, Measured]]:
    evidence = _evidence(store, asked, task)
    if len(evidence.runs) == N_COMPARED and "recall_at_10" in evidence.measures(("recall_at_10",)):
        values = evidence.values("recall_at_10")
        complete = ~np.isnan(values).any(axis=0) & evidence.mask
        found = ranks.friedman(values[:, complete])
        statistic = number(found.statistic) if found else None
        if statistic is not None:
            yield Key(task.name, "", "friedman"), Measured(statistic, f"{statistic:,.0f}")


PAGES: dict[str, Callable[[Store, Selection, TaskRow], Iterator[tuple[Key, Measured]]]] = {
    "overview": _overview,
    "routes": _routes,
    "recoverability": _recoverability,
    "tiers": _tiers,
    "fairness": _fairness,
    "significance": _significance,
}
"""What answers each page's figures of a task."""

OF_SCORES = {"overview", "fairness", "significance"}
"""Pages that answer from imported scores too."""
