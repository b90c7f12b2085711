"""One query opened: its other versions, its right answers in each system's list, and lists side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from analysis import probe
from analysis.views import one_query
from analysis.views.one_query import Answer, Listed, OpenedQuery, Place, Version
from analysis.views.selection import Selection, SystemLabel
from pages.shared import address, glossary, links, picture_parts, tables, ui
from pages.shared.tables import Cell, Markup

LENGTHS = (10, 20, 50, 100)


def show(found: OpenedQuery, *, dark: bool) -> None:
    """Everything that is known of the query."""
    tables.show(Markup(f'<p class="question">{tables.passage(found.text, language=found.language, dark=dark)}</p>'))
    picture_parts.of_query(Selection(found.benchmark.address, (found.task.name,)), found.query_id)
    ui.takeaway(found.takeaway)
    known = {"id": found.query_id, "family": found.family, **found.attributes}
    ui.grey(" · ".join(f"{name.replace('_', ' ')} {value}" for name, value in known.items()))
    if found.flags:
        ui.grey(f"Doubtful: {', '.join(found.flags)}.")
    _answers(found, dark=dark)
    _lists(found, dark=dark)
    if len(found.versions) > 1:
        _versions(found, dark=dark)


def _answers(found: OpenedQuery, *, dark: bool) -> None:
    st.header("Right answers, and where each system has them", anchor=False)
    ui.caption("Rank in each list, under it the score where the list is kept that deep", more=glossary.OPENED)
    columns = {"Answer": "passage", "Grade": "number"} | {label.short: "number" for label in found.systems}
    rows = [_answer_row(answer, found.depths, dark=dark) for answer in found.answers]
    tables.show(tables.table(columns, rows, caption="Right answers"))
    header = ["document_id", "language", "grade", *(f"{label.name} rank" for label in found.systems)]
    lines = [
        [answer.document_id, answer.language, answer.grade, *(place.rank for place in answer.places)]
        for answer in found.answers
    ]
    ui.download("CSV of the answers", header, lines, file=f"answers-{found.query_id}.csv")


def _answer_row(answer: Answer, depths: Sequence[int], *, dark: bool) -> list[Cell]:
    words = _text(answer.text, answer.language, answer.document_id, dark=dark)
    places = [_placed(place, depth) for place, depth in zip(answer.places, depths, strict=True)]
    return [words, f"{answer.grade:g}", *places]


def _text(text: str, language: str | None, document_id: str, *, dark: bool) -> Markup:
    if language is None:
        return Markup(f'{tables.escaped(document_id)} <span class="grey">is not in the corpus</span>')
    return tables.passage(text or document_id, language=language, dark=dark)


def _placed(place: Place, depth: int) -> Markup:
    score = "" if place.score is None else f'<br><span class="soft">{_score(place.score)}</span>'
    return Markup(tables.rank(place.rank, beyond=depth) + score)


def _lists(found: OpenedQuery, *, dark: bool) -> None:
    st.header("Lists side by side", anchor=False)
    known = {label.name: label.short for label in found.systems}
    left, right = st.columns([3, 1])
    with left:
        address.choose_default(
            st.multiselect,
            "Systems",
            list(known),
            name="lists",
            default=[label.name for label in found.shown],
            format_func=known.__getitem__,
            most=one_query.MOST_LISTS,
        )
    with right:
        address.choose(st.selectbox, "How deep", [str(k) for k in LENGTHS], name="rows", default=str(LENGTHS[0]))
    if not found.listed:
        ui.nothing("None of these systems returned anything for this query.", next_step="Choose other systems above.")
        return
    ui.grey(
        f"Every document in the first {found.k} of a list, by its best rank. Under a rank: the score, and how far it "
        "is below the first one's. ● right answer, ○ of the same concept without being one. Words that most of these "
        "documents share with the query are grey."
    )
    common = _common(found.listed)
    tops = [_top_score(found, place) for place in range(len(found.shown))]
    columns = {"": "text", "Document": "passage"} | {label.short: "number" for label in found.shown}
    columns |= {"Words it shares with the query": "passage"}
    rows = [_listed_row(row, tops, common, found.k, dark=dark) for row in found.listed]
    tables.show(tables.table(columns, rows, caption="Lists side by side"))
    ui.download("CSV of the lists", *_numbers(found), file=f"lists-{found.query_id}.csv")


def why(found: OpenedQuery) -> None:
    """What each part of the query adds to the score that a system gives one of the documents shown."""
    offered = {label.name for label in ui.answer(probe.encoders, found.benchmark.address)}
    known = {label.name: label.short for label in found.shown if label.name in offered}
    if not known or not found.listed:
        return
    st.header("Why does it stand there?", anchor=False)
    left, right = st.columns([1, 3])
    with left:
        system = address.choose(
            st.selectbox, "System", list(known), name="whose", default=next(iter(known)), format_func=known.__getitem__
        )
    texts = {row.document_id: f"{row.language or ''} · {row.text or row.document_id}" for row in found.listed}
    with right:
        document = address.choose(
            st.selectbox,
            "Document",
            ["", *texts],
            name="which",
            default="",
            format_func=lambda name: texts.get(name, "choose one of the documents above"),
        )
    if not document:
        return
    told = ui.answer(
        probe.why,
        system=system,
        benchmark=found.benchmark.address,
        task=found.task.name,
        query_text=found.text,
        document_id=document,
        language=found.language,
    )
    ui.grey(told.words)
    if not told.shares:
        ui.grey(f"{known[system]} and this document: nothing can be told of single words.")
        return
    columns = {"Of the query": "text", "In the document": "text", "Value": "number", "": "text"}
    largest = max(abs(share.value) for share in told.shares) or 1.0
    rows = [
        [tables.escaped(share.part), tables.escaped(share.match or ""), _score(share.value),
         tables.bar(share.value / largest)]
        for share in told.shares
    ]  # fmt: skip
    tables.show(tables.table(columns, rows, caption="Why it stands there", style="narrow"))


def _top_score(found: OpenedQuery, place: int) -> float | None:
    scores = [row.places[place].score for row in found.listed if row.places[place].rank == 1]
    return scores[0] if scores else None


def _common(listed: Sequence[Listed]) -> set[str]:
    """Words that most of the documents share with the query: they tell little."""
    counts = Counter(token for row in listed for token in row.shared)
    return {token for token, n in counts.items() if n > len(listed) / 2}


def _listed_row(row: Listed, tops: Sequence[float | None], common: set[str], k: int, *, dark: bool) -> list[Cell]:
    mark = "●" if row.relevant else "○" if row.same_concept else ""
    says = "right answer" if row.relevant else "of the same concept" if row.same_concept else ""
    text = _text(row.text, row.language, row.document_id, dark=dark)
    places = [_cell(place, top, k) for place, top in zip(row.places, tops, strict=True)]
    tokens = "".join(
        f'<span class="token{" common" if token in common else ""}">{tables.escaped(token)}</span>'
        for token in sorted(row.shared, key=lambda token: token in common)
    )
    return [
        Markup(f'<span class="mark" title="{says}">{mark}</span>'),
        Markup(f'<span class="found">{text}</span>') if row.relevant else text,
        *places,
        Markup(tokens or '<span class="grey">none</span>'),
    ]


def _cell(place: Place, top: float | None, k: int) -> Markup:
    if place.rank is None or place.score is None:
        return Markup("")
    rank = f"{place.rank:,}" if place.rank <= k else f'<span class="grey">{place.rank:,}</span>'
    below = "" if top is None or place.rank == 1 else f" (−{top - place.score:.3f})"
    return Markup(f'{rank}<br><span class="soft">{_score(place.score)}{below}</span>')


def _score(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _numbers(found: OpenedQuery) -> tuple[list[str], list[list[object]]]:
    header = ["document_id", "language", "document", "grade"]
    header += [f"{label.name} {what}" for label in found.shown for what in ("rank", "score")]
    return header, [
        [row.document_id, row.language, row.text, row.grade, *(part for place in row.places for part in place)]
        for row in found.listed
    ]


def _versions(found: OpenedQuery, *, dark: bool) -> None:
    st.header("The same question otherwise", anchor=False)
    ui.grey("Rank of the first right answer in any language; a click opens that version.")
    columns = {"Query": "passage"} | {label.short: "number" for label in found.systems}
    rows = [_version_row(version, found.depths, found.query_id, dark=dark) for version in found.versions]
    tables.show(tables.table(columns, rows, caption="The same question otherwise"))


def _version_row(version: Version, depths: Sequence[int], query_id: str, *, dark: bool) -> list[Cell]:
    words = tables.escaped(version.text, language=version.language)
    text = words if version.query_id == query_id else links.link(words, query=version.query_id)
    ranks = [tables.rank(rank, beyond=depth) for rank, depth in zip(version.first, depths, strict=True)]
    return [Markup(tables.badge(version.language, dark=dark) + text), *ranks]


def turn(ids: Sequence[str], query_id: str) -> None:
    """Back to the list, and to the query before and after this one in it, by keyboard too."""
    place = ids.index(query_id) if query_id in ids else None
    with st.container(horizontal=True, vertical_alignment="center"):
        _step("Back to the list", None, shortcut="Escape")
        _step("← Before", ids[place - 1] if place else None, shortcut="ArrowLeft", needed=True)
        after = ids[place + 1] if place is not None and place + 1 < len(ids) else None
        _step("After →", after, shortcut="ArrowRight", needed=True)
        if place is None:
            ui.grey("Not among the queries that the filters of the list let through", width="content")
        else:
            ui.grey(f"{place + 1:,} of {len(ids):,} · arrow keys turn the pages", width="content")


def _step(words: str, query_id: str | None, *, shortcut: str, needed: bool = False) -> None:
    st.button(
        words,
        disabled=needed and query_id is None,
        shortcut=shortcut,
        on_click=address.put,
        kwargs={"query": query_id},
    )


def shown(systems: Sequence[SystemLabel]) -> tuple[str, ...]:
    """The systems whose lists the address asks for, as far as there are such."""
    known = {label.name for label in systems}
    return tuple(name for name in address.many("lists") or () if name in known)[: one_query.MOST_LISTS]


def depth() -> int:
    """How deep the lists are that the address asks for."""
    asked = address.get("rows")
    return int(asked) if asked in {str(k) for k in LENGTHS} else LENGTHS[0]
