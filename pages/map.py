"""What does the space look like?"""

import streamlit as st

from analysis.views import embedding_map
from pages.shared import address, data_jobs, glossary, links, map_lists, map_parts, tables, ui

with ui.page(ui.MAP) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_rankings(frame, "a map needs texts and an encoder's vectors")
    running = data_jobs.watch()
    known = ui.answer(embedding_map.drawable, frame.selection)
    asked = map_parts.choose(known)
    if asked is None:
        map_parts.offer(frame, known, running)
        st.stop()
    view = ui.answer(
        embedding_map.embedding_map,
        frame.selection,
        systems=asked.systems,
        colour=asked.remembered,
        dimensions=asked.dimensions,
        turn=asked.turn,
    )
    view = map_parts.coloured(view, asked)
    ui.takeaway(view.takeaway)
    ui.caption(map_parts.caption(view), more=glossary.MAP)
    families = map_parts.joined(view)
    rows = map_parts.chosen_rows(view)
    placed = map_parts.live(frame, view)
    map_parts.draw(view, rows=rows, families=families, placed=placed, dark=frame.dark)
    map_lists.download(frame, view)
    tables.show(map_lists.measures(view, dark=frame.dark))
    map_lists.selection_list(frame, view, rows)
    map_lists.neighbourhood(frame, view)
    map_lists.displaced(frame, view)
    map_parts.offer(frame, known, running)
    links.follow()
    if address.get("area") or address.get("point"):
        st.button("Clear the selection", on_click=map_parts.clear)
    ui.sidebar_note(f"{frame.tasks[0].n_queries:,} queries · {frame.tasks[0].n_documents:,} documents")
