"""The judged ranks of some systems on one task, with the means and intervals every page takes from them."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.metrics import catalogue, depth, routes
from analysis.metrics.ranking import Judged
from analysis.model import Interval, SystemLabel
from analysis.stats import bca, bootstrap
from analysis.stats.bootstrap import Strata
from analysis.store.read import BenchmarkRow, QueryColumns, RunRow, Store, TaskRow
from analysis.views import slices
from analysis.views.selection import (
    BenchmarkLabel,
    MeasureLabel,
    Selection,
    TaskLabel,
    published_only,
    scores_only,
)

SEED = 20_260_101
LEVEL = 0.95
STORED_FACTS = ("judged_at", "same_language_at", "same_language_irrelevant_at")  # by query, kept with the run
TIE_RANGE = ("ndcg_at_10_low", "ndcg_at_10_high")
BOTH_GOLD = "language_transfer"
LEAD = "ndcg_at_10"

Floats = NDArray[np.float64]


def benchmark_label(row: BenchmarkRow) -> BenchmarkLabel:
    """How a stored benchmark is called."""
    address = row.name if row.current else f"{row.name}@{row.version}"
    return BenchmarkLabel(row.name, row.version, address, row.title, row.licence, row.source, row.notes, row.parallel)


def task_label(row: TaskRow) -> TaskLabel:
    """How a stored task is called."""
    return TaskLabel(
        name=row.name,
        title=row.title,
        question=row.question,
        is_default=row.is_default,
        n_queries=row.n_queries,
        n_documents=row.n_documents,
        n_flagged=row.flagged,
        n_published=row.n_published,
    )


def measure_label(key: str) -> MeasureLabel:
    """How a measure is called.

    Raises:
        InputError: no measure has this key.
    """
    found = catalogue.measure(key)
    return MeasureLabel(
        found.key, found.label, found.definition, found.formula, found.source, found.aggregate, found.unit
    )


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


class Ends(NamedTuple):
    """Ends of C intervals, and how each was made."""

    low: Floats  # (C,)
    high: Floats  # (C,)
    methods: Sequence[str]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Ranks of S systems on one task.

    Where doubtful items are left out, flagged queries are outside the mask and judgements of flagged documents are not
    among the J: they are neither gained nor missed, and a query that has no other answer leaves the domain. The
    documents themselves stand where they stand: ranks stay, and so do the facts that were counted with other documents
    when a run was stored.

    Attributes:
        store: where it comes from.
        benchmark: the stored benchmark.
        task: the stored task.
        runs: S complete runs.
        queries: Q queries.
        judged: J judgements with a positive grade; its languages are in the benchmark's order.
        document: ``(J,)`` int32 position of each one's document.
        ranks: ``(S, J)`` int32.
        mask: ``(Q,)`` queries of the slice asked for.
        counted: which of all stored judgements with a positive grade these are.
        recounted: ``(Q,)`` queries of which a judgement does not count.
    """

    store: Store
    benchmark: BenchmarkRow
    task: TaskRow
    runs: tuple[RunRow, ...]
    queries: QueryColumns
    judged: Judged
    document: NDArray[np.int32]
    ranks: NDArray[np.int32]
    mask: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    recounted: NDArray[np.bool_]

    @classmethod
    def load(cls, store: Store, task: TaskRow, *, selection: Selection, labels: dict[str, SystemLabel]) -> Evidence:
        """Read what a selection needs of one task.

        Raises:
            InputError: an unknown system or query attribute, or a task of published figures only.
        """
        if task_label(task).published_only:
            raise InputError(published_only("expected a task with the ranks or values of each query"))
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
        without = selection.without_flagged
        counted = np.ones(len(judgements.query), dtype=bool)
        if without:
            counted = ~np.isin(judgements.document, store.flagged(task.task_id).documents)
        ranks = store.ranks([run.run_id for run in runs]) if runs else np.empty((0, len(counted)), dtype=np.int32)
        return cls(
            store=store,
            benchmark=store.benchmark(selection.benchmark),
            task=task,
            runs=tuple(runs),
            queries=queries,
            judged=judged.rows(counted),
            document=judgements.document[counted],
            ranks=ranks[:, counted],
            mask=slices.mask(store, task, queries, where=selection.where, without_flagged=without),
            counted=counted,
            recounted=judged.count(~counted) > 0,
        )

    @property
    def languages(self) -> tuple[str, ...]:
        """Language tags in the benchmark's order; codes in ``judged`` are places in it."""
        return self.judged.languages

    @property
    def has_ranks(self) -> bool:
        """Whether the task has documents to rank; else its runs are imported per-query scores."""
        return self.task.n_documents > 0

    def need_ranks(self, what: str) -> None:
        """Refuse what imported scores cannot answer.

        Args:
            what: as in "language routes need rankings".

        Raises:
            InputError: the task has per-query scores only.
        """
        if not self.has_ranks:
            raise InputError(scores_only(what))

    @cached_property
    def _all_scores(self) -> dict[str, Floats]:
        """Imported scores of every run of the task by measure, ``(R, Q)``: a query that no run has is not missing."""
        runs = [run.run_id for run in self.store.runs([self.task.task_id]) if run.status == "complete"]
        order = [run.run_id for run in self.runs]
        return self.store.scores(self.task.task_id, [*order, *(run for run in runs if run not in order)])

    def _score(self, key: str) -> Floats:
        """Imported values of a measure, ``(S, Q)``: 0 for a query that only other runs have, NaN where none has it."""
        if key not in self._all_scores:
            raise InputError(f"measure {key!r}: {self.task.name} has only scores of {', '.join(self._all_scores)}")
        found = self._all_scores[key]
        known = ~np.isnan(found)
        return np.where(known.any(axis=0) & ~known, 0.0, found)[: len(self.runs)]

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """``(S, Q)`` queries of the domain that a run has nothing for: they count 0."""
        if self.has_ranks and self.runs:
            return np.asarray(self.domain & (self.facts["depth"] == 0))
        if not self._all_scores:
            return np.zeros((len(self.runs), len(self.mask)), dtype=bool)
        known = np.any([~np.isnan(found[: len(self.runs)]) for found in self._all_scores.values()], axis=0)
        return np.asarray(self.domain & ~known)

    @property
    def imported(self) -> tuple[str, ...]:
        """Measures imported as per-query scores, in the file's order; none where there are rankings."""
        return () if self.has_ranks else tuple(self._all_scores)

    def measures(self, usual: Sequence[str]) -> tuple[str, ...]:
        """The measures to show: the usual ones of a ranking, or of imported scores all there are."""
        if self.has_ranks:
            return tuple(usual)
        both = {"recall_at_10_same", "recall_at_10_cross"} <= set(self.imported)
        return (*self.imported, *((BOTH_GOLD,) if both else ()))

    @property
    def lead(self) -> str:
        """The measure that leads: nDCG@10, or of imported scores without it the first in the file."""
        return LEAD if LEAD in self.imported else next(iter(self.imported), LEAD)

    @cached_property
    def facts(self) -> dict[str, NDArray[np.object_]]:
        """The stored facts that need the other documents too, each ``(S, Q)``.

        They count every judgement; what tied orders allow is NaN where one of them does not count any more.
        """
        asked = [run.run_id for run in self.runs] if self.has_ranks else []
        found = dict(self.store.query_scores(asked)) if asked else {}
        ends = {name: np.where(self.recounted, np.nan, found[name].astype(np.float64)) for name in TIE_RANGE if found}
        return found | ends

    def ranks_of(self, run: RunRow) -> NDArray[np.int32]:
        """``(1, J)`` ranks that another complete run of the task gives to the same judgements."""
        return self.store.ranks([run.run_id])[:, self.counted]

    @cached_property
    def domain(self) -> NDArray[np.bool_]:
        """``(Q,)`` queries of the slice that have a relevant document, or of imported scores any score."""
        if self.has_ranks:
            return np.asarray(self.mask & (self.judged.n_relevant > 0))
        scored = [~np.isnan(found).all(axis=0) for found in self._all_scores.values()]
        return np.asarray(self.mask & np.any(scored, axis=0))

    def values(self, key: str) -> Floats:
        """One value a system and query, ``(S, Q)``; NaN outside the measure's domain or the slice.

        Raises:
            InputError: an unknown measure, or one that was not imported with the scores.
        """
        if not self.has_ranks:
            found = self._score(key)
        elif key.rsplit("_", 1)[0] in STORED_FACTS:
            found = self.facts[key].astype(np.float64) if self.runs else np.empty((0, len(self.mask)))
        else:
            found = catalogue.value(key, self.judged, ranks=self.ranks)
        return np.where(self.mask, found, np.nan)

    @property
    def _unit(self) -> bootstrap.Unit:
        return "joint" if self.benchmark.parallel else "stratified"

    @cached_property
    def family(self) -> NDArray[np.intp]:
        """``(Q,)`` codes of whole families, over all languages."""
        return np.unique(self.queries.family.astype(str), return_inverse=True)[1]

    @cached_property
    def _strata(self) -> Strata:
        return strata(self.queries.family, self.judged.query_language, parallel=self.benchmark.parallel)

    @property
    def method(self) -> str:
        """How the percentile intervals are called."""
        return bootstrap.method_name(self._unit)

    def draws(self, values: Floats) -> Floats:
        """The pooled mean of each row of ``values`` ``(C, Q)`` in each draw ``(B, C)``, shared by all columns."""
        family, weights = self._strata
        return bootstrap.pooled_draws(values, family=family, draws=weights)

    def resampled(self, values: Floats) -> bca.Resampled:
        """The balanced mean of each row of ``values`` ``(C, Q)`` with what its BCa interval needs; draws are shared."""
        return bca.resampled_balanced(
            values,
            family=self.family,
            strata=strata(
                self.queries.family,
                self.judged.query_language,
                parallel=self.benchmark.parallel,
                resamples=bca.RESAMPLES,
            ),
            language=self.judged.query_language,
            n_languages=len(self.languages),
        )

    def percentile_draws(self, depths: Floats, *, share: float) -> Floats:
        """D_C of each row of ``depths`` ``(C, Q)`` in the draws of pooled means, ``(B, C)``."""
        family, weights = self._strata
        return depth.percentile_draws(depths, share=share, family=family, draws=weights)

    def mean(self, values: Floats, *, balanced: bool) -> bootstrap.Mean:
        """Mean of each row of ``values`` and the queries behind it."""
        if balanced:
            return bootstrap.balanced_mean(values, language=self.judged.query_language, n_languages=len(self.languages))
        return bootstrap.pooled_mean(values)

    def intervals(self, keys: Sequence[str]) -> dict[str, list[Interval]]:
        """Each measure of each system with its interval; the draws of all measures are made in one go."""
        columns = {key: self.values(key) for key in keys if key != BOTH_GOLD}
        pooled = {key: values for key, values in columns.items() if not _is_balanced(key)}
        balanced = {key: values for key, values in columns.items() if _is_balanced(key)}
        gold = self._both_gold() if BOTH_GOLD in keys else {}
        ends: dict[str, Ends] = {}
        if pooled:
            drawn = self.draws(np.concatenate(list(pooled.values())))
            parts = np.split(drawn, len(pooled), axis=1)
            ends |= {key: self._percentile(part) for key, part in zip(pooled, parts, strict=True)}
        made = self._resampled_of(balanced | gold)
        ends |= {key: self._bca(made[key]) for key in balanced}
        found = {key: self._measured(key, values, ends[key]) for key, values in columns.items()}
        if gold:
            found[BOTH_GOLD] = self._language_transfer(gold, made)
        return {key: found[key] for key in keys}

    def _resampled_of(self, columns: Mapping[str, Floats]) -> dict[str, bca.Resampled]:
        """The balanced mean of each named ``(S, Q)`` column, resampled."""
        if not columns:
            return {}
        made = self.resampled(np.concatenate(list(columns.values())))
        return dict(zip(columns, made.split(len(columns)), strict=True))

    def _percentile(self, drawn: Floats) -> Ends:
        """Percentile intervals of draws ``(B, C)``."""
        bounds = bootstrap.interval_of_draws(drawn, level=LEVEL)
        return Ends(bounds.low, bounds.high, [self.method] * len(bounds.low))

    def _bca(self, made: bca.Resampled) -> Ends:
        bounds = bca.interval(made, level=LEVEL)
        return Ends(bounds.low, bounds.high, bca.method_names(bounds.is_bca, self._unit))

    def _measured(self, key: str, values: Floats, ends: Ends) -> list[Interval]:
        balanced = _is_balanced(key)
        return self._rows(values, ends, balanced=balanced, ceiling=self.ceiling(key, balanced=balanced))

    def ceiling(self, key: str, *, balanced: bool) -> float | None:
        """The largest mean that a measure can reach on these queries; None where that is 1."""
        known = self.has_ranks and key.rsplit("_", 1)[0] not in STORED_FACTS
        limits = catalogue.ceiling(key, self.judged) if known else None
        if limits is None:
            return None
        reachable = number(self.mean(np.where(self.mask, limits, np.nan)[np.newaxis], balanced=balanced).value[0])
        return reachable if reachable is not None and reachable < 1 else None

    def _both_gold(self) -> dict[str, Floats]:
        """R@10 same and cross on the queries that have both, which LT% is the ratio of."""
        columns = {which: self.values(f"recall_at_10_{which}") for which in ("same", "cross")}
        gold = ~np.isnan(columns["same"]) & ~np.isnan(columns["cross"])
        return {which: np.where(gold, values, np.nan) for which, values in columns.items()}

    def _language_transfer(self, gold: Mapping[str, Floats], made: Mapping[str, bca.Resampled]) -> list[Interval]:
        same, cross = made["same"], made["cross"]
        ratio = cross.with_(same, lambda theirs, own: routes.language_transfer(own, theirs))  # inside each draw
        other = routes.language_transfer(*(self.mean(gold[which], balanced=False).value for which in ("same", "cross")))
        n = self.mean(gold["same"], balanced=True).n
        return _intervals(ratio.estimate, other, self._bca(ratio), n=n, aggregate="balanced", ceiling=None)

    def _rows(self, values: Floats, ends: Ends, *, balanced: bool, ceiling: float | None = None) -> list[Interval]:
        """One interval a row of ``values`` ``(C, Q)``."""
        mean, other = self.mean(values, balanced=balanced), self.mean(values, balanced=not balanced)
        aggregate = "balanced" if balanced else "pooled"
        return _intervals(mean.value, other.value, ends, n=mean.n, aggregate=aggregate, ceiling=ceiling)

    def part(self, attribute: str, value: str) -> Evidence:
        """The same evidence on the queries that also have this value."""
        return replace(self, mask=self.mask & (self.column(attribute) == value))

    def column(self, attribute: str) -> NDArray[np.object_]:
        """What a query attribute says of each query, ``(Q,)``.

        Raises:
            InputError: an unknown attribute.
        """
        without = bool(self.recounted.any())
        return slices.column(self.store, self.task, self.queries, attribute=attribute, without_flagged=without)

    def pooled(self, values: Floats) -> list[Interval]:
        """The pooled mean of each row of ``values`` ``(C, Q)`` with its interval."""
        return self._rows(values, self._percentile(self.draws(values)), balanced=False)

    def balanced(self, values: Floats) -> list[Interval]:
        """The language-balanced mean of each row of ``values`` ``(C, Q)`` with its interval."""
        return self._rows(values, self._bca(self.resampled(values)), balanced=True)

    def family_sums(self, values: Floats) -> Floats:
        """Sum of ``values`` ``(Q,)`` over the queries of each family, ``(F,)``; NaN for a family without any."""
        known = ~np.isnan(values)
        sums = np.bincount(self.family[known], weights=values[known], minlength=int(self.family.max(initial=-1)) + 1)
        counts = np.bincount(self.family[known], minlength=len(sums))
        return np.where(counts > 0, sums, np.nan)

    def family_shares(self, values: Floats, *, balanced: bool) -> Floats:
        """What each family adds to the mean of each row of ``values`` ``(C, Q)``, ``(F, C)``: columns sum to the means.

        NaN for a family without a query in the domain.
        """
        known = ~np.isnan(values)
        strata_of = self.judged.query_language if balanced else np.zeros(len(self.mask), dtype=np.int16)
        spoken = strata_of == np.arange(len(self.languages) if balanced else 1)[:, np.newaxis]  # (L, Q)
        counts = known.astype(np.int64) @ spoken.T.astype(np.int64)  # (C, L)
        n = np.count_nonzero(counts, axis=1)[:, np.newaxis] * counts[:, strata_of]
        weighted = bootstrap.ratio(values, np.where(known, n, 0))
        shares = [self.family_sums(row) for row in weighted]
        return np.stack(shares, axis=1) if shares else np.empty((int(self.family.max(initial=-1)) + 1, 0))

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
        values = self.values(key)
        (apart,) = self.means_of(key, (values[first] - values[second])[np.newaxis])
        if apart.value is None or apart.low is None or apart.high is None:
            return None
        return apart.value, apart.low, apart.high

    def means_of(self, key: str, values: Floats) -> list[Interval]:
        """The mean of each row of ``values`` ``(C, Q)``, taken as the measure ``key`` is: pooled or balanced."""
        return self.balanced(values) if _is_balanced(key) else self.pooled(values)

    def degenerate(self) -> list[bool | None]:
        """Whether each system hardly retrieves across languages; None where the task has no cross-language answer."""
        if "recall_at_10_cross" not in self.measures(("recall_at_10_cross",)):
            return [None] * len(self.runs)
        cross = self.mean(self.values("recall_at_10_cross"), balanced=True).value
        flags = routes.degenerate(cross)
        return [None if np.isnan(value) else bool(flag) for value, flag in zip(cross, flags, strict=True)]


def _is_balanced(key: str) -> bool:
    return catalogue.measure(key).aggregate == "balanced"


def _intervals(
    value: Floats, other: Floats, ends: Ends, *, n: NDArray[np.int64], aggregate: str, ceiling: float | None
) -> list[Interval]:
    """One interval a column, from arrays ``(C,)``."""
    return [
        Interval(
            number(value[place]),
            aggregate,
            number(other[place]),
            ceiling,
            number(ends.low[place]),
            number(ends.high[place]),
            LEVEL,
            ends.methods[place],
            int(n[place]),
        )
        for place in range(len(value))
    ]


def strata(
    families: NDArray[np.object_], language: NDArray[Any], *, parallel: bool, resamples: int = bootstrap.RESAMPLES
) -> Strata:
    """The draws for queries ``(Q,)`` of these families and languages: joint where they are parallel, else stratified.

    Queries of several tasks can be drawn together: a family is one unit in all of them.
    """
    names, family = np.unique(families.astype(str), return_inverse=True)
    if parallel:
        return Strata(family, _joint_draws(tuple(names), resamples))
    return _stratified_draws(tuple(family.tolist()), tuple(language.tolist()), resamples)


@functools.lru_cache(maxsize=3)
def _joint_draws(families: tuple[str, ...], resamples: int) -> bootstrap.Weights:
    """The same draws wherever the same families are drawn, in every view and in tasks that share them; else others.

    113 MB for 10,000 draws of 11,255 families.
    """
    seed = SEED + zlib.crc32("\n".join(families).encode())
    draws = bootstrap.family_draws(len(families), resamples=resamples, seed=seed)
    draws.flags.writeable = False
    return draws


@functools.lru_cache(maxsize=3)
def _stratified_draws(family: tuple[int, ...], language: tuple[int, ...], resamples: int) -> Strata:
    """The same draws in every view and slice of the same queries."""
    drawn = bootstrap.stratified_draws(np.array(family), np.array(language), resamples=resamples, seed=SEED)
    for part in drawn:
        part.flags.writeable = False
    return drawn


def languages_in_order(store: Store, task: TaskRow, queries: QueryColumns) -> tuple[str, ...]:
    """Languages as the corpus first shows them, then those that only queries have."""
    return tuple(dict.fromkeys([*store.corpus_languages(task.task_id), *queries.language]))


def parts(evidence: Evidence, attribute: str) -> list[tuple[str, Evidence]]:
    """The same evidence for each value of a query attribute that its queries have.

    In the order of the values; languages in the benchmark's.

    Raises:
        InputError: an unknown attribute.
    """
    found = slices.values(evidence.column(attribute)[evidence.mask])
    if attribute == "language":
        found = tuple(tag for tag in evidence.languages if tag in found)
    return [(value, evidence.part(attribute, value)) for value in found]


def of_100(share: float) -> str:
    """A share as a count a person can picture: 42 of 100."""
    return f"{round(100 * share)} of 100"


def number(value: float | np.floating | None) -> float | None:
    """A plain float; None for NaN: missing is never 0."""
    return None if value is None or np.isnan(value) else float(value)
