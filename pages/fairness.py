"""Who is left behind?"""

import streamlit as st

from analysis.charts import fairness as charts
from analysis.views import fairness
from pages.shared import fairness_table, glossary, language_choice, papers_parts, tables, ui

with ui.page(ui.FAIRNESS, every_task=True) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_values(frame, "fairness needs the values of each query")
    view = ui.answer(fairness.page, frame.selection, languages=language_choice.choose(frame))
    if view.takeaway:
        ui.takeaway(view.takeaway)
    for task in view.tasks:
        if len(view.tasks) > 1:
            st.header(tables.literal(task.task.title), anchor=False)
        ui.takeaway(task.takeaway)
        ui.caption(task.caption, measures=[task.measure], more=glossary.FAIRNESS)
        if not task.rows:
            ui.nothing("No system has run on this task.", next_step=glossary.RUN_ALL)
            continue
        language_choice.legend(task.scripts, dark=frame.dark)
        ui.chart(charts.by_language(task, dark=frame.dark), key=f"fairness-{task.task.name}", alt=task.takeaway.bold)
        tables.show(fairness_table.table(task, dark=frame.dark))
        ui.download("CSV", *fairness_table.numbers(task), file=f"fairness-{task.task.name}.csv")
    papers_parts.show(frame, ui.FAIRNESS)
    ui.sidebar_note(f"{sum(task.task.n_queries for task in view.tasks):,} queries")
