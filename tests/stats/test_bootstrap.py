"""The percentile bootstrap against scipy, against copied rows, and on the cases that break averages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats import bootstrap

_ = np.nan


def pooled(values, **drawn):
    return bootstrap.interval_of_draws(bootstrap.pooled_draws(values, **drawn))


def balanced(values, **drawn):
    return bootstrap.interval_of_draws(bootstrap.balanced_draws(values, **drawn))


def copied_rows(values, family, weights):
    """The queries of one draw, each repeated as often as its family was drawn."""
    return np.repeat(values, weights[family].astype(int))


def test_joint_draws_are_counts_of_f_picks():
    draws = bootstrap.family_draws(7, resamples=500, seed=1)
    assert draws.shape == (500, 7)
    assert draws.dtype == np.uint8
    assert (draws.sum(axis=1) == 7).all()
    np.testing.assert_array_equal(draws, bootstrap.family_draws(7, resamples=500, seed=1))
    assert (draws != bootstrap.family_draws(7, resamples=500, seed=2)).any()


def test_draws_in_blocks_are_multinomial(monkeypatch):
    whole = bootstrap.family_draws(5, resamples=4001, seed=3)
    monkeypatch.setattr(bootstrap, "_PICKS_AT_ONCE", 1000)  # 4001 draws of 5 families: 21 blocks
    draws = bootstrap.family_draws(5, resamples=4001, seed=3)
    np.testing.assert_array_equal(draws, whole)  # the size of a block is no part of what a seed means
    assert (draws.sum(axis=1) == 5).all()
    assert draws.mean(axis=0) == pytest.approx(1, abs=0.08)  # sd of a mean: sqrt(0.8 / 4001) = 0.014
    assert draws.var(axis=0) == pytest.approx(5 * (1 / 5) * (4 / 5), abs=0.12)
    assert np.corrcoef(draws.T)[0, 1:] == pytest.approx(-1 / 4, abs=0.08)


def test_fewer_draws_are_the_first_of_more():
    many = bootstrap.family_draws(301, resamples=900, seed=3)
    np.testing.assert_array_equal(bootstrap.family_draws(301, resamples=300, seed=3), many[:300])
    family, language = np.arange(200) // 2, np.arange(200) % 2
    many = bootstrap.stratified_draws(family, language, resamples=700, seed=3).draws
    few = bootstrap.stratified_draws(family, language, resamples=100, seed=3).draws
    np.testing.assert_array_equal(few, many[:100])


def test_stratified_draws_keep_the_size_of_each_language():
    family = np.array([0, 1, 2, 2, 0, 5])
    language = np.array([0, 0, 0, 0, 3, 3])
    strata = bootstrap.stratified_draws(family, language, resamples=300, seed=4)
    assert strata.family.tolist() == [0, 1, 2, 2, 3, 4]  # family 0 is drawn apart in each language
    assert (strata.draws[:, :3].sum(axis=1) == 3).all()
    assert (strata.draws[:, 3:].sum(axis=1) == 2).all()
    assert len(np.unique(strata.draws[:, 3:], axis=0)) == 3
    same_again = bootstrap.stratified_draws(family, language, resamples=300, seed=4)
    np.testing.assert_array_equal(strata.draws, same_again.draws)


def test_method_name():
    assert bootstrap.method_name() == "percentile-joint, B = 2000"
    assert bootstrap.method_name("stratified", 500) == "percentile-stratified, B = 500"


def test_pooled_and_balanced_mean():
    values = np.array([[1, 0, 0, _, 1], [_, _, 0.5, 1, _], [_] * 5])
    language = np.array([0, 0, 0, 0, 2])
    pooled = bootstrap.pooled_mean(values)
    np.testing.assert_allclose(pooled.value, [1 / 2, 3 / 4, _])
    assert pooled.n.tolist() == [4, 2, 0]
    balanced = bootstrap.balanced_mean(values, language=language, n_languages=4)
    np.testing.assert_allclose(balanced.value, [(1 / 3 + 1) / 2, 3 / 4, _])
    assert balanced.n.tolist() == [4, 2, 0]
    means = bootstrap.language_means(values, language=language, n_languages=4)
    np.testing.assert_allclose(means, [[1 / 3, _, 1, _], [3 / 4, _, _, _], [_] * 4])
    np.testing.assert_allclose(bootstrap.max_minus_min(means), [2 / 3, _, _])
    assert bootstrap.pooled_mean(values[0]).value == pytest.approx(1 / 2)  # a single row of queries too


def test_interval_of_draws_is_the_linear_quantile_without_nan():
    rng = np.random.default_rng(5)
    draws = rng.normal(size=(501, 3))
    draws[rng.random(draws.shape) < 0.2] = _
    draws[:, 2] = _
    low, high = bootstrap.interval_of_draws(draws, level=0.9)
    np.testing.assert_allclose(low[:2], np.nanquantile(draws[:, :2], 0.05, axis=0))
    np.testing.assert_allclose(high[:2], np.nanquantile(draws[:, :2], 0.95, axis=0))
    assert np.isnan([low[2], high[2]]).all()
    low, high = bootstrap.interval_of_draws(np.array([3.0, 1.0, 2.0, _]), level=0.5)
    assert (low, high) == (1.5, 2.5)


@pytest.mark.parametrize("binary", [False, True])
def test_equals_scipy_with_one_query_a_family(binary):
    rng = np.random.default_rng(6)
    values = (rng.random(80) < 0.3).astype(float) if binary else rng.beta(0.5, 1.5, size=80)
    draws = bootstrap.family_draws(80, resamples=20_000, seed=7)
    ours = pooled(values[np.newaxis], family=np.arange(80), draws=draws)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(8)
    ).confidence_interval
    # Standard error of a 2.5 % quantile of 20,000 draws: about 2 % of a standard error of the mean.
    tolerance = 0.1 * values.std() / np.sqrt(80)
    assert np.ravel(ours) == pytest.approx([theirs.low, theirs.high], abs=tolerance + (1 / 80 if binary else 0))


queries = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 2), st.sampled_from([_, 0.0, 0.25, 1.0]), st.sampled_from([_, 0.0, 0.5])
    ),
    min_size=1,
    max_size=15,
)


@settings(max_examples=80)
@given(queries=queries, seed=st.integers(0, 99))
def test_weights_give_what_copied_rows_give(queries, seed):
    family, language = (np.array([query[part] for query in queries]) for part in (0, 1))
    values = np.array([[query[part] for query in queries] for part in (2, 3)])
    draws = bootstrap.family_draws(5, resamples=4, seed=seed)
    shared = {"family": family, "draws": draws}
    spoken = {**shared, "language": language, "n_languages": 3}
    pooled = bootstrap.pooled_draws(values, **shared)
    balanced = bootstrap.balanced_draws(values, **spoken)
    for draw, weights in enumerate(draws):
        tongues = copied_rows(language, family, weights)
        rows = np.stack([copied_rows(column, family, weights) for column in values])
        np.testing.assert_allclose(pooled[draw], bootstrap.pooled_mean(rows).value)
        np.testing.assert_allclose(
            balanced[draw], bootstrap.balanced_mean(rows, language=tongues, n_languages=3).value, atol=1e-15
        )


def test_a_family_that_is_drawn_brings_all_its_queries():
    # Two families, one all right, one all wrong: a draw is 0, 1/2 or 1, and the interval is as wide as can be.
    values = np.array([[1.0, 1, 1, 0, 0, 0]])
    draws = bootstrap.family_draws(2, resamples=2000, seed=9)
    means = bootstrap.pooled_draws(values, family=np.array([0, 0, 0, 1, 1, 1]), draws=draws)
    assert np.unique(means).tolist() == [0, 1 / 2, 1]
    low, high = pooled(values, family=np.array([0, 0, 0, 1, 1, 1]), draws=draws)
    assert (low[0], high[0]) == (0, 1)


def test_balanced_interval_contains_the_balanced_mean_only():
    # 90 English queries at 0.9 ± 0.1, ten Japanese ones at 0.1 ± 0.1: pooled 0.82, balanced 0.5.
    values = np.r_[np.tile([0.8, 1.0], 45), np.tile([0.0, 0.2], 5)][np.newaxis]
    language = np.repeat([0, 1], [90, 10])
    strata = bootstrap.stratified_draws(np.arange(100), language, seed=10)
    low, high = balanced(values, language=language, n_languages=2, **strata._asdict())
    assert low[0] < 0.5 < high[0] < 0.6
    low, high = pooled(values, **strata._asdict())
    assert 0.75 < low[0] < 0.82 < high[0]


def test_blocks_of_draws_change_nothing(monkeypatch):
    rng = np.random.default_rng(20)
    values, family, language = rng.random((3, 60)), rng.integers(0, 20, 60), rng.integers(0, 3, 60)
    values[1, rng.random(60) < 0.4] = _
    shared = {"family": family, "draws": bootstrap.family_draws(20, resamples=50, seed=21)}
    spoken = {"language": language, "n_languages": 3}
    whole = bootstrap.pooled_draws(values, **shared), bootstrap.balanced_draws(values, **shared, **spoken)
    monkeypatch.setattr(bootstrap, "_CELLS_AT_ONCE", 7 * 20)
    np.testing.assert_allclose(bootstrap.pooled_draws(values, **shared), whole[0], rtol=1e-14)
    np.testing.assert_allclose(bootstrap.balanced_draws(values, **shared, **spoken), whole[1], rtol=1e-14)


def test_a_language_that_vanishes_from_a_draw_is_left_out_of_it():
    values = np.array([[1.0, 0.0]])
    shared = {"family": np.array([0, 1]), "language": np.array([0, 1]), "n_languages": 2}
    draws = np.array([[2, 0], [1, 1], [0, 2]], dtype=np.uint8)
    assert bootstrap.balanced_draws(values, draws=draws, **shared).tolist() == [[1], [1 / 2], [0]]


@pytest.mark.parametrize("value", [0.0, 0.1, 0.3, 1 / 3, 1.0])
def test_equal_values_have_no_width(value):
    n = 37
    values, language = np.full((1, n), value), np.arange(n) % 3
    shared = {"family": np.arange(n), "draws": bootstrap.family_draws(n, resamples=200, seed=11)}
    spoken = {"language": language, "n_languages": 3}
    for low, high in (
        pooled(values, **shared),
        balanced(values, **shared, **spoken),
    ):
        assert low.tolist() == high.tolist() == [value]
    assert bootstrap.pooled_mean(values).value.tolist() == [value]
    assert bootstrap.balanced_mean(values, **spoken).value.tolist() == [value]


def test_one_query_and_families_outside_the_domain():
    draws = bootstrap.family_draws(1, seed=12)
    one = pooled(np.array([[0.25]]), family=np.array([0]), draws=draws)
    assert np.ravel(one).tolist() == [0.25, 0.25]
    # Only family 2 of three is in the domain: draws without it are left out, the others all say 0.25.
    values, family = np.array([[_, _, 0.25], [_, _, _]]), np.array([0, 1, 2])
    shared = {"family": family, "draws": bootstrap.family_draws(3, seed=13)}
    spoken = {"language": np.array([0, 0, 1]), "n_languages": 2}
    for bounds in (
        pooled(values, **shared),
        balanced(values, **shared, **spoken),
    ):
        np.testing.assert_array_equal(bounds, [[0.25, _], [0.25, _]])


def test_no_query_at_all():
    values, codes = np.empty((2, 0)), np.empty(0, dtype=np.int64)
    draws = bootstrap.family_draws(0, resamples=10, seed=14)
    assert draws.shape == (10, 0)
    assert np.isnan(pooled(values, family=codes, draws=draws)).all()
    assert np.isnan(balanced(values, family=codes, language=codes, n_languages=2, draws=draws)).all()
    assert np.isnan(bootstrap.pooled_mean(values).value).all()
    strata = bootstrap.stratified_draws(codes, codes, resamples=10, seed=15)
    assert strata.draws.shape == (10, 0)


def test_joint_intervals_cover_parallel_queries():
    # 40 families asked in four languages, correlated 0.5 within a family; joint draws see the correlation.
    rng = np.random.default_rng(16)
    worlds, families, languages = 300, 40, 4
    shared, own = rng.normal(size=(worlds, families, 1)), rng.normal(size=(worlds, families, languages))
    values = (np.sqrt(0.5) * (shared + own)).reshape(worlds, -1)
    draws = bootstrap.family_draws(families, resamples=1000, seed=17)
    low, high = pooled(values, family=np.repeat(np.arange(families), languages), draws=draws)
    coverage = np.mean((low <= 0) & (high >= 0))
    assert 0.90 <= coverage <= 0.98  # standard error of 300 worlds: 0.013; single queries would cover about 0.75


def test_a_ratio_of_sums_is_formed_inside_each_draw():
    """Families of 1 of 2, 3 of 4 and nothing of nothing: drawn once, twice and not at all."""
    parts, wholes = np.array([[1.0, 3, np.nan], [0, 0, 0]]), np.array([[2.0, 4, np.nan], [0, 0, 0]])
    draws = np.array([[1, 2, 0], [3, 0, 0], [0, 0, 3]], dtype=np.uint8)
    found = bootstrap.ratio_draws(parts, wholes, family=np.arange(3), draws=draws)
    assert found[:, 0].tolist() == pytest.approx([7 / 10, 1 / 2, np.nan], nan_ok=True)
    assert np.isnan(found[:, 1]).all()


def test_a_ratio_over_ones_is_the_mean():
    rng = np.random.default_rng(1)
    values, family = rng.random((2, 30)), np.arange(30) // 3
    draws = bootstrap.family_draws(10, resamples=50, seed=2)
    one = np.ones_like(values)
    assert bootstrap.ratio_draws(values, one, family=family, draws=draws) == pytest.approx(
        bootstrap.pooled_draws(values, family=family, draws=draws)
    )
