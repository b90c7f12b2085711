"""Whether confusion sets have the tiers they were made for, by three encoders and by systems that had no vote."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.benchmarks import confusion_sets
from analysis.benchmarks.confusion_sets import ACCEPTED, BOUNDS, NONE, REJECTED, RETIERED, TIERS, Verdict
from analysis.errors import InputError
from analysis.model import Interval
from analysis.stats import agreement, bootstrap
from analysis.store.read import Store
from analysis.text import counted
from analysis.views.evidence import LEVEL, SEED, one_task
from analysis.views.selection import Selection, Sentence
from analysis.views.tier_order import Order, confirmed, falls, orders

if TYPE_CHECKING:
    from analysis.views.tiers import TierRow

__all__ = ["BOUNDS", "TIERS", "Validation", "validation"]

SET = "set"
"""How the settings write that a query asks for the other members of its set."""
ALL = "mean of the three"
MADE, KEPT = "as made", "as kept"


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
    made = _made(settings, task)
    if made is None:
        return None
    verdicts, names = confusion_sets.from_csv(made["sets"]), tuple(made["validators"])
    counts = tuple(_counts(verdicts))
    cosines = tuple(_cosines(verdicts, names))
    falling = tuple(_falling(cosines, (*names, ALL)))
    order = tuple(orders(rows, names, parents))
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
        confirmed(order),
    )


def sets(store: Store, selection: Selection) -> str:
    """Every set of a task with its cosines and votes, as CSV.

    Raises:
        InputError: an unknown benchmark or task, not exactly one task, or it was not made of confusion sets.
    """
    task = one_task(store, selection)
    made = _made(store.benchmark(selection.benchmark).settings, task.name)
    if made is None:
        raise InputError(f"task {task.name}: has no confusion sets; build mmed-task2 makes some")
    return str(made["sets"])


def sets_table(store: Store, selection: Selection) -> tuple[list[str], list[list[object]]]:
    """The same as a header and rows. Raises as :func:`sets`."""
    header, *lines = csv.reader(io.StringIO(sets(store, selection)))
    numbers = [name.startswith("cosine ") for name in header]
    return header, [
        [float(cell) if number else cell for number, cell in zip(numbers, line, strict=True)] for line in lines
    ]


def _made(settings: Mapping[str, Any], task: str) -> Mapping[str, Any] | None:
    """What was kept when the task was made of confusion sets; None where it was not."""
    made: Mapping[str, Any] = settings.get("built", {}).get(task, {})
    return made if "validators" in made else None


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
        yield Falling(name, which, *falls(found))


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
