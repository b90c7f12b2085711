"""Generations, migrations and the connection: how a store file is found, opened and brought up to date."""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb

from analysis.errors import StoreError
from analysis.paths import Cache

MIGRATIONS = Path(__file__).parent / "migrations"
GENERATION = re.compile(r"store-(\d+)\.duckdb")
UNCHANGED = "; what was stored before is unchanged"


def migrations() -> list[Path]:
    """The numbered SQL steps, in order."""
    return sorted(MIGRATIONS.glob("[0-9][0-9][0-9]_*.sql"))


def newest_schema() -> int:
    """The schema number this program writes."""
    return int(migrations()[-1].name[:3])


def schema_of(connection: duckdb.DuckDBPyConnection) -> int:
    """The schema number of an open store; 0 for an empty file."""
    try:
        return int(connection.execute("SELECT coalesce(max(number), 0) FROM migration").fetchall()[0][0])
    except duckdb.CatalogException:  # no such table
        return 0


def migrate(connection: duckdb.DuckDBPyConnection, *, upto: int | None = None) -> None:
    """Apply every step the store lacks, each with its record in one transaction.

    Raises:
        StoreError: the store is newer than this program, or a step fails.
    """
    have = schema_of(connection)
    refuse_newer(have)
    connection.execute(
        """CREATE TABLE IF NOT EXISTS migration
           (number INTEGER PRIMARY KEY, name VARCHAR NOT NULL, applied_at TIMESTAMP NOT NULL)"""
    ).fetchall()
    for step in migrations():
        number = int(step.name[:3])
        if number <= have or (upto is not None and number > upto):
            continue
        connection.begin()
        try:
            with translated(step):
                connection.execute(step.read_text(encoding="utf-8")).fetchall()
                connection.execute("INSERT INTO migration VALUES (?, ?, ?)", [number, step.stem, now()]).fetchall()
                connection.commit()
        except BaseException:
            connection.rollback()
            raise


def refuse_newer(schema: int) -> None:
    """Raise StoreError when a store was written by a newer program."""
    if schema > newest_schema():
        raise StoreError(
            f"the store has schema {schema}, written by a newer Babelscope; this one knows {newest_schema()}: "
            "update Babelscope, or choose another cache folder"
        )


def now() -> datetime.datetime:
    """The time in UTC without a zone, to the microsecond: which of two builds came last hangs on it."""
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)


def current_generation(cache: Cache) -> Path | None:
    """The store file that ``CURRENT`` names, or None when nothing has been stored yet.

    Without a ``CURRENT`` the newest generation counts: it is whole, and its writer was killed just before it wrote the
    first ``CURRENT``, or somebody removed the file.

    Raises:
        StoreError: ``CURRENT`` names something that is not there.
    """
    try:
        name = cache.current.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return max(_generations(cache), key=generation_number, default=None)
    path = cache.root / name
    if not GENERATION.fullmatch(name) or not path.is_file():
        raise StoreError(f"{cache.current}: names {name!r}, expected a file store-<number>.duckdb beside it")
    return path


def generation_number(path: Path | None) -> int:
    """The number in a generation's file name; 0 for None."""
    match = GENERATION.fullmatch(path.name) if path else None
    return int(match.group(1)) if match else 0


def kept_generations(cache: Cache) -> list[Path]:
    """The generation in force and the one before it, which a page may be about to open; empty when nothing is stored.

    Raises:
        StoreError: ``CURRENT`` names something that is not there.
    """
    current = current_generation(cache)
    older = [path for path in _generations(cache) if generation_number(path) < generation_number(current)]
    return [*sorted(older, key=generation_number)[-1:], current] if current else []


def _generations(cache: Cache) -> list[Path]:
    return [path for path in cache.root.glob("store-*.duckdb") if GENERATION.fullmatch(path.name)]


@contextlib.contextmanager
def translated(path: Path, *, advice: str = "") -> Iterator[None]:
    """Turn what DuckDB says about a missing, damaged or full file into a StoreError that names the file."""
    try:
        yield
    except duckdb.Error as error:
        raise StoreError(f"{path}: {str(error).splitlines()[0]}{advice}") from error


@contextlib.contextmanager
def on_disk(path: Path) -> Iterator[None]:
    """Turn a full disk, or a folder that cannot be written, into a StoreError that names the place."""
    try:
        yield
    except OSError as error:
        place = error.filename2 or error.filename or path
        raise StoreError(f"{place}: {error.strerror}{UNCHANGED}") from error


@functools.lru_cache(maxsize=4)
def shared_connection(path: Path) -> duckdb.DuckDBPyConnection:
    """One read-only connection for each generation in this process; take a cursor for every call.

    Raises:
        StoreError: the file is no store, or a newer program wrote it.
    """
    with translated(path):
        connection = duckdb.connect(str(path), read_only=True)
    try:
        refuse_newer(schema_of(connection))
    except BaseException:
        connection.close()
        raise
    return connection


def fsync_file(path: Path) -> None:
    """Force a finished file to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def publish(temporary: Path, target: Path) -> None:
    """Move a finished temporary file to its name so that a crash leaves either the old or the new one, whole."""
    fsync_file(temporary)
    temporary.replace(target)
    fsync_file(target.parent)
