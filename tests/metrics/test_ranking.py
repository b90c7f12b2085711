"""Ranking measures against literal values and against pytrec_eval."""

from math import log2

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import ranking
from analysis.metrics.ranking import Judged
from analysis.model import NEVER

QUERIES = ("q0", "q1", "q2", "q3")
DOCUMENTS = tuple(f"d{i}" for i in range(12))  # d10 sorts before d2: ids are compared as text
CUTS = (1, 2, 3, 5, 10)
MEASURES = {
    **{f"ndcg_cut_{k}": (ranking.ndcg, {"k": k}) for k in CUTS},
    **{f"recall_{k}": (ranking.recall, {"k": k}) for k in CUTS},
    **{f"success_{k}": (ranking.hit, {"k": k}) for k in CUTS},
    **{f"P_{k}": (ranking.precision, {"k": k}) for k in CUTS},
    "recip_rank": (ranking.reciprocal_rank, {}),
    "map": (ranking.average_precision, {}),
}
ASKED = {"recip_rank", "map"} | {
    f"{name}.{','.join(map(str, CUTS))}" for name in ("ndcg_cut", "recall", "success", "P")
}


def rank_of(scores):
    """1-based ranks of one list: score descending, then document id descending."""
    order = sorted(scores, key=lambda document: (scores[document], document), reverse=True)
    return {document: place for place, document in enumerate(order, start=1)}


def judged_of(qrels, languages=("en",)):
    rows = [(query, grade) for query, grades in qrels.items() for grade in grades.values()]
    return Judged(
        query=np.array([QUERIES.index(query) for query, _ in rows], dtype=np.int32),
        grade=np.array([grade for _, grade in rows], dtype=np.float64),
        language=np.zeros(len(rows), dtype=np.int16),
        query_language=np.zeros(len(QUERIES), dtype=np.int16),
        languages=languages,
    )


def ranks_of(qrels, *runs):
    rows = [(query, document) for query, grades in qrels.items() for document in grades]
    ranked = [{query: rank_of(scores) for query, scores in run.items()} for run in runs]
    return np.array(
        [[run.get(query, {}).get(document, NEVER) for query, document in rows] for run in ranked], dtype=np.int32
    )


def one_query(grades, ranks):
    """Judged and ranks of a single query, one system."""
    grades = np.array(grades, dtype=np.float64)
    language = np.zeros(len(grades), dtype=np.int16)
    judged = Judged(np.zeros(len(grades), dtype=np.int32), grades, language, np.zeros(1, dtype=np.int16), ("en",))
    return judged, np.array([ranks], dtype=np.int32)


# Scores are eighths, exact in the single precision that pytrec_eval keeps, and few enough to tie often.
lists = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-4, 4).map(lambda n: n / 8), min_size=1)
runs = st.dictionaries(st.sampled_from(QUERIES), lists, min_size=1)
grade_sets = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 3), min_size=1).filter(
    lambda grades: max(grades.values()) >= 0
)
qrels_sets = st.dictionaries(st.sampled_from(QUERIES), grade_sets, min_size=1).map(lambda q: dict(sorted(q.items())))


@settings(max_examples=150)
@given(qrels=qrels_sets, first=runs, second=runs)
def test_every_measure_equals_pytrec_eval(qrels, first, second):
    judged, ranks = judged_of(qrels), ranks_of(qrels, first, second)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, ASKED)
    outside = [evaluator.evaluate(run) for run in (first, second)]
    for name, (function, arguments) in MEASURES.items():
        values = function(judged, ranks, **arguments)
        for system, theirs in enumerate(outside):
            for position, query in enumerate(QUERIES):
                if judged.n_relevant[position]:  # pytrec_eval omits queries that the run lacks: they are 0
                    expected = theirs.get(query, {}).get(name, 0.0)
                    assert values[system, position] == pytest.approx(expected, abs=1e-9), (name, query)
                else:
                    assert np.isnan(values[system, position]), (name, query)


@settings(max_examples=50)
@given(qrels=qrels_sets, first=runs, second=runs)
def test_systems_do_not_influence_each_other(qrels, first, second):
    judged, both = judged_of(qrels), ranks_of(qrels, first, second)
    for function, arguments in MEASURES.values():
        together = function(judged, both, **arguments)
        alone = [function(judged, both[[system]], **arguments)[0] for system in (0, 1)]
        np.testing.assert_array_equal(together, alone)


def test_negative_and_fractional_grades():
    # J junk -2, A 1, B 2, Z 0; J, A, B retrieved in this order.
    judged, ranks = one_query([-2, 1, 2, 0], [1, 2, 3, NEVER])
    expected = (1 / log2(3) + 2 / 2) / (2 + 1 / log2(3))
    assert ranking.ndcg(judged, ranks, k=10) == pytest.approx(np.array([[expected]]))
    assert ranking.negative_grades(judged) == 1
    # A grade of 0.5 gains, but is neither relevant nor enough to make a query count.
    judged, ranks = one_query([0.5, 1], [1, 2])
    assert ranking.ndcg(judged, ranks, k=10) == pytest.approx(np.array([[(0.5 + 1 / log2(3)) / (1 + 0.5 / log2(3))]]))
    assert ranking.average_precision(judged, ranks).tolist() == [[1 / 2]]
    judged, ranks = one_query([0.5], [1])
    assert np.isnan(ranking.ndcg(judged, ranks, k=10)).all()


def test_exponential_gain():
    judged, ranks = one_query([3, 2, 1, -1], [3, 2, 1, 4])
    expected = (1 + 3 / log2(3) + 7 / 2) / (7 + 3 / log2(3) + 1 / 2)
    assert ranking.ndcg(judged, ranks, k=4, gain="exponential") == pytest.approx(np.array([[expected]]))


def test_ideal_counts_what_nobody_retrieved_and_is_cut_at_k():
    judged, ranks = one_query([1, 3, 2], [1, NEVER, NEVER])
    assert ranking.ndcg(judged, ranks, k=1) == pytest.approx(np.array([[1 / 3]]))
    assert ranking.ndcg(judged, ranks, k=2) == pytest.approx(np.array([[1 / (3 + 2 / log2(3))]]))


def test_recall_hit_and_precision_are_three_things():
    judged, ranks = one_query([1, 1, 1, 1], [1, NEVER, NEVER, NEVER])
    assert ranking.recall(judged, ranks, k=1).tolist() == [[1 / 4]]
    assert ranking.hit(judged, ranks, k=1).tolist() == [[1]]
    assert ranking.precision(judged, ranks, k=10).tolist() == [[1 / 10]]


def test_reciprocal_rank_with_and_without_cut():
    judged, ranks = one_query([1, 0], [4, 1])
    assert ranking.reciprocal_rank(judged, ranks).tolist() == [[1 / 4]]
    assert ranking.reciprocal_rank(judged, ranks, k=4).tolist() == [[1 / 4]]
    assert ranking.reciprocal_rank(judged, ranks, k=3).tolist() == [[0]]


def test_ceiling_falls_with_many_relevant_and_with_dangling_documents():
    judged, _ = one_query([1, 1, 1, 0], [1, 2, 3, 4])
    assert ranking.recall_ceiling(judged, k=1) == pytest.approx([1 / 3])
    assert ranking.recall_ceiling(judged, k=2) == pytest.approx([2 / 3])
    assert ranking.recall_ceiling(judged, k=10).tolist() == [1]
    # Three queries: one of two documents dangles; none dangles; the only one dangles.
    dangling = Judged(
        query=np.array([0, 0, 1, 2], dtype=np.int32),
        grade=np.ones(4),
        language=np.array([0, -1, 0, -1], dtype=np.int16),
        query_language=np.zeros(4, dtype=np.int16),
        languages=("en",),
    )
    np.testing.assert_array_equal(ranking.recall_ceiling(dangling, k=10), [1 / 2, 1, 0, np.nan])
    assert dangling.n_relevant.tolist() == [2, 1, 1, 0]


def test_nothing_relevant_is_nan_and_nothing_retrieved_is_zero():
    judged = judged_of({"q1": {"d0": 0, "d1": -1}, "q2": {"d0": 1, "d1": 2}})  # nobody judged q0 and q3
    nothing = np.full((1, 4), NEVER, dtype=np.int32)
    for function, arguments in MEASURES.values():
        np.testing.assert_array_equal(function(judged, nothing, **arguments), [[np.nan, np.nan, 0, np.nan]])


def test_task_without_judgements_and_no_system():
    judged = judged_of({})
    for function, arguments in MEASURES.values():
        assert np.isnan(function(judged, np.empty((2, 0), dtype=np.int32), **arguments)).all()
        assert function(judged, np.empty((0, 0), dtype=np.int32), **arguments).shape == (0, 4)
    assert np.isnan(ranking.recall_ceiling(judged, k=10)).all()
