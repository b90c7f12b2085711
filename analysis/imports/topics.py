"""Topics in tab-separated lines: an id and a text, or whatever columns a header names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.errors import InputError
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import numbered
from analysis.imports.records import Records

ID = ("_id", "id", "query-id", "query_id", "qid", "topic", "topic_id", "number")
TEXT = ("text", "query", "title", "topic_title", "question")
"""What headers call the two columns that every topic has."""


def read(path: Path, *, faults: Faults, text: Sequence[str] = TEXT) -> Records:
    """Yield each topic as the record that a line of JSON would be, with its physical line.

    The first line is a header when one of its cells is a name of the id column and another one of the text column;
    without a header a line has two columns, unless the text is to be another column than usual.

    Args:
        path: a file in UTF-8, plain or packed.
        faults: takes lines of another width.
        text: what headers call the text.

    Raises:
        InputError: no header names a text that is not the usual one.
    """
    header: list[str] | None = None
    for line, row in numbered(path):
        if not row.strip():
            continue
        cells = row.split("\t")
        if header is None:
            names = _header(cells, text)
            if names is None and text is not TEXT:
                raise InputError(
                    f"{path}, line {line}: {row[:80]!r}, expected a header with an id and {' or '.join(text)} "
                    "(--topic-field)"
                )
            header = names or ["_id", "text"]
            if names:
                continue
        if len(cells) != len(header):
            fault = f"{len(cells)} columns in {row[:80]!r}, expected {len(header)} separated by tabs"
            faults.meet(Place(path, line), f"{fault}: {', '.join(header)}", kind="query dropped")
            continue
        yield Place(path, line), dict(zip(header, cells, strict=True))


def _header(cells: list[str], words: Sequence[str]) -> list[str] | None:
    """The fields that a header names; None where the line is a topic itself."""
    named = [cell.strip() for cell in cells]
    lower = [name.lower() for name in named]
    key = next((name for name in ID if name in lower), None)
    text = next((name for name in words if name in lower), None)
    if key is None or text is None:
        return None
    own = {lower.index(key): "_id", lower.index(text): "text"}
    return [own.get(place, name) for place, name in enumerate(named)]
