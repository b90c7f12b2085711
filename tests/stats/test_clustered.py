"""The global tax against statsmodels called by hand, and where there is no finite odds ratio."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.genmod.families import Binomial

from analysis.stats.clustered import odds_ratio


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(2)
    n = 900
    family, language, same = rng.integers(0, 60, n), rng.integers(0, 3, n), rng.random(n) < 0.3
    level = rng.normal(0, 0.8, 60)[family] + 0.9 * same - 0.4 * (language == 2)
    hit = rng.random(n) < 1 / (1 + np.exp(-level))
    return pd.DataFrame({"hit": hit.astype(int), "same": same, "language": language, "family": family})


def by_us(rows):
    return odds_ratio(
        rows.hit.to_numpy(), same=rows.same.to_numpy(), language=rows.language.to_numpy(), family=rows.family.to_numpy()
    )


def by_hand(rows):
    fit = smf.glm("hit ~ same + C(language)", rows, family=Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": rows.family}
    )
    name = next(name for name in fit.params.index if name.startswith("same"))
    return np.exp([fit.params[name], *fit.conf_int().loc[name]])


def test_equals_statsmodels(answers):
    found = by_us(answers)
    assert [found.value, found.low, found.high] == pytest.approx(by_hand(answers), rel=1e-6)
    assert found.n == 900
    assert found.left_out == ()
    assert found.reason is None


def test_one_language_by_hand():
    # Same: 3 of 4 found, odds 3. Cross: 1 of 3, odds 1/2. Ratio 6.
    found = odds_ratio(
        np.array([1, 1, 1, 0, 1, 0, 0]), same=np.arange(7) < 4, language=np.zeros(7, int), family=np.arange(7)
    )
    assert found.value == pytest.approx(6)


def test_a_language_without_any_hit_takes_its_rows_along(answers):
    silent = answers.assign(language=3, hit=0).head(100)
    found = by_us(pd.concat([answers, silent]))
    assert found.left_out == (3,)
    assert [found.value, found.low, found.high] == pytest.approx(by_hand(answers), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"same": True}, "all of one route type"),
        ({"family": 1}, "all of one family"),
        ({"hit": 0}, "or none is, in every query language"),
        ({"hit": lambda rows: rows.hit | rows.same}, "every answer in the query's own language is found"),
        ({"hit": lambda rows: rows.hit & rows.same}, "no answer in another language is found"),
        ({"language": lambda rows: rows.same.astype(int)}, "go together"),
    ],
)
def test_no_finite_odds_ratio_has_a_reason(answers, change, reason):
    found = by_us(answers.assign(**change))
    assert (found.value, found.low, found.high) == (None, None, None)
    assert reason in found.reason


def test_separated_data_are_not_given_a_number():
    # In language 0 own answers are always found, in language 1 others never: no table cell is empty by route alone.
    rows = pd.DataFrame(
        {
            "hit": [1, 1, 1, 0, 1, 0, 0, 0],
            "same": [True, True, False, False, True, True, False, False],
            "language": [0, 0, 0, 0, 1, 1, 1, 1],
            "family": range(8),
        }
    )
    found = by_us(rows)
    assert found.value is None
    assert "separated" in found.reason
