"""The texts behind a map: some in words, the nearest of one, what an outline holds, where a new one stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.geometry import projection
from analysis.store.read import Store
from analysis.views.embedding_map import MapView
from analysis.views.evidence import Evidence, number, one_task
from analysis.views.map_colours import DIFFERENCE, LANGUAGE, OUTCOMES, outcomes
from analysis.views.selection import Selection


class Listed(NamedTuple):
    """A text of the map, in words."""

    row: int
    is_query: bool
    id: str
    language: str
    text: str
    family: str
    outcome: str  # a key of OUTCOMES


class Near(NamedTuple):
    """One of the nearest texts in the space itself, not in the picture."""

    text: Listed
    cosine: float


def listed(store: Store, selection: Selection, view: MapView, rows: Sequence[int]) -> tuple[Listed, ...]:
    """Some texts of a map, in words and in the order asked for."""
    task, labels = one_task(store, selection), store.system_labels()
    first = view.pictures[0].system.name
    evidence = Evidence.load(store, task, selection=selection._replace(systems=(first,)), labels=labels)
    code = outcomes(evidence, task.n_documents, place=0 if evidence.runs else None)
    keys, ids = list(OUTCOMES), store.documents(task.task_id).id
    texts = store.texts(task.task_id, [int(view.position[row]) for row in rows if not view.is_query[row]])
    found = []
    for row in rows:
        is_query, at = bool(view.is_query[row]), int(view.position[row])
        found.append(
            Listed(
                row,
                is_query,
                str(evidence.queries.id[at] if is_query else ids[at]),
                view.languages[view.language[row]],
                str(evidence.queries.text[at]) if is_query else texts.get(at, ""),
                str(view.family[row]),
                keys[code[at + (task.n_documents if is_query else 0)]],
            )
        )
    return tuple(found)


def numbers(view: MapView) -> dict[str, NDArray[np.float64]]:
    """What colours stand for where they are numbers, ``(P,)`` each, by the name of a column."""
    if view.shade is None:
        return {}
    if view.shade.kind == DIFFERENCE:
        return {DIFFERENCE: view.shade.values[0]}
    named = zip(view.pictures, view.shade.values, strict=True)
    return {f"{view.shade.kind} {picture.system.name}": values for picture, values in named}


def table(store: Store, selection: Selection, view: MapView) -> tuple[list[str], list[list[object]]]:
    """Every point of a map as a header and rows: which text it is, where it stands, what its colour stands for."""
    task = one_task(store, selection)
    ids = np.where(view.is_query, 0, view.position)
    documents, queries = store.documents(task.task_id).id[ids], store.queries(task.task_id).id
    header = ["item", "id", "language", "family"]
    columns: list[Sequence[object]] = [
        ["query" if is_query else "document" for is_query in view.is_query],
        [
            str(queries[at] if is_query else document)
            for at, is_query, document in zip(view.position, view.is_query, documents, strict=True)
        ],
        [view.languages[code] for code in view.language],
        view.family.tolist(),
    ]
    if view.shade is None and view.colour != LANGUAGE:
        header.append(view.colour)
        columns.append([view.groups[code].title for code in view.group])
    for name, values in numbers(view).items():
        header.append(name)
        columns.append([number(value) for value in values])
    for picture in view.pictures:
        for axis, values in zip("xyz", picture.points.T, strict=False):
            header.append(f"{axis} {picture.system.name}")
            columns.append(values.tolist())
    return header, [list(row) for row in zip(*columns, strict=True)]


def nearest(store: Store, selection: Selection, view: MapView, *, picture: int, row: int) -> tuple[Near, ...]:
    """The texts that are nearest to one in the space itself, the nearest first; empty where only points are known."""
    shown = view.pictures[picture]
    there = shown.near[row] >= 0
    texts = listed(store, selection, view, shown.near[row][there].tolist())
    return tuple(Near(text, float(cosine)) for text, cosine in zip(texts, shown.cosines[row][there], strict=True))


def selected(view: MapView, *, picture: int, corners: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """The rows inside an outline drawn on a picture of two dimensions."""
    points = view.pictures[picture].points[:, :2]
    return tuple(np.flatnonzero(projection.inside(points, np.array(corners))).tolist())


def placed(
    store: Store, selection: Selection, view: MapView, *, picture: int, near: Mapping[str, float]
) -> tuple[float, float] | None:
    """Where a new text stands: amid the nearest documents of the picture, the nearer the more.

    UMAP places new points so before it moves them; nothing is fitted anew. None where none of them is in the picture.

    Args:
        store: where the documents are.
        selection: one task.
        view: the map.
        picture: of which encoder.
        near: cosines of the nearest documents by their ids.
    """
    task = one_task(store, selection)
    place = {str(name): at for at, name in enumerate(store.documents(task.task_id).id)}
    rows = {int(at): row for row, at in enumerate(view.position) if not view.is_query[row]}
    known = [(rows[place[name]], max(cosine, 0.0)) for name, cosine in near.items() if place.get(name) in rows]
    if not known or not any(weight for _, weight in known):
        return None
    points = view.pictures[picture].points[[row for row, _ in known], :2]
    x, y = np.average(points, axis=0, weights=[weight for _, weight in known]).tolist()
    return float(x), float(y)
