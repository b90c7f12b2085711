"""Draw maps: where the texts of a task lie in a space of vectors, drawn once and stored."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.geometry import alignment, projection
from analysis.geometry.projection import MIN_DISTANCE, NEIGHBOURS
from analysis.jobs.diagnose import DiagnoseRequest, diagnose
from analysis.jobs.facts import codes
from analysis.jobs.stored import check_ran, only_task, opened, ranked_runs
from analysis.model import Progress
from analysis.paths import Cache
from analysis.store import projections, write
from analysis.store.read import RunRow, Store, TaskRow
from analysis.store.vector_file import Rows, checksum, taken
from analysis.systems.entry import Entry
from analysis.systems.made_by import made_by, no_vectors
from analysis.systems.neighbours import neighbours
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench

EMPTY = "there is nothing to draw (python -m analysis build bedside --run all)"
SEED = 20_260_101
MOST = 50_000
"""Points of a map; of more texts a sample is drawn that keeps the languages' shares."""


@dataclass(frozen=True)
class MapRequest:
    """What `map` may be told."""

    benchmark: str
    task: str | None = None  # None: the only one
    systems: tuple[str, ...] = ()  # empty: all whose run has vectors
    dimensions: int = 2
    neighbours: int = NEIGHBOURS
    min_distance: float = MIN_DISTANCE
    seed: int = SEED
    most: int = MOST
    force: bool = False  # draw again what is there
    load: LoadOptions = field(default_factory=LoadOptions)


@dataclass(frozen=True)
class MapReport:
    """What `map` did, each item a system."""

    task: str
    stored: tuple[str, ...]
    kept: tuple[str, ...]  # drawn before with the same settings


class Texts(NamedTuple):
    """The texts of a map, documents first."""

    is_query: NDArray[np.bool_]
    position: NDArray[np.int32]
    language: NDArray[Any]  # codes


def draw_map(cache: Cache, *, request: MapRequest, progress: Progress) -> MapReport:
    """Draw the texts of a task as each system's vectors place them; the maps become visible at once at the end.

    What the vectors say of languages and translations is looked at first, where it was not before. Texts that the run
    has encoded are not encoded again.

    Raises:
        InputError: an unknown benchmark, task or system, one without vectors, or settings that no map can have.
        SystemLoadError: an encoder cannot be loaded.
        JobCancelledError: the user cancelled.
    """
    check(request)
    store = opened(cache, otherwise=EMPTY)
    task = only_task(store, request.benchmark, request.task)
    wanted, kept = _plan(store, task, request)
    if not wanted:
        return MapReport(task.name, (), tuple(kept))
    names = tuple(run.system for run in wanted)
    diagnose(
        cache, request=DiagnoseRequest(request.benchmark, (task.name,), names, load=request.load), progress=progress
    )
    with write.writer(cache, progress=progress) as writer:
        store = opened(cache, otherwise=EMPTY)  # another job may have been waited for
        task = only_task(store, request.benchmark, request.task)
        wanted, kept = _plan(store, task, request)
        for run in wanted:
            _draw(writer, store, task, run, request, cache=cache, progress=progress)
    return MapReport(task.name, tuple(run.system for run in wanted), tuple(kept))


def check(request: MapRequest) -> None:
    """Refuse settings that no map can have.

    Raises:
        InputError: one of them.
    """
    for name, value, allowed in (
        ("dimensions", request.dimensions, (2, 3)),
        ("neighbours", request.neighbours, range(2, 201)),
        ("most", request.most, range(10, 1_000_001)),
    ):
        if value not in allowed:
            raise InputError(f"{name} {value}: expected {allowed[0]} to {allowed[-1]}")
    if not 0 <= request.min_distance <= 1:
        raise InputError(f"min-distance {request.min_distance}: expected 0 to 1")


def _plan(store: Store, task: TaskRow, request: MapRequest) -> tuple[list[RunRow], list[str]]:
    """The runs to draw, and the systems that were drawn before."""
    runs = ranked_runs(store, task.task_id)
    check_ran(request.systems, runs, where=task.name)
    for name in request.systems:
        if reason := no_vectors(runs[name]):
            raise InputError(f"system {name!r}: {reason}, so there is nothing to draw")
    chosen = [runs[name] for name in request.systems] or [run for run in runs.values() if not no_vectors(run)]
    drawn = {
        row.system
        for row in projections.projections(store, task.task_id)
        if row.method == "umap"
        and (row.dimensions, row.seed, dict(row.parameters)) == (request.dimensions, request.seed, parameters(request))
    }
    wanted = [run for run in chosen if request.force or run.system not in drawn]
    return wanted, [run.system for run in chosen if run not in wanted]


def parameters(request: MapRequest) -> dict[str, object]:
    """What decides a map besides vectors and seed."""
    return {
        "neighbours": request.neighbours,
        "min_distance": request.min_distance,
        "most": request.most,
        "epochs": projection.EPOCHS,
        "umap": importlib.metadata.version("umap-learn"),
    }


def _draw(
    writer: write.Writer,
    store: Store,
    task: TaskRow,
    run: RunRow,
    request: MapRequest,
    *,
    cache: Cache,
    progress: Progress,
) -> None:
    origin = made_by(run)
    if origin.entry is None:
        raise InputError(f"system {run.system!r}: {origin.reason}, so there is nothing to draw")
    options = replace(request.load, max_length=origin.max_length, dtype=origin.dtype)
    parts = _vectors(store, task, origin.entry, Workbench(cache, options=options, progress=progress))
    texts = texts_of(store, task)
    add(writer, task, run.system, texts, parts, request=request, fingerprint=run.fingerprint, progress=progress)


def texts_of(store: Store, task: TaskRow) -> Texts:
    """All texts of a task, documents first."""
    import pyarrow as pa

    corpus, questions = store.corpus(task.task_id), store.questions(task.task_id)
    tags = pa.array([*corpus.languages, *questions.languages], pa.string())
    return Texts(
        np.repeat([False, True], [len(corpus), len(questions.ids)]),
        np.concatenate([np.arange(len(corpus)), np.arange(len(questions.ids))]).astype(np.int32),
        codes(tags, tags.unique()),
    )


def _vectors(store: Store, task: TaskRow, entry: Entry, workbench: Workbench) -> tuple[Rows, Rows]:
    documents = workbench.rows(entry, store.corpus(task.task_id).texts, role="document")
    return documents, workbench.rows(entry, store.questions(task.task_id).texts, role="query")


def add(
    writer: write.Writer,
    task: TaskRow,
    system: str,
    texts: Texts,
    vectors: Sequence[Rows],
    *,
    request: MapRequest,
    fingerprint: str | None,
    progress: Progress,
) -> None:
    """Draw and store one map.

    Args:
        writer: of the store.
        task: the task.
        system: whose vectors they are.
        texts: of the vectors.
        vectors: parts of n unit rows together, in their order.
        request: the settings.
        fingerprint: of the run whose encoder made them; None where they were given.
        progress: told the step.
    """
    chosen = alignment.sample(2 * texts.language + texts.is_query, most=request.most, seed=request.seed)
    drawn = taken(vectors, chosen)
    steps = ("find neighbours", "lay out", "judge the picture")
    progress(f"{steps[0]} of {system}", 0, len(steps))
    near, cosines = neighbours(drawn, k=request.neighbours)
    progress(f"{steps[1]} of {system}", 1, len(steps))
    points = projection.umap(
        drawn,
        neighbours=near,
        cosines=cosines,
        dimensions=request.dimensions,
        min_distance=request.min_distance,
        seed=request.seed,
    )
    progress(f"{steps[2]} of {system}", 2, len(steps))
    found = projection.trust(drawn, points, seed=request.seed)
    writer.add_projection(
        task.task_id,
        system,
        points=columns(texts, chosen, points, near, cosines),
        parameters=parameters(request),
        dimensions=request.dimensions,
        method="umap",
        seed=request.seed,
        run_fingerprint=fingerprint,
        vectors_checksum=checksum(vectors),
        n_texts=len(texts.is_query),
        k=found.k,
        trustworthiness=_or_none(found.trustworthiness),
        continuity=_or_none(found.continuity),
    )
    progress(f"{steps[2]} of {system}", 3, len(steps))


def columns(
    texts: Texts,
    chosen: NDArray[np.intp],
    points: NDArray[np.float32],
    near: NDArray[np.int64],
    cosines: NDArray[Any],
) -> dict[str, NDArray[Any]]:
    """The columns of a map's points."""
    nothing = np.full(len(points), np.nan, dtype=np.float32)
    return {
        "is_query": texts.is_query[chosen],
        "position": texts.position[chosen],
        "x": points[:, 0],
        "y": points[:, 1],
        "z": points[:, 2] if points.shape[1] > 2 else nothing,
        "neighbours": near.astype(np.int32),
        "cosines": cosines.astype(np.float32),
    }


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
