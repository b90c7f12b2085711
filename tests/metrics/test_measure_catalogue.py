"""The registry of measures."""

import numpy as np
import pytest

from analysis.errors import InputError
from analysis.metrics import catalogue, ranking, routes
from analysis.metrics.ranking import Judged
from analysis.model import NEVER

JUDGED = Judged(
    query=np.array([0, 0, 1], dtype=np.int32),
    grade=np.array([2, 1, 1], dtype=np.float64),
    language=np.array([0, 1, 1], dtype=np.int16),
    query_language=np.array([0, 1], dtype=np.int16),
    languages=("en", "fr"),
)
RANKS = np.array([[3, 1, NEVER], [1, NEVER, 2]], dtype=np.int32)


@pytest.mark.parametrize(
    ("key", "label", "aggregate"),
    [
        ("ndcg_at_10", "nDCG@10", "pooled"),
        ("ndcg_at_3", "nDCG@3", "pooled"),
        ("ndcg_exponential_at_10", "nDCG(dcg='exp-log2')@10", "pooled"),
        ("recall_at_1", "R@1", "pooled"),
        ("recall_at_5", "R@5", "pooled"),
        ("recall_at_10", "R@10", "balanced"),
        ("recall_at_1000", "R@1000", "balanced"),
        ("recall_at_1_same", "R@1 same", "balanced"),
        ("recall_at_10_same", "R@10 same", "balanced"),
        ("recall_at_5_cross", "R@5 cross", "balanced"),
        ("hit_at_1", "Hit@1", "pooled"),
        ("precision_at_10", "P@10", "pooled"),
        ("rr", "RR", "pooled"),
        ("rr_at_10", "RR@10", "pooled"),
        ("ap", "AP", "pooled"),
        ("jbc_at_100", "JBC@100", "pooled"),
        ("language_transfer", "LT%", "balanced"),
    ],
)
def test_label_and_mean(key, label, aggregate):
    measure = catalogue.measure(key)
    assert (measure.key, measure.label, measure.aggregate) == (key, label, aggregate)
    assert measure.higher_is_better
    assert measure.unit == ("percent" if key == "language_transfer" else "share")
    assert "{k}" not in measure.definition
    assert measure.definition.endswith(".")
    assert measure.source


@pytest.mark.parametrize(
    "key",
    [
        "",
        "nDCG@10",
        "ndcg",
        "ndcg_at_0",
        "ndcg_at_-1",
        "ndcg_at_K",
        "ndcg_at_ten",
        "ndcg_at_9999999",
        "ndcg_at_10 ",
        "ndcg_at_10_same",
        "recall",
        "recall_same",
        "recall_at_10_any",
        "ap_at_10",
        "rr_same",
        "language_transfer_at_10",
    ],
)
def test_unknown_key_names_the_value_and_what_was_expected(key):
    for call in (catalogue.measure, lambda key: catalogue.ceiling(key, JUDGED)):
        with pytest.raises(InputError) as error:
            call(key)
        assert repr(key) in str(error.value)
        assert "recall_at_K_same" in str(error.value)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("ndcg_at_2", ranking.ndcg(JUDGED, RANKS, k=2)),
        ("ndcg_exponential_at_3", ranking.ndcg(JUDGED, RANKS, k=3, gain="exponential")),
        ("recall_at_1", ranking.recall(JUDGED, RANKS, k=1)),
        ("recall_at_3_same", routes.recall_same(JUDGED, RANKS, k=3)),
        ("recall_at_3_cross", routes.recall_cross(JUDGED, RANKS, k=3)),
        ("hit_at_2", ranking.hit(JUDGED, RANKS, k=2)),
        ("precision_at_2", ranking.precision(JUDGED, RANKS, k=2)),
        ("rr", ranking.reciprocal_rank(JUDGED, RANKS)),
        ("rr_at_1", ranking.reciprocal_rank(JUDGED, RANKS, k=1)),
        ("ap", ranking.average_precision(JUDGED, RANKS)),
        ("jbc_at_3", routes.jbc(JUDGED, RANKS, k=3)),
    ],
)
def test_value_is_that_of_the_function_behind_it(key, expected):
    np.testing.assert_array_equal(catalogue.value(key, JUDGED, ranks=RANKS), expected)


def test_language_transfer_has_no_value_per_query():
    with pytest.raises(InputError, match="language_transfer"):
        catalogue.value("language_transfer", JUDGED, ranks=RANKS)


def test_ceiling_is_for_recall_only():
    np.testing.assert_array_equal(catalogue.ceiling("recall_at_1", JUDGED), [1 / 2, 1])
    np.testing.assert_array_equal(catalogue.ceiling("recall_at_1_same", JUDGED), [1, 1])
    np.testing.assert_array_equal(catalogue.ceiling("recall_at_1_cross", JUDGED), [1, np.nan])
    assert catalogue.ceiling("ndcg_at_10", JUDGED) is None
    assert catalogue.ceiling("language_transfer", JUDGED) is None
