import pytest
from visits import words


@pytest.mark.parametrize(
    ("name", "says"),
    [("tiers", "fails to put the answer above every sibling"), ("fairness", "reaches nDCG@10")],
)
def test_the_page_answers_its_question_with_charts_and_a_table(full, name, says):
    page = full.page(name, task="discrimination")
    assert not page.exception
    assert says in words(page)
    assert page.get("plotly_chart")
    assert page.get("download_button")


def test_all_tasks_stand_below_each_other(full):
    page = full.page("fairness", task="all")
    assert not page.exception
    assert {"Find the category", "Parallel titles", "Tell siblings apart"} <= {header.value for header in page.header}


@pytest.mark.parametrize("name", ["tiers", "fairness"])
def test_an_empty_cache_starts_the_first_build(empty, name):
    page = empty.page(name)
    assert not page.exception
    assert "Nothing is here yet" in words(page)


def test_an_outcome_shows_its_queries_and_the_address_restores_it(full):
    page = full.page("tiers", task="discrimination", system="all-minilm-l6-v2", outcome="unrelated,other")
    assert page.selectbox(key="tiers-system").value == "all-minilm-l6-v2"
    said = words(page)
    assert "all-MiniLM · unrelated, in another language" in said
    page.selectbox(key="tiers-outcome").select("sibling,same").run()
    assert "all-MiniLM · sibling, in the query's language" in words(page)


def test_the_click_and_the_select_box_set_the_same(full):
    from streamlit.testing.v1 import AppTest

    def script():
        import streamlit as st

        from analysis.views.selection import SystemLabel
        from pages.shared import tier_table

        systems = [
            SystemLabel("a-name", "A title", "A", "lexical", 0),
            SystemLabel("b-name", "B title", "B", "lexical", 1),
        ]
        tier_table.choose_system(systems)(["B", "related", "other"])
        chosen = tier_table.pickers(systems)
        st.write(f"{chosen.system.name} {chosen.relation} {chosen.language}")

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert app.markdown[0].value == "b-name related other"
