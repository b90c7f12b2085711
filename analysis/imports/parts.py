"""What every benchmark format is read into: records of queries and documents, and judgements; and how to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analysis.imports.alignment import Alignment
from analysis.imports.qrels import Qrels
from analysis.imports.records import Records
from analysis.model import Flag


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
    subset: str | None = None  # the only one to read of a format with subsets
    subset_languages: tuple[str, ...] = ()  # NAME=QUERY:DOCUMENT each, or one shape such as query-document
    topic_field: str = "title"  # one of markup_topics.FIELDS: what of a TREC topic is the query
    parallel_ids: bool = False  # one id in the folders of several languages is one question
    family_by_judgements: bool = False  # queries with the same relevant documents are one question
    languages: tuple[str, ...] = ()  # of parallel texts, as the file calls them; the others are compared with the first
    family_column: str | None = None  # which column, or prop, names the document of a row of parallel texts
    queries: int | None = None  # how many rows of parallel texts are asked, in every language; None: all
    relevant_by: str | None = None  # one of folder.RELEVANT_BY: what makes judgements, instead of those in files


@dataclass(frozen=True)
class Parts:
    """What a format hands over; each part is read once, in this order, and tells its faults as it is read.

    Attributes:
        files: all that is read, the folder's own names distinct.
        queries: records with the fields of ``records.QUERY_FIELDS``; whatever else they hold are attributes.
        documents: records with the fields of ``records.DOCUMENT_FIELDS``.
        judgements: read when called.
        notices: what the report says beside its counts, with the number of rows; complete once all parts are read.
        source: what the benchmark's card names, where it is no list of files.
        alignment: whether the rows of parallel texts belong together; None for other formats.
        flags: what that found doubtful.
        images: the folder in which queries and documents name their images; None where the format has none.
    """

    files: tuple[Path, ...]
    queries: Records
    documents: Records
    judgements: Callable[[], Qrels]
    notices: Counter[str] = field(default_factory=Counter)
    source: str | None = None
    alignment: Alignment | None = None
    flags: tuple[Flag, ...] = ()
    images: Path | None = None
