"""Tags and notes in ``notes.sqlite``, which several people write while they and others read.

Judgements of audits stand in the same file (:mod:`analysis.store.audits`), because the same holds for them.

The file is SQLite's, with a write-ahead log, apart from the generations of the store: a note must not wait for a job,
and outlives a rebuild of its benchmark. Every call opens a connection of its own and every write is one transaction:
threads and processes queue for some seconds, and a kill at any point leaves all of it or nothing. As for every
write-ahead log, those who write have to be on one machine; a folder that cannot be written can still be read.
"""

from __future__ import annotations

import contextlib
import datetime
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from analysis.errors import InputError, StoreError
from analysis.paths import Cache
from analysis.store.connection import UNCHANGED, now, on_disk
from analysis.store.read import Store
from analysis.text import same_text_key

WAIT = 10.0  # seconds that a writer waits for another one
LONGEST_NAME = 60  # characters of a tag or an author
LONGEST_NOTE = 10_000  # characters

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE annotation (
               annotation_id INTEGER PRIMARY KEY AUTOINCREMENT,
               benchmark TEXT NOT NULL,
               task TEXT NOT NULL,
               query_id TEXT NOT NULL,
               query_language TEXT NOT NULL,
               document_language TEXT,
               system TEXT,
               author TEXT NOT NULL,
               tag TEXT,
               note TEXT NOT NULL,
               created_at TEXT NOT NULL,
               updated_at TEXT NOT NULL,
               CHECK (tag IS NOT NULL OR note <> '')
           ) STRICT""",
        """CREATE UNIQUE INDEX annotation_once ON annotation
           (benchmark, task, query_id, coalesce(system, ''), coalesce(document_language, ''), author,
            coalesce(tag, ''))""",
        "CREATE TABLE state (made TEXT NOT NULL, changes INTEGER NOT NULL) STRICT",
        "INSERT INTO state VALUES (lower(hex(randomblob(8))), 0)",
        """CREATE TRIGGER annotation_inserted AFTER INSERT ON annotation
           BEGIN UPDATE state SET changes = changes + 1; END""",
        """CREATE TRIGGER annotation_updated AFTER UPDATE ON annotation
           BEGIN UPDATE state SET changes = changes + 1; END""",
        """CREATE TRIGGER annotation_deleted AFTER DELETE ON annotation
           BEGIN UPDATE state SET changes = changes + 1; END""",
    ),
    (
        """CREATE TABLE audit_sheet (
               sheet TEXT PRIMARY KEY,
               benchmark TEXT NOT NULL,
               task TEXT NOT NULL,
               question TEXT NOT NULL,
               seed INTEGER NOT NULL,
               per_language INTEGER NOT NULL,
               created_at TEXT NOT NULL
           ) STRICT""",
        """CREATE TABLE audit_row (
               name TEXT PRIMARY KEY,
               sheet TEXT NOT NULL,
               place INTEGER NOT NULL,
               query_id TEXT NOT NULL,
               other_id TEXT NOT NULL,
               told TEXT NOT NULL,
               drawn TEXT NOT NULL,
               texts TEXT NOT NULL
           ) STRICT""",
        """CREATE TABLE audit (
               audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
               benchmark TEXT NOT NULL,
               task TEXT NOT NULL,
               question TEXT NOT NULL,
               query_id TEXT NOT NULL,
               other_id TEXT NOT NULL,
               annotator TEXT NOT NULL,
               kind TEXT NOT NULL,
               judgement TEXT NOT NULL,
               comment TEXT NOT NULL,
               sheet TEXT,
               file TEXT NOT NULL,
               created_at TEXT NOT NULL
           ) STRICT""",
        """CREATE UNIQUE INDEX audit_once ON audit (benchmark, task, question, query_id, other_id, annotator)""",
        """CREATE TRIGGER audit_sheet_inserted AFTER INSERT ON audit_sheet
           BEGIN UPDATE state SET changes = changes + 1; END""",
        """CREATE TRIGGER audit_sheet_updated AFTER UPDATE ON audit_sheet
           BEGIN UPDATE state SET changes = changes + 1; END""",
        """CREATE TRIGGER audit_sheet_deleted AFTER DELETE ON audit_sheet
           BEGIN UPDATE state SET changes = changes + 1; END""",
        """CREATE TRIGGER audit_inserted AFTER INSERT ON audit
           BEGIN UPDATE state SET changes = changes + 1; END""",
        """CREATE TRIGGER audit_updated AFTER UPDATE ON audit
           BEGIN UPDATE state SET changes = changes + 1; END""",
        """CREATE TRIGGER audit_deleted AFTER DELETE ON audit
           BEGIN UPDATE state SET changes = changes + 1; END""",
    ),
)
"""What brings a file from each schema to the next one; its number is the file's ``user_version``."""

DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
LOCKED_OUT = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


class Annotation(NamedTuple):
    """What one author says of one query: a tag, a note, or both."""

    benchmark: str  # its name without a version: what is said outlives a rebuild
    task: str
    query_id: str
    query_language: str
    document_language: str | None  # of the route looked at; None: of the query as a whole
    system: str | None  # None: said of the query itself, whoever answers it
    author: str
    tag: str | None  # None: a note alone
    note: str  # may be empty where there is a tag
    created_at: str  # ISO time in UTC with microseconds, so that texts sort as times do
    updated_at: str
    id: int | None = None  # never given twice; None until it is stored

    @property
    def key(self) -> tuple[str | None, ...]:
        """What there is one annotation of: an author gives a tag once to a query, system and document language."""
        return (*self.item, self.author, self.tag)

    @property
    def item(self) -> tuple[str | None, ...]:
        """What is spoken of: a query, and where named a system and a route."""
        return self.benchmark, self.task, self.query_id, self.system, self.document_language


COLUMNS = Annotation._fields[:-1]
"""Of a file of annotations, in this order."""

NOTE = COLUMNS.index("note")


class NoteFilter(NamedTuple):
    """Which annotations of a benchmark; an empty tuple means all."""

    tasks: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()  # said of these; what is said of a query itself is of no system
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    query_ids: tuple[str, ...] | None = None  # None means all: none may be left of a slice


EVERYTHING = NoteFilter()


class Merged(NamedTuple):
    """What became of annotations that were brought in."""

    added: int
    updated: int  # another note, newer than the one before
    kept: int  # as they were: there already, or newer


class StoredQuery(NamedTuple):
    """A query that somebody may say something of."""

    position: int
    language: str
    text: str


# What may be written


def now_text() -> str:
    """The time as annotations have it."""
    return time_text(now())


def time_text(time: datetime.datetime) -> str:
    """A time in UTC, without a zone, as annotations have it."""
    return time.isoformat(timespec="microseconds") + "Z"


def checked(row: Annotation) -> Annotation:
    """The annotation with its tag and author in one Unicode form and without outer white space.

    Raises:
        InputError: a tag, an author, a system or a note that is none, or neither tag nor note.
    """
    row = row._replace(author=same_text_key(row.author), tag=None if row.tag is None else same_text_key(row.tag))
    check_name("author", row.author)
    if row.tag is not None:
        check_name("tag", row.tag)
    if row.system is not None and (not row.system.strip() or "," in row.system):
        raise InputError(f"system {_shown(row.system)}: expected a name without a comma")
    _check_note(row.note)
    if row.tag is None and not row.note.strip():
        raise InputError("neither tag nor note: expected one of them or both")
    return row


def check_name(what: str, name: str) -> None:
    """Refuse what no tag and no person can be called.

    Raises:
        InputError: it is empty, too long, or has a comma or a control character.
    """
    if not name or "," in name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise InputError(f"{what} {_shown(name)}: expected 1 to {LONGEST_NAME} printable characters without a comma")


def _check_note(note: str) -> None:
    if len(note) > LONGEST_NOTE:
        raise InputError(f"note {_shown(note)}: {len(note):,} characters, expected at most {LONGEST_NOTE:,}")
    if any("\ud800" <= character <= "\udfff" for character in note):
        raise InputError(f"note {_shown(note)}: half a surrogate pair, expected whole characters")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}…")


# Questions


def listed(cache: Cache, benchmark: str, wanted: NoteFilter = EVERYTHING) -> list[Annotation]:
    """The annotations of a benchmark, by its name, in the order in which they were written.

    Raises:
        StoreError: the file is damaged, or a newer program wrote it.
    """
    task, query_id = _only(wanted.tasks), _only(wanted.query_ids)
    with reading(cache) as connection:
        found = _of_benchmark(connection, benchmark, task=task, query_id=query_id) if connection else []
    return chosen(found, wanted)


def _only(names: tuple[str, ...] | None) -> str | None:
    """The one name, which narrows what is read; None for several, or all."""
    return names[0] if names and len(names) == 1 else None


def chosen(rows: Iterable[Annotation], wanted: NoteFilter) -> list[Annotation]:
    """The annotations that a filter keeps, in their order."""
    sets = [set(names) if names else None for names in wanted[:-1]]
    ids = None if wanted.query_ids is None else set(wanted.query_ids)
    return [
        row
        for row in rows
        if (ids is None or row.query_id in ids)
        and all(
            names is None or value in names
            for names, value in zip(sets, (row.task, row.system, row.tag, row.author), strict=True)
        )
    ]


def version(cache: Cache) -> str:
    """What changes whenever an annotation or an audit does, whichever process writes it; empty while there is no file.

    A counter that triggers of the file move on, after what the file was called at random when it was made.

    Raises:
        StoreError: the file is damaged, or a newer program wrote it.
    """
    with reading(cache) as connection:
        return str(connection.execute("SELECT made || '-' || changes FROM state").fetchone()[0]) if connection else ""


def stored_queries(store: Store, task_id: int, ids: Iterable[str]) -> dict[str, StoredQuery]:
    """Some queries of a task by their id, without those it does not have."""
    rows = store._rows(
        "SELECT id, query, language, text FROM query WHERE task_id = ? AND id IN (SELECT unnest(?::VARCHAR[]))",
        [task_id, list(dict.fromkeys(ids))],
    )
    return {row[0]: StoredQuery(*row[1:]) for row in rows}


# Changes


def add(cache: Cache, row: Annotation, *, append: bool = False) -> Annotation:
    """Write an annotation; where its author has said the same thing before, its note takes the place of that one.

    Args:
        cache: where it is kept.
        row: checked; its times are now.
        append: its note follows the one before in a new line, unless that one says it already.

    Returns:
        It as it stands now, with its id and the time when it was first written.

    Raises:
        InputError: both notes together are too long.
        StoreError: the file cannot be written, is damaged, or a newer program wrote it.
    """
    with writing(cache) as connection:
        written = connection.execute(
            """INSERT INTO annotation (benchmark, task, query_id, query_language, document_language, system, author,
                                       tag, note, created_at, updated_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (benchmark, task, query_id, coalesce(system, ''), coalesce(document_language, ''), author,
                            coalesce(tag, ''))
               DO UPDATE SET query_language = excluded.query_language,
                             note = CASE WHEN NOT ? OR note = '' THEN excluded.note
                                         WHEN instr(note, excluded.note) > 0 THEN note
                                         ELSE note || char(10) || excluded.note END,
                             updated_at = max(created_at, excluded.updated_at)
               RETURNING benchmark, task, query_id, query_language, document_language, system, author, tag, note,
                         created_at, updated_at, annotation_id""",
            [*row[:-1], append],
        ).fetchall()
        _check_note(written[0][NOTE])
    return Annotation(*written[0])


def remove(cache: Cache, annotation_id: int, *, author: str) -> bool:
    """Remove an annotation of an author's own; False where the author has none of this id.

    Raises:
        StoreError: the file cannot be written, is damaged, or a newer program wrote it.
    """
    if not cache.notes.exists():
        return False
    with writing(cache) as connection:
        removed = connection.execute(
            "DELETE FROM annotation WHERE annotation_id = ? AND author = ?", [annotation_id, author]
        )
        return removed.rowcount > 0


def merge(cache: Cache, rows: Sequence[Annotation], *, dry_run: bool = False) -> Merged:
    """Bring in annotations, all or none: what is new, and notes that are newer than those of the same key.

    Args:
        cache: where they are kept.
        rows: checked, of one benchmark, no key twice.
        dry_run: only count.

    Raises:
        StoreError: the file cannot be read or written, is damaged, or a newer program wrote it.
    """
    if not rows:
        return Merged(0, 0, 0)
    if dry_run:
        return _counts(_known(listed(cache, rows[0].benchmark)), rows)
    with writing(cache) as connection:
        return _merge(connection, rows)


def rename_benchmark(cache: Cache, name: str, *, new: str) -> None:
    """Let what is said of a benchmark follow its name; of two notes of one key the newer one stays.

    Raises:
        StoreError: the file cannot be written, is damaged, or a newer program wrote it.
    """
    if not cache.notes.exists():
        return
    with writing(cache) as connection:
        rows = _of_benchmark(connection, name)
        connection.execute("DELETE FROM annotation WHERE benchmark = ?", [name])
        _merge(connection, [row._replace(benchmark=new) for row in rows])


def rename_system(cache: Cache, name: str, *, new: str) -> None:
    """Let what is said of a system in any benchmark follow its name; of two notes of one key the newer one stays.

    Raises:
        StoreError: the file cannot be written, is damaged, or a newer program wrote it.
    """
    if not cache.notes.exists():
        return
    with writing(cache) as connection:
        names = connection.execute("SELECT DISTINCT benchmark FROM annotation WHERE system = ?", [name]).fetchall()
        rows = [row for (benchmark,) in names for row in _of_benchmark(connection, benchmark) if row.system == name]
        connection.execute("DELETE FROM annotation WHERE system = ?", [name])
        for (benchmark,) in names:
            _merge(connection, [row._replace(system=new) for row in rows if row.benchmark == benchmark])


def _of_benchmark(
    connection: sqlite3.Connection, benchmark: str, *, task: str | None = None, query_id: str | None = None
) -> list[Annotation]:
    """The annotations of a benchmark; of one task or one query id where named."""
    rows = connection.execute(
        """SELECT benchmark, task, query_id, query_language, document_language, system, author, tag, note, created_at,
                  updated_at, annotation_id
           FROM annotation WHERE benchmark = ? AND task = coalesce(?, task) AND query_id = coalesce(?, query_id)
           ORDER BY annotation_id""",
        [benchmark, task, query_id],
    ).fetchall()
    return [Annotation._make(row) for row in rows]


def _known(rows: Iterable[Annotation]) -> dict[tuple[str | None, ...], Annotation]:
    return {row.key: row for row in rows}


def _is_newer(row: Annotation, known: Annotation) -> bool:
    return row.note != known.note and row.updated_at > known.updated_at


def _counts(known: Mapping[tuple[str | None, ...], Annotation], rows: Sequence[Annotation]) -> Merged:
    added = sum(row.key not in known for row in rows)
    updated = sum(row.key in known and _is_newer(row, known[row.key]) for row in rows)
    return Merged(added, updated, len(rows) - added - updated)


def _merge(connection: sqlite3.Connection, rows: Sequence[Annotation]) -> Merged:
    known = _known(_of_benchmark(connection, rows[0].benchmark)) if rows else {}
    connection.executemany(
        """INSERT INTO annotation (benchmark, task, query_id, query_language, document_language, system, author, tag,
                                   note, created_at, updated_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [row[:-1] for row in rows if row.key not in known],
    )
    newer = [(row, known[row.key]) for row in rows if row.key in known and _is_newer(row, known[row.key])]
    connection.executemany(
        "UPDATE annotation SET note = ?, updated_at = ? WHERE annotation_id = ?",
        [(row.note, row.updated_at, before.id) for row, before in newer],
    )
    return _counts(known, rows)


# The file


@contextlib.contextmanager
def reading(cache: Cache) -> Iterator[sqlite3.Connection | None]:
    """One look at the file as it stands; None where nothing was ever written."""
    path = cache.notes
    if not path.exists():
        yield None
        return
    with _translated(path), contextlib.closing(_readable(path)) as connection:
        connection.execute("BEGIN")
        yield connection if _schema(connection, path) else None


def _readable(path: Path) -> sqlite3.Connection:
    """A connection that can read, also in a folder in which no log can be opened because nothing can be written."""
    connection = _connected(path, "rw")  # so that the last one to close tidies the log away
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except sqlite3.DatabaseError as error:
        connection.close()
        if _code(error) != sqlite3.SQLITE_CANTOPEN:
            raise
        _refuse_log(path)
        return _connected(path, "ro&immutable=1")
    return connection


def _refuse_log(path: Path) -> None:
    """Raise StoreError where the latest notes are still in a log that cannot be opened."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"{log}: holds notes that cannot be read where nothing can be written; copy the folder to another place"
        )


@contextlib.contextmanager
def writing(cache: Cache) -> Iterator[sqlite3.Connection]:
    """One transaction, committed only if the block ends without an exception; the file is made where there is none."""
    path = cache.notes
    with on_disk(cache.root):
        cache.root.mkdir(parents=True, exist_ok=True)
    with _translated(path, advice=UNCHANGED), contextlib.closing(_connected(path, "rwc")) as connection:
        _keep_log(connection)
        connection.execute("BEGIN IMMEDIATE")
        _bring_up_to_date(connection, path)
        yield connection
        connection.execute("COMMIT")


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=WAIT, isolation_level=None)


def _keep_log(connection: sqlite3.Connection) -> None:
    """Have readers and writers not wait for each other, once and for all who open the file."""
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    except sqlite3.OperationalError as error:
        if _code(error) != sqlite3.SQLITE_BUSY:
            raise
        # the file is new and another process is doing just this: this one's transaction queues behind it either way


def _schema(connection: sqlite3.Connection, path: Path) -> int:
    """The schema number of an open file; 0 for an empty one.

    Raises:
        StoreError: a newer program wrote it.
    """
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > len(STEPS):
        raise StoreError(
            f"{path}: the notes have schema {found}, written by a newer Babelscope; this one knows {len(STEPS)}: "
            "update Babelscope, or choose another cache folder"
        )
    return found


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Apply every step that an open file lacks, inside the transaction."""
    have = _schema(connection, path)
    for step in STEPS[have:]:
        for statement in step:
            connection.execute(statement)
    if have < len(STEPS):
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")


@contextlib.contextmanager
def _translated(path: Path, *, advice: str = "") -> Iterator[None]:
    """Turn what SQLite says about a damaged, locked or unwritable file into a StoreError that names the file."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {_words(error)}{advice}") from error


def _words(error: sqlite3.DatabaseError) -> str:
    code = _code(error)
    if code in DAMAGED:
        return f"damaged ({error}), expected a file of notes that Babelscope wrote"
    if code in LOCKED_OUT:
        return f"the file or its folder cannot be written ({error})"
    if code == sqlite3.SQLITE_BUSY:
        return f"somebody else has been writing for {WAIT:.0f} seconds; try again"
    return str(error)


def _code(error: sqlite3.Error) -> Any:
    """SQLite's primary code; None for what Python itself finds fault with."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
