"""Rename and delete what is stored, in a generation of its own: a kill at any point leaves all as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis import benchmarks
from analysis.errors import InputError
from analysis.jobs.imports import check_names, labels_of
from analysis.jobs.stored import check_new_system, check_ran, only_task, opened
from analysis.model import Progress
from analysis.paths import Cache
from analysis.store import audits, notes, write
from analysis.store.read import BenchmarkRow, RunRow, Store, TaskRow
from analysis.store.write import Writer
from analysis.systems import catalogue
from analysis.text import counted

EMPTY = "there is nothing to rename or delete"
LATER = "The space is free once the next job has stored something: until then an open page may be reading the files."
"""What to expect of a deletion: the generation before is kept, and names the files."""


@dataclass(frozen=True)
class Doomed:
    """What a deletion would take away.

    Attributes:
        name: what is named to confirm it: the benchmark's address, or the system.
        words: what goes, a sentence.
        n_runs: runs that go.
        n_bytes: of their files, and of the texts of tasks.
        children: systems whose runs were composed of the one that goes; they stay.
    """

    name: str
    words: str
    n_runs: int
    n_bytes: int
    children: tuple[str, ...] = ()


def doomed_benchmark(store: Store, name: str) -> Doomed:
    """What deleting a benchmark takes away: one version where ``name`` has one, else all of them.

    Raises:
        InputError: there is no such benchmark.
    """
    rows = _versions(store, name)
    tasks = [task for row in rows for task in store.tasks(row.benchmark_id)]
    runs = store.runs([task.task_id for task in tasks])
    complete = sum(run.status == "complete" for run in runs)
    n_bytes = _bytes(store, runs) + sum(store.documents_bytes(task) or 0 for task in tasks)
    versions = f" in {len(rows)} versions" if len(rows) > 1 else ""
    words = f"{name}{versions} with {counted(len(tasks), 'task')} and {counted(complete, 'run')}"
    return Doomed(name, words, complete, n_bytes)


def doomed_run(store: Store, benchmark: str, task: str | None, system: str) -> Doomed:
    """What deleting a run takes away.

    Raises:
        InputError: there is no such benchmark, task or run.
    """
    found = only_task(store, benchmark, task)
    run = _run(store, found, system)
    children = store.children(found.task_id, system)
    words = f"the run of {system} on {found.name} of {benchmark}"
    return Doomed(system, words, int(run.status == "complete"), _bytes(store, [run]), children)


def doomed_results(store: Store, benchmark: str, task: str | None, system: str) -> Doomed:
    """What deleting the published results of a system on a task takes away.

    Raises:
        InputError: there is no such benchmark or task, or nothing was published of the system on it.
    """
    found = only_task(store, benchmark, task)
    rows = {row.system: row for row in store.published_sources([found.task_id])}
    if system not in rows:
        raise InputError(f"system {system!r}: {found.name} has published results of {', '.join(rows) or 'no system'}")
    figures = counted(rows[system].n_figures, "published figure")
    return Doomed(system, f"{figures} of {system} on {found.name} of {benchmark}", 0, 0)


def delete_benchmark(cache: Cache, name: str, *, progress: Progress) -> Doomed:
    """Delete a benchmark with its tasks and runs; ``name@version`` deletes one version.

    Raises:
        InputError: there is no such benchmark.
        JobCancelledError: the user cancelled.
    """

    def remove(writer: Writer, store: Store) -> None:
        for row in _versions(store, name):
            writer.remove_benchmark(row.benchmark_id)

    return _delete(cache, lambda store: doomed_benchmark(store, name), remove, progress)


def delete_run(cache: Cache, benchmark: str, task: str | None, system: str, *, progress: Progress) -> Doomed:
    """Delete a system's run of a task; runs composed of it stay as they are.

    Raises:
        InputError: there is no such benchmark, task or run.
        JobCancelledError: the user cancelled.
    """

    def remove(writer: Writer, store: Store) -> None:
        writer.remove_run(only_task(store, benchmark, task).task_id, system)

    return _delete(cache, lambda store: doomed_run(store, benchmark, task, system), remove, progress)


def delete_results(cache: Cache, benchmark: str, task: str | None, system: str, *, progress: Progress) -> Doomed:
    """Delete what was published of a system on a task; its runs stay.

    Raises:
        InputError: there is no such benchmark or task, or nothing was published of the system on it.
        JobCancelledError: the user cancelled.
    """

    def remove(writer: Writer, store: Store) -> None:
        writer.remove_published(only_task(store, benchmark, task).task_id, system)

    return _delete(cache, lambda store: doomed_results(store, benchmark, task, system), remove, progress)


def _delete(
    cache: Cache,
    doomed: Callable[[Store], Doomed],
    remove: Callable[[Writer, Store], None],
    progress: Progress,
) -> Doomed:
    """Look what would go, and once more under the lock: another job may have been waited for."""
    doomed(opened(cache, otherwise=EMPTY))
    with write.writer(cache, progress=progress) as writer:
        store = opened(cache, otherwise=EMPTY)
        found = doomed(store)
        progress("delete", 0, 1)
        remove(writer, store)
        progress("delete", 1, 1)
    return found


def rename_benchmark(cache: Cache, name: str, new: str, *, progress: Progress) -> None:
    """Call every version of an imported benchmark by another name, in notes too.

    Raises:
        InputError: there is no such benchmark, the program builds it, or the new name is impossible or taken.
        JobCancelledError: the user cancelled.
    """
    _check_benchmark(opened(cache, otherwise=EMPTY), name, new)
    with write.writer(cache, progress=progress) as writer:
        _check_benchmark(opened(cache, otherwise=EMPTY), name, new)  # another job may have been waited for
        progress("rename", 0, 1)
        writer.rename_benchmark(name, new=new)
        progress("rename", 1, 1)
    notes.rename_benchmark(cache, name, new=new)
    audits.rename_benchmark(cache, name, new=new)


def rename_system(cache: Cache, name: str, new: str, *, progress: Progress) -> None:
    """Call the system of imported runs or published results by another name, in every task.

    Raises:
        InputError: nothing is stored of it, the catalogue names it, or the new name is impossible or taken.
        JobCancelledError: the user cancelled.
    """
    _check_system(opened(cache, otherwise=EMPTY), name, new)
    label = labels_of([new])[new]
    with write.writer(cache, progress=progress) as writer:
        _check_system(opened(cache, otherwise=EMPTY), name, new)  # another job may have been waited for
        progress("rename", 0, 1)
        writer.rename_system(name, new=new, title=label.title, short=label.short)
        progress("rename", 1, 1)
    notes.rename_system(cache, name, new=new)


def _versions(store: Store, name: str) -> list[BenchmarkRow]:
    """One version where the name says which, else all."""
    return [row for row in store.benchmarks() if row.name == name] or [store.benchmark(name)]


def _run(store: Store, task: TaskRow, system: str) -> RunRow:
    runs = {run.system: run for run in store.runs([task.task_id])}
    check_ran([system], runs, where=task.name)
    return runs[system]


def _check_benchmark(store: Store, name: str, new: str) -> None:
    check_names(new)
    known = {row.name for row in store.benchmarks()}
    if name not in known:
        raise InputError(f"unknown benchmark {name!r}: stored are {', '.join(sorted(known))}")
    if name in benchmarks.NAMES:
        raise InputError(f"benchmark {name!r} is built by the program and keeps its name")
    if new in known or new in benchmarks.NAMES:
        raise InputError(f"benchmark {new!r}: the name is taken; expected a free one")


def _check_system(store: Store, name: str, new: str) -> None:
    if name in catalogue.catalogue():
        raise InputError(f"system {name!r} is in the catalogue and keeps its name")
    if not store.has_results_of(name):
        raise InputError(f"unknown system {name!r}: nothing is stored of it")
    check_new_system(store, new)


def _bytes(store: Store, runs: Sequence[RunRow]) -> int:
    return sum(store.hits_bytes(run) or 0 for run in runs)
