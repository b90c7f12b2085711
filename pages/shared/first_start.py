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
EVERY = 1.0  # seconds between two looks at the job


def show() -> None:
    """Start the job where nothing speaks against it, and show what it does or why it ended."""
    state = jobs.state(jobs.FIRST_START)
    if state is None:
        jobs.start_first()
        state = jobs.state(jobs.FIRST_START)
    heading = "Nothing is here yet, so a first benchmark is being built." if _runs(state) else "Nothing is here yet."
    tables.show(Markup(f'<p class="takeaway"><strong>{heading}</strong></p>'))
    tables.show(Markup(f'<p class="caption">{PROMISE}</p>'))
    if state is None or _runs(state):
        _watch()
    else:
        _ended(state)


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
        tables.show(Markup(f'<p class="takeaway">{tables.escaped(_step(state))}</p>'))
        st.progress(min(state.done / state.total, 1.0) if state.total else 0.0)
        tables.show(Markup(f'<p class="caption">{tables.escaped(_pace(state))}</p>'))
        _finished(state)
        st.button("Cancel", on_click=jobs.cancel, args=(jobs.FIRST_START,))


def _step(state: JobState) -> str:
    return "Starting" if state.step == "start" else state.step[:1].upper() + state.step[1:]


def _pace(state: JobState) -> str:
    """How far the step is, how fast, how long the job has run and how long the step still takes."""
    parts = [f"{state.done:,} of {state.total:,}"] if state.total else []
    if state.per_second:
        parts.append(
            f"{state.per_second:,.0f} a second" if state.per_second >= 1 else f"{1 / state.per_second:,.0f} s each"
        )
    parts.append(f"{duration(state.elapsed)} so far")
    if state.seconds_left is not None:
        parts.append(f"about {duration(state.seconds_left)} left in this step")
    return " · ".join(parts)


def _finished(state: JobState) -> None:
    rows = [(step[:1].upper() + step[1:], duration(seconds)) for step, seconds in state.finished]
    if rows:
        tables.show(tables.table({"Finished": "text", "Time": "number"}, rows, caption="Finished steps"))


def _ended(state: JobState) -> None:
    """What became of a job that is not running, and the button that starts it again."""
    words = {
        "cancelled": "The first build was cancelled. What it had encoded is kept.",
        "failed": f"The first build failed: {state.message}",
        "stopped": "The first build was interrupted. It goes on where it stopped.",
    }.get(state.status)
    if state.status == "failed":
        st.error(words)
    elif words:
        tables.show(Markup(f'<p class="takeaway">{tables.escaped(words)}</p>'))
    st.button("Build it" if words is None else "Try again", type="primary", on_click=jobs.start_first)
    _finished(state)


def duration(seconds: float) -> str:
    """Seconds for people: 8 s, 1 min 5 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
