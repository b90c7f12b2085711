"""Tiers of confusion sets: how alike their members are, and how hard they are for each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import lay_out
from analysis.views.selection import Interval
from analysis.views.tier_order import LEADS, lead
from analysis.views.tiers import TierRow
from analysis.views.validation import BOUNDS, KEPT, MADE, TIERS, Validation

LINE = 34
"""Pixels a line."""

STYLES = {"synonym": ("circle", "#0B6470"), "sibling": ("diamond", "#C79100"), "related": ("square", "#B0486F")}
OTHER = ("triangle-up", "#6B6F76")
"""Of a tier by another name."""


def by_tier(rows: Sequence[TierRow], *, dark: bool = False) -> go.Figure:
    """How often each system has an answer at rank 1, tier by tier: one line a system.

    Args:
        rows: of all queries and of each tier, the first system on top.
        dark: for the dark theme.
    """
    measure = lead(rows)
    systems = list(dict.fromkeys(row.system for row in rows))
    figure = theme.dress(go.Figure(), dark=dark, height=len(systems) * LINE + 100)
    for tier in dict.fromkeys(row.tier for row in rows if row.tier is not None):
        found = {systems.index(row.system): getattr(row, measure) for row in rows if row.tier == tier}
        names = [systems[at].title for at in found]
        _marks(figure, tier, {-float(at): value for at, value in found.items()}, names, dark=dark)
    scale = f"share of queries with an answer at rank 1, {LEADS[measure]}"
    _lay_out(figure, [label.short for label in systems], scale=scale, dark=dark)
    return figure


def cosines(found: Validation, *, dark: bool = False) -> go.Figure:
    """Mean cosine of each tier by each validator: filled as kept, open as made; on top what a tier allows."""
    figure = theme.dress(go.Figure(), dark=dark, height=(len(found.names) + 1) * (LINE + 12) + 100)
    for tier in TIERS:
        low, high = BOUNDS[tier]
        figure.add_scatter(
            x=[low, high],
            y=[_lift(tier)] * 2,
            mode="lines",
            line={"width": 5, "color": _colour(tier, dark=dark)},
            hovertext=f"{tier}: {low:.2f} to {high:.2f}",
            hoverinfo="text",
            showlegend=False,
        )
        for which, lift, filled in ((KEPT, 0.15, True), (MADE, -0.15, False)):
            mine = {row.validator: row.mean for row in found.cosines if (row.tier, row.which) == (tier, which)}
            shown = [(at, name) for at, name in enumerate(found.names) if mine[name].value is not None]
            places = {lift - at - 1: mine[name] for at, name in shown}
            names = [f"{name}, {which}" for _, name in shown]
            _marks(figure, f"{tier}, {which}", places, names, dark=dark, tier=tier, filled=filled)
    _lay_out(figure, ["a tier allows", *found.names], scale="mean cosine of the sets", dark=dark)
    return figure


def _marks(
    figure: go.Figure,
    name: str,
    places: Mapping[float, Interval],
    titles: Sequence[str],
    *,
    dark: bool,
    tier: str | None = None,
    filled: bool = True,
) -> None:
    """One tier's marks with their intervals, by height."""
    symbol, _ = STYLES.get(tier or name, OTHER)
    colour, intervals = _colour(tier or name, dark=dark), list(places.values())
    figure.add_scatter(
        x=[one.value for one in intervals],
        y=list(places),
        mode="markers",
        name=theme.plain(name),
        marker={"size": 11, "symbol": symbol if filled else f"{symbol}-open", "color": colour, "line": {"width": 2}},
        error_x=theme.interval_bars(intervals, dark=dark) | {"color": colour, "thickness": 1.5},
        hovertext=[
            f"<b>{theme.plain(title)}</b><br>{theme.plain(name)}: {one.value:.4f}<br>"
            f"95% interval {one.low:.4f} to {one.high:.4f}, {one.method}<br>n = {one.n:,}"
            for title, one in zip(titles, intervals, strict=True)
        ],
        hoverinfo="text",
    )


def _colour(tier: str, *, dark: bool) -> str:
    colour = STYLES.get(tier, OTHER)[1]
    return theme.mix(colour, "#FFFFFF", share=0.4) if dark else colour


def _lift(tier: str) -> float:
    """Bounds overlap, so each tier's lies a little lower than the one before."""
    return 0.2 - 0.2 * TIERS.index(tier)


def _lay_out(figure: go.Figure, names: Sequence[str], *, scale: str, dark: bool) -> None:
    ends = (min(0.0, *_values(figure)) - 0.01, 1.02)
    lay_out(figure, names, scale=scale, ends=ends, step=0.2, above=40, below=0.6, legend=True, dark=dark)


def _values(figure: go.Figure) -> list[float]:
    """Every place a mark has, and 0."""
    return [0.0, *(value for trace in figure.data for value in trace.x)]
