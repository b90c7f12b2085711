"""How deep answers in other languages stand, and what a re-ranker of the top K could fix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import names_axis
from analysis.views.recoverability import DepthCurve, DepthPart, DepthPoint, DepthRow

DEPTH_AXIS = "documents read for each query (log scale)"
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
LINE = 34
"""Pixels a system."""

CURVES = 470
"""Pixels of the curves' height, about 400 of them between the axes."""

LABEL_STEP = 19 / 400
"""Height of a line of words as a share of the curves' plot."""

LABEL_ROOM = 168
"""Pixels right of the curves for the systems' names."""

SMALL = 190
"""Pixels a row of small curves, with its heading."""

POWERS = {"tickvals": [1, 10, 100, 1000], "ticktext": ["1", "10", "100", "1,000"]}

PARTS = {"rrc": "in the top K", "deeper": "deeper in the run", "floor": "not in the run"}
INKS = {"rrc": 0.9, "deeper": 0.4, "floor": 0.03}
NARROWEST = 0.06
"""Below this share there is no room for a number in a bar."""


# Curves


def curves(rows: Sequence[DepthRow], *, k: int, dark: bool = False) -> go.Figure:
    """RRC@K over K: a line and a band a system, its name at the end, a mark at its knee; chance dotted.

    Args:
        rows: one a system; those without a curve are left out.
        k: the reader's own, a vertical line.
        dark: for the dark theme.
    """
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=CURVES)
    drawn = [(row, row.curve) for row in rows if row.curve]
    longest = max((curve for _, curve in drawn), key=lambda curve: curve.points[-1].k)
    for row, curve in drawn:
        _band(figure, row, curve, dark=dark)
    ends = [_chance(figure, longest, dark=dark)]
    ends += [_curve(figure, row, curve, dark=dark) for row, curve in drawn]
    for row, curve in drawn:
        _knee(figure, row, curve, dark=dark)
    _reader_line(figure, k, dark=dark)
    _end_labels(figure, ends)
    figure.update_layout(
        xaxis=_depth_axis(longest.points[-1].k, dark=dark)
        | {"title": {"text": DEPTH_AXIS, "font": {"size": 13}, "standoff": 6}},
        yaxis=share_axis(dark=dark)
        | {"title": {"text": "share of queries with the answer in the top K", "font": {"size": 13}, "standoff": 8}},
        margin={"l": 8, "r": LABEL_ROOM, "t": 30, "b": 8},
        hovermode="closest",
    )
    return figure


def _depth_axis(deepest: int, *, dark: bool) -> dict[str, object]:
    ticks = [tick for tick in TICKS if tick <= deepest]
    return {
        "type": "log",
        "range": [-0.02, math.log10(max(deepest, 2)) + 0.01],
        "tickvals": ticks,
        "ticktext": [f"{tick:,}" for tick in ticks],
        "showgrid": True,
        "gridcolor": theme.paper(dark).lines,
    }


def share_axis(*, dark: bool) -> dict[str, object]:
    """From none to all of the queries."""
    return {
        "range": [-0.02, 1.03],
        "dtick": 0.2,
        "showgrid": True,
        "gridcolor": theme.paper(dark).lines,
    }


def _band(figure: go.Figure, row: DepthRow, curve: DepthCurve, *, dark: bool) -> None:
    known = [(point.k, point.low, point.high) for point in curve.points if point.low is not None]
    figure.add_scatter(
        x=[k for k, _, _ in known] + [k for k, _, _ in reversed(known)],
        y=[low for _, low, _ in known] + [high for _, _, high in reversed(known)],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=theme.see_through(theme.system_colour(row.system, dark=dark), alpha=0.13),
        hoverinfo="skip",
        name=f"{theme.plain(row.system.short)}: band",
    )


def _chance(figure: go.Figure, curve: DepthCurve, *, dark: bool) -> End:
    grey = theme.paper(dark).secondary
    heights = tuple(point.chance for point in curve.points)
    figure.add_scatter(
        x=[point.k for point in curve.points],
        y=heights,
        mode="lines",
        line={"width": 1.6, "dash": "dot", "color": grey},
        hovertext=[f"documents in random order<br>K = {point.k:,}: {point.chance:.4f}" for point in curve.points],
        hoverinfo="text",
        name="random order",
    )
    return End("random order", heights, grey, "dot", grey)


def _curve(
    figure: go.Figure, row: DepthRow, curve: DepthCurve, *, dark: bool, axes: Mapping[str, object] | None = None
) -> End:
    colour, dash = theme.system_colour(row.system, dark=dark), theme.system_dash(row.system)
    heights = tuple(point.rrc for point in curve.points)
    figure.add_scatter(
        x=[point.k for point in curve.points],
        y=heights,
        mode="lines",
        line={"width": 1.6 if row.degenerate else 2.4, "dash": dash, "color": colour},
        hovertext=[_at_point(row, curve, point) for point in curve.points],
        hoverinfo="text",
        name=theme.plain(row.system.short),
        **(axes or {}),
    )
    return End(theme.plain(row.system.short), heights, colour, dash, theme.paper(dark).text)


def _at_point(row: DepthRow, curve: DepthCurve, point: DepthPoint) -> str:
    lines = [f"<b>{theme.plain(row.system.title)}</b>", f"RRC@{point.k:,} {point.rrc:.4f}"]
    if point.low is not None and point.high is not None:
        lines.append(f"{curve.level:.0%} interval {point.low:.4f} to {point.high:.4f}, {curve.method}")
    lines.append(f"random order {point.chance:.4f}")
    lines.append(f"n = {curve.n:,}")
    return "<br>".join(lines)


def _knee(figure: go.Figure, row: DepthRow, curve: DepthCurve, *, dark: bool) -> None:
    """A triangle that points down where reading deeper begins to pay less, up where it begins to pay more."""
    knee = curve.knee
    if knee is None or not knee.clear:
        return
    colour, page = theme.system_colour(row.system, dark=dark), theme.paper(dark)
    spread = f"<br>90 % of the draws: {knee.spread[0]:,} to {knee.spread[1]:,}" if knee.spread else ""
    words = "late knee: from here on reading deeper pays more" if knee.late else "knee: reading deeper pays less"
    figure.add_scatter(
        x=[knee.k],
        y=[knee.rrc],
        mode="markers",
        marker={
            "size": 13,
            "symbol": "triangle-up" if knee.late else "triangle-down",
            "color": page.background if row.degenerate else colour,
            "line": {"width": 2 if row.degenerate else 1, "color": colour if row.degenerate else page.background},
        },
        hovertext=[
            f"<b>{theme.plain(row.system.title)}</b><br>{words}<br>K = {knee.k:,}, RRC@{knee.k:,} {knee.rrc:.4f}"
            + spread
            + hollow(row)
        ],
        hoverinfo="text",
        name=f"{theme.plain(row.system.short)}: {'late' if knee.late else 'early'} knee",
    )


def hollow(row: DepthRow) -> str:
    """What the hover adds to a mark that is hollow."""
    if not row.degenerate:
        return ""
    return "<br>not interpretable: this system does not retrieve<br>the thing whose depth is measured"


def _reader_line(figure: go.Figure, k: int, *, dark: bool) -> None:
    colour = theme.paper(dark).accent
    figure.add_shape(
        type="line", x0=k, x1=k, y0=0, y1=1, yref="paper", line={"width": 1.6, "color": colour}, layer="below"
    )
    figure.add_annotation(
        x=math.log10(k),
        y=1,
        yref="paper",
        yanchor="bottom",
        yshift=4,
        text=f"K = {k:,}",
        showarrow=False,
        font={"size": 14, "color": colour},
    )


class End(NamedTuple):
    """The end of a line, which has a name."""

    words: str
    heights: tuple[float, ...]  # of the whole line
    colour: str
    dash: str
    ink: str  # of the name

    @property
    def place(self) -> tuple[float, float]:
        """Lines that end together are named in the order in which they stand before."""
        return (self.heights[-1], _mean(self.heights))


def _end_labels(figure: go.Figure, ends: Sequence[End]) -> None:
    """Names right of the lines' ends, spread so that none covers another, joined to them in colour and dash."""
    order = sorted(ends, key=lambda end: end.place)
    heights = spread_out([end.heights[-1] for end in order], step=LABEL_STEP, low=0.0, high=1.0)
    for end, height in zip(order, heights, strict=True):
        stroke = {"width": 1.6, "color": end.colour, "dash": end.dash}
        _join_label(figure, end.heights[-1], height, stroke=stroke)
        figure.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=34,
            y=height,
            text=end.words,
            showarrow=False,
            font={"size": 14, "color": end.ink},
        )


def _join_label(figure: go.Figure, end: float, height: float, *, stroke: Mapping[str, object]) -> None:
    """A slanted line from the end of the plot to a name: its x is in pixels right of the plot."""
    figure.add_shape(
        type="line",
        xref="paper",
        xsizemode="pixel",
        xanchor=1,
        x0=2,
        x1=30,
        y0=end,
        y1=height,
        line=dict(stroke),
    )


def spread_out(wanted: Sequence[float], *, step: float, low: float, high: float) -> list[float]:
    """Heights at least ``step`` apart, near those wanted (ascending) and in their order; within the ends if they fit.

    Blocks of touching names move together to their mean, as in isotonic regression.
    """
    blocks: list[list[float]] = []
    for place, height in enumerate(wanted):
        blocks.append([height - place * step])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    flat = [_mean(block) for block in blocks for _ in block]
    top = high - (len(wanted) - 1) * step
    return [min(max(height, low), max(top, low)) + place * step for place, height in enumerate(flat)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def small_curves(parts: Sequence[DepthPart], *, k: int, dark: bool = False) -> go.Figure:
    """RRC@K over K for each part of the queries, three beside each other on one scale; bands are in the hover.

    Args:
        parts: those without a curve are left out.
        k: the reader's own, a vertical line.
        dark: for the dark theme.
    """
    shown = [part for part in parts if part.n]
    deepest = max((row.curve.points[-1].k for part in shown for row in part.rows if row.curve), default=1)
    figure, named = go.Figure(), set[str]()
    theme.dress(figure, dark=dark, height=math.ceil(len(shown) / 3) * SMALL + 70)
    for number, part in enumerate(shown):
        suffix = str(number + 1) if number else ""
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        for row in part.rows:
            if row.curve:
                _curve(figure, row, row.curve, dark=dark, axes=axes | {"showlegend": row.system.name not in named})
                named.add(row.system.name)
        _lay_out_panel(
            figure, number, panels=len(shown), words=f"<b>{theme.plain(part.part)}</b>  n = {part.n:,}", dark=dark
        )
        figure.update_layout({f"xaxis{suffix}": _depth_axis(deepest, dark=dark) | POWERS})
        stroke = {"width": 1.4, "color": theme.paper(dark).accent}
        where = {"xref": f"x{suffix}", "yref": f"y{suffix} domain"}
        figure.add_shape(type="line", x0=k, x1=k, y0=0, y1=1, line=stroke, layer="below", **where)
    figure.update_layout(
        showlegend=True,
        legend=theme.legend(dark=dark) | {"itemwidth": 40},
        margin={"l": 8, "r": 12, "t": 50, "b": 8},
        hovermode="closest",
    )
    return figure


def _lay_out_panel(figure: go.Figure, number: int, *, panels: int, words: str, dark: bool) -> None:
    """The axes of one small chart and the words above it; depth is written below the lowest of each column."""
    lines = math.ceil(panels / 3)
    line, column = divmod(number, 3)
    suffix = str(number + 1) if number else ""
    left, top = column * 0.345, 1 - (line + 0.14) / lines
    quiet = {"color": theme.paper(dark).secondary, "fixedrange": True, "zeroline": False, "ticks": ""}
    title = {"text": DEPTH_AXIS if number == 3 * (lines - 1) else "", "font": {"size": 12}, "standoff": 2}
    across = {"domain": [left, left + 0.31], "anchor": f"y{suffix}", "title": title}
    upwards = {"domain": [1 - (line + 0.82) / lines, top], "anchor": f"x{suffix}", "dtick": 0.5}
    figure.update_layout(
        {
            f"xaxis{suffix}": quiet | across | {"showticklabels": number + 3 >= panels},
            f"yaxis{suffix}": share_axis(dark=dark) | quiet | upwards | {"showticklabels": not column},
        }
    )
    figure.add_annotation(
        text=words,
        x=left,
        y=top + 0.01 / lines,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        font={"size": 14},
    )


# Three parts


def stack(rows: Sequence[DepthRow], *, dark: bool = False) -> go.Figure:
    """Where the first answer in another language stands, as shares of the queries: a bar a system, in ink.

    Args:
        rows: one a system, the first on top; those without a curve are left out.
        dark: for the dark theme.
    """
    drawn = [(row, row.curve) for row in rows if row.curve]
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(drawn) * LINE + 120)
    for name in PARTS:
        _bars(figure, drawn, name, dark=dark)
    title = {"text": "share of queries by where their answer stands", "font": {"size": 13}, "standoff": 6}
    figure.update_layout(
        barmode="stack",
        xaxis=share_axis(dark=dark) | {"range": [0, 1.005], "title": title},
        yaxis=system_axis([row for row, _ in drawn], dark=dark),
        showlegend=True,
        legend=theme.legend(dark=dark),
        margin={"l": 8, "r": 12, "t": 40, "b": 8},
        hovermode="closest",
    )
    return figure


def _bars(figure: go.Figure, drawn: Sequence[tuple[DepthRow, DepthCurve]], name: str, *, dark: bool) -> None:
    """One of the three parts of all bars, its share written inside where there is room."""
    ink = theme.colour_at(theme.ink(dark), INKS[name])
    shares = [_part(curve, name) for _, curve in drawn]
    words = PARTS[name].replace("top K", f"top {drawn[0][1].at_k.k:,}")
    figure.add_bar(
        x=shares,
        y=[-place for place in range(len(drawn))],
        orientation="h",
        width=0.62,
        name=words,
        marker={
            "color": ink,
            "line": {"width": 0.8, "color": theme.paper(dark).secondary},
        },
        text=[f"{share:.2f}" if share >= NARROWEST else "" for share in shares],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"size": 14, "color": theme.text_on(ink)},
        constraintext="none",
        hovertext=[
            f"<b>{theme.plain(row.system.title)}</b><br>{words}: {share:.4f} of the queries<br>n = {curve.n:,}"
            for (row, curve), share in zip(drawn, shares, strict=True)
        ],
        hoverinfo="text",
    )


def _part(curve: DepthCurve, name: str) -> float:
    return {"rrc": curve.at_k.rrc, "deeper": curve.at_k.deeper, "floor": curve.floor}[name]


def system_axis(rows: Sequence[DepthRow], *, dark: bool) -> dict[str, object]:
    """One line a system; grey where it is not interpretable."""
    page = theme.paper(dark)
    words = [
        f'<span style="color:{page.secondary if row.degenerate else page.text}">{theme.plain(row.system.short)}</span>'
        for row in rows
    ]
    return names_axis(words, dark=dark)
