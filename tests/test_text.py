"""What counts as the same text."""

import pytest

from analysis.text import same_text_key


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
