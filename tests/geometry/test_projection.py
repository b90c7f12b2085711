"""Pictures of a space: trust against scikit-learn, planes laid over each other, outlines, and UMAP on real clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.manifold import trustworthiness

from analysis.geometry import projection
from analysis.systems.neighbours import neighbours

SQUARE = np.array([(0, 0), (4, 0), (4, 4), (0, 4)])


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def clouds():
    """Three clouds of forty points in twenty dimensions."""
    rng = np.random.default_rng(5)
    centres = 4 * np.eye(3, 20)
    return unit(np.repeat(centres, 40, axis=0) + 0.4 * rng.standard_normal((120, 20)))


def test_trust_equals_scikit_learn_both_ways(clouds):
    points = projection.principal(clouds, dimensions=2) + np.random.default_rng(1).normal(0, 0.2, (120, 2))
    found = projection.trust(clouds, points, k=7, seed=0)
    assert found.trustworthiness == pytest.approx(
        trustworthiness(clouds, points, n_neighbors=7, metric="cosine"), abs=1e-9
    )
    assert found.continuity == pytest.approx(trustworthiness(points, clouds, n_neighbors=7), abs=1e-9)
    assert (found.k, found.n) == (7, 120)


def test_continuity_is_trustworthiness_with_the_sides_changed():
    """Unit vectors of two dimensions: the space and the picture can change places exactly."""
    rng = np.random.default_rng(2)
    space, picture = (unit(rng.standard_normal((60, 2))) for _ in range(2))
    there, back = (projection.trust(a, b, k=5, seed=0) for a, b in ((space, picture), (picture, space)))
    assert there.continuity == pytest.approx(back.trustworthiness)
    assert there.trustworthiness == pytest.approx(back.continuity)
    perfect = projection.trust(space, space, k=5, seed=0)
    assert (perfect.trustworthiness, perfect.continuity) == (1.0, 1.0)


def test_trust_of_too_few_points_is_unknown():
    assert np.isnan(projection.trust(np.eye(5, dtype=np.float32), np.zeros((5, 2)), k=15, seed=0).trustworthiness)


def test_trust_of_a_sample_is_near_that_of_all(clouds, monkeypatch):
    points = projection.principal(clouds, dimensions=2)
    whole = projection.trust(clouds, points, k=7, seed=0)
    monkeypatch.setattr(projection, "JUDGED", 60)
    some = projection.trust(clouds, points, k=7, seed=0)
    assert some.n == 60
    assert some.trustworthiness == pytest.approx(whole.trustworthiness, abs=0.03)


@given(st.integers(0, 10_000), st.floats(0.1, 9), st.booleans())
def test_a_turned_mirrored_scaled_and_moved_picture_lies_over_its_original(seed, scale, mirrored):
    rng = np.random.default_rng(seed)
    target = rng.standard_normal((12, 2))
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0] * ([1, -1] if mirrored else [1, 1])
    np.testing.assert_allclose(projection.laid_over(target @ turn * scale + 3, target), target, atol=1e-9)


def test_a_picture_of_one_place_lies_at_the_centre():
    np.testing.assert_allclose(projection.laid_over(np.ones((4, 2)), SQUARE), np.full((4, 2), 2.0))


def test_a_full_turn_changes_nothing_and_a_quarter_swaps_depth_and_width():
    points = np.array([(1.0, 2.0, 0.0), (-1.0, -2.0, 0.0), (0.0, 0.0, 3.0), (0.0, 0.0, -3.0)])
    np.testing.assert_allclose(projection.turned(points, degrees=360), points, atol=1e-12)
    quarter = projection.turned(points, degrees=90)
    np.testing.assert_allclose(np.abs(quarter[:, 0]), [0, 0, 3, 3], atol=1e-12)
    np.testing.assert_allclose(quarter[:, 1], points[:, 1])
    np.testing.assert_array_equal(projection.turned(points[:, :2], degrees=90), points[:, :2])


@given(st.lists(st.tuples(st.floats(-1, 5), st.floats(-1, 5)), min_size=1, max_size=20))
def test_inside_a_square(points):
    found = projection.inside(np.array(points), SQUARE)
    for (x, y), is_in in zip(points, found, strict=True):
        if x not in {0, 4} and y not in {0, 4}:
            assert is_in == (0 < x < 4 and 0 < y < 4)


def test_inside_an_outline_with_a_notch():
    notched = np.array([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)])
    assert projection.inside(np.array([(2, 3), (2, 0.5), (0.5, 2), (3.5, 2)]), notched).tolist() == [
        False, True, True, True,
    ]  # fmt: skip


def test_the_principal_components_do_not_hang_on_the_sign():
    rng = np.random.default_rng(3)
    rows = unit(rng.standard_normal((30, 6)))
    ours = projection.principal(rows, dimensions=2)
    from sklearn.decomposition import PCA

    theirs = PCA(2).fit_transform(rows)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-5)
    assert projection.principal(rows[:, :1], dimensions=3)[:, 1:].tolist() == [[0, 0]] * 30


@pytest.mark.slow
def test_umap_keeps_clouds_apart_and_one_seed_gives_one_picture(clouds):
    near, cosines = neighbours(clouds, k=10)
    drawn = [projection.umap(clouds, neighbours=near, cosines=cosines, dimensions=2, seed=seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    centres = drawn[0].reshape(3, 40, 2).mean(axis=1)
    spread = drawn[0].reshape(3, 40, 2).std(axis=1).max()
    apart = [np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert min(apart) > 3 * spread
    assert projection.trust(clouds, drawn[0], k=10, seed=0).trustworthiness > 0.85
    few = projection.umap(clouds[:3], neighbours=near[:3, :2], cosines=cosines[:3, :2], dimensions=2, seed=1)
    assert few.shape == (3, 2)
