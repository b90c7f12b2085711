"""The commands `rename` and `delete`."""

from __future__ import annotations

import argparse
import sys

from analysis import paths
from analysis.cli.read import opened
from analysis.cli.work import USAGE, job_name
from analysis.jobs import manage
from analysis.jobs.manage import Doomed
from analysis.jobs.progress import JobProgress, JobResult


def rename(options: argparse.Namespace) -> None:
    """Call a benchmark, or the system of imported runs and published results, by another name."""
    cache = paths.cache(options.cache)
    act, name = (
        (manage.rename_benchmark, options.benchmark)
        if options.what == "benchmark"
        else (manage.rename_system, options.system)
    )
    with JobProgress(cache, job_name("rename")) as progress:
        act(cache, name, options.to, progress=progress)
        progress.result(JobResult(f"renamed to {options.to}", None, None, (), {}))
    print(f"{name} is called {options.to} now", file=sys.stderr)


def delete(options: argparse.Namespace) -> int:
    """Delete a benchmark, a run or published results; without ``--yes`` only say what would go."""
    if not options.yes:
        print(f"this would delete {_words(_doomed(options))}", file=sys.stderr)
        print("babelscope: nothing was deleted; --yes does it", file=sys.stderr)
        return USAGE
    cache = paths.cache(options.cache)
    with JobProgress(cache, job_name("delete")) as progress:
        if options.what == "benchmark":
            doomed = manage.delete_benchmark(cache, options.benchmark, progress=progress)
        else:
            act = manage.delete_run if options.what == "run" else manage.delete_results
            doomed = act(cache, options.benchmark, options.task, options.system, progress=progress)
        progress.result(JobResult("deleted", None, None, (), {}))
    print(f"deleted {_words(doomed)}", file=sys.stderr)
    return 0


def _doomed(options: argparse.Namespace) -> Doomed:
    store = opened(options)
    if options.what == "benchmark":
        return manage.doomed_benchmark(store, options.benchmark)
    look = manage.doomed_run if options.what == "run" else manage.doomed_results
    return look(store, options.benchmark, options.task, options.system)


def _words(doomed: Doomed) -> str:
    warning = f"; composed of it and kept: {', '.join(doomed.children)}" if doomed.children else ""
    return f"{doomed.words} ({doomed.n_bytes:,} bytes of files){warning}. {manage.LATER}"
