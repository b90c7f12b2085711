"""Whether systems find the tiers of confusion sets as hard as their order says, and which of them had a vote."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.benchmarks.confusion_sets import TIERS
from analysis.model import Interval, SystemLabel
from analysis.systems import catalogue
from analysis.views.selection import Sentence

if TYPE_CHECKING:
    from analysis.views.tiers import TierRow

LEADS = {"recall_at_1": "R@1", "hit_at_1": "Hit@1"}
HARDER = "each tier harder than the one before."
FULL = 0.9  # the ceiling of R@1 below which Hit@1 says more


@dataclass(frozen=True)
class Order:
    """Whether the tiers are as hard for one system as their order says."""

    system: SystemLabel
    vote: str  # "voted", or "made of" validators; empty: it had no vote
    measure: str  # R@1, or Hit@1 where a query has many answers
    by_tier: Mapping[str, Interval]
    holds: bool | None  # the first tier is the easiest and the last the hardest; None: a tier has no query
    apart: bool | None  # no two neighbouring intervals overlap


def lead(rows: Sequence[TierRow]) -> str:
    """R@1, or Hit@1 where most queries have so many answers that R@1 cannot come near 1."""
    limits = [row.recall_at_1.ceiling for row in rows if row.tier is None]
    return "hit_at_1" if any(limit is not None and limit < FULL for limit in limits) else "recall_at_1"


def orders(
    rows: Sequence[TierRow], validators: Collection[str], parents: Mapping[str, Sequence[str]]
) -> Iterator[Order]:
    """Each system that ran, by the measure that says more and by R@1.

    Args:
        rows: of the systems, by tier.
        validators: the systems that voted.
        parents: the systems whose runs theirs are made of.
    """
    for measure in dict.fromkeys((lead(rows), "recall_at_1")):
        for label in dict.fromkeys(row.system for row in rows if row.tier in TIERS):
            found = {row.tier: getattr(row, measure) for row in rows if row.system == label}
            by_tier = {tier: found[tier] for tier in TIERS if tier in found}
            vote = _vote(label.name, validators, parents)
            yield Order(label, vote, LEADS[measure], by_tier, *falls(by_tier))


def falls(found: Mapping[str, Interval]) -> tuple[bool | None, bool | None]:
    """Whether values fall from tier to tier, and whether the intervals of neighbours are apart."""
    means = [found[tier] for tier in TIERS if tier in found and found[tier].value is not None]
    if len(means) < len(TIERS):
        return None, None
    steps = list(itertools.pairwise(means))
    ordered = all((first.value or 0) > (second.value or 0) for first, second in steps)
    return ordered, ordered and all((first.low or 0) > (second.high or 0) for first, second in steps)


def _vote(system: str, validators: Collection[str], parents: Mapping[str, Sequence[str]]) -> str:
    if system in validators:
        return "voted"
    within = [name for name in validators if name in _made_of(system, parents)]
    return f"made of {', '.join(within)}" if within else ""


def _made_of(system: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    """A system and all that it, or its run, is composed of."""
    known, found, left = catalogue.catalogue(), set(), [system]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [*parents.get(name, ()), *(catalogue.below(known[name]) if name in known else ())]
    return found


def confirmed(order: Sequence[Order]) -> Sentence:
    """How many of the systems without a vote find each tier harder than the one before."""
    measures = list(dict.fromkeys(row.measure for row in order))
    free = [row for row in order if row.measure in measures[:1] and not row.vote and row.holds is not None]
    if not free:
        return Sentence(
            "No system without a vote has run on all tiers.", "Systems that voted, or are made of some, do not count."
        )
    held = [row for row in free if row.holds]
    apart = sum(bool(row.apart) for row in held)
    if len(free) == 1:
        finds = "finds" if held else "does not find"
        bold = f"{free[0].system.short}, which had no vote, {finds} {HARDER}"
    else:
        who = f"{len(held):,}" if held else "None"
        bold = f"{who} of {len(free):,} systems that had no vote {'finds' if len(held) < 2 else 'find'} {HARDER}"
    rest = f" For {apart:,} of them no two intervals overlap." if len(held) > 1 else ""
    if len(held) == 1:
        rest = " No two intervals overlap." if apart else " Intervals overlap."
    return Sentence(bold, f"By {free[0].measure}.{rest}")
