import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.agreement import rank_biased_overlap

lists = st.lists(st.integers(0, 12), unique=True, min_size=1, max_size=10)


def test_same_order_is_one_and_nothing_shared_is_zero():
    assert rank_biased_overlap("abc", "abc") == pytest.approx(1)
    assert rank_biased_overlap("abc", "xyz") == 0


def test_a_hand_calculation():
    # a, b against b, a at p = 0.9: X = 0, 2. (0.1/0.9)(0/1·0.9 + 2/2·0.81) + 2/2·0.81 = 0.09 + 0.81
    assert rank_biased_overlap("ab", "ba") == pytest.approx(0.9)


def test_lists_of_unequal_length_by_hand():
    # a against a, b: s = 1, l = 2, X = 1, 1. Sum: 1·0.9 + 1/2·0.81, and 1·(2−1)/(1·2)·0.81 = 0.405.
    # (0.1/0.9)(0.9 + 0.405 + 0.405) + ((1 − 1)/2 + 1/1)·0.81 = 0.19 + 0.81
    assert rank_biased_overlap("a", "ab") == pytest.approx(1)


def test_an_empty_list_has_no_overlap():
    assert rank_biased_overlap([], "abc") is None


@given(lists, lists)
def test_symmetric_and_between_zero_and_one(first, second):
    overlap = rank_biased_overlap(first, second)
    assert overlap == pytest.approx(rank_biased_overlap(second, first))
    assert -1e-12 <= overlap <= 1 + 1e-12


@given(lists, st.floats(0.5, 0.98))
def test_a_list_agrees_with_itself(items, p):
    assert rank_biased_overlap(items, items, p=p) == pytest.approx(1)
