"""Where the texts of each task lie, as far as somebody has drawn it, and what the spaces themselves say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.charts import embedding_map as charts
from analysis.report.blocks import Block, Chart, Grey, Number, Section, Table, spoken
from analysis.report.scope import MAP, by_task, reason, refused
from analysis.store.read import Store
from analysis.views import embedding_map
from analysis.views.embedding_map import NUMBERS, MapView
from analysis.views.selection import Selection, TaskLabel

NOTE = (
    "Trustworthiness and continuity are counted over the points of the one picture that is shown, so they have no "
    "interval; the other numbers are taken from the space itself."
)


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Embedding map*, of every system that is drawn.

    Raises:
        InputError: an unknown benchmark or task.
    """
    return Section("map", "Embedding map", "What does the space look like?", by_task(store, selection, _task))


def answers(store: Store, selection: Selection) -> list[MapView]:
    """A map of each chosen system that is drawn on the one task, in the fewest dimensions."""
    drawn = [each for each in embedding_map.drawable(store, selection) if each.dimensions]
    wanted = [each for each in drawn if not selection.systems or each.system.name in selection.systems]
    return [
        embedding_map.embedding_map(store, selection, systems=(each.system.name,), dimensions=min(each.dimensions))
        for each in wanted
    ]


def _task(store: Store, selection: Selection, label: TaskLabel) -> Iterator[Block]:
    words = refused(label, MAP)
    if words:
        yield reason(words)
        return
    views = answers(store, selection._replace(tasks=(label.name,)))
    if not views:
        command = f"python -m analysis map --benchmark {selection.benchmark} --task {label.name}"
        yield Grey(f"No map of this task is stored; one is drawn by: {command}")
        return
    for view in views:
        yield view.takeaway
    yield Grey(_caption(views))
    said = " ".join(spoken(view.takeaway) for view in views)
    yield Chart.drawn(lambda dark: charts.still(views, dark=dark), alt=f"Texts where encoders place them. {said}")
    yield Grey(NOTE)
    yield numbers(views)


def _caption(views: Sequence[MapView]) -> str:
    """What is drawn, how many, and how it was made."""
    counts = dict.fromkeys(
        f"{view.n:,} texts" if view.n == view.n_texts else f"{view.n:,} of {view.n_texts:,} texts" for view in views
    )
    made = dict.fromkeys(view.pictures[0].made for view in views)
    marks = "Colours are languages, dots documents, diamonds queries"
    return " · ".join([marks, " and ".join(counts), "; ".join(made)])


def numbers(views: Sequence[MapView]) -> Table:
    """What each space says of languages and meanings, and how far its picture can be trusted."""
    columns = {"System": "text"} | dict.fromkeys([*NUMBERS.values(), "Trustworthiness", "Continuity"], "number")
    rows = tuple(
        [
            picture.system,
            *(picture.numbers.get(key) for key in NUMBERS),
            Number(picture.trustworthiness),
            Number(picture.continuity),
        ]
        for (picture,) in (view.pictures for view in views)
    )
    return Table(f"What the space says: {views[0].task.title}", columns, rows)
