"""How many words the parts of a benchmark share, on the scale of all shares."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from analysis.charts import theme
from analysis.views.separation import Separation, Side, side_name

LINE = 40
"""Pixels a row."""

ABOVE = 48
"""Pixels above the cells: the names of the columns, in two lines."""

NARROWEST = 0.06
"""Share of the width that a column takes at least."""

LONG = 14
"""Longer titles have smaller letters."""

MANY = 8
"""More sides than these have smaller letters."""

LETTER = 0.0105
"""Share of the width that a letter above a column takes."""


def vocabularies(found: Separation, sides: Sequence[Side], *, dark: bool = False) -> go.Figure:
    """A square of Jaccards; the diagonal, which is 1, stays open.

    Args:
        found: the parts.
        sides: which of their sides are drawn, in this order.
        dark: for the dark theme.
    """
    n = len(sides)
    one = len({side.item for side in sides}) == 1  # then only parts have to be told apart
    above = [[side.part] if one else [side.part, side.words] for side in sides]
    longest = max(len(word) for words in above for word in words)
    width = min(1.0, n * max(NARROWEST, LETTER * longest))
    ink = theme.ink(dark)
    figure = go.Figure()
    figure.update_layout(
        coloraxis={
            "colorscale": [list(stop) for stop in ink],
            "cmin": 0,
            "cmax": 1,
            "colorbar": {
                "title": {"text": "Jaccard", "side": "right"},
                "thickness": 10,
                "outlinewidth": 0,
                "x": width + 0.012,
                "xanchor": "left",
                "xpad": 0,
                "ypad": 0,
                "len": 1,
            },
        }
    )
    theme.dress(figure, dark=dark, height=ABOVE + n * LINE + 16)
    values = [[None if a == b else found.jaccard(a, b) for b in sides] for a in sides]
    for colour in (theme.BLACK, theme.WHITE):
        shown = [[value if _text_colour(value, ink) == colour else None for value in row] for row in values]
        texts = [["" if value is None else theme.cell_text(value) for value in row] for row in shown]
        figure.add_trace(theme.number_cells(shown, texts, size=14 if n <= MANY else 12, colour=colour))
    figure.add_trace(_hover(found, sides))
    places = list(range(n))
    figure.update_xaxes(
        side="top",
        tickvals=places,
        ticktext=["<br>".join(map(theme.plain, words)) for words in above],
        tickfont={"size": 14 if n <= MANY and longest <= LONG else 11},
        tickangle=0,
        range=[-0.5, n - 0.5],
        domain=[0, width],
    )
    names = [theme.plain(side.part if one else side_name(side)) for side in sides]
    figure.update_yaxes(tickvals=places, ticktext=names, range=[n - 0.5, -0.5])
    return figure


def _text_colour(value: float | None, ink: theme.Scale) -> str | None:
    return None if value is None else theme.text_on(theme.colour_at(ink, value))


def _hover(found: Separation, sides: Sequence[Side]) -> go.Scatter:
    """Transparent squares over the cells, which say how many words there are."""
    cells = [
        (column, row, shared)
        for row, a in enumerate(sides)
        for column, b in enumerate(sides)
        if a != b and (shared := found.words_of(a, b)) is not None
    ]
    return go.Scatter(
        x=[column for column, _, _ in cells],
        y=[row for _, row, _ in cells],
        mode="markers",
        marker={"symbol": "square", "size": LINE - 6, "color": theme.CLEAR, "line": {"width": 0}},
        hovertext=[
            f"<b>{theme.plain(side_name(sides[row]))} and {theme.plain(side_name(sides[column]))}</b><br>"
            f"Jaccard {shared.jaccard:.4f}<br>{shared.shared:,} words in both, "
            f"{shared.of_a + shared.of_b - shared.shared:,} in either"
            for column, row, shared in cells
        ],
        hoverinfo="text",
    )
