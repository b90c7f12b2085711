"""Tags and notes from a CSV as Babelscope exports it: every row sound and about a stored query, or none."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.errors import InputError
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import opened
from analysis.store.notes import COLUMNS, Annotation, checked, time_text

KIND = "annotation dropped"  # what a lenient import would do; there is none


class KnownTask(NamedTuple):
    """What of a stored task somebody may say something of."""

    languages: Mapping[str, str]  # query id -> language
    document_languages: tuple[str, ...]  # of its documents and its queries


@dataclass
class _Reader:
    """The sound rows so far."""

    path: Path
    benchmark: str
    known: Mapping[str, KnownTask]
    rows: list[Annotation] = field(default_factory=list)
    lines: dict[tuple[str | None, ...], int] = field(default_factory=dict)  # key -> the line that has it

    def take(self, line: int, cells: Sequence[str]) -> None:
        """Check one row and keep it."""
        if len(cells) != len(COLUMNS):
            raise InputError(f"{len(cells)} cells, expected {len(COLUMNS)} as in the header")
        row = self._row(dict(zip(COLUMNS, cells, strict=True)))
        if before := self.lines.get(row.key):
            said = f"{row.author} and {row.tag!r}" if row.tag else f"a note of {row.author}"
            raise InputError(f"{said} for query {row.query_id!r} again, first in line {before}; expected one row")
        self._check_query(row)
        self.rows.append(row)
        self.lines[row.key] = line

    def _row(self, cells: Mapping[str, str]) -> Annotation:
        times = [_time(name, cells[name]) for name in ("created_at", "updated_at")]
        if times[0] > times[1]:
            raise InputError(f"created_at {times[0]!r}, expected no later time than updated_at {times[1]!r}")
        row = Annotation(
            benchmark=cells["benchmark"],
            task=cells["task"],
            query_id=cells["query_id"],
            query_language=cells["query_language"],
            document_language=cells["document_language"] or None,
            system=cells["system"] or None,
            author=cells["author"],
            tag=cells["tag"] or None,
            note=cells["note"],
            created_at=times[0],
            updated_at=times[1],
        )
        return checked(row)

    def _check_query(self, row: Annotation) -> None:
        if row.benchmark != self.benchmark:
            raise InputError(f"benchmark {row.benchmark!r}, expected {self.benchmark!r}")
        task = self.known.get(row.task)
        if task is None:
            raise InputError(f"task {row.task!r}, expected one of {', '.join(self.known)}")
        language = task.languages.get(row.query_id)
        if language is None:
            raise InputError(f"query_id {row.query_id!r}, expected one that {row.task} has")
        if row.query_language != language:
            raise InputError(
                f"query_language {row.query_language!r}, expected {language!r} as query {row.query_id!r} has"
            )
        if row.document_language not in (None, *task.document_languages):
            tags = ", ".join(task.document_languages)
            raise InputError(f"document_language {row.document_language!r}, expected none or one of {tags}")


def read(path: Path, *, benchmark: str, known: Mapping[str, KnownTask]) -> tuple[Annotation, ...]:
    """Read a file of annotations, plain or packed.

    Args:
        path: a CSV in UTF-8 whose header is ``COLUMNS``; an empty cell is none.
        benchmark: the name that every row has to have.
        known: by task.

    Raises:
        InputError: the file cannot be read, or the first fault in it, with its physical line, the value, what was
            expected, and how many more rows are faulty.
    """
    faults = Faults(lenient=False)
    reader = _Reader(path, benchmark, known)
    with opened(path) as source:
        records = source.records()
        line, header = next(records, (0, []))
        _check_header(path, line, header)
        for line, cells in records:
            try:
                reader.take(line, cells)
            except InputError as error:
                faults.meet(Place(path, line), str(error), kind=KIND)
    faults.end()
    return tuple(reader.rows)


def _check_header(path: Path, line: int, header: Sequence[str]) -> None:
    if not header:
        raise InputError(f"{path}: the file is empty, expected a header {','.join(COLUMNS)}")
    if tuple(header) != COLUMNS:
        raise InputError(f"{path}, line {line}: header {','.join(header)!r}, expected {','.join(COLUMNS)!r}")


def _time(name: str, text: str) -> str:
    """A time as annotations have it; one without a zone is in UTC.

    Raises:
        InputError: it is none.
    """
    try:
        time = datetime.datetime.fromisoformat(text)
        return time_text(time.astimezone(datetime.UTC).replace(tzinfo=None) if time.tzinfo else time)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{name} {text[:80]!r}, expected a time such as 2026-01-31T08:15:00Z") from error
