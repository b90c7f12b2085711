"""Which texts and concepts of tasks occur in a file: a stream of texts goes past keys that are held in memory.

Keys are 64-bit hashes. Those of runs of words are polynomials over the hashes of the words, so that the key of any run
follows from two prefix sums; that two different runs share a key is about as likely as two hashes being equal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.store.read import Store
from analysis.store.texts import COMPACT, GROUPED, TRIMMED, WORDS, given

SPAN = 13
"""Words in a row that a text and a training text share where one may have been learned from the other (Brown et al.,
Language Models are Few-Shot Learners, 2020, appendix C)."""

LEAST = 8
"""Words of the shortest text that is looked for inside training texts (the least N there)."""

MOST_WORDS = 10_000_000
"""Words of a task's documents above which their spans are looked for at every SPAN-th word only: memory is bounded."""

KINDS = ("exact", "normalised", "inside", "span")
"""How a text may occur, the surest first; each counts as the first that it is."""

BASE = 0x9E3779B97F4A7C15
MODULUS = 1 << 64
LARGEST_FILTER = 24  # bits

Hashes = NDArray[np.uint64]


class TrainingRow(NamedTuple):
    """One file that a benchmark was looked for in."""

    training_id: int
    file: str
    checksum: str
    n_bytes: int
    n_rows: int
    n_texts: int
    settings: Mapping[str, Any]
    counts: Mapping[str, Any]
    made_at: str  # ISO time, UTC


class MatchRow(NamedTuple):
    """Something of a benchmark that occurs in a file."""

    task: str
    item: str  # query | document | concept
    id: str  # of the query or document, or the concept
    language: str | None  # None: a concept
    family: str
    kind: str
    row: int


def trainings(store: Store, benchmark_id: int) -> list[TrainingRow]:
    """The files that a benchmark was looked for in, the latest first."""
    rows = store._rows(
        """SELECT training_id, file, checksum, n_bytes, n_rows, n_texts, settings, counts,
                  strftime(date_trunc('second', made_at), '%Y-%m-%dT%H:%M:%S')
           FROM training WHERE benchmark_id = ? ORDER BY training.made_at DESC, training_id DESC""",
        [benchmark_id],
    )
    return [TrainingRow._make([*row[:6], json.loads(row[6]), json.loads(row[7]), row[8]]) for row in rows]


def matches(store: Store, training_id: int) -> list[MatchRow]:
    """All that occurs in a file, by task, queries first, in the order of the task."""
    rows = store._rows(
        """SELECT task.name, item, coalesce(query.id, document.id, concept),
                  coalesce(query.language, document.language),
                  coalesce(query.family, document.family, concept), kind, row
           FROM training_match AS met JOIN task USING (task_id)
           LEFT JOIN query ON item = 'query' AND query.task_id = met.task_id AND query.query = position
           LEFT JOIN document ON item = 'document' AND document.task_id = met.task_id AND document.document = position
           WHERE training_id = ? ORDER BY met.task_id, item DESC, position, concept""",
        [training_id],
    )
    return [MatchRow._make(row) for row in rows]


@dataclass(frozen=True, eq=False)
class Told:
    """What is told of some texts.

    Attributes:
        trimmed: ``(n,)`` keys of the texts as they are; 0 for a text without anything.
        compact: ``(n,)`` keys of their letters, marks and digits; 0 without any.
        words: ``(w,)`` keys of all their words, one text after the other.
        ends: ``(n + 1,)`` where the words of each text begin, and the end.
    """

    trimmed: Hashes
    compact: Hashes
    words: Hashes
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, table: pa.Table) -> Told:
        """From the columns of TELL."""
        lists = table.column("words").combine_chunks()
        return cls(
            table.column("trimmed").to_numpy(),
            table.column("compact").to_numpy(),
            lists.flatten().to_numpy(zero_copy_only=False),
            lists.offsets.to_numpy().astype(np.int64) - lists.offsets[0].as_py(),
        )

    @property
    def lengths(self) -> NDArray[np.int64]:
        """``(n,)`` words of each text."""
        return np.diff(self.ends)


class Sums:
    """Keys of runs of words."""

    def __init__(self, words: Hashes) -> None:
        self._backwards = _powers(pow(BASE, -1, MODULUS), len(words))
        weighted = words * _powers(BASE, len(words))[:-1]
        self._sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weighted, dtype=np.uint64)])

    def keys(self, first: NDArray[np.int64], length: int | NDArray[np.int64]) -> Hashes:
        """Of the runs that begin at these words and have so many."""
        found: Hashes = (self._sums[first + length] - self._sums[first]) * self._backwards[first]
        return found


def _powers(base: int, n: int) -> Hashes:
    """``(n + 1,)`` powers modulo 2 to the 64th, from the 0th on."""
    return np.concatenate([np.ones(1, np.uint64), np.cumprod(np.full(n, base, np.uint64), dtype=np.uint64)])


class Keys:
    """Keys that are looked for, each with the first row that had it."""

    def __init__(self, wanted: Hashes) -> None:
        self._keys = np.unique(wanted)
        self.first = np.full(len(self._keys), -1, np.int64)
        bits = min(LARGEST_FILTER, max(8, len(self._keys).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        self._filter = np.zeros(1 << bits, dtype=bool)
        self._filter[(self._keys >> self._shift).astype(np.intp)] = True

    def meet(self, keys: Hashes, rows: NDArray[np.int64]) -> NDArray[np.intp]:
        """Note in which rows, ascending, keys stand; returns the positions of those that are looked for."""
        at: NDArray[np.intp] = np.flatnonzero(self._filter[(keys >> self._shift).astype(np.intp)])
        if not len(self._keys) or not len(at):
            return np.zeros(0, np.intp)
        place = np.minimum(np.searchsorted(self._keys, keys[at]), len(self._keys) - 1)
        hit = self._keys[place] == keys[at]
        at, place = at[hit], place[hit]
        fresh = self.first[place] < 0
        self.first[place[fresh][::-1]] = rows[at[fresh]][::-1]  # of several rows the first stays
        return at

    def rows(self, keys: Hashes) -> NDArray[np.int64]:
        """The first row of each of some keys that are looked for; -1 where none had it."""
        found: NDArray[np.int64] = self.first[np.searchsorted(self._keys, keys)]
        return found


class Search:
    """What of some tasks is looked for, and where it was found so far."""

    def __init__(self, store: Store, task_ids: Sequence[int]) -> None:
        self._store = store
        with given(store, task_ids) as connection:
            table = connection.sql(
                f"""SELECT task_id, item, position, language, {TELL} FROM given
                    ORDER BY task_id, item, position"""  # noqa: S608 (SQL of ours)
            ).to_arrow_table()
            self.concepts = connection.sql(
                f"""SELECT task_id, family, hash(family) AS key FROM given SEMI JOIN ({GROUPED}) USING (task_id)
                    WHERE item = 'query' GROUP BY ALL ORDER BY ALL"""  # noqa: S608 (SQL of ours)
            ).to_arrow_table()
        self.items = table.select(["task_id", "item", "position", "language"])
        self._told = told = Told.of(table)
        self._whole = Sums(told.words).keys(told.ends[:-1], told.lengths)
        self.every = _strides(table.column("item").to_pylist(), told.lengths)
        self._place, self._spans = _spans(told, self.every)
        lengths = np.unique(told.lengths)
        self._keys = {
            "exact": Keys(told.trimmed[told.trimmed > 0]),
            "normalised": Keys(told.compact[told.compact > 0]),
            "span": Keys(self._spans),
            "concept": Keys(self.concepts.column("key").to_numpy()),
            **{f"inside {n}": Keys(self._whole[told.lengths == n]) for n in lengths[lengths >= LEAST].tolist()},
        }

    def look(self, rows: NDArray[np.int64], texts: pa.Array) -> None:
        """Let some texts go past, of ascending rows."""
        table = pa.table({"place": np.arange(len(texts)), "text": texts})
        with self._store._cursor(None) as connection:
            connection.register("passing", table)
            told = Told.of(connection.sql(f"SELECT {TELL} FROM passing ORDER BY place").to_arrow_table())  # noqa: S608
        self._keys["exact"].meet(told.trimmed, rows)
        self._keys["normalised"].meet(told.compact, rows)
        row, end = np.repeat(rows, told.lengths), np.repeat(told.ends[1:], told.lengths)
        first, sums = np.arange(len(told.words)), Sums(told.words)
        spans = first[first + SPAN <= end]
        reached = spans[self._keys["span"].meet(sums.keys(spans, SPAN), row[spans])]
        for name, keys in self._keys.items():
            if name.startswith("inside "):
                n = int(name.removeprefix("inside "))
                begins = first if n < SPAN else reached  # a longer text begins with a span that is looked for
                fitting = begins[begins + n <= end[begins]]
                keys.meet(sums.keys(fitting, n), row[fitting])

    def look_for_concepts(self, rows: NDArray[np.int64], names: pa.Array) -> None:
        """Let the concepts of some rows go past."""
        with self._store._cursor(None) as connection:
            connection.register("passing", pa.table({"place": np.arange(len(names)), "name": names}))
            found = connection.execute("SELECT hash(name) AS key FROM passing ORDER BY place").fetchnumpy()["key"]
        self._keys["concept"].meet(np.asarray(found), rows)

    def found(self) -> pa.Table:
        """What occurs: columns ``task_id``, ``item``, ``position``, ``concept``, ``kind`` and ``row``."""
        told, n = self._told, self.items.num_rows
        rows = {kind: np.full(n, -1, np.int64) for kind in KINDS}
        for kind, keys in (("exact", told.trimmed), ("normalised", told.compact)):
            some = keys > 0
            rows[kind][some] = self._keys[kind].rows(keys[some])
        for name, looked in self._keys.items():
            if name.startswith("inside "):
                same = told.lengths == int(name.removeprefix("inside "))
                rows["inside"][same] = looked.rows(self._whole[same])
        spans = self._keys["span"].rows(self._spans)
        met, first = spans >= 0, np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(first, self._place[met], spans[met])
        rows["span"][self._place[met]] = first[self._place[met]]
        return pa.concat_tables([self._found_texts(rows), self._found_concepts()])

    def _found_texts(self, rows: Mapping[str, NDArray[np.int64]]) -> pa.Table:
        stacked = np.stack([rows[kind] for kind in KINDS])
        best = np.argmax(stacked >= 0, axis=0)
        met = np.flatnonzero((stacked >= 0).any(axis=0))
        kept = self.items.select(["task_id", "item", "position"]).take(pa.array(met))
        return pa.table({
            **{name: kept.column(name).combine_chunks() for name in kept.column_names},
            "concept": pa.nulls(len(met), pa.string()),
            "kind": pa.array([KINDS[place] for place in best[met]], pa.string()),
            "row": stacked[best[met], met],
        })  # fmt: skip

    def _found_concepts(self) -> pa.Table:
        rows = self._keys["concept"].rows(self.concepts.column("key").to_numpy())
        met = np.flatnonzero(rows >= 0)
        kept = self.concepts.take(pa.array(met))
        return pa.table({
            "task_id": kept.column("task_id").combine_chunks(),
            "item": pa.array(["concept"] * len(met), pa.string()),
            "position": pa.nulls(len(met), pa.int32()),
            "concept": kept.column("family").combine_chunks(),
            "kind": pa.array(["exact"] * len(met), pa.string()),
            "row": rows[met],
        })  # fmt: skip

    def counts(self, found: pa.Table) -> dict[str, list[dict[str, Any]]]:
        """How much was looked for and how much of it occurs: ``texts`` by task, item and language, ``concepts``."""
        with self._store._cursor(None) as connection:
            lengths = pa.array(self._told.lengths)
            connection.register("wanted", self.items.append_column("n_words", lengths))
            connection.register("met", found)
            connection.register("asked", self.concepts.select(["task_id", "family"]))
            kinds = ", ".join(f"count(*) FILTER (kind = '{kind}') AS {kind}" for kind in KINDS)
            texts = connection.execute(
                f"""SELECT task.name AS task, wanted.item, wanted.language, count(*) AS n,
                           count(*) FILTER (n_words < {LEAST}) AS short, {kinds}
                    FROM wanted JOIN task USING (task_id) LEFT JOIN met USING (task_id, item, position)
                    GROUP BY ALL ORDER BY min(task_id), wanted.item DESC, n DESC, wanted.language"""  # noqa: S608
            )
            rows = _dicts(texts)
            concepts = connection.execute(
                """SELECT task.name AS task, count(*) AS n, count(kind) AS found
                   FROM asked JOIN task USING (task_id)
                   LEFT JOIN met ON met.task_id = asked.task_id AND concept = family AND met.item = 'concept'
                   GROUP BY ALL ORDER BY min(task.task_id)"""
            )
            return {"texts": rows, "concepts": _dicts(concepts)}

    def keep(self, file: Path, *, batches: int, n_rows: int, n_texts: int) -> None:
        """Save what was found so far, with how much went past; the file appears whole."""
        aside = file.with_suffix(".tmp")
        file.parent.mkdir(parents=True, exist_ok=True)
        with aside.open("wb") as handle:
            firsts = {name: keys.first for name, keys in self._keys.items()}
            np.savez(handle, **firsts, past=np.array([batches, n_rows, n_texts]))  # type: ignore[arg-type]
        aside.replace(file)

    def take_up(self, file: Path) -> tuple[int, int, int]:
        """What was saved; returns how much went past before: batches, rows and texts."""
        if not file.is_file():
            return 0, 0, 0
        with np.load(file) as kept:
            for name, keys in self._keys.items():
                keys.first = kept[name]
            batches, n_rows, n_texts = kept["past"].tolist()
        return batches, n_rows, n_texts


TELL = f"""
coalesce(CASE WHEN {TRIMMED} <> '' THEN hash({TRIMMED}) END, 0::UBIGINT) AS trimmed,
coalesce(CASE WHEN {COMPACT} <> '' THEN hash({COMPACT}) END, 0::UBIGINT) AS compact,
list_transform({WORDS}, lambda word: hash(word)) AS words
"""
"""SQL for the keys of a text."""


def _strides(items: Sequence[str], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """At every how manieth word the spans of each text begin."""
    documents = np.array(items, dtype=object) == "document"
    many = int(lengths[documents].sum()) > MOST_WORDS
    return np.where(documents & many, SPAN, 1).astype(np.int64)


def _spans(told: Told, every: NDArray[np.int64]) -> tuple[NDArray[np.int64], Hashes]:
    """The text that each span is of, and its key."""
    place = np.repeat(np.arange(len(told.lengths)), told.lengths)
    first = np.arange(len(told.words))
    inside = first - told.ends[:-1][place]
    kept = first[(first + SPAN <= told.ends[1:][place]) & (inside % every[place] == 0)]
    return place[kept], Sums(told.words).keys(kept, SPAN)


def _dicts(answer: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
