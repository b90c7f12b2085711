"""What is known of a system: where its models are from, and what is in force when they read a text."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.systems import catalogue
from analysis.systems.entry import Entry

TOKENS = {
    "whitespace": "words between blanks, lower-cased",
    "cjk-bigrams": "words between blanks, lower-cased; Chinese, Japanese and Korean into pairs of characters",
}
READ = {"text": "its text", "image": "its image", "text-image-mean": "text and image, the mean of both vectors"}


@dataclass(frozen=True)
class ModelFacts:
    """One model that a system stands on."""

    name: str  # of its table in the catalogue
    title: str
    origin: str  # hub id, package with its version, folder, server or function
    commit: str | None  # of the hub; None where none is pinned, or it is not from a hub
    code: str  # hub id and commit of its own code, where that lies apart; empty where it has none of its own
    licence: str  # of the weights; empty where the table says nothing
    size_mb: int | None  # of the weights
    dimension: int | None  # of its vectors; None for a cross-encoder, or where its files say
    max_length: int | None  # tokens of a text or pair with its prompt; None: its own limit, or none
    pooling: str | None  # None: its own, or none
    projections: tuple[int, ...]  # widths of the layers after the pooling
    query_prompt: str | None  # None: its own
    document_prompt: str | None
    precision: str  # of the weights while they compute; empty where a server or a function does
    languages: tuple[str, ...]  # claimed ones; empty: no claim
    source: str  # where these facts are from
    note: str


@dataclass(frozen=True)
class SystemFacts:
    """A system of the catalogue, and the models it stands on."""

    name: str
    title: str
    note: str
    parts: tuple[str, ...]  # titles of what it is composed of
    settings: tuple[tuple[str, str], ...]  # of its own, in words, with their values
    models: tuple[ModelFacts, ...]


def system_facts(name: str) -> SystemFacts:
    """What is known of a system of the catalogue.

    Raises:
        InputError: there is none of that name.
    """
    entry = catalogue.entry(name)
    return SystemFacts(
        entry.name,
        entry.title,
        entry.note,
        tuple(catalogue.entry(part).title for part in entry.parts),
        tuple(_settings(entry)),
        tuple(map(_model, [entry] if entry.kind == "import-only" else catalogue.models(entry))),
    )


def _settings(entry: Entry) -> list[tuple[str, str]]:
    known = {
        "Texts are cut into": TOKENS.get(entry.tokens or ""),
        "k1": f"{entry.k1:g}" if entry.k1 is not None else None,
        "b": f"{entry.b:g}" if entry.b is not None else None,
        "k": f"{entry.k:,}" if entry.k else None,
        "Documents rescored": f"{entry.pool:,}" if entry.pool else None,
        "Of a query is read": READ.get(entry.reads or ""),
        "Marker of a query": entry.query_marker,
        "Marker of a document": entry.document_marker,
        "A query is filled up to": f"{entry.query_length:,} tokens" if entry.query_length else None,
        "Adapters": "one for each language; a text is read by that of its own" if entry.adapters else None,
    }
    return [(words, value) for words, value in known.items() if value is not None]


def _model(entry: Entry) -> ModelFacts:
    return ModelFacts(
        entry.name,
        entry.title,
        _origin(entry),
        entry.revision if entry.model else None,
        f"{entry.code} {entry.code_revision}" if entry.code else "",
        entry.licence,
        entry.size_mb,
        entry.dimension,
        entry.max_length,
        entry.pooling,
        entry.projections,
        _prompt(entry, entry.prompts.query),
        _prompt(entry, entry.prompts.document),
        "" if _elsewhere(entry) else entry.dtype,
        entry.languages,
        entry.source,
        entry.note,
    )


def _prompt(entry: Entry, prompt: str | None) -> str | None:
    """Servers and functions are handed texts as they are where the table has no prompt; ColBERT has markers instead."""
    untouched = entry.url or entry.function or entry.kind == "late-interaction"
    return "" if prompt is None and untouched else prompt


def _elsewhere(entry: Entry) -> bool:
    return bool(entry.url or entry.function or entry.kind == "import-only")


def _origin(entry: Entry) -> str:
    if entry.package:
        return f"{entry.package} {entry.revision}"
    return entry.url or entry.function or entry.folder or entry.model or "its run comes by import"
