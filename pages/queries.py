"""Show me the failures."""

import streamlit as st

from analysis.views import one_query, queries
from pages.shared import address, links, query_change, query_detail, query_list, query_notes, ui

PARTS = {"list": "Queries", "change": "Better or worse", "notes": "Tags and notes"}


def explore(frame: ui.Frame, opened: str | None) -> None:
    """The list of queries, or one of them opened, which the fields of the list put in order too."""
    everything = ui.answer(queries.queries, frame.selection)
    said = query_notes.said(frame)
    top = st.container()
    with st.expander("Which queries", expanded=opened is None):
        asked = query_list.filters(
            everything.systems, everything.languages, tagged=lambda: query_notes.chosen(said, query_list.FIRST)
        )
    start = address.whole("start")
    view = ui.answer(queries.queries, frame.selection, asked, start=start)
    if opened is None:
        with top:
            ui.takeaway(view.takeaway)
        query_list.outcome(view)
        query_list.show(view, start=start, dark=frame.dark, tagged=query_notes.of_list(said))
        ui.go_to(ui.CAUSES, "What causes it? →", **ui.shared_choices())
        return
    with top:
        query_detail.turn(view.ids, opened)
        shown, k = query_detail.shown(frame.systems), query_detail.depth()
        found = ui.answer(one_query.opened, frame.selection, query_id=opened, shown=shown, k=k)
        query_detail.show(found, dark=frame.dark)
        query_notes.show(found, asked, view.languages)
        query_detail.why(found)
        ui.go_to(ui.CAUSES, "What causes it? →", **ui.shared_choices(), **({"system": asked.a} if asked.a else {}))


with ui.page(ui.QUERIES) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_rankings(frame, "the query explorer needs rankings")
    opened = address.get("query")
    part = ui.part(PARTS) if opened is None else "list"
    if part == "notes":
        query_notes.show_all(frame)
    elif part == "change":
        query_change.show(frame)
    else:
        explore(frame, opened)
    links.follow()
    ui.sidebar_note(f"{frame.tasks[0].n_queries:,} queries · {frame.tasks[0].n_documents:,} documents")
