"""Documents in TREC's SGML: one record for each ``<DOC>``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import numbered
from analysis.imports.markup_topics import LANGUAGES, one_line, unescaped
from analysis.imports.records import Records

ID, TEXT = "docno", "text"
TITLES = ("title", "headline", "head", "hl", "ttl", "ti")
_EDGE = re.compile(r"(<DOC>|<DOC\s[^<>]*>|</DOC\s*>)", re.IGNORECASE)
_ELEMENT = re.compile(r"<([A-Za-z][\w.-]*)\b[^<>]*>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
_LAYOUT = re.compile(r"<!--.*?-->|</?(?:[A-Z][A-Z0-9]*|p|br)(?:\s[^<>]*)?>", re.DOTALL)


def read(path: Path, *, faults: Faults) -> Records:
    """Yield each document as the record that a line of JSON would be, with the line that it begins in.

    The id is ``DOCNO``, the text all ``TEXT`` elements, the title the first of ``TITLES``; other elements are not kept.
    Tags in capitals, ``<p>``, ``<br>`` and comments inside of a text are layout and count as a blank, as white space
    does; entities of HTML are characters.

    Args:
        path: in UTF-8, plain or packed.
        faults: takes what is no whole document.
    """
    kind = "document dropped"
    for where, text in _documents(path, faults):
        try:
            yield where, _record(text)
        except InputError as error:
            faults.meet(where, str(error), kind=kind)


def _documents(path: Path, faults: Faults) -> Iterator[tuple[Place, str]]:
    inside: list[str] | None = None
    where = Place(path, 1)
    for line, text in numbered(path):
        here = Place(path, line)
        for piece in _EDGE.split(f"{text}\n"):
            if not _EDGE.fullmatch(piece):
                if inside is not None:
                    inside.append(piece)
                elif piece.strip():
                    fault = f"{one_line(piece)[:40]!r} outside a document, expected <DOC>"
                    faults.meet(here, fault, kind="text outside a document dropped")
                continue
            if inside is not None and piece.startswith("</"):
                yield where, "".join(inside)
                inside = None
            elif inside is None and piece.startswith("</"):
                faults.meet(here, "</DOC> without a beginning, expected <DOC>", kind="text outside a document dropped")
            else:
                if inside is not None:
                    _meet_cut(where, faults)
                inside, where = [], here
    if inside is not None:
        _meet_cut(where, faults)


def _meet_cut(where: Place, faults: Faults) -> None:
    faults.meet(where, "the document has no end, expected </DOC>", kind="document dropped")


def _record(text: str) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for element in _ELEMENT.finditer(text):
        found.setdefault(element[1].lower(), []).append(one_line(unescaped(_LAYOUT.sub(" ", element[2]))))
    if ID not in found or TEXT not in found:
        lacking = ID if ID not in found else TEXT
        name = f" {found[ID][0]!r}" if ID in found else ""
        raise InputError(f"document{name} has {', '.join(found) or 'no elements'}, expected {lacking.upper()}")
    title = next((name for name in TITLES if name in found), None)
    language = next((name for name in LANGUAGES if name in found), None)
    record: dict[str, Any] = {name: None for name in found if name not in (ID, TEXT, title, language)}
    if one_line(_ELEMENT.sub(" ", text)):
        record["text outside its elements"] = None
    record |= {"_id": " ".join(found[ID]), "text": " ".join(found[TEXT])}
    if title:
        record["title"] = " ".join(found[title])
    if language:
        record["language"] = found[language][0]
    return record
