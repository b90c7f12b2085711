"""A line of the table of ``make bench``."""

import statistics
import time
from typing import NamedTuple


class Row(NamedTuple):
    work: str
    peer: str
    ratio: float | None  # None without a peer; peer's time or memory ÷ ours, for the probe (encode + search) ÷ encode
    bar: str
    detail: str


def timed(work, *, times=3):
    """Median seconds of several calls."""
    return statistics.median(seconds(work) for _ in range(times))


def seconds(work):
    """How long one call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def late(taken):
    """What 95 of 100 do not exceed."""
    ordered = sorted(taken)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
