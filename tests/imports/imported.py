"""A small folder of files, how it is imported, and what of it is stored."""

import contextlib
import io
import json

from analysis.cli import main
from analysis.imports.parts import Options
from analysis.jobs.import_benchmark import BenchmarkRequest, read_benchmark, store_benchmark
from analysis.model import silent
from analysis.store import read

CORPUS = [
    {"_id": "d1", "title": "", "text": "heart attack", "language": "en", "family": "c1"},
    {"_id": "d2", "title": "", "text": "infarto de miocardio", "language": "es", "family": "c1"},
    {"_id": "d3", "title": "", "text": "broken bone", "language": "en", "family": "c2"},
]
QUERIES = [
    {"_id": "q1", "text": "myocardial infarction", "language": "en", "family": "c1", "tier": 2},
    {"_id": "q2", "text": "ataque al corazón", "language": "es", "family": "c1", "metadata": {"topic": "heart"}},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq2\td1\t1\nq2\td3\t0\n"


def lines(rows):
    return "".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


GOOD = {"corpus.jsonl": lines(CORPUS), "queries.jsonl": lines(QUERIES), "qrels/test.tsv": QRELS}


def written(root, files):
    """A folder of these files; what is None is left out."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if content is not None:
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def stored(cache, path, *, name="mine", task="main", **options):
    found = read_benchmark(BenchmarkRequest(path, name, task, Options(**options)), progress=silent)
    return store_benchmark(cache, benchmark=found.benchmark, progress=silent)


def task_of(cache, name="mine"):
    store = read.open_store(cache)
    return store, store.tasks(store.benchmark(name).benchmark_id)[0]


def grades(store, task):
    queries, documents = store.queries(task.task_id).id, store.documents(task.task_id).id
    rows = store.judgements(task.task_id, all_grades=True)
    return {(queries[q], documents[d]): g for q, d, g in zip(rows.query, rows.document, rows.grade, strict=True)}


def command(cache, *arguments):
    """What a command prints; it has to succeed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*map(str, arguments), "--cache", str(cache)])
    assert code == 0, err.getvalue()
    return out.getvalue()


def round_trip(path, tmp_path, *arguments):
    """Import a benchmark as "one" and run BM25; export both, import them as "two": every query's measures of either."""
    cache = tmp_path / "cache"
    command(cache, "import-benchmark", path, "--benchmark", "one", *arguments)
    command(cache, "run", "--benchmark", "one", "--systems", "bm25")
    command(cache, "export", "--benchmark", "one", "--format", "beir", "-o", tmp_path / "out")
    command(cache, "export", "--benchmark", "one", "--run", "bm25", "--format", "trec", "-o", tmp_path / "run.trec")
    command(cache, "import-benchmark", tmp_path / "out", "--benchmark", "two", "--format", "beir")
    command(cache, "import-run", tmp_path / "run.trec", "--benchmark", "two", "--system", "again")
    found = [
        json.loads(command(cache, "per-query", "--benchmark", name, "--format", "json")) for name in ("one", "two")
    ]
    return [[{**row, "system": None} for row in rows] for rows in found]
