"""The leaderboard as a picture: a point and its interval a system, and what is lost across languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.views.overview import OverviewRow, TaskOverview
from analysis.views.selection import Interval, MeasureLabel

SAME = "recall_at_10_same"
CROSS = "recall_at_10_cross"
LINE = 30
"""Pixels a row."""


class Line(NamedTuple):
    """One line of the chart: a paradigm's name, or a system below it."""

    place: float
    words: str
    row: OverviewRow | None  # None for a paradigm's name


def leaderboard(task: TaskOverview, measure: MeasureLabel, *, dark: bool = False) -> go.Figure:
    """A dot plot of the systems grouped by paradigm; beside it R@10 in the query's language and across languages.

    Args:
        task: the leaderboard, best first.
        measure: what the points show.
        dark: for the dark theme.
    """
    lines = _lines(task.rows, dark)
    beside = any(_value(row, CROSS) is not None for row in task.rows)
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=int(-lines[-1].place * LINE) + 100 if lines else 120)
    for line in lines:
        if line.row is not None:
            _point(figure, line, line.row, measure=measure, dark=dark)
            if beside:
                _dumbbell(figure, line, line.row, dark=dark)
    _lay_out(figure, lines, measure=measure, beside=beside, dark=dark)
    return figure


def grouped(rows: Sequence[OverviewRow]) -> dict[str, list[OverviewRow]]:
    """The rows by paradigm; the paradigm of the best system first, and the best first within each."""
    groups: dict[str, list[OverviewRow]] = {}
    for row in rows:
        groups.setdefault(row.system.paradigm, []).append(row)
    return groups


def _lines(rows: Sequence[OverviewRow], dark: bool) -> list[Line]:
    grey = theme.paper(dark).secondary
    lines: list[Line] = []
    place = 0.0
    for paradigm, members in grouped(rows).items():
        lines.append(Line(place, f'<span style="color:{grey};font-size:13px">{paradigm}</span>', None))
        for row in members:
            place -= 0.95
            lines.append(Line(place, row.system.short, row))
        place -= 1.15
    return lines


def _value(row: OverviewRow, key: str) -> float | None:
    interval = row.measures.get(key)
    return interval.value if interval else None


def _point(figure: go.Figure, line: Line, row: OverviewRow, *, measure: MeasureLabel, dark: bool) -> None:
    """A system's value with its interval; hollow where the system is degenerate."""
    interval = row.measures.get(measure.key)
    if interval is None or interval.value is None:
        return
    colour = theme.system_colour(row.system, dark=dark)
    if interval.low is not None and interval.high is not None:
        figure.add_scatter(
            x=[interval.low, interval.high], y=[line.place] * 2, mode="lines", line={"width": 1.6, "color": colour}, hoverinfo="skip",
        )  # fmt: skip
    end = interval.high if interval.high is not None else interval.value
    figure.add_scatter(
        x=[interval.value], y=[line.place], mode="markers", marker=_mark(row, colour=colour, hollow=bool(row.degenerate), dark=dark),
        hovertext=[_hover(row, interval, measure.label)], hoverinfo="text", name=row.system.short,
    )  # fmt: skip
    figure.add_annotation(
        x=end, y=line.place, text=f"{interval.value:.2f}", xanchor="left", xshift=8, showarrow=False,
        font={"size": 14, "color": theme.paper(dark).text},
    )  # fmt: skip


def _dumbbell(figure: go.Figure, line: Line, row: OverviewRow, *, dark: bool) -> None:
    """The same system's R@10 across languages (filled) and in the query's language (hollow), joined."""
    colour = theme.system_colour(row.system, dark=dark)
    ends = [
        (row.measures.get(key), hollow, words)
        for key, hollow, words in ((CROSS, False, "across"), (SAME, True, "same language"))
    ]
    shown = [
        (interval, hollow, words)
        for interval, hollow, words in ends
        if interval is not None and interval.value is not None
    ]
    axes = {"xaxis": "x2", "yaxis": "y"}
    figure.add_scatter(
        x=[interval.value for interval, _, _ in shown], y=[line.place] * len(shown), mode="lines",
        line={"width": 5, "color": theme.see_through(colour, alpha=0.22)}, hoverinfo="skip", **axes,
    )  # fmt: skip
    for interval, hollow, words in shown:
        if interval.low is not None and interval.high is not None:
            figure.add_scatter(
                x=[interval.low, interval.high], y=[line.place] * 2, mode="lines", line={"width": 1.2, "color": colour}, hoverinfo="skip", **axes,
            )  # fmt: skip
        figure.add_scatter(
            x=[interval.value], y=[line.place], mode="markers", marker=_mark(row, colour=colour, hollow=hollow, dark=dark),
            hovertext=[_hover(row, interval, f"R@10 {words}")], hoverinfo="text", name=f"{row.system.short}, {words}", **axes,
        )  # fmt: skip


def _mark(row: OverviewRow, *, colour: str, hollow: bool, dark: bool) -> dict[str, object]:
    return {
        "size": 11,
        "symbol": theme.system_symbol(row.system),
        "color": theme.paper(dark).background if hollow else colour,
        "line": {"width": 2 if hollow else 0, "color": colour},
    }


def _hover(row: OverviewRow, interval: Interval, label: str) -> str:
    lines = [f"<b>{row.system.title}</b> · {row.system.paradigm}", f"{label} {interval.value:.4f}"]
    if interval.low is not None and interval.high is not None:
        lines.append(f"{interval.level:.0%} interval {interval.low:.4f} to {interval.high:.4f}, {interval.method}")
    lines.append(f"n = {interval.n:,}")
    if row.degenerate:
        lines.append("hollow: it finds almost nothing across languages")
    return "<br>".join(lines)


def _lay_out(figure: go.Figure, lines: Sequence[Line], *, measure: MeasureLabel, beside: bool, dark: bool) -> None:
    page = theme.paper(dark)
    whole = 100.0 if measure.unit == "percent" else 1.0
    ticks = {"showgrid": True, "gridcolor": page.lines, "tickfont": {"size": 13}, "side": "bottom"}
    top = whole
    if measure.unit == "percent":
        top = max([whole, *(_reach(line.row, measure.key) for line in lines if line.row is not None)])
    figure.update_layout(
        xaxis={
            "domain": [0, 0.47] if beside else [0, 0.75],
            "range": [0, top * 1.08],
            "title": _title(measure.label),
            "dtick": whole / 5,
            **ticks,
        },
        yaxis={
            "range": [(lines[-1].place if lines else 0) - 0.7, 0.7],
            "tickvals": [line.place for line in lines],
            "ticktext": [line.words for line in lines],
            "tickfont": {"size": 14, "color": page.text},
            "ticklabelstandoff": 8,
        },
        margin={"l": 8, "r": 12, "t": 26, "b": 8},
        hovermode="closest",
    )
    if beside:
        figure.update_layout(
            xaxis2={
                "domain": [0.53, 1], "range": [0, 1.08], "anchor": "y", "title": _title("R@10"), "dtick": 0.2, "fixedrange": True,
                "zeroline": False, "color": page.secondary, **ticks,
            },
        )  # fmt: skip
    _head(figure, 0, f"{measure.label} by system", page)
    if beside:
        _head(figure, 0.53, "R@10: ● answer in another language  ○ in the query’s own", page)


def _reach(row: OverviewRow, key: str) -> float:
    interval = row.measures.get(key)
    ends = [value for value in (interval.value, interval.high) if value is not None] if interval else []
    return max(ends, default=0.0)


def _title(words: str) -> dict[str, object]:
    return {"text": words, "font": {"size": 13}, "standoff": 6}


def _head(figure: go.Figure, left: float, words: str, page: theme.Paper) -> None:
    figure.add_annotation(
        x=left, y=1, xref="paper", yref="paper", xanchor="left", yanchor="bottom", yshift=4, text=words, showarrow=False,
        font={"size": 14, "color": page.text},
    )  # fmt: skip
