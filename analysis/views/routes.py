"""Which language pairs fail?"""

from __future__ import annotations

from dataclasses import dataclass

from analysis.views.selection import BenchmarkLabel, MeasureLabel, Sentence, SystemLabel, TaskLabel

SMALL_N = 30
CUTOFFS = (1, 5, 10, 25, 50, 100)


@dataclass(frozen=True)
class RouteCell:
    """One query language → document language, for one system."""

    task: str
    system: str
    query_language: str
    document_language: str
    measure: str  # recall_at_10
    value: float | None  # None where no query has such a document
    retention: float | None  # of the query language's own diagonal cell
    preference: float | None  # how often this language stands above the answer, against its share of the corpus; 1 = no preference
    low: float | None
    high: float | None
    method: str
    n: int  # queries


@dataclass(frozen=True)
class RoutesView:
    """The heatmaps of one task."""

    benchmark: BenchmarkLabel
    task: TaskLabel
    measure: MeasureLabel
    k: int
    languages: tuple[str, ...]  # in the benchmark's order
    language_names: tuple[str, ...]
    systems: tuple[SystemLabel, ...]
    cells: tuple[RouteCell, ...]
    takeaway: Sentence
    caption: str
    diagonal_reason: str | None  # why the diagonal is blank, where it is
    shallow: tuple[str, ...]  # systems whose run is less than k deep, with the words that say so


@dataclass(frozen=True)
class RouteDifference:
    """Cell by cell, one system minus another."""

    a: SystemLabel
    b: SystemLabel
    measure: MeasureLabel
    languages: tuple[str, ...]
    cells: tuple[RouteCell, ...]  # value, low and high are of the difference
    takeaway: Sentence


@dataclass(frozen=True)
class AnswerRank:
    """One relevant document of one query, and where each system put it."""

    query_id: str
    query_text: str
    query_language: str
    document_id: str
    document_text: str
    document_language: str
    ranks: tuple[int | None, ...]  # in the order of RouteQueries.systems; None beyond the run's depth


@dataclass(frozen=True)
class RouteQueries:
    """The queries behind one cell, the worst first."""

    system: SystemLabel  # the one whose cell was chosen
    systems: tuple[SystemLabel, ...]  # columns, the chosen one first
    depths: tuple[int, ...]  # of their runs
    query_language: str
    document_language: str
    k: int
    n_queries: int
    n_failing: int  # queries with no relevant document of that language in the top k
    rows: tuple[AnswerRank, ...]
    title: str  # "en → ja · all-MiniLM · 198 of 200 queries fail"
