"""Runs in nested objects: ranx's JSON and CBOR, and the prediction files of mteb."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import IO, Any, NamedTuple, Protocol, cast

import numpy as np

from analysis.errors import InputError
from analysis.imports.lines import BLOCK, Source, opened
from analysis.imports.run_rows import BATCH, Choices, RowFaults, Rows, Scores, as_ids, sound_rows

SHAPE = 'expected {"query": {"document": score}}'
MTEB_SHAPE = 'expected {"subset": {"split": {"query": {"document": score}}}}, or the same without subsets'
META = "mteb_model_meta"
WHITE = re.compile(r"[ \t\n\r]*")
LONGEST = 1 << 27  # characters or bytes of one query's object: 128 MB, a hundred times what a thousand documents take
NEAR = 16  # characters: a number or name that is cut off where a piece ends is no fault, and none is longer


class Pairs(list[tuple[str, Any]]):
    """An object with every key it has, twice if it stands there twice."""


class _Reader(Protocol):
    """A nested object, read one member at a time."""

    def at_object(self) -> bool:
        """Whether an object begins here."""
        ...

    def members(self) -> Iterator[str]:
        """The keys of the object that begins here; the caller reads the value of each before it asks for the next."""
        ...

    def value(self) -> Any:
        """The value that begins here; an object as ``Pairs``, a number as a float."""
        ...


class _Json:
    """JSON text, of which little more than one value is held; NaN and Infinity are read, as Python writes them."""

    def __init__(self, source: Source, shape: str) -> None:
        self._path = source.path
        self._shape = shape
        self._pieces = source.texts()
        self._text = next(self._pieces, "")
        self._at = 0
        self._line = 1  # of the first character held
        self._decoder = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=float)

    def at_object(self) -> bool:
        return self._next() == "{"

    def members(self) -> Iterator[str]:
        self._expect("{", "Expecting an object")
        if self._next() == "}":
            self._at += 1
            return
        while True:
            if self._next() != '"':
                raise self._fault("Expecting property name enclosed in double quotes", self._at)
            key = self.value()
            self._expect(":", "Expecting ':' delimiter")
            yield key
            if self._next() == "}":
                self._at += 1
                return
            self._expect(",", "Expecting ',' delimiter")

    def value(self) -> Any:
        self._next()
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not (self._may_be_cut(error) and self._more()):
                    raise self._fault(error.msg, error.pos) from error
            except RecursionError as error:
                raise InputError(f"{self._path}: nested too deep, {self._shape}") from error
            else:
                if end < len(self._text) or not isinstance(found, float) or not self._more():
                    self._at = end
                    return found

    def end(self) -> None:
        """Expect nothing but white space."""
        if self._next():
            raise self._fault("Extra data", self._at)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        held = len(self._text) - self._at
        return held <= LONGEST and (error.pos >= len(self._text) - NEAR or error.msg.startswith("Unterminated"))

    def _more(self) -> bool:
        """Hold the next piece too, without what has been read."""
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._line += self._text.count("\n", 0, self._at)
        self._text, self._at = self._text[self._at :] + piece, 0
        return True

    def _next(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            found = WHITE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _expect(self, mark: str, message: str) -> None:
        if self._next() != mark:
            raise self._fault(message, self._at)
        self._at += 1

    def _fault(self, message: str, at: int) -> InputError:
        line = self._line + self._text.count("\n", 0, at)
        return InputError(f"{self._path}, line {line}: {message}, {self._shape}")


class _Stream:
    """Bytes for the decoder of CBOR, bounded for each value."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._held = io.BytesIO()  # the decoder asks for a few bytes at a time
        self._read = 0

    def begin(self) -> None:
        """A new value begins."""
        self._read = 0

    def readable(self) -> bool:
        """Yes; what the decoder asks first."""
        return True

    def seekable(self) -> bool:
        """No: it reads nothing ahead."""
        return False

    def read(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            InputError: one value is longer than any id or score.
        """
        self._read += size
        if self._read > LONGEST:
            raise InputError(f"{self._source.path}: a value of more than {LONGEST:,} bytes, {SHAPE}")
        found = self._held.read(size)
        if len(found) < size:
            self._held = io.BytesIO(self._source.read(BLOCK))
            found += self._held.read(size - len(found))
        return found


class _Cbor:
    """CBOR, of which one value is held."""

    def __init__(self, source: Source) -> None:
        import cbor2

        self._path = source.path
        self._stream = _Stream(source)
        self._decoder = cbor2.CBORDecoder(cast(IO[bytes], self._stream), max_depth=1)
        self._failed = cbor2.CBORDecodeError
        self._head: int | None = None  # the first byte of what follows, once looked at

    def at_object(self) -> bool:
        if self._head is None:
            self._head = self._read(1)[0]
        return self._head >> 5 == 5

    def members(self) -> Iterator[str]:
        if not self.at_object():
            raise InputError(f"{self._path}: no map at the top, {SHAPE}")
        for _ in range(self._count()):
            yield self._key()

    def value(self) -> Any:
        if not self.at_object():
            return None
        return Pairs((self._key(), self._item()) for _ in range(self._count()))

    def end(self) -> None:
        """Expect nothing more."""
        self._stream.begin()
        if self._stream.read(1):
            raise InputError(f"{self._path}: bytes after the map, {SHAPE}")

    def _count(self) -> int:
        """Members of the map that begins here."""
        size, self._head = (self._head or 0) & 31, None
        if size < 24:
            return size
        if size > 27:
            raise InputError(f"{self._path}: a map without a length, {SHAPE}")
        return int.from_bytes(self._read(1 << (size - 24)))

    def _key(self) -> str:
        key = self._item()
        if not isinstance(key, str):
            raise InputError(f"{self._path}: {str(key)[:40]!r} as an id, {SHAPE}")
        return key

    def _item(self) -> Any:
        self._stream.begin()
        try:
            found = self._decoder.decode()
        except self._failed as error:
            raise self._translated(error) from error
        whole = isinstance(found, int) and not isinstance(found, bool)
        return float(found) if whole and abs(found) < LONGEST else found

    def _read(self, size: int) -> bytes:
        self._stream.begin()
        try:
            return self._decoder.read(size)
        except self._failed as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> InputError:
        if isinstance(error.__cause__, InputError):
            return error.__cause__
        return InputError(f"{self._path}: {error}, {SHAPE}")


def ranx_json(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """The JSON of ranx: documents and scores of each query."""
    yield from _nested(source, _Json(source, SHAPE), faults)


def ranx_cbor(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """The same in CBOR, which ranx packs twice with LZ4."""
    yield from _nested(source, _Cbor(source), faults)


def _nested(source: Source, reader: _Json | _Cbor, faults: RowFaults) -> Iterator[Rows]:
    yield from _rows(source, ((query, reader.value()) for query in reader.members()), faults)
    reader.end()


def _rows(
    source: Source, queries: Iterable[tuple[str, Any]], faults: RowFaults, *, shape: str = SHAPE
) -> Iterator[Rows]:
    """Rows of some queries, each with the value that should be its documents and scores."""
    entries: list[tuple[str, str, Any]] = []
    first = 1
    for query, documents in queries:
        if not isinstance(documents, Pairs):
            raise InputError(f"{source.path}, query {query!r}: {str(documents)[:40]!r}, {shape}")
        entries += ((query, document, score) for document, score in documents)
        while len(entries) >= BATCH:
            yield _batch(source, entries[:BATCH], first, faults)
            first, entries = first + BATCH, entries[BATCH:]
    if entries:
        yield _batch(source, entries, first, faults)


def _batch(source: Source, entries: list[tuple[str, str, Any]], first: int, faults: RowFaults) -> Rows:
    query, document, written = zip(*entries, strict=True)
    scores = Scores(np.array([value if isinstance(value, float) else np.nan for value in written]), written)
    number = first + np.arange(len(query), dtype=np.int64)
    return sound_rows((as_ids(source, query), as_ids(source, document)), scores, number, faults)


class _Part(NamedTuple):
    """A run in an mteb file."""

    subset: str | None  # None in the older shape, which has none
    split: str


def mteb(source: Source, faults: RowFaults, choices: Choices) -> Iterator[Rows]:
    """The chosen subset and split; without a choice all subsets whose queries the task tells apart, as one run."""
    with opened(source.path) as again:
        held = _contents(again)
    chosen = _chosen(source, held, choices)
    known = frozenset(choices.documents)
    queries = (
        (chosen[part][query], _renamed(part, documents, known))
        for part, query, documents in _mteb_queries(_Json(source, MTEB_SHAPE))
        if part in chosen
    )
    yield from _rows(source, queries, faults, shape=MTEB_SHAPE)


def _renamed(part: _Part, documents: Any, known: Collection[str]) -> Any:
    """Documents and scores with the task's ids; what is no object stays as it is."""
    if not isinstance(documents, Pairs):
        return documents
    return Pairs((_name(part, document, known), score) for document, score in documents)


def _contents(source: Source) -> dict[_Part, list[str]]:
    """The queries of each part of an mteb file."""
    held: dict[_Part, list[str]] = {}
    for part, query, _ in _mteb_queries(_Json(source, MTEB_SHAPE)):
        held.setdefault(part, []).append(query)
    return held


def _mteb_queries(reader: _Json) -> Iterator[tuple[_Part, str, Any]]:
    """Part, query, and its documents and scores; of both shapes."""
    for first in reader.members():
        if first == META:
            reader.value()
            continue
        for second in reader.members():
            yield from _third_level(reader, first, second)
    reader.end()


def _third_level(reader: _Json, first: str, second: str) -> Iterator[tuple[_Part, str, Any]]:
    """What stands below two keys: queries of a subset's split, or documents of a split's query."""
    if not reader.at_object():
        yield _Part(None, first), second, reader.value()
        return
    keys = reader.members()
    third = next(keys, None)
    if third is None:
        return
    if reader.at_object():
        part = _Part(first, second)
        yield part, third, reader.value()
        yield from ((part, query, reader.value()) for query in keys)
        return
    documents = Pairs([(third, reader.value())])
    documents += [(document, reader.value()) for document in keys]
    yield _Part(None, first), second, documents


def _chosen(source: Source, held: Mapping[_Part, list[str]], choices: Choices) -> dict[_Part, dict[str, str]]:
    """The parts that are read, each with its queries and what the task calls them.

    Raises:
        InputError: the choice fits nothing, or there is more than one run to choose from.
    """
    parts = [part for part in held if choices.subset in {None, part.subset} and choices.split in {None, part.split}]
    if held and not parts:
        raise InputError(f"{source.path}: it holds {_listed(held)}; expected --subset and --split to name one of them")
    if len({part.split for part in parts}) > 1:
        raise InputError(f"{source.path}: it holds {_listed(parts)}; expected --split with one of them")
    ours = frozenset(choices.queries)
    chosen = {part: {query: _name(part, query, ours) for query in held[part]} for part in parts}
    names = Counter(name for queries in chosen.values() for name in queries.values())
    known = all(not ours.isdisjoint(queries.values()) for queries in chosen.values())
    if len(parts) > 1 and not (known and max(names.values()) == 1):
        raise InputError(f"{source.path}: it holds {_listed(parts)}; expected --subset with one of them")
    return chosen


def _listed(parts: Iterable[_Part]) -> str:
    return ", ".join(f"{part.subset or 'no subset'} / {part.split}" for part in parts)


def _name(part: _Part, name: str, known: Collection[str]) -> str:
    """What the task calls a query or document: where subsets have the same ids they are told apart by a prefix."""
    prefixed = f"{part.subset}:{name}"
    return prefixed if name not in known and prefixed in known else name
