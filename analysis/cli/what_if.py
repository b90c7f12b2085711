"""The command `what-if`: a ranking with one thing changed, beside the run it was made of."""

from __future__ import annotations

import argparse
import sys

from analysis import paths
from analysis.cli.output import write_json
from analysis.cli.read import opened
from analysis.cli.work import job_name, loading
from analysis.jobs import what_if as job
from analysis.jobs.progress import JobProgress, JobResult
from analysis.jobs.what_if import WhatIf
from analysis.views import what_if as view
from analysis.views.selection import Selection


def what_if(options: argparse.Namespace) -> None:
    """Make the ranking, show what changes, and keep it as a run where a name is given."""
    asked = WhatIf(options.benchmark, options.task, options.kind, tuple(options.system), options.k, options.pool)
    cache, load = paths.cache(options.cache), loading(options)
    with JobProgress(cache, job_name("what-if")) as progress:
        made = job.answer(asked, cache.root, load=load, progress=progress)
        if options.keep:
            job.keep(asked, options.keep, cache.root, progress=progress)
        outcome = f"stored as {options.keep}" if options.keep else "made, and not stored as a run"
        progress.result(JobResult(f"{made.words}: {outcome}", options.benchmark, options.task, (), {}))
    tasks = (options.task,) if options.task else ()
    base = options.system[0]
    selection = Selection(options.benchmark, tasks)
    write_json(view.what_if(opened(options), selection, base=base, ranking=made.ranking, words=made.words))
    print(f"{made.words}: {outcome}", file=sys.stderr)
