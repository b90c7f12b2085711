"""Query language × document language, one table a system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from analysis.charts import routes as charts
from analysis.report.blocks import Block, Cell, Chart, Grey, Heading, Number, Row, Section, Table, spoken
from analysis.report.scope import ROUTES, by_task, reason, refused
from analysis.store.read import Store
from analysis.views import language_choice, published, routes
from analysis.views.evidence import LEVEL
from analysis.views.published import PublishedRoutes
from analysis.views.routes import RouteCell, RoutesView
from analysis.views.selection import Interval, Selection, SystemLabel, TaskLabel


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Language routes*.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    return Section("routes", "Language routes", "Which language pairs fail?", by_task(store, selection, _task))


def _task(store: Store, selection: Selection, task: TaskLabel) -> Iterator[Block]:
    asked = selection._replace(tasks=(task.name,))
    languages = language_choice.most_covered(language_choice.offered(store, asked))
    words, has_figures = refused(task, ROUTES), bool(published.boards(store, asked))
    if not words:
        yield from _measured(routes.routes(store, asked, languages=languages))
    elif not has_figures:
        yield reason(words)
    if has_figures:
        yield from _published(published.routes(store, asked, languages=languages))


def _published(view: PublishedRoutes) -> Iterator[Block]:
    yield Heading("Published figures", 4)
    yield view.takeaway
    yield Grey(view.caption)
    yield Chart.drawn(
        lambda dark: charts.published(view, dark=dark),
        alt=f"Published {view.measure.label} by query and document language. {spoken(view.takeaway)}",
    )
    rows: list[Row] = []
    for label in view.systems:
        values = {
            (cell.query_language, cell.document_language): Number(cell.value)
            for cell in view.cells
            if cell.system == label.name
        }
        rows += [label.short, *_matrix(view.languages, values)]
    yield Table(f"Published {view.measure.label} by route, {view.task.title}", _columns(view), tuple(rows), folded=True)


def _measured(view: RoutesView) -> Iterator[Block]:
    yield view.takeaway
    yield Grey(view.caption)
    for warning in view.shallow:
        yield Grey(warning)
    if view.systems:
        yield Chart.drawn(
            lambda dark: charts.heatmaps(view, dark=dark),
            alt=f"{view.measure.label} by query and document language. {spoken(view.takeaway)}",
        )
        rows = tuple(row for label in view.systems for row in (label.short, *_rows(view, label)))
        yield Table(f"{view.measure.label} by route, {view.task.title}", _columns(view), rows, folded=True)


def matrices(view: RoutesView) -> Iterator[Table]:
    """The cells of each system: query languages down, document languages across."""
    for label in view.systems:
        title = f"{label.short}: {view.measure.label} by route, {view.task.title}"
        yield Table(title, _columns(view), tuple(_rows(view, label)))


def _columns(view: RoutesView | PublishedRoutes) -> dict[str, str]:
    return {"Query ↓ document →": "text"} | dict.fromkeys(view.languages, "number")


def _rows(view: RoutesView, label: SystemLabel) -> list[list[Cell]]:
    cells = {
        (cell.query_language, cell.document_language): _interval(cell)
        for cell in view.cells
        if cell.system == label.name
    }
    return _matrix(view.languages, cells)


def _matrix(languages: Sequence[str], cells: Mapping[tuple[str, str], Cell]) -> list[list[Cell]]:
    return [[asked, *(cells.get((asked, found)) for found in languages)] for asked in languages]


def _interval(cell: RouteCell) -> Interval:
    return Interval(cell.value, "pooled", None, None, cell.low, cell.high, LEVEL, cell.method, cell.n)
