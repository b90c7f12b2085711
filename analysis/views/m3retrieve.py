"""Benchmarks of M3Retrieve's layout: what its measure is called, and what of a query its systems read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from analysis.model import SystemLabel
from analysis.store.read import Store, TaskRow
from analysis.text import capitalised, counted
from analysis.views.evidence import Evidence, chosen_tasks, measure_label
from analysis.views.selection import Interval, MeasureLabel, Selection, Sentence

FORMAT = "m3retrieve"
MEASURE = "ndcg_at_10"
READS = {"text": "text alone", "image": "image alone", "text-image-mean": "text and image (mean of both)"}
"""What of a query a system may read, alone first."""

SAME = "nDCG@10 is what M3Retrieve calls nNDCG@10: the same number where judgements are binary, as they are here."


NOT_THE_MODEL = ("name", "title", "short_title", "note", "reads")
"""What of the settings of a run two systems of one model may have otherwise."""


class Read(NamedTuple):
    """One run by what of a query it reads."""

    task: str
    system: SystemLabel
    reads: str  # one of READS
    value: Interval  # nDCG@10
    model: str  # the same for systems that differ in what they read alone


@dataclass(frozen=True)
class ReadsView:
    """What text, image and both of them find, where systems read images."""

    takeaway: Sentence
    measure: MeasureLabel
    rows: tuple[Read, ...]  # by task and by what is read


@dataclass(frozen=True)
class ImagesView:
    """What pages say of benchmarks with images."""

    measure_name: str  # a sentence; empty where no task has M3Retrieve's layout
    reads: ReadsView | None  # None where no system reads images


def page(store: Store, asked: Selection) -> ImagesView:
    """Everything at once.

    Raises:
        InputError: an unknown benchmark, task, system or query attribute.
    """
    return ImagesView(measure_name(store, asked), reads(store, asked))


def measure_name(store: Store, asked: Selection) -> str:
    """What M3Retrieve's measure is called here, a sentence; empty where no chosen task has its layout.

    Raises:
        InputError: an unknown benchmark or task.
    """
    layout = {task.name for task in _of_layout(store, asked)}
    tasks = [task for task in chosen_tasks(store, asked) if task.name in layout]
    if not tasks:
        return ""
    graded = sum(_graded(store, task) for task in tasks)
    if not graded:
        return SAME
    return (
        f"{counted(graded, 'judgement')} of other grades than 0 and 1: nDCG@10 is not the nNDCG@10 of M3Retrieve here, "
        "whose judgements are binary."
    )


def _of_layout(store: Store, asked: Selection) -> list[TaskRow]:
    """The tasks that were imported in this layout."""
    row = store.benchmark(asked.benchmark)
    read = cast("Mapping[str, Mapping[str, Mapping[str, object]]]", row.settings.get("tasks") or {})
    formats = {name: dict(settings.get("options") or {}).get("format") for name, settings in read.items()}
    return [task for task in store.tasks(row.benchmark_id) if formats.get(task.name) == FORMAT]


def _graded(store: Store, task: TaskRow) -> int:
    grades = store.judgements(task.task_id, all_grades=True).grade
    return int(((grades != 0) & (grades != 1)).sum())


def reads(store: Store, asked: Selection) -> ReadsView | None:
    """Runs beside each other by what of a query they read; None where none reads images.

    A system whose queries have no image reads their texts, whatever it could.

    Raises:
        InputError: an unknown benchmark, task, system or query attribute.
    """
    labels = store.system_labels()
    rows: list[Read] = []
    for task in chosen_tasks(store, asked):
        if not store.n_images(task.task_id).get("query"):
            continue
        evidence = Evidence.load(store, task, selection=asked, labels=labels)
        settings = [cast("Mapping[str, object]", run.provenance.get("settings") or {}) for run in evidence.runs]
        found = [str(told.get("reads") or "text") for told in settings]
        if not {"image", "text-image-mean"} & set(found):
            continue
        values = evidence.intervals([MEASURE])[MEASURE]
        rows += [
            Read(task.name, labels[run.system], what, value, _model(told))
            for run, what, value, told in zip(evidence.runs, found, values, settings, strict=True)
            if value.value is not None
        ]
    order = list(READS)
    rows.sort(key=lambda row: (row.task, order.index(row.reads), -(row.value.value or 0.0)))
    return ReadsView(_takeaway(rows), measure_label(MEASURE), tuple(rows)) if rows else None


def _model(settings: Mapping[str, object]) -> str:
    """What tells models apart, whatever their systems read."""
    return repr(sorted((name, value) for name, value in settings.items() if name not in NOT_THE_MODEL))


def _takeaway(rows: Sequence[Read]) -> Sentence:
    """One model that reads each, where there is one; else the best system of each, of whatever model."""
    of_task = [row for row in rows if row.task == rows[0].task]
    models: dict[str, dict[str, Read]] = {}
    for row in of_task:
        models.setdefault(row.model, {})[row.reads] = row
    most = max(models.values(), key=len)
    one_model = len(most) > 1
    best: dict[str, Read] = dict(most) if one_model else {}
    if not one_model:
        for row in of_task:
            best.setdefault(row.reads, row)
    ordered = sorted(best.values(), key=lambda row: -(row.value.value or 0.0))
    words = ", ".join(f"{READS[row.reads]} {row.value.value or 0:.2f} ({row.system.short})" for row in ordered)
    if not one_model:
        return Sentence(f"{capitalised(READS[ordered[0].reads])} finds most.", f"The best of each: {words}.")
    first = max(of_task, key=lambda row: row.value.value or 0.0)
    other = first.value.value != ordered[0].value.value
    rest = f" Most of all is found by {first.system.short} with {READS[first.reads]}." if other else ""
    bold = f"Of one and the same model, {READS[ordered[0].reads]} finds most."
    return Sentence(bold, f"{capitalised(words)}.{rest}")
