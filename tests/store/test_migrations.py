"""Stores of every age: an empty one, an older one, a newer one."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from analysis.errors import StoreError
from analysis.store import connection, read, write
from tests.store.by_hand import add_run, benchmark, files, stored, tampered

NEXT = """
ALTER TABLE run ADD COLUMN comment VARCHAR;
UPDATE run SET comment = 'made before the next schema';
CREATE TABLE newest (value DOUBLE);
"""
NOW = connection.newest_schema()
NEXT_FILE = f"{NOW + 1:03d}_next.sql"


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """The real steps in a folder to which a test may add."""
    folder = shutil.copytree(connection.MIGRATIONS, tmp_path / "migrations")
    monkeypatch.setattr(connection, "MIGRATIONS", folder)
    return folder


def tables(cursor):
    return {row[0] for row in cursor.execute("SELECT table_name FROM information_schema.tables").fetchall()}


def record(cursor):
    return cursor.execute("SELECT number, name FROM migration ORDER BY number").fetchall()


def test_an_empty_file_gets_every_step():
    with duckdb.connect() as cursor:
        assert connection.schema_of(cursor) == 0
        connection.migrate(cursor)
        assert connection.schema_of(cursor) == connection.newest_schema()
        assert [name for _, name in record(cursor)] == [step.stem for step in connection.migrations()]
        assert {"benchmark", "task", "document", "query", "judgement", "run", "relevant_rank"} < tables(cursor)


def test_steps_are_numbered_without_a_gap():
    numbers = [int(step.name[:3]) for step in connection.migrations()]
    assert numbers == list(range(1, connection.newest_schema() + 1))


@pytest.mark.parametrize("number", range(1, connection.newest_schema() + 1))
def test_each_step_goes_from_the_state_before(number):
    with duckdb.connect() as cursor:
        connection.migrate(cursor, upto=number - 1)
        assert connection.schema_of(cursor) == number - 1
        connection.migrate(cursor, upto=number)
        assert connection.schema_of(cursor) == number


def test_migrating_twice_changes_nothing():
    with duckdb.connect() as cursor:
        connection.migrate(cursor)
        once = cursor.execute("SELECT * FROM migration").fetchall()
        connection.migrate(cursor)
        assert cursor.execute("SELECT * FROM migration").fetchall() == once


def test_an_older_store_is_brought_up_to_date_when_it_is_opened(cache, steps):
    old, _ = stored(cache, "bm25")
    before = files(cache)
    (steps / NEXT_FILE).write_text(NEXT)
    store = read.open_store(cache)
    assert connection.generation_number(store.path) == connection.generation_number(old.path) + 1
    with duckdb.connect(str(store.path), read_only=True) as cursor:
        assert record(cursor)[-2:] == [
            (NOW, connection.migrations()[NOW - 1].stem),
            (NOW + 1, NEXT_FILE.removesuffix(".sql")),
        ]
        assert cursor.execute("SELECT system, comment FROM run").fetchall() == [("bm25", "made before the next schema")]
        assert "newest" in tables(cursor)
    [run] = store.runs([1])
    assert store.ranks([run.run_id]).shape == (1, 4)
    assert len(store.hits(run)) == 4
    assert (store.faults(), store.orphans()) == ([], [])
    assert files(cache)[old.path.name] == before[old.path.name]  # the generation before is as it was
    assert read.open_store(cache).path == store.path


def test_many_readers_bring_it_up_to_date_once(cache, steps):
    old, _ = stored(cache)
    (steps / NEXT_FILE).write_text(NEXT)
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: read.open_store(cache).path, range(4)))
    assert {connection.generation_number(path) for path in opened} == {connection.generation_number(old.path) + 1}


def test_a_writer_brings_an_older_store_up_to_date_first(cache, steps):
    """Jobs open the store while they write: that must neither wait for their own lock nor see the old schema."""
    stored(cache)
    (steps / NEXT_FILE).write_text(NEXT)
    with write.writer(cache) as writer:
        add_run(writer, 1)
        with duckdb.connect(str(read.open_store(cache).path), read_only=True) as cursor:
            assert connection.schema_of(cursor) == NOW + 1
    assert [run.system for run in read.open_store(cache).runs([1])] == ["bm25"]


@pytest.mark.parametrize("act", [read.open_store, lambda cache: write.writer(cache).__enter__()], ids=["open", "write"])
def test_a_step_that_fails_changes_nothing(cache, steps, act):
    stored(cache, "bm25")
    before = files(cache)
    (steps / NEXT_FILE).write_text(NEXT + "SELECT nothing FROM nowhere;")
    with pytest.raises(StoreError, match=rf"{NEXT_FILE}: Catalog Error"):
        act(cache)
    assert files(cache) == before
    (steps / NEXT_FILE).unlink()
    assert [run.system for run in read.open_store(cache).runs([1])] == ["bm25"]


def test_a_step_that_fails_is_rolled_back_and_the_ones_before_stay(steps):
    (steps / NEXT_FILE).write_text("CREATE TABLE good (a INTEGER);")
    (steps / f"{NOW + 2:03d}_bad.sql").write_text(
        "CREATE TABLE bad (a INTEGER); INSERT INTO bad VALUES ('not a number');"
    )
    with duckdb.connect() as cursor:
        with pytest.raises(StoreError, match=r"_bad\.sql: Conversion Error"):
            connection.migrate(cursor)
        assert connection.schema_of(cursor) == NOW + 1
        assert {"good"} == tables(cursor) & {"good", "bad"}


def test_a_newer_store_is_refused_with_words(cache):
    store, _ = stored(cache, "bm25")
    with tampered(store.path) as cursor:
        cursor.execute("INSERT INTO migration VALUES (999, '999_future', current_timestamp)").fetchall()
    before = files(cache)
    words = r"the store has schema 999, written by a newer Babelscope; this one knows \d+: update Babelscope"
    for act in (lambda: read.open_store(cache), lambda: write.writer(cache).__enter__()):
        with pytest.raises(StoreError, match=words):
            act()
    assert files(cache) == before


def test_the_refused_store_opens_again_with_the_newer_program(cache, steps):
    (steps / NEXT_FILE).write_text(NEXT)
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark())
    connection.shared_connection.cache_clear()
    (steps / NEXT_FILE).rename(steps / f"{NEXT_FILE}.not yet")
    with pytest.raises(StoreError, match=f"schema {NOW + 1}, written by a newer Babelscope; this one knows {NOW}"):
        read.open_store(cache)
    (steps / f"{NEXT_FILE}.not yet").rename(steps / NEXT_FILE)
    assert len(read.open_store(cache).benchmarks()) == 1
