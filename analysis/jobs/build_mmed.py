"""Build the tasks of MMed-Bench-IR from a licence holder's files; each stands beside those built before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from analysis.benchmarks import mmed_task1
from analysis.jobs.nearest import Nearest
from analysis.jobs.stored import current
from analysis.model import Benchmark, Progress
from analysis.paths import Cache
from analysis.store import read, write
from analysis.store.read import BenchmarkRow, Store
from analysis.systems.weights import LoadOptions

BUILT = "built"
"""Where the settings keep how each task was made."""


def build_task1(
    cache: Cache, *, options: mmed_task1.Options, tagger: str | None, load: LoadOptions, progress: Progress
) -> tuple[str, Benchmark]:
    """Build task 1 and return its address with what was built.

    Raises:
        InputError: a file is missing or faulty, or no language has questions enough.
        SystemLoadError: the tagger does not load.
        JobCancelledError: the user cancelled; what was prepared and encoded is kept.
    """
    linker = Nearest(cache, tagger, load=load, progress=progress) if tagger else None
    benchmark = mmed_task1.build(options, cache.terms, linker=linker, progress=progress)
    return stored(cache, benchmark, progress=progress), benchmark


def stored(cache: Cache, benchmark: Benchmark, *, progress: Progress) -> str:
    """Store a benchmark with one task, beside other tasks of the same UMLS where there are any; its address.

    The same task is stored once. One with other content begins another version.
    """
    progress("store the benchmark", 0, 1)
    (task,) = benchmark.tasks
    with write.writer(cache, progress=progress) as writer:
        store = read.open_store(cache)
        row = current(store, benchmark.name)
        known = _checksum(store, row, task.name)
        if (
            row
            and row.settings.get("umls") == benchmark.settings["umls"]
            and known in (None, write.task_checksum(task))
        ):
            added = () if known else benchmark.tasks
            writer.extend(row.benchmark_id, replace(_joined(row, benchmark), tasks=added))
            version = row.version
        else:
            version = writer.add_benchmark(benchmark)
    progress("store the benchmark", 1, 1)
    return f"{benchmark.name}@{version}"


def _checksum(store: Store | None, row: BenchmarkRow | None, task: str) -> str | None:
    """Of the task's content as it is stored; None where the benchmark has no such task."""
    known = store.tasks(row.benchmark_id) if store and row else []
    return next((stored.checksum for stored in known if stored.name == task), None)


def _joined(row: BenchmarkRow, benchmark: Benchmark) -> Benchmark:
    """The card once this task stands beside those stored."""
    built = {**_built(row.settings), **_built(benchmark.settings)}
    others = tuple(note for note in row.notes if not note.startswith(f"{benchmark.tasks[0].title}: "))
    return replace(
        benchmark,
        version=row.version,
        licence=_both(row.licence, benchmark.licence),
        source=_both(row.source, benchmark.source),
        notes=tuple(dict.fromkeys((*others, *benchmark.notes))),
        settings={**benchmark.settings, BUILT: built},
    )


def _both(known: str, new: str) -> str:
    """What is said of the tasks stored and of this one, each once: a task may be built again."""
    return "; ".join(dict.fromkeys((*known.split("; "), *new.split("; "))))


def _built(settings: Mapping[str, object]) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", settings[BUILT]))
