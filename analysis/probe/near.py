"""Which concepts of the benchmark are nearest to words of one's own: said, and never taken for them unasked."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError, SystemLoadError
from analysis.probe.asking import SEATS, find_task
from analysis.probe.seats import Content
from analysis.store.read import Store
from analysis.systems import catalogue
from analysis.systems.bm25 import Lexical
from analysis.systems.encoders import Encoder
from analysis.systems.entry import Entry

WORDS = "bm25-cjk"
"""What compares words where no encoder can: it cuts Chinese and Japanese too."""

KEPT = 4  # sets of known queries that stay in memory


class Nearest(NamedTuple):
    """A concept near a text, by the one of its stored queries that is nearest."""

    family: str
    query_id: str
    language: str
    text: str
    score: float
    measure: str  # "cosine" of unit vectors, or "BM25" over the words of the queries
    short: str  # of the system that measured it


class _Known(NamedTuple):
    """An encoder, which stays loaded until it is asked, and what it made of all queries of a task."""

    encoder: Encoder
    vectors: NDArray[np.float32]  # (Q, d)


T = TypeVar("T")
Key = tuple[str, str, str]
"""Cache folder, checksum of the task, and the system that compares."""

_lock = threading.Lock()
_kept: OrderedDict[Key, Any] = OrderedDict()


def nearest(
    store: Store,
    text: str,
    *,
    systems: Sequence[str],
    benchmark: str,
    task: str | None = None,
    count: int = 3,
    without_flagged: bool = False,
) -> tuple[Nearest, ...]:
    """The concepts of a task that are nearest to a text, the nearest first; none where no query shares a word with it.

    The text is compared with the queries, by cosine, in the space of an encoder that is asked anyway: the families of
    the documents found would say what the system takes the text for, which is what is to be measured. Of several
    encoders a multilingual one goes first, since one that knows English only compares scripts. Only vectors that a run
    has stored are used: nothing but the text itself is encoded. Where no encoder is asked, none loads, or its query
    vectors are not stored, the words of the queries are compared by BM25. A few words are often far from every long
    question, so that the nearest concept may be a wrong one: whoever asks has to choose it.

    Args:
        store: where the queries are.
        text: words of one's own.
        systems: those that are asked, names of the catalogue.
        benchmark: name or name@version.
        task: its default task if left out.
        count: most concepts returned.
        without_flagged: flagged queries are not compared.

    Raises:
        InputError: an empty text, an unknown benchmark, task or system.
    """
    if not text.strip():
        raise InputError("the query is empty: expected some words to look for")
    row = find_task(store, benchmark, task)
    content = SEATS.content(store, row)
    left = ~store.flagged(row.task_id).queries if without_flagged else np.ones(len(content.queries), dtype=bool)
    root = str(store.cache.root)
    for entry in _encoders(systems):
        try:
            known = _remembered((root, row.checksum, entry.name), partial(_stored, store, content, entry))
        except SystemLoadError:  # whoever asks the system is told why; the next one compares
            continue
        if known is not None:
            compared = np.flatnonzero(left)
            cosine = known.vectors[compared] @ known.encoder.encode([text], role="query")[0]
            order = np.argsort(-cosine, kind="stable")
            return _concepts(content, compared[order], cosine[order], measure="cosine", entry=entry)[:count]
    words = _remembered((root, row.checksum, WORDS), partial(_words, content))
    best, scores = words.one(text, depth=len(left), excluded=np.flatnonzero(~left).astype(np.int32))
    return _concepts(content, best, scores, measure="BM25", entry=catalogue.entry(WORDS))[:count]


def _encoders(systems: Sequence[str]) -> list[Entry]:
    """The encoders behind some systems, each once: multilingual ones first, then as they come."""
    found = dict.fromkeys(name for system in systems for name in _behind(catalogue.entry(system)))
    return sorted((catalogue.entry(name) for name in found), key=lambda entry: "multilingual" not in entry.paradigm)


def _behind(system: Entry) -> list[str]:
    """Names of the dense systems that a system is made of."""
    if system.kind == "dense":
        return [system.name]
    return [name for part in system.parts for name in _behind(catalogue.entry(part))]


def _stored(store: Store, content: Content, entry: Entry) -> _Known | None:
    bench = SEATS.bench(store)
    vectors = bench.stored(entry, content.questions.texts, role="query")
    return None if vectors is None else _Known(bench.encoder(entry), vectors)


def _words(content: Content) -> Lexical:
    order = np.arange(len(content.queries), dtype=np.int32)
    return Lexical(content.questions.texts, system=catalogue.entry(WORDS), tie_order=order)


def _remembered(key: Key, make: Callable[[], T]) -> T:
    """What was made for this key before, or is made now, while nobody waits; None is not remembered."""
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            found: T = _kept[key]
            return found
    made = make()
    if made is not None:
        with _lock:
            _kept[key] = made
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
    return made


def _concepts(
    content: Content, places: NDArray[np.integer], scores: NDArray[np.floating], *, measure: str, entry: Entry
) -> tuple[Nearest, ...]:
    """The concepts of some queries, the nearest first, each by its nearest query."""
    asked = content.questions
    found: dict[str, Nearest] = {}
    for place, score in zip(places.tolist(), scores.tolist(), strict=True):
        words = asked.languages[place], asked.texts[place]
        near = Nearest(content.keys[place], content.queries[place], *words, score, measure, entry.short_title)
        found.setdefault(near.family, near)
    return tuple(found.values())
