"""How far two rankings agree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def rank_biased_overlap(first: Sequence[Hashable], second: Sequence[Hashable], *, p: float = 0.9) -> float | None:
    """Extrapolated rank-biased overlap: 1 for the same order, 0 for nothing in common, the top weighing most.

    Args:
        first: items in rank order, none twice; the lists may differ in length.
        second: the other list.
        p: how far down a reader goes; 0.9 puts 86 % of the weight on the first ten ranks.

    Returns:
        A value from 0 to 1; None where a list is empty.

    Source:
        Webber, Moffat & Zobel (2010), ACM TOIS 28(4), equation 32.
    """
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)
    if not s:
        return None
    shared = _overlaps(short, long)
    total = sum(shared[depth - 1] / depth * p**depth for depth in range(1, n + 1))
    total += sum(shared[s - 1] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, n + 1))
    return (1 - p) / p * total + ((shared[n - 1] - shared[s - 1]) / n + shared[s - 1] / s) * p**n


def _overlaps(short: Sequence[Hashable], long: Sequence[Hashable]) -> list[int]:
    """How many items the two lists share down to each rank of the longer one."""
    ours: set[Hashable] = set()
    theirs: set[Hashable] = set()
    shared, counted = [], 0
    for depth, item in enumerate(long):
        other = short[depth] if depth < len(short) else None
        if depth < len(short):
            counted += item == other or (item in ours) + (other in theirs)
            ours.add(other)
        else:
            counted += item in ours
        theirs.add(item)
        shared.append(int(counted))
    return shared
