"""What was asked in this session: kept while it lasts, asked again by a click, forgotten on request."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from analysis.views.selection import SystemLabel
from pages.shared import address, links, tables, ui
from pages.shared.probe_parts import Question
from pages.shared.tables import Cell, Markup

MOST = 20
KEY = "probe-asked"  # in the session: the latest first
LAST = "probe-last"  # in the session: the address that was asked last, which outlives the list


@dataclass(frozen=True)
class Asked:
    """One question of the session."""

    parameters: Mapping[str, str]  # the address
    texts: Mapping[str, str]  # by language
    systems: tuple[str, ...]  # short names
    time: datetime.datetime


def remember(question: Question, systems: Sequence[SystemLabel]) -> None:
    """Put a question first in the list; one that was asked before moves up."""
    parameters = address.everything()
    if st.session_state.get(LAST) == parameters:
        return
    st.session_state[LAST] = parameters
    shorts = tuple(label.short for label in systems)
    asked = Asked(parameters, dict(question.texts), shorts, datetime.datetime.now(datetime.UTC))
    before = [other for other in st.session_state.get(KEY, []) if other.parameters != parameters]
    st.session_state[KEY] = [asked, *before][:MOST]


def show(*, dark: bool) -> None:
    """The list, the latest question first."""
    asked: list[Asked] = st.session_state.get(KEY, [])
    if not asked:
        return
    with st.expander(f"Asked in this session ({len(asked)})"):
        columns = {"Query": "passage", "Systems": "text", "When (UTC)": "stamp"}
        tables.show(tables.table(columns, [_row(one, dark=dark) for one in asked], caption="Asked in this session"))
        ui.grey(f"Click to ask again; the address of the link reproduces the view. The last {MOST} are kept.")
        st.button("Clear this list", on_click=_clear)
    links.follow()


def _row(asked: Asked, *, dark: bool) -> list[Cell]:
    language, text = next(iter(asked.texts.items()))
    gone = dict.fromkeys(address.everything())
    words = links.link(tables.escaped(text, language=language), **(gone | dict(asked.parameters)))
    more = len(asked.texts) - 1
    others = f' <span class="soft">and in {more} other language{"" if more == 1 else "s"}</span>' if more else ""
    query = Markup(tables.badge(language, dark=dark) + words + others)
    return [query, ", ".join(asked.systems), f"{asked.time:%H:%M:%S}"]


def _clear() -> None:
    st.session_state[KEY] = []
