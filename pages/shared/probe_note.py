"""A live probe kept as a note of the query that it is measured against."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.probe import Concept, ConceptProbe
from analysis.views import notes
from analysis.views.selection import Sentence, capitalised
from pages.shared import probe_words, query_notes, tables, ui
from pages.shared.probe_parts import Question


def show(
    found: Sequence[ConceptProbe], asked: Question, concepts: Sequence[Concept], *, sentence: Sentence, frame: ui.Frame
) -> None:
    """The fields to keep the answers with, or what is missing for it."""
    concept = next((concept for concept in concepts if concept.family == asked.family), None)
    with st.expander("Keep this as a note"):
        if concept is None:
            ui.grey(
                "A note stands with a query of the benchmark: choose a concept, or measure your words against one, and "
                "this can be kept with its query."
            )
            return
        query, text = _stands_with(concept, next(iter(asked.texts)))
        ui.grey(f"Kept with the query “{text}”, one note a system:")
        said = [(one.system.name, probe_words.note(one, sentence)) for one in found]
        for _, words in said:
            ui.grey(words)
        name = query_notes.author()
        own = st.text_area("Your own words before it", max_chars=1000, height="content", key=f"probe-own-{query}")
        keep = partial(_keep, frame.benchmark.address, frame.tasks[0].name, query, author=name, own=own.strip())
        if st.button("Keep it", type="primary", key="probe-keep"):
            _tell(keep, said, query=query)


def _stands_with(concept: Concept, language: str) -> tuple[str, str]:
    """The id and the text of the concept's query in a language, or of its first one."""
    place = concept.languages.index(language) if language in concept.languages else 0
    return concept.queries[place], concept.texts[place]


def _keep(benchmark: str, task: str, query: str, said: Sequence[tuple[str, str]], *, author: str, own: str) -> None:
    """Write one note a system; it follows what the author noted there before."""
    for system, words in said:
        whole = f"{own}\n{words}" if own else words
        short = whole if len(whole) <= notes.LONGEST_NOTE else f"{whole[: notes.LONGEST_NOTE - 1]}…"
        jobs.annotate.add(benchmark, task, query, author=author, note=short, system=system, append=True)


def _tell(keep: partial[None], said: Sequence[tuple[str, str]], *, query: str) -> None:
    try:
        keep(said)
    except BabelscopeError as error:
        st.error(tables.literal(capitalised(str(error))))
        return
    st.success("Kept. Everybody who opens the query reads it.")
    ui.go_to(ui.QUERIES, "Open the query →", **ui.shared_choices(), query=query)
