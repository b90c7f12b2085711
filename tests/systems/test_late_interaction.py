import numpy as np
import pytest

from analysis.errors import SystemRefusedError
from analysis.model import Corpus, Questions
from analysis.systems import late_interaction
from analysis.systems.catalogue import entry
from analysis.systems.late_interaction import LateInteraction, maxsim, search
from analysis.systems.workbench import TokenVectors


def tokens(*matrices):
    offsets = np.cumsum([0, *map(len, matrices)])
    return TokenVectors(offsets.astype(np.int64), np.concatenate(matrices).astype(np.float16))


def naive(query, document):
    return sum(max(float(q @ d) for d in document) for q in query)


def units(rng, count):
    matrix = rng.standard_normal((count, 8))
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float16)


def test_by_hand():
    """Query tokens x and y. d0 = {x}: 1 + 0. d1 = {y, (0.6, 0.8)}: 0.6 + 1. d2 = {-x}: -1 + 0."""
    x, y, between = [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]
    documents = tokens(np.array([x]), np.array([y, between]), np.array([[-1.0, 0.0]]))
    assert maxsim(np.array([x, y], np.float16), documents) == pytest.approx([1, 1.6, -1], abs=1e-3)


def test_search_equals_naive_loops(monkeypatch):
    monkeypatch.setattr(late_interaction, "QUERY_TOKENS", 7)
    monkeypatch.setattr(late_interaction, "CHUNK_VALUES", 40)
    rng = np.random.default_rng(11)
    documents = [units(rng, n) for n in rng.integers(1, 6, 30)]
    queries = [units(rng, n) for n in rng.integers(1, 9, 9)]
    order = np.arange(30, dtype=np.int32)
    found = search(tokens(*documents), tokens(*queries), group=np.arange(30), depth=30, tie_order=order, threads=2)
    for q, query in enumerate(queries):
        expected = [naive(query.astype(np.float32), document.astype(np.float32)) for document in documents]
        mine = found.query == q
        assert found.document[mine].tolist() == np.argsort(expected)[::-1].tolist()
        assert found.score[mine] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)


def test_documents_of_one_text_tie_and_excluded_ones_leave():
    rng = np.random.default_rng(2)
    documents, query = tokens(units(rng, 3), units(rng, 2)), tokens(units(rng, 2))
    group, order = np.array([1, 0, 1]), np.array([2, 1, 0], dtype=np.int32)
    found = search(documents, query, group=group, depth=3, tie_order=order)
    place = found.document.tolist()
    assert place.index(2) + 1 == place.index(0)
    assert found.score[place.index(2)] == found.score[place.index(0)]
    without = search(documents, query, group=group, depth=3, tie_order=order, excluded={0: np.array([2], np.int32)})
    assert 2 not in without.document


def test_texts_without_tokens_find_nothing_and_are_not_found():
    rng = np.random.default_rng(4)
    nothing = np.zeros((0, 8), np.float16)
    documents, queries = tokens(units(rng, 2), nothing, units(rng, 1)), tokens(nothing, units(rng, 2), nothing)
    found = search(documents, queries, group=np.arange(3), depth=5, tie_order=np.arange(3, dtype=np.int32))
    assert found.query.tolist() == [1, 1]
    assert sorted(found.document.tolist()) == [0, 2]


def test_a_large_corpus_is_refused_unless_forced(monkeypatch):
    monkeypatch.setattr(late_interaction, "LIMIT", 2)
    corpus = Corpus.of(("a", "b", "c"), languages=("en",) * 3, texts=("x", "y", "z"))
    questions = Questions(("q",), ("en",), ("x",))
    system = LateInteraction(entry("maxsim-all-minilm"), encoder=entry("all-minilm-l6-v2"))
    with pytest.raises(SystemRefusedError, match=r"maxsim-all-minilm .* 3 documents \(limit 2\)"):
        system.needs(corpus, questions)
    forced = LateInteraction(system.entry, encoder=system.encoder, force=True)
    assert [need.tokens for need in forced.needs(corpus, questions)] == [True, True]
