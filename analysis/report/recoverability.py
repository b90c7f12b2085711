"""How deep answers in other languages stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.charts import reading_cost
from analysis.charts import recoverability as charts
from analysis.report.blocks import Block, Cell, Chart, Grey, Heading, Number, Row, Section, Table, spoken
from analysis.report.scope import DEPTH, answering, refusals
from analysis.store.read import Store
from analysis.views import recoverability
from analysis.views.recoverability import DepthCurve, DepthRow, Knee, Reach, ReadingCost, RecoverabilityTask
from analysis.views.selection import Interval, Selection

K = 100
"""Candidates that the reader's re-ranker sees; less where no run is as deep."""

HOLLOW = "not interpretable: these systems hardly retrieve across languages"


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Recoverability*.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    blocks: list[Block] = []
    for task in answers(store, selection):
        blocks += [Heading(task.task.title, 3), task.takeaway]
        if any(row.curve for row in task.rows):
            blocks += _task(task)
    blocks += refusals(store, selection, DEPTH)
    return Section("recoverability", "Recoverability", "Would a re-ranker fix it?", tuple(blocks))


def answers(store: Store, selection: Selection) -> Iterator[RecoverabilityTask]:
    """The view of each chosen task with rankings, at K = 100 or the deepest K below it that the runs reach.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    names = answering(store, selection, DEPTH)
    for task in recoverability.recoverability(store, selection._replace(tasks=names), k=K).tasks if names else ():
        reached = [k for k in recoverability.cuts(task.rows) if k <= K]
        yield recoverability.at(task, k=max(reached)) if reached else task


def _task(task: RecoverabilityTask) -> Iterator[Block]:
    k = _k(task.rows)
    words = spoken(task.takeaway)
    yield Grey(task.caption)
    for note in task.notes:
        yield Grey(note)
    yield Chart.drawn(
        lambda dark: charts.curves(task.rows, k=k, dark=dark),
        alt=f"Share of queries whose answer stands in the top K, over K. {words}",
    )
    yield table(task)
    yield Heading(f"Where the answer stands at K = {k:,}", 4)
    yield Chart.drawn(
        lambda dark: charts.stack(task.rows, dark=dark),
        alt=f"Shares of queries with the answer in the top {k:,}, deeper in the run, and not in the run. {words}",
    )
    yield from _costs(task.rows)
    yield from _stages(task.rows)


def _k(rows: Sequence[DepthRow]) -> int:
    return next((row.curve.at_k.k for row in rows if row.curve), K)


def _costs(rows: Sequence[DepthRow]) -> Iterator[Block]:
    if not reading_cost.has_cost(rows):
        return
    yield Heading("How much deeper one must read", 4)
    words = "; ".join(f"{row.system.short} {_cost(row, '0.5')}" for row in rows)
    yield Chart.drawn(
        lambda dark: reading_cost.bars(rows, dark=dark),
        alt=f"How many times deeper answers in another language stand: {words}",
    )
    if reading_cost.marks(rows):
        yield Chart.drawn(
            lambda dark: reading_cost.against_capability(rows, dark=dark),
            alt=f"Reading cost against what is found across languages: {words}",
        )


def table(task: RecoverabilityTask) -> Table:
    """Every figure of depth at the reader's K."""
    k = _k(task.rows)
    columns = {
        "System": "text",
        "R@10 cross": "number",
        f"RRC@{k}": "number",
        "Floor": "number",
        f"ARI@{k}": "number",
        "Knee": "number",
        "K for 90 %": "number",
        "XRC 0.5": "number",
        "XRC 0.8": "number",
        "k80 same": "number",
        "k80 cross": "number",
        "k80 both": "number",
        "n of k80": "number",
        "Note": "text",
    }
    hollow = [_row(row) for row in task.rows if row.degenerate]
    rows: list[Row] = [_row(row) for row in task.rows if not row.degenerate]
    rows += [HOLLOW, *hollow] if hollow else []
    return Table(f"How deep answers stand: {task.task.title}", columns, tuple(rows))


def _row(row: DepthRow) -> list[Cell]:
    curve = row.curve
    reach = next((found for found in (row.k80_same, row.k80_cross, row.k80_both) if found), None)
    return [
        row.system,
        row.recall_at_10_cross,
        _found(curve) if curve else None,
        Number(curve.floor if curve else None),
        Number(curve.at_k.ari if curve else None),
        _knee(curve.knee) if curve else None,
        Number(curve.k_at_90_percent if curve else None, 0),
        _cost(row, "0.5"),
        _cost(row, "0.8"),
        *(_reach(found, row.depth) for found in (row.k80_same, row.k80_cross, row.k80_both)),
        Number(reach.n if reach else None, 0),
        row.reason or "",
    ]


def _found(curve: DepthCurve) -> Interval:
    point = curve.at_k
    return Interval(point.rrc, "pooled", None, None, point.low, point.high, curve.level, curve.method, curve.n)


def _knee(knee: Knee | None) -> str | None:
    if knee is None or not knee.clear:
        return "none clear"
    spread = f" [{knee.spread[0]:,}, {knee.spread[1]:,}]" if knee.spread else ""
    return f"{knee.k:,} {'late' if knee.late else 'early'}{spread}"


def _cost(row: DepthRow, share: str) -> str | None:
    cost: ReadingCost | None = row.xrc.get(share)
    if cost is None:
        return None
    return "undefined" if cost.value is None else f"{reading_cost.at_least(cost)}{cost.value:,.2f}"


def _reach(found: Reach | None, depth: int) -> str | None:
    if found is None:
        return None
    if found.value is None:
        return f"> {depth:,}"
    return f"{found.value:,}" + ("" if found.se is None else f" ± {found.se:.1f}")


def _stages(rows: Sequence[DepthRow]) -> Iterator[Block]:
    """Which stage of two loses the answer, where a two-stage system ran."""
    found: tuple[list[Cell], ...] = tuple(
        [
            row.system,
            Number(row.candidate_miss),
            Number(row.reranker_fault),
            Number(row.curve.n if row.curve else None, 0),
        ]
        for row in rows
        if row.candidate_miss is not None
    )
    if found:
        columns = {"System": "text", "First stage lacks it": "number", "Second stage buries it": "number"}
        yield Table("Which of two stages loses the answer", columns | {"n": "number"}, found)
