import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats.permutation import sign_flip_p, sign_flip_ps


def by_hand(differences):
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(value >= observed - 1e-12 for value in sums) / len(sums)


def test_three_equal_differences():
    assert sign_flip_p(np.array([1.0, 1.0, 1.0]), seed=0) == 2 / 8  # all up or all down


def test_identical_scores_have_p_1():
    assert sign_flip_p(np.zeros(5), seed=0) == 1
    assert sign_flip_p(np.zeros(50), seed=0) == 1


def test_missing_families_are_left_out_and_none_is_nan():
    assert sign_flip_p(np.array([1.0, np.nan, 1.0, 1.0]), seed=0) == 2 / 8
    assert np.isnan(sign_flip_p(np.array([np.nan]), seed=0))


@settings(max_examples=30)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_exact_equals_enumeration(values):
    assert sign_flip_p(np.array(values, float), seed=0) == pytest.approx(by_hand(values))


def test_scipy_agrees_where_every_assignment_is_tried():
    rng = np.random.default_rng(3)
    differences = rng.normal(0.4, 1, 11)
    theirs = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
    )
    assert sign_flip_p(differences, seed=0) == pytest.approx(theirs.pvalue)


def test_drawn_and_exact_agree():
    rng = np.random.default_rng(5)
    thirteen = rng.normal(0.3, 1, 13)
    exact = sign_flip_p(thirteen, seed=0)
    drawn = sign_flip_p(np.append(thirteen, 0.0), seed=1)  # a tie more changes nothing but the method
    assert drawn == pytest.approx(exact, abs=0.015)


def test_under_an_exact_null_p_is_uniform():
    rng = np.random.default_rng(11)
    ps = [sign_flip_p(rng.choice([-1, 1], 20) * rng.random(20), seed=n, resamples=400) for n in range(300)]
    assert stats.kstest(ps, "uniform").pvalue > 0.001


def test_columns_share_signs_and_equal_single_tests():
    rng = np.random.default_rng(12)
    columns = rng.normal(0.1, 1, (40, 4))
    columns[9:, 1] = np.nan  # nine units: exact
    columns[:, 2] = 2 * columns[:, 0]
    columns[:, 3] = np.nan
    found = sign_flip_ps(columns, seed=3)
    assert found[0] == sign_flip_p(columns[:, 0], seed=3) == found[2]
    assert found[1] == sign_flip_p(columns[:9, 1], seed=99)
    assert np.isnan(found[3])
    assert sign_flip_ps(np.empty((5, 0)), seed=3).shape == (0,)


def test_drawn_signs_agree_with_the_normal_limit():
    rng = np.random.default_rng(13)
    columns = rng.normal(0.12, 1, (400, 3))
    z = columns.sum(axis=0) / np.sqrt((columns**2).sum(axis=0))
    assert sign_flip_ps(columns, seed=1) == pytest.approx(2 * stats.norm.sf(np.abs(z)), abs=0.015)
