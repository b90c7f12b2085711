"""The nouns of the product: frozen, flat, one line a field."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]
"""``progress(step, done, total)``: called between batches; raises JobCancelledError once the user has cancelled."""

NEVER = np.int32(2**31 - 1)
"""The rank of a document that is not in the run: larger than every depth, so ``rank <= k`` needs no special case."""


def silent(step: str, done: int, total: int) -> None:
    """The progress callback of callers that do not watch."""


def scores_only(what: str) -> str:
    """Why a benchmark without rankings cannot answer, such as "language routes need rankings"."""
    return f"this benchmark has per-query scores only: {what}"


def published_only(what: str) -> str:
    """Why a benchmark of published figures cannot answer, such as "fairness needs the values of each query"."""
    return f"this benchmark has published figures only: {what}"


def unranked(what: str, *, n_queries: int) -> str:
    """Why a task without documents cannot answer: it has the scores of its queries, or published figures only."""
    return scores_only(what) if n_queries else published_only(what)


class Document(NamedTuple):
    """One text of a corpus."""

    id: str  # opaque, compared raw
    language: str  # shortest BCP 47 tag; "und" when unknown
    text: str
    family: str  # source document or concept: all its language versions share it
    sibling_group: str | None = None  # documents of another family in the same group are siblings
    related_group: str | None = None  # documents of another sibling group in the same related group are related


class Query(NamedTuple):
    """One question put to a corpus."""

    id: str
    language: str
    text: str
    family: str  # queries of one family share their relevant documents
    sibling_group: str | None = None
    related_group: str | None = None
    tier: str | None = None
    mode: str | None = None
    strategy: str | None = None
    audit_status: str | None = None
    source_query: str | None = None  # the id of the query it is a version of; all language versions share it
    excluded_documents: tuple[str, ...] = ()  # leave the ranking before ranks are counted
    attributes: Mapping[str, str] = MappingProxyType({})  # whatever else is known of it, by any other name


def asked_in(queries: Iterable[Query]) -> dict[str, set[str]]:
    """The languages that each family is asked in."""
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for query in queries:
        asked[query.family].add(query.language)
    return dict(asked)


def parallel(queries: Sequence[Query]) -> bool:
    """Whether every family is asked in every query language, and there is more than one."""
    languages = {query.language for query in queries}
    return len(languages) > 1 and all(found == languages for found in asked_in(queries).values())


class Judgement(NamedTuple):
    """One graded pair; relevant means ``grade >= 1``."""

    query_id: str
    document_id: str
    grade: float


class Flag(NamedTuple):
    """Why a query or a document is doubtful; one may have several."""

    item: str  # query | document
    id: str
    reason: str  # a few words: "no text", "other script"


class Image(NamedTuple):
    """Where the image of a query or a document is: a benchmark names its images and does not hold them."""

    item: str  # query | document
    id: str
    path: str  # as imported
    folder: str  # that was imported, absolute: no file outside it is opened
    place: str = ""  # the folder inside it whose file names the image; empty where that is the folder itself


class FlagCounts(NamedTuple):
    """How much of a task is doubtful, and why."""

    queries: int = 0  # with a flag or more
    documents: int = 0
    reasons: Mapping[str, int] = MappingProxyType({})  # queries and documents together, the most frequent first


@dataclass(frozen=True)
class Task:
    """One corpus, one query set, one set of graded judgements."""

    name: str  # as in addresses and file names: "parallel-titles"
    title: str  # for people: "Parallel titles"
    question: str  # one sentence: what a query asks and what counts as an answer
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    judgements: tuple[Judgement, ...]
    exclude_self: bool = False  # the query's own text leaves the ranking (query.excluded_documents says which)
    default: bool = False  # the task a page opens on
    flags: tuple[Flag, ...] = ()  # doubtful queries and documents: a reader may leave them out; no part of a checksum
    images: tuple[Image, ...] = ()  # of queries and documents; where they lie is no part of a checksum


@dataclass(frozen=True)
class Benchmark:
    """Tasks that belong together, with where they come from."""

    name: str
    version: str  # settings in words, such as "concepts-200": another size is another version
    title: str
    parallel: bool  # the same families are asked in every language: the bootstrap draws them jointly
    licence: str
    source: str
    notes: tuple[str, ...]  # limits the card states
    settings: Mapping[str, object]
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Corpus:
    """The documents of a task as a system sees them, in store order.

    Attributes:
        ids: ``(M,)`` document ids.
        languages: ``(M,)`` language tags.
        texts: ``(M,)`` texts.
        tie_order: ``(M,)`` int32; position of each id in descending code-point order. Of two documents with equal
            scores the one with the smaller position (the larger id) comes first, as in trec_eval.
        images: document position -> its image; documents without one are absent.
    """

    ids: tuple[str, ...]
    languages: tuple[str, ...]
    texts: tuple[str, ...]
    tie_order: NDArray[np.int32]
    images: Mapping[int, Image] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        ids: tuple[str, ...],
        *,
        languages: tuple[str, ...],
        texts: tuple[str, ...],
        images: Mapping[int, Image] = MappingProxyType({}),
    ) -> Corpus:
        """Build a corpus and its tie order from parallel tuples of length M."""
        tie_order = np.empty(len(ids), dtype=np.int32)
        tie_order[sorted(range(len(ids)), key=ids.__getitem__, reverse=True)] = np.arange(len(ids), dtype=np.int32)
        return cls(ids, languages, texts, tie_order, images)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Questions:
    """The queries of a task as a system sees them.

    Attributes:
        ids: ``(Q,)`` query ids.
        languages: ``(Q,)`` language tags.
        texts: ``(Q,)`` texts.
        excluded: query position -> int32 positions of documents that leave its ranking; queries without any are absent.
        images: query position -> its image; queries without one are absent.
    """

    ids: tuple[str, ...]
    languages: tuple[str, ...]
    texts: tuple[str, ...]
    excluded: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)
    images: Mapping[int, Image] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, places: NDArray[np.integer]) -> Questions:
        """The queries at these positions, in this order."""
        old = places.tolist()
        ids, languages, texts = (
            tuple(column[place] for place in old) for column in (self.ids, self.languages, self.texts)
        )
        excluded = {new: self.excluded[place] for new, place in enumerate(old) if place in self.excluded}
        images = {new: self.images[place] for new, place in enumerate(old) if place in self.images}
        return Questions(ids, languages, texts, excluded, images)


@dataclass(frozen=True)
class Ranking:
    """One system's answer to a task: rows sorted by query, then rank.

    Attributes:
        query: ``(H,)`` int32 positions of queries.
        document: ``(H,)`` int32 positions of documents.
        score: ``(H,)`` float64, non-increasing within a query; equal scores in tie order.
        depth: the most documents asked for per query.
    """

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    score: NDArray[np.float64]
    depth: int

    def rank(self) -> NDArray[np.int32]:
        """The 1-based rank of each row within its query, ``(H,)`` int32."""
        if not len(self.query):
            return np.zeros(0, dtype=np.int32)
        ends = np.flatnonzero(self.query[1:] != self.query[:-1]) + 1
        step = np.ones(len(self.query), dtype=np.int32)
        step[ends] = 1 - np.diff(np.r_[0, ends])
        return np.cumsum(step, out=step)

    @property
    def nbytes(self) -> int:
        """What its rows take: 16 bytes each."""
        return self.query.nbytes + self.document.nbytes + self.score.nbytes

    def top(self, depth: int) -> Ranking:
        """The same ranking cut at ``depth`` documents a query."""
        keep = self.rank() <= depth
        return Ranking(self.query[keep], self.document[keep], self.score[keep], min(depth, self.depth))


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """What a tokeniser made of n texts.

    Attributes:
        tokens: ``(n,)`` tokens of each text without its frame ([CLS], [SEP]) and prompt.
        unknown_tokens: ``(n,)`` of those that stand for what is not in the vocabulary; None for byte-level
            vocabularies, to which nothing is unknown.
        characters: ``(n,)`` characters that are not white space.
        unknown_characters: ``(n,)`` of those that unknown tokens cover; None as above.
        truncated: ``(n,)`` texts of which the model does not read the end.
        limit: tokens that the model reads; None where it reads whole texts.
    """

    tokens: NDArray[np.int64]
    unknown_tokens: NDArray[np.int64] | None
    characters: NDArray[np.int64]
    unknown_characters: NDArray[np.int64] | None
    truncated: NDArray[np.bool_]
    limit: int | None


class Figure(NamedTuple):
    """One number that somebody published: a mean over queries that are not known."""

    split: str
    subset: str
    query_language: str  # shortest tag; "und" where the file does not say
    document_language: str
    measure: str  # a key of the measures' catalogue where it has one (rr_at_10), else the file's own (map_at_10)
    value: float  # 0 to 1


@dataclass(frozen=True)
class PublishedResult:
    """What one file says of one system on one task."""

    task: str
    system: str
    file: str  # below the folder that was imported
    checksum: str  # SHA-256 of its text, unpacked
    program: str | None  # what made the figures: "mteb 2.18.13"
    model_revision: str | None
    dataset_revision: str | None
    evaluated_at: datetime.datetime | None  # UTC, without a zone
    figures: tuple[Figure, ...]


class Interval(NamedTuple):
    """A mean with what is needed to trust it; ``None`` where undefined."""

    value: float | None
    aggregate: str  # "pooled" over queries, or "balanced": the mean of the query languages' means
    other_mean: float | None  # the same by the other aggregate
    ceiling: float | None  # the largest value the measure can reach on these queries; None where that is 1
    low: float | None
    high: float | None
    level: float  # of the interval, 0.95
    method: str  # such as "percentile-joint, B = 2000"
    n: int  # queries behind the value


PARADIGMS = (
    "lexical",
    "English-centric dense",
    "biomedical dense",
    "multilingual dense",
    "late interaction",
    "hybrid",
    "two-stage",
    "multimodal dense",
)
"""In the order pages group them."""


class SystemLabel(NamedTuple):
    """How a system is called and coloured."""

    name: str
    title: str
    short: str  # for charts
    paradigm: str
    member: int  # its place among the systems of its paradigm as they came: fixes lightness and dash
