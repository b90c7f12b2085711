"""Topics in tab-separated lines: an id and a text, or whatever columns a header names."""

from __future__ import annotations

from pathlib import Path

from analysis.imports.faults import Faults, Place
from analysis.imports.lines import numbered
from analysis.imports.records import Records

ID = ("_id", "id", "query-id", "query_id", "qid", "topic", "topic_id", "number")
TEXT = ("text", "query", "title", "topic_title", "question")
"""What headers call the two columns that every topic has."""


def read(path: Path, *, faults: Faults) -> Records:
    """Yield each topic as the record that a line of JSON would be, with its physical line.

    The first line is a header when one of its cells is a name of the id column and another one of the text column;
    without a header a line has two columns.

    Args:
        path: a file in UTF-8, plain or packed.
        faults: takes lines of another width.
    """
    header: list[str] | None = None
    for line, text in numbered(path):
        if not text.strip():
            continue
        cells = text.split("\t")
        if header is None:
            names = _header(cells)
            header = names or ["_id", "text"]
            if names:
                continue
        if len(cells) != len(header):
            fault = f"{len(cells)} columns in {text[:80]!r}, expected {len(header)} separated by tabs"
            faults.meet(Place(path, line), f"{fault}: {', '.join(header)}", kind="query dropped")
            continue
        yield Place(path, line), dict(zip(header, cells, strict=True))


def _header(cells: list[str]) -> list[str] | None:
    """The fields that a header names; None where the line is a topic itself."""
    named = [cell.strip() for cell in cells]
    lower = [name.lower() for name in named]
    key = next((name for name in ID if name in lower), None)
    text = next((name for name in TEXT if name in lower), None)
    if key is None or text is None:
        return None
    own = {lower.index(key): "_id", lower.index(text): "text"}
    return [own.get(place, name) for place, name in enumerate(named)]
