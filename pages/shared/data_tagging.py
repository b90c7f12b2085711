"""How the questions of a benchmark were told what they are about: what became of them, language by language."""

from __future__ import annotations

import streamlit as st

from analysis.views import tagging
from analysis.views.data import Card
from analysis.views.selection import capitalised
from analysis.views.tagging import COLUMNS, Tagging
from pages.shared import tables, ui
from pages.shared.ui import Frame

TERMS = (
    ("Exact", "A term of UMLS, in the question's language, is all of the question."),
    (
        "Inside",
        "The longest term inside the question: whole words, or in languages without spaces three characters or more. "
        "At least 0.9 of the string's atoms are of one concept, else it is ambiguous and does not count.",
    ),
    ("Linked", "The preferred term nearest to the question by an encoder, with a cosine of at least 0.7."),
    ("No definition", "The concept was found, and UMLS defines it in no language: nothing could answer."),
    ("Left out", "Languages with too few questions that can be answered are not asked."),
)


def show(card: Card, frame: Frame) -> None:
    """A table for each task whose questions a program told what they are about; nothing where none was."""
    for task in card.tasks:
        if task.tagging is None:
            continue
        title = f"{task.task.title}: {tagging.TITLE}"
        with st.expander(title):
            _questions(task.tagging, frame)
            _terms(task.tagging, frame)
            with st.container(horizontal=True):
                rows = [[row.language, *(getattr(row, name) for name in COLUMNS)] for row in task.tagging.coverage]
                name = f"questions-{card.benchmark.name}-{task.task.name}"
                ui.download("CSV", ["language", *COLUMNS], rows, file=f"{name}.csv")
                ui.download_text("Markdown", tagging.markdown(task.tagging, title=title), file=f"{name}.md")


def _questions(found: Tagging, frame: Frame) -> None:
    ui.caption(found.sentence, more=TERMS)
    rows: list[list[str | int]] = [
        [row.language, *(found.asked(row) if name == "asked" else getattr(row, name) for name in COLUMNS)]
        for row in found.coverage
    ]
    caption = "Questions by how their concept was found"
    tables.show(tables.by_language(list(COLUMNS.values()), rows, caption=caption, dark=frame.dark))


def _terms(found: Tagging, frame: Frame) -> None:
    """What of the source was read, and what of that counts."""
    ui.grey(f"Terms of the source by language · definitions: {found.told}")
    rows: list[list[str | int]] = [
        [tag, *(counts.get(reason, 0) for reason in found.reasons)] for tag, counts in found.atoms.items()
    ]
    heads = list(map(capitalised, found.reasons))
    tables.show(tables.by_language(heads, rows, caption="Terms of the source", dark=frame.dark))
