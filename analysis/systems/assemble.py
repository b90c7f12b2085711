"""From a name in the catalogue to a system that can rank, its parts included."""

from __future__ import annotations

import importlib.util

from analysis.errors import SystemLoadError
from analysis.systems.bm25 import BM25
from analysis.systems.catalogue import Entry, entry
from analysis.systems.dense import Dense
from analysis.systems.fusion import Fusion
from analysis.systems.late_interaction import LateInteraction
from analysis.systems.rerank import TwoStage
from analysis.systems.workbench import System


def build(name: str, *, force: bool = False) -> System:
    """The system of that name.

    Args:
        name: a table of the catalogue.
        force: late interaction takes corpora beyond its limit.

    Raises:
        InputError: no such system.
        SystemLoadError: a package that it needs is not installed.
    """
    system = entry(name)
    if system.package and importlib.util.find_spec(system.package) is None:
        raise SystemLoadError(f"{name}: the package {system.package} is missing; pip install {system.install}")
    if system.kind == "bm25":
        return BM25(system)
    if system.kind == "late-interaction":
        return _late_interaction(system, force=force)
    if system.kind == "fusion":
        return Fusion(system, parts=[build(part, force=force) for part in system.parts])
    if system.kind == "two-stage":
        first, second = system.parts
        rescorer = _late_interaction(entry(second), force=force)
        return TwoStage(system, first=build(first, force=force), second=rescorer)
    return Dense(system)


def _late_interaction(system: Entry, *, force: bool) -> LateInteraction:
    encoder = build(system.parts[0]).entry
    return LateInteraction(system, encoder=encoder, force=force)
