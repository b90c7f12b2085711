"""Maps of what somebody brings: vectors to lay out, or coordinates as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import InputError
from analysis.imports.vectors import Coordinates, Vectors, read_coordinates, read_vectors
from analysis.jobs.draw_map import EMPTY, MapReport, MapRequest, Texts, add, check, columns, texts_of
from analysis.jobs.imports import labels_of
from analysis.jobs.stored import check_name, only_task, opened
from analysis.model import Progress
from analysis.paths import Cache
from analysis.store import write
from analysis.store.read import Store, TaskRow
from analysis.store.vector_file import Rows

READ = "read the files"


@dataclass(frozen=True)
class Given:
    """The files: vectors with the ids of their rows, of documents, queries or both; or one table of coordinates."""

    vectors: Path | None = None
    ids: Path | None = None
    query_vectors: Path | None = None
    query_ids: Path | None = None
    coordinates: Path | None = None


def give_map(cache: Cache, *, given: Given, request: MapRequest, progress: Progress) -> MapReport:
    """Store a map of files, under the one system that the request names, in place of the one it had.

    Raises:
        InputError: files that do not belong together, the first fault in one, or no single name.
        JobCancelledError: the user cancelled.
    """
    if len(request.systems) != 1:
        raise InputError(f"{len(request.systems)} systems: expected one name for what the files hold")
    check(request)
    _check(given)
    (system,) = request.systems
    check_name(system)
    with write.writer(cache, progress=progress) as writer:
        store = opened(cache, otherwise=EMPTY)
        task = only_task(store, request.benchmark, request.task)
        if not task.n_documents:
            raise InputError(f"{task.name} has no documents: a map needs texts")
        progress(READ, 0, 1)
        known = [
            {str(name): place for place, name in enumerate(ids)}
            for ids in (store.documents(task.task_id).id[: task.n_documents], store.queries(task.task_id).id)
        ]
        label = (store.system_labels() | labels_of([] if system in store.system_labels() else [system]))[system]
        writer.add_system(label.name, title=label.title, short=label.short, paradigm=label.paradigm)
        if given.coordinates:
            found = read_coordinates(given.coordinates, documents=known[0], queries=known[1])
            progress(READ, 1, 1)
            _keep(writer, task, system, found)
        else:
            texts, vectors = _vectors(store, task, given, known)
            progress(READ, 1, 1)
            add(writer, task, system, texts, vectors, request=request, fingerprint=None, progress=progress)
    return MapReport(task.name, (system,), ())


def _check(given: Given) -> None:
    pairs = {
        "--vectors and --ids": (given.vectors, given.ids),
        "--query-vectors and --query-ids": (given.query_vectors, given.query_ids),
    }
    for names, pair in pairs.items():
        if (pair[0] is None) != (pair[1] is None):
            raise InputError(f"{names} belong together: one of them is missing")
    whole = [pair for pair in pairs.values() if pair[0]]
    if bool(whole) == bool(given.coordinates):
        raise InputError("expected either vectors with their ids, or a table of coordinates")


def _vectors(store: Store, task: TaskRow, given: Given, known: Sequence[dict[str, int]]) -> tuple[Texts, list[Rows]]:
    """The vectors and their texts, documents first."""
    parts: list[Vectors] = []
    for path, ids, names, kind in (
        (given.vectors, given.ids, known[0], "document"),
        (given.query_vectors, given.query_ids, known[1], "query"),
    ):
        if path and ids:
            parts.append(read_vectors(path, ids, known=names, kind=kind))
        else:
            parts.append(Vectors(np.zeros(0, np.int32), np.zeros((0, 0), np.float32)))
    widths = {part.vectors.shape[1] for part in parts if len(part.position)}
    if len(widths) > 1:
        raise InputError(f"{given.query_vectors}: vectors of another length than those of {given.vectors}")
    everything = texts_of(store, task)
    chosen = np.concatenate([parts[0].position, parts[1].position + task.n_documents])
    texts = Texts(*(column[chosen] for column in everything))
    return texts, [part.vectors for part in parts if len(part.position)]


def _keep(writer: write.Writer, task: TaskRow, system: str, found: Coordinates) -> None:
    nothing = np.zeros((len(found.position), 0))
    texts = Texts(found.is_query, found.position, np.zeros(len(found.position), np.int32))
    writer.add_projection(
        task.task_id,
        system,
        points=columns(texts, np.arange(len(found.position)), found.points, nothing.astype(np.int64), nothing),
        parameters={},
        dimensions=found.points.shape[1],
        method="given",
        seed=None,
        run_fingerprint=None,
        vectors_checksum=None,
        n_texts=len(found.position),
        k=None,
        trustworthiness=None,
        continuity=None,
    )
