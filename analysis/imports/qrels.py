"""Judgements: BEIR's three columns with or without a header, and TREC's four."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.errors import InputError
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import numbered
from analysis.imports.run_rows import NUMBER

QUERY = ("query-id", "query_id", "queryid", "q_id", "qid", "query", "topic", "topic_id", "_id")
DOCUMENT = ("corpus-id", "corpus_id", "doc-id", "doc_id", "docid", "document_id", "docno", "did", "iid")
GRADE = ("score", "relevance", "rel", "label", "grade", "judgement")
"""What headers call the three columns."""

_BLANK = re.compile(r"[ \t\v\f\r]+")


class Judged(NamedTuple):
    """The grade of one pair, and where it stands."""

    place: Place
    grade: float


@dataclass
class Qrels:
    """Judgements.

    Attributes:
        files: where they come from.
        grades: by query and document id, in the order of the files.
        first: query id -> where it is first named, also with no document.
        languages: query id -> its language, where the place of the file says it.
        n_repeats: rows that repeat another exactly.
    """

    files: tuple[Path, ...]
    grades: dict[tuple[str, str], Judged] = field(default_factory=dict)
    first: dict[str, Place] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    n_repeats: int = 0

    def add(self, query: str, document: str, grade: float, *, place: Place, faults: Faults) -> None:
        """Take one judgement; of two grades for one pair a lenient import keeps the higher."""
        pair = query, document
        before = self.grades.get(pair)
        if before is None:
            self.grades[pair] = Judged(place, grade)
            self.first.setdefault(query, place)
        elif before.grade == grade:
            self.n_repeats += 1
        else:
            self.grades[pair] = before if before.grade > grade else Judged(place, grade)
            other = before.place.seen_from(place)
            faults.meet(
                place,
                f"query {query!r} and document {document!r} have grade {grade:g} and in {other} {before.grade:g}; "
                "expected one grade",
                kind="conflicting grade: the higher kept",
            )

    def take(
        self,
        other: Qrels,
        *,
        queries: Callable[[str], Iterable[str]],
        document: Callable[[str], str],
        faults: Faults,
    ) -> None:
        """Take all of another's under the ids that ``queries`` and ``document`` make of its own.

        A query that stands for several judges for each of them.
        """
        for name, place in other.first.items():
            for query in queries(name):
                self.first.setdefault(query, place)
        for (name, judged), row in other.grades.items():
            for query in queries(name):
                self.add(query, document(judged), row.grade, place=row.place, faults=faults)
        self.n_repeats += other.n_repeats


class _Columns(NamedTuple):
    """How the lines of a file are cut, and where the three values stand."""

    tabs: bool
    n: int
    places: tuple[int, int, int]  # of query, document and grade
    header: bool
    expected: str


def read(path: Path, *, faults: Faults, renamed: Mapping[str, str]) -> Qrels:
    """Read the judgements of a file, plain or packed.

    A ``.tsv`` has three columns separated by tabs, the first line a header if its words are those of one; four make it
    TREC qrels. Every other file is TREC qrels: query, iteration, document, grade between ASCII white space. Of two
    grades for one pair a lenient import keeps the higher.

    Args:
        path: the file.
        faults: takes the faults of its rows.
        renamed: what the header calls ``query-id``, ``corpus-id`` and ``score``, where it calls them something else.

    Raises:
        InputError: the file cannot be read, or has no rows.
    """
    found = Qrels((path,))
    rows = ((line, text) for line, text in numbered(path) if text.strip())
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path}: the file is empty: no rows")
    columns = _columns(path, first[1], renamed)
    for line, text in rows if columns.header else _again(first, rows):
        where = Place(path, line)
        try:
            query, document, grade = _row(text, columns)
        except InputError as error:
            faults.meet(where, str(error), kind="judgement dropped")
            continue
        found.add(query, document, grade, place=where, faults=faults)
    if not found.grades and not faults.n:
        raise InputError(f"{path}: no rows below the header, expected one for each judged pair")
    return found


def _again(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _columns(path: Path, text: str, renamed: Mapping[str, str]) -> _Columns:
    """Settle from the name of the file and its first line how all lines are cut."""
    trec = _Columns(False, 4, (0, 2, 3), False, "4 columns: query, iteration, document, grade")
    if ".tsv" not in path.suffixes:
        return trec
    cells = text.split("\t")
    if len(cells) == trec.n and NUMBER.fullmatch(cells[3].strip()):
        return trec._replace(tabs=True, expected=f"{trec.expected}, separated by tabs")
    beir = _Columns(True, 3, (0, 1, 2), False, "3 columns separated by tabs: query-id, corpus-id, score")
    names = [renamed.get(name.strip(), name.strip()).lower() for name in cells]
    places = [next((names.index(word) for word in words if word in names), None) for words in (QUERY, DOCUMENT, GRADE)]
    known = [place for place in places if place is not None]
    if len(known) == 3:
        return beir._replace(n=len(cells), places=(known[0], known[1], known[2]), header=True)
    return beir


def _row(text: str, columns: _Columns) -> tuple[str, str, float]:
    cells: Sequence[str] = text.split("\t") if columns.tabs else _BLANK.split(text.strip(" \t\v\f\r"))
    if len(cells) != columns.n:
        raise InputError(f"{len(cells)} columns in {text[:80]!r}, expected {columns.expected}")
    query, document, grade = (cells[place] for place in columns.places)
    for name, cell in (("query", query), ("document", document)):
        if not cell.strip():
            raise InputError(f"{name} id {cell!r}, expected one that is not blank")
    value = float(grade) if NUMBER.fullmatch(grade.strip()) else math.nan
    if not math.isfinite(value):
        raise InputError(f"grade {grade!r}, expected a finite number")
    return query, document, value
