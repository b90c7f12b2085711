"""Systems on the command line: which there are, whether each runs here, and weights made loadable."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.store.read import Store
from analysis.systems import catalogue, weights
from analysis.systems.readiness import NEEDS_IMAGES, readiness
from analysis.views.system_facts import system_facts


def rows(store: Store | None, *, benchmark: str, facts: bool) -> Iterator[dict[str, Any]]:
    """What is stored, then what else the catalogue has; whether each can run here, and what to type where it cannot.

    Args:
        store: None where nothing is stored yet.
        benchmark: the one that commands to type shall name.
        facts: what is known of the models of each, too: what no table has room for.
    """
    stored = store.system_labels() if store else {}
    ran = _ran(store) if store else set()
    for label in stored.values():
        named = {"system": label.name, "title": label.title, "short": label.short, "paradigm": label.paradigm}
        more = {**_here(label.name, benchmark), **_facts(label.name, wanted=facts)}
        yield {**named, "has_run": label.name in ran, **more}
    for name, entry in catalogue.systems().items():
        if name not in stored:
            named = {"system": name, "title": entry.title, "short": entry.short_title, "paradigm": entry.paradigm}
            yield {**named, "has_run": False, **_here(name, benchmark), **_facts(name, wanted=facts)}


def _ran(store: Store) -> set[str]:
    """Those with a run of any task; of others only published figures may be stored."""
    tasks = [task.task_id for row in store.benchmarks() for task in store.tasks(row.benchmark_id)]
    return {run.system for run in store.runs(tasks) if run.status == "complete"}


def _here(name: str, benchmark: str) -> dict[str, Any]:
    """Null where the catalogue does not know the system."""
    entry = catalogue.systems().get(name)
    if entry is None:
        return {"runs_here": False, "here": None, "missing": None, "command": None, "needs": None}
    needed = readiness(entry, benchmark=benchmark)
    missing, command = needed.missing or None, needed.command or None
    wanted = NEEDS_IMAGES if catalogue.needs_images(entry) else None  # of a benchmark
    here = {"runs_here": needed.runs, "here": needed.where or None, "missing": missing, "command": command}
    return {**here, "needs": wanted}


def _facts(name: str, *, wanted: bool) -> dict[str, Any]:
    if not wanted:
        return {}
    return {"facts": system_facts(name) if name in catalogue.systems() else None}


def convert_weights(options: argparse.Namespace) -> None:
    """Write safetensors beside the pickles of a model's folder; that of a system is compared with the catalogue."""
    system = catalogue.catalogue().get(options.folder.resolve().name)
    its_own = system and system.folder and Path(system.folder).resolve() == options.folder.resolve()
    for file in weights.convert(options.folder, sha256=system.pickle if system and its_own else None):
        print(file)
