"""The Overview's tables: the leaderboard, what speaks for and against its numbers, and the benchmark's card."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from analysis.charts import overview as charts
from analysis.views.overview import OverviewRow, OverviewView, TaskOverview
from analysis.views.selection import BenchmarkLabel, MeasureLabel, TaskLabel
from pages.shared import address, glossary, tables, ui
from pages.shared.tables import Cell, Markup

NUMBERS = ("value", "low", "high", "level", "method", "aggregate", "other_mean", "ceiling", "n")


def measured(view: OverviewView, *, dark: bool) -> None:
    """What was measured here, by the measure that the sidebar chooses: the three tasks together, then each task."""
    measures = {measure.key: measure for measure in view.measures}
    with st.sidebar:
        chosen = address.choose(
            st.selectbox,
            "Measure",
            list(measures),
            name="measure",
            default=view.tasks[0].lead.key,
            format_func=lambda key: measures[key].label,
        )
    composites(view, dark=dark)
    for task in view.tasks:
        show(task, view, measure=measures[chosen], dark=dark, heading=len(view.tasks) > 1)


def size(tasks: Sequence[TaskLabel]) -> str:
    """How much the chosen tasks hold, in words."""
    queries, documents = (sum(getattr(task, name) for task in tasks) for name in ("n_queries", "n_documents"))
    if not queries:
        return "published figures"
    return f"{queries:,} queries · {f'{documents:,} documents' if documents else 'imported scores'}"


def show(task: TaskOverview, view: OverviewView, *, measure: MeasureLabel, dark: bool, heading: bool) -> None:
    """One task: takeaway, chart, table, and whether the numbers can be trusted."""
    if heading:
        st.header(tables.literal(task.task.title), anchor=False)
    ui.takeaway(task.takeaway)
    ui.caption(task.caption, measures=view.measures, more=glossary.OVERVIEW)
    if not task.rows:
        ui.nothing(
            "No system has run on this task.",
            next_step=glossary.RUN_ALL,
        )
        return
    if task.coverage_note:
        st.warning(tables.literal(task.coverage_note))
    ui.chart(
        charts.leaderboard(task, measure, dark=dark),
        key=f"leaderboard-{task.task.name}",
        alt=f"{task.takeaway.bold} {task.takeaway.rest}",
    )
    tables.show(_leaderboard(task, view.measures, dark=dark))
    ui.download("CSV", *numbers(task, view.measures), file=f"leaderboard-{task.task.name}.csv")
    _health(task, dark=dark)


def composites(view: OverviewView, *, dark: bool) -> None:
    """The three tasks and their mean, for benchmarks that have them; the best system first."""
    if not view.composites:
        return
    st.header("All three tasks", anchor=False)
    ui.takeaway(view.composite_takeaway)
    ui.caption(
        "Scores of alignment, discrimination and evidence, and their mean, MMed-IR · ranges: 95 % bootstrap intervals",
        more=glossary.COMPOSITES,
    )
    ui.chart(
        charts.composites(view.composites, dark=dark),
        key="composites",
        alt=f"{view.composite_takeaway.bold} {view.composite_takeaway.rest}",
    )
    columns = {"System": "text"} | dict.fromkeys(view.composites[0].named, "number")
    rows: list[Sequence[Cell] | str] = []
    for paradigm, members in charts.grouped(view.composites).items():
        rows.append(paradigm)
        rows.extend(
            [
                tables.chip(row.system, dark=dark),
                *(tables.spread(found, words) for words, found in row.named.items()),
            ]
            for row in members
        )
    tables.show(tables.table(columns, rows, caption="The three tasks and their mean"))
    ui.download("CSV", *_composite_numbers(view), file="mmed-ir.csv")


def _composite_numbers(view: OverviewView) -> tuple[list[str], list[list[object]]]:
    rows: list[list[object]] = []
    for row in view.composites:
        rows += [
            [row.system.name, row.system.paradigm, words, *(getattr(found, name) for name in NUMBERS)]
            for words, found in row.named.items()
            if found is not None
        ]
    return ["system", "paradigm", "score", *NUMBERS], rows


def _leaderboard(task: TaskOverview, measures: Sequence[MeasureLabel], *, dark: bool) -> Markup:
    rows: list[Sequence[Cell] | str] = []
    for paradigm, members in charts.grouped(task.rows).items():
        rows.append(paradigm)
        rows.extend(
            [
                _name(row, dark=dark),
                *(tables.spread(row.measures.get(measure.key), measure.label) for measure in measures),
            ]
            for row in members
        )
    return tables.table(
        {"System": "text"} | {measure.label: "number" for measure in measures},
        rows,
        caption=f"Leaderboard of {task.task.title}",
    )


def _name(row: OverviewRow, *, dark: bool) -> Markup:
    below = ""
    if row.composed_of:
        below = f'<br><span class="soft">from {html.escape(" and ".join(row.composed_of))}</span>'
    flag = f'<br><span class="flag">{glossary.DEGENERATE}</span>' if row.degenerate else ""
    return Markup(tables.chip(row.system, dark=dark) + below + flag)


def numbers(task: TaskOverview, measures: Sequence[MeasureLabel]) -> tuple[list[str], list[list[object]]]:
    """The leaderboard for a CSV file: header and rows, unrounded."""
    rows: list[list[object]] = []
    for row in task.rows:
        for measure in measures:
            found = row.measures.get(measure.key)
            if found is not None:
                place = [row.task, row.system.name, row.system.paradigm, measure.label]
                rows.append([*place, *(getattr(found, name) for name in NUMBERS)])
    return ["task", "system", "paradigm", "measure", *NUMBERS], rows


def _health(task: TaskOverview, *, dark: bool) -> None:
    st.subheader("How sound are these numbers?", anchor=False)
    ui.caption(_health_words(task), more=glossary.HEALTH)
    columns = {
        "System": "text",
        "Missing queries": "number",
        "Tied at rank 10": "number",
        "nDCG@10 ties allow": "number",
        "Judged in top 10": "number",
        "Answers not in the corpus": "number",
        "Different documents in top 10": "number",
        "Most frequent one": "number",
        "Kept of depth": "number",
    }
    tables.show(tables.table(columns, [_health_row(row, dark=dark) for row in task.rows], caption="Data health"))
    for refusal in task.refusals:
        ui.grey(f"{refusal.system.short} did not run: {refusal.reason}")


def _health_words(task: TaskOverview) -> str:
    first = task.rows[0]
    unjudged = f" · {first.n_unjudged:,} queries without a right answer are left out" if first.n_unjudged else ""
    missing = sum(row.n_missing for row in task.rows)
    covered = "every system answered every query" if not missing else f"unanswered queries count 0 ({missing:,} in all)"
    known = "judged" if first.depth is not None else "scored"
    strict = ""
    if first.trec_eval_c is not None:
        strict = f" · trec_eval -c counts those of them that have judgements as 0: {first.trec_eval_c:.3f} × each mean"
    return f"{first.n_queries:,} {known} queries · {covered}{unjudged}{strict}"


def _health_row(row: OverviewRow, *, dark: bool) -> list[Cell]:
    ties = row.tie_range_ndcg_at_10
    return [
        tables.chip(row.system, dark=dark),
        f"{row.n_missing:,}",
        _count(row.n_tied_at_10),
        f"{ties[0]:.2f}–{ties[1]:.2f}" if ties else "",
        f"{row.judged_at_10:.2f}" if row.judged_at_10 is not None else "",
        _count(row.n_dangling),
        _count(row.distinct_documents_at_10),
        f"{row.largest_document_share_at_10:.2f}" if row.largest_document_share_at_10 is not None else "",
        f"{row.hits_kept:,} of {row.depth:,}" if row.hits_kept is not None else "",
    ]


def _count(number: int | None) -> str:
    return f"{number:,}" if number is not None else ""


def card(benchmark: BenchmarkLabel) -> None:
    """Where the benchmark comes from and what it must not be used for."""
    st.header("About this benchmark", anchor=False)
    rows = {
        "Benchmark": (f"{benchmark.title} ({benchmark.version})",),
        "Source": (benchmark.source,),
        "Licence": (benchmark.licence,),
        "Notes": benchmark.notes,
        "Use": ("For research on retrieval. Not for clinical decisions.",),
    }
    body = "".join(
        f'<tr><th scope="row">{name}</th><td>{"".join(f"<p>{tables.escaped(text)}</p>" for text in texts)}</td></tr>'
        for name, texts in rows.items()
        if texts
    )
    tables.show(Markup(f'<table class="card" aria-label="Benchmark card"><tbody>{body}</tbody></table>'))
