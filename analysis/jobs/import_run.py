"""Bring a run of somebody else into the store, with the report of what was found in its file."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import analysis
from analysis.errors import InputError
from analysis.imports import runs
from analysis.imports.run_rows import Choices
from analysis.imports.runs import Known, Report, RunFile
from analysis.jobs.facts import Facts, facts
from analysis.jobs.imports import labels_of
from analysis.jobs.stored import only_task, opened
from analysis.model import Progress, scores_only
from analysis.paths import Cache
from analysis.store import write
from analysis.store.read import Store, TaskRow

EMPTY = "a run needs a stored benchmark (python -m analysis build bedside)"


@dataclass(frozen=True)
class ImportRequest:
    """What `import-run` may be told."""

    path: Path
    benchmark: str
    system: str
    task: str | None = None  # None: the only one
    format: str | None = None  # None: by the first bytes
    subset: str | None = None  # of an mteb file
    split: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)  # of a table -> query_id, doc_id or score
    lenient: bool = False
    allow_unknown_documents: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class ImportReport:
    """What `import-run` found and did."""

    item: str  # task: system
    outcome: str  # "stored", "replaced" a run of this system, "kept" the same one, or "checked" only
    file: Report
    n_tied_at_10: int  # queries in which the order of equal scores decides what is in the top 10
    tie_range_ndcg_at_10: tuple[float, float] | None  # mean of the lowest and the highest that tied orders allow


@dataclass(frozen=True)
class _Checked:
    """A file read against a generation of the store."""

    task: TaskRow
    fingerprint: str
    run: RunFile
    count: Facts

    @functools.cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """Of the run, counted when they are asked for first: while the hits are written, where they are."""
        return self.count.of(self.run.ranking)

    def report(self, system: str, outcome: str) -> ImportReport:
        scores = self.facts["query_scores"]
        ends = [np.asarray(scores[f"ndcg_at_10_{end}"], dtype=float) for end in ("low", "high")]
        low, high = (float(np.nanmean(end)) if not np.isnan(end).all() else None for end in ends)
        return ImportReport(
            item=f"{self.task.name}: {system}",
            outcome=outcome,
            file=self.run.report,
            n_tied_at_10=int(np.count_nonzero(scores["tied_at_10"])),
            tie_range_ndcg_at_10=None if low is None or high is None else (low, high),
        )


def tasks(cache: Cache, benchmark: str) -> tuple[str, ...]:
    """The tasks of a benchmark whose runs can be imported.

    Raises:
        InputError: there is no such benchmark.
    """
    store = opened(cache, otherwise=EMPTY)
    return tuple(task.name for task in store.tasks(store.benchmark(benchmark).benchmark_id))


def import_run(cache: Cache, *, request: ImportRequest, progress: Progress) -> ImportReport:
    """Check a run file and store it in place of the system's run before; the same file is stored once.

    Raises:
        InputError: an unknown benchmark or task, an impossible name, or a fault in the file; nothing is stored.
        JobCancelledError: the user cancelled.
    """
    if not request.system.strip() or "," in request.system:
        raise InputError(f"system {request.system!r}: expected a name without a comma")
    store = opened(cache, otherwise=EMPTY)
    checked = _checked(store, request, progress)
    if request.dry_run:
        return checked.report(request.system, "checked")
    if _stored(store, checked, request.system) == checked.fingerprint:
        return checked.report(request.system, "kept")
    with write.writer(cache, progress=progress) as writer:
        store, before = opened(cache, otherwise=EMPTY), store.path
        if store.path != before:  # another job was waited for
            checked = _checked(store, request, progress)
        progress("store the run", 0, 1)
        outcome = "replaced" if _stored(store, checked, request.system) else "stored"
        _store(writer, store, checked, request)
        progress("store the run", 1, 1)
    return checked.report(request.system, outcome)


def _checked(store: Store, request: ImportRequest, progress: Progress) -> _Checked:
    task = _task(store, request)
    progress("read the run", 0, 1)
    run = runs.read(
        request.path,
        known=_known(store, task.task_id),
        format=request.format,
        choices=_choices(request),
        lenient=request.lenient,
        allow_unknown_documents=request.allow_unknown_documents,
    )
    progress("read the run", 1, 1)
    count = facts(store, task.task_id, n_unknown=len(run.unknown_documents))
    settings = [task.checksum, run.report.sha256, run.report.format, request.lenient, request.allow_unknown_documents]
    settings += [repr(_choices(request))] if _choices(request) != runs.ALL else []  # none: as before there were any
    return _Checked(task, hashlib.sha256(repr(tuple(settings)).encode()).hexdigest(), run, count)


def _choices(request: ImportRequest) -> Choices:
    return Choices(request.subset, request.split, request.columns)


def _task(store: Store, request: ImportRequest) -> TaskRow:
    found = only_task(store, request.benchmark, request.task)
    if not found.n_documents:
        raise InputError(scores_only("a run needs documents that it ranks"))
    return found


def _known(store: Store, task_id: int) -> Known:
    documents, queries = store.documents(task_id), store.queries(task_id)
    judged = np.zeros(len(queries.id), dtype=bool)
    judged[store.judgements(task_id, all_grades=True).query] = True
    return Known(
        queries=queries.id.tolist(),
        documents=documents.id.tolist(),
        in_corpus=np.array([language is not None for language in documents.language], dtype=bool),
        judged=judged,
        excluded=store.excluded(task_id),
    )


def _stored(store: Store, checked: _Checked, system: str) -> str | None:
    """The fingerprint of the complete run of this system; None without one."""
    found = store.runs([checked.task.task_id])
    return next((row.fingerprint for row in found if row.system == system and row.status == "complete"), None)


def _store(writer: write.Writer, store: Store, checked: _Checked, request: ImportRequest) -> None:
    task_id, run = checked.task.task_id, checked.run
    label = (labels_of([request.system]) | store.system_labels())[request.system]
    writer.add_system(label.name, title=label.title, short=label.short, paradigm=label.paradigm)
    if run.unknown_documents:
        writer.add_unknown_documents(task_id, run.unknown_documents)
    writer.add_run(
        task_id,
        label.name,
        ranking=run.ranking,
        keep_hits=runs.DEEPEST,
        fingerprint=checked.fingerprint,
        provenance={
            "file": run.report.file,
            "sha256": run.report.sha256,
            "lenient": request.lenient,
            "allow_unknown_documents": request.allow_unknown_documents,
            "babelscope": analysis.__version__,
            "report": dataclasses.asdict(run.report),
        },
        parents=[],
        facts=lambda _: checked.facts,
    )
