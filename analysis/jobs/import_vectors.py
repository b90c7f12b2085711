"""Vectors that a person brings of a task's texts: ranked by exact search, and stored as the run of a system."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import analysis
from analysis.errors import InputError
from analysis.imports.vectors import Vectors, read_vectors
from analysis.jobs.facts import facts
from analysis.jobs.imports import UNKNOWN, labels_of
from analysis.jobs.stored import check_name, only_task, opened
from analysis.model import PARADIGMS, Corpus, Progress, Ranking, SystemLabel, scores_only
from analysis.paths import Cache
from analysis.store import write
from analysis.store.read import Store, TaskRow
from analysis.systems.index import Index

EMPTY = "vectors need a stored benchmark (python -m analysis build bedside)"
DENSE = "multilingual dense"
DEPTH = 1000  # documents searched for each query
KEPT = 100  # hits kept of each query
FILES = ("documents.npy", "documents.txt", "queries.npy", "queries.txt")
READ = "read the vectors"


@dataclass(frozen=True)
class VectorsRequest:
    """What `import-vectors` may be told."""

    folder: Path  # with FILES
    benchmark: str
    system: str
    task: str | None = None  # None: the only one
    paradigm: str | None = None  # None: of the system that is stored, else DENSE
    inner_product: bool = False  # the vectors' lengths count; else by cosine
    dry_run: bool = False


@dataclass(frozen=True)
class VectorsReport:
    """What `import-vectors` found and did."""

    item: str  # task: system
    outcome: str  # "stored", "replaced" a run of this system, "kept" the same one, or "checked" only
    similarity: str  # "cosine" or "inner product"
    dimension: int
    n_documents: int
    n_queries: int
    document_lengths: tuple[float, float]  # the least and the largest, in the files
    query_lengths: tuple[float, float]
    sha256: Mapping[str, str]  # of each file


class _Checked(NamedTuple):
    """Files read against a generation of the store."""

    task: TaskRow
    documents: Vectors
    queries: Vectors
    sha256: dict[str, str]
    fingerprint: str


def import_vectors(cache: Cache, *, request: VectorsRequest, progress: Progress) -> VectorsReport:
    """Rank a task by vectors of all of its texts and store the run in place of the system's run before.

    The same files are stored once; a dry run stores nothing.

    Raises:
        InputError: an unknown benchmark or task, an impossible name, a file that is missing, or the first fault in one.
        JobCancelledError: the user cancelled.
    """
    check_name(request.system)
    if request.paradigm not in {None, *PARADIGMS}:
        raise InputError(f"paradigm {request.paradigm!r}: expected one of {', '.join(PARADIGMS)}")
    store = opened(cache, otherwise=EMPTY)
    checked = _checked(store, request, progress)
    if request.dry_run:
        return _report(checked, request, "checked")
    if _stored(store, checked, request.system) == checked.fingerprint:
        return _report(checked, request, "kept")
    with write.writer(cache, progress=progress) as writer:
        store, before = opened(cache, otherwise=EMPTY), store.path
        if store.path != before:  # another job was waited for
            checked = _checked(store, request, progress)
        outcome = "replaced" if _stored(store, checked, request.system) else "stored"
        _store(writer, store, checked, request, progress)
    return _report(checked, request, outcome)


def _checked(store: Store, request: VectorsRequest, progress: Progress) -> _Checked:
    task = only_task(store, request.benchmark, request.task)
    if not task.n_documents:
        raise InputError(scores_only("vectors need documents to rank"))
    for name in FILES:
        if not (request.folder / name).is_file():
            raise InputError(f"{request.folder / name}: is not there; expected a folder with {', '.join(FILES)}")
    progress(READ, 0, 2)
    documents = _read(request, "document", store.documents(task.task_id).id[: task.n_documents])
    progress(READ, 1, 2)
    queries = _read(request, "query", store.queries(task.task_id).id)
    widths = documents.vectors.shape[1], queries.vectors.shape[1]
    if widths[0] != widths[1]:
        path = request.folder / FILES[2]
        raise InputError(f"{path}: vectors of {widths[1]:,} numbers, expected {widths[0]:,} as the documents' have")
    progress(READ, 2, 2)
    digests = {name: _sha256(request.folder / name) for name in FILES}
    settings = (task.checksum, tuple(digests.values()), request.inner_product, DEPTH, KEPT)
    return _Checked(task, documents, queries, digests, hashlib.sha256(repr(settings).encode()).hexdigest())


def _read(request: VectorsRequest, kind: str, ids: Iterable[str]) -> Vectors:
    matrix, names = (request.folder / name for name in (FILES[:2] if kind == "document" else FILES[2:]))
    known = {str(name): place for place, name in enumerate(ids)}
    return read_vectors(matrix, names, known=known, kind=kind, whole=True, unit=not request.inner_product)


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _stored(store: Store, checked: _Checked, system: str) -> str | None:
    """The fingerprint of the complete run of this system; None without one."""
    found = store.runs([checked.task.task_id])
    return next((row.fingerprint for row in found if row.system == system and row.status == "complete"), None)


def _store(writer: write.Writer, store: Store, checked: _Checked, request: VectorsRequest, progress: Progress) -> None:
    task_id = checked.task.task_id
    label = _label(store, request)
    writer.add_system(label.name, title=label.title, short=label.short, paradigm=label.paradigm)
    progress("store the run", 0, 1)
    writer.add_run(
        task_id,
        label.name,
        ranking=_ranking(store, checked, progress),
        keep_hits=KEPT,
        fingerprint=checked.fingerprint,
        provenance={
            "vectors": "brought by the user",
            "sha256": checked.sha256,
            "similarity": _similarity(request),
            "dimension": checked.documents.vectors.shape[1],
            "depth": DEPTH,
            "hits_kept": KEPT,
            "babelscope": analysis.__version__,
        },
        parents=[],
        facts=facts(store, task_id).of,
    )
    progress("store the run", 1, 1)


def _ranking(store: Store, checked: _Checked, progress: Progress) -> Ranking:
    task = checked.task
    ids = tuple(map(str, store.documents(task.task_id).id[: task.n_documents]))
    exact = Index(checked.documents.vectors, tie_order=Corpus.of(ids, languages=(), texts=()).tie_order)
    return exact.search(
        checked.queries.vectors[:],
        depth=min(DEPTH, task.n_documents),
        excluded=store.excluded(task.task_id),
        progress=progress,
    )


def _label(store: Store, request: VectorsRequest) -> SystemLabel:
    """As it is called already; a new one, and one of which only the name was known, is dense."""
    known = store.system_labels().get(request.system) or labels_of([request.system])[request.system]
    unsaid = DENSE if known.paradigm == UNKNOWN else known.paradigm
    return known._replace(paradigm=request.paradigm or unsaid)


def _similarity(request: VectorsRequest) -> str:
    return "inner product" if request.inner_product else "cosine"


def _report(checked: _Checked, request: VectorsRequest, outcome: str) -> VectorsReport:
    return VectorsReport(
        item=f"{checked.task.name}: {request.system}",
        outcome=outcome,
        similarity=_similarity(request),
        dimension=checked.documents.vectors.shape[1],
        n_documents=len(checked.documents.position),
        n_queries=len(checked.queries.position),
        document_lengths=checked.documents.lengths,
        query_lengths=checked.queries.lengths,
        sha256=checked.sha256,
    )
