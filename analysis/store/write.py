"""One writer: a job changes a copy of the store, then points ``CURRENT`` at it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.errors import StoreError
from analysis.model import (
    Benchmark,
    Document,
    Figure,
    Judgement,
    Progress,
    PublishedResult,
    Query,
    Ranking,
    Task,
    silent,
)
from analysis.paths import Cache
from analysis.store import connection as generations

WAIT = 0.1  # seconds between two looks at a lock that another job holds
WAITING = "wait for another job to end"
"""The step of a job that is queued behind the one that holds the store."""
OF_TASK = (
    "published",
    "published_source",
    "projection",
    "flag",
    "image",
    "judgement",
    "excluded",
    "query_attribute",
    "query",
    "document",
    "task",
)
"""Tables with a row or more for a task, beside those of its runs."""
OF_DIAGNOSIS = ("text_tokens", "text_space", "translation", "centroid_distance", "word_match")
"""Tables with what was found out about a run besides its ranking."""
PROJECTIONS = 7
"""The schema that first names maps."""
LEFTOVER = re.compile(r"store-\d+\.[0-9a-f]{8}\.tmp.*")  # a next generation, its log and its spill folder
ROW_GROUP = 122_880  # rows of a Parquet file that are skipped or read together
ENCODINGS = {pa.int32(): "DELTA_BINARY_PACKED", pa.float64(): "BYTE_STREAM_SPLIT"}
"""Of the columns of a Parquet file: positions and ranks hardly differ from row to row, scores in few of their bytes."""

BULK = re.compile(r"[0-9a-f]{32}\.parquet(\.tmp)?")


@contextlib.contextmanager
def locked(cache: Cache, *, progress: Progress = silent) -> Iterator[None]:
    """Hold the store's one lock; other jobs queue behind it, and the kernel frees it if this process dies."""
    with generations.on_disk(cache.root):
        cache.root.mkdir(parents=True, exist_ok=True)
        lock = cache.lock.open("a")
    with lock as handle:
        while not _taken(handle, fcntl.LOCK_EX):
            progress(WAITING, 0, 1)
            time.sleep(WAIT)
        yield


def _taken(handle: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_being_written(cache: Cache) -> bool:
    """Whether a job holds the store's lock just now."""
    try:
        with cache.lock.open("r") as handle:
            return not _taken(handle, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def writer(cache: Cache, *, progress: Progress = silent) -> Iterator[Writer]:
    """Open the next generation for writing; it becomes current only if the block ends without an exception.

    ``progress`` is called while another job is waited for, so that a queued job can be cancelled. An older store is
    brought up to date first, in a generation of its own: whoever opens the store inside the block finds it up to date.

    Raises:
        analysis.errors.StoreError: the store is newer than this program, or damaged.
    """
    with locked(cache, progress=progress):
        _migrate_forward(cache)
        with _next_generation(cache) as connection:
            yield Writer(cache, connection)


def bring_up_to_date(cache: Cache) -> None:
    """Migrate the store when an older program wrote it.

    Raises:
        analysis.errors.StoreError: the store is newer than this program, or damaged.
    """
    with locked(cache):
        _migrate_forward(cache)


def _migrate_forward(cache: Cache) -> None:
    old = generations.current_generation(cache)
    if old and generations.schema_of(generations.shared_connection(old).cursor()) < generations.newest_schema():
        with _next_generation(cache):
            pass


@contextlib.contextmanager
def _next_generation(cache: Cache) -> Iterator[duckdb.DuckDBPyConnection]:
    """A migrated copy of the store; published when the block ends well, and nothing of it stays when it does not.

    The first generation is numbered by the clock: a file name is never used twice, even where the folder was emptied
    under an open dashboard, which keeps what it read by that name.
    """
    old = generations.current_generation(cache)
    number = generations.generation_number(old) + 1 if old else int(time.time())
    temporary = cache.root / f"store-{number}.{uuid.uuid4().hex[:8]}.tmp"
    _sweep(cache)
    try:
        if old:
            with generations.on_disk(cache.root):
                shutil.copyfile(old, temporary)
        with contextlib.closing(_connected(temporary)) as connection:
            generations.migrate(connection)
            yield connection
            with generations.translated(cache.root, advice=generations.UNCHANGED):
                connection.execute("CHECKPOINT").fetchall()
        target = cache.root / f"store-{number}.duckdb"
        with generations.on_disk(cache.root):
            generations.publish(temporary, target)
            _point_at(cache, target.name)
    finally:
        _sweep(cache)


def _connected(path: Path) -> duckdb.DuckDBPyConnection:
    with generations.translated(path.parent, advice=generations.UNCHANGED):
        return duckdb.connect(str(path))


def _point_at(cache: Cache, name: str) -> None:
    temporary = cache.root / "CURRENT.tmp"
    temporary.write_text(name + "\n", encoding="utf-8")
    generations.publish(temporary, cache.current)


def _sweep(cache: Cache) -> None:
    """Remove what no kept generation names: older generations, replaced runs, leftovers of a job that failed."""
    try:
        unnamed = unnamed_files(cache)
    except StoreError:
        return  # a kept generation that cannot be read may name any of them
    for path in unnamed:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def unnamed_files(cache: Cache) -> list[Path]:
    """Files that the store wrote and no kept generation names; other people's files are none of its business.

    Raises:
        StoreError: a kept generation cannot be read.
    """
    named = set(generations.kept_generations(cache))
    for generation in list(named):
        named |= bulk_files(cache, generations.shared_connection(generation).cursor())
    ours = {
        path
        for path in cache.root.glob("store-*")
        if LEFTOVER.fullmatch(path.name) or generations.generation_number(path)
    }
    folders = (cache.hits, cache.documents, cache.maps)
    bulk = (path for folder in folders for path in folder.glob("*") if BULK.fullmatch(path.name))
    return sorted({*ours, *bulk} - named)


def bulk_files(cache: Cache, connection: duckdb.DuckDBPyConnection) -> set[Path]:
    """Every Parquet file that a store names."""
    hits = connection.execute("SELECT hits_file FROM run WHERE hits_file IS NOT NULL").fetchall()
    documents = connection.execute("SELECT documents_file FROM task").fetchall()
    found = {cache.hits / row[0] for row in hits} | {cache.documents / row[0] for row in documents}
    if generations.schema_of(connection) < PROJECTIONS:
        return found  # of a kept generation that an older program wrote
    maps = connection.execute("SELECT points_file FROM projection").fetchall()
    return found | {cache.maps / row[0] for row in maps}


def file_checksum(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


class Writer:
    """What a job may change; every method works on the copy that is not yet current."""

    def __init__(self, cache: Cache, connection: duckdb.DuckDBPyConnection) -> None:
        self._cache = cache
        self._connection = connection

    def add_benchmark(self, benchmark: Benchmark) -> str:
        """Store a benchmark and return the version it is stored under; the same rows are stored once.

        Another version stands beside the ones before it, whose runs stay. Other rows under a version that exists get
        a version of their own (``…-2``): nothing stored is replaced.
        """
        checksum = content_checksum(benchmark)
        known = self._run(
            "SELECT benchmark_id, version FROM benchmark WHERE name = ? AND checksum = ?", [benchmark.name, checksum]
        )
        if known:
            self._reword(known[0][0], benchmark)
            return str(known[0][1])
        benchmark_id, version = self._next("benchmark", "benchmark_id"), self._free_version(benchmark)
        self._add(
            "benchmark",
            benchmark_id=benchmark_id,
            name=benchmark.name,
            version=version,
            parallel=benchmark.parallel,
            checksum=checksum,
            **_card(benchmark),
        )
        for task in benchmark.tasks:
            self._add_task(benchmark_id, task)
        return version

    def extend(self, benchmark_id: int, benchmark: Benchmark) -> None:
        """Add tasks to a stored benchmark, whose other tasks and their runs stay.

        Args:
            benchmark_id: the stored benchmark.
            benchmark: its card from now on, and the tasks that are new.
        """
        for task in benchmark.tasks:
            self._add_task(benchmark_id, task)
        tasks = self._run(
            "SELECT name, exclude_self, checksum FROM task WHERE benchmark_id = ? ORDER BY task_id", [benchmark_id]
        )
        checksum = _content_checksum(benchmark.version, benchmark.parallel, tasks)
        self._update(benchmark_id, {**_card(benchmark), "parallel": benchmark.parallel, "checksum": checksum})

    def task_id(self, benchmark: str, *, version: str, task: str) -> int:
        """The id of a task that is stored."""
        rows = self._run(
            """SELECT task_id FROM task JOIN benchmark USING (benchmark_id)
               WHERE benchmark.name = ? AND version = ? AND task.name = ?""",
            [benchmark, version, task],
        )
        return int(rows[0][0])

    def _reword(self, benchmark_id: int, benchmark: Benchmark) -> None:
        """Take over what a benchmark's card says; what it asks and judges is the same."""
        self._update(benchmark_id, _card(benchmark))
        for task in benchmark.tasks:
            rows = self._run(
                """UPDATE task SET title = ?, question = ?, is_default = ? WHERE benchmark_id = ? AND name = ?
                   RETURNING task_id""",
                [task.title, task.question, task.default, benchmark_id, task.name],
            )
            self.flag(rows[0][0], task)
            self.place_images(rows[0][0], task)

    def place_images(self, task_id: int, task: Task) -> None:
        """Say where the images of a stored task are, in place of what was said before."""
        self._run("DELETE FROM image WHERE task_id = ?", [task_id])
        self._insert("image", _image_table(task_id, task))

    def flag(self, task_id: int, task: Task) -> None:
        """Flag what is doubtful of a stored task, in place of the flags before; its runs and its content stay."""
        self._run("DELETE FROM flag WHERE task_id = ?", [task_id])
        self._insert("flag", _flag_table(task_id, task))

    def _update(self, benchmark_id: int, columns: Mapping[str, object]) -> None:
        self._run(
            f"UPDATE benchmark SET {', '.join(f'{name} = ?' for name in columns)} WHERE benchmark_id = ?",  # noqa: S608
            [*columns.values(), benchmark_id],
        )

    def _free_version(self, benchmark: Benchmark) -> str:
        rows = self._run("SELECT version FROM benchmark WHERE name = ?", [benchmark.name])
        taken = {row[0] for row in rows}
        numbered = (f"{benchmark.version}-{number}" for number in range(2, len(taken) + 3))
        return next(version for version in (benchmark.version, *numbered) if version not in taken)

    def _add_task(self, benchmark_id: int, task: Task) -> None:
        task_id = self._next("task", "task_id")
        in_corpus = {document.id: position for position, document in enumerate(task.documents)}
        dangling = sorted({row.document_id for row in task.judgements} - in_corpus.keys())
        judged = in_corpus | {name: len(task.documents) + position for position, name in enumerate(dangling)}
        file, checksum = self._write_documents(task)
        self._add(
            "task",
            task_id=task_id,
            benchmark_id=benchmark_id,
            name=task.name,
            title=task.title,
            question=task.question,
            exclude_self=task.exclude_self,
            is_default=task.default,
            checksum=task_checksum(task),
            documents_file=file,
            documents_checksum=checksum,
            n_documents=len(task.documents),
            n_queries=len(task.queries),
            n_negative_grades=sum(row.grade < 0 for row in task.judgements),
        )
        self._insert("document", _document_table(task_id, task, dangling))
        self._insert("query", _query_table(task_id, task))
        self._insert("query_attribute", _attribute_table(task_id, task))
        self._insert("excluded", _excluded_table(task_id, task, document_of=in_corpus))
        self._insert("judgement", _judgement_table(task_id, task, document_of=judged))
        self._insert("flag", _flag_table(task_id, task))
        self._insert("image", _image_table(task_id, task))

    def _write_documents(self, task: Task) -> tuple[str, str]:
        table = pa.table({
            "document": np.arange(len(task.documents), dtype=np.int32),
            "text": pa.array([document.text for document in task.documents], pa.string()),
        })  # fmt: skip
        return self._write_parquet(table, self._cache.documents)

    def add_unknown_documents(self, task_id: int, ids: Sequence[str]) -> None:
        """Name documents that a run retrieved and the task lacks, after all others and outside the corpus.

        Like documents that are only judged they have no language and no text: the corpus, and with it every other run
        of the task, stays as it is.
        """
        ((first,),) = self._run("SELECT count(*) FROM document WHERE task_id = ?", [task_id])
        n = len(ids)
        self._insert("document", pa.table({
            "task_id": np.full(n, task_id, dtype=np.int32),
            "document": first + np.arange(n, dtype=np.int32),
            "id": pa.array(list(ids), pa.string()),
        }))  # fmt: skip

    def add_system(self, name: str, *, title: str, short: str, paradigm: str) -> None:
        """Store or update how a system is called."""
        self._run(
            """INSERT INTO system (name, title, short, paradigm) VALUES (?, ?, ?, ?) ON CONFLICT (name)
               DO UPDATE SET title = excluded.title, short = excluded.short, paradigm = excluded.paradigm""",
            [name, title, short, paradigm],
        )

    def add_refusal(self, task_id: int, system: str, *, reason: str, fingerprint: str) -> None:
        """Record that a system declined a task; an earlier complete run of it stays."""
        complete = self._run(
            "SELECT 1 FROM run WHERE task_id = ? AND system = ? AND status = 'complete'", [task_id, system]
        )
        if complete:
            return
        self.remove_run(task_id, system)
        self._add_run_row(self._next_run(), task_id, system, status="refused", reason=reason, fingerprint=fingerprint)

    def add_run(
        self,
        task_id: int,
        system: str,
        *,
        ranking: Ranking,
        keep_hits: int,
        fingerprint: str,
        provenance: Mapping[str, object],
        parents: Sequence[str],
        facts: Callable[[Ranking], Mapping[str, Mapping[str, Any]]],
    ) -> int:
        """Store one system's ranking of a task in place of the one before it, and return its run id.

        Args:
            task_id: the task.
            system: the system's name.
            ranking: the whole ranking; ranks of relevant documents come from its full depth.
            keep_hits: how many hits a query go into the Parquet file.
            fingerprint: of task, settings and depth.
            provenance: what was used and how long it took.
            parents: systems whose rankings it was composed from.
            facts: of the ranking, counted while its hits are written: the columns of ``query_scores`` (those of
                ``query_score`` except the run, each of length Q), ``language_above`` (query, language, count) and
                ``concentration`` (k, distinct_documents, largest_document_share).
        """
        self.remove_run(task_id, system)
        rank = ranking.rank()
        table = pa.table({"query": ranking.query, "rank": rank, "document": ranking.document, "score": ranking.score})
        kept = table if ranking.depth <= keep_hits else table.filter(pa.array(rank <= keep_hits))
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(self._write_parquet, kept, self._cache.hits)
            run_id, counted = self._next_run(), facts(ranking)
            self._add_relevant_ranks(run_id, task_id, table)
            self._insert("query_score", _with_run(run_id, counted["query_scores"]))
            self._insert("language_above", _with_run(run_id, counted["language_above"]))
            self._insert("run_concentration", _with_run(run_id, counted["concentration"]))
            file, checksum = written.result()
        self._add_run_row(
            run_id,
            task_id,
            system,
            status="complete",
            depth=ranking.depth,
            hits_kept=min(ranking.depth, keep_hits),
            hits_file=file,
            hits_checksum=checksum,
            n_hits=kept.num_rows,
            fingerprint=fingerprint,
            provenance=provenance,
            parents=parents,
        )
        return run_id

    def add_scores(
        self,
        task_id: int,
        system: str,
        *,
        scores: Mapping[str, NDArray[np.float64]],
        fingerprint: str,
        provenance: Mapping[str, object],
    ) -> int:
        """Store a system's per-query scores that come without a ranking in place of its run before; return the run id.

        Args:
            task_id: the task.
            system: the system's name.
            scores: by measure key ``(Q,)``, in the order in which measures are shown; NaN where there is no score.
            fingerprint: of the task and the scores.
            provenance: where they come from; how many scores each measure has is added, so that ``check`` can count.
        """
        self.remove_run(task_id, system)
        counts = {measure: int(np.count_nonzero(~np.isnan(values))) for measure, values in scores.items()}
        run_id, described = self._next_run(), {**provenance, "scores": counts}
        self._add_run_row(run_id, task_id, system, status="complete", fingerprint=fingerprint, provenance=described)
        for measure, values in scores.items():
            self._insert("score", _score_table(run_id, measure, values))
        return run_id

    def add_published(self, task_id: int, result: PublishedResult) -> None:
        """Store what a file says of a system on a task in place of what was published of it before."""
        self.remove_published(task_id, result.system)
        self._add(
            "published_source",
            task_id=task_id,
            system=result.system,
            file=result.file,
            checksum=result.checksum,
            program=result.program,
            model_revision=result.model_revision,
            dataset_revision=result.dataset_revision,
            evaluated_at=result.evaluated_at,
            n_figures=len(result.figures),
        )
        self._insert("published", _published_table(task_id, result))

    def remove_published(self, task_id: int, system: str) -> None:
        """Remove what was published of a system on a task."""
        for table in ("published", "published_source"):
            self._run(f"DELETE FROM {table} WHERE task_id = ? AND system = ?", [task_id, system])  # noqa: S608

    def _add_run_row(
        self,
        run_id: int,
        task_id: int,
        system: str,
        *,
        provenance: Mapping[str, object] | None = None,
        parents: Sequence[str] = (),
        **columns: object,
    ) -> None:
        self._add(
            "run",
            run_id=run_id,
            task_id=task_id,
            system=system,
            provenance=json.dumps(dict(provenance or {})),
            parents=json.dumps(list(parents)),
            created_at=generations.now(),
            **columns,
        )

    def _add_relevant_ranks(self, run_id: int, task_id: int, ranking: pa.Table) -> None:
        self._connection.register("ranking", ranking)
        self._run(
            """INSERT INTO relevant_rank
               SELECT ?, query, document, rank FROM judgement LEFT JOIN ranking USING (query, document)
               WHERE task_id = ? AND grade > 0 ORDER BY query, document""",
            [run_id, task_id],
        )
        self._connection.unregister("ranking")

    def remove_run(self, task_id: int, system: str) -> None:
        """Remove a system's run of a task; its Parquet file goes once no kept generation names it."""
        known = self._run("SELECT run_id FROM run WHERE task_id = ? AND system = ?", [task_id, system])
        if known:
            self.remove_diagnosis(known[0][0])
            self._run(
                "DELETE FROM projection WHERE task_id = ? AND system = ? AND run_fingerprint IS NOT NULL",
                [task_id, system],
            )
            for table in ("relevant_rank", "query_score", "language_above", "run_concentration", "score", "run"):
                self._run(f"DELETE FROM {table} WHERE run_id = ?", [known[0][0]])  # noqa: S608 (fixed names)

    def add_diagnosis(
        self,
        run_id: int,
        *,
        token_limit: int | None,
        tokens_reason: str | None,
        vectors_reason: str | None,
        seed: int,
        tables: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Store what was found out about a run besides its ranking, in place of what was found before.

        Args:
            run_id: the run.
            token_limit: tokens that its model reads; None for whole texts, and where they are not told.
            tokens_reason: why its tokens are not told; None where they are.
            vectors_reason: why nothing is said of its vectors; None where something is.
            seed: of samples and folds.
            tables: columns by table, of those in ``OF_DIAGNOSIS`` in which something was found.
        """
        self.remove_diagnosis(run_id)
        rows = {name: _with_run(run_id, columns) for name, columns in tables.items()}
        ((fingerprint,),) = self._run("SELECT fingerprint FROM run WHERE run_id = ?", [run_id])
        self._add(
            "diagnosis",
            run_id=run_id,
            fingerprint=fingerprint,
            token_limit=token_limit,
            tokens_reason=tokens_reason,
            vectors_reason=vectors_reason,
            n_rows=json.dumps({name: table.num_rows for name, table in rows.items()}),
            seed=seed,
            made_at=generations.now(),
        )
        for name, table in rows.items():
            self._insert(name, table)

    def remove_diagnosis(self, run_id: int) -> None:
        """Forget what was found out about a run besides its ranking."""
        for table in (*OF_DIAGNOSIS, "diagnosis"):
            self._run(f"DELETE FROM {table} WHERE run_id = ?", [run_id])  # noqa: S608 (fixed names)

    def add_projection(
        self,
        task_id: int,
        system: str,
        *,
        points: Mapping[str, NDArray[Any]],
        parameters: Mapping[str, object],
        **columns: object,
    ) -> None:
        """Store a picture of where texts lie in place of the one before it of as many dimensions.

        Args:
            task_id: the task.
            system: whose vectors they are.
            points: a column for each of the fields of ``PointColumns``.
            parameters: of the layout.
            **columns: the other columns of ``projection``, but for those that are counted here.
        """
        dimensions = columns["dimensions"]
        self._run(
            "DELETE FROM projection WHERE task_id = ? AND system = ? AND dimensions = ?", [task_id, system, dimensions]
        )
        table = pa.table({name: _column(column) for name, column in points.items()})
        file, checksum = self._write_parquet(table, self._cache.maps)
        self._add(
            "projection",
            task_id=task_id,
            system=system,
            parameters=json.dumps(dict(parameters)),
            n_points=table.num_rows,
            points_file=file,
            points_checksum=checksum,
            made_at=generations.now(),
            **columns,
        )

    def add_training(self, benchmark_id: int, *, found: pa.Table, **columns: object) -> None:
        """Store what of a benchmark occurs in a file, in place of what was found in the same file read the same way.

        Args:
            benchmark_id: the benchmark.
            found: a row for each text and concept that occurs, with the columns of ``training_match``.
            **columns: the other columns of ``training``.
        """
        same = self._run(
            "SELECT training_id FROM training WHERE benchmark_id = ? AND checksum = ? AND settings = ?",
            [benchmark_id, columns["checksum"], columns["settings"]],
        )
        for (training_id,) in same:
            self.remove_training(training_id)
        number = self._next("training", "training_id")
        self._add(
            "training",
            training_id=number,
            benchmark_id=benchmark_id,
            n_matches=found.num_rows,
            made_at=generations.now(),
            **columns,
        )
        numbers = pa.array(np.full(found.num_rows, number, np.int32))
        self._insert("training_match", found.append_column("training_id", numbers))

    def remove_training(self, training_id: int) -> None:
        """Forget what of a benchmark occurs in a file."""
        for table in ("training_match", "training"):
            self._run(f"DELETE FROM {table} WHERE training_id = ?", [training_id])  # noqa: S608 (fixed names)

    def remove_benchmark(self, benchmark_id: int) -> None:
        """Remove one version of a benchmark with its tasks and their runs; other versions stay.

        Its Parquet files go once no kept generation names them. Systems stay, so that none changes its colour.
        """
        for (task_id,) in self._run("SELECT task_id FROM task WHERE benchmark_id = ?", [benchmark_id]):
            for (system,) in self._run("SELECT system FROM run WHERE task_id = ?", [task_id]):
                self.remove_run(task_id, system)
            for table in OF_TASK:
                self._run(f"DELETE FROM {table} WHERE task_id = ?", [task_id])  # noqa: S608 (fixed names)
        for (training_id,) in self._run("SELECT training_id FROM training WHERE benchmark_id = ?", [benchmark_id]):
            self.remove_training(training_id)
        self._run("DELETE FROM benchmark WHERE benchmark_id = ?", [benchmark_id])

    def rename_benchmark(self, name: str, *, new: str) -> None:
        """Call every version of a benchmark by another name that is free; a title that was the name follows it."""
        self._run(
            "UPDATE benchmark SET name = ?, title = CASE WHEN title = name THEN ? ELSE title END WHERE name = ?",
            [new, new, name],
        )

    def rename_system(self, name: str, *, new: str, title: str, short: str) -> None:
        """Call a system by another name that is free, in its runs and in those composed of it.

        The rows of ``system`` are written anew in their order: how members of a paradigm are coloured hangs on it.
        """
        rows = self._run("SELECT name, title, short, paradigm FROM system ORDER BY rowid")
        self._run("DELETE FROM system")
        for row in rows:
            known, *labels = (new, title, short, row[3]) if row[0] == name else row
            self._add("system", name=known, **dict(zip(("title", "short", "paradigm"), labels, strict=True)))
        for table in ("run", "published", "published_source", "projection"):
            self._run(f"UPDATE {table} SET system = ? WHERE system = ?", [new, name])  # noqa: S608 (fixed names)
        for run_id, parents in self._run("SELECT run_id, parents FROM run WHERE parents <> '[]'"):
            renamed = [new if parent == name else parent for parent in json.loads(parents)]
            self._run("UPDATE run SET parents = ? WHERE run_id = ?", [json.dumps(renamed), run_id])

    def _write_parquet(self, table: pa.Table, folder: Path) -> tuple[str, str]:
        """Write rows aside, in the order in which they are read, and give the file its final name.

        Returns:
            Name and checksum.
        """
        import pyarrow.parquet as pq

        name = f"{uuid.uuid4().hex}.parquet"
        temporary = folder / f"{name}.tmp"
        encoding = {field.name: ENCODINGS[field.type] for field in table.schema if field.type in ENCODINGS}
        with generations.on_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(
                table,
                temporary,
                row_group_size=ROW_GROUP,
                compression="zstd",
                use_dictionary=False,
                column_encoding=encoding,
            )
            checksum = file_checksum(temporary)
            generations.publish(temporary, folder / name)
        return name, checksum

    def _insert(self, table: str, rows: pa.Table) -> None:
        self._connection.register("incoming", rows)
        self._run(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")  # noqa: S608 (fixed names)
        self._connection.unregister("incoming")

    def _add(self, table: str, **columns: object) -> None:
        """Insert one row by the names of its columns."""
        places = ", ".join("?" * len(columns))
        self._run(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", list(columns.values()))  # noqa: S608

    def _run(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Execute and read to the end: a half-read result would block the connection."""
        with generations.translated(self._cache.root, advice=generations.UNCHANGED):
            return self._connection.execute(sql, list(parameters)).fetchall()

    def _next_run(self) -> int:
        return self._next("run", "run_id")

    def _next(self, table: str, key: str) -> int:
        return int(self._run(f"SELECT coalesce(max({key}), 0) + 1 FROM {table}")[0][0])  # noqa: S608 (fixed names)


def _card(benchmark: Benchmark) -> dict[str, object]:
    """The columns that say what a benchmark is, not what it asks."""
    return {
        "title": benchmark.title,
        "licence": benchmark.licence,
        "source": benchmark.source,
        "notes": json.dumps(list(benchmark.notes)),
        "settings": json.dumps(dict(benchmark.settings)),
        "built_at": generations.now(),
    }


def _with_run(run_id: int, columns: Mapping[str, Any]) -> pa.Table:
    table = pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})
    return table.append_column("run_id", pa.array(np.full(table.num_rows, run_id, dtype=np.int32)))


def _column(values: NDArray[Any]) -> pa.Array:
    """An array as a column; the rows of a matrix become lists."""
    if values.ndim == 1:
        return pa.array(values, from_pandas=True)
    n, width = values.shape
    return pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32) * width, pa.array(values.ravel()))


def _document_table(task_id: int, task: Task, dangling: Sequence[str]) -> pa.Table:
    n, extra = len(task.documents), len(dangling)
    absent: list[str | None] = [None] * extra

    def column(values: list[str | None]) -> pa.Array:
        return pa.array(values + absent, pa.string())

    return pa.table({
        "task_id": np.full(n + extra, task_id, dtype=np.int32),
        "document": np.arange(n + extra, dtype=np.int32),
        "id": pa.array([*(document.id for document in task.documents), *dangling], pa.string()),
        "language": column([document.language for document in task.documents]),
        "family": column([document.family for document in task.documents]),
        "sibling_group": column([document.sibling_group for document in task.documents]),
        "related_group": column([document.related_group for document in task.documents]),
    })  # fmt: skip


def _query_table(task_id: int, task: Task) -> pa.Table:
    columns = {
        name: pa.array([getattr(query, name) for query in task.queries], pa.string())
        for name in Query._fields
        if name not in {"excluded_documents", "attributes"}
    }
    n = len(task.queries)
    return pa.table({"task_id": np.full(n, task_id, dtype=np.int32), "query": np.arange(n, dtype=np.int32), **columns})


def _attribute_table(task_id: int, task: Task) -> pa.Table:
    rows = [
        (position, name, value)
        for position, query in enumerate(task.queries)
        for name, value in query.attributes.items()
    ]
    position, name, value = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table({
        "task_id": np.full(len(rows), task_id, dtype=np.int32),
        "query": np.array(position, dtype=np.int32),
        "attribute": pa.array(name, pa.string()),
        "value": pa.array(value, pa.string()),
    })  # fmt: skip


def _score_table(run_id: int, measure: str, values: NDArray[np.float64]) -> pa.Table:
    queries = np.flatnonzero(~np.isnan(values))
    return pa.table({
        "run_id": np.full(len(queries), run_id, dtype=np.int32),
        "query": queries.astype(np.int32),
        "measure": pa.array([measure] * len(queries), pa.string()),
        "value": values[queries],
    })  # fmt: skip


def _published_table(task_id: int, result: PublishedResult) -> pa.Table:
    columns = {
        name: pa.array([getattr(figure, name) for figure in result.figures], pa.string())
        for name in Figure._fields
        if name != "value"
    }
    n = len(result.figures)
    return pa.table({
        "task_id": np.full(n, task_id, dtype=np.int32),
        "system": pa.array([result.system] * n, pa.string()),
        **columns,
        "value": np.array([figure.value for figure in result.figures], dtype=np.float64),
    })  # fmt: skip


def _excluded_table(task_id: int, task: Task, *, document_of: Mapping[str, int]) -> pa.Table:
    pairs = [
        (position, document_of[name])
        for position, query in enumerate(task.queries)
        for name in query.excluded_documents
        if name in document_of
    ]
    rows = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return pa.table(
        {"task_id": np.full(len(rows), task_id, dtype=np.int32), "query": rows[:, 0], "document": rows[:, 1]}
    )


def _places(task: Task) -> dict[str, dict[str, int]]:
    """Positions of queries and documents by id."""
    return {
        "query": {query.id: position for position, query in enumerate(task.queries)},
        "document": {document.id: position for position, document in enumerate(task.documents)},
    }


def _image_table(task_id: int, task: Task) -> pa.Table:
    places = _places(task)
    rows = sorted((image.item, places[image.item][image.id], *image[2:]) for image in task.images)
    columns = {
        name: pa.array([row[number] for row in rows], pa.string())
        for number, name in ((0, "item"), (2, "path"), (3, "folder"), (4, "place"))
    }
    positions = np.array([row[1] for row in rows], dtype=np.int32)
    return pa.table({"task_id": np.full(len(rows), task_id, dtype=np.int32), "position": positions, **columns})


def _flag_table(task_id: int, task: Task) -> pa.Table:
    places = _places(task)
    rows = sorted({(item, places[item][name], reason) for item, name, reason in task.flags})
    return pa.table({
        "task_id": np.full(len(rows), task_id, dtype=np.int32),
        "item": pa.array([row[0] for row in rows], pa.string()),
        "position": np.array([row[1] for row in rows], dtype=np.int32),
        "reason": pa.array([row[2] for row in rows], pa.string()),
    })  # fmt: skip


def _judgement_table(task_id: int, task: Task, *, document_of: Mapping[str, int]) -> pa.Table:
    query_of = {query.id: position for position, query in enumerate(task.queries)}
    rows = sorted((query_of[row.query_id], document_of[row.document_id], row.grade) for row in task.judgements)
    return pa.table({
        "task_id": np.full(len(rows), task_id, dtype=np.int32),
        "query": np.array([row[0] for row in rows], dtype=np.int32),
        "document": np.array([row[1] for row in rows], dtype=np.int32),
        "grade": np.array([row[2] for row in rows], dtype=np.float64),
    })  # fmt: skip


def task_checksum(task: Task) -> str:
    """SHA-256 of all that a run of the task depends on."""
    digest = hashlib.sha256()
    for part in (task.documents, task.queries, task.judgements):
        for row in part:
            digest.update(repr(_checked(row)).encode())
            digest.update(b"\n")
        digest.update(b"--\n")
    for image in task.images:  # the path of a query's image is an attribute of the query
        if image.item == "document":
            digest.update(repr((image.id, image.path)).encode() + b"\n")
    return digest.hexdigest()


def _checked(row: Document | Query | Judgement) -> tuple[object, ...]:
    """What a checksum sees of a row; a query without free attributes counts as before there were any."""
    if not isinstance(row, Query):
        return tuple(row)
    *fixed, attributes = row
    return (*fixed, sorted(attributes.items())) if attributes else tuple(fixed)


def content_checksum(benchmark: Benchmark) -> str:
    """SHA-256 of what a benchmark asks and judges; its card may be reworded without becoming another benchmark."""
    tasks = [(task.name, task.exclude_self, task_checksum(task)) for task in benchmark.tasks]
    return _content_checksum(benchmark.version, benchmark.parallel, tasks)


def _content_checksum(version: str, parallel: bool, tasks: list[tuple[str, bool, str]]) -> str:
    """``tasks``: name, whether a query's own text is left out, and checksum of each."""
    return hashlib.sha256(repr((version, parallel, tasks)).encode()).hexdigest()
