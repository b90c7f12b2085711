"""Systems on the command line: which there are, whether each runs here, and weights made loadable."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from analysis.store.read import Store
from analysis.systems import catalogue, weights
from analysis.systems.readiness import NEEDS_IMAGES, readiness


def rows(store: Store | None, *, benchmark: str) -> Iterator[dict[str, Any]]:
    """What ever ran, then what else the catalogue has; whether each can run here, and what to type where it cannot.

    Args:
        store: None where nothing is stored yet.
        benchmark: the one that commands to type shall name.
    """
    ran = store.system_labels() if store else {}
    for label in ran.values():
        named = {"system": label.name, "title": label.title, "short": label.short, "paradigm": label.paradigm}
        yield {**named, "has_run": True, **_here(label.name, benchmark)}
    for name, entry in catalogue.systems().items():
        if name not in ran:
            named = {"system": name, "title": entry.title, "short": entry.short_title, "paradigm": entry.paradigm}
            yield {**named, "has_run": False, **_here(name, benchmark)}


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


def convert_weights(options: argparse.Namespace) -> None:
    """Write safetensors beside the pickles of a model's folder."""
    for file in weights.convert(options.folder):
        print(file)
