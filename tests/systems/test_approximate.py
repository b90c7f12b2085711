"""Search beyond the exact limit: what it finds, what it says of that, and where that stands."""

import sys

import numpy as np
import pytest

from analysis.errors import StoreError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.paths import Cache
from analysis.store import vector_file
from analysis.store.vector_file import VectorFile
from analysis.systems import approximate, catalogue, index
from analysis.systems.approximate import Lists, search
from analysis.systems.assemble import build
from analysis.systems.index import Index
from analysis.systems.live import Wanted, open_live
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench

COUNT = 3000
LETTERS = """
import numpy as np

def encode(texts, role):
    return np.array([[1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])
"""


@pytest.fixture(scope="module")
def vectors():
    """Documents around 40 centres, the last of them twice, and queries beside some of them."""
    rng = np.random.default_rng(5)
    documents = rng.normal(size=(40, 16))[rng.integers(0, 40, COUNT)] + 0.6 * rng.normal(size=(COUNT, 16))
    documents[-1] = documents[-2]
    queries = documents[rng.integers(0, COUNT, 150)] + 0.5 * rng.normal(size=(150, 16))
    queries[0] = documents[-1]
    return tuple(
        (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32) for rows in (documents, queries)
    )


def letters(folder, monkeypatch, **settings):
    """A system that counts letters, and a bench for it."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(folder))
    monkeypatch.delitem(sys.modules, "letters_of_approximate", raising=False)  # of another test's folder
    (folder / "letters_of_approximate.py").write_text(LETTERS, encoding="utf-8")
    told = NewSystem("letters", function="letters_of_approximate:encode", folder=folder, dimension=26)
    if "letters" not in catalogue.catalogue():
        own_systems.add(told)
    return build("letters"), Workbench(Cache(folder), options=LoadOptions(allow_code=True), **settings)


@pytest.fixture
def lists(vectors, tmp_path, monkeypatch):
    monkeypatch.setattr(vector_file, "BLOCK", 4 * 16 * 700)  # several blocks
    documents = VectorFile(tmp_path, vectors[0].shape)
    documents[:] = vectors[0]
    tie_order = np.arange(COUNT, dtype=np.int32)[::-1].copy()
    made = Lists(documents, tie_order=tie_order, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []  # files have no name, so that nothing is left however the job ends
    return made


def test_every_list_looked_at_is_exact_search(lists, vectors, monkeypatch, capfd):
    monkeypatch.setattr(index, "FOUND", 1)
    documents, queries = vectors
    excluded = {0: np.array([COUNT - 1], np.int32), 9: np.arange(2000, dtype=np.int32)}
    exact = Index(documents, tie_order=lists.tie_order).search(queries, depth=50, excluded=excluded)
    for looked_at in (None, len(lists)):
        lists.looked_at = looked_at
        found = lists.search(queries, depth=50, excluded=excluded)
        assert np.array_equal(found.query, exact.query)
        assert np.mean(found.document == exact.document) > 0.999  # but for last bits of the scores
        assert np.allclose(found.score, exact.score, atol=1e-6)
        assert COUNT - 1 not in found.document[found.query == 0]
    assert capfd.readouterr().out == ""


def test_equal_documents_stand_in_tie_order(lists, vectors):
    lists.looked_at = 1
    found = lists.search(vectors[1][:1], depth=2)
    assert found.document.tolist() == [COUNT - 1, COUNT - 2]


def test_a_list_may_hold_fewer_documents_than_asked_for(lists, vectors):
    lists.looked_at = 1
    found = lists.search(vectors[1], depth=1000)
    counts = np.bincount(found.query)
    assert 0 < counts.min() <= counts.max() < 1000
    assert len(set(zip(found.query.tolist(), found.document.tolist(), strict=True))) == len(found.query)


def test_the_recall_is_that_of_a_hand_count(lists, vectors, monkeypatch):
    monkeypatch.setattr(approximate, "FEWEST", 2)
    monkeypatch.setattr(approximate, "GOOD", 0.0)
    monkeypatch.setattr(approximate, "GOOD_AT_DEPTH", 0.0)
    documents, queries = vectors
    found, measured = search(lists, queries[:90], depth=30)
    products = queries[:90] @ documents.T
    best = [set(np.argsort(-row)[:10].tolist()) for row in products]
    hits = [len(best[query] & set(found.document[found.query == query][:10].tolist())) for query in range(90)]
    assert measured.recall_at_10 == pytest.approx(np.mean(hits) / 10)
    assert 0.2 < measured.recall_at_10 < 0.95
    assert measured.recall_at_depth < measured.recall_at_10
    assert (measured.looked_at, measured.sampled, measured.depth) == (2, 90, 30)


def test_lists_are_added_until_the_recall_is_good_at_the_depth_of_the_run_too(lists, vectors, monkeypatch):
    monkeypatch.setattr(approximate, "MOST", 1.0)
    shallow, deep = (search(lists, vectors[1], depth=depth)[1] for depth in (10, 300))
    for measured in (shallow, deep):
        assert measured.recall_at_10 >= approximate.GOOD
        assert measured.recall_at_depth >= approximate.GOOD_AT_DEPTH
        assert measured.sampled == approximate.SAMPLE
    assert approximate.FEWEST <= shallow.looked_at < deep.looked_at < deep.lists


def test_where_most_lists_would_be_looked_at_search_is_exact(lists, vectors):
    found, measured = search(lists, vectors[1], depth=1000)
    assert measured is None
    exact = Index(vectors[0], tie_order=lists.tie_order).search(vectors[1], depth=1000)
    assert np.array_equal(found.document[: 10 * 1000], exact.document[: 10 * 1000])


def test_lists_are_made_for_many_queries_only(monkeypatch):
    monkeypatch.setattr(index, "EXACT_LIMIT", 10_000)
    assert approximate.worthwhile(40_000, 201)
    assert not approximate.worthwhile(40_000, 200)  # exact search takes less than making lists
    assert not approximate.worthwhile(10_000, 5000)


def test_a_disk_without_room_is_one_sentence(vectors, tmp_path, monkeypatch):
    def full(descriptor, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(approximate, "reserve", full)
    with pytest.raises(StoreError, match=r"no room for 0.0 GB of vectors: .*No space left"):
        Lists(vectors[0], tie_order=np.arange(COUNT, dtype=np.int32), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_vectors_in_a_file_give_the_same_run_and_the_same_live_answer(small_task, tmp_path, monkeypatch):
    corpus, questions = small_task
    found = []
    for held, block in ((vector_file.HELD, vector_file.BLOCK), (0, 2 * 4 * 26)):
        monkeypatch.setattr(vector_file, "HELD", held)
        monkeypatch.setattr(vector_file, "BLOCK", block)
        system, bench = letters(tmp_path, monkeypatch)
        run = system.rank(corpus, questions, depth=4, workbench=bench)
        live = open_live(system, corpus, workbench=bench)
        answer = live.ask(questions.texts[0], Wanted(sought=np.arange(3, dtype=np.int32)))
        found.append((run.document.tolist(), answer.documents.tolist(), answer.ranks.tolist()))
    assert found[0] == found[1]


def test_a_dense_system_beyond_the_limit_ranks_as_below_it(small_task, tmp_path, monkeypatch):
    corpus, questions = small_task
    system, bench = letters(tmp_path, monkeypatch)
    exact = system.rank(corpus, questions, depth=4, workbench=bench)
    assert bench.recall([system.entry], corpus, questions) == {}
    monkeypatch.setattr(approximate, "worthwhile", lambda documents, queries: True)
    monkeypatch.setattr(approximate, "MOST", 1.0)
    found = system.rank(corpus, questions, depth=4, workbench=bench)
    assert found.document.tolist() == exact.document.tolist()
    assert bench.recall([system.entry], corpus, questions)["letters"].recall_at_10 == 1.0
    _, careful = letters(tmp_path, monkeypatch, exact=True)
    assert system.rank(corpus, questions, depth=4, workbench=careful).document.tolist() == exact.document.tolist()
    assert careful.recall([system.entry], corpus, questions) == {}
