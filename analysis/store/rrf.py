"""Pipe-separated tables of a terminology (Rich Release Format), streamed into Parquet in bounded memory.

The format has no quoting and no header; every column ends with a pipe, so the last thing on a line is nothing.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from analysis.errors import InputError, StoreError
from analysis.model import Progress, silent
from analysis.store.connection import UNCHANGED, on_disk, publish

MEMORY = "768MB"
"""What DuckDB may hold at once; what does not fit goes to the disk."""

THREADS = 2
LONGEST_LINE = 16_000_000  # bytes
LOOK = 0.2  # seconds between two looks at a query that runs
DAY = 86_400.0  # seconds after which a temporary file is the leftover of a process that was killed

FULL_WIDTH = "".join(map(chr, range(0xFF01, 0xFF5F)))
HALF_WIDTH = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True)
class Rule:
    """What the values of one column must look like."""

    column: str
    pattern: str  # of the whole value, for RE2 and Python alike
    expected: str  # in words


@dataclass(frozen=True)
class Layout:
    """The columns of one file, what they must hold, and what is kept of them."""

    columns: tuple[str, ...]
    rules: tuple[Rule, ...]
    kept: Mapping[str, str]  # column of the Parquet file -> SQL over the file's own columns


@contextlib.contextmanager
def engine(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection without a database: bounded memory, and room for the rest below ``folder``."""
    with on_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    spill = folder / f"spill-{uuid.uuid4().hex[:8]}.tmp"
    settings: dict[str, Any] = {
        "memory_limit": MEMORY,
        "threads": THREADS,
        "temp_directory": str(spill),
        "preserve_insertion_order": False,
    }
    try:
        with contextlib.closing(duckdb.connect(":memory:", config=settings)) as connection:
            connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false").fetchall()
            connection.execute(f"CREATE MACRO key_of(value) AS {key_sql('value')}").fetchall()
            yield connection
    finally:
        shutil.rmtree(spill, ignore_errors=True)


def key_sql(value: str) -> str:
    """SQL for what two spellings of a term share: letters, marks and digits in NFC and lower case, one space between.

    Full-width Latin letters, digits and signs count as the ordinary ones.
    """
    narrow = f"translate({value}, {quoted(FULL_WIDTH)}, {quoted(HALF_WIDTH)})"
    wide = f"regexp_matches({value}, '[{FULL_WIDTH[0]}-{FULL_WIDTH[-1]}]')"  # translate() takes long
    folded = f"lower(nfc_normalize(CASE WHEN {wide} THEN {narrow} ELSE {value} END))"
    return rf"trim(regexp_replace({folded}, '[^\p{{L}}\p{{M}}\p{{N}}]+', ' ', 'g'))"


def convert(source: Path, target: Path, *, layout: Layout, progress: Progress = silent, step: str = "read") -> None:
    """Write a Parquet file of one source, plain or gzip; it appears whole or not at all.

    Raises:
        InputError: a line breaks a rule, has too few or too many columns, or is no UTF-8; not yet which line.
        StoreError: the disk is full, or the folder cannot be written.
        JobCancelledError: raised by progress.
    """
    _sweep(target.parent)
    temporary = target.with_name(f"{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    kept = ", ".join(f"{sql} AS {name}" for name, sql in layout.kept.items())
    sql = f"""COPY (SELECT {kept} FROM {_table(source, layout)}
                    WHERE CASE WHEN {_sound(layout)} THEN true ELSE error('faulty line') END)
              TO {quoted(str(temporary))} (FORMAT parquet, COMPRESSION zstd)"""  # noqa: S608 (columns of ours, paths quoted)
    try:
        with engine(target.parent) as connection:
            try:
                run(connection, sql, progress=progress, step=step)
            except duckdb.Error as error:
                words = str(error).splitlines()[0]
                if isinstance(error, duckdb.InvalidInputException) or str(source) in words:
                    raise InputError(f"{source}: {words}") from error
                raise StoreError(f"{target}: {words}{UNCHANGED}") from error
        with on_disk(target):
            publish(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def run(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: object = None, *, progress: Progress, step: str
) -> list[tuple[Any, ...]]:
    """The rows of a long query; progress hears how far it is, and may end it."""
    progress(step, 0, 100)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: connection.execute(sql, parameters).fetchall())
        try:
            while not wait([asked], LOOK).done:
                progress(step, min(99, max(0, int(connection.query_progress()))), 100)
        except BaseException:
            connection.interrupt()
            raise
    rows = asked.result()
    progress(step, 100, 100)
    return rows


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _table(source: Path, layout: Layout) -> str:
    """The file as a table of texts; what an empty field holds is NULL, and so is what stands behind the last pipe."""
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in (*layout.columns, "behind"))
    packed = "gzip" if is_gzip(source) else "none"
    return f"""read_csv({quoted(_literal(source))}, auto_detect = false, header = false, delim = '|', quote = '',
                        escape = '', comment = '', null_padding = false, strict_mode = true, nullstr = '',
                        compression = '{packed}', max_line_size = {LONGEST_LINE}, columns = {{{columns}}})"""


def _literal(path: Path) -> str:
    """A path in which nothing stands for other names."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def is_gzip(path: Path) -> bool:
    """Whether a file is packed, by its first bytes."""
    with path.open("rb") as handle:
        return handle.read(2) == b"\x1f\x8b"


def _sound(layout: Layout) -> str:
    rules = [f"regexp_full_match(coalesce({rule.column}, ''), {quoted(rule.pattern)})" for rule in layout.rules]
    return " AND ".join(["behind IS NULL", *rules])


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed left behind."""
    for path in folder.glob("*.tmp"):
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            if time.time() - path.stat().st_mtime > DAY:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
