"""The layout of charts with one line a name: names on the left, a scale along the bottom."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from analysis.charts import theme


def lay_out(
    figure: go.Figure,
    names: Sequence[str],
    *,
    scale: str,
    ends: tuple[float, float],
    step: float | None = None,
    above: int = 8,
    below: float = 0.4,
    legend: bool = False,
    dark: bool,
) -> None:
    """Lay out a dressed figure whose marks of the first name stand at height 0, of the next at -1 and so on.

    Args:
        figure: with its marks.
        names: of the lines, as they are written.
        scale: what it measures, as markup.
        ends: of the scale.
        step: between two lines of the grid; None: Plotly chooses.
        above: pixels over the plot.
        below: room under the last line, in lines.
        legend: whether there is one, over the plot.
        dark: for the dark theme.
    """
    figure.update_layout(
        xaxis={
            "range": list(ends),
            "dtick": step,
            "title": {"text": scale, "font": {"size": 13}, "standoff": 6},
            "showgrid": True,
            "gridcolor": theme.paper(dark).lines,
        },
        yaxis=names_axis([theme.plain(name) for name in names], below=below, dark=dark),
        margin={"l": 8, "r": 12, "t": above, "b": 8},
        hovermode="closest",
    )
    if legend:
        figure.update_layout(showlegend=True, legend=theme.legend(dark=dark))


def names_axis(words: Sequence[str], *, below: float = 0.4, dark: bool) -> dict[str, object]:
    """One line a name, the first on top; ``words`` are markup, ``below`` is the room under the last line."""
    return {
        "range": [1 - below - len(words), 0.6],
        "tickvals": [-place for place in range(len(words))],
        "ticktext": list(words),
        "tickfont": {"size": 14, "color": theme.paper(dark).text},
        "ticklabelstandoff": 8,
    }
