"""The leaderboard of published figures: a bar a system, from zero and without an interval."""

from __future__ import annotations

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import lay_out
from analysis.views.published import PublishedBoard, PublishedSystem
from analysis.views.selection import MeasureLabel

LINE = 30
"""Pixels a system."""

SEE_THROUGH = 0.35
"""How pale a bar is: what others published is not drawn like what was measured."""


def leaderboard(board: PublishedBoard, *, dark: bool = False) -> go.Figure:
    """A pale outlined bar a system, the best on top; a system without a figure has none.

    Args:
        board: the systems, best first.
        dark: for the dark theme.
    """
    rows = list(board.rows)
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(rows) * LINE + 90)
    for place, row in enumerate(rows):
        _draw(figure, -float(place), row, board=board, dark=dark)
    lay_out(
        figure,
        [row.system.short for row in rows],
        scale=f"{theme.plain(board.lead.label)}, published",
        ends=(0, 1.08),
        step=0.2,
        dark=dark,
    )
    return figure


def _draw(figure: go.Figure, place: float, row: PublishedSystem, *, board: PublishedBoard, dark: bool) -> None:
    mean = row.measures[board.lead.key]
    value = mean.value if board.n_shared else mean.own
    if value is None:
        return
    colour = theme.system_colour(row.system, dark=dark)
    figure.add_bar(
        x=[value],
        y=[place],
        orientation="h",
        width=0.62,
        marker={"color": theme.see_through(colour, alpha=SEE_THROUGH), "line": {"width": 1.4, "color": colour}},
        hovertext=[_hover(row, board.lead, board.n_shared)],
        hoverinfo="text",
        name=theme.plain(row.system.short),
    )
    figure.add_annotation(
        x=value,
        y=place,
        text=f"{value:.2f}",
        xanchor="left",
        xshift=6,
        showarrow=False,
        font={"size": 14, "color": theme.paper(dark).text},
    )


def _hover(row: PublishedSystem, lead: MeasureLabel, n_shared: int) -> str:
    mean = row.measures[lead.key]
    lines = [f"<b>{theme.plain(row.system.title)}</b> · {theme.plain(row.system.paradigm)}"]
    if mean.value is not None:
        lines.append(f"{theme.plain(lead.label)} {mean.value:.4f} over the {n_shared:,} subsets that all systems have")
    if mean.own is not None and mean.own != mean.value:
        lines.append(f"{mean.own:.4f} over all {mean.n:,} of its own")
    lines.append(f"published, {theme.plain(row.program or 'program unknown')}; no interval")
    return "<br>".join(lines)
