"""Search beyond the exact limit: what it finds, what it says of that, and where that stands."""

import numpy as np
import pytest

from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.paths import Cache
from analysis.systems import approximate, index
from analysis.systems.approximate import Lists, search
from analysis.systems.assemble import build
from analysis.systems.index import Index
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


@pytest.fixture
def lists(vectors, tmp_path, monkeypatch):
    monkeypatch.setattr(approximate, "BLOCK", 700)
    sizes = []

    def read_block(block):
        sizes.append(block.stop - block.start)
        return vectors[0][block]

    tie_order = np.arange(COUNT, dtype=np.int32)[::-1].copy()
    made = Lists(read_block, tie_order=tie_order, folder=tmp_path)
    assert max(sizes) <= 700
    assert list(tmp_path.iterdir()) == []  # the file has no name, so that nothing is left however the job ends
    return made


def test_every_list_looked_at_is_exact_search(lists, vectors, monkeypatch):
    monkeypatch.setattr(approximate, "SCORES", 7 * COUNT)  # several batches
    documents, queries = vectors
    excluded = {0: np.array([COUNT - 1], np.int32), 9: np.arange(2000, dtype=np.int32)}
    found = lists.search(queries, depth=50, looked_at=len(lists), excluded=excluded)
    exact = Index(documents, tie_order=lists.tie_order).search(queries, depth=50, excluded=excluded)
    assert np.array_equal(found.query, exact.query)
    assert np.mean(found.document == exact.document) > 0.999  # but for last bits of the scores
    assert np.allclose(found.score, exact.score, atol=1e-6)
    assert COUNT - 1 not in found.document[found.query == 0]


def test_equal_documents_stand_in_tie_order(lists, vectors):
    found = lists.search(vectors[1][:1], depth=2, looked_at=1)
    assert found.document.tolist() == [COUNT - 1, COUNT - 2]


def test_the_recall_is_that_of_a_hand_count(lists, vectors, monkeypatch):
    monkeypatch.setattr(approximate, "FEWEST", 2)
    monkeypatch.setattr(approximate, "GOOD", 0.0)
    documents, queries = vectors
    found, measured = search(lists, queries[:90], depth=30)
    products = queries[:90] @ documents.T
    best = [set(np.argsort(-row)[:10].tolist()) for row in products]
    hits = [len(best[query] & set(found.document[found.query == query][:10].tolist())) for query in range(90)]
    assert measured.recall_at_10 == pytest.approx(np.mean(hits) / 10)
    assert 0.2 < measured.recall_at_10 < 0.95
    assert measured.recall_at_depth < measured.recall_at_10
    assert (measured.looked_at, measured.sampled, measured.depth) == (2, 90, 30)


def test_lists_are_added_until_the_recall_is_good(lists, vectors):
    found, measured = search(lists, vectors[1], depth=30)
    assert measured.recall_at_10 >= approximate.GOOD
    assert approximate.FEWEST <= measured.looked_at < measured.lists
    assert measured.sampled == approximate.SAMPLE
    assert (np.bincount(found.query) == 30).all()


def test_a_dense_system_beyond_the_limit_ranks_as_below_it(small_task, tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path))
    (tmp_path / "letters_of_approximate.py").write_text(LETTERS, encoding="utf-8")
    function = "letters_of_approximate:encode"
    own_systems.add(NewSystem("letters", function=function, folder=tmp_path, dimension=26))
    corpus, questions = small_task
    bench = Workbench(Cache(tmp_path), options=LoadOptions(allow_code=True))
    system = build("letters")
    exact = system.rank(corpus, questions, depth=4, workbench=bench)
    assert bench.recall([system.entry], corpus, questions) == {}
    monkeypatch.setattr(index, "EXACT_LIMIT", 5)
    found = system.rank(corpus, questions, depth=4, workbench=bench)
    assert found.document.tolist() == exact.document.tolist()
    assert bench.recall([system.entry], corpus, questions)["letters"].recall_at_10 == 1.0
