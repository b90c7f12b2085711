"""Search of corpora too large to compare every query with every document: only the lists of documents nearest to it.

Documents are put into lists by their nearest of a few thousand centres (k-means; Sivic & Zisserman 2003), list by list
in one file without a name, which is mapped into memory. A query looks at the lists of its nearest centres. How many is
found out on a sample of the queries, which are also searched exactly: their recall stands with the run.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.model import Progress, Ranking, silent
from analysis.systems.index import Excluded, ranking, top

Vectors = NDArray[np.float32]
Read = Callable[[slice], Vectors]
"""The vectors of a range of documents, ``(n, d)``."""

BLOCK = 65_536
"""Documents read at a time: 100 MB at 384 dimensions."""

SCORES = 20_000_000
"""Scores held at a time: 80 MB."""

TRAINED = 40
"""Documents that each centre is made from, on average."""

SAMPLE = 100
"""Queries that are also searched exactly."""

GOOD = 0.99
"""Recall@10 on the sample at which no more lists are looked at."""

FEWEST = 8
"""Lists looked at, to begin with; doubled until the recall is good."""

ROUNDING = 1e-6
"""By how much two products of the same vectors may differ."""


@dataclass(frozen=True)
class Measured:
    """How a search was done, and what share of the exact answer it finds."""

    lists: int
    looked_at: int  # lists for each query
    sampled: int  # queries
    recall_at_10: float  # 0 to 1, mean over the sample
    recall_at_depth: float
    depth: int

    @property
    def words(self) -> str:
        """The same for people."""
        first, whole = 100 * self.recall_at_10, 100 * self.recall_at_depth
        found = f"{first:.1f} % of the exact first 10 and {whole:.1f} % of the first {self.depth:,} are found"
        return f"{found}, measured on {self.sampled:,} queries"


class Lists:
    """The documents of a corpus in lists.

    Args:
        read: gives their vectors, of length 1.
        tie_order: ``(M,)`` int32; of equal scores the smaller comes first.
        folder: where the file without a name lies.
        threads: of k-means.
        progress: told the documents done; may raise JobCancelledError.
        step: what progress calls this.
    """

    def __init__(
        self,
        read: Read,
        *,
        tie_order: NDArray[np.int32],
        folder: Path,
        threads: int = 1,
        progress: Progress = silent,
        step: str = "index",
    ) -> None:
        self.tie_order = tie_order
        self.count = len(tie_order)
        self._centres = _centres(read, self.count, threads=threads)
        nearest = np.empty(self.count, dtype=np.int32)
        for block in _blocks(self.count, size=max(1, min(BLOCK, SCORES // len(self._centres)))):
            progress(step, block.start // 2, self.count)
            nearest[block] = np.argmax(read(block) @ self._centres.T, axis=1)
        self._documents = np.lexsort((tie_order, nearest)).astype(np.int32)  # list by list
        self._ends = np.cumsum(np.bincount(nearest, minlength=len(self._centres)))
        place = np.empty(self.count, dtype=np.int64)
        place[self._documents] = np.arange(self.count)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (lives as long as the lists)
        shape = (self.count, self._centres.shape[1])
        self._rows: Vectors = np.memmap(self._file, dtype=np.float32, mode="w+", shape=shape)
        for block in _blocks(self.count):
            progress(step, self.count // 2 + block.start // 2, self.count)
            self._rows[place[block]] = read(block)
        progress(step, self.count, self.count)

    def __len__(self) -> int:
        return len(self._centres)

    def search(
        self,
        queries: Vectors,
        *,
        depth: int,
        looked_at: int,
        excluded: Excluded | None = None,
        progress: Progress = silent,
        step: str = "search",
    ) -> Ranking:
        """The ``depth`` nearest documents of each query in the lists of its ``looked_at`` nearest centres."""
        without = excluded or {}
        size = max(1, SCORES * len(self) // (self.count * looked_at))
        hits = []
        for start in range(0, len(queries), size):
            progress(step, start, len(queries))
            for place, (documents, scores) in enumerate(self._found(queries[start : start + size], looked_at)):
                kept = ~np.isin(documents, without.get(start + place, ()))
                there, values = documents[kept], scores[kept]
                best = top(values, depth=depth, tie_order=self.tie_order[there])
                query = np.full(len(best), start + place, dtype=np.int64)
                hits.append((query, there[best].astype(np.int64), values[best]))
        progress(step, len(queries), len(queries))
        return ranking(hits, depth=depth)

    def exact(self, queries: Vectors, *, depth: int) -> NDArray[np.float64]:
        """The ``depth`` best scores of each query among all documents, best first, ``(Q, depth)``."""
        best = np.full((len(queries), 0), -np.inf)
        for block in _blocks(self.count, size=max(1, min(BLOCK, SCORES // max(1, len(queries))))):
            best = np.concatenate([best, queries @ self._rows[block].T], axis=1)
            if best.shape[1] > depth:
                best = -np.partition(-best, depth - 1, axis=1)[:, :depth]
        return -np.sort(-best.astype(np.float64), axis=1)

    def _found(self, queries: Vectors, looked_at: int) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """Documents and scores of each query; each list is read once for all queries that look at it."""
        closeness = queries @ self._centres.T
        chosen = np.argpartition(-closeness, looked_at - 1, axis=1)[:, :looked_at]
        asking = np.argsort(chosen, axis=None, kind="stable")
        lists, starts = np.unique(chosen.ravel()[asking], return_index=True)
        documents: list[list[NDArray[np.int32]]] = [[] for _ in queries]
        scores: list[list[NDArray[np.float32]]] = [[] for _ in queries]
        for number, some in zip(lists, np.split(asking // looked_at, starts[1:]), strict=True):
            rows = slice(self._ends[number - 1] if number else 0, self._ends[number])
            for query, row in zip(some, queries[some] @ self._rows[rows].T, strict=True):
                documents[query].append(self._documents[rows])
                scores[query].append(row)
        for some_documents, some_scores in zip(documents, scores, strict=True):
            yield np.concatenate(some_documents), np.concatenate(some_scores).astype(np.float64)


def search(
    lists: Lists,
    queries: Vectors,
    *,
    depth: int,
    excluded: Excluded | None = None,
    progress: Progress = silent,
    step: str = "search",
) -> tuple[Ranking, Measured]:
    """Search with as many lists as the sample needs; and how well that did on it.

    Args:
        lists: the documents.
        queries: ``(Q, d)`` float32 unit vectors, at least one.
        depth: most documents a query.
        excluded: query position -> documents that leave its ranking before it is cut.
        progress: told the number of queries done.
        step: what progress calls this.
    """
    places = np.unique(np.linspace(0, len(queries) - 1, SAMPLE).astype(np.int64))
    sample, within = queries[places], min(depth, lists.count)
    exact = lists.exact(sample, depth=max(within, min(10, lists.count)))
    looked_at = min(FEWEST, len(lists))
    while True:
        tried = lists.search(sample, depth=exact.shape[1], looked_at=looked_at)
        recall = _recall(tried, exact, k=min(10, exact.shape[1]))
        if recall >= GOOD or looked_at == len(lists):
            break
        looked_at = min(2 * looked_at, len(lists))
    measured = Measured(len(lists), looked_at, len(places), recall, _recall(tried, exact, k=within), within)
    found = lists.search(queries, depth=depth, looked_at=looked_at, excluded=excluded, progress=progress, step=step)
    return found, measured


def _recall(found: Ranking, exact: NDArray[np.float64], *, k: int) -> float:
    """Mean share of the exact first k that was found; a document as good as the k-th counts, whichever it is."""
    kept = found.rank() <= k
    good = found.score[kept] >= exact[found.query[kept], k - 1] - ROUNDING
    return float(np.bincount(found.query[kept][good], minlength=len(exact)).mean() / k)


def _blocks(count: int, *, size: int | None = None) -> Iterator[slice]:
    for start in range(0, count, size or BLOCK):
        yield slice(start, min(count, start + (size or BLOCK)))


def _centres(read: Read, count: int, *, threads: int) -> Vectors:
    """Centres of unit length, ``(n, d)``, from documents spread evenly over the corpus."""
    import faiss

    faiss.omp_set_num_threads(threads)
    wanted = max(1, round(2 * math.sqrt(count)))
    step = max(1, count // (TRAINED * wanted))
    sample = np.concatenate([read(block)[(-block.start) % step :: step].copy() for block in _blocks(count)])
    engine = faiss.Kmeans(
        sample.shape[1], min(wanted, len(sample)), niter=10, spherical=True, seed=1, min_points_per_centroid=1
    )
    engine.train(sample)
    return np.asarray(engine.centroids, dtype=np.float32)
