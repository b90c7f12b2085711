"""What if: one thing is changed, the ranking is made anew, and both heatmaps stand side by side."""

from __future__ import annotations

from typing import Any

import streamlit as st

from analysis import jobs
from analysis.charts import routes as charts
from analysis.errors import BabelscopeError
from analysis.jobs import WhatIf
from analysis.views import what_if
from analysis.views.selection import Selection, SystemLabel, capitalised
from analysis.views.what_if import Changed, WhatIfView
from pages.shared import address, glossary, language_choice, leaderboard, route_table, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

KINDS = jobs.what_if.KINDS
FUSED = ("rrf", "score")
SMOOTHING = ("10", "30", "60", "100", "300")
POOLS = ("50", "100", "200", "500")


def show(frame: Frame) -> None:
    """The change, and what it does."""
    asked = _asked(frame)
    planned = jobs.what_if.planned(asked)
    if not planned.is_made and not planned.is_quick:
        _offer(asked)
        return
    view = ui.answer(_view, frame.selection, asked=asked, key=planned.key, languages=language_choice.choose(frame))
    ui.takeaway(view.takeaway)
    deep = f"the new list is {view.depth:,} deep, the run was searched to {view.depth_before:,}"
    ui.caption(f"Ranked anew from stored vectors and lists, not estimated · {deep}", more=glossary.WHAT_IF)
    tables.show(_measures(view))
    ui.download("CSV", *_numbers(view), file=f"what-if-{view.task.name}.csv")
    ui.chart(charts.heatmaps(view.heatmaps, dark=frame.dark), key="what-if", alt=view.takeaway.bold)
    file = f"what-if-routes-{view.task.name}.csv"
    ui.download("CSV of the heatmaps", *route_table.cells_as_rows(view.heatmaps.cells), file=file)
    st.header("The difference, route by route", anchor=False)
    ui.takeaway(view.difference.takeaway)
    figure = charts.difference(view.difference, dark=frame.dark)
    ui.chart(figure, key="what-if-apart", alt=view.difference.takeaway.bold)
    _keep(asked, view.words)


def _view(store: Any, selection: Selection, *, asked: WhatIf, key: str, languages: tuple[str, ...]) -> WhatIfView:
    """The ranking made anew beside the run; remembered by the key of all that decides it."""
    made = jobs.what_if.answer(asked)
    return what_if.what_if(
        store, selection, base=asked.systems[0], ranking=made.ranking, words=made.words, languages=languages
    )


def _asked(frame: Frame) -> WhatIf:
    """The fields: what is changed, and of what."""
    known = {label.name: label for label in frame.systems}
    first, second, third = st.columns(3)
    with first:
        name = address.select("System", {name: label.title for name, label in known.items()}, name="system")
    offered = jobs.what_if.offered(frame.benchmark.address, frame.tasks[0].name, name)
    kinds = [kind for kind in offered if kind not in FUSED or len(known) > 1]
    with second:
        kind = address.select("What if", {kind: capitalised(KINDS[kind]) for kind in kinds}, name="what")
    systems, k, pool = [name], "60", "100"
    with third:
        if kind in FUSED:
            systems += _others(known, name)
        if kind == "rrf":
            k = address.choose(st.select_slider, "k of RRF", SMOOTHING, name="smoothing", default="60")
        if kind == "pool":
            pool = address.select("Documents re-ranked", {n: n for n in POOLS}, name="pool", default="100")
    return WhatIf(frame.benchmark.address, frame.tasks[0].name, kind, tuple(systems), int(k), int(pool))


def _others(known: dict[str, SystemLabel], name: str) -> tuple[str, ...]:
    others = [other for other in known if other != name]
    return address.choose_default(
        st.multiselect,
        "Fused with",
        others,
        name="with",
        default=others[:1],
        format_func=lambda other: known[other].short,
        most=2,
    )


def _offer(asked: WhatIf) -> None:
    """What takes longer than a page should wait is a job."""
    if any(job.command == "what-if" and job.state.status == "running" for job in jobs.listed()):
        ui.grey("It is being made: the page is drawn anew when the job has ended.")
        return
    ui.nothing(
        "This encodes or searches for longer than a page should wait.",
        next_step="A job makes it, in the background; what it makes is kept for a week.",
    )
    if st.button("Make it", type="primary"):
        _launch(asked)


def _launch(asked: WhatIf, *, keep: str | None = None) -> None:
    options: jobs.Options = {
        "benchmark": asked.benchmark,
        "task": asked.task,
        "system": asked.systems,
        "k": str(asked.k),
        "pool": str(asked.pool),
        "keep": keep,
    }
    try:
        jobs.launch("what-if", asked.kind, options=options)
    except BabelscopeError as error:
        st.error(tables.literal(str(error)))
        return
    st.rerun()


def _measures(view: WhatIfView) -> Markup:
    columns = {"Measure": "text", view.base.short: "number", view.words: "number", "Difference": "number"}
    return tables.table(columns, [_measure(row) for row in view.measures], caption="Before and after", style="narrow")


def _measure(row: Changed) -> list[Cell]:
    label = row.measure.label
    return [label, *(tables.spread(found, label) for found in (row.before, row.after, row.delta))]


def _numbers(view: WhatIfView) -> tuple[list[str], list[list[object]]]:
    names = ("before", "after", "difference")
    lines: list[list[object]] = [
        [view.task.name, row.measure.key, which, *(getattr(found, name) for name in leaderboard.NUMBERS)]
        for row in view.measures
        for which, found in zip(names, (row.before, row.after, row.delta), strict=True)
    ]
    return ["task", "measure", "which", *leaderboard.NUMBERS], lines


def _keep(asked: WhatIf, words: str) -> None:
    with st.expander("Keep it as a run"), st.form("keep-what-if", border=False):
        ui.grey("It then stands on every page beside the others, and names the runs that it was made of.")
        suggestion = "-".join("".join(letter if letter.isalnum() else " " for letter in words.lower()).split())
        name = (st.text_input("Name", value=suggestion) or "").strip()
        if st.form_submit_button("Keep it") and name:
            _launch(asked, keep=name)
