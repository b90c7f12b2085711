"""Per-query scores without rankings: one CSV row a system and query, one column a measure or a query attribute."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports import id_languages, perquery
from analysis.imports.lines import opened
from analysis.imports.perquery import Record
from analysis.languages import canonical, together
from analysis.metrics import catalogue
from analysis.model import Benchmark, Query, Task

NEEDED = ("model", "query_id", "query_language")
OWN = ("family", "tier", "mode", "strategy", "audit_status", "source_query")
"""Columns that every benchmark may have; any other that is no measure becomes a free attribute by its own name."""

TAKEN = {"task", "system", "language", "no_home", "slice", *Query._fields} - set(OWN)
"""Names that mean something else wherever attributes are shown or chosen."""

PARTIAL = re.compile(r"(recall_at_\d+_(same|cross)|jbc_at_\d+)")
"""Measures undefined on queries that lack such a document: there alone an empty cell is no fault."""


@dataclass(frozen=True, eq=False)
class Scores:
    """A checked file.

    Attributes:
        name: the file's name.
        checksum: SHA-256 of its text, unpacked.
        systems: the S systems in the order of the file.
        queries: the Q queries in the order of the file, without texts.
        values: by measure key in the order of the columns, ``(S, Q)``; NaN where the file has no score.
        present: ``(S, Q)`` which system has a row for which query.
        notices: a sentence for each language that was repaired or is doubtful, with the line that has it first.
    """

    name: str
    checksum: str
    systems: tuple[str, ...]
    queries: tuple[Query, ...]
    values: Mapping[str, NDArray[np.float64]]
    present: NDArray[np.bool_]
    notices: tuple[str, ...]


class _Row(NamedTuple):
    """One sound row."""

    line: int  # physical line that it begins on
    system: str
    query: Query
    values: tuple[float, ...]  # in the order of the measures; NaN where undefined
    notice: str | None  # of its language


@dataclass
class _Table:
    """What has been read so far, with the first fault and the number of all."""

    file: Path
    header: Sequence[str]
    measures: tuple[str, ...]
    free: tuple[str, ...]
    family_from_id: bool
    rows: list[_Row] = field(default_factory=list)
    seen: dict[tuple[str, str], int] = field(default_factory=dict)  # system and query id -> line
    first: dict[str, _Row] = field(default_factory=dict)  # query id -> the first row that has it
    fault: str | None = None
    n_faults: int = 0

    def take(self, line: int, cells: Sequence[str]) -> None:
        """Check one row and keep it, or count its fault."""
        try:
            row = self._row(line, cells)
            self._compare(row)
        except InputError as error:
            self.n_faults += 1
            self.fault = self.fault or f"{self.file}, line {line}: {error}"
            return
        self.rows.append(row)
        self.seen[row.system, row.query.id] = line
        self.first.setdefault(row.query.id, row)

    def _row(self, line: int, cells: Sequence[str]) -> _Row:
        if len(cells) != len(self.header):
            raise InputError(f"{len(cells)} cells, expected {len(self.header)} as in the header")
        named = dict(zip(self.header, cells, strict=True))
        for name, text in named.items():
            if not text.strip() and not PARTIAL.fullmatch(name):
                raise InputError(f"{name} is empty, expected a value")
        if "," in named["model"]:
            raise InputError(f"model {named['model']!r}: expected a name without a comma")
        values = tuple(_score(name, named[name]) for name in self.measures)
        language = canonical(named["query_language"])
        return _Row(line, named["model"], self._query(named, language.tag), values, language.notice)

    def _query(self, named: Mapping[str, str], language: str) -> Query:
        name = named["query_id"]
        family = name.partition("_")[0] if self.family_from_id else named.get("family", name)
        if not family:
            raise InputError(f"query_id {name!r}: expected a family before the first _")
        return Query(
            name,
            language,
            "",
            family,
            tier=named.get("tier"),
            mode=named.get("mode"),
            strategy=named.get("strategy"),
            audit_status=named.get("audit_status"),
            source_query=named.get("source_query"),
            attributes={column: named[column] for column in self.free},
        )

    def _compare(self, row: _Row) -> None:
        """A query is asked once of a system, and is the same in all its rows."""
        before = self.seen.get((row.system, row.query.id))
        if before:
            raise InputError(f"{row.system} and {row.query.id!r} again, first in line {before}; expected one row")
        known = self.first.get(row.query.id)
        if known is None:
            return
        for name, value, other in _differences(known.query, row.query):
            raise InputError(
                f"query {row.query.id!r} has {name} {value!r} and in line {known.line} {other!r}; expected one value "
                "(a column that is no measure, such as recall_at_10, describes the query)"
            )
        for name, mine, theirs in zip(self.measures, row.values, known.values, strict=True):
            if math.isnan(mine) != math.isnan(theirs):
                empty, full = (row.line, known.line) if math.isnan(mine) else (known.line, row.line)
                raise InputError(
                    f"query {row.query.id!r} has {name} in line {full} and none in line {empty}; "
                    "expected it for every model or for none"
                )


def read(
    path: Path,
    *,
    family_from_id: bool = False,
    query_language: str | None = None,
    language_pattern: str | None = None,
) -> Scores:
    """Read a file of per-query scores, plain or packed.

    Args:
        path: a CSV in UTF-8 with the columns ``model``, ``query_id`` and ``query_language``; a column with the key of
            a measure (``recall_at_10``) holds its values, any other describes the query. Or PyTerrier's table of
            ``name``, ``qid``, ``measure`` and ``value``.
        family_from_id: the family is the id up to its first ``_``; else the column ``family``, else the id itself.
        query_language: of every query, where no column says it.
        language_pattern: where query ids name it; the first group counts, or the whole match.

    Raises:
        InputError: the file cannot be read, or the first fault in it, with its physical line, the value, what was
            expected, and how many more rows are faulty.
    """
    told = _Told(id_languages.compiled(language_pattern), query_language)
    with opened(path) as source:
        records = _with_language(path, _wide(path, source.records()), told)
        _, header = next(records, (0, []))
        if not header:
            raise InputError(f"{path}: the file is empty, expected a header with {', '.join(NEEDED)} and a measure")
        measures, free = _columns(path, header, family_from_id)
        table = _Table(path, header, measures, free, family_from_id)
        for line, cells in records:
            table.take(line, cells)
        checksum = source.checksum
    if table.fault:
        more = table.n_faults - 1
        raise InputError(table.fault + (f" ({more} more rows are faulty)" if more else ""))
    if not table.rows:
        raise InputError(f"{path}: no rows below the header, expected one for each model and query")
    return _gathered(table, checksum)


@dataclass(frozen=True)
class _Told:
    """What the caller says of the queries' languages."""

    pattern: re.Pattern[str] | None  # searched in the id; its first group, or all of it
    default: str | None

    def language(self, name: str) -> str:
        """The language of a query as written; empty where nothing says it."""
        return id_languages.found(self.pattern, name) or self.default or ""


def _wide(path: Path, records: Iterator[Record]) -> Iterator[Record]:
    """The records of a table with one row a system and query, the header first, from either shape."""
    first = next(records, None)
    if first is None:
        return
    if perquery.is_long(first[1]):
        yield from perquery.wide(path, first[1], records, check=_score)
        return
    yield first
    yield from records


def _with_language(path: Path, records: Iterator[Record], told: _Told) -> Iterator[Record]:
    """The records with a column ``query_language`` where the caller says what is in it."""
    if told == _Told(None, None):
        yield from records
        return
    line, header = next(records, (0, []))
    if "query_language" in header:
        raise InputError(f"{path}, line 1: column query_language, expected none where an option says the language")
    if "query_id" not in header:
        yield line, header  # refused for that
        return
    yield line, [*header, "query_language"]
    place = header.index("query_id")
    for line, cells in records:
        yield line, [*cells, told.language(cells[place]) if len(cells) == len(header) else ""]


def _columns(path: Path, header: Sequence[str], family_from_id: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The measures and the free attributes among the columns, in their order."""
    for name in NEEDED:
        if name not in header:
            hint = " (or --query-language, --language-pattern)" if name == "query_language" else ""
            raise InputError(f"{path}, line 1: column {name} is missing, found {', '.join(header)}{hint}")
    for name in header:
        _check_column(path, header, name)
    if family_from_id and "family" in header:
        raise InputError(f"{path}, line 1: column family, expected none where the family is part of the id")
    rest = [name for name in header if name not in (*NEEDED, *OWN)]
    measures = tuple(name for name in rest if _is_measure(name))
    if not measures:
        raise InputError(
            f"{path}, line 1: no column is a measure, expected one such as recall_at_10 or ndcg_at_10 among "
            f"{', '.join(header)}"
        )
    return measures, tuple(name for name in rest if name not in measures)


def _check_column(path: Path, header: Sequence[str], name: str) -> None:
    fault = None
    if header.count(name) > 1:
        fault = "stands twice, expected once"
    elif not name.strip() or "=" in name:
        fault = "is no name for an attribute, expected one that is not empty and has no ="
    elif name in TAKEN:
        fault = "has a meaning of its own, expected another name for an attribute"
    elif name == "language_transfer":
        fault = "is a ratio of two means, expected recall_at_10_same and recall_at_10_cross instead"
    if fault:
        raise InputError(f"{path}, line 1: column {name!r} {fault}")


def _is_measure(name: str) -> bool:
    try:
        catalogue.measure(name)
    except InputError:
        return False
    return True


def _score(name: str, text: str) -> float:
    """A share from 0 to 1; NaN for the empty cell of a measure that is undefined on some queries."""
    if not text.strip():
        return math.nan
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name} {text!r}, expected a finite number")
    if not 0 <= value <= 1:
        raise InputError(f"{name} {text!r}, expected a number from 0 to 1")
    return value


def _differences(known: Query, found: Query) -> Iterator[tuple[str, str, str]]:
    """Name, new value and first value of what two rows say differently of one query."""
    for name in ("language", *OWN):
        if getattr(known, name) != getattr(found, name):
            yield name, getattr(found, name), getattr(known, name)
    for name, value in found.attributes.items():
        if known.attributes[name] != value:
            yield name, value, known.attributes[name]


def _gathered(table: _Table, checksum: str) -> Scores:
    systems = tuple(dict.fromkeys(row.system for row in table.rows))
    place = {name: number for number, name in enumerate(systems)}
    column = {name: number for number, name in enumerate(table.first)}
    at = ([place[row.system] for row in table.rows], [column[row.query.id] for row in table.rows])
    cube = np.full((len(table.measures), len(systems), len(column)), np.nan)
    cube[:, at[0], at[1]] = np.array([row.values for row in table.rows]).T
    present = np.zeros(cube.shape[1:], dtype=bool)
    present[at] = True
    written = together({row.query.language for row in table.first.values()})
    notices = {row.notice: row.line for row in reversed(table.rows) if row.notice}
    return Scores(
        name=table.file.name,
        checksum=checksum,
        systems=systems,
        queries=tuple(row.query._replace(language=written[row.query.language]) for row in table.first.values()),
        values=dict(zip(table.measures, cube, strict=True)),
        present=present,
        notices=tuple(f"line {line}: {notice}" for notice, line in sorted(notices.items(), key=lambda item: item[1])),
    )


def benchmark(scores: Scores, *, name: str, task: str, settings: Mapping[str, object]) -> Benchmark:
    """The benchmark that a file of scores stands for: one task without documents or judgements."""
    only = Task(
        name=task,
        title="Imported scores",
        question="Scores of each query as imported; rankings, documents and texts are not known.",
        documents=(),
        queries=scores.queries,
        judgements=(),
        default=True,
    )
    return Benchmark(
        name=name,
        version="1",
        title=name,
        parallel=False,
        licence="as the imported file",
        source=scores.name,
        notes=("Per-query scores computed elsewhere: what needs rankings, documents or texts is left out.",),
        settings=settings,
        tasks=(only,),
    )
