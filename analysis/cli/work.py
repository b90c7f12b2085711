"""Commands that change something: build, run, the imports, export."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

from analysis import paths
from analysis.benchmarks import icd10
from analysis.cli import exports, licensed, output
from analysis.cli.building import typed
from analysis.cli.read import opened, selection
from analysis.errors import InputError
from analysis.imports.parts import Options
from analysis.imports.report import BenchmarkReport, table
from analysis.jobs.build import build_bedside, build_icd10
from analysis.jobs.diagnose import DiagnoseRequest
from analysis.jobs.diagnose import diagnose as diagnose_runs
from analysis.jobs.draw_map import MapRequest
from analysis.jobs.draw_map import draw_map as draw_maps
from analysis.jobs.give_map import Given, give_map
from analysis.jobs.import_benchmark import BenchmarkRequest, FoundBenchmark, read_benchmark, store_benchmark
from analysis.jobs.imports import ScoresReport, ScoresRequest
from analysis.jobs.imports import import_scores as store_scores
from analysis.jobs.progress import JOB_VARIABLE, JobProgress, JobResult, heard
from analysis.jobs.run import RunReport, RunRequest
from analysis.jobs.run import run as run_systems
from analysis.languages import canonical
from analysis.model import Progress, silent
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions

EXPORTS = exports.FORMATS
TABLES = exports.TABLES
USAGE = 2  # the exit code of wrong usage, as argparse has it
ICD10_FLAGS = ("concepts", "queries", "all", "languages", "add_language")
CHECKED = "checked, nothing stored"


def job_name(command: str) -> str:
    """What the job of a command is called: as the page that started it says, else after the command and the time."""
    return os.environ.get(JOB_VARIABLE) or f"{command}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"


def loading(options: argparse.Namespace) -> LoadOptions:
    """How encoders are loaded, as far as the command may be told.

    Raises:
        InputError: a device that is not here, or a number below 1.
    """
    given = vars(options)
    return LoadOptions(**{field.name: given[field.name] for field in fields(LoadOptions) if field.name in given})


def build(options: argparse.Namespace) -> None:
    """Build a benchmark, then run systems on it if asked."""
    cache = paths.cache(options.cache)
    rounds = [_names(text) for text in options.run]
    load = loading(options)
    make = _builder(options, cache, load)
    with JobProgress(cache, job_name("build")) as progress:
        address = make(progress)
        if address is None:
            return
        print(f"stored {address}", file=sys.stderr)
        for systems in rounds:
            _run(cache, RunRequest(benchmark=address, systems=systems, load=load), progress)


def _builder(options: argparse.Namespace, cache: Cache, load: LoadOptions) -> Callable[[Progress], str | None]:
    """What builds the benchmark of a name, its flags checked, and says where it is.

    Raises:
        InputError: a flag that it does not take, or a wrong value.
    """
    if options.name in licensed.BUILDS:
        licensed.refuse(options, ICD10_FLAGS)
        make = licensed.ready(options)
        return lambda progress: make(cache, load, progress)
    licensed.refuse(options, licensed.FLAGS)
    if options.name == "bedside":
        _refuse_options(options)
        return lambda progress: build_bedside(cache, progress=progress)
    settings = _icd10_options(options)
    return lambda progress: build_icd10(cache, options=settings, progress=progress)


def _icd10_options(options: argparse.Namespace) -> icd10.Options:
    languages = (
        icd10.LANGUAGES if options.languages is None else tuple(tag for tag in options.languages.split(",") if tag)
    )
    return icd10.Options(
        concepts=options.concepts,
        queries=icd10.DEFAULT_QUERIES if options.queries is None else options.queries,
        all_queries=options.all,
        languages=languages,
        added=_added_languages(options.add_language),
    )


def _refuse_options(options: argparse.Namespace) -> None:
    """Bedside is always built whole.

    Raises:
        InputError: a flag that only ICD-10 has.
    """
    wrong = typed(options, ICD10_FLAGS)
    if wrong:
        raise InputError(f"build bedside takes no {wrong[0]}: it is small and always built whole")


def _added_languages(texts: Sequence[str]) -> dict[str, Path]:
    added = [_added(text) for text in texts]
    for tag, n in Counter(tag for tag, _ in added).items():
        if n > 1:
            raise InputError(f"--add-language {tag}: given {n} times, expected once a language")
    return dict(added)


def _added(text: str) -> tuple[str, Path]:
    tag, separator, file = text.partition("=")
    if not separator or not file:
        raise InputError(f"--add-language {text!r}: expected TAG=FILE.csv, such as ru=titles_ru.csv")
    language = canonical(tag)
    if language.notice:
        print(language.notice, file=sys.stderr)
    return language.tag, Path(file)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError(f"systems {text!r}: expected names separated by commas, or all")
    return names


def run(options: argparse.Namespace) -> None:
    """Run systems on a stored benchmark."""
    cache = paths.cache(options.cache)
    request = RunRequest(
        benchmark=options.benchmark,
        tasks=tuple(options.task),
        systems=_names(options.systems),
        depth=options.depth,
        keep_hits=options.keep_hits,
        force=options.force,
        load=loading(options),
    )
    with JobProgress(cache, job_name("run")) as progress:
        _run(cache, request, progress)


def _run(cache: Cache, request: RunRequest, progress: Progress) -> None:
    report: RunReport = run_systems(cache, request=request, progress=progress)
    for item in report.kept:
        print(f"kept {item} (stored before with the same settings)", file=sys.stderr)
    for item, reason in report.refused:
        print(f"refused {item}: {reason}", file=sys.stderr)
    for words in report.approximate:
        print(f"searched approximately {words}", file=sys.stderr)
    for words in report.truncated:
        print(f"cut {words}", file=sys.stderr)
    print(f"stored {len(report.stored)} runs, kept {len(report.kept)}, refused {len(report.refused)}", file=sys.stderr)


def diagnose(options: argparse.Namespace) -> None:
    """Look at the tokens, vectors and words behind stored runs."""
    cache = paths.cache(options.cache)
    request = DiagnoseRequest(
        options.benchmark, tuple(options.task), tuple(options.system), force=options.force, load=loading(options)
    )
    with JobProgress(cache, job_name("diagnose")) as progress:
        report = diagnose_runs(cache, request=request, progress=progress)
        found = len(report.stored) - len(report.untold)
        outcome = f"looked at {found} runs, kept {len(report.kept)}, nothing to tell of {len(report.untold)}"
        rows = tuple((item, "", reason) for item, reason in report.untold)
        task = options.task[0] if len(options.task) == 1 else None
        progress.result(JobResult(outcome, options.benchmark, task, rows, output.plain(report)))
    for item, reason in report.untold:
        print(f"{item}: {reason}", file=sys.stderr)
    print(outcome, file=sys.stderr)


def draw_map(options: argparse.Namespace) -> None:
    """Draw where texts lie in the space of each encoder."""
    cache = paths.cache(options.cache)
    request = MapRequest(
        options.benchmark,
        options.task,
        tuple(options.system),
        dimensions=options.dimensions,
        neighbours=options.neighbours,
        min_distance=options.min_distance,
        seed=options.seed,
        most=options.most,
        force=options.force,
        load=loading(options),
    )
    given = Given(options.vectors, options.ids, options.query_vectors, options.query_ids, options.coordinates)
    with JobProgress(cache, job_name("map")) as progress:
        if given == Given():
            report = draw_maps(cache, request=request, progress=progress)
        else:
            report = give_map(cache, given=given, request=request, progress=progress)
        outcome = f"drew {len(report.stored)} maps, kept {len(report.kept)}"
        progress.result(JobResult(outcome, options.benchmark, report.task, (), output.plain(report)))
    print(outcome, file=sys.stderr)


def import_scores(options: argparse.Namespace) -> None:
    """Store a file of per-query scores."""
    cache = paths.cache(options.cache)
    request = ScoresRequest(
        options.file,
        options.benchmark,
        options.task,
        options.family_from_id,
        options.dry_run,
        options.query_language,
        options.language_pattern,
    )
    with JobProgress(cache, job_name("import-scores")) as progress:
        report = store_scores(cache, request=request, progress=progress)
        progress.result(_scores_result(report, request))
    for notice in report.notices:
        print(notice, file=sys.stderr)
    for system, n in report.missing:
        print(f"{system} lacks {n:,} of {report.n_queries:,} queries: they count 0", file=sys.stderr)
    verb = _scores_outcome(report, request)
    described = f"; attributes {', '.join(report.attributes)}" if report.attributes else ""
    print(
        f"{verb} {report.address}: {report.n_queries:,} queries; measures {', '.join(report.measures)}{described}",
        file=sys.stderr,
    )


def _scores_outcome(report: ScoresReport, request: ScoresRequest) -> str:
    if request.dry_run:
        return f"{CHECKED}:"
    return "stored" if report.stored else "kept (the same file was stored before)"


def _scores_result(report: ScoresReport, request: ScoresRequest) -> JobResult:
    """What a page shows of a file of scores."""
    rows = [
        ("queries", f"{report.n_queries:,}", ""),
        ("measures", f"{len(report.measures):,}", ", ".join(report.measures)),
        ("query attributes", f"{len(report.attributes):,}", ", ".join(report.attributes)),
        *((f"queries that {system} lacks: they count 0", f"{n:,}", "") for system, n in report.missing),
        *((notice, "", "") for notice in report.notices),
    ]
    outcome = _scores_outcome(report, request).removesuffix(":")
    return JobResult(outcome, report.address, request.task, tuple(rows), output.plain(report))


def import_benchmark(options: argparse.Namespace) -> None:
    """Report on a folder of documents, queries and judgements, and store it unless told not to."""
    request = BenchmarkRequest(options.path, options.benchmark, options.task, _benchmark_options(options))
    cache = paths.cache(options.cache)
    if options.dry_run:
        with heard(cache) as job:
            found = read_benchmark(request, progress=job or silent)
            if job:
                job.result(_benchmark_result(found, CHECKED, None))
        _print_report(found.report)
        output.write_json(found.report)
        return
    with JobProgress(cache, job_name("import-benchmark")) as progress:
        found = read_benchmark(request, progress=progress)
        _print_report(found.report)
        address, stored = store_benchmark(cache, benchmark=found.benchmark, progress=progress)
        verb = "stored" if stored else "kept (the same content was stored before)"
        progress.result(_benchmark_result(found, verb, address))
    task = found.benchmark.tasks[0]
    print(f"{verb} {address}: {len(task.documents):,} documents, {len(task.queries):,} queries", file=sys.stderr)


def _benchmark_result(found: FoundBenchmark, outcome: str, address: str | None) -> JobResult:
    """What a page shows of a benchmark that was read."""
    task = found.benchmark.tasks[0].name
    return JobResult(outcome, address, task, tuple(table(found.report)), output.plain(found.report))


def _benchmark_options(options: argparse.Namespace) -> Options:
    return Options(
        format=options.format,
        split=options.split,
        renamed=dict(mapped(text) for text in options.map),
        lenient=options.lenient,
        exclude_self=options.exclude_self,
        document_language=options.document_language,
        query_language=options.query_language,
        language_key=options.language_key,
        language_pattern=options.language_pattern,
        topic_field=options.topic_field,
        parallel_ids=options.parallel_ids,
        family_by_judgements=options.family_by_judgements,
        subset=options.subset,
        subset_languages=tuple(options.subset_languages),
        relevant_by=options.relevant_by,
        languages=tuple(tag.strip() for tag in (options.languages or "").split(",") if tag.strip()),
        family_column=options.family,
        queries=options.queries,
    )


def mapped(text: str) -> tuple[str, str]:
    """Column and field of one ``--map``.

    Raises:
        InputError: it is not of the form COLUMN=FIELD.
    """
    column, separator, name = text.partition("=")
    if not separator or not column or not name:
        raise InputError(f"--map {text!r}: expected COLUMN=FIELD, such as lang=language")
    return column, name


def _print_report(report: BenchmarkReport) -> None:
    for what, n, shown in table(report):
        print(f"{what}: {n}" + (f" ({shown})" if shown else ""), file=sys.stderr)


def export(options: argparse.Namespace) -> None:
    """Write a run, judgements, texts, per-query values or tables."""
    cache = paths.cache(options.cache)
    with heard(cache):
        exports.export(cache, options)


def report(options: argparse.Namespace) -> None:
    """Write every page into one HTML file."""
    from analysis.report import document  # loads Plotly

    store, asked = opened(options), selection(options)
    with heard(paths.cache(options.cache)) as job:
        progress = job or _say
        if options.output is None:
            sys.stdout.write(document.report(store, asked, progress))
        else:
            document.write(store, asked, options.output, progress)


def _say(step: str, done: int, total: int) -> None:
    """Progress for those who wait at a terminal."""
    print(f"{step} ({done} of {total})", file=sys.stderr, flush=True)
