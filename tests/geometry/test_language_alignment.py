"""Spaces whose answer is known by hand: two rotated clouds, a language offset, languages that share their texts."""

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.geometry import alignment as geometry

LANGUAGE = np.array([0, 0, 0, 1, 1, 1])
FAMILY = np.array([0, 1, 2, 0, 1, 2])
TURN = np.cos(np.radians(10)), np.cos(np.radians(20))
PAIR = (0, 1)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def circle(*degrees):
    """Unit vectors in the plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def cloud(n, *, seed, centre=(1.0, 0, 0, 0, 0, 0), spread=0.3):
    return unit(np.array(centre) + spread * np.random.default_rng(seed).standard_normal((n, len(centre))))


# --- alignment --------------------------------------------------------------------------------------------------------


def test_the_same_cloud_twice_is_aligned():
    """Translations meet; two different texts are 10 or 20 degrees apart: four pairs and two of the six."""
    found = geometry.translations(circle(-10, 0, 10, -10, 0, 10), language=LANGUAGE, family=FAMILY, pair=PAIR)
    assert found.cosine == pytest.approx([1, 1, 1])
    assert found.random == pytest.approx([(TURN[0] + TURN[1]) / 2, TURN[0], (TURN[0] + TURN[1]) / 2])
    assert geometry.alignment(found) == pytest.approx(1 - (4 * TURN[0] + 2 * TURN[1]) / 6)


def test_a_cloud_turned_by_a_right_angle_is_not():
    """Every translation is at a right angle, and what random pairs gain on one side they lose on the other."""
    found = geometry.translations(circle(-10, 0, 10, 80, 90, 100), language=LANGUAGE, family=FAMILY, pair=PAIR)
    assert found.cosine == pytest.approx([0, 0, 0])
    assert geometry.alignment(found) == pytest.approx(0)


def test_a_turned_cloud_is_told_by_its_language_and_one_that_is_not_turned_is_not():
    vectors = cloud(60, seed=1)
    turn = np.eye(6)[[1, 0, 2, 3, 4, 5]]  # the cloud's direction becomes another one
    language, family = np.repeat([0, 1], 60), np.tile(np.arange(60), 2)
    told = {}
    for name, second in (("turned", vectors @ turn), ("same", vectors)):
        both = np.concatenate([vectors, second])
        guessed = geometry.guessed_languages(both, language=language, family=family, seed=3)
        told[name] = (guessed == language).mean(), geometry.silhouettes(both, language=language).mean()
    assert told["turned"][0] == 1
    assert told["turned"][1] > 0.6
    assert told["same"][0] == 0.5  # the same vector gets the same guess, right for one of its two languages
    assert told["same"][1] == pytest.approx(-1 / 60)  # a text is no neighbour of itself, but of its translation it is


def test_random_pairs_are_all_pairs_of_other_families():
    vectors = np.concatenate([cloud(5, seed=1), cloud(5, seed=2)])
    language, family = np.repeat([0, 1], 5), np.tile(np.arange(5), 2)
    found = geometry.translations(vectors, language=language, family=family, pair=PAIR)
    cosines = vectors[:5] @ vectors[5:].T
    other = ~np.eye(5, dtype=bool)
    assert found.random.mean() == pytest.approx(cosines[other].mean())
    assert geometry.alignment(found) == pytest.approx(np.diag(cosines).mean() - cosines[other].mean())


def test_a_family_with_several_texts_counts_once_with_the_mean_of_its_pairs():
    vectors = circle(0, 60, 30, 90)  # two texts of family 0 in one language, one in the other; family 1 has both
    found = geometry.translations(vectors, language=np.array([0, 0, 1, 0]), family=np.array([0, 0, 0, 1]), pair=PAIR)
    assert found.family.tolist() == [0]  # family 1 has no translation
    assert found.cosine == pytest.approx([np.cos(np.radians(30))])
    assert np.isnan(found.random[0])
    assert np.isnan(geometry.alignment(found))


def test_languages_without_a_common_family_have_no_alignment():
    found = geometry.translations(circle(0, 90), language=np.array([0, 1]), family=np.array([0, 1]), pair=PAIR)
    assert not len(found.family)
    assert np.isnan(geometry.alignment(found))
    assert not len(geometry.influence(found))


def test_the_influence_of_families_has_the_alignment_as_its_mean():
    vectors = np.concatenate([cloud(40, seed=1), cloud(40, seed=2)])
    language, family = np.repeat([0, 1], 40), np.tile(np.arange(40), 2)
    found = geometry.translations(vectors, language=language, family=family, pair=PAIR)
    assert geometry.influence(found).mean() == pytest.approx(geometry.alignment(found))


def test_drawing_influences_is_drawing_families():
    """The spread over draws of families, the statistic taken anew in each, against that of drawn influences."""
    rng = np.random.default_rng(5)
    first = cloud(80, seed=1)
    vectors = np.concatenate([first, unit(first + 0.4 * rng.standard_normal(first.shape))])
    language, family = np.repeat([0, 1], 80), np.tile(np.arange(80), 2)
    found = geometry.translations(vectors, language=language, family=family, pair=PAIR)
    influence, anew, drawn = geometry.influence(found), [], []
    for _ in range(400):
        picks = rng.integers(80, size=80)
        cosines = vectors[:80][picks] @ vectors[80:][picks].T
        other = picks[:, np.newaxis] != picks  # a family drawn twice is no random pair of itself
        anew.append(np.diag(cosines).mean() - cosines[other].mean())
        drawn.append(influence[picks].mean())
    assert np.std(drawn) == pytest.approx(np.std(anew), rel=0.1)


# --- what a language adds ---------------------------------------------------------------------------------------------


def test_a_language_offset_is_the_distance_of_the_centroids_and_centring_removes_it_exactly():
    plain = np.random.default_rng(0).standard_normal((50, 4))
    offsets = np.array([[0.0, 0, 0, 0], [3.0, 4.0, 0, 0], [0, 0, 0, 2.0]])
    language = np.repeat([0, 1, 2], 50)
    vectors = np.concatenate([plain + offset for offset in offsets])
    means = geometry.language_means(vectors, language=language, n_languages=3)
    assert geometry.centroid_distances(means) == pytest.approx(
        np.array([[0, 5, 2], [5, 0, 29**0.5], [2, 29**0.5, 0]]), abs=1e-12
    )
    centred = geometry.without_means(vectors, language=language, means=means)
    assert centred[50:100] == pytest.approx(centred[:50], abs=1e-12)
    assert centred[100:] == pytest.approx(plain - plain.mean(axis=0), abs=1e-12)
    after = geometry.language_means(centred, language=language, n_languages=3)
    assert geometry.centroid_distances(after) == pytest.approx(np.zeros((3, 3)), abs=1e-12)


def test_a_language_without_texts_has_no_mean():
    means = geometry.language_means(circle(0, 90), language=np.array([0, 2]), n_languages=3)
    assert np.isnan(means[1]).all()
    assert np.isnan(geometry.centroid_distances(means)[0, 1])


# --- separability -----------------------------------------------------------------------------------------------------


def test_the_silhouette_is_the_one_of_scikit_learn():
    from sklearn.metrics import silhouette_samples

    vectors = np.concatenate([cloud(30, seed=n, centre=np.eye(6)[n], spread=0.5) for n in range(3)]).astype(np.float32)
    language = np.repeat([4, 1, 7], 30)
    expected = silhouette_samples(vectors, language, metric="cosine")
    assert geometry.silhouettes(vectors, language=language) == pytest.approx(expected, abs=1e-5)


def test_the_silhouette_by_hand():
    """0 and 10 degrees against 90: a = 1 - cos 10, b = 1 - cos 90 = 1 and 1 - cos 80; a language of one text has 0."""
    found = geometry.silhouettes(circle(0, 10, 90), language=np.array([0, 0, 1]))
    near, far = 1 - TURN[0], 1 - np.cos(np.radians(80))
    assert found == pytest.approx([1 - near, (far - near) / far, 0])


def test_one_language_has_no_silhouette():
    assert np.isnan(geometry.silhouettes(circle(0, 10), language=np.array([3, 3]))).all()


def test_equal_vectors_have_silhouette_0():
    assert geometry.silhouettes(circle(5, 5, 5, 5), language=np.array([0, 0, 1, 1])) == pytest.approx([0] * 4)


def by_hand(vectors, language):
    """A logistic regression of two languages: half the squared weights plus the losses, the intercept free."""
    sign = np.where(language == 1, 1.0, -1.0)

    def loss(weights):
        return weights[:-1] @ weights[:-1] / 2 + np.logaddexp(0, -sign * (vectors @ weights[:-1] + weights[-1])).sum()

    return minimize(loss, np.zeros(vectors.shape[1] + 1), method="BFGS").x


def test_the_probe_is_a_logistic_regression_that_has_seen_no_translation():
    vectors = np.concatenate([cloud(40, seed=1), cloud(40, seed=2, centre=(0.6, 0.4, 0, 0, 0, 0))])
    language, family = np.repeat([0, 1], 40), np.tile(np.arange(40), 2)
    guessed = geometry.guessed_languages(vectors, language=language, family=family, seed=9)
    fold = geometry.folds(family, seed=9)
    for number in range(geometry.FOLDS):
        asked = fold == number
        assert not set(family[asked]) & set(family[~asked])
        weights = by_hand(vectors[~asked], language[~asked])
        assert guessed[asked].tolist() == (vectors[asked] @ weights[:-1] + weights[-1] > 0).astype(int).tolist()
    assert 0.6 < (guessed == language).mean() < 1


def test_folds_are_even_and_fixed_by_their_seed():
    family = np.tile(np.arange(23), 2)
    fold = geometry.folds(family, seed=1)
    assert sorted(np.bincount(fold[:23]).tolist()) == [4, 4, 5, 5, 5]
    assert fold[:23].tolist() == fold[23:].tolist()
    assert fold.tolist() == geometry.folds(family, seed=1).tolist()
    assert fold.tolist() != geometry.folds(family, seed=2).tolist()


def test_one_language_cannot_be_guessed():
    guessed = geometry.guessed_languages(circle(0, 10, 20), language=np.zeros(3, int), family=np.arange(3), seed=1)
    assert guessed.tolist() == [-1, -1, -1]


# --- the sample -------------------------------------------------------------------------------------------------------


def test_a_sample_keeps_the_shares_of_the_languages():
    language = np.repeat([0, 1, 2], [600, 390, 10])
    chosen = geometry.sample(language, most=100, seed=1)
    assert np.bincount(language[chosen]).tolist() == [60, 39, 1]
    assert (np.diff(chosen) > 0).all()
    assert chosen.tolist() == geometry.sample(language, most=100, seed=1).tolist()


def test_few_texts_are_all_taken():
    assert geometry.sample(np.array([1, 0, 1]), most=3, seed=1).tolist() == [0, 1, 2]
