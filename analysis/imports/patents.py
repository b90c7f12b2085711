"""Patents from tables: Google Patents' exports, the EPO's full text for analytics, or one row a language version."""

from __future__ import annotations

import contextlib
import functools
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import tables
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import numbered
from analysis.languages import canonical, suspicious
from analysis.store.versions import UNKNOWN, Version, key_of

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "row_id"),
    "publication": ("publication_number", "publication", "publn_nr", "patent_number", "ucid"),
    "language": ("language", "lang", "language_code", "appln_abstract_lg"),
    "title": ("title", "title_localized", "invention_title", "appln_title"),
    "abstract": ("abstract", "abstract_localized", "appln_abstract"),
    "claim": ("first_claim", "claim", "claims", "claims_localized"),
    "office": ("office", "country_code", "publication_authority", "publn_auth"),
    "ipc": ("ipc", "ipcr", "ipc_class_symbol", "ipc_code"),
    "cpc": ("cpc", "cpc_class_symbol", "cpc_code"),
}
"""What our fields are called in exports; the first that a table has counts."""

HEADING = "heading"
"""What a title is called while it is read: a column of titles may hold lists here."""

FULL_TEXT = 7
"""Columns of the EPO's full text, which has no header: authority, number, kind, date, language, type, text."""
PARTS = {"TITLE": "title", "ABSTR": "abstract", "CLAIM": "claim"}
OTHER_PARTS = {"DESCR", "AMEND", "ACSTM", "SREPT", "PDFEP"}

LOOKED_AT = 400  # characters by which the script of a text is told
KIND = "row dropped"
_TAGS = re.compile(r"<[^>]*>")
_CLAIM = re.compile(r"<claim\b.*?</claim>", re.DOTALL)
_SECOND = re.compile(r"(?:^|\s)2\s?[.．)]\s")


def versions(path: Path, renamed: Mapping[str, str]) -> Iterator[Version]:
    """Each language version of each publication, in the order of the file.

    Args:
        path: CSV, TSV, lines of JSON, Parquet or Arrow, plain or packed.
        renamed: column -> field, where exports call them otherwise.

    Raises:
        InputError: the file cannot be read, lacks a column, or a row is not as its layout has it.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a table of patents")
    columns = _columns(renamed)
    if _is_full_text(path):
        yield from _full_text(path)
        return
    faults = Faults(lenient=False)
    for place, record in tables.read(path, columns, faults=faults, kind=KIND):
        faults.end()
        yield from _of_record(place, record)
    faults.end()


def _columns(renamed: Mapping[str, str]) -> tables.Columns:
    known = tables.called(COLUMNS, renamed)
    known[HEADING] = known.pop("title")
    return tables.Columns("patent", known, (("publication",), ("abstract",)), {}, kept=())


def _of_record(place: Place, record: Mapping[str, Any]) -> Iterator[Version]:
    """One version of a row in one language; several of a row whose texts are lists, one a language."""
    name, language = _word(record.get("id")), _word(record.get("language"))
    by_language: dict[str, dict[str, str]] = defaultdict(dict)
    for part, field in (("abstract", "abstract"), ("title", HEADING), ("claim", "claim")):
        for tag, text in _localised(record.get(field), language):
            if text:
                by_language[tag].setdefault(part, text)
    for tag, parts in (by_language or {language: {}}).items():
        yield _version(
            place,
            parts,
            _word(record.get("publication")),
            language=tag,
            office=_word(record.get("office")),
            name=name if len(by_language) < 2 else "",
            classes=";".join(dict.fromkeys([*_codes(record.get("ipc")), *_codes(record.get("cpc"))])),
        )


def _localised(value: object, language: str) -> list[tuple[str, str]]:
    """Languages and texts: one text in the row's language; or a list of them, as Google's exports have it."""
    if isinstance(value, str) and value.lstrip().startswith("[{"):
        with contextlib.suppress(json.JSONDecodeError):  # else a text that begins so
            value = json.loads(value)
    if isinstance(value, list):
        return [(_word(item.get("language")), _word(item.get("text"))) for item in value if isinstance(item, dict)]
    return [(language, _word(value))]


def _codes(value: object) -> list[str]:
    """Classes without the spaces in them: ``C07D401/12``."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            value = str(value).strip("[] ")
    found = value if isinstance(value, list) else re.split(r"[;,|]", _word(value))
    texts = (_word(item.get("code")) if isinstance(item, dict) else _word(item) for item in found)
    return [code for text in texts if (code := re.sub(r"[\s\"']", "", text).upper())]


def _word(value: object) -> str:
    return "" if value is None else str(value)


def _version(
    place: Place,
    parts: Mapping[str, str],
    publication: str,
    *,
    language: str,
    office: str,
    name: str = "",
    classes: str = "",
) -> Version:
    tag = _tag(language.strip())
    title, abstract = _plain(parts.get("title", "")), _plain(parts.get("abstract", ""))
    fits = not tag or suspicious(abstract[:LOOKED_AT], tag) is None
    return Version(
        id=name.strip(),
        publication=publication.strip(),
        key=key_of(publication, office),
        language=tag,
        title=title,
        abstract=abstract,
        claim=first_claim(parts.get("claim", "")),
        office=office.strip(),
        classes=classes,
        fits=fits,
        place=f"{place.unit} {place.number}",
    )


@functools.lru_cache(maxsize=4096)
def _tag(language: str) -> str:
    """The shortest tag; empty where the code is assigned to no language, or says that it is unknown."""
    try:
        tag = canonical(language).tag if language else ""
    except InputError:
        return ""
    return "" if tag == UNKNOWN else tag


def _plain(text: str) -> str:
    """A text without markup, its white space single."""
    if "<" in text:
        text = _TAGS.sub(" ", text)
    return " ".join(html.unescape(text).split())


def first_claim(text: str) -> str:
    """The first of some claims: by the EPO's markup, else what stands before a claim numbered 2."""
    marked = _CLAIM.search(text)
    if marked:
        return _plain(marked.group())
    plain = _plain(text)
    second = _SECOND.search(plain)
    return plain[: second.start()].rstrip() if second else plain


def _is_full_text(path: Path) -> bool:
    if tables.form_of(path) not in ("tsv", "csv"):
        return False
    cells = next(numbered(path), (0, ""))[1].split("\t")
    return len(cells) == FULL_TEXT and cells[5] in {*PARTS, *OTHER_PARTS}


def _full_text(path: Path) -> Iterator[Version]:
    """Versions from the EPO's full text, whose lines of one publication follow each other."""
    for (authority, number, _), lines in groupby(_full_text_lines(path), key=lambda line: tuple(line[1][:3])):
        by_language: dict[str, dict[str, str]] = defaultdict(dict)
        first: dict[str, Place] = {}
        for place, (*_, language, part, text) in lines:
            if part in PARTS:
                by_language[language].setdefault(PARTS[part], text)
                first.setdefault(language, place)
        for language, parts in by_language.items():
            yield _version(first[language], parts, authority + number, language=language, office=authority)


def _full_text_lines(path: Path) -> Iterator[tuple[Place, list[str]]]:
    for line, text in numbered(path):
        if not text.strip():
            continue
        cells = text.rstrip("\r\n").split("\t")
        if len(cells) != FULL_TEXT:
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells, expected {FULL_TEXT} as the EPO's full text has"
            )
        yield Place(path, line), cells
