import pytest
from visits import parameters, words

from analysis import probe
from analysis.views import source

MINILM = "all-minilm-l6-v2"
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
    assert ">agreement</th>" in said
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


def test_no_words_is_an_empty_state(full):
    page = full.page("probe", encoder=MINILM, mode="one", language="en", text=" ")
    assert not page.exception
    assert "Nothing is asked yet" in words(page)


def test_markup_in_a_query_is_shown_not_obeyed(full):
    page = full.page("probe", encoder="bm25", mode="one", language="en", text="<img src=x onerror=alert(1)> fever")
    assert not page.exception
    assert "<img" not in words(page)
