"""The judged ranks of some systems on one task, with the means and intervals every page takes from them."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.metrics import catalogue, routes
from analysis.metrics.ranking import Judged
from analysis.model import Interval, SystemLabel
from analysis.stats import bootstrap
from analysis.stats.bootstrap import Strata
from analysis.store.read import BenchmarkRow, QueryColumns, RunRow, Store, TaskRow
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, TaskLabel

SEED = 20_260_101
LEVEL = 0.95
ATTRIBUTES = ("language", "tier", "mode", "strategy", "audit_status", "family")
STORED_FACTS = ("judged_at", "same_language_at", "same_language_irrelevant_at")  # by query, kept with the run
BOTH_GOLD = "language_transfer"

Floats = NDArray[np.float64]


def benchmark_label(row: BenchmarkRow) -> BenchmarkLabel:
    """How a stored benchmark is called."""
    address = row.name if row.current else f"{row.name}@{row.version}"
    return BenchmarkLabel(row.name, row.version, address, row.title, row.licence, row.source, row.notes, row.parallel)


def task_label(row: TaskRow) -> TaskLabel:
    """How a stored task is called."""
    return TaskLabel(row.name, row.title, row.question, row.is_default, row.n_queries, row.n_documents)


def measure_label(key: str) -> MeasureLabel:
    """How a measure is called.

    Raises:
        InputError: no measure has this key.
    """
    found = catalogue.measure(key)
    return MeasureLabel(found.key, found.label, found.definition, found.source, found.aggregate, found.unit)


def chosen_tasks(store: Store, selection: Selection) -> list[TaskRow]:
    """The tasks a selection names; all of the benchmark's when it names none.

    Raises:
        InputError: an unknown benchmark or task.
    """
    tasks = store.tasks(store.benchmark(selection.benchmark).benchmark_id)
    known = {task.name: task for task in tasks}
    for name in selection.tasks:
        if name not in known:
            raise InputError(f"unknown task {name!r}: {selection.benchmark} has {', '.join(known)}")
    return [known[name] for name in selection.tasks] or tasks


def one_task(store: Store, selection: Selection) -> TaskRow:
    """The one task a selection names, or the benchmark has.

    Raises:
        InputError: an unknown benchmark or task, or not exactly one task.
    """
    tasks = chosen_tasks(store, selection)
    if len(tasks) != 1:
        raise InputError(f"{len(tasks)} tasks: expected one of {', '.join(task.name for task in tasks)}")
    return tasks[0]


def chosen_runs(store: Store, task: TaskRow, selection: Selection, labels: dict[str, SystemLabel]) -> list[RunRow]:
    """Complete runs of a task by the systems a selection names, in the order of the labels.

    Raises:
        InputError: a system that never ran.
    """
    for name in selection.systems:
        if name not in labels:
            raise InputError(f"unknown system {name!r}: stored are {', '.join(labels) or 'none'}")
    found = {run.system: run for run in store.runs([task.task_id]) if run.status == "complete"}
    return [found[name] for name in labels if name in found and (not selection.systems or name in selection.systems)]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Ranks of S systems on one task.

    Attributes:
        store: where it comes from.
        benchmark: the stored benchmark.
        task: the stored task.
        runs: S complete runs.
        queries: Q queries.
        judged: J judgements with a positive grade; its languages are in the benchmark's order.
        ranks: ``(S, J)`` int32.
        mask: ``(Q,)`` queries of the slice asked for.
    """

    store: Store
    benchmark: BenchmarkRow
    task: TaskRow
    runs: tuple[RunRow, ...]
    queries: QueryColumns
    judged: Judged
    ranks: NDArray[np.int32]
    mask: NDArray[np.bool_]

    @classmethod
    def load(cls, store: Store, task: TaskRow, *, selection: Selection, labels: dict[str, SystemLabel]) -> Evidence:
        """Read what a selection needs of one task.

        Raises:
            InputError: an unknown system or query attribute.
        """
        runs = chosen_runs(store, task, selection, labels)
        queries, judgements = store.queries(task.task_id), store.judgements(task.task_id)
        languages = languages_in_order(store, task, queries)
        code = {tag: place for place, tag in enumerate(languages)}
        judged = Judged(
            query=judgements.query,
            grade=judgements.grade,
            language=np.array([code.get(tag, -1) for tag in judgements.language], dtype=np.int16),
            query_language=np.array([code[tag] for tag in queries.language], dtype=np.int16),
            languages=languages,
        )
        ranks = (
            store.ranks([run.run_id for run in runs]) if runs else np.empty((0, len(judgements.query)), dtype=np.int32)
        )
        benchmark = store.benchmark(selection.benchmark)
        return cls(store, benchmark, task, tuple(runs), queries, judged, ranks, _mask(queries, selection.where))

    @property
    def languages(self) -> tuple[str, ...]:
        """Language tags in the benchmark's order; codes in ``judged`` are places in it."""
        return self.judged.languages

    @cached_property
    def facts(self) -> dict[str, NDArray[np.object_]]:
        """The stored facts that need the other documents too, each ``(S, Q)``."""
        return dict(self.store.query_scores([run.run_id for run in self.runs])) if self.runs else {}

    @cached_property
    def domain(self) -> NDArray[np.bool_]:
        """``(Q,)`` queries of the slice that have a relevant document."""
        return np.asarray(self.mask & (self.judged.n_relevant > 0))

    def values(self, key: str) -> Floats:
        """One value a system and query, ``(S, Q)``; NaN outside the measure's domain or the slice."""
        if key.rsplit("_", 1)[0] in STORED_FACTS:
            found = self.facts[key].astype(np.float64) if self.runs else np.empty((0, len(self.mask)))
        else:
            found = catalogue.value(key, self.judged, ranks=self.ranks)
        return np.where(self.mask, found, np.nan)

    @cached_property
    def _strata(self) -> Strata:
        names, family = np.unique(self.queries.family.astype(str), return_inverse=True)
        if self.benchmark.parallel:
            return Strata(family, _joint_draws(tuple(names)))
        return bootstrap.stratified_draws(family, self.judged.query_language, seed=SEED)

    @property
    def method(self) -> str:
        """How the percentile intervals are called."""
        return bootstrap.method_name("joint" if self.benchmark.parallel else "stratified")

    def draws(self, values: Floats, *, balanced: bool) -> Floats:
        """The mean of each row of ``values`` ``(C, Q)`` in each draw ``(B, C)``, shared by all measures and systems."""
        family, weights = self._strata
        if balanced:
            return bootstrap.balanced_draws(
                values,
                family=family,
                language=self.judged.query_language,
                n_languages=len(self.languages),
                draws=weights,
            )
        return bootstrap.pooled_draws(values, family=family, draws=weights)

    def mean(self, values: Floats, *, balanced: bool) -> bootstrap.Mean:
        """Mean of each row of ``values`` and the queries behind it."""
        if balanced:
            return bootstrap.balanced_mean(values, language=self.judged.query_language, n_languages=len(self.languages))
        return bootstrap.pooled_mean(values)

    def intervals(self, keys: Sequence[str]) -> dict[str, list[Interval]]:
        """Each measure of each system with its interval; the draws of all measures are made in one go."""
        columns = {key: self.values(key) for key in keys if key != BOTH_GOLD}
        found = {}
        for balanced in (False, True):
            mine = {key: values for key, values in columns.items() if _is_balanced(key) == balanced}
            if balanced and BOTH_GOLD in keys:
                mine |= self._both_gold()
            drawn = self._draws_of(mine, balanced=balanced)
            for key in mine:
                if key in columns:
                    found[key] = self._measured(key, mine[key], drawn[key])
            if balanced and BOTH_GOLD in keys:
                found[BOTH_GOLD] = self._language_transfer(mine, drawn)
        return {key: found[key] for key in keys}

    def _draws_of(self, columns: Mapping[str, Floats], *, balanced: bool) -> dict[str, Floats]:
        """``(B, S)`` draws of the mean of each named ``(S, Q)`` column."""
        if not columns:
            return {}
        drawn = self.draws(np.concatenate(list(columns.values())), balanced=balanced)
        return dict(zip(columns, np.split(drawn, len(columns), axis=1), strict=True))

    def _measured(self, key: str, values: Floats, drawn: Floats) -> list[Interval]:
        balanced = _is_balanced(key)
        mean, other = self.mean(values, balanced=balanced), self.mean(values, balanced=not balanced)
        return self._rows(
            mean.value, other.value, drawn, n=mean.n, balanced=balanced, ceiling=self.ceiling(key, balanced=balanced)
        )

    def ceiling(self, key: str, *, balanced: bool) -> float | None:
        """The largest mean that a measure can reach on these queries; None where that is 1."""
        limits = None if key.rsplit("_", 1)[0] in STORED_FACTS else catalogue.ceiling(key, self.judged)
        if limits is None:
            return None
        reachable = number(self.mean(np.where(self.mask, limits, np.nan)[np.newaxis], balanced=balanced).value[0])
        return reachable if reachable is not None and reachable < 1 else None

    def _both_gold(self) -> dict[str, Floats]:
        """R@10 same and cross on the queries that have both, which LT% is the ratio of."""
        gold = routes.both_gold(self.judged)
        return {which: np.where(gold, self.values(f"recall_at_10_{which}"), np.nan) for which in ("same", "cross")}

    def _language_transfer(self, columns: Mapping[str, Floats], drawn: Mapping[str, Floats]) -> list[Interval]:
        same, cross = columns["same"], columns["cross"]
        value, other = (
            routes.language_transfer(
                self.mean(same, balanced=balanced).value, self.mean(cross, balanced=balanced).value
            )
            for balanced in (True, False)
        )
        ratios = routes.language_transfer(drawn["same"], drawn["cross"])  # inside each draw
        return self._rows(value, other, ratios, n=self.mean(same, balanced=True).n, balanced=True, ceiling=None)

    def _rows(
        self,
        value: Floats,
        other: Floats,
        drawn: Floats,
        *,
        n: NDArray[np.int64],
        balanced: bool,
        ceiling: float | None,
    ) -> list[Interval]:
        """One interval a system from its means and its draws ``(B, S)``."""
        bounds = bootstrap.interval_of_draws(drawn, level=LEVEL)
        aggregate = "balanced" if balanced else "pooled"
        return [
            Interval(
                number(value[place]),
                aggregate,
                number(other[place]),
                ceiling,
                number(bounds.low[place]),
                number(bounds.high[place]),
                LEVEL,
                self.method,
                int(n[place]),
            )
            for place in range(len(value))
        ]

    def part(self, attribute: str, value: str) -> Evidence:
        """The same evidence on the queries that also have this value."""
        return replace(self, mask=self.mask & _mask(self.queries, ((attribute, value),)))

    def pooled(self, values: Floats) -> list[Interval]:
        """The pooled mean of each row of ``values`` ``(C, Q)`` with its interval."""
        mean, other = self.mean(values, balanced=False), self.mean(values, balanced=True)
        drawn = self.draws(values, balanced=False)
        return self._rows(mean.value, other.value, drawn, n=mean.n, balanced=False, ceiling=None)

    def family_sums(self, values: Floats) -> Floats:
        """Sum of ``values`` ``(Q,)`` over the queries of each family, ``(F,)``; NaN for a family without any."""
        family = self._strata.family
        known = ~np.isnan(values)
        sums = np.bincount(family[known], weights=values[known], minlength=int(family.max(initial=-1)) + 1)
        counts = np.bincount(family[known], minlength=len(sums))
        return np.where(counts > 0, sums, np.nan)

    def composed(self, value: float, drawn: Floats, *, n: int, ceiling: float | None = None) -> Interval:
        """A composition of pooled means: its value and its draws ``(B,)`` as an interval."""
        low, high = bootstrap.interval_of_draws(drawn, level=LEVEL)
        full = ceiling is None or ceiling >= 1
        return Interval(
            number(value),
            "pooled",
            None,
            None if full else ceiling,
            number(low.item()),
            number(high.item()),
            LEVEL,
            self.method,
            n,
        )

    def difference(self, key: str, *, first: int, second: int) -> tuple[float, float, float] | None:
        """One system minus another on shared queries and draws: mean, low, high; None where undefined."""
        balanced = _is_balanced(key)
        values = self.values(key)
        apart = (values[first] - values[second])[np.newaxis]
        bounds = bootstrap.interval_of_draws(self.draws(apart, balanced=balanced), level=LEVEL)
        found = (number(self.mean(apart, balanced=balanced).value[0]), number(bounds.low[0]), number(bounds.high[0]))
        return None if None in found else found  # type: ignore[return-value]

    def degenerate(self) -> list[bool | None]:
        """Whether each system hardly retrieves across languages; None where the task has no cross-language answer."""
        cross = self.mean(self.values("recall_at_10_cross"), balanced=True).value
        flags = routes.degenerate(cross)
        return [None if np.isnan(value) else bool(flag) for value, flag in zip(cross, flags, strict=True)]


def _is_balanced(key: str) -> bool:
    return catalogue.measure(key).aggregate == "balanced"


@functools.lru_cache(maxsize=2)
def _joint_draws(families: tuple[str, ...]) -> bootstrap.Weights:
    """The same draws wherever the same families are drawn, in every view and in tasks that share them; else others.

    90 MB for 11,255 families.
    """
    draws = bootstrap.family_draws(len(families), seed=SEED + zlib.crc32("\n".join(families).encode()))
    draws.flags.writeable = False
    return draws


def languages_in_order(store: Store, task: TaskRow, queries: QueryColumns) -> tuple[str, ...]:
    """Languages as the corpus first shows them, then those that only queries have."""
    return tuple(dict.fromkeys([*store.corpus_languages(task.task_id), *queries.language]))


def _mask(queries: QueryColumns, where: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    mask = np.ones(len(queries.id), dtype=bool)
    for attribute, value in where:
        if attribute not in ATTRIBUTES:
            raise InputError(f"unknown query attribute {attribute!r}: expected one of {', '.join(ATTRIBUTES)}")
        mask &= getattr(queries, attribute) == value
    return mask


def of_100(share: float) -> str:
    """A share as a count a person can picture: 42 of 100."""
    return f"{round(100 * share)} of 100"


def number(value: float | np.floating | None) -> float | None:
    """A plain float; None for NaN: missing is never 0."""
    return None if value is None or np.isnan(value) else float(value)
