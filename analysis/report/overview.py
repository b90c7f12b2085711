"""The leaderboard of each task, and what speaks for and against its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.charts import overview as charts
from analysis.charts import published as published_charts
from analysis.report import papers
from analysis.report.blocks import Block, Cell, Chart, Grey, Heading, Number, Row, Section, Table, spoken
from analysis.store.read import Store
from analysis.views import overview
from analysis.views.overview import OverviewRow, OverviewView, TaskOverview
from analysis.views.published import PublishedBoard, PublishedSystem
from analysis.views.selection import Selection


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Overview*.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    view = overview.overview(store, selection)
    blocks: list[Block] = []
    for table in composites(view):
        blocks += [Heading("All three tasks", 3), view.composite_takeaway, _composite_chart(view), table]
    for task in view.tasks:
        blocks += [Heading(task.task.title, 3), *_task(task, view)]
    for board in view.published:
        blocks += [Heading(f"Published figures: {board.task.title}", 3), board.takeaway, Grey(board.caption)]
        blocks += [Grey(board.coverage_note)] if board.coverage_note else []
        blocks += [_published_chart(board), published(board)]
    blocks += papers.blocks(store, selection)
    return Section("overview", "Overview", "Which system, and can I trust the difference?", tuple(blocks))


def _composite_chart(view: OverviewView) -> Chart:
    return Chart.drawn(
        lambda dark: charts.composites(view.composites, dark=dark),
        alt=f"The three tasks and their mean. {spoken(view.composite_takeaway)}",
    )


def _task(task: TaskOverview, view: OverviewView) -> Iterator[Block]:
    yield task.takeaway
    yield Grey(task.caption)
    if task.coverage_note:
        yield Grey(task.coverage_note)
    if task.rows:
        yield Chart.drawn(
            lambda dark: charts.leaderboard(task, task.lead, dark=dark),
            alt=f"Leaderboard by {task.lead.label}. {spoken(task.takeaway)}",
        )
        yield leaderboard(task, view)
        yield _health(task.rows)
    for refusal in task.refusals:
        yield Grey(f"{refusal.system.short} did not run: {refusal.reason}")


def leaderboard(task: TaskOverview, view: OverviewView) -> Table:
    """Measures of each system, by paradigm."""
    rows: list[Row] = []
    for paradigm, members in charts.grouped(task.rows).items():
        rows.append(paradigm)
        rows += [[row.system, *(row.measures.get(measure.key) for measure in view.measures)] for row in members]
    columns = {"System": "text"} | {measure.label: "number" for measure in view.measures}
    return Table(f"Leaderboard: {task.task.title}", columns, tuple(rows))


def composites(view: OverviewView) -> list[Table]:
    """The three tasks of MMed-IR and their mean, in one table; none for benchmarks without them."""
    rows: list[Row] = []
    for paradigm, members in charts.grouped(view.composites).items():
        rows.append(paradigm)
        rows += [[row.system, *row.named.values()] for row in members]
    if not rows:
        return []
    columns = {"System": "text"} | dict.fromkeys(view.composites[0].named, "number")
    return [Table("The three tasks and their mean", columns, tuple(rows))]


def _published_chart(board: PublishedBoard) -> Chart:
    return Chart.drawn(
        lambda dark: published_charts.leaderboard(board, dark=dark),
        alt=f"Published {board.lead.label}. {spoken(board.takeaway)}",
    )


def published(board: PublishedBoard) -> Table:
    """What others published of each system: means over the subsets that all have, without intervals."""
    columns = {"System": "text"} | {label.label: "number" for label in board.measures}
    columns |= {"Subsets": "number", "Made with": "text", "Model revision": "text"}
    return Table(f"Published figures: {board.task.title}", columns, tuple(_published(row, board) for row in board.rows))


def _published(row: PublishedSystem, board: PublishedBoard) -> list[Cell]:
    return [
        row.system,
        *(Number(row.measures[label.key].value) for label in board.measures),
        Number(row.measures[board.lead.key].n, 0),
        " · ".join(part for part in (row.program, row.evaluated_at and row.evaluated_at[:10]) if part),
        _revision(row),
    ]


def _revision(row: PublishedSystem) -> str:
    other = f", not the catalogue’s {row.other_revision[:12]}" if row.other_revision else ""
    return f"{(row.model_revision or '')[:12]}{other}"


def _health(rows: Sequence[OverviewRow]) -> Table:
    columns = {
        "System": "text",
        "Queries": "number",
        "Missing queries": "number",
        "Tied at rank 10": "number",
        "nDCG@10 ties allow": "number",
        "Judged in top 10": "number",
        "Answers not in the corpus": "number",
        "Depth": "number",
        "Note": "text",
    }
    return Table("How sound are these numbers?", columns, tuple(_sound(row) for row in rows))


def _sound(row: OverviewRow) -> list[Cell]:
    ties = row.tie_range_ndcg_at_10
    return [
        row.system,
        Number(row.n_queries, 0),
        Number(row.n_missing, 0),
        Number(row.n_tied_at_10, 0),
        f"{ties[0]:.2f}–{ties[1]:.2f}" if ties else None,
        Number(row.judged_at_10),
        Number(row.n_dangling, 0),
        Number(row.depth, 0),
        "finds almost nothing across languages" if row.degenerate else "",
    ]
