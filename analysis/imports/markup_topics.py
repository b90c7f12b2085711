"""Topics in XML, or in TREC's SGML, which is no XML: one record a topic."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import opened
from analysis.imports.records import Records
from analysis.imports.safe_xml import SafeXml

FIELDS: Mapping[str, Sequence[str]] = {
    "title": ("title", "query", "topic_title", "text"),
    "desc": ("desc", "description", "question", "topic_description"),
    "narr": ("narr", "narrative"),
}
"""What may be the text of a topic, and what tracks call it."""

TEXT_IS = "topics whose text is their {} (--topic-field)"
IDS = ("num", "number", "identifier", "id", "qid", "topic_id")
LANGUAGES = ("language", "lang", "xml:lang")
LABELS = {
    "num": "Number", "title": "Topic", "desc": "Description", "narr": "Narrative", "dom": "Domain", "smry": "Summary",
    "con": "Concept(s)", "fac": "Factor(s)", "nat": "Nationality", "def": "Definition(s)",
}  # fmt: skip
"""What stands before the text of an element in SGML, with a colon."""

TAGS = (*LABELS, "head", "time", "query", "description", "narrative", "question", "querytime", "querytweettime",
        "docid", "url", "lang")  # fmt: skip
"""Elements of SGML topics; any other markup is text."""

_LAYOUT = re.compile(r"[ \t\r\n\f\v]+")
_TOPIC = re.compile(r"<top\b([^<>]*)>(.*?)(</top\s*>|(?=<top\b)|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(rf"<(/?)({'|'.join(TAGS)})\b[^<>]*>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);", re.ASCII)
_LANGUAGE = re.compile(r"""\blang\s*=\s*["']?([^\s"'>]+)""", re.IGNORECASE)

Fields = dict[str, str | list[str]]
"""What a topic says, by lower-case name; a list where a name stands more than once."""


def read(path: Path, *, field: str, mapped: bool, notices: Counter[str], faults: Faults) -> Records:
    """Yield each topic as the record that a line of JSON would be, with the line that it begins in.

    A file that begins with ``<top>`` is SGML; in any other each child of the outermost element is a topic, with its
    attributes and its own children. White space counts as one blank, as markup lays out its lines; entities that a file
    declares are refused. Whatever is not the text, the id or the language becomes an attribute.

    Args:
        path: in UTF-8, plain or packed.
        field: one of ``FIELDS``, the text of the query.
        mapped: the user says otherwise which field is the text.
        notices: counts the topics by what their text is.
        faults: takes topics without the text, or cut off.

    Raises:
        InputError: the file cannot be read, or is no XML.
    """
    with opened(path) as source:
        text = source.text()
    found = _sgml(path, text, faults) if re.match(r"\s*<top[\s>]", text, re.IGNORECASE) else _xml(path, text)
    for where, fields in found:
        try:
            yield where, _record(fields, field, notices, mapped=mapped)
        except InputError as error:
            faults.meet(where, str(error), kind="query dropped")


def _record(fields: Fields, field: str, notices: Counter[str], *, mapped: bool) -> dict[str, Any]:
    found: dict[str, Any] = dict(fields)
    record: dict[str, Any] = {}
    for name, words in (("_id", IDS), ("language", LANGUAGES), ("text", () if mapped else FIELDS[field])):
        word = next((word for word in words if word in found), None)
        if word is not None:
            record[name] = found.pop(word)
            if name == "text":
                notices[TEXT_IS.format(word)] += 1
    if isinstance(record.get("_id"), str):
        record["_id"] = _without_label("num", record["_id"])
    if "text" not in record and not mapped:
        raise InputError(
            f"topic {record.get('_id')!r} has {', '.join(fields)}, expected one of {', '.join(FIELDS[field])} "
            "(--topic-field)"
        )
    return found | record


def _without_label(name: str, text: str) -> str:
    label = LABELS.get(name)
    return re.sub(rf"\A{re.escape(label)}\s*:\s*", "", text, flags=re.IGNORECASE) if label else text


def one_line(text: str) -> str:
    """A text without the layout of its markup: white space of ASCII is one blank."""
    return _LAYOUT.sub(" ", text).strip(" ")


def unescaped(text: str) -> str:
    """A text of SGML with the characters that entities of HTML stand for; what is no whole entity stays."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _put(fields: Fields, name: str, text: str) -> None:
    before = fields.get(name)
    if before is None:
        fields[name] = text
    else:
        fields[name] = [*(before if isinstance(before, list) else [before]), text]


def _sgml(path: Path, text: str, faults: Faults) -> Iterator[tuple[Place, Fields]]:
    line, done = 1, 0
    for match in _TOPIC.finditer(text):
        between = text[done : match.start()]
        if between.strip():
            number = line + between[: len(between) - len(between.lstrip())].count("\n")
            fault = f"{one_line(between)[:40]!r} outside a topic, expected <top>"
            faults.meet(Place(path, number), fault, kind="text outside a topic dropped")
        line += between.count("\n")
        where = Place(path, line)
        line += match[0].count("\n")
        done = match.end()
        if not match[3]:
            faults.meet(where, "the topic has no end, expected </top>", kind="query dropped")
            continue
        yield where, _sgml_fields(match[1], match[2])
    if text[done:].strip():
        fault = f"{one_line(text[done:])[:40]!r} outside a topic, expected <top>"
        faults.meet(Place(path, line), fault, kind="text outside a topic dropped")


def _sgml_fields(attributes: str, text: str) -> Fields:
    fields: Fields = {}
    language = _LANGUAGE.search(attributes)
    if language:
        fields["language"] = language[1]
    before, *rest = _TAG.split(text)
    found = [("text", [before])]
    for closing, name, piece in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if closing:
            found[-1][1].append(piece)
        else:
            found.append((name.lower(), [piece]))
    for name, pieces in found:
        shown = _without_label(name, one_line(unescaped(" ".join(pieces))))
        if shown or name != "text":
            _put(fields, name, shown)
    return fields


class _Topics(SafeXml):
    """Gathers topics."""

    expected = "topics in XML"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.found: list[tuple[Place, Fields]] = []
        self._depth = 0
        self._texts: list[list[str]] = [[]]  # of the topic itself, and of its child

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 2:
            self.found.append((Place(self.path, self.parser.CurrentLineNumber), {}))
            self._texts = [[]]
        elif self._depth == 3:
            self._texts.append([])
        prefix = {2: "", 3: f"{name.lower()}."}.get(self._depth)
        if prefix is not None:
            for key, value in attributes.items():
                _put(self.found[-1][1], f"{prefix}{key.lower()}", value)

    def _end(self, name: str) -> None:
        if self._depth in (2, 3):
            text = one_line("".join(self._texts.pop()))
            if self._depth == 3 or text:
                _put(self.found[-1][1], name.lower() if self._depth == 3 else "text", text)
        self._depth -= 1

    def _characters(self, text: str) -> None:
        if self._depth >= 2:
            self._texts[-1].append(text)
        elif text.strip():
            raise InputError(f"{self._line()}: {text.strip()[:40]!r} outside a topic, expected topics only")


def _xml(path: Path, text: str) -> list[tuple[Place, Fields]]:
    topics = _Topics(path)
    topics.parse(text, final=True)
    return topics.found
