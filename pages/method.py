"""What does this number mean?"""

import streamlit as st

from analysis.views import method
from pages.shared import method_tables, papers_parts, picture_parts, tables, ui

with ui.page(ui.METHOD, every_task=True) as frame:
    view = ui.answer(method.page, frame.selection)
    ui.takeaway(method_tables.summary(view))
    ui.grey(method_tables.outline(view))
    picture_parts.measure_name(frame)
    for section in view.sections:
        st.header(section.title, anchor=False)
        tables.show(method_tables.definitions(section))
    st.header("Draws and seeds", anchor=False)
    tables.show(tables.table({"What": "text", "How": "passage"}, view.seeds, caption="Draws and seeds"))
    st.header("Limits", anchor=False)
    tables.show(method_tables.limits(view))
    papers_parts.show_all(dark=frame.dark)
    st.header(tables.literal(f"Runs of {view.benchmark.title}"), anchor=False)
    if not view.runs:
        ui.no_systems(frame)
    tables.show(method_tables.runs(view, dark=frame.dark))
    ui.download("CSV", *method_tables.numbers(view), file="runs.csv")
