"""Which language pairs fail?"""

import streamlit as st

from analysis.charts import routes as charts
from analysis.views import routes
from pages.shared import address, glossary, language_choice, papers_parts, published_parts, route_table, tables, ui

RECALLS = {f"recall_at_{k}": f"R@{k}" for k in routes.CUTOFFS}
OTHERS = {"retention": "Retention", "preference": "Who outranks"}

with ui.page(ui.ROUTES) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    published = published_parts.has_routes(frame)
    languages = language_choice.choose(frame)
    if published and not (frame.measured and frame.tasks[0].n_documents):
        published_parts.show_routes(frame, languages)
        st.stop()
    ui.need_rankings(frame, "language routes need rankings")
    with st.sidebar:
        names = RECALLS | OTHERS
        key = address.choose(
            st.segmented_control,
            "Measure",
            list(names),
            name="measure",
            default="recall_at_10",
            format_func=names.__getitem__,
            required=True,
        )
    k = int(key.rsplit("_", 1)[1]) if key in RECALLS else 10
    view = ui.answer(routes.routes, frame.selection, k=k, languages=languages)
    mode = {name: key == name for name in OTHERS}
    ui.takeaway(view.takeaway)
    ui.caption(glossary.ROUTES_CAPTIONS.get(key, view.caption), measures=[view.measure], more=glossary.ROUTES)
    if key in glossary.ROUTES_CAPTIONS:
        language_choice.note(frame, languages)
    language_choice.legend(view.scripts, dark=frame.dark)
    for warning in view.shallow:
        ui.grey(warning)
    cell = route_table.chosen(view)
    figure = charts.heatmaps(view, **mode, chosen=cell, dark=frame.dark)
    ui.chart(figure, key="heatmaps", alt=f"{view.takeaway.bold} {view.takeaway.rest}", clicked=route_table.choose)
    minus = route_table.pickers(view)
    ui.download("CSV of the heatmaps", *route_table.cells_as_rows(view.cells), file=f"routes-{view.task.name}.csv")
    if minus:
        looked_at = address.get("system") or view.systems[0].name
        apart = route_table.difference(frame, view, system=looked_at, minus=minus, languages=languages)
        st.header(tables.literal(f"{apart.a.short} minus {apart.b.short}"), anchor=False)
        ui.takeaway(apart.takeaway)
        ui.chart(
            charts.difference(apart, chosen=cell, dark=frame.dark),
            key="difference",
            alt=apart.takeaway.bold,
            clicked=route_table.choose,
        )
        ui.download(
            "CSV of the difference", *route_table.cells_as_rows(apart.cells), file=f"difference-{view.task.name}.csv"
        )
    if cell:
        found = ui.answer(
            routes.route_queries,
            frame.selection,
            system=cell[0],
            query_language=cell[1],
            document_language=cell[2],
            k=k,
        )
        route_table.show(found, dark=frame.dark)
    if published:
        st.header("Published figures", anchor=False)
        published_parts.show_routes(frame, languages)
    papers_parts.show(frame, ui.ROUTES)
    ui.sidebar_note(f"{view.task.n_queries:,} queries · {view.task.n_documents:,} documents")
