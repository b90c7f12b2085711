"""What is doubtful about a text, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.imports import flags
from analysis.imports.records import AMBIGUOUS
from analysis.model import Document, Flag, FlagCounts, Query


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        ("zh", "地震预警系统", None),
        ("zh", "Fighting floods in citties", "other script"),
        ("ja", "………… ?!", "no letters"),
        ("ru", "Грипп у взрослых", None),
        ("ru", "ECG", "other script but short"),
        ("ru", "ECG при гриппе", None),  # a Latin name among Cyrillic words
        ("ja", "HIV の 検査", None),
        ("ja", "exe", "other script but short"),
        ("en", "проверка связи", "other script"),
        ("el", "  \t", "no text"),
        ("und", "anything, всё", None),
        ("ja", "12 34", "no letters"),
    ],
)
def test_a_query_is_flagged_for_what_its_text_lacks(language, text, reason):
    expected = () if reason is None else (Flag("query", "q", reason),)
    assert flags.text_flags([Query("q", language, text, "q")], []) == expected


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [("ko", "", "no text"), ("ko", "심장 마비", None), ("ko", "heart attack", "other script"), ("ko", "12.5 %", None)],
)
def test_a_document_is_flagged_for_its_text_and_may_be_numbers_alone(language, text, reason):
    expected = () if reason is None else (Flag("document", "d", reason),)
    assert flags.text_flags([], [Document("d", language, text, "d")]) == expected


def test_an_id_with_two_texts_and_a_doubtful_one_is_flagged_twice():
    query = Query("q", "ru", "ECG", "q", attributes={AMBIGUOUS: "yes"})
    found = flags.text_flags([query], [])
    assert [flag.reason for flag in found] == ["ambiguous id", "other script but short"]
    assert flags.counts([*found, *found]) == FlagCounts(1, 0, {"ambiguous id": 1, "other script but short": 1})
    assert flags.flagged(found, "query", flags.AMBIGUOUS, flags.SHORT) == ["q"]
    assert flags.flagged(found, "document", flags.AMBIGUOUS) == []


TEXT = st.text(max_size=12)
LANGUAGE = st.sampled_from(["en", "ja", "ru", "und"])


@given(st.lists(st.tuples(LANGUAGE, TEXT), max_size=6), st.lists(st.tuples(LANGUAGE, TEXT), max_size=6))
def test_flags_name_what_is_there_and_count_up(asked, held):
    queries = [Query(f"q{n}", tag, text, f"q{n}") for n, (tag, text) in enumerate(asked)]
    documents = [Document(f"d{n}", tag, text, f"d{n}") for n, (tag, text) in enumerate(held)]
    found = flags.text_flags(queries, documents)
    assert {flag.id for flag in found if flag.item == "query"} <= {query.id for query in queries}
    assert {flag.id for flag in found if flag.item == "document"} <= {document.id for document in documents}
    assert len({flag[:2] for flag in found}) == len(found)  # one reason each
    blank = {row.id for row in (*queries, *documents) if not row.text.strip()}
    assert {flag.id for flag in found if flag.reason == "no text"} == blank
    counted = flags.counts(found)
    assert counted.queries + counted.documents == len(found) == sum(counted.reasons.values())
