import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.stats.effects import rank_biserial, too_few, win_tie_loss

differences = st.lists(st.integers(-5, 5), min_size=1, max_size=30).map(lambda found: np.array(found, float))


def test_win_tie_loss():
    assert win_tie_loss(np.array([0.5, -0.1, 0, np.nan, 1e-17, 0.2])) == (2, 2, 1)


def test_rank_biserial_by_hand():
    # |d| = 1, 2, 2, 4 -> ranks 1, 2.5, 2.5, 4; won 1 + 2.5 + 4 = 7.5 of 10. The zero is left out.
    assert rank_biserial(np.array([1.0, -2, 2, 4, 0])) == pytest.approx((7.5 - 2.5) / 10)
    assert rank_biserial(np.array([0.2, 0.1])) == 1
    assert np.isnan(rank_biserial(np.array([0.0, np.nan])))


@given(differences)
def test_rank_biserial_against_the_signed_ranks_of_wilcoxon(found):
    unequal = found[found != 0]
    if not len(unequal):
        assert np.isnan(rank_biserial(found))
        return
    lost = stats.wilcoxon(unequal, alternative="less", method="approx").statistic  # the rank sum above 0
    total = len(unequal) * (len(unequal) + 1) / 2
    assert rank_biserial(found) == pytest.approx((2 * lost - total) / total)
    assert rank_biserial(-found) == pytest.approx(-rank_biserial(found))


def test_the_backstop_says_what_is_missing():
    assert too_few(pairs=30, families=10, unequal=10) is None
    assert too_few(pairs=29, families=10, unequal=10) == "descriptive only: 29 paired queries, a test needs 30"
    assert "9 families, " in too_few(pairs=300, families=9, unequal=9)
    assert "9 families that differ" in too_few(pairs=300, families=90, unequal=9)
