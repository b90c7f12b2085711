"""Where the known answers of a live query sit: one mark a document language on a line of ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from analysis.charts import theme

LINE = 46
"""Pixels a row, unless more than three of its marks are near each other."""

LANE = 14
"""Pixels between marks that are stacked."""

LANES = (0, -1, 1, -2, 2)
"""On the line, above it, below it, further above, further below."""

MARGIN = 0.12
"""Room on the axis before rank 1 and after the last mark, in powers of ten."""

BEYOND = 0.3
"""How far after the last rank the mark of what was not found stands."""

NEAR = 0.15
"""Marks closer than this on the log axis of a wide chart are stacked."""


@dataclass(frozen=True)
class RankMark:
    """One known answer."""

    row: str  # one of the rows
    language: str  # the document's
    rank: int | None  # None: not in the ranking
    words: str  # what the hover says, escaped by plotly's own subset of HTML


def rank_strip(
    rows: Sequence[str],
    marks: Sequence[RankMark],
    *,
    n_documents: int,
    top: int = 10,
    narrow: bool = False,
    dark: bool = False,
) -> go.Figure:
    """One line a query, ranks from left to right on a log axis; the first ``top`` are shaded.

    Args:
        rows: what is said of each query, the first on top.
        marks: the known answers; those not in the ranking stand beyond its end.
        n_documents: the length of a ranking.
        top: where the shaded part ends.
        narrow: half of the page is there for it.
        dark: for the dark theme.
    """
    figure = go.Figure()
    end = math.log10(max(n_documents, 100))
    beyond, near = end + BEYOND * (1 + narrow), NEAR * (1 + narrow)
    placed = [_placed([mark for mark in marks if mark.row == row], beyond=beyond, near=near) for row in rows]
    crowded = narrow or any(abs(one.lane) > 1 for row in placed for one in row)  # narrow ones stand side by side
    line = LANE * len(LANES) if crowded else LINE
    last = max([beyond + narrow * near * 1.3, *(one.place for row in placed for one in row)])
    theme.dress(figure, dark=dark, height=len(rows) * line + 84)
    for index, row in enumerate(placed):
        _row(figure, index, row, beyond=beyond, lift=LANE / line, dark=dark)
    _shade(figure, top=top, dark=dark)
    figure.update_layout(
        xaxis=_rank_axis(n_documents, end=end, beyond=beyond, last=last),
        yaxis={
            "range": [len(rows) - 0.5, -0.5],
            "tickvals": list(range(len(rows))),
            "ticktext": list(rows),
            "tickfont": {"size": 14, "color": theme.paper(dark).text},
        },
        margin={"l": 8, "r": 30, "t": 26, "b": 8},
        hovermode="closest",
    )
    return figure


def _rank_axis(n_documents: int, *, end: float, beyond: float, last: float) -> dict[str, object]:
    ticks = [place for place in range(math.ceil(end)) if place < end - (beyond - end)]
    return {
        "range": [-MARGIN, last + MARGIN],
        "tickvals": [*ticks, end, beyond],
        "ticktext": [*(f"{10**place:,}" for place in ticks), f"{n_documents:,}", "not found"],
        "tickangle": 0,
        "title": {"text": "rank of the right answer, log scale", "font": {"size": 13}, "standoff": 8},
        "tickfont": {"size": 13},
    }


def _shade(figure: go.Figure, *, top: int, dark: bool) -> None:
    """The part of the ranks that a reader looks at."""
    page = theme.paper(dark)
    figure.add_vrect(
        x0=-MARGIN,
        x1=math.log10(top + 0.5),
        fillcolor=theme.see_through(page.accent, alpha=0.09),
        line_width=0,
        layer="below",
        annotation={"text": f"first {top}", "font": {"size": 13, "color": page.secondary}, "yanchor": "bottom"},
        annotation_position="top left",
    )


@dataclass(frozen=True)
class _Placed:
    """A mark on its line."""

    mark: RankMark
    place: float  # on the log axis
    lane: int  # 0 on the line, -1 above it, 1 below it


def _placed(marks: Sequence[RankMark], *, beyond: float, near: float) -> list[_Placed]:
    """The marks of one query, each where it covers no other: stacked, and those not found in columns of three."""
    free = dict.fromkeys(LANES, -math.inf)  # where the next mark may stand
    placed = []
    for mark in sorted((mark for mark in marks if mark.rank), key=lambda mark: mark.rank or 0):
        place = math.log10(mark.rank or 1)
        lane = next((lane for lane in LANES if free[lane] <= place), min(LANES, key=free.__getitem__))
        free[lane] = place + near
        placed.append(_Placed(mark, place, lane))
    for number, mark in enumerate(mark for mark in marks if not mark.rank):
        placed.append(_Placed(mark, beyond + number // 3 * near * 1.3, LANES[number % 3]))
    return placed


def _row(figure: go.Figure, index: int, placed: Sequence[_Placed], *, beyond: float, lift: float, dark: bool) -> None:
    """The marks of one query."""
    page = theme.paper(dark)
    figure.add_shape(
        type="line", x0=-MARGIN, x1=beyond, y0=index, y1=index, line={"width": 1, "color": page.lines}, layer="below"
    )
    figure.add_scatter(
        x=[one.place for one in placed],
        y=[index + one.lane * lift for one in placed],
        mode="markers+text",
        text=[one.mark.language for one in placed],
        textposition="middle right",
        textfont={"size": 13, "color": page.text},
        marker={"size": 11, "color": [theme.language_colour(one.mark.language, dark=dark) for one in placed]},
        hovertext=[one.mark.words for one in placed],
        hoverinfo="text",
        cliponaxis=False,
    )
