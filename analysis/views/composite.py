"""Task scores and MMed-IR, with intervals carried through the composition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.metrics.composite import alignment_score, mean_of
from analysis.model import Interval, SystemLabel
from analysis.stats import bootstrap
from analysis.store.read import Store
from analysis.views.evidence import SEED, Evidence, Floats, chosen_tasks
from analysis.views.selection import Selection, Sentence
from analysis.views.tiers import discriminated, tiers_of

SCORES = {"t1-alignment": "Alignment", "t2-discrimination": "Discrimination", "t3-evidence": "Evidence"}
"""The task that each score is counted from, and what the score is called."""

TASKS = tuple(SCORES)

MMED_IR = "MMed-IR"
"""What their mean is called."""


@dataclass(frozen=True)
class TaskScore:
    """One task's score of each system: ``(S,)`` values and ceilings, ``(B, S)`` draws."""

    evidence: Evidence
    value: Floats
    draws: Floats
    ceiling: Floats

    def intervals(self) -> dict[str, Interval]:
        """By system."""
        n = int(self.evidence.domain.sum())
        return {
            run.system: self.evidence.composed(
                float(self.value[place]), self.draws[:, place], n=n, ceiling=float(self.ceiling[place])
            )
            for place, run in enumerate(self.evidence.runs)
        }


@dataclass(frozen=True)
class Composite:
    """MMed-IR of one system."""

    system: SystemLabel
    scores: Mapping[str, Interval]  # by task; without the tasks that the system lacks
    mmed_ir: Interval | None  # None where the system lacks a task

    @property
    def named(self) -> dict[str, Interval | None]:
        """The scores of the three tasks and their mean, by what they are called."""
        return {words: self.scores.get(task) for task, words in SCORES.items()} | {MMED_IR: self.mmed_ir}


def task_score(evidence: Evidence) -> TaskScore | None:
    """The score of one of the three tasks; None for any other task, without runs, or of imported scores."""
    if evidence.task.name not in TASKS or not evidence.runs or not evidence.has_ranks:
        return None
    return (_alignment, _discrimination, _evidence)[TASKS.index(evidence.task.name)](evidence)


def _alignment(evidence: Evidence) -> TaskScore:
    ndcg, recall = _means(evidence, [evidence.values("ndcg_at_10"), evidence.values("recall_at_1")])
    ceiling = (1.0 + _ceiling(evidence, "recall_at_1")) / 2
    return TaskScore(
        evidence,
        alignment_score(ndcg[0], recall[0]),
        alignment_score(ndcg[1], recall[1]),
        np.full(len(evidence.runs), ceiling),
    )


def _discrimination(evidence: Evidence) -> TaskScore:
    """The mean of R@1 over the tiers; where queries carry none, of how often an answer stands above its neighbours."""
    tiers = tiers_of(evidence)
    if tiers:
        return _by_tier(evidence, tiers)
    parts = _means(evidence, list(discriminated(evidence).values()))
    value, draws = (mean_of(*(part[at] for part in parts)) for at in (0, 1))
    return TaskScore(evidence, value, draws, np.ones(len(evidence.runs)))


def _by_tier(evidence: Evidence, tiers: Sequence[str]) -> TaskScore:
    """R@1 of each tier first, each drawn by itself."""
    recall = evidence.values("recall_at_1")
    parts, draws, ceilings = [], [], []
    for number, tier in enumerate(tiers):
        part = evidence.part("tier", tier)
        asked = np.flatnonzero(part.domain)
        mine = recall[:, asked]
        language = np.zeros(len(asked)) if evidence.benchmark.parallel else evidence.judged.query_language[asked]
        drawn = bootstrap.stratified_draws(evidence.family[asked], language, seed=SEED + number)
        parts.append(bootstrap.pooled_mean(mine).value)
        draws.append(bootstrap.pooled_draws(mine, family=drawn.family, draws=drawn.draws))
        ceilings.append(_ceiling(part, "recall_at_1"))
    return TaskScore(evidence, mean_of(*parts), mean_of(*draws), np.full(len(evidence.runs), float(np.mean(ceilings))))


def _evidence(evidence: Evidence) -> TaskScore:
    ((value, draws),) = _means(evidence, [evidence.values("recall_at_5")])
    return TaskScore(evidence, value, draws, np.full(len(evidence.runs), _ceiling(evidence, "recall_at_5")))


def _means(evidence: Evidence, columns: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
    """Pooled mean ``(S,)`` and draws ``(B, S)`` of each ``(S, Q)`` column, all from the same draws."""
    drawn = np.split(evidence.draws(np.concatenate(columns)), len(columns), axis=1)
    return [(evidence.mean(column, balanced=False).value, part) for column, part in zip(columns, drawn, strict=True)]


def _ceiling(evidence: Evidence, key: str) -> float:
    found = evidence.ceiling(key, balanced=False)
    return 1.0 if found is None else found


def composites(store: Store, selection: Selection) -> tuple[Composite, ...]:
    """MMed-IR of every chosen system, the best first; empty where the benchmark has not all three tasks.

    Tasks that share families are drawn together, since the same families in the same order get the same draws.

    Raises:
        InputError: an unknown benchmark or system.
    """
    labels = store.system_labels()
    tasks = {task.name: task for task in chosen_tasks(store, selection._replace(tasks=()))}
    if not set(TASKS) <= set(tasks):
        return ()
    scores = [task_score(Evidence.load(store, tasks[name], selection=selection, labels=labels)) for name in TASKS]
    ran = [{run.system: place for place, run in enumerate(score.evidence.runs)} if score else {} for score in scores]
    known = [name for name in labels if any(name in places for places in ran)]
    by_task = {name: score.intervals() for name, score in zip(TASKS, scores, strict=True) if score}
    found = [
        Composite(
            labels[name],
            {task: intervals[name] for task, intervals in by_task.items() if name in intervals},
            _mmed_ir([score for score in scores if score], ran, name),
        )
        for name in known
    ]
    return tuple(sorted(found, key=lambda row: -(row.mmed_ir.value or 0.0) if row.mmed_ir else 1.0))


def takeaway(rows: Sequence[Composite]) -> Sentence:
    """Which system has the highest MMed-IR, and what the next one reaches."""
    ranked = [(row.system.short, row.mmed_ir) for row in rows if row.mmed_ir and row.mmed_ir.value is not None]
    if not ranked:
        return Sentence("No system has run on all three tasks.", "MMed-IR is the mean of the three.")
    (best, first), *others = ranked
    bold = f"{best} has the highest MMed-IR, {first.value:.2f} (95 % interval {first.low:.2f} to {first.high:.2f})."
    if not others:
        return Sentence(bold, "")
    name, second = others[0]
    return Sentence(bold, f"{name} follows with {second.value:.2f} ({second.low:.2f} to {second.high:.2f}).")


def _mmed_ir(scores: Sequence[TaskScore], ran: Sequence[Mapping[str, int]], name: str) -> Interval | None:
    if len(scores) < len(TASKS) or not all(name in places for places in ran):
        return None
    at = [places[name] for places in ran]
    value = mean_of(*(score.value[place] for score, place in zip(scores, at, strict=True)))
    draws = mean_of(*(score.draws[:, place] for score, place in zip(scores, at, strict=True)))
    ceiling = float(np.mean([score.ceiling[place] for score, place in zip(scores, at, strict=True)]))
    n = sum(int(score.evidence.domain.sum()) for score in scores)
    return scores[0].evidence.composed(float(value), draws, n=n, ceiling=ceiling)
