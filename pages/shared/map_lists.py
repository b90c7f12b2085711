"""The texts behind the embedding map: chosen ones, nearest ones, those placed most differently, and the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from analysis.views import map_lists
from analysis.views.embedding_map import NUMBERS, MapView
from analysis.views.map_colours import ERROR, OUTCOMES
from analysis.views.map_lists import Listed, Near
from pages.shared import address, links, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

SHOWN = 50  # rows of a list; all are in its file


def key(view: MapView, row: int) -> str:
    """A text as the address names it."""
    return f"{'q' if view.is_query[row] else 'd'}{view.position[row]}"


def point(view: MapView) -> int | None:
    """The row of the text that the address names."""
    asked = address.get("point") or ""
    if asked[:1] not in {"q", "d"} or not asked[1:].isdecimal():
        return None
    hits = ((view.position == int(asked[1:])) & (view.is_query == (asked[0] == "q"))).nonzero()[0]
    return int(hits[0]) if len(hits) else None


def download(frame: Frame, view: MapView) -> None:
    """A button that hands over every point: where it stands and what its colour stands for."""
    store, selection = ui.store(), frame.selection
    ui.download_later(
        "CSV of every point", lambda: map_lists.table(store, selection, view), file=f"points-{view.task.name}.csv"
    )


def measures(view: MapView, *, dark: bool) -> Markup:
    """What the space itself says, beside its picture."""
    rows: list[Sequence[Cell] | str] = [
        [
            tables.chip(picture.system, dark=dark),
            *(tables.spread(picture.numbers.get(key), words) for key, words in NUMBERS.items()),
            *map(tables.signed, (picture.trustworthiness, picture.continuity)),
        ]
        for picture in view.pictures
    ]
    columns = {"System": "text"} | dict.fromkeys(NUMBERS.values(), "number")
    columns |= dict.fromkeys(("Trustworthiness", "Continuity"), "number")
    return tables.table(columns, rows, caption="What the space says, and how far the picture can be trusted")


def selection_list(frame: Frame, view: MapView, rows: Sequence[int]) -> None:
    """The texts inside the outline."""
    if not rows:
        ui.grey("Draw around points to list them; click one for its neighbours in the space itself.")
        return
    st.header(f"{len(rows):,} texts chosen", anchor=False)
    every = map_lists.listed(ui.store(), frame.selection, view, rows)
    first = every[:SHOWN]
    if len(first) < len(rows):
        ui.grey(f"The first {len(first):,}; all are in the file.")
    tables.show(_texts(view, first, dark=frame.dark))
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = map_lists.numbers(view)
        header = ["item", "id", "language", "family", "outcome", *shown, "text"]
        lines = [
            [_kind(one), one.id, one.language, one.family, one.outcome, *_numbers(shown, one.row), one.text]
            for one in every
        ]
        ui.download("CSV", header, lines, file=f"map-{view.task.name}.csv")
        queries = [str(view.position[row]) for row in rows if view.is_query[row]]
        if queries:
            words = f"{len(queries):,} queries in the Query explorer →"
            ui.go_to(ui.QUERIES, words, **ui.shared_choices(), among=",".join(queries))


def _numbers(shown: Mapping[str, NDArray[np.float64]], row: int) -> list[float | None]:
    """What the colour of a text stands for; None where it is not known."""
    return [None if np.isnan(values[row]) else float(values[row]) for values in shown.values()]


def _kind(text: Listed) -> str:
    return "query" if text.is_query else "document"


def _to_point(view: MapView, text: Listed, *, dark: bool) -> Markup:
    """A text that becomes the chosen one when it is clicked."""
    words = tables.escaped(text.text or text.id, language=text.language)
    return Markup(tables.badge(text.language, dark=dark) + links.link(words, point=key(view, text.row)))


def _texts(view: MapView, texts: Sequence[Listed], *, dark: bool) -> Markup:
    shown = map_lists.numbers(view)
    rows: list[Sequence[Cell] | str] = [
        [
            _to_point(view, text, dark=dark),
            _kind(text),
            tables.escaped(text.family),
            OUTCOMES[text.outcome],
            *map(tables.signed, _numbers(shown, text.row)),
        ]
        for text in texts
    ]
    columns = {"Text": "passage", "Kind": "text", "Concept": "text", "What becomes of it": "text"}
    columns |= dict.fromkeys(_headings(view), "number")
    return tables.table(columns, rows, caption="Texts")


def _headings(view: MapView) -> list[str]:
    """Of the columns of what colours stand for where they are numbers."""
    if view.shade is None:
        return []
    if view.shade.kind == ERROR:
        return [f"Error, {picture.system.short}" for picture in view.pictures]
    return ["Difference"]


def _nearest(view: MapView, found: Sequence[Near], *, dark: bool) -> Markup:
    rows: list[Sequence[Cell] | str] = [
        [f"{near.cosine:.2f}", _to_point(view, near.text, dark=dark), tables.escaped(near.text.family)]
        for near in found
    ]
    return tables.table({"Cosine": "number", "Text": "passage", "Concept": "text"}, rows, caption="Nearest texts")


def neighbourhood(frame: Frame, view: MapView) -> None:
    """The nearest texts of the chosen one, in the space of each encoder."""
    row = point(view)
    if row is None:
        return
    (text,) = map_lists.listed(ui.store(), frame.selection, view, [row])
    st.header("Nearest in the space itself", anchor=False)
    tables.show(tables.passage(text.text, language=text.language, dark=frame.dark))
    if text.is_query:
        ui.go_to(ui.QUERIES, "Open it in the Query explorer →", **ui.shared_choices(), query=text.id)
    for place, (picture, column) in enumerate(zip(view.pictures, st.columns(len(view.pictures)), strict=True)):
        with column:
            st.subheader(tables.literal(picture.system.short), anchor=False)
            found = map_lists.nearest(ui.store(), frame.selection, view, picture=place, row=row)
            if found:
                tables.show(_nearest(view, found, dark=frame.dark))
            else:
                ui.grey("Only coordinates are known of it, not the vectors.")


def displaced(frame: Frame, view: MapView) -> None:
    """The texts that the two encoders place farthest apart."""
    if not view.displaced:
        return
    first, second = (picture.system.short for picture in view.pictures)
    st.header("Placed most differently", anchor=False)
    ui.grey(tables.literal(
        f"{second}'s picture is turned, mirrored and scaled onto {first}'s; distances in radii of the picture."
    ))  # fmt: skip
    texts = map_lists.listed(ui.store(), frame.selection, view, [each.row for each in view.displaced])
    rows: list[Sequence[Cell] | str] = [
        [f"{each.distance:.2f}", _to_point(view, text, dark=frame.dark), _kind(text)]
        for each, text in zip(view.displaced, texts, strict=True)
    ]
    columns = {"Distance": "number", "Text": "passage", "Kind": "text"}
    tables.show(tables.table(columns, rows, caption="Texts that are placed most differently"))
