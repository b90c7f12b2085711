"""Language tags and what counts as the same text."""

import pytest

from analysis.errors import InputError
from analysis.text import LANGUAGE_NAMES, language_name, language_tag, same_text_key


@pytest.mark.parametrize("tag", ["en", "ru", "zh", "yue", "zh-Hant", "hi-Latn"])
def test_a_tag_in_form_is_kept(tag):
    assert language_tag(tag) == tag


@pytest.mark.parametrize(
    "tag", ["", "e", "EN", "english", "zh-hant", "zh_Hant", "zh-Hant-TW", " en", "en\n", "рус", "e1"]
)
def test_a_tag_out_of_form_is_an_error(tag):
    with pytest.raises(InputError, match="expected an ISO 639 code such as ru") as error:
        language_tag(tag)
    assert str(error.value).startswith(f"language {tag!r}:")


def test_languages_have_english_names():
    assert [language_name(tag) for tag in ("en", "zh", "ja", "ru")] == ["English", "Chinese", "Japanese", "Russian"]
    assert language_name("tlh") == "tlh"
    assert all(language_tag(tag) == tag for tag in LANGUAGE_NAMES)
    assert len(set(LANGUAGE_NAMES.values())) == len(LANGUAGE_NAMES)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("fi\u00e8vre", "fie\u0300vre", True),  # è composed and decomposed
        ("  asthma\n", "asthma", True),
        ("\u3000喘息", "喘息", True),  # the ideographic space is a space
        ("Asthma", "asthma", False),
        ("ｱ", "ア", False),  # half and full width: the same only under NFKC
        ("a b", "a  b", False),
        ("K", "\u212a", True),  # the Kelvin sign is a K under NFC
    ],
)
def test_when_two_texts_read_the_same(one, other, same):
    assert (same_text_key(one) == same_text_key(other)) is same
