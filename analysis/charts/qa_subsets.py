"""How systems do on the questions whose translation may be trusted, and on all."""

from __future__ import annotations

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import lay_out
from analysis.views.qa_subsets import ALL, OFFICIAL, PASSING, QaSubsets, SubsetRow

LINE = 66
"""Pixels a system."""

MARKS = {PASSING: ("circle", 0.2), OFFICIAL: ("diamond", 0.0), ALL: ("square-open", -0.2)}
"""Mark and height of each subset on its system's line."""


def qa_subsets(found: QaSubsets, *, dark: bool = False) -> go.Figure:
    """Three marks with their intervals on one line a system, the best on all queries on top.

    Args:
        found: the subsets.
        dark: for the dark theme.
    """
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(found.rows) * LINE + 110)
    for name in MARKS:
        _draw(figure, name, found, dark=dark)
    ends = [row.means[name].high or row.means[name].value or 0.0 for row in found.rows for name in MARKS]
    reach = max([0.1, *ends])
    lay_out(
        figure,
        [row.system.short for row in found.rows],
        scale=found.measure.label,
        ends=(-0.02 * reach, 1.06 * reach),
        above=36,
        legend=True,
        dark=dark,
    )
    return figure


def _draw(figure: go.Figure, name: str, found: QaSubsets, *, dark: bool) -> None:
    symbol, height = MARKS[name]
    ink = theme.paper(dark).text
    figure.add_scatter(  # what the legend shows: a mark without a system's colour
        x=[None],
        y=[None],
        mode="markers",
        name=f"{name} ({found.n_queries[name]:,} queries)",
        marker={"size": 11, "symbol": symbol, "color": ink, "line": {"width": 2, "color": ink}},
        hoverinfo="skip",
    )
    known = [(place, row) for place, row in enumerate(found.rows) if row.means[name].value is not None]
    figure.add_scatter(
        x=[row.means[name].value for _, row in known],
        y=[height - place for place, _ in known],
        mode="markers",
        showlegend=False,
        marker={
            "size": 11,
            "symbol": symbol,
            "color": [theme.system_colour(row.system, dark=dark) for _, row in known],
            "line": {"width": 2, "color": [theme.system_colour(row.system, dark=dark) for _, row in known]},
        },
        error_x=theme.interval_bars([row.means[name] for _, row in known], dark=dark),
        hovertext=[_hover(row, name, found) for _, row in known],
        hoverinfo="text",
    )


def _hover(row: SubsetRow, name: str, found: QaSubsets) -> str:
    mean = row.means[name]
    between = "" if mean.low is None else f"<br>95% interval {mean.low:.4f} to {mean.high:.4f}, {mean.method}"
    words = f"<b>{theme.plain(row.system.title)}</b> · {name}<br>{found.measure.label} {mean.value:.4f}"
    return f"{words}{between}<br>n = {mean.n:,}"
