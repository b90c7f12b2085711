"""What the papers of two benchmarks print of systems that are stored here, beside what was measured of them."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from analysis.errors import InputError
from analysis.model import SystemLabel
from analysis.store.read import Store
from analysis.views.evidence import chosen_tasks, measure_label
from analysis.views.overview import overview
from analysis.views.selection import Selection

FILE = Path(__file__).with_name("papers.csv")
"""Facts from MMed-Bench-IR and ChemCLIR-Bench, of systems whose model is known; without a task: over all tasks."""

LABELS = {
    "mmed_ir": "MMed-IR",
    "task_score": "task score",
    "fairness_gap": "fairness gap",
    "k80_same": "k80 same",
    "k80_cross": "k80 cross",
    "k80_both": "k80 both",
    "xrc_0.5": "XRC",
    "floor": "floor",
}
"""Printed measures that the catalogue has under no key; rrc_at_K is RRC@K."""


class PaperFigure(NamedTuple):
    """One printed figure."""

    paper: str
    task: str | None  # None: over all tasks
    system: SystemLabel
    measure: str  # for people
    route: str  # "en → de", or empty
    printed: str  # as printed: "0.54", "> 1000"
    plus_minus: str  # printed beside it, or empty
    measured: float | None  # of the same measure here; None where there is none
    note: str


def figures(store: Store, selection: Selection) -> tuple[PaperFigure, ...]:
    """The figures of a benchmark's paper for the chosen tasks and the stored systems of these models.

    Empty where no paper is known by the benchmark's name, or a part of the queries is asked for.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    name = store.benchmark(selection.benchmark).name
    printed = [row for row in _printed() if row["benchmark"] == name]
    if not printed or selection.where or selection.without_flagged:
        return ()
    return tuple(_figures(store, selection, printed))


def _figures(store: Store, selection: Selection, printed: list[dict[str, str]]) -> Iterator[PaperFigure]:
    tasks = [task.name for task in chosen_tasks(store, selection)]
    keys = tuple(dict.fromkeys(row["measure"] for row in printed if _is_measure(row["measure"])))
    measured = {
        (task.task.name, row.system.name, key): found.value
        for task in overview(store, selection, measures=keys).tasks
        for row in task.rows
        for key, found in row.measures.items()
    }
    labels = store.system_labels()
    for row in printed:
        task, label = row["task"] or None, labels.get(row["system"])
        if label is None or (task and task not in tasks) or (selection.systems and label.name not in selection.systems):
            continue
        route = f"{row['query_language']} → {row['document_language']}" if row["document_language"] else ""
        here = None if route or task is None else measured.get((task, label.name, row["measure"]))
        words = _words(row["measure"])
        yield PaperFigure(row["paper"], task, label, words, route, row["value"], row["plus_minus"], here, row["note"])


@functools.cache
def _printed() -> tuple[dict[str, str], ...]:
    with FILE.open(encoding="utf-8", newline="") as handle:
        return tuple(csv.DictReader(handle))


def _is_measure(key: str) -> bool:
    try:
        measure_label(key)
    except InputError:
        return False
    return True


def _words(key: str) -> str:
    if _is_measure(key):
        return measure_label(key).label
    return LABELS.get(key) or f"RRC@{int(key.rpartition('_')[2]):,}"
