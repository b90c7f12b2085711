"""One name a system, whatever a hub, a paper or a person calls it: the catalogue's, where it has the system."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping

from analysis.systems import catalogue
from analysis.systems.entry import Entry

SAME_WEIGHTS = {"all-minilm-l6-v2": "sentence-transformers/all-MiniLM-L6-v2"}
"""Hub ids of weights that reach the catalogue in a package, whose SHA-256 is that of the hub's file."""


def known_as(name: str) -> str:
    """The catalogue's name of a system, from that name, its hub id or its short name there; else the name as it is.

    Capitals do not count, and ``org__model`` is a hub id too. The reader's own systems keep their names: one may be the
    same model with other settings.
    """
    return _names().get(name.replace("__", "/").casefold(), name)


def among(name: str, stored: Collection[str]) -> str:
    """What a system is called beside stored ones: as the one that it is, else as in the catalogue."""
    if name in stored:
        return name
    known = known_as(name)
    return known if known in stored else next((other for other in sorted(stored) if known_as(other) == known), known)


def pinned(name: str) -> str | None:
    """The hub's revision that the catalogue pins for a system; None where it pins none or does not know the system."""
    found = _shipped().get(known_as(name))
    return found.revision if found and found.model else None


@functools.cache
def _shipped() -> Mapping[str, Entry]:
    return catalogue.catalogue(catalogue.CATALOGUE)


@functools.cache
def _names() -> Mapping[str, str]:
    """Catalogue name by every name in lower case; where two systems claim one, the catalogue's own names go first."""
    found: dict[str, str] = {}
    entries = _shipped().values()
    hubs = {entry.name: entry.model or SAME_WEIGHTS.get(entry.name, "") for entry in entries}
    for claims in (
        {entry.name: entry.name for entry in entries},
        hubs,
        {entry.name: entry.short_title for entry in entries},
        {name: hub.rpartition("/")[2] for name, hub in hubs.items()},
    ):
        for name, claim in claims.items():
            if claim:
                found.setdefault(claim.casefold(), name)
    return found
