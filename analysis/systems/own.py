"""Systems that the reader adds to the catalogue: kept in the cache folder, in the catalogue's format and rules."""

from __future__ import annotations

import fcntl
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from analysis.errors import InputError
from analysis.paths import Cache
from analysis.store.connection import on_disk, publish
from analysis.systems import catalogue, entry_tables
from analysis.systems.entry import Entry

HEADER = "# Systems added here, one table each; written by add-system and remove-system, which keep no comments.\n"

Settings = dict[str, object]
"""The keys and values of a table."""


def entries(cache: Cache) -> tuple[Entry, ...]:
    """The reader's own systems.

    Raises:
        InputError: the file that keeps them is not TOML, or a table breaks a rule.
    """
    return tuple(catalogue.checked(cache.own_systems, _tables(cache)).values())


def checked(cache: Cache, name: str, *, settings: Mapping[str, object]) -> Entry:
    """The entry that :func:`add` would keep; nothing is kept. Args and raises as there."""
    return catalogue.checked(cache.own_systems, _with(_tables(cache), name, settings))[name]


def add(cache: Cache, name: str, *, settings: Mapping[str, object]) -> Entry:
    """Keep one more system and return its entry; a fault changes nothing.

    Args:
        cache: the folder that keeps it.
        name: as in addresses and on the command line.
        settings: its table, without None.

    Raises:
        InputError: the name is taken, or a setting breaks a rule of the catalogue.
        StoreError: the file cannot be written.
    """
    _check_name(name)
    with _locked(cache):
        tables = _with(_tables(cache), name, settings)
        entries = catalogue.checked(cache.own_systems, tables)
        _write(cache, tables)
    return entries[name]


def _with(tables: Mapping[str, object], name: str, settings: Mapping[str, object]) -> dict[str, object]:
    _check_name(name)
    if name in tables:
        raise InputError(f"system {name!r}: there is one of this name; remove-system takes it out")
    return {**tables, name: {"title": name, "short_title": name, **settings}}


def _check_name(name: str) -> None:
    if not name.strip():
        raise InputError("a system needs a name: lower-case letters, digits, '-', '.', '+' and '_'")


def remove(cache: Cache, name: str) -> None:
    """Forget a system; its stored runs stay, as those of another tool.

    Raises:
        InputError: there is none of that name, or another one is composed of it.
        StoreError: the file cannot be written.
    """
    with _locked(cache):
        tables = _tables(cache)
        if name not in tables:
            known = f"expected one of {', '.join(tables)}" if tables else "none was added"
            raise InputError(f"system {name!r}: {known}")
        above = [other for other, table in tables.items() if isinstance(table, dict) and name in _below(table)]
        if above:
            raise InputError(f"system {name!r}: {', '.join(above)} is composed of it; remove that first")
        del tables[name]
        _write(cache, tables)


def described(entry: Entry) -> str:
    """What is in force of a system, in a few words."""
    words = [entry.paradigm]
    if entry.kind == "dense":
        words += [f"{entry.dimension} dimensions"]
        words += [entry.function] if entry.function else _encoding(entry)
    elif entry.kind == "bm25":
        words.append(f"{entry.tokens}, k1 {entry.k1:g}, b {entry.b:g}")
    elif entry.kind == "cross-encoder":
        words += ["re-ranks only", str(entry.function or entry.model or entry.folder)]
        words += [f"{entry.max_length} tokens"] if entry.max_length else []
        words += [entry.dtype] if entry.dtype != "float32" else []
    elif entry.kind == "late-interaction":
        words += [f"MaxSim over the token vectors of {part}" for part in entry.parts]
    else:
        detail = f"k {entry.k}" if entry.kind == "fusion" else f"pool {entry.pool}"
        words += [" and ".join(entry.parts), detail]
    return ", ".join(words)


def _below(table: Mapping[str, object]) -> list[object]:
    """Names of the systems that a table stands on."""
    parts = table.get("parts")
    return [*(parts if isinstance(parts, list) else []), table.get("images")]


def _encoding(entry: Entry) -> list[str]:
    words = [] if entry.url else [f"{entry.pooling} pooling" if entry.pooling else "pooling as its files say"]
    words += [_prompt(entry, role) for role in ("query", "document")]
    words += [f"{entry.max_length} tokens"] if entry.max_length else []
    words += [entry.dtype] if entry.dtype != "float32" else []
    return [*words, _reading(entry)] if entry.reads else words


def _reading(entry: Entry) -> str:
    what = {"text": "text", "image": "image", "text-image-mean": "text and image, their mean"}[str(entry.reads)]
    return f"reads a query's {what}" + (f", images by {entry.images}" if entry.images else "")


def _prompt(entry: Entry, role: str) -> str:
    """A folder's prompts are read when it is added: where its table has none, it has none."""
    prompt = getattr(entry.prompts, role)
    if prompt:
        return f"{role} prompt {prompt!r}"
    unknown = prompt is None and not (entry.url or entry.folder)
    return f"{role} prompt as its files say" if unknown else f"no {role} prompt"


def _tables(cache: Cache) -> dict[str, object]:
    return entry_tables.tables_of(cache.own_systems) if cache.own_systems.is_file() else {}


@contextmanager
def _locked(cache: Cache) -> Iterator[None]:
    """One change at a time; a job that writes the store is not waited for."""
    with on_disk(cache.root):
        cache.root.mkdir(parents=True, exist_ok=True)
        lock = cache.own_systems.with_suffix(".lock").open("a")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(cache: Cache, tables: Mapping[str, object]) -> None:
    text = HEADER + "".join(_table(name, table) for name, table in tables.items() if isinstance(table, dict))
    aside = cache.own_systems.with_suffix(f".{secrets.token_hex(4)}.tmp")
    with on_disk(cache.root):
        try:
            aside.write_text(text, encoding="utf-8")
            publish(aside, cache.own_systems)
        finally:
            aside.unlink(missing_ok=True)


def _table(name: str, table: Mapping[str, object]) -> str:
    return f"\n[{_text(name)}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
