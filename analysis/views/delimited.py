"""Answers as CSV, for commands and for downloads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import IO


def write_csv(handle: IO[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows as CSV; None is empty, and texts stay as they are, also those that a spreadsheet takes for formulas."""
    usual, quoted = (csv.writer(handle, lineterminator="\n", quoting=how) for how in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    for row in rows:
        cells = ["" if value is None else value for value in row]
        writer = quoted if any("\r" in cell for cell in cells if isinstance(cell, str)) else usual
        writer.writerow(cells)  # Python 3.11 would leave a carriage return without quotes
