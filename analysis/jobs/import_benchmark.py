"""Bring a benchmark of others into the store: read and reported first, then stored whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import cast

from analysis import paths
from analysis.errors import InputError
from analysis.imports import folder
from analysis.imports.parts import Options
from analysis.imports.report import BenchmarkReport, report, warnings
from analysis.jobs.imports import check_names
from analysis.jobs.stored import current
from analysis.model import Benchmark, Flag, Image, Progress
from analysis.paths import Cache
from analysis.store import read, write
from analysis.store.read import BenchmarkRow, Store, TaskRow

UPLOADED = "its images are not kept, as they were uploaded: import the same again from a folder of this machine"
TASKS = "tasks"
"""Where the settings of an imported benchmark keep how each task was read, with the report of it."""


@dataclass(frozen=True)
class BenchmarkRequest:
    """What `import-benchmark` may be told."""

    path: Path
    benchmark: str
    task: str = "main"
    options: Options = field(default_factory=Options)


@dataclass(frozen=True)
class FoundBenchmark:
    """A benchmark that was read and not yet stored, with the report of it."""

    benchmark: Benchmark
    report: BenchmarkReport


def read_benchmark(request: BenchmarkRequest, *, progress: Progress) -> FoundBenchmark:
    """Read a folder and report on it; nothing is stored.

    Raises:
        InputError: a fault in the files, or an impossible name.
        JobCancelledError: the user cancelled.
    """
    check_names(request.benchmark, request.task)
    progress("read the files", 0, 2)
    read_files = folder.read(request.path, options=request.options)
    progress("read the files", 1, 2)
    found = report(read_files)
    progress("read the files", 2, 2)
    settings = {"options": asdict(request.options), "report": asdict(found), "files": read_files.checksums()}
    notes = (
        *(row.sentence for row in found.alignment if row.doubtful),
        *(f"{words}: {listed.n:,}" for words, listed in warnings(found)),
        *([UPLOADED] if read_files.images and paths.cache().uploads in request.path.resolve().parents else []),
    )
    made = folder.benchmark(
        read_files, name=request.benchmark, task=request.task, notes=notes, settings={TASKS: {request.task: settings}}
    )
    return FoundBenchmark(made, found)


def store_benchmark(cache: Cache, *, benchmark: Benchmark, progress: Progress) -> tuple[str, bool]:
    """Store a benchmark that was read, beside the tasks that were imported under its name before.

    The same task is stored once; what this program flags of it, and where its images are now, takes the place of what
    was said before.

    Returns:
        Its address, and False where the same task was stored before.

    Raises:
        InputError: the name and task stand for other content.
        JobCancelledError: the user cancelled.
    """
    store, (task,) = read.open_store(cache), benchmark.tasks
    row, stored = _known(store, benchmark)
    if store and row and stored and _says(store, stored.task_id) == (set(task.flags), task.images):
        return f"{row.name}@{row.version}", False
    progress("store the benchmark", 0, 1)
    with write.writer(cache, progress=progress) as writer:
        row, stored = _known(read.open_store(cache), benchmark)  # another job may have been waited for
        if stored:
            writer.flag(stored.task_id, task)
            writer.place_images(stored.task_id, task)
        elif row:
            writer.extend(row.benchmark_id, _joined(row, benchmark))
        version = row.version if row else writer.add_benchmark(benchmark)
    progress("store the benchmark", 1, 1)
    return f"{benchmark.name}@{version}", stored is None


def _says(store: Store, task_id: int) -> tuple[set[Flag], tuple[Image, ...]]:
    """What is stored of a task beside what its checksum covers."""
    return set(store.flags(task_id)), store.images(task_id)


def _known(store: Store | None, benchmark: Benchmark) -> tuple[BenchmarkRow | None, TaskRow | None]:
    """The stored benchmark of this name, and its task of this name; None where the name is free.

    Raises:
        InputError: its task of this name has other content, or it was not imported.
    """
    row = current(store, benchmark.name)
    if store is None or row is None:
        return None, None
    if TASKS not in row.settings:
        raise InputError(f"benchmark {row.name!r} is stored already and was not imported; expected another name")
    (task,) = benchmark.tasks
    stored = {known.name: known for known in store.tasks(row.benchmark_id)}.get(task.name)
    if stored and (stored.checksum, stored.exclude_self) != (write.task_checksum(task), task.exclude_self):
        raise InputError(f"benchmark {row.name!r} has a task {task.name!r} with other content; expected another name")
    return row, stored


def _joined(row: BenchmarkRow, benchmark: Benchmark) -> Benchmark:
    """A benchmark's card once another task stands beside those stored."""
    (task,) = benchmark.tasks
    return replace(
        benchmark,
        version=row.version,
        parallel=row.parallel and benchmark.parallel,
        source="; ".join(dict.fromkeys((row.source, benchmark.source))),
        notes=(*row.notes, *(f"{task.name}: {note}" for note in benchmark.notes)),
        settings={TASKS: {**_tasks(row.settings), **_tasks(benchmark.settings)}},
        tasks=(replace(task, default=False),),
    )


def _tasks(settings: Mapping[str, object]) -> dict[str, object]:
    """How each task was imported, by its name."""
    return dict(cast("Mapping[str, object]", settings[TASKS]))
