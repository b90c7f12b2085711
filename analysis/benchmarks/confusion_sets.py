"""Confusion sets and their tiers: how an encoder votes on one, what three votes make of it, the list of all."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SYNONYM, SIBLING, RELATED = TIERS = ("synonym", "sibling", "related")

BOUNDS: Mapping[str, tuple[float, float]] = {SYNONYM: (0.70, 1.0), SIBLING: (0.40, 0.75), RELATED: (0.15, 0.45)}
"""The mean pairwise cosine that a set of each tier has, both ends included; two of them overlap."""

DIGITS = 4
"""To which cosines are rounded: no vote hangs on the order in which a machine added numbers."""

ACCEPTED, RETIERED, REJECTED = OUTCOMES = ("accepted", "re-tiered", "rejected")
NONE = "none"
"""How a vote for no tier is written."""


class ConfusionSet(NamedTuple):
    """Concepts that may be taken for each other, or the spellings of one."""

    name: str  # synonym-00001
    made: str  # the tier by the codes
    vocabulary: str
    concepts: tuple[str, ...]
    groups: tuple[str, ...]  # first characters of each one's codes


class Verdict(NamedTuple):
    """What validators say of one set."""

    name: str
    made: str
    vocabulary: str
    concepts: tuple[str, ...]
    cosines: tuple[float, ...]  # of each validator
    votes: tuple[str | None, ...]  # of each validator; None: it fits no tier
    tier: str | None  # on which they agree; None: rejected

    @property
    def outcome(self) -> str:
        """What becomes of the set."""
        return outcome(self.made, self.tier)


def outcome(made: str, tier: str | None) -> str:
    """What becomes of a set that was made for one tier and that validators find to be of another, or of none."""
    if tier is None:
        return REJECTED
    return ACCEPTED if tier == made else RETIERED


def mean_pairwise_cosines(vectors: NDArray[np.float32], sizes: Sequence[int]) -> NDArray[np.float64]:
    """Mean cosine over all pairs of each set, rounded.

    Args:
        vectors: ``(T, d)`` unit vectors, one set after the other.
        sizes: ``(n,)`` vectors of each set, two or more.

    Returns:
        ``(n,)``.
    """
    whole, n = vectors.astype(np.float64), np.array(sizes)
    starts = np.concatenate([[0], np.cumsum(n)[:-1]])
    sums = np.add.reduceat(whole, starts, axis=0)
    own = np.add.reduceat(np.einsum("ij,ij->i", whole, whole), starts)
    pairs = (np.einsum("ij,ij->i", sums, sums) - own) / (n * (n - 1))
    found: NDArray[np.float64] = np.round(np.clip(pairs, -1, 1), DIGITS)
    return found


def vote(cosine: float, made: str) -> str | None:
    """The tier an encoder finds a set to be of: the one it was made for if it fits, else that of the nearest centre."""
    fits = [tier for tier, (low, high) in BOUNDS.items() if low <= cosine <= high]
    if made in fits:
        return made
    return min(fits, key=lambda tier: round(abs(cosine - sum(BOUNDS[tier]) / 2), DIGITS + 2), default=None)


def agreed(votes: Iterable[str | None], *, least: int = 2) -> str | None:
    """The tier that at least so many votes are for; None where there is none."""
    counts = Counter(one for one in votes if one is not None)
    return next((tier for tier in TIERS if counts[tier] >= least), None)


def judged(sets: Sequence[ConfusionSet], cosines: NDArray[np.float64]) -> tuple[Verdict, ...]:
    """What three validators say of each set; ``cosines`` is ``(n, 3)``."""
    found = []
    for one, row in zip(sets, cosines.tolist(), strict=True):
        votes = tuple(vote(cosine, one.made) for cosine in row)
        found.append(Verdict(one.name, one.made, one.vocabulary, one.concepts, tuple(row), votes, agreed(votes)))
    return tuple(found)


def as_csv(verdicts: Sequence[Verdict], validators: Sequence[str]) -> str:
    """Every set with its cosines and votes, one a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    named = [f"{what} {name}" for what in ("cosine", "vote") for name in validators]
    writer.writerow(["set", "vocabulary", "made", "tier", "outcome", "concepts", *named])
    for row in verdicts:
        cosines = [f"{cosine:.{DIGITS}f}" for cosine in row.cosines]
        votes = [one or NONE for one in row.votes]
        head = [row.name, row.vocabulary, row.made, row.tier or NONE, row.outcome, " ".join(row.concepts)]
        writer.writerow([*head, *cosines, *votes])
    return text.getvalue()


def from_csv(text: str) -> tuple[Verdict, ...]:
    """The sets of such a list."""
    return tuple(map(_verdict, list(csv.reader(io.StringIO(text)))[1:]))


def _verdict(cells: Sequence[str]) -> Verdict:
    name, vocabulary, made, tier, _, concepts, *rest = cells
    half = len(rest) // 2
    return Verdict(
        name,
        made,
        vocabulary,
        tuple(concepts.split()),
        tuple(map(float, rest[:half])),
        tuple(None if one == NONE else one for one in rest[half:]),
        None if tier == NONE else tier,
    )
