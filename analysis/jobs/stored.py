"""What a job finds in the store before it changes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from analysis.errors import InputError, StoreError
from analysis.paths import Cache
from analysis.store import read
from analysis.store.read import BenchmarkRow, RunRow, Store, TaskRow
from analysis.systems import catalogue


def opened(cache: Cache, *, otherwise: str) -> Store:
    """The store as it is now; asked again once a job may have waited for another one.

    Args:
        cache: where it is.
        otherwise: what an empty store means for the job, as in "a run needs a stored benchmark".

    Raises:
        StoreError: nothing is stored.
    """
    store = read.open_store(cache)
    if store is None:
        raise StoreError(f"the store is empty: {otherwise}")
    return store


def current(store: Store | None, name: str) -> BenchmarkRow | None:
    """The version of a benchmark that its bare name stands for; None where the name is free."""
    rows = store.benchmarks() if store else []
    return next((row for row in rows if row.name == name and row.current), None)


def only_task(store: Store, benchmark: str, name: str | None) -> TaskRow:
    """A task by its name; without one, the only task that the benchmark has.

    Raises:
        InputError: there is no such benchmark or task, or no name says which of several.
    """
    tasks = store.tasks(store.benchmark(benchmark).benchmark_id)
    chosen = [task for task in tasks if name in {None, task.name}]
    if len(chosen) != 1:
        raise InputError(f"task {name!r}: {benchmark} has {', '.join(task.name for task in tasks)}")
    return chosen[0]


def ranked_runs(store: Store, task_id: int) -> dict[str, RunRow]:
    """The complete runs of a task that keep their rankings, by system."""
    return {run.system: run for run in store.runs([task_id]) if run.status == "complete" and run.hits_file}


def check_ran(names: Iterable[str], known: Collection[str], *, where: str) -> None:
    """Refuse a system that has no run.

    Args:
        names: of the systems asked for.
        known: those that ran.
        where: on which task or benchmark.

    Raises:
        InputError: the first of them that did not.
    """
    for name in names:
        if name not in known:
            raise InputError(f"system {name!r}: {where} has runs of {', '.join(known) or 'no system'}")


def check_name(name: str) -> None:
    """Refuse what no system can be called.

    Raises:
        InputError: a blank name, or one with a comma or a control character.
    """
    if not name.strip() or "," in name or not name.isprintable():
        raise InputError(f"name {name!r}: expected one without comma and control characters")


def check_new_system(store: Store, name: str) -> None:
    """Refuse what no new system can be called.

    Raises:
        InputError: a blank name, one with a comma or a control character, or one that is taken.
    """
    check_name(name)
    if name in store.system_labels() or name in catalogue.catalogue():
        raise InputError(f"system {name!r}: the name is taken; expected a free one")
