"""Build a benchmark of parallel documents from tables of publications, with queries from a table or from models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.benchmarks import document_queries, parallel_documents
from analysis.benchmarks.document_queries import Asked, Planned, Wanted
from analysis.benchmarks.parallel_documents import CALLED, Corpus, Options, Queries, Source
from analysis.errors import InputError
from analysis.imports import patents, query_table
from analysis.jobs import transcript as transcripts
from analysis.jobs.build import stored
from analysis.jobs.generate_queries import Generation, Writer, in_words, made_now
from analysis.jobs.transcript import Transcript
from analysis.model import Benchmark, Progress
from analysis.paths import Cache
from analysis.store import versions
from analysis.store.versions import Kept
from analysis.store.write import file_checksum
from analysis.systems.chat import Chat


@dataclass(frozen=True)
class Request:
    """What is built."""

    corpora: tuple[tuple[str, Path], ...]  # task and its table; task "": by office
    tables: tuple[tuple[str, Path], ...] = ()  # of queries; task "": for every task
    renamed: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    generation: Generation | None = None


def _unheard(words: str) -> None:
    """What callers hear that do not listen."""


def build(
    cache: Cache, request: Request, *, progress: Progress, say: Callable[[str], object] = _unheard
) -> tuple[str, Benchmark]:
    """Build the benchmark, store it, and return its address with what was built; ``say`` hears what models took.

    Raises:
        InputError: a file is missing or faulty, nothing is kept of it, or a transcript lacks an answer.
        SystemLoadError: the endpoint cannot be reached, refuses, or answers something else.
        JobCancelledError: the user cancelled; what models answered is kept.
    """
    corpus = read(cache, request, progress=progress)
    if request.generation is None:
        queries = _tabled(request, corpus)
    else:
        with _transcript(request.generation, _file(cache, request)) as transcript:
            plans = _plans(request, corpus)
            queries = _generated(request.generation, corpus, plans, transcript, progress=progress, say=say)
    benchmark = parallel_documents.benchmark(request.options, corpus, queries)
    return stored(cache, benchmark, progress), benchmark


def planned(cache: Cache, request: Request, *, progress: Progress) -> dict[str, Any]:
    """What a build would ask of models, and with which prompts; nothing is asked and nothing stored.

    Raises:
        InputError: a file is missing or faulty, or nothing is kept of it.
    """
    generation = request.generation
    if generation is None:
        raise InputError("a plan is of queries that models write: expected --model and --endpoint, or --transcript")
    corpus = read(cache, request, progress=progress)
    file = generation.transcript or _file(cache, request)
    known = transcripts.read(file) if file.is_file() else {}
    return Writer(generation, corpus).told(_plans(request, corpus), Transcript(file, known))


def read(cache: Cache, request: Request, *, progress: Progress) -> Corpus:
    """What is kept of the tables.

    Raises:
        InputError: a file is missing or faulty, or nothing is kept of a task.
        JobCancelledError: raised by progress.
    """
    rules = request.options.rules
    sources = tuple(Source(task, path.name, _checksum(path, "a table of patents")) for task, path in request.corpora)
    rows = {task: patents.versions(path, request.renamed) for task, path in request.corpora}
    with versions.staged(cache.sources, rows, by_office=CALLED, progress=progress) as found:
        found.decide(rules, progress=progress)
        kept: dict[str, list[Kept]] = defaultdict(list)
        for version in found.kept(rules):
            kept[version.task].append(version)
        corpus = Corpus(
            sources,
            rules,
            found.read(),
            tuple(found.dropped()),
            found.without(),
            {task: tuple(some) for task, some in kept.items()},
        )
    for task, path in request.corpora:
        if not corpus.rows or (task and task not in corpus.rows):
            raise InputError(f"{path}: a table without a row, expected publications")
    parallel_documents.check(corpus)
    return corpus


def _checksum(path: Path, expected: str) -> str:
    try:
        return file_checksum(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; expected {expected}") from error


def _tabled(request: Request, corpus: Corpus) -> dict[str, Queries]:
    """The queries of each task, from tables."""
    tables = [
        (task, path.name, _checksum(path, "a table of queries"), query_table.queries(path, request.renamed))
        for task, path in request.tables
    ]
    for task, name, *_ in tables:
        if task and task not in corpus.rows:
            raise InputError(f"--query-table {task}={name}: no such task, expected one of {', '.join(corpus.rows)}")
    found: dict[str, Queries] = {}
    wanted, written = _wanted(request, corpus), corpus.written
    for task in corpus.rows:
        rows = (row for of, *_, some in tables if of in ("", task) for row in some)
        given: list[Asked] = [row._replace(language=written.get(row.language, row.language)) for row in rows]
        asked, left = document_queries.chosen(given, corpus.homes(task), wanted)
        files = [{"file": name, "checksum": checksum} for of, name, checksum, _ in tables if of in ("", task)]
        found[task] = Queries(tuple(asked), dict(left), {"from": "table", "sources": files, "rows": len(given)})
    return found


def _wanted(request: Request, corpus: Corpus) -> Wanted:
    """Which queries are asked, in languages as the corpus writes them."""
    wanted, written = request.options.wanted, corpus.written
    return replace(wanted, languages=tuple(written.get(tag, tag) for tag in wanted.languages))


def _plans(request: Request, corpus: Corpus) -> Sequence[Planned]:
    wanted = _wanted(request, corpus)
    plans = [planned for task in corpus.rows for planned in document_queries.plan(task, corpus.homes(task), wanted)]
    if not plans:
        raise InputError("no query can be planned: no publication fits the strategies asked for")
    return plans


def _generated(
    generation: Generation,
    corpus: Corpus,
    plans: Sequence[Planned],
    transcript: Transcript,
    *,
    progress: Progress,
    say: Callable[[str], object],
) -> dict[str, Queries]:
    try:
        found = Writer(generation, corpus).write(plans, transcript, progress=progress)
        say(in_words(generation, found))
    finally:
        say(made_now(generation, transcript))
    return found


def _transcript(generation: Generation, file: Path) -> AbstractContextManager[Transcript]:
    """What models answered before, and whom to ask for the rest: nobody where it is recorded."""
    if generation.transcript:
        return transcripts.replayed(generation.transcript)
    chat = Chat(generation.url or "", key_variable=generation.key_variable)
    return transcripts.kept(file, chat, most=generation.most_calls)


def _file(cache: Cache, request: Request) -> Path:
    return cache.transcripts / f"{request.options.name or parallel_documents.NAME}.jsonl"
