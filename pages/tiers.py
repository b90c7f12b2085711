"""What does it confuse?"""

import streamlit as st

from analysis.charts import tiers as charts
from analysis.charts import validation as validation_charts
from analysis.views import tiers
from pages.shared import glossary, language_choice, papers_parts, tables, tier_table, tier_validation, ui

with ui.page(ui.TIERS) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_rankings(frame, "difficulty tiers need rankings")
    languages = language_choice.choose(frame)
    (task,) = ui.answer(tiers.page, frame.selection, languages=languages).tasks
    ui.takeaway(task.takeaway)
    ui.caption(task.caption, more=glossary.TIERS if task.compares else glossary.ANSWERS)
    whole = [row for row in task.rows if row.tier is None]
    if task.tiers:
        figure = validation_charts.by_tier(task.rows, dark=frame.dark)
    else:
        figure = charts.discrimination(whole, dark=frame.dark)
    ui.chart(figure, key="tiers", alt=task.takeaway.bold)
    tables.show(tier_table.table(task.rows, compares=task.compares, dark=frame.dark))
    ui.download("CSV", *tier_table.numbers(task.rows, compares=task.compares), file=f"tiers-{task.task.name}.csv")
    if task.validation:
        tier_validation.show(task.validation, frame, task=task.task.name)
    st.header("What stands at rank 1", anchor=False)
    bars = {row.system.short: row.outcome_at_1 for row in whole}
    ui.chart(
        charts.outcomes(bars, answer=task.answer, dark=frame.dark),
        key="outcomes",
        alt="What stands at rank 1, by system",
        clicked=tier_table.choose_system(frame.systems),
    )
    chosen = tier_table.pickers(frame.systems, answer=task.answer)
    st.subheader(tables.literal(f"{chosen.system.short} by query language"), anchor=False)
    language_choice.note(frame, languages)
    ui.chart(
        charts.outcomes(task.by_language[chosen.system.name], answer=task.answer, dark=frame.dark),
        key="outcomes-by-language",
        alt=f"What stands at rank 1 of {chosen.system.short}, by query language",
        clicked=tier_table.choose_outcome,
    )
    found = ui.answer(
        tiers.examples, frame.selection, system=chosen.system.name, relation=chosen.relation, language=chosen.language
    )
    tier_table.show_examples(found, chosen, answer=task.answer, dark=frame.dark)
    papers_parts.show(frame, ui.TIERS)
    ui.sidebar_note(f"{task.task.n_queries:,} queries · {task.task.n_documents:,} documents")
