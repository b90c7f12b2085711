"""Systems that a person adds: what they say of it, completed by what the model's own files say."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from analysis import paths
from analysis.errors import InputError
from analysis.systems import catalogue, model_files, own
from analysis.systems.catalogue import DTYPES, POOLINGS, READS, TOKENS, Entry
from analysis.systems.own import Settings, described
from analysis.systems.readiness import readiness

__all__ = [
    "DTYPES",
    "POOLINGS",
    "READS",
    "TOKENS",
    "NewSystem",
    "add",
    "added",
    "described",
    "parts",
    "readiness",
    "remove",
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


class _Sort(NamedTuple):
    """A sort of system: what tells it, what else belongs to it, and its paradigm where nothing is said."""

    signs: tuple[str, ...]
    others: tuple[str, ...]
    paradigm: str


_ANY = ("name", "title", "paradigm")
_ENCODER = ("dimension", "query_prompt", "document_prompt")
_SORTS = {
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
_WAYS = "--model, --folder, --url, --function, --tokens (BM25), --fuse, or --first with --second"


def add(asked: NewSystem, folder: Path | None = None) -> Entry:
    """Keep one more system beside those of the catalogue; a fault changes nothing.

    Args:
        asked: what is said of it.
        folder: the cache folder; by default the one of the environment.

    Raises:
        InputError: what is said does not make a system, or the name is taken.
        StoreError: the cache folder cannot be written.
    """
    return own.add(paths.cache(folder), asked.name, settings=_settings(asked))


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
    """Systems that others can be composed of, name to short title: ``first`` and in a fusion any, ``second`` some."""
    known = catalogue.catalogue().values()
    second = {entry.name: entry.short_title for entry in known if entry.kind in ("late-interaction", "cross-encoder")}
    first = {name: entry.short_title for name, entry in catalogue.systems().items() if entry.kind != "import-only"}
    return {"first": first, "second": second}


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
    more = {"endpoint": _of_endpoint, "function": _of_function, "files": _of_files}[sort]
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
    if asked.model is not None and not asked.model.strip():
        raise InputError(f"system {asked.name!r}: expected the id of a model, such as organisation/model")
    if asked.model and asked.folder:
        raise InputError(f"system {asked.name!r}: expected --model or --folder, not both")
    home = asked.folder.expanduser().resolve() if asked.folder else _copy(asked)
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
    told = {
        **({} if asked.paradigm else seeing),
        "model": asked.model,
        "folder": str(home) if asked.folder else None,
        "revision": asked.revision,
        "dimension": asked.dimension,
        "max_length": asked.max_length,
        "pooling": asked.pooling,
        "dtype": asked.dtype,
        "trust_remote_code": asked.trust_remote_code,
        "reads": asked.reads,
        "images": asked.images,
    }
    table = {"kind": "dense", "backend": "sentence-transformers", **found}
    table |= {key: value for key, value in told.items() if value is not None}
    return table | _prompts(asked, found.get("prompts"))


def _of_endpoint(asked: NewSystem) -> Settings:
    if asked.dimension is None:
        raise InputError(f"system {asked.name!r}: expected --dimension, of the vectors that {asked.url} answers")
    keys = ("url", "model", "revision", "dimension", "key_variable", "batch", "timeout")
    told = {key: getattr(asked, key) for key in keys if getattr(asked, key) is not None}
    return {"kind": "dense", "backend": "endpoint", **told, **_prompts(asked)}


def _of_function(asked: NewSystem) -> Settings:
    if asked.dimension is None:
        raise InputError(f"system {asked.name!r}: expected --dimension, of the vectors that {asked.function} returns")
    folder = str(asked.folder.expanduser().resolve()) if asked.folder else None
    told = {"function": asked.function, "folder": folder, "revision": asked.revision, "dimension": asked.dimension}
    return {"kind": "dense", "backend": "function", **{key: value for key, value in told.items() if value is not None}}


def _copy(asked: NewSystem) -> Path | None:
    return model_files.hub_copy(asked.model, asked.revision) if asked.model else None


def _prompts(asked: NewSystem, found: object = None) -> Settings:
    said = {"query": asked.query_prompt, "document": asked.document_prompt}
    own_ones = found if isinstance(found, dict) else {}
    prompts = {**own_ones, **{role: prompt for role, prompt in said.items() if prompt is not None}}
    return {"prompts": prompts} if prompts else {}
