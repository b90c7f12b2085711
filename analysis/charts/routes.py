"""Heatmaps of query language against document language: small multiples on one scale, and one system minus another."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.views.published import PublishedCell, PublishedRoutes
from analysis.views.routes import SMALL_N, RouteCell, RouteDifference, RoutesView
from analysis.views.selection import SystemLabel

Key = tuple[str, str, str]
"""System, query language, document language: what a click on a cell reports."""

HEADING = 70
"""Pixels above a heatmap: the system's name, the axis title, the document languages."""

SHORT = 3
"""Longer tags stand upright above a heatmap."""

LETTER = 7
"""Pixels a letter of an upright tag."""

CROWDED = 24
"""With more languages cells are too small for numbers: the hover has them."""

GAP = 22
TICK = 14  # pixels that a tick of the colour bar needs
"""Pixels below each row of heatmaps but the last."""

COLOUR_BAR = 0.93
"""Share of the width left of the colour bar."""


class Cell(Protocol):
    """What is drawn lies between two languages."""

    @property
    def query_language(self) -> str:
        """Of the row."""

    @property
    def document_language(self) -> str:
        """Of the column."""


C = TypeVar("C", bound=Cell)


@dataclass(frozen=True)
class Scale:
    """How values become colours; one for all heatmaps of a figure."""

    title: str
    colours: theme.Scale
    position: Callable[[float], float]  # a value's place on the colour axis
    low: float
    high: float
    ticks: Mapping[float, str]  # place on the colour axis -> words
    text: Callable[[float], str]  # inside the cell

    def text_colour(self, value: float) -> str:
        """Black or white, by the ink under a value."""
        place = (self.position(value) - self.low) / (self.high - self.low)
        return theme.text_on(theme.colour_at(self.colours, place))


@dataclass(frozen=True)
class Panel(Generic[C]):
    """One heatmap: what stands above it, and its cells' values and words."""

    system: str
    title: str
    cells: Sequence[C]
    value: Callable[[C], float | None]
    hover: Callable[[C], str]
    count: Callable[[C], int | None]  # queries behind a cell; None where they are not known


class Place(NamedTuple):
    """Where a heatmap lies in the figure, as shares of its width and height."""

    left: float
    right: float
    bottom: float
    top: float


@dataclass(frozen=True)
class Grid:
    """What the heatmaps of a figure have in common."""

    languages: tuple[str, ...]
    columns: tuple[str, ...]  # the languages that have documents
    scale: Scale
    chosen: Key | None
    dark: bool
    scripts: tuple[str, ...] = ()  # of the languages where they are many: labels are coloured by them


def heatmaps(
    view: RoutesView,
    *,
    retention: bool = False,
    preference: bool = False,
    chosen: Key | None = None,
    dark: bool = False,
) -> go.Figure:
    """One heatmap a system on one scale; document languages on top, query languages on the left.

    Args:
        view: the cells.
        retention: show what is left of the query language's own diagonal cell instead of recall.
        preference: show how often a language stands above the answer, against its share of the corpus.
        chosen: the cell to mark.
        dark: for the dark theme.
    """
    scale = (
        _preference_scale(dark) if preference else _share_scale("Retention" if retention else view.measure.label, dark)
    )
    names = dict(zip(view.languages, view.language_names, strict=True))
    value = _preference if preference else _retention if retention else _value
    panels = [
        Panel(
            label.name,
            _heading(label, dark),
            tuple(cell for cell in view.cells if cell.system == label.name),
            value,
            functools.partial(_hover, label=label, names=names, measure=view.measure.label),
            _n,
        )
        for label in view.systems
    ]
    return _small_multiples(panels, _grid(view, scale, chosen=chosen, dark=dark))


def published(view: PublishedRoutes, *, dark: bool = False) -> go.Figure:
    """One heatmap a system of figures that others published, on the scale of all scores; each says so.

    Args:
        view: the cells.
        dark: for the dark theme.
    """
    names = dict(zip(view.languages, view.language_names, strict=True))
    grey = theme.paper(dark).secondary
    panels = [
        Panel(
            label.name,
            f'{_name(label, dark)}<span style="color:{grey};font-size:13px"> · published</span>',
            tuple(cell for cell in view.cells if cell.system == label.name),
            _published_value,
            functools.partial(_published_hover, label=label, names=names, measure=view.measure.label),
            _unknown,
        )
        for label in view.systems
    ]
    scale = _share_scale(view.measure.label, dark)
    return _small_multiples(panels, _grid(view, scale, dark=dark))


def difference(view: RouteDifference, *, chosen: Key | None = None, dark: bool = False) -> go.Figure:
    """One heatmap of one system minus another, blue to orange with a true zero between."""
    page = theme.paper(dark)
    title = (
        f"{theme.chip(theme.system_colour(view.a, dark=dark))} {theme.plain(view.a.short)} minus "
        f"{theme.chip(theme.system_colour(view.b, dark=dark))} {theme.plain(view.b.short)}"
        f'<span style="color:{page.secondary}"> · {view.measure.label}</span>'
    )
    panel = Panel(view.a.name, title, view.cells, _value, lambda cell: _difference_hover(cell, view=view), _n)
    return _small_multiples([panel], _grid(view, _difference_scale(view, dark), chosen=chosen, dark=dark))


# Scales


def _share_scale(title: str, dark: bool) -> Scale:
    ticks = {place / 5: f"{place / 5:g}" for place in range(6)}
    return Scale(title, theme.ink(dark), float, 0.0, 1.0, ticks, theme.cell_text)


def _preference_scale(dark: bool) -> Scale:
    ticks = {-2.0: "0.25", -1.0: "0.50", 0.0: "1 = none", 1.0: "2.00", 2.0: "4.00"}

    def position(value: float) -> float:
        return max(math.log2(value), -2.5) if value > 0 else -2.5

    return Scale(
        "times its share",
        theme.difference_scale(dark),
        position,
        -2.5,
        2.5,
        ticks,
        "{:.2f}".format,
    )


def _difference_scale(view: RouteDifference, dark: bool) -> Scale:
    largest = max((abs(cell.value) for cell in view.cells if cell.value is not None), default=0.0)
    reach = theme.difference_reach(largest)
    ticks = {
        -reach: f"−{reach:.2f} {theme.plain(view.b.short)} ahead",
        0.0: "0 no difference",
        reach: f"+{reach:.2f} {theme.plain(view.a.short)} ahead",
    }
    return Scale(
        "",
        theme.difference_scale(dark),
        float,
        -reach,
        reach,
        ticks,
        theme.cell_text,
    )


# What a cell shows and says


def _value(cell: RouteCell) -> float | None:
    return cell.value


def _retention(cell: RouteCell) -> float | None:
    return cell.retention


def _preference(cell: RouteCell) -> float | None:
    return cell.preference


def _n(cell: RouteCell) -> int:
    return cell.n


def _published_value(cell: PublishedCell) -> float:
    return cell.value


def _unknown(cell: PublishedCell) -> None:
    """How many queries are behind a published figure is not published with it."""


def _heading(label: SystemLabel, dark: bool) -> str:
    grey = theme.paper(dark).secondary
    paradigm = f'<span style="color:{grey};font-size:13px"> · {theme.plain(label.paradigm)}</span>'
    return _name(label, dark) + paradigm


def _name(label: SystemLabel, dark: bool) -> str:
    return f"{theme.chip(theme.system_colour(label, dark=dark))} {theme.plain(label.short)}"


def _hover(cell: RouteCell, *, label: SystemLabel, names: Mapping[str, str], measure: str) -> str:
    route = f"<b>{names[cell.query_language]} query → {names[cell.document_language]} document</b>"
    lines = [f"{route} · {theme.plain(label.short)}"]
    if cell.value is not None:
        lines.append(f"{measure} {cell.value:.4f}{_interval(cell)}")
    if cell.retention is not None:
        lines.append(f"retention {cell.retention:.4f} of {names[cell.query_language]} → {names[cell.query_language]}")
    if cell.preference is not None:
        lines.append(f"preference {cell.preference:.4f} (1 = none)")
    lines.append(_count(cell))
    return "<br>".join(lines)


def _difference_hover(cell: RouteCell, *, view: RouteDifference) -> str:
    lines = [f"<b>{cell.query_language} query → {cell.document_language} document</b>"]
    if cell.value is not None:
        apart = f"{theme.plain(view.a.short)} − {theme.plain(view.b.short)}"
        lines.append(f"{view.measure.label} {apart}: {cell.value:+.4f}{_interval(cell)}")
    lines.append(_count(cell))
    return "<br>".join(lines)


def _published_hover(cell: PublishedCell, *, label: SystemLabel, names: Mapping[str, str], measure: str) -> str:
    subsets = f"the mean of {cell.n_subsets:,} subsets" if cell.n_subsets > 1 else "one subset"
    route = f"<b>{names[cell.query_language]} query → {names[cell.document_language]} document</b>"
    return "<br>".join([
        f"{route} · {theme.plain(label.title)}",
        f"{measure} {cell.value:.4f}",
        f"as published for split {theme.plain(cell.split)}, {subsets}; no interval, n unknown",
    ])  # fmt: skip


def _interval(cell: RouteCell) -> str:
    if cell.low is None or cell.high is None:
        return ""
    return f" ({cell.low:.4f} to {cell.high:.4f}, {cell.method.replace('wilson', 'Wilson')})"


def _count(cell: RouteCell) -> str:
    if not cell.n:
        return "no query has such an answer"
    return f"n = {cell.n:,}" + (f", fewer than {SMALL_N}: hatched" if cell.n < SMALL_N else "")


# Drawing


def _grid(
    view: RoutesView | RouteDifference | PublishedRoutes, scale: Scale, *, chosen: Key | None = None, dark: bool
) -> Grid:
    answered = {cell.document_language for cell in view.cells if cell.value is not None}
    columns = tuple(tag for tag in view.languages if tag in answered) or view.languages
    return Grid(view.languages, columns, scale, chosen, dark, view.scripts)


def _small_multiples(panels: Sequence[Panel[Any]], grid: Grid) -> go.Figure:
    places, height = _places(len(panels), grid)
    figure = go.Figure()
    figure.update_layout(
        coloraxis=_colour_axis(grid, place=places[0], used=max(place.right for place in places), height=height),
        barmode="overlay",
    )
    theme.dress(figure, dark=grid.dark, height=height)
    placed = list(zip(range(1, len(panels) + 1), panels, places, strict=True))
    figure.add_traces([trace for number, panel, _ in placed for trace in _traces(panel, number=number, grid=grid)])
    axes = [_axes(number=number, place=place, grid=grid) for number, _, place in placed]
    figure.update_layout(  # all at once: Plotly checks those that are there again with each that is added
        {name: axis for both in axes for name, axis in both.items()},
        annotations=[_panel_title(panel, place=place, grid=grid) for _, panel, place in placed],
        shapes=[
            {"xref": f"x{_suffix(number)}", "yref": f"y{_suffix(number)}", **shape}
            for number, panel, _ in placed
            for shape in _outlines(panel, grid)
        ],
        clickmode="event+select",
        hovermode="closest",
        uirevision="routes",
    )
    return figure


def _longest(grid: Grid) -> int:
    return max(map(len, grid.languages), default=0)


def _above(grid: Grid) -> int:
    """Pixels above a heatmap."""
    return HEADING + (LETTER * (_longest(grid) - 1) if _longest(grid) > SHORT else 0)


def _line(n_languages: int) -> int:
    """Pixels a row of a heatmap."""
    return 38 if n_languages <= 8 else 30 if n_languages <= CROWDED else 16


def _places(count: int, grid: Grid) -> tuple[list[Place], int]:
    """Where each heatmap lies, and the height of the figure in pixels."""
    n_languages, heading = len(grid.languages), _above(grid)
    margin = 0.035 if _longest(grid) <= SHORT else 0.065
    per_row = 3 if n_languages <= 7 else 2 if n_languages <= 12 else 1
    rows = math.ceil(count / per_row)
    slot = COLOUR_BAR / max(min(count, per_row), min(per_row, 2))
    block = heading + n_languages * _line(n_languages) + GAP
    height = rows * block - GAP + 12
    places = []
    for index in range(count):
        row, column = divmod(index, per_row)
        top = 1 - (row * block + heading) / height
        left = column * slot + margin
        width = (slot - margin - 0.012) * len(grid.columns) / max(n_languages, 1)
        places.append(Place(left, left + width, top - (block - heading - GAP) / height, top))
    return places, height


def _colour_axis(grid: Grid, *, place: Place, used: float, height: float) -> dict[str, object]:
    scale = grid.scale
    ticks = list(scale.ticks.items())
    if (place.top - place.bottom) * height < len(ticks) * TICK:
        ticks = [ticks[0], ticks[-1]]
    return {
        "colorscale": [list(stop) for stop in scale.colours],
        "cmin": scale.low,
        "cmax": scale.high,
        "colorbar": {
            "title": {"text": scale.title, "side": "right"},
            "tickvals": [value for value, _ in ticks],
            "ticktext": [words for _, words in ticks],
            "thickness": 10,
            "outlinewidth": 0,
            "len": place.top - place.bottom,
            "x": used + 0.012,
            "xanchor": "left",
            "xpad": 0,
            "ypad": 0,
            "y": place.top,
            "yanchor": "top",
        },
    }


def _suffix(number: int) -> str:
    """What Plotly adds to the names of the axes of each plot but the first."""
    return "" if number == 1 else str(number)


def _traces(panel: Panel[Any], *, number: int, grid: Grid) -> list[go.Bar | go.Scatter]:
    axes = {"xaxis": f"x{_suffix(number)}", "yaxis": f"y{_suffix(number)}"}
    layers = [
        _layer(panel, grid, axes=axes, colour=theme.BLACK),
        _layer(panel, grid, axes=axes, colour=theme.WHITE),
        _hatch(panel, grid, axes=axes),
        _targets(panel, grid, axes=axes),
    ]
    return [trace for trace in layers if trace is not None]


def _axes(*, number: int, place: Place, grid: Grid) -> dict[str, object]:
    return {
        f"{axis}{_suffix(number)}": _axis(grid, place, number, horizontal=axis == "xaxis")
        for axis in ("xaxis", "yaxis")
    }


def _panel_title(panel: Panel[Any], *, place: Place, grid: Grid) -> dict[str, object]:
    return {
        "text": panel.title,
        "x": place.left,
        "y": place.top,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": _above(grid) - HEADING + 44,
        "showarrow": False,
        "align": "left",
        "font": {"size": 15},
    }


def _axis(grid: Grid, place: Place, number: int, *, horizontal: bool) -> dict[str, object]:
    tags, upright = grid.columns if horizontal else grid.languages, horizontal and _longest(grid) > SHORT
    count = len(tags)
    edges = [-0.5, count - 0.5]
    suffix = "" if number == 1 else str(number)
    words = "document language" if horizontal else "query language"
    return {
        "domain": [place.left, place.right] if horizontal else [place.bottom, place.top],
        "range": edges if horizontal else edges[::-1],
        "side": "top" if horizontal else "left",
        "anchor": f"{'y' if horizontal else 'x'}{suffix}",
        "tickvals": list(range(count)),
        "ticktext": _tick_words(grid, tags),
        "tickfont": {"size": 14 if len(grid.languages) <= CROWDED else 11},
        "tickangle": -90 if upright else 0,
        "title": {
            "text": words if number == 1 else "",
            "font": {"size": 12},
            "standoff": 10 if upright else 2,
        },
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "ticks": "",
        "color": theme.paper(grid.dark).secondary,
    }


def _tick_words(grid: Grid, tags: Sequence[str]) -> list[str]:
    """The languages, in the colour of their script where they are many."""
    if not grid.scripts:
        return list(tags)
    script = dict(zip(grid.languages, grid.scripts, strict=True))
    return [f'<span style="color:{theme.script_colour(script[tag], dark=grid.dark)}">{tag}</span>' for tag in tags]


def _positions(panel: Panel[C], grid: Grid) -> list[tuple[int, int, C]]:
    """Column, row and cell of each cell whose languages are drawn."""
    row = {language: index for index, language in enumerate(grid.languages)}
    column = {language: index for index, language in enumerate(grid.columns)}
    return [
        (column[cell.document_language], row[cell.query_language], cell)
        for cell in panel.cells
        if cell.document_language in column
    ]


def _layer(panel: Panel[Any], grid: Grid, *, axes: Mapping[str, str], colour: str) -> go.Heatmap:
    """The cells whose text has a colour: a heatmap has one colour of text, and we need two."""
    size = len(grid.languages)
    colours: list[list[float | None]] = [[None] * len(grid.columns) for _ in range(size)]
    texts = [[""] * len(grid.columns) for _ in range(size)]
    for column, row, cell in _positions(panel, grid):
        value = panel.value(cell)
        if value is not None and grid.scale.text_colour(value) == colour:
            colours[row][column] = grid.scale.position(value)
            texts[row][column] = grid.scale.text(value) if size <= CROWDED else ""
    return theme.number_cells(colours, texts, size=14 if size <= 8 else 11, colour=colour, **axes)


def _hatch(panel: Panel[Any], grid: Grid, *, axes: Mapping[str, str]) -> go.Bar | None:
    """Lines over the cells that rest on too few queries."""
    small = [
        (column, row)
        for column, row, cell in _positions(panel, grid)
        if panel.value(cell) is not None and 0 < (panel.count(cell) or 0) < SMALL_N
    ]
    if not small:
        return None
    return go.Bar(
        x=[column for column, _ in small],
        y=[1] * len(small),
        base=[row - 0.5 for _, row in small],
        width=0.96,
        marker=theme.hatch(grid.dark),
        hoverinfo="skip",
        name=f"n < {SMALL_N}",
        unselected={"marker": {"opacity": 1}},
        **axes,
    )


def _targets(panel: Panel[Any], grid: Grid, *, axes: Mapping[str, str]) -> go.Scatter:
    """Transparent squares over the cells: a heatmap reports no clicks, marks do."""
    shown = [item for item in _positions(panel, grid) if panel.value(item[2]) is not None and panel.count(item[2]) != 0]
    return go.Scatter(
        x=[column for column, _, _ in shown],
        y=[row for _, row, _ in shown],
        mode="markers",
        marker={
            "symbol": "square",
            "size": _line(len(grid.languages)) - (4 if len(grid.languages) <= 8 else 6),
            "color": theme.CLEAR,
            "line": {"width": 0},
        },
        customdata=[[panel.system, cell.query_language, cell.document_language] for _, _, cell in shown],
        hovertext=[panel.hover(cell) for _, _, cell in shown],
        hoverinfo="text",
        **axes,
    )


def _outlines(panel: Panel[Any], grid: Grid) -> list[dict[str, object]]:
    """A thin frame round each diagonal cell, a thick one round the chosen cell."""
    page = theme.paper(grid.dark)
    shapes = []
    for column, row, cell in _positions(panel, grid):
        chosen = grid.chosen == (panel.system, cell.query_language, cell.document_language)
        own = cell.query_language == cell.document_language
        if chosen or (own and panel.value(cell) is not None):
            line = {"width": 3.5, "color": page.text} if chosen else {"width": 1.2, "color": page.text}
            inset = 0.46
            shapes.append(
                {
                    "type": "rect",
                    "x0": column - inset,
                    "x1": column + inset,
                    "y0": row - inset,
                    "y1": row + inset,
                    "line": line,
                    "layer": "above",
                }
            )
    return shapes
