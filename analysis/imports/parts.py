"""What every benchmark format is read into: records of queries and documents, and judgements; and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analysis.imports.qrels import Qrels
from analysis.imports.records import Records


@dataclass(frozen=True)
class Options:
    """How the files of a benchmark are read."""

    format: str = "beir"  # one of analysis.imports.folder.FORMATS
    split: str = "test"  # which judgements
    renamed: Mapping[str, str] = field(default_factory=dict)  # column of the files -> one of folder.FIELDS
    lenient: bool = False  # keep what is sound, and list the rest
    exclude_self: bool = False  # a document with a query's id and text leaves that query's ranking
    document_language: str | None = None  # of every document without one
    query_language: str | None = None  # of every query without one
    language_key: str | None = None  # where else a record says its language, such as metadata.lang
    language_pattern: str | None = None  # where in an id its language stands


@dataclass(frozen=True)
class Parts:
    """What a format hands over; each part is read once, in this order, and tells its faults as it is read.

    Attributes:
        files: all that is read, the folder's own names distinct.
        queries: records with the fields of ``records.QUERY_FIELDS``; whatever else they hold are attributes.
        documents: records with the fields of ``records.DOCUMENT_FIELDS``.
        judgements: read when called.
    """

    files: tuple[Path, ...]
    queries: Records
    documents: Records
    judgements: Callable[[], Qrels]
