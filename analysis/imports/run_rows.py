"""The rows of a run file, many at a time, and their faults; what every format's reader makes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports.faults import LISTED
from analysis.imports.lines import Source

FORMATS = ("trec", "ranx", "mteb", "pyterrier", "msmarco", "csv", "jsonl", "parquet")
"""What a run file may be said to be."""

BATCH = 1 << 18  # rows of a table or object at a time
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Fault(NamedTuple):
    """One faulty row."""

    number: int  # physical line; in JSON and CBOR the entry and in Parquet the row, from 1
    kind: str
    text: str  # value and what was expected


@dataclass
class RowFaults:
    """Faulty rows: all counted by kind, the first of each kind listed."""

    counts: Counter[str] = field(default_factory=Counter)
    listed: list[Fault] = field(default_factory=list)

    def add(self, kind: str, numbers: NDArray[np.int64], describe: Callable[[int], str]) -> None:
        """Count the rows ``numbers`` ``(n,)``; ``describe(place)`` says what is wrong with one of them."""
        for place in range(min(len(numbers), LISTED - self.counts[kind])):
            self.listed.append(Fault(int(numbers[place]), kind, describe(place)))
        if len(numbers):
            self.counts[kind] += len(numbers)


class Rows(NamedTuple):
    """Some rows of a run, in the order of the file, each column of length n; rows with a fault are left out."""

    query: pa.Array  # ids as text
    document: pa.Array
    score: NDArray[np.float64]  # finite
    rank: NDArray[np.float64] | None  # as written, NaN where it is no number; None where the format has none
    number: NDArray[np.int64]  # as in Fault
    tags: tuple[str, ...] = ()  # the different ones


@dataclass(frozen=True)
class Choices:
    """What of a file is read, where it may hold more than one run or call its columns otherwise.

    Attributes:
        subset: of an mteb file; None: the only one, or all where no query of the task is in two.
        split: of an mteb file; None: the only one.
        columns: column of a table -> ``query_id``, ``doc_id`` or ``score``.
        queries: the task's query ids, by which the subsets of an mteb file are told apart.
        documents: the task's document ids, for the same.
    """

    subset: str | None = None
    split: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    queries: Sequence[str] = ()
    documents: Sequence[str] = ()


def numbers(texts: pa.Array) -> NDArray[np.float64]:
    """Texts as doubles; NaN for what is no finite decimal number."""
    try:
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        values = np.array([float(text) if NUMBER.fullmatch(text) else np.nan for text in texts.to_pylist()])
    return np.where(np.isfinite(values), values, np.nan)


class Scores(NamedTuple):
    """Scores of a table or object."""

    value: NDArray[np.float64]  # NaN or infinite where it is no score
    written: Sequence[Any]  # as it stands in the file


def sound_rows(ids: tuple[pa.Array, pa.Array], score: Scores, number: NDArray[np.int64], faults: RowFaults) -> Rows:
    """Rows with a finite score; ``ids`` of query and document."""
    sound = np.isfinite(score.value)
    wrong = np.flatnonzero(~sound)
    query, document = ids

    def describe(place: int) -> str:
        row = int(wrong[place])
        where = f"query {query[row].as_py()!r}, document {document[row].as_py()!r}"
        return f"{where}: score {str(score.written[row])[:40]!r}, expected a finite number"

    faults.add("score", number[wrong], describe)
    kept = pa.array(sound)
    return Rows(query.filter(kept), document.filter(kept), score.value[sound], None, number[sound])


def as_ids(source: Source, texts: Sequence[str]) -> pa.Array:
    """Ids of an object as a column.

    Raises:
        InputError: one has half a surrogate, which no UTF-8 text can have.
    """
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError as error:
        raise InputError(f"{source.path}: id {error.object!r}, expected text without half a surrogate") from error
