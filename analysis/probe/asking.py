"""What happens to one live query: encode, search, and where the known answers sit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.model import SystemLabel, unranked
from analysis.probe.seats import Content, Seat, Seats
from analysis.stats.agreement import rank_biased_overlap
from analysis.store.read import Store, TaskRow
from analysis.systems import catalogue
from analysis.systems.live import NOTHING, Answer, Wanted
from analysis.systems.why import Share


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
    remark: str = ""  # what a typed query lacks of those that the system's runs ask


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
    queries: tuple[str, ...]  # ids, one a language


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

AS_A_WHOLE = "The second stage reads the query and the document as one text: no part of it has a share."

BY_WORDS = "This is of the words alone: the system also reads the image of a query, which is left out here."

WITHOUT_IMAGE = (
    "reads the image of a query when it runs on a benchmark. No image can be typed: here it is asked by the words "
    "alone, so ranks differ from those of its run."
)

OVERLAP_DEPTH = 100  # documents of each list that are compared

SEATS = Seats()
"""What all sessions of this process ask."""


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
    task_id = find_task(store, benchmark, task).task_id
    queries, flagged = store.queries(task_id), store.flagged(task_id).queries
    versions: dict[str, dict[str, tuple[str, str]]] = {}
    columns = (queries.question, queries.language, queries.text, queries.id, flagged)
    for key, language, text, name, doubtful in zip(*columns, strict=True):
        if not (without_flagged and doubtful):
            versions.setdefault(key, {}).setdefault(language, (text, name))
    found = [_concept(key, asked) for key, asked in versions.items()]
    return tuple(sorted(found, key=lambda concept: (concept.label.casefold(), concept.family)))


def _concept(key: str, asked: Mapping[str, tuple[str, str]]) -> Concept:
    texts, queries = zip(*asked.values(), strict=True)
    label = asked["en"][0] if "en" in asked and asked["en"][0] else texts[0]
    return Concept(key, label, tuple(asked), texts, queries)


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
        SystemRefusedError: the corpus is too large for the system, or it does not read the language.
    """
    if not text.strip():
        raise InputError("the query is empty: expected some words to look for")
    row = find_task(store, benchmark, task)
    if not row.n_documents:
        raise InputError(unranked("a live query needs documents to search", n_queries=row.n_queries))
    seat = SEATS.take(store, row, system)
    answers, excluded = _known(seat.content, row, text=text, language=language, family=family)
    if without_flagged:
        answers = np.setdiff1d(answers, store.flagged(row.task_id).documents).astype(np.int32)
    answers = answers[answers < len(seat.content.corpus)]  # a judged document that the corpus lacks has no place
    wanted = Wanted(depth=k, sought=answers, excluded=excluded, language=language or "")
    reply = seat.live.ask(text, wanted)
    return _probe_answer(store, seat, reply, text=text, system=system, language=language, answers=answers)


def why(
    store: Store,
    *,
    system: str,
    benchmark: str,
    task: str | None,
    query_text: str,
    document_id: str,
    language: str | None = None,
) -> Explanation:
    """What each part of a query, in a language where that is known, adds to the score that a system gives a document.

    Raises:
        InputError: an unknown benchmark, task, system or document.
        SystemLoadError: an encoder does not load or fails its check.
        SystemRefusedError: the corpus is too large for the system.
    """
    row = find_task(store, benchmark, task)
    seat = SEATS.take(store, row, system)
    ids = seat.content.corpus.ids
    if document_id not in ids:
        raise InputError(f"document {document_id!r}: the corpus of {row.name} has no such document")
    shares = seat.live.why(query_text, ids.index(document_id), language=language or "")
    entry = catalogue.entry(system)
    words = AS_A_WHOLE if catalogue.reads_pairs(entry) else KINDS[entry.kind]
    words = f"{words} {BY_WORDS}" if catalogue.needs_images(entry) else words
    return Explanation(words, tuple(sorted(shares, key=lambda share: -share.value)))


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


def find_task(store: Store, benchmark: str, task: str | None) -> TaskRow:
    """The task of that name; the default one if left out.

    Raises:
        InputError: an unknown benchmark or task.
    """
    tasks = store.tasks(store.benchmark(benchmark).benchmark_id)
    if task is None:
        return tasks[0]
    known = {row.name: row for row in tasks}
    if task not in known:
        raise InputError(f"unknown task {task!r}: {benchmark} has {', '.join(known)}")
    return known[task]


def version_of(content: Content, family: str, language: str | None) -> int | None:
    """The position of a concept's query in that language, or else of its first one; None for an unknown concept."""
    versions = [place for place, key in enumerate(content.keys) if key == family]
    spoken = content.questions.languages
    return next((place for place in versions if spoken[place] == language), versions[0] if versions else None)


def _known(
    content: Content, task: TaskRow, *, text: str, language: str | None, family: str | None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Positions of the documents that answer a concept, and of those that the very same query leaves out."""
    if family is None:
        return NOTHING, NOTHING
    chosen = version_of(content, family, language)
    if chosen is None:
        raise InputError(f"unknown concept {family!r} in {task.name}")
    judged = content.judged
    answers = judged.document[(judged.query == chosen) & (judged.grade >= 1)].astype(np.int32)
    verbatim = content.questions.texts[chosen] == text
    return answers, content.questions.excluded.get(chosen, NOTHING) if verbatim else NOTHING


def _probe_answer(
    store: Store,
    seat: Seat,
    reply: Answer,
    *,
    text: str,
    system: str,
    language: str | None,
    answers: NDArray[np.int32],
) -> ProbeAnswer:
    corpus, known = seat.content.corpus, set(answers.tolist())
    hits = tuple(
        ProbeHit(
            rank,
            corpus.ids[place],
            corpus.languages[place],
            corpus.texts[place],
            float(score),
            place in known if known else None,
            seat.content.families[place],
        )
        for rank, (place, score) in enumerate(zip(reply.documents.tolist(), reply.scores, strict=True), start=1)
    )
    found = tuple(
        KnownAnswer(corpus.ids[place], corpus.languages[place], corpus.texts[place], rank or None)
        for place, rank in zip(answers.tolist(), reply.ranks.tolist(), strict=True)
    )
    return ProbeAnswer(
        system=label_of(store, system),
        query_text=text,
        query_language=language,
        hits=hits,
        answers=found,
        encode_ms=1000 * reply.encode_seconds,
        search_ms=1000 * reply.search_seconds,
        n_documents=len(corpus),
        tokens=tuple(seat.live.tokens(text)),
        remark=WITHOUT_IMAGE if catalogue.needs_images(catalogue.entry(system)) else "",
    )


def label_of(store: Store, system: str) -> SystemLabel:
    """What pages show of a system, whether it ran here or not."""
    entry = catalogue.entry(system)
    label = SystemLabel(entry.name, entry.title, entry.short_title, entry.paradigm, 0)
    return store.system_labels().get(system, label)
