"""Search of corpora too large to compare every query with every document: only the lists of documents nearest to it.

Documents are put into lists by their nearest of a few thousand centres (k-means; Sivic & Zisserman 2003): FAISS's
inverted lists, in a mapped file without a name. A query looks at the lists of its nearest centres. How many is found
out on a sample of the queries, which are also searched exactly: their recall stands with the run.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.model import Progress, Ranking, silent
from analysis.store.vector_file import Rows, fitting, reserve, taken
from analysis.systems import index
from analysis.systems.index import BATCH, Excluded, Index

TRAINED = 40
"""Documents that each centre is made from, on average."""

SAMPLE = 100
"""Queries that are also searched exactly."""

GOOD = 0.99
"""Recall@10 on the sample that must be reached."""

GOOD_AT_DEPTH = 0.98
"""Recall at the depth of the run that must be reached too."""

FEWEST = 8
"""Lists looked at, to begin with; doubled until the recall is good."""

MOST = 0.3
"""Share of the lists beyond which exact search is quicker (measured)."""

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


def worthwhile(documents: int, queries: int) -> bool:
    """Whether lists are made: beyond the exact limit, where so many queries ask that they save more than they cost."""
    return documents > index.EXACT_LIMIT and queries > math.sqrt(documents)


class Lists(Index):
    """The documents of a corpus in lists.

    Args:
        documents: ``(M, d)`` float32 unit vectors, in memory or in a file.
        tie_order: ``(M,)`` int32; of equal scores the smaller comes first.
        folder: where the file without a name lies.
        threads: of making and searching them; by default every core.
        progress: told the documents done; may raise JobCancelledError.
        step: what progress calls this.

    Attributes:
        looked_at: lists for each query; None: every document is compared, exactly.

    Raises:
        StoreError: the disk has no room for the file.
    """

    def __init__(
        self,
        documents: Rows,
        *,
        tie_order: NDArray[np.int32],
        folder: Path,
        threads: int | None = None,
        progress: Progress = silent,
        step: str = "index",
    ) -> None:
        import faiss

        super().__init__(documents, tie_order=tie_order, threads=threads)
        if threads:
            faiss.omp_set_num_threads(threads)
        self.looked_at: int | None = None
        self._engine = _trained(documents, self._first)
        nearest = np.empty(len(self._first), dtype=np.int32)
        for groups, vectors in self._blocks():
            progress(step, groups.start // 2, len(nearest))
            nearest[groups] = self._engine.quantizer.search(vectors, 1)[1][:, 0]
        self._file = _lists_of(np.bincount(nearest, minlength=len(self)), self._engine.code_size, folder=folder)
        filled = np.zeros(len(self), dtype=np.int64)
        for groups, vectors in self._blocks():
            progress(step, (len(nearest) + groups.start) // 2, len(nearest))
            self._fill(nearest[groups], vectors, first=groups.start, filled=filled)
        self._engine.replace_invlists(self._file, False)
        self._engine.ntotal = len(nearest)
        progress(step, len(nearest), len(nearest))

    def __len__(self) -> int:
        return int(self._engine.nlist)

    def _fill(
        self, nearest: NDArray[np.int32], vectors: NDArray[np.float32], *, first: int, filled: NDArray[np.int64]
    ) -> None:
        """Put a block of vectors, which begins at the group ``first``, behind what the lists hold."""
        import faiss

        order = np.argsort(nearest, kind="stable")
        numbers, starts = np.unique(nearest[order], return_index=True)
        names, codes = order + first, np.ascontiguousarray(vectors[order]).view(np.uint8)
        for number, start, stop in zip(numbers.tolist(), starts, [*starts[1:], len(order)], strict=True):
            pointers = faiss.swig_ptr(names[start:stop]), faiss.swig_ptr(codes[start:stop])
            self._file.update_entries(number, int(filled[number]), int(stop - start), *pointers)
            filled[number] += stop - start

    def _nearest(
        self, queries: NDArray[np.float32], reach: int, told: Callable[[float], None]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        import faiss

        if self.looked_at is None:
            return super()._nearest(queries, reach, told)
        if self._threads:
            faiss.omp_set_num_threads(self._threads)
        scores = np.empty((len(queries), reach), dtype=np.float32)
        groups = np.empty((len(queries), reach), dtype=np.int32)
        settings = faiss.SearchParametersIVF()
        settings.nprobe = self.looked_at
        for start in range(0, len(queries), BATCH):
            told(start)
            batch = slice(start, start + BATCH)
            scores[batch], groups[batch] = self._engine.search(queries[batch], reach, params=settings)
        scores[groups < 0] = -np.inf  # of fewer documents than asked for
        return scores, groups


def search(
    lists: Lists,
    queries: NDArray[np.float32],
    *,
    depth: int,
    excluded: Excluded | None = None,
    progress: Progress = silent,
    step: str = "search",
) -> tuple[Ranking, Measured | None]:
    """Search with as many lists as the sample needs; and how well that did on it, None where the search was exact.

    Args:
        lists: the documents.
        queries: ``(Q, d)`` float32 unit vectors, at least one.
        depth: most documents a query.
        excluded: query position -> documents that leave its ranking before it is cut.
        progress: told the number of queries done.
        step: what progress calls this.
    """
    measured = _measured(lists, queries, depth=min(depth, len(lists.tie_order)))
    lists.looked_at = measured.looked_at if measured else None
    return lists.search(queries, depth=depth, excluded=excluded, progress=progress, step=step), measured


def _measured(lists: Lists, queries: NDArray[np.float32], *, depth: int) -> Measured | None:
    """How many lists are enough; None where exact search is quicker."""
    places = np.unique(np.linspace(0, len(queries) - 1, SAMPLE).astype(np.int64))
    first, reach = min(10, len(lists.tie_order)), max(depth, min(10, len(lists.tie_order)))
    lists.looked_at = None
    exact = lists.search(queries[places], depth=reach).score.reshape(-1, reach)
    looked_at = min(FEWEST, len(lists))
    while looked_at <= max(FEWEST, MOST * len(lists)):
        lists.looked_at = looked_at
        tried = lists.search(queries[places], depth=reach)
        at_10, at_depth = (_recall(tried, exact, k=k) for k in (first, depth))
        if at_10 >= GOOD and at_depth >= GOOD_AT_DEPTH:
            return Measured(len(lists), looked_at, len(places), at_10, at_depth, depth)
        looked_at *= 2
    return None


def _recall(found: Ranking, exact: NDArray[np.float64], *, k: int) -> float:
    """Mean share of the exact first k that was found; a document as good as the k-th counts, whichever it is."""
    kept = found.rank() <= k
    good = found.score[kept] >= exact[found.query[kept], k - 1] - ROUNDING
    return float(np.bincount(found.query[kept][good], minlength=len(exact)).mean() / k)


def _trained(documents: Rows, first: NDArray[np.int32]) -> Any:
    """Empty lists with centres of unit length, made from documents spread evenly over the corpus."""
    import faiss

    wanted = max(1, round(2 * math.sqrt(len(first))))
    sample = taken([documents], first[:: max(1, len(first) // (TRAINED * wanted))])
    width = documents.shape[1]
    engine = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, min(wanted, len(sample)), faiss.METRIC_INNER_PRODUCT)
    engine.cp.niter, engine.cp.spherical, engine.cp.seed, engine.cp.min_points_per_centroid = 10, True, 1, 1
    engine.train(sample)
    return engine


def _lists_of(sizes: NDArray[np.int64], width: int, *, folder: Path) -> Any:
    """Room for lists of these sizes, each entry a number and ``width`` bytes, in a mapped file without a name."""
    import faiss

    total, counts = int(sizes.sum()) * (width + 8), sizes.astype(np.uint64)  # a pointer keeps no array alive
    with fitting(folder, total, "vectors"), tempfile.NamedTemporaryFile(dir=folder) as file:
        reserve(file.fileno(), total)
        made = faiss.OnDiskInvertedLists(len(sizes), width, file.name)
        made.prefetch_nthread = 0
        made.set_all_lists_sizes(faiss.swig_ptr(counts))
        made.totsize = total
        made.do_mmap()  # opens the file by its name, which it needs no more after that
    return made
