"""Everything the product asks of a store: one function a question, SQL whole, a cursor a call."""

from __future__ import annotations

import contextlib
import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError, StoreError
from analysis.model import NEVER, PARADIGMS, Corpus, Flag, FlagCounts, Image, Questions, SystemLabel
from analysis.paths import Cache
from analysis.store import connection as generations
from analysis.store import write

ADVICE = " (python -m analysis check lists every file that is missing or damaged)"
PARQUET = "read_parquet($1, hive_partitioning = false)"  # else a folder called rank=3 would overrule the column
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}"
TOKEN = rf"[{_UNSPACED}]|[^\p{{Z}}\p{{P}}\p{{S}}\p{{Cc}}{_UNSPACED}]+"
"""A token of a text's length: a run of letters and digits, or one Chinese character or Japanese kana."""
QUERY_SCORE_RANKS = ("first_sibling_rank", "first_related_rank", "first_unrelated_rank")


class BenchmarkRow(NamedTuple):
    """One stored version of a benchmark."""

    benchmark_id: int
    name: str
    version: str
    title: str
    parallel: bool
    licence: str
    source: str
    notes: tuple[str, ...]
    settings: Mapping[str, object]
    built_at: datetime.datetime
    current: bool  # the version that the bare name stands for: the one built last


class TaskRow(NamedTuple):
    """One stored task."""

    task_id: int
    name: str
    title: str
    question: str
    exclude_self: bool
    is_default: bool
    checksum: str
    n_documents: int
    n_queries: int
    n_negative_grades: int
    documents_file: str
    n_published: int  # systems of which somebody published figures
    flagged: FlagCounts


class RunRow(NamedTuple):
    """One system's run of a task, or its refusal."""

    run_id: int
    task_id: int
    system: str
    title: str
    short: str
    paradigm: str
    status: str  # complete | refused
    reason: str | None
    depth: int  # 0 for a refusal
    hits_kept: int
    hits_file: str | None
    n_hits: int
    fingerprint: str
    provenance: Mapping[str, Any]
    parents: tuple[str, ...]
    created_at: datetime.datetime


@dataclass(frozen=True)
class QueryColumns:
    """The queries of a task, each column of length Q in query order; object arrays hold str or None."""

    id: NDArray[np.object_]
    language: NDArray[np.object_]
    text: NDArray[np.object_]
    family: NDArray[np.object_]
    sibling_group: NDArray[np.object_]
    related_group: NDArray[np.object_]
    tier: NDArray[np.object_]
    mode: NDArray[np.object_]
    strategy: NDArray[np.object_]
    audit_status: NDArray[np.object_]
    source_query: NDArray[np.object_]
    attributes: Mapping[str, NDArray[np.object_]]  # every free attribute of the benchmark, by name in stored order

    @property
    def question(self) -> tuple[str, ...]:
        """What ties the language versions of a question together, one a query."""
        pairs = zip(self.source_query, self.family, strict=True)
        return tuple(family if source is None else source for source, family in pairs)


@dataclass(frozen=True)
class DocumentColumns:
    """The documents of a task without their texts, each column of length M plus the dangling ones."""

    id: NDArray[np.object_]
    language: NDArray[np.object_]  # None: judged but absent from the corpus
    family: NDArray[np.object_]
    sibling_group: NDArray[np.object_]
    related_group: NDArray[np.object_]


@dataclass(frozen=True)
class JudgementColumns:
    """Judgements sorted by query then document, each of length J."""

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    grade: NDArray[np.float64]
    language: NDArray[np.object_]  # of the document; None when absent from the corpus


class JudgementCounts(NamedTuple):
    """How many judgements a task has."""

    n: int
    relevant: int  # with a grade of at least 1
    cross_language: int  # of the relevant ones, of a document in another language than the query


class Storage(NamedTuple):
    """Bytes on disk under the cache folder; what was deleted or replaced counts until a job sweeps it away."""

    generation: int  # the store file in force
    hits: int
    documents: int
    embeddings: int
    rest: int  # the generation before, indexes, sources, uploads, reports of jobs
    total: int


@dataclass(frozen=True)
class Flagged:
    """What of a task is doubtful."""

    queries: NDArray[np.bool_]  # (Q,)
    documents: NDArray[np.int32]  # (D,) positions, ascending


class PublishedRow(NamedTuple):
    """Where the published figures of a system on a task come from."""

    task_id: int
    system: str
    file: str
    checksum: str
    program: str | None
    model_revision: str | None
    dataset_revision: str | None
    evaluated_at: datetime.datetime | None
    n_figures: int


@dataclass(frozen=True)
class PublishedColumns:
    """Published figures of one measure in the order of the files, each column of length F."""

    system: NDArray[np.object_]
    split: NDArray[np.object_]
    subset: NDArray[np.object_]
    query_language: NDArray[np.object_]
    document_language: NDArray[np.object_]
    value: NDArray[np.float64]


class DiagnosisRow(NamedTuple):
    """That the tokens, vectors or words behind a run were looked at."""

    run_id: int
    token_limit: int | None  # None: its model reads whole texts, or its tokens are not told
    tokens_reason: str | None  # why its tokens are not told
    vectors_reason: str | None  # why nothing is said of its vectors


@dataclass(frozen=True)
class TokenColumns:
    """What a run's tokeniser made of the texts of its task, each column of length T."""

    item: NDArray[np.object_]  # query | document
    position: NDArray[np.int32]
    tokens: NDArray[np.int32]
    unknown_tokens: NDArray[np.float64]  # NaN for a byte-level vocabulary
    characters: NDArray[np.int32]
    unknown_characters: NDArray[np.float64]  # NaN as above
    truncated: NDArray[np.bool_]


@dataclass(frozen=True)
class SpaceColumns:
    """A sample of the texts of a task by their vectors, each column of length T."""

    item: NDArray[np.object_]
    position: NDArray[np.int32]
    silhouette: NDArray[np.float64]
    guessed_language: NDArray[np.object_]


@dataclass(frozen=True)
class TranslationColumns:
    """How near the texts of families are in two languages, each column of length G."""

    language: NDArray[np.object_]
    other_language: NDArray[np.object_]
    family: NDArray[np.object_]
    cosine: NDArray[np.float64]
    random: NDArray[np.float64]  # NaN where there is no other family


class Hit(NamedTuple):
    """One row of a ranking."""

    query: int
    rank: int
    document: int
    score: float


class Store:
    """A read-only look at one generation."""

    def __init__(self, cache: Cache, path: Path) -> None:
        self.cache = cache
        self.path = path

    def _rows(
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = (), *, bulk: Path | None = None
    ) -> list[tuple[Any, ...]]:
        with self._cursor(bulk) as cursor:
            return cursor.execute(sql, parameters or None).fetchall()

    def _columns(
        self, sql: str, parameters: Sequence[object] = (), *, bulk: Path | None = None
    ) -> dict[str, NDArray[Any]]:
        with self._cursor(bulk) as cursor:
            found = cursor.execute(sql, parameters or None).fetchnumpy()
        return {name: _unmasked(column) for name, column in found.items()}

    @contextlib.contextmanager
    def _cursor(self, bulk: Path | None) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor of its own for each call; errors name the Parquet file that is read, else the store."""
        with (
            generations.translated(bulk or self.path, advice=ADVICE),
            generations.shared_connection(self.path).cursor() as cursor,
        ):
            yield cursor

    def benchmarks(self) -> list[BenchmarkRow]:
        """Every stored version, the one built last first."""
        rows = self._rows(
            """SELECT benchmark_id, name, version, title, parallel, licence, source, notes, settings,
                      date_trunc('second', built_at),
                      row_number() OVER (PARTITION BY name ORDER BY built_at DESC, benchmark_id DESC) = 1
               FROM benchmark ORDER BY benchmark.built_at DESC, benchmark_id DESC"""
        )
        return [BenchmarkRow._make([*row[:7], tuple(json.loads(row[7])), json.loads(row[8]), *row[9:]]) for row in rows]

    def benchmark(self, name: str) -> BenchmarkRow:
        """The version that ``name`` or ``name@version`` stands for; the bare name is the one built last.

        Raises:
            InputError: there is none.
        """
        known = self.benchmarks()
        for row in known:
            if name == f"{row.name}@{row.version}" or (row.current and name == row.name):
                return row
        names = ", ".join(f"{row.name}@{row.version}" for row in known) or "none yet (python -m analysis build bedside)"
        raise InputError(f"unknown benchmark {name!r}: stored are {names}")

    def tasks(self, benchmark_id: int) -> list[TaskRow]:
        """The tasks of a benchmark, the default one first."""
        rows = self._rows(
            """SELECT task_id, name, title, question, exclude_self, is_default, checksum, n_documents, n_queries,
                      n_negative_grades, documents_file,
                      (SELECT count(*) FROM published_source WHERE published_source.task_id = task.task_id)
               FROM task WHERE benchmark_id = ? ORDER BY is_default DESC, task_id""",
            [benchmark_id],
        )
        flagged = self._flag_counts(benchmark_id)
        return [TaskRow._make([*row, flagged.get(row[0], FlagCounts())]) for row in rows]

    def _flag_counts(self, benchmark_id: int) -> dict[int, FlagCounts]:
        """How much of each task is flagged; without the tasks of which nothing is."""
        rows = self._rows(
            """SELECT task_id, count(DISTINCT position) FILTER (item = 'query'),
                      count(DISTINCT position) FILTER (item = 'document'), histogram(reason)
               FROM flag JOIN task USING (task_id) WHERE benchmark_id = ? GROUP BY task_id""",
            [benchmark_id],
        )
        return {
            task_id: FlagCounts(queries, documents, dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))))
            for task_id, queries, documents, reasons in rows
        }

    def flags(self, task_id: int) -> tuple[Flag, ...]:
        """Every flag of a task, queries first, by position and reason."""
        rows = self._rows(
            """SELECT item, coalesce(query.id, document.id), reason
               FROM flag
               LEFT JOIN query ON item = 'query' AND query.task_id = flag.task_id AND query.query = position
               LEFT JOIN document ON item = 'document' AND document.task_id = flag.task_id
                   AND document.document = position
               WHERE flag.task_id = ? ORDER BY item DESC, position, reason""",
            [task_id],
        )
        return tuple(Flag(*row) for row in rows)

    def flagged(self, task_id: int) -> Flagged:
        """The queries and documents of a task that are doubtful, for whatever reason."""
        rows = self._columns(
            """SELECT position, bool_or(item = 'query') AS asked, bool_or(item = 'document') AS held
               FROM flag WHERE task_id = ? GROUP BY position ORDER BY position""",
            [task_id],
        )
        ((n_queries,),) = self._rows("SELECT n_queries FROM task WHERE task_id = ?", [task_id])
        queries = np.zeros(n_queries, dtype=bool)
        queries[rows["position"][rows["asked"]]] = True
        return Flagged(queries, rows["position"][rows["held"]])

    def runs(self, task_ids: Sequence[int]) -> list[RunRow]:
        """Runs and refusals of some tasks, by task and system name."""
        rows = self._rows(
            """SELECT run_id, task_id, system, title, short, paradigm, status, reason,
                      coalesce(depth, 0), coalesce(hits_kept, 0), hits_file, coalesce(n_hits, 0), fingerprint,
                      provenance, parents, date_trunc('second', created_at)
               FROM run JOIN system ON system.name = run.system
               WHERE list_contains(?, task_id) ORDER BY task_id, system""",
            [list(task_ids)],
        )
        return [RunRow._make([*row[:13], json.loads(row[13]), tuple(json.loads(row[14])), row[15]]) for row in rows]

    def hits_checksums(self, task_ids: Sequence[int]) -> dict[int, str]:
        """SHA-256 of the hits of each run of some tasks, by run; imported scores have none."""
        rows = self._rows(
            """SELECT run_id, hits_checksum FROM run
               WHERE list_contains(?, task_id) AND hits_checksum IS NOT NULL ORDER BY run_id""",
            [list(task_ids)],
        )
        return {row[0]: row[1] for row in rows}

    def system_labels(self) -> dict[str, SystemLabel]:
        """Every system that ever ran, by paradigm and then by name.

        Members of a paradigm are numbered as they came, so that a new one does not change the colour of an old one.
        """
        rows = self._rows(
            """SELECT name, title, short, paradigm, row_number() OVER (PARTITION BY paradigm ORDER BY rowid) - 1
               FROM system ORDER BY coalesce(list_position(?, paradigm), 99), name""",
            [list(PARADIGMS)],
        )
        return {row[0]: SystemLabel(*row) for row in rows}

    def queries(self, task_id: int) -> QueryColumns:
        """The queries of a task."""
        columns = self._columns(
            """SELECT id, language, text, family, sibling_group, related_group, tier, mode, strategy, audit_status,
                      source_query
               FROM query WHERE task_id = ? ORDER BY query""",
            [task_id],
        )
        return QueryColumns(**columns, attributes=self._attributes(task_id, len(columns["id"])))

    def _attributes(self, task_id: int, n_queries: int) -> dict[str, NDArray[np.object_]]:
        """The free attributes of a task's queries, and those that only other tasks of its benchmark have."""
        names = self._rows(
            """SELECT attribute FROM query_attribute JOIN task USING (task_id)
               WHERE benchmark_id = (SELECT benchmark_id FROM task WHERE task_id = ?)
               GROUP BY attribute ORDER BY min(query_attribute.rowid)""",
            [task_id],
        )
        found: dict[str, NDArray[np.object_]] = {name: np.full(n_queries, None, dtype=object) for (name,) in names}
        if found:
            rows = self._columns("SELECT query, attribute, value FROM query_attribute WHERE task_id = ?", [task_id])
            for name, column in found.items():
                mine = rows["attribute"] == name
                column[rows["query"][mine]] = rows["value"][mine]
        return found

    def no_home(self, task_id: int, *, without_flagged: bool = False) -> NDArray[np.object_]:
        """Whether each query lacks a relevant document in its own language, ``(Q,)``: yes, no, or None if unjudged.

        Judgements of flagged documents may be left out.
        """
        found: NDArray[np.object_] = self._columns(
            """SELECT CASE WHEN count(document.document) = 0 THEN NULL
                         WHEN coalesce(bool_or(document.language = query.language), false) THEN 'no'
                         ELSE 'yes' END AS no_home
               FROM query
               LEFT JOIN (
                   SELECT query, document FROM judgement WHERE task_id = $1 AND grade >= 1 AND NOT ($2 AND document IN
                       (SELECT position FROM flag WHERE task_id = $1 AND item = 'document'))
               ) AS judged ON judged.query = query.query
               LEFT JOIN document ON document.task_id = query.task_id AND document.document = judged.document
               WHERE query.task_id = $1 GROUP BY query.query ORDER BY query.query""",
            [task_id, without_flagged],
        )["no_home"]
        return found

    def documents(self, task_id: int) -> DocumentColumns:
        """The documents of a task without their texts."""
        return DocumentColumns(**self._columns(
            """SELECT id, language, family, sibling_group, related_group
               FROM document WHERE task_id = ? ORDER BY document""",
            [task_id],
        ))  # fmt: skip

    def judgements(self, task_id: int, *, all_grades: bool = False) -> JudgementColumns:
        """The judgements of a task that have a positive grade, the ones whose ranks are stored; or all of them."""
        return JudgementColumns(**self._columns(
            """SELECT query, document, grade, language
               FROM judgement JOIN document USING (task_id, document) WHERE task_id = ? AND (grade > 0 OR ?)
               ORDER BY query, document""",
            [task_id, all_grades],
        ))  # fmt: skip

    def corpus_languages(self, task_id: int) -> dict[str, int]:
        """How many documents of the corpus are in each language, in the order in which it first shows them."""
        rows = self._rows(
            """SELECT language, count(*) FROM document WHERE task_id = ? AND language IS NOT NULL
               GROUP BY language ORDER BY min(document)""",
            [task_id],
        )
        return {row[0]: row[1] for row in rows}

    def ranks(self, run_ids: Sequence[int]) -> NDArray[np.int32]:
        """Ranks of the judged documents, int32 ``(S, J)`` in the order of ``run_ids`` and ``judgements``.

        NEVER stands for a document beyond the run's depth.
        """
        columns = self._columns(
            f"""SELECT run_id, coalesce(rank, {int(NEVER)})::INTEGER AS rank FROM relevant_rank
                JOIN (SELECT unnest(?) AS run_id, generate_subscripts(?, 1) AS place) asked USING (run_id)
                ORDER BY place, query, document""",  # noqa: S608 (a constant of ours)
            [list(run_ids), list(run_ids)],
        )
        return _by_run(columns, run_ids)["rank"]

    def query_scores(self, run_ids: Sequence[int]) -> dict[str, NDArray[Any]]:
        """Every column of ``query_score``, each ``(S, Q)``; undefined is NaN, None, or NEVER for ranks."""
        columns = self._columns(
            """SELECT query_score.* EXCLUDE (query) FROM query_score
               JOIN (SELECT unnest(?) AS run_id, generate_subscripts(?, 1) AS place) asked USING (run_id)
               ORDER BY place, query""",
            [list(run_ids), list(run_ids)],
        )
        for name in QUERY_SCORE_RANKS:
            columns[name] = np.nan_to_num(columns[name].astype(np.float64), nan=float(NEVER)).astype(np.int32)
        return _by_run(columns, run_ids)

    def scores(self, task_id: int, run_ids: Sequence[int]) -> dict[str, NDArray[np.float64]]:
        """Imported per-query scores, by measure ``(S, Q)`` in the order of ``run_ids``, measures in the file's order.

        NaN where a run has no score for a query: the file lacks it, or the measure is undefined on it.
        """
        ((n_queries,),) = self._rows("SELECT n_queries FROM task WHERE task_id = ?", [task_id])
        asked = list(run_ids)
        measures = self._rows(
            "SELECT measure FROM score WHERE list_contains(?, run_id) GROUP BY measure ORDER BY min(rowid)", [asked]
        )
        names = [str(measure) for (measure,) in measures]
        columns = self._columns(
            """SELECT list_position(?, measure) - 1 AS measure, list_position(?, run_id) - 1 AS place, query, value
               FROM score WHERE list_contains(?, run_id)""",
            [names, asked, asked],
        )
        found = np.full((len(names), len(asked), n_queries), np.nan)
        found[columns["measure"], columns["place"], columns["query"]] = columns["value"]
        return dict(zip(names, found, strict=True))

    def published_sources(self, task_ids: Sequence[int]) -> list[PublishedRow]:
        """Where the published figures of some tasks come from, by task and system name."""
        rows = self._rows(
            """SELECT task_id, system, file, checksum, program, model_revision, dataset_revision, evaluated_at,
                      n_figures
               FROM published_source WHERE list_contains(?, task_id) ORDER BY task_id, system""",
            [list(task_ids)],
        )
        return [PublishedRow._make(row) for row in rows]

    def published_measures(self, task_id: int) -> list[str]:
        """The measures that were published for a task, in the order of the files."""
        rows = self._rows(
            "SELECT measure FROM published WHERE task_id = ? GROUP BY measure ORDER BY min(rowid)", [task_id]
        )
        return [str(measure) for (measure,) in rows]

    def published_pairs(self, task_id: int) -> list[tuple[str, str, int]]:
        """Query language, document language, and in how many subsets of systems and splits they were published."""
        rows = self._rows(
            """SELECT query_language, document_language, count(DISTINCT (system, split, subset))
               FROM published WHERE task_id = ? GROUP BY ALL ORDER BY min(rowid)""",
            [task_id],
        )
        return [(str(asked), str(answered), int(n)) for asked, answered, n in rows]

    def published(self, task_id: int, measure: str) -> PublishedColumns:
        """What was published of a measure for a task."""
        return PublishedColumns(**self._columns(
            """SELECT system, split, subset, query_language, document_language, value
               FROM published WHERE task_id = ? AND measure = ? ORDER BY rowid""",
            [task_id, measure],
        ))  # fmt: skip

    def language_above(
        self, run_ids: Sequence[int], *, queries: Sequence[int] | None = None
    ) -> list[tuple[int, str, str, int]]:
        """Non-relevant documents above the first relevant one; of some queries only, or of all.

        Returns:
            (place of the run, query language, document language, count), one row for each that occurs.
        """
        rows = self._rows(
            """SELECT place - 1, query.language, language_above.language, sum(count)::BIGINT
               FROM language_above
               JOIN (SELECT unnest($1) AS run_id, generate_subscripts($1, 1) AS place) asked USING (run_id)
               JOIN run USING (run_id) JOIN query ON query.task_id = run.task_id AND query.query = language_above.query
               WHERE $2 IS NULL OR query.query IN (SELECT unnest($2))
               GROUP BY ALL ORDER BY ALL""",
            [list(run_ids), None if queries is None else list(queries)],
        )
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    def concentration(self, run_id: int) -> dict[int, tuple[int, float | None]]:
        """For each stored k: how many distinct documents fill the top k of all queries, and the largest one's share.

        The share is None for a run without a row.
        """
        rows = self._rows(
            "SELECT k, distinct_documents, largest_document_share FROM run_concentration WHERE run_id = ? ORDER BY k",
            [run_id],
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def diagnoses(self, task_id: int) -> dict[int, DiagnosisRow]:
        """Which runs of a task were looked at from inside, by run."""
        rows = self._rows(
            """SELECT run_id, token_limit, tokens_reason, vectors_reason
               FROM diagnosis JOIN run USING (run_id, fingerprint) WHERE task_id = ? ORDER BY run_id""",
            [task_id],
        )
        return {row[0]: DiagnosisRow._make(row) for row in rows}

    def text_tokens(self, run_id: int) -> TokenColumns:
        """What a run's tokeniser made of the documents of its task, then of the queries, by position."""
        columns = self._columns(
            """SELECT item, position, tokens, unknown_tokens, characters, unknown_characters, truncated
               FROM text_tokens WHERE run_id = ? ORDER BY item, position""",
            [run_id],
        )
        return TokenColumns(**columns)

    def text_space(self, run_id: int) -> SpaceColumns:
        """The sample of texts whose vectors were looked at, by position."""
        return SpaceColumns(**self._columns(
            """SELECT item, position, silhouette, guessed_language
               FROM text_space WHERE run_id = ? ORDER BY item, position""",
            [run_id],
        ))  # fmt: skip

    def translations(self, run_id: int) -> TranslationColumns:
        """How near translations are in a run's space, by language pair and family."""
        return TranslationColumns(**self._columns(
            """SELECT language, other_language, family, cosine, random
               FROM translation WHERE run_id = ? ORDER BY language, other_language, family""",
            [run_id],
        ))  # fmt: skip

    def centroid_distances(self, run_id: int) -> dict[tuple[str, str], float]:
        """How far apart the mean vectors of every two languages are; each pair once."""
        rows = self._rows(
            "SELECT language, other_language, distance FROM centroid_distance WHERE run_id = ? ORDER BY ALL", [run_id]
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def word_matches(self, run_id: int) -> dict[str, NDArray[Any]]:
        """Of each query by position, ``(Q,)``: whether a word of it is known, and shared with an answer elsewhere.

        Columns ``is_known`` and ``is_shared``; the latter NaN without an answer in another language. Empty for a run
        that does not compare words.
        """
        return self._columns("SELECT is_known, is_shared FROM word_match WHERE run_id = ? ORDER BY query", [run_id])

    def top_documents(self, run: RunRow, *, top: int) -> dict[str, NDArray[np.int32]]:
        """Which documents stand in the first ``top`` of every query: columns ``query`` and ``document``, by query."""
        file = self._hits_file(run)
        return self._columns(
            f"SELECT query, document FROM {PARQUET} WHERE rank <= $2 ORDER BY query, rank",  # noqa: S608
            [str(file), top],
            bulk=file,
        )

    def corpus(self, task_id: int) -> Corpus:
        """The corpus of a task with its texts, in store order."""
        file = self._documents_file(task_id)
        columns = self._columns(
            f"""SELECT id, language, text FROM document JOIN {PARQUET} USING (document)
                WHERE task_id = $2 AND language IS NOT NULL ORDER BY document""",  # noqa: S608 (a constant of ours)
            [str(file), task_id],
            bulk=file,
        )
        return Corpus.of(
            tuple(columns["id"]),
            languages=tuple(columns["language"]),
            texts=tuple(columns["text"]),
            images=self._images(task_id, "document"),
        )

    def questions(self, task_id: int) -> Questions:
        """The queries of a task as a system sees them."""
        queries = self.queries(task_id)
        return Questions(
            tuple(queries.id),
            tuple(queries.language),
            tuple(queries.text),
            self.excluded(task_id),
            self._images(task_id, "query"),
        )

    def images(self, task_id: int) -> tuple[Image, ...]:
        """Where the images of a task are: those of queries, then those of documents, by position."""
        return tuple(image for item in ("query", "document") for image in self._images(task_id, item).values())

    def _images(self, task_id: int, item: str) -> dict[int, Image]:
        rows = self._rows(
            f"""SELECT position, id, path, folder, place
                FROM image JOIN {item} ON {item}.task_id = image.task_id AND {item} = position
                WHERE image.task_id = ? AND item = ? ORDER BY position""",  # noqa: S608 (one of two words of ours)
            [task_id, item],
        )
        return {position: Image(item, *row) for position, *row in rows}

    def n_images(self, task_id: int) -> dict[str, int]:
        """How many queries and documents of a task have an image, by item; without what has none."""
        return dict(self._rows("SELECT item, count(*) FROM image WHERE task_id = ? GROUP BY item", [task_id]))

    def excluded(self, task_id: int) -> dict[int, NDArray[np.int32]]:
        """Query position to positions of documents that leave its ranking."""
        columns = self._columns(
            "SELECT query, document FROM excluded WHERE task_id = ? ORDER BY query, document", [task_id]
        )
        queries, starts = np.unique(columns["query"], return_index=True)
        return dict(zip(queries.tolist(), np.split(columns["document"].astype(np.int32), starts[1:]), strict=False))

    def texts(self, task_id: int, documents: Sequence[int]) -> dict[int, str]:
        """The texts of some documents by their position."""
        file = self._documents_file(task_id)
        rows = self._rows(
            f"SELECT document, text FROM {PARQUET} WHERE list_contains($2, document) ORDER BY document",  # noqa: S608
            [str(file), [int(document) for document in documents]],
            bulk=file,
        )
        return {row[0]: row[1] for row in rows}

    def hits(self, run: RunRow, queries: Sequence[int] | None = None, *, top: int | None = None) -> list[Hit]:
        """Rows of a run's ranking by query and rank; of some queries only, or all of them.

        The file is sorted by query: between the first and the last one asked for, few of its parts have to be read.
        """
        file = self._hits_file(run)
        asked = None if queries is None else [int(query) for query in queries]
        ends = (min(asked), max(asked)) if asked else (0, np.iinfo(np.int32).max)
        rows = self._rows(
            f"""SELECT query, rank, document, score FROM {PARQUET}
                WHERE ($2 IS NULL OR list_contains($2, query)) AND query BETWEEN $3 AND $4 AND rank <= $5
                ORDER BY query, rank""",  # noqa: S608 (a constant of ours)
            [str(file), asked, *ends, top or run.depth],
            bulk=file,
        )
        return [Hit._make(row) for row in rows]

    def children(self, task_id: int, system: str) -> tuple[str, ...]:
        """Systems whose runs of a task were composed from this one's, by name."""
        rows = self._rows(
            """SELECT system FROM run WHERE task_id = ? AND list_contains(from_json(parents, '["VARCHAR"]'), ?)
               ORDER BY system""",
            [task_id, system],
        )
        return tuple(row[0] for row in rows)

    def has_results_of(self, system: str) -> bool:
        """Whether there is a run, a refusal or a published result of a system, in any task of any benchmark."""
        rows = self._rows(
            "SELECT 1 FROM run WHERE system = $1 UNION ALL SELECT 1 FROM published_source WHERE system = $1", [system]
        )
        return bool(rows)

    def judgement_counts(self, task_id: int) -> JudgementCounts:
        """How many judgements a task has, and how many of the relevant ones cross languages."""
        ((n, relevant, cross),) = self._rows(
            """SELECT count(*), count(*) FILTER (grade >= 1),
                      count(*) FILTER (grade >= 1 AND document.language <> query.language)
               FROM judgement JOIN query USING (task_id, query) JOIN document USING (task_id, document)
               WHERE task_id = ?""",
            [task_id],
        )
        return JudgementCounts(n, relevant, cross)

    def query_languages(self, task_id: int) -> dict[str, int]:
        """How many queries of a task are in each language, in the order in which they first show them."""
        rows = self._rows(
            "SELECT language, count(*) FROM query WHERE task_id = ? GROUP BY language ORDER BY min(query)", [task_id]
        )
        return {row[0]: row[1] for row in rows}

    def hits_bytes(self, run: RunRow) -> int | None:
        """The size of a run's hits; None where it keeps none, or the file is missing."""
        return _size(self.cache.hits / run.hits_file) if run.hits_file else None

    def documents_bytes(self, task: TaskRow) -> int | None:
        """The size of a task's texts; None where the file is missing."""
        return _size(self.cache.documents / task.documents_file)

    def storage(self) -> Storage:
        """The space that everything under the cache folder takes."""
        cache = self.cache
        generation = _size(self.path) or 0
        hits, documents, embeddings = map(_folder_size, (cache.hits, cache.documents, cache.embeddings))
        total = _folder_size(cache.root)
        rest = total - generation - hits - documents - embeddings
        return Storage(generation, hits, documents, embeddings, rest, total)

    def _hits_file(self, run: RunRow) -> Path:
        if run.hits_file is None:
            why = f"it was refused ({run.reason})" if run.status == "refused" else "only scores were imported"
            raise StoreError(f"run of {run.system} keeps no hits: {why}")
        return self.cache.hits / run.hits_file

    def _documents_file(self, task_id: int) -> Path:
        rows = self._rows("SELECT documents_file FROM task WHERE task_id = ?", [task_id])
        return self.cache.documents / str(rows[0][0])

    def faults(self) -> list[str]:
        """What is wrong with this store, in words; empty when every file is there, whole, and counted right."""
        return self._unreadable() or [
            *self._file_faults(),
            *self._task_faults(),
            *self._attribute_faults(),
            *self._flag_faults(),
            *self._image_faults(),
            *self._run_faults(),
            *self._score_faults(),
            *self._published_faults(),
            *self._diagnosis_faults(),
            *self._training_faults(),
        ]

    def _unreadable(self) -> list[str]:
        """Tables that cannot be read to their end; every block carries a checksum that reading compares."""
        faults = []
        for (name,) in self._rows("SELECT table_name FROM duckdb_tables() ORDER BY table_name"):
            try:
                self._rows(f"SELECT bit_xor(hash(everything)) FROM {name} AS everything")  # noqa: S608 (names of ours)
            except StoreError as error:
                faults.append(f"table {name}: {error}")
        return faults

    def _file_faults(self) -> list[str]:
        hits = self._rows("SELECT hits_file, hits_checksum FROM run WHERE hits_file IS NOT NULL ORDER BY run_id")
        documents = self._rows("SELECT documents_file, documents_checksum FROM task ORDER BY task_id")
        files = [(self.cache.hits / row[0], row[1]) for row in hits]
        maps = self._rows("SELECT points_file, points_checksum FROM projection ORDER BY task_id, system, dimensions")
        files += [(self.cache.documents / row[0], row[1]) for row in documents]
        files += [(self.cache.maps / row[0], row[1]) for row in maps]
        faults = []
        for path, checksum in files:
            if not path.is_file():
                faults.append(f"{path}: missing")
            elif write.file_checksum(path) != checksum:
                faults.append(f"{path}: its SHA-256 differs from the one recorded when it was written")
        return faults

    def _task_faults(self) -> list[str]:
        rows = self._rows(
            """SELECT task_id, name, n_documents, n_queries,
                      (SELECT count(language) FROM document WHERE document.task_id = task.task_id) AS documents,
                      (SELECT count(*) FROM query WHERE query.task_id = task.task_id) AS queries
               FROM task WHERE documents <> n_documents OR queries <> n_queries ORDER BY task_id"""
        )
        return [
            f"task {row[0]} ({row[1]}): {row[4]} documents of {row[2]}, {row[5]} queries of {row[3]}" for row in rows
        ]

    def _run_faults(self) -> list[str]:
        rows = self._rows(
            """SELECT run.run_id, run.system, task.name, n_queries,
                      (SELECT count(*) FROM judgement
                       WHERE judgement.task_id = run.task_id AND grade > 0) AS judgements,
                      (SELECT count(*) FROM relevant_rank WHERE relevant_rank.run_id = run.run_id) AS ranks,
                      (SELECT count(*) FROM query_score WHERE query_score.run_id = run.run_id) AS scores
               FROM run JOIN task USING (task_id)
               WHERE hits_file IS NOT NULL AND (ranks <> judgements OR scores <> n_queries) ORDER BY run_id"""
        )
        return [
            f"run {row[0]} ({row[1]} on {row[2]}): {row[5]} ranks for {row[4]} judgements, "
            f"{row[6]} query rows for {row[3]} queries"
            for row in rows
        ]

    def _attribute_faults(self) -> list[str]:
        rows = self._rows(
            """SELECT task_id, query, attribute, count(*), count(id)
               FROM query_attribute LEFT JOIN query USING (task_id, query)
               GROUP BY ALL HAVING count(*) <> 1 OR count(id) <> 1 ORDER BY ALL"""
        )
        return [
            f"task {row[0]}: {row[3]} values of {row[2]!r} for query {row[1]}{'' if row[4] else ', which is not there'}"
            for row in rows
        ]

    def _flag_faults(self) -> list[str]:
        """Flags that are stored twice, or of a query or document that is not there."""
        rows = self._rows(
            """SELECT flag.task_id, item, position, reason, count(*), count(coalesce(query.id, document.id))
               FROM flag
               LEFT JOIN query ON item = 'query' AND query.task_id = flag.task_id AND query.query = position
               LEFT JOIN document ON item = 'document' AND document.task_id = flag.task_id
                   AND document.document = position
               GROUP BY ALL HAVING count(*) <> 1 OR count(coalesce(query.id, document.id)) <> 1 ORDER BY ALL"""
        )
        return [
            f"task {row[0]}: {row[4]} flags {row[3]!r} of {row[1]} {row[2]}{'' if row[5] else ', which is not there'}"
            for row in rows
        ]

    def _image_faults(self) -> list[str]:
        """Images that are named twice, or of a query or document that is not there; the files are not looked for."""
        rows = self._rows(
            """SELECT image.task_id, item, position, count(*), count(coalesce(query.id, document.id))
               FROM image
               LEFT JOIN query ON item = 'query' AND query.task_id = image.task_id AND query.query = position
               LEFT JOIN document ON item = 'document' AND document.task_id = image.task_id
                   AND document.document = position
               GROUP BY ALL HAVING count(*) <> 1 OR count(coalesce(query.id, document.id)) <> 1 ORDER BY ALL"""
        )
        return [
            f"task {row[0]}: {row[3]} images of {row[1]} {row[2]}{'' if row[4] else ', which is not there'}"
            for row in rows
        ]

    def _score_faults(self) -> list[str]:
        """Imported runs whose scores are not the ones that were stored: too few, twice, or of no query of the task."""
        counted = {
            (run_id, measure): (rows, sound)
            for run_id, measure, rows, sound in self._rows(
                """SELECT run_id, measure, count(*), count(DISTINCT query.query) FILTER (isfinite(value))
                   FROM score JOIN run USING (run_id)
                   LEFT JOIN query ON query.task_id = run.task_id AND query.query = score.query GROUP BY ALL"""
            )
        }
        expected = self._rows(
            """SELECT run_id, system, task.name, provenance FROM run JOIN task USING (task_id)
               WHERE status = 'complete' AND hits_file IS NULL ORDER BY run_id"""
        )
        return [
            f"run {run_id} ({system} on {task}): {found[1]} sound scores in {found[0]} rows of {measure}, expected {n}"
            for run_id, system, task, provenance in expected
            for measure, n in json.loads(provenance).get("scores", {}).items()
            if (found := counted.get((run_id, measure), (0, 0))) != (n, n)
        ]

    def _published_faults(self) -> list[str]:
        rows = self._rows(
            """SELECT task_id, system, coalesce(n_figures, 0) AS expected, coalesce(n, 0) AS found
               FROM published_source
               FULL JOIN (SELECT task_id, system, count(*) FILTER (isfinite(value)) AS n FROM published GROUP BY ALL)
               USING (task_id, system) WHERE expected <> found ORDER BY task_id, system"""
        )
        return [f"task {row[0]}, {row[1]}: {row[3]} published figures of {row[2]}" for row in rows]

    def _diagnosis_faults(self) -> list[str]:
        """Diagnoses of no run or of another one, and tables that do not hold the rows that were counted."""
        counted = {
            table: dict(self._rows(f"SELECT run_id, count(*) FROM {table} GROUP BY run_id"))  # noqa: S608 (fixed names)
            for table in write.OF_DIAGNOSIS
        }
        rows = self._rows(
            """SELECT diagnosis.run_id, n_rows, run.fingerprint = diagnosis.fingerprint
               FROM diagnosis LEFT JOIN run USING (run_id) ORDER BY diagnosis.run_id"""
        )
        known = {run_id for run_id, _, _ in rows}
        lost = sorted({run_id for found in counted.values() for run_id in found} - known)
        faults = [f"run {run_id}: rows of a diagnosis that is not there" for run_id in lost]
        for run_id, expected, is_of_run in rows:
            if not is_of_run:
                faults.append(f"run {run_id}: a diagnosis of another run")
            for table, n in json.loads(expected).items():
                found = counted[table].get(run_id, 0)
                if found != n:
                    faults.append(f"run {run_id}: {found} rows of {table} for {n} that were found")
        return faults

    def _training_faults(self) -> list[str]:
        """Files that a benchmark was looked for in, of which rows were lost, or the benchmark."""
        rows = self._rows(
            """SELECT training.training_id, file, n_matches, benchmark.name,
                      (SELECT count(*) FROM training_match JOIN task USING (task_id)
                       WHERE training_match.training_id = training.training_id
                           AND task.benchmark_id = training.benchmark_id) AS found
               FROM training LEFT JOIN benchmark USING (benchmark_id)
               WHERE found <> n_matches OR benchmark.name IS NULL ORDER BY training.training_id"""
        )
        return [
            f"training file {row[0]} ({row[1]}): {row[4]} rows for {row[2]} that were found"
            + ("" if row[3] else ", of a benchmark that is not there")
            for row in rows
        ]

    def orphans(self) -> list[Path]:
        """Files that no kept generation names: left by a job that was ended, and swept by the next one.

        Empty while a job is writing: what it has written so far is named once it ends.
        """
        return [] if write.is_being_written(self.cache) else write.unnamed_files(self.cache)

    def export_hits(self, run: RunRow, target: Path) -> None:
        """Write a run's kept hits as a Parquet file with the user's own ids."""
        file, temporary = self._hits_file(run), target.with_name(target.name + ".tmp")
        quoted = str(temporary).replace("'", "''")
        try:
            self._rows(
                f"""COPY (SELECT query.id AS query_id, document.id AS document_id, rank, score
                    FROM {PARQUET} AS hit
                    JOIN query ON query.task_id = $2 AND query.query = hit.query
                    JOIN document ON document.task_id = $2 AND document.document = hit.document
                    ORDER BY hit.query, rank) TO '{quoted}' (FORMAT parquet)""",  # noqa: S608 (the target cannot be a parameter)
                [str(file), run.task_id],
                bulk=file,
            )
            generations.publish(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None


def _folder_size(folder: Path) -> int:
    """Bytes of the files in a folder and below; files that a job removes meanwhile do not count."""
    return sum(_size(path) or 0 for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _by_run(columns: dict[str, NDArray[Any]], run_ids: Sequence[int]) -> dict[str, NDArray[Any]]:
    """Columns of equally many rows a run, each as ``(S, rows)``, without the run ids themselves.

    Raises:
        StoreError: a run lacks rows: it was refused, or runs of different tasks were asked for together.
    """
    found = columns.pop("run_id")
    length = len(found) // max(len(run_ids), 1)
    if not np.array_equal(found, np.repeat(np.asarray(run_ids, dtype=np.int32), length)):
        raise StoreError(f"runs {list(run_ids)}: expected complete runs of one task")
    return {name: column.reshape(len(run_ids), length) for name, column in columns.items()}


def _unmasked(column: NDArray[Any]) -> NDArray[Any]:
    """A masked column as a plain one: missing numbers become NaN, missing texts None."""
    missing = np.ma.getmaskarray(column)
    plain = np.ma.getdata(column)
    if not missing.any():
        return np.asarray(plain)
    filled = plain.astype(object if plain.dtype == object else np.float64)
    filled[missing] = None if plain.dtype == object else np.nan
    return filled


def open_store(cache: Cache) -> Store | None:
    """The store in force, brought up to date first when an older program wrote it; None when nothing is stored yet.

    Raises:
        StoreError: a newer program wrote it, or it is damaged.
    """
    path = generations.current_generation(cache)
    if path is None:
        return None
    if generations.schema_of(generations.shared_connection(path).cursor()) < generations.newest_schema():
        write.bring_up_to_date(cache)
        path = generations.current_generation(cache)
    return Store(cache, path) if path else None
