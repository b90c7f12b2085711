"""The validation of six confusion sets by three validators, every figure by hand."""

import numpy as np
import pytest
from scipy.stats import bootstrap as scipy_bootstrap

from analysis.benchmarks.confusion_sets import ConfusionSet, as_csv, judged
from analysis.model import Interval, SystemLabel
from analysis.views import validation as view
from analysis.views.tiers import TierRow
from analysis.views.validation import ALL, KEPT, MADE, validation

COSINES = (
    ("synonym", "V", (0.9, 0.8, 0.9)),  # accepted by all
    ("synonym", "V", (0.8, 0.8, 0.6)),  # accepted; c says sibling
    ("sibling", "W", (0.5, 0.3, 0.2)),  # re-tiered to related; a says sibling
    ("related", "W", (0.3, 0.05, 0.2)),  # accepted; b says none
    ("related", "W", (0.9, 0.6, 0.1)),  # rejected: synonym, sibling, none
    ("synonym", "W", (0.3, 0.2, 0.8)),  # re-tiered to related; c says synonym
)


def settings(rows=COSINES):
    sets = [ConfusionSet(f"s{n}", made, name, (f"C{n}",), ("A01",)) for n, (made, name, _) in enumerate(rows)]
    text = as_csv(judged(sets, np.array([cosines for *_, cosines in rows])), ("a", "b", "c"))
    return {"built": {"t2": {"validators": ["a", "b", "c"], "answers": "set", "sets": text}}}


@pytest.fixture(scope="module")
def found():
    return validation(settings(), "t2")


def test_a_task_of_another_kind_has_none():
    assert validation(settings(), "t1") is None
    assert validation({}, "t2") is None
    assert validation({"built": {"t2": {"coverage": []}}}, "t2") is None


def test_counts_by_vocabulary_and_tier(found):
    rows = {(row.vocabulary, row.made): (row.sets, row.accepted, row.moved, row.rejected) for row in found.counts}
    assert rows == {
        (None, "synonym"): (3, 2, {"sibling": 0, "related": 1}, 0),
        (None, "sibling"): (1, 0, {"synonym": 0, "related": 1}, 0),
        (None, "related"): (2, 1, {"synonym": 0, "sibling": 0}, 1),
        ("V", "synonym"): (2, 2, {"sibling": 0, "related": 0}, 0),
        ("W", "synonym"): (1, 0, {"sibling": 0, "related": 1}, 0),
        ("W", "sibling"): (1, 0, {"synonym": 0, "related": 1}, 0),
        ("W", "related"): (2, 1, {"synonym": 0, "sibling": 0}, 1),
    }
    assert found.sentence.bold == "Validators confirm 3 of 6 confusion sets, move 2 to another tier and reject 1."


def test_mean_cosines_as_made_and_as_kept(found):
    means = {(row.validator, row.which, row.tier): row.mean for row in found.cosines}
    assert means["a", MADE, "synonym"].value == pytest.approx((0.9 + 0.8 + 0.3) / 3)
    assert means["b", MADE, "related"].value == pytest.approx((0.05 + 0.6) / 2)
    assert means["a", KEPT, "synonym"].value == pytest.approx((0.9 + 0.8) / 2)
    assert means["c", KEPT, "related"].value == pytest.approx((0.2 + 0.2 + 0.8) / 3)
    assert means[ALL, KEPT, "synonym"].value == pytest.approx((2.6 / 3 + 2.2 / 3) / 2)
    assert means["a", KEPT, "sibling"] == Interval(None, "pooled", None, None, None, None, 0.95, "", 0)
    assert means["a", MADE, "sibling"][:1] + means["a", MADE, "sibling"][4:6] == (0.5, 0.5, 0.5)  # one set: no width
    assert [means["a", MADE, tier].n for tier in view.TIERS] == [3, 1, 2]


def test_with_one_left_out_two_of_two_decide(found):
    rows = {row.validator: row for row in found.left_out}
    shares = {name: (row.accepted, row.adjacent, row.far, row.rejected, row.same) for name, row in rows.items()}
    sixths = {
        None: (3, 1, 1, 1, 6),
        "a": (1, 1, 0, 4, 3),
        "b": (2, 0, 0, 4, 3),
        "c": (2, 0, 1, 3, 4),
    }
    for name, expected in sixths.items():
        assert shares[name] == pytest.approx([n / 6 for n in expected]), name
    contested = {name: tuple(row.contested.values()) for name, row in rows.items()}
    assert contested == {None: (0, 0, 0), "a": (1, 1, 1), "b": (2, 1, 0), "c": (1, 0, 1)}
    assert list(rows["a"].contested) == ["adjacent", "non-adjacent", "none"]


def test_agreement_of_two_validators(found):
    row = next(row for row in found.pairs if (row.first, row.second) == ("a", "b"))
    # a: syn syn sib rel syn rel; b: syn syn rel none sib rel. Same 3 of 6; by chance (3·2 + 1·1 + 2·2) / 36.
    assert (row.n, row.share) == (6, 0.5)
    assert row.kappa == pytest.approx((3 / 6 - 11 / 36) / (1 - 11 / 36))


def test_the_interval_of_a_mean_is_that_of_scipy():
    draw = np.random.default_rng(5)
    rows = [("synonym", "V", tuple(draw.uniform(0.7, 1, 3).round(4))) for _ in range(60)]
    (mean,) = (
        row.mean
        for row in validation(settings(rows), "t2").cosines
        if (row.validator, row.which, row.tier) == ("b", MADE, "synonym")
    )
    values = np.array([cosines[1] for *_, cosines in rows])
    theirs = scipy_bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=draw).confidence_interval
    assert mean.value == pytest.approx(values.mean())
    assert (mean.low, mean.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)


@pytest.mark.parametrize(
    ("levels", "falls", "apart", "says"),
    [
        ((0.9, 0.6, 0.3), True, True, "it falls, and no two intervals overlap"),
        ((0.62, 0.6, 0.3), True, False, "but intervals overlap"),
        ((0.3, 0.6, 0.2), False, False, "does not fall"),
    ],
)
def test_whether_means_fall_from_tier_to_tier(levels, falls, apart, says):
    jitter = (-0.04, -0.02, 0.0, 0.02, 0.04)
    rows = [(tier, "V", (level + by,) * 3) for tier, level in zip(view.TIERS, levels, strict=True) for by in jitter]
    made = validation(settings(rows), "t2")
    assert {(row.falls, row.apart) for row in made.falling if row.which == MADE} == {(falls, apart)}
    assert says in made.sentence.rest


def test_a_tier_without_a_set_has_no_order(found):
    kept = {row.validator: row.falls for row in found.falling if row.which == KEPT}
    assert kept == dict.fromkeys(("a", "b", "c", ALL))


def row_of(name, tier, value, width=0.02, ceiling=None):
    measured = Interval(value, "pooled", None, ceiling, value - width, value + width, 0.95, "by hand", 40)
    return TierRow("t2", SystemLabel(name, name, name, "lexical", 0), tier, measured, measured, measured, {}, {})


def rows_of(name, *values, **more):
    return [row_of(name, tier, value, **more) for tier, value in zip((None, *view.TIERS), values, strict=True)]


def test_systems_that_had_no_vote_confirm_the_order():
    rows = [
        *rows_of("a", 0.5, 0.9, 0.5, 0.1),  # a validator
        *rows_of("maxsim-all-minilm", 0.5, 0.9, 0.5, 0.1),
        *rows_of("kept-what-if", 0.5, 0.9, 0.5, 0.1),
        *rows_of("clear", 0.5, 0.9, 0.5, 0.1),
        *rows_of("near", 0.5, 0.52, 0.5, 0.1),
        *rows_of("other", 0.5, 0.3, 0.5, 0.1),
    ]
    made = settings()
    made["built"]["t2"]["validators"] = ["a", "b", "all-minilm-l6-v2"]
    found = validation(made, "t2", rows, {"kept-what-if": ("a", "bm25")})
    assert {row.system.name: (row.vote, row.holds, row.apart) for row in found.order} == {
        "a": ("voted", True, True),
        "maxsim-all-minilm": ("made of all-minilm-l6-v2", True, True),
        "kept-what-if": ("made of a", True, True),
        "clear": ("", True, True),
        "near": ("", True, False),
        "other": ("", False, False),
    }
    assert found.confirmed.bold == "2 of 3 systems that had no vote find each tier harder than the one before."
    assert found.confirmed.rest == "By R@1. For 1 of them no two intervals overlap."


def test_where_a_query_has_many_answers_hit_at_1_says_more():
    found = validation(settings(), "t2", rows_of("clear", 0.5, 0.9, 0.5, 0.1, ceiling=0.2))
    assert [(row.measure, row.holds) for row in found.order] == [("Hit@1", True), ("R@1", True)]
    assert found.confirmed.bold == "clear, which had no vote, finds each tier harder than the one before."
    without = validation(settings(), "t2", rows_of("a", 0.5, 0.9, 0.5, 0.1))
    none = validation(settings(), "t2", [*rows_of("x", 0.5, 0.1, 0.5, 0.9), *rows_of("y", 0.5, 0.1, 0.5, 0.9)])
    assert none.confirmed.bold == "None of 2 systems that had no vote finds each tier harder than the one before."
    assert without.confirmed.bold == "No system without a vote has run on all tiers."
