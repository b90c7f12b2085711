"""Would a re-ranker fix it?"""

import streamlit as st

from analysis.charts import recoverability as charts
from analysis.views import recoverability
from pages.shared import glossary, language_choice, papers_parts, recoverability_table, tables, ui

with ui.page(ui.RECOVERABILITY) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_rankings(frame, "depth needs rankings")
    (whole,) = ui.answer(recoverability.recoverability, frame.selection).tasks
    if not any(row.curve for row in whole.rows):
        ui.nothing(whole.takeaway.bold, next_step=glossary.NO_CROSS)
        st.stop()
    head = st.container()
    k = recoverability_table.slider(whole.rows)
    task = recoverability.at(whole, k=k)
    name = task.task.name
    with head:
        ui.takeaway(task.takeaway)
        ui.caption(task.caption, more=glossary.RECOVERABILITY)
    ui.grey(glossary.KNEES)
    ui.chart(
        charts.curves(task.rows, k=k, dark=frame.dark), key="curves", alt=f"{task.takeaway.bold} {task.takeaway.rest}"
    )
    for note in task.notes:
        ui.grey(note)
    if any(row.degenerate for row in task.rows):
        ui.grey(f"{recoverability_table.HOLLOW}: {recoverability_table.hollow(task.rows)}.")
    ui.download(
        "CSV of the curves", *recoverability_table.curve_numbers(task), file=f"recoverability-curves-{name}.csv"
    )
    st.header(f"Where the answer stands at K = {k:,}", anchor=False)
    ui.chart(charts.stack(task.rows, dark=frame.dark), key="stack", alt=recoverability_table.spoken_stack(task.rows))
    tables.show(recoverability_table.table(task.rows, dark=frame.dark))
    ui.download("CSV", *recoverability_table.numbers(task.rows), file=f"recoverability-{name}.csv")
    recoverability_table.show_costs(task.rows, dark=frame.dark)
    stages = recoverability_table.faults(task.rows, dark=frame.dark)
    if stages:
        st.header("Which of two stages loses the answer", anchor=False)
        ui.grey(glossary.STAGES)
        tables.show(stages)
    st.header("By part of the queries", anchor=False)
    by = recoverability_table.split_by(frame)
    if by:
        languages = language_choice.choose(frame) if by in {"language", recoverability.ROUTE} else ()
        language_choice.note(frame, languages)
        parts = ui.answer(recoverability.split, frame.selection, by=by, languages=languages)
        recoverability_table.show_split(parts, k=k, name=f"{by}-{name}", dark=frame.dark)
    if len(frame.offered.tasks) > 1:
        recoverability_table.show_pooled(frame)
    papers_parts.show(frame, ui.RECOVERABILITY)
    ui.sidebar_note(f"{task.task.n_queries:,} queries · {task.task.n_documents:,} documents")
