"""A flat picture of a space of vectors, and how far the picture can be trusted.

Vectors are unit rows ``(n, d)``; ``neighbours`` are ``(n, k)`` positions of each row's nearest others, nearest first,
and ``cosines`` their cosines.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Points = NDArray[np.float32]
Places = NDArray[Any]

NEIGHBOURS = 15
MIN_DISTANCE = 0.1
EPOCHS = 40
"""Passes of the layout; umap-learn takes 200 to 500. From exact neighbours and principal components fewer do."""
JUDGED = 2000
"""Points whose neighbourhoods trustworthiness and continuity are taken over, against all others."""
CHUNK = 200

_ONE_AT_A_TIME = threading.Lock()
"""Two fits at once end the process where numba has no thread-safe layer."""


class Trust(NamedTuple):
    """How far neighbourhoods are kept, each from 0 to 1, higher is better; NaN with too few points."""

    trustworthiness: float  # near in the picture is near in the space
    continuity: float  # near in the space is near in the picture
    k: int
    n: int  # points whose neighbourhoods were looked at


def umap(
    vectors: NDArray[np.float32],
    *,
    neighbours: Places,
    cosines: NDArray[Any],
    dimensions: int,
    min_distance: float = MIN_DISTANCE,
    seed: int,
) -> Points:
    """Place points so that near ones stay near, ``(n, dimensions)``.

    The graph comes from exact neighbours instead of an approximate search; the start is the first principal
    components, so that one seed gives one picture.

    Args:
        vectors: ``(n, d)``.
        neighbours: ``(n, k)``.
        cosines: ``(n, k)``.
        dimensions: 2 or 3.
        min_distance: how close points may come.
        seed: of the layout.

    Source:
        McInnes, Healy & Melville (2018), arXiv:1802.03426.
    """
    n = len(vectors)
    if n <= dimensions + 1:
        return _spread(principal(vectors, dimensions=dimensions))
    import umap as learn

    own = np.arange(n)[:, np.newaxis]
    index = np.hstack([own, neighbours]).astype(np.int64)
    distance = np.hstack([np.zeros((n, 1)), np.maximum(0, 1 - cosines)]).astype(np.float32)
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"umap|sklearn|numba")  # of a fit that cannot transform, and of seeds
        fitted = learn.UMAP(
            n_components=dimensions,
            n_neighbors=index.shape[1],
            min_dist=min_distance,
            metric="cosine",
            precomputed_knn=(index, distance),
            force_approximation_algorithm=True,
            init=_spread(principal(vectors, dimensions=dimensions)),
            n_epochs=EPOCHS,
            random_state=seed,
            transform_mode="embedding",
        ).fit(vectors)
    return np.asarray(fitted.embedding_, dtype=np.float32)


def principal(vectors: NDArray[Any], *, dimensions: int) -> Points:
    """The first principal components, ``(n, dimensions)``; the sign of each is fixed, missing ones are 0.

    Args:
        vectors: ``(n, d)``.
        dimensions: how many.
    """
    from scipy.linalg import eigh

    centred = vectors - vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    width = vectors.shape[1]
    _, axes = eigh(centred.T @ centred, subset_by_index=(max(0, width - dimensions), width - 1))
    axes = axes[:, ::-1]
    axes *= np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1, 1)
    found = np.zeros((len(vectors), dimensions), dtype=np.float32)
    found[:, : axes.shape[1]] = centred @ axes
    return found


def _spread(points: Points) -> Points:
    """To a width of 10 either side, which is where a layout starts."""
    widest = float(np.abs(points).max()) if points.size else 0.0
    return np.asarray(points * (10 / widest) if widest > 0 else points, dtype=np.float32)


def trust(vectors: NDArray[Any], points: NDArray[Any], *, k: int = NEIGHBOURS, seed: int) -> Trust:
    """Trustworthiness and continuity of a picture at ``k`` neighbours.

    ``1 - 2 / (m k (2 n - 3 k - 1)) * sum of max(0, rank - k)``: over each point's k nearest in the picture by their
    rank in the space (trustworthiness), and the other way round (continuity). Beyond ``JUDGED`` points a sample of m is
    looked at, each against all.

    Args:
        vectors: ``(n, d)`` unit rows, near by cosine.
        points: ``(n, p)``, near by Euclidean distance.
        k: neighbours, fewer than half of the points.
        seed: of the sample.

    Source:
        Venna & Kaski (2001), ICANN.
    """
    n = len(vectors)
    if n < 2 * k + 2:
        return Trust(float("nan"), float("nan"), k, n)
    rows = np.arange(n) if n <= JUDGED else np.sort(np.random.default_rng(seed).choice(n, JUDGED, replace=False))
    flat = points.astype(np.float64)
    lengths = np.einsum("np,np->n", flat, flat)
    lost = np.zeros(2)
    for start in range(0, len(rows), CHUNK):
        asked = rows[start : start + CHUNK]
        space = -(vectors[asked] @ vectors.T).astype(np.float64)
        picture = lengths - 2 * flat[asked] @ flat.T
        for far in (space, picture):
            far[np.arange(len(asked)), asked] = -np.inf  # itself comes first
        order = [np.argsort(far, axis=1, kind="stable") for far in (space, picture)]
        lost += [_lost(order[0], order[1], k=k), _lost(order[1], order[0], k=k)]
    scale = 2 / (len(rows) * k * (2 * n - 3 * k - 1))
    return Trust(float(1 - scale * lost[0]), float(1 - scale * lost[1]), k, len(rows))


def _lost(true: NDArray[np.intp], seen: NDArray[np.intp], *, k: int) -> float:
    """How far the first k of one order stand below rank k of another; both have the row itself first."""
    rank = np.empty_like(true)
    np.put_along_axis(rank, true, np.broadcast_to(np.arange(true.shape[1]), true.shape), axis=1)
    near = np.take_along_axis(rank, seen[:, 1 : k + 1], axis=1)
    return float(np.maximum(0, near - k).sum())


def laid_over(points: NDArray[Any], target: NDArray[Any]) -> Floats:
    """One picture turned, mirrored, moved and brought to the size of another of the same points, ``(n, p)``.

    The size is the root mean square distance from the centre: a fitted one would shrink a picture that does not agree.

    Args:
        points: ``(n, p)``.
        target: ``(n, p)``, which stays.

    Source:
        Schönemann (1966), Psychometrika 31: the orthogonal Procrustes problem.
    """
    from scipy.linalg import orthogonal_procrustes

    centre, there = points.mean(axis=0, dtype=np.float64), target.mean(axis=0, dtype=np.float64)
    moved, wanted = points - centre, target - there
    size = float(np.linalg.norm(moved))
    if size == 0:
        return np.asarray(moved + there)
    turn, _ = orthogonal_procrustes(moved, wanted)
    return np.asarray(moved @ turn * (float(np.linalg.norm(wanted)) / size) + there)


def turned(points: NDArray[Any], *, degrees: float) -> Floats:
    """Points of three dimensions turned about the upright (second) axis; points of two stay.

    Args:
        points: ``(n, 2)`` or ``(n, 3)``.
        degrees: of a full turn's 360.
    """
    if points.shape[1] < 3:
        return np.asarray(points, dtype=np.float64)
    angle = np.deg2rad(degrees)
    about = np.array([[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]])
    centre = points.mean(axis=0)
    return np.asarray((points - centre) @ about + centre)


def inside(points: NDArray[Any], corners: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each point lies in a closed outline, by how often a ray from it crosses the sides.

    Args:
        points: ``(n, 2)``.
        corners: ``(c, 2)`` in order, at least three.
    """
    x, y = points[:, 0].astype(np.float64), points[:, 1].astype(np.float64)
    found = np.zeros(len(points), dtype=bool)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        crosses = (y0 > y) != (y1 > y)
        with np.errstate(divide="ignore", invalid="ignore"):
            found ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return found
