"""The clinical data itself: complete, in the right script, and without giving answers away."""

import json
import re
import unicodedata
from collections import Counter

import pytest

from analysis.benchmarks import bedside
from analysis.benchmarks.bedside import LANGUAGES, folded

SCRIPT = {
    "en": r"[A-Za-z]",
    "es": r"[A-Za-záéíóúüñÁÉÍÓÚÜÑ]",
    "fr": r"[A-Za-zàâäçéèêëîïôöùûüÿœæÀÂÇÉÈÊËÎÏÔÙÛÜŒÆ]",
    "ja": r"[\u3005\u3040-\u30ff\u4e00-\u9fff]",
    "zh": r"[\u3400-\u9fff]",
    "ru": r"[\u0400-\u04ff]",
}
UNSPACED = ("ja", "zh")
QUESTIONS = ("patient_question", "exam_question")
SENTENCES = (*QUESTIONS, "definition")


@pytest.fixture(scope="module")
def concepts():
    return bedside.load()


@pytest.fixture(scope="module")
def wordings(concepts):
    return [(concept, tag, concept.wordings[tag]) for concept in concepts for tag in LANGUAGES]


def test_there_is_enough_of_it(concepts):
    assert len(concepts) >= 96
    assert len({concept.specialty for concept in concepts}) >= 12
    groups = Counter(group for concept in concepts for group in concept.groups)
    assert len(groups) >= 12
    assert min(groups.values()) >= 2  # nothing is confusable with itself


def test_names_and_identifiers_stand_once(concepts):
    for attribute in ("name", "cui"):
        repeated = [
            value for value, count in Counter(getattr(concept, attribute) for concept in concepts).items() if count > 1
        ]
        assert not repeated


def test_siblings_divide_the_concepts(concepts):
    group = bedside.sibling_groups(concepts)
    shared = Counter(group.values())
    assert sum(count > 1 for count in shared.values()) >= 12


def letters(tag, text):
    """The share of a text's letters that are of its language's script."""
    every = [character for character in text if character.isalpha()]
    return sum(bool(re.match(SCRIPT[tag], character)) for character in every) / max(len(every), 1)


def test_every_sentence_is_in_its_script(wordings):
    for concept, tag, wording in wordings:
        for key in SENTENCES:
            text = getattr(wording, key)
            # Abbreviations such as HbA1c stand in Latin letters in every language.
            assert letters(tag, text) >= (0.95 if tag in {"en", "es", "fr"} else 0.7), (concept.name, tag, key, text)
        if tag == "ja":
            assert re.search(r"[\u3040-\u309f]", wording.patient_question), concept.name  # kana: not Chinese


def test_chinese_is_simplified(wordings):
    traditional = set("們個來時會對說學國問間關開門長東車馬魚鳥體發現經過還進這點麼樣應該線陽陰顯醫療藥檢驗腎臟腦膚濕")
    for concept, tag, wording in wordings:
        if tag == "zh":
            text = "".join([*wording.surface_forms, *(getattr(wording, key) for key in SENTENCES)])
            assert not traditional & set(text), (concept.name, traditional & set(text))


def contains(tag, text, form):
    """Whether a question gives its concept away by one of its surface forms."""
    text, form = folded(text), folded(form)
    if tag in UNSPACED or len(form) >= 5:
        return form in text
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None


def test_no_question_contains_a_surface_form(wordings):
    given_away = [
        (concept.name, tag, key, form)
        for concept, tag, wording in wordings
        for key in QUESTIONS
        for form in wording.surface_forms
        if contains(tag, getattr(wording, key), form)
    ]
    assert not given_away


def test_no_text_stands_twice_in_a_language(wordings):
    for tag in LANGUAGES:
        texts = Counter(
            folded(text)
            for _, language, wording in wordings
            if language == tag
            for text in (*wording.surface_forms, *(getattr(wording, key) for key in SENTENCES))
        )
        assert not [text for text, count in texts.items() if count > 1]


def test_evidence_belongs_to_one_concept_and_one_piece_is_loose(concepts):
    texts = Counter(folded(snippet.text) for concept in concepts for snippet in concept.snippets)
    assert max(texts.values()) == 1
    for concept in concepts:
        loose = [snippet for snippet in concept.snippets if snippet.loose]
        assert len(loose) == 1, concept.name
        named = [form for form in concept.wordings["en"].surface_forms if contains("en", loose[0].text, form)]
        assert not named, (concept.name, named)


def test_every_file_is_utf_8_in_nfc_with_one_object_a_line():
    for path in sorted(bedside.FOLDER.glob("*.jsonl")):
        text = path.read_bytes().decode("utf-8")
        assert unicodedata.is_normalized("NFC", text)
        assert text.endswith("\n")
        assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
