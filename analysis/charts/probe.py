"""Where the known answers of a live query sit: one mark a document language on a line of ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from analysis.charts import theme

LINE = 46
"""Pixels a row."""

MARGIN = 0.12
"""Room on the axis before rank 1 and after the last mark, in powers of ten."""

BEYOND = 0.3
"""How far after the last rank the mark of what was not found stands."""

NEAR = 0.11
"""Marks closer than this on the log axis are stacked."""


@dataclass(frozen=True)
class RankMark:
    """One known answer."""

    row: str  # the query's language
    language: str  # the document's
    rank: int | None  # None: not in the ranking
    words: str  # what the hover says, escaped by plotly's own subset of HTML


def rank_strip(
    rows: Sequence[str], marks: Sequence[RankMark], *, n_documents: int, top: int = 10, dark: bool = False
) -> go.Figure:
    """One line a query language, ranks from left to right on a log axis; the first ``top`` are shaded.

    Args:
        rows: query languages, the first on top.
        marks: the known answers; those not in the ranking stand beyond its end.
        n_documents: the length of a ranking.
        top: where the shaded part ends.
        dark: for the dark theme.
    """
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(rows) * LINE + 84)
    end = math.log10(max(n_documents, 100))
    for index, row in enumerate(rows):
        _row(figure, index, [mark for mark in marks if mark.row == row], beyond=end + BEYOND, dark=dark)
    _shade(figure, top=top, dark=dark)
    figure.update_layout(
        xaxis=_rank_axis(n_documents, end=end),
        yaxis={
            "range": [len(rows) - 0.5, -0.5],
            "tickvals": list(range(len(rows))),
            "ticktext": [f"{row} query" for row in rows],
            "tickfont": {"size": 14, "color": theme.paper(dark).text},
        },
        margin={"l": 8, "r": 30, "t": 26, "b": 8},
        hovermode="closest",
    )
    return figure


def _rank_axis(n_documents: int, *, end: float) -> dict[str, object]:
    ticks = [place for place in range(math.ceil(end)) if place < end - 0.25]
    return {
        "range": [-MARGIN, end + BEYOND + MARGIN],
        "tickvals": [*ticks, end, end + BEYOND],
        "ticktext": [*(f"{10**place:,}" for place in ticks), f"{n_documents:,}", "not found"],
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


def _row(figure: go.Figure, index: int, marks: Sequence[RankMark], *, beyond: float, dark: bool) -> None:
    """The marks of one query language, those that would cover each other stacked."""
    page = theme.paper(dark)
    figure.add_shape(
        type="line", x0=-MARGIN, x1=beyond, y0=index, y1=index, line={"width": 1, "color": page.lines}, layer="below"
    )
    placed = sorted(
        ((math.log10(mark.rank) if mark.rank else beyond, mark) for mark in marks), key=lambda item: item[0]
    )
    lifts = _lifts([place for place, _ in placed])
    colours = [theme.language_colour(mark.language, dark=dark) for _, mark in placed]
    figure.add_scatter(
        x=[place for place, _ in placed],
        y=[index + lift for lift in lifts],
        mode="markers+text",
        text=[mark.language for _, mark in placed],
        textposition="middle right",
        textfont={"size": 13, "color": page.text},
        marker={"size": 11, "color": colours},
        hovertext=[mark.words for _, mark in placed],
        hoverinfo="text",
        cliponaxis=False,
    )


def _lifts(places: Sequence[float]) -> list[float]:
    """How far each mark moves off its line, in rows: 0, up, down, in turn, while marks are near each other."""
    steps = (0.0, -0.3, 0.3)
    lifts: list[float] = []
    run = 0
    for index, place in enumerate(places):
        run = run + 1 if index and place - places[index - 1] < NEAR else 0
        lifts.append(steps[run % len(steps)])
    return lifts
