"""Questions asked of the prepared tables of a terminology: terms in texts, definitions, concepts that are near."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from analysis.model import Progress, silent
from analysis.store import rrf
from analysis.store.connection import translated

FEWEST_CHARACTERS = 3  # of a term inside a text
MOST_WORDS = 12  # of a term that is looked for inside texts of languages with spaces
MOST_CHARACTERS = 30  # in the others
TEXTS = 2000  # looked through at once: what bounds the memory
UNSPACED = ("ja", "km", "ko", "lo", "my", "th", "zh")
"""Languages in which words are not set apart, or carry their particles: a term may begin anywhere."""

LOOK = "look for terms in the questions"


class Text(NamedTuple):
    """A text in which terms are looked for."""

    language: str
    text: str


class Match(NamedTuple):
    """The best term of a text."""

    text: int  # position of the text
    whole: bool  # the term is all of it
    key: str  # what was found, as keys are written
    cui: str
    confidence: float  # share of the string's atoms, in this language, that are of this concept
    preferred: bool  # a term that the concept prefers


class Definition(NamedTuple):
    """What a concept means, in one language."""

    cui: str
    atui: str
    language: str
    text: str


class Near(NamedTuple):
    """A concept near another."""

    cui: str
    other: str
    place: int  # 1: the nearest


@dataclass(frozen=True)
class Terms:
    """The prepared tables; every question opens a connection of its own, with bounded memory."""

    folder: Path
    atoms: Path
    definitions: Path
    relations: Path
    checksums: Mapping[str, str]  # SHA-256 by source
    languages: Mapping[str, str] = field(default_factory=dict)  # as the source writes them -> shortest tag

    def spoken(self, languages: Mapping[str, str]) -> Terms:
        """The same, with what each language is called here."""
        return replace(self, languages=languages)

    def languages_as_written(self) -> list[str]:
        """Every language of the terms, suppressed ones too."""
        return [row[0] for row in self._rows("SELECT DISTINCT lat FROM atoms ORDER BY lat")]

    def atom_counts(self) -> dict[tuple[str, str], int]:
        """Atoms by language and what SUPPRESS says of them."""
        rows = self._rows("""SELECT language, suppress, count(*) FROM atoms JOIN spoken USING (lat)
                             GROUP BY ALL ORDER BY ALL""")
        return {(language, suppress): n for language, suppress, n in rows}

    def vocabulary_counts(self) -> dict[str, int]:
        """Atoms that count, by source vocabulary."""
        return dict(self._rows("SELECT vocabulary, count(*) FROM atoms WHERE suppress = 'N' GROUP BY ALL ORDER BY ALL"))

    def concept_count(self) -> int:
        """Concepts with an atom that counts."""
        return int(self._rows("SELECT count(DISTINCT cui) FROM atoms WHERE suppress = 'N'")[0][0])

    def definition_counts(self) -> dict[str, int]:
        """Definitions by what becomes of them."""
        rows = self._rows(
            """SELECT CASE WHEN d.suppress <> 'N' THEN 'suppressed'
                           WHEN a.aui IS NULL THEN 'of an atom that is not there'
                           WHEN NOT a.counts THEN 'of a suppressed atom'
                           ELSE 'used' END AS reason, count(*)
               FROM definitions d LEFT JOIN (SELECT aui, bool_or(suppress = 'N') AS counts
                                             FROM atoms SEMI JOIN definitions USING (aui) GROUP BY aui) a
               USING (aui) GROUP BY ALL ORDER BY ALL"""
        )
        return dict(sorted(rows, key=lambda row: row[0] != "used"))

    def defined(self) -> list[str]:
        """Concepts with a definition that counts, in order."""
        return [row[0] for row in self._rows(f"SELECT DISTINCT cui FROM ({MEANINGS}) ORDER BY cui")]  # noqa: S608

    def meanings(self, concepts: Collection[str]) -> list[Definition]:
        """The definitions of some concepts, each text once; by concept, language and number."""
        rows = self._of(
            concepts,
            f"SELECT * FROM ({MEANINGS}) SEMI JOIN asked USING (cui) ORDER BY cui, language, atui",  # noqa: S608
        )
        return [Definition._make(row) for row in rows]

    def gists(self, concepts: Collection[str]) -> dict[str, str]:
        """One definition for each of some concepts: in English where there is one."""
        rows = self._of(
            concepts,
            f"""SELECT DISTINCT ON (cui) cui, text FROM ({MEANINGS}) SEMI JOIN asked USING (cui)
                ORDER BY cui, language <> 'en', language, atui""",  # noqa: S608 (SQL of ours)
        )
        return dict(rows)

    def preferred_terms(self, language: str, concepts: Collection[str]) -> list[tuple[str, str]]:
        """Concept and the term that it prefers in a language, for each of some concepts that has one."""
        return self._of(
            concepts,
            """SELECT cui, min(text) FROM atoms SEMI JOIN asked USING (cui) JOIN spoken USING (lat)
               WHERE suppress = 'N' AND preferred AND language = ? GROUP BY cui ORDER BY cui""",
            [language],
        )

    def near(self, concepts: Collection[str], *, among: Collection[str], most: int) -> list[Near]:
        """For each concept those of ``among`` that most relations join it to, at most ``most``."""
        with self.engine() as connection:
            connection.register("asked", pa.table({"cui": pa.array(sorted(concepts), pa.string())}))
            connection.register("known", pa.table({"other": pa.array(sorted(among), pa.string())}))
            rows = connection.execute(
                """WITH joined AS (SELECT cui, other FROM relations WHERE suppress = 'N'
                                   UNION ALL SELECT other, cui FROM relations WHERE suppress = 'N'),
                   counted AS (SELECT cui, other, count(*) AS links FROM joined
                               SEMI JOIN asked USING (cui) SEMI JOIN known USING (other)
                               WHERE cui <> other GROUP BY ALL)
                   SELECT cui, other, row_number() OVER (PARTITION BY cui ORDER BY links DESC, other) AS place
                   FROM counted QUALIFY place <= ? ORDER BY place, links DESC, cui, other""",
                [most],
            ).fetchall()
        return [Near._make(row) for row in rows]

    def matches(
        self, texts: Sequence[Text], *, confidence: float, progress: Progress = silent
    ) -> tuple[dict[int, Match], set[int]]:
        """The best term of each text, and the texts whose terms are all of several concepts.

        A term that is the whole text comes first, else the longest inside it; of equal ones that which the concept
        prefers, then the one that begins first. What counts is a term of at least ``confidence``.
        """
        found: dict[int, Match] = {}
        doubtful: set[int] = set()
        with self.engine() as connection:
            for start in range(0, len(texts), TEXTS):
                progress(LOOK, start, len(texts))
                look_up(connection, texts[start : start + TEXTS], first=start)
                for row in connection.execute(BEST, [confidence]).fetchall():
                    found[row[0]] = Match._make(row)
                doubtful |= {row[0] for row in connection.execute("SELECT DISTINCT text FROM hit").fetchall()}
            progress(LOOK, len(texts), len(texts))
        return found, doubtful - found.keys()

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.engine() as connection:
            return connection.execute(sql).fetchall()

    def _of(self, concepts: Collection[str], sql: str, parameters: object = None) -> list[tuple[Any, ...]]:
        """Rows about some concepts, which the SQL knows as ``asked``."""
        with self.engine() as connection:
            connection.register("asked", pa.table({"cui": pa.array(sorted(concepts), pa.string())}))
            return connection.execute(sql, parameters).fetchall()

    @contextlib.contextmanager
    def engine(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that sees atoms, definitions, relations and, as ``spoken``, what each language is called."""
        with translated(self.folder), rrf.engine(self.folder) as connection:
            for name in ("atoms", "definitions", "relations"):
                path = rrf.quoted(str(getattr(self, name)))
                connection.execute(f"CREATE VIEW {name} AS FROM read_parquet({path})").fetchall()
            spoken = {"lat": list(self.languages), "language": list(self.languages.values())}
            connection.register("spoken", pa.table({name: pa.array(of, pa.string()) for name, of in spoken.items()}))
            yield connection


def give(connection: duckdb.DuckDBPyConnection, texts: Sequence[Text], *, first: int = 0) -> None:
    """Let a connection know some texts, numbered on from ``first``, and their keys, as ``stem``."""
    given = pa.table({
        "text": pa.array(range(first, first + len(texts)), pa.int32()),
        "language": pa.array([row.language for row in texts], pa.string()),
        "words": pa.array([row.text for row in texts], pa.string()),
        "spaced": pa.array([row.language.partition("-")[0] not in UNSPACED for row in texts], pa.bool_()),
    })  # fmt: skip
    connection.register("given", given)
    connection.execute(STEMS).fetchall()


def look_up(connection: duckdb.DuckDBPyConnection, texts: Sequence[Text], *, first: int = 0) -> None:
    """Let a connection know every term in some texts, as ``hit``; the texts as :func:`give`."""
    give(connection, texts, first=first)
    for statement in (GRAMS, KNOWN, HITS):
        connection.execute(statement).fetchall()


MEANINGS = """
SELECT cui, min(atui) AS atui, language, text
FROM definitions AS told JOIN (SELECT aui, lat FROM atoms WHERE suppress = 'N') USING (aui)
JOIN spoken USING (lat) WHERE told.suppress = 'N' GROUP BY cui, language, text
"""
"""Definitions that count, each text of a concept and language once, in the language of their atom."""

STEMS = "CREATE OR REPLACE TEMP TABLE stem AS SELECT text, language, key_of(words) AS key, spaced FROM given"

GRAMS = f"""
CREATE OR REPLACE TEMP TABLE gram AS
WITH split AS (SELECT text, language, string_split(key, ' ') AS words FROM stem WHERE spaced),
placed AS (SELECT text, language, key, unnest(range(1, length(key) + 1)) AS first FROM stem WHERE NOT spaced),
sized AS (SELECT *, unnest(range({FEWEST_CHARACTERS}, least({MOST_CHARACTERS}, length(key) - first + 1) + 1)) AS n
          FROM placed),
inside AS (
    SELECT text, language, unnest(flatten(list_transform(range(1, {MOST_WORDS + 1}), lambda n:
        list_transform(range(1, len(words) - n + 2), lambda first:
            array_to_string(words[first:first + n - 1], ' '))))) AS key
    FROM split
    UNION ALL
    SELECT text, language, substr(key, first, n) FROM sized
    WHERE substr(key, first, 1) <> ' ' AND substr(key, first + n - 1, 1) <> ' '
      AND NOT (first > 1 AND regexp_full_match(substr(key, first - 1, 2), '[a-z0-9]{{2}}'))
      AND NOT regexp_full_match(substr(key, first + n - 1, 2), '[a-z0-9]{{2}}')
)
SELECT DISTINCT text, language, key FROM inside WHERE length(key) >= {FEWEST_CHARACTERS}
UNION SELECT text, language, key FROM stem WHERE key <> ''
"""  # noqa: S608 (numbers of ours)
"""Every run of words, or of characters, that a term could be; the whole text however short it is."""

KNOWN = """
CREATE OR REPLACE TEMP TABLE known AS
SELECT language, key, cui, bool_or(preferred) AS preferred,
       count(*) / sum(count(*)) OVER (PARTITION BY language, key) AS confidence
FROM atoms JOIN spoken USING (lat) SEMI JOIN (SELECT DISTINCT language, key FROM gram) USING (language, key)
WHERE suppress = 'N' GROUP BY language, key, cui
"""

HITS = """
CREATE OR REPLACE TEMP TABLE hit AS
SELECT gram.text, gram.key = stem.key AS whole, gram.key, cui, confidence, preferred, instr(stem.key, gram.key) AS first
FROM gram JOIN known USING (language, key) JOIN stem ON stem.text = gram.text
"""

BEST = """
SELECT text, whole, key, cui, confidence, preferred FROM hit WHERE confidence >= ?
QUALIFY row_number() OVER (
    PARTITION BY text ORDER BY whole DESC, length(key) DESC, preferred DESC, first, cui) = 1
ORDER BY text
"""
