"""A benchmark in two languages and a ranking of it, small enough to check by hand."""

import contextlib
import functools
import shutil
import tempfile
from pathlib import Path

import duckdb
import numpy as np

from analysis.model import Benchmark, Document, Judgement, Query, Ranking, Task
from analysis.paths import Cache
from analysis.store import connection, read, write

DOCUMENTS = (
    Document("a-en", "en", "heart attack", family="a", sibling_group="heart", related_group="circulation"),
    Document("a-fr", "fr", "crise cardiaque", family="a", sibling_group="heart", related_group="circulation"),
    Document("b-en", "en", "asthma", family="b"),
    Document("b-fr", "fr", "asthme", family="b"),
)
QUERIES = (
    Query("q-en", "en", "chest pain", family="a", sibling_group="heart", tier="1", source_query="q"),
    Query("q-fr", "fr", "souffle court", family="b", mode="general", excluded_documents=("b-fr", "gone", "unheard of")),
)
JUDGEMENTS = (
    Judgement("q-fr", "b-en", 1.0),
    Judgement("q-en", "b-fr", -1.0),
    Judgement("q-en", "gone", 1.0),  # judged, but the corpus lacks it: the document after the last, number 4
    Judgement("q-en", "b-en", 0.0),
    Judgement("q-en", "a-fr", 0.5),
    Judgement("q-en", "a-en", 2.0),
)
TASK = Task(
    "main",
    "By hand",
    "A complaint asks for its disease.",
    DOCUMENTS,
    QUERIES,
    JUDGEMENTS,
    exclude_self=True,
    default=True,
)
# q-en: b-en, a-en, b-fr | q-fr: a-fr, b-en
RANKING = Ranking(
    query=np.array([0, 0, 0, 1, 1], np.int32),
    document=np.array([2, 0, 3, 1, 2], np.int32),
    score=np.array([0.9, 0.8, 0.7, 0.5, 0.1 + 0.2]),
    depth=10,
)


def benchmark(*tasks, name="hand", version="1", title="By hand", notes=("Four texts.",)):
    """The benchmark above, or one of other tasks."""
    settings = {"size": 4}
    return Benchmark(name, version, title, True, "CC0", "these tests", notes, settings, tasks or (TASK,))


def facts(n_queries=2):
    """What a run is stored with besides its ranking; every value is one a reader finds again."""
    return {
        "query_scores": {
            "query": np.arange(n_queries, dtype=np.int32),
            "depth": np.array([3, 2][:n_queries], dtype=np.int32),
            "tied_at_10": np.array([False, True][:n_queries]),
            "ndcg_at_10_low": np.array([0.25, np.nan][:n_queries]),
            "first_sibling_rank": np.array([1, np.nan][:n_queries]),
            "outcome_at_1": np.array(["sibling", None][:n_queries], dtype=object),
        },
        "language_above": {"query": np.array([0], np.int32), "language": ["en"], "count": np.array([1], np.int32)},
        "concentration": {
            "k": np.array([5, 10], np.int32),
            "distinct_documents": np.array([4, 4], np.int32),
            "largest_document_share": np.array([1.0, 0.5]),
        },
    }


def add_run(writer, task_id, system="bm25", *, ranking=RANKING, keep_hits=2, fingerprint="f", n_queries=2):
    """Store a ranking as the run of a system."""
    writer.add_system(system, title=system.upper(), short=system[:4], paradigm="lexical")
    return writer.add_run(
        task_id,
        system,
        ranking=ranking,
        keep_hits=keep_hits,
        fingerprint=fingerprint,
        provenance={"seconds": 1.5, "libraries": {"numpy": "2"}},
        parents=["first", "second"],
        facts=lambda _: facts(n_queries),
    )


def stored(cache, *systems, made=None):
    """A store of a benchmark with a run of each system; the store and its first task.

    The usual benchmark is stored once a process for each choice of systems, and copied where there is no folder yet.
    """
    if made is None and not cache.root.exists():
        shutil.copytree(_usual(systems).name, cache.root)
        store = read.open_store(cache)
        return store, store.tasks(store.benchmarks()[0].benchmark_id)[0]
    with write.writer(cache) as writer:
        writer.add_benchmark(made or benchmark())
    store = read.open_store(cache)
    task = store.tasks(store.benchmarks()[0].benchmark_id)[0]
    if systems:
        with write.writer(cache) as writer:
            for system in systems:
                add_run(writer, task.task_id, system)
        store = read.open_store(cache)
    return store, task


@functools.cache
def _usual(systems):
    """A folder with the usual benchmark and a run of each system; it goes when the process ends."""
    folder = tempfile.TemporaryDirectory()
    stored(Cache(Path(folder.name)), *systems, made=benchmark())
    return folder


@contextlib.contextmanager
def tampered(path):
    """A connection that changes a store file behind the program's back."""
    connection.shared_connection.cache_clear()
    with duckdb.connect(str(path)) as cursor:
        yield cursor


def files(cache):
    """Every file of a cache by its path below it, with its bytes; the lock aside."""
    return {
        str(path.relative_to(cache.root)): path.read_bytes()
        for path in sorted(cache.root.rglob("*"))
        if path.is_file() and path != cache.lock
    }
