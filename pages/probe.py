"""What happens to my query?"""

import streamlit as st

from analysis import probe
from pages.shared import address, probe_parts, tables, ui

WORDS = (
    ("Right answer", "A document that the benchmark judges relevant to the chosen concept. The number is its rank among all documents."),
    ("Same list", "How alike two ranked lists are (rank-biased overlap, p = 0.9, over concepts): 1.00 is the same list, 0.00 has nothing in common. Source: Webber et al. (2010), ACM TOIS 28(4)."),
    ("Score", "The system’s own number. It orders documents within one list; it does not compare systems."),
)  # fmt: skip

with ui.page(ui.PROBE, systems=False) as frame:
    task = frame.task
    encoders = ui.answer(probe.encoders, frame.benchmark.address)
    if task is None or not encoders:
        ui.nothing(
            "No encoder has run on this benchmark.",
            next_step="In a terminal: python -m analysis run --benchmark … --systems all",
        )
        st.stop()
    place = {"benchmark": frame.benchmark.address, "task": task.name}
    encoder = probe_parts.encoder(encoders)
    concepts = ui.answer(probe.concepts, **place)
    languages = list(dict.fromkeys(language for concept in concepts for language in concept.texts))
    mode = address.choose(
        st.segmented_control,
        "Ask",
        list(probe_parts.MODES),
        name="mode",
        default="all",
        format_func=probe_parts.MODES.__getitem__,
        required=True,
    )
    asked = probe_parts.question(concepts, languages=languages, mode=mode or "all")
    if not asked.texts:
        ui.nothing("Nothing is asked yet.", next_step="Type a query, or choose a concept of the benchmark.")
        st.stop()
    store = ui.store()
    with st.spinner(f"Asking {encoder.short}: the first query loads the encoder …"):
        if mode == "one":
            language, text = next(iter(asked.texts.items()))
            answers = {
                language: probe.ask(
                    store, text, system=encoder.name, **place, k=probe_parts.TOP, language=language, family=asked.family
                )
            }
        else:
            found = probe.ask_in_all_languages(
                store, asked.texts, system=encoder.name, **place, k=probe_parts.TOP, family=asked.family
            )
            answers = dict(zip(found.languages, found.answers, strict=True))
            tables.show(probe_parts.concept_table(found, dark=frame.dark))
    ui.caption(f"{probe_parts.timing(list(answers.values()))} · live, not from the stored run", more=WORDS)
    probe_parts.where_answers_sit(answers, key="strip", dark=frame.dark)
    for language, answer in answers.items():
        with st.expander(f"First {len(answer.hits)} for the {language} query", expanded=len(answers) == 1):
            tables.show(probe_parts.hits(answer, dark=frame.dark))
    probe_parts.tokens(answers, dark=frame.dark)
    ui.download("CSV", *probe_parts.numbers(answers), file="probe.csv")
