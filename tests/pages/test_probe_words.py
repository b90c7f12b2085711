"""The sentence over a live probe, from answers made by hand."""

import pytest

from analysis.probe import ConceptProbe, KnownAnswer, ProbeAnswer, ProbeHit
from analysis.views.selection import SystemLabel
from pages.shared import probe_parts, probe_words

LANGUAGES = ("en", "ja")


def label(name, paradigm="lexical"):
    return SystemLabel(name, name.upper(), name, paradigm, 0)


def answer(name, language, families, ranks):
    """A list of documents of these families, and right answers at these ranks."""
    hits = tuple(
        ProbeHit(place, f"{family}-{language}", language, family, 1 / place, None, family)
        for place, family in enumerate(families, start=1)
    )
    known = tuple(KnownAnswer(f"r{place}", "en", "right", rank) for place, rank in enumerate(ranks))
    return ProbeAnswer(label(name), "text", language, hits, known, 3.0, 1.0, 1000, ("text",))


def found(name, lists, ranks=((), ()), overlap=(1.0, 0.25)):
    answers = [answer(name, *row) for row in zip(LANGUAGES, lists, ranks, strict=False)]
    return ConceptProbe(label(name), LANGUAGES[: len(answers)], tuple(answers), tuple(overlap[: len(answers)]))


def test_the_language_where_systems_are_farthest_apart_is_told():
    weak = found("weak", ("a", "b"), ranks=((1, 2), (50, None)))
    strong = found("strong", ("a", "a"), ranks=((1, 11), (2, 10)))
    said = probe_words.takeaway([weak, strong])
    assert said.bold == "Asked in Japanese, strong puts 2 of 2 right answers in the first 10, weak 0."
    assert said.rest == "Over all 2 languages: weak 2 of 4, strong 3 of 4."
    alike = probe_words.takeaway([weak, found("other", ("a", "b"), ranks=((3, 4), (11, None)))])
    assert alike.bold == "Asked in English, both systems put 2 of 2 right answers in the first 10."


def test_without_right_answers_it_counts_languages_in_which_the_same_concept_comes_first():
    said = probe_words.takeaway([found("weak", ("ab", "ba")), found("strong", ("ab", "ab"), overlap=(1.0, 0.9))])
    assert said.bold == (
        "The concept found first in English comes first in 2 of 2 languages with strong, in 1 with weak."
    )
    assert said.rest == "Farthest from its English list is the Japanese one of weak: agreement 0.25 of 1."


def test_a_system_that_finds_nothing_leads_nowhere():
    said = probe_words.takeaway([found("mute", ("", ""), overlap=(None, None)), found("strong", ("a", "a"))])
    assert "with strong, in 0 with mute" in said.bold


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        (("abc", "abd"), "x and y share 2 of their first 10 documents."),
        (("abc", "def"), "x and y share none of their first 10 documents."),
        (("abc", "abd", "xyz"), "x and z share none of their first 10 documents."),
    ],
)
def test_of_one_query_it_says_how_much_two_lists_share(lists, words):
    said = probe_words.takeaway([found(name, [families]) for name, families in zip("xyz", lists, strict=False)])
    assert said.bold == words
    assert bool(said.rest) == (len(lists) > 2)


def test_times_of_one_and_of_several():
    one, two = found("x", ("a", "b")), found("y", ("a", "b"))
    assert probe_words.timing([one]) == "Encoding 6 ms, searching 1,000 documents 2 ms for 2 queries"
    assert probe_words.timing([one, two]) == (
        "1,000 documents · encoding + searching for 2 queries: x 6 + 2 ms · y 6 + 2 ms"
    )


def test_a_note_holds_what_was_typed_what_came_first_and_the_sentence():
    one = found("x", ("a", ""), ranks=((7, None), (None, None)))
    said = probe_words.note(one, probe_words.takeaway([one]))
    assert said == (
        "Live probe of x: “text” (en) finds first “a” (en), the nearest right answer at rank 7 of 1,000; “text” (ja) "
        "finds nothing. Asked in English, x puts 1 of 2 right answers in the first 10; asked in Japanese, 0 of 2."
    )


def test_the_first_encoder_and_a_multilingual_one_are_asked_at_first():
    words, english, other = label("bm25"), label("minilm", "English-centric dense"), label("med", "biomedical dense")
    use, e5 = label("use", "multilingual dense"), label("e5", "multilingual dense")
    assert probe_parts.story([words, english, other, use, e5]) == ["minilm", "use"]
    assert probe_parts.story([words, use, e5]) == ["use"]
    assert probe_parts.story([words, english]) == ["minilm"]
    assert probe_parts.story([words]) == ["bm25"]
