import numpy as np
import pytest
from scipy import stats

from analysis.geometry import hubness


def planted(n_documents=20, n_queries=40, k=10):
    """Document 3 stands in every list; the other nine places go round the others."""
    others = [document for document in range(n_documents) if document != 3]
    rest = [[others[(query * (k - 1) + place) % len(others)] for place in range(k - 1)] for query in range(n_queries)]
    return np.array([[3, *documents] for documents in rest]).ravel()


def test_a_planted_hub_is_the_only_one():
    counts = hubness.appearances(planted(), n_documents=20)
    assert counts[3] == 40
    assert counts.sum() == 400
    assert hubness.hubs(counts).tolist() == [3]


def test_the_skewness_is_the_one_of_scipy():
    counts = hubness.appearances(planted(), n_documents=20)
    assert hubness.skewness(counts) == pytest.approx(stats.skew(counts))
    assert hubness.skewness(counts) > 3


def test_by_hand():
    """0, 0, 0, 4: mean 1, squares 1 + 1 + 1 + 9, cubes -3 + 27."""
    assert hubness.skewness(np.array([0, 0, 0, 4])) == pytest.approx((24 / 4) / (12 / 4) ** 1.5)


def test_documents_that_come_up_alike_have_no_hub_and_no_skewness():
    counts = np.full(7, 5)
    assert not len(hubness.hubs(counts))
    assert np.isnan(hubness.skewness(counts))


def test_the_most_frequent_hub_comes_first():
    counts = np.array([*[1] * 60, 40, 50])
    assert hubness.hubs(counts).tolist() == [61, 60]


def test_documents_outside_the_corpus_are_passed_over_and_those_never_shown_count():
    assert hubness.appearances(np.array([0, 0, 2, 5, -1]), n_documents=4).tolist() == [2, 0, 1, 0]


def test_an_empty_corpus():
    counts = hubness.appearances(np.array([], dtype=np.int32), n_documents=0)
    assert not len(hubness.hubs(counts))
    assert np.isnan(hubness.skewness(counts))


def test_the_skewness_of_moments_is_that_of_the_counts():
    counts = np.array([0, 0, 1, 4, 2, 0])
    moments = [(counts**power).mean() for power in (1, 2, 3)]
    assert hubness.skewness_of_moments(*moments) == pytest.approx(hubness.skewness(counts))
    assert np.isnan(hubness.skewness_of_moments(2.0, 4.0, 8.0))
