"""Why a query or a document of an import is doubtful: flags, by which one switch leaves it out of every page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from analysis.imports import records
from analysis.languages import script_of, suspicious
from analysis.model import Document, Flag, FlagCounts, Query

NO_TEXT = "no text"
NO_LETTERS = "no letters"
OTHER_SCRIPT = "other script"
SHORT = "other script but short"
"""Of a few letters only, such as MRI or dll, which may well be said so in the language."""
AMBIGUOUS = "ambiguous id"

FEW_LETTERS = 8
LATIN = re.compile("[A-Za-z]+")


def text_flags(queries: Sequence[Query], documents: Sequence[Document]) -> tuple[Flag, ...]:
    """What is doubtful of texts looked at one by one, queries first, both in their order.

    Queries: no text, no letters, another script than their language's, an id that had two texts in the files.
    Documents: no text, another script.
    """
    asked = (Flag("query", row.id, reason) for row in queries for reason in _of_query(row))
    held = (Flag("document", row.id, reason) for row in documents for reason in _of_text(row.text, row.language))
    return (*asked, *held)


def _of_query(query: Query) -> Iterator[str]:
    if records.AMBIGUOUS in query.attributes:
        yield AMBIGUOUS
    yield from _of_text(query.text, query.language)
    if query.text.strip() and script_of(query.text) is None:
        yield NO_LETTERS


def _of_text(text: str, language: str) -> Iterator[str]:
    if not text.strip():
        yield NO_TEXT
    elif foreign(text, language):
        yield SHORT if sum(map(str.isalpha, text)) < FEW_LETTERS else OTHER_SCRIPT


def foreign(text: str, language: str) -> str | None:
    """Why no word of a text seems to be in its language; Latin names stand in texts of every script."""
    found = suspicious(text, language)
    rest = LATIN.sub("", text)
    return suspicious(rest, language) if found and script_of(rest) else found


def flagged(flags: Iterable[Flag], item: str, *reasons: str) -> list[str]:
    """The ids of the queries or documents that are flagged for one of these reasons, in order."""
    return list(dict.fromkeys(flag.id for flag in flags if flag.item == item and flag.reason in reasons))


def counts(flags: Iterable[Flag]) -> FlagCounts:
    """How many queries and documents are flagged, and for which reasons."""
    distinct = set(flags)
    of = {item: len({flag.id for flag in distinct if flag.item == item}) for item in ("query", "document")}
    reasons = Counter(flag.reason for flag in distinct)
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return FlagCounts(of["query"], of["document"], dict(ordered))
