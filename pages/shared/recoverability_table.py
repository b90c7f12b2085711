"""The controls and tables of the Recoverability page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from analysis.charts import reading_cost
from analysis.charts import recoverability as charts
from analysis.views import overview, recoverability
from analysis.views.recoverability import DepthPart, DepthPoint, DepthRow, Knee, ReadingCost, RecoverabilityTask
from analysis.views.selection import Interval
from pages.shared import address, glossary, tables, ui
from pages.shared.tables import Cell, Markup

DEFAULT_K = 100
FEW = 30
"""Parts of fewer queries are only a hint."""

MOST_PANELS = 12
"""A split into more parts is a table alone."""

WHOLE = "nothing"
NAMES = {WHOLE: "Nothing", "language": "Query language", recoverability.ROUTE: "Route"}
HOLLOW = "Hollow or grey, not interpretable: this system does not retrieve the thing whose depth is measured"


# Controls


def slider(rows: Sequence[DepthRow]) -> int:
    """The reader's K, on the grid as far as the deepest curve goes."""
    cuts = recoverability.cuts(rows)
    default = max(k for k in cuts if k <= DEFAULT_K)
    chosen = address.choose(
        st.select_slider,
        "K: documents that the re-ranker sees for each query",
        [str(k) for k in cuts],
        name="k",
        default=str(default),
        format_func=lambda k: f"{int(k):,}",
    )
    return int(chosen)


def split_by(frame: ui.Frame) -> str | None:
    """What the reader splits the queries by: an attribute, or ``route``; None for nothing."""
    task = frame.tasks[0].name
    offered = ui.answer(overview.contents, frame.benchmark.address, tasks=(task,)).slices
    attributes = dict.fromkeys(attribute for attribute, _ in offered)
    chosen = address.choose(
        st.selectbox,
        "Split by",
        list(dict.fromkeys([WHOLE, "language", recoverability.ROUTE, *attributes])),
        name="by",
        default=WHOLE,
        format_func=lambda name: NAMES.get(name, name.replace("_", " ").capitalize()),
    )
    return None if chosen == WHOLE else chosen


# The table of the systems


def table(rows: Sequence[DepthRow], *, dark: bool) -> Markup:
    """Every figure of depth at the reader's K; columns that no system has are left out."""
    k = next((row.curve.at_k.k for row in rows if row.curve), DEFAULT_K)
    columns: dict[str, Callable[[DepthRow], Cell]] = {
        "R@10 cross": lambda row: tables.spread(row.recall_at_10_cross, "R@10 cross"),
        f"RRC@{k:,}": lambda row: _share(row.curve.at_k) if row.curve else "",
        "Floor": lambda row: _number(row.curve.floor, "floor") if row.curve else "",
        f"ARI@{k:,}": lambda row: _grey(_number(row.curve.at_k.ari, f"ARI@{k:,}"), row) if row.curve else "",
        "Knee": lambda row: _grey(_knee(row.curve.knee), row) if row.curve else "",
        "K for 90 %": lambda row: _depth(row.curve.k_at_90_percent) if row.curve else "",
        "XRC": lambda row: _grey(_costs(row), row) if row.xrc else "",
        "k80 same": lambda row: _reach(row, "same"),
        "k80 cross": lambda row: _reach(row, "cross"),
        "k80 both": lambda row: _reach(row, "both"),
    }
    cells = {name: [cell(row) for row in rows] for name, cell in columns.items()}
    kept = {name: found for name, found in cells.items() if any(found)}
    lines = [[_system(row, dark=dark), *(found[place] for found in kept.values())] for place, row in enumerate(rows)]
    return tables.table({"System": "text"} | dict.fromkeys(kept, "number"), lines, caption="How deep answers stand")


def _system(row: DepthRow, *, dark: bool) -> Markup:
    chip = tables.chip(row.system, dark=dark)
    return Markup(f'{chip}<br><span class="soft">not interpretable</span>') if row.degenerate else chip


def _grey(cell: Markup, row: DepthRow) -> Markup:
    return Markup(f'<span class="grey" title="{HOLLOW}">{cell}</span>') if row.degenerate and cell else cell


def _number(value: float | None, words: str) -> Markup:
    return Markup("") if value is None else Markup(f'<span title="{words} {value:.4f}">{value:.2f}</span>')


def _share(point: DepthPoint) -> Markup:
    band = "" if point.low is None else f'<br><span class="soft">{point.low:.2f}–{point.high:.2f}</span>'
    title = f"RRC@{point.k:,} {point.rrc:.4f}; random order {point.chance:.4f}"
    return Markup(f'<span title="{title}">{point.rrc:.2f}{band}</span>')


def _depth(k: int | None) -> str:
    return "" if k is None else f"{k:,}"


def _knee(knee: Knee | None) -> Markup:
    if knee is None or not knee.clear:
        return Markup('<span class="soft">no clear knee</span>')
    spread = f"<br>{knee.spread[0]:,}–{knee.spread[1]:,}" if knee.spread else ""
    kind = "late" if knee.late else "early"
    return Markup(f'{knee.k:,} {kind}<span class="soft">{spread}</span>')


def _costs(row: DepthRow) -> Markup:
    half, most = (row.xrc.get(share) for share in reading_cost.SHARES)
    if half is None or most is None:
        return Markup("")
    return Markup(f'{_cost(half)}<br><span class="soft">at 0.8: {_cost(most)}</span>')


def _cost(cost: ReadingCost) -> str:
    return "undefined" if cost.value is None else f"{reading_cost.at_least(cost)}{cost.value:,.2f}"


def _reach(row: DepthRow, kind: str) -> Markup:
    reach = {"same": row.k80_same, "cross": row.k80_cross, "both": row.k80_both}[kind]
    if reach is None:
        return Markup("")
    error = "" if reach.se is None else f'<br><span class="soft">± {reach.se:.1f}</span>'
    return Markup(f'<span title="n = {reach.n:,}">{tables.rank(reach.value, beyond=row.depth)}{error}</span>')


def hollow(rows: Sequence[DepthRow]) -> str:
    """The names of the systems whose depth is not interpreted."""
    return ", ".join(row.system.short for row in rows if row.degenerate)


def spoken_stack(rows: Sequence[DepthRow]) -> str:
    """The bars of the three parts in words."""
    return "; ".join(
        f"{row.system.short}: {curve.at_k.rrc:.2f} in the top {curve.at_k.k:,}, {curve.at_k.deeper:.2f} deeper, "
        f"{curve.floor:.2f} not in the run"
        for row in rows
        if (curve := row.curve)
    )


def faults(rows: Sequence[DepthRow], *, dark: bool) -> Markup | None:
    """Which stage of each two-stage system loses the answer; None without one whose first stage is stored."""
    lines = [
        [
            tables.chip(row.system, dark=dark),
            _number(row.candidate_miss, "candidate miss"),
            _number(row.reranker_fault, "re-ranker fault"),
            f"{row.curve.n:,}" if row.curve else "",
        ]
        for row in rows
        if row.candidate_miss is not None
    ]
    columns = {"System": "text", "Candidate miss": "number", "Re-ranker fault": "number", "n": "number"}
    return tables.table(columns, lines, caption="Which stage loses the answer") if lines else None


def show_costs(rows: Sequence[DepthRow], *, dark: bool) -> None:
    """How much deeper answers in another language stand, then that cost against what is found."""
    st.header("How much deeper one must read", anchor=False)
    if not reading_cost.has_cost(rows):
        ui.grey(
            "XRC is undefined here: no system has enough answers in the queries' own language to compare with, as "
            "these queries have none or the runs do not reach them."
        )
        return
    ui.chart(reading_cost.bars(rows, dark=dark), key="xrc", alt=_spoken_costs(rows))
    marks = reading_cost.marks(rows)
    if not marks:
        return
    st.header("Reading cost against capability", anchor=False)
    absent = ", ".join(row.system.short for row in rows if row not in [mark.row for mark in marks])
    words = (
        "Up and to the left is better; the thin line joins the systems that none beats · ▶ the cost is this or more · "
        "pale grey: nothing is missed at this K"
    )
    ui.grey(f"{words} · not drawn, as XRC is undefined: {absent}" if absent else words)
    alt = f"Reading cost and R@10 cross. {_spoken_costs(rows)}"
    ui.chart(reading_cost.against_capability(rows, dark=dark), key="cost", alt=alt)


def _spoken_costs(rows: Sequence[DepthRow]) -> str:
    return "; ".join(f"{row.system.short}: XRC {_cost(row.xrc[reading_cost.HALF])}" for row in rows)


# A split


def show_split(parts: Sequence[DepthPart], *, k: int, name: str, dark: bool) -> None:
    """Small curves where the parts are few, and their figures at the reader's K."""
    known = [part for part in parts if part.n]
    if not known:
        ui.grey("No part has a question with an answer in another language.")
        return
    moved = [part._replace(rows=recoverability.rows_at(part.rows, k=k)) for part in known]
    ui.caption(_split_caption(parts, k))
    if len(known) <= MOST_PANELS:
        words = ", ".join(part.part for part in known)
        ui.chart(charts.small_curves(moved, k=k, dark=dark), key="parts", alt=f"RRC@K over K for {words}")
    tables.show(_split_table(moved, k, dark=dark))
    ui.download("CSV of the split", *split_numbers(moved), file=f"recoverability-by-{name}.csv")


def show_pooled(frame: ui.Frame) -> None:
    """k80 over the queries of all tasks, once the reader asks for it."""
    st.header("Over all tasks", anchor=False)
    ui.grey(glossary.POOLED)
    if not address.switch("Pool the tasks", name="pooled"):
        return
    every = frame.selection._replace(tasks=())
    rows = ui.answer(recoverability.recoverability, every, pooled=True).pooled
    if not rows:
        ui.nothing("No system ran on every task that has answers in both.", next_step=glossary.RUN_ALL)
        return
    tables.show(table(rows, dark=frame.dark))
    ui.download("CSV of all tasks", *numbers(rows), file="recoverability-all-tasks.csv")


def _split_caption(parts: Sequence[DepthPart], k: int) -> str:
    words = f"RRC@{k:,} on ink, and below it k80 cross · n: queries with an answer in another language"
    if any(0 < part.n < FEW for part in parts):
        words += f" · * fewer than {FEW} queries: read it as a hint"
    empty = [part.part for part in parts if not part.n]
    return f"{words} · without such queries: {', '.join(empty)}" if empty else words


def _split_table(parts: Sequence[DepthPart], k: int, *, dark: bool) -> Markup:
    columns = {"": "text"} | {row.system.short: "number" for row in parts[0].rows} | {"n": "number"}
    lines = [
        [
            tables.escaped(part.part),
            *(_part_cell(row, dark=dark) for row in part.rows),
            f"{part.n:,}{'*' if part.n < FEW else ''}",
        ]
        for part in parts
    ]
    return tables.table(columns, lines, caption=f"RRC@{k:,} and k80 cross of each part")


def _part_cell(row: DepthRow, *, dark: bool) -> Cell:
    if row.curve is None:
        return ""
    reach = row.k80_cross
    below = "" if reach is None else f'<br><span class="soft">{tables.rank(reach.value, beyond=row.depth)}</span>'
    return Markup(tables.inked_share(row.curve.at_k.rrc, dark=dark) + below)


# CSV

POINT = ("rrc", "low", "high", "chance", "deeper", "ari", "jbc")


def curve_numbers(task: RecoverabilityTask) -> tuple[list[str], list[list[object]]]:
    """Every point of every curve, with its knee."""
    header = ["task", "system", "k", *POINT, "floor", "level", "method", "n", "knee", "late", "clear"]
    rows: list[list[object]] = []
    for row in task.rows:
        if row.curve is None:
            continue
        knee = row.curve.knee
        tail = [row.curve.floor, row.curve.level, row.curve.method, row.curve.n]
        marked = [knee.k, knee.late, knee.clear] if knee else [None] * 3
        rows += [
            [row.task, row.system.name, point.k, *(getattr(point, name) for name in POINT), *tail, *marked]
            for point in row.curve.points
        ]
    return header, rows


def numbers(rows: Sequence[DepthRow]) -> tuple[list[str], list[list[object]]]:
    """Everything that the bars, the reading cost chart and the table show at the reader's K."""
    lines = [
        [row.task, row.system.name, bool(row.degenerate), words, *values]
        for row in rows
        for words, values in _named(row).items()
    ]
    return ["task", "system", "degenerate", "number", "value", "low", "high", "se", "bound", "n"], lines


def _named(row: DepthRow) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    if row.recall_at_10_cross:
        found["R@10 cross"] = _interval(row.recall_at_10_cross)
    if row.curve:
        point, n, knee = row.curve.at_k, row.curve.n, row.curve.knee
        found[f"RRC@{point.k}"] = [point.rrc, point.low, point.high, None, "exact", n]
        plain = {f"deeper than {point.k}": point.deeper, "floor": row.curve.floor, f"ARI@{point.k}": point.ari}
        plain["K for 90 %"] = row.curve.k_at_90_percent
        found |= {words: [value, None, None, None, "exact", n] for words, value in plain.items()}
        if knee:
            kind = f"{'late' if knee.late else 'early'} knee" if knee.clear else "knee, not clear"
            found[kind] = [knee.k, *(knee.spread or (None, None)), None, "exact", n]
    for share, cost in row.xrc.items():
        found[f"XRC at {share}"] = [cost.value, None, None, None, cost.bound, None]
    for kind, reach in {"same": row.k80_same, "cross": row.k80_cross, "both": row.k80_both}.items():
        if reach:
            bound = f"> {row.depth}" if reach.censored else "exact"
            found[f"k80 {kind}"] = [reach.value, None, None, reach.se, bound, reach.n]
    for words, fault in {"candidate miss": row.candidate_miss, "re-ranker fault": row.reranker_fault}.items():
        if fault is not None:
            found[words] = [fault, None, None, None, "exact", row.curve.n if row.curve else None]
    return found


def _interval(found: Interval) -> list[object]:
    return [found.value, found.low, found.high, None, "exact", found.n]


def split_numbers(parts: Sequence[DepthPart]) -> tuple[list[str], list[list[object]]]:
    """The curves of each part, and its k80 cross."""
    rows: list[list[object]] = []
    for part in parts:
        for row in part.rows:
            if row.curve is None:
                continue
            reach = row.k80_cross
            k80 = [reach.value, reach.censored] if reach else [None, None]
            rows += [
                [part.part, row.system.name, point.k, point.rrc, point.low, point.high, row.curve.n, *k80]
                for point in row.curve.points
            ]
    return ["part", "system", "k", "rrc", "low", "high", "n", "k80_cross", "k80_cross_censored"], rows
