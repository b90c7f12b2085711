"""How the questions of a benchmark were told what they are about: what became of them, language by language."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.views import tagging
from analysis.views.data import Card
from analysis.views.selection import capitalised
from analysis.views.tagging import COLUMNS, Tagging
from pages.shared import tables, ui
from pages.shared.tables import Cell
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
        title = f"{task.task.title}: how the concept of each question was found"
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
    rows: list[Sequence[Cell]] = []
    for row in found.coverage:
        numbers = [getattr(row, name) for name in COLUMNS]
        cells = [f"{number:,}" if number else "" for number in numbers]
        cells[list(COLUMNS).index("asked")] = found.asked(row)
        rows.append([tables.badge(row.language, dark=frame.dark), *cells])
    columns = {"Language": "text"} | dict.fromkeys(COLUMNS.values(), "number")
    tables.show(tables.table(columns, rows, caption="Questions by how their concept was found", style="narrow"))


def _terms(found: Tagging, frame: Frame) -> None:
    """What of the source was read, and what of that counts."""
    rows: list[Sequence[Cell]] = []
    for language, counts in found.atoms.items():
        numbers = [counts.get(reason, 0) for reason in found.reasons]
        rows.append([tables.badge(language, dark=frame.dark), *(f"{n:,}" if n else "" for n in numbers)])
    ui.grey(f"Terms of the source by language · definitions: {found.told}")
    columns = {"Language": "text"} | {capitalised(reason): "number" for reason in found.reasons}
    tables.show(tables.table(columns, rows, caption="Terms of the source", style="narrow"))
