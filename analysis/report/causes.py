"""What causes failure: what stands out of each system, and the numbers behind it, language by language."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.charts import causes as charts
from analysis.report.blocks import Block, Chart, Grey, Heading, Row, Section, Table, spoken
from analysis.report.scope import CAUSES, by_task, reason, refused
from analysis.store.read import Store
from analysis.views import causes, language_choice
from analysis.views.causes import CausesTask
from analysis.views.selection import Selection, TaskLabel


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Why it fails*, without its what-ifs.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    return Section("causes", "Why it fails", "What causes it?", by_task(store, selection, _task))


def answer(store: Store, asked: Selection) -> CausesTask:
    """The causes on one task, in as many languages as fit a page."""
    languages = language_choice.most_covered(language_choice.offered(store, asked))
    (task,) = causes.page(store, asked, languages=languages).tasks
    return task


def _task(store: Store, selection: Selection, label: TaskLabel) -> Iterator[Block]:
    words = refused(label, CAUSES)
    if words:
        yield reason(words)
        return
    task = answer(store, selection._replace(tasks=(label.name,)))
    yield task.takeaway
    yield Grey(task.caption)
    if not task.systems:
        return
    if task.pending:
        names = ", ".join(system.short for system in task.pending)
        yield Grey(f"Not looked at yet, so that only their lists speak: {names}.")
    alt = f"How much is lost to each cause, by system and language. {spoken(task.takeaway)}"
    yield Chart.drawn(lambda dark: charts.cause_map(task, dark=dark), alt=alt)
    yield verdicts(task)
    if any("probe_accuracy" in system.rows[0].numbers for system in task.systems):
        yield Heading("Languages apart, or meanings together", 4)
        alt = "How surely the language is told from a vector, against how much nearer translations are."
        yield Chart.drawn(lambda dark: charts.space(task, dark=dark), alt=alt)
    yield Heading("Documents that come up whatever is asked", 4)
    yield Chart.drawn(lambda dark: charts.hubs(task, dark=dark), alt="Places in the top tens that hub documents take.")
    yield from numbers(task)


def verdicts(task: CausesTask) -> Table:
    """What stands out of each system, in words."""
    columns = {"System": "text", "R@10 cross": "number", "What stands out": "passage"}
    rows = tuple(
        [system.system, system.rows[0].numbers.get("recall_at_10_cross"), spoken(system.verdict)]
        for system in task.systems
    )
    return Table(f"What stands out: {task.task.title}", columns, rows)


def numbers(task: CausesTask) -> Iterator[Table]:
    """Every number of each system by language; what is not known of it has no row."""
    for system in task.systems:
        known = [key for key in causes.NUMBERS if any(key in row.numbers for row in system.rows)]
        columns = {"": "text"} | dict.fromkeys((row.language or "all" for row in system.rows), "number")
        rows: tuple[Row, ...] = tuple(
            [causes.NUMBERS[key], *(row.numbers.get(key) for row in system.rows)] for key in known
        )
        yield Table(f"{system.system.short}, cause by cause: {task.task.title}", columns, rows, folded=True)
