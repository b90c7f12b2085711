"""Look for what a benchmark asks and holds in a file that something was trained on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import training as files
from analysis.imports.lines import BLOCK, opened
from analysis.imports.training import Reading
from analysis.jobs.stored import opened as opened_store
from analysis.model import Progress
from analysis.paths import Cache
from analysis.store import write
from analysis.store.connection import on_disk
from analysis.store.read import BenchmarkRow, Store, TaskRow
from analysis.store.training import LEAST, SPAN, Search, trainings

EMPTY = "there is no benchmark to look for"
SAVED = 16  # batches between two times that what was found is saved
KEPT_SECONDS = 7 * 86_400  # what a job that was never taken up again had found is removed then


@dataclass(frozen=True)
class TrainingRequest:
    """What `separation --against` may be told."""

    benchmark: str
    file: Path
    columns: tuple[str, ...] = ()  # empty: by their usual names
    concept: str | None = None  # the column that names concepts; None: by its usual names
    lines: bool = False  # every line is a text, whatever the file looks like


@dataclass(frozen=True)
class Measured:
    """A file before it is looked through."""

    checksum: str  # SHA-256 as it lies there
    n_bytes: int
    n_lines: int  # unpacked; 0 of a file that is not read by lines


def look_through(cache: Cache, *, request: TrainingRequest, progress: Progress) -> str:
    """Look for a benchmark in a file, store what occurs there, and return the benchmark's address.

    A job that is ended keeps what it had found: begun again on the same file it passes over what was looked at.

    Raises:
        InputError: no such benchmark, or a fault in the file, with file, line, value and what was expected.
        StoreError: nothing is stored, or the disk is full.
        JobCancelledError: the user cancelled.
    """
    store = opened_store(cache, otherwise=EMPTY)
    row, tasks = _asked(store, request.benchmark)
    reading = Reading("lines" if request.lines else files.form_of(request.file), request.columns, request.concept)
    measured = measure(request.file, reading.form, progress=progress)
    search = Search(store, [task.task_id for task in tasks])
    settings = _settings(reading, search)
    kept = _kept(cache, measured, settings, tasks)
    total = measured.n_lines
    batches = files.read(request.file, reading)
    step = f"look through {request.file.name}"
    n_rows, n_texts = _through(search, batches, kept, lambda done: progress(step, min(done, total or done), total))
    found = search.found()
    counts = search.counts(found)
    progress("store what was found", 0, 1)
    with write.writer(cache, progress=progress) as writer:
        if _asked(opened_store(cache, otherwise=EMPTY), request.benchmark)[0].benchmark_id != row.benchmark_id:
            raise InputError(f"benchmark {request.benchmark!r}: another version was built meanwhile; look again")
        writer.add_training(
            row.benchmark_id,
            found=found,
            file=request.file.name,
            checksum=measured.checksum,
            n_bytes=measured.n_bytes,
            n_rows=n_rows,
            n_texts=n_texts,
            settings=json.dumps(settings, ensure_ascii=False),
            counts=json.dumps(counts, ensure_ascii=False),
        )
    progress("store what was found", 1, 1)
    kept.unlink(missing_ok=True)
    return f"{row.name}@{row.version}"


def forget(cache: Cache, benchmark: str, training_id: int, *, progress: Progress) -> None:
    """Forget what was found in a file.

    Raises:
        InputError: no such benchmark, or it was not looked for in such a file.
        JobCancelledError: the user cancelled.
    """
    with write.writer(cache, progress=progress) as writer:
        store = opened_store(cache, otherwise=EMPTY)
        known = {row.training_id for row in trainings(store, store.benchmark(benchmark).benchmark_id)}
        if training_id not in known:
            raise InputError(f"{benchmark}: what was found in this file is forgotten already")
        writer.remove_training(training_id)


def measure(path: Path, form: str, *, progress: Progress) -> Measured:
    """Checksum, size and lines of a file.

    Raises:
        InputError: it cannot be read.
        JobCancelledError: raised by progress.
    """
    step, digest, n_lines, done = f"read {path.name}", hashlib.sha256(), 0, 0
    try:
        n_bytes = path.stat().st_size
        with path.open("rb") as handle:
            while data := handle.read(BLOCK):
                digest.update(data)
                n_lines += data.count(b"\n")
                done += len(data)
                progress(step, done, n_bytes)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; expected a file") from error
    if form in ("parquet", "arrow"):
        return Measured(digest.hexdigest(), n_bytes, 0)
    with opened(path) as source:
        if source.packed:
            n_lines = _lines(source.read, progress, step)
    return Measured(digest.hexdigest(), n_bytes, n_lines + 1)


def _lines(read: Callable[[int], bytes], progress: Progress, step: str) -> int:
    n = 0
    while data := read(BLOCK):
        n += data.count(b"\n")
        progress(f"{step}, unpacked", n, 0)
    return n


def _asked(store: Store, benchmark: str) -> tuple[BenchmarkRow, list[TaskRow]]:
    row = store.benchmark(benchmark)
    tasks = [task for task in store.tasks(row.benchmark_id) if task.n_queries or task.n_documents]
    if not tasks:
        raise InputError(f"{benchmark} has published figures only: no query or document to look for")
    return row, tasks


def _settings(reading: Reading, search: Search) -> dict[str, Any]:
    return {
        "form": reading.form,
        "columns": list(reading.columns),
        "concept": reading.concept,
        "span": SPAN,
        "least": LEAST,
        "every": search.every,
    }


def _kept(cache: Cache, measured: Measured, settings: Mapping[str, Any], tasks: list[TaskRow]) -> Path:
    """Where what was found is saved; what was saved long ago and never taken up is removed."""
    with on_disk(cache.root):
        cache.training.mkdir(parents=True, exist_ok=True)
    for old in cache.training.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another job removed it
            if time.time() - old.stat().st_mtime > KEPT_SECONDS:
                old.unlink()
    sums = [(task.task_id, task.checksum) for task in tasks]
    told = json.dumps([measured.checksum, dict(settings), sums])
    return cache.training / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.npz"


def _through(search: Search, batches: Iterable[files.Batch], kept: Path, say: Callable[[int], None]) -> tuple[int, int]:
    """Let the whole file go past; returns its lines or records, and its texts."""
    before, n_rows, n_texts = search.take_up(kept)
    for number, batch in enumerate(batches, start=1):
        say(batch.last)
        if number <= before:
            continue
        search.look(batch.rows, batch.texts)
        search.look_for_concepts(batch.concept_rows, batch.concepts)
        n_rows, n_texts = batch.last, n_texts + len(batch.texts)
        if number % SAVED == 0:
            with on_disk(kept.parent):
                search.keep(kept, batches=number, n_rows=n_rows, n_texts=n_texts)
    return n_rows, n_texts
