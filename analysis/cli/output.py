"""Rows as JSON, CSV or an aligned table."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.views.delimited import write_csv

Row = Mapping[str, Any]


def plain(value: object) -> Any:
    """Any answer as what JSON knows: dataclasses and named tuples become objects, NaN null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_json(value: object) -> None:
    """One JSON document on stdout, in the languages' own scripts."""
    json.dump(plain(value), sys.stdout, ensure_ascii=False, indent=1, allow_nan=False)
    print()


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
