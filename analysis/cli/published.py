"""The rows of published figures in the answers of `scores`, `routes` and `list runs`, always marked as published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.cli.output import plain
from analysis.model import Interval
from analysis.store.read import PublishedRow, Store, TaskRow
from analysis.views import published as view
from analysis.views.routes import RouteCell
from analysis.views.selection import Selection

PUBLISHED = "published"


def boards(store: Store, asked: Selection) -> Iterator[dict[str, Any]]:
    """One object a task, split and system: the means of each measure over shared and over the system's own subsets."""
    for first in view.boards(store, asked):
        mine = asked._replace(tasks=(first.task.name,))
        for split in first.splits:
            for board in view.boards(store, mine, split=split):
                for row in board.rows:
                    about = {"system": row.system.name, "paradigm": row.system.paradigm, "n_shared": board.n_shared}
                    yield {**plain(row), **about}


def flat_scores(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A board's row as rows of the table of scores: one a measure, without an interval."""
    blank = dict.fromkeys(Interval._fields)
    for key, mean in row["measures"].items():
        about = {"value": mean["value"], "aggregate": PUBLISHED, "method": f"published for split {row['split']}"}
        yield {"task": row["task"], "system": row["system"], "measure": key, **blank, **about}


def cells(store: Store, asked: Selection, *, k: int) -> Iterator[dict[str, Any]]:
    """Published route cells in the shape of measured ones, with what only they have."""
    blank = dict.fromkeys(RouteCell.__dataclass_fields__)
    for cell in view.cells(store, asked, measures=dict.fromkeys((view.MAIN, "ndcg_at_10", f"recall_at_{k}"))):
        yield {**blank, **plain(cell), "method": PUBLISHED}


def runs(store: Store, task: TaskRow, *, systems: list[str]) -> Iterator[dict[str, Any]]:
    """What was published of a task in the shape of its runs."""
    for source in store.published_sources([task.task_id]):
        if view.is_chosen(source.system, systems):
            yield _run(source)


def _run(source: PublishedRow) -> dict[str, Any]:
    about = {name: value for name, value in source._asdict().items() if name not in {"task_id", "system"}}
    if source.evaluated_at:
        about["evaluated_at"] = source.evaluated_at.isoformat()
    return {
        "system": source.system,
        "status": PUBLISHED,
        "reason": None,
        "depth": None,
        "hits_kept": None,
        "n_hits": None,
        "n_bytes": None,
        "composed_of": [],
        "created_at": None,
        "provenance": about,
    }
