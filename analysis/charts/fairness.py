"""How far apart the languages of each system are."""

from __future__ import annotations

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.charts.lines import lay_out
from analysis.views.fairness import FairnessRow, FairnessTask

LINE = 46
"""Pixels a system."""


def by_language(task: FairnessTask, *, dark: bool = False) -> go.Figure:
    """A dot a query language on one line a system; the pale line between the outermost is the gap.

    Args:
        task: the systems, the first on top.
        dark: for the dark theme.
    """
    figure = go.Figure()
    theme.dress(figure, dark=dark, height=len(task.rows) * LINE + 80)
    for place, row in enumerate(task.rows):
        _draw(figure, -float(place), row, task, dark=dark)
    reach = max([0.1, *(found.high or 0.0 for row in task.rows for found in row.by_language.values())])
    lay_out(
        figure,
        [row.system.short for row in task.rows],
        scale=task.measure.label,
        ends=(-0.02 * reach, 1.06 * reach),  # room for a mark at zero
        above=16,
        dark=dark,
    )
    return figure


def _draw(figure: go.Figure, place: float, row: FairnessRow, task: FairnessTask, *, dark: bool) -> None:
    known = sorted(
        ((tag, interval) for tag, interval in row.by_language.items() if interval.value is not None),
        key=lambda item: item[1].value or 0.0,
    )
    if not known:
        return
    found = [(tag, interval) for tag, interval in known if tag in task.languages]
    ends, colours, measure = [known[0][1].value, known[-1][1].value], _colours(task, dark), task.measure.label
    stroke = {"width": 6, "color": theme.see_through(theme.system_colour(row.system, dark=dark), alpha=0.22)}
    figure.add_scatter(x=ends, y=[place] * 2, mode="lines", line=stroke, hoverinfo="skip")
    figure.add_scatter(
        x=[interval.value for _, interval in found],
        y=[place] * len(found),
        mode="markers+text",
        text=[tag for tag, _ in found],
        textposition=["top center" if turn % 2 else "bottom center" for turn in range(len(found))],
        textfont={"size": 12, "color": theme.paper(dark).text},
        marker={"size": 11, "color": [colours[tag] for tag, _ in found]},
        error_x=theme.interval_bars([interval for _, interval in found], dark=dark),
        hovertext=[
            f"<b>{theme.plain(row.system.title)}</b> · {tag}<br>{measure} {interval.value:.4f}<br>95% interval "
            f"{interval.low:.4f} to {interval.high:.4f}, {interval.method}<br>n = {interval.n:,}"
            for tag, interval in found
        ],
        hoverinfo="text",
    )


def _colours(task: FairnessTask, dark: bool) -> dict[str, str]:
    """The colour of each language shown, or of its script where they are many."""
    if not task.scripts:
        return {tag: theme.language_colour(tag, dark=dark) for tag in task.languages}
    pairs = zip(task.languages, task.scripts, strict=True)
    return {tag: theme.script_colour(script, dark=dark) for tag, script in pairs}
