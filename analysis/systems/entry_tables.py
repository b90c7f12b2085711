"""What a table of a catalogue file may say: read, and checked key by key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import InputError
from analysis.model import PARADIGMS
from analysis.systems import remote
from analysis.systems.entry import BACKENDS, COMPUTED, DTYPES, KINDS, POOLINGS, READS, TOKENS, Entry, Prompts

_NAME = re.compile(r"[a-z0-9][a-z0-9.+_-]*")
_COMMON = ("title", "short_title", "paradigm", "kind", "note", "licence", "source", "size_mb")
_LOADED = (
    *("model", "folder", "revision", "weights", "sha256", "pickle", "max_length", "dtype", "dtypes", "languages"),
    *("trust_remote_code", "code", "code_revision", "requires", "install"),
)
_READING = ("query_marker", "document_marker", "query_length", "attend_to_masks", "skip_punctuation", "adapters")
_KEYS = {
    "bm25": ("tokens", "k1", "b"),
    "dense": (
        *("backend", *_LOADED, "package", "dimension", "pooling", "projections", "prompts"),
        *("url", "key_variable", "batch", "timeout", "function", "reads", "images"),
    ),
    "late-interaction": ("parts", *_LOADED, "dimension", *_READING),
    "fusion": ("parts", "k"),
    "cross-encoder": (*_LOADED, "function"),
    "two-stage": ("parts", "pool"),
    "import-only": ("languages",),
}
_REQUIRED = {
    "bm25": ("tokens", "k1", "b"),
    "dense": ("backend",),
    "late-interaction": (),
    "fusion": ("parts", "k"),
    "cross-encoder": (),
    "two-stage": ("parts", "pool"),
    "import-only": ("licence", "source", "note"),
}
_CHOICES: dict[str, tuple[str, ...]] = {
    "paradigm": PARADIGMS,
    "kind": KINDS,
    "backend": BACKENDS,
    "pooling": POOLINGS,
    "dtype": DTYPES,
    "tokens": TOKENS,
    "reads": READS,
}
_COUNTS = ("size_mb", "dimension", "max_length", "k", "pool", "batch", "timeout", "query_length")
_NUMBERS = {"k1": 1000.0, "b": 1.0}  # from 0 to this
_LISTS = ("languages", "parts", "requires", "dtypes")
_SWITCHES = ("trust_remote_code", "attend_to_masks", "skip_punctuation", "adapters")


def tables_of(path: Path) -> dict[str, object]:
    """The tables of a TOML file, unchecked.

    Raises:
        InputError: it is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file: {error}") from error


@dataclass(frozen=True)
class _Table:
    """A table being read; says where a fault is."""

    path: Path
    name: str
    values: Mapping[str, object]

    def fault(self, key: str, expected: str) -> InputError:
        return InputError(f"{self.path}: [{self.name}] {key} = {self.values.get(key)!r}: expected {expected}")

    def require(self, *keys: str) -> None:
        for key in keys:
            if key not in self.values:
                raise InputError(f"{self.path}: [{self.name}] {key} is missing")


def entries(path: Path, tables: Mapping[str, object], known: Mapping[str, Entry]) -> dict[str, Entry]:
    """The systems of a file's tables, by name.

    Args:
        path: the file that messages name.
        tables: by name, as TOML gives them.
        known: systems on which they may stand, and whose names they may not have.

    Raises:
        InputError: a table breaks a rule; names file, table, key and value.
    """
    for name in tables:
        if name in known:
            raise InputError(f"{path}: [{name}]: the catalogue has a system of this name; expected another one")
    read = {name: _table(path, name, values=values) for name, values in tables.items()}
    found = {name: _entry(table) for name, table in read.items()}
    for table in read.values():
        _check_parts(table, {**known, **found})
    return found


def _table(path: Path, name: str, *, values: object) -> _Table:
    if not isinstance(values, dict):
        raise InputError(f"{path}: {name} = {values!r}: expected a table [{name}]")
    table = _Table(path, name, values)
    if not _NAME.fullmatch(name):
        raise InputError(f"{path}: [{name}]: expected a name of lower-case letters, digits, '-', '.', '+' and '_'")
    return table


def _entry(table: _Table) -> Entry:
    table.require("title", "short_title", "paradigm", "kind")
    for key in table.values:
        _check_value(table, key)
    kind = str(table.values["kind"])
    allowed = (*_COMMON, *_KEYS[kind])
    for key in table.values:
        if key not in allowed:
            raise table.fault(key, f"only the keys of kind {kind!r}: {', '.join(allowed)}")
    table.require(*_REQUIRED[kind])
    if kind == "dense":
        _check_dense(table)
    if kind == "cross-encoder":
        _check_scorer(table)
    if kind == "late-interaction":
        _check_late_interaction(table)
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in table.values.items()}
    if isinstance(prompts := values.get("prompts"), dict):
        values["prompts"] = Prompts(**prompts)
    if kind == "cross-encoder" or (kind == "late-interaction" and "parts" not in values):
        values["backend"] = "function" if "function" in values else "sentence-transformers"
    return Entry(name=table.name, **values)  # type: ignore[arg-type]  # every value was checked above


def _check_value(table: _Table, key: str) -> None:
    value = table.values[key]
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise table.fault(key, f"one of {', '.join(_CHOICES[key])}")
    elif key in _COUNTS:
        _expect(
            table,
            key,
            holds=_is_number(value) and isinstance(value, int) and value > 0,
            expected="a whole number above 0",
        )
    elif key in _NUMBERS:
        most = _NUMBERS[key]
        holds = isinstance(value, int | float) and _is_number(value) and 0 <= value <= most
        _expect(table, key, holds=holds, expected=f"a number from 0 to {most:g}")
    elif key in _LISTS:
        _expect(table, key, holds=_is_list_of_text(value), expected="a list of texts")
    elif key == "projections":
        _expect(table, key, holds=_is_list_of_counts(value), expected="a list of whole numbers above 0")
    elif key in _SWITCHES:
        _expect(table, key, holds=isinstance(value, bool), expected="true or false")
    elif key == "prompts":
        _expect(table, key, holds=_are_prompts(value), expected="a table with the texts query and document")
    else:
        _expect(table, key, holds=isinstance(value, str), expected="a text")


def _expect(table: _Table, key: str, *, holds: bool, expected: str) -> None:
    if not holds:
        raise table.fault(key, expected)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_list_of_counts(value: object) -> bool:
    return isinstance(value, list) and all(_is_number(item) and isinstance(item, int) and item > 0 for item in value)


def _are_prompts(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= {"query", "document"}
        and all(isinstance(prompt, str) for prompt in value.values())
    )


_NOT_OF = {  # settings that a backend does not have
    "endpoint": ("package", "folder", "install", "weights", "sha256", "pickle", "dtype", "dtypes", "function"),
    "function": (
        *("package", "model", "install", "weights", "sha256", "pickle", "dtype", "dtypes", "prompts"),
        *("url", "key_variable", "batch", "timeout"),
    ),
}
_ONLY_ELSEWHERE = ("url", "key_variable", "batch", "timeout", "function")
_SENTENCE_TRANSFORMERS_ONLY = ("pooling", "projections", "max_length", "trust_remote_code", "reads", "images")


def _check_dense(table: _Table) -> None:
    values = table.values
    if values.get("package") or not values.get("folder") or values["backend"] != "sentence-transformers":
        table.require("dimension")  # what a reader has trained has the size it has
    backend = str(values["backend"])
    for key in _NOT_OF.get(backend, _ONLY_ELSEWHERE):
        _expect(table, key, holds=key not in values, expected=f"to be left out: the backend {backend} has no such key")
    if backend == "sentence-transformers":
        _check_model(table)
    else:
        _check_other(table, backend)
        _check_digest(table)


def _check_model(table: _Table) -> None:
    values = table.values
    if not values.get("model") and not values.get("folder"):
        raise table.fault("model", "a hub id, or a folder")
    borne = values.get("dtypes", list(COMPUTED))
    if not isinstance(borne, list) or not borne or not set(borne) <= set(COMPUTED):
        raise table.fault("dtypes", f"some of {', '.join(COMPUTED)}")
    _expect(table, "dtype", holds=values.get("dtype", "float32") in borne, expected=" or ".join(borne))
    if "code" in values:
        table.require("code_revision", "trust_remote_code")
    if "images" in values:
        table.require("reads")
    _check_digest(table)


def _check_late_interaction(table: _Table) -> None:
    """It compares the tokens of another system, its one part, or is a model trained for it."""
    if "parts" in table.values:
        for key in (*_LOADED, "dimension", *_READING):
            _expect(table, key, holds=key not in table.values, expected="to be left out where there are parts")
    elif not table.values.get("model") and not table.values.get("folder"):
        raise table.fault("parts", "one dense system; or model or folder, trained for late interaction")
    else:
        table.require("dimension")
        _check_model(table)


def _check_scorer(table: _Table) -> None:
    """A cross-encoder: files of a model, or a function of the reader's own."""
    if "function" not in table.values:
        _check_model(table)
        return
    _check_function(table)
    for key in set(_LOADED) - {"folder", "revision", "languages"}:
        _expect(table, key, holds=key not in table.values, expected="to be left out: a function has no such key")


def _check_digest(table: _Table) -> None:
    if "sha256" in table.values:
        table.require("weights")
    if "pickle" in table.values:
        table.require("model")
    for key in ("sha256", "pickle"):
        digest = str(table.values.get(key, "0" * 64))
        _expect(table, key, holds=bool(re.fullmatch("[0-9a-f]{64}", digest)), expected="64 hex digits")


def _check_other(table: _Table, backend: str) -> None:
    if backend == "endpoint":
        _check_endpoint(table)
    elif backend == "function":
        table.require("function")
        _check_function(table)
    else:
        table.require("package")
    for key in _SENTENCE_TRANSFORMERS_ONLY:
        expected = "to be left out: only sentence-transformers has this setting"
        _expect(table, key, holds=key not in table.values, expected=expected)


def _check_function(table: _Table) -> None:
    sound = re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", str(table.values["function"]))
    _expect(table, "function", holds=bool(sound), expected="module:function")


def _check_endpoint(table: _Table) -> None:
    table.require("url", "model")
    for name, fault in remote.faults(str(table.values["url"]), table.values.get("key_variable")).items():
        raise InputError(f"{table.path}: [{table.name}] {name}: {fault}")


def _check_parts(table: _Table, entries: Mapping[str, Entry]) -> None:
    system = entries[table.name]
    for part in system.parts:
        if part not in entries:
            raise table.fault("parts", f"names of tables; {part!r} is none")
    if system.name in set(_descendants(system, entries)):
        raise table.fault("parts", "a composition that does not contain itself")
    if system.images and not _shares_space(system, entries.get(system.images)):
        raise table.fault("images", "the name of a table that sees images, in the same number of dimensions")
    kinds = [entries[part].kind for part in system.parts]
    makers = [(entries[part].kind, entries[part].backend) for part in system.parts]
    if "import-only" in kinds:
        raise table.fault("parts", "systems that run here")
    own_texts = makers == [("dense", "sentence-transformers")] and not entries[system.parts[0]].reads
    if system.kind == "late-interaction" and "parts" in table.values and not own_texts:
        raise table.fault("parts", "one dense system of the backend sentence-transformers, for texts alone")
    if system.kind == "fusion" and (len(kinds) < 2 or len(set(system.parts)) < len(kinds) or "cross-encoder" in kinds):
        raise table.fault("parts", "at least two systems that rank, each once")
    if system.kind == "two-stage" and not (
        len(kinds) == 2 and kinds[0] != "cross-encoder" and kinds[1] in ("late-interaction", "cross-encoder")
    ):
        raise table.fault("parts", "a first stage, then a late interaction or a cross-encoder")


def _shares_space(system: Entry, other: Entry | None) -> bool:
    """Whether another table's model may encode the images of a system."""
    if other is None or not other.reads or other.images:
        return False
    return None in (system.dimension, other.dimension) or system.dimension == other.dimension


def _descendants(system: Entry, entries: Mapping[str, Entry]) -> Iterator[str]:
    """Names of everything below a system, each once, so that a cycle ends."""
    seen: set[str] = set()
    waiting = list(system.parts)
    while waiting:
        name = waiting.pop()
        if name in seen or name not in entries:
            continue
        seen.add(name)
        yield name
        waiting.extend(entries[name].parts)
