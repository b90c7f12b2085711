"""Facts of a ranking that need the other documents too, counted once when it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.metrics import outcomes
from analysis.metrics.outcomes import RELATIONS
from analysis.metrics.ranking import Judged
from analysis.model import NEVER, Ranking
from analysis.store.read import Store

CUTOFFS = (5, 10, 20, 100)
NEAR = max(CUTOFFS) + 1  # one deeper, to see whether the last cut goes through a tie
ROWS = 2**22  # of a ranking that are looked at at once
SIEVE = 22  # bits of a judged pair that are looked at before the pair is: 4 million places


def _texts(values: NDArray[np.object_]) -> pa.Array:
    return pa.array(values, pa.string())


def codes(texts: pa.Array, known: pa.Array) -> NDArray[np.int32]:
    """Positions of texts in ``known``; -1 for null and for what is not known."""
    found = pc.index_in(texts, value_set=known, skip_nulls=True)
    position: NDArray[np.int32] = pc.fill_null(found, -1).to_numpy(zero_copy_only=False)
    return position.astype(np.int32)


def _sieved(pair: NDArray[np.int64]) -> NDArray[np.intp]:
    """A place in the sieve for each pair: upper bits of a product that mixes all of its bits (Fibonacci hashing)."""
    mixed = pair.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(64 - SIEVE)).astype(np.intp)


def facts(store: Store, task_id: int, *, n_unknown: int = 0) -> Facts:
    """Load once what the facts of every run of a task need; ``n_unknown`` retrieved documents are not stored yet."""
    queries, documents, judgements = store.queries(task_id), store.documents(task_id), store.judgements(task_id)
    spoken, written = _texts(queries.language), _texts(documents.language)
    language = pa.chunked_array([spoken, written]).unique().drop_null().sort()
    of_queries, of_documents = [], []
    unknown = np.full(n_unknown, -1, dtype=np.int32)
    for name in ("family", "sibling_group", "related_group"):
        ours, theirs = _texts(getattr(queries, name)), _texts(getattr(documents, name))
        known = pa.chunked_array([ours, theirs]).unique()
        of_queries.append(codes(ours, known))
        of_documents.append(np.r_[codes(theirs, known), unknown])
    judged = Judged(
        query=judgements.query,
        grade=judgements.grade,
        language=codes(_texts(judgements.language), language).astype(np.int16),
        query_language=codes(spoken, language).astype(np.int16),
        languages=tuple(language.to_pylist()),
    )
    every = store.judgements(task_id, all_grades=True)
    document_language = np.r_[codes(written, language), unknown].astype(np.int16)
    pairs = every.query.astype(np.int64) * len(document_language) + every.document
    return Facts(
        judged=judged,
        languages=judged.languages,
        document_language=document_language,
        query_keys=outcomes.Codes(*of_queries),
        document_keys=outcomes.Codes(*of_documents),
        pairs=pairs,
        grades=every.grade,
    )


@dataclass(frozen=True)
class Facts:
    """What is needed to count the facts of any run of one task."""

    judged: Judged
    languages: tuple[str, ...]
    document_language: NDArray[np.int16]  # (M,), -1 for a document absent from the corpus
    query_keys: outcomes.Codes  # (Q,) each
    document_keys: outcomes.Codes  # (M,) each
    pairs: NDArray[np.int64]  # every judged pair, sorted: query x M + document
    grades: NDArray[np.float64]  # of those pairs, also 0 and below

    def of(self, ranking: Ranking) -> dict[str, dict[str, Any]]:
        """The columns that ``Writer.add_run`` stores: query_scores, language_above and concentration."""
        hits = self._hits(ranking)
        near = hits.top(NEAR)
        return {
            "query_scores": self._query_scores(hits, near),
            "language_above": self._language_above(near),
            "concentration": {
                "k": np.array(CUTOFFS, dtype=np.int32),
                "distinct_documents": np.array(
                    [outcomes.distinct_documents(near, k=k) for k in CUTOFFS], dtype=np.int32
                ),
                "largest_document_share": np.array([outcomes.largest_document_share(near, k=k) for k in CUTOFFS]),
            },
        }

    def _grades(self, ranking: Ranking) -> NDArray[np.float64]:
        """Grade of each row, ``(H,)``; NaN where nobody judged it. Few rows pass the sieve, so few pairs are sought."""
        sieve = np.zeros(1 << SIEVE, dtype=bool)
        sieve[_sieved(self.pairs)] = True
        grade = np.full(len(ranking.query), np.nan)
        for start in range(0, len(grade), ROWS):
            some = slice(start, start + ROWS)
            pair = ranking.query[some].astype(np.int64) * len(self.document_language) + ranking.document[some]
            rows = np.flatnonzero(sieve[_sieved(pair)])
            place = np.searchsorted(self.pairs, pair[rows])
            place[place == len(self.pairs)] = 0  # beyond the last one; there is one where a row passed
            judged = self.pairs[place] == pair[rows]
            grade[start + rows[judged]] = self.grades[place[judged]]
        return grade

    def _hits(self, ranking: Ranking) -> outcomes.HitTable:
        grade = self._grades(ranking)
        return outcomes.HitTable(
            query=ranking.query,
            rank=ranking.rank(),
            document=ranking.document,
            score=ranking.score,
            grade=grade,
            language=self.document_language[ranking.document],
            n_queries=self.judged.n_queries,
            query_language=self.judged.query_language,
            n_languages=len(self.languages),
            n_documents=len(self.document_language),
        )

    def _query_scores(self, hits: outcomes.HitTable, near: outcomes.HitTable) -> dict[str, Any]:
        """``near``: the same hits cut at NEAR, which most facts look at."""
        is_deep_tie = outcomes.tied_at(near, k=NEAR - 1).any()
        low, high = outcomes.tie_range_ndcg(hits if is_deep_tie else near, self.judged, k=10)
        columns: dict[str, Any] = {
            "query": np.arange(self.judged.n_queries, dtype=np.int32),
            "depth": outcomes.query_depth(hits),
            "tied_at_10": outcomes.tied_at(near, k=10),
            "ndcg_at_10_low": low,
            "ndcg_at_10_high": high,
        }
        for k in CUTOFFS:
            columns[f"judged_at_{k}"] = outcomes.judged_at(near, k=k)
            columns[f"same_language_at_{k}"] = outcomes.same_language_share(near, k=k)
            columns[f"same_language_irrelevant_at_{k}"] = outcomes.same_language_irrelevant_share(near, k=k)
        return columns | self._relations(hits)

    def _telling(self, hits: outcomes.HitTable) -> NDArray[np.bool_]:
        """Rows ``(H,)`` among which the first document of each relation stands.

        All that may be related to their query; of the rest, which is most of a ranking, those near the top, or all
        where everything there is related.
        """
        related = hits.relevant
        for ours, theirs in zip(self.query_keys, self.document_keys, strict=True):
            if (ours >= 0).any() and (theirs >= 0).any():
                related |= ours[hits.query] == theirs[hits.document]
        near = hits.rank <= NEAR
        has_unrelated = np.zeros(hits.n_queries, dtype=bool)
        has_unrelated[hits.query[near & ~related]] = True
        return np.asarray(related | near | ~has_unrelated[hits.query])

    def _relations(self, hits: outcomes.HitTable) -> dict[str, Any]:
        hits = hits.rows(self._telling(hits))
        relation = outcomes.relation_codes(hits, queries=self.query_keys, documents=self.document_keys)
        first = outcomes.relations(hits, relation)
        tags = np.array([*self.languages, None], dtype=object)  # code -1 picks the None
        names = np.array([*RELATIONS, None], dtype=object)
        columns: dict[str, Any] = {
            "outcome_at_1": names[first.outcome_at_1],
            "outcome_at_1_same_language": np.ma.masked_array(first.outcome_same_language, mask=first.outcome_at_1 < 0),
        }
        for code, name in enumerate(RELATIONS[1:], start=1):
            ranks = first.first_rank[:, code]
            columns[f"first_{name}_rank"] = np.where(ranks == NEVER, np.nan, ranks)
            columns[f"first_{name}_language"] = tags[first.first_language[:, code]]
        return columns

    def _language_above(self, hits: outcomes.HitTable) -> dict[str, Any]:
        counts = outcomes.language_above(hits)
        counts[self.judged.n_relevant == 0] = 0  # nothing could have stood above an answer that does not exist
        query, language = np.nonzero(counts)
        return {
            "query": query.astype(np.int32),
            "language": np.array(self.languages, dtype=object)[language],
            "count": counts[query, language].astype(np.int32),
        }
