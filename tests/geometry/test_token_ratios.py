import numpy as np
import pytest

from analysis.geometry.tokens import ratios
from analysis.model import TokenCounts

KANA = TokenCounts(  # "knee pain", "いたみ", "", "knee いたみ": what is not Latin becomes one unknown token a word
    tokens=np.array([2, 1, 0, 2]),
    unknown_tokens=np.array([0, 1, 0, 1]),
    characters=np.array([8, 3, 0, 7]),
    unknown_characters=np.array([0, 3, 0, 3]),
    truncated=np.array([False, False, False, True]),
    limit=3,
)
ALL = np.arange(4)


def test_shares_are_ratios_of_sums():
    found = ratios(KANA)
    assert found["unknown_tokens"].over(ALL) == 2 / 5
    assert found["unknown_characters"].over(ALL) == 6 / 18
    assert found["tokens_per_character"].over(ALL) == 5 / 18
    assert found["characters_per_token"].over(ALL) == 18 / 5
    assert found["truncated"].over(ALL) == 1 / 4


def test_a_group_is_chosen_by_mask_or_position():
    unknown = ratios(KANA)["unknown_characters"]
    assert unknown.over(np.array([False, True, False, False])) == 1
    assert unknown.over(np.array([0, 3])) == 3 / 15


def test_nothing_has_no_share():
    found = ratios(KANA)
    assert np.isnan(found["unknown_characters"].over([2]))  # an empty text
    assert np.isnan(found["truncated"].over([]))


def test_nothing_is_unknown_to_a_byte_level_vocabulary():
    found = ratios(TokenCounts(KANA.tokens, None, KANA.characters, None, KANA.truncated, None))
    assert set(found) == {"tokens_per_character", "characters_per_token", "truncated"}


@pytest.mark.parametrize("key", ["tokens_per_character", "characters_per_token"])
def test_fertility_and_its_inverse(key):
    first, second = (ratios(KANA)[name].over(ALL) for name in ("tokens_per_character", "characters_per_token"))
    assert first * second == pytest.approx(1)
