"""What the page says of pairs, of all systems together and of orders; and which tasks an order is compared with."""

import pytest

from analysis.errors import InputError
from analysis.model import Interval, SystemLabel
from analysis.paths import Cache
from analysis.store import read
from analysis.views import significance
from analysis.views.selection import Selection
from analysis.views.significance import ADJACENT, BEST, AgreementRow, FriedmanRow, PairRow

A, B = (SystemLabel(name.lower(), name, name, "lexical", place) for place, name in enumerate("AB"))


def pair(low, high, *, p_bh=0.012, holm=None, note=None):
    delta = Interval((low + high) / 2, "balanced", None, None, low, high, 0.95, "bca-joint, B = 10000", 1200)
    return PairRow("main", A, B, delta, p_bh, p_bh, holm or {}, 200, note)


def test_a_pair_is_told_with_its_interval_and_every_adjusted_p():
    said = significance.pair_sentence(pair(0.1, 0.3, holm={BEST: 0.0004, ADJACENT: 0.02}), "R@10", pairs=28)
    assert said.bold == "A is ahead of B at R@10 by 0.20 (95 % interval 0.10 to 0.30)."
    assert said.rest == (
        "Adjusted p = 0.012 among all 28 pairs (Benjamini–Hochberg), p < 0.001 within “best against the rest” (Holm), "
        "p = 0.020 within “adjacent ranks” (Holm). 1,200 queries of 200 families."
    )


def test_an_interval_around_zero_tells_nothing_apart():
    said = significance.pair_sentence(pair(-0.1, 0.2), "R@10", pairs=3)
    assert said.bold == "A and B cannot be told apart at R@10: 0.05 (95 % interval -0.10 to 0.20)."
    assert "no Holm p, as neither is the best and they are not neighbours" in said.rest


def test_a_withheld_p_is_replaced_by_its_reason():
    note = "descriptive only: 12 paired queries, a test needs 30"
    said = significance.pair_sentence(pair(0.1, 0.3, p_bh=None, holm={BEST: None}, note=note), "R@10", pairs=3)
    assert said.rest == "Descriptive only: 12 paired queries, a test needs 30. 1,200 queries of 200 families."


def friedman(p, note=None, statistic=12.5):
    return FriedmanRow("main", statistic, 2, p, 40, (("a", 1.0), ("b", 2.0), ("c", 3.0)), 0.5, (), note)


@pytest.mark.parametrize(
    ("row", "bold", "rest"),
    [
        (
            friedman(0.002),
            "Not all 3 systems rank alike at R@10.",
            "Friedman’s test: p = 0.002 (χ² = 12.50, df = 2, 40",
        ),
        (friedman(0.05), "The 3 systems cannot be told apart", "p = 0.050"),
        (friedman(None, "few"), "Whether the systems differ at all is not tested.", "Few; χ² = 12.50, df = 2"),
        (friedman(0.002, "few"), "Not all 3 systems", "40 queries). Few."),
        (friedman(None, "all tie", None), "The systems were not tested together.", "All tie."),
    ],
)
def test_friedman_in_words(row, bold, rest):
    said = significance.friedman_sentence(row, "R@10")
    assert bold in said.bold
    assert rest in said.rest


def test_the_least_and_the_most_alike_orders():
    rows = [
        AgreementRow("tasks", "one", "two", 0.9, 0.8, 5, (40, 40)),
        AgreementRow("tasks", "one", "three", 0.1, -0.2, 4, (40, 40)),
        AgreementRow("tasks", "two", "three", None, None, 3, (40, 40)),
    ]
    said = significance.agreement_sentence(rows)
    assert said.bold == "The order of 4 systems holds least between one and three: Kendall τ = -0.20."
    assert said.rest == "It holds most between one and two: τ = 0.80."
    assert significance.agreement_sentence(rows[:1]).rest == ""
    assert significance.agreement_sentence(rows[2:]).bold == "There is no second place to compare with."


def test_comparable_measures_start_with_the_usual_one(example_store, imported_store):
    keys = [label.key for label in significance.comparable(example_store, Selection("example"))]
    assert keys[0] == "recall_at_10"
    assert {"ndcg_at_10", "rr_at_10"} <= set(keys)
    keys = [label.key for label in significance.comparable(imported_store, Selection("imported"))]
    assert keys == ["recall_at_10", "rr_at_10", "recall_at_10_same", "recall_at_10_cross"]
    for key in keys:
        significance.significance(imported_store, Selection("imported"), measure=key)
    with pytest.raises(InputError):
        significance.comparable(example_store, Selection("nope"))


@pytest.mark.slow
def test_one_chosen_task_is_compared_with_the_others(real_store):
    store = read.open_store(Cache(real_store))
    found = significance.significance(store, Selection("icd10", ("category",))).order_agreement
    tasks = [(row.a, row.b) for row in found if row.kind == "tasks"]
    assert sorted(tasks) == [("category", "discrimination"), ("category", "parallel-titles")]
    sliced = significance.significance(store, Selection("icd10", ("category",), where=(("language", "ja"),)))
    assert not [row for row in sliced.order_agreement if row.kind == "tasks"]
