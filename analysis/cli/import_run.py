"""The command `import-run`: a run file of another tool, and the table of what was found in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from analysis import paths
from analysis.cli import output
from analysis.cli.work import CHECKED, USAGE, job_name, mapped
from analysis.jobs.import_run import ImportReport, ImportRequest, tasks
from analysis.jobs.import_run import import_run as store_run
from analysis.jobs.progress import JobProgress, JobResult

SHOWN = 20  # faulty rows that are printed; the run keeps more


def import_run(options: argparse.Namespace) -> int:
    """Check a run file, store it unless told not to, and say what was found in it."""
    cache = paths.cache(options.cache)
    if options.task is None and len(found := tasks(cache, options.benchmark)) > 1:
        print(f"babelscope: --task is needed: {options.benchmark} has {', '.join(found)}", file=sys.stderr)
        return USAGE
    request = ImportRequest(
        path=options.file,
        benchmark=options.benchmark,
        system=options.system,
        task=options.task,
        format=options.format,
        subset=options.subset,
        split=options.split,
        columns=dict(mapped(text) for text in options.map),
        lenient=options.lenient,
        allow_unknown_documents=options.allow_unknown_documents,
        dry_run=options.dry_run,
    )
    with JobProgress(cache, job_name("import-run")) as progress:
        report = store_run(cache, request=request, progress=progress)
        progress.result(_result(report, request))
    _print(report)
    return 0


def _result(report: ImportReport, request: ImportRequest) -> JobResult:
    """What a page shows of a run."""
    rows = [(name, value, "") for name, value in _rows(report)]
    rows += [(f"row {fault.number}", "", fault.text) for fault in report.file.faults[:SHOWN]]
    outcome, task = _outcome(report).removesuffix(":"), report.item.partition(": ")[0]
    return JobResult(outcome, request.benchmark, task, tuple(rows), output.plain(report))


def _print(report: ImportReport) -> None:
    rows = list(_rows(report))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name.ljust(width)}  {value}", file=sys.stderr)
    for fault in report.file.faults[:SHOWN]:
        print(f"{fault.number}: {fault.text}", file=sys.stderr)
    n_faults = sum(report.file.dropped.values()) + sum(report.file.mended.values())
    if n_faults > SHOWN:
        print(f"… {n_faults - SHOWN:,} more", file=sys.stderr)
    print(f"{_outcome(report)} {report.item}: {report.file.n_ranked:,} rows", file=sys.stderr)


def _outcome(report: ImportReport) -> str:
    return {
        "stored": "stored",
        "replaced": "stored in place of the run before",
        "kept": "kept (the same file was stored before)",
        "checked": f"{CHECKED}:",
    }[report.outcome]


def _rows(report: ImportReport) -> Iterator[tuple[str, str]]:
    """What a person wants to know of a file, and what is out of the ordinary only where there is some."""
    file = report.file
    yield "file", " in ".join([f"{file.file} ({file.format}", *reversed(file.packed)]) + ")"
    yield "rows", f"{file.n_rows:,} read, {file.n_ranked:,} ranked"
    yield "queries", f"{file.n_queries_found:,} of the task's {file.n_queries:,}"
    yield "judged queries missing", _some(file.n_missing, file.missing)
    yield "unknown queries", _some(file.n_unknown_queries, file.unknown_queries)
    yield "unjudged queries", f"{file.n_unjudged:,}"
    if file.depth:
        least, median, most = file.depth
        yield "documents a query", f"{least:,} to {most:,}, median {median:,.10g}"
    yield "tied across rank 10", f"{report.n_tied_at_10:,} queries" + _range(report.tie_range_ndcg_at_10)
    ties = f", {file.n_ties_against_rank:,} more among equal scores" if file.n_ties_against_rank else ""
    yield "rank against score", f"{file.n_rank_disagrees:,} queries{ties} (the rank column is ignored)"
    if file.n_unknown_documents:
        yield "unknown documents", f"{file.n_unknown_documents:,}, kept as non-relevant"
    if file.n_near:
        pairs = ", ".join(f"{name!r} ~ {known!r}" for name, known in file.near)
        yield "unknown but near", f"{file.n_near:,} ids differ little from one of the task: {pairs}"
    if file.n_excluded:
        yield "excluded documents", f"{file.n_excluded:,} rows left out"
    if file.n_too_deep:
        yield "beyond rank 1,000", f"{file.n_too_deep:,} rows left out"
    if len(file.tags) > 1:
        yield "run tags", f"{', '.join(file.tags[:3])}: {len(file.tags):,}, expected one in a run"
    for verb, kinds in (("dropped", file.dropped), ("mended", file.mended)):
        for kind, n in kinds.items():
            yield f"{verb}: {kind}", f"{n:,} rows"


def _some(n: int, ids: tuple[str, ...]) -> str:
    return f"{n:,}" + (f" ({', '.join(ids)}{' …' if n > len(ids) else ''})" if ids else "")


def _range(ends: tuple[float, float] | None) -> str:
    return f"; nDCG@10 from {ends[0]:.4f} to {ends[1]:.4f}" if ends and ends[0] != ends[1] else ""
