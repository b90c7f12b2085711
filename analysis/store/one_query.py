"""What is asked of a store about one query: few rows each, found without reading the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from analysis.store.read import Hit, RunRow, Store


class QueryRow(NamedTuple):
    """One stored query."""

    query: int  # its position in the task
    id: str
    language: str
    text: str
    family: str


class AnswerRow(NamedTuple):
    """A document that was judged for a query, or that a system returned for it."""

    document: int  # its position in the task
    id: str
    language: str | None  # None: it is not in the corpus
    family: str | None
    grade: float | None  # None: nobody judged it for this query


def versions(store: Store, task_id: int, query_id: str) -> list[QueryRow]:
    """A query, and after it the same question in other languages or words, in the order of the task.

    Empty where the task has no such query.
    """
    rows = store._rows(
        """WITH asked AS (SELECT query, coalesce(source_query, family) AS question FROM query
                          WHERE task_id = $1 AND id = $2)
           SELECT query.query, id, language, text, family FROM query JOIN asked
           ON coalesce(source_query, family) = question WHERE task_id = $1
           ORDER BY query.query <> asked.query, query.query""",
        [task_id, query_id],
    )
    return [QueryRow(*row) for row in rows]


def attributes(store: Store, task_id: int, query: int) -> dict[str, str]:
    """What is known of a query beside its language and family, by name."""
    rows = store._rows(
        """SELECT name, value FROM (
               SELECT unnest(['tier', 'mode', 'strategy', 'audit_status']) AS name,
                      unnest([tier, mode, strategy, audit_status]) AS value
               FROM query WHERE task_id = $1 AND query = $2
               UNION ALL SELECT attribute, value FROM query_attribute WHERE task_id = $1 AND query = $2)
           WHERE value IS NOT NULL""",
        [task_id, query],
    )
    return dict(rows)


def flags(store: Store, task_id: int, query: int) -> tuple[str, ...]:
    """Why a query is doubtful; empty where it is not."""
    rows = store._rows(
        "SELECT reason FROM flag WHERE task_id = ? AND item = 'query' AND position = ? ORDER BY reason",
        [task_id, query],
    )
    return tuple(str(reason) for (reason,) in rows)


def answers(store: Store, task_id: int, query: int, *, also: Sequence[int] = ()) -> list[AnswerRow]:
    """The documents judged for a query, and ``also`` these positions, by position."""
    rows = store._rows(
        """SELECT document.document, id, language, family, grade FROM document
           LEFT JOIN (SELECT document, grade FROM judgement WHERE task_id = $1 AND query = $2) AS judged
               ON judged.document = document.document
           WHERE task_id = $1 AND (grade IS NOT NULL OR list_contains($3, document.document))
           ORDER BY document.document""",
        [task_id, query, [int(document) for document in also]],
    )
    return [AnswerRow(*row) for row in rows]


def hits(
    store: Store, runs: Sequence[RunRow], query: int, *, k: int, also: Sequence[int] = ()
) -> dict[str, dict[int, Hit]]:
    """The first ``k`` kept hits of a query and those of ``also`` these documents, by system and document.

    Runs that keep no hits are left out. All files are read in one go, of each only the part that has the query.

    Raises:
        StoreError: a file is missing or damaged.
    """
    files = {str(store.cache.hits / run.hits_file): run.system for run in runs if run.hits_file is not None}
    found: dict[str, dict[int, Hit]] = {system: {} for system in files.values()}
    rows = store._rows(
        """SELECT filename, query, rank, document, score
           FROM read_parquet($1, hive_partitioning = false, filename = true)
           WHERE query = $2 AND (rank <= $3 OR list_contains($4, document)) ORDER BY filename, rank""",
        [list(files), query, k, [int(document) for document in also]],
    ) if files else []  # fmt: skip
    for file, *row in rows:
        hit = Hit(*row)
        found[files[file]][hit.document] = hit
    return found


def ranks(store: Store, run_ids: Sequence[int], query: int) -> dict[tuple[int, int], int | None]:
    """Where runs have what was judged above 0 for a query: (run, document) to rank, None beyond the run's depth."""
    rows = store._rows(
        "SELECT run_id, document, rank FROM relevant_rank WHERE run_id IN (SELECT unnest($1)) AND query = $2",
        [list(run_ids), query],
    )
    return {(run, document): rank for run, document, rank in rows}


def first_ranks(
    store: Store, task_id: int, run_ids: Sequence[int], queries: Sequence[int]
) -> dict[tuple[int, int], int]:
    """Where runs have their first right answer to some queries of a task: (run, query) to rank, where there is one."""
    rows = store._rows(
        """SELECT run_id, query, min(rank) FROM relevant_rank
           JOIN (SELECT query, document FROM judgement
                 WHERE task_id = $1 AND grade >= 1 AND query IN (SELECT unnest($3))) AS judged USING (query, document)
           WHERE run_id IN (SELECT unnest($2)) AND query IN (SELECT unnest($3)) AND rank IS NOT NULL GROUP BY ALL""",
        [task_id, list(run_ids), [int(query) for query in queries]],
    )
    return {(run, query): rank for run, query, rank in rows}
