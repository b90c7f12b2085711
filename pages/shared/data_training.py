"""Files that a benchmark was looked for in, and the form that looks for it in another one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.views import training
from analysis.views.benchmark_card import ITEMS
from analysis.views.data import Card
from analysis.views.selection import capitalised
from analysis.views.training import Training
from pages.shared import tables, ui
from pages.shared.tables import Cell
from pages.shared.ui import Frame

TERMS = (
    ("Found", training.HOW),
    ("Too short", "Fewer words than that: only texts that are the same as a whole can be found."),
)
WANTED = (
    "What a system was trained on: lines of text, JSON lines, CSV, TSV or Parquet; plain, .gz or .zst. "
    "It is read and not kept."
)


def show(card: Card, frame: Frame) -> None:
    """What was found in each file, and the form."""
    st.subheader("Against training files", anchor=False)
    if not card.trainings:
        ui.grey("It was looked for in no file yet: whether a system has seen these texts in training is not known.")
    for found in card.trainings:
        _one(found, card, frame)
    with st.expander("Look for it in a file"):
        _form(frame)


def _one(found: Training, card: Card, frame: Frame) -> None:
    ui.takeaway(found.takeaway)
    ui.caption(f"{found.file} · {found.caption}", more=TERMS)
    titles = {task.task.name: task.task.title for task in card.tasks}
    with st.expander(f"What of it occurs in {tables.literal(found.file)}"):
        columns = {"Language": "text", "Looked for": "number"} | dict.fromkeys(training.KINDS.values(), "number")
        rows: list[Sequence[Cell] | str] = []
        group = ""
        for row in found.texts:
            name = f"{titles.get(row.task, row.task)}, {ITEMS[row.item].lower()}"
            rows += [name] if name != group else []
            group = name
            rows.append([tables.badge(row.language, dark=frame.dark), *(f"{n:,}" for n in row.counts)])
        columns |= {"Too short": "number"}
        tables.show(tables.table(columns, rows, caption=f"What occurs in {found.file}", style="narrow"))
        for concepts in found.concepts:
            task = titles.get(concepts.task, concepts.task)
            ui.grey(f"{task}: {concepts.found:,} of {concepts.n:,} concepts occur in its column of concepts.")
        store, header = ui.store(), ["task", "item", "id", "language", "family", "kind", "line"]
        ui.download_later(
            "CSV of all that occurs",
            lambda: (header, [list(row) for row in training.matches(store, found)]),
            file=f"{card.benchmark.name}-in-{found.file}-{found.number}.csv",
        )


def _form(frame: Frame) -> None:
    ui.grey(WANTED)
    dropped = st.file_uploader("File", key="training-file")
    path = _path() if dropped is None else None
    first, second = st.columns(2)
    columns = first.text_input("Columns that hold texts", key="training-columns", placeholder="text,query,positive")
    concept = second.text_input("Column that names concepts", key="training-concept", placeholder="cui")
    lines = st.checkbox("Every line is a text, whatever the file looks like", key="training-lines")
    if not st.button("Look for it", disabled=dropped is None and path is None, key="training-look"):
        return
    try:
        uploads, file = jobs.receive([(dropped.name, dropped)]) if dropped else (None, path)
        options: jobs.Options = {"benchmark": frame.benchmark.address, "against": str(file)}
        options |= {"columns": columns.strip(), "concept": concept.strip()}
        jobs.launch("separation", options=options, flags=["lines"] if lines else [], uploads=uploads)
    except BabelscopeError as error:
        st.error(tables.literal(capitalised(str(error))))
        return
    st.rerun()


def _path() -> Path | None:
    """A path on the server, where its owner allows some."""
    roots = jobs.folders()
    text = st.text_input("Or a path on the server", key="training-path", placeholder=str(roots[0])) if roots else ""
    if not text:
        return None
    try:
        return jobs.allowed(text)
    except BabelscopeError as error:
        ui.grey(capitalised(str(error)))
        return None
