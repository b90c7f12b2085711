import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.model import Ranking
from analysis.store import vector_file
from analysis.store.vector_file import VectorFile
from analysis.systems import index
from analysis.systems.index import Index, distinct, ranks, search, top


def expected(documents, queries, *, depth, tie_order, excluded):
    """The definition: sort all documents by score, then tie order."""
    rows = []
    for q, query in enumerate(queries):
        scored = [(-float(document @ query), tie_order[d], d) for d, document in enumerate(documents)]
        kept = [hit for hit in sorted(scored) if hit[2] not in set(excluded.get(q, ()))]
        rows += [(q, d, -score) for score, _, d in kept[:depth]]
    return rows


def mapped(documents):
    file = VectorFile(Path(tempfile.gettempdir()), documents.shape)
    file[:] = documents
    return file


def rows(found: Ranking):
    return list(zip(found.query.tolist(), found.document.tolist(), found.score.tolist(), strict=True))


@settings(max_examples=80)
@given(st.data())
def test_search_equals_brute_force_whatever_ties_in_memory_and_in_a_file(data):
    """Small whole numbers: products are exact in float32, equal vectors and equal scores abound."""
    number = st.integers(-1, 2)
    count, dimension = data.draw(st.integers(1, 24)), data.draw(st.integers(1, 3))
    vector = st.lists(number, min_size=dimension, max_size=dimension)
    documents = np.array(data.draw(st.lists(vector, min_size=count, max_size=count)), dtype=np.float32)
    queries = np.array(data.draw(st.lists(vector, min_size=1, max_size=4)), dtype=np.float32)
    tie_order = np.array(data.draw(st.permutations(range(count))), dtype=np.int32)
    depth = data.draw(st.integers(1, count + 2))
    gone = st.lists(st.integers(0, count - 1), unique=True).map(lambda d: np.array(d, dtype=np.int32))
    excluded = data.draw(st.dictionaries(st.integers(0, len(queries) - 1), gone))
    right = expected(documents, queries, depth=depth, tie_order=tie_order, excluded=excluded)
    assert rows(search(documents, queries, depth=depth, tie_order=tie_order, excluded=excluded)) == right
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_file, "BLOCK", 4 * dimension * data.draw(st.integers(1, 9)))
        patch.setattr(index, "FOUND", 1)
        patch.setattr(index, "BATCH", 2)
        patch.setattr(index, "MANY", 1)
        found = search(mapped(documents), queries, depth=depth, tie_order=tie_order, excluded=excluded)
    assert rows(found) == right


def test_equal_vectors_tie_exactly_and_the_larger_id_comes_first():
    rng = np.random.default_rng(5)
    documents = rng.standard_normal((997, 33)).astype(np.float32)
    documents[[3, 500, 996]] = documents[40]
    found = search(
        documents, documents[40:41], depth=4, tie_order=np.arange(997, dtype=np.int32)[::-1].astype(np.int32)
    )
    assert found.document.tolist() == [996, 500, 40, 3]
    assert len(set(found.score)) == 1
    alone, scores = Index(documents).one(documents[40], depth=4)
    assert alone.tolist() == [3, 40, 500, 996]
    assert len(set(scores)) == 1


def test_more_ties_at_the_cut_than_the_engine_returned():
    documents = np.zeros((50, 51), dtype=np.float32)
    documents[:, 0] = 1
    documents[np.arange(50), np.arange(50) + 1] = 1  # 50 different vectors of the same score
    query = np.zeros((1, 51), dtype=np.float32)
    query[0, 0] = 1
    found = search(documents, query, depth=3, tie_order=np.arange(50, dtype=np.int32)[::-1].astype(np.int32))
    assert found.document.tolist() == [49, 48, 47]


def test_excluded_documents_leave_before_the_cut():
    documents = np.array([[3], [2], [1]], dtype=np.float32)
    found = search(documents, np.array([[1]], np.float32), depth=2, excluded={0: np.array([0], np.int32)})
    assert rows(found) == [(0, 1, 2.0), (0, 2, 1.0)]


def test_a_live_query_agrees_with_the_batch():
    rng = np.random.default_rng(3)
    documents, query = rng.standard_normal((300, 16)).astype(np.float32), rng.standard_normal(16).astype(np.float32)
    best, scores = Index(documents).one(query, depth=20)
    batch = search(documents, query[None], depth=20)
    assert best.tolist() == batch.document.tolist()
    assert scores == pytest.approx(batch.score, abs=1e-5)


def test_a_live_query_over_a_file_is_that_over_memory(monkeypatch):
    rng = np.random.default_rng(4)
    documents, query = rng.standard_normal((300, 16)).astype(np.float32), rng.standard_normal(16).astype(np.float32)
    documents[[7, 250]] = documents[100]
    sought = np.array([250, 3, 7], dtype=np.int32)
    best, scores, places = Index(documents).wanted(query, depth=20, sought=sought)
    monkeypatch.setattr(vector_file, "BLOCK", 4 * 16 * 70)
    there = Index(mapped(documents))
    assert there.nbytes < documents.nbytes
    assert there.vector(100).tolist() == documents[100].tolist()
    for mine, right in zip(there.wanted(query, depth=20, sought=sought), (best, scores, places), strict=True):
        assert mine == pytest.approx(right, abs=1e-6)


def test_queries_of_all_batches_come_back_in_order(monkeypatch):
    monkeypatch.setattr(index, "BATCH", 2)
    documents = np.eye(5, dtype=np.float32)
    steps = []
    found = Index(documents).search(documents, depth=1, progress=lambda *step: steps.append(step), step="s")
    assert found.document.tolist() == [0, 1, 2, 3, 4]
    assert steps == [("s", 0, 5), ("s", 2, 5), ("s", 4, 5), ("s", 5, 5)]


def test_no_queries_or_no_documents_is_an_empty_ranking():
    some, none = np.eye(3, dtype=np.float32), np.zeros((0, 0), dtype=np.float32)
    assert len(search(some, none, depth=5).query) == 0
    assert len(search(none, some, depth=5).query) == 0


def test_top_keeps_what_is_above_the_floor():
    scores = np.array([0.0, 2.0, 1.0, 2.0, 0.0])
    order = np.array([0, 3, 2, 1, 4], dtype=np.int32)
    assert top(scores, depth=9, tie_order=order, floor=0.0).tolist() == [3, 1, 2]
    assert top(scores, depth=1, tie_order=order, excluded=np.array([3], np.int32)).tolist() == [1]


@given(st.data())
def test_ranks_that_are_counted_are_those_of_the_whole_order(data):
    """Few different scores, so that ties abound; some documents are left out."""
    count = data.draw(st.integers(1, 30))
    scores = np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)), dtype=np.float64)
    tie_order = np.array(data.draw(st.permutations(range(count))), dtype=np.int32)
    gone = np.array(data.draw(st.lists(st.integers(0, count - 1), unique=True)), dtype=np.int32)
    order = top(scores, depth=count, tie_order=tie_order, excluded=gone).tolist()
    everyone = np.arange(count, dtype=np.int32)
    found = ranks(scores, everyone, tie_order=tie_order, excluded=gone)
    assert found.tolist() == [order.index(place) + 1 if place in order else 0 for place in range(count)]


def test_a_live_query_tells_the_first_documents_and_the_ranks_of_those_sought():
    rng = np.random.default_rng(11)
    documents, query = rng.standard_normal((200, 8)).astype(np.float32), rng.standard_normal(8).astype(np.float32)
    documents[150] = documents[20]
    index = Index(documents)
    whole, scores = index.one(query, depth=200)
    sought = np.array([20, 150, 3], dtype=np.int32)
    best, first, places = index.wanted(query, depth=5, sought=sought)
    assert best.tolist() == whole[:5].tolist()
    assert first.tolist() == scores[:5].tolist()
    assert [whole[place - 1] for place in places] == sought.tolist()
    assert index.vector(150).tolist() == documents[150].tolist()


def test_distinct_rows_and_their_groups():
    first, group = distinct(np.array([[1, 2], [0, 0], [1, 2]], dtype=np.float32))
    assert len(first) == 2
    assert group[0] == group[2] != group[1]
    assert first.tolist() == [0, 1]
