"""Rows of parallel texts that belong to other rows: found where planted, named, and not seen where there are none."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.imports import alignment
from analysis.imports.alignment import ENOUGH, check, flags
from analysis.model import Flag
from tests.imports.invented import sentences, shifted

N = 300
ROWS = [f"r{n}" for n in range(N)]
PAPERS = [f"paper {n // 60}" for n in range(N)]


def checked(texts, *, documents=ROWS, rows=ROWS):
    found = check(texts, rows=rows, documents=documents)
    return found, {row.language: row for row in found.languages}


def test_sound_rows_raise_no_alarm():
    found, by = checked(sentences(N), documents=PAPERS)
    assert list(by) == ["en", "fr", "ru", "zh"]
    assert all(not rows for rows in found.misaligned.values())
    assert [row.n_rows for row in found.languages] == [N] * 4
    assert by["en"].sentence == "English: 300 rows fit the other languages"
    assert by["zh"].sentence == "Chinese: 300 rows fit the English texts"
    assert not any(row.doubtful or row.stretches for row in found.languages)
    assert by["fr"].numbers_kept == by["zh"].numbers_kept == by["zh"].abbreviations_kept == 1
    assert by["fr"].fits_better > 0.98


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.randoms(use_true_random=False), papers=st.booleans())
def test_whole_rows_in_any_order_raise_no_alarm(seed, order, papers):
    texts = sentences(150, seed=seed)
    rows = list(range(150))
    order.shuffle(rows)
    mixed = {tag: [texts[tag][row] for row in rows] for tag in texts}
    names = [f"r{row}" for row in rows]
    found, _ = checked(mixed, rows=names, documents=[f"p{row // 50}" for row in rows] if papers else names)
    assert sum(len(wrong) for wrong in found.misaligned.values()) <= 1  # of 600 texts
    assert not any(row.stretches for row in found.languages)


@pytest.mark.parametrize("tag", ["fr", "ru", "zh"])
def test_a_shifted_stretch_is_found_with_its_offset(tag):
    texts = sentences(N)
    found, by = checked({**texts, tag: shifted(texts[tag], 100, 130, 2)})
    (stretch,) = by[tag].stretches
    wrong = set(found.misaligned[tag])
    assert len(wrong & set(range(100, 130))) >= 27
    assert wrong <= set(range(98, 132))
    assert 98 <= int(stretch.first[1:]) <= 102
    assert 127 <= int(stretch.last[1:]) <= 131
    assert (stretch.offset, stretch.document) == (-2, None)
    assert stretch.p < 1e-9
    assert f"({stretch.first} to {stretch.last}, 2 rows too late): a data fault, not a collapse" in by[tag].sentence
    assert all(not rows for other, rows in found.misaligned.items() if other != tag)


def test_one_lost_row_shifts_all_that_follow():
    texts = sentences(N)
    found, by = checked({**texts, "ru": [*texts["ru"][:80], *texts["ru"][81:], ""]})
    (stretch,) = by["ru"].stretches
    assert stretch.offset == 1
    assert int(stretch.first[1:]) in range(78, 84)
    assert "1 row too early): a data fault" in by["ru"].sentence
    assert len(set(found.misaligned["ru"]) & set(range(80, 299))) > 200
    assert not [row for row in found.misaligned["ru"] if row < 78]


def test_a_document_out_of_order_is_named():
    texts = sentences(N)
    broken = [*texts["zh"][:185], *texts["zh"][185:235][::-1], *texts["zh"][235:]]
    found, by = checked({**texts, "zh": broken}, documents=PAPERS)
    (stretch,) = by["zh"].stretches
    assert stretch.document == "paper 3"
    assert 40 <= stretch.n_misaligned <= 51
    assert stretch.offset is None
    assert by["zh"].sentence.startswith(f"Chinese: {by['zh'].n_misaligned} of 300 rows seem to belong to other rows, ")
    assert "all of them in paper 3 (r" in by["zh"].sentence
    example = stretch.examples[0]
    row = int(example.row[1:])
    assert (example.text, example.first) == (broken[row], texts["en"][row])
    assert set(found.misaligned["zh"]) <= set(range(183, 237))


def test_rows_of_a_document_may_be_scattered():
    texts = sentences(N)
    order = np.random.default_rng(3).permutation(N)
    broken = [*texts["fr"][:60], *texts["fr"][60:120][::-1], *texts["fr"][120:]]
    mixed = {tag: [{**texts, "fr": broken}[tag][row] for row in order] for tag in texts}
    _, by = checked(mixed, rows=[ROWS[row] for row in order], documents=[PAPERS[row] for row in order])
    assert [stretch.document for stretch in by["fr"].stretches] == ["paper 1"]
    assert by["fr"].n_misaligned >= 55


def test_several_stretches_are_named_largest_first():
    texts = sentences(600)
    broken = texts["ru"]
    for first, last in ((0, 35), (130, 180), (230, 270), (320, 355)):
        broken = shifted(broken, first, last, 7)
    rows = [f"r{row}" for row in range(600)]
    _, by = checked({**texts, "ru": broken}, rows=rows, documents=[f"paper {row // 100}" for row in range(600)])
    assert [stretch.document for stretch in by["ru"].stretches] == ["paper 0", "paper 1", "paper 2", "paper 3"]
    assert " of them in paper 1 (" in by["ru"].sentence
    assert by["ru"].sentence.endswith(" and 1 more stretches: a data fault, not a collapse")


def test_a_placeholder_in_several_rows_is_found_and_honest_repeats_are_not():
    texts = sentences(N)
    for row in (11, 77, 140, 222):
        texts["fr"][row] = "{NS}"
    for row in (30, 31):  # a row that stands twice, in all languages
        for tag in texts:
            texts[tag][row] = texts[tag][29]
    found, by = checked(texts)
    assert found.misaligned["fr"] == (11, 77, 140, 222)
    assert by["fr"].n_repeated == 4
    assert by["fr"].stretches == ()
    assert by["fr"].sentence == "French: 4 of 300 rows do not fit the English texts: r11, r77, r140 …"
    assert by["ru"].n_repeated == 0
    assert by["fr"].doubtful
    assert not by["ru"].doubtful


def test_the_first_language_is_blamed_when_the_others_agree():
    texts = sentences(N)
    found, by = checked({**texts, "en": shifted(texts["en"], 200, 240, 5)})
    assert len(set(found.misaligned["en"]) & set(range(200, 240))) >= 34
    assert by["en"].stretches
    assert sum(len(found.misaligned[tag]) for tag in ("fr", "ru", "zh")) <= 6
    expected = f"English: {by['en'].n_misaligned} of 300 rows do not fit the other languages, "
    assert by["en"].sentence.startswith(expected)


def test_texts_that_fit_no_other_row_are_not_said_to_belong_to_one():
    texts = sentences(N)
    foreign = sentences(40, seed=99)["fr"]
    found, by = checked({**texts, "fr": [*texts["fr"][:100], *foreign, *texts["fr"][140:]]})
    assert len(set(found.misaligned["fr"]) & set(range(100, 140))) >= 34
    assert by["fr"].sentence.startswith(f"French: {by['fr'].n_misaligned} of 300 rows do not fit the English texts, ")
    assert by["fr"].sentence.endswith("): a data fault, not a collapse")


def test_of_two_languages_the_second_is_blamed():
    texts = sentences(N, tags=("ru", "zh"))
    found, by = checked({**texts, "ru": shifted(texts["ru"], 200, 240, 5)})
    assert list(by) == ["zh"]
    assert len(set(found.misaligned["zh"]) & set(range(200, 240))) >= 34


@pytest.mark.parametrize("seed", range(4))
def test_texts_that_have_nothing_in_common_are_said_so_and_hardly_flagged(seed):
    texts = {tag: sentences(N, seed=seed * 10 + place)[tag] for place, tag in enumerate(("en", "fr", "zh"))}
    found, by = checked(texts, documents=PAPERS)
    assert "nothing seems to belong together" in by["fr"].sentence
    assert by["zh"].fits_better == pytest.approx(0.5, abs=0.1)
    assert by["zh"].doubtful
    assert len(found.misaligned["fr"]) + len(found.misaligned["zh"]) <= 6
    assert not any(row.stretches for row in found.languages)


def test_too_few_rows_are_not_checked():
    texts = {tag: rows[: ENOUGH - 1] for tag, rows in sentences(N).items()}
    found = check({**texts, "fr": ["", *texts["fr"][1:]]}, rows=ROWS[: ENOUGH - 1], documents=ROWS[: ENOUGH - 1])
    assert found.languages[1].sentence == "French: 28 rows are too few to check, expected at least 30"
    assert set(found.misaligned.values()) == {()}
    assert not found.languages[1].doubtful


def test_a_small_file_says_how_far_it_can_be_trusted():
    texts = sentences(40, words=2000)
    _, by = checked(texts, rows=ROWS[:40], documents=ROWS[:40])
    assert by["zh"].noticed < 0.8
    expected = f"as far as can be told: {by['zh'].noticed:.0%} of exchanged rows would be noticed"
    assert expected in by["zh"].sentence or "nothing seems to belong together" in by["zh"].sentence


def test_missing_texts_are_not_checked():
    texts = sentences(N)
    texts["fr"][:100] = [""] * 100
    _, by = checked(texts)
    assert by["fr"].n_rows == 200
    assert by["fr"].sentence == "French: 200 rows fit the English texts"
    assert by["en"].n_rows == N


def test_kept_numbers_are_counted():
    texts = sentences(N, tags=("en", "fr"))
    english = [f"{text} 77777" if row % 2 else text for row, text in enumerate(texts["en"])]
    french = [f"{text} 77777" if row % 4 == 1 else text for row, text in enumerate(texts["fr"])]
    numbers = sum(len({word for word in re.split(r"\W", text) if re.search(r"\d", word)}) for text in english)
    _, by = checked({"en": english, "fr": french})
    assert by["fr"].n_misaligned == 0
    assert by["fr"].numbers_kept == pytest.approx((numbers - 75) / numbers)
    assert by["fr"].abbreviations_kept == 1


def test_flags_name_queries_and_documents():
    found = alignment.Alignment("en", (), {"en": (), "fr": (1,)})
    assert flags(found, {"en": ["a:en", "b:en"], "fr": ["a:fr", "b:fr"]}) == [
        Flag("query", "b:fr", "misaligned"),
        Flag("document", "b:fr", "misaligned"),
    ]


# The parts, against others' arithmetic


def test_the_chance_to_fit_better_is_that_of_mann_and_whitney():
    texts = sentences(120)
    _, by = checked(texts, rows=ROWS[:120], documents=ROWS[:120])
    evidence = alignment.translations.evidence(
        alignment.translations.signature(texts["en"]), alignment.translations.signature(texts["ru"])
    )
    others = evidence.others[np.isfinite(evidence.others)]
    expected = stats.mannwhitneyu(evidence.own, others).statistic / len(evidence.own) / len(others)
    assert by["ru"].fits_better == pytest.approx(expected)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30))
def test_the_best_run_is_the_best_of_all(gains):
    first, last = alignment._best(np.array(gains, dtype=float))
    best = max(sum(gains[i : j + 1]) for i in range(len(gains)) for j in range(i, len(gains)))
    assert first <= last
    assert sum(gains[first : last + 1]) == best


def test_the_p_of_a_stretch_is_a_binomial_tail_over_all_runs():
    odds = np.full(100, 5.0)
    odds[40:46] = -5.0
    ((run, p),) = alignment._stretches(odds, [np.arange(100)], n_languages=2)
    assert run.tolist() == list(range(40, 46))
    assert p == pytest.approx(2 * 5050 * 0.003**6)
    odds[43] = 5.0
    ((run, p),) = alignment._stretches(odds, [np.arange(100)], n_languages=2)
    assert run.tolist() == list(range(40, 46))
    tail = sum(math.comb(6, k) * 0.003**k * 0.997 ** (6 - k) for k in (5, 6))
    assert p == pytest.approx(2 * 5050 * tail)
    odds[:] = 5.0
    odds[[3, 50, 90]] = -5.0
    assert alignment._stretches(odds, [np.arange(100)], n_languages=2) == []


def test_the_first_language_is_doubted_by_more_than_half():
    odds = [np.array(row, dtype=float) for row in ([-9, -9, 5, np.nan], [-8, 4, 4, -3], [-7, -6, 3, np.nan])]
    found = alignment._of_pivot(odds)
    assert found[:3].tolist() == [-8, -6, 4]
    assert np.isnan(found[3])
    two = alignment._of_pivot([np.array([-9.0, -9.0]), np.array([-8.0, 3.0])])
    assert two.tolist() == [-8, 3]
    four = alignment._of_pivot([np.array([value]) for value in (-9.0, -8.0, 1.0, 2.0)])
    assert four.tolist() == [1.0]
