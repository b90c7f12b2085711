"""What stands above the answer, and at rank 1 instead of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from analysis.charts import tiers as charts
from analysis.charts import validation as validation_charts
from analysis.report import validation
from analysis.report.blocks import Block, Cell, Chart, Grey, Heading, Number, Row, Section, Table, spoken
from analysis.report.scope import TIERS, by_task, reason, refused
from analysis.store.read import Store
from analysis.views import tiers
from analysis.views.selection import Selection, TaskLabel
from analysis.views.tiers import AGAINST, SAME_CONCEPT, TierRow, TierTask

LANGUAGES = {"same": "the query's language", "other": "another language"}


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Difficulty tiers*.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    return Section("tiers", "Difficulty tiers", "What does it confuse?", by_task(store, selection, _task))


def _task(store: Store, selection: Selection, label: TaskLabel) -> Iterator[Block]:
    words = refused(label, TIERS)
    if words:
        yield reason(words)
        return
    (task,) = tiers.page(store, selection._replace(tasks=(label.name,))).tasks
    yield task.takeaway
    yield Grey(task.caption)
    whole = [row for row in task.rows if row.tier is None]
    if not whole:
        return
    if task.tiers:
        yield Chart.drawn(
            lambda dark: validation_charts.by_tier(task.rows, dark=dark),
            alt=f"How often an answer stands at rank 1, by tier. {spoken(task.takeaway)}",
        )
    else:
        yield Chart.drawn(
            lambda dark: charts.discrimination(whole, dark=dark),
            alt=f"How often the answer stands above its neighbours. {spoken(task.takeaway)}",
        )
    yield table(task)
    if task.validation:
        yield from validation.blocks(task.validation, title=task.task.title)
    yield Heading("What stands at rank 1", 4)
    yield Chart.drawn(
        lambda dark: charts.outcomes(
            {row.system.short: row.outcome_at_1 for row in whole}, answer=task.answer, dark=dark
        ),
        alt="What stands at rank 1, by system; the table below has the shares.",
    )
    yield outcomes(task)


def table(task: TierTask) -> Table:
    """How often the answer stands above its neighbours, with R@1, R@5 and Hit@1; by tier where queries carry one."""
    above = [f"Above every {name}" for name in AGAINST] if task.compares else []
    columns = {"System": "text"} | dict.fromkeys(above, "number")
    columns |= dict.fromkeys(("R@1", "R@5", "Hit@1"), "number")
    return Table(
        f"What stands above the answer: {task.task.title}",
        columns,
        tuple(_by_tier(task.rows, _above if task.compares else _found)),
    )


def outcomes(task: TierTask) -> Table:
    """Shares of the queries by what stands at rank 1."""
    relations = next((tuple(row.outcome_at_1) for row in task.rows), ())
    called = [task.answer if relation == SAME_CONCEPT else relation for relation in relations]
    names = [f"{relation}, {words}" for relation in called for words in LANGUAGES.values()]
    columns = {"System": "text"} | dict.fromkeys([*names, "n"], "number")
    return Table(f"What stands at rank 1: {task.task.title}", columns, tuple(_by_tier(task.rows, _at_1)))


def _by_tier(rows: Sequence[TierRow], cells: Callable[[TierRow], list[Cell]]) -> Iterator[Row]:
    """The rows of all queries, then those of each tier under its name."""
    tiers_of = dict.fromkeys(row.tier for row in rows)
    for tier in tiers_of:
        if len(tiers_of) > 1:
            yield "all queries" if tier is None else tier
        yield from (cells(row) for row in rows if row.tier == tier)


def _above(row: TierRow) -> list[Cell]:
    return [row.system, *row.discrimination.values(), row.recall_at_1, row.recall_at_5, row.hit_at_1]


def _found(row: TierRow) -> list[Cell]:
    return [row.system, row.recall_at_1, row.recall_at_5, row.hit_at_1]


def _at_1(row: TierRow) -> list[Cell]:
    shares = [Number(found[language]) for found in row.outcome_at_1.values() for language in LANGUAGES]
    return [row.system, *shares, Number(row.hit_at_1.n, 0)]
