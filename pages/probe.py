"""What happens to my query?"""

import streamlit as st

from analysis import probe
from pages.shared import address, glossary, probe_parts, tables, ui

with ui.page(ui.PROBE, systems=False) as frame:
    ui.need_rankings(frame, "a live query needs documents to search")
    systems = ui.answer(probe.encoders, frame.benchmark.address)
    if not systems:
        ui.no_systems(frame)
    place = {"benchmark": frame.benchmark.address, "task": frame.tasks[0].name}
    system = probe_parts.encoder(systems)
    without_flagged = frame.selection.without_flagged
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
        st.stop()
    with st.spinner(f"Asking {system.short}. The first query loads the encoder …"):
        found = probe.ask_in_all_languages(
            ui.store(),
            asked.texts,
            system=system.name,
            **place,
            k=probe_parts.TOP,
            family=asked.family,
            without_flagged=without_flagged,
        )
    answers = dict(zip(found.languages, found.answers, strict=True))
    ui.takeaway(probe_parts.takeaway(answers, overlap=dict(zip(found.languages, found.overlap, strict=True))))
    ui.caption(probe_parts.timing(found.answers), more=glossary.PROBE)
    if mode == "all":
        tables.show(probe_parts.concept_table(found, dark=frame.dark))
    probe_parts.where_answers_sit(answers, dark=frame.dark)
    probe_parts.lists(answers, dark=frame.dark)
    probe_parts.tokens(answers, dark=frame.dark)
    ui.download("CSV", *probe_parts.numbers(answers), file="probe.csv")
