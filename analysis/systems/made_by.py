"""Which system of the catalogue made a stored run, where its settings still say the same."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

from analysis.errors import InputError
from analysis.store.read import RunRow
from analysis.systems import catalogue
from analysis.systems.catalogue import DESCRIPTIVE
from analysis.systems.entry import Entry

IMAGES = "images"
"""Where the provenance of a run says how many images of queries and documents it read."""

OTHER_TOOL = "the run came from another tool, so its encoder is not known"
BROUGHT = "its vectors were brought as files, so its encoder is not known"
NO_VECTORS = "it has no vector for a text"
OF_IMAGES = "its vectors are of images too, and this looks at texts alone"
CHANGED = "its settings in the catalogue have changed since it ran"


class MadeBy(NamedTuple):
    """What made a run."""

    entry: Entry | None
    max_length: int | None = None  # tokens, where the run was told to read fewer than the catalogue says
    reason: str = ""  # why there is no entry
    dtype: str | None = None  # where the run was told another precision than the catalogue says


def made_by(run: RunRow) -> MadeBy:
    """The catalogue's entry that would make the same run again; without one, why."""
    settings = run.provenance.get("settings")
    if not settings or run.system not in catalogue.catalogue():
        return MadeBy(None, reason=BROUGHT if "vectors" in run.provenance else OTHER_TOOL)
    entry = catalogue.entry(run.system)
    for length, dtype in itertools.product(_told(settings, "max_length"), _told(settings, "dtype")):
        if _deciding(_settings(entry, length, dtype)) == _deciding(settings):
            return MadeBy(entry, length, dtype=dtype)
    return MadeBy(None, reason=CHANGED)


def _told(settings: Mapping[str, Any], key: str) -> list[Any]:
    """What the run may have been told of a setting: nothing, or what one of its models has."""
    parts = [value for part in settings.get("parts", {}).values() for value in _told(part, key)]
    return list(dict.fromkeys((None, settings.get(key), *parts)))


def _settings(entry: Entry, length: int | None, dtype: str | None) -> Mapping[str, Any]:
    """What a run records that is told so; nothing where the models do not bear it."""
    try:
        return catalogue.settings(entry, max_length=length, dtype=dtype)
    except InputError:
        return {}


def no_vectors(run: RunRow) -> str | None:
    """Why a run has no vectors of its texts, in words; None where it has."""
    origin = made_by(run)
    if origin.entry is None:
        return origin.reason
    if origin.entry.kind != "dense":
        return NO_VECTORS
    return OF_IMAGES if reads_images(run) else None


def reads_images(run: RunRow) -> bool:
    """Whether a run's vectors are not those of its texts alone."""
    return any(run.provenance.get(IMAGES, {}).values())


def _deciding(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What of recorded settings decides a ranking; a system is told by its name already."""
    found = {key: value for key, value in settings.items() if key not in DESCRIPTIVE}
    return found | {"parts": {name: _deciding(part) for name, part in settings.get("parts", {}).items()}}
