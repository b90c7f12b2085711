import numpy as np
import pytest

from analysis.model import Ranking
from analysis.systems.rerank import merge

NAN = float("nan")


def first(*lists):
    query = [q for q, documents in enumerate(lists) for _ in documents]
    document = [d for documents in lists for d in documents]
    score = [0.9 - 0.1 * i for documents in lists for i in range(len(documents))]
    return Ranking(np.array(query, np.int32), np.array(document, np.int32), np.array(score), 10)


def test_the_pool_is_reordered_and_the_rest_follows():
    """Pool of 2; scores beyond it are the lowest re-ranked score less the rank."""
    stages = merge(
        first([7, 5, 3, 1]), second=np.array([0.2, 0.6, NAN, NAN]), depth=10, tie_order=np.arange(8, dtype=np.int32)
    )
    assert stages.ranking.document.tolist() == [5, 7, 3, 1]
    assert stages.ranking.score == pytest.approx([0.6, 0.2, 0.2 - 3, 0.2 - 4])
    assert stages.first_score == pytest.approx([0.8, 0.9, 0.7, 0.6])
    assert stages.second_score == pytest.approx([0.6, 0.2, NAN, NAN], nan_ok=True)


def test_scores_fall_within_every_query_so_that_a_run_file_keeps_the_order():
    second = np.array([1.0, 3.0, 2.0, NAN, -4.0, -5.0, NAN])
    stages = merge(first([0, 1, 2, 3], [3, 2, 1]), second=second, depth=10, tie_order=np.arange(4, dtype=np.int32))
    assert stages.ranking.query.tolist() == [0, 0, 0, 0, 1, 1, 1]
    falls = np.diff(stages.ranking.score) < 0
    assert falls[[0, 1, 2, 4, 5]].all()


def test_ties_in_the_pool_take_the_tie_order():
    stages = merge(first([4, 2, 3]), second=np.array([1.0, 1.0, NAN]), depth=3, tie_order=np.arange(5, dtype=np.int32))
    assert stages.ranking.document.tolist() == [2, 4, 3]


def test_the_cut_comes_after_the_pool():
    stages = merge(first([4, 2, 3]), second=np.array([1.0, 2.0, 3.0]), depth=1, tie_order=np.arange(5, dtype=np.int32))
    assert stages.ranking.document.tolist() == [3]


def test_a_query_that_cannot_be_rescored_keeps_its_order():
    stages = merge(first([4, 2]), second=np.array([NAN, NAN]), depth=5, tie_order=np.arange(5, dtype=np.int32))
    assert stages.ranking.document.tolist() == [4, 2]
    assert stages.ranking.score.tolist() == [-1, -2]
