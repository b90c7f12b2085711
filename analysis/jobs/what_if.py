"""What if: a ranking made anew with one thing changed, kept aside until somebody wants it as a run."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import analysis
from analysis import paths
from analysis.errors import InputError
from analysis.geometry.alignment import language_means, without_means
from analysis.jobs.facts import codes, facts
from analysis.jobs.stored import check_new_system, check_ran, only_task, opened, ranked_runs
from analysis.model import Corpus, Progress, Questions, Ranking, SystemLabel, silent
from analysis.paths import Cache
from analysis.store import rankings, write
from analysis.store.read import RunRow, Store, TaskRow
from analysis.store.vector_file import Rows, blocks, room
from analysis.systems import catalogue
from analysis.systems.assemble import build
from analysis.systems.dense import Dense
from analysis.systems.entry import Entry, Prompts
from analysis.systems.fusion import combine, fuse
from analysis.systems.index import Index
from analysis.systems.made_by import MadeBy, made_by, reads_images
from analysis.systems.rerank import TwoStage
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import System, Workbench

DEPTH = 1000
KEPT = 100  # hits a query of a what-if that is kept as a run of a system, as of every run of our own
MOST = 3  # runs that are fused
EMPTY = "a what-if starts from a stored run"
QUICK_PAIRS = 100_000_000  # of a query and a document, whose comparing takes a few seconds
QUICK_ROWS = 3_000_000  # of lists, whose fusing does
KINDS = {
    "centre": "subtract each language's mean vector",
    "rrf": "fuse runs by their ranks (RRF)",
    "score": "fuse runs by their scores",
    "pool": "re-rank a deeper pool",
    "other-languages": "take the documents in the query's language out of the pool",
    "prompts": "leave the prompts out",
}


class WhatIf(NamedTuple):
    """What is changed, and of what."""

    benchmark: str
    task: str | None  # None: the only one
    kind: str  # a key of KINDS
    systems: tuple[str, ...]  # the one that is changed; of a fusion two or three
    k: int = 60  # of RRF
    pool: int = 100  # of a two-stage system


@dataclass(frozen=True, eq=False)
class Answer:
    """A ranking with one thing changed."""

    asked: WhatIf
    ranking: Ranking
    words: str  # what was done, as a title


class Planned(NamedTuple):
    """What is known of a what-if before anything is made."""

    key: str  # of all that decides the ranking: the runs, the settings of their systems, the change
    is_made: bool
    is_quick: bool  # a few seconds at most, so that a page may wait for it


def offered(benchmark: str, task: str, system: str, folder: str | Path | None = None) -> tuple[str, ...]:
    """The kinds that can be asked of a system; of every one something that needs its run only.

    A system searches again only where the catalogue still says how its run was made.

    Raises:
        InputError: an unknown benchmark or task.
    """
    store = opened(paths.cache(folder), otherwise=EMPTY)
    runs = ranked_runs(store, only_task(store, benchmark, task).task_id)
    return _offered(runs[system], len(runs)) if system in runs else ()


def planned(asked: WhatIf, folder: str | Path | None = None) -> Planned:
    """What making the ranking would mean.

    Raises:
        InputError: an unknown benchmark, task or system, or a change that is none of it.
    """
    cache = paths.cache(folder)
    plan = _plan(opened(cache, otherwise=EMPTY), asked)
    return Planned(plan.key, _file(cache, plan).exists(), _is_quick(plan, asked))


def answer(
    asked: WhatIf,
    folder: str | Path | None = None,
    *,
    load: LoadOptions | None = None,
    progress: Progress = silent,
) -> Answer:
    """Make the ranking, or take the one that was made before of the same runs.

    Raises:
        InputError: an unknown benchmark, task or system, or a change that is none of it.
        SystemLoadError: an encoder does not load or fails its check.
        SystemRefusedError: the corpus is too large for the system.
        StoreError: a file is missing or damaged, or the folder cannot be written.
        JobCancelledError: the user cancelled.
    """
    cache = paths.cache(folder)
    store = opened(cache, otherwise=EMPTY)
    plan = _plan(store, asked)
    made = rankings.stored(_file(cache, plan))
    if made is None:
        origin = plan.made_by[0]
        options = dataclasses.replace(load or LoadOptions(), max_length=origin.max_length, dtype=origin.dtype)
        made = _made(store, plan, asked, Workbench(cache, options=options, progress=progress, exact=True))
        rankings.keep(made, _file(cache, plan))
    return Answer(asked, made, plan.words)


def keep(asked: WhatIf, name: str, folder: str | Path | None = None, *, progress: Progress = silent) -> None:
    """Store the ranking as a run that names the runs it was made of; raises as :func:`answer`.

    Raises:
        InputError: the name is impossible or taken.
    """
    cache = paths.cache(folder)
    check_new_system(opened(cache, otherwise=EMPTY), name)
    made = answer(asked, folder, progress=progress)
    with write.writer(cache, progress=progress) as writer:
        store = opened(cache, otherwise=EMPTY)
        plan = _plan(store, asked)
        check_new_system(store, name)  # another job may have been waited for
        progress("store the run", 0, 1)
        label = store.system_labels()[plan.runs[0].system]
        paradigm = "hybrid" if len(plan.runs) > 1 else label.paradigm
        writer.add_system(name, title=f"{name}: {made.words}", short=name, paradigm=paradigm)
        writer.add_run(
            plan.task.task_id,
            name,
            ranking=made.ranking,
            keep_hits=KEPT,
            fingerprint=plan.key,
            provenance={
                "what_if": asked._asdict(),
                "words": made.words,
                "babelscope": analysis.__version__,
                **_approximate(plan, asked),
            },
            parents=[run.system for run in plan.runs],
            facts=facts(store, plan.task.task_id).of,
        )
        progress("store the run", 1, 1)


class _Plan(NamedTuple):
    """What is read for a what-if."""

    task: TaskRow
    runs: tuple[RunRow, ...]
    made_by: tuple[MadeBy, ...]  # of each run
    key: str
    words: str


def _plan(store: Store, asked: WhatIf) -> _Plan:
    if asked.kind not in KINDS:
        raise InputError(f"what-if {asked.kind!r}: expected one of {', '.join(KINDS)}")
    task = only_task(store, asked.benchmark, asked.task)
    known = ranked_runs(store, task.task_id)
    check_ran(asked.systems, known, where=task.name)
    runs = tuple(known[name] for name in dict.fromkeys(asked.systems))
    _check(asked, runs, len(known))
    origins = tuple(made_by(run) for run in runs)
    labels = store.system_labels()
    settings = (asked.kind, asked.k if asked.kind == "rrf" else 0, asked.pool if asked.kind == "pool" else 0)
    made_of = [(run.fingerprint, _settings(origin)) for run, origin in zip(runs, origins, strict=True)]
    key = hashlib.sha256(repr((task.checksum, settings, made_of)).encode()).hexdigest()[:32]
    return _Plan(task, runs, origins, key, _words(asked, [labels[run.system] for run in runs]))


def _approximate(plan: _Plan, asked: WhatIf) -> Mapping[str, object]:
    """What is said of the searches behind lists that are taken over; whatever is searched again is searched exactly."""
    if asked.kind not in {"rrf", "score"} and _loadable(plan.made_by[0]):
        return {}
    found = [run.provenance.get("approximate") or {} for run in plan.runs]
    together = {name: measured for some in found for name, measured in some.items()}
    return {"approximate": together} if together else {}


def _file(cache: Cache, plan: _Plan) -> Path:
    return cache.what_if / f"{plan.key}.parquet"


def _settings(origin: MadeBy) -> str | None:
    if origin.entry is None:
        return None
    return catalogue.fingerprint(origin.entry, max_length=origin.max_length, dtype=origin.dtype)


def _check(asked: WhatIf, runs: Sequence[RunRow], n_runs: int) -> None:
    fused = asked.kind in {"rrf", "score"}
    if not (2 <= len(runs) <= MOST if fused else len(runs) == 1):
        raise InputError(f"what-if {asked.kind}: {len(runs)} runs, expected {f'2 to {MOST}' if fused else '1'}")
    if asked.kind not in _offered(runs[0], n_runs):
        origin = made_by(runs[0])
        reason = origin.reason or "it has nothing of the kind that could be changed here"
        raise InputError(f"what-if {asked.kind}: {runs[0].system}: {reason}")
    if asked.k < 1 or asked.pool < 1:
        raise InputError(f"k {asked.k}, pool {asked.pool}: expected 1 or more")


def _offered(run: RunRow, n_runs: int) -> tuple[str, ...]:
    entry = _loadable(made_by(run))
    kinds = ["rrf", "score"] if n_runs > 1 else []
    if entry is not None:
        of_texts = entry.kind == "dense" and not reads_images(run)
        kinds = ["centre", *kinds] if of_texts else kinds
        kinds += ["pool"] if entry.kind == "two-stage" else []
        kinds += ["prompts"] if of_texts and entry.backend == "sentence-transformers" else []
    return (*kinds, "other-languages")


def _loadable(origin: MadeBy) -> Entry | None:
    """The system that made a run, where it can be asked again on this machine."""
    return origin.entry if origin.entry and catalogue.available(origin.entry) else None


def _is_quick(plan: _Plan, asked: WhatIf) -> bool:
    entry = _loadable(plan.made_by[0])
    if asked.kind in {"rrf", "score"} or (asked.kind == "other-languages" and entry is None):
        return sum(run.n_hits for run in plan.runs) < QUICK_ROWS
    searches = entry is not None and entry.kind in {"dense", "bm25"} and asked.kind in {"centre", "other-languages"}
    return searches and plan.task.n_documents * plan.task.n_queries < QUICK_PAIRS


def _words(asked: WhatIf, labels: Sequence[SystemLabel]) -> str:
    names = " + ".join(label.short for label in labels)
    return {
        "centre": f"{names}, centred",
        "rrf": f"RRF of {names}, k = {asked.k}",
        "score": f"Scores of {names}, added up",
        "pool": f"{names}, pool of {asked.pool}",
        "other-languages": f"{names}, other languages only",
        "prompts": f"{names}, without prompts",
    }[asked.kind]


def _made(store: Store, plan: _Plan, asked: WhatIf, workbench: Workbench) -> Ranking:
    task_id = plan.task.task_id
    corpus, questions = store.corpus(task_id), store.questions(task_id)
    if asked.kind in {"rrf", "score"}:
        return _fused(store, plan, asked, corpus)
    entry = _loadable(plan.made_by[0])
    if entry is None:
        kept = rankings.of_run(store, plan.runs[0])
        return _in_other_languages(kept, corpus, questions)
    depth = min(DEPTH, len(corpus))
    system = build(entry.name)
    if asked.kind == "other-languages":
        return _searched_in_other_languages(system, corpus, questions, depth=depth, workbench=workbench)
    if asked.kind == "pool" and isinstance(system, TwoStage):
        deeper = TwoStage(dataclasses.replace(system.entry, pool=asked.pool), first=system.first, second=system.second)
        return deeper.rank(corpus, questions, depth=depth, workbench=workbench)
    if asked.kind == "prompts":
        return Dense(_silent(entry)).rank(corpus, questions, depth=depth, workbench=workbench)
    return _centred(entry, corpus, questions, depth=depth, workbench=workbench)


def _silent(entry: Entry) -> Entry:
    return dataclasses.replace(entry, prompts=Prompts("", ""))


def _fused(store: Store, plan: _Plan, asked: WhatIf, corpus: Corpus) -> Ranking:
    """As deep as the least deep of the runs' kept hits: below, a document may be in one list and cut from another."""
    parts = [rankings.of_run(store, run) for run in plan.runs]
    depth = min(run.hits_kept for run in plan.runs)
    order = _tie_order(store, plan.task, corpus)
    if asked.kind == "rrf":
        return fuse(parts, k=asked.k, depth=depth, tie_order=order)
    return combine(parts, depth=depth, tie_order=order)


def _tie_order(store: Store, task: TaskRow, corpus: Corpus) -> NDArray[np.int32]:
    """Of all documents that a run may hold: those outside the corpus too."""
    ids = store.documents(task.task_id).id
    if len(ids) == len(corpus):
        return corpus.tie_order
    return Corpus.of(tuple(ids), languages=("",) * len(ids), texts=("",) * len(ids)).tie_order


def _centred(entry: Entry, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench) -> Ranking:
    """Search with each text's vector less the mean of its role and language; the lengths are made 1 again."""
    vectors = workbench.rows(entry, corpus.texts, role="document")
    documents = _without_mean(vectors, corpus.languages, folder=workbench.folder)
    asked = workbench.vectors(entry, questions.texts, role="query")
    queries = _without_mean(asked, questions.languages, folder=workbench.folder)
    index = Index(documents, tie_order=corpus.tie_order, threads=workbench.options.cores)
    return index.search(
        queries[:], depth=depth, excluded=questions.excluded, progress=workbench.progress, step="search again"
    )


def _without_mean(vectors: Rows, languages: Sequence[str], *, folder: Path) -> Rows:
    import pyarrow as pa

    tags = pa.array(languages, pa.string())
    known = tags.unique()
    language = codes(tags, known)
    means = language_means(vectors, language=language, n_languages=len(known))
    centred = room(folder, vectors.shape)
    for block in blocks(vectors):
        moved = without_means(vectors[block], language=language[block], means=means)
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        centred[block] = np.asarray(moved / np.where(length > 0, length, 1), dtype=np.float32)
    return centred


def _searched_in_other_languages(
    system: System, corpus: Corpus, questions: Questions, *, depth: int, workbench: Workbench
) -> Ranking:
    """For the queries of each language: the system over the corpus without that language."""
    written, spoken = np.array(corpus.languages), np.array(questions.languages)
    parts = []
    for tag in dict.fromkeys(questions.languages):
        kept, asked = np.flatnonzero(written != tag), np.flatnonzero(spoken == tag)
        if not len(kept):
            continue
        ids, texts = (tuple(column[place] for place in kept) for column in (corpus.ids, corpus.texts))
        images = {new: corpus.images[old] for new, old in enumerate(kept.tolist()) if old in corpus.images}
        some = Corpus.of(ids, languages=tuple(written[kept].tolist()), texts=texts, images=images)
        found = system.rank(some, _some(questions, asked, kept), depth=min(depth, len(kept)), workbench=workbench)
        parts.append((asked[found.query], kept[found.document], found.score))
    return _joined(parts, depth)


def _some(questions: Questions, asked: NDArray[np.intp], kept: NDArray[np.intp]) -> Questions:
    """Some of the queries, over some of the documents."""
    some = questions.take(asked)
    excluded = {}
    for place, gone in some.excluded.items():
        at = np.searchsorted(kept, gone)
        there = at[(at < len(kept)) & (kept[np.minimum(at, len(kept) - 1)] == gone)]
        excluded[place] = there.astype(np.int32)
    return dataclasses.replace(some, excluded=excluded)


def _joined(parts: Sequence[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]], depth: int) -> Ranking:
    if not parts:
        return Ranking(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), depth)
    query, document, score = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(query, kind="stable")
    return Ranking(query[order].astype(np.int32), document[order].astype(np.int32), score[order], depth)


def _in_other_languages(ranking: Ranking, corpus: Corpus, questions: Questions) -> Ranking:
    """The kept hits of a run without those in the query's language; documents outside the corpus stay."""
    languages: Mapping[str, int] = {tag: code for code, tag in enumerate(dict.fromkeys(corpus.languages))}
    written = np.array([languages[tag] for tag in corpus.languages], dtype=np.int32)
    spoken = np.array([languages.get(tag, -1) for tag in questions.languages], dtype=np.int32)
    inside = ranking.document < len(corpus)
    same = inside & (written[np.where(inside, ranking.document, 0)] == spoken[ranking.query])
    return Ranking(ranking.query[~same], ranking.document[~same], ranking.score[~same], ranking.depth)
