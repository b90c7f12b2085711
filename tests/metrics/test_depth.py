"""Depth measures against literal definitions, scipy and the worked example."""

from fractions import Fraction
from math import ceil, comb, inf, log10, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.metrics import depth, routes
from analysis.metrics.ranking import Judged
from analysis.model import NEVER
from tests.metrics.test_worked_example import FR, JA, JUDGED, RANKS

N = 10


def literal_percentile(depths, share):
    """Nearest rank, one depth at a time."""
    known = sorted(value for value in depths if value == value)
    if not known:
        return nan
    return known[min(max(ceil(share * len(known) - 1e-9) - 1, 0), len(known) - 1)]


def literal_knee(curve, ks):
    if curve[0] == curve[-1]:
        return None
    apart = [
        abs(log10(k) / log10(ks[-1]) - (y - curve[0]) / (curve[-1] - curve[0])) for k, y in zip(ks, curve, strict=True)
    ]
    return next(k for k, distance in zip(ks, apart, strict=True) if distance >= max(apart) - 1e-12)


class TestWorkedExample:
    same, cross, both = depth.first_depths(JUDGED, RANKS)
    ks = np.array(depth.grid(N))
    rrc = depth.within(cross, ks=ks).mean(axis=-1)

    def test_first_depths(self):
        assert self.same.tolist() == [[1, 2]]
        assert self.cross.tolist() == [[4, 3]]
        assert self.both.tolist() == [[4, 3]]

    def test_k80_and_xrc(self):
        assert [depth.percentile(found, share=0.8).tolist() for found in (self.same, self.cross, self.both)] == [
            [2],
            [4],
            [4],
        ]
        half = [depth.percentile(found, share=0.5).item() for found in (self.cross, self.same)]
        assert depth.xrc(*half, depth=N) == (3.0, "exact")

    def test_curve_and_knee(self):
        assert self.ks.tolist() == [1, 2, 3, 5, 10]
        assert self.rrc.tolist() == [[0, 0, 0.5, 1, 1]]
        found = depth.knees(self.rrc, ks=self.ks)
        assert found.k.tolist() == [2]  # K = 5 is equally far above the chord: the smaller one
        assert found.distance == pytest.approx([log10(2)])
        assert found.late.tolist() == [True]

    def test_the_rest(self):
        assert depth.k_reaching(self.cross, share=0.9).tolist() == [4]
        assert depth.ari(self.rrc, self.rrc[:, -1:]).tolist()[0][:3] == [0, 0, 0]
        assert np.isnan(depth.ari(self.rrc, self.rrc[:, -1:])[0, 3:]).all()  # RRC@5 = 1


def test_one_language_of_the_answers():
    english_to_french = depth.first_depths(JUDGED, RANKS, answers=JUDGED.language == FR)
    assert english_to_french.cross.tolist() == [[4, inf]]
    assert english_to_french.both.tolist() == [[4, inf]]
    np.testing.assert_array_equal(
        depth.first_depths(JUDGED, RANKS, answers=JUDGED.language == JA).cross,
        [[inf, nan]],  # the Japanese query's own language is not another
    )


def test_the_grid_ends_with_the_run():
    assert depth.grid(1) == (1,)
    assert depth.grid(99) == (1, 2, 3, 5, 10, 20, 30, 50, 75)
    assert depth.grid(1000) == depth.GRID


@pytest.mark.parametrize(
    ("depths", "share", "expected"),
    [
        ([5, 1, 4, 2, 3], 0.8, 4),  # 0.8 x 5 is the fourth, not the fifth
        ([5, 1, 4, 2, 3], 0.81, 5),
        ([7], 0.8, 7),
        ([7, inf], 0.5, 7),
        ([7, inf], 0.51, inf),
        ([inf, inf], 0.0, inf),
        ([3, 9], 0.0, 3),
        ([3, 9], 1.0, 9),
        ([nan, 3, nan, 9, nan], 0.5, 3),
        ([nan, nan], 0.5, nan),
        (range(1, 101), 0.07, 7),  # 0.07 x 100 = 7.000000000000001
    ],
)
def test_percentile_by_hand(depths, share, expected):
    np.testing.assert_equal(depth.percentile(np.array([depths], dtype=float), share=share), [expected])


DEPTHS = st.lists(st.sampled_from([nan, inf, 1.0, 2.0, 3.0, 10.0, 40.0]), min_size=1, max_size=30)


@given(depths=DEPTHS, share=st.sampled_from([0.05, 0.2, 0.5, 0.8, 0.95, 1.0]))
def test_percentile_is_the_literal_loop(depths, share):
    np.testing.assert_equal(depth.percentile(np.array([depths]), share=share)[0], literal_percentile(depths, share))


@given(depths=DEPTHS, share=st.sampled_from([0.5, 0.8, 0.95]), seed=st.integers(0, 2**20))
def test_percentile_in_draws_is_that_of_copied_queries(depths, share, seed):
    rng = np.random.default_rng(seed)
    column = np.array(depths)
    family = rng.integers(4, size=len(column))
    draws = rng.multinomial(4, [0.25] * 4, size=7).astype(np.uint8)
    found = depth.percentile_draws(np.stack([column, column[::-1]]), share=share, family=family, draws=draws)
    expected = [
        [literal_percentile(np.repeat(row, weights[family]).tolist(), share) for row in (column, column[::-1])]
        for weights in draws
    ]
    np.testing.assert_array_equal(found, expected)


def test_percentile_in_draws_over_many_chunks():
    rng = np.random.default_rng(3)
    column = rng.geometric(0.01, size=2_000).astype(float)
    column[rng.random(2_000) < 0.1] = inf
    family = rng.integers(300, size=2_000)
    draws = rng.multinomial(300, [1 / 300] * 300, size=40).astype(np.float32)
    found = depth.percentile_draws(column[np.newaxis], share=0.8, family=family, draws=draws)[:, 0]
    expected = [literal_percentile(np.repeat(column, row[family].astype(int)).tolist(), 0.8) for row in draws]
    np.testing.assert_array_equal(found, expected)
    assert len(np.unique(found)) > 10
    assert depth.percentile_draws(np.empty((0, 2_000)), share=0.8, family=family, draws=draws).shape == (40, 0)


@pytest.mark.parametrize(
    ("cross", "same", "expected"),
    [
        (6.0, 2.0, (3.0, "exact")),
        (inf, 4.0, (25.0, "at_least")),
        (6.0, inf, (nan, "undefined")),
        (inf, inf, (nan, "undefined")),
        (nan, 2.0, (nan, "undefined")),
        (6.0, nan, (nan, "undefined")),
    ],
)
def test_xrc_bounds(cross, same, expected):
    np.testing.assert_equal(depth.xrc(cross, same, depth=100), expected)


def test_knee_early_flat_and_straight():
    ks = np.array([1, 10, 100])
    curves = np.array([[0, 0.9, 1], [0, 0.1, 1], [0.4, 0.4, 0.4], [0, 0.5, 1], [nan, nan, nan]])
    found = depth.knees(curves, ks=ks)
    np.testing.assert_array_equal(found.k, [10, 10, nan, 1, nan])
    np.testing.assert_allclose(found.distance, [0.4, 0.4, nan, 0, nan])
    assert found.late.tolist() == [False, True, False, False, False]
    tied = depth.knees(np.array([0, 1 / 3 + 0.2, 2 / 3 + 0.2 + 1e-13, 1]), ks=np.array([1, 10, 100, 1000]))
    assert tied.k == 10
    assert np.isnan(depth.knees(np.array([[0.5]]), ks=np.array([1])).k).all()  # a run of depth 1


def test_ari_is_the_hopeless_part_of_what_is_missed():
    assert depth.ari(np.array([0.5, 0.8, 1.0]), np.array([0.8]))[:2] == pytest.approx([0.4, 1])
    np.testing.assert_equal(depth.ari(np.array([1.0, nan]), np.array([1.0, nan])), [nan, nan])
    assert depth.ari(np.array([0.25]), np.array([1.0])).tolist() == [0]  # all is reached, deeper down


@pytest.mark.parametrize(("n_answers", "n_documents"), [(1, 10), (5, 66), (35, 80_049), (3, 1_000_000), (10, 10)])
def test_chance_is_the_hypergeometric_tail(n_answers, n_documents):
    ks = np.array([k for k in depth.GRID if k <= n_documents])
    found = depth.chance(np.array([n_answers] * 2), np.array([n_documents] * 2), ks=ks)
    np.testing.assert_allclose(found, stats.hypergeom.sf(0, n_documents, n_answers, ks), rtol=1e-8)


def test_chance_is_averaged_over_queries_and_exact():
    found = depth.chance(np.array([1, 4, 4]), np.array([12, 12, 11]), ks=np.array([1, 5, 9, 12]))
    for place, k in enumerate((1, 5, 9, 12)):
        exact = sum(1 - Fraction(comb(m - c, k), comb(m, k)) if k <= m else 1 for c, m in ((1, 12), (4, 12), (4, 11)))
        assert found[place] == pytest.approx(float(exact / 3), rel=1e-12)
    assert np.isnan(depth.chance(np.array([], int), np.array([], int), ks=np.array([1, 2]))).all()


def test_stage_faults_by_hand():
    first = np.array([nan, 31, 30, 2, inf, 5])
    second = np.array([nan, 31, 11, 10, inf, 1])
    miss, fault = depth.stage_faults(first, second, pool=30)
    np.testing.assert_array_equal(miss, [nan, 1, 0, 0, 1, 0])
    np.testing.assert_array_equal(fault, [nan, 0, 1, 0, 0, 0])


def test_frontier_by_hand():
    cost = np.array([2.0, 3.0, 4.0, 2.0, inf, nan, inf])
    gain = np.array([0.5, 0.4, 0.6, 0.5, 0.9, 1.0, 0.1])
    assert depth.frontier(cost, gain).tolist() == [True, False, True, True, True, False, False]


LANGUAGES = ("en", "fr", "ja")


@st.composite
def runs(draw):
    """Judgements and ranks with every gap: no same, no cross, one query, one language, nothing retrieved, all first."""
    n_queries = draw(st.integers(1, 6))
    n_languages = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(st.integers(0, n_queries - 1), st.integers(-1, n_languages - 1)), max_size=20))
    rows.sort()
    judged = Judged(
        query=np.array([row[0] for row in rows], dtype=np.int32),
        grade=np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(rows), max_size=len(rows))), float),
        language=np.array([row[1] for row in rows], dtype=np.int16),
        query_language=np.array(
            draw(st.lists(st.integers(0, n_languages - 1), min_size=n_queries, max_size=n_queries)), dtype=np.int16
        ),
        languages=LANGUAGES[:n_languages],
    )
    places = draw(st.sampled_from([[1], [int(NEVER)], [1, 2, 3, 7, 30, 100, int(NEVER)]]))
    ranks = draw(st.lists(st.sampled_from(places), min_size=2 * len(rows), max_size=2 * len(rows)))
    return judged, np.array(ranks, dtype=np.int32).reshape(2, len(rows))


@settings(max_examples=200)
@given(run=runs())
def test_properties_of_depth(run):
    judged, ranks = run
    found = depth.first_depths(judged, ranks)
    ks = np.array([*depth.grid(100), 100])
    for depths in found:
        assert not (depths < 1).any()
        for share in (0.5, 0.8):
            reached = depth.percentile(depths, share=share)
            for row, value in zip(depths, reached, strict=True):
                known = row[~np.isnan(row)]
                assert np.isnan(value) == (len(known) == 0)
                if len(known):
                    censored = np.isfinite(known).sum() < ceil(share * len(known) - 1e-9)
                    assert np.isinf(value) == censored  # beyond the run's depth, never a number
                    assert (known <= value).mean() >= share - 1e-9
    rrc = depth.within(found.cross, ks=ks)
    assert (np.isnan(rrc[:, 0]) == (judged.count(judged.cross) == 0)).all()
    rows = rrc[:, :, judged.count(judged.cross) > 0].sum(axis=-1)
    assert (np.diff(rows, axis=-1) >= 0).all()
    np.testing.assert_array_equal(depth.within(found.both, ks=ks)[:, 3], routes.jbc(judged, ranks, k=5))


@given(hits=st.lists(st.integers(0, 20), min_size=7, max_size=7))
def test_knees_are_the_literal_search(hits):
    ks = np.array(depth.grid(30))
    curve = np.cumsum(hits) / 200
    found = depth.knees(curve[np.newaxis], ks=ks)
    expected = literal_knee(curve.tolist(), ks.tolist())
    np.testing.assert_equal(found.k[0], nan if expected is None else expected)
