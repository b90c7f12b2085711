"""Whether the order of systems holds on the translations that may be trusted."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.charts import qa_subsets as charts
from analysis.views.qa_subsets import SUBSETS, QaSubsets, Statuses
from analysis.views.selection import capitalised
from analysis.views.significance import SignificanceTask
from pages.shared import tables, ui
from pages.shared.tables import Cell, Markup

TERMS = (
    ("Pass", "At least 0.9 of the question’s terms are kept, and at least 0.8 of its words come back (F1)."),
    ("Fail", "Less than 0.7 of the terms are kept, or the words that come back have an F1 below 0.6."),
    ("Flag", "Neither: some terms or words are lost, or nobody translated the question back."),
    ("Official", "Translations that pass or are flagged, and the questions in English."),
    ("All", "Every question: translations that fail stay in the benchmark."),
)


def show(task: SignificanceTask, *, dark: bool) -> None:
    """The three subsets side by side, their orders, and how many translations pass; nothing for any other task."""
    found = task.qa_subsets
    if found is None:
        return
    st.header("Does the order hold on trusted translations?", anchor=False)
    ui.takeaway(found.sentence)
    words = f"Mean {found.measure.label} over questions, each weighs the same · 95 % intervals"
    ui.caption(words, measures=[found.measure], more=TERMS)
    if found.rows:
        alt = f"{found.measure.label} of each system on three subsets. {found.sentence.bold}"
        ui.chart(charts.qa_subsets(found, dark=dark), key="qa-subsets", alt=alt)
    tables.show(_means(found, dark=dark))
    tables.show(_orders(found))
    with st.expander("Translations by language"):
        tables.show(_languages(found.languages, dark=dark))
    ui.download("CSV of the subsets", *_numbers(found), file=f"subsets-{task.task.name}.csv")


def _means(found: QaSubsets, *, dark: bool) -> Markup:
    columns = {"System": "text"} | {f"{capitalised(name)} ({found.n_queries[name]:,})": "number" for name in SUBSETS}
    rows: list[Sequence[Cell] | str] = [
        [
            tables.chip(row.system, dark=dark),
            *(tables.spread(row.means[name], f"{found.measure.label}, {name}") for name in SUBSETS),
        ]
        for row in found.rows
    ]
    return tables.table(columns, rows, caption="Systems on each subset")


def _orders(found: QaSubsets) -> Markup:
    columns = {"Subsets": "text", "Spearman ρ": "number", "Kendall τ": "number", "Systems": "number"}
    rows: list[Sequence[Cell] | str] = [
        [f"{capitalised(row.a)} and {row.b}", tables.signed(row.spearman), tables.signed(row.kendall), f"{row.n:,}"]
        for row in found.orders
    ]
    return tables.table(columns, rows, caption="Whether two subsets put the systems in the same order")


def _languages(statuses: Sequence[Statuses], *, dark: bool) -> Markup:
    columns = {"Language": "text"}
    for name in ("Pass", "Flag", "Fail"):
        columns |= {name: "number", f"{name}, share": "number"}
    rows: list[Sequence[Cell] | str] = []
    for row in statuses:
        cells: list[Cell] = [tables.badge(row.language, dark=dark)]
        shares = (row.passed_share, row.flagged_share, row.failed_share)
        for n, share in zip((row.passed, row.flagged, row.failed), shares, strict=True):
            cells += [f"{n:,}", f"{share:.2f}"]
        rows.append(cells)
    return tables.table(columns, rows, caption="Translations by language")


def _numbers(found: QaSubsets) -> tuple[list[str], list[list[object]]]:
    header = ["what", "of", "subset", "value", "low", "high", "n"]
    rows: list[list[object]] = []
    for row in found.rows:
        for name, mean in row.means.items():
            rows.append([found.measure.key, row.system.name, name, mean.value, mean.low, mean.high, mean.n])
    for pair in found.orders:
        for what, value in (("spearman", pair.spearman), ("kendall", pair.kendall)):
            rows.append([what, pair.a, pair.b, value, None, None, pair.n])
    for one in found.languages:
        for name, n in (("pass", one.passed), ("flag", one.flagged), ("fail", one.failed)):
            rows.append([f"translations that {name}", one.language, None, n, None, None, one.translated])
    return header, rows
