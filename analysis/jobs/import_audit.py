"""Brings judgements of an audit into the store, all or none."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from analysis import paths
from analysis.errors import InputError
from analysis.imports import audits as files
from analysis.imports.audits import Asked, Known, KnownItems
from analysis.jobs import audit_items, audit_sheet
from analysis.jobs.stored import opened
from analysis.store import audits
from analysis.store.audits import HUMAN, KINDS, QUESTIONS
from analysis.store.read import Store, TaskRow
from analysis.text import counted

EMPTY = "an audit judges a stored benchmark"


@dataclass(frozen=True)
class AuditRequest:
    """Which file is brought in, and what it does not say itself."""

    path: Path
    benchmark: str  # name, or name@version
    task: str | None = None  # a sheet says it; of a table the only one that the benchmark has
    question: str | None = None  # a sheet says it; of a table relevance
    kind: str = HUMAN
    annotator: str | None = None
    column: str | None = None  # that names the annotators
    replace: bool = False
    dry_run: bool = False


class Imported(NamedTuple):
    """What became of a file of judgements."""

    n_rows: int
    n_empty: int  # rows without a judgement
    added: int
    replaced: int
    known: int  # the same as before
    annotators: tuple[str, ...]
    is_sheet: bool

    @property
    def words(self) -> str:
        """The same for people."""
        who = ", ".join(self.annotators) or "nobody"
        found = "a blind sheet" if self.is_sheet else "a table"
        return (
            f"{found} of {counted(self.n_rows, 'row')}, {self.n_empty:,} without a judgement; by {who}: "
            f"{self.added:,} added, {self.replaced:,} replaced, {self.known:,} known"
        )


def import_audit(request: AuditRequest, folder: str | Path | None = None) -> Imported:
    """Bring in a file of judgements.

    Raises:
        InputError: a fault in the file, with its line; an unknown benchmark, task or question; or a judgement that was
            another one before, without ``replace``.
        StoreError: nothing is stored, or the judgements cannot be written.
    """
    _check(request)
    cache = paths.cache(folder)
    store = opened(cache, otherwise=EMPTY)
    row = store.benchmark(request.benchmark)
    tasks = store.tasks(row.benchmark_id)
    chosen = [task for task in tasks if request.task in (None, task.name)]
    if not chosen:
        raise InputError(f"task {request.task!r}: {request.benchmark} has {', '.join(task.name for task in tasks)}")
    asked = Asked(
        row.name,
        chosen[0].name if len(chosen) == 1 else None,
        request.question,
        request.kind,
        request.annotator,
        request.column,
    )
    known = Known(
        tuple(task.name for task in chosen),
        functools.cache(partial(_known, store, {task.name: task for task in chosen})),
        partial(audits.rows_named, cache),
        {sheet.sheet: sheet for sheet in audits.sheets(cache, row.name)},
        {audit.key: audit for audit in audits.listed(cache, row.name)},
        request.replace,
    )
    found = files.read(request.path, asked=asked, known=known)
    merged = audits.merge(cache, found.audits, replace=request.replace, dry_run=request.dry_run)
    annotators = tuple(sorted({audit.annotator for audit in found.audits}))
    return Imported(
        found.n_rows, found.n_empty, merged.added, merged.replaced, merged.known, annotators, found.is_sheet
    )


def forget(benchmark: str, annotator: str, *, dry_run: bool = False, folder: str | Path | None = None) -> int:
    """Take out all that one annotator said of a benchmark, and return how many judgements that is.

    Raises:
        InputError: an unknown benchmark, or one of which the annotator said nothing.
        StoreError: nothing is stored, or the judgements cannot be written.
    """
    cache = paths.cache(folder)
    name = opened(cache, otherwise=EMPTY).benchmark(benchmark).name
    found = audits.listed(cache, name)
    n = sum(audit.annotator == annotator for audit in found)
    if not n:
        known = ", ".join(sorted({audit.annotator for audit in found})) or "nobody"
        raise InputError(f"annotator {annotator!r}: {benchmark} has judgements of {known}")
    return n if dry_run else audits.remove(cache, name, annotator)


def is_sheet(path: Path) -> bool:
    """Whether a file is a blind sheet, which says its task and question itself.

    Raises:
        InputError: it cannot be opened.
    """
    return files.shape(path)[0]


def _check(request: AuditRequest) -> None:
    if request.question not in (None, *QUESTIONS):
        raise InputError(f"question {request.question!r}: expected one of {', '.join(QUESTIONS)}")
    if request.kind not in KINDS:
        raise InputError(f"kind {request.kind!r}: expected one of {', '.join(KINDS)}")
    if request.annotator and request.column:
        raise InputError("--annotator and --annotator-column: expected one of them")


def _known(store: Store, tasks: Mapping[str, TaskRow], name: str) -> KnownItems:
    task = tasks[name]
    queries = store.queries(task.task_id)
    ids = queries.id.tolist()
    return KnownItems(
        languages=dict(zip(ids, queries.language.tolist(), strict=True)),
        documents=frozenset(store.documents(task.task_id).id.tolist()),
        sources={ids[query]: ids[source] for query, source in audit_items.sources(queries).items()},
        grades=tuple(audit_sheet.grades(store, task)),
        tiers=tuple(audit_sheet.tiers(queries)),
    )
