"""The list of the Query explorer: what is looked for, how many queries there are of each kind, and the queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from analysis.views import queries
from analysis.views.queries import ANY, OTHER, OUTCOMES, PAGE, SAME, Asked, FirstRanks, QueriesView
from analysis.views.selection import SystemLabel
from pages.shared import address, links, tables, ui
from pages.shared.tables import Cell, Markup

DEPTHS = (1, 3, 5, 10, 25, 50, 100)
FIRST = ("start",)  # a change of what is looked for begins at the first page again
ANSWERS = {ANY: "any language", SAME: "the query's language", OTHER: "another language"}
EARLIER, LATER = "← Earlier", "Later →"


def filters(
    systems: Sequence[SystemLabel], languages: Mapping[str, str], *, tagged: Callable[[], tuple[str, ...] | None]
) -> Asked:
    """The fields by which queries are looked for.

    Args:
        systems: those that A and B are chosen from.
        languages: tag to name.
        tagged: draws the fields for tags and people, and says which queries it lets through; None for all.
    """
    known = {label.name: label.short for label in systems}
    route = st.columns([1, 1, 1, 1, 1])
    with route[0]:
        spoken = _select("Asked in", {ANY: "any language", **languages}, "asked")
    with route[1]:
        answers = _select("Right answers in", {**ANSWERS, **languages}, "answers")
    with route[2]:
        a = _select("System A", known, "system")
    with route[3]:
        others = {name: words for name, words in known.items() if name != a}
        b = _select("System B", others, "minus") if others else None
    with route[4]:
        k = address.select(
            "Found in the first", {str(k): str(k) for k in DEPTHS}, name="near", default="10", clears=FIRST
        )
    wanted = address.get("found") or ""
    outcome = wanted if wanted in (OUTCOMES if b else ("nobody", "everybody")) else "all"
    text, order, least, most, apart = _more(known, a, b)
    ids = tagged()
    places = _among()
    return Asked(
        query_language=None if spoken == ANY else spoken,
        answers=answers,
        a=a,
        b=b,
        outcome=outcome,
        k=int(k),
        least=least,
        most=most,
        apart=apart,
        text=text,
        ids=ids,
        places=places,
        order=order,
    )


def _select(label: str, words: Mapping[str, str], name: str) -> str:
    return address.select(label, words, name=name, clears=FIRST)


def _more(known: Mapping[str, str], a: str, b: str | None) -> tuple[str, str, int, int | None, int]:
    """Words, order, the first and last rank of A's first answer, and ranks between A and B."""
    fields = st.columns([2, 2, 1, 1, 1])
    with fields[0]:
        text = address.write(
            st.text_input,
            "Query contains",
            name="words",
            default="",
            placeholder="words, an id or a family",
            clears=FIRST,
        )
    named = {
        name: _named(words, known, a, b)
        for name, words in queries.ORDERS.items()
        if b or name not in {"gap", "behind", "spread"}
    }
    with fields[1]:
        order = _select("In the order", named, "order")
    with fields[2]:
        least = address.number("A's rank from", name="least", default=1, least=1, clears=FIRST)
    with fields[3]:
        most = address.number("A's rank to", name="most", default=None, least=1, clears=FIRST, placeholder="any")
    with fields[4]:
        apart = address.number("A and B apart", name="apart", default=0, least=0, clears=FIRST)
    least = least or 1
    return text, order, least, None if most is None else max(most, least), (apart or 0) if b else 0


def _named(words: str, known: Mapping[str, str], a: str, b: str | None) -> str:
    """Words about A and B with the systems in their places."""
    parts = words.replace(",", " ,").split(" ")
    names = {"A": known[a], "B": known[b] if b else "B"}
    return " ".join(names.get(part, part) for part in parts).replace(" ,", ",")


def outcome(view: QueriesView) -> str:
    """The outcomes with their counts, one of which is looked at."""
    known = {label.name: label.short for label in view.systems}
    a, b = view.asked.a, view.asked.b

    def words(name: str) -> str:
        return f"{_named(OUTCOMES[name], known, a or '', b)} ({view.counts[name]:,})"

    return address.choose(
        st.pills,
        "What becomes of it",
        list(view.counts),
        name="found",
        default="all",
        clears=FIRST,
        format_func=words,
        required=True,
    )


def _among() -> tuple[int, ...] | None:
    """The queries that another page chose, with a way out of the choice; None while none did."""
    named = address.many("among")
    if named is None:
        return None
    places = tuple(int(place) for place in named if place.isascii() and place.isdecimal())
    words = f"Only the {len(places):,} chosen on the map. Look among all"
    st.button(words, on_click=address.put, kwargs={"among": None, "start": None})
    return places


def show(view: QueriesView, *, start: int, dark: bool, tagged: Mapping[str, Sequence[str]]) -> None:
    """The queries of a page, each a link to its opened self.

    Args:
        view: the list.
        start: how many stand before this page.
        dark: the viewer's theme.
        tagged: tags of each query that has any.
    """
    n = len(view.ids)
    if not n:
        ui.nothing("No query passes these filters.", next_step="Take a filter out, or choose another outcome.")
        return
    last = min(start + PAGE, n)
    ui.grey(
        f"{start + 1:,} to {last:,} of {n:,} queries. A cell has the rank of the first right answer in the query's "
        "language · in another language; blank where none is judged."
    )
    columns = {"Query": "passage"} | {label.short: "number" for label in view.systems}
    rows: list[Sequence[Cell] | str] = [
        [
            Markup(_opening(line.query_id, line.text, line.language, dark=dark) + _tags(tagged.get(line.query_id, ()))),
            *(_ranks(ranks, line.has_same, line.has_other, depth=depth)
              for ranks, depth in zip(line.first, view.depths, strict=True)),
        ]
        for line in view.lines
    ]  # fmt: skip
    tables.show(tables.table(columns, rows, caption="Queries", style="list"))
    with st.container(horizontal=True, vertical_alignment="center"):
        _turn(EARLIER, start - PAGE, enabled=start > 0)
        _turn(LATER, start + PAGE, enabled=last < n)
        ui.download("CSV of these queries", *as_rows(view), file=f"queries-{view.task.name}.csv")


def _tags(names: Sequence[str]) -> Markup:
    """What was said of a query, below it."""
    return Markup(f'<br><span class="soft">{tables.escaped(", ".join(names))}</span>' if names else "")


def _opening(query_id: str, text: str, language: str, *, dark: bool) -> Markup:
    words = tables.escaped(text or query_id, language=language)
    return Markup(tables.badge(language, dark=dark) + links.link(words, query=query_id))


def _ranks(found: FirstRanks, has_same: bool, has_other: bool, *, depth: int) -> Markup:
    same = tables.rank(found.same, beyond=depth) if has_same else ""
    other = tables.rank(found.other, beyond=depth) if has_other else ""
    return Markup(f'{same} <span class="grey">·</span> {other}')


def _turn(words: str, start: int, *, enabled: bool) -> None:
    st.button(
        words,
        disabled=not enabled,
        shortcut="PageUp" if words == EARLIER else "PageDown",
        on_click=address.put,
        kwargs={"start": str(start) if start > 0 else None},
    )


def as_rows(view: QueriesView) -> tuple[list[str], list[list[object]]]:
    """The queries on the page, for a CSV file: empty beyond a list's depth, and where there is no such answer."""
    names = [label.name for label in view.systems]
    header = ["query_id", "query_language", "query"]
    header += [f"{name} first {which} rank" for name in names for which in ("same", "cross")]
    rows: list[list[object]] = [
        [line.query_id, line.language, line.text, *(rank for found in line.first for rank in (found.same, found.other))]
        for line in view.lines
    ]
    return header, rows
