"""Would a re-ranker fix it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.metrics import depth as metrics
from analysis.metrics.depth import Bound, Depths
from analysis.metrics.routes import DEGENERATE_BELOW
from analysis.model import Interval, SystemLabel
from analysis.stats import bootstrap
from analysis.store.read import RunRow, Store, TaskRow
from analysis.views import language_choice
from analysis.views.evidence import (
    LEVEL,
    Evidence,
    Floats,
    benchmark_label,
    chosen_tasks,
    number,
    one_task,
    parts,
    strata,
    task_label,
)
from analysis.views.selection import (
    BenchmarkLabel,
    Selection,
    Sentence,
    TaskLabel,
    unranked,
)

XRC_SHARES = (0.5, 0.8)
MOST = 0.9
"""Beside the knee stands the depth that reaches this share of the maximum."""

SPREAD = (0.05, 0.95)
WIDEST_SPREAD = 10
"""A knee whose bootstrap spread is wider than this factor, a decade, is not clear."""

MOST_CENSORED = 0.05
"""A depth that is censored in more of the draws has no standard error."""

HOLLOW = "Not interpretable: this system does not retrieve the thing whose depth is measured."
NO_CROSS = "no question has an answer in another language than its own"
POOLED = "pooled over tasks: only how deep the first answers stand"
ROUTE = "route"
"""What a split by query and document language is called, where an attribute's name could stand."""


@dataclass(frozen=True)
class DepthPoint:
    """A curve at one K, and the three parts of the queries there: ``rrc``, ``deeper`` and the curve's floor make 1."""

    k: int
    rrc: float  # share of the queries whose first cross answer stands in the top K: what a re-ranker could fix
    low: float | None
    high: float | None
    chance: float  # the same for documents in random order
    deeper: float  # share whose first cross answer stands below K, yet in the run
    ari: float | None  # the part of the misses at K that no depth of this run mends; None where RRC@K is 1
    jbc: float | None  # share of the queries with answers in both that have both in the top K; None without such


@dataclass(frozen=True)
class Knee:
    """Where reading deeper begins to pay less, or (late) more."""

    k: int
    rrc: float
    late: bool
    clear: bool  # far enough from the chord, and within a decade in the bootstrap
    spread: tuple[int, int] | None  # 5 and 95 % of the draws; None where every drawn curve is flat


@dataclass(frozen=True)
class DepthCurve:
    """RRC of one system over the depth of its run."""

    points: tuple[DepthPoint, ...]  # the grid up to the run's depth N, N itself, and the reader's K if the run has it
    at_k: DepthPoint  # at the reader's K, also beyond N, where nothing is added
    knee: Knee | None  # None where the curve is flat
    k_at_90_percent: int | None  # smallest K with 90 % of RRC@N; None where nothing is found
    floor: float  # 1 − RRC@N: out of reach
    n: int  # queries with a cross answer
    level: float  # of the bands
    method: str


@dataclass(frozen=True)
class ReadingCost:
    """XRC: how many times deeper cross answers stand than same ones."""

    value: float | None  # None where undefined
    bound: Bound  # at_least: beyond the run's depth, so this or more


@dataclass(frozen=True)
class Reach:
    """The depth by which 80 % of the queries with answers in both have theirs."""

    value: int | None  # None where it is beyond the run's depth
    censored: bool
    se: float | None  # bootstrap standard error; None where the depth, or more than 5 % of the draws, are censored
    n: int


@dataclass(frozen=True)
class DepthRow:
    """One system on one task, on one route of it, or over several tasks."""

    task: str | None  # None: pooled over tasks
    system: SystemLabel
    query_language: str | None  # of the route; None for all
    document_language: str | None
    degenerate: bool | None  # hardly retrieves across languages, so XRC, knee and ARI are hollow; None without cross
    depth: int  # N
    corpus_size: int | None  # M; None over several tasks
    pool_too_small: bool  # N is at least half of M
    curve: DepthCurve | None
    reason: str | None  # why there is no curve
    xrc: Mapping[str, ReadingCost]  # by the share of answers, "0.5" and "0.8"
    k80_same: Reach | None  # None where no question has answers in both
    k80_cross: Reach | None
    k80_both: Reach | None
    recall_at_10_cross: Interval | None  # None on a route and over several tasks
    on_frontier: bool | None  # no system has a lower XRC_0.5 and a higher R@10 cross; None where it takes no part
    candidate_miss: float | None  # of a two-stage system: the first stage leaves the answer out of the pool
    reranker_fault: float | None  # it is in the pool, and the second stage leaves it out of the top 10
    takeaway: Sentence


@dataclass(frozen=True)
class RecoverabilityTask:
    """One task of the page."""

    task: TaskLabel
    takeaway: Sentence
    caption: str
    notes: tuple[str, ...]  # pools too small for the question, runs that end above K
    reason: str | None  # why the task has no rows at all
    rows: tuple[DepthRow, ...]
    routes: tuple[DepthRow, ...]  # by query and document language, where asked for


class DepthPart(NamedTuple):
    """The chosen systems on a part of a task's queries, or on one of its routes."""

    part: str  # the attribute's value, or the route: "en → ja"
    n: int  # queries with a cross answer
    rows: tuple[DepthRow, ...]  # k80 without its standard error


@dataclass(frozen=True)
class RecoverabilityView:
    """How deep the chosen systems bury answers in other languages."""

    benchmark: BenchmarkLabel
    k: int  # the reader's own
    tasks: tuple[RecoverabilityTask, ...]
    pooled: tuple[DepthRow, ...]  # over the chosen tasks, where asked for and more than one


def recoverability(
    store: Store, selection: Selection, *, k: int = 100, by_route: bool = False, pooled: bool = False
) -> RecoverabilityView:
    """How deep each chosen system buries the first answer in another language, for each chosen task.

    Args:
        store: where the runs are.
        selection: tasks, systems and queries.
        k: how many candidates the reader's re-ranker would see.
        by_route: also by query and document language.
        pooled: with several tasks, also k80 over all of them.

    Raises:
        InputError: an unknown benchmark, task or system, or a k below 1.
    """
    if k < 1:
        raise InputError(f"k {k}: expected 1 or more")
    labels = store.system_labels()
    tasks = [
        _Task(Evidence.load(store, task, selection=selection, labels=labels), labels, k) if task.n_documents else task
        for task in chosen_tasks(store, selection)
    ]
    measured = [task for task in tasks if isinstance(task, _Task)]
    return RecoverabilityView(
        benchmark_label(store.benchmark(selection.benchmark)),
        k,
        tuple(_answer(task, by_route=by_route) if isinstance(task, _Task) else _scores_only(task) for task in tasks),
        tuple(_pooled_rows(measured)) if pooled and len(tasks) > 1 else (),
    )


def split(
    store: Store, selection: Selection, *, by: str, k: int = 100, languages: tuple[str, ...] = ()
) -> tuple[DepthPart, ...]:
    """The same for each part of a task's queries, or each route between two languages.

    Args:
        store: where the runs are.
        selection: one task, systems and queries.
        by: a query attribute, or ``route``.
        k: how many candidates the reader's re-ranker would see.
        languages: those of a split by language or route; empty for all.

    Raises:
        InputError: an unknown benchmark, task, system or attribute, a task without rankings, or none of the languages.
    """
    labels = store.system_labels()
    evidence = Evidence.load(store, one_task(store, selection), selection=selection, labels=labels)
    evidence.need_ranks("depth needs rankings")
    task = _Task(evidence, labels, k)
    found: list[DepthPart] = []
    shown = language_choice.shown(evidence.languages, languages)
    if by == ROUTE:
        for route in task.slices_by_route(errors=False, languages=shown):
            name = f"{route.query_language} → {route.document_language}"
            found.append(DepthPart(name, route.part.n, tuple(task.rows_of(route))))
        return tuple(found)
    for value, part in parts(evidence, by):
        if by == "language" and value not in shown:
            continue
        some = _Route(task.slice(part, errors=False), None, None)
        found.append(DepthPart(value, some.part.n, tuple(task.rows_of(some))))
    return tuple(found)


def at(task: RecoverabilityTask, *, k: int) -> RecoverabilityTask:
    """The same answer at another K of its curves, which takes no new draws.

    Raises:
        InputError: no curve has this K.
    """
    rows = rows_at(task.rows, k=k)
    return replace(task, takeaway=_takeaway(rows), notes=tuple(_notes(rows, k)), rows=rows)


def rows_at(rows: Sequence[DepthRow], *, k: int) -> tuple[DepthRow, ...]:
    """Rows of the same queries at another K of their curves.

    Raises:
        InputError: no curve has this K.
    """
    chance = {point.k: point.chance for row in rows if row.curve for point in row.curve.points}
    if chance and k not in chance:
        raise InputError(f"k {k}: expected one of {', '.join(map(str, sorted(chance)))}")
    return tuple(_row_at(row, row.curve, k, chance[k]) if row.curve else row for row in rows)


def cuts(rows: Sequence[DepthRow]) -> tuple[int, ...]:
    """The K among which a reader chooses: the grid as far as the deepest curve goes; empty without a curve."""
    return metrics.grid(max((row.depth for row in rows if row.curve), default=0))


def _row_at(row: DepthRow, curve: DepthCurve, k: int, chance: float) -> DepthRow:
    """Beyond the end of the run nothing is added."""
    upto = [point for point in curve.points if point.k <= k]
    moved = replace(curve, at_k=replace(upto[-1], k=k, chance=chance))
    return replace(row, curve=moved, takeaway=_row_takeaway(moved, row.depth, hollow=bool(row.degenerate)))


def _scores_only(task: TaskRow) -> RecoverabilityTask:
    reason = unranked("depth needs rankings", n_queries=task.n_queries)
    return RecoverabilityTask(task_label(task), Sentence(reason, ""), "", (), reason, (), ())


def _answer(task: _Task, *, by_route: bool) -> RecoverabilityTask:
    rows, routes = task.rows(), task.slices_by_route(languages=task.evidence.languages)
    return RecoverabilityTask(
        task=task_label(task.evidence.task),
        takeaway=_takeaway(rows),
        caption=_caption(task.whole),
        notes=tuple(_notes(rows, task.k)),
        reason=None,
        rows=rows,
        routes=tuple(row for route in routes for row in task.rows_of(route)) if by_route else (),
    )


@dataclass(frozen=True, eq=False)
class _FirstStage:
    """The ranking that a two-stage system rescored the top of."""

    pool: int
    ranks: NDArray[np.int32]  # (1, J)


@dataclass(frozen=True, eq=False)
class _Slice:
    """Depths of S systems on some queries and cross answers of a task, and the curves made of them."""

    evidence: Evidence  # its mask says which queries
    answers: NDArray[np.bool_] | None  # (J,) cross documents that count; None: all
    pool: NDArray[np.int64]  # (Q,) documents that each query's ranking may hold
    k: int
    errors: bool = True  # whether k80 has its standard error, which costs more than all the rest

    @cached_property
    def depths(self) -> Depths:
        return self.of(self.evidence.ranks)

    def of(self, ranks: NDArray[np.int32]) -> Depths:
        """Depths in some rankings ``(S, J)``, NaN outside the slice."""
        found = metrics.first_depths(self.evidence.judged, ranks, answers=self.answers)
        return Depths(*(np.where(self.evidence.mask, depths, np.nan) for depths in found))

    @cached_property
    def crossing(self) -> NDArray[np.int64]:
        """``(Q,)`` cross answers of each query that count; 0 outside the slice."""
        judged = self.evidence.judged
        count = judged.count(judged.cross if self.answers is None else judged.cross & self.answers)
        return np.where(self.evidence.mask, count, 0)

    @property
    def n(self) -> int:
        """Queries with a cross answer."""
        return int(np.count_nonzero(self.crossing))

    @cached_property
    def run_depths(self) -> list[int]:
        """N of each system; 1 for an empty run, in which nothing stands at rank 1."""
        return [max(1, min(run.depth, self.evidence.task.n_documents)) for run in self.evidence.runs]

    @cached_property
    def cuts(self) -> NDArray[np.int64]:
        """``(K,)``: the grid, where each run ends, and the reader's K."""
        return np.array(sorted({*metrics.grid(max(self.run_depths)), *self.run_depths, self.k}))

    @cached_property
    def rrc(self) -> Floats:
        """``(S, K)``."""
        return self._shares(self.depths.cross)

    @cached_property
    def jbc(self) -> Floats:
        """``(S, K)``."""
        return self._shares(self.depths.both)

    def _shares(self, depths: Floats) -> Floats:
        return self.evidence.mean(metrics.within(depths, ks=self.cuts), balanced=False).value

    @cached_property
    def rrc_draws(self) -> Floats:
        """``(B, S, K)``."""
        columns = metrics.within(self.depths.cross, ks=self.cuts)
        drawn = self.evidence.draws(columns.reshape(-1, columns.shape[-1]))
        return drawn.reshape(len(drawn), *columns.shape[:2])

    @cached_property
    def bands(self) -> bootstrap.Bounds:
        """``(S, K)`` each."""
        return bootstrap.interval_of_draws(self.rrc_draws, level=LEVEL)

    @cached_property
    def chance(self) -> Floats:
        """``(K,)``."""
        asked = self.crossing > 0
        return metrics.chance(
            self.crossing[asked], self.pool[asked], ks=np.minimum(self.cuts, self.evidence.task.n_documents)
        )

    def curve(self, place: int) -> DepthCurve | None:
        """The curve of one system; None where no query has a cross answer."""
        if not self.n:
            return None
        depth = self.run_depths[place]
        last = int(np.searchsorted(self.cuts, depth))
        points = tuple(self._point(place, cut, last) for cut in range(last + 1))
        return DepthCurve(
            points=points,
            at_k=self._point(place, int(np.searchsorted(self.cuts, self.k)), last),
            knee=self._knee(place, depth),
            k_at_90_percent=_whole(metrics.k_reaching(self.depths.cross[place : place + 1], share=MOST)[0]),
            floor=float(1 - self.rrc[place, last]),
            n=self.n,
            level=LEVEL,
            method=self.evidence.method,
        )

    def _point(self, place: int, cut: int, last: int) -> DepthPoint:
        at_k, at_depth = self.rrc[place, cut], self.rrc[place, last]
        return DepthPoint(
            k=int(self.cuts[cut]),
            rrc=float(at_k),
            low=number(self.bands.low[place, cut]),
            high=number(self.bands.high[place, cut]),
            chance=float(self.chance[cut]),
            deeper=float(at_depth - at_k),
            ari=number(metrics.ari(at_k, at_depth).item()),
            jbc=number(self.jbc[place, cut]),
        )

    def _knee(self, place: int, depth: int) -> Knee | None:
        on_grid = np.isin(self.cuts, metrics.grid(depth))
        ks = self.cuts[on_grid]
        found = metrics.knees(self.rrc[place, on_grid], ks=ks)
        k = _whole(found.k)
        if k is None:
            return None
        drawn = metrics.knees(self.rrc_draws[:, place, on_grid], ks=ks).k
        low, high = (_whole(metrics.percentile(drawn, share=share)) for share in SPREAD)
        spread = None if low is None or high is None else (low, high)
        narrow = spread is not None and spread[1] <= WIDEST_SPREAD * spread[0]
        return Knee(
            k=k,
            rrc=float(self.rrc[place, np.searchsorted(self.cuts, k)]),
            late=bool(found.late),
            clear=narrow and bool(found.distance >= metrics.SMALLEST_KNEE),
            spread=spread,
        )

    @cached_property
    def xrc(self) -> list[dict[str, ReadingCost]]:
        """For each system, by the share of answers."""
        reached = {
            share: [metrics.percentile(depths, share=share) for depths in (self.depths.cross, self.depths.same)]
            for share in XRC_SHARES
        }
        return [
            {
                str(share): ReadingCost(number(cost.value), cost.bound)
                for share, (cross, same) in reached.items()
                for cost in [metrics.xrc(float(cross[place]), float(same[place]), depth=depth)]
            }
            for place, depth in enumerate(self.run_depths)
        ]

    @cached_property
    def k80(self) -> list[tuple[Reach | None, ...]]:
        """For each system: same, cross and both."""
        columns = np.concatenate(_where_both(self.depths))
        if not self.errors:
            return _reaches(columns, np.empty((0, len(columns))))
        return _reaches(columns, self.evidence.percentile_draws(columns, share=metrics.K80))


class _Route(NamedTuple):
    """A part of a task with the two languages that it lies between; None for all."""

    part: _Slice
    query_language: str | None
    document_language: str | None


@dataclass(frozen=True, eq=False)
class _Task:
    """One task with the evidence that all its rows share."""

    evidence: Evidence
    labels: Mapping[str, SystemLabel]
    k: int

    @cached_property
    def whole(self) -> _Slice:
        return self.slice(self.evidence)

    def slice(self, part: Evidence, *, answers: NDArray[np.bool_] | None = None, errors: bool = True) -> _Slice:
        """Some of the queries, and some of the cross answers."""
        return _Slice(part, answers, self._pool, self.k, errors)

    @cached_property
    def _pool(self) -> NDArray[np.int64]:
        """``(Q,)`` documents that a query's ranking may hold: those excluded for it leave before ranks are counted."""
        task = self.evidence.task
        pool = np.full(len(self.evidence.mask), task.n_documents)
        for query, documents in self.evidence.store.excluded(task.task_id).items():
            pool[query] -= len(documents)
        return pool

    @cached_property
    def degenerate(self) -> list[bool | None]:
        return self.evidence.degenerate()

    @cached_property
    def _first_stages(self) -> list[_FirstStage | None]:
        return [self._first_stage(run) for run in self.evidence.runs]

    def _first_stage(self, run: RunRow) -> _FirstStage | None:
        """None unless the run rescored a pool of another, which is stored and as deep as the pool."""
        pool = run.provenance.get("settings", {}).get("pool")
        if not isinstance(pool, int) or not run.parents:
            return None
        task, store = self.evidence.task, self.evidence.store
        for stored in store.runs([task.task_id]):
            if stored.system == run.parents[0] and stored.status == "complete":
                deep_enough = stored.depth >= min(pool, task.n_documents)
                return _FirstStage(pool, self.evidence.ranks_of(stored)) if deep_enough else None
        return None

    def rows(self) -> tuple[DepthRow, ...]:
        """All queries and answers, one row a system."""
        if not self.evidence.runs:
            return ()
        (measures,) = self.evidence.intervals(("recall_at_10_cross",)).values()
        rows = [
            replace(row, recall_at_10_cross=interval)
            for row, interval in zip(self.rows_of(_Route(self.whole, None, None)), measures, strict=True)
        ]
        return tuple(replace(row, on_frontier=flag) for row, flag in zip(rows, _on_frontier(rows), strict=True))

    def slices_by_route(self, *, languages: Sequence[str], errors: bool = True) -> Iterator[_Route]:
        """Every route between two of some languages that has an answer."""
        judged, known = self.evidence.judged, self.evidence.languages
        for source in languages if self.evidence.runs else ():
            part = self.evidence.part("language", source)
            for target in languages:
                route = self.slice(part, answers=judged.language == known.index(target), errors=errors)
                if route.n:
                    yield _Route(route, source, target)

    def rows_of(self, route: _Route) -> Iterator[DepthRow]:
        """One row a system."""
        for place in range(len(self.evidence.runs)):
            yield self._row(route.part, place, route.query_language, route.document_language)

    def _row(self, part: _Slice, place: int, source: str | None, target: str | None) -> DepthRow:
        run, size = self.evidence.runs[place], self.evidence.task.n_documents
        depth, curve, degenerate = part.run_depths[place], part.curve(place), self.degenerate[place]
        same, cross, both = part.k80[place]
        miss, fault = _faults(part, place, self._first_stages[place])
        return DepthRow(
            task=self.evidence.task.name,
            system=self.labels[run.system],
            query_language=source,
            document_language=target,
            degenerate=degenerate,
            depth=depth,
            corpus_size=size,
            pool_too_small=2 * depth >= size,
            curve=curve,
            reason=None if curve else NO_CROSS,
            xrc=part.xrc[place],
            k80_same=same,
            k80_cross=cross,
            k80_both=both,
            recall_at_10_cross=None,
            on_frontier=None,
            candidate_miss=miss,
            reranker_fault=fault,
            takeaway=_row_takeaway(curve, depth, hollow=bool(degenerate)),
        )


def _faults(part: _Slice, place: int, first: _FirstStage | None) -> tuple[float | None, float | None]:
    """Candidate miss and re-ranker fault as shares of the queries with a cross answer."""
    if first is None:
        return None, None
    faults = metrics.stage_faults(part.of(first.ranks).cross[0], part.depths.cross[place], pool=first.pool)
    miss, fault = part.evidence.mean(np.stack(faults), balanced=False).value
    return number(miss), number(fault)


def _on_frontier(rows: Sequence[DepthRow]) -> list[bool | None]:
    """Who reads least for what it finds; a cost of which only a lower bound is known might be anything above it."""
    cost, gain = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    for place, row in enumerate(rows):
        half = row.xrc[str(XRC_SHARES[0])]
        found = row.recall_at_10_cross.value if row.recall_at_10_cross else None
        if row.degenerate is False and half.value is not None and found is not None:
            cost[place], gain[place] = half.value if half.bound == "exact" else np.inf, found
    flags = metrics.frontier(cost, gain)
    return [None if np.isnan(cost[place]) else bool(flag) for place, flag in enumerate(flags)]


def _where_both(depths: Depths) -> list[Floats]:
    """Same, cross and both, over the queries that have answers in both."""
    return [np.where(np.isnan(depths.both), np.nan, found) for found in depths]


def _reaches(columns: Floats, drawn: Floats) -> list[tuple[Reach | None, ...]]:
    """From ``(3 S, Q)`` depths, same before cross before both, and their D_0.8 in each draw ``(B, 3 S)``."""
    points = metrics.percentile(columns, share=metrics.K80)
    n = np.count_nonzero(~np.isnan(columns), axis=1)
    found = [_reach(point, draws, int(count)) for point, draws, count in zip(points, drawn.T, n, strict=True)]
    size = len(found) // 3
    return list(zip(found[:size], found[size : 2 * size], found[2 * size :], strict=True))


def _reach(point: float, drawn: Floats, n: int) -> Reach | None:
    if not n:
        return None
    value = _whole(point)
    known = drawn[~np.isnan(drawn)]
    finite = known[np.isfinite(known)]
    sound = value is not None and len(finite) > 1 and len(known) - len(finite) <= MOST_CENSORED * len(known)
    return Reach(value, value is None, float(np.std(finite, ddof=1)) if sound else None, n)


def _pooled_rows(tasks: Sequence[_Task]) -> Iterator[DepthRow]:
    """k80 over the queries of all tasks that have answers in both, for each system that ran on all of these."""
    tasks = [task for task in tasks if task.evidence.runs and not np.isnan(task.whole.depths.both).all()]
    if not tasks:
        return
    places = [{run.system: place for place, run in enumerate(task.evidence.runs)} for task in tasks]
    for system, label in tasks[0].labels.items():
        if all(system in known for known in places):
            yield _pooled_row(label, [(task, known[system]) for task, known in zip(tasks, places, strict=True)])


def _pooled_row(label: SystemLabel, parts: Sequence[tuple[_Task, int]]) -> DepthRow:
    """One system over tasks, with its place in each.

    Every run is read down to the shallowest one's depth, below which its answers are out of sight.
    """
    depth = min(task.whole.run_depths[place] for task, place in parts)
    columns = np.concatenate([np.stack(_where_both(task.whole.depths))[:, place] for task, place in parts], axis=1)
    columns = np.where(columns > depth, np.inf, columns)
    ((same, cross, both),) = _reaches(columns, _pooled_draws([task for task, _ in parts], columns))
    hollow = any(task.degenerate[place] for task, place in parts)
    names = " and ".join(task.evidence.task.title for task, _ in parts)
    return DepthRow(
        task=None,
        system=label,
        query_language=None,
        document_language=None,
        degenerate=hollow,
        depth=depth,
        corpus_size=None,
        pool_too_small=any(2 * depth >= task.evidence.task.n_documents for task, _ in parts),
        curve=None,
        reason=POOLED,
        xrc={},
        k80_same=same,
        k80_cross=cross,
        k80_both=both,
        recall_at_10_cross=None,
        on_frontier=None,
        candidate_miss=None,
        reranker_fault=None,
        takeaway=Sentence(_pooled_takeaway(cross, depth, names), HOLLOW if hollow else ""),
    )


def _pooled_draws(tasks: Sequence[_Task], columns: Floats) -> Floats:
    """D_0.8 of ``columns`` ``(C, sum of Q)`` in draws of the families of all tasks, ``(B, C)``."""
    families = np.concatenate([task.evidence.queries.family for task in tasks])
    tags = np.concatenate([task.evidence.queries.language for task in tasks]).astype(str)
    _, language = np.unique(tags, return_inverse=True)
    family, weights = strata(families, language, parallel=tasks[0].evidence.benchmark.parallel)
    return metrics.percentile_draws(columns, share=metrics.K80, family=family, draws=weights)


def _whole(value: float | np.floating | Floats) -> int | None:
    """A depth as a whole number; None where it is infinite or undefined."""
    return int(value) if np.isfinite(value) else None


def _percent(share: float) -> str:
    """A share in per cent, with as many decimals as it takes not to call a little nothing or nearly all all."""
    for decimals in range(4):
        text = f"{100 * share:.{decimals}f}"
        if share in (0, 1) or float(text) not in (0, 100):
            return f"{text} %"
    return f"{round(100 * share)} %"


def _pooled_takeaway(cross: Reach | None, depth: int, tasks: str) -> str:
    where = f"below its top {depth}" if cross is None or cross.value is None else f"in its top {cross.value}"
    return f"On {tasks} together, 80 % of the questions have their first answer in another language {where}."


def _row_takeaway(curve: DepthCurve | None, depth: int, *, hollow: bool) -> Sentence:
    """What a re-ranker could do for one system, and how far down that goes on."""
    if curve is None:
        return Sentence(f"There is no depth to measure: {NO_CROSS}.", "")
    k = curve.at_k.k
    lead = f"A top-{k} re-ranker" if k <= depth else f"The run is only {depth} deep: a re-ranker of all of it"
    bold = f"{lead} can fix at most {_percent(curve.at_k.rrc)}; {_percent(curve.floor)} is unreachable."
    return Sentence(bold, HOLLOW if hollow else _how_far(curve, depth))


def _how_far(curve: DepthCurve, depth: int) -> str:
    if curve.k_at_90_percent is None:
        return f"Its top {depth} holds no answer in another language."
    most = f"The top {curve.k_at_90_percent} holds 90 % of what it finds in its top {depth}."
    if curve.knee is None or not curve.knee.clear:
        return f"{most} The curve has no clear knee."
    pays = "more" if curve.knee.late else "less"
    return f"{most} From K = {curve.knee.k} on, reading deeper pays {pays}."


def _takeaway(rows: Sequence[DepthRow]) -> Sentence:
    """The system that a re-ranker could do most for, then the one that it could do least for."""
    known = [(row.curve, row) for row in rows if row.curve is not None]
    if not known:
        return Sentence(f"There is no depth to measure: {NO_CROSS}.", "") if rows else Sentence("", "")
    sound = [pair for pair in known if not pair[1].degenerate]
    curve, best = max(sound or known, key=lambda pair: pair[0].at_k.rrc)
    lead = f"A top-{curve.at_k.k} re-ranker of {best.system.short}"
    bold = f"{lead} can fix at most {_percent(curve.at_k.rrc)}; {_percent(curve.floor)} is unreachable."
    if not sound:
        return Sentence(bold, f"No system here retrieves across languages: R@10 cross is below {DEGENERATE_BELOW:.2f}.")
    least, worst = min(known, key=lambda pair: pair[0].at_k.rrc)
    if worst is best:
        return Sentence(bold, best.takeaway.rest)
    return Sentence(
        bold,
        f"Of {worst.system.short} it can fix at most {_percent(least.at_k.rrc)}; {_percent(least.floor)} is "
        "unreachable.",
    )


def _caption(part: _Slice) -> str:
    if not part.evidence.runs:
        return "No system has run on this task."
    both = int(np.count_nonzero(~np.isnan(part.depths.both[0])))
    return (
        f"{part.n:,} queries with an answer in another language, {both:,} of them with one in their own too · "
        f"{part.evidence.task.n_documents:,} documents in one pool · 95 % bootstrap bands"
    )


def _notes(rows: Sequence[DepthRow], k: int) -> Iterator[str]:
    small = [row.system.short for row in rows if row.pool_too_small]
    who = ", ".join(small) if len(small) < len(rows) or len(rows) == 1 else "every system"
    if small:
        yield (
            f"The pool is too small for depth questions: {who} ranked at least half of the "
            f"{rows[0].corpus_size:,} documents, so that little can be out of reach, by construction."
        )
    for row in rows:
        if row.depth < k:
            yield f"{row.system.short}: run is only {row.depth} deep"
