"""Pass, official and all, by hand and by scipy."""

import pytest
from scipy import stats

from analysis.errors import InputError
from analysis.paths import Cache
from analysis.views import data, significance
from analysis.views.qa_subsets import Statuses
from analysis.views.selection import Selection
from analysis.views.translation_quality import markdown, translation_quality
from tests.hand_made import put, ranking_of, worked_example
from tests.hand_translated import BUILT, TASK, stored

MEANS = {  # nDCG of an answer at rank 1 is 1, at rank 3 it is 1 / log2 4
    "careful": {"pass": 1, "official": 3 / 8, "all": 3 / 11},
    "even": {"pass": 0.5, "official": 6.5 / 8, "all": 6.5 / 11},
    "careless": {"pass": 0, "official": 2 / 8, "all": 5 / 11},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return stored(Cache(tmp_path_factory.mktemp("translated")))


@pytest.fixture(scope="module")
def view(store):
    return significance.significance(store, Selection("translated"))


@pytest.fixture(scope="module")
def found(view):
    return view.tasks[0].qa_subsets


def test_means_are_of_the_queries_of_each_subset(found):
    assert found.n_queries == {"pass": 3, "official": 8, "all": 11}
    assert [row.system.name for row in found.rows] == ["even", "careless", "careful"]
    for row in found.rows:
        assert {name: mean.value for name, mean in row.means.items()} == pytest.approx(MEANS[row.system.name])
        assert {name: mean.n for name, mean in row.means.items()} == found.n_queries
        assert all(mean.low <= mean.value <= mean.high for mean in row.means.values())


def test_orders_are_those_of_scipy(found, view):
    for row in found.orders:
        first, second = ([MEANS[name][subset] for name in MEANS] for subset in (row.a, row.b))
        assert row.spearman == pytest.approx(stats.spearmanr(first, second).statistic)
        assert row.kendall == pytest.approx(stats.kendalltau(first, second).statistic)
        assert row.n == 3
    assert [(row.a, row.b, row.spearman, row.n_queries) for row in found.orders] == [
        ("pass", "official", 0.5, (3, 8)),
        ("pass", "all", -0.5, (3, 11)),
        ("official", "all", 0.5, (8, 11)),
    ]
    rows = [row for row in view.order_agreement if row.kind == "qa subsets"]
    assert [(row.a, row.b, row.kendall) for row in rows] == [
        (f"{TASK}: subset {row.a}", f"{TASK}: subset {row.b}", row.kendall) for row in found.orders
    ]


def test_statuses_by_language_with_their_shares(found):
    assert found.languages == (
        Statuses("es", 4, 2, 1, 1, 0.5, 0.25, 0.25),
        Statuses("ja", 3, 1, 0, 2, 1 / 3, 0, 2 / 3),
    )
    assert found.sentence == (
        "The order of 3 systems changes between pass and all: Kendall τ = -0.33.",
        "3 of 7 translations pass, 1 is flagged, 3 fail.",
    )


def test_a_slice_has_its_own_subsets_and_an_empty_one_no_mean(store):
    japanese = Selection("translated", where=(("language", "ja"),))
    (task,) = significance.significance(store, japanese).tasks
    assert task.qa_subsets.n_queries == {"pass": 1, "official": 1, "all": 3}
    failed = Selection("translated", where=(("audit_status", "fail"),))
    (task,) = significance.significance(store, failed).tasks
    assert task.qa_subsets.n_queries == {"pass": 0, "official": 0, "all": 3}
    assert {row.means["pass"].value for row in task.qa_subsets.rows} == {None}
    assert [row.spearman for row in task.qa_subsets.orders] == [None] * 3
    english = Selection("translated", where=(("language", "en"),))
    assert significance.significance(store, english).tasks[0].qa_subsets is None


def test_two_systems_have_no_order(store):
    (task,) = significance.significance(store, Selection("translated", systems=("even", "careful"))).tasks
    assert {row.spearman for row in task.qa_subsets.orders} == {None}
    assert task.qa_subsets.sentence.bold == "It takes three systems to compare orders."


def test_other_tasks_have_none(tmp_path):
    example = worked_example()
    store = put(Cache(tmp_path), example, {("a", "lexical"): ranking_of(example.tasks[0], [["c-en"], []], depth=10)})
    assert significance.significance(store, Selection("example")).tasks[0].qa_subsets is None
    assert data.card(store, "example").tasks[0].translations is None
    with pytest.raises(InputError):
        significance.significance(store, Selection("nowhere"))


def test_values_of_a_score_make_no_subsets(view):
    others = [row.b for row in view.order_agreement if row.kind == "subsets"]
    assert not [name for name in others if "preservation" in name]
    assert [name for name in others if "question_type" in name]


def test_the_report_in_markdown(store):
    quality = data.card(store, "translated").tasks[0].translations
    assert quality == translation_quality({"built": {TASK: BUILT}}, TASK)
    assert markdown(quality, title="Evidence") == (
        "## Evidence\n\n"
        "3 of 7 translations pass, 1 is flagged, 3 fail · translated by a hand · checked on terms of UMLS.\n\n"
        "1,205 questions read, 1,201 without a snippet left out, 1 without a term · 5 snippets, 1 repeated, "
        "1 passage for several questions.\n\n"
        "| Language | Questions | Not translated | Pass | Flag | Fail | Terms | Terms kept | Terms unknown "
        "| Abbreviations | Abbreviations kept | No term | Not translated back | Terms kept, mean share "
        "| Words back, mean F1 |\n"
        "| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
        "| Spanish | 4 | 0 | 2 (0.50) | 1 (0.25) | 1 (0.25) | 8 | 6 | 1 | 3 | 2 | 0 | 0 | 0.75 | 0.94 |\n"
        "| Japanese | 4 | 1 | 1 (0.33) | 0 (0.00) | 2 (0.67) | 8 | 6 | 1 | 3 | 2 | 0 | 0 |  | 0.94 |\n"
        "\nProtected abbreviations: HIV, MRI.\n"
    )
    assert translation_quality({}, TASK) is None
