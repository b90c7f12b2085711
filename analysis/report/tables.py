"""Every table that goes into a paper, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.errors import InputError
from analysis.report import (
    causes,
    embedding_map,
    fairness,
    overview,
    papers,
    recoverability,
    routes,
    significance,
    tiers,
)
from analysis.report.blocks import Table
from analysis.report.scope import CAUSES, DEPTH, FAIRNESS, MAP, ROUTES, TESTS, TIERS, answering, refused
from analysis.store.read import Store
from analysis.views import language_choice
from analysis.views import overview as overview_view
from analysis.views import papers as papers_view
from analysis.views import routes as routes_view
from analysis.views import significance as significance_view
from analysis.views import tiers as tiers_view
from analysis.views.evidence import chosen_tasks, task_label
from analysis.views.selection import Selection
from analysis.views.significance import SignificanceView


def tables(store: Store, selection: Selection, *, name: str) -> list[Table]:
    """The tables of one name, most of them one a task.

    Args:
        store: where the runs are.
        selection: what is asked for.
        name: one of TABLES.

    Raises:
        InputError: an unknown benchmark, task or system, or nothing to put into such a table.
    """
    found = [table for table in TABLES[name](store, selection) if table.rows]
    if not found:
        raise InputError(f"--table {name}: {selection.benchmark} has nothing to show in it")
    return found


def _overview(store: Store, selection: Selection) -> Iterator[Table]:
    view = overview_view.overview(store, selection)
    yield from (overview.leaderboard(task, view) for task in view.tasks)
    yield from (overview.published(board) for board in view.published)


def _papers(store: Store, selection: Selection) -> Iterator[Table]:
    return papers.tables(papers_view.figures(store, selection))


def _composites(store: Store, selection: Selection) -> list[Table]:
    return overview.composites(overview_view.overview(store, selection))


def _names(store: Store, selection: Selection, need: str) -> tuple[str, ...]:
    """The names of the chosen tasks that can answer.

    Raises:
        InputError: none of them can.
    """
    names = answering(store, selection, need)
    if not names:
        labels = [task_label(task) for task in chosen_tasks(store, selection)]
        raise InputError("; ".join(dict.fromkeys(words for label in labels if (words := refused(label, need)))))
    return names


def _each(store: Store, selection: Selection, need: str) -> Iterator[Selection]:
    """One selection for each of them."""
    return (selection._replace(tasks=(name,)) for name in _names(store, selection, need))


def _routes(store: Store, selection: Selection) -> Iterator[Table]:
    for asked in _each(store, selection, ROUTES):
        languages = language_choice.most_covered(language_choice.offered(store, asked))
        yield from routes.matrices(routes_view.routes(store, asked, languages=languages))


def _recoverability(store: Store, selection: Selection) -> Iterator[Table]:
    for asked in _each(store, selection, DEPTH):
        yield from (recoverability.table(task) for task in recoverability.answers(store, asked))


def _tiers(store: Store, selection: Selection) -> Iterator[Table]:
    for asked in _each(store, selection, TIERS):
        for task in tiers_view.page(store, asked).tasks:
            yield from (tiers.table(task), tiers.outcomes(task))


def _causes(store: Store, selection: Selection) -> Iterator[Table]:
    for asked in _each(store, selection, CAUSES):
        task = causes.answer(store, asked)
        yield causes.verdicts(task)
        yield from causes.numbers(task)


def _map(store: Store, selection: Selection) -> Iterator[Table]:
    for asked in _each(store, selection, MAP):
        if views := embedding_map.answers(store, asked):
            yield embedding_map.numbers(views)


def _fairness(store: Store, selection: Selection) -> Iterator[Table]:
    for asked in _each(store, selection, FAIRNESS):
        yield from (fairness.table(task) for task in fairness.answers(store, asked))


def _tests(store: Store, selection: Selection) -> SignificanceView:
    return significance_view.significance(store, selection._replace(tasks=_names(store, selection, TESTS)))


def _tax(store: Store, selection: Selection) -> Iterator[Table]:
    return (significance.tax(task) for task in _tests(store, selection).tasks)


def _pairs(store: Store, selection: Selection) -> Iterator[Table]:
    return (significance.pairs(task) for task in _tests(store, selection).tasks)


def _orders(store: Store, selection: Selection) -> list[Table]:
    return [significance.orders(significance.readable(_tests(store, selection)))]


TABLES: dict[str, Callable[[Store, Selection], Iterator[Table] | list[Table]]] = {
    "overview": _overview,
    "composites": _composites,
    "papers": _papers,
    "routes": _routes,
    "recoverability": _recoverability,
    "tiers": _tiers,
    "fairness": _fairness,
    "tax": _tax,
    "pairs": _pairs,
    "orders": _orders,
    "causes": _causes,
    "map": _map,
}
