import csv
import io
import re

import pytest
from visits import parameters, words

from analysis.views import significance
from analysis.views.selection import Selection
from pages.shared import significance_table, tables

CHARTS = 4  # tax, pairs, ranks, order
PAIR = {"a": "all-minilm-l6-v2", "b": "use-multilingual-v3"}


def test_every_part_has_a_sentence_a_picture_and_its_numbers(full):
    page = full.page("significance", task="category")
    assert not page.exception
    said = words(page)
    assert "Crossing languages costs" in said
    assert "descriptive only: 8 families, a test needs 10" in said
    assert "Better / same / worse" in said
    assert "Not told apart from" in said
    assert "Odds ratio" in said
    assert "holds least between" in said
    assert len(page.get("plotly_chart")) == CHARTS
    assert len(page.get("download_button")) == CHARTS + 1  # the odds have a table only
    page.toggle(key="significance-descriptive").set_value(True).run()
    assert "Friedman’s test: p &lt; 0.001" in words(page)


def test_a_pair_lives_in_the_address(full):
    page = full.page("significance", task="parallel-titles", **PAIR)
    assert not page.toggle  # nothing is withheld
    assert (page.selectbox(key="significance-a").value, page.selectbox(key="significance-b").value) == (*PAIR.values(),)
    said = words(page)
    assert "USE multilingual is ahead of all-MiniLM at R@10 by 0." in said
    assert "(Benjamini–Hochberg)" in said
    page.selectbox(key="significance-a").select("bm25").run()
    assert parameters(page) == {"task": "parallel-titles", "a": "bm25", "b": PAIR["b"]}
    assert "USE multilingual is ahead of BM25 at R@10 by 0." in words(page)
    page.selectbox(key="significance-b").select("bm25-cjk").run()
    assert re.search("BM25( CJK)? (is ahead of|and) BM25( CJK)? ", words(page))


def test_a_pair_of_one_system_or_of_an_unknown_one_falls_back(full):
    page = full.page("significance", task="category", a="bm25", b="bm25")
    assert not page.exception
    assert page.selectbox(key="significance-b").value != "bm25"
    page = full.page("significance", task="category", a="nobody", b="bm25")
    assert not page.exception
    assert page.selectbox(key="significance-b").value == "bm25"


def test_a_click_sets_what_the_select_boxes_set(full):
    from streamlit.testing.v1 import AppTest

    def script():
        import streamlit as st

        from pages.shared import significance_table

        significance_table.choose(["x", "y"])
        st.write(" ".join(f"{name}={value}" for name, value in st.query_params.items()))

    app = AppTest.from_function(script).run()
    assert app.markdown[0].value == "a=x b=y"


def test_the_measure_of_the_address_is_compared(full):
    page = full.page("significance", task="category", measure="ndcg_at_10")
    assert "nDCG@10 · " in words(page)
    assert "ahead" in words(page)
    box = page.selectbox(key="significance-measure")
    assert box.options == ["R@10", "nDCG@10", "RR@10", "Hit@1", "R@10 same", "R@10 cross"]
    box.select("rr_at_10").run()
    assert parameters(page)["measure"] == "rr_at_10"
    assert "at RR@10" in words(page)
    assert "R@10 · " in words(full.page("significance", task="category", measure="retention"))


def test_without_answers_in_both_languages_there_is_no_tax_and_the_page_says_why(full):
    page = full.page("significance", task="parallel-titles")
    said = words(page)
    assert "No cross-lingual tax: no query has an answer in its own language and one in another." in said
    assert "What does crossing languages cost?" not in said
    assert "the answers are all of one route type" in said
    assert len(page.get("plotly_chart")) == CHARTS - 1


def test_of_one_system_there_is_nothing_to_compare(full):
    page = full.page("significance", task="category", systems="bm25")
    assert not page.exception
    said = words(page)
    assert "There is no pair to compare." in said
    assert "There is no second place to compare with." in said
    assert len(page.get("plotly_chart")) == 1  # what crossing languages costs it


def test_too_little_to_test_is_said_and_p_comes_on_request(example):
    page = example.page("significance")
    said = words(page)
    assert "descriptive only: 2 paired queries, a test needs 30" in said
    assert "Adjusted p =" not in said
    page.toggle(key="significance-descriptive").set_value(True).run()
    assert parameters(page) == {"descriptive": "yes"}
    said = words(page)
    assert "Adjusted p = 1.000" in said or "Adjusted p = 0.5" in said
    assert "Descriptive only: 2 paired queries, a test needs 30." in said
    again = example.page("significance", descriptive="yes")
    assert again.toggle(key="significance-descriptive").value
    assert words(again) == said


def test_two_systems_have_a_pair_but_no_omnibus_test(example):
    page = example.page("significance")
    assert "The systems were not tested together." in words(page)
    assert "test needs 3 systems" in words(page)
    assert "Which systems rank alike?" not in words(page)


def test_imported_scores_are_compared_by_their_own_measures(imported):
    page = imported.page("significance")
    assert not page.exception
    assert page.selectbox(key="significance-measure").options == ["R@10", "RR@10", "R@10 same", "R@10 cross"]
    said = words(page)
    assert "No global tax: it needs the rank of every answer" in said
    assert "Which systems rank alike?" in said
    assert not page.toggle  # nothing is withheld


def test_bars_over_too_few_queries_say_so(imported):
    page = imported.page("significance", where="language=fr")
    assert "The bars are descriptive only: 13 paired queries, a test needs 30." in words(page)


def test_no_chosen_system_says_what_to_do(full):
    assert "No system is chosen." in words(full.page("significance", systems=""))


def test_an_empty_cache_starts_the_first_build(empty):
    assert "Nothing is here yet" in words(empty.page("significance"))


@pytest.fixture(scope="module")
def view(imported_store):
    return significance.significance(imported_store, Selection("imported"))


def read(header, rows):
    return list(csv.DictReader(io.StringIO(tables.as_csv(header, rows).decode("utf-8-sig"))))


def test_the_files_hold_the_shown_numbers(view):
    (task,) = view.tasks
    for row, line in zip(task.tax, read(*significance_table.tax_numbers(task.tax)), strict=True):
        assert (line["system"], float(line["value"])) == (row.system.name, row.delta.value)
        assert (float(line["p_holm"]), int(line["win"])) == (row.p_holm, row.win)
    numbers = significance_table.pair_numbers(task.pairs, measure="R@10")
    for row, line in zip(task.pairs, read(*numbers), strict=True):
        assert (line["a"], line["b"], float(line["low"])) == (row.a.name, row.b.name, row.delta.low)
        assert float(line["p_bh"]) == row.p_bh
        assert (line["p_holm_best"] != "") == (significance.BEST in row.p_holm)
    lines = read(*significance_table.rank_numbers(task.friedman))
    assert [(line["system"], float(line["average_rank"])) for line in lines] == list(task.friedman.average_ranks)
    lines = read(*significance_table.agreement_numbers(view.order_agreement))
    assert len(lines) == len(view.order_agreement) > 0
    assert (significance_table.global_numbers(task.global_tax)[1], task.global_tax) == ([], ())
