"""Parallel texts in a table: one column a language; see :mod:`analysis.imports.parallel_rows`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import records, tables
from analysis.imports.faults import Faults, Place
from analysis.imports.parallel_rows import Row, chosen, unique
from analysis.imports.parallel_rows import parts as parts_of
from analysis.imports.parts import Options, Parts

IDS = (*records.IDS, "tuid")
"""What columns of ids are called; without one a row is called by its physical line."""
SLICES = ("tier", "mode", "strategy", "audit_status")
DOCUMENT = "family"

KIND = "row dropped"


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of a table with a column for each language of ``options.languages``.

    Args:
        path: a TSV, CSV, Parquet or lines of JSON, plain or packed.
        options: the languages, the column of a row's document, and what columns are called.
        faults: takes rows of another width, without an id or with one that was there before.

    Raises:
        InputError: no such file, a column is missing, a language without any text.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a table with a column for each language")
    languages = chosen(options.languages)
    columns = _columns(languages, options)
    unkept: Counter[str] = Counter()
    found = parts_of(
        unique(_rows(path, columns, languages, faults, unkept), faults), languages, path, options=options, faults=faults
    )
    for name, n in unkept.items():
        found.notices[f"rows whose column {name!r} is not kept"] += n
    return found


def _columns(languages: Mapping[str, str], options: Options) -> tables.Columns:
    """What the columns are called.

    Raises:
        InputError: ``--map`` names a field that a row of parallel texts does not have.
    """
    fields = ("_id", *languages.values(), *SLICES)
    known: dict[str, tuple[str, ...]] = {"_id": IDS, **{raw: (raw,) for raw in languages.values()}}
    for column, name in options.renamed.items():
        if name not in fields:
            raise InputError(f"--map {column}={name}: unknown field {name!r}, expected one of {', '.join(fields)}")
        known[name] = (column,)
    needed = list(languages.values())
    if "_id" in options.renamed.values():
        needed.append("_id")
    if options.family_column is not None:
        known[DOCUMENT] = (options.family_column,)
        needed.append(DOCUMENT)
    return tables.Columns("row", known, [(name,) for name in needed], {}, kept=())


def _rows(
    path: Path, columns: tables.Columns, languages: Mapping[str, str], faults: Faults, unkept: Counter[str]
) -> Iterator[Row]:
    for place, record in tables.read(path, columns, faults=faults, kind=KIND):
        unkept.update(name for name in record if name not in columns.known)
        try:
            yield _row(place, record, columns, languages)
        except InputError as error:
            faults.meet(place, str(error), kind=KIND)


def _row(place: Place, record: Mapping[str, Any], columns: tables.Columns, languages: Mapping[str, str]) -> Row:
    texts = {tag: records.text(record, raw) or "" for tag, raw in languages.items()}
    attributes = {name: records.text(record, name) or "" for name in SLICES if name in columns.known}
    return Row(
        place,
        _said(record, "_id", "an id") if "_id" in record else str(place.number),
        {tag: text for tag, text in texts.items() if text.strip()},
        _said(record, DOCUMENT, "a document") if DOCUMENT in columns.known else None,
        attributes,
    )


def _said(record: Mapping[str, Any], name: str, expected: str) -> str:
    found = records.text(record, name)
    if found is None or not found.strip():
        raise InputError(f"{name} is {'missing' if found is None else 'blank'}, expected {expected}")
    return found
