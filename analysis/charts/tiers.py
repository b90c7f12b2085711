"""What stood above the answer, and what stood at rank 1 instead of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import lay_out
from analysis.views.tiers import SAME_CONCEPT, Outcomes, TierRow

LINE = 34
"""Pixels a system."""

SYMBOLS = {"sibling": "circle", "related": "diamond", "unrelated": "square"}
OUTCOMES = {"same concept": "#1F7480", "sibling": "#C79100", "related": "#D9825B", "unrelated": "#9AA0A6"}
WORDS = {"same": "", "other": ", another language"}


def discrimination(rows: Sequence[TierRow], *, dark: bool = False) -> go.Figure:
    """How often the answer stands above every sibling, related and unrelated document: one line a system.

    Args:
        rows: one a system, the first on top.
        dark: for the dark theme.
    """
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(rows) * LINE + 100)
    for name, symbol in SYMBOLS.items():
        shown = [(place, row, row.discrimination[name]) for place, row in enumerate(rows)]
        drawn = [(place, row, found) for place, row, found in shown if found.value is not None]
        figure.add_scatter(
            x=[found.value for _, _, found in drawn],
            y=[-place for place, _, _ in drawn],
            mode="markers",
            name=f"above every {name}",
            marker={
                "size": 11,
                "symbol": symbol,
                "color": [theme.system_colour(row.system, dark=dark) for _, row, _ in drawn],
            },
            error_x=theme.interval_bars([found for _, _, found in drawn], dark=dark),
            hovertext=[
                f"<b>{theme.plain(row.system.title)}</b><br>above every {name}: {found.value:.4f}<br>"
                f"95% interval {found.low:.4f} to {found.high:.4f}, {found.method}<br>n = {found.n:,}"
                for _, row, found in drawn
            ],
            hoverinfo="text",
        )
    _lay_out(figure, [row.system.short for row in rows], scale="share of queries whose answer stands above", dark=dark)
    return figure


def outcomes(bars: Mapping[str, Outcomes], *, answer: str = SAME_CONCEPT, dark: bool = False) -> go.Figure:
    """What stands at rank 1, as shares of the queries: a bar a line; hatched where it is in another language.

    Each part of a bar carries its line, relation and language, for clicks.

    Args:
        bars: name of the line -> shares, the first on top.
        answer: what the first of the relations is called.
        dark: for the dark theme.
    """
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(bars) * LINE + 120)
    page = theme.paper(dark)
    for name, colour in OUTCOMES.items():
        called = answer if name == SAME_CONCEPT else name
        for language, words in WORDS.items():
            shares = [bar[name][language] for bar in bars.values()]
            figure.add_bar(
                x=shares,
                y=[-place for place in range(len(bars))],
                customdata=[[line, name, language] for line in bars],
                orientation="h",
                width=0.62,
                name=f"{called}{words}",
                marker={
                    "color": colour,
                    "line": {"width": 0.5, "color": page.background},
                    "pattern": {
                        "shape": "/" if language == "other" else "",
                        "fgcolor": page.background,
                        "bgcolor": colour,
                        "fillmode": "replace",
                        "size": 7,
                        "solidity": 0.3,
                    },
                },
                hovertext=[
                    f"<b>{theme.plain(line)}</b><br>at rank 1: {called}{words}<br>{share:.4f} of the queries"
                    for line, share in zip(bars, shares, strict=True)
                ],
                hoverinfo="text",
            )
    figure.update_layout(barmode="stack")
    figure.update_layout(clickmode="event+select")
    _lay_out(figure, list(bars), scale="share of queries by what stands at rank 1", dark=dark)
    return figure


def _lay_out(figure: go.Figure, names: Sequence[str], *, scale: str, dark: bool) -> None:
    lay_out(figure, names, scale=scale, ends=(0, 1.02), step=0.2, above=40, legend=True, dark=dark)
