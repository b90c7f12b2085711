"""A job seen from a page: what it does, how far it is, and the button that cancels it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.jobs import JobState
from analysis.views import source
from pages.shared import tables
from pages.shared.interface import say
from pages.shared.tables import Markup, Width

EVERY = 1.0  # seconds between two looks at the job
TROUBLE = "job-trouble"  # in the session: why a button did nothing


def runs(state: JobState | None) -> bool:
    """Whether a job is under way."""
    return state is not None and state.status == "running"


def ending(state: JobState | None, words: Mapping[str, str]) -> str | None:
    """How a job ended badly, in one sentence; None where it did not.

    Args:
        state: what the job last said.
        words: for each of the statuses cancelled, failed and stopped.
    """
    if state is None or state.status not in words:
        return None
    reason = f" {state.message}" if state.status == "failed" and state.message else ""
    return say(words[state.status]) + reason


def watch(name: str, *, lead: str = "Now", finished: bool = False) -> None:
    """The running job, drawn anew every second; the page is drawn anew when it ends or has stored something.

    Args:
        name: of the job.
        lead: stands before the step.
        finished: list the steps behind it too.
    """
    _watch(name, lead, finished, source.generation())


@st.fragment(run_every=EVERY)
def _watch(name: str, lead: str, steps: bool, drawn_with: str | None) -> None:
    state = jobs.state(name)
    if state is None or not runs(state) or source.generation() != drawn_with:
        st.rerun()
        return
    box(state, lead=lead)
    if steps:
        finished(state)


def box(state: JobState, *, lead: str) -> None:
    """A running job: what it does, how far it is, and the button that cancels it."""
    with st.container(border=True):
        explain(f"{lead}: {_step(state.step)}", kind="takeaway")
        st.progress(min(state.done / state.total, 1.0) if state.total else 0.0)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            explain(_pace(state), width="content")
            button("Cancel", jobs.cancel, state.name, key=f"cancel-{state.name}")


def button(
    words: str, act: Callable[[str], object], what: str, *, key: str | None = None, primary: bool = False
) -> None:
    """A button that starts or stops a job; why that could not be done is said by the page as it is drawn anew.

    Args:
        words: on the button.
        act: called with ``what``.
        what: a name.
        key: of the button.
        primary: it is what the page is about.
    """
    st.button(words, key=key, type="primary" if primary else "secondary", on_click=_tried, args=(act, what))


def on_task(command: str, **options: str | Sequence[str]) -> Callable[[str], None]:
    """What a button does that starts a job on one task, whose name it hands over.

    Args:
        command: of the job.
        **options: of the command besides the task.
    """

    def start(task: str) -> None:
        jobs.launch(command, options={**options, "task": task})

    return start


def _tried(act: Callable[[str], object], what: str) -> None:
    try:
        act(what)
    except BabelscopeError as error:
        st.session_state[TROUBLE] = str(error)


def trouble() -> str | None:
    """Why the button that was just pressed did nothing, once; None where it did what it says."""
    found: str | None = st.session_state.pop(TROUBLE, None)
    return found


def finished(state: JobState) -> None:
    """The steps behind a job, the last one on top."""
    rows = [(_step(step), duration(seconds)) for step, seconds in reversed(state.finished)]
    if rows:
        tables.show(tables.table({"Finished": "text", "Time": "number"}, rows, caption="Finished steps"))


def explain(words: str, *, kind: str = "caption", width: Width = "stretch") -> None:
    """One paragraph."""
    tables.show(Markup(f'<p class="{kind}">{tables.escaped(words)}</p>'), width=width)


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


def duration(seconds: float) -> str:
    """Seconds for people: 8 s, 1 min 5 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"
