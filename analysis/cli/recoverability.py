"""The rows of the command *recoverability*: whole curves as JSON, the figures at the reader's K as flat rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from analysis.views.recoverability import DepthCurve, DepthRow, Reach

CURVE = ("rrc", "low", "high", "chance", "ari", "jbc")
KINDS = ("same", "cross", "both")


def whole(row: DepthRow) -> dict[str, Any]:
    """Everything a row knows; curves by K."""
    curve = row.curve
    return {
        **_names(row),
        "degenerate": row.degenerate,
        "depth": row.depth,
        "corpus_size": row.corpus_size,
        "pool_too_small": row.pool_too_small,
        "n": curve.n if curve else None,
        "method": curve.method if curve else None,
        **_by_k(curve),
        "knee": asdict(curve.knee) if curve and curve.knee else None,
        "k_at_90_percent": curve.k_at_90_percent if curve else None,
        "floor": curve.floor if curve else None,
        "xrc": {share: asdict(cost) for share, cost in row.xrc.items()} or None,
        **{f"k80_{kind}": asdict(reach) if reach else None for kind, reach in _k80(row).items()},
        "recall_at_10_cross": row.recall_at_10_cross,
        "on_frontier": row.on_frontier,
        "candidate_miss": row.candidate_miss,
        "reranker_fault": row.reranker_fault,
        "reason": row.reason,
        "takeaway": row.takeaway,
    }


def flat(row: DepthRow) -> dict[str, Any]:
    """The figures of a row, those of the curve at the reader's K; a censored depth is empty."""
    curve = row.curve
    knee, at_k = (curve.knee, curve.at_k) if curve else (None, None)
    found = row.recall_at_10_cross
    return {
        **_names(row),
        "degenerate": row.degenerate,
        "depth": row.depth,
        "n": curve.n if curve else None,
        "k": at_k.k if at_k else None,
        **{name: getattr(at_k, name) if at_k else None for name in CURVE},
        "floor": curve.floor if curve else None,
        "knee": knee.k if knee else None,
        "late": knee.late if knee else None,
        "clear": knee.clear if knee else None,
        "k_at_90_percent": curve.k_at_90_percent if curve else None,
        **{f"xrc_{share}{suffix}": value for share in ("0.5", "0.8") for suffix, value in _cost(row, share).items()},
        **{name: value for kind, reach in _k80(row).items() for name, value in _flat_reach(kind, reach).items()},
        "recall_at_10_cross": found.value if found else None,
        "on_frontier": row.on_frontier,
        "candidate_miss": row.candidate_miss,
        "reranker_fault": row.reranker_fault,
    }


def _names(row: DepthRow) -> dict[str, Any]:
    return {
        "task": row.task,
        "system": row.system.name,
        "query_language": row.query_language,
        "document_language": row.document_language,
    }


def _by_k(curve: DepthCurve | None) -> dict[str, dict[str, float | None] | None]:
    """The curve up to the run's depth; ARI and JBC at the reader's K too where that is deeper."""
    if curve is None:
        return {_long(name): None for name in CURVE}
    found: dict[str, dict[str, float | None] | None] = {}
    for name in CURVE:
        points = (*curve.points, curve.at_k) if name in {"ari", "jbc"} else curve.points
        found[_long(name)] = {str(point.k): getattr(point, name) for point in points}
    return found


def _long(name: str) -> str:
    return f"rrc_{name}" if name in {"low", "high"} else name


def _k80(row: DepthRow) -> dict[str, Reach | None]:
    return dict(zip(KINDS, (row.k80_same, row.k80_cross, row.k80_both), strict=True))


def _cost(row: DepthRow, share: str) -> dict[str, Any]:
    cost = row.xrc.get(share)
    return {"": cost.value if cost else None, "_bound": cost.bound if cost else None}


def _flat_reach(kind: str, reach: Reach | None) -> dict[str, Any]:
    return {
        f"k80_{kind}": reach.value if reach else None,
        f"k80_{kind}_censored": reach.censored if reach else None,
        f"k80_{kind}_se": reach.se if reach else None,
    }
