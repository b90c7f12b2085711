"""Bring files of others into the store: all of a file, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import InputError
from analysis.imports import scores
from analysis.imports.scores import Scores
from analysis.model import Progress, SystemLabel
from analysis.paths import Cache
from analysis.store import read, write
from analysis.store.read import Store
from analysis.systems import catalogue

UNKNOWN = "unknown"
"""The paradigm of a system that the catalogue does not know; charts have a colour of its own for it."""


@dataclass(frozen=True)
class ScoresRequest:
    """What `import-scores` may be told."""

    path: Path
    benchmark: str
    task: str = "main"
    family_from_id: bool = False
    dry_run: bool = False
    query_language: str | None = None  # of every query, where no column says it
    language_pattern: str | None = None  # where query ids name it


@dataclass(frozen=True)
class ScoresReport:
    """What `import-scores` did."""

    address: str
    stored: bool  # False: the same file was stored before, or it was a dry run
    measures: tuple[str, ...]
    attributes: tuple[str, ...]  # free ones
    n_queries: int
    missing: tuple[tuple[str, int], ...]  # system and queries that the file lacks for it; they count 0
    notices: tuple[str, ...]  # languages repaired or doubtful


def check_names(*names: str) -> None:
    """Refuse what no benchmark or task can be called.

    Raises:
        InputError: a blank name, or one with @ or a comma.
    """
    for name in names:
        if not name.strip() or "@" in name or "," in name:
            raise InputError(f"name {name!r}: expected one without @ and comma")


def import_scores(cache: Cache, *, request: ScoresRequest, progress: Progress) -> ScoresReport:
    """Store a file of per-query scores as a benchmark of one task.

    The same file with the same settings is stored once; a dry run stores nothing.

    Raises:
        InputError: a fault in the file, an impossible name, or a benchmark of this name with other content.
        JobCancelledError: the user cancelled.
    """
    check_names(request.benchmark, request.task)
    progress("read the scores", 0, 1)
    found = scores.read(
        request.path,
        family_from_id=request.family_from_id,
        query_language=request.query_language,
        language_pattern=request.language_pattern,
    )
    progress("read the scores", 1, 1)
    settings: dict[str, object] = {
        "scores": found.checksum,
        "task": request.task,
        "family_from_id": request.family_from_id,
    }
    told = {"query_language": request.query_language, "language_pattern": request.language_pattern}
    settings |= {name: value for name, value in told.items() if value}
    address = _address(read.open_store(cache), request, settings)
    if address or request.dry_run:
        return _report(found, address or request.benchmark, stored=False)
    with write.writer(cache, progress=progress) as writer:
        store = read.open_store(cache)  # another job may have been waited for
        address = _address(store, request, settings)
        if address:
            return _report(found, address, stored=False)
        made = scores.benchmark(found, name=request.benchmark, task=request.task, settings=settings)
        version = writer.add_benchmark(made)
        labels = labels_of(found.systems) | (store.system_labels() if store else {})
        task_id = writer.task_id(made.name, version=version, task=request.task)
        for place, system in enumerate(found.systems):
            progress("store the scores", place, len(found.systems))
            _store(writer, task_id, labels[system], found, place)
        progress("store the scores", len(found.systems), len(found.systems))
    return _report(found, f"{made.name}@{version}", stored=True)


def _store(writer: write.Writer, task_id: int, label: SystemLabel, found: Scores, place: int) -> None:
    writer.add_system(label.name, title=label.title, short=label.short, paradigm=label.paradigm)
    writer.add_scores(
        task_id,
        label.name,
        scores={measure: values[place] for measure, values in found.values.items()},
        fingerprint=found.checksum,
        provenance={"file": found.name, "sha256": found.checksum},
    )


def _address(store: Store | None, request: ScoresRequest, settings: dict[str, object]) -> str | None:
    """Where the same file is stored already; None where the name is free.

    Raises:
        InputError: the name stands for something else.
    """
    named = [row for row in store.benchmarks() if row.name == request.benchmark] if store else []
    for row in named:
        if dict(row.settings) == settings:
            return f"{row.name}@{row.version}"
    if named:
        raise InputError(
            f"benchmark {request.benchmark!r} is stored already with other content or settings; expected another name"
        )
    return None


def labels_of(systems: Sequence[str]) -> dict[str, SystemLabel]:
    """How each system is called: as in the catalogue where it has that name, else by the last part of its own."""
    entries = catalogue.catalogue()
    lasts = {name: name.rstrip("/").rsplit("/", 1)[-1] for name in systems}
    shared = Counter(lasts.values())
    found = {}
    for name, last in lasts.items():
        same_model = (entry for entry in entries.values() if entry.model == name or entry.name == last.casefold())
        entry = entries.get(name) or next(same_model, None)
        short = last if shared[last] == 1 else name
        title, short = (entry.title, entry.short_title) if entry and entry.name == name else (name, short)
        found[name] = SystemLabel(name, title, short, entry.paradigm if entry else UNKNOWN, 0)
    return found


def _report(found: Scores, address: str, *, stored: bool) -> ScoresReport:
    lacking = np.count_nonzero(~found.present, axis=1)
    return ScoresReport(
        address=address,
        stored=stored,
        measures=tuple(found.values),
        attributes=tuple(found.queries[0].attributes),
        n_queries=len(found.queries),
        missing=tuple((name, int(n)) for name, n in zip(found.systems, lacking, strict=True) if n),
        notices=found.notices,
    )
