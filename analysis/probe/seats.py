"""Systems opened on the corpus of a task, once in this process for all sessions; the least recently asked leave."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from weakref import WeakValueDictionary

from analysis.model import Corpus, Questions
from analysis.store.read import JudgementColumns, Store, TaskRow
from analysis.systems.assemble import build
from analysis.systems.live import Live, open_live
from analysis.systems.workbench import Workbench

KEPT = 12  # systems opened on a corpus that stay in memory
KEPT_BYTES = 2**30  # that they may take together; the last one opened stays, whatever it takes

Key = tuple[str, str, str]
"""Cache folder, checksum of the task, and what is opened on it."""


@dataclass(frozen=True)
class Content:
    """What a task asks of a corpus: its checksum decides it, so that it is read once."""

    corpus: Corpus
    families: tuple[str | None, ...]  # one a document
    queries: tuple[str, ...]  # ids
    keys: tuple[str, ...]  # one a query: what ties the language versions of a question together
    questions: Questions
    judged: JudgementColumns


@dataclass(frozen=True)
class Seat:
    """A system opened on the corpus of a task."""

    live: Live
    content: Content


class Seats:
    """The opened systems.

    Opening one can take minutes, so whoever asks for another one does not wait for it: a lock is held while the same
    system is being opened on the same corpus, and none while a system is asked. An encoder locks itself for each call.

    Args:
        kept: most systems.
        kept_bytes: most memory that they take of their corpora.
    """

    def __init__(self, *, kept: int = KEPT, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept, self._kept_bytes = kept, kept_bytes
        self._lock = threading.Lock()  # held for moments only
        self._doors: dict[Key, threading.Lock] = {}
        self._seats: OrderedDict[Key, Seat] = OrderedDict()
        self._contents: WeakValueDictionary[Key, Content] = WeakValueDictionary()
        self._benches: dict[str, Workbench] = {}

    def take(self, store: Store, task: TaskRow, system: str) -> Seat:
        """A system on a task's corpus, opened now unless it is open.

        Raises:
            InputError: no such system.
            SystemLoadError: an encoder does not load or fails its check.
            SystemRefusedError: the corpus is too large for the system.
        """
        key = (str(store.cache.root), task.checksum, system)
        if seat := self._open(key):
            return seat
        with self._door(key):
            if seat := self._open(key):
                return seat
            content = self.content(store, task)
            seat = Seat(open_live(build(system), content.corpus, workbench=self.bench(store)), content)
            self._keep(key, seat)
            return seat

    def content(self, store: Store, task: TaskRow) -> Content:
        """What a task asks, read now unless a seat has it."""
        key = (str(store.cache.root), task.checksum, "")
        with self._door(key):
            if (content := self._contents.get(key)) is None:
                content = self._contents[key] = _content(store, task)
            return content

    def bench(self, store: Store) -> Workbench:
        """Where the encoders of a cache folder are loaded: an encoder stays as long as a seat needs it."""
        root = str(store.cache.root)
        with self._lock:
            if root not in self._benches:
                self._benches[root] = Workbench(store.cache, keep=False)
            return self._benches[root]

    def _door(self, key: Key) -> threading.Lock:
        with self._lock:
            return self._doors.setdefault(key, threading.Lock())

    def _open(self, key: Key) -> Seat | None:
        with self._lock:
            if key in self._seats:
                self._seats.move_to_end(key)
            return self._seats.get(key)

    def _keep(self, key: Key, seat: Seat) -> None:
        with self._lock:
            self._seats[key] = seat
            while len(self._seats) > 1 and (len(self._seats) > self._kept or self._bytes() > self._kept_bytes):
                self._seats.popitem(last=False)

    def _bytes(self) -> int:
        return sum(seat.live.nbytes for seat in self._seats.values())


def _content(store: Store, task: TaskRow) -> Content:
    corpus, queries = store.corpus(task.task_id), store.queries(task.task_id)
    return Content(
        corpus=corpus,
        families=tuple(store.documents(task.task_id).family[: len(corpus)]),
        queries=tuple(queries.id),
        keys=queries.question,
        questions=store.questions(task.task_id),
        judged=store.judgements(task.task_id),
    )
