"""Facts about a ranking that need every hit, not only the judged ones: computed once, when a run is stored.

Every function takes the hits of one run and returns one value a query (or a query and language). A *list* is what one
query retrieved; where a query retrieved nothing there is no list, and a share of it is NaN. Hits arrive in the order
of the ranking, equal scores already broken by document id, so only the tie functions look at scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.metrics.ranking import Flags, Floats, Gain, Judged, Ranks, discounts, gains, ideal_dcg, ratio
from analysis.model import NEVER

RELATIONS = ("same concept", "sibling", "related", "unrelated")
"""What a document can be to a query; the code of a relation is its position here."""

PREFERENCE_DEPTH = 10
"""Language preference looks at no more than this many documents of a list."""


@dataclass(frozen=True, eq=False)
class HitTable:
    """The hits of one run, a row a retrieved document, sorted by query, then rank.

    Attributes:
        query: ``(H,)`` int32 position of the query.
        rank: ``(H,)`` int32, 1-based and without gaps inside a query.
        document: ``(H,)`` int32 position of the document; -1 when it is not in the corpus.
        score: ``(H,)`` float64, non-increasing inside a query.
        grade: ``(H,)`` float64; NaN when nobody judged the document for the query.
        language: ``(H,)`` int16 code of the document's language; -1 when it is not in the corpus.
        n_queries: Q.
        query_language: ``(Q,)`` int16 code of each query's language.
        n_languages: L.
        n_documents: the size of the corpus.
    """

    query: NDArray[np.int32]
    rank: Ranks
    document: NDArray[np.int32]
    score: Floats
    grade: Floats
    language: NDArray[np.int16]
    n_queries: int
    query_language: NDArray[np.int16]
    n_languages: int
    n_documents: int

    @property
    def relevant(self) -> Flags:
        """``(H,)``: grade of at least 1."""
        return np.asarray(self.grade >= 1)

    @property
    def same_language(self) -> Flags:
        """``(H,)``: the document is in the query's language."""
        return np.asarray(self.language == self.query_language[self.query])

    def rows(self, keep: Flags) -> HitTable:
        """The same run with only the hits marked in ``keep`` ``(H,)``; queries and ranks stay as they are."""
        return replace(
            self,
            query=self.query[keep],
            rank=self.rank[keep],
            document=self.document[keep],
            score=self.score[keep],
            grade=self.grade[keep],
            language=self.language[keep],
        )

    def top(self, k: int) -> HitTable:
        """The same run cut at rank k."""
        return self.rows(self.rank <= k)

    def count(self, among: Flags) -> NDArray[np.int64]:
        """How many hits of each query are marked in ``among`` ``(H,)``; ``(Q,)``."""
        return np.bincount(self.query[among], minlength=self.n_queries)

    def first_row(self, among: Flags) -> NDArray[np.intp]:
        """Row of each query's first hit marked in ``among`` ``(H,)``; ``(Q,)``, -1 if none."""
        rows = np.flatnonzero(among)
        rows = rows[_changes(self.query[rows])]
        first = np.full(self.n_queries, -1, dtype=np.intp)
        first[self.query[rows]] = rows
        return first


class TieRange(NamedTuple):
    """The values that a measure can take when documents with equal scores change places; ``(Q,)`` each."""

    low: Floats
    high: Floats


class Codes(NamedTuple):
    """What ties queries or documents together, as integer codes shared by both; -1 where there is none."""

    family: NDArray[np.int32]  # source document or concept
    sibling_group: NDArray[np.int32]
    related_group: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Relations:
    """Where each relation first appears in a list, and what stands at rank 1; relations in the order of RELATIONS.

    Attributes:
        first_rank: ``(Q, 4)`` int32 rank of the first document of each relation; ``NEVER`` if none is retrieved.
        first_language: ``(Q, 4)`` int16 language code of that document; -1 if none.
        outcome_at_1: ``(Q,)`` int8 relation of the document at rank 1; -1 for an empty list.
        outcome_same_language: ``(Q,)`` whether the document at rank 1 is in the query's language; False when empty.
    """

    first_rank: Ranks
    first_language: NDArray[np.int16]
    outcome_at_1: NDArray[np.int8]
    outcome_same_language: Flags


def query_depth(hits: HitTable) -> NDArray[np.int64]:
    """How many documents each query retrieved, ``(Q,)``; 0 for a query that the run lacks."""
    return np.bincount(hits.query, minlength=hits.n_queries)


def judged_at(hits: HitTable, k: int) -> Floats:
    """Judged@k, the share of the top k that somebody judged for this query, whatever the grade.

    ``judged in the top k / retrieved in the top k``: a short list is divided by its own length. From 0 to 1; where it
    is low, unjudged documents may be relevant and the measures understate.

    Args:
        hits: the run.
        k: the cut, at least 1.

    Returns:
        ``(Q,)``; NaN when nothing is retrieved.

    Source:
        ``Judged`` of ir_measures; the pair counts, not the document alone.
    """
    top = hits.top(k)
    return ratio(top.count(~np.isnan(top.grade)), query_depth(top))


def same_language_share(hits: HitTable, k: int) -> Floats:
    """Share of the top k that is in the query's language.

    ``in the query's language in the top k / retrieved in the top k``. From 0 to 1; near 1 in a mixed corpus is language
    bias.

    Args:
        hits: the run.
        k: the cut, at least 1.

    Returns:
        ``(Q,)``; NaN when nothing is retrieved.
    """
    top = hits.top(k)
    return ratio(top.count(top.same_language), query_depth(top))


def same_language_irrelevant_share(hits: HitTable, k: int) -> Floats:
    """Share of the non-relevant documents of the top k that is in the query's language.

    ``non-relevant and in the query's language / non-relevant``, in the top k. From 0 to 1; near 1 the system prefers
    any document in the right language to the right document in any language.

    Args:
        hits: the run.
        k: the cut, at least 1.

    Returns:
        ``(Q,)``; 0 when all of the top k is relevant, NaN when nothing is retrieved.

    Source:
        ChemCLIR-Bench.
    """
    top = hits.top(k)
    share = ratio(top.count(~top.relevant & top.same_language), top.count(~top.relevant))
    return np.where(query_depth(top) > 0, np.nan_to_num(share), np.nan)


def distinct_documents(hits: HitTable, k: int) -> int:
    """How many documents of the corpus stand in the top k of any query; 0 for an empty run.

    From k up where lists are full; few beside many queries means hubs: documents returned whatever is asked.
    """
    return int(np.count_nonzero(_appearances(hits.top(k))))


def largest_document_share(hits: HitTable, k: int) -> float:
    """Share of the lists whose top k holds the one document that most of them hold.

    ``appearances of the most frequent document / queries with a list``. From above 0 to 1; near 1 is a hub. NaN for an
    empty run.
    """
    n_lists = np.count_nonzero(query_depth(hits))
    return float(_appearances(hits.top(k)).max(initial=0) / n_lists) if n_lists else float("nan")


def tied_at(hits: HitTable, k: int) -> Flags:
    """Whether the score at rank k equals the score at rank k + 1, so that the document id decides what is in the top k.

    Args:
        hits: the run, at least k + 1 deep to show ties.
        k: the cut, at least 1.

    Returns:
        ``(Q,)``; False for lists of at most k documents.
    """
    last = np.flatnonzero(hits.rank[:-1] == k)
    tied = (hits.query[last] == hits.query[last + 1]) & (hits.score[last] == hits.score[last + 1])
    flags = np.zeros(hits.n_queries, dtype=bool)
    flags[hits.query[last[tied]]] = True
    return flags


def tie_range_ndcg(hits: HitTable, judged: Judged, *, k: int, gain: Gain = "linear") -> TieRange:
    """Lowest and highest nDCG@k that documents with equal scores allow by changing places.

    Inside each block of equal scores the grades are put in ascending order for the lowest value and in descending order
    for the highest; no other order gives more or less, because the discount falls with the rank. From 0 to 1, both
    equal to nDCG@k where scores differ.

    Args:
        hits: the run, deep enough to hold the whole block that crosses rank k.
        judged: the task's judgements.
        k: the cut, at least 1.
        gain: what a grade is worth, as in :func:`analysis.metrics.ranking.ndcg`.

    Returns:
        Two arrays ``(Q,)``; NaN without a relevant document, 0 when nothing is retrieved.

    Source:
        McSherry & Najork (2008), ECIR, on ranking measures with ties; here the extremes instead of their average.
    """
    block, start = _tie_blocks(hits)
    moving = start <= k  # a block that starts deeper cannot reach the top k
    hits, block = hits.rows(moving), block[moving]
    gained = gains(np.nan_to_num(hits.grade), gain=gain)
    ideal = np.where(judged.n_relevant > 0, ideal_dcg(judged, k=k, gain=gain), 0.0)
    weight = discounts(hits.rank, k=k)
    low, high = (
        np.bincount(hits.query, weights=gained[np.lexsort((key, block))] * weight, minlength=hits.n_queries)
        for key in (gained, -gained)
    )
    return TieRange(ratio(low, ideal), ratio(high, ideal))


def language_above(hits: HitTable) -> NDArray[np.int64]:
    """Languages of the non-relevant documents that stand above a query's first relevant one.

    At most the first 10 documents of the list are looked at; without a relevant document in the run, all non-relevant
    ones among them count. Documents that are not in the corpus have no language and are left out.

    Args:
        hits: the run; for a query without any relevant document the counts are there and the caller leaves them out.

    Returns:
        ``(Q, L)`` counts; all 0 when the first document is relevant or nothing is retrieved.

    See Also:
        :func:`analysis.metrics.routes.preference`, which turns sums of these into the language preference.
    """
    first = _pick(hits.rank, hits.first_row(hits.relevant), missing=NEVER)
    above = (hits.rank <= PREFERENCE_DEPTH) & (hits.rank < first[hits.query]) & (hits.language >= 0)
    cell = hits.query[above].astype(np.int64) * hits.n_languages + hits.language[above]
    counts = np.bincount(cell, minlength=hits.n_queries * hits.n_languages)
    return counts.reshape(hits.n_queries, hits.n_languages)


def relation_codes(hits: HitTable, *, queries: Codes, documents: Codes) -> NDArray[np.int8]:
    """What each retrieved document is to its query.

    0 (same concept) when it is relevant or of the query's family; else 1 (sibling) when both have the same sibling
    group; else 2 (related) when both have the same related group; else 3 (unrelated), which is also what a document
    outside the corpus is unless judged relevant.

    Args:
        hits: the run.
        queries: codes ``(Q,)`` of the queries.
        documents: codes ``(M,)`` of the corpus; equal codes mean the same family or group on both sides.

    Returns:
        ``(H,)`` int8 positions in RELATIONS.
    """
    family, sibling, related = (
        _same_code(hits, of_query, of_document) for of_query, of_document in zip(queries, documents, strict=True)
    )
    return np.select([hits.relevant | family, sibling, related], [0, 1, 2], default=3).astype(np.int8)


def relations(hits: HitTable, relation: NDArray[np.int8]) -> Relations:
    """Where the first document of each relation stands, its language, and what stands at rank 1.

    Args:
        hits: the run.
        relation: ``(H,)`` of :func:`relation_codes`.

    Returns:
        See :class:`Relations`; a query that retrieved nothing has ``NEVER``, -1 and False.
    """
    first = np.stack([hits.first_row(relation == code) for code in range(len(RELATIONS))], axis=1)
    at_1 = hits.rank == 1
    outcome = np.full(hits.n_queries, -1, dtype=np.int8)
    outcome[hits.query[at_1]] = relation[at_1]
    return Relations(
        first_rank=_pick(hits.rank, first, missing=NEVER),
        first_language=_pick(hits.language, first, missing=np.int16(-1)),
        outcome_at_1=outcome,
        outcome_same_language=hits.count(at_1 & hits.same_language) > 0,
    )


def discriminated(first_relevant: Ranks, first_of_relation: Ranks, *, has_relevant: Flags) -> Floats:
    """Whether a query's first relevant document stands above the first document of another relation.

    ``1 if first relevant rank < first rank of the relation else 0``. 0 or 1, higher is better; its mean is the
    discrimination accuracy.

    Args:
        first_relevant: ``(..., Q)`` first relevant rank, ``NEVER`` when none is retrieved.
        first_of_relation: ``(..., Q)`` first rank of a sibling, related or unrelated document, ``NEVER`` when none is.
        has_relevant: ``(Q,)`` whether the query has a relevant document at all.

    Returns:
        ``(..., Q)``; NaN without a relevant document. 0 when no relevant document is retrieved, even when none of the
        relation is either: the system did not put the answer above.

    Source:
        MMed-Bench-IR, Task 2.
    """
    return np.where(has_relevant, first_relevant < first_of_relation, np.nan)


def _appearances(top: HitTable) -> NDArray[np.int64]:
    """In how many lists each document of the corpus stands, ``(M,)``."""
    return np.bincount(top.document[top.document >= 0], minlength=top.n_documents)


def _tie_blocks(hits: HitTable) -> tuple[NDArray[np.int64], Ranks]:
    """Number of the block of equal scores that each hit is in, counted over all queries, and the block's first rank."""
    new = _changes(hits.query) | _changes(hits.score)
    block = np.cumsum(new) - 1
    return block, hits.rank[new][block]


def _same_code(hits: HitTable, of_query: NDArray[np.int32], of_document: NDArray[np.int32]) -> Flags:
    """Whether query and document of each hit carry the same code and the document is in the corpus, ``(H,)``."""
    code = of_query[hits.query]
    same = np.zeros(len(code), dtype=bool)
    known = hits.document >= 0
    same[known] = (code[known] >= 0) & (code[known] == of_document[hits.document[known]])
    return same


def _changes(column: NDArray[Any]) -> Flags:
    """Which entries of ``column`` ``(H,)`` differ from the one before; the first always does."""
    changes = np.ones(len(column), dtype=bool)
    changes[1:] = column[1:] != column[:-1]
    return changes


def _pick(column: NDArray[Any], row: NDArray[np.intp], *, missing: Any) -> NDArray[Any]:
    """``column`` ``(H,)`` at each row, ``missing`` where that is -1."""
    picked = np.full(row.shape, missing, dtype=column.dtype)
    picked[row >= 0] = column[row[row >= 0]]
    return picked
