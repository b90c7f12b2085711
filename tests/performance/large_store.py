"""A store as large as a dashboard must bear: 10 systems × 12,310 queries × 1,000 hits, synthetic and seeded."""

from typing import NamedTuple

import numpy as np

from analysis.jobs.facts import facts
from analysis.model import Benchmark, Document, Judgement, Query, Ranking, Task
from analysis.store import read, write

SEED = 11
TAGS = ("en", "es", "fr", "ja", "zh", "ru")


class Size(NamedTuple):
    systems: int = 10
    queries: int = 12_310
    depth: int = 1000
    fillers: int = 60_000
    answers: int = 20_049  # documents that are relevant to some query
    relevant: int = 20  # of a query, of which a run has half


def build(cache, size=Size()):  # noqa: B008 (a tuple)
    """Fill an empty cache folder; returns the open store and the names of its benchmark and task."""
    rng = np.random.default_rng(SEED)
    judged = np.sort(rng.integers(0, size.answers, (size.queries, size.relevant)), axis=1)
    with write.writer(cache) as writer:
        writer.add_benchmark(Benchmark("large", "1", "Large", True, "", "", (), {}, (_task(size, judged),)))
    store = read.open_store(cache)
    (task,) = store.tasks(store.benchmark("large").benchmark_id)
    count = facts(store, task.task_id)
    with write.writer(cache) as writer:
        for number in range(size.systems):
            name = f"s{number}"
            writer.add_system(name, title=name, short=name, paradigm="multilingual dense")
            writer.add_run(
                task.task_id, name, ranking=_ranking(size, judged, np.random.default_rng(number)),
                keep_hits=size.depth, fingerprint=name, provenance={}, parents=[], facts=count.of,
            )  # fmt: skip
    return read.open_store(cache)


def _task(size, judged):
    tag = len(TAGS)
    documents = tuple(
        Document(f"d{n}", TAGS[n % tag], f"document {n} of {n % 97} words", family=f"f{n // tag}")
        for n in range(size.fillers + size.answers)
    )
    queries = tuple(
        Query(f"q{n}", TAGS[n % tag], f"question {n} about {n % 89}", family=f"c{n // tag}")
        for n in range(size.queries)
    )
    judgements = tuple(
        Judgement(f"q{query}", f"d{size.fillers + document}", 1.0)
        for query, row in enumerate(judged)
        for document in np.unique(row)
    )
    return Task("main", "Large", "Synthetic.", documents, queries, judgements, default=True)


def _ranking(size, judged, rng):
    """Fillers in an order of each query's own, and half of its answers at ranks that are more often small."""
    rank = np.arange(size.depth)
    step = 2 * rng.integers(1, size.fillers // 2, (size.queries, 1)) + 1
    step[np.gcd(step, size.fillers) > 1] = 7
    document = (step * rank + rng.integers(0, size.fillers, (size.queries, 1))) % size.fillers
    half = size.relevant // 2
    places = np.minimum(size.depth ** rng.random((size.queries, half)), size.depth - 1).astype(np.int64)
    for column in range(half):  # a place that is taken twice keeps the last, and answers stand once
        again = (judged[:, :column] == judged[:, column, np.newaxis]).any(axis=1)
        free = np.flatnonzero(~again)
        document[free, places[free, column]] = size.fillers + judged[free, column]
    score = np.broadcast_to(np.linspace(1, 0, size.depth), document.shape)
    query = np.repeat(np.arange(size.queries, dtype=np.int32), size.depth)
    return Ranking(query, document.ravel().astype(np.int32), score.ravel().copy(), size.depth)
