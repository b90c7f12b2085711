"""What became of the tables and queries that a benchmark of parallel documents was made of, language by language."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.views.data import Card
from analysis.views.parallel_documents import TITLE, ParallelDocuments, markdown
from analysis.views.selection import capitalised
from pages.shared import tables, ui
from pages.shared.ui import Frame

TERMS = (
    ("Dropped", "A version counts under the first reason that holds, from left to right."),
    ("Word", "A run of letters and digits; in scripts without spaces between words, two letters count as one word."),
    ("Other class", "No version of the publication has a class that was asked for."),
    ("Repeated", "The same publication, language and text as a version that came before."),
    ("Second version", "Another text of a publication in a language that it has already; the first is kept."),
    ("Too few languages", "What is left of the publication once the others are dropped."),
)
QUERY_TERMS = (
    (
        "Technical, general",
        "In the terms of the field, or in everyday words (also called semantic).",
    ),
    ("Random-existing", "In one of the languages that its publication is kept in."),
    ("Random-missing", "In none of them: the query has no home, every answer is in another language."),
    ("All", "Its publication is asked for in every language."),
)


def show(card: Card, frame: Frame) -> None:
    """Two tables for each task that was made of tables of publications; nothing where none was."""
    for task in card.tasks:
        found = task.documents
        if found is None:
            continue
        title = f"{task.task.title}: {TITLE}"
        with st.expander(title):
            ui.caption(found.sentence, more=TERMS)
            _table(*found.version_table, caption="Language versions by what became of them", frame=frame)
            if found.first:
                ui.grey("First dropped: " + " · ".join(f"{reason}, {found.first[reason]}" for reason in found.reasons))
            ui.caption(found.query_sentence, more=QUERY_TERMS)
            _table(*found.query_table, caption="Queries by mode and strategy", frame=frame)
            _downloads(found, title, f"{card.benchmark.name}-{task.task.name}")


def _table(header: Sequence[str], rows: Sequence[Sequence[str | int]], *, caption: str, frame: Frame) -> None:
    tables.show(tables.by_language(list(map(capitalised, header[1:])), rows, caption=caption, dark=frame.dark))


def _downloads(found: ParallelDocuments, title: str, name: str) -> None:
    with st.container(horizontal=True):
        ui.download("CSV of versions", *found.version_table, file=f"versions-{name}.csv")
        ui.download("CSV of queries", *found.query_table, file=f"queries-{name}.csv")
        ui.download_text("Markdown", markdown(found, title=title), file=f"documents-{name}.md")
