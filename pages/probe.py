"""What happens to my query?"""

import streamlit as st

from analysis import probe
from pages.shared import (
    address,
    glossary,
    probe_history,
    probe_note,
    probe_parts,
    probe_tables,
    probe_words,
    tables,
    ui,
)

with ui.page(ui.PROBE, systems=False) as frame:
    ui.need_rankings(frame, "a live query needs documents to search")
    offered = ui.answer(probe.encoders, frame.benchmark.address)
    if not offered:
        ui.no_systems(frame)
    place = {"benchmark": frame.benchmark.address, "task": frame.tasks[0].name}
    without_flagged = frame.selection.without_flagged
    systems = probe_parts.encoders(offered)
    concepts = ui.answer(probe.concepts, **place, without_flagged=without_flagged)
    mode = address.choose(
        st.segmented_control,
        "Ask",
        list(probe_parts.MODES),
        name="mode",
        default="all",
        format_func=probe_parts.MODES.__getitem__,
        required=True,
        label_visibility="collapsed",
    )
    asked = probe_parts.question(concepts, mode=mode)
    if not asked.texts:
        ui.nothing("Nothing is asked yet.", next_step="Type a query, or choose a concept of the benchmark.")
        probe_history.show(dark=frame.dark)
        st.stop()
    asked = probe_parts.measured(asked, concepts, systems=systems, place=place, without_flagged=without_flagged)
    found = probe_parts.answers(systems, asked, place=place, without_flagged=without_flagged)
    sentence = probe_words.takeaway(found)
    ui.takeaway(sentence)
    ui.caption(probe_words.timing(found), more=glossary.PROBE)
    for remark in probe_words.remarks(found):
        ui.grey(remark)
    if mode == "all":
        tables.show(probe_tables.versions(found, dark=frame.dark))
    probe_tables.where_answers_sit(found, dark=frame.dark)
    probe_tables.lists(found, dark=frame.dark)
    probe_tables.tokens(found, dark=frame.dark)
    ui.download("CSV", *probe_tables.numbers(found), file="probe.csv")
    probe_note.show(found, asked, concepts, sentence=sentence, frame=frame)
    probe_history.remember(asked, systems)
    probe_history.show(dark=frame.dark)
