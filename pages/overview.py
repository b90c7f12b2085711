"""Which system, and can I trust the difference?"""

import streamlit as st

from analysis.views import overview
from pages.shared import address, leaderboard, ui

with ui.page(ui.OVERVIEW, every_task=True) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    view = ui.answer(overview.overview, frame.selection)
    measures = {measure.key: measure for measure in view.measures}
    lead = view.tasks[0].lead.key
    with st.sidebar:
        chosen = address.choose(
            st.selectbox,
            "Measure",
            list(measures),
            name="measure",
            default=lead,
            format_func=lambda key: measures[key].label,
        )
    leaderboard.composites(view, dark=frame.dark)
    for task in view.tasks:
        leaderboard.show(task, view, measure=measures[chosen], dark=frame.dark, heading=len(view.tasks) > 1)
    documents = sum(task.task.n_documents for task in view.tasks)
    if documents:
        ui.go_to(ui.ROUTES, "Next: which language pairs fail? →", **address.everything())
    else:
        ui.go_to(ui.FAIRNESS, "Next: who is left behind? →", **address.everything())
    leaderboard.card(view.benchmark)
    queries = sum(task.task.n_queries for task in view.tasks)
    ui.sidebar_note(f"{queries:,} queries · {f'{documents:,} documents' if documents else 'imported scores'}")
