"""Annotations in their own file: by hand, by several processes at once, and after whatever may happen to the file."""

import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from analysis.errors import InputError, StoreError
from analysis.paths import Cache
from analysis.store import notes
from analysis.store.notes import Annotation, Merged, NoteFilter
from tests.hand_made import state
from tests.jobs.test_crashes import namespace

ROOT = Path(__file__).resolve().parents[2]
BASE = Annotation(
    benchmark="example",
    task="main",
    query_id="q1",
    query_language="en",
    document_language="fr",
    system="good",
    author="ann",
    tag="wrong sibling",
    note="",
    created_at="2026-01-01T08:00:00.000000Z",
    updated_at="2026-01-01T08:00:00.000000Z",
)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def said(rows):
    """Rows without their ids."""
    return [row._replace(id=None) for row in rows]


def at(hour):
    return f"2026-01-01T{hour:02}:00:00.000000Z"


def test_nothing_is_made_where_nothing_is_written(cache):
    assert notes.listed(cache, "example") == []
    assert notes.version(cache) == ""
    assert not notes.remove(cache, 1, author="ann")
    assert notes.merge(cache, []) == Merged(0, 0, 0)
    assert notes.merge(cache, [BASE], dry_run=True) == Merged(1, 0, 0)
    notes.rename_benchmark(cache, "example", new="other")
    notes.rename_system(cache, "good", new="better")
    assert not cache.root.exists()


def test_the_same_tag_again_takes_over_the_new_note(cache):
    first = notes.add(cache, BASE)
    again = notes.add(cache, BASE._replace(note="see the dose", created_at=at(9), updated_at=at(9)))
    assert first == BASE._replace(id=1)
    assert again == BASE._replace(note="see the dose", updated_at=at(9), id=1)
    assert notes.listed(cache, "example") == [again]


def test_a_note_may_follow_what_was_said_before_instead_of_taking_its_place(cache):
    alone = BASE._replace(tag=None, note="by hand")
    notes.add(cache, alone)
    for words in ("found", "found", "found later"):
        kept = notes.add(cache, alone._replace(note=words), append=True)
    assert kept.note == "by hand\nfound\nfound later"
    longest = "x" * notes.LONGEST_NOTE
    with pytest.raises(InputError, match="characters"):
        notes.add(cache, alone._replace(note=longest), append=True)
    assert [row.note for row in notes.listed(cache, "example")] == [kept.note]
    assert notes.add(cache, BASE._replace(note="first"), append=True).note == "first"


def test_a_clock_that_was_set_back_does_not_change_a_note_before_it_was_made(cache):
    notes.add(cache, BASE)
    assert notes.add(cache, BASE._replace(note="x", updated_at=at(7))).updated_at == at(8)


@pytest.mark.parametrize(
    "other",
    [
        {"author": "bob"},
        {"tag": "other"},
        {"tag": None, "note": "a note alone"},
        {"system": None},
        {"document_language": None},
        {"document_language": "ja"},
        {"query_id": "q2"},
        {"task": "more"},
        {"benchmark": "another"},
    ],
)
def test_what_differs_in_anything_but_the_note_stands_beside_it(cache, other):
    notes.add(cache, BASE)
    added = notes.add(cache, BASE._replace(**other))
    assert added.id == 2
    assert said(notes.listed(cache, added.benchmark))[-1] == BASE._replace(**other)


def test_a_note_alone_is_one_for_each_author_and_item(cache):
    notes.add(cache, BASE._replace(tag=None, note="one"))
    notes.add(cache, BASE._replace(tag=None, note="two"))
    assert [row.note for row in notes.listed(cache, "example")] == ["two"]


def test_only_the_author_removes_and_ids_are_never_given_again(cache):
    added = notes.add(cache, BASE)
    assert not notes.remove(cache, added.id, author="bob")
    assert notes.remove(cache, added.id, author="ann")
    assert not notes.remove(cache, added.id, author="ann")
    assert notes.listed(cache, "example") == []
    assert notes.add(cache, BASE).id == 2


def test_filters(cache):
    rows = [
        BASE,
        BASE._replace(query_id="q2", tag="other"),
        BASE._replace(task="more", system=None),
        BASE._replace(author="bob", tag=None, note="x"),
    ]
    for row in rows:
        notes.add(cache, row)

    def kept(**wanted):
        return [rows.index(row) for row in said(notes.listed(cache, "example", NoteFilter(**wanted)))]

    assert kept() == [0, 1, 2, 3]
    assert kept(tasks=("main",)) == [0, 1, 3]
    assert kept(systems=("good",)) == [0, 1, 3]
    assert kept(tags=("other", "wrong sibling")) == [0, 1, 2]
    assert kept(authors=("bob",)) == [3]
    assert kept(query_ids=("q2",)) == [1]
    assert kept(query_ids=()) == []
    assert kept(tasks=("main",), authors=("ann",), tags=("wrong sibling",)) == [0]
    assert notes.listed(cache, "none") == []


def test_the_version_changes_with_the_notes_and_only_with_them(cache):
    versions = [notes.version(cache)]
    first = notes.add(cache, BASE)
    versions.append(notes.version(cache))
    notes.add(cache, BASE._replace(note="x"))
    versions.append(notes.version(cache))
    notes.merge(cache, [BASE._replace(query_id="q2")])
    versions.append(notes.version(cache))
    notes.remove(cache, first.id, author="ann")
    versions.append(notes.version(cache))
    assert len(set(versions)) == 5
    notes.listed(cache, "example")
    notes.remove(cache, first.id, author="ann")
    notes.merge(cache, [BASE._replace(query_id="q2")])
    assert notes.version(cache) == versions[-1]


def test_another_process_changes_the_version_too(cache):
    notes.add(cache, BASE)
    before = notes.version(cache)
    assert writer(cache, "bob", 1).wait(60) == 0
    assert notes.version(cache) not in ("", before)


def test_a_file_made_anew_has_another_version(cache):
    notes.add(cache, BASE)
    before = notes.version(cache)
    cache.notes.unlink()
    notes.add(cache, BASE)
    assert notes.version(cache) != before


def test_another_program_that_writes_changes_the_version(cache):
    notes.add(cache, BASE)
    before = notes.version(cache)
    with closing(sqlite3.connect(cache.notes)) as other, other:
        other.execute("UPDATE annotation SET note = 'by hand'")
    assert notes.version(cache) != before


# Several at once


WRITER = """
import sys
from pathlib import Path
from analysis.paths import Cache
from analysis.store import notes
from tests.store.test_notes import BASE
root, author, n = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
if sys.argv[4:]:
    print("ready", flush=True)
    sys.stdin.readline()
for number in range(n):
    print(notes.add(Cache(root), BASE._replace(author=author, query_id=f"q{number}")).id, flush=True)
"""


def writer(cache, author, n, *more):
    """A process that adds ``n`` annotations, after a line on its stdin where there is ``more``; it prints their ids."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(cache.root), author, str(n), *more],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_processes_that_write_at_once_lose_nothing(cache):
    """The file does not exist when they begin, so that they make it together too."""
    people = ("ann", "bob", "eve")
    processes = [writer(cache, author, 40, "wait") for author in people]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    ids = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    found = notes.listed(cache, "example")
    assert {(row.author, row.query_id) for row in found} == {(a, f"q{n}") for a in people for n in range(40)}
    assert sorted(int(name) for names in ids for name in names) == [row.id for row in found] == list(range(1, 121))
    assert notes.version(cache).endswith("-120")


def test_threads_that_write_and_read_at_once_lose_nothing(cache):
    def work(author):
        for number in range(20):
            notes.add(cache, BASE._replace(author=author, query_id=f"q{number}"))
            assert notes.listed(cache, "example", NoteFilter(authors=(author,)))[-1].query_id == f"q{number}"

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, ("ann", "bob", "eve", "kim")))
    assert len(notes.listed(cache, "example")) == 80


def test_who_waits_too_long_is_told(cache, monkeypatch):
    notes.add(cache, BASE)
    monkeypatch.setattr(notes, "WAIT", 0.2)
    with closing(sqlite3.connect(cache.notes, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert said(notes.listed(cache, "example")) == [BASE]  # readers do not wait
        with pytest.raises(StoreError, match="somebody else has been writing for 0 seconds; try again; what was"):
            notes.add(cache, BASE._replace(author="bob"))
    notes.add(cache, BASE._replace(author="bob"))


# What may happen to the file


def whole(cache):
    with closing(sqlite3.connect(cache.notes)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def killed_while_writing(cache, *, after):
    """What a process said it had written when it was killed."""
    process = writer(cache, "ann", 100_000)
    told = [int(process.stdout.readline()) for _ in range(after)]
    process.send_signal(signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    return told


@pytest.mark.parametrize("after", [1, 7, 60])
def test_a_writer_killed_at_any_moment_leaves_what_it_said_it_wrote(cache, after):
    told = killed_while_writing(cache, after=after)
    found = [row.id for row in notes.listed(cache, "example")]
    assert found[: len(told)] == told
    assert whole(cache)
    assert notes.version(cache).endswith(f"-{len(found)}")
    notes.add(cache, BASE._replace(author="bob"))
    assert len(notes.listed(cache, "example")) == len(found) + 1


IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from analysis.paths import Cache
from analysis.store import notes
from tests.store.test_notes import BASE
with notes.writing(Cache(Path(sys.argv[1]))) as connection:
    notes._merge(connection, [BASE._replace(query_id=f"q{number}", note="x" * 5000) for number in range(2000)])
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("before", [(), (BASE,)], ids=["new file", "file with a note"])
def test_a_writer_killed_in_the_middle_of_a_transaction_leaves_nothing_of_it(cache, before):
    for row in before:
        notes.add(cache, row)
    version = notes.version(cache)
    killed = subprocess.run([sys.executable, "-c", IN_THE_MIDDLE, str(cache.root)], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert said(notes.listed(cache, "example")) == list(before)
    assert notes.version(cache) == version
    notes.add(cache, BASE._replace(author="bob"))
    assert len(notes.listed(cache, "example")) == len(before) + 1
    assert whole(cache)


def test_an_empty_file_has_no_notes_and_takes_some(cache):
    cache.root.mkdir()
    cache.notes.touch()
    assert (notes.listed(cache, "example"), notes.version(cache)) == ([], "")
    notes.add(cache, BASE)
    assert said(notes.listed(cache, "example")) == [BASE]
    with closing(sqlite3.connect(cache.notes)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(notes.STEPS),)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def every_way(cache):
    yield lambda: notes.listed(cache, "example")
    yield lambda: notes.version(cache)
    yield lambda: notes.add(cache, BASE)
    yield lambda: notes.remove(cache, 1, author="ann")
    yield lambda: notes.merge(cache, [BASE])
    yield lambda: notes.merge(cache, [BASE], dry_run=True)
    yield lambda: notes.rename_benchmark(cache, "example", new="other")
    yield lambda: notes.rename_system(cache, "good", new="better")


def test_notes_of_a_newer_program_are_refused_in_every_way(cache):
    notes.add(cache, BASE)
    with closing(sqlite3.connect(cache.notes)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = state(cache.root)
    for way in every_way(cache):
        with pytest.raises(StoreError) as refused:
            way()
        assert str(refused.value) == (
            f"{cache.notes}: the notes have schema 99, written by a newer Babelscope; this one knows "
            f"{len(notes.STEPS)}: update Babelscope, or choose another cache folder"
        )
    assert state(cache.root) == before


@pytest.mark.parametrize(
    "damage", [b"not a database, but a text that is long enough" * 100, None], ids=["text", "torn"]
)
def test_a_damaged_file_is_named_and_left_alone(cache, damage):
    for number in range(200):
        notes.add(cache, BASE._replace(query_id=f"q{number}", note="x" * 500))
    found = cache.notes.read_bytes()
    cache.notes.write_bytes(damage or found[:4096] + b"\xff" * (len(found) - 4096))
    before = state(cache.root)
    for way in every_way(cache):
        with pytest.raises(StoreError, match=r"notes\.sqlite: damaged \(.*\), expected a file of notes") as refused:
            way()
        assert str(refused.value).startswith(str(cache.notes))
    assert state(cache.root) == before


READ_ONLY = """
import json, subprocess, sys
from pathlib import Path
from analysis.errors import StoreError
from analysis.paths import Cache
from analysis.store import notes
from tests.store.test_notes import BASE
cache = Cache(Path(sys.argv[1]))
subprocess.run(["mount", "--bind", cache.root, cache.root], check=True)
subprocess.run(["mount", "-o", "remount,ro,bind", cache.root], check=True)
def tried(act):
    try:
        return act()
    except StoreError as error:
        return str(error)
print(json.dumps([
    tried(lambda: len(notes.listed(cache, "example"))), tried(lambda: notes.version(cache)),
    tried(lambda: notes.add(cache, BASE)), tried(lambda: notes.remove(cache, 1, author="ann"))]))
"""
REFUSED = "the file or its folder cannot be written ({}); what was stored before is unchanged"
SHUT, FIXED = REFUSED.format("unable to open database file"), REFUSED.format("attempt to write a readonly database")


def test_a_folder_that_cannot_be_written_can_be_read(cache):
    notes.add(cache, BASE)
    version, before = notes.version(cache), state(cache.root)
    refused = f"{cache.notes}: {SHUT}"
    assert namespace(READ_ONLY, cache.root) == [1, version, refused, refused]
    assert state(cache.root) == before


def test_a_folder_without_notes_that_cannot_be_written_has_none(cache):
    cache.root.mkdir()
    assert namespace(READ_ONLY, cache.root) == [0, "", f"{cache.notes}: {SHUT}", False]


LEAVES_A_LOG = """
import os, signal, sqlite3, sys
from pathlib import Path
from analysis.paths import Cache
from analysis.store import notes
from tests.store.test_notes import BASE
cache = Cache(Path(sys.argv[1]))
notes.add(cache, BASE)
reader = sqlite3.connect(cache.notes)
reader.execute("SELECT count(*) FROM annotation").fetchall()
notes.add(cache, BASE._replace(author="bob"))  # stays in the log, as it is not the last one to close the file
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_left_is_read_where_nothing_can_be_written(cache):
    subprocess.run([sys.executable, "-c", LEAVES_A_LOG, str(cache.root)], cwd=ROOT, check=False)
    log = cache.root / "notes.sqlite-wal"
    assert log.stat().st_size > 0
    found, version, *refused = namespace(READ_ONLY, cache.root)
    assert (found, version[-2:]) == (2, "-2")
    assert refused == [f"{cache.notes}: {FIXED}"] * 2
    (cache.root / "notes.sqlite-shm").unlink()  # as in a copy that left it out
    unread = f"{log}: holds notes that cannot be read where nothing can be written; copy the folder to another place"
    assert namespace(READ_ONLY, cache.root)[:2] == [unread, unread]
    assert len(notes.listed(cache, "example")) == 2


FULL = """
import json, subprocess, sys
from pathlib import Path
from analysis.errors import StoreError
from analysis.paths import Cache
from analysis.store import notes
from tests.store.test_notes import BASE
cache = Cache(Path(sys.argv[1]))
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(cache.root)], check=True)
n, words = 0, ""
while not words:
    try:
        notes.add(cache, BASE._replace(query_id=f"q{n}", note="x" * 9000))
        n += 1
    except StoreError as error:
        words = str(error)
print(json.dumps([n, len(notes.listed(cache, "example")), words]))
"""


def test_a_full_disk_is_one_clear_sentence(cache):
    cache.root.mkdir()
    written, found, words = namespace(FULL, cache.root)
    assert written == found > 3
    assert words == f"{cache.notes}: database or disk is full; what was stored before is unchanged"


# Brought in and renamed


def test_what_is_new_or_newer_is_taken_over_and_the_rest_is_kept(cache):
    for name in ("same", "newer", "older", "untouched"):
        notes.add(cache, BASE._replace(query_id=name, note="here"))
    rows = [
        BASE._replace(query_id="new", note="there"),
        BASE._replace(query_id="same", note="here", updated_at=at(9)),
        BASE._replace(query_id="newer", note="there", created_at=at(7), updated_at=at(9)),
        BASE._replace(query_id="older", note="there", created_at=at(6), updated_at=at(7)),
    ]
    assert notes.merge(cache, rows, dry_run=True) == Merged(added=1, updated=1, kept=2)
    assert len(notes.listed(cache, "example")) == 4
    assert notes.merge(cache, rows) == Merged(added=1, updated=1, kept=2)
    assert [(row.query_id, row.note, row.created_at, row.updated_at) for row in notes.listed(cache, "example")] == [
        ("same", "here", at(8), at(8)),
        ("newer", "there", at(8), at(9)),
        ("older", "here", at(8), at(8)),
        ("untouched", "here", at(8), at(8)),
        ("new", "there", at(8), at(8)),
    ]
    assert notes.merge(cache, rows) == Merged(0, 0, 4)


def test_notes_follow_a_benchmark_that_is_renamed(cache):
    notes.add(cache, BASE._replace(note="newer", updated_at=at(9)))
    notes.add(cache, BASE._replace(query_id="q2"))
    notes.add(cache, BASE._replace(benchmark="other", note="older"))
    notes.add(cache, BASE._replace(benchmark="third"))
    notes.rename_benchmark(cache, "example", new="other")
    assert notes.listed(cache, "example") == []
    assert [(row.query_id, row.note) for row in notes.listed(cache, "other")] == [("q1", "newer"), ("q2", "")]
    assert len(notes.listed(cache, "third")) == 1


def test_notes_follow_a_system_that_is_renamed(cache):
    notes.add(cache, BASE)
    notes.add(cache, BASE._replace(benchmark="other"))
    notes.add(cache, BASE._replace(system="bad"))
    notes.add(cache, BASE._replace(system=None))
    notes.rename_system(cache, "good", new="better")
    assert sorted(str(row.system) for row in notes.listed(cache, "example")) == ["None", "bad", "better"]
    assert [row.system for row in notes.listed(cache, "other")] == ["better"]


# What may be written


LONG = "x" * 61


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"author": ""}, "author '': expected 1 to 60 printable characters without a comma"),
        ({"author": "ann,bob"}, "author 'ann,bob': expected 1 to 60 printable characters without a comma"),
        ({"author": LONG}, f"author '{LONG}': expected 1 to 60 printable characters without a comma"),
        ({"tag": " "}, "tag '': expected 1 to 60 printable characters without a comma"),
        ({"tag": "a\nb"}, r"tag 'a\nb': expected 1 to 60 printable characters without a comma"),
        ({"tag": "y" * 99}, f"tag '{'y' * 80}…': expected 1 to 60 printable characters without a comma"),
        ({"system": "a,b"}, "system 'a,b': expected a name without a comma"),
        ({"system": ""}, "system '': expected a name without a comma"),
        ({"note": "z" * 10_001}, f"note '{'z' * 80}…': 10,001 characters, expected at most 10,000"),
        ({"note": "\ud800"}, r"note '\ud800': half a surrogate pair, expected whole characters"),
        ({"tag": None, "note": " \n"}, "neither tag nor note: expected one of them or both"),
    ],
)
def test_what_cannot_be_written(wrong, message):
    with pytest.raises(InputError) as refused:
        notes.checked(BASE._replace(**wrong))
    assert str(refused.value) == message


def test_names_have_one_unicode_form_and_no_white_space_around_them():
    row = notes.checked(BASE._replace(author=" Jose\u0301 ", tag="caf\u00e9 ", note=" as it is "))
    assert (row.author, row.tag, row.note) == ("Jos\u00e9", "caf\u00e9", " as it is ")
    longest = BASE._replace(author="x" * 60, tag="y" * 60, note="z" * 10_000)
    assert notes.checked(longest) == longest
