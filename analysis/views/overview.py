"""Which system, and can I trust the difference?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.model import Interval
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Sentence, SystemLabel, TaskLabel


@dataclass(frozen=True)
class OverviewRow:
    """One system on one task."""

    task: str
    system: SystemLabel
    measures: Mapping[str, Interval]  # by measure key
    depth: int
    n_queries: int  # judged queries that have a relevant document
    n_missing: int  # of those, absent from the run: they count 0
    n_unjudged: int  # queries without a relevant document, left out of every mean
    n_tied_at_10: int  # queries whose scores tie across rank 10
    tie_range_ndcg_at_10: tuple[float, float] | None  # lowest and highest mean that tied orders allow
    judged_at_10: float | None
    n_dangling: int  # relevant documents absent from the corpus
    distinct_documents_at_10: int
    largest_document_share_at_10: float
    degenerate: bool | None  # R@10 cross below 0.10; None where there is no cross-language answer
    hits_kept: int
    n_hits: int
    created_at: str  # ISO time
    texts_per_second: float | None
    composed_of: tuple[str, ...]


@dataclass(frozen=True)
class Refusal:
    """A system that declined a task."""

    task: str
    system: SystemLabel
    reason: str


@dataclass(frozen=True)
class TaskOverview:
    """The leaderboard of one task."""

    task: TaskLabel
    takeaway: Sentence
    caption: str  # the grey line: what is drawn, n, caveat
    rows: tuple[OverviewRow, ...]  # best first by the lead measure
    refusals: tuple[Refusal, ...]
    lead: MeasureLabel  # the measure the rows are ordered by
    coverage_note: str | None  # said aloud where systems answer different queries


@dataclass(frozen=True)
class OverviewView:
    """The leaderboards of one benchmark."""

    benchmark: BenchmarkLabel
    tasks: tuple[TaskOverview, ...]
    measures: tuple[MeasureLabel, ...]  # columns, in order


@dataclass(frozen=True)
class Contents:
    """What a store holds: what the sidebar offers."""

    benchmarks: tuple[BenchmarkLabel, ...]
    benchmark: BenchmarkLabel  # the chosen one
    tasks: tuple[TaskLabel, ...]  # of the chosen benchmark, the default first
    systems: tuple[SystemLabel, ...]  # with a complete run on the chosen tasks
