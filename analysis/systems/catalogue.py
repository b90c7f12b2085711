"""The catalogue of retrieval systems: one frozen entry for each table of ``catalogue.toml``."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

from analysis import paths
from analysis.errors import InputError
from analysis.systems import entry_tables
from analysis.systems.entry import READS, Entry
from analysis.systems.own_code import locate

CATALOGUE = Path(__file__).with_name("catalogue.toml")

SCORED_BY = {".safetensors", ".json", ".txt", ".model"}
"""Files of a local folder that decide scores: weights, configurations, vocabularies."""

SCORING = 1
"""Version of the ranking code; raised when a change to it changes scores, so that stored runs are not reused."""


def catalogue(path: Path | None = None) -> dict[str, Entry]:
    """Every system by name, in the order of the file; then the reader's own, of the cache folder in force.

    Args:
        path: another catalogue file, alone; by default the one beside this module.

    Raises:
        InputError: a file is not TOML, or a table breaks a rule; names file, table, key and value.
    """
    if path is not None:
        found = _load(*_version(path))
    else:
        own = paths.cache().own_systems
        shared = _version(CATALOGUE)
        found = _load(*_version(own), shared) if own.is_file() else _load(*shared)
    home = paths.models()
    there = {path.name for path in home.iterdir() if path.is_dir()} if home.is_dir() else set()
    return {name: _at_home(system, home, there, found) for name, system in found.items()}


def _at_home(system: Entry, home: Path, there: Collection[str], known: Mapping[str, Entry]) -> Entry:
    """The system with its folder among the reader's own models, where it is there or belongs there."""
    if system.backend != "sentence-transformers" or system.package:
        return system
    if system.folder:
        return replace(system, folder=str(home / Path(system.folder).expanduser()))
    twins = [name for name, other in known.items() if system.reads and other.reads and other.model == system.model]
    own = next((home / name for name in (system.name, *twins) if name in there), None)
    return replace(system, folder=str(own), revision=None, weights=None, sha256=None) if own else system


def systems(path: Path | None = None) -> dict[str, Entry]:
    """Every system that ranks by itself: without those that only rescore what another found."""
    return {name: system for name, system in catalogue(path).items() if system.kind != "cross-encoder"}


def runs_here(name: str) -> bool:
    """Whether the catalogue has a system of that name that is run here; the runs of others come by import."""
    found = catalogue().get(name)
    return found is not None and found.kind != "import-only"


def is_model(system: Entry) -> bool:
    """Whether the system is a model that is loaded here, not composed of others."""
    return system.kind in ("dense", "cross-encoder") or (system.kind == "late-interaction" and not system.parts)


def checked(path: Path, tables: Mapping[str, object]) -> dict[str, Entry]:
    """The reader's own systems, checked as the catalogue is, on which they stand.

    Args:
        path: the file that messages name.
        tables: by name, as TOML gives them.

    Raises:
        InputError: a table breaks a rule, or has the name of a system of the catalogue.
    """
    return entry_tables.entries(path, tables, _load(*_version(CATALOGUE)))


def entry(name: str, path: Path | None = None) -> Entry:
    """The system of that name.

    Raises:
        InputError: there is none; names those that exist.
    """
    known = catalogue(path)
    if name not in known:
        raise InputError(f"system {name!r} is not in the catalogue; known: {', '.join(known)}")
    return known[name]


def below(system: Entry) -> tuple[str, ...]:
    """Names of the systems that a system stands on: its parts, and what encodes its images."""
    return (*system.parts, *([system.images] if system.images else []))


def _anywhere(system: Entry, holds: Callable[[Entry], bool]) -> bool:
    """Whether something holds of a system or of one of those that it stands on, down to the last."""
    return holds(system) or any(_anywhere(entry(part), holds) for part in below(system))


def sees(system: Entry) -> bool:
    """Whether it, or one of its parts, reads images, of queries or of documents."""
    return _anywhere(system, lambda one: bool(one.reads))


def needs_images(system: Entry) -> bool:
    """Whether it, or one of its parts, reads the images of queries, so that a benchmark must have some."""
    return system.reads in READS[1:] or any(needs_images(entry(part)) for part in system.parts)


def towers(system: Entry) -> tuple[Entry, Entry]:
    """What encodes the texts of a dense system that sees images, and what its images: the model, whatever is read."""
    text = replace(system, reads=None, images=None)
    return text, towers(entry(system.images))[0] if system.images else text


def available(system: Entry) -> bool:
    """Whether everything the system needs is on this machine; imports nothing and asks no network."""
    if not all(available(entry(part)) for part in below(system)):
        return False
    if system.parts:
        return True
    if system.kind == "import-only" or any(importlib.util.find_spec(name) is None for name in system.requires):
        return False
    if system.kind == "bm25" or system.package:
        return importlib.util.find_spec(system.package or "bm25s") is not None
    if system.url:
        return not system.key_variable or bool(os.environ.get(system.key_variable))
    return _has_files(system)


def _has_files(system: Entry) -> bool:
    if system.function:
        return locate(system.function, system.folder) is not None
    if system.folder:
        return Path(system.folder).expanduser().is_dir()
    return in_hub_cache(system)


def brings_code(system: Entry) -> bool:
    """Whether a model that the system stands on runs code of its own."""
    return _anywhere(system, lambda one: one.trust_remote_code)


def leaves(system: Entry) -> bool:
    """Whether it, or one of its parts, sends texts to a server."""
    return _anywhere(system, lambda one: bool(one.url))


def runs_function(system: Entry) -> bool:
    """Whether it, or one of its parts, is a function of the reader's own."""
    return _anywhere(system, lambda one: bool(one.function))


def models(system: Entry) -> list[Entry]:
    """The models that a system stands on, itself if it is one, each once."""
    return list(dict.fromkeys(model for ranked in searched(system) for model in towers(ranked)))


def searched(system: Entry) -> list[Entry]:
    """The same as systems of one model each: one that sees images may have a model for texts and one for images."""
    if is_model(system):
        return [system]
    return list(dict.fromkeys(below for part in system.parts for below in searched(entry(part))))


def reads_pairs(system: Entry) -> bool:
    """Whether a cross-encoder gives the last word on the top of its ranking."""
    return system.kind == "two-stage" and entry(system.parts[1]).kind == "cross-encoder"


def available_names(*, trust_remote_code: bool = False) -> tuple[str, ...]:
    """Names of the systems that run here as they are, in the order of the catalogue.

    Those that send texts to a server, or run a function of the reader's own, run by their names only.

    Args:
        trust_remote_code: those too whose models bring their own code.
    """
    return tuple(
        name
        for name, system in systems().items()
        if available(system)
        and not (leaves(system) or runs_function(system))
        and (trust_remote_code or not brings_code(system))
    )


def limited(system: Entry, max_length: int | None, dtype: str | None = None) -> Entry:
    """The same system reading at most ``max_length`` tokens, in that precision; unchanged where it has no such choice.

    Raises:
        InputError: its table says that the model does not bear the precision.
    """
    if system.backend != "sentence-transformers":
        return system
    if dtype and system.dtypes and dtype not in system.dtypes:
        raise InputError(f"system {system.name!r}: dtype {dtype} is not for it, {' or '.join(system.dtypes)} is")
    return replace(system, max_length=max_length or system.max_length, dtype=dtype or system.dtype)


def settings(system: Entry, *, max_length: int | None = None, dtype: str | None = None) -> dict[str, object]:
    """What a stored run records of its system: every setting that is in force, its parts' included."""
    effective = limited(system, max_length, dtype)
    facts: dict[str, object] = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in asdict(effective).items()
        if value is not None and value is not False and value not in ("", ())
    }
    if not is_model(system):
        facts.pop("dtype")
    if system.kind != "dense":
        facts.pop("prompts")
    if below(system):
        facts["parts"] = {part: settings(entry(part), max_length=max_length, dtype=dtype) for part in below(system)}
    return facts


def fingerprint(system: Entry, *, max_length: int | None = None, dtype: str | None = None) -> str:
    """A stable hash, 16 hex digits, of every setting that changes scores; titles and notes do not."""
    effective = limited(system, max_length, dtype)
    facts: dict[str, object] = {
        key: value for key, value in asdict(effective).items() if key not in DESCRIPTIVE and (key not in LATER or value)
    }
    facts["parts"] = [fingerprint(entry(part), max_length=max_length, dtype=dtype) for part in below(system)]
    facts["scoring"] = SCORING
    facts["files"] = local_weights(system)
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def local_weights(system: Entry) -> list[tuple[str, int, int]]:
    """Name, size and modification time of what may change in place: a local folder's files, the reader's code."""
    if system.function:
        file = locate(system.function, system.folder)
        return [(file.name, file.stat().st_size, file.stat().st_mtime_ns)] if file else []
    if system.backend != "sentence-transformers" or system.package or not system.folder:
        return []
    folder = Path(system.folder).expanduser()
    files = sorted(file for file in folder.rglob("*") if file.suffix in SCORED_BY)
    return [(str(file.relative_to(folder)), file.stat().st_size, file.stat().st_mtime_ns) for file in files]


def in_hub_cache(system: Entry) -> bool:
    """Whether the hub's client has the weights of a model on this disk, in the catalogue's revision if it pins one."""
    snapshots = hub_folder(system.model or "") / "snapshots"
    return any(snapshots.glob(f"{system.revision or '*'}/**/*.safetensors"))


def hub_folder(model: str) -> Path:
    """Where the hub's client keeps a model that has been downloaded."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    return Path(os.environ.get("HF_HUB_CACHE") or home / "hub") / f"models--{model.replace('/', '--')}"


DESCRIPTIVE = {
    *("name", "title", "short_title", "paradigm", "note", "licence", "source", "size_mb", "languages", "install"),
    *("requires", "key_variable", "batch", "timeout", "pickle", "dtypes"),
}
LATER = {
    *("code", "code_revision", "url", "function", "projections", "reads", "images"),
    *("query_marker", "document_marker", "query_length", "attend_to_masks", "skip_punctuation", "adapters"),
}
"""Settings that came later: where a system has none, its fingerprint is what it was without them."""

_Version = tuple[Path, tuple[int, int]]
"""A file, and its time and size, which make an edited file a new one."""


def _version(path: Path) -> _Version:
    state = path.stat()
    return path, (state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _load(path: Path, state: tuple[int, int], shared: _Version | None = None) -> Mapping[str, Entry]:
    """Read and check a file of that state, and what stands in the shared one before it."""
    known = _load(*shared) if shared else {}
    return {**known, **entry_tables.entries(path, entry_tables.tables_of(path), known)}
