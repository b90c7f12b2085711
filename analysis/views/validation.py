"""Whether confusion sets have the tiers they were made for, by three encoders and by systems that had no vote."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from analysis.benchmarks import confusion_sets
from analysis.benchmarks.confusion_sets import ACCEPTED, BOUNDS, NONE, REJECTED, RETIERED, TIERS, Verdict
from analysis.errors import InputError
from analysis.model import Interval, SystemLabel
from analysis.stats import agreement, bootstrap
from analysis.store.read import Store
from analysis.systems import catalogue
from analysis.text import counted
from analysis.views.evidence import one_task
from analysis.views.selection import Selection, Sentence

if TYPE_CHECKING:
    from analysis.views.tiers import TierRow

__all__ = ["BOUNDS", "TIERS", "Validation", "validation"]

SEED = 20_260_101
LEVEL = 0.95
SET = "set"
"""How the settings write that a query asks for the other members of its set."""
ALL = "mean of the three"
MADE, KEPT = "as made", "as kept"
LEADS = {"recall_at_1": "R@1", "hit_at_1": "Hit@1"}
HARDER = "each tier harder than the one before."
FULL = 0.9  # the ceiling of R@1 below which Hit@1 says more


@dataclass(frozen=True)
class Count:
    """What became of the sets of one vocabulary that were made for one tier."""

    vocabulary: str | None  # None: all
    made: str
    sets: int
    accepted: int
    moved: Mapping[str, int]  # re-tiered, by where they belong
    rejected: int


@dataclass(frozen=True)
class Cosine:
    """The mean of the sets' mean pairwise cosines, of one tier."""

    validator: str  # or ALL
    which: str  # MADE: every set by the tier of its codes; KEPT: those kept, by the tier the validators agree on
    tier: str
    mean: Interval


@dataclass(frozen=True)
class Falling:
    """Whether the mean cosine falls from each tier to the next."""

    validator: str  # or ALL
    which: str
    falls: bool | None  # None: a tier has no set
    apart: bool | None  # no two neighbouring intervals overlap


@dataclass(frozen=True)
class LeftOut:
    """What becomes of the sets where two validators of two, or three, have to agree; shares of all sets."""

    validator: str | None  # that is left out; None: all three, two of which have to agree
    n: int
    accepted: float
    adjacent: float  # moved to the tier beside the one they were made for
    far: float  # moved from the first tier to the last, or back
    rejected: float
    same: float  # with the same outcome and tier as with all three
    contested: Mapping[str, int]  # sets kept by three and lost here, by where the other vote goes


@dataclass(frozen=True)
class Pair:
    """How far two validators agree; a vote for no tier is a vote too."""

    first: str
    second: str
    n: int
    share: float
    low: float
    high: float
    kappa: float | None
    ac1: float | None


@dataclass(frozen=True)
class Order:
    """Whether the tiers are as hard for one system as their order says."""

    system: SystemLabel
    vote: str  # "voted", or "made of" validators; empty: it had no vote
    measure: str  # R@1, or Hit@1 where a query has many answers
    by_tier: Mapping[str, Interval]
    holds: bool | None  # the first tier is the easiest and the last the hardest; None: a tier has no query
    apart: bool | None  # no two neighbouring intervals overlap


@dataclass(frozen=True)
class Validation:
    """The validation of one task's confusion sets."""

    validators: tuple[str, ...]
    answers: str  # set: the other members of a query's set; concept: its concept's other terms
    sentence: Sentence
    counts: tuple[Count, ...]  # over all vocabularies first
    cosines: tuple[Cosine, ...]
    falling: tuple[Falling, ...]
    left_out: tuple[LeftOut, ...]  # with all three first
    pairs: tuple[Pair, ...]
    order: tuple[Order, ...]  # by Hit@1, where it says more, and then by R@1
    confirmed: Sentence

    @property
    def names(self) -> tuple[str, ...]:
        """The validators, and what their mean is called."""
        return (*self.validators, ALL)


def validation(
    settings: Mapping[str, Any],
    task: str,
    rows: Sequence[TierRow] = (),
    parents: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Validation | None:
    """What the settings of a benchmark say of a task's sets; None where it has none.

    Args:
        settings: of the benchmark.
        task: its name.
        rows: of the systems that ran on it, by tier.
        parents: the systems whose runs theirs are made of.
    """
    made = settings.get("built", {}).get(task, {})
    if "validators" not in made:
        return None
    verdicts, names = confusion_sets.from_csv(made["sets"]), tuple(made["validators"])
    counts = tuple(_counts(verdicts))
    cosines = tuple(_cosines(verdicts, names))
    falling = tuple(_falling(cosines, (*names, ALL)))
    order = tuple(_order(rows, names, parents))
    return Validation(
        names,
        made["answers"],
        _sentence(counts, cosines, falling),
        counts,
        cosines,
        falling,
        tuple(_left_out(verdicts, names)),
        tuple(_pairs(verdicts, names)),
        order,
        _confirmed(order),
    )


def place(tier: str) -> tuple[int, str]:
    """Where a tier stands among others: those of confusion sets first, the easiest before the hardest."""
    return (TIERS.index(tier) if tier in TIERS else len(TIERS), tier)


def by_tier(rows: Sequence[TierRow]) -> Sentence | None:
    """How the best system does on the first and the last tier; None where queries carry fewer than two."""
    names = list(dict.fromkeys(row.tier for row in rows if row.tier is not None))
    whole = [row for row in rows if row.tier is None and row.hit_at_1.value is not None]
    if len(names) < 2 or not whole:
        return None
    best = max(whole, key=lambda row: row.hit_at_1.value or 0.0).system
    found = {row.tier: row.hit_at_1 for row in rows if row.system == best}
    parts = [f"{round(100 * (found[name].value or 0))} of 100 {name} queries" for name in (names[0], names[-1])]
    return Sentence(
        f"{best.short} puts an answer at rank 1 for {parts[0]} and {parts[1]}.",
        f"{counted(len(whole), 'system')} ran." if len(whole) > 1 else "",
    )


def lead(rows: Sequence[TierRow]) -> str:
    """R@1, or Hit@1 where most queries have so many answers that R@1 cannot come near 1."""
    limits = [row.recall_at_1.ceiling for row in rows if row.tier is None]
    return "hit_at_1" if any(limit is not None and limit < FULL for limit in limits) else "recall_at_1"


def sets(store: Store, selection: Selection) -> str:
    """Every set of a task with its cosines and votes, as CSV.

    Raises:
        InputError: an unknown benchmark or task, not exactly one task, or it was not made of confusion sets.
    """
    task = one_task(store, selection)
    made = cast("Mapping[str, Any]", store.benchmark(selection.benchmark).settings.get("built", {})).get(task.name, {})
    if "validators" not in made:
        raise InputError(f"task {task.name}: has no confusion sets; build mmed-task2 makes some")
    return str(made["sets"])


def _counts(verdicts: Sequence[Verdict]) -> Iterator[Count]:
    vocabularies: list[str | None] = [None, *sorted({row.vocabulary for row in verdicts})]
    for vocabulary, tier in itertools.product(vocabularies, TIERS):
        mine = [row for row in verdicts if row.made == tier and vocabulary in (None, row.vocabulary)]
        if not mine:
            continue
        outcomes = Counter(row.outcome for row in mine)
        moved = Counter(row.tier for row in mine if row.outcome == RETIERED)
        yield Count(
            vocabulary,
            tier,
            len(mine),
            outcomes[ACCEPTED],
            {other: moved[other] for other in TIERS if other != tier},
            outcomes[REJECTED],
        )


def _cosines(verdicts: Sequence[Verdict], names: Sequence[str]) -> Iterator[Cosine]:
    for which, tier in itertools.product((MADE, KEPT), TIERS):
        mine = [row for row in verdicts if tier == (row.made if which == MADE else row.tier)]
        columns = np.array([row.cosines for row in mine], dtype=np.float64).reshape(len(mine), len(names)).T
        columns = np.vstack([columns, columns.mean(axis=0)])
        for name, mean in zip((*names, ALL), _means(columns), strict=True):
            yield Cosine(name, which, tier, mean)


def _means(columns: np.ndarray[Any, np.dtype[np.float64]]) -> list[Interval]:
    """The mean of each row ``(C, n)`` with its interval: sets are drawn, the same ones for every row."""
    n = columns.shape[1]
    if not n:
        return [Interval(None, "pooled", None, None, None, None, LEVEL, "", 0)] * len(columns)
    draws = bootstrap.family_draws(n, seed=SEED)
    drawn = bootstrap.pooled_draws(columns, family=np.arange(n), draws=draws)
    low, high = bootstrap.interval_of_draws(drawn, level=LEVEL)
    method = f"percentile over sets, B = {bootstrap.RESAMPLES}"
    values = bootstrap.pooled_mean(columns).value
    return [
        Interval(float(values[at]), "pooled", None, None, float(low[at]), float(high[at]), LEVEL, method, n)
        for at in range(len(columns))
    ]


def _falling(cosines: Sequence[Cosine], names: Sequence[str]) -> Iterator[Falling]:
    for which, name in itertools.product((MADE, KEPT), names):
        found = {row.tier: row.mean for row in cosines if (row.which, row.validator) == (which, name)}
        yield Falling(name, which, *_order_of(found))


def _order_of(found: Mapping[str, Interval]) -> tuple[bool | None, bool | None]:
    """Whether values fall from tier to tier, and whether the intervals of neighbours are apart."""
    means = [found[tier] for tier in TIERS if tier in found and found[tier].value is not None]
    if len(means) < len(TIERS):
        return None, None
    steps = list(itertools.pairwise(means))
    falls = all((first.value or 0) > (second.value or 0) for first, second in steps)
    return falls, falls and all((first.low or 0) > (second.high or 0) for first, second in steps)


def _left_out(verdicts: Sequence[Verdict], names: Sequence[str]) -> Iterator[LeftOut]:
    for place in (None, *range(len(names))):
        remaining = [[one for at, one in enumerate(row.votes) if at != place] for row in verdicts]
        yield _agreed(verdicts, remaining, None if place is None else names[place])


def _agreed(verdicts: Sequence[Verdict], remaining: Sequence[Sequence[str | None]], validator: str | None) -> LeftOut:
    tiers = [confusion_sets.agreed(votes) for votes in remaining]
    steps = Counter(_step(row.made, tier) for row, tier in zip(verdicts, tiers, strict=True))
    same = sum(row.tier == tier for row, tier in zip(verdicts, tiers, strict=True))
    lost = [
        _step(row.tier, next((one for one in votes if one != row.tier), None))
        for row, tier, votes in zip(verdicts, tiers, remaining, strict=True)
        if row.tier is not None and tier is None
    ]
    n = len(verdicts)
    contested = Counter(lost)
    return LeftOut(
        validator,
        n,
        accepted=steps[0] / n,
        adjacent=steps[1] / n,
        far=steps[2] / n,
        rejected=steps[None] / n,
        same=same / n,
        contested={words: contested[step] for step, words in ((1, "adjacent"), (2, "non-adjacent"), (None, NONE))},
    )


def _step(made: str, tier: str | None) -> int | None:
    """How many tiers a set moves; None: to none."""
    return None if tier is None else abs(TIERS.index(tier) - TIERS.index(made))


def _pairs(verdicts: Sequence[Verdict], names: Sequence[str]) -> Iterator[Pair]:
    for first, second in itertools.combinations(range(len(names)), 2):
        ours, theirs = ([row.votes[place] or NONE for row in verdicts] for place in (first, second))
        share = agreement.accuracy(ours, theirs, level=LEVEL)
        kappa, ac1 = agreement.cohen_kappa(ours, theirs), agreement.gwet_ac1(ours, theirs)
        yield Pair(
            names[first],
            names[second],
            share.n,
            share.value,
            share.low,
            share.high,
            *(None if np.isnan(value) else float(value) for value in (kappa, ac1)),
        )


def _order(
    rows: Sequence[TierRow], validators: Collection[str], parents: Mapping[str, Sequence[str]]
) -> Iterator[Order]:
    for measure in dict.fromkeys((lead(rows), "recall_at_1")):
        for label in dict.fromkeys(row.system for row in rows if row.tier in TIERS):
            found = {row.tier: getattr(row, measure) for row in rows if row.system == label}
            by_tier = {tier: found[tier] for tier in TIERS if tier in found}
            vote = _vote(label.name, validators, parents)
            yield Order(label, vote, LEADS[measure], by_tier, *_order_of(by_tier))


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


def _sentence(counts: Sequence[Count], cosines: Sequence[Cosine], falling: Sequence[Falling]) -> Sentence:
    whole = [row for row in counts if row.vocabulary is None]
    total = sum(row.sets for row in whole)
    accepted, rejected = sum(row.accepted for row in whole), sum(row.rejected for row in whole)
    moved = total - accepted - rejected
    return Sentence(
        f"Validators confirm {accepted:,} of {counted(total, 'confusion set')}, move {moved:,} to another tier and "
        f"reject {rejected:,}.",
        _as_made(cosines, falling),
    )


def _as_made(cosines: Sequence[Cosine], falling: Sequence[Falling]) -> str:
    """Whether the mean of the three falls over all sets, by the tiers of their codes."""
    (mean,) = (row for row in falling if (row.validator, row.which) == (ALL, MADE))
    if mean.falls is None:
        return "A tier has no set, so nothing can be said of their order."
    values = [row.mean.value or 0.0 for row in cosines if (row.validator, row.which) == (ALL, MADE)]
    first, second, third = (f"{value:.2f}" for value in values)
    words = f"As made, the mean cosine of the tiers is {first}, {second} and {third}"
    if not mean.falls:
        return f"{words}: it does not fall from tier to tier."
    return (
        f"{words}: it falls, and no two intervals overlap."
        if mean.apart
        else f"{words}: it falls, but intervals overlap."
    )


def _confirmed(order: Sequence[Order]) -> Sentence:
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
