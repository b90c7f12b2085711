"""Pages over imported per-query scores, and the sidebar's parts of the queries."""

import pytest
from visits import parameters, words

from tests.hand_made import score_rows


def test_the_overview_shows_the_imported_measures_and_leaves_the_rest_out(imported):
    page = imported.page("overview")
    assert not page.exception
    assert page.selectbox(key="overview-measure").options == ["R@10", "RR@10", "R@10 same", "R@10 cross", "LT%"]
    said = words(page)
    assert "nDCG@10 0" not in said
    assert "imported per-query scores" in said
    assert "small has no score for 4 of 40" in page.warning[0].value
    assert "40 scored queries" in said
    assert "who is left behind" in said
    assert imported.page("overview", measure="rr_at_10").selectbox(key="overview-measure").value == "rr_at_10"


def test_fairness_compares_by_the_first_imported_measure(imported):
    page = imported.page("fairness")
    assert not page.exception
    said = words(page)
    assert "R@10 by query language (en, de, fr)" in said
    assert "reaches R@10 0." in said


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("routes", "language routes need rankings"),
        ("tiers", "difficulty tiers need rankings"),
        ("probe", "a live query needs documents to search"),
    ],
)
def test_a_page_that_needs_rankings_says_why(imported, name, why):
    page = imported.page(name)
    assert not page.exception
    assert not page.error
    assert f"This benchmark has per-query scores only: {why}." in words(page)
    assert not page.get("plotly_chart")


def queries(page):
    return page.multiselect(key="overview-where")


def test_parts_of_the_queries_combine(imported):
    page = imported.page("overview")
    assert queries(page).value == []
    assert {"language en", "mode technical", "specialty lung, chest"} <= set(queries(page).options)
    assert "40 queries" in words(page)
    queries(page).set_value(["language=de", "language=fr", "specialty=heart", "specialty=lung%2C chest"]).run()
    assert parameters(page) == {"where": "language=de,language=fr,specialty=heart,specialty=lung%2C chest"}
    assert not page.exception
    wanted = [
        row
        for row in score_rows()
        if row["model"] == "large" and row["specialty"] != "bone=marrow" and row["query_language"] in {"de", "fr"}
    ]
    assert f">{len(wanted)} queries in 2 languages (de, fr)" in words(page)
    again = imported.page("overview", where="specialty=lung%2C chest,language=fr,specialty=heart,language=de")
    assert queries(again).value == queries(page).value
    queries(page).set_value([]).run()
    assert parameters(page) == {}


def test_an_attribute_of_many_values_works_from_the_address(imported):
    page = imported.page("overview", where="source_query=x")
    assert "source_query=x" in page.error[0].value
    page = imported.page("overview", where="number=7,number=9,language=de")
    assert not page.error
    assert queries(page).value == ["language=de", "number=7", "number=9"]
    assert ">1 queries in 1 language (de)" in words(page)
    assert "number 8" not in queries(page).options


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("language=xx", "Unknown part of the queries 'language=xx': this task has language="),
        ("language", "Unknown part of the queries 'language': expected attribute=value"),
        ("colour=red", "Unknown query attribute 'colour': main has language, tier"),
    ],
)
def test_a_part_that_does_not_exist_is_one_clear_message(imported, where, says):
    page = imported.page("overview", where=where)
    assert not page.exception
    assert page.error[0].value.startswith(says)
