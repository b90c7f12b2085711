from math import log

import numpy as np
import pytest

from analysis.systems.bm25 import BM25, Lexical, bigrams, whitespace
from analysis.systems.catalogue import entry
from analysis.systems.workbench import Workbench

DOCUMENTS = ("acute pain knee", "acute fracture", "chronic Pain pain of the back")
ORDER = np.arange(3, dtype=np.int32)
MEAN_LENGTH = (3 + 2 + 6) / 3


def hand(tf, length, *, df, documents=3, k1=1.5, b=0.75):
    idf = log(max(1.0, (documents - df + 0.5) / (df + 0.5)))
    return idf * tf / (tf + k1 * (1 - b + b * length / MEAN_LENGTH))


def search(query, *, documents=DOCUMENTS, system="bm25", depth=10, **rest):
    order = np.arange(len(documents), dtype=np.int32)
    index = Lexical(documents, system=entry(system), tie_order=order)
    return index.search([query], depth=depth, **rest)


def test_scores_by_hand():
    found = search("Knee back knee")
    assert found.document.tolist() == [0, 2]
    assert found.score == pytest.approx([2 * hand(1, 3, df=1), hand(1, 6, df=1)], abs=1e-12)


def test_rank_bm25_gives_the_same_times_k1_plus_one():
    """rank_bm25's BM25Okapi: idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length))."""
    idf = log(3 - 1 + 0.5) - log(1 + 0.5)
    okapi = idf * (1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / MEAN_LENGTH)))
    assert search("fracture").score[0] * 2.5 == pytest.approx(okapi, abs=1e-12)


def test_a_token_of_most_documents_retrieves_nothing():
    """Its idf would be ln(1.5 / 2.5) < 0; bm25s makes that 0, and documents of score 0 are not retrieved."""
    assert len(search("acute").document) == 0
    assert search("acute fracture").document.tolist() == [1]


def test_no_shared_token_retrieves_nothing():
    assert len(search("nephrolithiasis").document) == 0
    assert len(search("").document) == 0
    assert len(search("x", documents=("", "  ")).document) == 0


def test_equal_texts_tie_in_tie_order_and_excluded_ones_leave():
    documents = ("kidney stone", "wrist", "kidney stone", "fever", "stomach", "knee pain", "back")
    index = Lexical(documents, system=entry("bm25"), tie_order=np.arange(7, dtype=np.int32)[::-1].astype(np.int32))
    found = index.search(["kidney"], depth=1)
    assert found.document.tolist() == [2]
    assert index.search(["kidney"], depth=5).document.tolist() == [2, 0]
    assert index.search(["kidney"], depth=1, excluded={0: np.array([2], np.int32)}).document.tolist() == [0]


def test_whitespace_tokens_leave_chinese_whole():
    assert whitespace(" Acute  PAIN\n糖尿病 ") == ["acute", "pain", "糖尿病"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("糖尿病", ["糖尿", "尿病"]),
        ("2型糖尿病", ["2", "型糖", "糖尿", "尿病"]),
        ("肺", ["肺"]),
        ("Type2の糖 x", ["type2", "の糖", "x"]),
        ("ビタミン欠乏", ["ビタ", "タミ", "ミン", "ン欠", "欠乏"]),
        ("당뇨병", ["당뇨", "뇨병"]),
        ("肺・心臓", ["肺", "・", "心臓"]),
        ("", []),
    ],
)
def test_bigrams(text, tokens):
    assert bigrams(text) == tokens


def test_bigrams_find_what_whitespace_cannot():
    documents = ("2型糖尿病の治療", "手首の骨折", "膝の痛み", "肺炎", "発熱")
    assert len(search("糖尿病", documents=documents).document) == 0
    assert search("糖尿病", documents=documents, system="bm25-cjk").document.tolist() == [0]


def test_as_a_system(small_task, tmp_path):
    from analysis.paths import Cache

    corpus, questions = small_task
    system = BM25(entry("bm25"))
    assert system.needs(corpus, questions) == []
    found = system.rank(corpus, questions, depth=2, workbench=Workbench(Cache(tmp_path)))
    assert found.document[found.query == 0].tolist() == [5, 2]  # the same text twice: id f before c
    assert 0 not in found.document[found.query == 1]  # excluded
