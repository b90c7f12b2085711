"""Route measures on literal data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.metrics import routes
from analysis.metrics.ranking import Judged, recall
from analysis.model import NEVER

EN, FR = 0, 1

# q0 (en): en at 1, en missed, fr at 12 | q1 (fr): en at 2, fr at 11 | q2 (fr): only en, at 5 (no home)
# q3 (en): en at 3 and one dangling document | q4 (en): grade 0 only | q5 (fr): nobody judged it
JUDGED = Judged(
    query=np.array([0, 0, 0, 1, 1, 2, 3, 3, 4], dtype=np.int32),
    grade=np.array([1, 2, 1, 1, 1, 1, 1, 1, 0], dtype=np.float64),
    language=np.array([EN, EN, FR, EN, FR, EN, EN, -1, EN], dtype=np.int16),
    query_language=np.array([EN, FR, FR, EN, EN, FR], dtype=np.int16),
    languages=("en", "fr"),
)
RANKS = np.array([[1, NEVER, 12, 2, 11, 5, 3, NEVER, 1]], dtype=np.int32)
_ = np.nan


def test_same_and_cross_have_their_own_domains():
    np.testing.assert_array_equal(routes.recall_same(JUDGED, RANKS, k=10), [[1 / 2, 0, _, 1, _, _]])
    np.testing.assert_array_equal(routes.recall_cross(JUDGED, RANKS, k=10), [[0, 1, 1, _, _, _]])
    assert routes.both_gold(JUDGED).tolist() == [True, True, False, False, False, False]


def test_a_dangling_document_is_relevant_but_neither_same_nor_cross():
    assert JUDGED.n_relevant.tolist() == [3, 2, 1, 2, 0, 0]
    assert recall(JUDGED, RANKS, k=10)[0, 3] == 1 / 2
    assert routes.n_by_language(JUDGED).tolist() == [[2, 1], [1, 1], [1, 0], [1, 0], [0, 0], [0, 0]]


def test_recall_by_language():
    expected = [[[1 / 2, 0], [1, 0], [1, _], [1, _], [_, _], [_, _]]]
    np.testing.assert_array_equal(routes.recall_by_language(JUDGED, RANKS, k=10), expected)


def test_cells_are_means_over_the_queries_that_have_such_a_document():
    cells = routes.route_cells(JUDGED, routes.recall_by_language(JUDGED, RANKS, k=10))
    np.testing.assert_array_equal(cells, [[[(1 / 2 + 1) / 2, 0], [1, 0]]])
    assert routes.route_counts(JUDGED).tolist() == [[2, 1], [2, 1]]


def test_first_rank():
    assert routes.first_rank(JUDGED, RANKS, which="same").tolist() == [[1, 11, NEVER, 3, NEVER, NEVER]]
    assert routes.first_rank(JUDGED, RANKS, which="cross").tolist() == [[12, 2, 5, NEVER, NEVER, NEVER]]
    first = routes.first_rank(JUDGED, RANKS, which="any")
    assert first.tolist() == [[1, 2, 5, 3, NEVER, NEVER]]
    assert first.dtype == np.int32


def test_jbc_needs_both_inside_the_top():
    np.testing.assert_array_equal(routes.jbc(JUDGED, RANKS, k=11), [[0, 1, _, _, _, _]])
    np.testing.assert_array_equal(routes.jbc(JUDGED, RANKS, k=12), [[1, 1, _, _, _, _]])


def test_retention_needs_a_sound_diagonal():
    cells = np.array([[[0.8, 0.2, _], [0.1, 0.04, 0.3], [0.5, 0.5, _]], [[0.4, 0.6, _], [0.1, 0.05, 0.1], [0, 0, _]]])
    counts = np.array([[30, 10, 0], [40, 30, 30], [30, 30, 0]])
    blank = [_, _, _]
    expected = [[[1, 1 / 4, _], blank, blank], [[1, 3 / 2, _], [2, 1, 2], blank]]
    np.testing.assert_allclose(routes.retention(cells, counts), expected)
    few = np.array([[29, 30, 30], [30, 30, 30], [30, 30, 30]])
    assert np.isnan(routes.retention(cells, few)[:, 0]).all()


def test_language_transfer_and_degeneracy():
    same, cross = np.array([0.8, 0.0, 0.5, _]), np.array([0.4, 0.0, 0.6, _])
    np.testing.assert_allclose(routes.language_transfer(same, cross), [50, _, 120, _])
    assert routes.degenerate(np.array([0.0999, 0.1, _])).tolist() == [True, False, False]


def test_preference_is_relative_to_the_corpus():
    counts = np.array([[[6, 2], [0, 0]], [[1, 1], [3, 0]]])
    expected = [[[(6 / 8) / 0.75, (2 / 8) / 0.25], [_, _]], [[(1 / 2) / 0.75, (1 / 2) / 0.25], [1 / 0.75, 0]]]
    np.testing.assert_allclose(routes.preference(counts, np.array([0.75, 0.25])), expected)
    assert np.isnan(routes.preference(counts, np.array([1.0, 0.0]))[..., 1]).all()


def test_nothing_retrieved_and_nothing_judged():
    nothing = np.full_like(RANKS, NEVER)
    np.testing.assert_array_equal(routes.recall_same(JUDGED, nothing, k=10), [[0, 0, _, 0, _, _]])
    np.testing.assert_array_equal(routes.jbc(JUDGED, nothing, k=10), [[0, 0, _, _, _, _]])
    empty = JUDGED.rows(np.zeros(len(JUDGED.query), dtype=bool))
    none = RANKS[:, :0]
    assert np.isnan(routes.recall_cross(empty, none, k=10)).all()
    assert np.isnan(routes.recall_by_language(empty, none, k=10)).all()
    assert np.isnan(routes.route_cells(empty, routes.recall_by_language(empty, none, k=10))).all()
    assert not routes.both_gold(empty).any()
    assert routes.route_cells(empty, routes.recall_by_language(empty, none[:0], k=10)).shape == (0, 2, 2)


rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(-1, 2), st.integers(1, 15)), max_size=25)


@settings(max_examples=100)
@given(rows=rows, query_language=st.lists(st.integers(0, 2), min_size=4, max_size=4), k=st.integers(1, 12))
def test_recall_is_put_together_from_same_cross_and_languages(rows, query_language, k):
    rows = sorted(rows)
    columns = np.array(rows).reshape(-1, 4)
    judged = Judged(
        query=columns[:, 0].astype(np.int32),
        grade=columns[:, 1].astype(np.float64),
        language=np.maximum(columns[:, 2], 0).astype(np.int16),  # nothing dangles
        query_language=np.array(query_language, dtype=np.int16),
        languages=("en", "fr", "ja"),
    )
    ranks = columns[np.newaxis, :, 3].astype(np.int32)
    by_language = routes.recall_by_language(judged, ranks, k=k)[0]
    n = routes.n_by_language(judged)
    found = np.nan_to_num(by_language) * n
    own = np.arange(3) == np.array(query_language)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        assert recall(judged, ranks, k=k)[0] == pytest.approx(found.sum(1) / n.sum(1), nan_ok=True)
        for route, among in ((routes.recall_same, own), (routes.recall_cross, ~own)):
            expected = (found * among).sum(1) / (n * among).sum(1)
            assert route(judged, ranks, k=k)[0] == pytest.approx(expected, nan_ok=True)
