"""Maps of texts as encoders place them: points in vector graphics, and behind them, where there are many, a picture.

Nothing here needs WebGL: what cannot be drawn point by point is painted once into an image of the same axes.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from analysis.charts import theme
from analysis.views.embedding_map import FOUND, LATER, MISSED, Group, MapView, Picture

HEIGHT = 620
SIZE, LARGE = 5, 10
FAINT = 0.22
THIN = 0.07  # lines of all concepts
PIXELS = 900  # a side of the image
DOT = 1  # pixels around a painted point
MARGIN = 0.04  # of the points' width, left free around them
OUTCOME_COLOURS = {FOUND: ("#0B6470", "#4FB0B4"), LATER: ("#C79100", "#E0B040"), MISSED: ("#D55E00", "#F08040")}
SHAPES = {False: "circle", True: "diamond"}


def embedding_map(
    view: MapView,
    *,
    selected: Sequence[int] = (),
    family: str | None = None,
    joined: bool = False,
    placed: Sequence[tuple[float, float]] = (),
    dark: bool = False,
) -> go.Figure:
    """One or two pictures of the same texts; documents are dots, queries are diamonds.

    Args:
        view: the points.
        selected: rows to bring out, in every picture; the others fade.
        family: a concept whose texts are brought out and joined by lines.
        joined: join the texts of every concept.
        placed: where a live query stands in each picture.
        dark: for the dark theme.
    """
    figure = make_subplots(rows=1, cols=len(view.pictures), horizontal_spacing=0.03)
    theme.dress(figure, dark=dark, height=HEIGHT)
    out = set(selected) | (set(view.family_rows(family).tolist()) if family else set())
    for column, picture in enumerate(view.pictures, start=1):
        _axes(figure, picture, column)
        if len(view.live) < view.n:
            _paint(figure, view, picture, column, faint=bool(out), dark=dark)
        if joined:
            figure.add_trace(_lines(view, picture, np.arange(view.n), alpha=THIN, dark=dark), row=1, col=column)
        if family:
            figure.add_trace(_lines(view, picture, view.family_rows(family), alpha=0.9, dark=dark), row=1, col=column)
        for code, group in enumerate(view.groups):
            if group.n:
                figure.add_trace(_points(view, picture, code, out, dark=dark), row=1, col=column)
        if placed:
            figure.add_trace(_live(placed[column - 1], dark=dark), row=1, col=column)
        theme.head(figure, _title(picture, dark=dark), left=figure.layout[_axis("xaxis", column)].domain[0], dark=dark)
    figure.add_traces([_key(view, code, dark=dark) for code in range(len(view.groups))])
    figure.update_layout(
        showlegend=True,
        legend={**theme.legend(dark=dark), "y": 0, "yanchor": "top", "yref": "paper", "itemsizing": "constant"},
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        dragmode="lasso",
        uirevision="map",
        hovermode="closest",
    )
    return figure


def _title(picture: Picture, *, dark: bool) -> str:
    return f"{theme.chip(theme.system_colour(picture.system, dark=dark))} {theme.plain(picture.system.short)}"


def _axis(name: str, column: int) -> str:
    return name if column == 1 else f"{name}{column}"


def _reach(picture: Picture) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of both axes, a square around all points."""
    points = picture.points[:, :2]
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, float((high - low).max()) / 2 * (1 + 2 * MARGIN) or 1.0
    return (float(middle[0] - half), float(middle[0] + half)), (float(middle[1] - half), float(middle[1] + half))


def _axes(figure: go.Figure, picture: Picture, column: int) -> None:
    x, y = _reach(picture)
    bare = {"visible": False, "fixedrange": False}
    figure.update_xaxes(range=x, **bare, row=1, col=column)
    figure.update_yaxes(range=y, scaleanchor=_axis("x", column), **bare, row=1, col=column)


def _colour(view: MapView, group: Group, code: int, *, dark: bool) -> str:
    if view.colour == "language":
        return theme.language_colour(group.key, dark=dark)
    if view.colour == "outcome":
        return OUTCOME_COLOURS[group.key][dark] if group.key in OUTCOME_COLOURS else theme.paper(dark).secondary
    return theme.OTHER_LANGUAGES[code % len(theme.OTHER_LANGUAGES)]


def _key(view: MapView, code: int, *, dark: bool) -> go.Scatter:
    """A mark of the legend, which stays as it is when points fade."""
    group = view.groups[code]
    return go.Scatter(
        x=[None],
        y=[None],
        mode="markers",
        name=f"{theme.plain(group.title)} ({group.n:,})",
        legendgroup=group.key,
        marker={"color": _colour(view, group, code, dark=dark), "size": SIZE},
    )


def _points(view: MapView, picture: Picture, code: int, out: set[int], *, dark: bool) -> go.Scatter:
    group = view.groups[code]
    known = np.union1d(view.live, np.array(sorted(out), dtype=np.intp)) if out else view.live
    rows = known[view.group[known] == code]
    stands_out = np.array([int(row) in out for row in rows], dtype=bool)
    queries = view.is_query[rows]
    kind = np.where(queries, "query", "document")
    return go.Scatter(
        x=picture.points[rows, 0],
        y=picture.points[rows, 1],
        mode="markers",
        legendgroup=group.key,
        showlegend=False,
        customdata=[[int(row)] for row in rows],
        hovertemplate=[
            f"{view.languages[view.language[row]]} {what} · {theme.plain(str(view.family[row]))}<extra></extra>"
            for row, what in zip(rows, kind, strict=True)
        ],
        marker={
            "color": _colour(view, group, code, dark=dark),
            "symbol": [SHAPES[bool(query)] for query in queries],
            "size": np.where(stands_out, LARGE, SIZE),
            "opacity": np.where(stands_out, 1.0, FAINT if out else 0.75),
            "line": {"width": 0},
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": FAINT if out else 0.75}},
    )


def _lines(view: MapView, picture: Picture, rows: NDArray[np.intp], *, alpha: float, dark: bool) -> go.Scatter:
    """Texts of one concept joined one after the other, in the order of the rows."""
    order = rows[np.argsort(view.family[rows].astype(str), kind="stable")]
    families = view.family[order]
    ends = np.flatnonzero(families[1:] != families[:-1]) + 1
    x, y = (np.insert(picture.points[order, axis], ends, np.nan) for axis in (0, 1))
    colour = theme.see_through(theme.paper(dark).text, alpha=alpha)
    return go.Scatter(x=x, y=y, mode="lines", line={"width": 1, "color": colour}, hoverinfo="skip", showlegend=False)


def _live(place: tuple[float, float], *, dark: bool) -> go.Scatter:
    page = theme.paper(dark)
    return go.Scatter(
        x=[place[0]],
        y=[place[1]],
        mode="markers+text",
        text=["your query"],
        textposition="top center",
        textfont={"size": 14, "color": page.text},
        marker={"symbol": "star", "size": 16, "color": page.accent, "line": {"width": 1, "color": page.text}},
        hoverinfo="skip",
        showlegend=False,
    )


def _paint(figure: go.Figure, view: MapView, picture: Picture, column: int, *, faint: bool, dark: bool) -> None:
    """All points as one image behind those that can be pointed at."""
    (left, right), (bottom, top) = _reach(picture)
    figure.add_layout_image(
        source=image(view, picture, dark=dark),
        x=left,
        y=top,
        sizex=right - left,
        sizey=top - bottom,
        sizing="stretch",
        layer="below",
        opacity=FAINT * 2 if faint else 0.8,
        xref=_axis("x", column),
        yref=_axis("y", column),
    )


def image(view: MapView, picture: Picture, *, dark: bool) -> str:
    """All points of a picture as a PNG in a data address."""
    from PIL import Image

    (left, right), (bottom, top) = _reach(picture)
    x = np.clip((picture.points[:, 0] - left) / (right - left) * PIXELS, DOT, PIXELS - 1 - DOT).astype(int)
    y = np.clip((top - picture.points[:, 1]) / (top - bottom) * PIXELS, DOT, PIXELS - 1 - DOT).astype(int)
    colours = np.array(
        [theme.channels(_colour(view, group, code, dark=dark)) for code, group in enumerate(view.groups)]
    )
    canvas: NDArray[Any] = np.zeros((PIXELS, PIXELS, 4), dtype=np.uint8)
    for down in range(-DOT, DOT + 1):
        for across in range(-DOT, DOT + 1):
            canvas[y + down, x + across, :3] = colours[view.group]
            canvas[y + down, x + across, 3] = 255
    buffer = io.BytesIO()
    Image.fromarray(canvas).save(buffer, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
