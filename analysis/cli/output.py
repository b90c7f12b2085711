"""Rows as JSON, CSV or an aligned table."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.views.delimited import write_csv
from analysis.views.plain import as_json, plain

__all__ = ["Row", "plain", "write_json", "write_rows"]

Row = Mapping[str, Any]


def write_json(value: object) -> None:
    """One JSON document on stdout, in the languages' own scripts."""
    print(as_json(value))


def write_rows(rows: Sequence[Row], format_name: str) -> None:
    """Flat rows as a JSON list, CSV or a table; missing is empty (null in JSON)."""
    if format_name == "json":
        write_json(rows)
    elif format_name == "csv":
        write_csv(sys.stdout, [*([list(rows[0])] if rows else []), *(list(plain(row).values()) for row in rows)])
    else:
        _write_table(rows)


def _write_table(rows: Sequence[Row]) -> None:
    if not rows:
        print("nothing stored for this", file=sys.stderr)
        return
    cells = [list(rows[0]), *([_short(value) for value in plain(row).values()] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _short(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
