import json

from visits import parameters, words

MINILM = "all-minilm-l6-v2"


def spec(page, place=0):
    return json.loads(page.get("plotly_chart")[place].proto.spec)


def test_the_heatmaps_and_the_sentence_above_them(full):
    page = full.page("routes")
    assert len(page.get("plotly_chart")) == 1
    assert "of 100" in words(page)
    assert sum(trace["type"] == "heatmap" for trace in spec(page)["data"]) == 2 * len(page.multiselect[0].options)


def test_a_route_in_the_address_shows_its_queries(full):
    page = full.page("routes", route="en,ja", system=MINILM)
    assert page.header[0].value.startswith("en → ja · all-MiniLM · ")
    assert "queries fail" in page.header[0].value
    assert page.selectbox(key="routes-route").value == "en,ja"
    assert ">Right answer</th>" in words(page)


def test_the_select_box_does_what_a_click_does(full):
    page = full.page("routes")
    page.selectbox(key="routes-route").select("en,ja").run()
    page.selectbox(key="routes-system").select(MINILM).run()
    assert parameters(page) == {"route": "en,ja", "system": MINILM}
    by_box = words(page)
    assert by_box == words(full.page("routes", route="en,ja", system=MINILM))


def test_a_click_calls_the_same_function_with_the_cell(full):
    def script():
        import streamlit as st

        from pages.shared import route_table

        route_table.choose(["all-minilm-l6-v2", "en", "ja"])
        st.write(st.query_params.to_dict())

    from streamlit.testing.v1 import AppTest

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert parameters(app) == {"system": MINILM, "route": "en,ja"}


def test_the_chosen_cell_is_framed(full):
    page = full.page("routes", route="en,ja", system=MINILM, systems=MINILM)
    assert any(shape["line"]["width"] > 2 for shape in spec(page)["layout"]["shapes"])


def test_each_query_leads_to_the_live_probe(full):
    page = full.page("routes", route="en,ja", system=MINILM, systems=f"{MINILM},bm25")
    said = words(page)
    assert 'href="probe?' in said
    assert f"encoder={MINILM}" in said
    assert "mode=one&amp;language=en&amp;text=" in said


def test_the_rows_beyond_the_first_come_when_asked_for(full):
    page = full.page("routes", route="en,en", system=MINILM)
    few = words(page).count("<tr>")
    page.toggle(key="routes-rows").set_value(True).run()
    assert parameters(page)["rows"] == "yes"
    assert words(page).count("<tr>") > few


def test_the_difference_of_two_systems(full):
    page = full.page("routes", system=MINILM, minus="use-multilingual-v3")
    assert [header.value for header in page.header] == ["all-MiniLM minus USE multilingual"]
    assert "0 no difference" in str(spec(page, 1))


def test_retention_and_preference_are_measures_too(full):
    assert "Retention: R@10 of a route" in words(full.page("routes", measure="retention"))
    page = full.page("routes", measure="preference")
    assert "against its share of the documents" in words(page)
    assert spec(page)["layout"]["coloraxis"]["colorbar"]["title"]["text"] == "times its share"


def test_the_page_says_why_a_diagonal_is_blank(full):
    assert "so the diagonal is blank" in words(full.page("routes", task="parallel-titles"))


def test_a_route_that_is_none_is_ignored(full):
    for route in ("en", "en,xx", "a,b,c"):
        page = full.page("routes", route=route)
        assert not page.exception
        assert len(page.header) == 0
