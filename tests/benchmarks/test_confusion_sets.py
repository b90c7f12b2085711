"""How an encoder votes on a confusion set, and what three votes make of it."""

import itertools

import numpy as np
import pytest

from analysis.benchmarks.confusion_sets import (
    ConfusionSet,
    agreed,
    as_csv,
    from_csv,
    judged,
    mean_pairwise_cosines,
    outcome,
    vote,
)


@pytest.mark.parametrize(
    ("cosine", "made", "tier"),
    [
        (0.70, "synonym", "synonym"),
        (0.72, "synonym", "synonym"),  # both fit: the tier it was made for
        (0.72, "sibling", "sibling"),
        (0.72, "related", "synonym"),  # .13 from .85, .145 from .575
        (0.71, "related", "sibling"),  # .14 from .85, .135 from .575
        (0.7125, "related", "synonym"),  # as far from both: the first
        (0.75, "sibling", "sibling"),
        (0.76, "sibling", "synonym"),
        (0.45, "related", "related"),
        (0.43, "synonym", "related"),  # .145 from .575, .13 from .30
        (0.44, "synonym", "sibling"),  # .135 from .575, .14 from .30
        (0.40, "related", "related"),
        (0.39, "sibling", "related"),
        (0.15, "related", "related"),
        (0.1499, "related", None),
        (-0.2, "synonym", None),
        (1.0, "related", "synonym"),
    ],
)
def test_an_encoder_votes_for_the_tier_made_for_if_it_fits_else_for_the_nearest_centre(cosine, made, tier):
    assert vote(cosine, made) == tier


@pytest.mark.parametrize(
    ("votes", "tier", "becomes"),
    [
        (("sibling", "sibling", "sibling"), "sibling", "accepted"),
        (("sibling", None, "sibling"), "sibling", "accepted"),
        (("related", "related", "sibling"), "related", "re-tiered"),
        (("synonym", "sibling", "related"), None, "rejected"),
        ((None, None, "sibling"), None, "rejected"),
        ((None, None, None), None, "rejected"),
    ],
)
def test_two_of_three_decide(votes, tier, becomes):
    assert agreed(votes) == tier
    assert outcome("sibling", tier) == becomes


def test_the_mean_goes_over_all_pairs():
    angles = np.radians([[0, 60, 180], [10, 10, 100]])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(-1, 2)
    # cos 60, cos 180, cos 120: 1/2, -1, -1/2; cos 0, cos 90, cos 90: 1, 0, 0.
    assert mean_pairwise_cosines(vectors.astype(np.float32), [3, 3]).tolist() == [-0.3333, 0.3333]
    draw = np.random.default_rng(3)
    sizes = [2, 5, 3, 7]
    many = draw.normal(size=(sum(sizes), 8))
    many /= np.linalg.norm(many, axis=1, keepdims=True)
    parts = np.split(many, np.cumsum(sizes)[:-1])
    by_hand = [np.mean([a @ b for a, b in itertools.combinations(part, 2)]) for part in parts]
    np.testing.assert_allclose(mean_pairwise_cosines(many, sizes), by_hand, atol=5.1e-5)


def test_the_list_of_sets_comes_back_as_it_went():
    sets = (
        ConfusionSet("synonym-00001", "synonym", "INV, old", ("C0000001",), ("A01",)),
        ConfusionSet("related-00001", "related", "INV", ("C0000001", "C0000002"), ("A01", "B02")),
    )
    verdicts = judged(sets, np.array([[0.9, 0.8, 0.1], [0.05, 0.5, 0.72]]))
    text = as_csv(verdicts, ("a", "b", "c"))
    assert text.splitlines()[1:] == [
        'synonym-00001,"INV, old",synonym,synonym,accepted,C0000001,0.9000,0.8000,0.1000,synonym,synonym,none',
        "related-00001,INV,related,none,rejected,C0000001 C0000002,0.0500,0.5000,0.7200,none,sibling,synonym",
    ]
    assert from_csv(text) == verdicts
