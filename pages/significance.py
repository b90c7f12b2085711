"""Is it real?"""

import streamlit as st

from analysis.views import overview, significance
from pages.shared import address, glossary, papers_parts, qa_subsets_parts, significance_parts, ui

with ui.page(ui.SIGNIFICANCE) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_values(frame, "tests need the values of each query")
    measures = {measure.key: measure for measure in ui.answer(significance.comparable, frame.selection)}
    with st.sidebar:
        measure = address.choose(
            st.selectbox,
            "Measure",
            list(measures),
            name="measure",
            default=next(iter(measures)),
            format_func=lambda key: measures[key].label,
        )
    descriptive = address.get("descriptive") == "yes"
    view = ui.answer(significance.significance, frame.selection, measure=measure, descriptive=descriptive)
    (task,) = view.tasks
    ui.takeaway(task.takeaway)
    ui.caption(task.caption, measures=[task.measure], more=glossary.SIGNIFICANCE)
    for note in task.notes:
        ui.grey(note)
    titles = {label.name: label.title for label in ui.answer(overview.contents, frame.benchmark.address).tasks}
    significance_parts.backstop(task)
    significance_parts.tax(task, dark=frame.dark)
    significance_parts.pairs(task, dark=frame.dark)
    significance_parts.ranks(task, frame.systems, dark=frame.dark)
    significance_parts.global_tax(task, dark=frame.dark)
    significance_parts.order_agreement(view, titles, dark=frame.dark)
    qa_subsets_parts.show(task, dark=frame.dark)
    papers_parts.show(frame, ui.SIGNIFICANCE)
    ui.sidebar_note(f"{task.task.n_queries:,} queries")
