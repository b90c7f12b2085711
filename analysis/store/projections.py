"""Stored pictures of where texts lie in a space of vectors."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.store.read import PARQUET, Store


class ProjectionRow(NamedTuple):
    """One picture."""

    task_id: int
    system: str  # whose vectors they are
    dimensions: int  # 2 or 3
    method: str  # umap | given
    parameters: Mapping[str, object]
    seed: int | None
    run_fingerprint: str | None  # None: the vectors or the coordinates were given
    vectors_checksum: str | None  # None: only coordinates were given
    n_texts: int  # that the points were drawn from
    n_points: int
    k: int | None
    trustworthiness: float | None  # 0 to 1; None without vectors, or with too few
    continuity: float | None
    points_file: str
    made_at: datetime.datetime


@dataclass(frozen=True, eq=False)
class PointColumns:
    """The points of a picture, documents first, each column of length P."""

    is_query: NDArray[np.bool_]
    position: NDArray[np.int32]  # in the task
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    z: NDArray[np.float32]  # NaN in two dimensions
    neighbours: NDArray[np.int32]  # (P, k) rows of the picture that are nearest in the space; k 0 without vectors
    cosines: NDArray[np.float32]  # (P, k)


def projections(store: Store, task_id: int) -> list[ProjectionRow]:
    """The pictures of a task, by system and dimensions; none of a run that was made anew since."""
    rows = store._rows(
        """SELECT task_id, system, dimensions, method, parameters, seed, run_fingerprint, vectors_checksum, n_texts,
                  n_points, k, trustworthiness, continuity, points_file, date_trunc('second', made_at)
           FROM projection WHERE task_id = ? AND (run_fingerprint IS NULL OR EXISTS (
               FROM run WHERE run.task_id = projection.task_id AND run.system = projection.system
               AND run.fingerprint = run_fingerprint))
           ORDER BY system, dimensions""",
        [task_id],
    )
    return [ProjectionRow._make([*row[:4], json.loads(row[4]), *row[5:]]) for row in rows]


def points(store: Store, row: ProjectionRow) -> PointColumns:
    """Where the texts of a picture lie.

    Raises:
        analysis.errors.StoreError: the file is missing or damaged.
    """
    file = points_file(store, row)
    columns = store._columns(
        f"SELECT is_query, position, x, y, z FROM {PARQUET} ORDER BY is_query, position",  # noqa: S608
        [str(file)],
        bulk=file,
    )
    near = store._columns(
        f"""SELECT unnest(neighbours) AS neighbour, unnest(cosines) AS cosine
            FROM (FROM {PARQUET} ORDER BY is_query, position)""",  # noqa: S608 (a constant of ours)
        [str(file)],
        bulk=file,
    )
    n = len(columns["x"])
    return PointColumns(
        is_query=columns["is_query"].astype(bool),
        position=columns["position"].astype(np.int32),
        x=columns["x"],
        y=columns["y"],
        z=columns["z"],
        neighbours=near["neighbour"].astype(np.int32).reshape(n, -1 if n and len(near["neighbour"]) else 0),
        cosines=near["cosine"].astype(np.float32).reshape(n, -1 if n and len(near["cosine"]) else 0),
    )


def points_file(store: Store, row: ProjectionRow) -> Path:
    """Where the points of a picture are."""
    return store.cache.maps / row.points_file
