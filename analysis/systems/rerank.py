"""Two stages: a first system retrieves, a second rescores the top of its ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.model import Corpus, Questions, Ranking
from analysis.systems.entry import Entry
from analysis.systems.late_interaction import LIMIT, Distinct, LateInteraction, maxsim, workers
from analysis.systems.lists import by_queries, joined
from analysis.systems.workbench import Need, System, TokenVectors, Workbench

BATCH = 64
"""Queries rescored between two progress reports."""


@dataclass(frozen=True)
class Stages:
    """A two-stage ranking with the scores it was made of.

    Attributes:
        ranking: its scores fall with the rank: the second stage's where it gave one, after those the lowest of them
            (0 if there is none) less the rank, so that a run file sorted by score keeps the order.
        first_score: ``(H,)`` float64, by the first stage.
        second_score: ``(H,)`` float64, by the second; NaN beyond the pool, or where a text has no token to compare.
    """

    ranking: Ranking
    first_score: NDArray[np.float64]
    second_score: NDArray[np.float64]


class CrossEncoder:
    """A model that reads a query and a document together: a second stage only, as it would have to read every pair."""

    def __init__(self, system: Entry) -> None:
        self.entry = system


class TwoStage:
    """A second stage over the top ``entry.pool`` of a first; beyond it the first stage's order follows.

    Args:
        system: the catalogue's entry.
        first: retrieves.
        second: rescores: late interaction, or a cross-encoder.
    """

    def __init__(self, system: Entry, *, first: System, second: LateInteraction | CrossEncoder) -> None:
        self.entry = system
        self.first = first
        self.second = second

    def needs(self, corpus: Corpus, questions: Questions) -> list[Need]:
        """What the first stage needs, and token vectors; of a large corpus only those of the pools, encoded later."""
        needs = self.first.needs(corpus, questions)
        if isinstance(self.second, CrossEncoder):
            return needs
        self.second.check_languages(corpus, questions)
        pooled = self.second.tokens_of("document", corpus) if len(corpus) <= LIMIT else []
        return [*needs, *self.second.tokens_of("query", questions), *pooled]

    def rank(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
        """The first stage's ranking, its pool rescored; see :class:`~analysis.systems.workbench.System`."""
        return self.stages(corpus, questions, depth=depth, workbench=workbench).ranking

    def stages(self, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Stages:
        """The same with both stages' scores. The first stage is searched at least as deep as the pool."""
        workbench.prepare(self.needs(corpus, questions))
        pool = self.entry.pool or 0
        first = workbench.rank(self.first, corpus, questions, depth=max(depth, pool))
        pooled = np.flatnonzero(first.rank() <= pool)
        second = np.full(len(first.query), np.nan)
        second[pooled] = self._rescore(
            corpus, questions, query=first.query[pooled], document=first.document[pooled], workbench=workbench
        )
        return merge(first, second=second, depth=depth, tie_order=corpus.tie_order)

    def _rescore(
        self,
        corpus: Corpus,
        questions: Questions,
        *,
        query: NDArray[np.int32],
        document: NDArray[np.int32],
        workbench: Workbench,
    ) -> NDArray[np.float64]:
        """The second stage's score of each (query, document) pair, ``(n,)``; rows are sorted by query."""
        step = f"rescore {self.entry.short_title}"
        if isinstance(self.second, CrossEncoder):
            pairs = [(questions.texts[q], corpus.texts[d]) for q, d in zip(query, document, strict=True)]
            return workbench.pair_scores(self.second.entry, pairs, step=step)
        encoder = self.second.encoder
        pooled, back = np.unique(document, return_inverse=True)
        texts, languages = ([column[place] for place in pooled] for column in (corpus.texts, corpus.languages))
        distinct = Distinct.of(encoder, texts, languages)
        where = distinct.group[back]
        documents = distinct.vectors(encoder, workbench)
        asked = workbench.token_vectors(encoder, questions.texts, role="query", languages=questions.languages)
        scores = np.empty(len(query))

        def fill(position: int) -> None:
            rows = slice(*np.searchsorted(query, [position, position + 1]))
            scores[rows] = _maxsim(asked, position, documents=documents, positions=where[rows])

        with workers(workbench.options.cores) as pool:
            for start in range(0, len(questions), BATCH):
                workbench.progress(step, start, len(questions))
                list(pool.map(fill, range(start, min(start + BATCH, len(questions)))))
        workbench.progress(step, len(questions), len(questions))
        return scores


def _maxsim(
    asked: TokenVectors, query: int, *, documents: TokenVectors, positions: NDArray[np.int64]
) -> NDArray[np.float64]:
    """MaxSim of one query with documents of which some may have the same text; NaN where a text has no token."""
    distinct, back = np.unique(positions, return_inverse=True)
    tokens = asked.tokens[asked.offsets[query] : asked.offsets[query + 1]]
    scores = maxsim(tokens, documents.take(distinct))[back].astype(np.float64)
    return np.where(np.isneginf(scores), np.nan, scores)


def merge(first: Ranking, *, second: NDArray[np.float64], depth: int, tie_order: NDArray[np.int32]) -> Stages:
    """Put the rescored rows of a ranking in their new order and give every row a score that falls with its rank.

    Args:
        first: the first stage.
        second: ``(H,)`` the second stage's scores; NaN where it gave none: these rows follow in the first's order.
        depth: most documents a query.
        tie_order: ``(M,)``; of equal scores in the pool the smaller comes first.
    """
    rankings: list[Ranking] = []
    of_first, of_second = [np.zeros(0)], [np.zeros(0)]
    start = 0
    for (lists,) in by_queries([first]):
        stop = start + len(lists.query)
        made = _merged(lists, second[start:stop], depth=depth, tie_order=tie_order)
        rankings.append(made.ranking)
        of_first.append(made.first_score)
        of_second.append(made.second_score)
        start = stop
    return Stages(joined(rankings, depth=depth), np.concatenate(of_first), np.concatenate(of_second))


def _merged(first: Ranking, second: NDArray[np.float64], *, depth: int, tie_order: NDArray[np.int32]) -> Stages:
    rank = first.rank()  # of the sorted rows too, as each stays with its query
    beyond = np.isnan(second)
    settled = np.where(beyond, rank, tie_order[first.document])
    order = np.lexsort((settled, np.where(beyond, 0.0, -second), beyond, first.query))
    kept = order[rank <= depth]
    query = first.query[kept]
    lowest = np.full(int(first.query.max(initial=-1)) + 1, np.inf)
    np.minimum.at(lowest, first.query[~beyond], second[~beyond])
    lowest[np.isinf(lowest)] = 0.0
    score = np.where(beyond[kept], lowest[query] - rank[rank <= depth], second[kept])
    return Stages(Ranking(query, first.document[kept], score, depth), first.score[kept], second[kept])
