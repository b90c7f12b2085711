"""Which language pairs fail?"""

import streamlit as st

from analysis.charts import routes as charts
from analysis.views import routes
from pages.shared import address, route_table, ui

RECALLS = {f"recall_at_{k}": f"R@{k}" for k in routes.CUTOFFS}
OTHERS = {"retention": "Retention", "preference": "Who outranks"}
LINES = {
    "retention": "Retention: R@10 of each route divided by the query language’s own same-language cell; 1.00 loses nothing · "
    "blank where that cell is below 0.05 or rests on fewer than 30 queries",
    "preference": "How often a language (columns) stands above the right answer, against its share of the documents; "
    "1.00 is no preference, 2.00 twice its share",
}
WORDS = (
    ("Route", "The language of the query → the language of the right answer. A cell is the mean over the queries of its row that have such an answer."),
    ("Retention", "A cell divided by the cell of its row in which query and answer share a language: what is left when the answer is in another language."),
    ("Who outranks", "Share of each language among the wrong documents above the first right one, divided by its share of all documents."),
    ("Hatched", "Fewer than 30 queries: read it as a hint. Blank: no query has such an answer."),
)  # fmt: skip

with ui.page(ui.ROUTES) as frame:
    if not frame.systems:
        ui.nothing("No system is chosen.", next_step="Choose at least one under Systems on the left.")
        st.stop()
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
    view = ui.answer(routes.routes, frame.selection, k=k)
    mode = {name: key == name for name in OTHERS}
    ui.takeaway(view.takeaway)
    ui.caption(LINES.get(key or "", view.caption), measures=[view.measure], more=WORDS)
    for words in view.shallow:
        ui.grey(words)
    cell = route_table.chosen(view)
    figure = charts.heatmaps(view, **mode, chosen=cell, dark=frame.dark)
    ui.chart(figure, key="heatmaps", alt=f"{view.takeaway.bold} {view.takeaway.rest}", clicked=route_table.choose)
    minus = route_table.pickers(view)
    ui.download("CSV of the heatmaps", *route_table.cells_as_rows(view.cells), file=f"routes-{view.task.name}.csv")
    if minus:
        apart = route_table.difference(frame, view, system=address.get("system") or view.systems[0].name, minus=minus)
        st.header(f"{apart.a.short} minus {apart.b.short}", anchor=False)
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
    ui.sidebar_note(f"{view.task.n_queries:,} queries · {view.task.n_documents:,} documents")
