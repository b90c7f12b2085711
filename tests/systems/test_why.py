"""Why a document stands where it stands: values that sum to the score, or fall when a part is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.systems import catalogue
from analysis.systems.bm25 import Lexical, pieces
from analysis.systems.late_interaction import maxsim
from analysis.systems.why import MOST_PARTS, Share, of_tokens, of_wholes
from analysis.systems.workbench import TokenVectors

TEXTS = ["acute chest pain", "chest pain after pain", "糖尿病の患者", "fever"]
WORDS = ("pain", "fever", "chest", "糖", "尿", "病")


class Counting:
    """A dense encoder that a reader can follow: one dimension a word, counts, length 1."""

    def encode(self, texts, *, role):
        assert role == "query"
        rows = np.array([[text.count(word) for word in WORDS] for text in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.mark.parametrize("system", ["bm25", "bm25-cjk"])
@pytest.mark.parametrize("query", ["chest pain", "pain pain fever", "糖尿病", "nothing of it", ""])
def test_the_shares_of_words_sum_to_the_score(system, query):
    order = np.arange(len(TEXTS), dtype=np.int32)
    index = Lexical(TEXTS, system=catalogue.entry(system), tie_order=order)
    best, scores = index.one(query, depth=len(TEXTS))
    found = dict(zip(best.tolist(), scores.tolist(), strict=True))
    for document in range(len(TEXTS)):
        shares = index.shares(query, document)
        assert sum(value for _, value in shares) == pytest.approx(found.get(document, 0.0))
        assert all(token in query.lower() for token, _ in shares)


def test_each_token_meets_its_best_match():
    query = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float16)
    document = np.array([[0.8, 0.6], [0, 1]], dtype=np.float16)
    shares = of_tokens(["a", "b", "c"], ["x", "y"], vectors=(query, document))
    assert [(share.part, share.match) for share in shares] == [("a", "x"), ("b", "y"), ("c", "x")]
    assert [share.value for share in shares] == pytest.approx([0.8, 1.0, 0.96], abs=1e-3)
    whole = maxsim(query, TokenVectors(np.array([0, 2]), document))
    assert sum(share.value for share in shares) == pytest.approx(float(whole[0]), abs=1e-3)
    assert of_tokens([], ["x"], vectors=(query[:0], document[:1])) == ()


def test_what_the_similarity_loses_without_a_part():
    document = np.array([1, 0, 0, 0, 0, 0], dtype=np.float32)  # "pain"
    shares = of_wholes("pain fever", document, encoder=Counting())
    whole = 1 / np.sqrt(2)
    assert [share.part for share in shares] == ["pain", "fever"]
    assert [share.value for share in shares] == pytest.approx([whole - 0, whole - 1])
    assert of_wholes("pain", document, encoder=Counting()) == ()
    assert of_wholes("", document, encoder=Counting()) == ()
    letters = of_wholes("糖尿病", np.array([0, 0, 0, 1, 0, 0], dtype=np.float32), encoder=Counting())
    assert letters[0] == Share("糖", None, pytest.approx(1 / np.sqrt(3)))


def test_a_long_query_is_left_out_in_larger_parts():
    shares = of_wholes("pain " * 200, np.eye(6, dtype=np.float32)[0], encoder=Counting())
    assert 1 < len(shares) <= MOST_PARTS


@given(st.text(max_size=60))
def test_the_pieces_of_a_text_are_the_text(text):
    assert "".join(pieces(text)) == text
