"""Bring published figures into the store: a benchmark of their own, or beside what was measured on a stored one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.errors import InputError
from analysis.imports import mteb_results
from analysis.imports.mteb_results import Results
from analysis.jobs.imports import check_names, labels_of
from analysis.jobs.stored import current
from analysis.model import Benchmark, Progress, PublishedResult, Task
from analysis.paths import Cache
from analysis.store import read, write
from analysis.store.read import BenchmarkRow, Store
from analysis.systems import names

PUBLISHED = "published"
"""The setting by which a benchmark of published figures is known; more of its tasks may be added."""


@dataclass(frozen=True)
class ResultsRequest:
    """What `import-results` may be told."""

    path: Path
    benchmark: str
    system: str | None = None  # of files that do not lie in mteb's folders
    tasks: tuple[str, ...] = ()  # only these; empty: all


@dataclass(frozen=True)
class TaskReport:
    """What a folder says of one task."""

    task: str
    systems: tuple[str, ...]
    splits: tuple[str, ...]
    n_subsets: int
    languages: tuple[str, ...]  # of queries or documents
    n_figures: int


@dataclass(frozen=True)
class ResultsReport:
    """What is in a folder of results."""

    tasks: tuple[TaskReport, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True)
class StoredResults:
    """What `import-results` did."""

    address: str
    n_stored: int  # files
    n_replaced: int  # of these, in place of other figures of the same system and task
    n_kept: int  # files that were stored before


def read_results(request: ResultsRequest, *, progress: Progress) -> Results:
    """Read the result files; nothing is stored.

    Raises:
        InputError: a fault in a file, or an impossible name.
        JobCancelledError: the user cancelled.
    """
    check_names(request.benchmark)
    found = mteb_results.read(request.path, system=request.system, tasks=request.tasks, progress=progress)
    check_names(*(result.task for result in found.found), *(result.system for result in found.found))
    return found


def report(results: Results) -> ResultsReport:
    """What was read, by task."""
    tasks_named = sorted({result.task for result in results.found})
    tasks = tuple(_task_report([result for result in results.found if result.task == name]) for name in tasks_named)
    return ResultsReport(tasks, (*results.notices, *_of_the_catalogue(results.found)))


def _of_the_catalogue(found: Sequence[PublishedResult]) -> Iterator[str]:
    """Which models are systems of the catalogue, and of which another revision than it pins was evaluated."""
    for name, revision in sorted({(result.system, result.model_revision or "") for result in found}):
        known, pin = names.known_as(name), names.pinned(name)
        other = f"; revision {revision[:12]} was evaluated, pinned is {pin[:12]}" if pin and pin != revision else ""
        if known != name:
            yield f"{name}: {known} of the catalogue{other if revision else ''}"


def _task_report(results: Sequence[PublishedResult]) -> TaskReport:
    figures = [figure for result in results for figure in result.figures]
    tags = (tag for figure in figures for tag in (figure.query_language, figure.document_language))
    return TaskReport(
        task=results[0].task,
        systems=tuple(result.system for result in results),
        splits=tuple(dict.fromkeys(figure.split for figure in figures)),
        n_subsets=len({figure.subset for figure in figures}),
        languages=tuple(dict.fromkeys(tags)),
        n_figures=len(figures),
    )


def store_results(cache: Cache, *, benchmark: str, results: Results, progress: Progress) -> StoredResults:
    """Store what was read; the same file is stored once, another one takes the place of the one before it.

    A benchmark of this name gets the figures beside its runs where it has tasks of these names. Without one, a
    benchmark of published figures is made, to which further tasks may be added.

    Raises:
        InputError: the benchmark was not made of published figures, and lacks a task.
        JobCancelledError: the user cancelled.
    """
    store = read.open_store(cache)
    new = _new(store, benchmark, _named(store, benchmark, results.found))
    if new:
        with write.writer(cache, progress=progress) as writer:
            store = read.open_store(cache)  # another job may have been waited for
            new = _new(store, benchmark, _named(store, benchmark, results.found))
            replaced = _replaced(store, benchmark, new)
            _store(writer, store, benchmark, new, progress=progress)
    else:
        replaced = 0
    store = read.open_store(cache)
    version = store.benchmark(benchmark).version if store else ""
    return StoredResults(f"{benchmark}@{version}", len(new), replaced, len(results.found) - len(new))


def _named(store: Store | None, benchmark: str, found: Sequence[PublishedResult]) -> list[PublishedResult]:
    """The results under the names that their systems have in a benchmark, else in the catalogue.

    Two that would share one keep their own.
    """
    row, stored = current(store, benchmark), set[str]()
    if store and row:
        ids = [task.task_id for task in store.tasks(row.benchmark_id)]
        stored = {run.system for run in store.runs(ids)} | {known.system for known in store.published_sources(ids)}
    called = {name: names.among(name, stored) for name in sorted({result.system for result in found})}
    shared = Counter(called.values())
    alone = {name: new for name, new in called.items() if shared[new] == 1}
    return [replace(result, system=alone.get(result.system, result.system)) for result in found]


def _stored(store: Store | None, benchmark: str) -> dict[tuple[str, str], str]:
    """The checksums of what was published of each task and system of a benchmark."""
    row = current(store, benchmark)
    if store is None or row is None:
        return {}
    tasks = {task.task_id: task.name for task in store.tasks(row.benchmark_id)}
    return {(tasks[known.task_id], known.system): known.checksum for known in store.published_sources(list(tasks))}


def _new(store: Store | None, benchmark: str, found: Sequence[PublishedResult]) -> list[PublishedResult]:
    """The results that are not stored yet.

    Raises:
        InputError: the benchmark lacks a task and was not made of published figures.
    """
    row = current(store, benchmark)
    if store and row and not row.settings.get(PUBLISHED):
        tasks = [task.name for task in store.tasks(row.benchmark_id)]
        for result in found:
            if result.task not in tasks:
                raise InputError(
                    f"benchmark {benchmark!r} has {', '.join(tasks)} and no task {result.task!r}; expected results of "
                    "its tasks, or another name"
                )
    known = _stored(store, benchmark)
    return [result for result in found if known.get((result.task, result.system)) != result.checksum]


def _replaced(store: Store | None, benchmark: str, new: Sequence[PublishedResult]) -> int:
    known = _stored(store, benchmark)
    return sum((result.task, result.system) in known for result in new)


def _store(
    writer: write.Writer, store: Store | None, benchmark: str, new: Sequence[PublishedResult], *, progress: Progress
) -> None:
    row = current(store, benchmark)
    known = {task.name for task in store.tasks(row.benchmark_id)} if store and row else set()
    lacking = sorted({result.task for result in new} - known)
    if row is None:
        version = writer.add_benchmark(_benchmark(benchmark, lacking))
    else:
        version = row.version
        if lacking:
            writer.extend(row.benchmark_id, _extended(row, _benchmark(benchmark, lacking)))
    labels = labels_of(sorted({result.system for result in new})) | (store.system_labels() if store else {})
    for place, result in enumerate(new):
        progress("store the figures", place, len(new))
        label = labels[result.system]
        writer.add_system(label.name, title=label.title, short=label.short, paradigm=label.paradigm)
        writer.add_published(writer.task_id(benchmark, version=version, task=result.task), result)
    progress("store the figures", len(new), len(new))


def _benchmark(name: str, tasks: Sequence[str]) -> Benchmark:
    """A benchmark of which only published figures are known."""
    return Benchmark(
        name=name,
        version="1",
        title=name,
        parallel=False,
        licence="as the imported files",
        source="result files of mteb",
        notes=("Figures that others published: means without the values of each query, so without intervals.",),
        settings={PUBLISHED: True},
        tasks=tuple(_task(task, default=place == 0) for place, task in enumerate(tasks)),
    )


def _task(name: str, *, default: bool) -> Task:
    question = "Figures as published; queries, documents and rankings are not known."
    return Task(name, name, question, documents=(), queries=(), judgements=(), default=default)


def _extended(row: BenchmarkRow, more: Benchmark) -> Benchmark:
    """The stored card with the tasks that are new."""
    return replace(
        more,
        version=row.version,
        title=row.title,
        licence=row.licence,
        source=row.source,
        notes=row.notes,
        settings=row.settings,
        tasks=tuple(replace(task, default=False) for task in more.tasks),
    )
