"""The Query explorer: every filter is in the address, every query can be opened, and nobody's text becomes markup."""

import re
import shutil

import pytest
from visits import Visit, parameters, words


def pills(page):
    (found,) = [group for group in page.get("pills") if group.proto.label == "What becomes of it"] or [None]
    return found


def test_the_list_and_its_counts(example):
    page = example.page("queries", system="good", minus="bad")
    assert not page.exception
    said = words(page)
    assert "0 of 2 queries defeat all 2 systems" in said
    assert "1 to 2 of 2 queries" in said
    assert re.search(r'href="\?[^"]*query=q1"', said)
    assert [option.content for option in pills(page).proto.options][:3] == [
        "every query (2)",
        "good finds it, bad does not (1)",
        "bad finds it, good does not (0)",
    ]


def test_filters_stand_in_the_address(example):
    page = example.page("queries", system="good", minus="bad", found="first", answers="ja", asked="ja")
    assert "1 to 1 of 1 queries" in words(page)
    page.text_input[0].set_value("nowhere").run()
    assert parameters(page)["words"] == "nowhere"
    assert "No query passes these filters." in words(page)


def test_what_an_address_cannot_mean_is_the_default(example):
    page = example.page("queries", system="x", minus="good", found="x", answers="xx", asked="yy", near="7", least="0",
                        most="x", start="-1", order="x", lists="x,y")  # fmt: skip
    assert not page.exception
    assert not page.error
    assert "2 of 2 queries" in words(page)


def test_an_opened_query(example):
    page = example.page("queries", query="q1", lists="good,bad")
    assert not page.exception
    said = words(page)
    assert "question one" in said
    assert "2 of 2 systems have a right answer in the first 10" in said
    assert "Right answers, and where each system has them" in said
    assert "filler 0 en" in said
    assert "質問" in said  # the same question in Japanese


def test_turning_the_pages(example):
    page = example.page("queries", query="q2", order="benchmark")
    buttons = {button.label: button for button in page.button}
    assert buttons["After →"].disabled
    buttons["← Before"].click().run()
    assert parameters(page)["query"] == "q1"
    {button.label: button for button in page.button}["Back to the list"].click().run()
    assert "query" not in parameters(page)


def test_an_unknown_query_is_named(example):
    page = example.page("queries", query="q9")
    assert "Query 'q9': main has no such query" in page.error[0].value


def test_one_system_alone(example):
    page = example.page("queries", systems="bad")
    assert not page.exception
    assert "bad has a right answer in the first 10 for 1 of 2 queries." in words(page)


def test_imported_scores_say_what_is_missing(imported):
    page = imported.page("queries")
    assert not page.exception
    assert "the query explorer needs rankings" in words(page)


@pytest.fixture
def own(example_store, tmp_path, monkeypatch):
    """A visit to a copy of the worked example that the test may write notes on."""
    root = shutil.copytree(example_store.cache.root, tmp_path / "store")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(root))
    return Visit()


def button(page, label):
    return next(button for button in page.button if button.label == label)


def field(page, label):
    return next(field for field in [*page.text_input, *page.text_area] if field.label == label)


def annotate(page, *, author, tags=(), tag="", note=""):
    field(page, "Your name").set_value(author).run()
    page.button_group(key="tags-q1").set_value(list(tags))
    field(page, "Or another tag").set_value(tag)
    field(page, "Note").set_value(note)
    button(page, "Keep it").click()
    return page.run()


def test_a_tag_is_kept_seen_by_others_filtered_by_and_taken_back(own):
    page = own.page("queries", query="q1", system="good")
    annotate(page, author="Ana", tags=["wrong sibling"], tag="mine", note="<b>look</b> [x](http://y)")
    assert not page.exception
    other = own.page("queries", query="q1")
    said = words(other)
    assert said.count("Ana") >= 2
    assert "&lt;b&gt;look&lt;/b&gt;" in said
    assert "<b>look" not in said
    listed = own.page("queries")
    assert "wrong sibling, mine" in words(listed)
    assert "1 to 1 of 1 queries" in words(own.page("queries", tag="mine"))
    back = [button for button in page.button if button.label.startswith("Take back")]
    assert [button.label for button in back] == ["Take back “wrong sibling”", "Take back “mine”"]
    back[0].click().run()
    assert "wrong sibling" not in words(own.page("queries"))


def test_without_a_name_or_a_word_nothing_is_kept(own):
    page = annotate(own.page("queries", query="q1"), author="", tags=["other"])
    assert "expected" in page.error[0].value
    page = annotate(own.page("queries", query="q1"), author="Ana")
    assert "expected" in page.error[0].value
    assert "Take back" not in str([button.label for button in page.button])


def test_all_that_was_said(own):
    assert "Nobody has tagged a query" in words(own.page("queries", part="notes"))
    for author, tags in (("Ana", ["other", "tokenisation"]), ("Bo", ["other"])):
        annotate(own.page("queries", query="q1", system="good", answers="ja"), author=author, tags=tags)
    page = own.page("queries", part="notes")
    assert not page.exception
    said = words(page)
    assert "“tokenisation” and “other” are the most frequent tags: 1 of 1 tagged query each." in said
    assert "en → ja" in said
    assert "Ana and Bo have both tagged 1 item" in said
    labels = [element.proto.label for element in page.get("download_button")]
    assert labels == ["CSV", "Markdown"]
    assert "1 to 1 of 1 queries" in words(own.page("queries", by="Bo"))
    assert "No query passes" in words(own.page("queries", tag="tokenisation", by="Bo"))
    assert "“other” is the most frequent tag: 1 of 1 tagged query." in words(own.page("queries", part="notes", by="Bo"))
    none = own.page("queries", part="notes", tag="tokenisation", by="Bo")
    assert "Without the filter there are 3." in words(none)
    assert not none.get("download_button")


def test_better_or_worse(example):
    page = example.page("queries", part="change", minus="good", system="bad")
    assert not page.exception
    said = words(page)
    assert "0 of 2 queries got better with bad, 2 got worse." in said
    assert "Got worse (2)" in said
    assert "Got better (0)" in said
    assert "en → fr" in said
    alone = example.page("queries", part="change", systems="good")
    assert "Better or worse needs two runs." in words(alone)
