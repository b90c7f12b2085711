"""How the questions of a benchmark were told what they are about: what became of them, language by language."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.views.data import Card, Coverage, Tagging
from analysis.views.selection import capitalised, counted
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
COLUMNS = {
    "Language": "text",
    "Questions": "number",
    "Exact": "number",
    "Inside": "number",
    "Linked": "number",
    "Not found": "number",
    "of these ambiguous": "number",
    "No definition": "number",
    "Asked": "number",
    "Definitions": "number",
}
HEADER = ("task", "language", "lines", "repeated", "exact", "substring", "nearest", "untagged", "ambiguous",
          "undefined", "answerable", "asked", "definitions")  # fmt: skip


def show(card: Card, frame: Frame) -> None:
    """A table for each task whose questions a program told what they are about; nothing where none was."""
    for task in card.tasks:
        if task.tagging is None:
            continue
        with st.expander(f"{task.task.title}: how the concept of each question was found"):
            _table(task.tagging, frame)
            _terms(task.tagging, frame)
            rows = [[task.task.name, *(getattr(row, name) for name in HEADER[1:])] for row in task.tagging.coverage]
            ui.download("CSV", HEADER, rows, file=f"questions-{card.benchmark.name}-{task.task.name}.csv")


def _table(tagging: Tagging, frame: Frame) -> None:
    rows = tagging.coverage
    read = sum(row.lines - row.repeated for row in rows)
    found = read - sum(row.untagged for row in rows)
    linker = f"linked by {tagging.linker}" if tagging.linker else "no encoder linked the others"
    ui.caption(
        f"The concept of {found:,} of {counted(read, 'question')} was found · {linker} · "
        f"{counted(tagging.n_negatives, 'concept')} in the corpus answer nothing",
        more=TERMS,
    )
    cells: list[Sequence[Cell]] = [_row(row, tagging, frame) for row in rows]
    tables.show(tables.table(COLUMNS, cells, caption="Questions by how their concept was found", style="narrow"))


def _terms(tagging: Tagging, frame: Frame) -> None:
    """What of the source was read, and what of that counts."""
    reasons = list(dict.fromkeys(reason for counts in tagging.atoms.values() for reason in counts))
    rows: list[Sequence[Cell]] = []
    for language, counts in tagging.atoms.items():
        numbers = [counts.get(reason, 0) for reason in reasons]
        rows.append([tables.badge(language, dark=frame.dark), *(f"{n:,}" if n else "" for n in numbers)])
    told = ", ".join(f"{n:,} {reason}" for reason, n in tagging.definitions.items())
    ui.grey(f"Terms read from the source, by language · definitions: {told}")
    columns = {"Language": "text"} | {capitalised(reason): "number" for reason in reasons}
    tables.show(tables.table(columns, rows, caption="Terms of the source", style="narrow"))


def _row(row: Coverage, tagging: Tagging, frame: Frame) -> list[Cell]:
    numbers = (row.lines - row.repeated, row.exact, row.substring, row.nearest, row.untagged, row.ambiguous,
               row.undefined)  # fmt: skip
    asked = f"{row.asked:,}" if row.asked else f"left out, {row.answerable:,} of {tagging.least:,}"
    return [
        tables.badge(row.language, dark=frame.dark),
        *(f"{number:,}" if number else "" for number in numbers),
        asked,
        f"{row.definitions:,}",
    ]
