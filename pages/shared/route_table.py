"""The queries behind one cell of a heatmap: chosen by a click or by select boxes, both through ``choose``."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.views import routes
from analysis.views.routes import RouteCell, RouteDifference, RouteQueries, RoutesView
from pages.shared import address, tables, ui
from pages.shared.tables import Cell, Markup

FEW = 25  # rows before one asks for all
JUMP = "<script>document.querySelector('.st-key-route')?.scrollIntoView({behavior: 'smooth', block: 'start'});</script>"


def choose(cell: Sequence[str]) -> None:
    """Make a cell (system, query language, document language) the chosen one."""
    system, query_language, document_language = cell
    address.put(system=system, route=(query_language, document_language))
    st.session_state["jump"] = True


def chosen(view: RoutesView) -> tuple[str, str, str] | None:
    """The cell that the address names, where the view has it."""
    route = address.many("route") or ()
    asked = address.get("system")
    known = {label.name for label in view.systems}
    if len(route) != 2 or not known or not set(route) <= set(view.languages):
        return None
    return (asked if asked in known else view.systems[0].name), route[0], route[1]


def pickers(view: RoutesView) -> str | None:
    """Select boxes that do what a click does; returns the system to compare with, if one is chosen."""
    known = {label.name: label.short for label in view.systems}
    pairs = list(dict.fromkeys(f"{cell.query_language},{cell.document_language}" for cell in view.cells if cell.n))
    names = dict(zip(view.languages, view.language_names, strict=True))
    which, system, minus = st.columns(3)
    with which:
        address.choose(
            st.selectbox,
            "Look at a route",
            ["", *pairs],
            name="route",
            default="",
            format_func=lambda pair: (
                " → ".join(names[tag] for tag in pair.split(",")) if pair else "click a cell, or choose here"
            ),
        )
    with system:
        looked_at = address.choose(
            st.selectbox, "System", list(known), name="system", default=next(iter(known)), format_func=known.__getitem__
        )
    with minus:
        others = [name for name in known if name != looked_at]
        compared = address.choose(
            st.selectbox,
            "Compare with",
            ["", *others],
            name="minus",
            default="",
            format_func=lambda name: known.get(name, "no difference"),
        )
    return compared or None


def show(found: RouteQueries, *, dark: bool) -> None:
    """The queries of the chosen route, the worst first, with the rank each system gave each right answer."""
    with st.container(key="route"):
        if not found.rows:
            words = f"None of the queries asked in {found.query_language} has an answer in {found.document_language}."
            ui.nothing(words, next_step="Choose another route above.")
            return
        st.header(tables.literal(found.title), anchor=False)
        every = len(found.rows) <= FEW or address.get("rows") == "yes"
        rows = found.rows if every else found.rows[:FEW]
        shown = f"{len(rows):,} of {len(found.rows):,} right answers, the worst first"
        near = "at rank 1" if found.k == 1 else f"in the first {found.k}"
        ui.grey(f"Ranks; a query fails when no {found.document_language} answer is {near} · {shown}")
        columns = (
            {"Query": "passage", "Right answer": "passage"}
            | {label.short: "number" for label in found.systems}
            | {"": "text"}
        )
        tables.show(
            tables.table(columns, [_row(found, place, dark=dark) for place in range(len(rows))], caption=found.title)
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            if len(found.rows) > FEW:
                address.switch(f"Show all {len(found.rows):,}", name="rows")
            ui.download(
                "CSV of this route",
                *_numbers(found),
                file=f"route-{found.query_language}-{found.document_language}-{found.system.name}.csv",
            )
        ui.go_to(ui.QUERIES, f"The {found.n_failing:,} that fail, in the Query explorer →", **_failures(found))
    if st.session_state.pop("jump", False):
        st.html(JUMP, unsafe_allow_javascript=True)  # a constant: no text of a corpus comes near it


def _row(found: RouteQueries, place: int, *, dark: bool) -> list[Cell]:
    row = found.rows[place]
    question = {"mode": "one", "language": row.query_language, "text": row.query_text, "encoder": found.system.name}
    kept = {name: value for name, value in ui.shared_choices().items() if name not in {"measure", "where"}}
    opened = ui.href(ui.QUERIES, **_failures(found), query=row.query_id)
    live = ui.href(ui.PROBE, **kept, **question)
    ranks = [tables.rank(rank, beyond=depth) for rank, depth in zip(row.ranks, found.depths, strict=True)]
    return [
        tables.passage(row.query_text, language=row.query_language, dark=dark),
        tables.passage(row.document_text, language=row.document_language, dark=dark),
        *ranks,
        Markup(f'<a href="{opened}" target="_self">Open</a><br><a href="{live}" target="_self">Try</a>'),
    ]


def _failures(found: RouteQueries) -> dict[str, str]:
    """The parameters of the Query explorer for the queries that fail on a route."""
    route = {"asked": found.query_language, "answers": found.document_language, "system": found.system.name}
    kept = {name: value for name, value in ui.shared_choices().items() if name != "measure"}
    return kept | route | {"near": str(found.k), "least": str(found.k + 1)}


def _numbers(found: RouteQueries) -> tuple[list[str], list[list[object]]]:
    header = [
        "query_id",
        "query_language",
        "query",
        "document_id",
        "document_language",
        "document",
        *(f"{label.name} rank" for label in found.systems),
    ]
    rows: list[list[object]] = [
        [
            row.query_id,
            row.query_language,
            row.query_text,
            row.document_id,
            row.document_language,
            row.document_text,
            *row.ranks,
        ]
        for row in found.rows
    ]
    return header, rows


def cells_as_rows(cells: Sequence[RouteCell]) -> tuple[list[str], list[list[object]]]:
    """The plotted cells for a CSV file."""
    header = [
        "task",
        "system",
        "query_language",
        "document_language",
        "measure",
        "value",
        "retention",
        "preference",
        "low",
        "high",
        "method",
        "n",
    ]
    return header, [[getattr(cell, name) for name in header] for cell in cells]


def difference(
    frame: ui.Frame, view: RoutesView, *, system: str, minus: str, languages: tuple[str, ...]
) -> RouteDifference:
    """One system minus another on the chosen task."""
    return ui.answer(routes.route_difference, frame.selection, a=system, b=minus, k=view.k, languages=languages)
