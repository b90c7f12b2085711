import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.inter_rater import cohens_kappa as statsmodels_kappa

from analysis.stats.agreement import accuracy, cohen_kappa, gwet_ac1, mean_absolute_error, rank_biased_overlap

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


def test_the_case_of_the_paper_high_agreement_without_kappa():
    # One rater passes all 32, the other all but one: 96.9 % agreement, and nothing beyond chance by Cohen's κ.
    first, second = ["pass"] * 32, ["pass"] * 31 + ["fail"]
    found = accuracy(first, second)
    assert found.value == pytest.approx(0.969, abs=5e-4)
    outside = binomtest(31, 32).proportion_ci(method="wilson")
    assert (found.low, found.high, found.n) == pytest.approx((outside.low, outside.high, 32))
    assert cohen_kappa(first, second) == pytest.approx(0)
    assert gwet_ac1(first, second) == pytest.approx(0.97, abs=5e-3)


def test_kappa_equals_statsmodels_and_ac1_a_hand_calculation():
    table = np.array([[20, 5, 1], [10, 15, 2], [0, 3, 9]])
    pairs = [pair for pair, count in np.ndenumerate(table) for _ in range(count)]
    first, second = zip(*pairs, strict=True)
    assert cohen_kappa(first, second) == pytest.approx(statsmodels_kappa(table).kappa)
    # Shares of the labels over both raters: 56, 50, 24 of 130.
    by_chance = sum(share / 130 * (1 - share / 130) for share in (56, 50, 24)) / 2
    assert gwet_ac1(first, second) == pytest.approx((44 / 65 - by_chance) / (1 - by_chance))


def test_agreement_at_the_edges():
    assert np.isnan(cohen_kappa("aa", "aa"))  # one label throughout
    assert gwet_ac1("aa", "aa") == 1
    assert cohen_kappa("ab", "ba") == pytest.approx(-1)
    assert np.isnan([accuracy("", "").value, cohen_kappa("", ""), gwet_ac1("", ""), mean_absolute_error([], [])]).all()
    assert mean_absolute_error([1, 2, 5], [1, 4, 4]) == 1
    with pytest.raises(ValueError, match="zip"):
        accuracy("ab", "a")


labels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


@given(labels, st.permutations("abc"))
def test_agreement_beyond_chance_does_not_care_who_is_first_or_what_labels_are_called(pairs, names):
    first, second = zip(*pairs, strict=True)
    called = dict(zip("abc", names, strict=True))
    for measure in (cohen_kappa, gwet_ac1):
        value = measure(first, second)
        assert measure(second, first) == pytest.approx(value, nan_ok=True)
        renamed = measure([called[one] for one in first], [called[one] for one in second])
        assert renamed == pytest.approx(value, nan_ok=True)
        assert np.isnan(value) or value <= 1 + 1e-12
        if first == second:
            assert np.isnan(value) or value == pytest.approx(1)


@given(labels)
def test_repeating_every_item_changes_neither(pairs):
    first, second = zip(*pairs, strict=True)
    for measure in (cohen_kappa, gwet_ac1):
        assert measure(first * 2, second * 2) == pytest.approx(measure(first, second), nan_ok=True)
