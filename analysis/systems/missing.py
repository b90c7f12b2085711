"""Why a system cannot run on this machine, in words."""

from __future__ import annotations

from analysis.systems import catalogue
from analysis.systems.catalogue import Entry


def missing(system: Entry, *, downloads: bool = False) -> str | None:
    """Why a system cannot run here and what would help; None where it can.

    Args:
        system: of the catalogue, or the reader's own.
        downloads: models of the hub may be downloaded.
    """
    if catalogue.available(system):
        return None
    if system.parts:
        return next(filter(None, (_of_part(name, downloads=downloads) for name in system.parts)), None)
    hub = system.model and not (system.package or system.url or system.folder)
    return None if hub and downloads else _words(system)


def allowed_from_pages(system: Entry) -> bool:
    """Whether a page may run it: not what runs code of the reader's own, itself or in a part."""
    return not system.function and all(allowed_from_pages(catalogue.entry(part)) for part in system.parts)


def _of_part(name: str, *, downloads: bool) -> str | None:
    part = catalogue.entry(name)
    reason = missing(part, downloads=downloads)
    return f"it is composed of {part.short_title}: {reason}" if reason else None


def _words(system: Entry) -> str:
    if system.kind == "bm25":
        return "the package bm25s is not installed: python -m pip install bm25s"
    if system.package:
        return (
            f"the package {system.package} is not installed: python -m pip install {system.install or system.package}"
        )
    if system.url:
        return f"the environment variable {system.key_variable}, which holds its key, is not set"
    if system.function:
        return f"no module {system.function.partition(':')[0]} is found in {system.folder or 'what Python searches'}"
    if system.folder:
        return f"the folder {system.folder} is not there"
    return f"the weights of {system.model} are not on this machine: a run in a terminal downloads them"
