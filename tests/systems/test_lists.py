from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import StoreError
from analysis.model import Ranking
from analysis.systems import lists
from analysis.systems.lists import aside, by_queries, joined
from analysis.systems.rerank import merge

LENGTHS = st.lists(st.integers(0, 5), max_size=8)


def ranking_of(lengths):
    """Queries with lists of these lengths; every row tells its place."""
    query = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    return Ranking(query, np.arange(len(query), dtype=np.int32) * 7 % 11, -np.arange(len(query), dtype=np.float64), 5)


def rows(ranking):
    return [column.tolist() if isinstance(column, np.ndarray) else column for column in astuple(ranking)]


@given(LENGTHS, LENGTHS, st.integers(1, 12))
def test_what_was_taken_apart_is_put_together_again(some, others, most):
    both = [ranking_of(some), ranking_of(others)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists, "ROWS", most)
        parts = list(by_queries(both))
    for place, whole in enumerate(both):
        assert rows(joined([part[place] for part in parts], depth=5)) == rows(whole)
    for one, two in parts:
        of = {*one.query.tolist(), *two.query.tolist()}
        assert len(one.query) + len(two.query) <= most or len(of) == 1  # no query is cut in two


@given(LENGTHS)
def test_ranks_begin_with_each_query(lengths):
    assert ranking_of(lengths).rank().tolist() == [rank for n in lengths for rank in range(1, n + 1)]


@given(LENGTHS, st.integers(1, 12), st.integers(1, 6), st.data())
def test_a_second_stage_puts_some_queries_at_a_time_in_the_order_of_all(lengths, most, depth, data):
    first = ranking_of(lengths)
    scores = st.sampled_from([np.nan, 0.0, 0.5, 2.0])
    second = np.array(data.draw(st.lists(scores, min_size=len(first.query), max_size=len(first.query))), np.float64)
    order = np.arange(11, dtype=np.int32)
    whole = merge(first, second=second, depth=depth, tie_order=order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists, "ROWS", most)
        parts = merge(first, second=second, depth=depth, tie_order=order)
    assert rows(parts.ranking) == rows(whole.ranking)
    np.testing.assert_array_equal(parts.first_score, whole.first_score)
    np.testing.assert_array_equal(parts.second_score, whole.second_score)


def test_a_long_ranking_is_put_into_files_that_go_with_it(tmp_path, monkeypatch):
    short = ranking_of([3, 0, 2])
    assert aside(short, tmp_path) is short
    monkeypatch.setattr(lists, "HELD", short.nbytes - 1)
    kept = aside(short, tmp_path)
    assert rows(kept) == rows(short)
    assert isinstance(kept.score.base, np.memmap)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreError, match="no room for"):
        aside(short, tmp_path / "missing")
