"""Terms of a terminology in texts of one language, and whether words for the same concepts stand in another text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import duckdb
import pyarrow as pa

from analysis.model import Progress, silent
from analysis.store.terms import LOOK, TEXTS, Terms, Text, give, look_up

CHECK = "look for terms in the translations"


class Found(NamedTuple):
    """A term in a text."""

    key: str  # as terms are compared
    cui: str


class Looked(NamedTuple):
    """What became of the concepts looked for in one text."""

    spoken: frozenset[str]  # that the terminology has a word for in the text's language
    there: frozenset[str]  # of these, with a word in the text


def all_terms(
    terms: Terms, texts: Sequence[str], *, language: str, confidence: float, progress: Progress = silent
) -> list[tuple[Found, ...]]:
    """Every term in each text, none inside or across another: the longest first, of equal ones the first.

    Args:
        terms: the prepared tables.
        texts: in a language with spaces.
        language: of them.
        confidence: share of a string's atoms, in this language, that must be of one concept.
        progress: may raise JobCancelledError.
    """
    found: list[tuple[Found, ...]] = []
    with terms.engine() as connection:
        for start in range(0, len(texts), TEXTS):
            progress(LOOK, start, len(texts))
            found += _part(connection, texts[start : start + TEXTS], language, confidence)
    progress(LOOK, len(texts), len(texts))
    return found


def _part(
    connection: duckdb.DuckDBPyConnection, texts: Sequence[str], language: str, confidence: float
) -> list[tuple[Found, ...]]:
    look_up(connection, [Text(language, text) for text in texts])
    keys = dict(connection.execute("SELECT text, key FROM stem").fetchall())
    rows = connection.execute(CONFIDENT, [confidence]).fetchall()
    by_text: dict[int, list[Found]] = defaultdict(list)
    for text, key, cui in rows:
        by_text[text].append(Found(key, cui))
    return [_apart(keys[place].split(" "), by_text[place]) for place in range(len(texts))]


def _apart(words: Sequence[str], candidates: Sequence[Found]) -> tuple[Found, ...]:
    """Those of the candidates, best first, that stand where no better one does; in the order of the text."""
    taken: set[int] = set()
    kept: dict[int, Found] = {}
    for candidate in candidates:
        parts = candidate.key.split(" ")
        starts = [n for n in range(len(words) - len(parts) + 1) if list(words[n : n + len(parts)]) == parts]
        free = [n for n in starts if taken.isdisjoint(range(n, n + len(parts)))]
        if free:
            kept[free[0]] = candidate
            taken.update(place for n in free for place in range(n, n + len(parts)))
    return tuple(kept[place] for place in sorted(kept))


def looked_for(
    terms: Terms, texts: Sequence[str], *, language: str, concepts: Sequence[Sequence[str]], progress: Progress = silent
) -> list[Looked]:
    """Whether a word for each of some concepts stands in each text.

    A word stands in a text as whole words; in languages without spaces anywhere, but it cuts no Latin word.

    Args:
        terms: the prepared tables.
        texts: in one language.
        language: of them.
        concepts: those to look for, text by text.
        progress: may raise JobCancelledError.
    """
    found: list[Looked] = []
    with terms.engine() as connection:
        for start in range(0, len(texts), TEXTS):
            progress(f"{CHECK} ({language})", start, len(texts))
            part = slice(start, start + TEXTS)
            found += _looked(connection, texts[part], language, concepts[part])
    progress(f"{CHECK} ({language})", len(texts), len(texts))
    return found


def _looked(
    connection: duckdb.DuckDBPyConnection, texts: Sequence[str], language: str, concepts: Sequence[Sequence[str]]
) -> list[Looked]:
    pairs = [(place, cui) for place, some in enumerate(concepts) for cui in dict.fromkeys(some)]
    wanted = pa.table({
        "text": pa.array([place for place, _ in pairs], pa.int32()),
        "cui": pa.array([cui for _, cui in pairs], pa.string()),
    })  # fmt: skip
    give(connection, [Text(language, text) for text in texts])
    connection.register("wanted", wanted)
    rows: Mapping[tuple[int, str], bool] = {
        (text, cui): there for text, cui, there in connection.execute(THERE, [language]).fetchall()
    }
    return [
        Looked(
            frozenset(cui for cui in some if (place, cui) in rows),
            frozenset(cui for cui in some if rows.get((place, cui))),
        )
        for place, some in enumerate(concepts)
    ]


CONFIDENT = """
SELECT text, key, cui FROM hit WHERE confidence >= ?
ORDER BY text, length(key) DESC, preferred DESC, first, cui
"""

THERE = """
WITH spelt AS (SELECT DISTINCT cui, key FROM atoms JOIN spoken USING (lat) SEMI JOIN wanted USING (cui)
               WHERE suppress = 'N' AND language = ? AND key <> '')
SELECT text, cui, bool_or(CASE
    WHEN spaced THEN contains(' ' || stem.key || ' ', ' ' || spelt.key || ' ')
    ELSE contains(stem.key, spelt.key) AND regexp_matches(stem.key,
        CASE WHEN regexp_matches(spelt.key, '^[a-z0-9]') THEN '(^|[^a-z0-9])' ELSE '' END || spelt.key ||
        CASE WHEN regexp_matches(spelt.key, '[a-z0-9]$') THEN '([^a-z0-9]|$)' ELSE '' END)
    END) AS there
FROM wanted JOIN spelt USING (cui) JOIN stem USING (text) GROUP BY text, cui
"""
"""Keys are letters, marks, digits and blanks: nothing in them stands for anything else in a pattern."""
