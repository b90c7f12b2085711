"""From a name in the catalogue to a system that can rank, its parts included."""

from __future__ import annotations

import importlib.util

from analysis.errors import InputError, SystemLoadError
from analysis.systems.bm25 import BM25
from analysis.systems.catalogue import entry
from analysis.systems.dense import Dense
from analysis.systems.entry import Entry
from analysis.systems.fusion import Fusion
from analysis.systems.late_interaction import LateInteraction
from analysis.systems.multimodal import Multimodal
from analysis.systems.rerank import CrossEncoder, TwoStage
from analysis.systems.workbench import System


def build(name: str, *, force: bool = False) -> System:
    """The system of that name.

    Args:
        name: a table of the catalogue.
        force: late interaction takes corpora beyond its limit.

    Raises:
        InputError: no such system, or one that only rescores what another found, or comes by import.
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
        return TwoStage(system, first=build(first, force=force), second=_second_stage(entry(second), force=force))
    if system.kind == "import-only":
        raise InputError(f"system {name!r}: nothing here loads it; its runs come by import-run")
    if system.kind == "cross-encoder":
        raise InputError(f"system {name!r} only rescores what another system found; run one that is composed of it")
    return Multimodal(system) if system.reads else Dense(system)


def _second_stage(system: Entry, *, force: bool) -> LateInteraction | CrossEncoder:
    return CrossEncoder(system) if system.kind == "cross-encoder" else _late_interaction(system, force=force)


def _late_interaction(system: Entry, *, force: bool) -> LateInteraction:
    encoder = build(system.parts[0]).entry if system.parts else system
    return LateInteraction(system, encoder=encoder, force=force)
