"""What was found out about a run besides its ranking: kept with the run, gone with it, checked with it."""

import duckdb
import numpy as np
import pytest

from analysis.store import connection, read, write
from tests.store.by_hand import add_run, stored, tampered

TABLES = {
    "text_tokens": {
        "item": ["query", "document", "document"],
        "position": np.array([0, 1, 0], np.int32),
        "tokens": np.array([2, 3, 1]),
        "unknown_tokens": np.array([0.0, 1.0, 0.0]),
        "characters": np.array([9, 14, 6]),
        "unknown_characters": np.array([0.0, 5.0, 0.0]),
        "truncated": np.array([False, True, False]),
    },
    "text_space": {
        "item": ["document", "document"],
        "position": np.array([1, 0], np.int32),
        "silhouette": np.array([np.nan, 0.25]),
        "guessed_language": ["fr", None],
    },
    "translation": {
        "item": ["document", "document"],
        "language": ["en", "en"],
        "other_language": ["fr", "fr"],
        "family": ["b", "a"],
        "cosine": np.array([0.5, 0.75]),
        "random": np.array([np.nan, 0.25]),
    },
    "centroid_distance": {"language": ["en"], "other_language": ["fr"], "distance": np.array([0.5])},
    "word_match": {
        "query": np.array([1, 0], np.int32),
        "is_known": np.array([True, False]),
        "is_shared": [False, None],
    },
}


def add(writer, run_id, tables=TABLES, *, limit=256, tokens=None, vectors=None):
    writer.add_diagnosis(run_id, token_limit=limit, tokens_reason=tokens, vectors_reason=vectors, seed=7, tables=tables)


@pytest.fixture
def diagnosed(cache):
    """A store with a diagnosis of ``first`` and none of ``second``; both run ids."""
    store, task = stored(cache, "first", "second")
    ids = {run.system: run.run_id for run in store.runs([task.task_id])}
    with write.writer(cache) as writer:
        add(writer, ids["first"])
    return read.open_store(cache), ids


def test_what_was_found_is_read_again_in_the_order_of_the_texts(diagnosed):
    store, ids = diagnosed
    first = ids["first"]
    assert store.diagnoses(1) == {first: read.DiagnosisRow(first, 256, None, None)}
    tokens = store.text_tokens(first)
    assert tokens.item.tolist() == ["document", "document", "query"]
    assert tokens.position.tolist() == [0, 1, 0]
    assert tokens.unknown_characters.tolist() == [0, 5, 0]
    assert tokens.truncated.tolist() == [False, True, False]
    space = store.text_space(first)
    assert space.position.tolist() == [0, 1]
    assert space.silhouette.tolist() == pytest.approx([0.25, np.nan], nan_ok=True)
    assert space.guessed_language.tolist() == [None, "fr"]
    near = store.translations(first)
    assert near.family.tolist() == ["a", "b"]
    assert near.random.tolist() == pytest.approx([0.25, np.nan], nan_ok=True)
    assert store.centroid_distances(first) == {("en", "fr"): 0.5}
    words = store.word_matches(first)
    assert words["is_known"].tolist() == [False, True]
    assert words["is_shared"].tolist() == pytest.approx([np.nan, 0.0], nan_ok=True)
    assert store.faults() == []


def test_a_run_that_nobody_looked_at_has_nothing(diagnosed):
    store, ids = diagnosed
    second = ids["second"]
    assert len(store.text_tokens(second).tokens) == 0
    assert len(store.word_matches(second)["is_known"]) == 0
    assert store.centroid_distances(second) == {}


def test_why_nothing_is_told_is_kept(cache, diagnosed):
    _, ids = diagnosed
    with write.writer(cache) as writer:
        add(writer, ids["second"], {}, limit=None, tokens="not told", vectors="no vectors")
    store = read.open_store(cache)
    assert store.diagnoses(1)[ids["second"]] == read.DiagnosisRow(ids["second"], None, "not told", "no vectors")
    assert store.faults() == []


def test_nothing_is_unknown_to_a_byte_level_vocabulary(cache, diagnosed):
    _, ids = diagnosed
    nothing = dict.fromkeys(("unknown_tokens", "unknown_characters"), np.full(3, np.nan))
    with write.writer(cache) as writer:
        add(writer, ids["second"], {"text_tokens": TABLES["text_tokens"] | nothing})
    assert np.isnan(read.open_store(cache).text_tokens(ids["second"]).unknown_tokens).all()


def test_looking_again_replaces_what_was_found(cache, diagnosed):
    _, ids = diagnosed
    with write.writer(cache) as writer:
        add(writer, ids["first"], {"centroid_distance": TABLES["centroid_distance"]}, limit=None)
    store = read.open_store(cache)
    assert store.diagnoses(1) == {ids["first"]: read.DiagnosisRow(ids["first"], None, None, None)}
    assert len(store.text_tokens(ids["first"]).tokens) == 0
    assert store.faults() == []


@pytest.mark.parametrize("how", ["removed", "replaced", "with its benchmark"])
def test_it_goes_with_its_run(cache, diagnosed, how):
    with write.writer(cache) as writer:
        if how == "with its benchmark":
            writer.remove_benchmark(1)
        elif how == "removed":
            writer.remove_run(1, "first")
        else:
            add_run(writer, 1, "first", fingerprint="another")
    store = read.open_store(cache)
    assert store.diagnoses(1) == {}
    for table in ("diagnosis", *write.OF_DIAGNOSIS):
        assert store._rows(f"SELECT count(*) FROM {table}") == [(0,)]
    assert store.faults() == []


def test_it_stays_when_a_system_is_renamed(cache, diagnosed):
    _, ids = diagnosed
    with write.writer(cache) as writer:
        writer.rename_system("first", new="mine", title="Mine", short="mine")
    assert list(read.open_store(cache).diagnoses(1)) == [ids["first"]]


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("DELETE FROM text_space", "run 1: 0 rows of text_space for 2 that were found"),
        ("DELETE FROM diagnosis", "run 1: rows of a diagnosis that is not there"),
        ("UPDATE diagnosis SET fingerprint = 'other'", "run 1: a diagnosis of another run"),
        ("INSERT INTO diagnosis SELECT * REPLACE (9 AS run_id, '{}' AS n_rows) FROM diagnosis",
         "run 9: a diagnosis of another run"),
    ],
)  # fmt: skip
def test_faults_are_named(cache, diagnosed, sql, fault):
    store, _ = diagnosed
    with tampered(store.path) as cursor:
        cursor.execute(sql).fetchall()
    assert read.open_store(cache).faults() == [fault]


def test_a_diagnosis_of_another_run_is_not_shown(cache, diagnosed):
    store, _ = diagnosed
    with tampered(store.path) as cursor:
        cursor.execute("UPDATE diagnosis SET fingerprint = 'other'").fetchall()
    assert read.open_store(cache).diagnoses(1) == {}


def test_the_first_of_every_list_are_read_by_query_and_rank(diagnosed):
    store, _ = diagnosed
    run = store.runs([1])[0]
    top = store.top_documents(run, top=1)
    assert (top["query"].tolist(), top["document"].tolist()) == ([0, 1], [2, 1])
    assert store.top_documents(run, top=10)["document"].tolist() == [2, 0, 1, 2]  # two hits a query are kept


def test_a_store_from_before_diagnoses_opens_without_any():
    with duckdb.connect() as cursor:
        connection.migrate(cursor, upto=5)
        cursor.execute("INSERT INTO system VALUES ('bm25', 'BM25', 'BM25', 'lexical')").fetchall()
        connection.migrate(cursor)
        for table in ("diagnosis", *write.OF_DIAGNOSIS):
            assert cursor.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]
        assert cursor.execute("SELECT name FROM system").fetchall() == [("bm25",)]
