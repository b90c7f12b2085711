"""Friedman, Nemenyi and the agreement of orders against scipy, tables and hand calculations."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats import ranks

_ = np.nan


def test_friedman_equals_scipy_on_the_complete_queries():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 4, (5, 60)) / 3
    scores[2, :9] = _
    found = ranks.friedman(scores)
    theirs = stats.friedmanchisquare(*scores[:, 9:])
    assert (found.statistic, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert (found.df, found.n) == (4, 51)
    assert found.average_ranks.sum() == pytest.approx(5 * 6 / 2)


def test_friedman_by_hand():
    # Ranks: a 1, 1, 1; b 2, 2, 3; c 3, 3, 2. 12/(3·3·4) (9 + 49 + 64) - 3·3·4 = 14/3.
    found = ranks.friedman(np.array([[0.9, 0.8, 0.7], [0.5, 0.4, 0.1], [0.1, 0.2, 0.3]]))
    assert found.statistic == pytest.approx(14 / 3)
    assert found.average_ranks == pytest.approx([1, 7 / 3, 8 / 3])


@pytest.mark.parametrize("scores", [np.zeros((2, 9)), np.full((3, 4), 0.5), np.full((3, 4), _), np.empty((3, 0))])
def test_friedman_is_undefined(scores):
    assert ranks.friedman(scores) is None


@pytest.mark.parametrize(("systems", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_is_demsars_table(systems, q):
    expected = q * np.sqrt(systems * (systems + 1) / (6 * 30))
    assert ranks.critical_difference(systems, 30) == pytest.approx(expected, rel=5e-4)


def test_bars_join_what_is_near():
    average = np.array([4.0, 1.0, 1.6, 2.4, 4.1])
    assert ranks.joined(average, difference=1.0) == ((1, 2), (2, 3), (0, 4))
    assert ranks.joined(average, difference=0.05) == ()
    assert ranks.joined(average, difference=9.0) == ((1, 2, 3, 0, 4),)


def test_order_agreement():
    first, second = [0.9, 0.5, 0.5, 0.1], [0.8, 0.9, 0.3, 0.2]
    assert ranks.spearman(first, second) == pytest.approx(stats.pearsonr([4, 2.5, 2.5, 1], [3, 4, 2, 1]).statistic)
    # Pairs: 4 concordant, 1 discordant, 1 tied in the first. tau-b = 3 / sqrt(5 · 6).
    assert ranks.kendall(first, second) == pytest.approx(3 / np.sqrt(5 * 6))
    assert np.isnan(ranks.spearman(first, [1, 1, 1, 1]))
    assert np.isnan(ranks.kendall([], []))
