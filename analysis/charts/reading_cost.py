"""What answers in other languages cost to read, alone and against how many are found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.recoverability import LINE, TICKS, hollow, share_axis, system_axis
from analysis.views.recoverability import DepthRow, ReadingCost

SHARES = {"0.5": "for half of the queries", "0.8": "for 80 % of the queries"}
HALF = "0.5"

PLOT = (640, 380)
"""Pixels between the axes at the narrowest, by which names are kept apart."""

LETTER = (7.6, 18)
"""Pixels of a letter's width and of a line's height."""


# XRC


def has_cost(rows: Sequence[DepthRow]) -> bool:
    """Whether any system has a reading cost to draw."""
    return any(cost.value is not None for row in rows for cost in row.xrc.values())


def bars(rows: Sequence[DepthRow], *, dark: bool = False) -> go.Figure:
    """XRC as bars from 1, "no deeper", on a log scale: hatched where it is a lower bound, hollow where degenerate.

    Args:
        rows: one a system, the first on top.
        dark: for the dark theme.
    """
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(rows) * LINE + 100)
    found = [cost.value for row in rows for cost in row.xrc.values() if cost.value is not None]
    ends = (math.log10(min([1.0, *found])), math.log10(max([10.0, *found])))
    for share, axis, left in zip(SHARES, ("x", "x2"), (0, 0.52), strict=True):
        _bars(figure, rows, share, axis=axis, dark=dark)
        figure.update_layout({f"xaxis{axis[1:]}": _cost_axis(ends, left=left, dark=dark)})
        theme.head(figure, f"XRC at {share}, {SHARES[share]}", left=left, dark=dark)
        stroke = {"width": 1.4, "color": theme.paper(dark).secondary}
        figure.add_shape(type="line", x0=1, x1=1, y0=0, y1=1, xref=axis, yref="paper", line=stroke)
    figure.update_layout(
        barmode="overlay",
        yaxis=system_axis(rows, dark=dark),
        margin={"l": 8, "r": 12, "t": 34, "b": 8},
        hovermode="closest",
    )
    return figure


def _cost_axis(ends: tuple[float, float], *, left: float, dark: bool) -> dict[str, object]:
    """From the lowest to the highest cost, as powers of ten, with room for the values beside the bars."""
    low, high = ends
    room = (high - low) * 0.22
    quiet = {"showgrid": True, "gridcolor": theme.paper(dark).lines, "zeroline": False, "fixedrange": True, "ticks": ""}
    return quiet | {
        "type": "log",
        "domain": [left, left + 0.48],
        "anchor": "y",
        "range": [low - (room if low < 0 else 0.02), high + room],
        **_ticks(low, high),
        "title": {"text": "times as deep (log scale)", "font": {"size": 13}, "standoff": 6},
        "color": theme.paper(dark).secondary,
    }


def _ticks(low: float, high: float) -> dict[str, object]:
    """Where a log axis between two powers of ten is labelled: whole powers alone where it is long."""
    ticks = [tick for tick in (0.1, 0.2, 0.5, *TICKS) if low - 0.2 <= math.log10(tick) <= high + 0.2]
    few = [tick for tick in ticks if math.log10(tick).is_integer()] if len(ticks) > 7 else ticks
    return {"tickvals": few, "ticktext": [f"{tick:,}" for tick in few]}


def _bars(figure: go.Figure, rows: Sequence[DepthRow], share: str, *, axis: str, dark: bool) -> None:
    for place, row in enumerate(rows):
        cost = row.xrc[share]
        if cost.value is not None:
            figure.add_bar(
                x=[cost.value - 1],
                base=[1],
                y=[-place],
                orientation="h",
                width=0.56,
                xaxis=axis,
                marker=_bar_mark(row, cost, dark=dark),
                hovertext=[
                    f"<b>{theme.plain(row.system.title)}</b><br>XRC at {share} {at_least(cost)}{cost.value:.4f}"
                    + hollow(row)
                ],
                hoverinfo="text",
                name=f"{theme.plain(row.system.short)}: XRC at {share}",
            )
        _bar_words(figure, row, cost, place=place, axis=axis, dark=dark)


def _bar_mark(row: DepthRow, cost: ReadingCost, *, dark: bool) -> dict[str, object]:
    colour, paper = theme.system_colour(row.system, dark=dark), theme.paper(dark).background
    fill, over = (paper, colour) if row.degenerate else (colour, paper)
    hatch = {"shape": "/", "fgcolor": over, "bgcolor": fill, "fillmode": "replace", "size": 8, "solidity": 0.25}
    return {
        "color": fill,
        "line": {"width": 1.6, "color": colour},
        **({"pattern": hatch} if cost.bound == "at_least" else {}),
    }


def _bar_words(figure: go.Figure, row: DepthRow, cost: ReadingCost, *, place: int, axis: str, dark: bool) -> None:
    page = theme.paper(dark)
    left = cost.value is not None and cost.value < 1
    figure.add_annotation(
        x=0 if cost.value is None else math.log10(cost.value),
        y=-place,
        xref=axis,
        xanchor="right" if left else "left",
        xshift=-5 if left else 5,
        text="undefined" if cost.value is None else f"{at_least(cost)}{cost.value:,.2f}",
        showarrow=False,
        font={"size": 13, "color": page.secondary if cost.value is None or row.degenerate else page.text},
    )


def at_least(cost: ReadingCost) -> str:
    """What stands before a cost of which only a lower bound is known."""
    return "≥ " if cost.bound == "at_least" else ""


# Cost against capability


class Mark(NamedTuple):
    """A system on the chart: XRC at 0.5, and R@10 cross with its interval."""

    row: DepthRow
    cost: ReadingCost
    x: float  # the cost
    gain: float
    low: float
    high: float


def marks(rows: Sequence[DepthRow]) -> list[Mark]:
    """The systems that have both a reading cost at 0.5 and R@10 cross."""
    found = []
    for row in rows:
        cost, gain = row.xrc.get(HALF), row.recall_at_10_cross
        if cost and cost.value is not None and gain and gain.value is not None:
            low, high = (gain.value if end is None else end for end in (gain.low, gain.high))
            found.append(Mark(row, cost, cost.value, gain.value, low, high))
    return found


def against_capability(rows: Sequence[DepthRow], *, dark: bool = False) -> go.Figure:
    """How deep one must read against how much is found: better is up and to the left; the line joins the unbeaten.

    The ink of a mark is ARI, from deep (every miss stands deeper in the run) to paper (deeper finds nothing more).

    Args:
        rows: those without both are left out.
        dark: for the dark theme.
    """
    shown = marks(rows)
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=PLOT[1] + 80)
    _frontier(figure, shown, dark=dark)
    sound = [mark for mark in shown if not mark.row.degenerate]
    page = theme.paper(dark)
    outline: dict[str, object] = {"line": {"width": 1.6, "color": page.text}}
    inked = [mark for mark in sound if _ari(mark.row) is not None]
    _points(figure, inked, marker=_ari_ink(inked, dark=dark) | outline, dark=dark)
    rest = [mark for mark in sound if _ari(mark.row) is None]
    _points(figure, rest, marker={"color": page.lines} | outline, dark=dark)
    dim = {"color": page.background, "line": {"width": 1.4, "color": page.secondary}}
    _points(figure, [mark for mark in shown if mark.row.degenerate], marker=dim, dark=dark)
    frame = _frame(shown)
    figure.update_layout(
        xaxis=_across(frame, dark=dark),
        yaxis=share_axis(dark=dark)
        | {
            "range": [frame.bottom, frame.top],
            "dtick": 0.2 if frame.top > 0.6 else 0.1,
            "title": {"text": "R@10 cross", "font": {"size": 13}, "standoff": 8},
        },
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        hovermode="closest",
    )
    for mark, spot in zip(shown, _spots(shown, frame), strict=True):
        _name(figure, mark, spot, dark=dark)
    return figure


class Box(NamedTuple):
    """A rectangle, upwards and to the right."""

    left: float
    right: float
    bottom: float
    top: float

    def meets(self, other: Box) -> bool:
        """Whether the two have a point in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top

    def holds(self, other: Box) -> bool:
        """Whether the other lies wholly inside."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.bottom <= other.bottom and other.top <= self.top


def _frame(shown: Sequence[Mark]) -> Box:
    """The ends of the axes: powers of ten across, shares upwards."""
    costs = [math.log10(mark.x) for mark in shown]
    reach = max([0.1, *(mark.high for mark in shown)])
    return Box(min([0.0, *costs]) - 0.2, max([0.3, *costs]) + 0.3, -0.03 * reach, 1.1 * reach)


def _across(frame: Box, *, dark: bool) -> dict[str, object]:
    words = "XRC at 0.5: times as deep as answers in the query's own language (log scale)"
    return {
        "type": "log",
        "range": [frame.left, frame.right],
        **_ticks(frame.left + 0.2, frame.right - 0.2),
        "title": {"text": words, "font": {"size": 13}, "standoff": 6},
        "showgrid": True,
        "gridcolor": theme.paper(dark).lines,
    }


def _frontier(figure: go.Figure, shown: Sequence[Mark], *, dark: bool) -> None:
    unbeaten = sorted((mark.x, mark.gain) for mark in shown if mark.row.on_frontier)
    figure.add_scatter(
        x=[cost for cost, _ in unbeaten],
        y=[gain for _, gain in unbeaten],
        mode="lines",
        line={"width": 1.2, "color": theme.paper(dark).secondary, "shape": "hv"},
        hoverinfo="skip",
        name="Pareto frontier",
    )


def _ari_ink(shown: Sequence[Mark], *, dark: bool) -> dict[str, object]:
    k = next((mark.row.curve.at_k.k for mark in shown if mark.row.curve), 0)
    return {
        "color": [_ari(mark.row) for mark in shown],
        "colorscale": [[1 - place, colour] for place, colour in reversed(theme.ink(dark))],
        "cmin": 0,
        "cmax": 1,
        "colorbar": {
            "title": {"text": f"ARI@{k:,} · 0: all misses stand deeper", "side": "right", "font": {"size": 13}},
            "tickvals": [0, 0.5, 1],
            "tickfont": {"size": 13, "color": theme.paper(dark).secondary},
            "thickness": 10,
            "outlinewidth": 0,
            "len": 1,
            "ypad": 0,
        },
    }


def _points(figure: go.Figure, shown: Sequence[Mark], *, marker: Mapping[str, object], dark: bool) -> None:
    if not shown:
        return
    figure.add_scatter(
        x=[mark.x for mark in shown],
        y=[mark.gain for mark in shown],
        mode="markers",
        marker={"size": 14, "symbol": ["triangle-right" if at_least(mark.cost) else "circle" for mark in shown]}
        | dict(marker),
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [mark.high - mark.gain for mark in shown],
            "arrayminus": [mark.gain - mark.low for mark in shown],
            "thickness": 1.2,
            "width": 0,
            "color": theme.see_through(theme.paper(dark).text, alpha=0.45),
        },
        hovertext=[_said(mark) for mark in shown],
        hoverinfo="text",
    )


def _ari(row: DepthRow) -> float | None:
    return row.curve.at_k.ari if row.curve else None


def _said(mark: Mark) -> str:
    found, ari = mark.row.recall_at_10_cross, _ari(mark.row)
    lines = [
        f"<b>{theme.plain(mark.row.system.title)}</b>",
        f"XRC at 0.5 {at_least(mark.cost)}{mark.x:.4f}",
        f"R@10 cross {mark.gain:.4f} ({mark.low:.4f} to {mark.high:.4f}{f', {found.method}' if found else ''})",
        "ARI: nothing is missed" if ari is None else f"ARI {ari:.4f}",
        f"n = {found.n:,}" if found else "",
    ]
    return "<br>".join(lines) + hollow(mark.row)


# Names beside the marks


class Spot(NamedTuple):
    """Where a name stands: pixels from its mark."""

    right: float  # below zero: to the left; 0: above or below
    up: float


def _name(figure: go.Figure, mark: Mark, spot: Spot, *, dark: bool) -> None:
    page = theme.paper(dark)
    dim = bool(mark.row.degenerate)
    chip = "" if dim else f"{theme.chip(theme.system_colour(mark.row.system, dark=dark))} "
    figure.add_annotation(
        x=math.log10(mark.x),
        y=mark.gain,
        ax=spot.right,
        ay=-spot.up,
        xanchor="left" if spot.right > 0 else "right" if spot.right < 0 else "center",
        text=f"{chip}{theme.plain(mark.row.system.short)}",
        showarrow=True,
        arrowhead=0,
        arrowwidth=1,
        standoff=8,
        arrowcolor=theme.see_through(page.text, alpha=0.4),
        font={"size": 14, "color": page.secondary if dim else page.text},
    )


def _candidates() -> Iterator[Spot]:
    """Where a name may stand, the nearest first."""
    yield from (Spot(16, 0), Spot(-16, 0))
    for distance in range(1, 7):
        for up in (22.0 * distance, -22.0 * distance):
            yield from (Spot(16.0 + 4 * distance, up), Spot(0, up), Spot(-16.0 - 4 * distance, up))


def _spots(shown: Sequence[Mark], frame: Box) -> list[Spot]:
    """A place for each name in which it covers no mark, no interval, no other name and not the frame, if any."""
    wide, tall = PLOT

    def up(share: float) -> float:
        return (share - frame.bottom) / (frame.top - frame.bottom) * tall

    at = [((math.log10(mark.x) - frame.left) / (frame.right - frame.left) * wide, up(mark.gain)) for mark in shown]
    taken = [Box(x - 9, x + 9, y - 9, y + 9) for x, y in at]
    taken += [Box(x - 2, x + 2, up(mark.low), up(mark.high)) for (x, _), mark in zip(at, shown, strict=True)]
    whole = Box(0, wide, 0, tall)
    found = []
    for (x, y), mark in zip(at, shown, strict=True):
        options = [(spot, _box(x, y, spot, len(mark.row.system.short) + 3)) for spot in _candidates()]
        free = [(spot, box) for spot, box in options if whole.holds(box) and not any(box.meets(one) for one in taken)]
        spot, box = (free or options)[0]
        taken.append(box)
        found.append(spot)
    return found


def _box(x: float, y: float, spot: Spot, letters: int) -> Box:
    width, half = letters * LETTER[0], LETTER[1] / 2
    left = x + spot.right - (0 if spot.right > 0 else width if spot.right < 0 else width / 2)
    return Box(left, left + width, y + spot.up - half, y + spot.up + half)
