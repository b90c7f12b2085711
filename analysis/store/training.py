"""Which texts and concepts of tasks occur in a file: a stream of texts goes past keys that are held in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analysis.store.read import Store
from analysis.store.text_keys import TELL, Hashes, Keys, Sums, Told
from analysis.store.texts import GROUPED, given

SPAN = 13
"""Words in a row that a text and a training text share where one may have been learned from the other (Brown et al.,
Language Models are Few-Shot Learners, 2020, appendix C)."""

LEAST = 8
"""Words of the shortest text that is looked for inside training texts (the least N there)."""

MOST_WORDS = 10_000_000
"""Words of a task's documents above which their spans are looked for at every SPAN-th word only: memory is bounded."""

TEXTS = 5000
"""Texts of tasks that are read at a time."""

KINDS = ("exact", "normalised", "inside", "span")
"""How a text may occur, the surest first; each counts as the first that it is."""


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
class Wanted:
    """What is looked for.

    Attributes:
        items: ``(n,)`` rows with the columns task_id, item, position and language.
        trimmed: ``(n,)`` keys of the texts as they are; 0 for a text without anything.
        compact: ``(n,)`` keys of their letters, marks and digits; 0 without any.
        whole: ``(n,)`` keys of all their words.
        lengths: ``(n,)`` how many words they have.
        place: ``(s,)`` the text that each span is of.
        spans: ``(s,)`` keys of the spans.
        thinned: spans of documents begin at every SPAN-th word only.
    """

    items: pa.Table
    trimmed: Hashes
    compact: Hashes
    whole: Hashes
    lengths: NDArray[np.int64]
    place: NDArray[np.int64]
    spans: Hashes
    thinned: bool

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection) -> Wanted:
        """From the view ``given``, some thousand texts at a time: only keys are held."""
        answer = connection.sql(f"SELECT task_id, item, position, language, {TELL} FROM given")  # noqa: S608
        parts: list[_Part] = []
        n_words, n, thinned = 0, 0, False
        for batch in answer.to_arrow_reader(TEXTS):
            part = _Part.of(pa.Table.from_batches([batch]), first=n)
            n += len(part.lengths)
            n_words += int(part.lengths[part.of_documents].sum())
            if n_words > MOST_WORDS and not thinned:
                parts, thinned = [held.thinned() for held in parts], True
            parts.append(part.thinned() if thinned else part)
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _Part.COLUMNS}
        return cls(items=pa.concat_tables([part.items for part in parts]), thinned=thinned, **columns)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some of what is looked for; as in Wanted, and for each span where in its text it begins."""

    items: pa.Table
    trimmed: Hashes
    compact: Hashes
    whole: Hashes
    lengths: NDArray[np.int64]
    place: NDArray[np.int64]
    spans: Hashes
    inside: NDArray[np.int32]
    of_documents: NDArray[np.bool_]  # (n,)
    first: int  # place of its first text among all

    COLUMNS: ClassVar = ("trimmed", "compact", "whole", "lengths", "place", "spans")

    @classmethod
    def of(cls, table: pa.Table, *, first: int) -> _Part:
        told = Told.of(table)
        sums = Sums(told.words)
        place = np.repeat(np.arange(len(told.lengths)), told.lengths)
        word = np.arange(len(told.words))
        kept = word[word + SPAN <= told.ends[1:][place]]
        return cls(
            items=table.select(["task_id", "item", "position", "language"]),
            trimmed=told.trimmed,
            compact=told.compact,
            whole=sums.keys(told.ends[:-1], told.lengths),
            lengths=told.lengths,
            place=place[kept] + first,
            spans=sums.keys(kept, SPAN),
            inside=(kept - told.ends[:-1][place[kept]]).astype(np.int32),
            of_documents=np.array(table.column("item").to_pylist(), dtype=object) == "document",
            first=first,
        )

    def thinned(self) -> _Part:
        """With every SPAN-th span of documents only."""
        kept = ~self.of_documents[self.place - self.first] | (self.inside % SPAN == 0)
        return replace(self, place=self.place[kept], spans=self.spans[kept], inside=self.inside[kept])


class Search:
    """What of some tasks is looked for, and where it was found so far."""

    def __init__(self, store: Store, task_ids: Sequence[int]) -> None:
        self._store = store
        with given(store, task_ids) as connection:
            self.concepts = connection.sql(
                f"""SELECT task_id, family, hash(family) AS key FROM given SEMI JOIN ({GROUPED}) USING (task_id)
                    WHERE item = 'query' GROUP BY ALL ORDER BY ALL"""  # noqa: S608 (SQL of ours)
            ).to_arrow_table()
            self._wanted = wanted = Wanted.of(connection)
        lengths = np.unique(wanted.lengths)
        self._keys = {
            "exact": Keys(wanted.trimmed[wanted.trimmed > 0]),
            "normalised": Keys(wanted.compact[wanted.compact > 0]),
            "span": Keys(wanted.spans),
            "concept": Keys(self.concepts.column("key").to_numpy()),
        }
        self._inside = {n: Keys(wanted.whole[wanted.lengths == n]) for n in lengths[lengths >= LEAST].tolist()}

    @property
    def every(self) -> int:
        """At every how manieth word of documents spans are looked for."""
        return SPAN if self._wanted.thinned else 1

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
        for n, keys in self._inside.items():
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
        told, n = self._wanted, self._wanted.items.num_rows
        rows = {kind: np.full(n, -1, np.int64) for kind in KINDS}
        for kind, keys in (("exact", told.trimmed), ("normalised", told.compact)):
            some = keys > 0
            rows[kind][some] = self._keys[kind].rows(keys[some])
        for length, looked in self._inside.items():
            same = told.lengths == length
            rows["inside"][same] = looked.rows(told.whole[same])
        spans = self._keys["span"].rows(told.spans)
        met, first = spans >= 0, np.full(n, np.iinfo(np.int64).max)
        np.minimum.at(first, told.place[met], spans[met])
        rows["span"][told.place[met]] = first[told.place[met]]
        return pa.concat_tables([self._found_texts(rows), self._found_concepts()])

    def _found_texts(self, rows: Mapping[str, NDArray[np.int64]]) -> pa.Table:
        stacked = np.stack([rows[kind] for kind in KINDS])
        best = np.argmax(stacked >= 0, axis=0)
        met = np.flatnonzero((stacked >= 0).any(axis=0))
        kept = self._wanted.items.select(["task_id", "item", "position"]).take(pa.array(met))
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
            lengths = pa.array(self._wanted.lengths)
            connection.register("wanted", self._wanted.items.append_column("n_words", lengths))
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
            firsts = {name: keys.first for name, keys in self._named()}
            np.savez(handle, **firsts, past=np.array([batches, n_rows, n_texts]))  # type: ignore[arg-type]
        aside.replace(file)

    def take_up(self, file: Path) -> tuple[int, int, int]:
        """What was saved; returns how much went past before: batches, rows and texts."""
        if not file.is_file():
            return 0, 0, 0
        with np.load(file) as kept:
            for name, keys in self._named():
                keys.first = kept[name]
            batches, n_rows, n_texts = kept["past"].tolist()
        return batches, n_rows, n_texts

    def _named(self) -> Iterator[tuple[str, Keys]]:
        """All that is looked for, as it is called in a file."""
        yield from self._keys.items()
        yield from ((f"inside {n}", keys) for n, keys in self._inside.items())


def _dicts(answer: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
