"""The command `import-vectors`: vectors of a task's texts, and the table of what was found in the files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from analysis import paths
from analysis.cli import output
from analysis.cli.work import CHECKED, USAGE, job_name
from analysis.jobs.import_run import tasks
from analysis.jobs.import_vectors import DENSE, FILES, VectorsReport, VectorsRequest
from analysis.jobs.import_vectors import import_vectors as store_vectors
from analysis.jobs.progress import JobProgress, JobResult
from analysis.model import PARADIGMS

OUTCOMES = {
    "stored": "stored",
    "replaced": "stored in place of the run before",
    "kept": "kept (the same files were stored before)",
    "checked": CHECKED,
}


def arguments(command: argparse.ArgumentParser) -> None:
    """What `import-vectors` may be told."""
    command.add_argument("folder", type=Path, metavar="DIR", help=f"with {', '.join(FILES)}; see docs/formats.md")
    command.add_argument("--benchmark", required=True, metavar="B", help="name, or name@version")
    command.add_argument("--task", metavar="T", help="may be left out where there is one")
    command.add_argument("--system", required=True, metavar="S", help="what the run is called")
    command.add_argument("--paradigm", choices=PARADIGMS, help=f"the group and colour it has on pages ({DENSE})")
    command.add_argument("--inner-product", action="store_true", help="the vectors' lengths count (default: cosine)")
    command.add_argument("--dry-run", action="store_true", help="say what is in the files and store nothing")


def import_vectors(options: argparse.Namespace) -> int:
    """Check the files, rank and store unless told not to, and say what was found."""
    cache = paths.cache(options.cache)
    if options.task is None and len(found := tasks(cache, options.benchmark)) > 1:
        print(f"babelscope: --task is needed: {options.benchmark} has {', '.join(found)}", file=sys.stderr)
        return USAGE
    request = VectorsRequest(
        folder=options.folder,
        benchmark=options.benchmark,
        system=options.system,
        task=options.task,
        paradigm=options.paradigm,
        inner_product=options.inner_product,
        dry_run=options.dry_run,
    )
    with JobProgress(cache, job_name("import-vectors")) as progress:
        report = store_vectors(cache, request=request, progress=progress)
        rows = tuple((name, value, "") for name, value in _rows(report))
        task = report.item.partition(": ")[0]
        progress.result(JobResult(OUTCOMES[report.outcome], options.benchmark, task, rows, output.plain(report)))
    width = max(len(name) for name, _, _ in rows)
    for name, value, _ in rows:
        print(f"{name.ljust(width)}  {value}", file=sys.stderr)
    print(f"{OUTCOMES[report.outcome]}: {report.item}", file=sys.stderr)
    return 0


def _rows(report: VectorsReport) -> Iterator[tuple[str, str]]:
    """What a person wants to know of the files."""
    yield "documents", f"{report.n_documents:,}, one vector each"
    yield "queries", f"{report.n_queries:,}, one vector each"
    yield "dimension", f"{report.dimension:,}"
    yield "similarity", report.similarity
    for kind, (low, high) in (("documents", report.document_lengths), ("queries", report.query_lengths)):
        yield f"length of {kind}' vectors", f"{low:.4g} to {high:.4g}"
