"""Images on the pages: the one that a query asks with, what of a query systems read, what M3Retrieve's measure is."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.views import m3retrieve, pictures
from analysis.views.m3retrieve import READS
from analysis.views.selection import Selection, capitalised
from pages.shared import tables, ui
from pages.shared.tables import Cell
from pages.shared.ui import Frame

WIDEST = 320  # pixels of a picture on the page


def of_query(selection: Selection, query_id: str) -> None:
    """The picture, or its path and why it is not shown; nothing where a query has none."""
    found = ui.answer(pictures.of_query, selection, query_id)
    if found is None:
        return
    if found.png is None:
        ui.grey(f"{capitalised(found.trouble or '')}.")
        return
    st.image(found.png, width=WIDEST)
    ui.grey(f"The image of the query: {found.path}")


def measure_name(frame: Frame) -> None:
    """What M3Retrieve calls the measure, where a task has its layout."""
    words = ui.answer(m3retrieve.measure_name, frame.selection._replace(systems=(), where=()))
    if words:
        ui.grey(words)


def overview(frame: Frame) -> None:
    """What M3Retrieve calls the measure, and text, image and both beside each other where systems read images."""
    measure_name(frame)
    view = ui.answer(m3retrieve.reads, frame.selection)
    if view is None:
        return
    st.header("Text, image, or both?", anchor=False)
    ui.takeaway(view.takeaway)
    ui.caption("nDCG@10 by what of a query a system reads · documents are read whole", measures=(view.measure,))
    rows: list[Sequence[Cell] | str] = []
    for row in view.rows:
        group = capitalised(READS[row.reads])
        if group not in rows:
            rows.append(group)
        rows.append([tables.chip(row.system, dark=frame.dark), tables.spread(row.value, view.measure.label)])
    tables.show(tables.table({"System": "text", "nDCG@10": "number"}, rows, caption="What is read", style="narrow"))
    ui.download(
        "CSV",
        ["task", "system", "reads", "value", "low", "high", "n"],
        [
            [row.task, row.system.name, row.reads, row.value.value, row.value.low, row.value.high, row.value.n]
            for row in view.rows
        ],
        file="text-image-both.csv",
    )
