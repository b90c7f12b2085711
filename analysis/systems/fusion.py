"""Reciprocal rank fusion: a document's score is the sum over the parts of 1 / (k + its rank there)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.model import Corpus, Questions, Ranking
from analysis.systems.entry import Entry
from analysis.systems.lists import by_queries, joined
from analysis.systems.workbench import Need, System, Workbench

Gain = Callable[[Ranking], NDArray[np.float64]]
"""What each row of a part's lists adds to the score of its document."""


class Fusion:
    """Reciprocal rank fusion of other systems; ``entry.parts`` names them, ``entry.k`` is the constant.

    Args:
        system: the catalogue's entry.
        parts: the systems it names, in its order.
    """

    def __init__(self, system: Entry, *, parts: Sequence[System]) -> None:
        self.entry = system
        self.parts = tuple(parts)

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """What its parts need."""
        return [need for part in self.parts for need in part.needs(corpus, questions)]

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """The ``depth`` best of the parts' documents; see :class:`~analysis.systems.workbench.System`."""
        workbench.prepare(self.needs(corpus, questions))
        rankings = [workbench.rank(part, corpus, questions, depth=depth) for part in self.parts]
        return fuse(rankings, k=self.entry.k or 60, depth=depth, tie_order=corpus.tie_order)


def fuse(rankings: Sequence[Ranking], *, k: int, depth: int, tie_order: NDArray[np.int32]) -> Ranking:
    """Fuse rankings of the same corpus and questions (Cormack, Clarke & Büttcher 2009).

    Args:
        rankings: of the parts; a document that a part did not retrieve gets nothing from it.
        k: the constant, 60 in the paper.
        depth: most documents a query.
        tie_order: ``(M,)``; of equal scores the smaller comes first.
    """
    return _in_blocks(rankings, lambda part: 1.0 / (k + part.rank()), depth=depth, tie_order=tie_order)


def combine(rankings: Sequence[Ranking], *, depth: int, tie_order: NDArray[np.int32]) -> Ranking:
    """Add up scores, each part's brought to 0 to 1 in each of its lists (CombSUM; Fox & Shaw 1994, Lee 1997).

    Args:
        rankings: of the parts; a document that a part did not retrieve gets nothing from it, as its last one does.
        depth: most documents a query.
        tie_order: ``(M,)``; of equal scores the smaller comes first.
    """
    return _in_blocks(rankings, _from_0_to_1, depth=depth, tie_order=tie_order)


def _from_0_to_1(part: Ranking) -> NDArray[np.float64]:
    """``(H,)`` scores with the best of each list at 1 and the last at 0; all 1 where they are equal."""
    if not len(part.query):
        return np.zeros(0)
    starts = np.flatnonzero(np.r_[True, part.query[1:] != part.query[:-1]])
    lengths = np.diff(np.r_[starts, len(part.query)])
    best, last = (np.repeat(part.score[places], lengths) for places in (starts, starts + lengths - 1))
    room = best - last
    return np.where(room > 0, (part.score - last) / np.where(room > 0, room, 1), 1.0)


def _in_blocks(rankings: Sequence[Ranking], gain: Gain, *, depth: int, tie_order: NDArray[np.int32]) -> Ranking:
    """Documents by the sum of what each part gives them, some queries at a time: their lists may be very many."""
    made = [_summed(parts, list(map(gain, parts)), depth=depth, tie_order=tie_order) for parts in by_queries(rankings)]
    return joined(made, depth=depth)


def _summed(
    rankings: Sequence[Ranking], gained: Sequence[NDArray[np.float64]], *, depth: int, tie_order: NDArray[np.int32]
) -> Ranking:
    """Documents by the sum of what each part gives them."""
    query = np.concatenate([part.query for part in rankings]).astype(np.int64)
    document = np.concatenate([part.document for part in rankings]).astype(np.int64)
    gain = np.concatenate(gained)
    pair = query * len(tie_order) + document
    order = np.lexsort((-gain, pair))  # adding up by size, not by part, lets equal sums be equal to the last bit
    pairs, starts = np.unique(pair[order], return_index=True)
    if not len(pairs):
        return Ranking(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), depth)
    score = np.add.reduceat(gain[order], starts)
    query, document = np.divmod(pairs, len(tie_order))
    best = np.lexsort((tie_order[document], -score, query))
    fused = Ranking(query[best].astype(np.int32), document[best].astype(np.int32), score[best], depth)
    return fused.top(depth)
