"""BCa intervals against scipy, against a literal slow version, and on the cases that leave them undefined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats import bca, bootstrap

_ = np.nan


def resampled(values, family, language=None, *, resamples=2000, seed=1, unit="joint"):
    family = np.asarray(family)
    language = np.zeros(len(family), dtype=int) if language is None else np.asarray(language)
    strata = (
        bootstrap.Strata(family, bootstrap.family_draws(family.max() + 1, resamples=resamples, seed=seed))
        if unit == "joint"
        else bootstrap.stratified_draws(family, language, resamples=resamples, seed=seed)
    )
    return bca.resampled_balanced(
        np.atleast_2d(values), family=family, strata=strata, language=language, n_languages=language.max() + 1
    )


def literal_mean(values, language):
    """Mean of the languages' means, without what is NaN."""
    spoken = [values[(language == code) & ~np.isnan(values)] for code in np.unique(language)]
    means = [own.mean() for own in spoken if len(own)]
    return np.mean(means) if means else _


def literal_bca(values, family, language, draws, level):
    """Efron & Tibshirani (1993), chapter 14, one step after the other; rows are copied."""
    estimate = literal_mean(values, language)
    drawn = []
    for weights in draws:
        rows = np.repeat(np.arange(len(values)), weights[family])
        drawn.append(literal_mean(values[rows], language[rows]))
    drawn = np.array(drawn)[~np.isnan(drawn)]
    inside = np.unique(family[~np.isnan(values)])
    without = np.array([literal_mean(values[family != left], language[family != left]) for left in inside])
    apart = without.mean() - without
    a = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    z0 = stats.norm.ppf(np.mean(drawn < estimate - 1e-12) + np.mean(np.abs(drawn - estimate) <= 1e-12) / 2)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + stats.norm.ppf(tail)
        ends.append(np.quantile(drawn, stats.norm.cdf(z0 + z / (1 - a * z))))
    return ends


def sample(kind, n=80):
    rng = np.random.default_rng(6)
    return {
        "beta": rng.beta(0.5, 1.5, size=n),
        "binary": (rng.random(n) < 0.1).astype(float),
        "skewed": rng.exponential(size=n) ** 2,
    }[kind]


@pytest.mark.parametrize("kind", ["beta", "binary", "skewed"])
def test_equals_scipy_on_the_draws_of_scipy(kind):
    values, alone = sample(kind), np.zeros(80, dtype=int)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=4000, method="BCa", rng=np.random.default_rng(8))
    left_out = bca.leave_one_out(values[np.newaxis], family=np.arange(80), language=alone, n_languages=1)
    drawn = theirs.bootstrap_distribution[:, np.newaxis]
    low, high, is_bca = bca.interval(bca.Resampled(np.array([values.mean()]), drawn, left_out))
    assert is_bca[0]
    assert (low[0], high[0]) == pytest.approx(theirs.confidence_interval, rel=1e-9)
    plain = np.quantile(drawn, [0.025, 0.975])
    assert np.abs(plain - theirs.confidence_interval).max() > 1e-3  # the correction is there


@pytest.mark.parametrize("kind", ["beta", "binary"])
def test_equals_scipy_with_one_query_a_family_and_one_language(kind):
    values = sample(kind)
    low, high, is_bca = bca.interval(resampled(values, np.arange(80), resamples=40_000))
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method="BCa", rng=np.random.default_rng(8)
    ).confidence_interval
    # A 2.5 % quantile of 40,000 draws has a standard error of about 1.5 % of a standard error of the mean, two such
    # meet here; 0/1 data come in steps of 1/80.
    tolerance = 0.08 * values.std() / np.sqrt(80) + (1 / 80 if kind == "binary" else 0)
    assert is_bca.all()
    assert [low[0], high[0]] == pytest.approx([theirs.low, theirs.high], abs=tolerance)


@pytest.mark.parametrize("unit", ["joint", "stratified"])
def test_equals_the_literal_version(unit):
    rng = np.random.default_rng(9)
    family, language = rng.integers(0, 25, 90), rng.integers(0, 3, 90)
    values = np.stack([rng.random(90), (rng.random(90) < 0.2).astype(float), rng.random(90) ** 4])
    values[1, rng.random(90) < 0.3] = _
    values[2, language == 1] = _
    made = resampled(values, family, language, resamples=300, unit=unit)
    drawn = (
        bootstrap.Strata(family, bootstrap.family_draws(25, resamples=300, seed=1))
        if unit == "joint"
        else bootstrap.stratified_draws(family, language, resamples=300, seed=1)
    )
    for level in (0.8, 0.95):
        low, high, is_bca = bca.interval(made, level=level)
        assert is_bca.all()
        for column, own in enumerate(values):
            inside = [np.unique(family[~np.isnan(own)])]
            without = [literal_mean(own[family != left], language[family != left]) for left in inside[0]]
            np.testing.assert_allclose(made.left_out[inside[0], column], without)
            if unit == "joint":
                expected = literal_bca(own, family, language, drawn.draws, level)
                assert [low[column], high[column]] == pytest.approx(expected)
        if unit == "stratified":  # codes drawn within languages, families leaving whole
            whole = bca.acceleration(made.left_out)
            apart = bca.acceleration(resampled(values, drawn.family, language).left_out)
            assert (np.abs(whole - apart) > 1e-6).any()


def test_joint_intervals_cover_parallel_queries():
    # 100 families asked in four languages, correlated 0.5 within a family. A world is a column: all share the draws.
    rng = np.random.default_rng(16)
    worlds, families, languages = 1000, 100, 4
    shared = rng.exponential(size=(worlds, families, 1)) - 1
    own = rng.normal(size=(worlds, families, languages))
    values = (np.sqrt(0.5) * (shared + own)).reshape(worlds, -1)
    family, language = np.repeat(np.arange(families), languages), np.tile(np.arange(languages), families)
    covered = {}
    for name, drawn in (("joint", family), ("single queries", np.arange(families * languages))):
        low, high, is_bca = bca.interval(resampled(values, drawn, language))
        assert is_bca.all()
        covered[name] = np.mean((low <= 0) & (high >= 0))
    assert 0.93 <= covered["joint"] <= 0.97  # standard error: 0.007
    assert covered["single queries"] < 0.85  # families apart: intervals far too narrow


def test_ratios_and_differences_are_formed_in_every_draw():
    rng = np.random.default_rng(3)
    family = np.arange(40)
    first, second = rng.random((2, 40)), rng.random((2, 40)) + 0.5
    one, other = resampled(first, family, seed=5), resampled(second, family, seed=5)
    ratio = one.with_(other, lambda a, b: a / b)
    np.testing.assert_allclose(ratio.draws, one.draws / other.draws)
    np.testing.assert_allclose(
        ratio.left_out[7], first[:, family != 7].mean(axis=1) / second[:, family != 7].mean(axis=1)
    )
    apart = one.with_(other, lambda a, b: a - b)
    paired = resampled(first - second, family, seed=5)
    np.testing.assert_allclose(bca.interval(apart)[:2], bca.interval(paired)[:2])
    halves = resampled(np.concatenate([first, second]), family, seed=5).split(2)
    for mine, theirs in zip(halves, (one, other), strict=True):
        np.testing.assert_allclose(mine.draws, theirs.draws)
        np.testing.assert_allclose(mine.left_out, theirs.left_out)


def test_undefined_corrections_fall_back_to_the_percentile_interval_and_say_so():
    values = np.array([[0.25, 0.25, 0.25, 0.25], [_, 0.5, _, _], [_, _, _, _], [0.0, 1.0, 0.5, 0.7]])
    made = resampled(values, np.arange(4), resamples=500)
    low, high, is_bca = bca.interval(made)
    assert is_bca.tolist() == [False, False, False, True]
    np.testing.assert_array_equal(low[:3], [0.25, 0.5, _])
    np.testing.assert_array_equal(high[:3], [0.25, 0.5, _])
    assert bca.method_names(is_bca, "joint") == [
        *["percentile-joint, B = 10000 (BCa undefined)"] * 3,
        "bca-joint, B = 10000",
    ]


def test_an_estimate_beyond_every_draw_falls_back():
    # The estimate is above all draws: z0 is infinite.
    made = bca.Resampled(np.array([5.0]), np.linspace(0, 1, 101)[:, np.newaxis], np.array([[4.0], [5.0], [6.5]]))
    low, high, is_bca = bca.interval(made, level=0.9)
    assert not is_bca[0]
    assert (low[0], high[0]) == pytest.approx((0.05, 0.95))


def test_bias_correction_and_acceleration_by_hand():
    draws = np.array([0.0, 1, 1, 2, 3, _])[:, np.newaxis]
    # Of five draws one is below 1 and two tie: (1 + 2/2) / 5.
    assert bca.bias_correction(np.array([1.0]), draws)[0] == pytest.approx(stats.norm.ppf(0.4))
    # Left-out values 0, 0, 3 with mean 1: apart 1, 1, -2. Cubes sum to -6, squares to 6.
    assert bca.acceleration(np.array([[0.0], [0], [_], [3]]))[0] == pytest.approx(-6 / (6 * 6**1.5))
    assert np.isnan(bca.acceleration(np.full((3, 1), 1 / 3))).all()
    assert np.isnan(bca.acceleration(np.array([[_], [2.0]]))).all()


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 2), st.sampled_from([_, 0.0, 0.25, 1.0])), min_size=1, max_size=20
    ),
    st.sampled_from(["joint", "stratified"]),
)
def test_intervals_stay_within_the_values(queries, unit):
    family, language, values = (np.array([query[part] for query in queries]) for part in range(3))
    low, high, is_bca = bca.interval(resampled(values, family, language, resamples=100, unit=unit))
    if np.isnan(values).all():
        assert np.isnan([low[0], high[0]]).all()
        assert not is_bca[0]
    else:
        assert np.nanmin(values) - 1e-12 <= low[0] <= high[0] <= np.nanmax(values) + 1e-12
