"""The rows of the command *compare*: one list a test as JSON, all tests in one flat table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.cli.output import plain
from analysis.model import Interval
from analysis.views.significance import ALL_PAIRS, PairRow, SignificanceTask, SignificanceView

Row = dict[str, Any]


def whole(view: SignificanceView) -> dict[str, list[Row]]:
    """Everything, by test; a pair has a row for each family of tests that it is read in."""
    return {
        "friedman": [
            plain(task.friedman) | {"average_ranks": dict(task.friedman.average_ranks)} for task in view.tasks
        ],
        "tax": [plain(row) | {"system": row.system.name} for task in view.tasks for row in task.tax],
        "pairs": [row for task in view.tasks for pair in task.pairs for row in _pair(pair)],
        "global_tax": [plain(row) | {"system": row.system.name} for task in view.tasks for row in task.global_tax],
        "order_agreement": [plain(row) for row in view.order_agreement],
        "qa_subsets": [_subsets(task) for task in view.tasks if task.qa_subsets],
        "notes": [{"task": task.task.name, "note": note} for task in view.tasks for note in task.notes],
    }


def _subsets(task: SignificanceTask) -> Row:
    """How systems do on the translations that may be trusted, and on all."""
    found = plain(task.qa_subsets)
    return {"task": task.task.name, **found, "rows": [row | {"system": row["system"]["name"]} for row in found["rows"]]}


def _pair(pair: PairRow) -> Iterator[Row]:
    row = plain(pair) | {"a": pair.a.name, "b": pair.b.name}
    for family in (*pair.p_holm, ALL_PAIRS):
        yield row | {"p_holm": pair.p_holm.get(family), "family": family}


def flat(view: SignificanceView) -> Iterator[Row]:
    """One row a test, all with the same columns."""
    for task in view.tasks:
        yield from _flat_task(task)
    for row in view.order_agreement:
        tau = "undefined" if row.kendall is None else f"{row.kendall:.4f}"
        yield _row("order agreement", None, a=row.a, b=row.b, value=row.spearman, n=row.n, note=f"Kendall {tau}")


def _flat_task(task: SignificanceTask) -> Iterator[Row]:
    name, found = task.task.name, task.friedman
    yield _row("friedman", name, value=found.statistic, p=found.p, n=found.n, note=found.note)
    for tax in task.tax:
        yield _of(tax.delta, "tax", name, a=tax.system.name, p=tax.p, p_adjusted=tax.p_holm, note=tax.note)
    for pair in task.pairs:
        names = {"a": pair.a.name, "b": pair.b.name, "p": pair.p, "note": pair.note}
        for family, adjusted in {**pair.p_holm, ALL_PAIRS: pair.p_bh}.items():
            yield _of(pair.delta, family, name, p_adjusted=adjusted, **names)
    for odds in task.global_tax:
        yield _of(odds.odds_ratio, "global tax", name, a=odds.system.name, note=odds.note)


def _of(found: Interval, test: str, task: str, **known: Any) -> Row:
    return _row(test, task, value=found.value, low=found.low, high=found.high, n=found.n, **known)


def _row(test: str, task: str | None, **known: Any) -> Row:
    columns: Mapping[str, Any] = dict.fromkeys(("a", "b", "value", "low", "high", "p", "p_adjusted", "n", "note"))
    return {"test": test, "task": task, **columns, **known}
