"""Difficulty tiers, where they come from confusion sets: what validators say of them, and systems that had no vote."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.charts import validation as charts
from analysis.views import validation as view
from analysis.views.selection import capitalised
from analysis.views.validation import Count, LeftOut, Validation
from pages.shared import glossary, tables, ui
from pages.shared.tables import Cell
from pages.shared.ui import Frame


def show(found: Validation, frame: Frame, *, task: str) -> None:
    """Each part with its sentence, chart, table and CSV."""
    st.header("Are the tiers what they say?", anchor=False)
    ui.takeaway(found.sentence)
    ui.caption(
        f"Votes of {', '.join(found.validators)} · a set needs two of three · 95 % bootstrap intervals over sets",
        more=glossary.VALIDATION,
    )
    ui.chart(charts.cosines(found, dark=frame.dark), key="cosines", alt=found.sentence.rest)
    _cosines(found)
    st.subheader("What became of the sets", anchor=False)
    columns = ("Made for", "Sets", "Accepted", *(f"Now {tier}" for tier in view.TIERS), "Rejected")
    _table(columns, [_count(row) for row in found.counts if row.vocabulary is None], "Confusion sets by outcome")
    with st.expander("By source vocabulary"):
        rows = [[row.vocabulary or "", *_count(row)] for row in found.counts if row.vocabulary is not None]
        _table(("Vocabulary", *columns), rows, "Confusion sets by vocabulary and outcome", text=2)
    st.subheader("With one validator left out", anchor=False)
    ui.grey(
        "Shares are of all sets, against the tier each was made for. Two that agree were a majority of three, so "
        "without the third a set can lose its tier but not change it; the other vote is then for an adjacent tier, a "
        "non-adjacent one or none."
    )
    shares = ("Accepted", "To an adjacent tier", "To a non-adjacent", "Rejected", "As with all")
    lines: list[tuple[Cell, str]] = [
        ("Left out", "text"),
        *((name, "number") for name in (*shares, "Adjacent", "Non-adjacent", "None")),
    ]
    groups = [("", 1), ("Share of the sets", len(shares)), ("Sets that lose their tier, by the other vote", 3)]
    rows = [_left_out(row) for row in found.left_out]
    caption = "Outcomes with one validator left out"
    tables.show(tables.table(lines, rows, groups=groups, caption=caption, style="narrow"))
    _table(
        ("Validators", "Same vote", "κ", "AC1"),
        [
            [f"{row.first} · {row.second}", f"{row.share:.2f}", tables.signed(row.kappa), tables.signed(row.ac1)]
            for row in found.pairs
        ],
        "How far validators agree",
    )
    _order(found, frame)
    store, selection = ui.store(), frame.selection
    ui.download_later("CSV of every set", lambda: view.sets_table(store, selection), file=f"confusion-sets-{task}.csv")


def _cosines(found: Validation) -> None:
    rows: list[Sequence[Cell] | str] = []
    for which in (view.MADE, view.KEPT):
        rows.append(capitalised(which))
        for name in found.names:
            means = {row.tier: row.mean for row in found.cosines if (row.validator, row.which) == (name, which)}
            (falls,) = (row for row in found.falling if (row.validator, row.which) == (name, which))
            cells = [tables.spread(means[tier], tier) for tier in view.TIERS]
            rows.append([name, *cells, _falls(falls.falls, falls.apart)])
    columns = {"Validator": "text"} | {capitalised(tier): "number" for tier in view.TIERS} | {"Falls": "text"}
    tables.show(tables.table(columns, rows, caption="Mean cosine by tier", style="narrow"))
    lines = [
        [row.validator, row.which, row.tier, row.mean.value, row.mean.low, row.mean.high, row.mean.n]
        for row in found.cosines
    ]
    ui.download("CSV", ["validator", "sets", "tier", "value", "low", "high", "n"], lines, file="cosines.csv")


def _falls(falls: bool | None, apart: bool | None) -> str:
    if falls is None:
        return "a tier is empty"
    if not falls:
        return "no"
    return "yes, intervals apart" if apart else "yes, intervals overlap"


def _count(row: Count) -> list[Cell]:
    moved = [f"{row.moved[tier]:,}" if tier in row.moved else "" for tier in view.TIERS]
    return [row.made, f"{row.sets:,}", f"{row.accepted:,}", *moved, f"{row.rejected:,}"]


def _left_out(row: LeftOut) -> list[Cell]:
    shares = (row.accepted, row.adjacent, row.far, row.rejected, row.same)
    lost = [f"{n:,}" if row.validator else "" for n in row.contested.values()]
    return [row.validator or "nobody: two of three", *(f"{share:.3f}" for share in shares), *lost]


def _order(found: Validation, frame: Frame) -> None:
    """Whether systems without a vote find the tiers as hard as they should be."""
    st.subheader("Tiers for systems that had no vote", anchor=False)
    ui.takeaway(found.confirmed)
    if not found.order:
        return
    rows: list[Sequence[Cell] | str] = []
    measures = list(dict.fromkeys(row.measure for row in found.order))
    for row in found.order:
        if len(measures) > 1 and row.measure not in rows:
            rows.append(row.measure)
        cells = [tables.spread(row.by_tier.get(tier), f"{row.measure}, {tier}") for tier in view.TIERS]
        rows.append(
            [tables.chip(row.system, dark=frame.dark), row.vote or "no vote", *cells, _falls(row.holds, row.apart)]
        )
    columns = {"System": "text", "Vote": "text"} | {capitalised(tier): "number" for tier in view.TIERS}
    tables.show(tables.table(columns | {"Falls": "text"}, rows, caption=f"{' and '.join(measures)} by tier"))


def _table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], caption: str, *, text: int = 1) -> None:
    kinds = {name: "text" if place < text else "number" for place, name in enumerate(columns)}
    tables.show(tables.table(kinds, rows, caption=caption, style="narrow"))
