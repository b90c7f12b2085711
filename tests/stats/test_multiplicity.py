"""Adjusted p against statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from analysis.stats.multiplicity import benjamini_hochberg, holm

tests = st.lists(st.floats(0.0001, 1) | st.sampled_from([0.01, 0.05, 1.0]), min_size=1, max_size=15)


@settings(max_examples=25)
@given(tests)
def test_equal_statsmodels(p):
    p = np.array(p)
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1])


def test_by_hand():
    p = np.array([0.04, 0.01, 0.03])
    assert holm(p) == pytest.approx([0.06, 0.03, 0.06])  # 3 × 0.01; 2 × 0.03; 1 × 0.04, but never below the one before
    assert benjamini_hochberg(p) == pytest.approx([0.04, 0.03, 0.04])  # 3/1 × 0.01; 3/2 × 0.03, but not above 0.04


def test_withheld_tests_do_not_count():
    p = np.array([0.04, np.nan, 0.01])
    np.testing.assert_allclose(holm(p), [0.04, np.nan, 0.02])
    np.testing.assert_allclose(benjamini_hochberg(p), [0.04, np.nan, 0.02])
    assert not len(holm(np.array([])))
