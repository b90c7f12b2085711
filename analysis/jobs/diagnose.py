"""Look at what lies behind stored runs: what their tokenisers see, where their vectors lie, which words they share."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError, SystemLoadError
from analysis.geometry import alignment
from analysis.jobs.stored import check_ran, opened
from analysis.model import Corpus, Progress, TokenCounts, unranked
from analysis.paths import Cache
from analysis.store import write
from analysis.store.read import DocumentColumns, QueryColumns, RunRow, Store, TaskRow
from analysis.systems import bm25, catalogue, tokenizers
from analysis.systems.encoders import Role
from analysis.systems.entry import Entry
from analysis.systems.made_by import OF_IMAGES, made_by, reads_images
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench

EMPTY = "there is no run to look at (python -m analysis build bedside --run all)"
SEED = 20_260_101
"""Of the sample of texts and the folds of the probe."""

MOST = 100_000
"""Texts whose vectors are compared; of more, whole families are drawn, so that translations stay together."""

WORDS = "it compares words, which have no vectors"
TOKENWISE = "it compares the vectors of tokens, not of texts"
ONE_LANGUAGE = "all texts are in one language"

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class DiagnoseRequest:
    """What `diagnose` may be told."""

    benchmark: str
    tasks: tuple[str, ...] = ()  # empty: all that rank documents
    systems: tuple[str, ...] = ()  # empty: all that ran
    force: bool = False  # look again at what was looked at
    load: LoadOptions = field(default_factory=LoadOptions)


@dataclass(frozen=True)
class DiagnoseReport:
    """What `diagnose` did, each item ``task: system``."""

    stored: tuple[str, ...]
    kept: tuple[str, ...]  # looked at before
    untold: tuple[tuple[str, str], ...]  # item and why neither tokens nor vectors tell anything


@dataclass(frozen=True)
class _Found:
    """What was found out about one run."""

    token_limit: int | None = None
    tokens_reason: str | None = None
    vectors_reason: str | None = None
    tables: Mapping[str, Columns] = field(default_factory=dict)

    @property
    def untold(self) -> str | None:
        """Why nothing was found; None where something was."""
        return None if self.tables else self.tokens_reason or self.vectors_reason


def diagnose(cache: Cache, *, request: DiagnoseRequest, progress: Progress) -> DiagnoseReport:
    """Look at the tokens, vectors and words behind runs; all of it becomes visible at once at the end, or none of it.

    Texts that the run has encoded are not encoded again, and where none has to be, no weights are loaded.

    Raises:
        InputError: an unknown benchmark, task or system.
        SystemLoadError: the encoder of a system asked for by name cannot be read.
        JobCancelledError: the user cancelled.
    """
    plan = _plan(opened(cache, otherwise=EMPTY), request)
    if not any(wanted for _, wanted, _ in plan):
        return DiagnoseReport((), _kept(plan), ())  # the store stays as it is, and so do the pages' caches
    stored, untold = [], []
    with write.writer(cache, progress=progress) as writer:
        store = opened(cache, otherwise=EMPTY)  # another job may have been waited for
        plan = _plan(store, request)
        for task, wanted, _ in plan:
            if not wanted:
                continue
            look = _Look(_Texts.load(store, task), cache, request.load, progress)
            for run in wanted:
                found = look.at(run) if request.systems else look.at_any(run)
                progress(f"store what {run.short} sees", 0, 1)
                _store(writer, run, found)
                progress(f"store what {run.short} sees", 1, 1)
                stored.append(f"{task.name}: {run.system}")
                if found.untold:
                    untold.append((stored[-1], found.untold))
    return DiagnoseReport(tuple(stored), _kept(plan), tuple(untold))


Plan = list[tuple[TaskRow, list[RunRow], list[RunRow]]]
"""For each task the runs to look at, and those that were looked at before."""


def _plan(store: Store, request: DiagnoseRequest) -> Plan:
    plan, known = [], set()
    for task in _tasks(store, request):
        done = store.diagnoses(task.task_id)
        runs = [run for run in store.runs([task.task_id]) if run.hits_file]
        known |= {run.system for run in runs}
        mine = [run for run in runs if not request.systems or run.system in request.systems]
        wanted = [run for run in mine if request.force or run.run_id not in done]
        plan.append((task, wanted, [run for run in mine if run not in wanted]))
    check_ran(request.systems, sorted(known), where=request.benchmark)
    return plan


def _tasks(store: Store, request: DiagnoseRequest) -> list[TaskRow]:
    tasks = {task.name: task for task in store.tasks(store.benchmark(request.benchmark).benchmark_id)}
    for name in request.tasks:
        if name not in tasks:
            raise InputError(f"unknown task {name!r}: {request.benchmark} has {', '.join(tasks)}")
    chosen = [tasks[name] for name in request.tasks] or list(tasks.values())
    ranked = [task for task in chosen if task.n_documents]
    if not ranked or (request.tasks and len(ranked) < len(chosen)):
        n_queries = sum(task.n_queries for task in chosen)
        raise InputError(unranked("a diagnosis needs documents that were ranked", n_queries=n_queries))
    return ranked


def _kept(plan: Plan) -> tuple[str, ...]:
    return tuple(f"{task.name}: {run.system}" for task, _, kept in plan for run in kept)


def _store(writer: write.Writer, run: RunRow, found: _Found) -> None:
    writer.add_diagnosis(
        run.run_id,
        token_limit=found.token_limit,
        tokens_reason=found.tokens_reason,
        vectors_reason=found.vectors_reason,
        seed=SEED,
        tables=found.tables,
    )


@dataclass(frozen=True, eq=False)
class _Texts:
    """The texts of a task, and which answer each query has in another language."""

    corpus: Corpus
    documents: DocumentColumns
    queries: QueryColumns
    foreign: Mapping[int, Sequence[int]]  # query -> its relevant documents in other languages; absent without any

    @classmethod
    def load(cls, store: Store, task: TaskRow) -> _Texts:
        documents, queries = store.documents(task.task_id), store.queries(task.task_id)
        judged = store.judgements(task.task_id)
        foreign: dict[int, list[int]] = {}
        rows = zip(judged.query.tolist(), judged.document.tolist(), judged.grade, judged.language, strict=True)
        for query, document, grade, language in rows:
            if grade >= 1 and language is not None and language != queries.language[query]:
                foreign.setdefault(query, []).append(document)
        return cls(store.corpus(task.task_id), documents, queries, foreign)

    def of(self, item: str) -> tuple[Sequence[str], NDArray[np.object_], NDArray[np.object_]]:
        """Text, language and family of the documents of the corpus, or of the queries."""
        if item == "query":
            return tuple(self.queries.text), self.queries.language, self.queries.family
        n = len(self.corpus)
        return self.corpus.texts, self.documents.language[:n], self.documents.family[:n]

    @functools.cached_property
    def item(self) -> Role | None:
        """Whose vectors tell languages from meanings: documents, or queries where only these are in several languages.

        Those come first of which some are translations of each other. None where all are in one language.
        """
        sides: tuple[Role, Role] = ("document", "query")
        spoken: dict[Role, int] = {side: len(set(self.of(side)[1])) for side in sides}
        translated = {side: self._translated(side) for side in sides}
        found = [side for side in sides if spoken[side] > 1]
        return next(iter(sorted(found, key=lambda side: not translated[side])), None)

    def _translated(self, item: str) -> bool:
        _, language, family = self.of(item)
        return len(set(zip(family, language, strict=True))) > len(set(family))


@dataclass(frozen=True, eq=False)
class _Look:
    """Looks at the runs of one task."""

    texts: _Texts
    cache: Cache
    load: LoadOptions
    progress: Progress

    def at(self, run: RunRow) -> _Found:
        """What can be found out about a run."""
        origin = made_by(run)
        if (entry := origin.entry) is None:
            return _Found(None, origin.reason, origin.reason)
        options = replace(self.load, max_length=origin.max_length, dtype=origin.dtype)
        if entry.kind == "bm25":
            return _Found(None, WORDS, WORDS, {"word_match": self._words(entry)})
        if entry.kind not in {"dense", "late-interaction"}:
            return _Found(None, _composed(entry), _composed(entry))
        encoder = catalogue.entry(entry.parts[0]) if entry.parts else entry
        if entry.reads == "image":
            return _Found(None, OF_IMAGES, OF_IMAGES)
        limit, tables = self._tokens(encoder, options)
        item = None if reads_images(run) else self.texts.item
        if entry.kind == "dense" and item:
            tables |= self._space(encoder, options, item)
        one = OF_IMAGES if reads_images(run) else ONE_LANGUAGE
        why = TOKENWISE if entry.kind != "dense" else None if item else one
        return _Found(limit, None if "text_tokens" in tables else tokenizers.UNTOLD, why, tables)

    def at_any(self, run: RunRow) -> _Found:
        """The same, where an encoder that cannot be had is no reason to leave out the others."""
        try:
            return self.at(run)
        except SystemLoadError as error:
            return _Found(None, str(error), str(error))

    def _tokens(self, encoder: Entry, options: LoadOptions) -> tuple[int | None, dict[str, Columns]]:
        """The limit of the model, and what its tokeniser sees of every text; empty where the engine does not tell."""
        sides: tuple[Role, Role] = ("document", "query")
        counts: dict[Role, TokenCounts] = {}
        for side in sides:
            found = tokenizers.count(
                encoder, self.texts.of(side)[0], role=side, options=options, progress=self.progress
            )
            if found is None:
                return None, {}
            counts[side] = found
        parts = [_token_columns(side, found) for side, found in counts.items()]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return counts["document"].limit, {"text_tokens": columns}

    def _space(self, encoder: Entry, options: LoadOptions, item: Role) -> dict[str, Columns]:
        """Where an encoder puts the texts of each language."""
        texts, tags, families = self.texts.of(item)
        bench = Workbench(self.cache, options=options, progress=self.progress)
        drawn = _drawn(families)
        vectors = bench.vectors(encoder, [texts[place] for place in drawn], role=item)
        space = _Space.of(item, vectors, position=drawn, tags=tags[drawn], families=families[drawn])
        tables: dict[str, Columns] = {}
        parts = {"text_space": space.sample, "translation": space.translations, "centroid_distance": space.distances}
        for done, (name, part) in enumerate(parts.items()):
            self.progress(f"languages in {encoder.short_title}", done, len(parts))
            tables[name] = part()
        self.progress(f"languages in {encoder.short_title}", len(parts), len(parts))
        return tables

    def _words(self, entry: Entry) -> Columns:
        """Which queries share a word with any document, and with an answer in another language."""
        split = bm25.tokeniser(entry)
        texts = self.texts.corpus.texts
        known: set[str] = set()
        for text in texts:  # one after the other: the words of all documents at once would take a thousand bytes each
            known.update(split(text))
        queries = [frozenset(split(str(text))) for text in self.texts.queries.text]
        shared = [
            any(not words.isdisjoint(split(texts[document])) for document in self.texts.foreign[query])
            if query in self.texts.foreign
            else None
            for query, words in enumerate(queries)
        ]
        return {
            "query": np.arange(len(queries), dtype=np.int32),
            "is_known": np.array([bool(words & known) for words in queries], dtype=bool),
            "is_shared": shared,
        }


def _drawn(families: NDArray[Any]) -> NDArray[np.intp]:
    """Positions of all texts; of too many, those of families drawn, or texts drawn where a family is too large."""
    if len(families) <= MOST:
        return np.arange(len(families))
    rng = np.random.default_rng(SEED)
    _, family, sizes = np.unique(families.astype(str), return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    fitting = order[np.cumsum(sizes[order]) <= MOST]
    if not len(fitting):
        return np.sort(rng.choice(len(families), MOST, replace=False))
    return np.flatnonzero(np.isin(family, fitting))


def _composed(entry: Entry) -> str:
    parts = " and ".join(catalogue.entry(part).short_title for part in entry.parts)
    return f"it is composed of {parts}: look at these"


def _token_columns(item: str, counts: TokenCounts) -> dict[str, NDArray[Any]]:
    n = len(counts.tokens)
    nothing = np.full(n, np.nan)
    return {
        "item": np.array([item] * n, dtype=object),
        "position": np.arange(n, dtype=np.int32),
        "tokens": counts.tokens,
        "unknown_tokens": nothing if counts.unknown_tokens is None else counts.unknown_tokens.astype(float),
        "characters": counts.characters,
        "unknown_characters": nothing if counts.unknown_characters is None else counts.unknown_characters.astype(float),
        "truncated": counts.truncated,
    }


@dataclass(frozen=True, eq=False)
class _Space:
    """Texts of several languages in one space."""

    item: str
    vectors: NDArray[Any]  # (n, d)
    position: NDArray[np.intp]  # (n,) of each text among all
    language: NDArray[Any]  # (n,) codes into tags
    family: NDArray[Any]  # (n,) codes into families
    tags: Sequence[str]
    families: Sequence[str]

    @classmethod
    def of(
        cls,
        item: str,
        vectors: NDArray[Any],
        *,
        position: NDArray[np.intp],
        tags: NDArray[Any],
        families: NDArray[Any],
    ) -> _Space:
        spoken, language = np.unique(tags.astype(str), return_inverse=True)
        keys, family = np.unique(families.astype(str), return_inverse=True)
        return cls(item, vectors, position, language, family, spoken.tolist(), keys.tolist())

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every two languages, once."""
        return list(itertools.combinations(range(len(self.tags)), 2))

    def sample(self) -> Columns:
        """How separate the languages are, text by text, of a sample."""
        chosen = alignment.sample(self.language, seed=SEED)
        mine, spoken = self.vectors[chosen], self.language[chosen]
        guessed = alignment.guessed_languages(mine, language=spoken, family=self.family[chosen], seed=SEED)
        return {
            "item": np.array([self.item] * len(chosen), dtype=object),
            "position": self.position[chosen].astype(np.int32),
            "silhouette": alignment.silhouettes(mine, language=spoken),
            "guessed_language": np.array([*self.tags, None], dtype=object)[guessed],  # code -1 picks the None
        }

    def translations(self) -> Columns:
        """How near the texts of each family are in every two languages."""
        found = [
            alignment.translations(self.vectors, language=self.language, family=self.family, pair=pair)
            for pair in self.pairs
        ]
        sizes = [len(each.family) for each in found]
        sides = [np.repeat([self.tags[pair[side]] for pair in self.pairs], sizes).astype(object) for side in (0, 1)]
        families = np.array(self.families, dtype=object)
        return {
            "item": np.array([self.item] * sum(sizes), dtype=object),
            "language": sides[0],
            "other_language": sides[1],
            "family": families[np.concatenate([each.family for each in found])],
            "cosine": np.concatenate([each.cosine for each in found]),
            "random": np.concatenate([each.random for each in found]),
        }

    def distances(self) -> Columns:
        """How far apart the mean vectors of every two languages are."""
        means = alignment.language_means(self.vectors, language=self.language, n_languages=len(self.tags))
        apart = alignment.centroid_distances(means)
        return {
            "language": np.array([self.tags[first] for first, _ in self.pairs], dtype=object),
            "other_language": np.array([self.tags[second] for _, second in self.pairs], dtype=object),
            "distance": np.array([apart[pair] for pair in self.pairs]),
        }
