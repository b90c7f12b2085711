"""Records of documents and queries: from lines of JSON to checked rows, each with its language."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from analysis.errors import InputError
from analysis.imports import id_languages, scores
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import numbered
from analysis.languages import canonical
from analysis.model import Document, Query

Record = Mapping[str, Any]
Row = TypeVar("Row", Document, Query)
Records = Iterator[tuple[Place, dict[str, Any]]]
"""Records with where each stands."""

IDS = ("_id", "id")
DOCUMENT_FIELDS = ("_id", "title", "text", "language", "family", "sibling_group", "related_group")
QUERY_FIELDS = ("_id", "text", "language", *scores.OWN, "sibling_group", "related_group", "excluded_documents")
IMAGES = "image"
"""Where a query or document of a format with images names its own."""

UNDETERMINED = "und"
AMBIGUOUS = "ambiguous_id"
"""The attribute of a query whose id has two texts in the file, where a lenient import kept the first."""


class Written(str):
    """A number as the file writes it: ``1e5`` and ``007.0`` stay what they are."""

    __slots__ = ()


def read(path: Path, *, faults: Faults, kind: str) -> Records:
    """Yield each JSON object of a file with its physical line; only a line feed ends a line.

    Args:
        path: one object a line, in UTF-8, plain or packed.
        faults: takes lines that hold none.
        kind: what a lenient import does about such a line.
    """
    for line, text in numbered(path):
        if not text.strip():
            continue
        where = Place(path, line)
        try:
            yield where, _object(text)
        except InputError as error:
            faults.meet(where, str(error), kind=kind)


def _object(text: str) -> dict[str, Any]:
    shown = text if len(text) <= 80 else f"{text[:80]}…"
    try:
        found = json.loads(
            text, parse_int=Written, parse_float=Written, parse_constant=_no_constant, object_pairs_hook=once
        )
    except json.JSONDecodeError as error:
        raise InputError(f"{error.msg} at column {error.colno} in {shown!r}, expected a JSON object") from error
    except RecursionError as error:
        raise InputError(f"{shown!r} is nested too deep, expected a flat JSON object") from error
    if not isinstance(found, dict):
        raise InputError(f"{shown!r}, expected a JSON object in braces")
    if "\\u" in text:
        _check_pairs(found, shown)
    return found


def _check_pairs(found: dict[str, Any], shown: str) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"half a surrogate pair in {shown!r}, expected whole characters") from error


def _no_constant(name: str) -> None:
    raise InputError(f"{name} in a JSON object, expected a number or null")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs of a JSON object; a key that stands twice is a fault, where Python keeps the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise InputError(f"key {name!r} stands twice in an object, expected it once")
    return found


@dataclass(frozen=True)
class Languages:
    """Where the language of a record stands; the first that has one counts.

    Attributes:
        key: a key beside ``language``, dotted for one inside an object (``metadata.lang``).
        pattern: searched in the id; its first group, or all of it.
        default: for every record without one.
        flag: the option that gives ``default``, for messages.
    """

    key: str | None
    pattern: re.Pattern[str] | None
    default: str | None
    flag: str

    def found(self, record: Record, name: str) -> str | None:
        """The language of a record as written; None where nothing says it."""
        for given in (text(record, "language"), text(record, self.key) if self.key else None):
            if given and given.strip():
                return given.strip()
        return id_languages.found(self.pattern, name) or self.default


def at(record: Record, path: str) -> Any:
    """The value of a key, or of a dotted path into objects; None where there is none."""
    if path in record:
        return record[path]
    first, dot, rest = path.partition(".")
    inner = record.get(first)
    return at(inner, rest) if dot and isinstance(inner, dict) else None


def text(record: Record, name: str) -> str | None:
    """A string, or a number as written; None where missing or null.

    Raises:
        InputError: it is something else.
    """
    found = at(record, name)
    if found is None or isinstance(found, str):
        return None if found is None else str(found)
    raise InputError(f"{name} {json.dumps(found, ensure_ascii=False)[:80]}, expected a string")


class Placed(NamedTuple):
    """A row with where it stands."""

    place: Place
    row: Any


@dataclass
class Reader:
    """Makes rows of records, and counts what a report tells of them.

    Attributes:
        faults: takes the faults of all files.
        renamed: the field that each column named by the user holds.
        notices: what was repaired in language codes, with the number of rows.
        seen: columns named by the user that occurred.
        ignored: fields of documents that are not kept, with the number of documents.
        bodies: texts without their titles, of documents that have a title and the id of a query.
        empty: ids of documents without a text, in the order of the file; a title may stand in for it.
        no_family: ids of documents that say no family.
        n_repeats: rows that repeat another exactly.
        n_number_ids: ids that are numbers in the file.
        with_images: whether documents may have images.
        images: their paths as written, by the document's id.
    """

    faults: Faults
    renamed: Mapping[str, str]
    notices: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)
    ignored: Counter[str] = field(default_factory=Counter)
    bodies: dict[str, str] = field(default_factory=dict)
    empty: dict[str, None] = field(default_factory=dict)
    no_family: set[str] = field(default_factory=set)
    n_repeats: int = 0
    n_number_ids: int = 0
    with_images: bool = False
    images: dict[str, str] = field(default_factory=dict)

    def documents(self, records: Records, *, languages: Languages, asked: Collection[str]) -> dict[str, Placed]:
        """Documents by id; ``asked`` are the ids of the queries."""

        def make(record: Record, where: Place) -> Document:
            return self._document(where, record, languages, asked)

        return self._rows(records, make, "document")

    def queries(self, records: Records, *, languages: Languages) -> dict[str, Placed]:
        """Queries by id."""
        return self._rows(records, lambda record, where: self._query(where, record, languages), "query")

    def absent(self, where: Place, name: str, *, languages: Languages, said: str | None = None) -> Query:
        """A query of which only the id is known, from the place that judges it; its language may stay unknown.

        ``said`` is what the place of the judgements says.
        """
        raw = said or languages.found({}, name)
        return Query(name, self._tag(where, raw) if raw else UNDETERMINED, "", name)

    def _rows(self, records: Records, make: Callable[[Record, Place], Row], what: str) -> dict[str, Placed]:
        found: dict[str, Placed] = {}
        for where, record in records:
            try:
                row = make(self._named(record), where)
            except InputError as error:
                self.faults.meet(where, str(error), kind=f"{what} dropped")
                continue
            before = found.get(row.id)
            if before is None:
                found[row.id] = Placed(where, row)
            elif before.row == row:
                self.n_repeats += 1
            else:
                found[row.id] = self._first(where, before, row, what)
        return found

    def _first(self, where: Place, before: Placed, row: Row, what: str) -> Placed:
        """Of two rows of one id the first stays; a query says so."""
        known = before.row
        name = next(name for name, one, other in zip(row._fields, known, row, strict=True) if one != other)
        earlier = before.place.seen_from(where)
        fault = f"{what} id {row.id!r} has another {name} than in {earlier}; expected one row for each id"
        self.faults.meet(where, fault, kind=f"{what} again with other content: the first kept")
        if isinstance(known, Query):
            return Placed(before.place, known._replace(attributes={**known.attributes, AMBIGUOUS: "yes"}))
        return before

    def _named(self, record: Record) -> dict[str, Any]:
        """A record by our names of its fields."""
        found = dict(record)
        for column, name in self.renamed.items():
            value = at(record, column)
            if value is not None:
                self.seen.add(column)
                found.pop(column, None)
                found[name] = value
        return found

    def _document(self, where: Place, record: Record, languages: Languages, asked: Collection[str]) -> Document:
        name = self._id(record)
        kept = (*DOCUMENT_FIELDS, *IDS, languages.key, IMAGES if self.with_images else None)
        self.ignored.update(key for key in record if key not in kept)
        title, body, family = (text(record, key) or "" for key in ("title", "text", "family"))
        if title.strip() and name in asked:
            self.bodies[name] = body
        if not body.strip():
            self.empty[name] = None
        if not family:
            self.no_family.add(name)
        self._keep_image(name, record)
        return Document(
            name,
            self._language(where, record, name, languages),
            _joined(title, body),
            family or name,
            text(record, "sibling_group") or None,
            text(record, "related_group") or None,
        )

    def _keep_image(self, name: str, record: Record) -> None:
        image = _shown(record.get(IMAGES)) if self.with_images else None
        if image and self.images.setdefault(name, image) != image:
            raise InputError(f"document id {name!r} has another image, {image!r}, expected {self.images[name]!r} again")

    def _query(self, where: Place, record: Record, languages: Languages) -> Query:
        name = self._id(record)
        return Query(
            name,
            self._language(where, record, name, languages),
            text(record, "text") or "",
            text(record, "family") or name,
            **{key: text(record, key) or None for key in QUERY_FIELDS[4:-1]},
            excluded_documents=_names(record, "excluded_documents"),
            attributes=_attributes(record),
        )

    def _id(self, record: Record) -> str:
        key = next((key for key in IDS if record.get(key) is not None), IDS[0])
        found = text(record, key)
        if not found or not found.strip():
            raise InputError(f"{key} is {'missing' if found is None else 'blank'}, expected an id")
        self.n_number_ids += isinstance(record[key], Written)
        return found

    def _language(self, where: Place, record: Record, name: str, languages: Languages) -> str:
        raw = languages.found(record, name)
        if raw:
            return self._tag(where, raw)
        fault = (
            f"{name!r} has no language, expected a field language, {languages.flag}, --language-key or "
            f"--language-pattern ({UNDETERMINED} where it is unknown)"
        )
        self.faults.meet(where, fault, kind=f"language not given: {UNDETERMINED}")
        return UNDETERMINED

    def _tag(self, where: Place, raw: str) -> str:
        try:
            found = canonical(raw)
        except InputError as error:
            self.faults.meet(where, str(error), kind=f"language not known: {UNDETERMINED}")
            return UNDETERMINED
        if found.notice:
            self.notices[found.notice] += 1
        return found.tag


def _joined(title: str, body: str) -> str:
    """Title and text as BEIR's retrievers read them; one that is blank leaves the other as it is."""
    if not title.strip():
        return body
    return f"{title} {body}" if body.strip() else title


def _names(record: Record, name: str) -> tuple[str, ...]:
    found = record.get(name)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise InputError(f"{name} {json.dumps(found, ensure_ascii=False)[:80]}, expected a list of document ids")
    return tuple(dict.fromkeys(str(item) for item in found))


def _attributes(record: Record) -> dict[str, str]:
    """Whatever else a query says, also inside ``metadata``; a name that means something else keeps the prefix."""
    inner = record.get("metadata")
    own = QUERY_FIELDS if record.get(IDS[0]) is not None else (*QUERY_FIELDS, *IDS)
    outer = {key: value for key, value in record.items() if key not in own}
    found: dict[str, str] = {}
    if isinstance(inner, dict):
        del outer["metadata"]
        taken = {*scores.TAKEN, *QUERY_FIELDS, *outer}
        outer |= {f"metadata.{key}" if key in taken else key: value for key, value in inner.items()}
    for key, value in outer.items():
        name = f"field.{key}" if key in scores.TAKEN else key
        if not name.strip() or "=" in name:
            raise InputError(f"field {name!r}, expected a name for an attribute that is not blank and has no =")
        shown = _shown(value)
        if shown:
            found[name] = shown
    return found


def _shown(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    return json.dumps(value, ensure_ascii=False)
