"""What is asked of the texts of tasks: how long they are, which words they have, and what several of them share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from analysis.store import rrf
from analysis.store.read import TOKEN, Store

NEAR = 0.9
"""Jaccard of the sets of words from which on two queries are near-duplicates."""

MOST_PAIRS = 20_000_000
"""Pairs of queries that may be compared; with more near-duplicates are not looked for."""

TRIMMED = r"regexp_replace(nfc_normalize(text), '^[\s\p{Z}]+|[\s\p{Z}]+$', '', 'g')"
"""SQL for what two texts share that read the same: NFC, trimmed."""

COMPACT = f"replace({rrf.key_sql('text')}, ' ', '')"
"""SQL for what two texts share that differ in case, spaces and signs only: letters, marks and digits."""

WORDS = f"regexp_extract_all(lower(nfc_normalize(text)), {rrf.quoted(TOKEN)})"
"""SQL for the words of a text."""

GROUPED = "SELECT task_id FROM query GROUP BY task_id HAVING bool_or(id <> family)"
"""SQL for the tasks whose queries have families: without one, an import takes the query's id."""

SCRIPTS = {
    "Han": r"\p{Han}",
    "Kana": r"[\p{Hiragana}\p{Katakana}\x{30FC}]",
    "Hangul": r"\p{Hangul}",
    "Latin": r"\p{Latin}",
    "Cyrillic": r"\p{Cyrillic}",
    "Greek": r"\p{Greek}",
    "Arabic": r"\p{Arabic}",
    "Hebrew": r"\p{Hebrew}",
    "Devanagari": r"\p{Devanagari}",
    "Bengali": r"\p{Bengali}",
    "Gurmukhi": r"\p{Gurmukhi}",
    "Gujarati": r"\p{Gujarati}",
    "Tamil": r"\p{Tamil}",
    "Telugu": r"\p{Telugu}",
    "Kannada": r"\p{Kannada}",
    "Malayalam": r"\p{Malayalam}",
    "Thai": r"\p{Thai}",
    "Lao": r"\p{Lao}",
    "Khmer": r"\p{Khmer}",
    "Myanmar": r"\p{Myanmar}",
    "Tibetan": r"\p{Tibetan}",
    "Ethiopic": r"\p{Ethiopic}",
    "Georgian": r"\p{Georgian}",
    "Armenian": r"\p{Armenian}",
    "Sinhala": r"\p{Sinhala}",
}
"""The scripts that are told apart; every other one is "other"."""


class TextCounts(NamedTuple):
    """How long some texts are, in tokens."""

    n: int
    mean: float
    deviation: float | None  # of a sample; None below two texts
    median: float


class Side(NamedTuple):
    """The queries or the documents of a task, in one language or in all."""

    task_id: int
    item: str  # query | document
    language: str | None  # None: all


class Words(NamedTuple):
    """The words of some texts."""

    tokens: int  # all of them
    vocabulary: int  # different ones


class Answers(NamedTuple):
    """Relevant pairs of some queries."""

    relevant: int  # with a grade of at least 1
    cross_language: int  # of these, with a document in another language than the query


class Part(NamedTuple):
    """What is compared with others of its kind: a whole task, or what of it is in one language."""

    task_id: int
    language: str | None  # None: all


class SharedWords(NamedTuple):
    """Different words that two sides have."""

    a: int  # place of the part
    a_item: str
    b: int
    b_item: str
    language: str | None  # None: all
    shared: int


class SharedKeys(NamedTuple):
    """What two parts have of one kind."""

    kind: str  # concepts | queries | queries_normalised | documents | documents_normalised
    a: int  # place of the part
    b: int
    shared: int


class NearQueries(NamedTuple):
    """Queries of two parts that have nearly the same words."""

    a: int  # place of the part
    b: int
    of_a: int  # queries of a that have such a query in b
    of_b: int


class Texts:
    """The texts of some tasks, their words counted once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def lengths(self) -> dict[Side, TextCounts]:
        """How long the texts of each side are, by language and over all."""
        rows = self._rows(
            """SELECT task_id, item, language, count(*), avg(len(words)), stddev_samp(len(words)), median(len(words))
               FROM held JOIN said USING (key)
               GROUP BY GROUPING SETS ((task_id, item), (task_id, item, language))"""
        )
        return {Side(*row[:3]): TextCounts(*row[3:]) for row in rows}

    def words(self) -> dict[Side, Words]:
        """How many words, and how many different ones, each side has by language and over all."""
        rows = self._rows(
            """SELECT task_id, item, language, sum(n)::BIGINT, count(DISTINCT token) FROM word
               GROUP BY GROUPING SETS ((task_id, item), (task_id, item, language))"""
        )
        return {Side(*row[:3]): Words(*row[3:]) for row in rows}

    def scripts(self) -> dict[Side, dict[str, int]]:
        """Letters of each side by script, by language and over all; the most frequent first. Signs have none."""
        cases = " ".join(f"WHEN regexp_matches(token, '{found}') THEN '{name}'" for name, found in SCRIPTS.items())
        rows = self._rows(
            rf"""WITH lettered AS (SELECT *, regexp_replace(token, '[^\p{{L}}\p{{M}}]', '', 'g') AS letters FROM word)
                 SELECT task_id, item, language, CASE {cases} ELSE 'other' END AS script,
                        sum(n * length(letters))::BIGINT AS n_letters
                 FROM lettered WHERE letters <> ''
                 GROUP BY GROUPING SETS ((task_id, item, script), (task_id, item, language, script))
                 ORDER BY n_letters DESC, script"""  # noqa: S608
        )
        found: dict[Side, dict[str, int]] = {}
        for task_id, item, language, script, n in rows:
            found.setdefault(Side(task_id, item, language), {})[script] = n
        return found

    def answers(self) -> dict[Side, Answers]:
        """How many right answers the queries of each side have, by language and over all."""
        rows = self._rows(
            """SELECT query.task_id, query.language, count(*) FILTER (grade >= 1),
                      count(*) FILTER (grade >= 1 AND document.language <> query.language)
               FROM query
               LEFT JOIN judgement ON judgement.task_id = query.task_id AND judgement.query = query.query
               LEFT JOIN document ON document.task_id = query.task_id AND document.document = judgement.document
               WHERE query.task_id IN (SELECT task_id FROM held)
               GROUP BY GROUPING SETS ((query.task_id), (query.task_id, query.language))"""
        )
        return {Side(task_id, "query", language): Answers(*counts) for task_id, language, *counts in rows}

    def shared_words(self, parts: Sequence[Part], *, by_language: bool) -> list[SharedWords]:
        """How many different words every two sides of parts share, each side with itself too.

        Args:
            parts: what is compared.
            by_language: also word by word within each language that both have.
        """
        self._name(parts)
        rows = self._rows(
            """WITH known AS (SELECT DISTINCT place, item, token FROM word JOIN part
                              ON part.task_id = word.task_id AND coalesce(part.language = word.language, true)),
                    spoken AS (SELECT place, item, word.language, token FROM word JOIN part
                               ON part.task_id = word.task_id AND coalesce(part.language = word.language, true)
                               WHERE $1)
               SELECT a.place, a.item, b.place, b.item, NULL AS language, count(*)
               FROM known a JOIN known b USING (token) WHERE (a.place, a.item) <= (b.place, b.item) GROUP BY ALL
               UNION ALL
               SELECT a.place, a.item, b.place, b.item, language, count(*)
               FROM spoken a JOIN spoken b USING (token, language)
               WHERE (a.place, a.item) <= (b.place, b.item) GROUP BY ALL ORDER BY ALL""",
            [by_language],
        )
        return [SharedWords._make(row) for row in rows]

    def shared_keys(self, parts: Sequence[Part]) -> list[SharedKeys]:
        """How many different concepts, queries and documents every two parts share, each part with itself too.

        Concepts are the families of queries, in tasks where these are more than the queries' own ids. Texts count once
        however often they stand in a part.
        """
        self._name(parts)
        rows = self._rows(
            f"""WITH grouped AS ({GROUPED}),
                    mine AS (SELECT held.task_id, place, item, family, trimmed, compact
                             FROM held JOIN said USING (key) JOIN part
                             ON part.task_id = held.task_id AND coalesce(part.language = held.language, true)),
                    known AS (
                        SELECT DISTINCT 'concepts' AS kind, place, hash(family) AS key
                        FROM mine SEMI JOIN grouped USING (task_id) WHERE item = 'query'
                        UNION ALL
                        SELECT DISTINCT CASE item WHEN 'query' THEN 'queries' ELSE 'documents' END, place, trimmed
                        FROM mine WHERE trimmed IS NOT NULL
                        UNION ALL
                        SELECT DISTINCT CASE item WHEN 'query' THEN 'queries_normalised'
                                             ELSE 'documents_normalised' END, place, compact
                        FROM mine WHERE compact IS NOT NULL)
               SELECT kind, a.place, b.place, count(*) FROM known a JOIN known b USING (kind, key)
               WHERE a.place <= b.place GROUP BY ALL ORDER BY ALL"""  # noqa: S608 (SQL of ours)
        )
        return [SharedKeys._make(row) for row in rows]

    def near_queries(self, parts: Sequence[Part]) -> list[NearQueries] | None:
        """Queries of two parts whose sets of words have a Jaccard of at least NEAR; None where there are too many.

        Two such sets share one of their rarest words: those that are left when NEAR of a set, rounded up, is taken
        away, and one more. Only queries that share one of these are compared.
        """
        self._name(parts)
        self._rows(
            """CREATE OR REPLACE TEMP TABLE asked AS
               SELECT row_number() OVER () AS id, place, words, len(words) AS n_words, sum(n) AS n
               FROM (SELECT place, n,
                            list_sort(list_distinct(list_transform(words, lambda word: hash(word)))) AS words
                     FROM (SELECT place, key, count(*) AS n FROM held JOIN part
                           ON part.task_id = held.task_id AND coalesce(part.language = held.language, true)
                           WHERE item = 'query' GROUP BY ALL) JOIN said USING (key))
               WHERE len(words) > 0 GROUP BY place, words"""
        )
        self._rows(
            """CREATE OR REPLACE TEMP TABLE rare AS
               WITH unfolded AS (SELECT id, place, n_words, unnest(words) AS token FROM asked),
                    spread AS (SELECT token, count(*) AS often FROM unfolded GROUP BY token)
               SELECT id, place, n_words, token FROM unfolded JOIN spread USING (token)
               QUALIFY row_number() OVER (PARTITION BY id ORDER BY often, token)
                       <= n_words - (9 * n_words + 9) // 10 + 1"""
        )
        ((n_pairs,),) = self._rows(
            """WITH counted AS (SELECT token, place, count(*) AS n FROM rare GROUP BY ALL)
               SELECT coalesce(sum(a.n * b.n), 0)::BIGINT
               FROM counted a JOIN counted b USING (token) WHERE a.place < b.place"""
        )
        if n_pairs > MOST_PAIRS:
            return None
        rows = self._rows(
            """WITH same AS (SELECT a.id AS a, b.id AS b, a.place AS a_place, b.place AS b_place, a.n AS a_n, b.n AS b_n
                             FROM asked a JOIN asked b ON a.words = b.words AND a.place < b.place),
                    settled AS (SELECT a AS id, b_place AS other FROM same UNION ALL SELECT b, a_place FROM same),
                    open AS (SELECT id, place, n_words, token, other FROM rare
                             JOIN (SELECT DISTINCT place AS other FROM asked) ON other <> place
                             ANTI JOIN settled USING (id, other)),
                    pair AS (SELECT CASE WHEN open.place < rare.place THEN open.id ELSE rare.id END AS a,
                                    CASE WHEN open.place < rare.place THEN rare.id ELSE open.id END AS b
                             FROM open JOIN rare USING (token)
                             WHERE rare.place = other AND 10 * least(open.n_words, rare.n_words)
                                                          >= 9 * greatest(open.n_words, rare.n_words)
                             GROUP BY ALL),
                    compared AS (SELECT a.id AS a, b.id AS b, a.place AS a_place, b.place AS b_place, a.n AS a_n,
                                        b.n AS b_n, len(list_intersect(a.words, b.words)) AS shared,
                                        a.n_words + b.n_words AS together
                                 FROM pair JOIN asked a ON a.id = pair.a JOIN asked b ON b.id = pair.b),
                    near AS (FROM same
                             UNION ALL SELECT a, b, a_place, b_place, a_n, b_n FROM compared
                             WHERE 10 * shared >= 9 * (together - shared))
               SELECT a_place, b_place, sum(n) FILTER (side = 'a')::BIGINT, sum(n) FILTER (side = 'b')::BIGINT
               FROM (SELECT DISTINCT a_place, b_place, 'a' AS side, a AS id, a_n AS n FROM near
                     UNION SELECT DISTINCT a_place, b_place, 'b', b, b_n FROM near)
               GROUP BY ALL ORDER BY ALL"""
        )
        return [NearQueries._make(row) for row in rows]

    def _name(self, parts: Sequence[Part]) -> None:
        self._rows("CREATE OR REPLACE TEMP TABLE part (place INTEGER, task_id INTEGER, language VARCHAR)")
        for place, part in enumerate(parts):
            self._rows("INSERT INTO part VALUES (?, ?, ?)", [place, *part])

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, parameters or None).fetchall()


@contextlib.contextmanager
def looked_into(store: Store, task_ids: Sequence[int]) -> Iterator[Texts]:
    """The texts of some tasks, for several questions; a text that stands several times is read once.

    Raises:
        StoreError: a file of texts is missing or damaged.
    """
    with given(store, task_ids) as connection:
        for statement in (HELD, SAID, WORD):
            connection.execute(statement).fetchall()
        yield Texts(connection)


@contextlib.contextmanager
def given(store: Store, task_ids: Sequence[int]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A cursor with a view ``given`` of every query and document of some tasks.

    Its columns are task_id, item, position, language, family and text.

    Raises:
        StoreError: a file of texts is missing or damaged.
    """
    files = [str(store._documents_file(task_id)) for task_id in task_ids]
    named = ", ".join(rrf.quoted(file) for file in files)
    places = ", ".join(f"({rrf.quoted(file)}, {int(task)})" for file, task in zip(files, task_ids, strict=True))
    tasks = ", ".join(str(int(task)) for task in task_ids)
    with store._cursor(Path(files[0]) if len(files) == 1 else None) as connection:
        connection.execute(
            f"""CREATE OR REPLACE TEMP VIEW given AS
                SELECT task_id, 'query' AS item, query AS position, language, family, text
                FROM query WHERE task_id IN ({tasks})
                UNION ALL
                SELECT task_id, 'document', document, language, family, text
                FROM read_parquet([{named}], hive_partitioning = false, filename = true)
                JOIN (VALUES {places}) AS placed(filename, task_id) USING (filename)
                JOIN document USING (task_id, document)"""  # noqa: S608 (files of ours, numbers)
        ).fetchall()
        yield connection


HELD = """
CREATE OR REPLACE TEMP TABLE held AS
SELECT task_id, item, position, language, family, hash(text) AS key FROM given
"""
"""Every query and document without its text."""

SAID = f"""
CREATE OR REPLACE TEMP TABLE said AS
WITH different AS (SELECT DISTINCT text FROM given),
     mapped AS (SELECT hash(text) AS key, {TRIMMED} AS trimmed, {COMPACT} AS compact, {WORDS} AS words FROM different)
SELECT key, words, CASE WHEN trimmed <> '' THEN hash(trimmed) END AS trimmed,
       CASE WHEN compact <> '' THEN hash(compact) END AS compact
FROM mapped
"""  # noqa: S608 (SQL of ours)
"""What is told of each text once."""

WORD = """
CREATE OR REPLACE TEMP TABLE word AS
SELECT task_id, item, language, token, sum(n)::BIGINT AS n
FROM (SELECT task_id, item, language, n, unnest(words) AS token
      FROM (SELECT task_id, item, language, key, count(*) AS n FROM held GROUP BY ALL) JOIN said USING (key))
GROUP BY ALL
"""
