"""Better or worse: two runs side by side, by route and by query."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.charts import routes as charts
from analysis.views import change, routes
from analysis.views.change import ChangedQuery, ChangedRoute, ChangeView
from pages.shared import address, glossary, language_choice, links, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

FEW = 10  # queries of each kind


def show(frame: Frame) -> None:
    """The two runs to compare, and what changed from one to the other."""
    if len(frame.systems) < 2:
        ui.nothing(
            "Better or worse needs two runs.",
            next_step="Choose two on the left. A run of a changed system is imported under a name of its own.",
        )
        return
    before, after = _pickers(frame)
    view = ui.answer(change.change, frame.selection, before=before, after=after)
    ui.takeaway(view.takeaway)
    ui.caption(
        f"{view.after.short} less {view.before.short} · R@10 by query and document language · paired over queries",
        measures=[view.measure],
        more=glossary.CHANGE,
    )
    languages = language_choice.choose(frame)
    apart = ui.answer(routes.route_difference, frame.selection, a=after, b=before, languages=languages)
    ui.chart(charts.difference(apart, dark=frame.dark), key="change", alt=apart.takeaway.bold)
    moved = [row for row in view.routes if row.counts.win or row.counts.loss]
    if moved:
        tables.show(_by_route(moved))
    if len(moved) < len(view.routes):
        ui.grey(f"No query changed on {len(view.routes) - len(moved):,} of {len(view.routes):,} routes.")
    ui.download("CSV of the routes", *_routes(view), file=f"change-routes-{view.task.name}.csv")
    changed = [query for query in view.queries if query.after != query.before]
    lost = [query for query in changed if query.after < query.before]
    gained = [query for query in reversed(changed) if query.after > query.before]
    for words, found in (("Got worse", lost), ("Got better", gained)):
        st.header(f"{words} ({len(found):,})", anchor=False)
        if found:
            tables.show(_queries(found[:FEW], view, dark=frame.dark))
        if len(found) > FEW:
            ui.grey(f"The {FEW} that changed most; all are in the file.")
    ui.download("CSV of all queries", *_all(view), file=f"change-{view.task.name}.csv")
    if view.settings:
        st.header("What the two runs were made differently in", anchor=False)
        rows = [
            [tables.escaped(row.name.replace("_", " ")), tables.escaped(row.before), tables.escaped(row.after)]
            for row in view.settings
        ]
        columns = {"Setting": "text", view.before.short: "passage", view.after.short: "passage"}
        tables.show(tables.table(columns, rows, caption="Settings"))


def _pickers(frame: Frame) -> tuple[str, str]:
    known = {label.name: label.short for label in frame.systems}
    left, right = st.columns(2)
    names = list(known)
    with right:
        after = address.choose(
            st.selectbox, "After", names, name="system", default=names[1], format_func=known.__getitem__
        )
    others = [name for name in names if name != after]
    with left:
        before = address.choose(
            st.selectbox, "Before", others, name="minus", default=others[0], format_func=known.__getitem__
        )
    return before, after


def _by_route(moved: Sequence[ChangedRoute]) -> Markup:
    columns = {"Route": "text", "R@10 after less before": "number", "Better": "number", "Same": "number"}
    rows = [_route_row(row) for row in moved]
    return tables.table(columns | {"Worse": "number"}, rows, caption="Better or worse by route", style="narrow")


def _route_row(row: ChangedRoute) -> list[Cell]:
    delta = tables.spread(row.delta, "R@10 after less before")
    return [f"{row.query_language} → {row.document_language}", delta, *(f"{n:,}" for n in row.counts)]


def _queries(found: Sequence[ChangedQuery], view: ChangeView, *, dark: bool) -> Markup:
    columns = {"Query": "passage", view.before.short: "number", view.after.short: "number", "Change": "number"}
    rows: list[Sequence[Cell] | str] = [
        [
            Markup(
                tables.badge(query.language, dark=dark)
                + links.link(
                    tables.escaped(query.text or query.query_id, language=query.language),
                    query=query.query_id,
                    lists=f"{view.before.name},{view.after.name}",
                )
            ),
            f"{query.before:.2f}",
            f"{query.after:.2f}",
            f"{query.after - query.before:+.2f}".replace("-", "−"),
        ]
        for query in found
    ]
    return tables.table(columns, rows, caption="nDCG@10 of the queries that changed")


def _all(view: ChangeView) -> tuple[list[str], list[list[object]]]:
    header = ["query_id", "query_language", "query", f"{view.before.name} ndcg_at_10", f"{view.after.name} ndcg_at_10"]
    return header, [[row.query_id, row.language, row.text, row.before, row.after] for row in view.queries]


def _routes(view: ChangeView) -> tuple[list[str], list[list[object]]]:
    header = ["query_language", "document_language", "delta", "low", "high", "method", "n", "better", "same", "worse"]
    return header, [
        [
            row.query_language,
            row.document_language,
            row.delta.value,
            row.delta.low,
            row.delta.high,
            row.delta.method,
            row.delta.n,
            *row.counts,
        ]
        for row in view.routes
    ]
