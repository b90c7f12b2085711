"""Which texts go through a model together: of similar length, as many as fit, and half of those that did not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.systems import encoders

Positions = NDArray[np.int64]
Found = TypeVar("Found")


@dataclass
class Room:
    """What fits into one forward pass, in tokens of a padded batch; less from the moment that a batch did not fit."""

    tokens: int


def batches(lengths: NDArray[np.int64], *, room: Room, most: int, passes: int = 1) -> Iterator[Positions]:
    """Positions of texts of similar length, longest first, so that padding is little and time left is not rosy.

    Args:
        lengths: ``(n,)`` tokens of the texts.
        room: of one forward pass; looked at before each batch.
        most: texts in one forward pass.
        passes: forward passes that a batch is divided into.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        fitting = max(1, room.tokens // max(1, int(lengths[order[start]])))
        stop = start + min(most, fitting) * passes
        yield order[start:stop]
        start = stop


def halved(
    compute: Callable[[Positions], Found], batch: Positions, *, room: Room, refuse: Callable[[int], Exception]
) -> Iterator[tuple[Positions, Found]]:
    """A batch at once; where the memory does not hold it, its halves, and smaller batches after it.

    Args:
        compute: a batch.
        batch: positions of texts.
        room: of a forward pass, halved with the batch.
        refuse: what is raised where one text alone does not fit.
    """
    try:
        found = compute(batch)
    except (MemoryError, RuntimeError) as error:
        if not encoders.is_out_of_memory(error):
            raise
        if len(batch) == 1:
            raise refuse(int(batch[0])) from error
    else:
        yield batch, found
        return
    encoders.free_memory()
    room.tokens = max(1, room.tokens // 2)
    half = len(batch) // 2
    for part in (batch[:half], batch[half:]):
        yield from halved(compute, part, room=room, refuse=refuse)
