"""The table of the Fairness page."""

from __future__ import annotations

from analysis.views.fairness import FairnessRow, FairnessTask
from pages.shared import tables
from pages.shared.leaderboard import NUMBERS
from pages.shared.tables import Cell, Markup


def table(task: FairnessTask, *, dark: bool) -> Markup:
    """nDCG@10 by query language, the gap and the languages it lies between."""
    columns = (
        {"System": "text"}
        | dict.fromkeys(task.languages, "number")
        | {"Gap": "number", "Best and worst": "text", "Their difference": "number", "p": "number"}
    )
    rows = [_row(row, task.languages, dark=dark) for row in task.rows]
    return tables.table(columns, rows, caption=f"nDCG@10 by query language on {task.task.title}")


def _row(row: FairnessRow, languages: tuple[str, ...], *, dark: bool) -> list[Cell]:
    between = f"{row.best_language} over {row.worst_language}" if row.best_language else ""
    return [
        tables.chip(row.system, dark=dark),
        *(tables.spread(row.by_language.get(tag), f"nDCG@10 {tag}") for tag in languages),
        tables.spread(row.gap, "gap"),
        between,
        tables.spread(row.paired_difference, between),
        _p(row.p),
    ]


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def numbers(task: FairnessTask) -> tuple[list[str], list[list[object]]]:
    """Everything the page shows of a task, for a CSV file."""
    rows: list[list[object]] = []
    for row in task.rows:
        named = {f"nDCG@10 {tag}": found for tag, found in row.by_language.items()} | {"gap": row.gap}
        if row.paired_difference:
            named[f"{row.best_language} over {row.worst_language}"] = row.paired_difference
        rows += [
            [row.task, row.system.name, words, *(getattr(found, name) for name in NUMBERS), row.p]
            for words, found in named.items()
        ]
    return ["task", "system", "number", *NUMBERS, "p"], rows
