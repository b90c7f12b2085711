"""Imported scores and free query attributes: stored, read, checked, migrated."""

import duckdb
import numpy as np
import pytest

from analysis.model import Query, Task
from analysis.store import connection, read, write
from tests.store.by_hand import JUDGEMENTS, QUERIES, TASK, add_run, benchmark, stored, tampered

SCORED = Task(
    "main",
    "Scores",
    "?",
    (),
    (
        Query("q1", "en", "", "f", attributes={"specialty": "heart", "year": "2020"}),
        Query("q2", "fr", "", "f", attributes={"year": "2021"}),
        Query("q3", "fr", "", "g"),
    ),
    (),
    default=True,
)
RR = np.array([0.5, np.nan, 0.25])
RECALL = np.array([1.0, 0.0, 1 / 3])


def scored(cache):
    with write.writer(cache) as writer:
        version = writer.add_benchmark(benchmark(SCORED, name="scored"))
        task = writer.task_id("scored", version=version, task="main")
        for system, values in (("b", {"rr": RR, "recall_at_10": RECALL}), ("a", {"rr": RECALL, "recall_at_10": RR})):
            writer.add_system(system, title=system, short=system, paradigm="unknown")
            writer.add_scores(task, system, scores=values, fingerprint="f", provenance={"file": "s.csv"})
    return read.open_store(cache), task


def test_scores_come_back_in_the_order_asked_with_nan_where_there_are_none(cache):
    store, task = scored(cache)
    run = {row.system: row for row in store.runs([task])}
    found = store.scores(task, [run["b"].run_id, run["a"].run_id])
    assert list(found) == ["rr", "recall_at_10"]  # as stored
    np.testing.assert_array_equal(found["rr"], [RR, RECALL])
    np.testing.assert_array_equal(found["recall_at_10"], [RECALL, RR])
    assert store.scores(task, []) == {}
    assert run["b"].provenance == {"file": "s.csv", "scores": {"rr": 2, "recall_at_10": 3}}
    assert (run["b"].status, run["b"].depth, run["b"].hits_file) == ("complete", 0, None)
    with pytest.raises(read.StoreError, match="run of b keeps no hits: only scores were imported"):
        store.hits(run["b"])


def test_a_run_of_rankings_has_no_scores(cache):
    store, task = stored(cache, "bm25")
    assert store.scores(task.task_id, [1]) == {}


def test_scores_take_the_place_of_those_before(cache):
    _, task = scored(cache)
    with write.writer(cache) as writer:
        writer.add_scores(task, "b", scores={"ap": RECALL}, fingerprint="g", provenance={})
    store = read.open_store(cache)
    [again] = [row for row in store.runs([task]) if row.system == "b"]
    assert list(store.scores(task, [again.run_id])) == ["ap"]
    with duckdb.connect(str(store.path), read_only=True) as cursor:
        assert cursor.execute("SELECT count(*) FROM score").fetchall() == [(3 + 2 + 3,)]
    assert store.faults() == []


def test_attributes_come_back_by_name(cache):
    store, task = scored(cache)
    found = store.queries(task).attributes
    assert list(found) == ["specialty", "year"]
    assert found["specialty"].tolist() == ["heart", None, None]
    assert found["year"].tolist() == ["2020", "2021", None]
    assert store.queries(stored(cache)[1].task_id).attributes == {}


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (
            "DELETE FROM score WHERE run_id = 1 AND query = 0 AND measure = 'rr'",
            "1 sound scores in 1 rows of rr, expected 2",
        ),
        ("DELETE FROM score WHERE run_id = 1 AND measure = 'rr'", "0 sound scores in 0 rows of rr, expected 2"),
        ("INSERT INTO score VALUES (1, 0, 'rr', 0.5)", "2 sound scores in 3 rows of rr, expected 2"),
        ("UPDATE score SET query = 9 WHERE run_id = 1 AND query = 0", "1 sound scores in 2 rows of rr, expected 2"),
        ("UPDATE score SET value = 'nan' WHERE run_id = 1 AND query = 0", "1 sound scores in 2 rows of rr, expected 2"),
        ("INSERT INTO query_attribute VALUES (1, 0, 'year', '1999')", "task 1: 2 values of 'year' for query 0"),
        ("UPDATE query_attribute SET query = 7 WHERE query = 1", "1 values of 'year' for query 7, which is not there"),
    ],
)
def test_check_finds_lost_and_strange_rows(cache, damage, says):
    store, _ = scored(cache)
    assert store.faults() == []
    with tampered(store.path) as cursor:
        cursor.execute(damage).fetchall()
    assert any(says in fault for fault in store.faults())


def test_a_checksum_counts_attributes_and_only_where_there_are_any():
    plain = Task("main", "T", "?", TASK.documents, QUERIES, JUDGEMENTS)
    assert (
        write.task_checksum(plain) == "bf348030b8a1e3ab9f2ee4ee71589f81a5cf4042de41924a35b2c658eb4a6ab7"
    )  # as before there were any
    marked = plain.queries[0]._replace(attributes={"year": "2020"})
    other = plain.queries[0]._replace(attributes={"year": "2021"})
    sums = {
        write.task_checksum(Task("main", "T", "?", (), (query,), ())) for query in (plain.queries[0], marked, other)
    }
    assert len(sums) == 3


def test_a_store_of_schema_1_loses_nothing(cache, tmp_path, monkeypatch):
    """A store as the first schema made it, opened by this program."""
    steps = tmp_path / "first"
    steps.mkdir()
    first = connection.migrations()[0]
    (steps / first.name).write_text(first.read_text())
    now = connection.MIGRATIONS
    monkeypatch.setattr(connection, "MIGRATIONS", steps)
    monkeypatch.setattr(write.Writer, "_insert", only_known(write.Writer._insert))
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark())
        add_run_of_old(writer)
    old = connection.current_generation(cache)
    with duckdb.connect(str(old), read_only=True) as cursor:
        before = contents(cursor)
    monkeypatch.setattr(connection, "MIGRATIONS", now)
    store = read.open_store(cache)
    assert store.path != old
    with duckdb.connect(str(store.path), read_only=True) as cursor:
        assert connection.schema_of(cursor) == connection.newest_schema()
        after = contents(cursor)
    assert {name: after[name] for name in before} == before
    assert after["score"] == after["query_attribute"] == []
    assert store.faults() == []
    [task] = store.tasks(1)
    assert task.checksum == write.task_checksum(TASK)
    assert store.queries(1).attributes == {}
    assert [run.system for run in store.runs([1])] == ["bm25"]


def only_known(insert):
    """The writer of before: it knew no attributes, no flags and no images."""

    def known(self, table, rows):
        if table not in {"query_attribute", "flag", "image"}:
            insert(self, table, rows)

    return known


def add_run_of_old(writer):
    """A run, by a writer whose store has no scores to remove."""
    remove, writer.remove_run = writer.remove_run, lambda *_: None
    add_run(writer, 1)
    writer.remove_run = remove


def contents(cursor):
    """Every row of every table but the record of steps."""
    names = [row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()]
    return {name: cursor.execute(f"SELECT * FROM {name}").fetchall() for name in names if name != "migration"}
