"""Somebody's own vectors or coordinates of stored texts: every row sound and of a known text, or none."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports import tables
from analysis.imports.faults import Faults
from analysis.imports.lines import numbered
from analysis.imports.tables import Columns
from analysis.store.vector_file import Rows, blocks, room

MOST = float(np.finfo(np.float32).max)
"""Length of a vector that single precision does not hold."""

KIND = "point dropped"  # what a lenient import would do; there is none
COLUMNS = Columns(
    "point",
    {"id": ("id", "_id"), "x": ("x",), "y": ("y",), "z": ("z",), "item": ("item",)},
    (("id",), ("x",), ("y",)),
    {},
)


class Vectors(NamedTuple):
    """Vectors of some texts of one kind."""

    position: NDArray[np.int32]  # (n,) in the task, ascending
    vectors: Rows  # (n, d) unit rows, unless they were wanted as they are
    lengths: tuple[float, float] = (1.0, 1.0)  # the least and the largest in the file


class Coordinates(NamedTuple):
    """Points of some texts, documents first."""

    is_query: NDArray[np.bool_]
    position: NDArray[np.int32]
    points: NDArray[np.float32]  # (n, 2 or 3)


def read_vectors(
    path: Path, ids: Path, *, known: Mapping[str, int], kind: str, whole: bool = False, unit: bool = True
) -> Vectors:
    """Vectors from a NumPy file and the ids of their rows from a text file with one a line.

    Args:
        path: ``.npy`` with a matrix of real numbers.
        ids: of the rows, in their order.
        known: position of each id in the task.
        kind: of text, for messages.
        whole: every known text must have a row.
        unit: rows are scaled to length 1; else they stay as they are, and one of zeros is allowed.

    Raises:
        InputError: a file that cannot be read, another shape, a row that is not finite or no direction, an unknown,
            repeated or missing id.
    """
    matrix = _matrix(path)
    lines = [(line, text.strip()) for line, text in numbered(ids) if text.strip()]
    if len(lines) != len(matrix):
        raise InputError(f"{ids}: {len(lines):,} ids, expected {len(matrix):,} as {path} has rows")
    seen: dict[str, int] = {}
    for line, name in lines:
        if name not in known:
            raise InputError(f"{ids}, line {line}: id {name!r}, expected a {kind} of the task")
        if name in seen:
            raise InputError(f"{ids}, line {line}: id {name!r} again, first in line {seen[name]}; expected it once")
        seen[name] = line
    if whole and len(seen) < len(known):
        missing = next(name for name in known if name not in seen)
        n = len(known) - len(seen)
        raise InputError(f"{ids}: no row for {n:,} of the task's {len(known):,} {kind} ids, first {missing!r}")
    position = np.array([known[name] for _, name in lines], dtype=np.int32)
    order = np.argsort(position)
    return Vectors(position[order], *_rows(path, matrix, [name for _, name in lines], order=order, unit=unit))


def _rows(
    path: Path, matrix: NDArray[np.number], names: list[str], *, order: NDArray[np.intp], unit: bool
) -> tuple[Rows, tuple[float, float]]:
    """The rows in an order of their own, checked; a block at a time, as the file may be large. And their lengths."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    made, ends = room(Path(tempfile.gettempdir()), (len(matrix), matrix.shape[1])), []
    for block in blocks(made):
        rows = matrix[block].astype(np.float64)
        length = np.linalg.norm(rows, axis=1)
        bad = np.flatnonzero(~(length < MOST) | ((length == 0) & unit))  # NaN is not below anything
        if len(bad):
            expected = "finite and above 0" if unit else "finite"
            at = block.start + int(bad[0])
            raise InputError(
                f"{path}, row {at + 1}, id {names[at]!r}: a vector of length {length[bad[0]]}, expected {expected}"
            )
        made[place[block]] = (rows / length[:, np.newaxis] if unit else rows).astype(np.float32)
        ends += [length.min(), length.max()]
    return made, (float(min(ends)), float(max(ends)))


def _matrix(path: Path) -> NDArray[np.number]:
    """What the file holds, mapped: read when it is looked at."""
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{path}: {reason}; expected a NumPy file (.npy) of numbers") from error
    if not isinstance(found, np.ndarray) or found.ndim != 2 or not found.size:
        shape = getattr(found, "shape", "several arrays")
        raise InputError(f"{path}: shape {shape}, expected a matrix with a row for each text")
    if found.dtype.kind not in "fiu":
        raise InputError(f"{path}: numbers of type {found.dtype}, expected real ones")
    return found


def read_coordinates(path: Path, *, documents: Mapping[str, int], queries: Mapping[str, int]) -> Coordinates:
    """Points from a table (CSV, TSV, JSON lines or Parquet) with columns id, x, y, and where there are any z and item.

    Args:
        path: plain or packed.
        documents: position of each document's id in the task.
        queries: position of each query's id.

    Raises:
        InputError: the file cannot be read, or the first fault in it with its line, the value and what was expected.
    """
    faults = Faults(lenient=False)
    found: dict[tuple[bool, int], tuple[float, ...]] = {}
    for where, record in tables.read(path, COLUMNS, faults=faults, kind=KIND):
        try:
            key = _text(record, documents, queries)
            if key in found:
                raise InputError(f"id {record['id']!r} again, expected each text once")
            found[key] = _point(record)
        except InputError as error:
            faults.meet(where, str(error), kind=KIND)
    faults.end()
    if not found:
        raise InputError(f"{path}: no row, expected a point for each text")
    if len({len(point) for point in found.values()}) > 1:
        raise InputError(f"{path}: some rows have a z and some have none, expected all or none")
    keys = sorted(found)
    return Coordinates(
        np.array([key[0] for key in keys]),
        np.array([key[1] for key in keys], dtype=np.int32),
        np.array([found[key] for key in keys], dtype=np.float32),
    )


def _text(record: Mapping[str, object], documents: Mapping[str, int], queries: Mapping[str, int]) -> tuple[bool, int]:
    name, item = str(record.get("id") or ""), str(record.get("item") or "")
    if item not in {"", "document", "query"}:
        raise InputError(f"item {item!r}, expected document or query")
    places = [
        (is_query, known[name])
        for is_query, known in ((False, documents), (True, queries))
        if name in known and item in {"", "query" if is_query else "document"}
    ]
    if not places:
        raise InputError(f"id {name!r}, expected a {item or 'document or query'} of the task")
    if len(places) > 1:
        raise InputError(f"id {name!r} is a document and a query, expected a column item that says which")
    return places[0]


def _point(record: Mapping[str, object]) -> tuple[float, ...]:
    names = ["x", "y", *(["z"] if str(record.get("z") if record.get("z") is not None else "").strip() else [])]
    return tuple(_number(name, record[name]) for name in names)


def _number(name: str, value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name} {value!r}, expected a finite number")
    return number
