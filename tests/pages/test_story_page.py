import re

import pytest
from visits import parameters, words

from pages.shared import interface

pytestmark = pytest.mark.slow
SYSTEM = "use-multilingual-v3"
ENGLISH = re.compile(r"\b(the|The|asks|Asked|helps|Replayed)\b")


def stage(page):
    """The screen of the story."""
    (body,) = [element.proto.body for element in page.get("html") if element.proto.body.startswith('<div class="story')]
    return body


def sentence(page):
    return re.sub("<[^>]+>", "", re.search('<p class="sentence">(.*?)</p>', stage(page), re.S)[1])


def fills(page):
    return any('[data-testid="stExpandSidebarButton"]' in element.proto.body for element in page.get("html"))


def turned(page, step):
    page.query_params["step"] = str(step)
    return page.run()


def test_six_steps_from_a_question_to_what_helps(bedside):
    page = bedside.page("story")
    assert not page.exception
    assert page.title[0].value == "Why should I care?"
    said = {1: sentence(page)} | {step: sentence(turned(page, step)) for step in range(2, 7)}
    assert said[1] == "Someone asks in English."
    assert said[2] == "The same concern, in Japanese."
    assert said[3].endswith("Asked in Japanese, none of the first 10 results is right.")
    assert said[4].startswith("Asked in Japanese, it misses all 6 right answers.")
    assert said[5] == "Asked in English, 42 of 100 questions find an answer on the first page; in Japanese, 0 of 100."
    assert (
        said[6] == "Another search helps: USE multilingual answers 83 of 100 questions over all languages, this one 23."
    )
    assert "drawn at random would reach" in stage(page)
    assert not page.exception


@pytest.mark.parametrize("ui", list(interface.NAMES))
def test_every_step_is_told_in_every_language(bedside, ui):
    page = bedside.page("story", ui=ui, notes="1")
    for step in range(1, 7):
        told = stage(turned(page, step))
        assert not page.exception
        assert f'lang="{ui}"' in told
        assert "{" not in sentence(page)
        said = sentence(page) + told.split('<p class="foot">')[1]
        assert bool(ENGLISH.search(said)) == (ui == "en"), said


def test_a_link_opens_its_step_and_another_number_the_first(bedside):
    assert sentence(bedside.page("story", step="5")).startswith("Asked in English, 42 of 100")
    assert sentence(bedside.page("story", step="99")) == "Someone asks in English."
    page = bedside.page("story", step="6")
    assert page.button(key="story-on").disabled
    page.button(key="story-back").click().run()
    assert parameters(page)["step"] == "5"


def test_question_and_languages_are_chosen_and_stay_when_the_other_changes(bedside):
    page = bedside.page("story", step="2")
    page.selectbox(key="story-concept").select("dengue").run()
    page.selectbox(key="story-second").select("fr").run()
    assert not page.exception
    assert parameters(page) == {"step": "2", "concept": "dengue", "second": "fr"}
    assert sentence(page) == "The same concern, in French."
    assert 'lang="fr"' in stage(page)
    assert "ja" not in parameters(page).values()


def test_the_menu_comes_back_and_goes(bedside):
    page = bedside.page("story")
    assert fills(page)
    page.button(key="story-menu").click().run()
    assert parameters(page) == {"screen": "page"}
    assert not fills(page)
    page.button(key="story-fill").click().run()
    assert parameters(page) == {}
    assert fills(page)


def test_notes_have_the_numbers_behind_the_sentence(bedside):
    page = bedside.page("story", step="5", notes="1")
    assert re.search(r"English: 0\.42 \(95 % interval 0\.33 to 0\.5\d, n = 107\)", words(page))
    assert re.search(
        r"Difference over all languages.*n = 642\), p &lt; 0\.001 after correction", words(turned(page, 6))
    )
    assert "inglés: 0,42" in words(bedside.page("story", step="5", notes="1", ui="es")).lower()


def test_asked_live_it_finds_what_the_stored_run_has(bedside):
    stored = bedside.page("story", step="3", notes="1", system=SYSTEM)
    assert "Replayed from a stored run: USE multilingual" in stage(stored)
    stored_screen = stage(stored)
    stored.toggle(key="story-live").set_value(True).run()
    assert not stored.exception
    assert parameters(stored)["live"] == "yes"
    assert "Asked live just now: USE multilingual" in stage(stored)
    assert stage(stored).replace("Asked live just now", "Replayed from a stored run") == stored_screen


def test_a_benchmark_without_rankings_says_so(imported):
    page = imported.page("story")
    assert not page.exception
    assert "This benchmark has per-query scores only: the story needs rankings." in words(page)
    assert not fills(page)


def test_questions_that_stand_alone_have_no_story(example):
    page = example.page("story", where="language=ja")
    assert not page.exception
    assert not page.error
    assert "is asked in several languages" in words(page)
    assert not fills(page)


def test_a_tiny_benchmark_says_that_it_is_too_small_to_tell_what_helps(example):
    page = example.page("story", step="6", system="bad")
    assert not page.exception
    assert sentence(page) == "There are too few questions here to say what helps."
