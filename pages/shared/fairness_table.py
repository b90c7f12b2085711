"""The table of the Fairness page."""

from __future__ import annotations

from analysis.views.fairness import FairnessRow, FairnessTask
from pages.shared import tables
from pages.shared.leaderboard import NUMBERS
from pages.shared.tables import Cell, Markup


def table(task: FairnessTask, *, dark: bool) -> Markup:
    """The measure by query language, the gap and the languages it lies between."""
    columns = (
        {"System": "text"}
        | dict.fromkeys(task.languages, "number")
        | {"Gap": "number", "Best and worst": "text", "Their difference": "number", "p": "number"}
    )
    rows = [_row(row, task, dark=dark) for row in task.rows]
    return tables.table(columns, rows, caption=f"{task.measure.label} by query language on {task.task.title}")


def _row(row: FairnessRow, task: FairnessTask, *, dark: bool) -> list[Cell]:
    between = f"{row.best_language} over {row.worst_language}" if row.best_language else ""
    return [
        tables.chip(row.system, dark=dark),
        *(tables.spread(row.by_language.get(tag), f"{task.measure.label} {tag}") for tag in task.languages),
        tables.spread(row.gap, "gap"),
        between,
        tables.spread(row.paired_difference, between),
        tables.p_value(row.p),
    ]


def numbers(task: FairnessTask) -> tuple[list[str], list[list[object]]]:
    """Everything the page shows of a task, for a CSV file."""
    rows: list[list[object]] = []
    for row in task.rows:
        named = {f"{task.measure.label} {tag}": found for tag, found in row.by_language.items()} | {"gap": row.gap}
        if row.paired_difference:
            named[f"{row.best_language} over {row.worst_language}"] = row.paired_difference
        rows += [
            [row.task, row.system.name, words, *(getattr(found, name) for name in NUMBERS), row.p]
            for words, found in named.items()
        ]
    return ["task", "system", "number", *NUMBERS, "p"], rows
