"""What causes it?"""

import streamlit as st

from analysis.charts import causes as charts
from analysis.views import causes
from pages.shared import causes_table, data_jobs, glossary, language_choice, tables, ui, what_if_parts

PARTS = {"causes": "Causes", "what-if": "What if"}


def causes_of(frame: ui.Frame) -> None:
    """Every cause of the chosen task, the verdicts, the space, the hubs, and one system cause by cause."""
    languages = language_choice.choose(frame)
    (task,) = ui.answer(causes.page, frame.selection, languages=languages).tasks
    ui.takeaway(task.takeaway)
    ui.caption(f"{glossary.CAUSES_CAPTION} · {task.caption}", more=glossary.CAUSES)
    causes_table.offer(frame, task)
    ui.chart(charts.cause_map(task, dark=frame.dark), key="causes", alt=causes_table.spoken(task))
    ui.download("CSV", *causes_table.numbers(task), file=f"causes-{task.task.name}.csv")
    tables.show(causes_table.verdicts(task, dark=frame.dark))
    st.header("Languages apart, or meanings together", anchor=False)
    causes_table.show_space(task, dark=frame.dark)
    st.header("Documents that come up whatever is asked", anchor=False)
    ui.grey(glossary.HUBS_CAPTION)
    ui.chart(charts.hubs(task, dark=frame.dark), key="hubs", alt=causes_table.hubs_spoken(task))
    chosen = causes_table.picker(task)
    st.header(tables.literal(f"{chosen.system.short}, cause by cause"), anchor=False)
    causes_table.show_system(chosen, task, dark=frame.dark)


with ui.page(ui.CAUSES) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_rankings(frame, "the causes of failure need rankings")
    data_jobs.watch()
    part = ui.part(PARTS)
    if part == "what-if":
        what_if_parts.show(frame)
    else:
        causes_of(frame)
    ui.sidebar_note(f"{frame.tasks[0].n_queries:,} queries · {frame.tasks[0].n_documents:,} documents")
