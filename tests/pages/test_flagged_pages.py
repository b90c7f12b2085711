"""The switch that leaves doubtful items out of every page."""

from dataclasses import replace

import pytest
from visits import Visit, parameters, words

from analysis.model import Flag
from analysis.paths import Cache
from tests.hand_made import put, ranking_of, worked_example

PAGES = ("overview", "routes", "tiers", "recoverability", "fairness", "significance", "causes", "method", "probe")
SWITCH = "Leave out doubtful items"
FLAGGED = "1 of 2 queries and 2 of 11 documents are flagged (2 other script, 1 no text)"


@pytest.fixture(scope="module")
def flagged_store(tmp_path_factory):
    """The worked example with flags, and the same without under another name."""
    made = worked_example()
    flags = (
        Flag("query", "q2", "other script"),
        Flag("document", "c-fr", "other script"),
        Flag("document", "f0-en", "no text"),
    )
    task = replace(made.tasks[0], flags=flags)
    runs = {
        (name, "multilingual dense"): ranking_of(task, lists, depth=10)
        for name, lists in (
            ("good", [["c-en", "f0-en", "f1-en", "c-fr"], ["f0-fr", "c-ja", "c-en"]]),
            ("bad", [["f0-en", "c-en"], []]),
        )
    }
    cache = Cache(tmp_path_factory.mktemp("flagged"))
    put(cache, replace(made, name="sound", title="Sound"), runs)
    put(cache, replace(made, tasks=(task,)), runs)
    return cache.root


@pytest.fixture
def flagged(flagged_store, monkeypatch, first_start):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(flagged_store))
    return Visit()


def switches(page):
    return [toggle for toggle in page.sidebar.toggle if toggle.label == SWITCH]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_says_what_is_flagged_and_leaves_it_out_on_request(flagged, name):
    counted = flagged.page(name, benchmark="example")
    assert not counted.exception
    assert f"{FLAGGED}; they are counted." in words(counted)
    (switch,) = switches(counted)
    assert not switch.value
    switch.set_value(True).run()
    assert not counted.exception
    assert parameters(counted) == {"benchmark": "example", "flagged": "out"}
    assert words(counted).count(f"{FLAGGED}; they are left out.") == 2  # in the sidebar and under the title
    assert words(flagged.page(name, benchmark="example", flagged="out")) == words(counted)
    switches(counted)[0].set_value(False).run()
    assert parameters(counted) == {"benchmark": "example"}


def test_a_page_about_all_that_is_stored_counts_them(flagged):
    page = flagged.page("data", benchmark="example", flagged="out")
    assert not page.exception
    assert not switches(page)
    assert words(page).count(f"{FLAGGED}; they are counted.") == 1
    assert "they are left out" not in words(page)


def test_numbers_are_of_what_is_left(flagged):
    assert "2 queries in 2 languages (en, ja)" in words(flagged.page("overview", benchmark="example"))
    left = words(flagged.page("overview", benchmark="example", flagged="out"))
    assert "1 queries in 1 language (en)" in left


def test_nothing_is_asked_where_nothing_is_flagged(flagged):
    page = flagged.page("overview", benchmark="sound", flagged="out")
    assert not switches(page)
    assert "are flagged" not in words(page)
    assert words(page).replace("&amp;flagged=out", "") == words(flagged.page("overview", benchmark="sound"))


def test_the_choice_goes_along_to_other_pages(flagged):
    page = flagged.page("overview", benchmark="example", flagged="out")
    assert 'href="routes?benchmark=example&amp;flagged=out"' in words(page)


def test_what_is_no_choice_counts_as_none(flagged):
    page = flagged.page("overview", benchmark="example", flagged="perhaps")
    assert f"{FLAGGED}; they are counted." in words(page)
    assert not switches(page)[0].value
