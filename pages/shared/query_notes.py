"""Tags and notes on queries: what people say of one, where the tags gather, how far two people agree, in and out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.views import notes, notes_export
from analysis.views.notes import Agreement, Annotation, NoteFilter, NotesView, TagAgreement
from analysis.views.one_query import OpenedQuery
from analysis.views.queries import Asked
from analysis.views.selection import SystemLabel, capitalised
from pages.shared import address, glossary, links, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

ITSELF = ""
AUTHOR = "author"  # in the session: who is at the keyboard


def said(frame: Frame) -> NotesView:
    """What people say of the queries of the chosen task."""
    wanted = NoteFilter(tasks=tuple(task.name for task in frame.tasks))
    return notes.notes(ui.store(), frame.benchmark.address, wanted=wanted)


def of_list(view: NotesView) -> dict[str, list[str]]:
    """The tags of each query that has any."""
    found: dict[str, list[str]] = {}
    for row in view.rows:
        if row.tag is not None and row.tag not in found.setdefault(row.query_id, []):
            found[row.query_id].append(row.tag)
    return found


def chosen(view: NotesView, clears: Sequence[str]) -> tuple[str, ...] | None:
    """The ids of the queries with any of the tags, of any of the people, that are looked for; None while none is."""
    tags, authors = _looked_for(view, clears)
    (task,) = view.tasks
    if not tags and not authors:
        return None
    return notes.tagged(ui.store(), view.benchmark.address, task.name, tags=tags, authors=authors)


def _looked_for(view: NotesView, clears: Sequence[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields for tags and for people; nobody is chosen where only one person said anything."""
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    counts = {row.tag: row.n_queries for row in view.by_tag}
    left, right = st.columns(2)
    if view.used:
        with left:
            tags = address.choose_some(
                st.multiselect,
                "Tagged",
                list(view.used),
                name="tag",
                clears=clears,
                format_func=lambda tag: f"{tag} ({counts.get(tag, 0):,})",
                placeholder="with or without",
            )
    if len(view.authors) > 1:
        with right:
            authors = address.choose_some(
                st.multiselect, "By", list(view.authors), name="by", clears=clears, placeholder="anybody"
            )
    return tags, authors


def show(found: OpenedQuery, asked: Asked, languages: Mapping[str, str]) -> None:
    """What people say of an opened query, and the fields to say more."""
    st.header("Tags and notes", anchor=False)
    rows = notes.of_query(ui.store(), found.benchmark.address, found.task.name, found.query_id)
    if rows:
        shorts = {label.name: label.short for label in found.systems}
        columns = {"Tag": "text", "Note": "passage", "About": "text", "Who": "text", "When (UTC)": "stamp"}
        lines = [_line(row, shorts) for row in rows]
        tables.show(tables.table(columns, lines, caption="Tags and notes"))
    name = author()
    _take_back([row for row in rows if row.author == name])
    _form(found, asked, languages, name)


def _line(row: Annotation, shorts: Mapping[str, str]) -> list[Cell]:
    about = [shorts.get(row.system, row.system)] if row.system else []
    about += [f"{row.query_language} → {row.document_language}"] if row.document_language else []
    return [
        tables.escaped(row.tag or ""),
        tables.escaped(row.note),
        tables.escaped(" · ".join(about) or "the query"),
        tables.escaped(row.author),
        row.updated_at.replace("T", " ")[:16],
    ]


def author() -> str:
    """Who is at the keyboard, asked once a session."""
    before: str = st.session_state.get(AUTHOR, "")
    name = st.text_input("Your name", value=before, max_chars=notes.LONGEST_NAME, placeholder="as others will read it")
    st.session_state[AUTHOR] = (name or "").strip()
    return (name or "").strip()


def _take_back(mine: Sequence[Annotation]) -> None:
    with st.container(horizontal=True):
        for row in mine:
            words = f"Take back “{tables.literal(row.tag)}”" if row.tag else "Take back the note"
            if st.button(words, key=f"back-{row.id}"):
                _say(partial(jobs.annotate.remove, row.id or 0, author=row.author))


def _form(found: OpenedQuery, asked: Asked, languages: Mapping[str, str], name: str) -> None:
    offered = notes.notes(ui.store(), found.benchmark.address).offered
    systems = {ITSELF: "the query itself"} | {label.name: label.short for label in found.systems}
    routes = {ITSELF: "any language"} | dict(languages)
    with st.form("annotate", border=True):
        tags = st.pills("Tags", offered, selection_mode="multi", key=f"tags-{found.query_id}")
        own, about, route = st.columns(3)
        more = own.text_input("Or another tag", max_chars=notes.LONGEST_NAME, key=f"own-{found.query_id}").strip()
        asked_about = asked.a if address.get("system") else ITSELF
        system = about.selectbox(
            "About", list(systems), index=_index(systems, asked_about), format_func=systems.__getitem__
        )
        language = route.selectbox(
            "Right answers in", list(routes), index=_index(routes, asked.answers), format_func=routes.__getitem__
        )
        note = st.text_area("Note", max_chars=notes.LONGEST_NOTE, key=f"note-{found.query_id}", height="content")
        pressed = st.form_submit_button("Keep it", type="primary")
    if not pressed:
        return

    def keep() -> None:
        given: list[str | None] = [*(tags or []), *([more] if more else [])]
        for tag in given or [None]:
            jobs.annotate.add(
                found.benchmark.address,
                found.task.name,
                found.query_id,
                author=name,
                tag=tag,
                note=note,
                system=system or None,
                document_language=language or None,
            )

    _say(keep)


def _index(options: Mapping[str, str], wanted: str | None) -> int:
    return list(options).index(wanted) if wanted is not None and wanted in options else 0


def _say(act: Callable[[], None]) -> None:
    """Write something down; the page is drawn anew with it, or says why not."""
    try:
        act()
    except BabelscopeError as error:
        st.error(tables.literal(capitalised(str(error))))
        return
    st.rerun()


# All of them


def show_all(frame: Frame) -> None:
    """Where tags gather, how far people agree, and all that was said, in and out."""
    view = notes.notes(ui.store(), frame.benchmark.address)
    if not view.rows:
        ui.takeaway(view.takeaway)
        ui.grey("Open a query in the list: under it stand the fields for tags and notes. Or bring a file:")
        _bring(frame)
        return
    top = st.container()
    tags, authors = _looked_for(view)
    view = notes.notes(ui.store(), frame.benchmark.address, wanted=NoteFilter(tags=tags, authors=authors))
    with top:
        ui.takeaway(view.takeaway)
    if view.rows:
        _gathered(view, frame)
    _bring(frame)


def _gathered(view: NotesView, frame: Frame) -> None:
    """Where the tags that are looked for gather, how far two people agree on all, and each of them, to take along."""
    left, right = st.columns(2, gap="large")
    with left:
        st.header("By system", anchor=False)
        tables.show(_by_system(view, dark=frame.dark))
    with right:
        st.header("By route", anchor=False)
        tables.show(_by_route(view))
    if len(view.authors) > 1:
        _agreement(view, frame)
    st.header("All that was said", anchor=False)
    tables.show(_everything(view, dark=frame.dark))
    with st.container(horizontal=True):
        name = f"notes-{view.benchmark.name}"
        for words, text, file, mime in (
            ("CSV", notes_export.as_csv(view), f"{name}.csv", "text/csv"),
            ("Markdown", notes_export.as_markdown(view), f"{name}.md", "text/markdown"),
        ):
            st.download_button(words, text, file_name=file, mime=mime, on_click="ignore", key=f"notes-{file}")


def _by_system(view: NotesView, *, dark: bool) -> Markup:
    rows = [
        [tables.escaped(row.tag), _system(view.systems.get(row.system or ""), dark=dark), f"{row.n_queries:,}"]
        for row in view.by_system
    ]
    columns = {"Tag": "text", "About": "text", "Queries": "number"}
    return tables.table(columns, rows, caption="Tags by system")


def _system(label: SystemLabel | None, *, dark: bool) -> Cell:
    return tables.chip(label, dark=dark) if label else "the query itself"


def _by_route(view: NotesView) -> Markup:
    rows = [
        [
            tables.escaped(row.tag),
            f"{row.query_language} → {row.document_language or 'any language'}",
            f"{row.n_queries:,}",
        ]
        for row in view.by_route
    ]
    return tables.table({"Tag": "text", "Route": "text", "Queries": "number"}, rows, caption="Tags by route")


def _everything(view: NotesView, *, dark: bool) -> Markup:
    titles = {task.name: task.title for task in view.tasks}
    shorts = {name: label.short for name, label in view.systems.items()}
    rows: list[Sequence[Cell] | str] = []
    for row in view.rows:
        group = titles.get(row.task, row.task)
        if group not in rows:
            rows.append(group)
        text = view.texts.get((row.task, row.query_id))
        words = tables.escaped(text or row.query_id, language=row.query_language)
        opened = links.link(words, part=None, task=row.task, query=row.query_id) if text is not None else words
        rows.append([Markup(tables.badge(row.query_language, dark=dark) + opened), *_line(row, shorts)])
    columns = {"Query": "passage", "Tag": "text", "Note": "passage", "About": "text", "Who": "text"}
    return tables.table(columns | {"When (UTC)": "stamp"}, rows, caption="All tags and notes")


def _agreement(view: NotesView, frame: Frame) -> None:
    st.header("Do two people agree?", anchor=False)
    left, right = st.columns(2)
    with left:
        first = address.choose(
            st.selectbox, "One", list(view.authors), name="one", default=view.authors[0], clears=("other",)
        )
    others = [name for name in view.authors if name != first]
    with right:
        second = address.choose(st.selectbox, "The other", others, name="other", default=others[0])
    found = notes.agreement(ui.store(), frame.benchmark.address, first=first, second=second)
    ui.takeaway(found.takeaway)
    if found.n_items:
        ui.caption("κ and AC1: agreement beyond chance · intervals: Wilson, 95 %", more=glossary.AGREEMENT)
        tables.show(_agreed(found))


def _agreed(found: Agreement) -> Markup:
    columns = {"Tag": "text", "κ": "number", "AC1": "number", "Agreed": "number", "Items": "number", "": "passage"}
    lines: list[Sequence[Cell] | str] = [_agreed_row(row) for row in (found.overall, *found.tags)]
    return tables.table(columns, lines, caption="Agreement")


def _agreed_row(row: TagAgreement) -> list[Cell]:
    between = "" if row.low is None or row.high is None else f"{row.low:.2f}–{row.high:.2f}"
    agreed = "" if row.agreed is None else f"{row.agreed:.2f}"
    return [
        tables.escaped(row.tag or "which tag"),
        tables.signed(row.kappa),
        tables.signed(row.ac1),
        Markup(f'{agreed}<br><span class="soft">{between}</span>'),
        f"{row.n:,}",
        row.reason or "",
    ]


def _bring(frame: Frame) -> None:
    """A file of notes brought back."""
    with st.expander("Bring notes from a file"), st.form("bring-notes", border=False, clear_on_submit=True):
        ui.grey("A CSV as the button above makes it. All of it is taken over, or nothing; newer notes win.")
        given = st.file_uploader("Notes (CSV)", type=["csv"])
        if st.form_submit_button("Bring them in") and given is not None:
            _bring_file(given.name, given, frame)


def _bring_file(name: str, content: IO[bytes], frame: Frame) -> None:
    folder, file = jobs.receive([(name, content)])
    try:
        merged = jobs.annotate.import_notes(file, benchmark=frame.benchmark.address)
    except BabelscopeError as error:
        st.error(tables.literal(str(error).replace(f"{folder}/", "")))
        return
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    st.success(f"{merged.added:,} new, {merged.updated:,} newer than before, {merged.kept:,} there already.")
