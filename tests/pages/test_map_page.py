"""The page Embedding map: fields, pictures, what an outline and a click list, and what is offered before."""

import json
import shutil

import pytest
from visits import Visit, parameters, words

from analysis import jobs
from analysis.paths import Cache
from tests.views.test_embedding_map import put


@pytest.fixture(scope="module")
def drawn_store(example_store, tmp_path_factory):
    cache = Cache(shutil.copytree(example_store.cache.root, tmp_path_factory.mktemp("map") / "store"))
    put(cache, "good", [(n, 0) for n in range(8)])
    put(cache, "bad", [(5, 2 * n) for n in range(8)])
    return cache


@pytest.fixture
def drawn(drawn_store, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(drawn_store.root))
    return Visit()


def figure(page):
    return json.loads(page.get("plotly_chart")[0].proto.spec)


def test_two_maps_side_by_side(drawn):
    page = drawn.page("map", system="good", beside="bad", concept="c")
    assert not page.exception
    said = words(page)
    assert "8 texts" in said
    assert "Placed most differently" in said
    drawing = figure(page)
    assert {trace.get("xaxis", "x") for trace in drawing["data"]} == {"x", "x2"}
    assert {trace["type"] for trace in drawing["data"]} == {"scatter"}  # nothing needs WebGL
    assert len([trace for trace in drawing["data"] if trace["mode"] == "lines"]) == 2


def test_an_outline_lists_its_texts_and_leads_to_the_query_explorer(drawn):
    page = drawn.page("map", system="good", area="0,4.5,-1,7.5,-1,7.5,1,4.5,1")
    assert not page.exception
    said = words(page)
    assert "3 texts chosen" in said
    assert "f1-en" not in said  # its text stands there, not its id
    assert "filler 1 en" in said
    assert "2 queries in the Query explorer" in said or page.get("page_link")
    listed = drawn.page("queries", among="0")
    assert "1 to 1 of 1 queries" in words(listed)
    next(button for button in listed.button if "Look among all" in button.label).click().run()
    assert "1 to 2 of 2 queries" in words(listed)
    next(button for button in page.button if button.label == "Clear the selection").click().run()
    assert "area" not in parameters(page)


def test_concepts_are_chosen_and_without_a_choice_the_map_takes_one(drawn):
    page = drawn.page("map", system="good", colour="concept", concept="c,f1")
    assert not page.exception
    assert "6 texts of c and f1" in words(page)
    assert page.multiselect(key="map-concept").value == ["c", "f1"]
    assert {trace.get("legendgroup") for trace in figure(page)["data"] if trace.get("customdata")} == {"c", "f1", ""}
    page.multiselect(key="map-concept").set_value([]).run()
    assert not page.exception
    assert "concept" not in parameters(page)
    assert "5 texts of c;" in words(page)  # the map takes one


def test_errors_stand_in_the_list_and_a_difference_needs_two(drawn):
    page = drawn.page("map", system="good", colour="error", area="0,-1,-1,1.5,-1,1.5,1,-1,1")
    assert not page.exception
    said = words(page)
    assert "good misses 0 of 100 texts altogether" in said
    assert "Error, good" in said
    assert "0.50" in said
    both = drawn.page("map", system="good", beside="bad", colour="difference")
    assert not both.exception
    assert "good misses 5 of 5 texts less than bad does" in words(both)
    alone = drawn.page("map", system="good", colour="difference")
    assert not alone.exception
    assert "difference" not in alone.selectbox(key="map-colour").options
    assert alone.selectbox(key="map-colour").value == "language"


def test_a_chosen_text_is_shown_with_its_neighbours(drawn):
    page = drawn.page("map", system="good", point="q1")
    assert not page.exception
    said = words(page)
    assert "質問" in said
    assert "Only coordinates are known of it" in said


@pytest.mark.parametrize("area", ["0,1,2", "0,a,b,c,d,e,f", "7,0,0,1,0,1,1", ""])
def test_an_outline_that_cannot_be_read_is_none(drawn, area):
    page = drawn.page("map", system="good", area=area, point="q99")
    assert not page.exception
    assert "Draw around points" in words(page)


def test_where_nothing_is_drawn_it_says_what_to_do(example):
    page = example.page("map")
    assert not page.exception
    assert "Cannot be drawn: bad, good (the run came from another tool, so its encoder is not known)." in words(page)


def test_jobs_are_looked_for_once_a_page(drawn, monkeypatch):
    looks, listed = [], jobs.listed
    monkeypatch.setattr(jobs, "listed", lambda: looks.append(1) or listed())
    assert not drawn.page("map", system="good").exception
    assert len(looks) == 1
