"""How far apart the query languages are."""

from __future__ import annotations

from analysis.charts import fairness as charts
from analysis.report.blocks import Block, Cell, Chart, Grey, Heading, P, Section, Table, spoken
from analysis.report.scope import FAIRNESS, answering, refusals
from analysis.store.read import Store
from analysis.views import fairness, language_choice
from analysis.views.fairness import FairnessRow, FairnessTask
from analysis.views.selection import Selection


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Fairness*.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    blocks: list[Block] = []
    for task in answers(store, selection):
        blocks.append(Heading(task.task.title, 3))
        if task.rows:
            blocks += [task.takeaway, Grey(task.caption), _chart(task), table(task)]
        else:
            blocks.append(Grey(task.caption))
    blocks += refusals(store, selection, FAIRNESS)
    return Section("fairness", "Fairness", "Who is left behind?", tuple(blocks))


def answers(store: Store, selection: Selection) -> tuple[FairnessTask, ...]:
    """The view of each chosen task with values of queries; of many languages those of most queries.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    names = answering(store, selection, FAIRNESS)
    if not names:
        return ()
    asked = selection._replace(tasks=names)
    languages = language_choice.most_covered(language_choice.offered(store, asked))
    return fairness.page(store, asked, languages=languages).tasks


def _chart(task: FairnessTask) -> Chart:
    return Chart.drawn(
        lambda dark: charts.by_language(task, dark=dark),
        alt=f"{task.measure.label} by query language, a line a system. {spoken(task.takeaway)}",
    )


def table(task: FairnessTask) -> Table:
    """The measure by query language, the gap and the languages it lies between."""
    columns = {"System": "text"} | dict.fromkeys(task.languages, "number")
    columns |= {"Gap": "number", "Best and worst": "text", "Their difference": "number", "p": "number"}
    title = f"{task.measure.label} by query language: {task.task.title}"
    return Table(title, columns, tuple(_row(row, task) for row in task.rows))


def _row(row: FairnessRow, task: FairnessTask) -> list[Cell]:
    return [
        row.system,
        *(row.by_language.get(tag) for tag in task.languages),
        row.gap,
        f"{row.best_language} over {row.worst_language}" if row.best_language else "",
        row.paired_difference,
        P(row.p),
    ]
