"""The first start: with an empty cache the built-in benchmark is built while the page shows how far it is."""

from __future__ import annotations

import streamlit as st

from analysis import jobs
from pages.shared import job_box, tables
from pages.shared.interface import mark, say
from pages.shared.tables import Markup

PROMISE = mark(
    "Babelscope builds Bedside, its own clinical benchmark in six languages, and runs every system that works here. "
    "The first results are there in a quarter of a minute or so, all of them in about a minute; no network is needed. "
    "You may close this page: the work goes on."
)
ENDINGS = {
    "cancelled": mark("The first build was cancelled. What it had encoded is kept."),
    "failed": mark("The first build failed:"),
    "stopped": mark("The first build was interrupted. It goes on where it stopped."),
}


def running() -> bool:
    """Whether the first build is under way, for whoever started it."""
    return job_box.runs(jobs.state(jobs.FIRST_START))


def cut_short() -> bool:
    """Whether the first build was begun and did not come to its end."""
    return job_box.ending(jobs.state(jobs.FIRST_START), ENDINGS) is not None


def show() -> None:
    """Start the first build where nothing speaks against it; show what it does, or why it ended."""
    state = jobs.state(jobs.FIRST_START)
    if state is None and "first-start" not in st.session_state:
        st.session_state["first-start"] = "begun"  # not again where it dies at once
        jobs.begin(jobs.FIRST_START)
        state = jobs.state(jobs.FIRST_START)
    if job_box.runs(state):
        _say(say("Nothing is here yet, so a first benchmark is being built."))
        job_box.explain(say(PROMISE))
        job_box.watch(jobs.FIRST_START, finished=True)
        return
    ended = job_box.ending(state, ENDINGS)
    _say(ended or (say("Nothing is here yet.") if state else say("The first build did not start.")))
    job_box.explain(say(PROMISE))
    words = say("Build it") if state and not ended else say("Try again")
    job_box.button(words, jobs.begin, jobs.FIRST_START, primary=True)
    if state:
        job_box.finished(state)


def show_rest() -> None:
    """While the first build goes on behind results that are there already: how far it is."""
    if running():
        job_box.watch(jobs.FIRST_START, lead=say("More systems are being run. Now"))


def offer_to_finish() -> None:
    """Where the first build ended badly after it had stored something: one line, and a button that takes it up."""
    ended = job_box.ending(jobs.state(jobs.FIRST_START), ENDINGS)
    if ended:
        job_box.explain(ended)
        job_box.button(say("Finish the first build"), jobs.begin, jobs.FIRST_START)


def _say(words: str) -> None:
    tables.show(Markup(f'<p class="takeaway"><strong>{tables.escaped(words)}</strong></p>'))
