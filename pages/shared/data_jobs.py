"""Jobs on the page Data and runs: those that run, whoever started them, and how the others ended."""

from __future__ import annotations

import datetime

import streamlit as st

from analysis import jobs
from analysis.jobs import Job
from analysis.views import source
from pages.shared import job_box, tables, ui

ELSEWHERE = (jobs.FIRST_START, jobs.ADD_ICD10)  # every page shows these two while they run
SHOWN = 30
MANY = 3  # systems that a job's title names
QUEUED = "Another job holds the store. This one goes on by itself when that one ends."
NAMES = {
    jobs.FIRST_START: "First build",
    jobs.ADD_ICD10: "Add ICD-10",
    "build": "Build {item}",
    "run": "Run {systems} on {benchmark}",
    "map": "Draw maps of {benchmark}",
    "diagnose": "Look at what lies behind the runs of {benchmark}",
    "separation": "Look for {benchmark} in a training file",
    "import-benchmark": "Import benchmark {benchmark}",
    "import-run": "Import run {system} of {benchmark}",
    "import-vectors": "Import vectors {system} of {benchmark}",
    "import-scores": "Import scores {benchmark}",
    "import-results": "Import published results {benchmark}",
    "what-if": "What if: {item} of {system}",
    "rename": "Rename {item}{system} to {to}",
    "delete": "Delete {item}{system}",
    "export": "Export {format} of {benchmark}",
    "report": "Report on {benchmark}",
}
ENDINGS = {
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "stopped": "stopped: its process ended without a word",
}


def watch() -> list[Job]:
    """Every running job, drawn anew every second; the page is drawn anew when one begins or ends or stores something.

    A job that somebody else started is seen too, and so is one that was started before the server was.
    """
    running = _running()
    _watch(source.generation(), _names(running), [running])
    return running


@st.fragment(run_every=job_box.EVERY)
def _watch(drawn_with: str | None, names: tuple[str, ...], found: list[list[Job]]) -> None:
    """Jobs that were just found are drawn at once; every later look is its own."""
    running = found.pop() if found else _running()
    if source.generation() != drawn_with or _names(running) != names:
        st.rerun()
        return
    for job in running:
        job_box.box(job.state, lead=title(job))
        if job.queued:
            job_box.explain(QUEUED)


def _running() -> list[Job]:
    """In an order that does not change while they run, so that no button moves under the pointer."""
    found = (job for job in jobs.listed() if job_box.runs(job.state) and job.name not in ELSEWHERE)
    return sorted(found, key=lambda job: job.name)


def _names(running: list[Job]) -> tuple[str, ...]:
    return tuple(sorted(job.name for job in running))


def title(job: Job) -> str:
    """What a job does, in words."""
    if job.request is None:
        return NAMES.get(job.name, f"{job.command.replace('-', ' ').capitalize()} (started in a terminal)")
    words = NAMES.get(job.command, job.command).format_map(_Given(job.request.arguments)).strip()
    return words.replace("Import", "Check", 1) if job.dry_run else words


class _Given(dict[str, str]):
    """What a job's arguments say: options by name, the thing it acts on as ``item``; whatever else is empty."""

    def __init__(self, arguments: tuple[str, ...]) -> None:
        end = arguments.index("--") if "--" in arguments else len(arguments)
        named = [text[2:].partition("=") for text in arguments[:end] if text.startswith("--")]
        super().__init__({name: value for name, sign, value in named if sign})
        self["item"] = " ".join(arguments[end + 1 :])
        systems = self.get("systems", "").split(",")
        if len(systems) > MANY:
            self["systems"] = f"{len(systems)} systems"

    def __missing__(self, name: str) -> str:
        return ""


def show() -> None:
    """Every job of the last week: what it did, how it ended, and a way to take it up again."""
    found = jobs.listed()[:SHOWN]
    if not found:
        ui.nothing("No job has run here yet.", next_step="Imports and runs that you start are listed here for a week.")
        return
    ended = [job for job in found if not job_box.runs(job.state)]
    ui.grey(
        "Jobs run on the server, not in this browser: closing the page stops nothing. They are listed for a week, "
        "whoever started them. One writes at a time; the others wait for it."
    )
    for job in ended:
        if job.state.status != "done" and (job.request or job.name in ELSEWHERE):
            _offer_again(job)
    rows = [[when(job.said_at), title(job), _ending(job), job_box.duration(job.state.elapsed)] for job in found]
    columns = {"Last word": "stamp", "Job": "passage", "How it ended": "passage", "Took": "number"}
    tables.show(tables.table(columns, rows, caption="Jobs"))


def _ending(job: Job) -> str:
    if job_box.runs(job.state):
        return "waits for another job" if job.queued else f"runs: {job.state.step}"
    found = jobs.result(job.name)
    if job.state.status == "done" and found:
        return found.outcome
    reason = trouble(job)
    return ENDINGS[job.state.status] + (f": {reason}" if reason else "")


def trouble(job: Job) -> str | None:
    """Why a job ended badly, in its own words; None where it did not, or where it was cancelled.

    Where uploaded files are kept is none of the reader's business: they are named as they were when they were dropped.
    """
    words = job.state.message if job.state.status == "failed" else None
    if job.state.status == "stopped":
        words = jobs.last_words(job.name)
    uploads = job.request.uploads if job.request else None
    return words.replace(f"{uploads}/", "") if words and uploads else words


def _offer_again(job: Job) -> None:
    with st.container(border=True):
        job_box.explain(f"{title(job)}: {_ending(job)}")
        job_box.button("Start again", jobs.again, job.name, key=f"again-{job.name}")


def when(seconds: float) -> str:
    """A moment for people, in UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
