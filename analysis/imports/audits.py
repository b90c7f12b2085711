"""Judgements of an audit: a blind sheet that was filled in, or anybody's table; every row sound, or none is taken."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.errors import InputError
from analysis.imports import audit_cells, qrels, tables
from analysis.imports.audit_cells import ANNOTATOR, COMMENT, JUDGEMENT, ROW, TEXTS
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import opened
from analysis.imports.records import Record
from analysis.imports.run_rows import NUMBER
from analysis.languages import canonical
from analysis.store.audits import RELEVANCE, TIER, TRANSLATION, Audit, AuditRow, AuditSheet
from analysis.store.notes import check_name
from analysis.text import same_text_key

KIND = "judgement dropped"  # what a lenient import would do; there is none
LONGEST_COMMENT = 10_000  # characters
QUERY, OTHER, LANGUAGE = "query-id", "corpus-id", "language"
SEPARATORS = (",", ";", "\t")  # as spreadsheets save a CSV, by their country


class KnownItems(NamedTuple):
    """What of a stored task somebody may judge."""

    languages: Mapping[str, str]  # query id -> language
    documents: frozenset[str]  # ids
    sources: Mapping[str, str]  # query id -> id of the query it is a version of
    grades: tuple[float, ...]  # that the benchmark gives
    tiers: tuple[str, ...]  # that its queries have


class Asked(NamedTuple):
    """What is said of a file that does not stand in it."""

    benchmark: str  # name
    task: str | None  # of a table; None where the benchmark has several, and of a sheet
    question: str | None  # None: of a sheet its own, of a table relevance
    kind: str  # human | model
    annotator: str | None  # of every row
    column: str | None  # that names the annotator, where it is another one than ``annotator``


class Known(NamedTuple):
    """What is stored already."""

    tasks: tuple[str, ...]  # those asked for
    of_task: Callable[[str], KnownItems]
    rows: Callable[[Sequence[str]], Mapping[str, AuditRow]]  # of sheets, by name
    sheets: Mapping[str, AuditSheet]  # of this benchmark
    audits: Mapping[tuple[str, ...], Audit]  # by key
    replace: bool  # whether another judgement may take the place of one before


class AuditFile(NamedTuple):
    """What a file holds."""

    audits: tuple[Audit, ...]
    is_sheet: bool
    n_rows: int
    n_empty: int  # without a judgement
    n_known: int  # the same as before


@dataclass
class _Reader:
    """The sound rows so far."""

    path: Path
    asked: Asked
    known: Known
    is_sheet: bool
    rows: Mapping[str, AuditRow] = field(default_factory=dict)
    found: dict[tuple[str, ...], tuple[Place, Audit]] = field(default_factory=dict)
    n_rows: int = 0
    n_empty: int = 0

    def take(self, where: Place, record: Record) -> None:
        """Check one row and keep it; one without a judgement is only counted."""
        self.n_rows += 1
        cells = {name: str(value).strip() for name, value in record.items() if value is not None}
        judgement = cells.get(JUDGEMENT, "")
        item = self._sheet_item(cells) if self.is_sheet else self._table_item(cells)
        if not judgement:
            self.n_empty += 1
            return
        annotator = self._annotator(cells)
        task, question, query, other, sheet = item
        audit = Audit(
            benchmark=self.asked.benchmark,
            task=task,
            question=question,
            query_id=query,
            other_id=other,
            annotator=annotator,
            kind=self.asked.kind,
            judgement=_judged(judgement, question, self.known.of_task(task), is_sheet=self.is_sheet),
            comment=_comment(cells.get(COMMENT, "")),
            sheet=sheet,
            file=self.path.name,
        )
        self._check_once(where, audit)
        self.found[audit.key] = where, audit

    def _sheet_item(self, cells: Mapping[str, str]) -> tuple[str, str, str, str, str | None]:
        name = cells.get(ROW, "")
        row = self.rows.get(name)
        if row is None:
            raise InputError(f"row {name!r}, expected one of a sheet that this store has written")
        sheet = self.known.sheets.get(row.sheet)
        if sheet is None:
            raise InputError(f"row {name!r} is of a sheet of another benchmark than {self.asked.benchmark!r}")
        for what, given, own in (
            ("task", self.asked.task, sheet.task),
            ("question", self.asked.question, sheet.question),
        ):
            if given not in (None, own):
                raise InputError(f"row {name!r} is of {what} {own!r}, expected {given!r} as was asked for")
        if sheet.task not in self.known.tasks:
            raise InputError(f"row {name!r} is of task {sheet.task!r}, which {self.asked.benchmark} does not have")
        shown = [cells.get(column, "") for column in audit_cells.COLUMNS[sheet.question] if column in TEXTS]
        if audit_cells.checksum(shown) != row.texts:
            raise InputError(
                f"row {name!r} has other texts than when the sheet was written, expected those: "
                "were columns sorted apart from each other?"
            )
        return sheet.task, sheet.question, row.query_id, row.other_id, row.sheet

    def _table_item(self, cells: Mapping[str, str]) -> tuple[str, str, str, str, str | None]:
        task, question = self.asked.task or "", self.asked.question or RELEVANCE
        of, query = self.known.of_task(task), cells.get(QUERY, "")
        language = of.languages.get(query)
        if language is None:
            raise InputError(f"query {query!r}, expected one that {task} has")
        said = cells.get(LANGUAGE, "")
        if said and canonical(said).tag != language:
            raise InputError(f"language {said!r}, expected {language!r} as query {query!r} has")
        return task, question, query, _other(cells.get(OTHER, ""), question, query, of, task), None

    def _annotator(self, cells: Mapping[str, str]) -> str:
        column = self.asked.column or ANNOTATOR
        said, given = cells.get(column, ""), self.asked.annotator
        if given and said and not self.asked.column and same_text_key(said) != same_text_key(given):
            raise InputError(f"annotator {said!r}, expected {given!r} as was said, or no name")
        name = same_text_key(given or said)
        if not name:
            raise InputError(f"{column} is blank, expected a name (or --annotator NAME for all rows)")
        check_name("annotator", name)
        return name

    def _check_once(self, where: Place, audit: Audit) -> None:
        before = self.found.get(audit.key)
        if before:
            raise InputError(
                f"{audit.annotator} judges query {audit.query_id!r} and {audit.other_id!r} again, first in "
                f"{before[0].seen_from(where)}; expected one judgement"
            )
        known = self.known.audits.get(audit.key)
        if known and known.said != audit.said and not self.known.replace:
            what, new, old = _difference(known, audit)
            raise InputError(f"{what} {new!r}, but {audit.annotator} said {old!r} before; --replace takes the new one")


def _difference(known: Audit, audit: Audit) -> tuple[str, str, str]:
    """The first of what two judgements say otherwise."""
    pairs = zip(("kind", JUDGEMENT, COMMENT), audit.said, known.said, strict=True)
    return next((what, new, old) for what, new, old in pairs if new != old)


def _other(written: str, question: str, query: str, of: KnownItems, task: str) -> str:
    """What a query is judged with: the document of the row; the source of a version may be left out."""
    if question == TRANSLATION:
        source = of.sources.get(query)
        if source is None:
            raise InputError(f"query {query!r} is no version of one in another language in {task}")
        if written not in ("", source):
            raise InputError(f"document {written!r}, expected none or {source!r}, of which {query!r} is a version")
        return source
    if written not in of.documents:
        raise InputError(f"document {written!r}, expected one that {task} has")
    return written


def _judged(written: str, question: str, of: KnownItems, *, is_sheet: bool) -> str:
    """A judgement as it is kept: a number in its shortest form, or a tier.

    Raises:
        InputError: it is none of those that the question allows.
    """
    if question == TIER:
        if written not in of.tiers:
            raise InputError(f"judgement {written[:40]!r}, expected one of {', '.join(of.tiers)}")
        return written
    value = float(written) if NUMBER.fullmatch(written) else math.nan
    if question == TRANSLATION and value not in (0, 1):
        raise InputError(f"judgement {written[:40]!r}, expected 1 for yes or 0 for no")
    if not math.isfinite(value):
        raise InputError(f"judgement {written[:40]!r}, expected a finite number")
    if question == RELEVANCE and is_sheet and value not in of.grades:
        raise InputError(f"judgement {written[:40]!r}, expected one of {', '.join(f'{g:g}' for g in of.grades)}")
    return f"{value:.12g}"


def _comment(text: str) -> str:
    if len(text) > LONGEST_COMMENT:
        raise InputError(f"comment of {len(text):,} characters, expected at most {LONGEST_COMMENT:,}")
    return text


def read(path: Path, *, asked: Asked, known: Known) -> AuditFile:
    """Read a file of judgements, plain or packed.

    A table with a column ``row`` is a blind sheet; any other names queries, documents and judgements by their usual
    names. CSV (parted by commas, semicolons or tabs), TSV, Parquet or lines of JSON.

    Args:
        path: the file.
        asked: what is said of all of it.
        known: what is stored.

    Raises:
        InputError: the file cannot be read, or the first fault in it, with its line, the value, what was expected, and
            how many more rows are faulty.
    """
    faults = Faults(lenient=False)
    is_sheet, separator = shape(path)
    column = asked.column or ANNOTATOR
    columns = _columns(column, is_sheet=is_sheet, question=asked.question or RELEVANCE)
    if not is_sheet and asked.task is None:
        tasks = " or ".join(known.tasks)
        raise InputError(f"{path}: a table without the column {ROW!r}, expected --task: it is of {tasks}")
    rows = list(tables.read(path, columns, faults=faults, kind=KIND, separator=separator))
    reader = _Reader(path, asked, known, is_sheet)
    if is_sheet:
        reader.rows = known.rows([str(record.get(ROW, "")).strip() for _, record in rows])
    for where, record in rows:
        try:
            reader.take(where, record)
        except InputError as error:
            faults.meet(where, str(error), kind=KIND)
    faults.end()
    found = tuple(audit for _, audit in reader.found.values())
    _check_kinds(path, found, known)
    n_known = sum(audit.key in known.audits and known.audits[audit.key].said == audit.said for audit in found)
    return AuditFile(found, is_sheet, reader.n_rows, reader.n_empty, n_known)


def shape(path: Path) -> tuple[bool, str]:
    """Whether a table is a blind sheet, and what parts the cells of its header.

    Raises:
        InputError: the file cannot be opened.
    """
    form = tables.form_of(path)
    with opened(path) as source:
        head = source.head()
    if form in ("parquet", "arrow"):
        return False, ","
    first = head.decode("utf-8", errors="replace").splitlines()[0] if head else ""
    if form == "json":
        return f'"{ROW}"' in first, ","
    separator = max(SEPARATORS, key=first.count) if form == "csv" else "\t"
    return ROW in [name.strip().strip('"').lower() for name in first.split(separator)], separator


def _columns(column: str, *, is_sheet: bool, question: str) -> tables.Columns:
    """The columns of a sheet, or of a table."""
    known: dict[str, Sequence[str]] = {JUDGEMENT: (JUDGEMENT, *qrels.GRADE), COMMENT: (COMMENT, "note")}
    known[column] = (column,)
    if is_sheet:
        texts = dict.fromkeys(TEXTS, ())
        return tables.Columns("judgement", known | {ROW: (ROW,)} | {name: (name,) for name in texts}, [(ROW,)], {})
    known |= {QUERY: qrels.QUERY, OTHER: (*qrels.DOCUMENT, "source_id"), LANGUAGE: (LANGUAGE, "query_language", "lang")}
    needed = [(QUERY,), *([] if question == TRANSLATION else [(OTHER,)]), (JUDGEMENT,)]
    return tables.Columns("judgement", known, needed, {})


def _check_kinds(path: Path, found: Sequence[Audit], known: Known) -> None:
    """Refuse an annotator who is a person here and a model there.

    Raises:
        InputError: there is one.
    """
    before = {audit.annotator: audit.kind for audit in known.audits.values()}
    for audit in found:
        kind = before.get(audit.annotator, audit.kind)
        if kind != audit.kind and not known.replace:
            raise InputError(
                f"{path}: {audit.annotator!r} is a {kind} in what is stored, expected --kind {kind} or another name"
            )
