"""Language versions of publications: staged on disk, and which of them a benchmark keeps, decided in SQL."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from analysis.languages import canonical, together
from analysis.model import Progress, silent
from analysis.store.connection import on_disk, translated
from analysis.store.rrf import engine, quoted, run

ROWS = 2000
"""Rows staged, or read back, at once: what bounds the memory."""

NO_PUBLICATION = "no publication number"
NO_LANGUAGE = "unknown language"
OTHER_LANGUAGE = "language not asked for"
OTHER_CLASS = "other class"
SHORT = "abstract too short"
OTHER_SCRIPT = "text in another script"
REPEATED = "repeated"
SECOND = "second version of its language"
ALONE = "too few languages"
REASONS = (
    NO_PUBLICATION, NO_LANGUAGE, OTHER_LANGUAGE, OTHER_CLASS, SHORT, OTHER_SCRIPT, REPEATED, SECOND, ALONE
)  # fmt: skip
"""Why a row is dropped, in the order in which it is looked at: the first counts."""

UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts without spaces between words, as a regular expression has them in brackets."""

CLASS = re.compile(r"[A-HY](\d\d([A-Z](\d+(/\d+)?)?)?)?")
"""A class of the IPC or CPC, or how one begins."""

UNKNOWN = "und"
_KIND = re.compile(r"^([A-Z]{2}-?[A-Z]*\d+)-[A-Z]\d?$")


class Version(NamedTuple):
    """A publication in one language, as a table has it."""

    id: str  # of the row; empty: none
    publication: str  # its number as written
    key: str  # the number as publications are compared by it; empty: none
    language: str  # shortest tag; empty: none, or assigned to nothing
    title: str
    abstract: str
    claim: str  # the first
    office: str
    classes: str  # IPC and CPC without spaces, between semicolons
    fits: bool  # its text is in a script of its language
    place: str  # "line 12"


class Kept(NamedTuple):
    """A version that a benchmark keeps."""

    task: str
    id: str
    key: str
    language: str
    text: str
    office: str


@dataclass(frozen=True)
class Rules:
    """Which versions are kept."""

    least_words: int = 50  # of an abstract
    least_languages: int = 2  # of a publication
    languages: tuple[str, ...] = ()  # target languages; empty: all
    prefixes: tuple[str, ...] = ("C", "A61K", "A61P")  # of the IPC or CPC; empty, and no publications: every class
    publications: tuple[str, ...] = ()  # numbers that count whatever their class
    claims: bool = False  # a text is title, abstract and first claim, else title and abstract


class Dropped(NamedTuple):
    """How many rows of a task and language were dropped for one reason, and the first of them."""

    task: str
    language: str
    reason: str
    n: int
    first: str  # its place


def key_of(publication: str, office: str = "") -> str:
    """A publication number as publications are compared by it: letters and digits, without the kind of document.

    ``EP-1234567-A1``, ``EP 1234567`` and ``1234567`` of the office ``EP`` are one publication.
    """
    plain = publication.strip().upper()
    stripped = _KIND.match(plain)
    key = re.sub(r"[^0-9A-Z]", "", stripped.group(1) if stripped else plain)
    return re.sub(r"[^0-9A-Z]", "", office.strip().upper()) + key if key.isdecimal() else key


class Versions:
    """Staged rows; :meth:`decide` says what becomes of each."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, file: Path) -> None:
        self._connection = connection
        self._file = file

    def decide(self, rules: Rules, *, progress: Progress = silent) -> None:
        """Find out what becomes of each row.

        Raises:
            JobCancelledError: raised by progress.
        """
        spelled = together([row[0] for row in self._rows("SELECT DISTINCT language FROM staged WHERE language <> ''")])
        self._connection.register("spelled", _table({"raw": list(spelled), "tag": list(spelled.values())}))
        self._connection.register("listed", _table({"key": list(rules.publications)}))
        everything = not rules.prefixes and not rules.publications
        prefixes = "|".join(re.escape(prefix) for prefix in rules.prefixes) or r"\b\B"
        written = {canonical(tag).tag: tag for tag in spelled.values()}
        asked = [written.get(tag, tag) for tag in rules.languages]
        sql = f"""
            CREATE TABLE fate AS
            WITH narrow AS (
                SELECT n, task, key, coalesce(tag, '') AS tag, place, fits,
                       title = '' AS untitled, claim = '' AS unclaimed,
                       words_of(abstract) AS words, md5(concat(title, chr(0), abstract)) AS text,
                       bool_or($everything OR regexp_matches(classes, $classes) OR key IN (SELECT key FROM listed))
                           OVER (PARTITION BY task, key) AS of_class
                FROM staged LEFT JOIN spelled ON raw = language),
            first AS (
                SELECT *, CASE WHEN key = '' THEN {quoted(NO_PUBLICATION)} WHEN tag = '' THEN {quoted(NO_LANGUAGE)}
                               WHEN len($asked) > 0 AND NOT list_contains($asked, tag) THEN {quoted(OTHER_LANGUAGE)}
                               WHEN NOT of_class THEN {quoted(OTHER_CLASS)} WHEN words < $least THEN {quoted(SHORT)}
                               WHEN NOT fits THEN {quoted(OTHER_SCRIPT)} END AS why FROM narrow),
            second AS (
                SELECT *, row_number() OVER (PARTITION BY task, key, tag, text, why IS NULL ORDER BY n) AS nth_text,
                       coalesce(why, CASE WHEN nth_text > 1 THEN {quoted(REPEATED)} END) AS why2 FROM first),
            third AS (
                SELECT *, row_number() OVER (PARTITION BY task, key, tag, why2 IS NULL ORDER BY n) AS nth_version,
                       coalesce(why2, CASE WHEN nth_version > 1 THEN {quoted(SECOND)} END) AS why3 FROM second)
            SELECT n, task, key, tag, place, untitled, unclaimed,
                   coalesce(why3, CASE WHEN count(*) OVER (PARTITION BY task, key, why3 IS NULL) < $languages
                                       THEN {quoted(ALONE)} END) AS why
            FROM third"""  # noqa: S608 (SQL of ours)
        told = {
            "everything": everything, "classes": f"(^|;)({prefixes})", "asked": asked,
            "least": rules.least_words, "languages": rules.least_languages,
        }  # fmt: skip
        with translated(self._file):
            run(self._connection, sql, told, progress=progress, step="decide which versions are kept")

    def read(self) -> dict[str, int]:
        """Rows of each task."""
        return dict(self._rows("SELECT task, count(*) FROM staged GROUP BY task ORDER BY min(n)"))

    def dropped(self) -> list[Dropped]:
        """What was dropped, by task, language and reason."""
        rows = self._rows(
            """SELECT task, tag, why, count(*), arg_min(place, n) FROM fate WHERE why IS NOT NULL
               GROUP BY ALL ORDER BY ALL"""
        )
        return [Dropped(task, tag or UNKNOWN, why, n, place) for task, tag, why, n, place in rows]

    def without(self) -> dict[str, tuple[int, int]]:
        """Of the versions kept of each task: how many have no title, and no claim."""
        sql = """SELECT task, count(*) FILTER (untitled), count(*) FILTER (unclaimed) FROM fate WHERE why IS NULL
                 GROUP BY task"""
        return {task: (titles, claims) for task, titles, claims in self._rows(sql)}

    def kept(self, rules: Rules) -> Iterator[Kept]:
        """The versions that are kept, by task, publication and language, with their texts."""
        with translated(self._file):
            found = self._connection.execute(
                """SELECT f.task, s.id, f.key, f.tag, concat_ws(chr(10), nullif(s.title, ''), nullif(s.abstract, ''),
                          CASE WHEN ? THEN nullif(s.claim, '') END), s.office
                   FROM fate f JOIN staged s USING (n) WHERE f.why IS NULL ORDER BY f.task, f.key, f.tag""",
                [rules.claims],
            )
            while rows := found.fetchmany(ROWS):
                yield from map(Kept._make, rows)

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with translated(self._file):
            return self._connection.execute(sql).fetchall()


@contextlib.contextmanager
def staged(
    folder: Path, sources: Mapping[str, Iterable[Version]], *, by_office: Mapping[str, str], progress: Progress = silent
) -> Iterator[Versions]:
    """Write the rows of all sources to the disk, and open them; both are gone behind the block.

    Args:
        folder: where they are staged.
        sources: task -> its rows; those of the task "" go to a task named after their office.
        by_office: office in lower case -> its task, where that has another name.
        progress: may raise JobCancelledError.
    """
    with engine(folder) as connection:
        file = folder / f"versions-{uuid.uuid4().hex[:8]}.tmp"
        try:
            with on_disk(file):
                _write(file, sources, by_office, progress)
            connection.execute(f"CREATE MACRO words_of(value) AS {words_sql('value')}").fetchall()
            connection.execute(f"CREATE VIEW staged AS SELECT * FROM read_parquet({quoted(str(file))})").fetchall()  # noqa: S608
            yield Versions(connection, file)
        finally:
            file.unlink(missing_ok=True)


def words_sql(value: str) -> str:
    """SQL for how many words a text has: runs of letters and digits; of scripts without spaces, two letters a word."""
    spaced = f"regexp_replace({value}, '[{UNSPACED}]', ' ', 'g')"
    unspaced = f"length(regexp_replace({value}, '[^{UNSPACED}]+', '', 'g'))"
    return rf"len(regexp_extract_all({spaced}, '[\p{{L}}\p{{M}}\p{{N}}]+')) + {unspaced} // 2"


def _write(
    file: Path, sources: Mapping[str, Iterable[Version]], by_office: Mapping[str, str], progress: Progress
) -> None:
    import pyarrow.parquet as pq

    fields = [(name, pa.bool_() if name == "fits" else pa.string()) for name in Version._fields]
    schema = pa.schema([("n", pa.int64()), ("task", pa.string()), *fields])
    n = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as target:
        for task, rows in sources.items():
            remaining = iter(rows)
            while some := list(islice(remaining, ROWS)):
                progress("read the tables", n, 0)
                tasks = [task or _office_task(row.office, by_office) for row in some]
                columns: dict[str, Sequence[Any]] = {"n": range(n, n + len(some)), "task": tasks}
                columns |= dict(zip(Version._fields, zip(*some, strict=True), strict=True))
                arrays = [pa.array(columns[name], schema.field(name).type) for name in schema.names]
                target.write_table(pa.table(arrays, schema=schema))
                n += len(some)
    progress("read the tables", n, n)


def _office_task(office: str, by_office: Mapping[str, str]) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", office.lower()).strip("-")
    return by_office.get(name, name) or UNKNOWN


def _table(columns: Mapping[str, Sequence[str]]) -> pa.Table:
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
