"""Tags and notes written from a page and brought back from a file; a faulty file changes nothing."""

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.cli import main
from analysis.errors import InputError, StoreError
from analysis.jobs import annotate
from analysis.model import Benchmark, Document, Query, Task
from analysis.paths import Cache
from analysis.store import notes as stored
from analysis.store import read, write
from analysis.store.notes import COLUMNS, Merged
from analysis.views import notes, notes_export
from tests.hand_made import state
from tests.store.test_notes import BASE

HOSTILE_IDS = (
    "q1",
    "007",
    " outer space ",
    'a"quote',
    "comma, comma",
    "line\nbreak",
    "line\r\nbreak",
    "\rstart",
    "\u2028\x85\x0b.",
    "=1+1",
    "+cmd",
    "@x",
    "'",
    "q\u0301 ≠ q",
    "質問",
    "سؤال",
    "\u202eright to left",
    "\ufeffmark",
    "<script>alert(1)</script>",
    "NULL",
    "\\N",
    "tab\tbed",
    "x" * 300,
)


def made(name="example", ids=("q1", "q2")):
    documents = tuple(Document(f"d-{tag}", tag, tag, family="c") for tag in ("en", "fr", "ja"))
    queries = tuple(Query(query, "en", f"text of {query}", family=f"f{n}") for n, query in enumerate(ids))
    task = Task("main", "Main task", "A question.", documents, queries, (), default=True)
    more = Task("more", "More", "A question.", documents, (Query("q1", "fr", "un cœur", family="f"),), ())
    return Benchmark(name, "1", "Worked example", True, "CC0", "by hand", (), {}, (task, more))


def built(folder, *benchmarks):
    cache = Cache(folder)
    with write.writer(cache) as writer:
        for benchmark in benchmarks:
            writer.add_benchmark(benchmark)
        writer.add_system("good", title="good", short="good", paradigm="lexical")
    return cache


@pytest.fixture(scope="module")
def empty_cache(tmp_path_factory):
    hostile = made("hostile", HOSTILE_IDS)
    return built(tmp_path_factory.mktemp("annotate"), made(), hostile)


@pytest.fixture
def cache(empty_cache):
    yield empty_cache
    empty_cache.notes.unlink(missing_ok=True)


def add(cache, **what):
    wanted = {"author": "ann", "tag": "other", **what}
    place = [wanted.pop(name, usual) for name, usual in (("benchmark", "example"), ("task", "main"), ("query", "q1"))]
    return annotate.add(*place, **wanted, folder=cache.root)


def rows(cache, benchmark="example"):
    return [row._replace(id=None) for row in stored.listed(cache, benchmark)]


# From a page


def test_a_tag_is_one_call_away(cache):
    row = add(cache, author=" ann ", tag="wrong sibling", note="the dose", system="good", document_language="fr")
    assert row[:9] == ("example", "main", "q1", "en", "fr", "good", "ann", "wrong sibling", "the dose")
    assert row.created_at == row.updated_at
    assert notes.of_query(read.open_store(cache), "example", "main", "q1") == (row,)
    again = add(cache, benchmark="example@1", tag="wrong sibling", system="good", document_language="fr")
    assert (again.id, again.note, again.created_at) == (row.id, "", row.created_at)
    assert again.updated_at > row.updated_at
    assert add(cache, task="more").query_language == "fr"
    annotate.remove(row.id, author="ann", folder=cache.root)
    assert [row.task for row in rows(cache)] == ["more"]


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"benchmark": "none"}, "unknown benchmark 'none': stored are "),
        ({"task": "none"}, "task 'none': example has main, more"),
        ({"query": "q9"}, "query 'q9': main has none of this id"),
        ({"document_language": "ru"}, "language 'ru': main has en, fr, ja"),
        ({"author": ""}, "author '': expected 1 to 60 printable characters without a comma"),
        ({"tag": "a,b"}, "tag 'a,b': expected 1 to 60 printable characters without a comma"),
        ({"tag": None}, "neither tag nor note: expected one of them or both"),
        ({"note": "x" * 10_001}, f"note '{'x' * 80}…': 10,001 characters, expected at most 10,000"),
    ],
)
def test_what_cannot_be_said(cache, what, message):
    with pytest.raises(InputError) as refused:
        add(cache, **what)
    assert str(refused.value).startswith(message)
    assert not cache.notes.exists()


def test_nobody_takes_back_what_somebody_else_said(cache):
    row = add(cache)
    for number, author in ((row.id, "bob"), (row.id + 1, "ann")):
        with pytest.raises(InputError) as refused:
            annotate.remove(number, author=author, folder=cache.root)
        assert str(refused.value) == f"note {number}: {author!r} has none of this number, or none any more"
    assert len(rows(cache)) == 1


def test_an_empty_store_has_nothing_to_speak_of(tmp_path):
    with pytest.raises(StoreError, match="the store is empty: a note is about a stored query"):
        add(Cache(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_notes_outlive_a_rebuild_and_the_benchmark_itself(tmp_path):
    cache = built(tmp_path / "cache", made())
    add(cache)
    with write.writer(cache) as writer:
        writer.add_benchmark(made(ids=("q2", "q3")))
    store = read.open_store(cache)
    assert [row.version for row in store.benchmarks()] == ["1-2", "1"]
    (row,) = notes.notes(store, "example").rows
    assert ("main", row.query_id) not in notes.notes(store, "example").texts
    assert notes.notes(store, "example@1").texts == {("main", "q1"): "text of q1"}
    with write.writer(cache) as writer:
        for benchmark in store.benchmarks():
            writer.remove_benchmark(benchmark.benchmark_id)
    assert len(rows(cache)) == 1


# From a file


GOOD = dict(
    zip(
        COLUMNS,
        (
            "example",
            "main",
            "q1",
            "en",
            "fr",
            "good",
            "ann",
            "other",
            "x",
            "2026-01-01T08:00:00Z",
            "2026-01-01T09:00:00Z",
        ),
        strict=True,
    )
)


def write_rows(path, *lines, header=COLUMNS):
    """A file of rows that differ from a good one; a line of another kind stands as it is."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        handle.write(",".join(header) + "\n")
        for line in lines:
            if isinstance(line, str):
                handle.write(line)
            else:
                csv.writer(handle, lineterminator="\n").writerow((GOOD | line).values())
    return path


def bring(cache, path, **more):
    return annotate.import_notes(path, benchmark="example", folder=cache.root, **more)


def test_a_file_is_brought_in_once(cache, tmp_path):
    path = write_rows(tmp_path / "notes.csv", {}, {"query_id": "q2", "system": "", "tag": "", "document_language": ""})
    assert bring(cache, path, dry_run=True) == Merged(2, 0, 0)
    assert not cache.notes.exists()
    assert bring(cache, path) == Merged(2, 0, 0)
    before = state(cache.root)
    assert bring(cache, path) == Merged(0, 0, 2)
    assert [row[:9] for row in rows(cache)] == [
        ("example", "main", "q1", "en", "fr", "good", "ann", "other", "x"),
        ("example", "main", "q2", "en", None, None, "ann", None, "x"),
    ]
    assert [row[9:11] for row in rows(cache)] == [("2026-01-01T08:00:00.000000Z", "2026-01-01T09:00:00.000000Z")] * 2
    assert bring(cache, write_rows(tmp_path / "none.csv")) == Merged(0, 0, 0)
    assert {name for name, digest in state(cache.root).items() if before.get(name) != digest} <= {"notes.sqlite"}


def test_newer_notes_win_and_older_ones_are_kept(cache, tmp_path):
    bring(cache, write_rows(tmp_path / "a.csv", {}, {"query_id": "q2"}))
    later = {"updated_at": "2026-01-01T11:00:00+01:00", "note": "y"}  # ten o'clock in UTC
    path = write_rows(tmp_path / "b.csv", later, {"query_id": "q2", "note": "y", "updated_at": "2026-01-01 08:30"})
    assert bring(cache, path, dry_run=True) == bring(cache, path) == Merged(added=0, updated=1, kept=1)
    assert [(row.note, row.updated_at[11:16]) for row in rows(cache)] == [("y", "10:00"), ("x", "09:00")]


SAME = "expected '{}'".format(",".join(COLUMNS))

FAULTS = [
    ({"benchmark": "mine"}, "line 3: benchmark 'mine', expected 'example'"),
    ({"task": "none"}, "line 3: task 'none', expected one of main, more"),
    ({"query_id": "q9"}, "line 3: query_id 'q9', expected one that main has"),
    ({"query_id": ""}, "line 3: query_id '', expected one that main has"),
    ({"query_language": "fr"}, "line 3: query_language 'fr', expected 'en' as query 'q1' has"),
    ({"document_language": "ru"}, "line 3: document_language 'ru', expected none or one of en, fr, ja"),
    ({"system": "a,b"}, "line 3: system 'a,b': expected a name without a comma"),
    ({"author": ""}, "line 3: author '': expected 1 to 60 printable characters without a comma"),
    ({"author": "a\x1bb"}, r"line 3: author 'a\x1bb': expected 1 to 60 printable characters without a comma"),
    ({"tag": "t" * 61}, f"line 3: tag '{'t' * 61}': expected 1 to 60 printable characters without a comma"),
    ({"note": "n" * 10_001}, f"line 3: note '{'n' * 80}…': 10,001 characters, expected at most 10,000"),
    ({"tag": "", "note": " "}, "line 3: neither tag nor note: expected one of them or both"),
    ({"created_at": "yesterday"}, "line 3: created_at 'yesterday', expected a time such as 2026-01-31T08:15:00Z"),
    ({"updated_at": ""}, "line 3: updated_at '', expected a time such as 2026-01-31T08:15:00Z"),
    (
        {"updated_at": "0001-01-01T00:00:00+12:00"},
        "line 3: updated_at '0001-01-01T00:00:00+12:00', expected a time such as 2026-01-31T08:15:00Z",
    ),
    (
        {"created_at": "2026-01-01T10:00:00Z"},
        "line 3: created_at '2026-01-01T10:00:00.000000Z', expected no later time than updated_at "
        "'2026-01-01T09:00:00.000000Z'",
    ),
    ({"query_id": "q2"}, "line 3: ann and 'other' for query 'q2' again, first in line 2; expected one row"),
    (
        {"query_id": "q2", "author": " ann"},
        "line 3: ann and 'other' for query 'q2' again, first in line 2; expected one row",
    ),
    ("example,main,q1\n", "line 3: 3 cells, expected 11 as in the header"),
    ('"open\n', "line 3: unexpected end of data; expected cells separated by commas"),
]


@pytest.mark.parametrize(("fault", "message"), FAULTS, ids=[message[:50] for _, message in FAULTS])
def test_a_faulty_row_is_named_and_nothing_is_stored(cache, tmp_path, fault, message):
    add(cache, note="here before")
    before = state(cache.root)
    path = write_rows(tmp_path / "notes.csv", {"query_id": "q2"}, fault)
    for dry_run in (True, False):
        with pytest.raises(InputError) as refused:
            bring(cache, path, dry_run=dry_run)
        assert str(refused.value) == f"{path}, {message}"
    assert state(cache.root) == before


def test_a_note_alone_twice_and_further_faults_are_counted(cache, tmp_path):
    lines = [{"tag": ""}, "\n", {"tag": "", "note": "line\nbreak"}, {"tag": "", "note": "z"}, {"task": "x"}]
    path = write_rows(tmp_path / "notes.csv", *lines)
    with pytest.raises(InputError) as refused:
        bring(cache, path)
    said = "line 4: a note of ann for query 'q1' again, first in line 2; expected one row (2 more faults)"
    assert str(refused.value) == f"{path}, {said}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": the file is empty, expected a header benchmark,"),
        (b"a,b\n", ", line 1: header 'a,b', expected 'benchmark,task,"),
        (b"\n\nbenchmark,task\n", ", line 3: header 'benchmark,task', expected 'benchmark,"),
        (b"\xff", ", line 1: byte 0xFF, expected UTF-8"),
        (b"PK\x03\x04", ": packed with ZIP, expected a file that is plain"),
        (None, ": No such file or directory; expected a file"),
    ],
)
def test_what_is_no_file_of_notes(cache, tmp_path, content, message):
    path = tmp_path / "notes.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        bring(cache, path)
    assert str(refused.value).startswith(f"{path}{message}")
    assert not cache.notes.exists()


def test_a_benchmark_that_is_not_stored(cache, tmp_path):
    with pytest.raises(InputError, match="unknown benchmark 'none'"):
        annotate.import_notes(write_rows(tmp_path / "notes.csv", {}), benchmark="none", folder=cache.root)


# Out and back


WRITTEN = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
NAMES = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters=","), min_size=1, max_size=30)
SAID = st.lists(
    st.fixed_dictionaries(
        {
            "query_id": st.sampled_from(HOSTILE_IDS),
            "author": NAMES,
            "tag": st.none() | NAMES | st.sampled_from(list(notes.TAGS)),
            "note": WRITTEN | st.sampled_from(["=1+1", "'=1+1", "\r", "\n", '"', "\x00", " x ", "a\r\nb", "\ufeff"]),
            "system": st.sampled_from([None, "good", "=other", "org/other\n"]),
            "document_language": st.sampled_from([None, "en", "fr", "ja"]),
        }
    ),
    max_size=8,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SAID)
def test_what_was_said_comes_back_unchanged(cache, tmp_path, said):
    cache.notes.unlink(missing_ok=True)
    for what in said:
        if what["tag"] is not None or what["note"].strip():
            row = BASE._replace(benchmark="hostile", **what)
            stored.add(cache, stored.checked(row))
    before = rows(cache, "hostile")
    path = tmp_path / "notes.csv"
    text = notes_export.as_csv(notes.notes(read.open_store(cache), "hostile"))
    path.write_bytes(text.encode())
    assert annotate.import_notes(path, benchmark="hostile", folder=cache.root) == Merged(0, 0, len(before))
    cache.notes.unlink(missing_ok=True)
    assert annotate.import_notes(path, benchmark="hostile", folder=cache.root) == Merged(len(before), 0, 0)
    after = rows(cache, "hostile")
    assert sorted(after, key=repr) == sorted(before, key=repr)
    assert notes_export.as_csv(notes.notes(read.open_store(cache), "hostile")) == text


# On the command line


def command(cache, *arguments):
    return main([*arguments, "--cache", str(cache.root)])


@pytest.fixture
def filled(cache):
    add(cache, note="=1+1\nsecond", system="good", document_language="fr")
    add(cache, author="bob", system="good", document_language="fr")
    add(cache, author="bob", task="more", tag=None, note="alone")
    return cache


def test_notes_in_every_format(filled, capsys, tmp_path):
    assert command(filled, "notes", "--benchmark", "example", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found[0]) == [*COLUMNS, "id", "query_text"]
    assert [(row["author"], row["tag"], row["note"], row["query_text"]) for row in found] == [
        ("ann", "other", "=1+1\nsecond", "text of q1"),
        ("bob", "other", "", "text of q1"),
        ("bob", None, "alone", "un cœur"),
    ]
    assert command(filled, "notes", "--benchmark", "example", "--format", "csv") == 0
    out = capsys.readouterr().out
    first = next(csv.DictReader(io.StringIO(out, newline="")))
    assert list(first.values())[:9] == ["example", "main", "q1", "en", "fr", "good", "ann", "other", "=1+1\nsecond"]
    path = tmp_path / "notes.csv"
    path.write_text(out, encoding="utf-8", newline="")
    assert command(filled, "import-notes", str(path), "--benchmark", "example") == 0
    assert capsys.readouterr() == ("", "stored: 0 added, 0 updated, 3 kept as they were\n")
    assert command(filled, "notes", "--benchmark", "example") == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == [*COLUMNS, "id", "query_text"]
    assert [line.split()[-2:] for line in lines] == [["of", "q1"], ["of", "q1"], ["un", "cœur"]]
    assert "=1+1 second" in lines[0]
    assert command(filled, "notes", "--benchmark", "example", "--format", "markdown") == 0
    assert "  > \\=1\\+1\\\n  > second\n" in capsys.readouterr().out


def test_notes_filtered(filled, capsys):
    for flags, authors in (
        (("--tag", "other"), ["ann", "bob"]),
        (("--author", "bob"), ["bob", "bob"]),
        (("--task", "more"), ["bob"]),
        (("--system", "good", "--author", "ann"), ["ann"]),
        (("--tag", "none"), []),
    ):
        assert command(filled, "notes", "--benchmark", "example", "--format", "json", *flags) == 0
        assert [row["author"] for row in json.loads(capsys.readouterr().out)] == authors
    assert command(filled, "notes", "--benchmark", "example", "--format", "csv", "--tag", "none") == 0
    assert capsys.readouterr().out == ",".join(COLUMNS) + "\n"


def test_counts_and_agreement(filled, capsys):
    assert command(filled, "notes", "--benchmark", "example", "--counts", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "tags": [{"tag": "other", "n": 2, "n_queries": 1}, {"tag": None, "n": 1, "n_queries": 1}],
        "systems": [{"tag": "other", "system": "good", "n": 2, "n_queries": 1}],
        "routes": [{"tag": "other", "query_language": "en", "document_language": "fr", "n": 2, "n_queries": 1}],
    }
    assert command(filled, "notes", "--benchmark", "example", "--counts", "--format", "csv") == 0
    assert capsys.readouterr().out.splitlines() == [
        "by,tag,system,query_language,document_language,n,n_queries",
        "tags,other,,,,2,1",
        "tags,,,,,1,1",
        "systems,other,good,,,2,1",
        "routes,other,,en,fr,2,1",
    ]
    assert command(filled, "notes", "--benchmark", "example", "--agreement", "ann,bob", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_items"], found["overall"]["agreed"], found["overall"]["kappa"]) == (1, 1.0, None)
    assert command(filled, "notes", "--benchmark", "example", "--agreement", "ann,bob", "--format", "csv") == 0
    said = capsys.readouterr()
    assert said.err == "ann and bob chose the same tag for 1 of 1 item (κ not defined, AC1 1.00).\n"
    assert [row["tag"] for row in csv.DictReader(said.out.splitlines())] == ["", "other"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--agreement", "ann"), "--agreement 'ann': expected two authors, such as ann,bob"),
        (("--agreement", "ann,eve"), "unknown author 'eve': notes are of ann, bob"),
        (("--agreement", "ann,bob", "--tag", "x"), "--tag x with --agreement: expected --task alone beside it"),
        (("--counts", "--format", "markdown"), "--format markdown: expected json, csv or table for --counts"),
        (("--task", "none"), "unknown task 'none': example has main, more"),
    ],
)
def test_wrong_words_are_one_clear_line(filled, capsys, arguments, message):
    assert command(filled, "notes", "--benchmark", "example", *arguments) == 1
    assert capsys.readouterr().err == f"babelscope: {message}\n"


def test_a_dry_run_prints_the_counts_alone(filled, capsys, tmp_path):
    before = state(filled.root)
    path = write_rows(tmp_path / "notes.csv", {"author": "eve"}, {"tag": "zoo"})
    assert command(filled, "import-notes", str(path), "--benchmark", "example", "--dry-run") == 0
    assert capsys.readouterr() == ("", "checked, nothing stored: 2 added, 0 updated, 0 kept as they were\n")
    assert state(filled.root) == before
    assert command(filled, "import-notes", str(path), "--benchmark", "none") == 1
    assert capsys.readouterr().err.startswith("babelscope: unknown benchmark 'none'")


def test_wrong_usage_is_exit_2(filled, capsys):
    for arguments in (("notes",), ("notes", "--benchmark", "b", "--counts", "--agreement", "a,b"), ("import-notes",)):
        with pytest.raises(SystemExit) as ended:
            command(filled, *arguments)
        assert ended.value.code == 2
    capsys.readouterr()
