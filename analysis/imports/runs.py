"""Runs of other people: from a file to a ranking of a stored task, with a report of what was found in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.imports import run_formats
from analysis.imports.lines import Source, opened
from analysis.imports.run_rows import Choices, Fault, RowFaults, Rows
from analysis.model import Ranking
from analysis.text import id_key

DEEPEST = 1000  # documents of a query that count; what stands deeper is left out
SHOWN = 3  # ids of each side in a message
PLACES_AT_ONCE = 1 << 18  # of documents in the rankings of some queries: a table that fits a core's cache
PLACES = {"json": "entry", "cbor": "entry", "mteb": "entry", "parquet": "row"}
"""What a row's number counts where it is no physical line."""

ALL = Choices()

MENDED = ("tag", "unknown document")
"""RowFaults that a lenient import mends; a row with any other is dropped."""


@dataclass(frozen=True, eq=False)
class Known:
    """What a run file is read against.

    Attributes:
        queries: the task's Q query ids.
        documents: its M document ids, first the corpus, then those that are only judged or only retrieved.
        in_corpus: ``(M,)`` whether the document is in the corpus.
        judged: ``(Q,)`` whether the query has a judgement.
        excluded: query position -> positions of documents that leave its ranking before ranks are counted.
    """

    queries: Sequence[str]
    documents: Sequence[str]
    in_corpus: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    excluded: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)


class Depth(NamedTuple):
    """Documents of a query, over the task's queries that the file has."""

    least: int
    median: float
    most: int


@dataclass(frozen=True)
class Report:
    """What was found in a file; kept with the run."""

    file: str
    sha256: str  # of the file, unpacked
    format: str
    packed: tuple[str, ...]  # how, the outermost first
    tags: tuple[str, ...]  # several: runs may have been put together
    n_rows: int  # of the file, dropped ones included
    n_ranked: int  # rows of the ranking
    n_queries: int  # of the task
    n_queries_found: int
    n_missing: int  # judged queries that the file lacks; they count 0
    missing: tuple[str, ...]  # the first of them
    n_unknown_queries: int  # of the file, which the task lacks
    unknown_queries: tuple[str, ...]  # the first of them
    n_unjudged: int  # queries of the file that nobody judged
    n_unknown_documents: int  # kept as non-relevant, without a language
    n_near: int  # of the unknown queries and documents, those that differ little from an id of the task
    near: tuple[tuple[str, str], ...]  # the first of them with that id; never taken for it
    n_rank_disagrees: int  # queries whose rank column puts documents in another order than the scores
    n_ties_against_rank: int  # queries whose rank column puts documents of equal scores in another order than their ids
    n_excluded: int  # rows of documents that are excluded for their query
    n_too_deep: int  # rows beyond the deepest rank that counts
    depth: Depth | None  # None where nothing was found
    dropped: Mapping[str, int]  # rows by kind of fault
    mended: Mapping[str, int]
    faults: tuple[Fault, ...]  # the rows dropped or mended, the first of each kind


@dataclass(frozen=True, eq=False)
class RunFile:
    """A checked file.

    Attributes:
        ranking: in the task's positions; ``unknown_documents[i]`` has position M + i.
        unknown_documents: retrieved documents that the task knows nothing of.
        report: what was found.
    """

    ranking: Ranking
    unknown_documents: tuple[str, ...]
    report: Report


def read(
    path: Path,
    *,
    known: Known,
    format: str | None = None,
    choices: Choices = ALL,
    lenient: bool = False,
    allow_unknown_documents: bool = False,
) -> RunFile:
    """Read a run, plain or packed.

    The order is by score as a double, descending; of equal scores the larger document id comes first, by code point,
    as in trec_eval. A rank column is not looked at, except to count the queries in which it says something else.

    Args:
        path: the file.
        known: the task.
        format: one of ``run_rows.FORMATS``; None tells all but MS MARCO by the first bytes.
        choices: what of the file is read; the task's ids are added.
        lenient: import what is sound and report the rest.
        allow_unknown_documents: keep documents that the corpus lacks as non-relevant.

    Raises:
        InputError: the file cannot be read, no query of it is known, or (unless lenient) the first fault in it, with
            its physical line, the value, what was expected, and how many more follow.
    """
    with opened(path) as source:
        form = run_formats.format_of(source, format)
        choices = replace(choices, queries=known.queries, documents=known.documents)
        found = _Found(
            known,
            place=PLACES.get(form, "line"),
            keep_unknown=lenient or allow_unknown_documents,
            blame_unknown=not allow_unknown_documents,
        )
        for rows in run_formats.rows(source, form, found.faults, choices):
            found.take(rows)
        found.end()
        _refuse(source, found, lenient=lenient)
        return _run_file(source, form, found)


class _Columns(NamedTuple):
    """Rows of known queries, in the task's positions."""

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    score: NDArray[np.float64]
    rank: NDArray[np.float64]  # NaN where the format has none
    number: NDArray[np.int64]

    def rows(self, which: NDArray[np.generic]) -> _Columns:
        return _Columns(*(column[which] for column in self))

    def move(self, origin: NDArray[np.intp], to: NDArray[np.intp]) -> None:
        """Put the rows ``origin`` ``(n,)`` at the places ``to`` ``(n,)``, which hold the same rows."""
        for column in self:
            column[to] = column[origin]


class _Found:
    """What has been read so far."""

    def __init__(self, known: Known, *, place: str, keep_unknown: bool, blame_unknown: bool) -> None:
        self.known = known
        self.place = place  # what a row's number counts
        self.faults = RowFaults()
        self.n_rows = 0  # sound ones
        self.tags: dict[str, None] = {}
        self.queries: dict[str, None] = {}  # of the file, which the task lacks
        self.unknown: dict[str, int] = {}  # document id -> position
        self.outside: set[int] = set()  # positions of documents that the task names and the corpus lacks
        self.columns = _Columns(*(np.zeros(0, kind) for kind in ("i4", "i4", "f8", "f8", "i8")))
        self._keep_unknown = keep_unknown
        self._blame_unknown = blame_unknown
        self._parts: tuple[list[NDArray[np.generic]], ...] = tuple([column] for column in self.columns)
        self._ids = pa.array(known.queries, pa.string()), pa.array(known.documents, pa.string())

    def take(self, rows: Rows) -> None:
        """Translate ids into positions and set aside what the task does not know."""
        self.n_rows += len(rows.score)
        self.tags.update(dict.fromkeys(rows.tags))
        query = _repeated_positions(rows.query, self._ids[0])
        names = rows.document
        rank = np.full(len(query), np.nan) if rows.rank is None else rows.rank
        columns: Sequence[NDArray[Any]] = (rows.score, rank, rows.number)
        asked = query >= 0
        if not asked.all():
            self.queries.update(dict.fromkeys(pc.unique(rows.query.filter(pa.array(~asked))).to_pylist()))
            names = names.filter(pa.array(asked))
            query, columns = query[asked], [column[asked] for column in columns]
        document = _positions(names, self._ids[1])
        self._set_aside(names, document, columns[-1])
        for parts, column in zip(self._parts, (query, document, *columns), strict=True):
            parts.append(column)

    def _set_aside(self, names: pa.Array, document: NDArray[np.int32], number: NDArray[np.int64]) -> None:
        """Find documents that the corpus lacks, and give positions to new ones."""
        outside = document < 0
        outside[~outside] = ~self.known.in_corpus[document[~outside]]
        if not outside.any():
            return
        wrong = names.filter(pa.array(outside))
        if self._blame_unknown:
            self.faults.add(
                "unknown document",
                number[outside],
                lambda place: (
                    f"document {wrong[place].as_py()!r} is not in the corpus, expected one of its ids "
                    "(--allow-unknown-documents keeps it as non-relevant)"
                ),
            )
        self.outside.update(np.unique(document[outside & (document >= 0)]).tolist())
        if self._keep_unknown:
            for name in pc.unique(names.filter(pa.array(document < 0))).to_pylist():
                self.unknown.setdefault(name, len(self.known.documents) + len(self.unknown))
            new = names.filter(pa.array(document < 0)).to_pylist()
            document[document < 0] = [self.unknown[name] for name in new]

    def end(self) -> None:
        """Put the parts together by query, and drop all but the best row of a document that stands twice for one."""
        columns = []
        for parts in self._parts:
            columns.append(np.concatenate(parts))
            parts.clear()
        self.columns = _Columns(*columns)
        placed = self.columns.document >= 0
        if not placed.all():
            self.columns = self.columns.rows(placed)
        if (self.columns.query[1:] < self.columns.query[:-1]).any():
            self.columns = self.columns.rows(np.argsort(self.columns.query, kind="stable"))
        n_documents = len(self.known.documents) + len(self.unknown)
        if _repeats(self.columns, n_documents):
            pair = self.columns.query.astype(np.int64) * n_documents + self.columns.document
            order = np.argsort(pair, kind="stable")
            self._drop_repeats(order, np.r_[False, pair[order][1:] == pair[order][:-1]])

    def _drop_repeats(self, order: NDArray[np.intp], again: NDArray[np.bool_]) -> None:
        """``order`` ``(H,)`` sorts by query and document, then line; ``again`` marks all but the first of each."""
        number = self.columns.number[order]
        group = np.cumsum(~again) - 1
        first = number[~again][group]
        later = np.flatnonzero(again)
        later = later[np.argsort(number[later])]

        def describe(place: int) -> str:
            row = order[later[place]]
            query = self.known.queries[self.columns.query[row]]
            document = self._document(int(self.columns.document[row]))
            where = f"{self.place} {first[later[place]]}"
            return f"query {query!r} has document {document!r} again, first in {where}; expected it once"

        self.faults.add("duplicate", number[later], describe)
        best = order[np.lexsort((number, -self.columns.score[order], group))]
        self.columns = self.columns.rows(np.sort(best[~again]))

    def _document(self, position: int) -> str:
        known = self.known.documents
        return known[position] if position < len(known) else list(self.unknown)[position - len(known)]


def _repeats(rows: _Columns, n_documents: int) -> bool:
    """Whether a document stands twice for a query; ``rows`` by query.

    Every row leaves its number in its document's place of a table, and finds another's there if a later row came by:
    several times as fast as sorting, and nearly no file has a document twice.
    """
    width = max(1, PLACES_AT_ONCE // max(n_documents, 1))  # queries at a time
    place = rows.query % np.int32(width) * np.int32(n_documents) + rows.document
    table = np.empty(width * n_documents, dtype=np.int32)
    ends = np.flatnonzero(np.diff(rows.query // np.int32(width))) + 1
    for start, end in itertools.pairwise((0, *ends.tolist(), len(place))):
        number = np.arange(end - start, dtype=np.int32)
        table[place[start:end]] = number
        if (table[place[start:end]] != number).any():
            return True
    return False


def _positions(ids: pa.Array, among: pa.Array) -> NDArray[np.int32]:
    """Where each id stands in ``among``; -1 where it does not."""
    found: NDArray[np.int32] = pc.fill_null(pc.index_in(ids, value_set=among), -1).to_numpy(zero_copy_only=False)
    return found.astype(np.int32)


def _repeated_positions(ids: pa.Array, among: pa.Array) -> NDArray[np.int32]:
    """As ``_positions``; an id is looked up once where it stands in many rows one after another."""
    runs = pc.run_end_encode(ids)
    lengths = np.diff(runs.run_ends.to_numpy(), prepend=0)
    return np.repeat(_positions(runs.values, among), lengths)


def _refuse(source: Source, found: _Found, *, lenient: bool) -> None:
    """Raise InputError for the first fault, an empty file, or one that belongs to another task."""
    if found.faults.listed and not lenient:
        first = min(found.faults.listed)
        more = found.faults.counts.total() - 1
        follow = f"; {more:,} more fault{'s follow' if more > 1 else ' follows'}" if more else ""
        raise InputError(f"{source.path}, {found.place} {first.number}: {first.text}{follow}")
    if not found.n_rows and not lenient:
        raise InputError(f"{source.path}: the file is empty: no rows, expected a run (--lenient stores an empty one)")
    if found.queries and not len(found.columns.query):
        theirs, ours = (", ".join(map(repr, list(ids)[:SHOWN])) for ids in (found.queries, found.known.queries))
        raise InputError(
            f"{source.path}: none of its {len(found.queries):,} queries is in the task: it has {theirs}, "
            f"expected such as {ours}"
        )


def _run_file(source: Source, form: str, found: _Found) -> RunFile:
    known, rows, faults = found.known, found.columns, found.faults.counts
    excluded = _excluded(known, rows)
    if excluded.any():
        rows = rows.rows(~excluded)
    rows = _ranked(rows, _tie_order([*known.documents, *found.unknown]))
    depth = np.bincount(rows.query, minlength=len(known.queries))
    asked = depth[depth > 0]
    deepest = int(asked.max(initial=0))
    ranking = Ranking(rows.query, rows.document, rows.score, deepest)
    if deepest > DEEPEST:
        ranking = ranking.top(DEEPEST)
    missing = [known.queries[place] for place in np.flatnonzero(known.judged & (depth == 0)).tolist()]
    near = [*_near(found.queries, known.queries), *_near(found.unknown, known.documents)]
    report = Report(
        file=source.path.name,
        sha256=source.checksum,
        format=form,
        packed=source.packed,
        tags=tuple(found.tags),
        n_rows=found.n_rows + sum(n for kind, n in faults.items() if kind not in (*MENDED, "duplicate")),
        n_ranked=len(ranking.query),
        n_queries=len(known.queries),
        n_queries_found=len(asked),
        n_missing=len(missing),
        missing=tuple(missing[:SHOWN]),
        n_unknown_queries=len(found.queries),
        unknown_queries=tuple(list(found.queries)[:SHOWN]),
        n_unjudged=int(np.count_nonzero(~known.judged & (depth > 0))),
        n_unknown_documents=len(found.unknown) + len(found.outside),
        n_near=len(near),
        near=tuple(near[:SHOWN]),
        n_rank_disagrees=_disagreeing(rows),
        n_ties_against_rank=_ties_against_rank(rows),
        n_excluded=int(np.count_nonzero(excluded)),
        n_too_deep=len(rows.query) - len(ranking.query),
        depth=Depth(int(asked.min()), float(np.median(asked)), int(asked.max())) if len(asked) else None,
        dropped={kind: n for kind, n in faults.items() if kind not in MENDED},
        mended={kind: n for kind, n in faults.items() if kind in MENDED},
        faults=tuple(sorted(found.faults.listed)),
    )
    return RunFile(ranking, tuple(found.unknown), report)


def _near(unknown: Iterable[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Unknown ids with a known one that differs little."""
    names = list(unknown)
    keys = {id_key(name): name for name in known} if names else {}
    return [(name, keys[id_key(name)]) for name in names if id_key(name) in keys]


def _excluded(known: Known, rows: _Columns) -> NDArray[np.bool_]:
    """``(H,)``: the document is excluded for its query."""
    pairs = [(query, document) for query, documents in known.excluded.items() for document in documents.tolist()]
    if not pairs:
        return np.zeros(len(rows.query), dtype=bool)
    width = np.int64(1) << 32
    out = np.array(pairs, dtype=np.int64) @ [width, 1]
    return np.isin(rows.query.astype(np.int64) * width + rows.document, out)


def _ranked(rows: _Columns, tie_order: NDArray[np.int32]) -> _Columns:
    """Rows by query, put by score descending, then tie order; only what stands otherwise is moved."""
    again = _of_queries(rows, rows.score[1:] > rows.score[:-1])
    if len(again):
        rows.move(again[np.lexsort((-rows.score[again], rows.query[again]))], again)
    rows.move(*_within_ties(rows, tie_order[rows.document]))
    return rows


def _of_queries(rows: _Columns, wrong: NDArray[np.bool_]) -> NDArray[np.intp]:
    """All rows of the queries in which a row and the one before it are ``wrong`` ``(H - 1,)``; rows sorted by query."""
    inside = rows.query[1:] == rows.query[:-1]
    found = np.zeros(int(rows.query.max(initial=0)) + 1, dtype=bool)
    found[rows.query[1:][wrong & inside]] = True
    return np.flatnonzero(found[rows.query]) if found.any() else np.zeros(0, dtype=np.intp)


def _within_ties(rows: _Columns, key: NDArray[np.generic]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which rows move where so that equal scores of a query stand by ``key`` ``(H,)``; rows by query and score."""
    equal = (rows.query[1:] == rows.query[:-1]) & (rows.score[1:] == rows.score[:-1])
    to = np.flatnonzero(np.r_[equal, False] | np.r_[False, equal])
    block = np.cumsum(~np.r_[False, equal][to])
    return to[np.lexsort((key[to], block))], to


def _tie_order(names: Sequence[str]) -> NDArray[np.int32]:
    """As ``Corpus.tie_order``: the order of UTF-8 is the order of code points."""
    descending = pc.sort_indices(pa.array(names, pa.string()), sort_keys=[("", "descending")]).to_numpy()
    order = np.empty(len(names), dtype=np.int32)
    order[descending] = np.arange(len(names), dtype=np.int32)
    return order


def _disagreeing(rows: _Columns) -> int:
    """Queries in which a document with a smaller rank has a smaller score; ``rows`` in the order of the ranking."""
    known = ~np.isnan(rows.rank)
    rows = rows if known.all() else rows.rows(known)
    origin, to = _within_ties(rows, rows.rank)
    rank = rows.rank.copy()
    rank[to] = rank[origin]
    falls = (rows.query[1:] == rows.query[:-1]) & (rank[1:] < rank[:-1])
    return len(np.unique(rows.query[1:][falls]))


def _ties_against_rank(rows: _Columns) -> int:
    """Queries in which a document has a smaller rank than one of equal score above it; ``rows`` as ranked."""
    ties = np.flatnonzero(rows.score[1:] == rows.score[:-1])
    falls = rows.rank[ties + 1] < rows.rank[ties]  # False where a rank is no number
    same = rows.query[ties + 1] == rows.query[ties]
    return len(np.unique(rows.query[ties[falls & same]]))
