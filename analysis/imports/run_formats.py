"""The formats of run files: which one a file has, and its reader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from analysis.errors import InputError
from analysis.imports import run_lines, run_objects, run_tables
from analysis.imports.lines import Source
from analysis.imports.run_rows import FORMATS, Choices, RowFaults, Rows

READERS = {
    "trec": run_lines.trec,
    "msmarco": run_lines.msmarco,
    "json": run_objects.ranx_json,
    "cbor": run_objects.ranx_cbor,
    "mteb": run_objects.mteb,
    "csv": run_tables.csv,
    "jsonl": run_tables.jsonl,
    "parquet": run_tables.parquet,
}
TABLES = ("csv", "jsonl", "parquet")
MTEB = re.compile(rf'\s*{{\s*"{run_objects.META}"\s*:')
NAME = r'"(?:[^"\\]|\\.)*"\s*:\s*'
SPLITS = re.compile(rf"\s*{{\s*{NAME}{{\s*{NAME}{{")
"""Three levels of names: mteb's older shape, {split: {query: {document: score}}}, where ranx has two."""


def format_of(source: Source, asked: str | None) -> str:
    """One of READERS: as asked, else by the first bytes; three columns are never guessed at.

    Raises:
        InputError: no such format.
    """
    if asked is not None and asked not in FORMATS:
        raise InputError(f"format {asked!r}: expected one of {', '.join(FORMATS)}")
    if asked not in {None, "ranx"}:
        return "trec" if asked == "pyterrier" else str(asked)
    head = source.head()
    if head.startswith(b"PAR1"):
        return "parquet"
    may_be_cbor = asked == "ranx" or "LZ4" in source.packed
    if may_be_cbor and head and head[0] >> 5 == 5:  # a map: no text begins with such a byte
        return "cbor"
    text = head.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        return _of_object(text, asked)
    return "csv" if asked is None and _is_header(text.partition("\n")[0].strip().split(",")) else "trec"


def _of_object(text: str, asked: str | None) -> str:
    """A run as one object, or in a line each."""
    if asked is None and (MTEB.match(text) or SPLITS.match(text)):
        return "mteb"
    try:
        first = json.loads(text.lstrip().partition("\n")[0])
    except (ValueError, RecursionError):  # the first line is no whole object
        return "json"
    return "jsonl" if asked is None and isinstance(first, dict) and _is_header(list(first)) else "json"


def _is_header(names: list[str]) -> bool:
    return all(set(names) & set(known) for known in run_tables.COLUMNS.values())


def rows(source: Source, form: str, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """Read a run; ``form`` as :func:`format_of` says.

    Args:
        source: the opened file.
        form: the format.
        faults: gets every row that is left out, and rows of five columns, which are kept.
        choices: what of the file is read.

    Raises:
        InputError: the file is not of this format at all, or the choices do not fit it.
    """
    if (choices.subset or choices.split) and form != "mteb":
        raise InputError(f"{source.path}: read as {form}; expected an mteb file for --subset and --split")
    if choices.columns and form not in TABLES:
        raise InputError(f"{source.path}: read as {form}; expected {', '.join(TABLES)} for --map")
    run_tables.check_columns(choices.columns)
    return READERS[form](source, faults, choices)
