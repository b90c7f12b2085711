"""Wilson intervals against scipy."""

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.stats.proportion import wilson


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 30), (30, 30), (1, 2), (7, 30), (81, 263)])
def test_equals_scipy(successes, n, level):
    low, high = wilson(successes, n, level=level)
    outside = binomtest(successes, n).proportion_ci(confidence_level=level, method="wilson")
    assert (low, high) == pytest.approx((outside.low, outside.high), abs=1e-12)


def test_a_value_by_hand():
    # With z² = 4 (level 0.9545): p = 1/2, n = 4 -> (1/2 + 1/2 ± 2 sqrt(1/16 + 1/16)) / 2
    low, high = wilson(2, 4, level=0.954499736103642)
    assert (low, high) == pytest.approx(((1 - 2 * 0.125**0.5) / 2, (1 + 2 * 0.125**0.5) / 2))


def test_arrays_and_empty_cells():
    low, high = wilson(np.array([[0, 3], [5, 0]]), np.array([5, 5]))
    assert low.shape == high.shape == (2, 2)
    assert low[0, 0] == 0
    assert high[1, 0] == 1
    low, high = wilson([0, 1], [0, 1])
    np.testing.assert_array_equal(np.isnan(low), [True, False])
    np.testing.assert_array_equal(np.isnan(high), [True, False])
