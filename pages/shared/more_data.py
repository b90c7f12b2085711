"""The second benchmark: one button adds ICD-10 while the pages stay usable."""

from __future__ import annotations

from collections.abc import Sequence

from analysis import jobs
from analysis.views.selection import BenchmarkLabel
from pages.shared import address, job_box
from pages.shared.interface import mark, say

OFFER = mark(
    "ICD-10: 11,255 real code titles in six languages. It needs the network once and about a quarter of an hour, "
    "in the background."
)
ENDINGS = {
    "cancelled": mark("Adding ICD-10 was cancelled. What it had encoded is kept."),
    "failed": mark("Adding ICD-10 failed:"),
    "stopped": mark("Adding ICD-10 was interrupted. It goes on where it stopped."),
}


def offer(benchmarks: Sequence[BenchmarkLabel], *, shown: BenchmarkLabel) -> None:
    """The button that adds ICD-10 where it is not there yet; while that runs, how far it is.

    Args:
        benchmarks: all stored ones.
        shown: the one the page is about; it stays so when ICD-10, then the newest, arrives.
    """
    state = jobs.state(jobs.ADD_ICD10)
    if job_box.runs(state):
        job_box.watch(jobs.ADD_ICD10, lead=say("Adding ICD-10"))
        return
    ended = job_box.ending(state, ENDINGS)
    if any(label.name == "icd10" for label in benchmarks) and not ended:
        return
    if ended:
        job_box.explain(ended)
    job_box.explain(say(OFFER))
    job_box.button(say("Add ICD-10"), _begin, shown.address)


def _begin(shown: str) -> None:
    address.put(benchmark=shown)
    jobs.begin(jobs.ADD_ICD10)
