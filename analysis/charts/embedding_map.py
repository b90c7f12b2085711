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

from analysis.charts import map_marks, theme
from analysis.charts.map_marks import FAINT
from analysis.views.embedding_map import MapView, Picture

HEIGHT = 620
STILL = 460
ABREAST = 2
THIN = 0.07  # lines of all concepts
PIXELS = 900  # a side of the image
DOT = 1  # pixels around a painted point
MARGIN = 0.04  # of the points' width, left free around them


def embedding_map(
    view: MapView,
    *,
    selected: Sequence[int] = (),
    families: Sequence[str] = (),
    joined: bool = False,
    placed: Sequence[tuple[float, float]] = (),
    dark: bool = False,
) -> go.Figure:
    """One or two pictures of the same texts; documents are dots, queries are diamonds.

    Where colours stand for concepts each has a shape of its own: filled for documents, open for queries. Where they
    stand for numbers, marks grow with them.

    Args:
        view: the points.
        selected: rows to bring out, in every picture; the others fade.
        families: concepts whose texts are brought out and joined by lines.
        joined: join the texts of every concept.
        placed: where a live query stands in each picture.
        dark: for the dark theme.
    """
    figure = make_subplots(rows=1, cols=len(view.pictures), horizontal_spacing=0.03)
    theme.dress(figure, dark=dark, height=HEIGHT)
    joint = view.family_rows(*families)
    out = np.union1d(np.array(selected, dtype=np.intp), joint)
    known = np.union1d(view.live, out)
    for column, picture in enumerate(view.pictures, start=1):
        _axes(figure, picture, column)
        if len(view.live) < view.n:
            axes = _axis("x", column), _axis("y", column)
            _paint(figure, view, column - 1, axes=axes, opacity=FAINT * 2 if len(out) else 0.8, dark=dark)
        traces = [_lines(view, picture, np.arange(view.n), alpha=THIN, dark=dark)] if joined else []
        traces += [_lines(view, picture, joint, alpha=0.9, dark=dark)] if len(joint) else []
        traces += map_marks.marks(view, column - 1, known, out, dark=dark)
        traces += [_live(placed[column - 1], dark=dark)] if placed else []
        figure.add_traces(traces, rows=[1] * len(traces), cols=[column] * len(traces))
        theme.head(figure, _title(picture, dark=dark), left=figure.layout[_axis("xaxis", column)].domain[0], dark=dark)
    figure.add_traces(map_marks.keys(view, dark=dark))
    if view.shade:
        figure.update_layout(coloraxis=map_marks.colour_axis(view, view.shade, dark=dark))
    _with_legend(figure, dark=dark)
    return figure.update_layout(dragmode="lasso", uirevision="map", hovermode="closest")


def still(views: Sequence[MapView], *, dark: bool = False) -> go.Figure:
    """Maps of one picture each that nobody points at: points without words, or where they are many the image alone.

    Args:
        views: coloured by groups.
        dark: for the dark theme.
    """
    across = min(len(views), ABREAST)
    down = -(-len(views) // across)
    figure = make_subplots(rows=down, cols=across, horizontal_spacing=0.03, vertical_spacing=0.12 / down)
    theme.dress(figure, dark=dark, height=STILL * down)
    for number, view in enumerate(views):
        row, column = divmod(number, across)
        _axes(figure, view.pictures[0], number + 1)
        if len(view.live) < view.n:
            _paint(figure, view, 0, axes=(_axis("x", number + 1), _axis("y", number + 1)), opacity=1.0, dark=dark)
        else:
            figure.add_traces(map_marks.still(view, dark=dark), rows=row + 1, cols=column + 1)
        left = figure.layout[_axis("xaxis", number + 1)].domain[0]
        top = figure.layout[_axis("yaxis", number + 1)].domain[1]
        theme.head(figure, _title(view.pictures[0], dark=dark), left=left, top=top, dark=dark)
    named = {key.legendgroup: key for view in views for key in map_marks.keys(view, dark=dark, counted=False)}
    figure.add_traces(list(named.values()))
    return _with_legend(figure, dark=dark)


def _with_legend(figure: go.Figure, *, dark: bool) -> go.Figure:
    """The legend below the pictures, and room for what stands above them."""
    return figure.update_layout(
        showlegend=True,
        legend={**theme.legend(dark=dark), "y": 0, "yanchor": "top", "yref": "paper", "itemsizing": "constant"},
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
    )


def _title(picture: Picture, *, dark: bool) -> str:
    return f"{theme.chip(theme.system_colour(picture.system, dark=dark))} {theme.plain(picture.system.short)}"


def _axis(name: str, number: int) -> str:
    return name if number == 1 else f"{name}{number}"


def _reach(picture: Picture) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of both axes, a square around all points."""
    points = picture.points[:, :2]
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, float((high - low).max()) / 2 * (1 + 2 * MARGIN) or 1.0
    return (float(middle[0] - half), float(middle[0] + half)), (float(middle[1] - half), float(middle[1] + half))


def _axes(figure: go.Figure, picture: Picture, number: int) -> None:
    x, y = _reach(picture)
    bare = {"visible": False, "fixedrange": False}
    figure.layout[_axis("xaxis", number)].update(range=x, **bare)
    figure.layout[_axis("yaxis", number)].update(range=y, scaleanchor=_axis("x", number), **bare)


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


def _paint(figure: go.Figure, view: MapView, place: int, *, axes: tuple[str, str], opacity: float, dark: bool) -> None:
    """All points as one image behind those that can be pointed at."""
    (left, right), (bottom, top) = _reach(view.pictures[place])
    figure.add_layout_image(
        source=image(view, place, dark=dark),
        x=left,
        y=top,
        sizex=right - left,
        sizey=top - bottom,
        sizing="stretch",
        layer="below",
        opacity=opacity,
        xref=axes[0],
        yref=axes[1],
    )


def image(view: MapView, place: int, *, dark: bool) -> str:
    """All points of a picture as a PNG in a data address."""
    from PIL import Image

    picture = view.pictures[place]
    (left, right), (bottom, top) = _reach(picture)
    around = DOT + (view.shade is not None)  # pale dots have a rim
    x = np.clip((picture.points[:, 0] - left) / (right - left) * PIXELS, around, PIXELS - 1 - around).astype(int)
    y = np.clip((top - picture.points[:, 1]) / (top - bottom) * PIXELS, around, PIXELS - 1 - around).astype(int)
    canvas: NDArray[Any] = np.zeros((PIXELS, PIXELS, 4), dtype=np.uint8)
    if around > DOT:
        _stamp(canvas, x, y, np.array(theme.channels(theme.paper(dark).secondary)), around=around)
    _stamp(canvas, x, y, map_marks.channels(view, place, dark=dark), around=DOT)
    buffer = io.BytesIO()
    Image.fromarray(canvas).save(buffer, format="PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _stamp(canvas: NDArray[Any], x: NDArray[Any], y: NDArray[Any], colours: NDArray[Any], *, around: int) -> None:
    """Squares around points."""
    for down in range(-around, around + 1):
        for across in range(-around, around + 1):
            canvas[y + down, x + across, :3] = colours
            canvas[y + down, x + across, 3] = 255
