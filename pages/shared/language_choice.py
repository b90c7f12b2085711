"""The languages that a page shows where they are too many: picked by the reader, coloured by script."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from analysis.charts import theme
from analysis.views import language_choice
from pages.shared import address, tables, ui
from pages.shared.tables import Markup


def choose(frame: ui.Frame) -> tuple[str, ...]:
    """The languages to show of the chosen tasks; empty for all, where they fit a page."""
    labels = ui.answer(language_choice.offered, frame.selection)
    if len(labels) <= language_choice.MOST:
        return ()
    names = {label.tag: f"{label.name} ({label.tag})" for label in labels}
    with st.sidebar:
        return address.choose_default(
            st.multiselect,
            "Languages",
            list(names),
            name="languages",
            default=language_choice.most_covered(labels),
            format_func=names.__getitem__,
            help=f"{len(labels)} languages do not fit a page: it opens with the {language_choice.MOST} that have most. "
            f"With more than {language_choice.MOST} chosen, colours tell scripts.",
        )


def note(frame: ui.Frame, languages: tuple[str, ...]) -> None:
    """How many of the languages are shown, where not all are."""
    known = [label.tag for label in ui.answer(language_choice.offered, frame.selection)]
    words = language_choice.of_all(languages or known, known)
    if words:
        ui.grey(f"{words}.")


def legend(scripts: Sequence[str], *, dark: bool) -> None:
    """Which colour is which script, where colours tell scripts."""
    if not scripts:
        return
    chips = [
        f'<span class="chip" style="background:{theme.script_colour(script, dark=dark)}"></span>{html.escape(script)}'
        for script in dict.fromkeys(scripts)
    ]
    tables.show(Markup(f'<p class="caption">Languages by script: {" &ensp; ".join(chips)}</p>'))
