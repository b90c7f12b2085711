"""Translated questions by how far their translation may be trusted: pass, official, all, and the order of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.benchmarks.fidelity import FAIL, FLAG, ORIGINAL, PASS
from analysis.model import Interval, SystemLabel
from analysis.stats import ranks
from analysis.views.evidence import Evidence, measure_label, number
from analysis.views.selection import MeasureLabel, Sentence
from analysis.views.translation_quality import tally

MEASURE = "ndcg_at_10"
PASSING, OFFICIAL, ALL = "pass", "official", "all"
SUBSETS: Mapping[str, frozenset[str]] = {
    PASSING: frozenset({PASS}),
    OFFICIAL: frozenset({PASS, FLAG, ORIGINAL}),
    ALL: frozenset({PASS, FLAG, FAIL, ORIGINAL}),
}
"""Which queries are in each, by what was found of them."""


@dataclass(frozen=True)
class SubsetRow:
    """One system in every subset."""

    system: SystemLabel
    means: Mapping[str, Interval]  # by subset: every query weighs the same


@dataclass(frozen=True)
class SubsetOrders:
    """Whether two subsets put the systems in the same order."""

    a: str
    b: str
    spearman: float | None
    kendall: float | None
    n: int  # systems; below three both are None
    n_queries: tuple[int, int]


class Statuses(NamedTuple):
    """The translations into one language by what was found of them; shares are of them all."""

    language: str
    translated: int
    passed: int
    flagged: int
    failed: int
    passed_share: float
    flagged_share: float
    failed_share: float


@dataclass(frozen=True)
class QaSubsets:
    """How a task's systems do on its subsets."""

    measure: MeasureLabel
    n_queries: Mapping[str, int]  # by subset
    rows: tuple[SubsetRow, ...]  # the best on all queries first
    orders: tuple[SubsetOrders, ...]
    languages: tuple[Statuses, ...]

    @property
    def sentence(self) -> Sentence:
        """Whether the order holds, and how many translations pass."""
        passed, flagged = sum(row.passed for row in self.languages), sum(row.flagged for row in self.languages)
        failed = sum(row.failed for row in self.languages)
        of = f"{tally(passed, flagged, failed)}."
        known = [(row.kendall, row) for row in self.orders if row.kendall is not None]
        if not known:
            return Sentence("It takes three systems to compare orders.", of)
        low, least = min(known, key=lambda pair: pair[0])
        if low == 1:
            return Sentence(f"The {least.n} systems stand in the same order on pass, official and all.", of)
        moved = f"The order of {least.n} systems changes between {least.a} and {least.b}: Kendall τ = {low:.2f}."
        return Sentence(moved, of)


def qa_subsets(evidence: Evidence, labels: Mapping[str, SystemLabel]) -> QaSubsets | None:
    """The subsets of a task's queries; None where its queries are no translations that were judged.

    Args:
        evidence: of the task, in the slice asked for.
        labels: of the systems.
    """
    status = evidence.queries.audit_status
    found = {str(value) for value in status[evidence.mask] if value is not None}
    if not found & {PASS, FLAG, FAIL} or found - SUBSETS[ALL] or MEASURE not in evidence.measures((MEASURE,)):
        return None
    masks = {name: evidence.mask & np.isin(status.astype(str), sorted(some)) for name, some in SUBSETS.items()}
    values = evidence.values(MEASURE)
    means = {name: evidence.pooled(np.where(mask, values, np.nan)) for name, mask in masks.items()}
    counts = {name: int((mask & evidence.domain).sum()) for name, mask in masks.items()}
    rows = [
        SubsetRow(labels[run.system], {name: means[name][place] for name in SUBSETS})
        for place, run in enumerate(evidence.runs)
    ]
    return QaSubsets(
        measure_label(MEASURE),
        counts,
        tuple(sorted(rows, key=lambda row: -(row.means[ALL].value or 0.0))),
        tuple(_orders(rows, counts)),
        _statuses(evidence.queries.language, status, evidence.mask),
    )


def _orders(rows: Sequence[SubsetRow], counts: Mapping[str, int]) -> Iterator[SubsetOrders]:
    """Every two subsets, by the systems that have a mean in both."""
    for a, b in combinations(SUBSETS, 2):
        pairs = [(row.means[a].value, row.means[b].value) for row in rows]
        known = [(first, second) for first, second in pairs if first is not None and second is not None]
        means = [[round(value, ranks.EXACT_DIGITS) for value in values] for values in zip(*known, strict=True)]
        able = len(known) >= ranks.FEWEST_SYSTEMS
        yield SubsetOrders(
            a,
            b,
            number(ranks.spearman(*means)) if able else None,
            number(ranks.kendall(*means)) if able else None,
            len(known),
            (counts[a], counts[b]),
        )


def _statuses(
    language: NDArray[np.object_], status: NDArray[np.object_], mask: NDArray[np.bool_]
) -> tuple[Statuses, ...]:
    """By language, those with translations."""
    n = Counter(zip(language[mask], status[mask], strict=True))
    rows = []
    for tag in dict.fromkeys(language[mask]):
        found = [n[tag, one] for one in (PASS, FLAG, FAIL)]
        if total := sum(found):
            rows.append(Statuses(tag, total, *found, *(count / total for count in found)))
    return tuple(rows)
