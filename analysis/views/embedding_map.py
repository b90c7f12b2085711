"""What does the space look like? Where the texts of a task lie as one or two encoders place them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.geometry import alignment, hubness, projection
from analysis.geometry.tokens import Ratio
from analysis.model import Interval, SystemLabel
from analysis.store import projections
from analysis.store.projections import PointColumns, ProjectionRow
from analysis.store.read import RunRow, Store, TaskRow
from analysis.views import cause_numbers
from analysis.views.cause_numbers import Texts
from analysis.views.evidence import Evidence, benchmark_label, number, one_task, task_label
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel

COLOURS = {"language": "language", "outcome": "what becomes of it", "tier": "difficulty tier"}
FOUND, LATER, MISSED, UNKNOWN = "found", "later", "missed", "unknown"
OUTCOMES = {
    FOUND: "found in the first ten",
    LATER: "found by some, or later",
    MISSED: "not found in the first hundred",
    UNKNOWN: "not judged",
}
"""A query by its first right answer; a document by the queries it answers."""
NO_TIER = "no tier"
TOP = 10
LIVE = 5000
"""Points that a picture can point at one by one; of more, a sample that keeps the languages' shares."""
SEED = 20_260_101
DISPLACED = 10
NO_VECTORS = "it has no vector for a text"


class Drawable(NamedTuple):
    """Whether a system can be drawn, and whether it is."""

    system: SystemLabel
    dimensions: tuple[int, ...]  # that are drawn
    reason: str | None  # why it can never be; None where it can
    by_job: bool  # its vectors are a run's, so that more can be drawn of them


class Group(NamedTuple):
    """Points of one colour."""

    key: str  # a language's tag, an outcome, a tier
    title: str
    n: int


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
    skewness: float | None  # of how often each text is a neighbour
    numbers: Mapping[str, Interval]  # same_language, translation_near, alignment, probe_accuracy, silhouette
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

    def family_rows(self, family: str) -> NDArray[np.intp]:
        """The rows of a concept."""
        return np.flatnonzero(self.family == family)


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


def drawable(store: Store, selection: Selection) -> tuple[Drawable, ...]:
    """Which systems of a task are drawn or can be; others have no vectors.

    Raises:
        InputError: an unknown benchmark or task, or not exactly one.
    """
    task, labels = one_task(store, selection), store.system_labels()
    drawn: dict[str, list[int]] = {}
    for row in projections.projections(store, task.task_id):
        drawn.setdefault(row.system, []).append(row.dimensions)
    runs = {run.system: run for run in store.runs([task.task_id]) if run.status == "complete"}
    lacking = {name: _no_vectors(run) for name, run in runs.items()}
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


def _no_vectors(run: RunRow) -> str | None:
    settings = run.provenance.get("settings")
    is_dense = isinstance(settings, dict) and settings.get("kind") == "dense"
    return None if is_dense else NO_VECTORS


def embedding_map(
    store: Store,
    selection: Selection,
    *,
    systems: tuple[str, ...],
    colour: str = "language",
    dimensions: int = 2,
    turn: int = 0,
) -> MapView:
    """The map of one system, or those of two laid over each other.

    Args:
        store: where they are.
        selection: one task, and which of its queries.
        systems: one or two that are drawn.
        colour: a key of ``COLOURS``; outcomes are those of the first system.
        dimensions: 2 or 3.
        turn: degrees by which three dimensions are turned about the upright axis.

    Raises:
        InputError: not exactly one task, another colour, or a system that is not drawn.
    """
    if colour not in COLOURS:
        raise InputError(f"colour {colour!r}: expected one of {', '.join(COLOURS)}")
    task, labels = one_task(store, selection), store.system_labels()
    rows = _rows(store, task, systems, dimensions)
    evidence = Evidence.load(store, task, selection=selection._replace(systems=systems[:1]), labels=labels)
    texts = Texts.of(evidence, without_flagged=selection.without_flagged)
    columns = [projections.points(store, row) for row in rows]
    place = _shared(columns, texts)
    languages, language = _codes(texts.language[place])
    family = texts.families[place]
    spoken = _Spoken(texts, place, language, family)
    pictures = tuple(
        _picture(store, labels[row.system], row, column, spoken) for row, column in zip(rows, columns, strict=True)
    )
    pictures, displaced = _laid_over(pictures)
    pictures = tuple(replace(each, points=projection.turned(each.points, degrees=turn)) for each in pictures)
    group, groups = _groups(evidence, colour, spoken, languages)
    share = np.bincount(language) / len(language) if len(language) else np.zeros(0)
    chance = float((share**2).sum())
    return MapView(
        benchmark=benchmark_label(evidence.benchmark),
        task=task_label(task),
        takeaway=_takeaway(pictures, chance),
        pictures=pictures,
        colour=colour,
        groups=groups,
        group=group,
        is_query=place >= texts.n_documents,
        position=np.where(place >= texts.n_documents, place - texts.n_documents, place).astype(np.int32),
        languages=languages,
        language=language,
        family=family,
        chance=chance,
        n_texts=max(row.n_texts for row in rows),
        live=alignment.sample(language, most=LIVE // len(pictures), seed=SEED),
        displaced=displaced,
    )


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
    if not 1 <= len(systems) <= 2:
        raise InputError(f"{len(systems)} systems: a map shows one or two")
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


def _codes(values: NDArray[np.object_]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Different values in the order in which they first come, and the code of each."""
    known = {value: code for code, value in enumerate(dict.fromkeys(values.tolist()))}
    return tuple(str(value) for value in known), np.array([known[value] for value in values.tolist()], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class _Spoken:
    """The texts of a map by language and family, ``(P,)`` each."""

    texts: Texts
    place: NDArray[np.intp]
    language: NDArray[np.int32]
    family: NDArray[np.object_]

    def numbers(self, named: Mapping[str, NDArray[Any]]) -> dict[str, Interval]:
        """Means over the map's texts, NaN left out, whole families drawn."""
        found = {}
        for key, values in named.items():
            whole = np.full(len(self.texts.language), np.nan)
            whole[self.place] = values
            found[key] = Ratio(whole, np.ones(len(whole)))
        return dict(self.texts.numbers(found)[None])

    def has_translation(self) -> NDArray[np.bool_]:
        """Whether another text of the map says the same in another language."""
        _, concept = np.unique(self.family.astype(str), return_inverse=True)
        pairs = np.unique(np.stack([concept, self.language], axis=1), axis=0)
        return np.asarray(np.bincount(pairs[:, 0])[concept] > 1)


def _picture(store: Store, label: SystemLabel, row: ProjectionRow, columns: PointColumns, spoken: _Spoken) -> Picture:
    n_documents = spoken.texts.n_documents
    everywhere = np.where(columns.is_query, n_documents, 0) + columns.position
    order = np.full(len(spoken.texts.language), -1, dtype=np.int64)
    order[spoken.place] = np.arange(len(spoken.place))
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
        skewness=_skewness(near, len(points)),
        numbers=_near_numbers(near, spoken) | _space_numbers(store, row, spoken.texts),
        made=_made(row),
    )


def _made(row: ProjectionRow) -> str:
    if row.method != "umap":
        return "coordinates from a file"
    settings = row.parameters
    words = f"UMAP of {settings['neighbours']} exact neighbours, minimal distance {settings['min_distance']}"
    return f"{words}, seed {row.seed}, {row.made_at:%Y-%m-%d}"


def _skewness(near: NDArray[np.int32], n: int) -> float | None:
    return number(hubness.skewness(np.bincount(near[near >= 0], minlength=n))) if near.size else None


def _near_numbers(near: NDArray[np.int32], spoken: _Spoken) -> dict[str, Interval]:
    """What the neighbours in the space say: their languages, and whether a translation is among them."""
    if not near.size:
        return {}
    there = near >= 0
    same = spoken.language[near] == spoken.language[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        own = (same & there).sum(axis=1) / there.sum(axis=1)
    alike = spoken.family[near] == spoken.family[:, np.newaxis]
    translated = (alike & ~same & there).any(axis=1)
    return spoken.numbers({
        "same_language": own,
        "translation_near": np.where(spoken.has_translation(), translated, np.nan),
    })  # fmt: skip


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


# Colours


def _groups(
    evidence: Evidence, colour: str, spoken: _Spoken, languages: tuple[str, ...]
) -> tuple[NDArray[np.int32], tuple[Group, ...]]:
    if colour == "language":
        keys, titles, code = languages, dict(zip(languages, languages, strict=True)), spoken.language
    elif colour == "outcome":
        keys, titles = tuple(OUTCOMES), OUTCOMES
        code = outcomes(evidence, spoken.texts.n_documents)[spoken.place]
    else:
        tiers = np.concatenate([np.full(spoken.texts.n_documents, None, dtype=object), evidence.queries.tier])
        named = np.array([tier or NO_TIER for tier in tiers[spoken.place].tolist()], dtype=object)
        keys, code = _codes(named)
        titles = {key: key for key in keys}
    counts = np.bincount(code, minlength=len(keys))
    return code, tuple(Group(key, titles[key], int(n)) for key, n in zip(keys, counts, strict=True))


def outcomes(evidence: Evidence, n_documents: int) -> NDArray[np.int32]:
    """What becomes of each document, then each query, in the first run: codes into ``OUTCOMES``.

    A query is found by its first right answer in the first ten, later in the first hundred. A document is found where
    every query that it answers has it in the first ten, and missed where none has it in the first hundred.
    """
    n_queries = len(evidence.queries.id)
    code = np.full(n_documents + n_queries, list(OUTCOMES).index(UNKNOWN), dtype=np.int32)
    if not evidence.runs:
        return code
    ranks, query, document = evidence.ranks[0], evidence.judged.query, evidence.document
    inside = document < n_documents
    best = np.full(n_queries, np.iinfo(np.int32).max)
    np.minimum.at(best, query, ranks)
    asked = np.bincount(query, minlength=n_queries) > 0
    code[n_documents:][asked] = _by_rank(best[asked], best[asked])
    best_of, worst_of = np.full(n_documents, np.iinfo(np.int32).max), np.zeros(n_documents, dtype=np.int64)
    np.minimum.at(best_of, document[inside], ranks[inside])
    np.maximum.at(worst_of, document[inside], ranks[inside])
    judged = worst_of > 0
    code[:n_documents][judged] = _by_rank(best_of[judged], worst_of[judged])
    return code


def _by_rank(best: NDArray[Any], worst: NDArray[Any]) -> NDArray[np.int32]:
    """By the best and the worst rank; both are the first answer's for a query."""
    keys = list(OUTCOMES)
    found, later, missed = keys.index(FOUND), keys.index(LATER), keys.index(MISSED)
    return np.where(worst <= TOP, found, np.where(best <= 100, later, missed)).astype(np.int32)


# Texts


def listed(store: Store, selection: Selection, view: MapView, rows: Sequence[int]) -> tuple[Listed, ...]:
    """Some texts of a map, in words and in the order asked for."""
    task, labels = one_task(store, selection), store.system_labels()
    first = view.pictures[0].system.name
    evidence = Evidence.load(store, task, selection=selection._replace(systems=(first,)), labels=labels)
    code = outcomes(evidence, task.n_documents)
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


# The sentence


def _takeaway(pictures: Sequence[Picture], chance: float) -> Sentence:
    """Whether neighbours share a language or a meaning, of the first system and how the second differs."""
    told = [words for picture in pictures if (words := _told(picture))]
    if not told:
        return Sentence(f"{pictures[0].system.short}: only coordinates are known, so neighbours cannot be told.", "")
    rest = f" Blindly drawn, {chance:.0%} would speak it." if chance else ""
    others = "".join(f" {words}" for words in told[1:])
    return Sentence(told[0], (others + rest).strip().replace("%", " %"))


def _told(picture: Picture) -> str | None:
    same = picture.numbers.get("same_language")
    if same is None or same.value is None:
        return None
    near = picture.numbers.get("translation_near")
    words = f"In {picture.system.short}, {same.value * 100:.0f} of 100 nearest texts speak a text's own language"
    if near is None or near.value is None:
        return f"{words}."
    return f"{words}; {near.value * 100:.0f} of 100 texts have a translation among their {picture.k} nearest."
