"""What a report was made from, so that another one can be told from it."""

from __future__ import annotations

import datetime
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

import analysis
from analysis.report.blocks import Block, Grey, Hash, Heading, Number, Row, Section, Table
from analysis.stats import bca, bootstrap, permutation
from analysis.store.read import Store
from analysis.views.evidence import LEVEL, SEED, benchmark_label, chosen_runs, chosen_tasks
from analysis.views.selection import Selection

LIBRARIES = ("duckdb", "numpy", "plotly", "pyarrow", "scipy", "statsmodels")


@dataclass(frozen=True)
class TaskContent:
    """The documents, queries and judgements of one task."""

    task: str
    documents: int
    queries: int
    sha256: str


@dataclass(frozen=True)
class RunContent:
    """One run."""

    task: str
    system: str
    depth: int
    fingerprint: str  # of the system's settings and the task's content
    hits_sha256: str | None  # None: imported scores have no hits
    stored_at: str  # UTC, ISO 8601


@dataclass(frozen=True)
class PublishedContent:
    """The file behind what others published of one system."""

    task: str
    system: str
    file: str  # below the folder that was imported
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """Everything that the numbers hang on."""

    made_at: str  # UTC, ISO 8601
    command: str
    benchmark: str
    benchmark_version: str
    tasks: tuple[TaskContent, ...]
    runs: tuple[RunContent, ...]
    published: tuple[PublishedContent, ...]
    level: float  # of the intervals
    seed: int
    resamples: Mapping[str, int]  # B, by what is drawn
    versions: Mapping[str, str]  # of this program, Python and the libraries


def manifest(store: Store, selection: Selection, *, made_at: datetime.datetime) -> Manifest:
    """Hashes of tasks and runs, seeds, draws, versions, the time and the command.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    benchmark, tasks, labels = (
        store.benchmark(selection.benchmark),
        chosen_tasks(store, selection),
        store.system_labels(),
    )
    hashes = store.hits_checksums([task.task_id for task in tasks])
    return Manifest(
        made_at=made_at.astimezone(datetime.UTC).isoformat(timespec="seconds"),
        command=command(selection),
        benchmark=benchmark_label(benchmark).address,
        benchmark_version=benchmark.version,
        tasks=tuple(TaskContent(task.name, task.n_documents, task.n_queries, task.checksum) for task in tasks),
        runs=tuple(
            RunContent(
                task.name, run.system, run.depth, run.fingerprint, hashes.get(run.run_id), run.created_at.isoformat()
            )
            for task in tasks
            for run in chosen_runs(store, task, selection, labels)
        ),
        published=tuple(
            PublishedContent(task.name, row.system, row.file, row.checksum)
            for task in tasks
            for row in store.published_sources([task.task_id])
            if not selection.systems or row.system in selection.systems
        ),
        level=LEVEL,
        seed=SEED,
        resamples={
            "percentile bootstrap": bootstrap.RESAMPLES,
            "BCa bootstrap": bca.RESAMPLES,
            f"sign flips of more than {permutation.EXACT} families": permutation.RESAMPLES,
        },
        versions={
            "Babelscope": analysis.__version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
    )


def command(selection: Selection) -> str:
    """The command line that asks for the same."""
    words = ["python", "-m", "analysis", "report", "--benchmark", selection.benchmark]
    words += [word for task in selection.tasks for word in ("--task", task)]
    words += [word for system in selection.systems for word in ("--system", system)]
    words += [word for name, value in selection.where for word in ("--where", f"{name}={value}")]
    words += ["--without-flagged"] if selection.without_flagged else []
    return shlex.join([*words, "-o", "report.html"])


def section(found: Manifest) -> Section:
    """The same for people."""
    blocks: list[Block] = [
        Grey(f"Made at {found.made_at} with: {found.command}"),
        Heading("Tasks", 3),
        _tasks(found.tasks),
        Heading("Runs and figures", 3),
        *([_runs(found.runs)] if found.runs else []),
        *([_published(found.published)] if found.published else []),
        Heading("Draws and versions", 3),
        _facts(found),
    ]
    return Section("manifest", "Manifest", "What was this made from?", tuple(blocks))


def _tasks(tasks: tuple[TaskContent, ...]) -> Table:
    columns = {"Task": "text", "Documents": "number", "Queries": "number", "SHA-256 of its content": "text"}
    rows: tuple[Row, ...] = tuple(
        [row.task, Number(row.documents, 0), Number(row.queries, 0), Hash(row.sha256)] for row in tasks
    )
    return Table("Tasks", columns, rows)


def _runs(runs: tuple[RunContent, ...]) -> Table:
    columns = {"Task": "text", "System": "text", "Depth": "number", "Fingerprint": "text"}
    columns |= {"SHA-256 of its hits": "text", "Stored (UTC)": "number"}
    rows: tuple[Row, ...] = tuple(
        [
            row.task,
            row.system,
            Number(row.depth or None, 0),
            Hash(row.fingerprint),
            Hash(row.hits_sha256 or ""),
            row.stored_at.replace("T", " ")[:16],
        ]
        for row in runs
    )
    return Table("Runs", columns, rows)


def _published(rows: tuple[PublishedContent, ...]) -> Table:
    columns = {"Task": "text", "System": "text", "File": "text", "SHA-256 of the file": "text"}
    return Table(
        "Published figures", columns, tuple([row.task, row.system, row.file, Hash(row.sha256)] for row in rows)
    )


def _facts(found: Manifest) -> Table:
    facts = {"Level of intervals": f"{found.level:.0%}", "Seed": str(found.seed)}
    facts |= {f"B, {what}": f"{n:,}" for what, n in found.resamples.items()}
    return Table("Draws and versions", {"What": "text", "Value": "text"}, tuple((facts | dict(found.versions)).items()))
