"""Queries of publications from a table: text, language, mode, strategy, publication."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.benchmarks.document_queries import Asked, mode_of, strategy_of
from analysis.errors import InputError
from analysis.imports import tables
from analysis.imports.faults import Faults, Place
from analysis.languages import canonical
from analysis.store.versions import key_of

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "query-id": ("query_id", "query-id", "_id", "id", "qid"),
    "text": ("text", "query", "query_text"),
    "language": ("language", "query_language", "lang"),
    "mode": ("mode",),
    "strategy": ("strategy",),
    "publication": ("publication", "publication_number", "source_publication", "family"),
}
NEEDED = ("text", "language", "mode", "publication")
KIND = "query dropped"


def queries(path: Path, renamed: Mapping[str, str]) -> list[Asked]:
    """The queries of a table, in its order.

    Args:
        path: CSV, TSV, lines of JSON, Parquet or Arrow, plain or packed.
        renamed: column -> field, where the table calls them otherwise.

    Raises:
        InputError: the file cannot be read, lacks a column, or a row is faulty: with its line.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a table of queries")
    columns = tables.Columns("query", tables.called(COLUMNS, renamed), [(name,) for name in NEEDED], {}, kept=())
    faults = Faults(lenient=False)
    found: list[Asked] = []
    for place, record in tables.read(path, columns, faults=faults, kind=KIND):
        try:
            found.append(_asked(place, record))
        except InputError as error:
            faults.meet(place, str(error), kind=KIND)
    faults.end()
    return found


def _asked(place: Place, record: Mapping[str, Any]) -> Asked:
    said = {name: " ".join(str(record.get(name) or "").split()) for name in COLUMNS}
    for name in NEEDED:
        if not said[name]:
            raise InputError(f"{name} is missing, expected one")
    return Asked(
        said["query-id"],
        key_of(said["publication"]),
        canonical(said["language"]).tag,
        said["text"],
        mode_of(said["mode"]),
        strategy_of(said["strategy"]) if said["strategy"] else "",
        str(place),
    )
