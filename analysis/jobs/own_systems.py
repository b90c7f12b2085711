"""Systems that a person adds: what they say of it, completed by what the model's own files say."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from analysis import paths
from analysis.errors import InputError
from analysis.systems import catalogue, families, model_files, own
from analysis.systems.entry import DTYPES, POOLINGS, READS, TOKENS, Entry
from analysis.systems.own import Settings, described
from analysis.systems.readiness import readiness

__all__ = [
    "DTYPES",
    "POOLINGS",
    "READS",
    "TOKENS",
    "Entry",
    "NewSystem",
    "add",
    "added",
    "checked",
    "described",
    "parts",
    "readiness",
    "remove",
    "warning",
]

K1, B, K, POOL = 1.5, 0.75, 60, 30
"""Where nothing else is said: of BM25, of reciprocal rank fusion, of two stages."""


@dataclass(frozen=True)
class NewSystem:
    """What a person may say of a system; None leaves it to the model, or to the default of its kind."""

    name: str
    title: str | None = None
    paradigm: str | None = None
    model: str | None = None  # hub id
    folder: Path | None = None  # of the model's files
    revision: str | None = None
    dimension: int | None = None
    max_length: int | None = None
    pooling: str | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    dtype: str | None = None
    trust_remote_code: bool | None = None
    tokens: str | None = None  # of BM25
    k1: float | None = None
    b: float | None = None
    fuse: tuple[str, ...] | None = None  # systems
    k: int | None = None
    first: str | None = None  # stage
    second: str | None = None
    pool: int | None = None
    url: str | None = None  # of an embedding endpoint
    key_variable: str | None = None  # that holds its key
    batch: int | None = None
    timeout: int | None = None
    function: str | None = None  # module:function of one's own
    reads: str | None = None  # one of READS: what of a query a model that sees images reads
    images: str | None = None  # the system whose model encodes the images, where this one's encodes texts alone
    cross_encoder: bool | None = None  # the model or folder is one
    pair_function: str | None = None  # module:function of one's own that scores pairs
    maxsim: str | None = None  # the dense system whose token vectors are compared


class _Sort(NamedTuple):
    """A sort of system: what tells it, what else belongs to it, and its paradigm where nothing is said."""

    signs: tuple[str, ...]
    others: tuple[str, ...]
    paradigm: str


_ANY = ("name", "title", "paradigm")
_ENCODER = ("dimension", "query_prompt", "document_prompt")
_SORTS = {
    "cross-encoder": _Sort(
        ("cross_encoder",), ("model", "folder", "revision", "max_length", "dtype", "trust_remote_code"), "two-stage"
    ),
    "pair-function": _Sort(("pair_function",), ("folder", "revision"), "two-stage"),
    "maxsim": _Sort(("maxsim",), (), "late interaction"),
    "function": _Sort(("function",), ("folder", "revision", "dimension"), "multilingual dense"),
    "endpoint": _Sort(
        ("url",), (*_ENCODER, "model", "revision", "key_variable", "batch", "timeout"), "multilingual dense"
    ),
    "files": _Sort(
        ("model", "folder"),
        (*_ENCODER, "revision", "max_length", "pooling", "dtype", "trust_remote_code", "reads", "images"),
        "multilingual dense",
    ),
    "bm25": _Sort(("tokens", "k1", "b"), (), "lexical"),
    "fusion": _Sort(("fuse",), ("k",), "hybrid"),
    "two-stage": _Sort(("first", "second"), ("pool",), "two-stage"),
}
_WAYS = (
    "--model, --folder, --url, --function, --tokens (BM25), --fuse, --first with --second, --cross-encoder, "
    "--pair-function or --maxsim"
)


def add(asked: NewSystem, folder: Path | None = None) -> Entry:
    """Keep one more system beside those of the catalogue; a fault changes nothing.

    Args:
        asked: what is said of it.
        folder: the cache folder; by default the one of the environment.

    Raises:
        InputError: what is said does not make a system, or the name is taken.
        StoreError: the cache folder cannot be written.
    """
    entry, cache, settings = checked(asked, folder), paths.cache(folder), _settings(asked)
    if entry.kind != "cross-encoder":  # what its note says stands in no list
        settings["note"] = f"Added here: {described(entry)}. {warning(asked, entry)}".strip()
    return own.add(cache, asked.name, settings=settings)


def checked(asked: NewSystem, folder: Path | None = None) -> Entry:
    """The system that :func:`add` would keep; nothing is kept. Args and raises as there."""
    return own.checked(paths.cache(folder), asked.name, settings=_settings(asked))


def warning(asked: NewSystem, entry: Entry) -> str:
    """What may make its scores plausible and wrong, in sentences; empty where nothing is known to."""
    if entry.kind != "dense" or (not entry.model and not entry.folder) or entry.function:
        return ""
    home = None if entry.url else _home(asked)
    names = (*([entry.model] if entry.model else ()), *(model_files.names(home) if home else ()))
    told = [families.hint(names, entry.prompts, files_known=bool(home or entry.url))]
    found = model_files.read_folder(home).get("pooling", entry.pooling) if home else entry.pooling
    if found != entry.pooling:
        told.append(f"Its pooling is set to {entry.pooling}, its files say {found}.")
    return " ".join(filter(None, told))


def remove(name: str, folder: Path | None = None) -> None:
    """Forget a system that was added; its stored runs stay.

    Raises:
        InputError: there is none, or another one is composed of it.
        StoreError: the cache folder cannot be written.
    """
    own.remove(paths.cache(folder), name)


def added(folder: Path | None = None) -> tuple[Entry, ...]:
    """The systems that were added.

    Raises:
        InputError: the file that keeps them is faulty.
    """
    return own.entries(paths.cache(folder))


def parts() -> dict[str, dict[str, str]]:
    """Systems that others can be composed of, name to short title.

    ``first`` are those that rank, which may be fused too; ``second`` re-rank; ``tokens`` have token vectors.
    """
    known = catalogue.catalogue().values()
    second = {entry.name: entry.short_title for entry in known if entry.kind in ("late-interaction", "cross-encoder")}
    first = {name: entry.short_title for name, entry in catalogue.systems().items() if entry.kind != "import-only"}
    tokens = {
        entry.name: entry.short_title
        for entry in known
        if entry.kind == "dense" and entry.backend == "sentence-transformers" and not entry.reads
    }
    return {"first": first, "second": second, "tokens": tokens}


def _settings(asked: NewSystem) -> Settings:
    """The table of the system in the catalogue's format."""
    sort = _sort(asked)
    table: Settings = {"paradigm": asked.paradigm or _SORTS[sort].paradigm}
    if asked.title is not None:
        table |= {"title": asked.title, "short_title": asked.title}
    if sort == "bm25":
        told = {"k1": K1 if asked.k1 is None else asked.k1, "b": B if asked.b is None else asked.b}
        return table | {"kind": "bm25", "tokens": asked.tokens or TOKENS[0], **told}
    if sort == "fusion":
        return table | {"kind": "fusion", "parts": list(asked.fuse or ()), "k": K if asked.k is None else asked.k}
    if sort == "two-stage":
        stages = [stage for stage in (asked.first, asked.second) if stage is not None]
        return table | {"kind": "two-stage", "parts": stages, "pool": POOL if asked.pool is None else asked.pool}
    if sort == "maxsim":
        return table | {"kind": "late-interaction", "parts": [asked.maxsim]}
    more = {
        "endpoint": _of_endpoint,
        "function": _of_function,
        "files": _of_files,
        "cross-encoder": _of_cross_encoder,
        "pair-function": _of_pair_function,
    }[sort]
    return table | more(asked)


def _sort(asked: NewSystem) -> str:
    given = {field.name for field in fields(asked) if getattr(asked, field.name) is not None}
    sort = next((name for name, sort in _SORTS.items() if given & set(sort.signs)), None)
    if sort is None:
        raise InputError(f"system {asked.name!r}: expected {_WAYS}")
    stray = sorted(given - {*_ANY, *_SORTS[sort].signs, *_SORTS[sort].others})
    if stray:
        sign = next(name for name in _SORTS[sort].signs if name in given)
        raise InputError(f"system {asked.name!r}: {_flag(stray[0])} does not go with {_flag(sign)}; expected {_WAYS}")
    return sort


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _of_files(asked: NewSystem) -> Settings:
    """A model of sentence-transformers: what is said, else what its files say where they are here."""
    home = _home(asked)
    found = model_files.read_folder(home) if home else {}
    if home and not asked.pooling and not model_files.pools(home):
        raise InputError(
            f"system {asked.name!r}: {home} does not say how its token vectors become one; expected --pooling "
            f"{', '.join(POOLINGS)} (the wrong one gives plausible, wrong scores)"
        )
    if asked.dimension is None and "dimension" not in found:
        raise InputError(f"system {asked.name!r}: expected --dimension, which no file of the model here says")
    if home and asked.reads and not asked.images and not model_files.sees(home):
        raise InputError(
            f"system {asked.name!r}: --reads {asked.reads}: {home} encodes texts alone; expected --images SYSTEM, "
            "whose model encodes images into the same space"
        )
    seeing = {"paradigm": "multimodal dense"} if asked.reads or asked.images or "reads" in found else {}
    if asked.images:
        found = {"reads": READS[0], **found}
    told = {"reads": asked.reads, "images": asked.images}
    table = {"kind": "dense", "backend": "sentence-transformers", **found, **_loaded(asked, home)}
    table |= {**({} if asked.paradigm else seeing), **{key: value for key, value in told.items() if value is not None}}
    return table | _prompts(asked, found.get("prompts"))


def _of_cross_encoder(asked: NewSystem) -> Settings:
    """A model that scores pairs; what becomes of its scores stands in its files."""
    home = _home(asked)
    told: Settings = {"kind": "cross-encoder", **_loaded(asked, home)}
    if home:
        passed = model_files.score_activation(home)
        words = "as they are" if passed == "identity" else f"after its {passed}"
        told["note"] = f"Reads a query and a document together; its scores count {words}, as its files say."
    return told


def _of_pair_function(asked: NewSystem) -> Settings:
    return {"kind": "cross-encoder", **_code(asked, asked.pair_function)}


def _home(asked: NewSystem) -> Path | None:
    """The folder of the model's files, where this machine has it."""
    if asked.model and asked.folder:
        raise InputError(f"system {asked.name!r}: expected --model or --folder, not both")
    if asked.folder:
        return asked.folder.expanduser().resolve()
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?", asked.model or ""):
        raise InputError(
            f"system {asked.name!r}: model {asked.model or ''!r}: expected the id of a model, such as "
            "organisation/model, or a folder"
        )
    return model_files.hub_copy(str(asked.model), asked.revision)


def _loaded(asked: NewSystem, home: Path | None) -> Settings:
    """What is said of a model that sentence-transformers loads."""
    keys = ("model", "revision", "dimension", "max_length", "pooling", "dtype", "trust_remote_code")
    told: Settings = {key: getattr(asked, key) for key in keys if getattr(asked, key) is not None}
    return told | ({"folder": str(home)} if asked.folder else {})


def _code(asked: NewSystem, function: str | None) -> Settings:
    folder = str(asked.folder.expanduser().resolve()) if asked.folder else None
    told = {"function": function, "folder": folder, "revision": asked.revision}
    return {key: value for key, value in told.items() if value is not None}


def _of_endpoint(asked: NewSystem) -> Settings:
    if asked.dimension is None:
        raise InputError(f"system {asked.name!r}: expected --dimension, of the vectors that {asked.url} answers")
    keys = ("url", "model", "revision", "dimension", "key_variable", "batch", "timeout")
    told = {key: getattr(asked, key) for key in keys if getattr(asked, key) is not None}
    return {"kind": "dense", "backend": "endpoint", **told, **_prompts(asked)}


def _of_function(asked: NewSystem) -> Settings:
    if asked.dimension is None:
        raise InputError(f"system {asked.name!r}: expected --dimension, of the vectors that {asked.function} returns")
    told = {"kind": "dense", "backend": "function", "dimension": asked.dimension}
    return {**told, **_code(asked, asked.function)}


def _prompts(asked: NewSystem, found: object = None) -> Settings:
    said = {"query": asked.query_prompt, "document": asked.document_prompt}
    own_ones = found if isinstance(found, dict) else {}
    prompts = {**own_ones, **{role: prompt for role, prompt in said.items() if prompt is not None}}
    return {"prompts": prompts} if prompts else {}
