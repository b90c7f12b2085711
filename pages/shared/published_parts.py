"""What others published, beside what was measured here: leaderboards and heatmaps, always marked as published."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from analysis.charts import published as charts
from analysis.charts import routes as route_charts
from analysis.views import published
from analysis.views.published import PublishedBoard, PublishedMean, PublishedSystem
from analysis.views.selection import MeasureLabel
from pages.shared import address, glossary, language_choice, tables, ui
from pages.shared.tables import Cell, Markup


def _pickers(known: Sequence[MeasureLabel], splits: Sequence[str], *, measure: str, split: str) -> None:
    """Measure and split, both in the address; the view falls back where a task lacks what was chosen."""
    labels = {label.key: label.label for label in known}
    left, right, _ = st.columns([1, 1, 2])
    with left:
        address.choose(
            st.selectbox,
            "Published measure",
            list(labels),
            name="figure",
            default=measure,
            format_func=labels.__getitem__,
        )
    if len(splits) > 1:
        with right:
            address.choose(st.selectbox, "Split", list(splits), name="split", default=split, format_func=_split_words)


def _split_words(name: str) -> str:
    return name.replace("_", " ")


# Language routes


def has_routes(frame: ui.Frame) -> bool:
    """Whether there is anything to show of the chosen systems, whole tasks only."""
    return bool(ui.answer(published.boards, frame.selection))


def show_routes(frame: ui.Frame, languages: tuple[str, ...]) -> None:
    """The heatmaps of the published figures of the one chosen task."""
    (usual,) = ui.answer(published.boards, frame.selection)
    asked = {"split": address.get("split"), "measure": address.get("figure")}
    view = ui.answer(published.routes, frame.selection, **asked, languages=languages)
    ui.takeaway(view.takeaway)
    ui.caption(view.caption, more=[(view.measure.label, view.measure.definition), *glossary.PUBLISHED])
    language_choice.legend(view.scripts, dark=frame.dark)
    _pickers(view.known, view.splits, measure=usual.lead.key, split=usual.split)
    ui.chart(
        route_charts.published(view, dark=frame.dark),
        key="published-heatmaps",
        alt=f"Published figures. {view.takeaway.bold} {view.takeaway.rest}",
    )
    header = ["task", "system", "split", "query_language", "document_language", "measure", "value", "n_subsets"]
    rows: list[list[object]] = [[getattr(cell, name) for name in header] for cell in view.cells]
    ui.download("CSV of the published figures", header, rows, file=f"published-routes-{view.task.name}.csv")


# Overview


def show_boards(frame: ui.Frame, boards: Sequence[PublishedBoard]) -> None:
    """The leaderboard of each task's published figures, under the measured ones."""
    if not boards:
        if any(task.n_published for task in frame.tasks):
            ui.grey("Published figures are means over all queries: they are left out while a part of them is chosen.")
        return
    for board in boards:
        several = len(frame.tasks) > 1 or not board.task.published_only
        if several:
            st.header(tables.literal(f"Published figures: {board.task.title}"), anchor=False)
        _show_board(frame, board)


def _show_board(frame: ui.Frame, usual: PublishedBoard) -> None:
    asked = {"split": address.get("split"), "measure": address.get("figure")}
    selection = frame.selection._replace(tasks=(usual.task.name,))
    (board,) = ui.answer(published.boards, selection, **asked)
    ui.takeaway(board.takeaway)
    terms = [(label.label, label.definition) for label in board.measures]
    ui.caption(board.caption, more=[*terms, *glossary.PUBLISHED])
    if board.coverage_note:
        st.warning(tables.literal(board.coverage_note))
    if len(frame.tasks) == 1:  # else the figures of one task would hang on what was chosen for another
        _pickers(board.known, board.splits, measure=usual.lead.key, split=usual.split)
    ui.chart(
        charts.leaderboard(board, dark=frame.dark),
        key=f"published-{board.task.name}",
        alt=f"Published figures. {board.takeaway.bold} {board.takeaway.rest}",
    )
    tables.show(_table(board, dark=frame.dark))
    ui.download("CSV", *_numbers(board), file=f"published-{board.task.name}.csv")


def _table(board: PublishedBoard, *, dark: bool) -> Markup:
    columns = (
        {"System": "text"}
        | {label.label: "number" for label in board.measures}
        | {"Subsets": "number", "Published by": "text"}
    )
    rows = [_row(row, board, dark=dark) for row in board.rows]
    return tables.table(columns, rows, caption=f"Published figures of {board.task.title}")


def _row(row: PublishedSystem, board: PublishedBoard, *, dark: bool) -> list[Cell]:
    return [
        tables.chip(row.system, dark=dark),
        *(_mean(row.measures[label.key], label) for label in board.measures),
        f"{row.measures[board.lead.key].n:,}",
        _origin(row),
    ]


def _origin(row: PublishedSystem) -> Markup:
    """Program and date over the model's revision; the hover names the file."""
    date = row.evaluated_at[:10] if row.evaluated_at else None
    made = html.escape(" · ".join(part for part in (row.program, date) if part))
    revision = html.escape(f"revision {row.model_revision[:12]}") if row.model_revision else ""
    if row.other_revision:
        revision += html.escape(f", not the catalogue’s {row.other_revision[:12]}")
    return Markup(f'<span title="{html.escape(row.file)}">{made}</span><br><span class="soft">{revision}</span>')


def _mean(mean: PublishedMean, label: MeasureLabel) -> Markup:
    """The mean over shared subsets, over the system's own mean where that differs; blank where there is none."""
    if mean.own is None:
        return Markup("")
    own = f"{mean.own:.2f} over its own {mean.n:,}"
    if mean.value is None:
        return Markup(f'<span class="soft">{own}</span>')
    below = "" if mean.value == mean.own else f'<br><span class="soft">{own}</span>'
    title = html.escape(f"{label.label} {mean.value:.4f}, published")
    return Markup(f'<span title="{title}">{mean.value:.2f}</span>{below}')


def _numbers(board: PublishedBoard) -> tuple[list[str], list[list[object]]]:
    header = ["task", "system", "split", "measure", "mean_of_shared", "n_shared", "mean_of_own", "n_own", "program",
              "model_revision", "other_revision", "dataset_revision", "evaluated_at", "file"]  # fmt: skip
    rows: list[list[object]] = [
        [row.task, row.system.name, row.split, label.key, mean.value, board.n_shared, mean.own, mean.n, row.program,
         row.model_revision, row.other_revision, row.dataset_revision, row.evaluated_at, row.file]
        for row in board.rows
        for label in board.measures
        if (mean := row.measures[label.key])
    ]  # fmt: skip
    return header, rows
