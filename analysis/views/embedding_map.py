"""What does the space look like? Where the texts of a task lie as one or two encoders place them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.geometry import alignment, projection
from analysis.model import Interval, SystemLabel
from analysis.store import projections
from analysis.store.projections import PointColumns, ProjectionRow
from analysis.store.read import Store, TaskRow
from analysis.systems.made_by import NO_VECTORS, no_vectors
from analysis.views import cause_numbers, map_colours
from analysis.views.cause_numbers import Texts
from analysis.views.evidence import Evidence, benchmark_label, one_task, task_label
from analysis.views.map_colours import COLOURS, CONCEPT, DIFFERENCE, ERROR, LANGUAGE, Group, Shade
from analysis.views.map_texts import MapTexts, hubness_of, near_means
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel

LIVE = 5000
"""Points that a picture can point at one by one; of more, a sample that keeps the languages' shares."""
SEED = 20_260_101
DISPLACED = 10
NUMBERS = {
    "same_language": "Neighbours in own language",
    "translation_near": "Translation near",
    "alignment": "Alignment",
    "probe_accuracy": "Language told",
    "silhouette": "Silhouette by language",
    "hubness": "Hubness",
}
"""What the space itself says, beside its picture."""


class Drawable(NamedTuple):
    """Whether a system can be drawn, and whether it is."""

    system: SystemLabel
    dimensions: tuple[int, ...]  # that are drawn
    reason: str | None  # why it can never be; None where it can
    by_job: bool  # its vectors are a run's, so that more can be drawn of them


class Displaced(NamedTuple):
    """A text that two encoders place in different neighbourhoods."""

    row: int
    distance: float  # once the second picture is laid over the first, in radii of the first


@dataclass(frozen=True, eq=False)
class Picture:
    """The points of one encoder."""

    system: SystemLabel
    points: NDArray[np.float64]  # (P, 2 or 3), the first two across and up
    k: int  # neighbours that were kept; 0 where only coordinates were given
    near: NDArray[np.int32]  # (P, k) rows
    cosines: NDArray[np.float32]  # (P, k)
    trustworthiness: float | None
    continuity: float | None
    numbers: Mapping[str, Interval]  # keys of NUMBERS; what is undefined or was not looked at has no entry
    made: str  # how it was drawn


@dataclass(frozen=True, eq=False)
class MapView:
    """One picture, or two of the same texts; rows are texts, documents first."""

    benchmark: BenchmarkLabel
    task: TaskLabel
    takeaway: Sentence
    pictures: tuple[Picture, ...]
    colour: str
    groups: tuple[Group, ...]
    group: NDArray[np.int32]  # (P,) codes into groups
    shade: Shade | None  # in place of groups where a colour is a number
    is_query: NDArray[np.bool_]  # (P,)
    position: NDArray[np.int32]  # (P,) in the task
    languages: tuple[str, ...]
    language: NDArray[np.int32]  # (P,) codes into languages
    family: NDArray[np.object_]  # (P,)
    chance: float  # share of neighbours in one's own language if neighbours were drawn blindly
    n_texts: int  # that the points were drawn from
    live: NDArray[np.intp]  # rows that can be pointed at one by one; the others stand in the picture alone
    displaced: tuple[Displaced, ...]  # the farthest first; empty with one picture

    @property
    def n(self) -> int:
        """Points."""
        return len(self.position)

    def family_rows(self, *families: str) -> NDArray[np.intp]:
        """The rows of some concepts."""
        return np.flatnonzero(np.isin(self.family, families))


def drawable(store: Store, selection: Selection) -> tuple[Drawable, ...]:
    """Which systems of a task are drawn or can be, and why the others cannot.

    Raises:
        InputError: an unknown benchmark or task, or not exactly one.
    """
    task, labels = one_task(store, selection), store.system_labels()
    drawn: dict[str, list[int]] = {}
    for row in projections.projections(store, task.task_id):
        drawn.setdefault(row.system, []).append(row.dimensions)
    runs = {run.system: run for run in store.runs([task.task_id]) if run.status == "complete"}
    lacking = {name: no_vectors(run) for name, run in runs.items()}
    return tuple(
        Drawable(
            label,
            tuple(drawn.get(name, ())),
            None if name in drawn else lacking[name],
            lacking.get(name, NO_VECTORS) is None,
        )
        for name, label in labels.items()
        if name in drawn or (name in runs and (not selection.systems or name in selection.systems))
    )


def embedding_map(
    store: Store,
    selection: Selection,
    *,
    systems: tuple[str, ...],
    colour: str = LANGUAGE,
    concepts: tuple[str, ...] = (),
    dimensions: int = 2,
    turn: int = 0,
) -> MapView:
    """The map of one system, or those of two laid over each other.

    Args:
        store: where they are.
        selection: one task, and which of its queries.
        systems: one or two that are drawn.
        colour: a key of ``COLOURS``; outcomes are those of the first system, errors each system's own.
        concepts: that have a colour where colours stand for concepts; the map takes one where none is named.
        dimensions: 2 or 3.
        turn: degrees by which three dimensions are turned about the upright axis.

    Raises:
        InputError: not exactly one task, another colour, or a system or concept that is not drawn.
    """
    _check(systems, colour)
    task, labels = one_task(store, selection), store.system_labels()
    rows = _rows(store, task, systems, dimensions)
    evidence = Evidence.load(store, task, selection=selection._replace(systems=systems), labels=labels)
    everything = Texts.of(evidence, without_flagged=selection.without_flagged)
    columns = [projections.points(store, row) for row in rows]
    place = _shared(columns, everything)
    texts = MapTexts.of(everything, place)
    pictures = tuple(
        _picture(store, labels[row.system], row, column, texts) for row, column in zip(rows, columns, strict=True)
    )
    pictures, displaced = _laid_over(pictures)
    pictures = tuple(replace(each, points=projection.turned(each.points, degrees=turn)) for each in pictures)
    ran = {run.system: at for at, run in enumerate(evidence.runs)}
    behind = [ran.get(row.system) for row in rows]
    shade = map_colours.shaded(evidence, colour, texts, places=behind)
    group, groups = map_colours.grouped(evidence, colour, texts, place=behind[0])
    is_query = place >= everything.n_documents
    view = MapView(
        benchmark=benchmark_label(evidence.benchmark),
        task=task_label(task),
        takeaway=_takeaway(pictures, texts, shade),
        pictures=pictures,
        colour=colour,
        groups=groups,
        group=group,
        shade=shade,
        is_query=is_query,
        position=np.where(is_query, place - everything.n_documents, place).astype(np.int32),
        languages=texts.languages,
        language=texts.language,
        family=texts.family,
        chance=texts.chance(),
        n_texts=max(row.n_texts for row in rows),
        live=alignment.sample(texts.language, most=LIVE // len(pictures), seed=SEED),
        displaced=displaced,
    )
    return by_concept(view, concepts) if colour == CONCEPT else view


def _check(systems: Sequence[str], colour: str) -> None:
    if not 1 <= len(systems) <= 2:
        raise InputError(f"{len(systems)} systems: a map shows one or two")
    if colour not in COLOURS:
        raise InputError(f"colour {colour!r}: expected one of {', '.join(COLOURS)}")
    if colour == DIFFERENCE and len(systems) != 2:
        raise InputError(f"colour {colour!r}: expected two systems, not {len(systems)}")


def by_concept(view: MapView, concepts: Sequence[str]) -> MapView:
    """The same map with a colour for each of some concepts; the map takes one where none is named.

    Raises:
        InputError: a concept that no text of the map belongs to, or more than can be told apart.
    """
    known = set(view.family.tolist())
    for name in concepts:
        if name not in known:
            raise InputError(f"unknown concept {name!r}: no text of this map belongs to it")
    if len(concepts) > map_colours.CONCEPTS:
        raise InputError(f"{len(concepts)} concepts: at most {map_colours.CONCEPTS} can be told apart by colour")
    coloured = map_colours.by_concept(view.family, view.pictures[0].near, concepts)
    spaces = [(picture.system, picture.near) for picture in view.pictures]
    said = map_colours.told_of_concepts(spaces, coloured, view.family, picked=len(concepts))
    return replace(view, colour=CONCEPT, takeaway=said, group=coloured.code, groups=coloured.groups)


def page(store: Store, selection: Selection) -> MapView:
    """The map of the first two chosen systems that are drawn, as the page shows it first.

    Raises:
        InputError: not exactly one task, or nothing is drawn.
    """
    drawn = [each for each in drawable(store, selection) if each.dimensions]
    wanted = [each for each in drawn if not selection.systems or each.system.name in selection.systems]
    if not wanted:
        known = ", ".join(each.system.name for each in drawn) or "no system"
        raise InputError(f"no map of the systems asked for: drawn are {known} (python -m analysis map draws more)")
    size = min(wanted[0].dimensions)
    systems = tuple(each.system.name for each in wanted if size in each.dimensions)[:2]
    return embedding_map(store, selection, systems=systems, dimensions=size)


def _rows(store: Store, task: TaskRow, systems: Sequence[str], dimensions: int) -> list[ProjectionRow]:
    drawn = {(row.system, row.dimensions): row for row in projections.projections(store, task.task_id)}
    for name in systems:
        if (name, dimensions) not in drawn:
            known = ", ".join(f"{system} in {n}" for system, n in drawn) or "no system"
            raise InputError(f"system {name!r} in {dimensions} dimensions: {task.name} has maps of {known}")
    return [drawn[name, dimensions] for name in systems]


def _shared(columns: Sequence[PointColumns], texts: Texts) -> NDArray[np.intp]:
    """Texts that every picture has and that count, as positions among documents, then queries."""
    found = [np.where(each.is_query, texts.n_documents, 0) + each.position for each in columns]
    shared = found[0] if len(found) == 1 else np.intersect1d(found[0], found[1])
    return np.asarray(np.sort(shared[texts.counted[shared]]), dtype=np.intp)


def _picture(store: Store, label: SystemLabel, row: ProjectionRow, columns: PointColumns, texts: MapTexts) -> Picture:
    n_documents = texts.texts.n_documents
    everywhere = np.where(columns.is_query, n_documents, 0) + columns.position
    order = np.full(len(texts.texts.language), -1, dtype=np.int64)
    order[texts.place] = np.arange(len(texts.place))
    mine = order[everywhere]  # row of the view of each point; -1 where it is left out
    kept = mine >= 0
    points = np.stack([columns.x, columns.y, columns.z][: row.dimensions], axis=1)[kept].astype(np.float64)
    near = columns.neighbours[kept]
    near = np.where(near >= 0, mine[near], -1).astype(np.int32) if near.size else near
    return Picture(
        system=label,
        points=points,
        k=near.shape[1],
        near=near,
        cosines=columns.cosines[kept],
        trustworthiness=row.trustworthiness,
        continuity=row.continuity,
        numbers=_numbers(store, row, near, texts),
        made=_made(row),
    )


def _made(row: ProjectionRow) -> str:
    if row.method != "umap":
        return "coordinates from a file"
    settings = row.parameters
    words = f"UMAP of {settings['neighbours']} exact neighbours, minimal distance {settings['min_distance']}"
    return f"{words}, seed {row.seed}, {row.made_at:%Y-%m-%d}"


def _numbers(store: Store, row: ProjectionRow, near: NDArray[np.int32], texts: MapTexts) -> dict[str, Interval]:
    hubs = hubness_of(near, texts)
    found = near_means(near, texts) | _space_numbers(store, row, texts.texts)
    return found if hubs is None else found | {"hubness": hubs}


def _space_numbers(store: Store, row: ProjectionRow, texts: Texts) -> dict[str, Interval]:
    """What a look at the run's vectors found; nothing where nobody has looked, or the vectors are of no run."""
    runs = {run.system: run for run in store.runs([row.task_id]) if run.fingerprint == row.run_fingerprint}
    run = runs.get(row.system)
    if run is None or run.run_id not in store.diagnoses(row.task_id):
        return {}
    space = store.text_space(run.run_id)
    if not len(space.position):
        return {}
    aligned, _ = cause_numbers.of_translations(texts, store.translations(run.run_id)).numbers()
    return {**cause_numbers.of_space(texts, space).get(None, {}), **aligned.get(None, {})}


def _laid_over(pictures: tuple[Picture, ...]) -> tuple[tuple[Picture, ...], tuple[Displaced, ...]]:
    """The second picture laid over the first, and the texts that move farthest."""
    if len(pictures) < 2:
        return pictures, ()
    first, second = pictures
    moved = projection.laid_over(second.points, first.points)
    radius = float(np.sqrt(((first.points - first.points.mean(axis=0)) ** 2).sum(axis=1).mean())) if len(moved) else 0.0
    apart = np.linalg.norm(moved - first.points, axis=1) / radius if radius > 0 else np.zeros(len(moved))
    farthest = np.argsort(-apart, kind="stable")[:DISPLACED]
    return (first, replace(second, points=moved)), tuple(Displaced(int(row), float(apart[row])) for row in farthest)


# The sentence


def _takeaway(pictures: Sequence[Picture], texts: MapTexts, shade: Shade | None) -> Sentence:
    """What the colours show where they are numbers; else whether neighbours share a language or a meaning."""
    first = pictures[0]
    if shade and shade.kind == ERROR:
        return map_colours.told_of_errors(first.system, shade.values[0], first.near, texts)
    if shade:
        return map_colours.told_of_difference([picture.system for picture in pictures], shade.values[0])
    told = [words for picture in pictures if (words := _told(picture))]
    if not told:
        return Sentence(f"{first.system.short}: only coordinates are known, so neighbours cannot be told.", "")
    chance = texts.chance()
    blindly = [f"Blindly drawn, {100 * chance:.0f} % would speak it."] if chance else []
    return Sentence(told[0], " ".join([*told[1:], *blindly]))


def _told(picture: Picture) -> str | None:
    same = picture.numbers.get("same_language")
    if same is None or same.value is None:
        return None
    near = picture.numbers.get("translation_near")
    words = f"In {picture.system.short}, {same.value * 100:.0f} of 100 nearest texts speak a text's own language"
    if near is None or near.value is None:
        return f"{words}."
    return f"{words}; {near.value * 100:.0f} of 100 texts have a translation among their {picture.k} nearest."
