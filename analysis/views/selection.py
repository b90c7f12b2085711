"""What a page or a command asks for, and the nouns its answers share."""

from __future__ import annotations

from typing import NamedTuple

from analysis.languages import language_name
from analysis.model import FlagCounts, Interval, SystemLabel, published_only, scores_only, unranked
from analysis.text import capitalised, counted

__all__ = [  # what charts and pages see of the nouns below them too
    "BenchmarkLabel",
    "FlagCounts",
    "Interval",
    "MeasureLabel",
    "Selection",
    "Sentence",
    "SystemLabel",
    "TaskLabel",
    "capitalised",
    "counted",
    "language_name",
    "published_only",
    "scores_only",
    "unranked",
]


class Selection(NamedTuple):
    """What is asked of a store; an empty tuple means all."""

    benchmark: str  # name or name@version
    tasks: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()  # query attribute = value: any of the values of each attribute named
    without_flagged: bool = False  # doubtful queries leave, and judgements of doubtful documents do not count


class Sentence(NamedTuple):
    """A takeaway computed from the data."""

    bold: str  # the surprising half
    rest: str  # may be empty


class TaskLabel(NamedTuple):
    """How a task is called."""

    name: str
    title: str
    question: str
    is_default: bool
    n_queries: int
    n_documents: int  # 0: the runs are imported per-query scores
    n_flagged: FlagCounts = FlagCounts()
    n_published: int = 0  # systems of which somebody published figures

    @property
    def published_only(self) -> bool:
        """Whether published figures are all there is: no queries, so nothing that can be measured."""
        return self.n_published > 0 and not self.n_queries


class BenchmarkLabel(NamedTuple):
    """How a stored version of a benchmark is called."""

    name: str
    version: str
    address: str  # name where it is the current version, else name@version
    title: str
    licence: str
    source: str
    notes: tuple[str, ...]
    parallel: bool


class MeasureLabel(NamedTuple):
    """How a measure is called and defined."""

    key: str  # ndcg_at_10
    label: str  # nDCG@10
    definition: str
    formula: str
    source: str
    aggregate: str  # pooled | balanced
    unit: str  # share | percent
