"""Subsets of a benchmark put together: each has queries, and documents and judgements that others may share.

An id keeps its name where one subset alone has it, or all that have it mean the same document by it; else it becomes
``subset:id``. Queries are never taken for the same. What only judgements name is written so too, where a subset that
does not hold it would otherwise be given another's.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import judgements, tables
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts
from analysis.imports.qrels import Qrels
from analysis.imports.records import IDS, Record, Records
from analysis.imports.tables import Columns

SUBSET = "subset"
"""The attribute of a query that says which subset asks it, and what ``--language-key`` may name."""

INSTRUCTION = "instruction"
EXCLUDED = "excluded_documents"
WORDS = ("query", "document")
"""What shapes of the names of subsets are built from."""

Change = Callable[[Record], dict[str, Any]]
"""What a format makes of a record before its fields are looked at."""


@dataclass(frozen=True)
class Subset:
    """What is asked together.

    Attributes:
        name: what ids and the attribute call it; empty where there is one without a name.
        documents: files of its corpus; subsets with the same ones share them.
        queries: files of its queries.
        judgements: files of its judgements; empty where others make them.
        instructions: files that give queries instructions.
        attributes: what each of its queries gets.
    """

    name: str
    documents: tuple[Path, ...]
    queries: tuple[Path, ...]
    judgements: tuple[Path, ...]
    instructions: tuple[Path, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """How documents, or queries, are read.

    Attributes:
        columns: what their tables call their fields.
        change: what the format makes of a record.
        apart: a field that tells records of two groups apart: the same path means another file in each folder.
    """

    columns: Columns
    change: Change = dict
    apart: str | None = None


def parts(subsets: Sequence[Subset], *, options: Options, faults: Faults, documents: Side, queries: Side) -> Parts:
    """The parts of all subsets together.

    Args:
        subsets: at least one.
        options: how they are read.
        faults: takes the faults of their rows.
        documents: how the format's documents are read.
        queries: how its queries are.

    Raises:
        InputError: a table cannot be read, or an option fits no subset.
    """
    read = _Together(subsets, options, faults, {"document": documents, "query": queries})
    files = dict.fromkeys(
        path for one in subsets for path in (*one.documents, *one.queries, *one.instructions, *one.judgements)
    )
    return Parts(tuple(files), read.queries(), read.documents(), read.judgements, read.notices)


def languages_of(names: Sequence[str], asked: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
    """The languages of the queries and documents of each subset, as the user says them.

    Args:
        names: of the subsets.
        asked: ``NAME=QUERY:DOCUMENT`` each, or one shape of the names from the words ``query`` and ``document``, such
            as ``query-document``; where the shape lacks a word, that language is not said.

    Raises:
        InputError: one is neither, or fits no subset.
    """
    found: dict[str, tuple[str | None, str | None]] = dict.fromkeys(names, (None, None))
    for text in asked:
        name, given, tags = text.partition("=")
        one, colon, other = tags.partition(":")
        if given and (not colon or not one or not other or name not in found):
            expected = f"NAME=QUERY:DOCUMENT with a subset of {', '.join(filter(None, names)) or '(none)'}"
            raise InputError(f"--subset-languages {text!r}: expected {expected}")
        found |= {name: (one, other)} if given else _shaped(names, text)
    return found


def _shaped(names: Sequence[str], shape: str) -> dict[str, tuple[str | None, str | None]]:
    """Languages as a shape of all names says them."""
    pieces = re.split(f"({'|'.join(WORDS)})", shape)
    if len(pieces) == 1 or max(map(pieces.count, WORDS)) > 1:
        raise InputError(f"--subset-languages {shape!r}: expected NAME=QUERY:DOCUMENT, or a shape as query-document")
    pattern = "".join(f"(?P<{piece}>.+?)" if piece in WORDS else re.escape(piece) for piece in pieces)
    found = {}
    for name in names:
        match = re.fullmatch(pattern, name)
        if match is None:
            raise InputError(f"--subset-languages {shape!r}: subset {name!r} has another shape, expected it of all")
        said = match.groupdict()
        found[name] = (said.get("query"), said.get("document"))
    return found


class _Names:
    """How the ids of one side are written, once every group that has one has said so."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        self._groups: dict[str, int] = {}  # id -> a bit for each group that has it
        self._contents: dict[str, int] = {}
        self._colliding: set[str] = set()
        self._absent: dict[str, int] = {}

    def add(self, group: int, name: str, content: int) -> None:
        """Say that a group has an id, and what it means by it."""
        bit, known = 1 << group, self._groups.get(name, 0)
        if known & ~bit and self._contents[name] != content:
            self._colliding.add(name)
        self._groups[name] = known | bit
        self._contents.setdefault(name, content)

    def has(self, group: int, name: str) -> bool:
        """Whether a group has an id."""
        return bool(self._groups.get(name, 0) >> group & 1)

    def of(self, group: int, name: str) -> str:
        """How an id of a group is written."""
        if name in self._groups:
            own = self.has(group, name) and name not in self._colliding
        else:
            own = self._absent.setdefault(name, group) == group
        return name if own else f"{self.labels[group]}:{name}"


class _Together:
    """Reads all subsets; ids are gone through first where there are several."""

    def __init__(self, subsets: Sequence[Subset], options: Options, faults: Faults, sides: Mapping[str, Side]) -> None:
        self.subsets, self.options, self.faults, self.sides = subsets, options, faults, sides
        self.notices: Counter[str] = Counter()
        self._keys = (*self._columns(IDS[0]), *IDS)
        self._excluding = (*self._columns(EXCLUDED), EXCLUDED)
        self.corpora = list(dict.fromkeys(one.documents for one in subsets))
        owners = [next(one.name for one in subsets if one.documents == files) for files in self.corpora]
        said = languages_of([one.name for one in subsets], options.subset_languages)
        self._check_shared(said)
        self.languages = {
            "query": [said[one.name][0] for one in subsets],
            "document": [said[name][1] for name in owners],
        }
        self.names = {"query": _Names([one.name for one in subsets]), "document": _Names(owners)}
        if len(subsets) > 1:
            self._go_through()

    def _columns(self, field_name: str) -> list[str]:
        """What the user calls a field."""
        return [column for column, name in self.options.renamed.items() if name == field_name]

    def _check_shared(self, said: Mapping[str, tuple[str | None, str | None]]) -> None:
        for files in self.corpora:
            tags = {str(said[one.name][1]) for one in self.subsets if one.documents == files}
            if len(tags) > 1:
                shown = " and ".join(sorted(tags))
                raise InputError(f"--subset-languages: {files[0]} would be in {shown}, expected one language for it")

    def _go_through(self) -> None:
        for what, groups in (("query", [one.queries for one in self.subsets]), ("document", self.corpora)):
            for group, files in enumerate(groups):
                for _, record in self._rows(files, what, Faults(lenient=True)):
                    key = self._key(record)
                    if key is not None:
                        content = hash((self._apart(group, what, record), json.dumps(record, sort_keys=True)))
                        self.names[what].add(group, record[key], content)

    def _apart(self, group: int, what: str, record: Record) -> object:
        """What tells equal records of two groups apart: all of queries, and the language of documents."""
        field_name = self.sides[what].apart
        if what == "query" or self.options.language_key == SUBSET or (field_name and record.get(field_name)):
            return group
        return self.languages[what][group]

    def _rows(self, files: Sequence[Path], what: str, faults: Faults) -> Records:
        side = self.sides[what]
        for path in files:
            for where, record in tables.read(path, side.columns, faults=faults, kind=f"{what} dropped"):
                yield where, side.change(record)

    def _key(self, record: Record) -> str | None:
        """The field that holds the id of a record; None where none is an id."""
        key = next((key for key in self._keys if record.get(key) is not None), None)
        return key if key is not None and isinstance(record[key], str) else None

    def _made(self, group: int, record: dict[str, Any], what: str) -> dict[str, Any]:
        """A record under its id among all subsets, in the language that the user says of its subset."""
        key, tag = self._key(record), self.languages[what][group]
        made = dict(record)
        name = self.names[what].of(group, record[key]) if key and len(self.subsets) > 1 else None
        if key and name and name != record[key]:
            made[key] = name
            self.notices[f"{what} ids that several subsets have: written subset:id"] += 1
        if tag is not None and not str(record.get("language") or "").strip():
            made["language"] = tag
        return made

    def documents(self) -> Records:
        """Records of all corpora, each read once."""
        for group, files in enumerate(self.corpora):
            of_subset = {SUBSET: self.names["document"].labels[group]} if self.options.language_key == SUBSET else {}
            for where, record in self._rows(files, "document", self.faults):
                yield where, self._made(group, record, "document") | of_subset

    def queries(self) -> Records:
        """Records of all queries, each with the attributes of its subset."""
        for group, one in enumerate(self.subsets):
            instructions = self._instructions(one)
            own = {**one.attributes, **({SUBSET: one.name} if one.name else {})}
            for where, record in self._rows(one.queries, "query", self.faults):
                made = self._made(group, record, "query")
                for name in self._excluding:
                    if isinstance(excluded := made.get(name), list):
                        made[name] = [self._document(one, str(other)) for other in excluded]
                key = self._key(record)
                if self.options.parallel_ids and key and not str(record.get("family") or "").strip():
                    made["family"] = f"question {record[key]}"
                extra = own | ({INSTRUCTION: instructions[record[key]]} if key and record[key] in instructions else {})
                yield where, {f"field.{name}" if name in extra else name: value for name, value in made.items()} | extra

    def _document(self, one: Subset, name: str) -> str:
        """How an id of a subset's corpus is written."""
        if len(self.subsets) == 1:
            return name
        return self.names["document"].of(self.corpora.index(one.documents), name)

    def _instructions(self, one: Subset) -> dict[str, str]:
        """Instructions by the ids of queries."""
        known = {name: (name,) for name in ("query-id", INSTRUCTION)}
        columns = Columns("instruction", known, [(name,) for name in known], {}, kept=())
        found: dict[str, str] = {}
        for path in one.instructions:
            for _, record in tables.read(path, columns, faults=self.faults, kind="instruction dropped"):
                found[str(record.get("query-id"))] = str(record.get(INSTRUCTION) or "")
        return found

    def judgements(self) -> Qrels:
        """Judgements by the ids as they are written; what several subsets share is read once."""
        found = Qrels(tuple(dict.fromkeys(path for one in self.subsets for path in one.judgements)))
        for files in dict.fromkeys(one.judgements for one in self.subsets):
            sharing = [group for group, one in enumerate(self.subsets) if one.judgements == files]
            for path in files:
                read = judgements.read(path, faults=self.faults, renamed=self.options.renamed)
                for group in sharing:
                    self._judge(found, read, group, sharing)
                    read = replace(read, n_repeats=0)  # counted once
        return found

    def _judge(self, found: Qrels, read: Qrels, group: int, sharing: Sequence[int]) -> None:
        """Take what is judged of the queries of a subset; what no subset asks is taken once."""
        asked, one = self.names["query"], self.subsets[group]

        def queries(name: str) -> Iterator[str]:
            if len(sharing) == 1 or asked.has(group, name):
                yield asked.of(group, name) if len(self.subsets) > 1 else name
            elif group == sharing[0] and not any(asked.has(other, name) for other in sharing):
                yield asked.of(group, name)

        found.take(read, queries=queries, document=lambda name: self._document(one, name), faults=self.faults)
