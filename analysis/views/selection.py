"""What a page or a command asks for, and the nouns its answers share."""

from __future__ import annotations

from typing import NamedTuple

from analysis.model import Interval, SystemLabel, scores_only

__all__ = [  # what charts and pages see of the nouns below them too
    "BenchmarkLabel",
    "Interval",
    "MeasureLabel",
    "Selection",
    "Sentence",
    "SystemLabel",
    "TaskLabel",
    "scores_only",
]


class Selection(NamedTuple):
    """What is asked of a store; an empty tuple means all."""

    benchmark: str  # name or name@version
    tasks: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()  # query attribute = value: any of the values of each attribute named


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
