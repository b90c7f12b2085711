"""Blind sheets: which items of a task are asked, in what order, and the file that people fill in."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis import paths
from analysis.errors import InputError
from analysis.imports import audit_cells
from analysis.imports.audit_cells import COLUMNS, FILLED, IMAGE, ROW, TEXTS
from analysis.jobs.audit_items import Sampler
from analysis.jobs.stored import only_task, opened
from analysis.store import audits
from analysis.store.audits import QUESTIONS, RELEVANCE, TIER, AuditRow, AuditSheet
from analysis.store.notes import now_text
from analysis.store.read import DocumentColumns, QueryColumns, Store, TaskRow

EMPTY = "a blind sheet asks of a stored benchmark"
LETTERS = "bcdfghjklmnpqrstvwxz"  # no vowels and no digits: no spreadsheet takes a name for a word, date or number


@dataclass(frozen=True)
class SheetRequest:
    """Which sheet is wanted."""

    benchmark: str  # name, or name@version
    task: str | None = None
    question: str = RELEVANCE
    per_language: int | None = None  # rows of each query language; None: 30, or as many as every language has
    seed: int = 1


class BlindSheet(NamedTuple):
    """A sheet to be filled in."""

    sheet: str  # its name
    question: str
    n_rows: int
    per_language: int
    text: str  # CSV with a byte order mark, which spreadsheets need for other scripts
    instructions: str
    key: str  # CSV of what each row is, not for those who fill it in
    is_new: bool  # False: the same sheet had been written before


def make(request: SheetRequest, folder: str | Path | None = None) -> BlindSheet:
    """Draw a sample, keep its key, and return the sheet; the same request on the same store gives the same sheet.

    Raises:
        InputError: an unknown benchmark, task or question, or a task that has nothing of the kind to ask of.
        StoreError: nothing is stored, or the key cannot be kept.
    """
    if request.question not in QUESTIONS:
        raise InputError(f"question {request.question!r}: expected one of {', '.join(QUESTIONS)}")
    cache = paths.cache(folder)
    store = opened(cache, otherwise=EMPTY)
    task = only_task(store, request.benchmark, request.task)
    name = store.benchmark(request.benchmark).name
    sampler = Sampler(store, task, np.random.default_rng(request.seed))
    items, per_language = sampler.draw(request.question, request.per_language)
    told = [name, task.name, request.question, request.seed, [(item.query_id, item.other_id) for item in items]]
    sheet = letters(json.dumps(told), 10)
    of = Texts(store, task)
    rows = [
        AuditRow(
            letters(f"{sheet} {place}", 10),
            sheet,
            place,
            item.query_id,
            item.other_id,
            item.told,
            item.drawn,
            audit_cells.checksum(of.texts(request.question, item.query_id, item.other_id)),
        )
        for place, item in enumerate(items)
    ]
    kept = AuditSheet(sheet, name, task.name, request.question, request.seed, per_language, now_text())
    is_new = audits.keep_sheet(cache, kept, rows)
    return _written(of, kept, rows, is_new=is_new)


def again(sheet: str, benchmark: str, folder: str | Path | None = None) -> BlindSheet:
    """A sheet that was written before, once more.

    Raises:
        InputError: there is no such sheet, or the store has its texts no more.
        StoreError: nothing is stored, or the keys cannot be read.
    """
    cache = paths.cache(folder)
    store = opened(cache, otherwise=EMPTY)
    found = {one.sheet: one for one in audits.sheets(cache, store.benchmark(benchmark).name)}
    if sheet not in found:
        raise InputError(f"sheet {sheet!r}: {benchmark} has {', '.join(found) or 'none'}")
    rows, of = audits.rows_of(cache, sheet), Texts(store, only_task(store, benchmark, found[sheet].task))
    for row in rows:
        of.check(row)
    return _written(of, found[sheet], rows, is_new=False)


def letters(text: str, n: int) -> str:
    """A name that says nothing: as many letters, made of a checksum, in two halves."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:12])
    found = [LETTERS[number // len(LETTERS) ** place % len(LETTERS)] for place in range(n)]
    return f"{''.join(found[: n // 2])}-{''.join(found[n // 2 :])}"


@dataclass(frozen=True)
class Texts:
    """The texts of a task by the ids of queries and documents."""

    store: Store
    task: TaskRow

    @cached_property
    def queries(self) -> QueryColumns:
        """All queries."""
        return self.store.queries(self.task.task_id)

    @cached_property
    def documents(self) -> DocumentColumns:
        """All documents, without texts."""
        return self.store.documents(self.task.task_id)

    @cached_property
    def of_query(self) -> Mapping[str, int]:
        """Where each query stands."""
        return {name: place for place, name in enumerate(self.queries.id.tolist())}

    @cached_property
    def of_document(self) -> Mapping[str, int]:
        """Where each document stands."""
        return {name: place for place, name in enumerate(self.documents.id.tolist())}

    @cached_property
    def _kept(self) -> dict[int, str]:
        return {}

    def document(self, name: str) -> str:
        """The text of a document; empty for one that the corpus lacks."""
        place = self.of_document[name]
        if place not in self._kept:
            self._kept.update(self.store.texts(self.task.task_id, [place]))
        return self._kept.get(place, "")

    def load(self, names: Iterable[str]) -> None:
        """Read the texts of some documents at once."""
        places = [self.of_document[name] for name in names if name in self.of_document]
        self._kept.update(self.store.texts(self.task.task_id, places))

    def cells(self, question: str, query: str, other: str) -> dict[str, str]:
        """What a row shows, by column."""
        place = self.of_query[query]
        shown = {"query_language": str(self.queries.language[place]), "query": str(self.queries.text[place])}
        if question == audits.TRANSLATION:
            source = self.of_query[other]
            of_source = {"source_language": str(self.queries.language[source]), "source": self.queries.text[source]}
            return shown | of_source
        language = self.documents.language[self.of_document[other]]
        return shown | {"document_language": str(language or "und"), "document": self.document(other)}

    def texts(self, question: str, query: str, other: str) -> list[str]:
        """The texts of a row, in the order of its columns."""
        cells = self.cells(question, query, other)
        return [cells[name] for name in COLUMNS[question] if name in TEXTS]

    def check(self, row: AuditRow) -> None:
        """Refuse a row whose query or document is not stored any more.

        Raises:
            InputError: one of them is not.
        """
        if row.query_id not in self.of_query or row.other_id not in {**self.of_query, **self.of_document}:
            raise InputError(f"row {row.name!r}: {self.task.name} does not have its texts any more")


def _written(of: Texts, sheet: AuditSheet, rows: list[AuditRow], *, is_new: bool) -> BlindSheet:
    if sheet.question != audits.TRANSLATION:
        of.load(row.other_id for row in rows)
    images = {image.id: image.path for image in of.store.images(of.task.task_id) if image.item == "query"}
    pictured = sheet.question == RELEVANCE and any(row.query_id in images for row in rows)
    shown = (*COLUMNS[sheet.question], *((IMAGE,) if pictured else ()))

    def line(row: AuditRow) -> list[str]:
        cells = of.cells(sheet.question, row.query_id, row.other_id) | {IMAGE: images.get(row.query_id, "")}
        return [row.name, *(audit_cells.inert(cells[name]) for name in shown), *("" for _ in FILLED)]

    title = f"Blind sheet {sheet.sheet}: {len(rows):,} rows"
    return BlindSheet(
        sheet.sheet,
        sheet.question,
        len(rows),
        sheet.per_language,
        _csv((ROW, *shown, *FILLED), rows, line),
        audit_cells.instructions(
            sheet.question, title=title, scale=scale(of.store, of.task, sheet.question), pictured=pictured
        ),
        _csv(KEY, rows, _key_line),
        is_new,
    )


KEY = (ROW, "query_id", "document_id_or_source", "benchmark_says", "drawn")


def _key_line(row: AuditRow) -> list[str]:
    return [row.name, *(audit_cells.inert(cell) for cell in (row.query_id, row.other_id, row.told, row.drawn))]


def _csv(header: Iterable[str], rows: Iterable[AuditRow], line: Callable[[AuditRow], list[str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows(map(line, rows))
    return "\ufeff" + out.getvalue()


def grades(store: Store, task: TaskRow) -> list[float]:
    """The grades that a task uses, ascending, at least 0 and 1."""
    found = store.judgements(task.task_id, all_grades=True).grade
    return sorted({0.0, 1.0, *found[found >= 0].tolist()})


def tiers(queries: QueryColumns) -> list[str]:
    """The tiers that queries of a task have, by name."""
    return sorted({str(tier) for tier in queries.tier if tier is not None})


def scale(store: Store, task: TaskRow, question: str) -> str:
    """What may be said in a sheet, in words."""
    if question == TIER:
        return ", ".join(tiers(store.queries(task.task_id)))
    found = [f"{grade:g}" for grade in grades(store, task)] if question == RELEVANCE else ["0", "1"]
    if found == ["0", "1"]:
        return "1 for yes, 0 for no"
    return f"{', '.join(found)}: the larger the better; from 1 it is an answer"
