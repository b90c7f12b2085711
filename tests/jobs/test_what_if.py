"""What-ifs: rankings made anew whose result is known by hand, kept aside, and kept as runs that name their parents."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError, StoreError
from analysis.jobs import what_if
from analysis.jobs.run import RunRequest, run
from analysis.jobs.what_if import WhatIf, _centred, _searched_in_other_languages
from analysis.model import Corpus, Questions, silent
from analysis.paths import Cache
from analysis.store import read, vector_file
from analysis.systems import catalogue
from analysis.systems.bm25 import BM25
from analysis.systems.workbench import Workbench

TAGS = ("en", "fr", "ja")
CONCEPTS = 4


@pytest.fixture
def cache(example_store, tmp_path):
    return Cache(shutil.copytree(example_store.cache.root, tmp_path / "store"))


def lists(store, ranking):
    """Document ids of each query."""
    (task,) = store.tasks(store.benchmarks()[0].benchmark_id)
    queries, documents = store.queries(task.task_id).id, store.documents(task.task_id).id
    found = {}
    for query, document in zip(ranking.query, ranking.document, strict=True):
        found.setdefault(queries[query], []).append(documents[document])
    return found


def example(kind, *systems, **more):
    return WhatIf("example", "main", kind, systems, **more)


def test_rrf_by_hand(cache):
    """q1: good has c-en 1, f0-en 2, f1-en 3, c-fr 4 …; bad has f0-en 1, c-en 2, f1-en 3."""
    made = what_if.answer(example("rrf", "good", "bad", k=1), cache.root)
    found = lists(read.open_store(cache), made.ranking)
    assert found["q1"][:3] == ["f0-en", "c-en", "f1-en"]  # 1/3 + 1/2 twice: the larger id stands first
    assert made.ranking.score[:3] == pytest.approx([5 / 6, 5 / 6, 1 / 2])
    assert found["q2"] == ["f0-fr", "c-ja", "c-en", "f1-fr", "f2-fr"]  # bad has none
    assert made.words == "RRF of good + bad, k = 1"


def test_scores_by_hand(cache):
    """Scores fall from 1 to .95 in good's six and from 1 to .98 in bad's three, each brought to 0 to 1."""
    made = what_if.answer(example("score", "good", "bad"), cache.root)
    assert lists(read.open_store(cache), made.ranking)["q1"][:3] == ["f0-en", "c-en", "f1-en"]
    assert made.ranking.score[:3] == pytest.approx([0.8 + 1, 1 + 0.5, 0.6 + 0])


def test_without_the_query_language(cache):
    made = what_if.answer(example("other-languages", "good"), cache.root)
    assert lists(read.open_store(cache), made.ranking) == {"q1": ["c-fr"], "q2": ["f0-fr", "c-en", "f1-fr", "f2-fr"]}
    assert made.ranking.rank().tolist() == [1, 1, 2, 3, 4]


@pytest.mark.parametrize("held", [0, vector_file.HELD])
def test_a_language_offset_is_removed_exactly_in_memory_and_in_a_file(tmp_path, monkeypatch, held):
    """Each text is its concept's direction and its language's: near its own language before, near its concept after."""
    monkeypatch.setattr(vector_file, "HELD", held)
    monkeypatch.setattr(vector_file, "BLOCK", 200)
    rng = np.random.default_rng(3)
    directions = np.linalg.qr(rng.standard_normal((CONCEPTS + len(TAGS), CONCEPTS + len(TAGS))))[0].astype(np.float32)
    meaning = directions[:CONCEPTS] - directions[:CONCEPTS].mean(axis=0)  # so that languages have no mean of their own
    offset = 5 * directions[CONCEPTS:]
    ids = tuple(f"c{concept}-{tag}" for tag in TAGS for concept in range(CONCEPTS))
    languages = tuple(tag for tag in TAGS for _ in range(CONCEPTS))
    vectors = {name: meaning[int(name[1])] + offset[TAGS.index(name[3:])] for name in ids}
    corpus = Corpus.of(ids, languages=languages, texts=ids)
    questions = Questions(ids, languages, ids)

    def given(entry, texts, *, role):
        rows = np.stack([vectors[text] for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    bench = SimpleNamespace(
        vectors=given, rows=given, folder=tmp_path, options=SimpleNamespace(cores=1), progress=silent
    )
    made = _centred(catalogue.entry("all-minilm-l6-v2"), corpus, questions, depth=len(ids), workbench=bench)
    for query, name in enumerate(ids):
        first = made.document[made.query == query][:3]
        assert {ids[place][:2] for place in first} == {name[:2]}
    plain = given(None, ids, role="query") @ given(None, ids, role="document").T
    assert all(
        ids[place][3:] == name[3:] for name, row in zip(ids, plain, strict=True) for place in np.argsort(-row)[:4]
    )


def test_a_system_searched_over_other_languages_alone(tmp_path):
    texts = ("pain knee", "pain back", "douleur knee", "痛み knee", *("Fieber",) * 6)
    languages = ("en", "en", "fr", "ja", *("de",) * 6)
    corpus = Corpus.of(tuple("abcdefghij"), languages=languages, texts=texts)
    excluded = {0: np.array([3], np.int32), 1: np.array([0], np.int32)}
    questions = Questions(("q", "r", "s"), ("en", "fr", "ja"), ("knee", "knee", "knee"), excluded)
    found = _searched_in_other_languages(
        BM25(catalogue.entry("bm25")), corpus, questions, depth=10, workbench=Workbench(Cache(tmp_path))
    )
    kept = {query: [corpus.ids[place] for place in found.document[found.query == query]] for query in range(3)}
    assert kept == {0: ["c"], 1: ["d"], 2: ["c", "a"]}  # larger ids first; a query's excluded documents stay out


def test_what_was_made_is_made_once(cache):
    asked = example("rrf", "good", "bad")
    before = what_if.planned(asked, cache.root)
    assert (before.is_made, before.is_quick) == (False, True)
    made = what_if.answer(asked, cache.root)
    (file,) = cache.what_if.iterdir()
    wrote = file.stat().st_mtime_ns
    again = what_if.answer(asked, cache.root)
    assert what_if.planned(asked, cache.root) == before._replace(is_made=True)
    assert file.stat().st_mtime_ns == wrote
    np.testing.assert_array_equal(again.ranking.document, made.ranking.document)
    assert again.ranking.depth == made.ranking.depth
    assert not what_if.planned(asked._replace(k=10), cache.root).is_made
    file.write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=f"{file.name}.*remove the file"):
        what_if.answer(asked, cache.root)


def test_kept_as_a_run_that_names_its_parents(cache, capsys):
    asked = ["what-if", "rrf", "--benchmark", "example", "--system", "good", "--system", "bad", "--k", "1"]
    assert main([*asked, "--keep", "fused", "--cache", str(cache.root)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["words"] == "RRF of good + bad, k = 1"
    store = read.open_store(cache)
    (run,) = [run for run in store.runs([1]) if run.system == "fused"]
    assert run.parents == ("good", "bad")
    assert run.provenance["what_if"]["k"] == 1
    assert store.children(1, "good") == ("fused",)
    assert [hit.rank for hit in store.hits(run, [0])] == [1, 2, 3, 4, 5, 6]
    assert store.faults() == []
    assert store.system_labels()["fused"].paradigm == "hybrid"
    assert main([*asked, "--keep", "good", "--cache", str(cache.root)]) == 1
    assert "system 'good': the name is taken" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (example("x", "good"), "what-if 'x': expected one of centre, rrf"),
        (example("rrf", "good"), "what-if rrf: 1 runs, expected 2 to 3"),
        (example("rrf", "good", "good"), "what-if rrf: 1 runs, expected 2 to 3"),
        (example("other-languages", "good", "bad"), "what-if other-languages: 2 runs, expected 1"),
        (example("centre", "good"), "what-if centre: good: the run came from another tool"),
        (example("pool", "good"), "what-if pool: good: the run came from another tool"),
        (example("rrf", "good", "other"), "system 'other': main has runs of bad, good"),
        (example("rrf", "good", "bad", k=0), "k 0, pool 100: expected 1 or more"),
        (example("rrf", "good", "bad")._replace(task="x"), "task 'x'"),
    ],
)
def test_what_cannot_be_asked(cache, asked, message):
    with pytest.raises(InputError, match=message):
        what_if.answer(asked, cache.root)
    assert not cache.what_if.exists()


def test_a_system_whose_settings_have_changed_is_not_asked_again(cache, monkeypatch):
    run(cache, request=RunRequest("example", systems=("bm25",)), progress=silent)
    searched = example("other-languages", "bm25")
    first = what_if.planned(searched, cache.root)
    what_if.answer(searched, cache.root)
    entry = catalogue.entry("bm25")
    monkeypatch.setattr(catalogue, "entry", lambda name: replace(entry, k1=9.0))
    assert what_if.planned(searched, cache.root).key != first.key  # the kept hits of the run alone
    assert what_if.offered("example", "main", "bm25", cache.root) == ("rrf", "score", "other-languages")
    with pytest.raises(InputError, match="what-if pool: bm25: its settings in the catalogue have changed since it ran"):
        what_if.answer(example("pool", "bm25"), cache.root)


@pytest.mark.slow
def test_real_encoders_centred_deeper_and_over_other_languages(real_store, tmp_path):
    cache = Cache(shutil.copytree(real_store, tmp_path / "store"))
    store = read.open_store(cache)
    row = next(row for row in store.tasks(store.benchmark("icd10").benchmark_id) if row.name == "category")
    for kind, system in (
        ("centre", "use-multilingual-v3"),
        ("other-languages", "all-minilm-l6-v2"),
        ("pool", "use-maxsim"),
    ):
        made = what_if.answer(WhatIf("icd10", "category", kind, (system,), pool=40), cache.root)
        assert set(np.unique(made.ranking.query)) <= set(range(row.n_queries))
        assert (np.diff(made.ranking.score)[np.diff(made.ranking.query) == 0] <= 0).all()
    documents, queries = store.documents(row.task_id).language, store.queries(row.task_id).language
    apart = what_if.answer(WhatIf("icd10", "category", "other-languages", ("all-minilm-l6-v2",)), cache.root).ranking
    assert (documents[apart.document] != queries[apart.query]).all()
