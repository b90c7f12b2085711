"""Facts of a ranking that need the other documents too, counted once when it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.metrics import outcomes
from analysis.metrics.outcomes import RELATIONS
from analysis.metrics.ranking import Judged
from analysis.model import NEVER, Ranking
from analysis.store.read import Store

CUTOFFS = (5, 10, 20, 100)


def codes(values: NDArray[np.object_], known: Mapping[str, int]) -> NDArray[np.int32]:
    """Integer codes of texts; -1 for None and for what is not known."""
    return np.fromiter(
        (known.get(value, -1) if value is not None else -1 for value in values), dtype=np.int32, count=len(values)
    )


def facts(store: Store, task_id: int, *, n_unknown: int = 0) -> Facts:
    """Load once what the facts of every run of a task need; ``n_unknown`` retrieved documents are not stored yet."""
    queries, documents, judgements = store.queries(task_id), store.documents(task_id), store.judgements(task_id)
    tags = tuple(sorted({*queries.language, *(tag for tag in documents.language if tag is not None)}))
    language = {tag: code for code, tag in enumerate(tags)}
    of_queries, of_documents = [], []
    unknown = np.full(n_unknown, -1, dtype=np.int32)
    for name in ("family", "sibling_group", "related_group"):
        ours, theirs = getattr(queries, name), getattr(documents, name)
        known = {
            value: code for code, value in enumerate(sorted({value for value in (*ours, *theirs) if value is not None}))
        }
        of_queries.append(codes(ours, known))
        of_documents.append(np.r_[codes(theirs, known), unknown])
    judged = Judged(
        query=judgements.query,
        grade=judgements.grade,
        language=codes(judgements.language, language).astype(np.int16),
        query_language=codes(queries.language, language).astype(np.int16),
        languages=tags,
    )
    every = store.judgements(task_id, all_grades=True)
    document_language = np.r_[codes(documents.language, language), unknown].astype(np.int16)
    pairs = every.query.astype(np.int64) * len(document_language) + every.document
    return Facts(
        judged=judged,
        languages=tags,
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
        return {
            "query_scores": self._query_scores(hits),
            "language_above": self._language_above(hits),
            "concentration": {
                "k": np.array(CUTOFFS, dtype=np.int32),
                "distinct_documents": np.array(
                    [outcomes.distinct_documents(hits, k=k) for k in CUTOFFS], dtype=np.int32
                ),
                "largest_document_share": np.array([outcomes.largest_document_share(hits, k=k) for k in CUTOFFS]),
            },
        }

    def _hits(self, ranking: Ranking) -> outcomes.HitTable:
        pair = ranking.query.astype(np.int64) * len(self.document_language) + ranking.document
        place = np.minimum(np.searchsorted(self.pairs, pair), max(len(self.pairs) - 1, 0))
        known = self.pairs[place] == pair if len(self.pairs) else np.zeros(len(pair), dtype=bool)
        grade = np.where(known, self.grades[place] if len(self.pairs) else np.nan, np.nan)
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

    def _query_scores(self, hits: outcomes.HitTable) -> dict[str, Any]:
        low, high = outcomes.tie_range_ndcg(hits, self.judged, k=10)
        columns: dict[str, Any] = {
            "query": np.arange(self.judged.n_queries, dtype=np.int32),
            "depth": outcomes.query_depth(hits),
            "tied_at_10": outcomes.tied_at(hits, k=10),
            "ndcg_at_10_low": low,
            "ndcg_at_10_high": high,
        }
        for k in CUTOFFS:
            columns[f"judged_at_{k}"] = outcomes.judged_at(hits, k=k)
            columns[f"same_language_at_{k}"] = outcomes.same_language_share(hits, k=k)
            columns[f"same_language_irrelevant_at_{k}"] = outcomes.same_language_irrelevant_share(hits, k=k)
        return columns | self._relations(hits)

    def _relations(self, hits: outcomes.HitTable) -> dict[str, Any]:
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
