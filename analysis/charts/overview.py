"""The leaderboard as a picture: a point and its interval a system, and what is lost across languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.views.composite import MMED_IR, SCORES, Composite
from analysis.views.overview import OverviewRow, TaskOverview
from analysis.views.selection import Interval, MeasureLabel, SystemLabel

Ranked = TypeVar("Ranked", OverviewRow, Composite)

SAME = "recall_at_10_same"
CROSS = "recall_at_10_cross"
LINE = 30
"""Pixels a row."""

MARGIN = {"l": 8, "r": 12, "t": 30, "b": 8}


class Line(NamedTuple):
    """One line of the chart: a paradigm's name, or a system below it."""

    place: float
    words: str
    row: OverviewRow | Composite | None  # None for a paradigm's name


@dataclass(frozen=True)
class Estimate:
    """One value of one system, drawn as a mark with its interval."""

    system: SystemLabel
    found: Interval
    label: str
    axis: str  # "x" on the left, then "x2" …
    tick: bool = False  # a small upright line instead of the system's mark
    hollow: bool = False  # the system finds almost nothing across languages
    said: bool = False  # the number stands beside the mark


def leaderboard(task: TaskOverview, measure: MeasureLabel, *, dark: bool = False) -> go.Figure:
    """A dot plot of the systems grouped by paradigm; beside it R@10 in the query's language and across languages.

    Args:
        task: the leaderboard, best first.
        measure: what the points show.
        dark: for the dark theme.
    """
    lines = _lines(task.rows, dark)
    beside = any(_value(row, CROSS) is not None for row in task.rows)
    figure = _empty(lines, dark=dark)
    for line in lines:
        if not isinstance(row := line.row, OverviewRow):
            continue
        same, cross = (row.measures.get(key) if beside else None for key in (SAME, CROSS))
        hollow = bool(row.degenerate)
        if found := row.measures.get(measure.key):
            _draw(figure, line, Estimate(row.system, found, measure.label, "x", hollow=hollow, said=True), dark=dark)
        if same:
            _draw(figure, line, Estimate(row.system, same, "R@10 same", "x2", tick=True, hollow=hollow), dark=dark)
        if cross:
            _join(figure, line, row, dark=dark)
            _draw(figure, line, Estimate(row.system, cross, "R@10 cross", "x2", hollow=hollow), dark=dark)
    _lay_out(figure, lines, measure=measure, beside=beside, dark=dark)
    return figure


def composites(rows: Sequence[Composite], *, dark: bool = False) -> go.Figure:
    """The scores of the three tasks and their mean side by side, on one scale; systems grouped by paradigm.

    Args:
        rows: the best first.
        dark: for the dark theme.
    """
    lines = _lines(rows, dark)
    figure = _empty(lines, dark=dark)
    names = [*SCORES.values(), MMED_IR]
    for place, name in enumerate(names):
        suffix = str(place + 1) if place else ""
        left = place / len(names)
        domain = (left, left + 1 / len(names) - 0.03)
        axis = _axis("", reach=1, step=0.5, domain=domain, page=theme.paper(dark))
        figure.update_layout({f"xaxis{suffix}": axis})
        theme.head(figure, f"<b>{name}</b>" if name == MMED_IR else name, left=left, dark=dark)
        for line in lines:
            if isinstance(row := line.row, Composite) and (found := row.named[name]):
                _draw(figure, line, Estimate(row.system, found, name, f"x{suffix}", said=True), dark=dark)
    figure.update_layout(yaxis=_names(lines, dark=dark), margin=MARGIN, hovermode="closest")
    return figure


def grouped(rows: Sequence[Ranked]) -> dict[str, list[Ranked]]:
    """Rows, the best first, by paradigm: the paradigm of the best system first, and the best first within each."""
    groups: dict[str, list[Ranked]] = {}
    for row in rows:
        groups.setdefault(row.system.paradigm, []).append(row)
    return groups


def _empty(lines: Sequence[Line], *, dark: bool) -> go.Figure:
    return theme.dress(go.Figure(), dark=dark, height=int(-lines[-1].place * LINE) + 110 if lines else 120)


def _lines(rows: Sequence[Ranked], dark: bool) -> list[Line]:
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


def _draw(figure: go.Figure, line: Line, estimate: Estimate, *, dark: bool) -> None:
    """A mark at the value and a thin line over its interval; hollow where the system is degenerate."""
    found = estimate.found
    if found.value is None:
        return
    colour = theme.system_colour(estimate.system, dark=dark)
    axes = {"xaxis": estimate.axis, "yaxis": "y"}
    end = found.value
    if found.low is not None and found.high is not None:
        end = found.high
        stroke = {"width": 1.6, "color": colour}
        figure.add_scatter(x=[found.low, end], y=[line.place] * 2, mode="lines", line=stroke, hoverinfo="skip", **axes)
    figure.add_scatter(
        x=[found.value],
        y=[line.place],
        mode="markers",
        marker=_mark(estimate, colour=colour, dark=dark),
        hovertext=[_hover(estimate)],
        hoverinfo="text",
        name=f"{theme.plain(estimate.system.short)}: {estimate.label}",
        **axes,
    )
    if estimate.said:
        words = {"text": f"{found.value:.2f}", "font": {"size": 14, "color": theme.paper(dark).text}}
        at = {"x": end, "y": line.place, "xref": estimate.axis, "xanchor": "left", "xshift": 8}
        figure.add_annotation(**at, showarrow=False, **words)


def _join(figure: go.Figure, line: Line, row: OverviewRow, *, dark: bool) -> None:
    """A broad pale line from the one value of R@10 to the other: its length is what is lost."""
    ends = [value for value in (_value(row, SAME), _value(row, CROSS)) if value is not None]
    if len(ends) < 2:
        return
    colour = theme.see_through(theme.system_colour(row.system, dark=dark), alpha=0.22)
    stroke = {"width": 6, "color": colour}
    figure.add_scatter(x=ends, y=[line.place] * 2, mode="lines", line=stroke, hoverinfo="skip", xaxis="x2", yaxis="y")


def _mark(estimate: Estimate, *, colour: str, dark: bool) -> dict[str, object]:
    if estimate.tick:
        return {"symbol": "line-ns", "size": 14, "color": colour, "line": {"width": 2.5, "color": colour}}
    return {
        "size": 11,
        "symbol": theme.system_symbol(estimate.system),
        "color": theme.paper(dark).background if estimate.hollow else colour,
        "line": {"width": 2 if estimate.hollow else 0, "color": colour},
    }


def _hover(estimate: Estimate) -> str:
    system, found = estimate.system, estimate.found
    lines = [
        f"<b>{theme.plain(system.title)}</b> · {theme.plain(system.paradigm)}",
        f"{estimate.label} {found.value:.4f}",
    ]
    if found.low is not None and found.high is not None:
        lines.append(f"{found.level:.0%} interval {found.low:.4f} to {found.high:.4f}, {found.method}")
    lines.append(f"n = {found.n:,}")
    if estimate.hollow:
        lines.append("hollow: it finds almost nothing across languages")
    return "<br>".join(lines)


def _names(lines: Sequence[Line], *, dark: bool) -> dict[str, object]:
    return {
        "range": [(lines[-1].place if lines else 0) - 0.7, 0.7],
        "tickvals": [line.place for line in lines],
        "ticktext": [line.words for line in lines],
        "tickfont": {"size": 14, "color": theme.paper(dark).text},
        "ticklabelstandoff": 8,
    }


def _lay_out(figure: go.Figure, lines: Sequence[Line], *, measure: MeasureLabel, beside: bool, dark: bool) -> None:
    page = theme.paper(dark)
    rows = [line.row for line in lines if isinstance(line.row, OverviewRow)]
    drawn = any(_value(row, measure.key) is not None for row in rows)
    whole = 100.0 if measure.unit == "percent" else 1.0
    top = max([whole, *(_reach(row, measure.key) for row in rows)])
    figure.update_layout(
        xaxis=_axis(measure.label, reach=top, step=whole / 5, domain=(0, 0.47 if beside else 0.75), page=page),
        yaxis=_names(lines, dark=dark),
        margin=MARGIN,
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
        "zeroline": True,
        "zerolinecolor": page.lines,
        "fixedrange": True,
        "ticks": "",
        "automargin": True,
        "color": page.secondary,
    }


def _reach(row: OverviewRow, key: str) -> float:
    found = row.measures.get(key)
    ends = [value for value in (found.value, found.high) if value is not None] if found else []
    return max(ends, default=0.0)
