"""The marks of a map: what their colour, shape and size stand for, and the legend that says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from analysis.charts import theme
from analysis.views.embedding_map import MapView
from analysis.views.map_colours import CONCEPT, ERROR, FOUND, LANGUAGE, LATER, MISSED, OTHERS, OUTCOME, Shade

SIZE, NEAR, LARGE = 5, 8, 10
SMALLEST, GROWTH, BROUGHT_OUT = 4, 6, 3
"""Pixels of a mark whose colour is a number: the farther from none, the larger."""
FAINT, USUAL = 0.22, 0.75
OUTCOME_COLOURS = {FOUND: ("#0B6470", "#4FB0B4"), LATER: ("#C79100", "#E0B040"), MISSED: ("#D55E00", "#F08040")}
SHAPES = {False: "circle", True: "diamond"}
STEPS = 256  # of a scale in an image


def marks(view: MapView, place: int, known: NDArray[np.intp], out: NDArray[np.intp], *, dark: bool) -> list[go.Scatter]:
    """The marks of one picture, one trace a colour; on top what stands out.

    Args:
        view: the map.
        place: of the picture.
        known: rows that are drawn one by one.
        out: rows that are brought out; the others fade.
        dark: for the dark theme.
    """
    stands_out = np.isin(known, out)
    if view.shade:
        return list(_shaded(view, view.shade, place, known, stands_out, dark=dark))
    order = sorted(range(len(view.groups)), key=lambda code: view.groups[code].key != OTHERS)
    return [
        _of_group(view, place, code, known[mine], stands_out[mine], fades=bool(len(out)), dark=dark)
        for code in order
        if (mine := view.group[known] == code).any()
    ]


def still(view: MapView, *, dark: bool) -> list[go.Scatter]:
    """The marks of the first picture without words, one trace a colour and kind, in single precision."""
    points = view.pictures[0].points.astype(np.float32)
    return [
        go.Scatter(
            x=points[mine, 0],
            y=points[mine, 1],
            mode="markers",
            showlegend=False,
            legendgroup=theme.plain(group.key),
            hoverinfo="skip",
            marker={
                "color": _colour(view, code, dark=dark),
                "symbol": _symbol(view, code, is_query=is_query),
                "size": SIZE,
                "opacity": USUAL,
                "line": {"width": 0},
            },
        )
        for code, group in enumerate(view.groups)
        for is_query in (False, True)
        if (mine := (view.group == code) & (view.is_query == is_query)).any()
    ]


def _of_group(
    view: MapView,
    place: int,
    code: int,
    rows: NDArray[np.intp],
    stands_out: NDArray[np.bool_],
    *,
    fades: bool,
    dark: bool,
) -> go.Scatter:
    group, is_concept = view.groups[code], view.colour == CONCEPT
    is_told = is_concept and group.key != OTHERS
    usual = 1.0 if is_told else FAINT if fades or is_concept else USUAL
    colour = _colour(view, code, dark=dark)
    trace = _scatter(view, place, rows)
    trace.update(
        legendgroup=theme.plain(group.key),
        marker={
            "color": colour,
            "symbol": [_symbol(view, code, is_query=bool(query)) for query in view.is_query[rows]],
            "size": np.where(stands_out, LARGE, NEAR if is_told else SIZE),
            "opacity": np.where(stands_out, 1.0, usual),
            "line": {"width": 1.5 if is_told else 0, "color": colour},
        },
        unselected={"marker": {"opacity": usual}},
    )
    return trace


def _shaded(
    view: MapView,
    shade: Shade,
    place: int,
    known: NDArray[np.intp],
    stands_out: NDArray[np.bool_],
    *,
    dark: bool,
) -> Iterator[go.Scatter]:
    """Marks coloured by a number, the smallest on top, so that none is hidden; below them what has none."""
    values = shade.values[place][known]
    order = np.argsort(-np.abs(values), kind="stable")
    usual = FAINT if stands_out.any() else 1.0
    for rows, has_number in ((order[np.isnan(values[order])], False), (order[~np.isnan(values[order])], True)):
        if not len(rows):
            continue
        page, trace = theme.paper(dark), _scatter(view, place, known[rows])
        number = {"color": values[rows], "coloraxis": "coloraxis"} if has_number else {"color": page.secondary}
        size = SMALLEST + GROWTH * np.abs(values[rows]) / reach(shade) if has_number else np.full(len(rows), SMALLEST)
        trace.update(
            marker={
                **number,
                "symbol": [SHAPES[bool(query)] for query in view.is_query[known[rows]]],
                "size": np.where(stands_out[rows], size + BROUGHT_OUT, size),
                "opacity": np.where(stands_out[rows], 1.0, usual if has_number else FAINT),
                "line": {"width": 0.5 if has_number else 0, "color": page.secondary},
            },
            unselected={"marker": {"opacity": usual if has_number else FAINT}},
        )
        yield trace


def _scatter(view: MapView, place: int, rows: NDArray[np.intp]) -> go.Scatter:
    """Points that can be pointed at."""
    points = view.pictures[place].points
    return go.Scatter(
        x=points[rows, 0],
        y=points[rows, 1],
        mode="markers",
        showlegend=False,
        customdata=[[int(row)] for row in rows],
        hovertemplate=[f"{_words(view, place, row)}<extra></extra>" for row in rows.tolist()],
        selected={"marker": {"opacity": 1}},
    )


def _words(view: MapView, place: int, row: int) -> str:
    """What a hover says of a text: language, kind, concept, and what its colour stands for."""
    kind = "query" if view.is_query[row] else "document"
    words = f"{view.languages[view.language[row]]} {kind} · {theme.plain(str(view.family[row]))}"
    if view.shade:
        return f"{words}<br>{_number(view.shade, place, row, kind)}"
    if view.colour in {LANGUAGE, CONCEPT}:
        return words
    return f"{words}<br>{theme.plain(view.groups[view.group[row]].title)}"


def _number(shade: Shade, place: int, row: int, kind: str) -> str:
    value = shade.values[place][row]
    if np.isnan(value):
        return "not judged"
    if shade.kind == ERROR:
        return f"1 − nDCG@10 {value:.4f}" if kind == "query" else f"missed by {value:.4f} of the queries it answers"
    what = "nDCG@10" if kind == "query" else "share of the queries it answers that find it"
    return f"{what} {value:+.4f}"


def _colour(view: MapView, code: int, *, dark: bool) -> str:
    key = view.groups[code].key
    if view.colour == LANGUAGE:
        return theme.language_colour(key, dark=dark)
    if view.colour == CONCEPT:
        return theme.paper(dark).secondary if key == OTHERS else theme.apart_colour(code, dark=dark)
    if view.colour == OUTCOME:
        return OUTCOME_COLOURS[key][dark] if key in OUTCOME_COLOURS else theme.paper(dark).secondary
    return theme.OTHER_LANGUAGES[code % len(theme.OTHER_LANGUAGES)]


def _symbol(view: MapView, code: int, *, is_query: bool) -> str:
    if view.colour != CONCEPT or view.groups[code].key == OTHERS:
        return SHAPES[is_query]
    return theme.APART_SYMBOLS[code % len(theme.APART_SYMBOLS)] + ("-open" if is_query else "")


def keys(view: MapView, *, dark: bool, counted: bool = True) -> list[go.Scatter]:
    """The marks of the legend, which stay as they are when points fade.

    Args:
        view: the map.
        dark: for the dark theme.
        counted: with how many points there are of each.
    """
    if view.shade:
        unknown = max(int(np.isnan(values).sum()) for values in view.shade.values)
        return [_key(f"not judged ({unknown:,})", theme.paper(dark).secondary)] if unknown else []
    return [
        _key(
            theme.plain(group.title) + (f" ({group.n:,})" if counted else ""),
            _colour(view, code, dark=dark),
            symbol=_symbol(view, code, is_query=False),
            group=theme.plain(group.key),
        )
        for code, group in enumerate(view.groups)
    ]


def _key(words: str, colour: str, *, symbol: str = "circle", group: str | None = None) -> go.Scatter:
    marker = {"color": colour, "symbol": symbol, "size": SIZE}
    return go.Scatter(x=[None], y=[None], mode="markers", name=words, legendgroup=group, marker=marker)


# Numbers


def reach(shade: Shade) -> float:
    """Where a scale ends: errors at 1, differences at the next quarter on both sides."""
    if shade.kind == ERROR:
        return 1.0
    return theme.difference_reach(float(np.nanmax(np.abs(shade.values[0]), initial=0.0)))


def scale(shade: Shade, *, dark: bool) -> theme.Scale:
    """Ink for what is found, none for what is missed; or blue, paper and orange."""
    if shade.kind == ERROR:
        return tuple((1 - place, colour) for place, colour in reversed(theme.ink(dark)))
    return theme.difference_scale(dark)


def colour_axis(view: MapView, shade: Shade, *, dark: bool) -> dict[str, Any]:
    """The scale of a number below the pictures, its ends in words."""
    end = reach(shade)
    ticks = {0.0: "0<br>nothing missed", 0.5: "0.5", 1.0: "1<br>all missed"}
    if shade.kind != ERROR:
        first, second = (theme.plain(picture.system.short) for picture in view.pictures)
        ticks = {
            -end: f"−{end:.2f}<br>{second} ahead",
            0.0: "0<br>no difference",
            end: f"+{end:.2f}<br>{first} ahead",
        }
    return {
        "colorscale": [list(stop) for stop in scale(shade, dark=dark)],
        "cmin": 0 if shade.kind == ERROR else -end,
        "cmax": end,
        "colorbar": {
            "tickvals": list(ticks),
            "ticktext": list(ticks.values()),
            "tickfont": {"size": 13, "color": theme.paper(dark).secondary},
            "thickness": 10,
            "outlinewidth": 0,
            "orientation": "h",
            "len": 0.5,
            "x": 0.6,  # right of the legend
            "y": 0,
            "yanchor": "top",
            "ypad": 0,
        },
    }


def channels(view: MapView, place: int, *, dark: bool) -> NDArray[Any]:
    """The colour of every point of a picture, ``(P, 3)``."""
    if not view.shade:
        return np.array([theme.channels(_colour(view, code, dark=dark)) for code in range(len(view.groups))])[
            view.group
        ]
    shade, values = view.shade, view.shade.values[place]
    known = ~np.isnan(values)
    low = 0.0 if shade.kind == ERROR else -reach(shade)
    steps = np.round((np.where(known, values, low) - low) / (reach(shade) - low) * (STEPS - 1)).astype(int)
    colours = [theme.colour_at(scale(shade, dark=dark), step / (STEPS - 1)) for step in range(STEPS)]
    table = np.array([theme.channels(colour) for colour in colours])
    return np.where(known[:, np.newaxis], table[steps], theme.channels(theme.paper(dark).secondary))
