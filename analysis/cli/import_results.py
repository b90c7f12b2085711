"""The command `import-results`: figures that others published, and the table of what was found."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from analysis import paths
from analysis.cli import output
from analysis.cli.work import CHECKED, job_name
from analysis.jobs.import_results import (
    ResultsReport,
    ResultsRequest,
    StoredResults,
    read_results,
    report,
    store_results,
)
from analysis.jobs.progress import JobProgress, JobResult, heard
from analysis.model import silent
from analysis.text import counted

SHOWN = 5  # systems or languages that a line names


def import_results(options: argparse.Namespace) -> None:
    """Read a folder of results, say what is in it, and store it unless told not to."""
    cache = paths.cache(options.cache)
    request = ResultsRequest(options.path, options.benchmark, options.system, tuple(options.task))
    if options.dry_run:
        with heard(cache) as job:
            found = report(read_results(request, progress=job or silent))
            if job:
                job.result(JobResult(CHECKED, None, None, tuple(_rows(found)), output.plain(found)))
        _print(found)
        output.write_json(found)
        return
    with JobProgress(cache, job_name("import-results")) as progress:
        results = read_results(request, progress=progress)
        found = report(results)
        _print(found)
        stored = store_results(cache, benchmark=request.benchmark, results=results, progress=progress)
        rows, task = tuple(_rows(found)), found.tasks[0].task
        progress.result(JobResult(_outcome(stored), stored.address, task, rows, output.plain(found)))
    print(f"{_outcome(stored)}: {stored.address}", file=sys.stderr)


def _print(found: ResultsReport) -> None:
    for what, n, shown in _rows(found):
        print(": ".join(part for part in (what, n) if part) + (f" ({shown})" if shown else ""), file=sys.stderr)


def _outcome(stored: StoredResults) -> str:
    if not stored.n_stored:
        return "kept (the same files were stored before)"
    replaced = f", {stored.n_replaced:,} in place of other figures" if stored.n_replaced else ""
    kept = f", kept {stored.n_kept:,} that were stored before" if stored.n_kept else ""
    return f"stored the figures of {counted(stored.n_stored, 'file')}{replaced}{kept}"


def _rows(found: ResultsReport) -> Iterator[tuple[str, str, str]]:
    """What, how many, and the first few."""
    for task in found.tasks:
        yield f"{task.task}, systems", f"{len(task.systems):,}", _some(task.systems)
        yield f"{task.task}, splits", f"{len(task.splits):,}", _some(task.splits)
        yield f"{task.task}, languages", f"{len(task.languages):,}", _some(task.languages)
        yield f"{task.task}, figures", f"{task.n_figures:,}", f"{task.n_subsets:,} subsets"
    for notice in found.notices:
        yield notice, "", ""


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "")
