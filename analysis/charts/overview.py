"""The leaderboard as a picture: a point and its interval a system, and what is lost across languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.views.composite import Composite
from analysis.views.overview import OverviewRow, TaskOverview
from analysis.views.selection import MeasureLabel

Ranked = TypeVar("Ranked", OverviewRow, Composite)

SAME = "recall_at_10_same"
CROSS = "recall_at_10_cross"
LINE = 30
"""Pixels a row."""


class Line(NamedTuple):
    """One line of the chart: a paradigm's name, or a system below it."""

    place: float
    words: str
    row: OverviewRow | None  # None for a paradigm's name


@dataclass(frozen=True)
class Estimate:
    """One value of one system, drawn as a mark with its interval."""

    row: OverviewRow
    key: str
    label: str
    axis: str  # "x" on the left, "x2" on the right
    tick: bool = False  # a small upright line instead of the system's mark


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
    theme.dress(figure, dark=dark, height=int(-lines[-1].place * LINE) + 110 if lines else 120)
    for line in lines:
        if line.row is None:
            continue
        _draw(figure, line.place, Estimate(line.row, measure.key, measure.label, "x"), dark=dark)
        if beside:
            _draw(figure, line.place, Estimate(line.row, SAME, "R@10 same", "x2", tick=True), dark=dark)
            _join(figure, line, dark=dark)
            _draw(figure, line.place, Estimate(line.row, CROSS, "R@10 cross", "x2"), dark=dark)
    _lay_out(figure, lines, measure=measure, beside=beside, dark=dark)
    return figure


def grouped(rows: Sequence[Ranked]) -> dict[str, list[Ranked]]:
    """Rows, the best first, by paradigm: the paradigm of the best system first, and the best first within each."""
    groups: dict[str, list[Ranked]] = {}
    for row in rows:
        groups.setdefault(row.system.paradigm, []).append(row)
    return groups


def _lines(rows: Sequence[OverviewRow], dark: bool) -> list[Line]:
    grey = theme.paper(dark).secondary
    lines: list[Line] = []
    place = 0.0
    for paradigm, members in grouped(rows).items():
        lines.append(Line(place, f'<span style="color:{grey};font-size:13px">{theme.plain(paradigm)}</span>', None))
        for row in members:
            place -= 0.95
            lines.append(Line(place, theme.plain(row.system.short), row))
        place -= 1.15
    return lines


def _value(row: OverviewRow, key: str) -> float | None:
    found = row.measures.get(key)
    return found.value if found else None


def _draw(figure: go.Figure, place: float, estimate: Estimate, *, dark: bool) -> None:
    """A mark at the value and a thin line over its interval; hollow where the system is degenerate."""
    found = estimate.row.measures.get(estimate.key)
    if found is None or found.value is None:
        return
    colour = theme.system_colour(estimate.row.system, dark=dark)
    axes = {"xaxis": estimate.axis, "yaxis": "y"}
    end = found.value
    if found.low is not None and found.high is not None:
        end = found.high
        line = {"width": 1.6, "color": colour}
        figure.add_scatter(x=[found.low, end], y=[place] * 2, mode="lines", line=line, hoverinfo="skip", **axes)
    figure.add_scatter(
        x=[found.value],
        y=[place],
        mode="markers",
        marker=_mark(estimate, colour=colour, dark=dark),
        hovertext=[_hover(estimate)],
        hoverinfo="text",
        name=f"{theme.plain(estimate.row.system.short)}: {estimate.label}",
        **axes,
    )
    if estimate.axis == "x":
        words = {"text": f"{found.value:.2f}", "font": {"size": 14, "color": theme.paper(dark).text}}
        figure.add_annotation(x=end, y=place, xanchor="left", xshift=8, showarrow=False, **words)


def _join(figure: go.Figure, line: Line, *, dark: bool) -> None:
    """A broad pale line from the one value of R@10 to the other: its length is what is lost."""
    if line.row is None:
        return
    ends = [value for value in (_value(line.row, SAME), _value(line.row, CROSS)) if value is not None]
    colour = theme.see_through(theme.system_colour(line.row.system, dark=dark), alpha=0.22)
    stroke = {"width": 6, "color": colour}
    figure.add_scatter(
        x=ends, y=[line.place] * len(ends), mode="lines", line=stroke, hoverinfo="skip", xaxis="x2", yaxis="y"
    )


def _mark(estimate: Estimate, *, colour: str, dark: bool) -> dict[str, object]:
    if estimate.tick:
        return {"symbol": "line-ns", "size": 14, "color": colour, "line": {"width": 2.5, "color": colour}}
    hollow = bool(estimate.row.degenerate)
    return {
        "size": 11,
        "symbol": theme.system_symbol(estimate.row.system),
        "color": theme.paper(dark).background if hollow else colour,
        "line": {"width": 2 if hollow else 0, "color": colour},
    }


def _hover(estimate: Estimate) -> str:
    row, found = estimate.row, estimate.row.measures[estimate.key]
    lines = [
        f"<b>{theme.plain(row.system.title)}</b> · {theme.plain(row.system.paradigm)}",
        f"{estimate.label} {found.value:.4f}",
    ]
    if found.low is not None and found.high is not None:
        lines.append(f"{found.level:.0%} interval {found.low:.4f} to {found.high:.4f}, {found.method}")
    lines.append(f"n = {found.n:,}")
    if row.degenerate:
        lines.append("hollow: it finds almost nothing across languages")
    return "<br>".join(lines)


def _lay_out(figure: go.Figure, lines: Sequence[Line], *, measure: MeasureLabel, beside: bool, dark: bool) -> None:
    page = theme.paper(dark)
    rows = [line.row for line in lines if line.row]
    drawn = any(_value(row, measure.key) is not None for row in rows)
    whole = 100.0 if measure.unit == "percent" else 1.0
    top = max([whole, *(_reach(row, measure.key) for row in rows)])
    figure.update_layout(
        xaxis=_axis(measure.label, reach=top, step=whole / 5, domain=(0, 0.47 if beside else 0.75), page=page),
        yaxis={
            "range": [(lines[-1].place if lines else 0) - 0.7, 0.7],
            "tickvals": [line.place for line in lines],
            "ticktext": [line.words for line in lines],
            "tickfont": {"size": 14, "color": page.text},
            "ticklabelstandoff": 8,
        },
        margin={"l": 8, "r": 12, "t": 30, "b": 8},
        hovermode="closest",
    )
    if drawn:
        theme.head(figure, f"{measure.label}, with its 95 % interval", left=0, dark=dark)
    if beside:
        domain = (0.53, 1.0) if drawn else (0, 0.75)
        figure.update_layout(xaxis2=_axis("R@10", reach=1, step=0.2, domain=domain, page=page))
        same = "❙ same language   " if any(_value(row, SAME) is not None for row in rows) else ""
        other = "other" if same else "other language"  # the words stay within half of a narrow page
        undefined = "" if drawn else f" · {measure.label} is undefined on this task"
        theme.head(figure, f"R@10: {same}● {other}{undefined}", left=domain[0], dark=dark)


def _axis(
    words: str, *, reach: float, step: float, domain: tuple[float, float], page: theme.Paper
) -> dict[str, object]:
    return {
        "domain": list(domain),
        "range": [0, reach * 1.08],
        "dtick": step,
        "anchor": "y",
        "side": "bottom",
        "title": {"text": words, "font": {"size": 13}, "standoff": 6},
        "tickfont": {"size": 13},
        "showgrid": True,
        "gridcolor": page.lines,
        "zeroline": False,
        "fixedrange": True,
        "ticks": "",
        "automargin": True,
        "color": page.secondary,
    }


def _reach(row: OverviewRow, key: str) -> float:
    found = row.measures.get(key)
    ends = [value for value in (found.value, found.high) if value is not None] if found else []
    return max(ends, default=0.0)
