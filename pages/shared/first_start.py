"""The first start: with an empty cache a small real benchmark is built while the page shows how far it is."""

from __future__ import annotations

import streamlit as st

from analysis import jobs
from analysis.jobs import JobState
from pages.shared import tables
from pages.shared.tables import Markup

PROMISE = (
    "Babelscope builds a small ICD-10 benchmark (200 codes, six languages) from a public package and runs every system "
    "that works here. That takes about a minute and needs the network once. You may close this page: the work goes on."
)
ENDINGS = {
    "cancelled": "The first build was cancelled. What it had encoded is kept.",
    "failed": "The first build failed.",
    "stopped": "The first build was interrupted. It goes on where it stopped.",
}
EVERY = 1.0  # seconds between two looks at the job


def running() -> bool:
    """Whether the first build is under way, for whoever started it."""
    return _runs(jobs.state(jobs.FIRST_START))


def cut_short() -> bool:
    """Whether the first build was begun and did not come to its end."""
    state = jobs.state(jobs.FIRST_START)
    return state is not None and state.status in ENDINGS


def show() -> None:
    """Start the first build where nothing speaks against it; show what it does, or why it ended."""
    state = jobs.state(jobs.FIRST_START)
    if state is None and "first-start" not in st.session_state:
        st.session_state["first-start"] = "begun"  # not again where it dies at once
        jobs.start_first()
        state = jobs.state(jobs.FIRST_START)
    if _runs(state):
        _say("Nothing is here yet, so a first benchmark is being built.")
        _explain(PROMISE)
        _watch()
    else:
        _ended(state)


def _ended(state: JobState | None) -> None:
    """Why nothing is here, and the button that builds it."""
    words = ENDINGS.get(state.status, "Nothing is here yet.") if state else "The first build did not start."
    _say(words)
    if state and state.status == "failed" and state.message:
        st.error(state.message)
    _explain(PROMISE)
    st.button("Build it" if words.startswith("Nothing") else "Try again", type="primary", on_click=jobs.start_first)
    if state:
        _finished(state)


def offer_to_finish() -> None:
    """Where the first build ended badly after it had stored something: one line, and a button that takes it up."""
    state = jobs.state(jobs.FIRST_START)
    if state is not None and state.status in ENDINGS:
        _explain(
            f"{ENDINGS[state.status]} {state.message or ''}" if state.status == "failed" else ENDINGS[state.status]
        )
        st.button("Finish the first build", on_click=jobs.start_first)


def _runs(state: JobState | None) -> bool:
    return state is not None and state.status == "running"


@st.fragment(run_every=EVERY)
def _watch() -> None:
    """The running job, drawn anew every second; the whole page is drawn anew when it has ended."""
    state = jobs.state(jobs.FIRST_START)
    if state is None or not _runs(state):
        st.rerun()
        return
    with st.container(border=True):
        _explain(f"Now: {_step(state.step)}", kind="takeaway")
        st.progress(min(state.done / state.total, 1.0) if state.total else 0.0)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            _explain(_pace(state))
            st.button("Cancel", on_click=jobs.cancel, args=(jobs.FIRST_START,))
    _finished(state)


def _say(words: str) -> None:
    tables.show(Markup(f'<p class="takeaway"><strong>{tables.escaped(words)}</strong></p>'))


def _explain(words: str, *, kind: str = "caption") -> None:
    tables.show(Markup(f'<p class="{kind}">{tables.escaped(words)}</p>'))


def _step(step: str) -> str:
    return "starting" if step == "start" else step


def _pace(state: JobState) -> str:
    """How far the step is, how fast, how long the job has run and how long the step still takes."""
    parts = [f"{state.done:,} of {state.total:,}"] if state.total > 1 else []
    if state.per_second and state.total > 1:
        parts.append(f"{state.per_second:,.0f} texts/s" if "encode" in state.step else f"{state.per_second:,.1f}/s")
    parts.append(f"{duration(state.elapsed)} so far")
    if state.seconds_left is not None and state.total > 1:
        parts.append(f"about {duration(state.seconds_left)} left in this step")
    return " · ".join(parts)


def _finished(state: JobState) -> None:
    """The steps behind it, the last one on top."""
    rows = [(_step(step), duration(seconds)) for step, seconds in reversed(state.finished)]
    if rows:
        tables.show(tables.table({"Finished": "text", "Time": "number"}, rows, caption="Finished steps"))


def duration(seconds: float) -> str:
    """Seconds for people: 8 s, 1 min 5 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
