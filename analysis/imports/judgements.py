"""Judgements in any kind of file: lines of BEIR or TREC, tables, or a JSON object of objects."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import qrels, records, tables
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import numbered, opened
from analysis.imports.qrels import Qrels
from analysis.imports.records import Record, Written
from analysis.imports.run_objects import Pairs
from analysis.imports.run_rows import NUMBER

ENDINGS = (".tsv", ".csv", ".json", ".jsonl", ".parquet", ".trec", ".txt")
"""How files of judgements are called."""

LINES = {".tsv", ".trec", ".txt"}
"""Of these, those whose lines are no table: their first id may look like anything."""

SHAPE = 'expected {"query": {"document": grade}}'


def read(path: Path, *, faults: Faults, renamed: Mapping[str, str]) -> Qrels:
    """Read the judgements of a file, plain or packed.

    What is called TSV or TREC is read by :func:`qrels.read`. Of others Parquet and JSON are told by their first bytes,
    CSV by its name. In a JSON object a query with an empty object is judged without a document; lines of JSON are rows
    of a table.

    Args:
        path: the file.
        faults: takes the faults of its rows.
        renamed: what columns call ``query-id``, ``corpus-id`` and ``score``, where they call them something else.

    Raises:
        InputError: the file cannot be read, lacks a column, or has no rows.
    """
    form = "lines" if LINES & set(path.suffixes) else tables.form_of(path)
    if form == "lines" or (form == "csv" and ".csv" not in path.suffixes):
        return qrels.read(path, faults=faults, renamed=renamed)
    found = _object(path, faults) if form == "json" and not _has_rows(path) else _table(path, faults, renamed)
    if not found.grades and not faults.n:
        raise InputError(f"{path}: no judgements, expected one for each judged pair")
    return found


def _has_rows(path: Path) -> bool:
    """Whether the first line is a whole object that holds something else than objects."""
    first = next((text for _, text in numbered(path) if text.strip()), "")
    try:
        found = json.loads(first)
    except (json.JSONDecodeError, RecursionError):
        return False
    return isinstance(found, dict) and any(not isinstance(value, dict) for value in found.values())


def _table(path: Path, faults: Faults, renamed: Mapping[str, str]) -> Qrels:
    found = Qrels((path,))
    kind = "judgement dropped"
    for where, record in tables.read(path, tables.judgements(renamed), faults=faults, kind=kind):
        try:
            query, document = (_id(record, name) for name in ("query-id", "corpus-id"))
            grade = _grade(record.get("score"))
        except InputError as error:
            faults.meet(where, str(error), kind=kind)
            continue
        found.add(query, document, grade, place=where, faults=faults)
    return found


def _id(record: Record, name: str) -> str:
    found = records.text(record, name)
    if not found or not found.strip():
        raise InputError(f"{name} is {'missing' if found is None else 'blank'}, expected an id")
    return found


def _grade(written: object) -> float:
    """A finite number, as a table or an object writes it; no bool."""
    text = str(written).strip() if isinstance(written, str) else ""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise InputError(f"grade {str(written)[:40]!r}, expected a finite number")
    return value


def _object(path: Path, faults: Faults) -> Qrels:
    found = Qrels((path,))
    entry = 0  # documents in the order of the file, a query without any counted as one
    for query, documents in _queries(path):
        if not isinstance(documents, Pairs):
            raise InputError(f"{path}, query {query!r}: {str(documents)[:40]!r}, {SHAPE}")
        if not documents:
            entry += 1
            _take(found, query, None, Place(path, entry, "entry"), faults)
        for pair in documents:
            entry += 1
            _take(found, query, pair, Place(path, entry, "entry"), faults)
    return found


def _take(found: Qrels, query: str, judged: tuple[str, Any] | None, where: Place, faults: Faults) -> None:
    """Add a document and its grade, or the query alone."""
    try:
        _id({"query-id": query}, "query-id")
        if judged is None:
            found.first.setdefault(query, where)
            return
        document = _id({"corpus-id": judged[0]}, "corpus-id")
        found.add(query, document, _grade(judged[1]), place=where, faults=faults)
    except InputError as error:
        fault = f"query {query!r}, document {judged[0]!r}: {error}" if judged else str(error)
        faults.meet(where, fault, kind="judgement dropped")


def _queries(path: Path) -> Pairs:
    with opened(path) as source:
        text = source.text()
    try:
        found: Pairs = json.loads(text, object_pairs_hook=Pairs, parse_int=Written, parse_float=Written)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}, {SHAPE}") from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deep, {SHAPE}") from error
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: half a surrogate pair, expected whole characters") from error
    return found
