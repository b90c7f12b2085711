"""Parallel texts: rows in several languages as queries, documents and judgements.

Every text is a query, and a document; relevant to it is the same row in every other language. So no query has an answer
in its own language, and documents in that language which read the same leave its ranking, its own among them. Ids are
``row:language``. Where the rows are of documents, queries are drawn by these in the bootstrap, and the other rows of a
document are siblings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from analysis.errors import InputError
from analysis.imports import alignment
from analysis.imports.faults import Faults, Place
from analysis.imports.parts import Options, Parts
from analysis.imports.qrels import Qrels
from analysis.imports.records import Records
from analysis.languages import canonical
from analysis.text import same_text_key

SEED = 13
"""Of the rows that are asked where not all are."""


class Row(NamedTuple):
    """One text in several languages."""

    place: Place
    name: str
    texts: Mapping[str, str]  # by language tag, none of them blank
    document: str | None = None
    attributes: Mapping[str, str] = MappingProxyType({})  # of its queries

    def id(self, tag: str) -> str:
        """What its text in a language is called, as query and as document."""
        return f"{self.name}:{tag}"

    @property
    def family(self) -> str:
        """What its queries are drawn by."""
        return self.name if self.document is None else self.document


def chosen(languages: Sequence[str]) -> dict[str, str]:
    """The tag of each language that the user names, with what it is called in the file.

    Raises:
        InputError: fewer than two, an unknown one, or one twice.
    """
    found: dict[str, str] = {}
    for raw in languages:
        try:
            tag = canonical(raw).tag
        except InputError as error:
            raise InputError(f"--languages: {error}") from error
        if tag in found:
            raise InputError(f"--languages: {found[tag]!r} and {raw!r} are both {tag}, expected each language once")
        found[tag] = raw
    if len(found) < 2:
        raise InputError(f"--languages {','.join(languages)!r}: expected two or more, such as en,fr")
    return found


def unique(rows: Iterable[Row], faults: Faults) -> list[Row]:
    """Rows with a text, each name once; of two a lenient import keeps the first."""
    found: dict[str, Row] = {}
    for row in rows:
        before = found.setdefault(row.name, row)
        if before is not row:
            fault = f"row id {row.name!r} again, as in {before.place.seen_from(row.place)}; expected each id once"
            faults.meet(row.place, fault, kind="row again: the first kept")
    return [row for row in found.values() if row.texts]


def parts(rows: Sequence[Row], languages: Mapping[str, str], path: Path, *, options: Options, faults: Faults) -> Parts:
    """What a format of parallel texts hands over, checked for rows that do not belong together.

    Args:
        rows: in the order of the file.
        languages: tag -> what the file calls it; the first is the one that the others are compared with.
        path: the file.
        options: how many rows are asked.
        faults: of the rows.

    Raises:
        InputError: strict, and a row has a fault; a language without a text; an impossible number of queries.
    """
    faults.end()
    for tag, raw in languages.items():
        if not any(tag in row.texts for row in rows):
            raise InputError(f"{path}: no row has a text in {raw!r}, expected some (--languages)")
    asked = _asked(rows, options.queries)
    checked = alignment.check(
        {tag: [row.texts.get(tag, "") for row in rows] for tag in languages},
        rows=[row.name for row in rows],
        documents=[row.family for row in rows],
    )
    asked_names = {row.name for row in asked}
    flags = [
        flag
        for flag in alignment.flags(checked, {tag: [row.id(tag) for row in rows] for tag in languages})
        if flag.item == "document" or flag.id.rpartition(":")[0] in asked_names
    ]
    return Parts(
        files=(path,),
        queries=_queries(asked, rows, languages),
        documents=_documents(rows, languages),
        judgements=lambda: _judgements(asked, path, faults),
        notices=_notices(rows, asked, languages),
        alignment=checked,
        flags=tuple(flags),
    )


def _asked(rows: Sequence[Row], queries: int | None) -> list[Row]:
    """All rows, or those of families in a random order until there are as many as wanted, in the order of the file."""
    if queries is None:
        return list(rows)
    if queries < 1:
        raise InputError(f"--queries {queries}: expected 1 or more")
    families: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if len(row.texts) > 1:
            families[row.family].append(row)
    names = list(families)
    taken: set[str] = set()
    for place in np.random.default_rng(SEED).permutation(len(names)).tolist():
        if len(taken) >= queries:
            break
        taken.update(row.name for row in families[names[place]])
    return [row for row in rows if row.name in taken]


def _queries(asked: Sequence[Row], rows: Sequence[Row], languages: Mapping[str, str]) -> Records:
    alike: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for tag, text in row.texts.items():
            alike[tag, same_text_key(text)].append(row.id(tag))
    for row in asked:
        for tag in languages:
            if tag in row.texts:
                yield (
                    row.place,
                    {
                        **row.attributes,
                        "_id": row.id(tag),
                        "text": row.texts[tag],
                        "language": languages[tag],
                        "family": row.family,
                        "sibling_group": row.document,
                        "source_query": row.name,
                        "excluded_documents": alike[tag, same_text_key(row.texts[tag])],
                    },
                )


def _documents(rows: Sequence[Row], languages: Mapping[str, str]) -> Records:
    for row in rows:
        # With documents these are the families of queries; of the same concept are only the versions of a row.
        own = row.name if row.document is None else f"row {row.name}"
        for tag in languages:
            if tag in row.texts:
                text, language = row.texts[tag], languages[tag]
                yield (
                    row.place,
                    {
                        "_id": row.id(tag),
                        "text": text,
                        "language": language,
                        "family": own,
                        "sibling_group": row.document,
                    },
                )


def _judgements(asked: Sequence[Row], path: Path, faults: Faults) -> Qrels:
    found = Qrels((path,))
    for row in asked:
        for tag in row.texts:
            for other in row.texts:
                if other != tag:
                    found.add(row.id(tag), row.id(other), 1.0, place=row.place, faults=faults)
    return found


def _notices(rows: Sequence[Row], asked: Sequence[Row], languages: Mapping[str, str]) -> Counter[str]:
    found = {
        f"rows without a text in {tag}: nothing of it": sum(tag not in row.texts for row in rows) for tag in languages
    }
    found["rows with a text in one language only: nothing is relevant to it"] = sum(len(row.texts) == 1 for row in rows)
    found["rows that are documents and not asked (--queries)"] = len(rows) - len(asked)
    return Counter({words: n for words, n in found.items() if n})
