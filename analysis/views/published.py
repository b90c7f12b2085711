"""What others published: leaderboards and route cells of means whose queries are not known, so without intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.languages import language_name
from analysis.metrics import catalogue
from analysis.model import SystemLabel
from analysis.store.read import PublishedColumns, PublishedRow, Store, TaskRow
from analysis.systems.names import known_as, pinned
from analysis.text import counted
from analysis.views import language_choice
from analysis.views.evidence import benchmark_label, chosen_tasks, one_task, task_label
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel

MAIN = "main_score"
NO_INTERVALS = "no intervals: the values of each query are not published"
BESIDE = ("ndcg_at_10", "recall_at_10", "recall_at_100", "rr_at_10", "hit_at_1", "map_at_10")
"""Measures that a leaderboard shows beside the one it is ordered by, where they were published of every system."""

DEFINITIONS = {
    MAIN: ("main score", "The measure that the task's authors lead with, as the file has it; mostly nDCG@10."),
    "map": ("MAP@{k}", "Average precision in the top {k}, averaged over the queries."),
    "accuracy": ("accuracy@{k}", "The share of queries with a relevant document in the top {k}."),
}


def is_chosen(system: str, chosen: Collection[str]) -> bool:
    """Whether a published system is one of the chosen ones, by any of its names; all are where none is named."""
    return not chosen or system in chosen or known_as(system) in {known_as(name) for name in chosen}


class PublishedMean(NamedTuple):
    """The mean of one measure over subsets, as mteb takes it: every subset weighs the same."""

    value: float | None  # over the subsets that every shown system has; None where they share none
    own: float | None  # over all subsets of the system
    n: int  # subsets that the system has


@dataclass(frozen=True)
class PublishedSystem:
    """What was published of one system on one task."""

    task: str
    system: SystemLabel
    split: str
    measures: Mapping[str, PublishedMean]  # by measure key
    file: str  # where the figures come from, below the folder that was imported
    program: str | None
    model_revision: str | None
    other_revision: str | None  # that the catalogue pins, where it is another one
    dataset_revision: str | None
    evaluated_at: str | None  # ISO time
    published: bool = True


@dataclass(frozen=True)
class PublishedBoard:
    """The leaderboard of the published figures of one task."""

    task: TaskLabel
    split: str
    splits: tuple[str, ...]
    lead: MeasureLabel  # the measure that orders the rows
    measures: tuple[MeasureLabel, ...]  # columns, the lead first
    known: tuple[MeasureLabel, ...]  # all that were published
    rows: tuple[PublishedSystem, ...]  # best first by the lead on shared subsets; by name where they share none
    n_shared: int  # subsets that every row has a figure of the lead for
    takeaway: Sentence
    caption: str
    coverage_note: str | None  # said aloud where systems cover different subsets


@dataclass(frozen=True)
class PublishedCell:
    """One query language → document language of one system, as published."""

    task: str
    system: str
    split: str
    query_language: str
    document_language: str
    measure: str
    value: float
    n_subsets: int  # subsets between these languages, of which the value is the mean
    published: bool = True


@dataclass(frozen=True)
class PublishedRoutes:
    """The heatmaps of the published figures of one task."""

    benchmark: BenchmarkLabel
    task: TaskLabel
    measure: MeasureLabel
    known: tuple[MeasureLabel, ...]  # all that were published
    split: str
    splits: tuple[str, ...]
    languages: tuple[str, ...]  # shown, in the order of the files; by script where they are many
    language_names: tuple[str, ...]
    scripts: tuple[str, ...]  # of the languages where they are many, else empty
    systems: tuple[SystemLabel, ...]
    cells: tuple[PublishedCell, ...]
    takeaway: Sentence
    caption: str
    published: bool = True


def published_label(key: str) -> MeasureLabel:
    """How a published measure is called: as in our catalogue where it has the key, else as in the file."""
    stem, _, k = key.rpartition("_at_")
    label, definition = DEFINITIONS.get(stem or key, (key, "As the program that made the figures defines it."))
    label, definition = label.format(k=k), definition.format(k=k)
    try:
        ours = catalogue.measure(key)
    except InputError:
        return MeasureLabel(key, label, definition, "", "mteb", "published", "share")
    return MeasureLabel(key, ours.label, ours.definition, ours.formula, ours.source, "published", ours.unit)


def boards(
    store: Store, selection: Selection, *, split: str | None = None, measure: str | None = None
) -> tuple[PublishedBoard, ...]:
    """The leaderboard of each chosen task that has published figures; none where a part of the queries is asked for.

    Args:
        store: where the figures are.
        selection: tasks and systems.
        split: of the benchmark; where None or not there, the one that most systems have.
        measure: that orders the rows; where None or not there, the main score.

    Raises:
        InputError: an unknown benchmark or task.
    """
    if selection.where or selection.without_flagged:
        return ()
    found = (_Published.load(store, task, selection, split, measure) for task in chosen_tasks(store, selection))
    return tuple(_board(published) for published in found if published)


def routes(
    store: Store,
    selection: Selection,
    *,
    split: str | None = None,
    measure: str | None = None,
    languages: tuple[str, ...] = (),
) -> PublishedRoutes:
    """The published route cells of one task for each chosen system.

    Args:
        store: where the figures are.
        selection: one task, and systems.
        split: as for :func:`boards`.
        measure: as for :func:`boards`.
        languages: those to show; empty for all.

    Raises:
        InputError: an unknown benchmark or task; not exactly one task; a task without published figures; or none of
            the languages.
    """
    found = _of_one_task(store, selection, split, measure)
    known = tuple(language_choice.published_languages(store, found.task.task_id))
    shown = language_choice.shown(known, languages)
    cells = tuple(cell for cell in _cells(found) if {cell.query_language, cell.document_language} <= set(shown))
    label = published_label(found.measure)
    return PublishedRoutes(
        benchmark=benchmark_label(store.benchmark(selection.benchmark)),
        task=task_label(found.task),
        measure=label,
        known=tuple(published_label(key) for key in found.measures),
        split=found.split,
        splits=found.splits,
        languages=shown,
        language_names=tuple(language_name(tag) for tag in shown),
        scripts=language_choice.scripts(shown),
        systems=found.systems,
        cells=cells,
        takeaway=_routes_takeaway(cells, found.systems, label.label),
        caption=_routes_caption(found, shown, known),
    )


def _of_one_task(store: Store, selection: Selection, split: str | None, measure: str | None) -> _Published:
    task = one_task(store, selection)
    found = _Published.load(store, task, selection, split, measure)
    if found is None:
        raise InputError(f"task {task.name!r} has no published figures of the chosen systems")
    return found


def all_routes(store: Store, selection: Selection) -> list[PublishedRoutes]:
    """The published route cells of each chosen task that has any of the chosen systems.

    Raises:
        InputError: an unknown benchmark or task.
    """
    return [routes(store, selection._replace(tasks=(board.task.name,))) for board in boards(store, selection)]


def cells(store: Store, selection: Selection, *, measures: Collection[str]) -> Iterator[PublishedCell]:
    """The published cells of every split of the chosen tasks, of those of the measures that were published.

    None where a part of the queries is asked for.

    Raises:
        InputError: an unknown benchmark or task.
    """
    whole = not (selection.where or selection.without_flagged)
    for task in chosen_tasks(store, selection) if whole else ():
        for measure in [key for key in measures if key in store.published_measures(task.task_id)]:
            first = _Published.load(store, task, selection, None, measure)
            for split in first.splits if first else ():
                found = _Published.load(store, task, selection, split, measure)
                yield from _cells(found) if found else ()


# What was read


@dataclass(frozen=True)
class _Published:
    """The figures of one measure and split of a task, of the chosen systems."""

    store: Store
    task: TaskRow
    split: str
    splits: tuple[str, ...]
    measure: str
    measures: tuple[str, ...]
    systems: tuple[SystemLabel, ...]  # that have a figure, in the order of the labels
    absent: tuple[SystemLabel, ...]  # chosen ones without any
    sources: Mapping[str, PublishedRow]
    figures: PublishedColumns  # of the split and the systems

    @classmethod
    def load(
        cls, store: Store, task: TaskRow, selection: Selection, split: str | None, measure: str | None
    ) -> _Published | None:
        """None where nothing was published of the chosen systems."""
        sources = {
            row.system: row
            for row in store.published_sources([task.task_id])
            if is_chosen(row.system, selection.systems)
        }
        if not sources:
            return None
        measures = tuple(store.published_measures(task.task_id))
        fallback = MAIN if MAIN in measures else BESIDE[0] if BESIDE[0] in measures else measures[0]
        lead = measure if measure in measures else fallback
        columns = _of_systems(store.published(task.task_id, lead), tuple(sources))
        splits = _splits(columns)
        chosen = split if split in splits else max(splits, key=splits.__getitem__, default="")
        figures = _of(columns, columns.split == chosen)
        labels = [label for name, label in store.system_labels().items() if name in sources]
        return cls(
            store=store,
            task=task,
            split=chosen,
            splits=tuple(splits),
            measure=lead,
            measures=measures,
            systems=tuple(label for label in labels if label.name in figures.system),
            absent=tuple(label for label in labels if label.name not in figures.system),
            sources=sources,
            figures=figures,
        )

    def of_measure(self, measure: str) -> PublishedColumns:
        """The figures of another measure in the same split of the same systems."""
        found = _of_systems(self.store.published(self.task.task_id, measure), tuple(self.sources))
        return _of(found, found.split == self.split)


def _of_systems(columns: PublishedColumns, systems: Sequence[str]) -> PublishedColumns:
    return _of(columns, np.isin(columns.system.astype(str), systems))


def _of(columns: PublishedColumns, rows: NDArray[np.bool_]) -> PublishedColumns:
    return PublishedColumns(*(getattr(columns, name)[rows] for name in PublishedColumns.__dataclass_fields__))


def _splits(columns: PublishedColumns) -> dict[str, int]:
    """How many systems have each split, in the order of the files."""
    pairs = dict.fromkeys(zip(columns.split, columns.system, strict=True))
    names = [split for split, _ in pairs]
    return {name: names.count(name) for name in dict.fromkeys(names)}


# The leaderboard


def _board(found: _Published) -> PublishedBoard:
    beside = [key for key in BESIDE if key in found.measures and key != found.measure]
    means = {key: _means(found.of_measure(key), found.systems) for key in (found.measure, *beside)}
    shown = [
        key for key in means if key == found.measure or all(mean.value is not None for mean in means[key].values())
    ]
    shared = len(_shared(found.figures, found.systems))
    rows = [_system(found, label, {key: means[key][label.name] for key in shown}) for label in found.systems]
    if shared:
        rows.sort(key=lambda row: -(row.measures[found.measure].value or 0.0))
    label = published_label(found.measure)
    return PublishedBoard(
        task=task_label(found.task),
        split=found.split,
        splits=found.splits,
        lead=label,
        measures=tuple(published_label(key) for key in shown),
        known=tuple(published_label(key) for key in found.measures),
        rows=tuple(rows),
        n_shared=shared,
        takeaway=_board_takeaway(rows, label, shared),
        caption=_board_caption(found, shared),
        coverage_note=_coverage_note(rows, label, shared, _absent(found)),
    )


def _subsets(columns: PublishedColumns) -> dict[str, dict[str, float]]:
    """The value of each subset by system."""
    found: dict[str, dict[str, float]] = {}
    for system, subset, value in zip(columns.system, columns.subset, columns.value.tolist(), strict=True):
        found.setdefault(system, {})[subset] = value
    return found


def _shared(columns: PublishedColumns, systems: Sequence[SystemLabel]) -> set[str]:
    """The subsets that every system has a figure for."""
    values = _subsets(columns)
    return set.intersection(*(set(values.get(label.name, {})) for label in systems)) if systems else set()


def _means(columns: PublishedColumns, systems: Sequence[SystemLabel]) -> dict[str, PublishedMean]:
    """The means of each system over shared and over its own subsets."""
    values, shared = _subsets(columns), _shared(columns, systems)
    found = {}
    for label in systems:
        own = values.get(label.name, {})
        common = [value for subset, value in own.items() if subset in shared]
        found[label.name] = PublishedMean(_mean(common), _mean(list(own.values())), len(own))
    return found


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _system(found: _Published, label: SystemLabel, means: Mapping[str, PublishedMean]) -> PublishedSystem:
    source = found.sources[label.name]
    pin = pinned(label.name) if source.model_revision else None
    return PublishedSystem(
        task=found.task.name,
        system=label,
        split=found.split,
        measures=means,
        file=source.file,
        program=source.program,
        model_revision=source.model_revision,
        other_revision=None if pin == source.model_revision else pin,
        dataset_revision=source.dataset_revision,
        evaluated_at=source.evaluated_at.isoformat() if source.evaluated_at else None,
    )


def _board_takeaway(rows: Sequence[PublishedSystem], label: MeasureLabel, shared: int) -> Sentence:
    if not shared:
        return Sentence("The systems share no language pair, so they cannot be ranked.", "")
    best = rows[0]
    bold = f"{best.system.short} has the highest published {label.label}, {best.measures[label.key].value:.2f}"
    if len(rows) < 2:
        return Sentence(f"{bold}.", "")
    apart = f"{(best.measures[label.key].value or 0.0) - (rows[1].measures[label.key].value or 0.0):.2f}"
    above = f"{apart if float(apart) else 'less than 0.01'} above {rows[1].system.short}"
    return Sentence(
        f"{bold}, {above}.",
        "The values of each query are not published, so nobody can say whether that difference would hold.",
    )


def _board_caption(found: _Published, shared: int) -> str:
    over = f"plain mean over {counted(shared, 'subset')} of split {found.split}, as mteb takes it"
    parts = ["Published figures, not measured here", over, _build(found.task), NO_INTERVALS]
    return " · ".join(part for part in parts if part)


def _build(task: TaskRow) -> str:
    """Said where something is measured on the stored task: the name is all that the two are known to share."""
    if not task.n_queries:
        return ""
    return f"on mteb’s own data: nobody checked that these are the {task.n_queries:,} queries stored here"


def _absent(found: _Published) -> str:
    """Which of the chosen systems have no figure here; empty where all have."""
    names = ", ".join(label.short for label in found.absent)
    return f"no {published_label(found.measure).label} of {names} in split {found.split}" if names else ""


def _coverage_note(rows: Sequence[PublishedSystem], label: MeasureLabel, shared: int, absent: str) -> str | None:
    """Said aloud where the systems do not all cover the same subsets, or some have no figure at all."""
    counts = [(row.system.short, row.measures[label.key].n) for row in rows]
    lacking = f"There is {absent}." if absent else ""
    if all(n == shared for _, n in counts):
        return lacking or None
    parts = ", ".join(f"{name} {n:,}" for name, n in counts)
    ranked = (
        f"They are ranked on the {counted(shared, 'subset')} that all of them have." if shared else "They share none."
    )
    return f"Not every system was evaluated on the same language pairs ({parts}). {ranked} {lacking}".rstrip()


# Routes


def _cells(found: _Published) -> Iterator[PublishedCell]:
    """One cell a system and language pair, the mean where several subsets lie between the same languages."""
    columns = found.figures
    written = language_choice.as_written(found.store, found.task.task_id)
    values: dict[tuple[str, str, str], list[float]] = {}
    for system, asked, answered, value in zip(
        columns.system, columns.query_language, columns.document_language, columns.value.tolist(), strict=True
    ):
        values.setdefault((system, written[asked], written[answered]), []).append(value)
    for (system, asked, answered), listed in values.items():
        mean = float(np.mean(listed))
        yield PublishedCell(found.task.name, system, found.split, asked, answered, found.measure, mean, len(listed))


def _routes_takeaway(cells: Sequence[PublishedCell], systems: Sequence[SystemLabel], measure: str) -> Sentence:
    """The deepest fall between two query languages that ask the same documents, and who does best where it ends."""
    columns: dict[tuple[str, str], list[PublishedCell]] = {}
    for cell in cells:
        columns.setdefault((cell.system, cell.document_language), []).append(cell)
    falls = [(max(column, key=_value), min(column, key=_value)) for column in columns.values() if len(column) > 1]
    if not falls:
        return Sentence("No two languages shown were asked of the same documents.", "")
    high, low = max(falls, key=lambda fall: fall[0].value - fall[1].value)
    short = {label.name: label.short for label in systems}
    asked, fallen, answered = map(language_name, (high.query_language, low.query_language, high.document_language))
    bold = (
        f"{short[high.system]} reaches {measure} {high.value:.2f} on {answered} documents when asked in {asked}, and "
        f"{low.value:.2f} when asked in {fallen}."
    )
    route = (low.query_language, low.document_language)
    same = [cell for cell in cells if (cell.query_language, cell.document_language) == route]
    best = max(same, key=_value)
    if best.system == low.system:
        return Sentence(bold, "")
    return Sentence(bold, f"{short[best.system]} reaches {best.value:.2f} on the same route.")


def _value(cell: PublishedCell) -> float:
    return cell.value


def _routes_caption(found: _Published, shown: Sequence[str], known: Sequence[str]) -> str:
    programs = sorted({source.program for source in found.sources.values() if source.program})
    source = f"as {programs[0]} reported them" if len(programs) == 1 else f"from {len(found.sources):,} files of mteb"
    parts = [
        "Published figures, not measured here",
        f"{published_label(found.measure).label} by query language (rows) and document language (columns)",
        f"split {found.split}",
        source,
        _build(found.task),
        NO_INTERVALS,
        language_choice.of_all(shown, known),
        _absent(found),
    ]
    return " · ".join(part for part in parts if part)
