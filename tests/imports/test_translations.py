"""What speaks for two texts being translations: tokens, lengths, and rows against rows."""

import numpy as np
import pytest
from scipy import stats

from analysis.imports import translations
from analysis.imports.translations import NEIGHBOURS, evidence, signature, tokens
from tests.imports.invented import sentences, shifted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The COVID-19 ward, the ICU", ["the", "COVID", "19", "ward", "ICU"]),
        ("1,051,635 cases; 1 051 635 cas; 1.051.635 Fälle", ["1051635", "cases", "cas", "fälle"]),
        ("٢٠٢٠ ２０２０", ["2020"]),
        ("心筋梗塞 A", ["心筋", "筋梗", "梗塞", "a"]),
        ("痛", ["痛"]),
        ("HbA1c値", ["値", "HbA1c"]),
        ("हिन्दी", ["हिन्दी"]),
        ("WASH YOUR HANDS", ["wash", "your", "hands"]),
        ("HIV", ["HIV"]),
        ("痛肾 HIV 痛 RNA", ["痛肾", "HIV", "痛", "RNA"]),
        ("don’t e-mail_me", ["don", "t", "e", "mail", "me"]),
        (" \n… ", []),
    ],
)
def test_a_text_is_taken_apart(text, expected):
    assert tokens(text) == expected


def test_a_long_text_counts_by_its_beginning():
    assert len(tokens(" ".join(f"word{n}" for n in range(500)))) == translations.WORDS
    assert len(tokens("".join(map(chr, range(0x4E00, 0x4E00 + 500))))) == translations.WORDS


def test_kinds_of_tokens_and_lengths():
    found = signature(["HIV rate 12", "  ", "é a"])
    assert found.places == {"HIV": 0, "rate": 1, "12": 2, "é": 3, "a": 4}
    assert found.kinds.tolist() == [2, 0, 1, 0, 0]
    assert found.words.toarray().tolist() == [[1, 1, 1, 0, 0], [0] * 5, [0, 0, 0, 1, 1]]
    np.testing.assert_allclose(np.exp(found.lengths), [9, np.nan, 2])


def test_lengths_weigh_as_students_t():
    length = translations._Length(0.1, 0.2, -0.3, 0.8)
    ratios = np.linspace(-1, 1, 21)
    ours, theirs = (stats.t.logpdf(ratios, 4, loc, scale) for loc, scale in ((0.1, 0.2), (-0.3, 0.8)))
    np.testing.assert_allclose(length.odds(ratios), np.clip(ours - theirs, -5, 5), rtol=1e-12)
    assert length.odds(np.array([50.0]))[0] == pytest.approx(-5)
    assert np.isnan(length.odds(np.array([np.nan]))[0])


def test_robust_spread_is_that_of_a_normal():
    values = np.random.default_rng(0).normal(3, 2, 20_001)
    median, spread = translations.robust(np.r_[values, [np.nan] * 5])
    assert median == np.median(values)
    assert spread == pytest.approx(stats.median_abs_deviation(values, scale="normal"), rel=1e-4)
    assert translations.robust(np.array([np.nan])) == (0.0, 1.0)


@pytest.mark.parametrize("tag", ["fr", "ru", "zh"])
def test_rows_that_belong_together_are_told_from_their_neighbours(tag):
    texts = sentences(300)
    found = evidence(signature(texts["en"]), signature(texts[tag]))
    others = found.others[np.isfinite(found.others)]
    assert (found.own > 0).mean() > 0.98
    assert (others < 0).mean() > 0.85
    assert found.odds.shape == (300, 2 * NEIGHBOURS + 1)
    assert np.isnan(found.odds[0, :NEIGHBOURS]).all()
    assert np.isnan(found.odds[-1, NEIGHBOURS + 1 :]).all()
    lengths = [sum(map(len, text.split())) for text in texts[tag]], [sum(map(len, t.split())) for t in texts["en"]]
    assert found.ratio == pytest.approx(np.median(np.divide(*lengths)))


def test_any_pair_weighs_as_it_does_beside_its_neighbours():
    texts = sentences(150)
    found = evidence(signature(texts["en"]), signature(texts["zh"]))
    rows = np.arange(20, 30)
    between = found.fits.between(rows, rows)
    for row in rows:
        for other in rows:
            expected = found.odds[row, other - row + NEIGHBOURS]
            assert between[row - 20, other - 20] == pytest.approx(expected, rel=1e-5)


def test_whole_blocks_that_are_shifted_are_learned_from_where_they_belong():
    texts = sentences(400)
    late = shifted(texts["zh"], 40, 400, 3)
    found = evidence(signature(texts["en"]), signature(late))
    assert (found.partner[60:390] == np.arange(63, 393)).all()
    assert (found.own[60:390] < 0).mean() > 0.85
    assert (found.odds[60:390, NEIGHBOURS + 3] > 0).mean() > 0.97


def test_a_missing_text_is_neither_for_nor_against():
    texts = sentences(100)
    texts["fr"][7] = " "
    texts["en"][8] = ""
    found = evidence(signature(texts["en"]), signature(texts["fr"]))
    assert np.flatnonzero(np.isnan(found.own)).tolist() == [7, 8]
