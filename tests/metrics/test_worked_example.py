"""The worked example of the method page, every figure checkable by hand.

Languages en, fr, ja. One concept with the documents c-en, c-fr, c-ja, all relevant with grade 1. ``q1`` (en) ranks c-en
at 1, c-fr at 4 and misses c-ja; ``q2`` (ja) ranks c-ja at 2, c-en at 3 and misses c-fr.
"""

from math import log2

import numpy as np
import pytest

from analysis.metrics import catalogue, ranking, routes
from analysis.metrics.ranking import Judged
from analysis.model import NEVER
from analysis.stats.bootstrap import balanced_mean, language_means, max_minus_min, pooled_mean

EN, FR, JA = 0, 1, 2
LANGUAGE = np.array([EN, JA], dtype=np.int16)
JUDGED = Judged(
    query=np.array([0, 0, 0, 1, 1, 1], dtype=np.int32),
    grade=np.ones(6),
    language=np.array([EN, FR, JA, EN, FR, JA], dtype=np.int16),
    query_language=LANGUAGE,
    languages=("en", "fr", "ja"),
)
RANKS = np.array([[1, 4, NEVER, 3, NEVER, 2]], dtype=np.int32)
IDEAL = 1 + 1 / log2(3) + 1 / 2


def balanced(values):
    return balanced_mean(values, language=LANGUAGE, n_languages=3).value


@pytest.mark.parametrize(
    ("key", "per_query"),
    [
        ("recall_at_10", [2 / 3, 2 / 3]),
        ("recall_at_10_same", [1, 1]),
        ("recall_at_10_cross", [1 / 2, 1 / 2]),
        ("ndcg_at_10", [(1 + 1 / log2(5)) / IDEAL, (1 / log2(3) + 1 / 2) / IDEAL]),
        ("hit_at_1", [1, 0]),
        ("precision_at_10", [2 / 10, 2 / 10]),
        ("rr", [1, 1 / 2]),
        ("ap", [(1 / 1 + 2 / 4) / 3, (1 / 2 + 2 / 3) / 3]),
        ("jbc_at_3", [0, 1]),
        ("jbc_at_10", [1, 1]),
    ],
)
def test_per_query_and_mean(key, per_query):
    values = catalogue.value(key, JUDGED, ranks=RANKS)
    assert values == pytest.approx(np.array([per_query]))
    assert pooled_mean(values).value == pytest.approx([np.mean(per_query)])
    assert balanced(values) == pytest.approx([np.mean(per_query)])  # one query a language


def test_ndcg_to_four_decimals():
    values = ranking.ndcg(JUDGED, RANKS, k=10)
    assert values.round(4).tolist() == [[0.6714, 0.5307]]
    assert pooled_mean(values).value.round(4).tolist() == [0.6011]


def test_first_ranks():
    assert routes.first_rank(JUDGED, RANKS, which="same").tolist() == [[1, 2]]
    assert routes.first_rank(JUDGED, RANKS, which="cross").tolist() == [[4, 3]]
    assert routes.first_rank(JUDGED, RANKS, which="any").tolist() == [[1, 2]]


def test_cells():
    cells = routes.route_cells(JUDGED, routes.recall_by_language(JUDGED, RANKS, k=10))
    blank = np.nan
    np.testing.assert_array_equal(cells, [[[1, 1, 0], [blank, blank, blank], [1, 0, 1]]])
    assert routes.route_counts(JUDGED).tolist() == [[1, 1, 1], [0, 0, 0], [1, 1, 1]]


def test_language_transfer():
    same, cross = (balanced(route(JUDGED, RANKS, k=10)) for route in (routes.recall_same, routes.recall_cross))
    assert routes.both_gold(JUDGED).all()
    assert routes.language_transfer(same, cross).tolist() == [50]
    assert not routes.degenerate(cross).any()


def test_ceiling_of_recall_at_1():
    assert catalogue.ceiling("recall_at_1", JUDGED) == pytest.approx([1 / 3, 1 / 3])


def test_fairness_gap_is_en_over_ja():
    means = language_means(ranking.ndcg(JUDGED, RANKS, k=10), language=LANGUAGE, n_languages=3)
    assert np.nanargmax(means) == EN
    assert np.nanargmin(means) == JA
    assert max_minus_min(means).round(4).tolist() == [0.1407]
