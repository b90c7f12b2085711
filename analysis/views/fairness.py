"""Who is left behind?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.languages import language_name
from analysis.metrics.fairness import extremes
from analysis.model import Interval, SystemLabel
from analysis.stats.bootstrap import max_minus_min
from analysis.stats.effects import too_few
from analysis.stats.permutation import sign_flip_p
from analysis.store.read import Store
from analysis.views import language_choice
from analysis.views.evidence import (
    LEAD,
    SEED,
    Evidence,
    Floats,
    benchmark_label,
    chosen_tasks,
    measure_label,
    task_label,
)
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel


@dataclass(frozen=True)
class FairnessRow:
    """One system on one task."""

    task: str
    system: SystemLabel
    measure: str  # key: nDCG@10, or the first of imported scores without it
    gap: Interval  # best less worst language; None with one language, biased upward
    best_language: str | None
    worst_language: str | None
    paired_difference: Interval | None  # of these two on shared families; None where there are none
    p: float | None  # of that difference, by sign flips of whole families; None where there is too little to test
    by_language: Mapping[str, Interval]


@dataclass(frozen=True)
class FairnessTask:
    """One task of the page."""

    task: TaskLabel
    measure: MeasureLabel  # what the languages are compared by
    takeaway: Sentence
    caption: str
    languages: tuple[str, ...]  # asked in and shown, in the benchmark's order; by script where they are many
    rows: tuple[FairnessRow, ...]  # over all languages, shown or not
    scripts: tuple[str, ...] = ()  # of the languages where they are many, else empty


@dataclass(frozen=True)
class FairnessView:
    """How evenly the chosen systems serve the languages they are asked in."""

    benchmark: BenchmarkLabel
    takeaway: Sentence | None  # over several tasks; None with one, or nothing to compare
    tasks: tuple[FairnessTask, ...]


def page(store: Store, selection: Selection, *, languages: tuple[str, ...] = ()) -> FairnessView:
    """The answer of the page *Fairness*.

    Args:
        store: where the runs are.
        selection: tasks, systems and queries.
        languages: those to show; empty for all. Gaps are over all.

    Raises:
        InputError: an unknown benchmark, task or system, or none of the languages.
    """
    rows = fairness(store, selection)
    tasks = []
    for task in chosen_tasks(store, selection):
        mine = tuple(row for row in rows if row.task == task.name)
        measure = measure_label(mine[0].measure if mine else LEAD)
        asked_in = tuple(dict.fromkeys(tag for row in mine for tag in row.by_language))
        tags = language_choice.shown(asked_in, languages)
        caption = "No system has run on this task."
        if mine:
            asked = f"{mine[0].gap.n:,} queries · 95 % bootstrap intervals"
            some = language_choice.of_all(tags, asked_in)
            some = f" · {some}, gaps are over all" if some else ""
            caption = f"{measure.label} by query language ({', '.join(tags)}) · {asked}{some}"
        takeaway, scripts = _takeaway(mine, measure.label), language_choice.scripts(tags)
        tasks.append(FairnessTask(task_label(task), measure, takeaway, caption, tags, mine, scripts))
    return FairnessView(benchmark_label(store.benchmark(selection.benchmark)), _over_tasks(tasks), tuple(tasks))


def _over_tasks(tasks: Sequence[FairnessTask]) -> Sentence | None:
    """On which task languages are farthest apart, and which system is the most even one most often."""
    compared = [(task, apart) for task in tasks if (apart := _apart(task.rows))]
    if len(compared) < 2:
        return None
    task, apart = max(compared, key=lambda pair: pair[1][-1].gap.value or 0.0)
    row = apart[-1]
    bold = (
        f"The widest gap is {row.gap.value:.2f}: {row.system.short} asked in "
        f"{language_name(row.best_language or '')} or in {language_name(row.worst_language or '')} ({task.task.title})."
    )
    even = Counter(apart[0].system.short for _, apart in compared if len(apart) > 1)
    if not even:
        return Sentence(bold, "")
    name, times = even.most_common(1)[0]
    of = "every task" if times == len(compared) else f"{times} of {len(compared)} tasks"
    return Sentence(bold, f"{name} is the most even on {of}.")


def _apart(rows: Sequence[FairnessRow]) -> list[FairnessRow]:
    """The systems whose languages can be compared, the most even first."""
    return sorted((row for row in rows if row.gap.value is not None), key=lambda row: row.gap.value or 0.0)


def _takeaway(rows: Sequence[FairnessRow], measure: str) -> Sentence:
    """Whose languages are farthest apart, and whose are nearest."""
    apart = _apart(rows)
    if not apart:
        return Sentence("There is nothing to compare: the queries are in one language.", "")
    row = apart[-1]
    best, worst = row.best_language or "", row.worst_language or ""
    bold = (
        f"{row.system.short} reaches {measure} {row.by_language[best].value:.2f} when asked in {language_name(best)} "
        f"and {row.by_language[worst].value:.2f} in {language_name(worst)}."
    )
    other = f"{apart[0].system.short} is the most even: its languages are {apart[0].gap.value:.2f} apart."
    return Sentence(bold, other if len(apart) > 1 else "")


def fairness(store: Store, selection: Selection) -> tuple[FairnessRow, ...]:
    """The lead measure by query language with the gap between best and worst, for each chosen task and system.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    labels = store.system_labels()
    rows: list[FairnessRow] = []
    for task in chosen_tasks(store, selection):
        evidence = Evidence.load(store, task, selection=selection, labels=labels)
        rows += [_row(evidence, place, labels[run.system]) for place, run in enumerate(evidence.runs)]
    return tuple(rows)


def _row(evidence: Evidence, place: int, label: SystemLabel) -> FairnessRow:
    values = evidence.values(evidence.lead)[place]
    asked = evidence.judged.query_language
    split = np.stack([np.where(asked == code, values, np.nan) for code in range(len(evidence.languages))])
    by_language = evidence.pooled(split)
    means = np.array([np.nan if found.value is None else found.value for found in by_language])
    best, worst = extremes(means)
    draws = evidence.draws(split)
    n = int(np.count_nonzero(~np.isnan(values)))
    named = best >= 0
    paired = named and evidence.benchmark.parallel
    return FairnessRow(
        task=evidence.task.name,
        system=label,
        measure=evidence.lead,
        gap=evidence.composed(float(max_minus_min(means)), max_minus_min(draws), n=n),
        best_language=evidence.languages[best] if named else None,
        worst_language=evidence.languages[worst] if named else None,
        paired_difference=_paired(evidence, split[[best, worst]]) if paired else None,
        p=_p(evidence, split[best], split[worst]) if paired else None,
        by_language={
            tag: found for tag, found in zip(evidence.languages, by_language, strict=True) if found.value is not None
        },
    )


def _paired(evidence: Evidence, split: Floats) -> Interval | None:
    """The first less the second of two languages ``(2, Q)``, on the families that both have a value of; None if none.

    Queries that are left out may be so in one language only.
    """
    shared = ~np.any([np.isnan(evidence.family_sums(values)) for values in split], axis=0)
    if not shared.any():
        return None
    both = np.where(shared[evidence.family], split, np.nan)
    mean, drawn = evidence.mean(both, balanced=False), evidence.draws(both)
    return evidence.composed(float(mean.value[0] - mean.value[1]), drawn[:, 0] - drawn[:, 1], n=int(mean.n.sum()))


def _p(evidence: Evidence, best: Floats, worst: Floats) -> float | None:
    """Two-sided, signs flipped by family; None where there is too little to test."""
    apart = evidence.family_sums(best) - evidence.family_sums(worst)
    known = apart[~np.isnan(apart)]
    pairs = min(int((~np.isnan(column)).sum()) for column in (best, worst))
    if too_few(pairs=pairs, families=len(known), unequal=int((known != 0).sum())):
        return None
    return sign_flip_p(known, seed=SEED)
