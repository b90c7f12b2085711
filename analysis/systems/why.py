"""Why a document stands where it stands: what each part of the query adds to its score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.systems.bm25 import pieces
from analysis.systems.encoders import Encoder, TokenMatrix

MOST_PARTS = 64
"""Parts of a query that are left out one after another; a longer one is cut into larger parts."""


class Share(NamedTuple):
    """What one part of the query adds to the score of a document."""

    part: str  # of the query
    match: str | None  # what it meets in the document; None where the system compares texts as wholes
    value: float  # in the units of the system's score


def of_tokens(
    query: Sequence[str], document: Sequence[str], *, vectors: tuple[TokenMatrix, TokenMatrix]
) -> tuple[Share, ...]:
    """Late interaction: the best match of each token of the query; the values sum to the score.

    Args:
        query: t tokens.
        document: u tokens.
        vectors: unit vectors of both, ``(t, d)`` and ``(u, d)``.
    """
    if not len(vectors[0]) or not len(vectors[1]):
        return ()
    similar = vectors[0].astype(np.float32) @ vectors[1].astype(np.float32).T
    best = similar.argmax(axis=1)
    return tuple(
        Share(token, document[place], float(similar[row, place]))
        for row, (token, place) in enumerate(zip(query, best.tolist(), strict=True))
    )


def of_wholes(text: str, document: NDArray[np.float32], *, encoder: Encoder) -> tuple[Share, ...]:
    """A dense system: by how much the similarity falls when a part of the query is left out; below 0 where it rises.

    The values do not sum to the score: the parts of a text act together.

    Args:
        text: the query.
        document: ``(d,)`` its unit vector.
        encoder: of the query.
    """
    parts = pieces(text)
    size = -(-len(parts) // MOST_PARTS)
    groups = [parts[start : start + size] for start in range(0, len(parts), size)] if parts else []
    if len(groups) < 2:
        return ()
    without = ["".join(part for other in groups if other is not group for part in other) for group in groups]
    similar = encoder.encode([text, *without], role="query") @ document
    return tuple(
        Share("".join(group).strip(), None, float(similar[0] - left))
        for group, left in zip(groups, similar[1:], strict=True)
        if "".join(group).strip()
    )
