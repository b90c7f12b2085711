"""What happens to one live query: encode, search, and where the known answers sit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.languages import language_name
from analysis.model import Corpus, SystemLabel, unranked
from analysis.stats.agreement import rank_biased_overlap
from analysis.store.read import QueryColumns, Store, TaskRow
from analysis.systems import catalogue
from analysis.systems.assemble import build
from analysis.systems.live import Answer, Live, open_live
from analysis.systems.why import Share
from analysis.systems.workbench import Workbench

__all__ = [
    "HEART_ATTACK",
    "Concept",
    "ConceptProbe",
    "Explanation",
    "KnownAnswer",
    "ProbeAnswer",
    "ProbeHit",
    "ask",
    "ask_in_all_languages",
    "concepts",
    "encoders",
    "language_name",  # for pages, which see no module below this one
    "why",
]


class ProbeHit(NamedTuple):
    """One document of a live ranking."""

    rank: int
    document_id: str
    language: str
    text: str
    score: float
    relevant: bool | None  # None where no known answer was chosen
    family: str | None  # the concept it stands for: documents of one family say the same in several languages


class KnownAnswer(NamedTuple):
    """A document known to answer, and where it sits."""

    document_id: str
    language: str
    text: str
    rank: int | None  # None: not in the ranking at all (a lexical system that shares no word with it)


@dataclass(frozen=True)
class ProbeAnswer:
    """One query put to one system."""

    system: SystemLabel
    query_text: str
    query_language: str | None
    hits: tuple[ProbeHit, ...]  # the top k
    answers: tuple[KnownAnswer, ...]  # empty where no concept was chosen
    encode_ms: float
    search_ms: float
    n_documents: int
    tokens: tuple[str, ...]  # what the encoder saw


@dataclass(frozen=True)
class ConceptProbe:
    """One concept asked in every language: one answer a language, with how much each list agrees with the first's."""

    system: SystemLabel
    languages: tuple[str, ...]
    answers: tuple[ProbeAnswer, ...]  # one a language
    overlap: tuple[float | None, ...]  # rank-biased overlap with the first language's list; the first is 1


class Explanation(NamedTuple):
    """Why a system ranks a document where it does."""

    words: str  # what the values are
    shares: tuple[Share, ...]  # the largest first; empty where nothing can be told


class Concept(NamedTuple):
    """Something the benchmark asks in several languages."""

    family: str  # its key: the id of the query that all its language versions share
    label: str  # in English where there is an English version
    languages: tuple[str, ...]
    texts: tuple[str, ...]  # one a language


HEART_ATTACK: Mapping[str, str] = MappingProxyType({
    "en": "heart attack",
    "es": "ataque al corazón",
    "fr": "crise cardiaque",
    "de": "Herzinfarkt",
    "zh": "心脏病发作",
    "ja": "心臓発作",
    "ru": "сердечный приступ",
})  # fmt: skip
"""What the probe asks when it is opened: the same lay words in each language."""

KINDS: Mapping[str, str] = MappingProxyType({
    "bm25": "What each word that both have adds to the score.",
    "dense": "By how much the similarity falls when this part of the query is left out. The parts do not sum to it.",
    "late-interaction": "The best match of each token in the document; the values sum to the score.",
    "two-stage": "The best match of each token in the document, which the second stage sums.",
    "fusion": "The score is made of ranks: ask the systems that it fuses.",
})  # fmt: skip
"""What the values of an explanation are, by the kind of the system."""

OVERLAP_DEPTH = 100  # documents of each list that are compared
KEPT_SEATS = 12  # systems opened on a corpus that stay in memory


@dataclass(frozen=True)
class _Seat:
    """A system opened on the corpus of a task."""

    live: Live
    corpus: Corpus
    families: tuple[str | None, ...]


_lock = threading.RLock()
_seats: OrderedDict[tuple[str, str, str], _Seat] = OrderedDict()
_benches: dict[str, Workbench] = {}


def encoders(store: Store, benchmark: str) -> tuple[SystemLabel, ...]:
    """The systems that can be asked live: they ran on the benchmark, so their documents are encoded, and work here.

    Raises:
        InputError: an unknown benchmark.
    """
    tasks = store.tasks(store.benchmark(benchmark).benchmark_id)
    ran = {run.system for run in store.runs([task.task_id for task in tasks]) if run.status == "complete"}
    here = set(catalogue.available_names())
    return tuple(label for name, label in store.system_labels().items() if name in ran & here)


def concepts(
    store: Store, *, benchmark: str, task: str | None = None, without_flagged: bool = False
) -> tuple[Concept, ...]:
    """What a task asks in several languages, by label; flagged queries may be left out.

    Raises:
        InputError: an unknown benchmark or task.
    """
    task_id = _task(store, benchmark, task).task_id
    queries, flagged = store.queries(task_id), store.flagged(task_id).queries
    versions: dict[str, dict[str, str]] = {}
    for key, language, text, doubtful in zip(_keys(queries), queries.language, queries.text, flagged, strict=True):
        if not (without_flagged and doubtful):
            versions.setdefault(key, {}).setdefault(language, text)
    found = [
        Concept(key, texts.get("en") or next(iter(texts.values())), tuple(texts), tuple(texts.values()))
        for key, texts in versions.items()
    ]
    return tuple(sorted(found, key=lambda concept: (concept.label.casefold(), concept.family)))


def ask(
    store: Store,
    text: str,
    *,
    system: str,
    benchmark: str,
    task: str | None = None,
    k: int = 10,
    language: str | None = None,
    family: str | None = None,
    without_flagged: bool = False,
) -> ProbeAnswer:
    """Put one text to one system, over the whole corpus of a task.

    Args:
        store: where the corpus is.
        text: the query.
        system: a name of the catalogue.
        benchmark: name or name@version.
        task: its default task if left out.
        k: how many hits are returned.
        language: of the text, when known.
        family: the concept asked for, when known: its answers are then marked, and a text that the benchmark asks word
            for word is ranked as the benchmark ranks it, without the documents that the query leaves out.
        without_flagged: flagged documents are no known answers; they are searched all the same.

    Raises:
        InputError: an empty text, an unknown benchmark, task or system, or a task without documents.
        SystemLoadError: an encoder does not load or fails its check.
        SystemRefusedError: the corpus is too large for the system.
    """
    if not text.strip():
        raise InputError("the query is empty: expected some words to look for")
    row = _task(store, benchmark, task)
    if not row.n_documents:
        raise InputError(unranked("a live query needs documents to search", n_queries=row.n_queries))
    seat = _seat(store, row, system)
    answers, excluded = _known(store, row, text, language, family)
    if without_flagged:
        answers = np.setdiff1d(answers, store.flagged(row.task_id).documents)
    reply = seat.live.ask(text, excluded=excluded)
    return _probe_answer(store, seat, reply, text=text, system=system, language=language, answers=answers, k=k)


def why(
    store: Store, *, system: str, benchmark: str, task: str | None, query_text: str, document_id: str
) -> Explanation:
    """What each part of a query adds to the score that a system gives a document.

    Raises:
        InputError: an unknown benchmark, task, system or document.
        SystemLoadError: an encoder does not load or fails its check.
        SystemRefusedError: the corpus is too large for the system.
    """
    row = _task(store, benchmark, task)
    seat = _seat(store, row, system)
    if document_id not in seat.corpus.ids:
        raise InputError(f"document {document_id!r}: the corpus of {row.name} has no such document")
    shares = seat.live.why(query_text, seat.corpus.ids.index(document_id))
    entry = catalogue.entry(system)
    return Explanation(KINDS[entry.kind], tuple(sorted(shares, key=lambda share: -share.value)))


def ask_in_all_languages(
    store: Store,
    texts: Mapping[str, str],
    *,
    system: str,
    benchmark: str,
    task: str | None = None,
    k: int = 10,
    family: str | None = None,
    without_flagged: bool = False,
) -> ConceptProbe:
    """Ask the same thing in several languages, one answer a language in the order given.

    Raises:
        InputError: no text at all, or as for :func:`ask`.
    """
    asked = {language: text for language, text in texts.items() if text.strip()}
    if not asked:
        raise InputError("no text in any language: expected at least one")
    answers = [
        ask(
            store,
            text,
            system=system,
            benchmark=benchmark,
            task=task,
            k=max(k, OVERLAP_DEPTH),
            language=language,
            family=family,
            without_flagged=without_flagged,
        )
        for language, text in asked.items()
    ]
    lists = [tuple(dict.fromkeys(hit.family for hit in answer.hits[:OVERLAP_DEPTH])) for answer in answers]
    return ConceptProbe(
        system=answers[0].system,
        languages=tuple(asked),
        answers=tuple(replace(answer, hits=answer.hits[:k]) for answer in answers),
        overlap=tuple(rank_biased_overlap(lists[0], found) for found in lists),
    )


def _task(store: Store, benchmark: str, task: str | None) -> TaskRow:
    tasks = store.tasks(store.benchmark(benchmark).benchmark_id)
    if task is None:
        return tasks[0]
    known = {row.name: row for row in tasks}
    if task not in known:
        raise InputError(f"unknown task {task!r}: {benchmark} has {', '.join(known)}")
    return known[task]


def _keys(queries: QueryColumns) -> Iterator[str]:
    """What ties the language versions of a question together."""
    for source, family in zip(queries.source_query, queries.family, strict=True):
        yield family if source is None else source


def _seat(store: Store, task: TaskRow, system: str) -> _Seat:
    """Open a system on a task's corpus, once in this process for all sessions."""
    key = (str(store.cache.root), task.checksum, system)
    with _lock:
        if key not in _seats:
            root = str(store.cache.root)
            bench = _benches.setdefault(root, Workbench(store.cache))
            corpus = store.corpus(task.task_id)
            live = open_live(build(system), corpus, workbench=bench)
            _seats[key] = _Seat(live, corpus, tuple(store.documents(task.task_id).family[: len(corpus)]))
        _seats.move_to_end(key)
        while len(_seats) > KEPT_SEATS:
            _seats.popitem(last=False)
        return _seats[key]


def _known(
    store: Store, task: TaskRow, text: str, language: str | None, family: str | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Positions of the documents that answer a concept, and of those that the very same query leaves out."""
    nothing = np.zeros(0, dtype=np.int32)
    if family is None:
        return nothing, nothing
    queries = store.queries(task.task_id)
    versions = [place for place, key in enumerate(_keys(queries)) if key == family]
    if not versions:
        raise InputError(f"unknown concept {family!r} in {task.name}")
    chosen = next((place for place in versions if queries.language[place] == language), versions[0])
    judged = store.judgements(task.task_id)
    answers = judged.document[(judged.query == chosen) & (judged.grade >= 1)]
    verbatim = queries.text[chosen] == text
    return answers.astype(np.int32), store.excluded(task.task_id).get(chosen, nothing) if verbatim else nothing


def _probe_answer(
    store: Store,
    seat: _Seat,
    reply: Answer,
    *,
    text: str,
    system: str,
    language: str | None,
    answers: NDArray[np.int32],
    k: int,
) -> ProbeAnswer:
    corpus, known = seat.corpus, set(answers.tolist())
    hits = tuple(
        ProbeHit(
            rank,
            corpus.ids[place],
            corpus.languages[place],
            corpus.texts[place],
            float(score),
            place in known if known else None,
            seat.families[place],
        )
        for rank, (place, score) in enumerate(zip(reply.documents[:k].tolist(), reply.scores[:k], strict=True), start=1)
    )
    rank_of = {place: rank for rank, place in enumerate(reply.documents.tolist(), start=1)}
    found = tuple(
        KnownAnswer(corpus.ids[place], corpus.languages[place], corpus.texts[place], rank_of.get(place))
        for place in answers.tolist()
        if place < len(corpus)  # a judged document that the corpus lacks has no place
    )
    labels = store.system_labels()
    entry = catalogue.entry(system)
    return ProbeAnswer(
        system=labels.get(system) or SystemLabel(entry.name, entry.title, entry.short_title, entry.paradigm, 0),
        query_text=text,
        query_language=language,
        hits=hits,
        answers=found,
        encode_ms=1000 * reply.encode_seconds,
        search_ms=1000 * reply.search_seconds,
        n_documents=len(corpus),
        tokens=tuple(seat.live.tokens(text)),
    )
