"""Flags: what is stored of doubtful items, and what it does not touch."""

from dataclasses import replace

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.model import Flag, FlagCounts
from analysis.paths import Cache
from analysis.store import connection, read, write
from tests.store.by_hand import DOCUMENTS, QUERIES, TASK, benchmark, stored, tampered

FLAGS = (
    Flag("query", "q-fr", "no text"),
    Flag("document", "b-en", "other script"),
    Flag("document", "b-en", "misaligned"),
    Flag("document", "a-fr", "other script"),
    Flag("document", "a-fr", "other script"),  # said twice, stored once
)
FLAGGED = replace(TASK, flags=FLAGS)


def test_flags_are_counted_by_item_and_reason(cache):
    store, task = stored(cache, made=benchmark(FLAGGED))
    assert task.flagged == FlagCounts(1, 2, {"other script": 2, "misaligned": 1, "no text": 1})
    assert list(task.flagged.reasons) == ["other script", "misaligned", "no text"]  # the most frequent first
    assert store.flagged(task.task_id).queries.tolist() == [False, True]
    assert store.flagged(task.task_id).documents.tolist() == [1, 2]
    assert store.flags(task.task_id) == (
        Flag("query", "q-fr", "no text"),
        Flag("document", "a-fr", "other script"),
        Flag("document", "b-en", "misaligned"),
        Flag("document", "b-en", "other script"),
    )
    assert store.faults() == []


def test_a_task_without_flags_has_none(cache):
    store, task = stored(cache)
    assert task.flagged == FlagCounts(0, 0, {})
    assert not store.flagged(task.task_id).queries.any()
    assert store.flagged(task.task_id).documents.tolist() == []
    assert store.flags(task.task_id) == ()


def test_tasks_of_one_benchmark_have_flags_of_their_own(cache):
    store, _ = stored(cache, made=benchmark(FLAGGED, replace(TASK, name="other", flags=FLAGS[:1], default=False)))
    assert [task.flagged[:2] for task in store.tasks(1)] == [(1, 2), (1, 0)]


def test_flags_are_no_part_of_a_checksum():
    assert write.task_checksum(FLAGGED) == write.task_checksum(TASK)
    assert write.content_checksum(benchmark(FLAGGED)) == write.content_checksum(benchmark())


def test_the_same_content_with_other_flags_is_stored_once_with_the_new_ones(cache):
    store, task = stored(cache, "bm25", made=benchmark(FLAGGED))
    with write.writer(cache) as writer:
        assert writer.add_benchmark(benchmark(replace(TASK, flags=FLAGS[:1]))) == "1"
    store = read.open_store(cache)
    assert store.flags(task.task_id) == FLAGS[:1]
    assert [run.system for run in store.runs([task.task_id])] == ["bm25"]
    assert len(store.benchmarks()) == 1
    with write.writer(cache) as writer:
        writer.flag(task.task_id, TASK)
    assert read.open_store(cache).flags(task.task_id) == ()


def test_a_removed_benchmark_leaves_no_flag(cache):
    stored(cache, made=benchmark(FLAGGED))
    with write.writer(cache) as writer:
        writer.remove_benchmark(1)
    with duckdb.connect(str(read.open_store(cache).path), read_only=True) as cursor:
        assert cursor.execute("SELECT count(*) FROM flag").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("(1, 'query', 9, 'no text')", "task 1: 1 flags 'no text' of query 9, which is not there"),
        ("(1, 'document', 2, 'misaligned')", "task 1: 2 flags 'misaligned' of document 2"),
        ("(1, 'answer', 0, 'misaligned')", "task 1: 1 flags 'misaligned' of answer 0, which is not there"),
    ],
)
def test_check_finds_flags_of_nothing_and_flags_stored_twice(cache, row, fault):
    store, _ = stored(cache, made=benchmark(FLAGGED))
    with tampered(store.path) as cursor:
        cursor.execute(f"INSERT INTO flag VALUES {row}").fetchall()
    assert read.open_store(cache).faults() == [fault]


def test_a_store_from_before_flags_opens_without_any():
    with duckdb.connect() as cursor:
        connection.migrate(cursor, upto=4)
        cursor.execute("INSERT INTO query_attribute VALUES (1, 0, 'text_check', 'no text')").fetchall()
        connection.migrate(cursor)
        assert cursor.execute("SELECT count(*) FROM flag").fetchall() == [(0,)]
        assert cursor.execute("SELECT value FROM query_attribute").fetchall() == [("no text",)]


ITEMS = st.sampled_from([*(("query", row.id) for row in QUERIES), *(("document", row.id) for row in DOCUMENTS)])


LISTS = st.lists(st.tuples(ITEMS, st.text(min_size=1, max_size=5)), max_size=8)


@settings(max_examples=8)
@given(st.lists(LISTS, min_size=4, max_size=20))
def test_what_is_flagged_is_what_is_read(tmp_path_factory, lists):
    """Each list is a task of its own, so that one store holds many."""
    made = [
        replace(TASK, name=f"t{n}", flags=tuple(Flag(*item, reason) for item, reason in found), default=not n)
        for n, found in enumerate(lists)
    ]
    store, _ = stored(Cache(tmp_path_factory.mktemp("flags")), made=benchmark(*made))
    for task, asked in zip(store.tasks(1), made, strict=True):
        assert set(store.flags(task.task_id)) == set(asked.flags)
        assert sum(task.flagged.reasons.values()) == len(set(asked.flags))
        flagged = store.flagged(task.task_id)
        assert {("query", QUERIES[n].id) for n, doubtful in enumerate(flagged.queries) if doubtful} | {
            ("document", DOCUMENTS[n].id) for n in flagged.documents
        } == {flag[:2] for flag in asked.flags}
        assert task.flagged[:2] == (flagged.queries.sum(), len(flagged.documents))
