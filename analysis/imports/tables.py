"""Tables of documents, queries or judgements, row by row and never type-inferred.

Parquet, Arrow, CSV, TSV or lines of JSON.
"""

from __future__ import annotations

import contextlib
import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from analysis.errors import InputError
from analysis.imports import arrow, qrels, records, topics
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import BLOCK, numbered, opened
from analysis.imports.records import Record, Records, Written

BATCH = 1 << 13  # rows of a Parquet file at a time: documents may be long
IDS = ("_id", "query-id", "corpus-id")
"""Fields whose Parquet columns hold text or whole numbers."""

TEXTS = ("text", "title")
LISTS = ("excluded_documents",)
"""Fields that hold lists: in a CSV or TSV a list in JSON."""

POINTER = b"version https://git-lfs.github.com/spec/"
"""What stands in a clone for a file that was not fetched."""

WORDS = {"query-id": qrels.QUERY, "corpus-id": qrels.DOCUMENT, "score": qrels.GRADE}
"""What tables call the three columns of judgements."""

BODY = ("text", "contents", "body", "passage")
"""What tables call the text of a document."""


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called.

    Attributes:
        what: the rows, such as "document".
        known: field -> the names that mean it; the first that occurs counts, in any case.
        needed: of each of these groups of fields a table has one.
        renamed: column -> field, as the user says; such a column keeps its name, but for judgements.
        kept: what else is read, such as the key of a language; None: every column.
    """

    what: str
    known: Mapping[str, Sequence[str]]
    needed: Sequence[Sequence[str]]
    renamed: Mapping[str, str]
    kept: Sequence[str] | None = None

    def fields(self, names: Sequence[str]) -> dict[str, str]:
        """The field of each column that has one and that the user does not rename."""
        taken = {self.renamed[name] for name in names if name in self.renamed}
        lower: dict[str, str] = {}
        for name in names:
            lower.setdefault(name.strip().lower(), name)
        found: dict[str, str] = {}
        for field in (field for field in self.known if field not in taken):
            called = (word if word in names else lower.get(word.lower()) for word in self.known[field])
            column = next((name for name in called if name and name not in self.renamed and name not in found), None)
            if column:
                found[column] = field
        return found

    def header(self, where: str, names: Sequence[str]) -> dict[str, str]:
        """The field of each column of a table with a header.

        Raises:
            InputError: a column has no name or stands twice, or one is missing.
        """
        for number, name in enumerate(names, start=1):
            if not name.strip():
                raise InputError(f"{where}: column {number} has no name, expected a name for each column")
            if names.count(name) > 1:
                raise InputError(f"{where}: column {name!r} stands twice, expected it once")
        found = self.fields(names)
        present = {*found.values(), *(field for column, field in self.renamed.items() if _first(column) in names)}
        for group in self.needed:
            if not present & set(group):
                words = " or ".join(self.known[group[0]])
                raise InputError(
                    f"{where}: no column for the {group[0]} of a {self.what} among {', '.join(names)}, expected one "
                    f"called {words} (--map COLUMN={group[0]})"
                )
        return found


def documents(renamed: Mapping[str, str], *, language_key: str | None) -> Columns:
    """The columns of documents; those that are not kept are not read where the file allows it."""
    known: dict[str, Sequence[str]] = {field: (field,) for field in records.DOCUMENT_FIELDS}
    known |= {"_id": (*records.IDS, *_mapped(renamed, "corpus-id"), *qrels.DOCUMENT), "text": BODY}
    kept = [language_key] if language_key else []
    return Columns("document", known, (("_id",), TEXTS), _own(renamed), kept)


def queries(renamed: Mapping[str, str], *, text: Sequence[str] = topics.TEXT) -> Columns:
    """The columns of queries; whatever else a table holds becomes attributes."""
    known: dict[str, Sequence[str]] = {field: (field,) for field in records.QUERY_FIELDS}
    known |= {"_id": (*records.IDS, *_mapped(renamed, "query-id"), *topics.ID, *qrels.QUERY), "text": text}
    return Columns("query", known, (("_id",), ("text",)), _own(renamed))


def judgements(renamed: Mapping[str, str]) -> Columns:
    """The three columns of judgements."""
    known = called(WORDS, renamed)
    return Columns("judgement", known, [(field,) for field in known], {}, kept=())


def called(known: Mapping[str, Sequence[str]], renamed: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """What columns are called, first as the user says."""
    return {field: (*_mapped(renamed, field), *names) for field, names in known.items()}


def _own(renamed: Mapping[str, str]) -> dict[str, str]:
    """What the user renames of documents and queries."""
    return {column: field for column, field in renamed.items() if field not in WORDS}


def _mapped(renamed: Mapping[str, str], field: str) -> list[str]:
    return [column for column, name in renamed.items() if name == field]


def _first(column: str) -> str:
    """A column, or the one that a dotted path begins in."""
    return column.partition(".")[0]


def form_of(path: Path) -> str:
    """Tsv where the name says so: its first id may look like anything; else parquet, arrow, json or csv by first bytes.

    Raises:
        InputError: the file cannot be opened, or stands for one that Git LFS has not fetched.
    """
    with opened(path) as source:
        head = source.head()
    if head.startswith(POINTER):
        raise InputError(f"{path}: a pointer of Git LFS, expected the file itself (git lfs pull)")
    if ".tsv" in path.suffixes:
        return "tsv"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(arrow.MAGIC):
        return "arrow"
    return "json" if head.lstrip().startswith(b"{") else "csv"


def read(path: Path, columns: Columns, *, faults: Faults, kind: str, separator: str = ",") -> Records:
    """Yield each row as a record under the names of our fields, with its physical line or, in Parquet, its row.

    Cells of a CSV or TSV stay text; a TSV has no quotes. Numbers of Parquet become text.

    Args:
        path: plain or packed.
        columns: what they are called.
        faults: takes rows of another width.
        kind: what a lenient import does about such a row.
        separator: between the cells of a CSV.

    Raises:
        InputError: the file cannot be read, is empty, or lacks a column.
    """
    form = form_of(path)
    if form in ("parquet", "arrow"):
        yield from _columnar(path, form, columns)
    elif form == "json":
        known: dict[tuple[str, ...], dict[str, str]] = {}  # the fields of records with the same keys
        for where, record in records.read(path, faults=faults, kind=kind):
            keys = tuple(record)
            if keys not in known:
                known[keys] = columns.fields(keys)
            yield where, named(record, known[keys])
    else:
        rows = _csv(path, separator) if form == "csv" else _tsv(path)
        yield from _delimited(path, rows, columns, faults, kind)


def named(record: Record, fields: Mapping[str, str]) -> dict[str, Any]:
    """A record under the names of our fields, each by its column."""
    return {fields.get(name, name): value for name, value in record.items()}


def _delimited(
    path: Path, rows: Iterator[tuple[int, list[str]]], columns: Columns, faults: Faults, kind: str
) -> Records:
    line, header = next(rows, (0, []))
    names = [name.strip() for name in header]
    if not names:
        raise InputError(f"{path}: the file is empty, expected a header and rows")
    found = columns.header(f"{path}, line {line}", names)
    lists = {name for name in names if found.get(name, columns.renamed.get(name)) in LISTS}
    for line, cells in rows:
        where = Place(path, line)
        if len(cells) != len(names):
            faults.meet(where, f"{len(cells)} cells, expected {len(names)} as in the header", kind=kind)
            continue
        yield (
            where,
            {
                found.get(name, name): _listed(cell) if name in lists else cell
                for name, cell in zip(names, cells, strict=True)
            },
        )


def _csv(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(BLOCK)  # documents are longer than Python's 128 KB
    with opened(path) as source:
        yield from source.records(separator=separator)


def _tsv(path: Path) -> Iterator[tuple[int, list[str]]]:
    return ((line, text.split("\t")) for line, text in numbered(path) if text.strip())


def _listed(cell: str) -> object:
    """A list in JSON, None for an empty cell; what is neither stays as it is and is refused where it is used."""
    if not cell.strip():
        return None
    try:
        return json.loads(cell, parse_int=Written, parse_float=Written)
    except (json.JSONDecodeError, RecursionError):
        return cell


def _columnar(path: Path, form: str, columns: Columns) -> Records:
    import pyarrow.parquet as pq

    with opened(path) as source, source.seekable() as stream, _translated(path, form):
        file = pq.ParquetFile(stream) if form == "parquet" else arrow.ArrowTable(stream)
        names = list(file.schema_arrow.names)
        found = columns.header(str(path), names)
        used = {*found, *map(_first, (*columns.renamed, *(columns.kept or ())))}
        chosen = [name for name in names if columns.kept is None or name in used]
        _check_types(path, file.schema_arrow, {**columns.renamed, **found}, chosen)
        unread: dict[str, Any] = dict.fromkeys(name for name in names if name not in chosen)
        number = 0
        for batch in file.iter_batches(batch_size=BATCH, columns=chosen):
            batch.validate(full=True)
            for row in batch.to_pylist(maps_as_pydicts="strict"):
                number += 1
                values = {found.get(name, name): _plain(value) for name, value in row.items()}
                yield Place(path, number, "row"), values | unread


@contextlib.contextmanager
def _translated(path: Path, form: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: {error}; expected a whole {form.capitalize()} file") from error


def _check_types(path: Path, schema: pa.Schema, fields: Mapping[str, str], chosen: Sequence[str]) -> None:
    for name in chosen:
        kind, field = schema.field(name).type, fields.get(name)
        plain = arrow.spelled_out(kind)
        expected = None
        if field in IDS and not (arrow.is_text(plain) or pa.types.is_integer(plain)):
            expected = "text or whole numbers"
        elif field in TEXTS and not (arrow.is_text(plain) or pa.types.is_null(plain)):
            expected = "text"
        elif field == "score" and not (pa.types.is_integer(plain) or pa.types.is_floating(plain)):
            expected = "numbers"
        elif "binary" in str(kind):
            expected = "text, numbers, lists or objects"
        if expected:
            raise InputError(f"{path}: column {name} is {kind}, expected {expected}")


def _plain(value: Any) -> Any:
    """A value of Parquet as a line of JSON would give it: numbers as text, NaN as None."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, float):
        return None if math.isnan(value) else Written(repr(value))
    return Written(value) if isinstance(value, (int, Decimal)) else str(value)
