import datetime

import pytest
from visits import Visit, parameters, words

from analysis import probe
from analysis.cli import main
from analysis.views import notes, source
from pages.shared import probe_history
from pages.shared.probe_history import Asked

MINILM = "all-minilm-l6-v2"
TWO = "all-minilm-l6-v2,use-multilingual-v3"
pytestmark = pytest.mark.slow


def first_concept():
    """A concept whose label can be compared with what stands in HTML."""
    found = probe.concepts(source.open_source(), benchmark="icd10", task="category")
    return next(concept for concept in found if concept.label.replace(" ", "").isalpha())


def test_the_same_words_in_every_language_one_row_each(full):
    page = full.page("probe", encoder=MINILM)
    assert not page.exception
    said = words(page)
    assert "heart attack" in said
    assert ">Agreement</th>" in said
    assert said.count("Herzinfarkt") >= 1
    assert "Encoding" in said


def test_a_concept_of_the_benchmark_shows_where_its_answers_stand(full):
    page = full.page("probe", encoder=MINILM)
    concept = first_concept()
    page.selectbox(key="probe-concept").select(concept.family).run()
    assert not page.exception
    assert parameters(page)["concept"] == concept.family
    said = words(page)
    assert concept.label in said
    assert ">→ ja</th>" in said
    assert "right answers in the first 10" in said
    assert len(page.get("plotly_chart")) == 1


def test_one_query_lists_its_first_documents_and_its_pieces(full):
    page = full.page("probe", encoder=MINILM, mode="one", language="en", text="typhoid")
    said = words(page)
    assert ">Document</th>" in said
    assert ">Pieces</th>" in said
    assert page.text_input(key="probe-text").value == "typhoid"


def test_a_query_of_the_benchmark_is_recognised_by_its_words(full):
    concept = first_concept()
    text = dict(zip(concept.languages, concept.texts, strict=True))["en"]
    page = full.page("probe", encoder=MINILM, mode="one", language="en", text=text)
    assert "right answers in the first 10" in words(page)
    assert "These are the words of a query of the benchmark" in words(page)
    assert "Nearest known concept:" not in words(page)


def test_no_words_is_an_empty_state(full):
    page = full.page("probe", encoder=MINILM, mode="one", language="en", text=" ")
    assert not page.exception
    assert "Nothing is asked yet" in words(page)


def test_markup_in_a_query_is_shown_not_obeyed(full):
    page = full.page("probe", encoder="bm25", mode="one", language="en", text="<img src=x onerror=alert(1)> fever")
    assert not page.exception
    assert "<img" not in words(page)


def test_two_systems_that_tell_the_story_are_asked_at_first(full):
    page = full.page("probe")
    assert not page.exception
    assert page.multiselect(key="probe-encoder").value == TWO.split(",")
    assert parameters(page) == {}
    said = words(page)
    assert "The concept found first in English comes first in" in said
    assert said.count(">First hit</th>") == 2
    assert said.count('scope="colgroup"') == 2
    assert "all-MiniLM" in said
    assert "USE multilingual" in said


def test_lists_stand_side_by_side_and_right_answers_are_marked(full):
    concept = first_concept()
    page = full.page("probe", encoder=TWO, mode="one", language="en", concept=concept.family)
    said = words(page)
    assert ">Rank</th>" in said
    assert "● right answer" in said
    assert len(page.get("plotly_chart")) == 1  # one row a system
    whole = full.page("probe", encoder=TWO, concept=concept.family)
    assert words(whole).count(">Best right answer</th>") == 2
    assert "Over all 6 languages: all-MiniLM" in words(whole)
    assert len(whole.get("plotly_chart")) == 2


def test_of_more_than_four_systems_in_the_address_the_first_four_are_asked(full):
    page = full.page(
        "probe", mode="one", text="fever", encoder="bm25,bm25-cjk,all-minilm-l6-v2,use-multilingual-v3,rrf-bm25-use"
    )
    assert not page.exception
    assert len(page.multiselect(key="probe-encoder").value) == 4


def test_words_of_ones_own_are_measured_only_against_a_concept_that_is_chosen(full):
    page = full.page("probe", encoder=MINILM, mode="one", language="en", text="typhoid feverish")
    said = words(page)
    assert "Nearest known concept:" in said
    assert "cosine" in said
    assert "No right answer is known" in said
    box = page.selectbox(key="probe-against")
    assert box.value == ""
    assert [option.split(" · ")[0][:6] for option in box.options[1:4]] == ["cosine"] * 3
    box.select(first_concept().family).run()
    assert parameters(page)["against"] == first_concept().family
    assert "right answers in the first 10" in words(page)
    page.text_input(key="probe-text").set_value("something else").run()
    assert "against" not in parameters(page)
    assert "No right answer is known" in words(page)


def test_what_was_asked_is_listed_asked_again_and_forgotten(full):
    page = full.page("probe", encoder="bm25", mode="one", language="en", text="fever")
    page.text_input(key="probe-text").set_value("cough & <b>cold</b>").run()
    asked = page.session_state[probe_history.KEY]
    assert [dict(one.texts) for one in asked] == [{"en": "cough & <b>cold</b>"}, {"en": "fever"}]
    assert [one.parameters["text"] for one in asked] == ["cough & <b>cold</b>", "fever"]
    said = words(page)
    assert 'href="?encoder=bm25&amp;mode=one&amp;language=en&amp;text=fever"' in said
    assert "<b>cold" not in said
    page.text_input(key="probe-text").set_value("fever").run()
    assert [dict(one.texts)["en"] for one in page.session_state[probe_history.KEY]] == ["fever", "cough & <b>cold</b>"]
    next(button for button in page.button if button.label == "Clear this list").click().run()
    assert page.session_state[probe_history.KEY] == []
    assert "Asked in this session" not in [box.label for box in page.expander]


def test_the_list_is_bounded(full):
    page = full.page("probe", encoder="bm25", mode="one", language="en", text="fever")
    old = datetime.datetime.now(datetime.UTC)
    page.session_state[probe_history.KEY] = [Asked({"text": f"{n}"}, {"en": f"{n}"}, ("BM25",), old) for n in range(20)]
    page.text_input(key="probe-text").set_value("cough").run()
    asked = page.session_state[probe_history.KEY]
    assert [dict(one.texts)["en"] for one in asked] == ["cough", *(f"{n}" for n in range(19))]


def test_a_probe_is_kept_as_a_note_of_the_query_it_is_measured_against(own_store, monkeypatch, capsys):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(own_store))
    visit = Visit()
    concept = first_concept()
    asked = {"encoder": "bm25,bm25-cjk", "mode": "one", "language": "en", "text": f"{concept.label} please"}
    assert "A note stands with a query of the benchmark" in words(visit.page("probe", **asked))
    page = visit.page("probe", **asked, against=concept.family)
    next(button for button in page.button if button.label == "Keep it").click().run()
    assert "expected" in page.error[0].value  # nobody's note
    field = {field.label: field for field in [*page.text_input, *page.text_area]}
    field["Your name"].set_value("Ana").run()
    field["Your own words before it"].set_value("odd").run()
    for _ in range(2):  # the same twice says nothing new
        next(button for button in page.button if button.label == "Keep it").click().run()
    assert "Kept" in page.success[0].value
    query = concept.queries[concept.languages.index("en")]
    rows = notes.of_query(source.open_source(), "icd10", "category", query)
    assert [(row.system, row.author, row.tag) for row in rows] == [("bm25", "Ana", None), ("bm25-cjk", "Ana", None)]
    assert all(row.note.startswith("odd\nLive probe of BM25") for row in rows)
    assert all(row.note.count(f"“{asked['text']}” (en) finds first") == 1 for row in rows)
    assert asked["text"] in words(visit.page("queries", query=query))
    main(["notes", "--benchmark", "icd10", "--format", "csv", "--cache", str(own_store)])
    assert asked["text"] in capsys.readouterr().out
