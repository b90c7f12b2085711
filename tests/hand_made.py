"""Benchmarks and rankings small enough to check by hand."""

import numpy as np

from analysis.jobs.facts import facts
from analysis.model import Benchmark, Document, Judgement, Query, Ranking, Task
from analysis.store import read, write


def worked_example():
    """The worked example of the metrics: one concept in three languages, fillers between the answers."""
    documents = [Document(f"c-{tag}", tag, f"answer {tag}", family="c") for tag in ("en", "fr", "ja")]
    documents += [
        Document(f"f{n}-{tag}", tag, f"filler {n} {tag}", family=f"f{n}") for n in range(4) for tag in ("en", "fr")
    ]
    queries = (Query("q1", "en", "question one", family="c"), Query("q2", "ja", "質問", family="c"))
    judgements = tuple(Judgement(query.id, f"c-{tag}", 1.0) for query in queries for tag in ("en", "fr", "ja"))
    task = Task(
        "main",
        "Worked example",
        "A question asks for its concept.",
        tuple(documents),
        queries,
        judgements,
        default=True,
    )
    return Benchmark("example", "1", "Worked example", True, "CC0", "by hand", ("Two queries.",), {}, (task,))


def ranking_of(task, lists, *, depth):
    """A ranking from document ids a query, best first."""
    place = {document.id: number for number, document in enumerate(task.documents)}
    query = [number for number, ids in enumerate(lists) for _ in ids]
    score = [1.0 - rank / 100 for ids in lists for rank in range(len(ids))]
    document = [place[name] for ids in lists for name in ids]
    return Ranking(np.array(query, np.int32), np.array(document, np.int32), np.array(score), depth)


def put(cache, benchmark, rankings):
    """Store a one-task benchmark and a ranking of it for each (system, paradigm)."""
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark)
    store = read.open_store(cache)
    task = store.tasks(store.benchmark(benchmark.name).benchmark_id)[0]
    count = facts(store, task.task_id)
    with write.writer(cache) as writer:
        for (name, paradigm), ranking in rankings.items():
            writer.add_system(name, title=name.upper(), short=name, paradigm=paradigm)
            writer.add_run(
                task.task_id,
                name,
                ranking=ranking,
                keep_hits=100,
                fingerprint=name,
                provenance={},
                parents=[],
                **count.of(ranking),
            )
    return read.open_store(cache)
