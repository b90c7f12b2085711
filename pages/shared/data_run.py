"""Run systems of the catalogue: which could run here, which have, and the button that starts the others."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis import jobs
from analysis.views import data
from analysis.views.data import Runnable
from analysis.views.selection import TaskLabel, capitalised
from analysis.views.system_facts import system_facts
from pages.shared import data_own, data_system, tables, ui
from pages.shared.tables import Cell
from pages.shared.ui import Frame

ALL = "all tasks"


def show(frame: Frame) -> None:
    """The systems, and what to run on which task."""
    if not any(task.n_documents for task in frame.offered.tasks):
        ui.nothing(
            "This benchmark has no documents, so no system can run on it.",
            next_step="Choose another benchmark on the left, or bring one with documents.",
        )
        return
    found = data.runnable(ui.store(), frame.benchmark.address)  # not remembered: systems come and go without a job
    ready = {row.system.name: row for row in found.systems if row.missing is None}
    ui.takeaway(found.takeaway)
    ui.grey(
        "A run encodes what is not encoded yet, searches, and stores all rankings at once. Cancelled or interrupted, "
        "it goes on where it stopped: start it again."
    )
    _form(frame.offered.tasks, frame, ready)
    data_own.show()
    _list("Ready to run", [row for row in found.systems if row.missing is None], frame)
    lacking = [row for row in found.systems if row.missing is not None]
    if lacking:
        _list("Not ready yet", lacking, frame)
    data_system.show(found.systems)


def _list(title: str, systems: Sequence[Runnable], frame: Frame) -> None:
    """Systems by paradigm: what of each is here, or what it lacks."""
    st.subheader(title, anchor=False)
    needs = any(row.missing for row in systems)
    if needs:
        ui.grey("Choose one below to read what to type. A run in a terminal downloads weights once and keeps them.")
    rows: list[Sequence[Cell] | str] = []
    for paradigm in dict.fromkeys(row.system.paradigm for row in systems):
        rows.append(capitalised(paradigm))
        rows += [
            [
                tables.chip(row.system, dark=frame.dark),
                _state(row, len(frame.offered.tasks)),
                _licences(row) if needs else row.note,
            ]
            for row in systems
            if row.system.paradigm == paradigm
        ]
    last = {"Licence of the weights": "text"} if needs else {"What to know": "passage"}
    columns = {"System": "text", "What it needs" if needs else "Here": "passage" if needs else "text", **last}
    tables.show(tables.table(columns, rows, caption=title))


def _licences(row: Runnable) -> str:
    models = system_facts(row.system.name).models
    return "; ".join(dict.fromkeys(model.licence for model in models if model.licence))


def _state(row: Runnable, n_tasks: int) -> str:
    if row.missing is not None:
        return f"{capitalised(row.missing)}."
    outdated = f"; ran with other settings on {', '.join(row.outdated)}" if row.outdated else ""
    if not row.done:
        return f"{capitalised(row.here)}{outdated}"
    done = "every task" if len(row.done) == n_tasks > 1 else ", ".join(row.done)
    return f"{capitalised(row.here)}; has run on {done}{outdated}"


def _form(tasks: Sequence[TaskLabel], frame: Frame, ready: dict[str, Runnable]) -> None:
    titles = {task.name: task.title for task in tasks}
    new = [name for name, row in ready.items() if len(row.done) < len(tasks) and not row.leaves]
    with st.form("run", border=True):
        first, second = st.columns([1, 2])
        task = first.selectbox("Task", [ALL, *titles], format_func=lambda name: titles.get(name, "All tasks"))
        systems = second.multiselect(
            "Systems",
            list(ready),
            default=new,
            format_func=lambda name: ready[name].system.short,
            placeholder="Choose systems",
        )
        pressed = st.form_submit_button("Run", type="primary")
    if pressed and systems:
        jobs.launch(
            "run",
            options={
                "benchmark": frame.benchmark.address,
                "task": None if task == ALL else task,
                "systems": ",".join(systems),
            },
        )
        st.rerun()
    elif pressed:
        ui.grey("Choose at least one system.")
