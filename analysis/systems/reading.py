"""How a model trained for late interaction reads texts, as its table and its files say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from analysis.errors import InputError, SystemLoadError, SystemRefusedError
from analysis.languages import canonical, language_name
from analysis.systems.catalogue import entry, limited
from analysis.systems.entry import Entry
from analysis.systems.weights import LoadOptions, model_folder


@dataclass(frozen=True)
class Reading:
    """How a model reads texts; lengths in tokens, everything included."""

    query_marker: str
    document_marker: str
    query_length: int
    document_length: int
    attend_to_masks: bool
    skip_punctuation: bool


_METADATA: dict[str, tuple[str, type]] = {  # what it is here, and in artifact.metadata
    "query_marker": ("query_token_id", str),
    "document_marker": ("doc_token_id", str),
    "query_length": ("query_maxlen", int),
    "document_length": ("doc_maxlen", int),
    "attend_to_masks": ("attend_to_mask_tokens", bool),
    "skip_punctuation": ("mask_punctuation", bool),
}


def reading(system: Entry, folder: Path) -> Reading:
    """How a model reads texts: as its table says, else as ``artifact.metadata`` in its folder does.

    Raises:
        SystemLoadError: neither says something, or that file cannot be read or says nonsense.
    """
    told = _json(system, folder / "artifact.metadata")
    found: dict[str, Any] = {}
    for ours, (theirs, sort) in _METADATA.items():
        key = "max_length" if ours == "document_length" else ours
        said = getattr(system, key)
        found[ours] = told.get(theirs) if said is None else said
        if found[ours] is None:
            raise SystemLoadError(f"{system.name}: {key} is not in its table, nor is {theirs} in artifact.metadata")
        if type(found[ours]) is not sort:
            raise SystemLoadError(f"{system.name}: {theirs} = {found[ours]!r} in artifact.metadata: no {sort.__name__}")
    return Reading(**found)


def recorded(system: Entry, options: LoadOptions) -> dict[str, dict[str, object]]:
    """How a system, or each model that it is composed of, reads texts: what a run keeps where files had a say."""
    if system.kind != "late-interaction" or system.parts:
        return {name: how for part in system.parts for name, how in recorded(entry(part), options).items()}
    folder = model_folder(system, replace(options, offline=True))
    return {system.name: asdict(reading(limited(system, options.max_length), folder))}


def adapters(system: Entry, folder: Path) -> dict[str, str]:
    """The adapters of a model by the language they read, as its ``config.json`` lists them: ``{"en": "en_XX"}``.

    Raises:
        SystemLoadError: it lists none.
    """
    names = _json(system, folder / "config.json").get("languages") or []
    found: dict[str, str] = {}
    for name in names:
        language, _, region = str(name).partition("_")
        tag = canonical(language if region == "XX" else f"{language}-{region}").tag
        found.setdefault(tag, str(name))
    if not found:
        raise SystemLoadError(f"{system.name}: adapters = true, but its config.json lists no languages")
    return found


_ALSO = {"nb": "no", "nn": "no", "fil": "tl"}
"""Languages that adapters know by the name of a wider one."""


def adapter_of(language: str, known: Mapping[str, str]) -> str | None:
    """The adapter that reads a language: in its script, else in another; None where there is none."""
    try:
        tag = canonical(language).tag
    except InputError:
        return None
    language = tag.partition("-")[0]
    return known.get(tag) or known.get(language) or known.get(_ALSO.get(language, ""))


def refuse_unread(system: Entry, languages: Iterable[str]) -> None:
    """Raise where texts are in a language that no adapter reads; silent while the model's files are not here.

    Raises:
        SystemRefusedError: names the languages.
    """
    if not system.adapters:
        return
    try:
        known = adapters(system, model_folder(system, LoadOptions(offline=True)))
    except SystemLoadError:
        return  # loading it says why
    unread = sorted(language for language in set(languages) if adapter_of(language, known) is None)
    if unread:
        raise SystemRefusedError(unread_words(system, unread))


def unread_words(system: Entry, languages: Sequence[str]) -> str:
    """What is said of texts in languages that no adapter reads."""
    names = [f"{language_name(language)} ({language})" if language else "no known language" for language in languages]
    return f"{system.name} has an adapter for each language that it reads, and none for texts in {', '.join(names)}"


def _json(system: Entry, file: Path) -> Mapping[str, Any]:
    """What a file says, or nothing where it is not there."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SystemLoadError(f"{system.name}: {file} is not JSON: {error}") from error
    return found if isinstance(found, dict) else {}
