"""Search of a million vectors: exact, in the lists that runs use beyond that, by FAISS's HNSW; each in its own process.

As a program, ``python -m tests.performance.searching exact|lists|hnsw FOLDER`` does one of them and says what it took.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from tests.performance.row import Row

SEED = 7
DOCUMENTS, WIDTH, QUERIES, DEPTH = 1_000_000, 384, 200, 1000
BLOCK = 50_000
LINKS, CONSTRUCTION = 32, 40
GOOD = 0.99
BYTES = 4 * WIDTH * DOCUMENTS


def write_vectors(folder):
    """Unit vectors that lie as those of titles do: subjects, topics in them of sizes that fall like Zipf's law, texts.

    Variance falls along the axes as 1 / (2 + rank), and all share a direction. Of 16,157 titles that all-MiniLM-L6-v2
    encodes and of a million of these the first ten axes hold .34 and .35 of the variance, the mean cosine of two texts
    is .16 and .19, that of a text with its tenth neighbour .71 and .76.
    """
    rng = np.random.default_rng(SEED)
    axes = 1 / np.sqrt(np.arange(WIDTH) + 2.0)
    axes = (axes / np.linalg.norm(axes)).astype(np.float32)

    def drawn(count):
        return rng.standard_normal((count, WIDTH), dtype=np.float32) * axes

    shared = rng.standard_normal(WIDTH, dtype=np.float32)
    topics = 0.4 * drawn(DOCUMENTS // 25) + 0.33 * shared / np.linalg.norm(shared)
    topics += 0.4 * drawn(DOCUMENTS // 2000)[rng.integers(0, DOCUMENTS // 2000, len(topics))]
    sizes = np.cumsum((np.arange(len(topics)) + 10.0) ** -0.7)

    def some(count):
        topic = np.searchsorted(sizes, sizes[-1] * rng.random(count))
        spread = rng.uniform(0.17, 0.67, (count, 1)).astype(np.float32)
        rows = topics[topic] + spread * drawn(count)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    with (folder / "documents").open("wb") as file:
        for _ in range(0, DOCUMENTS, BLOCK):
            file.write(some(BLOCK))
    np.save(folder / "queries.npy", some(QUERIES))


def block(folder, start):
    """Vectors of a range of documents, in memory."""
    offset = 4 * WIDTH * start
    return np.fromfile(folder / "documents", np.float32, BLOCK * WIDTH, offset=offset).reshape(-1, WIDTH)


def stored(folder):
    """The vectors as a run has them."""
    from analysis.store import vector_file

    rows = vector_file.VectorFile(folder, (DOCUMENTS, WIDTH))
    for start in range(0, DOCUMENTS, BLOCK):
        rows[start : start + BLOCK] = block(folder, start)
    return rows


class Clock:
    """Seconds of all cores together, which a busy machine moves less than the time on the wall."""

    def __init__(self):
        self.began = time.process_time()

    def turn(self):
        now = time.process_time()
        taken, self.began = now - self.began, now
        return taken


def exact(folder, queries):
    """What exact search takes at two depths; keeps its answer."""
    from analysis.systems.index import Index

    rows, clock = stored(folder), Clock()
    index = Index(rows, threads=os.cpu_count())
    found = {"made": clock.turn()}
    for depth in (100, DEPTH):
        best = index.search(queries, depth=depth)
        found[f"at {depth}"] = clock.turn()
    np.save(folder / "exact.npy", best.document.reshape(len(queries), DEPTH))
    return found


def lists(folder, queries):
    """What the lists take, looked at as a run of this depth does."""
    from analysis.systems import approximate

    rows, clock = stored(folder), Clock()
    tie_order = np.arange(DOCUMENTS, dtype=np.int32)
    made = approximate.Lists(rows, tie_order=tie_order, folder=folder, threads=os.cpu_count())
    found = {"made": clock.turn()}
    _, measured = approximate.search(made, queries, depth=DEPTH)
    found["sample"] = clock.turn()
    best = made.search(queries, depth=DEPTH)
    found["found"] = clock.turn()
    return found | {"looked at": measured.looked_at, "of": measured.lists} | recall(folder, best.query, best.document)


def hnsw(folder, queries):
    """What the graph takes; as many candidates are looked at as the first ten need."""
    import faiss

    clock = Clock()
    graph = faiss.IndexHNSWFlat(WIDTH, LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = CONSTRUCTION
    for start in range(0, DOCUMENTS, BLOCK):
        graph.add(block(folder, start))
    made, looked_at = clock.turn(), 64
    while True:
        clock.turn()
        settings = faiss.SearchParametersHNSW(efSearch=looked_at)
        _, document = graph.search(queries, DEPTH, params=settings)
        taken = clock.turn()
        found = recall(folder, np.repeat(np.arange(len(queries)), DEPTH), document.ravel())
        if found["10"] >= GOOD or looked_at >= 4096:
            return {"made": made, "found": taken, "looked at": looked_at} | found
        looked_at *= 2


def recall(folder, query, document):
    """Share of the exact first documents that was found, at three depths."""
    right = np.load(folder / "exact.npy")
    starts = np.searchsorted(query, np.arange(len(right) + 1))
    mine = [document[start:stop] for start, stop in itertools.pairwise(starts)]
    pairs = list(zip(mine, right, strict=True))
    return {
        str(k): float(np.mean([len(np.intersect1d(best[:k], row[:k])) / k for best, row in pairs]))
        for k in (10, 100, DEPTH)
    }


class Memory:
    """The most memory that this process has held: of its own, and with the parts of files that are mapped."""

    def __init__(self):
        self.own = self.whole = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        while True:
            lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
            own, mapped = (int(lines[name].split()[0]) / 1024 for name in ("RssAnon", "RssFile"))
            self.own, self.whole = max(self.own, own), max(self.whole, own + mapped)
            time.sleep(0.02)


def rows():
    """The rows of the table: exact search, lists and graph."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_vectors(folder)
        return table(*(taken(what, folder) for what in ("exact", "lists", "hnsw")))


def table(plain, some, graph):
    """Exact search, lists and graph as rows."""
    work = f"{DOCUMENTS:,} × {WIDTH} synthetic vectors, {QUERIES} queries at depth {DEPTH:,}"
    at_depth = plain[f"at {DEPTH}"]
    return [
        Row(
            f"{work}: exact, peak memory", "the vectors in memory", BYTES / 2**20 / plain["own"], "bounded",
            f"{plain['own']:,.0f} MB, with mapped parts {plain['whole']:,.0f}; {at_depth:.0f} s of all cores together, "
            f"at depth 100 {plain['at 100']:.0f} s",
        ),
        Row(
            f"{work}: the lists of a run", "exact", at_depth / some["found"], "recall shown",
            f"{some['looked at']} of {some['of']:,} lists, {found(some)}; found in {some['found']:.0f} s, made in "
            f"{some['made']:.0f} s, tried out in {some['sample'] - some['found']:.0f} s; {some['own']:,.0f} MB, with "
            f"mapped parts {some['whole']:,.0f}",
        ),
        Row(
            f"{work}: HNSW of FAISS", "exact", at_depth / graph["found"], "recall shown",
            f"M {LINKS}, efConstruction {CONSTRUCTION}, efSearch {graph['looked at']}, {found(graph)}; found in "
            f"{graph['found']:.0f} s, made in {graph['made']:.0f} s; {graph['own']:,.0f} MB",
        ),
    ]  # fmt: skip


def found(measured):
    return ", ".join(f"recall@{int(k):,} {measured[k]:.3f}" for k in ("10", "100", str(DEPTH)))


def taken(what, folder):
    """The work in a child process whose idle threads sleep: else its seconds would count their waiting."""
    quiet = os.environ | {"OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.performance.searching", what, str(folder)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=quiet).stdout)


def main(what, folder):
    memory = Memory()
    measured = {"exact": exact, "lists": lists, "hnsw": hnsw}[what](folder, np.load(folder / "queries.npy"))
    print(json.dumps(measured | {"own": memory.own, "whole": memory.whole}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
