"""What a terminology says for confusion sets: which concepts may be taken for each other, and their spellings.

A concept belongs to one vocabulary, the smallest of those that give it a code, and there to the group of codes that
begin with the same characters. The dice of a concept is a hash of seed and name: the same seed makes the same sets.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import pyarrow as pa

from analysis.model import Progress, silent
from analysis.store import rrf
from analysis.store.terms import Terms

PREFIX = 3  # characters of a code that its group shares
NO_CODE = "NOCODE"
"""What UMLS writes where a source gives no code."""


class Candidate(NamedTuple):
    """Concepts of one vocabulary that may be taken for each other."""

    kind: int  # 1: one concept; 2: concepts of one group of codes; 3: each of another group
    vocabulary: str
    concepts: tuple[str, ...]
    groups: tuple[str, ...]  # of each


class Form(NamedTuple):
    """One spelling of a concept in one language."""

    cui: str
    language: str
    key: str  # what spellings share that differ in case or signs only
    text: str
    place: int  # 1: the one that the concept prefers


def candidates(
    terms: Terms, *, seed: int, most: int, size: int, vocabularies: Collection[str] = (), progress: Progress = silent
) -> list[Candidate]:
    """Sets of each kind, at most ``most`` of each, vocabulary by vocabulary in turn.

    Args:
        terms: the prepared tables.
        seed: another one, other sets.
        most: sets of each kind.
        size: concepts of a set, or two or more where a group has no more.
        vocabularies: those that codes count of; all where none is named.
        progress: may raise JobCancelledError.
    """
    found: list[Candidate] = []
    with terms.engine() as connection:
        connection.register("asked", pa.table({"vocabulary": pa.array(sorted(vocabularies), pa.string())}))
        parameters = {"seed": str(seed), "any": not vocabularies}
        rrf.run(connection, PLACED, parameters, progress=progress, step="place concepts by their codes")
        for kind, sql in enumerate((ALONE, TOGETHER, APART), start=1):
            asked = {"most": most} if kind == 1 else {"most": most, "size": size}
            rows = rrf.run(connection, sql, asked, progress=progress, step="make confusion sets")
            found += [Candidate(kind, name, tuple(concepts), tuple(groups)) for name, concepts, groups in rows]
    return found


def coded(terms: Terms) -> list[str]:
    """Vocabularies that give a concept a code."""
    with terms.engine() as connection:
        rows = connection.execute(
            """SELECT DISTINCT vocabulary FROM atoms WHERE suppress = 'N' AND length(code) >= ? AND code <> ?
               ORDER BY vocabulary""",
            [PREFIX, NO_CODE],
        ).fetchall()
    return [row[0] for row in rows]


def forms(terms: Terms, concepts: Sequence[str], *, most: int, progress: Progress = silent) -> list[Form]:
    """The spellings of some concepts, at most ``most`` a language, the preferred one first; by concept and language."""
    with terms.engine() as connection:
        connection.register("chosen", pa.table({"cui": pa.array(sorted(set(concepts)), pa.string())}))
        rows = rrf.run(connection, SPELT, {"most": most}, progress=progress, step="look up their terms")
    return [Form._make(row) for row in rows]


PLACED = f"""
CREATE TEMP TABLE placed AS
WITH named AS (
    SELECT cui, key FROM atoms JOIN spoken USING (lat) WHERE language = 'en' AND suppress = 'N' AND key <> ''
    QUALIFY row_number() OVER (PARTITION BY cui ORDER BY preferred DESC, text) = 1
),
coded AS (
    SELECT vocabulary, cui, min(left(code, {PREFIX})) AS prefix FROM atoms
    WHERE suppress = 'N' AND length(code) >= {PREFIX} AND code <> '{NO_CODE}'
      AND ($any OR vocabulary IN (FROM asked))
    GROUP BY vocabulary, cui HAVING count(DISTINCT left(code, {PREFIX})) = 1
),
sized AS (SELECT vocabulary, count(*) AS n FROM coded GROUP BY vocabulary),
single AS (
    SELECT cui, vocabulary, prefix FROM coded JOIN sized USING (vocabulary)
    QUALIFY row_number() OVER (PARTITION BY cui ORDER BY n, vocabulary) = 1
),
diced AS (SELECT cui, vocabulary, prefix, key, md5(concat_ws(' ', $seed, vocabulary, cui)) AS dice
          FROM single JOIN named USING (cui)),
apart AS (SELECT * EXCLUDE (key) FROM diced
          QUALIFY row_number() OVER (PARTITION BY vocabulary, key ORDER BY dice) = 1)
SELECT *, row_number() OVER (PARTITION BY vocabulary, prefix ORDER BY dice) - 1 AS place FROM apart
"""  # noqa: S608 (numbers and words of ours)
"""Concepts with an English term, by vocabulary and group; of several with the same term only one."""

IN_TURN = """
SELECT vocabulary, concepts, groups
FROM (SELECT *, row_number() OVER (PARTITION BY vocabulary ORDER BY dice) AS turn FROM made)
ORDER BY turn, vocabulary LIMIT $most
"""
"""The same number of sets from each vocabulary, as long as it has any."""

ALONE = f"""
WITH spelt AS (SELECT DISTINCT cui, language, key FROM atoms JOIN spoken USING (lat) SEMI JOIN placed USING (cui)
               WHERE suppress = 'N' AND key <> ''),
several AS (SELECT cui FROM spelt GROUP BY cui HAVING count(*) > 1),
made AS (SELECT vocabulary, [cui] AS concepts, [prefix] AS groups, dice FROM placed SEMI JOIN several USING (cui))
{IN_TURN}
"""  # noqa: S608 (SQL of ours)

TOGETHER = f"""
WITH made AS (
    SELECT vocabulary, list(cui ORDER BY place) AS concepts, list(prefix ORDER BY place) AS groups,
           md5(concat(min(dice), 'together')) AS dice
    FROM placed WHERE place < $size GROUP BY vocabulary, prefix HAVING count(*) > 1
)
{IN_TURN}
"""  # noqa: S608 (SQL of ours)
"""One set of each group: siblings of another set would be as near as the answers."""

APART = f"""
WITH beside AS (
    SELECT *, row_number() OVER (PARTITION BY vocabulary, place ORDER BY md5(concat(dice, 'apart'))) - 1 AS turn
    FROM placed
),
made AS (
    SELECT vocabulary, list(cui ORDER BY turn) AS concepts, list(prefix ORDER BY turn) AS groups,
           md5(concat(min(dice), 'apart')) AS dice
    FROM beside GROUP BY vocabulary, place, turn // $size HAVING count(*) > 1
)
{IN_TURN}
"""  # noqa: S608 (SQL of ours)
"""A concept from each of several groups: those at the same place of their groups."""

SPELT = """
WITH spelt AS (
    SELECT cui, language, key, text, preferred FROM atoms JOIN spoken USING (lat) SEMI JOIN chosen USING (cui)
    WHERE suppress = 'N' AND key <> ''
    QUALIFY row_number() OVER (PARTITION BY cui, language, key ORDER BY preferred DESC, text) = 1
)
SELECT cui, language, key, text, row_number() OVER (PARTITION BY cui, language ORDER BY preferred DESC, text) AS place
FROM spelt QUALIFY place <= $most ORDER BY cui, language, place
"""
