"""Benchmarks and rankings small enough to check by hand."""

import csv
import hashlib

import numpy as np

from analysis.jobs.facts import facts
from analysis.jobs.imports import ScoresRequest, import_scores
from analysis.model import Benchmark, Document, Judgement, Query, Ranking, Task, silent
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
                facts=count.of,
            )
    return read.open_store(cache)


def put_map(cache, task, system, points, near):
    """Store a map of all texts of a task, documents first: where they lie, and which are nearest; the store."""
    n = len(points)
    with write.writer(cache) as writer:
        writer.add_projection(
            task.task_id,
            system,
            points={
                "is_query": np.arange(n) >= task.n_documents,
                "position": np.concatenate([np.arange(task.n_documents), np.arange(task.n_queries)]).astype(np.int32),
                **dict(zip("xy", np.array(points, np.float32).T, strict=True)),
                "z": np.full(n, np.nan, np.float32),
                "neighbours": np.array(near, np.int32),
                "cosines": np.full(np.shape(near), 0.5, np.float32),
            },
            parameters={"neighbours": len(near[0]), "min_distance": 0.1},
            dimensions=2,
            method="umap",
            seed=1,
            run_fingerprint=None,
            vectors_checksum="0" * 64,
            n_texts=n,
            k=len(near[0]),
            trustworthiness=0.75,
            continuity=0.5,
        )
    return read.open_store(cache)


def score_rows():
    """Per-query scores of three models on forty queries, made from a fixed seed.

    ``small`` lacks the last four queries. Every tenth query has no answer in its own language. Two queries share a
    family (the id up to its first ``_``), mostly in two languages.
    """
    draw = np.random.default_rng(7)
    rows = []
    for model in ("large", "small", "org/other"):
        for number in range(40):
            home = number % 10 != 3
            recall = draw.integers(0, 5) / 4
            row = {
                "model": model,
                "query_id": f"p{number // 2}_{number}",
                "query_language": ("en", "de", "fr")[number % 3],
                "mode": "general" if number % 4 else "technical",
                "specialty": ("heart", "lung, chest", "bone=marrow")[number % 3 if number % 2 else 0],
                "number": number,
                "recall_at_10": recall,
                "rr_at_10": [0, 1 / 3, 0.5, 1][draw.integers(0, 4)],
                "recall_at_10_same": min(1, recall + 0.25) if home else "",
                "recall_at_10_cross": recall / 2,
            }
            if model != "small" or number < 36:
                rows.append(row)
    return rows


def write_scores(path, rows):
    """Rows as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def put_scores(cache, path, *, name="imported", family_from_id=True):
    """Store a file of scores; the store."""
    import_scores(cache, request=ScoresRequest(path, name, family_from_id=family_from_id), progress=silent)
    return read.open_store(cache)


def state(folder):
    """Every file of a folder by its bytes."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
