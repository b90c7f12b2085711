"""What a translation keeps, counted by hand."""

import pytest

from analysis.benchmarks import fidelity
from analysis.benchmarks.fidelity import Kept, SourceTerm


def test_the_abbreviations_of_the_paper_are_protected_and_none_twice():
    found = fidelity.abbreviations()
    assert found[:3] == ("HIV", "MRI", "HbA1c")
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("Is HIV-1 seen by MRI?", ("HIV", "MRI")),
        ("是否HIV感染", ("HIV",)),  # no letter of another script is part of the word
        ("ＨＩＶ感染とＡＨＩＶ", ("HIV",)),
        ("hiv and AHIV", ()),
        ("HbA1c, HBA1C", ("HbA1c",)),
        ("SARS-CoV-2 or COVID-19", ("COVID-19", "SARS-CoV-2")),
    ],
)
def test_an_abbreviation_stands_as_it_is_written(text, here):
    assert fidelity.written_in(text) == here


def test_an_abbreviation_in_a_term_is_part_of_it():
    text = "Does MRI help in HIV infection or covid with COVID-19 pneumonia?"
    found = [("hiv infection", "C1"), ("covid 19 pneumonia", "C2")]
    assert fidelity.source_terms(text, found) == (
        SourceTerm("hiv infection", "C1", ("HIV",)),
        SourceTerm("covid 19 pneumonia", "C2", ("COVID-19",)),
        SourceTerm("MRI", None, ("MRI",)),
    )


TERMS = (
    SourceTerm("hiv infection", "C1", ("HIV",)),
    SourceTerm("fever", "C2", ()),
    SourceTerm("rash", "C3", ()),
    SourceTerm("MRI", None, ("MRI",)),
)


@pytest.mark.parametrize(
    ("text", "spoken", "there", "expected", "preservation"),
    [
        ("MRI", "C1 C2 C3", "C1 C2 C3", Kept(4, 4, 2, 1, 0), 1.0),
        ("IRM", "C1 C2 C3", "C1 C3", Kept(4, 2, 2, 0, 0), 0.5),
        ("infection à HIV, MRI", "C2", "C2", Kept(3, 3, 2, 2, 1), 1.0),  # no word for C1 is known, but HIV stands there
        ("IRM", "", "", Kept(2, 0, 2, 0, 2), 0.0),
    ],
)
def test_a_term_is_kept_by_a_word_or_by_its_abbreviation(text, spoken, there, expected, preservation):
    found = fidelity.kept(TERMS, text, spoken=set(spoken.split()), there=set(there.split()))
    assert found == expected
    assert found.preservation == preservation


def test_without_a_term_nothing_is_known():
    assert fidelity.kept((), "x", spoken=(), there=()).preservation is None
    assert fidelity.kept(TERMS[1:3], "x", spoken=(), there=()) == Kept(0, 0, 0, 0, 2)


@pytest.mark.parametrize(
    ("first", "second", "f1"),
    [
        ("What is it?", "what IS it", 1.0),
        ("a b c d e f g h i", "a b c d e f", 12 / 15),
        ("a b c d e f g h i", "a b c d e", 10 / 14),
        ("a b c d e f g h i", "a b c", 6 / 12),
        ("the the cat", "the cat cat", 4 / 6),  # each word as often as in both
        ("it", "", 0.0),
        ("?", "!", 0.0),
        ("Cafe\u0301", "café", 1.0),
    ],
)
def test_f1_of_words(first, second, f1):
    assert fidelity.token_f1(first, second) == f1 == fidelity.token_f1(second, first)


@pytest.mark.parametrize(
    ("preservation", "f1", "status"),
    [
        (0.9, 0.8, "pass"),
        (9 / 10, 12 / 15, "pass"),
        (0.89, 1.0, "flag"),
        (1.0, 0.79, "flag"),
        (0.7, 0.6, "flag"),
        (0.69, 1.0, "fail"),
        (1.0, 0.59, "fail"),
        (None, 0.8, "pass"),
        (None, 0.7, "flag"),
        (None, 0.5, "fail"),
        (1.0, None, "flag"),
        (0.5, None, "fail"),
        (None, None, "flag"),
    ],
)
def test_status_by_the_bounds(preservation, f1, status):
    assert fidelity.status(preservation, f1) == status
