"""Where the causes of failure stand out, by system and language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import lay_out
from analysis.views.causes import CausesTask, LanguageCauses, SystemCauses
from analysis.views.selection import Interval

LINE = 34
"""Pixels a system."""

HEADING = 74
"""Pixels above the panels: a heading in two lines, and the languages."""

ABREAST = 36
"""Columns of all panels that fit beside each other; what is more goes into another line of panels."""

CROWDED = 12
"""More languages than these leave no room for numbers in the cells."""

SMALL_N = 30
"""Cells of fewer queries, texts or translations are hatched."""

Point = tuple[float, float]
Value = Callable[[LanguageCauses], Interval | None]


class Cause(NamedTuple):
    """One panel of the map."""

    key: str
    heading: str
    value: Value


def _number(key: str) -> Value:
    return lambda row: row.numbers.get(key)


def _missing_way(row: LanguageCauses) -> Interval | None:
    """What is left of the way from a random text to a translation with the same vector."""
    found = row.numbers.get("alignment_share")
    if found is None or found.value is None:
        return None
    low, high = (None if end is None else 1 - end for end in (found.high, found.low))
    return found._replace(value=1 - found.value, low=low, high=high)


PANELS = (
    Cause("unknown_characters", "characters unknown<br>to its tokeniser", _number("unknown_characters")),
    Cause("no_shared_word", "no word in common<br>with any answer", _number("no_shared_word")),
    Cause("alignment_share", "way left from a text<br>to its translation", _missing_way),
    Cause("bias", "wrong documents in<br>the query's language", _number("same_language_irrelevant_at_10")),
    Cause("largest_document", "lists that hold one<br>and the same document", _number("largest_document")),
)


class Place(NamedTuple):
    """Where one panel lies: shares of the figure, and which axes are its own."""

    suffix: str
    left: float
    right: float
    bottom: float
    top: float

    @property
    def axes(self) -> dict[str, str]:
        """As traces name them."""
        return {"xaxis": f"x{self.suffix}", "yaxis": f"y{self.suffix}"}


def cause_map(task: CausesTask, *, dark: bool = False) -> go.Figure:
    """One panel a cause, one line a system, one column a language; the deeper, the worse. Blank where not known.

    Args:
        task: the systems, the first on top.
        dark: for the dark theme.
    """
    shown = [cause for cause in PANELS if any(cause.value(row) for system in task.systems for row in system.rows[1:])]
    figure = go.Figure()
    places, height = _places(len(shown), n_languages=len(task.languages), n_systems=len(task.systems))
    theme.dress(figure, dark=dark, height=height)
    figure.update_layout(
        coloraxis={"colorscale": [list(stop) for stop in loss(dark)], "cmin": 0, "cmax": 1, "showscale": False},
        margin={"l": 8, "r": 8, "t": 0, "b": 0},
        barmode="overlay",
        hovermode="closest",
    )
    for cause, place in zip(shown, places, strict=True):
        _draw(figure, task, cause, place=place, dark=dark)
    return figure


def _places(count: int, *, n_languages: int, n_systems: int) -> tuple[list[Place], int]:
    """As many panels in a line as have room, and the height of all lines in pixels."""
    per_line = max(1, min(count, ABREAST // max(n_languages, 1)))
    block = n_systems * LINE + HEADING
    height = max(1, -(-count // per_line)) * block
    places = []
    for number in range(count):
        line, column = divmod(number, per_line)
        top = 1 - (line * block + HEADING) / height
        sides = (column / per_line, (column + 1) / per_line - 0.02)
        bottom = max(0.0, top - n_systems * LINE / height)  # rounding may lead below the figure
        places.append(Place(str(number + 1) if number else "", *sides, bottom, top))
    return places, height


def loss(dark: bool) -> theme.Scale:
    """The scale of what is lost: from paper to the orange end of differences."""
    return tuple((2 * (place - 0.5), colour) for place, colour in theme.difference_scale(dark) if place >= 0.5)


def text_colour(value: float, *, dark: bool) -> str:
    """Of the number in a cell."""
    return theme.text_on(theme.colour_at(loss(dark), value))


def _draw(figure: go.Figure, task: CausesTask, cause: Cause, *, place: Place, dark: bool) -> None:
    axes = place.axes
    cells = [
        (column, line, system, row, found)
        for line, system in enumerate(task.systems)
        for row in system.rows
        if row.language in task.languages and (found := cause.value(row)) is not None and found.value is not None
        for column in (task.languages.index(row.language),)
    ]
    for colour in (theme.BLACK, theme.WHITE):
        alike = [(c, n, v) for c, n, _, _, found in cells if text_colour(v := found.value or 0.0, dark=dark) == colour]
        figure.add_trace(_layer(task, alike, colour, axes))
    small = [(column, line) for column, line, _, _, found in cells if found.n < SMALL_N]
    if small:
        figure.add_bar(
            x=[column for column, _ in small],
            y=[1] * len(small),
            base=[line - 0.5 for _, line in small],
            width=0.96,
            marker=theme.hatch(dark),
            hoverinfo="skip",
            **axes,
        )
    figure.add_scatter(
        x=[column for column, *_ in cells],
        y=[line for _, line, *_ in cells],
        mode="markers",
        marker={"symbol": "square", "size": 24, "color": theme.CLEAR},
        hovertext=[_hover(cause, system, row, found) for _, _, system, row, found in cells],
        hoverinfo="text",
        **axes,
    )
    _axes(figure, task, cause, place=place, dark=dark)


def _layer(task: CausesTask, cells: Sequence[tuple[int, int, float]], colour: str, axes: dict[str, str]) -> go.Heatmap:
    """Cells whose text has one colour: a heatmap has no more."""
    width, height = len(task.languages), len(task.systems)
    values: list[list[float | None]] = [[None] * width for _ in range(height)]
    texts = [[""] * width for _ in range(height)]
    for column, line, value in cells:
        values[line][column] = min(max(value, 0.0), 1.0)
        texts[line][column] = _cell(value) if width <= CROWDED else ""
    return theme.number_cells(values, texts, size=12 if width <= 7 else 10, colour=colour, **axes)


def _cell(value: float) -> str:
    """Two decimals; one of a whole one, as cells are narrow."""
    shown = theme.cell_text(value)
    return "1.0" if shown == "1.00" else shown


def _hover(cause: Cause, system: SystemCauses, row: LanguageCauses, found: Interval) -> str:
    lines = [
        f"<b>{theme.plain(system.system.title)}</b> · {row.language}",
        f"{cause.heading.replace('<br>', ' ')}: {found.value:.4f}",
    ]
    if found.low is not None and found.high is not None:
        lines.append(f"{found.level:.0%} interval {found.low:.4f} to {found.high:.4f}, {found.method}")
    if cause.key == "bias" and row.own_share is not None:
        lines.append(f"of all documents: {row.own_share:.4f}")
    return "<br>".join([*lines, f"n = {found.n:,}"])


def _axes(figure: go.Figure, task: CausesTask, cause: Cause, *, place: Place, dark: bool) -> None:
    page, width = theme.paper(dark), len(task.languages)
    quiet = {"showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
    figure.update_layout({
        f"xaxis{place.suffix}": {
            **quiet,
            "domain": [place.left, place.right],
            "range": [-0.5, width - 0.5],
            "side": "top",
            "anchor": f"y{place.suffix}",
            "tickvals": list(range(width)),
            "ticktext": list(task.languages),
            "tickfont": {"size": 13 if width <= CROWDED else 9},
            "tickangle": 0 if width <= CROWDED else -90,
            "color": page.secondary,
        },
        f"yaxis{place.suffix}": {
            **quiet,
            "domain": [place.bottom, place.top],
            "range": [len(task.systems) - 0.5, -0.5],
            "anchor": f"x{place.suffix}",
            "tickvals": list(range(len(task.systems))) if place.left == 0 else [],
            "ticktext": [theme.plain(system.system.short) for system in task.systems],
            "tickfont": {"size": 14, "color": page.text},
            "ticklabelstandoff": 8,
            "automargin": True,
        },
    })  # fmt: skip
    figure.add_annotation(
        x=place.left,
        y=place.top,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        yshift=26,
        text=cause.heading,
        align="left",
        showarrow=False,
        font={"size": 13, "color": page.text},
    )


def hubs(task: CausesTask, *, dark: bool = False) -> go.Figure:
    """How much of all top tens the hubs take, one bar a system with its interval.

    Args:
        task: the systems, the first on top.
        dark: for the dark theme.
    """
    page = theme.paper(dark)
    shown = [(system, found) for system in task.systems if (found := system.rows[0].numbers.get("hub_places"))]
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(shown) * LINE + 76)
    figure.add_bar(
        x=[found.value for _, found in shown],
        y=[-place for place in range(len(shown))],
        orientation="h",
        width=0.55,
        marker={"color": [theme.system_colour(system.system, dark=dark) for system, _ in shown]},
        error_x=theme.interval_bars([found for _, found in shown], dark=dark),
        hovertext=[
            f"<b>{theme.plain(system.system.title)}</b><br>{system.n_hubs} hubs take {found.value:.4f} of the places"
            f"<br>95% interval {found.low:.4f} to {found.high:.4f}, {found.method}<br>n = {found.n:,}"
            for system, found in shown
        ],
        hoverinfo="text",
    )
    for place, (_, found) in enumerate(shown):
        end = found.high if found.high is not None else found.value
        words = {"text": f"{found.value:.2f}", "font": {"size": 14, "color": page.text}}
        figure.add_annotation(x=end, y=-place, xanchor="left", xshift=8, showarrow=False, **words)
    reach = max([0.1, *(found.high or found.value or 0.0 for _, found in shown)])
    lay_out(
        figure,
        [system.system.short for system, _ in shown],
        scale="share of all places in the top tens that hubs take",
        ends=(0, 1.12 * reach),
        dark=dark,
    )
    return figure


def space(task: CausesTask, *, dark: bool = False) -> go.Figure:
    """Whether a space keeps languages apart or meanings together: a mark a system, with both intervals.

    A small mark is one language of it. Down and to the right is what retrieval across languages needs.

    Args:
        task: the systems.
        dark: for the dark theme.
    """
    page = theme.paper(dark)
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=440)
    drawn = [system for system in task.systems if _point(system.rows[0])]
    ends = _range([point[0] for system in drawn for row in system.rows if (point := _point(row))])
    for system in drawn:
        _draw_space(figure, system, reach=ends[1] - ends[0], dark=dark)
    figure.update_layout(
        xaxis={
            "range": ends,
            "title": {"text": "alignment: how much nearer a translation is than any other text", "font": {"size": 13}},
            "showgrid": True,
            "gridcolor": page.lines,
            "zeroline": True,
            "zerolinecolor": page.secondary,
        },
        yaxis={
            "range": [-0.04, 1.08],
            "title": {"text": "texts whose language the vector gives away", "font": {"size": 13}},
            "showgrid": True,
            "gridcolor": page.lines,
        },
        margin={"l": 8, "r": 12, "t": 8, "b": 8},
        hovermode="closest",
    )
    return figure


def _point(row: LanguageCauses) -> Point | None:
    aligned, told = row.numbers.get("alignment"), row.numbers.get("probe_accuracy")
    if aligned is None or told is None or aligned.value is None or told.value is None:
        return None
    return aligned.value, told.value


def _range(values: Sequence[float]) -> list[float]:
    low, high = min([0.0, *values]), max([0.1, *values])
    return [low - 0.06 * (high - low), high + 0.22 * (high - low)]


def _grouped(names: Sequence[str], points: Sequence[Point], *, reach: float) -> list[str]:
    """One label for marks that lie on each other: at the first of them, with the names of all."""
    labels, taken = [""] * len(names), [False] * len(names)
    for first, (x, y) in enumerate(points):
        if taken[first]:
            continue
        near = [
            place
            for place in range(first, len(points))
            if not taken[place] and abs(points[place][0] - x) < 0.028 * reach and abs(points[place][1] - y) < 0.06
        ]
        for place in near:
            taken[place] = True
        labels[first] = ", ".join(names[place] for place in near)
    return labels


SIDES = {"top right": (1, 1), "bottom right": (1, -1), "top left": (-1, 1), "bottom left": (-1, -1)}


class Name(NamedTuple):
    """The name of a system beside its mark."""

    n_letters: int
    mark: Point
    reach: float  # of the horizontal axis

    def covers(self, side: str, point: Point) -> bool:
        """Whether the name would stand over a point, on one side of the mark."""
        right, up = SIDES[side]
        along, above = right * (point[0] - self.mark[0]), up * (point[1] - self.mark[1])
        return -0.01 * self.reach < along < 0.008 * self.n_letters * self.reach and -0.01 < above < 0.10

    def side(self, others: Sequence[Point]) -> str:
        """Where beside the mark there is most room."""
        return min(SIDES, key=lambda side: sum(self.covers(side, point) for point in others))


def _draw_space(figure: go.Figure, system: SystemCauses, *, reach: float, dark: bool) -> None:
    whole, colour = system.rows[0], theme.system_colour(system.system, dark=dark)
    name = Name(len(system.system.short), _point(whole) or (0.0, 0.0), reach)
    side = _draw_languages(figure, system, name, dark=dark)
    x, y = (whole.numbers[key] for key in ("alignment", "probe_accuracy"))
    figure.add_scatter(
        x=[x.value],
        y=[y.value],
        mode="markers+text",
        marker={"size": 13, "color": colour, "symbol": theme.system_symbol(system.system)},
        error_x=theme.interval_bars([x], dark=dark),
        error_y=theme.interval_bars([y], dark=dark),
        text=[theme.plain(system.system.short)],
        textposition=side,
        textfont={"size": 14, "color": theme.paper(dark).text},
        hovertext=[_space_hover(system, whole)],
        hoverinfo="text",
    )


def _draw_languages(figure: go.Figure, system: SystemCauses, name: Name, *, dark: bool) -> str:
    """A small mark a language, with its tag where the system's name leaves room; the side on which that stands."""
    single = [row for row in system.rows[1:] if _point(row)]
    points = [point for row in single if (point := _point(row))]
    above = [y > name.mark[1] for _, y in points]
    labels = [(x, y + (0.05 if up else -0.05)) for (x, y), up in zip(points, above, strict=True)]
    side = name.side([*points, *labels])
    tags = _grouped([row.language or "" for row in single], points, reach=name.reach)
    figure.add_scatter(
        x=[point[0] for point in points],
        y=[point[1] for point in points],
        mode="markers+text",
        marker={"size": 7, "color": theme.see_through(theme.system_colour(system.system, dark=dark), alpha=0.45)},
        text=["" if name.covers(side, label) else tag for tag, label in zip(tags, labels, strict=True)],
        textposition=["top center" if up else "bottom center" for up in above],
        textfont={"size": 12, "color": theme.paper(dark).secondary},
        hovertext=[_space_hover(system, row) for row in single],
        hoverinfo="text",
    )
    return side


def _space_hover(system: SystemCauses, row: LanguageCauses) -> str:
    lines = [f"<b>{theme.plain(system.system.title)}</b> · {row.language or 'all languages'}"]
    for key, words in (("alignment", "alignment"), ("probe_accuracy", "language told"), ("silhouette", "silhouette")):
        found = row.numbers.get(key)
        if found and found.value is not None and found.low is not None and found.high is not None:
            lines.append(f"{words} {found.value:.4f} ({found.low:.4f} to {found.high:.4f}), n = {found.n:,}")
    return "<br>".join(lines)
