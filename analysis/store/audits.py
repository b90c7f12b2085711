"""Audits: what people and models judge of a benchmark, and the keys of the blind sheets on which they were asked.

Both stand in the file of the notes, by the name of the benchmark without a version: what somebody has judged outlives a
rebuild. A key says what each row of a sheet was, which the sheet itself must not say.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from analysis.paths import Cache
from analysis.store.notes import now_text, reading, writing
from analysis.store.read import PARQUET, Store

LONGEST_CELL = 32_000  # characters; spreadsheets cut a cell at 32,767
SINCE = 2  # the schema of the file that has audits
AT_ONCE = 500  # names asked for in one statement

RELEVANCE, TRANSLATION, TIER = "relevance", "translation", "tier"
QUESTIONS = (RELEVANCE, TRANSLATION, TIER)
"""What may be asked of a benchmark: is the document an answer, does a version say what its source says, which tier."""

HUMAN, MODEL = "human", "model"
KINDS = (HUMAN, MODEL)
"""Who judges."""

OF_BENCHMARK = """SELECT benchmark, task, question, query_id, other_id, annotator, kind, judgement, comment, sheet,
                         file, created_at
                  FROM audit WHERE benchmark = ? ORDER BY audit_id"""


class AuditSheet(NamedTuple):
    """One blind sheet that was written."""

    sheet: str  # the same sample of the same benchmark has the same name
    benchmark: str
    task: str
    question: str  # one of QUESTIONS
    seed: int
    per_language: int  # rows of each query language
    created_at: str  # ISO time in UTC


class AuditRow(NamedTuple):
    """What one row of a sheet is."""

    name: str  # what stands in the sheet; says nothing, and no other sheet has it
    sheet: str
    place: int  # in the sheet, from 0
    query_id: str
    other_id: str  # the document; of a translation the query that it is a version of
    told: str  # what the benchmark said when the sheet was written: a grade, a tier, 1 for a translation
    drawn: str  # relevant | judged | random | the system that ranked it and its rank
    texts: str  # a checksum of the texts of the row, so that rows that were mixed up are noticed


class Audit(NamedTuple):
    """What one person or model says of one item."""

    benchmark: str
    task: str
    question: str
    query_id: str
    other_id: str
    annotator: str
    kind: str  # one of KINDS
    judgement: str  # a number, or a tier
    comment: str  # may be empty
    sheet: str | None  # on which it was asked; None for somebody's own table
    file: str  # in which it came
    created_at: str = ""

    @property
    def item(self) -> tuple[str, str, str, str]:
        """What is judged, inside a benchmark."""
        return self.task, self.question, self.query_id, self.other_id

    @property
    def key(self) -> tuple[str, ...]:
        """What there is one judgement of."""
        return (*self.item, self.annotator)

    @property
    def said(self) -> tuple[str, str, str]:
        """What is compared when the same comes again."""
        return self.kind, self.judgement, self.comment


class MergedAudits(NamedTuple):
    """What became of judgements that were brought in."""

    added: int
    replaced: int  # other ones, on request
    known: int  # the same as before


def sheets(cache: Cache, benchmark: str) -> list[AuditSheet]:
    """The sheets of a benchmark, by its name, in the order in which they were written.

    Raises:
        StoreError: the file is damaged, or a newer program wrote it.
    """
    return [
        AuditSheet._make(row)
        for row in _asked(
            cache,
            """SELECT sheet, benchmark, task, question, seed, per_language, created_at
               FROM audit_sheet WHERE benchmark = ? ORDER BY rowid""",
            [benchmark],
        )
    ]


def rows_of(cache: Cache, sheet: str) -> list[AuditRow]:
    """The key of a sheet, in its order; empty for an unknown one.

    Raises:
        StoreError: the file is damaged, or a newer program wrote it.
    """
    text = """SELECT name, sheet, place, query_id, other_id, told, drawn, texts
              FROM audit_row WHERE sheet = ? ORDER BY place"""
    return [AuditRow._make(row) for row in _asked(cache, text, [sheet])]


def rows_named(cache: Cache, names: Iterable[str]) -> dict[str, AuditRow]:
    """The rows of any sheets by their names, without names that no sheet has.

    Raises:
        StoreError: the file is damaged, or a newer program wrote it.
    """
    wanted = list(dict.fromkeys(names))
    found: dict[str, AuditRow] = {}
    for start in range(0, len(wanted), AT_ONCE):
        some = wanted[start : start + AT_ONCE]
        text = f"""SELECT name, sheet, place, query_id, other_id, told, drawn, texts
                   FROM audit_row WHERE name IN ({",".join("?" * len(some))})"""  # noqa: S608 (question marks alone)
        found |= {row[0]: AuditRow._make(row) for row in _asked(cache, text, some)}
    return found


def listed(cache: Cache, benchmark: str) -> list[Audit]:
    """The judgements on a benchmark, by its name, in the order in which they came.

    Raises:
        StoreError: the file is damaged, or a newer program wrote it.
    """
    return [Audit._make(row) for row in _asked(cache, OF_BENCHMARK, [benchmark])]


def keep_sheet(cache: Cache, sheet: AuditSheet, rows: Sequence[AuditRow]) -> bool:
    """Keep a sheet with its key; False where it is there already.

    Raises:
        StoreError: the file cannot be written, is damaged, or a newer program wrote it.
    """
    with writing(cache) as connection:
        if connection.execute("SELECT 1 FROM audit_sheet WHERE sheet = ?", [sheet.sheet]).fetchone():
            return False
        connection.execute("INSERT INTO audit_sheet VALUES (?, ?, ?, ?, ?, ?, ?)", sheet)
        connection.executemany("INSERT INTO audit_row VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return True


def merge(cache: Cache, rows: Sequence[Audit], *, replace: bool = False, dry_run: bool = False) -> MergedAudits:
    """Bring in judgements, all or none.

    Args:
        cache: where they are kept.
        rows: checked, of one benchmark, no key twice.
        replace: let those that say something else take the place of those before; else these stay, counted as known.
        dry_run: only count.

    Raises:
        StoreError: the file cannot be read or written, is damaged, or a newer program wrote it.
    """
    if not rows:
        return MergedAudits(0, 0, 0)
    if dry_run:
        return _counts({row.key: row for row in listed(cache, rows[0].benchmark)}, rows, replace=replace)
    with writing(cache) as connection:
        known = {row.key: row for row in _of_benchmark(connection, rows[0].benchmark)}
        _put(connection, [row for row in rows if row.key not in known or (replace and row.said != known[row.key].said)])
        return _counts(known, rows, replace=replace)


def remove(cache: Cache, benchmark: str, annotator: str) -> int:
    """Remove all that one annotator said of a benchmark, and return how many judgements went.

    Raises:
        StoreError: the file cannot be written, is damaged, or a newer program wrote it.
    """
    if not cache.notes.exists():
        return 0
    with writing(cache) as connection:
        gone = connection.execute("DELETE FROM audit WHERE benchmark = ? AND annotator = ?", [benchmark, annotator])
        return gone.rowcount


def rename_benchmark(cache: Cache, name: str, *, new: str) -> None:
    """Let sheets and judgements follow the name of their benchmark; of two of one key the newer one stays.

    Raises:
        StoreError: the file cannot be written, is damaged, or a newer program wrote it.
    """
    if not cache.notes.exists():
        return
    with writing(cache) as connection:
        connection.execute("UPDATE audit_sheet SET benchmark = ? WHERE benchmark = ?", [new, name])
        rows = _of_benchmark(connection, name)
        known = {row.key: row for row in _of_benchmark(connection, new)}
        connection.execute("DELETE FROM audit WHERE benchmark = ?", [name])
        newer = [row for row in rows if row.key not in known or row.created_at > known[row.key].created_at]
        _put(connection, [row._replace(benchmark=new) for row in newer])


def _put(connection: sqlite3.Connection, rows: Sequence[Audit]) -> None:
    now = now_text()
    connection.executemany(
        """INSERT INTO audit (benchmark, task, question, query_id, other_id, annotator, kind, judgement, comment, sheet,
                              file, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (benchmark, task, question, query_id, other_id, annotator)
           DO UPDATE SET kind = excluded.kind, judgement = excluded.judgement, comment = excluded.comment,
                         sheet = excluded.sheet, file = excluded.file, created_at = excluded.created_at""",
        [row._replace(created_at=row.created_at or now) for row in rows],
    )


def _counts(known: dict[tuple[str, ...], Audit], rows: Sequence[Audit], *, replace: bool) -> MergedAudits:
    added = sum(row.key not in known for row in rows)
    replaced = sum(replace and row.key in known and row.said != known[row.key].said for row in rows)
    return MergedAudits(added, replaced, len(rows) - added - replaced)


def _of_benchmark(connection: sqlite3.Connection, benchmark: str) -> list[Audit]:
    return [Audit._make(row) for row in connection.execute(OF_BENCHMARK, [benchmark]).fetchall()]


def _asked(cache: Cache, text: str, values: Sequence[object]) -> list[tuple[str, ...]]:
    """Rows of the file as it stands; none where it was written before there were audits."""
    with reading(cache) as connection:
        if connection is None or int(connection.execute("PRAGMA user_version").fetchone()[0]) < SINCE:
            return []
        return connection.execute(text, list(values)).fetchall()


def unshowable(store: Store, task_id: int) -> set[int]:
    """Documents of a corpus that no cell of a spreadsheet can show: without text, or too long for one."""
    file = store._documents_file(task_id)
    rows = store._rows(
        f"SELECT document FROM {PARQUET} WHERE trim(text) = '' OR length(text) > $2",  # noqa: S608 (a constant of ours)
        [str(file), LONGEST_CELL],
        bulk=file,
    )
    return {row[0] for row in rows}
