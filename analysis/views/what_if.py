"""What if: a ranking with one thing changed beside the run it was made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.model import NEVER, Interval, Ranking, SystemLabel
from analysis.store.read import RunRow, Store
from analysis.views import routes
from analysis.views.evidence import Evidence, benchmark_label, measure_label, one_task, task_label
from analysis.views.routes import RouteDifference, RoutesView
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel

MEASURES = ("ndcg_at_10", "recall_at_10", "recall_at_10_same", "recall_at_10_cross", "hit_at_1")
LEAD = "recall_at_10_cross"
K = 10
CHANGED = "what-if"
"""The name that the changed ranking goes by beside the runs."""


class Changed(NamedTuple):
    """A measure before and after, and the paired difference."""

    measure: MeasureLabel
    before: Interval
    after: Interval
    delta: Interval


@dataclass(frozen=True)
class WhatIfView:
    """What one change would do."""

    benchmark: BenchmarkLabel
    task: TaskLabel
    base: SystemLabel
    words: str  # what was done
    takeaway: Sentence
    measures: tuple[Changed, ...]  # that the task has
    heatmaps: RoutesView  # before and after, on one scale
    difference: RouteDifference  # after less before
    depth: int  # of the changed ranking
    depth_before: int


def what_if(
    store: Store,
    selection: Selection,
    *,
    base: str,
    ranking: Ranking,
    words: str,
    languages: tuple[str, ...] = (),
) -> WhatIfView:
    """Put a changed ranking beside the run of the system that it was made of.

    Args:
        store: where the run is.
        selection: one task, and which of its queries.
        base: the system.
        ranking: in the task's positions.
        words: what was done.
        languages: those to show; empty for all.

    Raises:
        InputError: not exactly one task, one without rankings, or no run of the system.
    """
    task, known = one_task(store, selection), store.system_labels()
    evidence = Evidence.load(store, task, selection=selection._replace(systems=(base,)), labels=known)
    evidence.need_ranks("a what-if needs rankings")
    if not evidence.runs:
        raise InputError(f"system {base!r} has no run of {task.name}")
    (before,) = evidence.runs
    after = _row(before, ranking)
    both = dataclasses.replace(
        evidence, runs=(before, after), ranks=np.concatenate([evidence.ranks, _ranks(evidence, ranking)])
    )
    label = SystemLabel(CHANGED, words, words, known[base].paradigm, known[base].member + 1)
    labels = {base: known[base], CHANGED: label}
    measures = tuple(_measures(both))
    return WhatIfView(
        benchmark=benchmark_label(evidence.benchmark),
        task=task_label(task),
        base=known[base],
        words=words,
        takeaway=_takeaway(words, measures),
        measures=measures,
        heatmaps=routes.of_evidence(both, labels, k=K, languages=languages),
        difference=routes.difference_of(both, labels, a=CHANGED, b=base, k=K, languages=languages),
        depth=ranking.depth,
        depth_before=before.depth,
    )


def _row(before: RunRow, ranking: Ranking) -> RunRow:
    """A run that is not stored: no fact that was counted for a run belongs to it."""
    return before._replace(run_id=-1, system=CHANGED, depth=ranking.depth, hits_kept=0, hits_file=None, n_hits=0)


def _ranks(evidence: Evidence, ranking: Ranking) -> NDArray[np.int32]:
    """``(1, J)`` where a ranking has the judged documents."""
    width = np.int64(1) << 32
    pairs = evidence.judged.query.astype(np.int64) * width + evidence.document
    listed = ranking.query.astype(np.int64) * width + ranking.document
    order = np.argsort(listed, kind="stable")
    place = np.searchsorted(listed, pairs, sorter=order)
    found = np.full(len(pairs), NEVER, dtype=np.int32)
    inside = place < len(listed)
    at = order[place[inside]]
    found[inside] = np.where(listed[at] == pairs[inside], ranking.rank()[at], NEVER)
    return found[np.newaxis]


def _measures(both: Evidence) -> Sequence[Changed]:
    found = both.intervals([key for key in MEASURES if key in both.measures(MEASURES)])
    changed = []
    for key, (before, after) in found.items():
        values = both.values(key)
        (delta,) = both.means_of(key, (values[1] - values[0])[np.newaxis])
        changed.append(Changed(measure_label(key), before, after, delta))
    return changed


def _takeaway(words: str, measures: Sequence[Changed]) -> Sentence:
    """What the change does to what is found across languages, or where no answer crosses them, at all."""
    known = {row.measure.key: row for row in measures}
    row = known.get(LEAD) or known.get("recall_at_10")
    if row is None or row.delta.value is None or row.before.value is None or row.after.value is None:
        return Sentence(f"{words}: nothing to compare.", "")
    low, high = row.delta.low, row.delta.high
    sure = low is not None and high is not None and (low > 0 or high < 0)
    moves = f"{'rises' if row.delta.value > 0 else 'falls'} by {abs(row.delta.value):.2f}"
    bold = f"{words}: {row.measure.label} {moves if sure else 'does not change by more than chance'}."
    between = "" if low is None or high is None else f", 95 % interval of the difference {low:.2f} to {high:.2f}"
    rest = f"{row.measure.label} {row.before.value:.2f} → {row.after.value:.2f}{between}."
    return Sentence(bold, rest.replace(" -", " −"))
