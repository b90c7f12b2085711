"""Published figures: stored, read, replaced, removed, checked, and a store from before there were any."""

import datetime

import duckdb
import numpy as np
import pytest

from analysis.model import Figure, PublishedResult
from analysis.store import connection, read, write
from tests.store.by_hand import add_run, benchmark, stored, tampered

FIGURES = (
    Figure("all", "es", "es", "en", "ndcg_at_10", 0.5),
    Figure("all", "en", "en", "en", "ndcg_at_10", 0.6),
    Figure("all", "en", "en", "en", "rr_at_10", 0.7),
    Figure("heart", "en", "en", "en", "ndcg_at_10", 0.0),
)
WHEN = datetime.datetime(2026, 8, 4, 12, 30)


def published(system="lab/large", figures=FIGURES, **more):
    about = {"file": "r/1/main.json", "checksum": "c", "program": "mteb 2", "model_revision": "1"}
    about |= {"dataset_revision": None, "evaluated_at": WHEN}
    return PublishedResult("main", system, **(about | more), figures=figures)


@pytest.fixture
def store(cache):
    stored(cache, "bm25")
    with write.writer(cache) as writer:
        writer.add_published(1, published())
        writer.add_published(1, published("lab/small", FIGURES[:1], file="s"))
    return read.open_store(cache)


def test_figures_come_back_by_measure_in_the_order_of_the_files(store):
    assert store.published_measures(1) == ["ndcg_at_10", "rr_at_10"]
    found = store.published(1, "ndcg_at_10")
    assert found.system.tolist() == ["lab/large"] * 3 + ["lab/small"]
    assert found.split.tolist() == ["all", "all", "heart", "all"]
    assert found.subset.tolist() == ["es", "en", "en", "es"]
    assert next(zip(found.query_language, found.document_language, strict=True)) == ("es", "en")
    np.testing.assert_array_equal(found.value, [0.5, 0.6, 0.0, 0.5])
    assert store.published(1, "ap").value.tolist() == []
    assert store.published_pairs(1) == [("es", "en", 2), ("en", "en", 2)]
    large, small = store.published_sources([1])
    assert (large.system, large.file, large.evaluated_at, large.n_figures) == ("lab/large", "r/1/main.json", WHEN, 4)
    assert (small.system, small.n_figures) == ("lab/small", 1)
    assert store.published_sources([2]) == []


def test_a_task_says_of_how_many_systems_figures_were_published(cache, store):
    assert [task.n_published for task in store.tasks(1)] == [2]
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark(name="other"))
    other = read.open_store(cache)
    assert [task.n_published for task in other.tasks(2)] == [0]
    assert other.published_measures(2) == []


def test_a_second_file_of_a_system_takes_the_place_of_the_first(cache, store):
    with write.writer(cache) as writer:
        writer.add_published(1, published(figures=FIGURES[2:3], checksum="d"))
    found = read.open_store(cache)
    assert {source.system: (source.checksum, source.n_figures) for source in found.published_sources([1])} == {
        "lab/large": ("d", 1),
        "lab/small": ("c", 1),
    }
    assert found.published(1, "rr_at_10").value.tolist() == [0.7]
    assert found.published(1, "ndcg_at_10").system.tolist() == ["lab/small"]
    assert found.faults() == []


def test_they_leave_the_runs_of_the_task_alone(cache, store):
    assert [run.system for run in store.runs([1])] == ["bm25"]
    with write.writer(cache) as writer:
        writer.remove_published(1, "lab/large")
        add_run(writer, 1, "dense")
    found = read.open_store(cache)
    assert [source.system for source in found.published_sources([1])] == ["lab/small"]
    assert [run.system for run in found.runs([1])] == ["bm25", "dense"]
    assert found.faults() == []


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("DELETE FROM published WHERE measure = 'rr_at_10'", "task 1, lab/large: 3 published figures of 4"),
        (
            "UPDATE published SET value = 'nan' WHERE system = 'lab/small'",
            "task 1, lab/small: 0 published figures of 1",
        ),
        ("DELETE FROM published_source WHERE system = 'lab/small'", "task 1, lab/small: 1 published figures of 0"),
    ],
)
def test_check_counts_them(store, sql, says):
    assert store.faults() == []
    with tampered(store.path) as cursor:
        cursor.execute(sql).fetchall()
    assert read.Store(store.cache, store.path).faults() == [says]


def test_a_store_from_before_gets_the_tables_empty(tmp_path):
    with duckdb.connect(str(tmp_path / "old.duckdb")) as cursor:
        connection.migrate(cursor, upto=3)
        names = "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'published%' ORDER BY table_name"
        assert cursor.execute(names).fetchall() == []
        connection.migrate(cursor, upto=4)
        assert cursor.execute(names).fetchall() == [("published",), ("published_source",)]
        assert cursor.execute("SELECT count(*) FROM published").fetchall() == [(0,)]
