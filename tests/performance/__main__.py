"""``make bench``: each piece of work against a named peer in one run; ratios, since machines differ and are noisy.

``python -m tests.performance map pages`` measures those rows alone and only prints them.
"""

import datetime
import os
import platform
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytrec_eval
from scipy import stats

from analysis import probe
from analysis.benchmarks import bedside
from analysis.geometry import projection
from analysis.jobs.build import build_bedside
from analysis.jobs.draw_map import MapRequest, draw_map
from analysis.jobs.facts import facts
from analysis.jobs.run import RunRequest, run
from analysis.model import Benchmark, Document, Judgement, Query, Ranking, Task, silent
from analysis.paths import Cache
from analysis.stats import bca, bootstrap
from analysis.store import read, write
from analysis.systems import catalogue
from analysis.systems.encoders import load
from analysis.systems.index import Index
from analysis.systems.neighbours import neighbours
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench
from analysis.views import one_query
from analysis.views.evidence import Evidence
from analysis.views.selection import Selection
from tests.performance import large_store, pages, run_files, searching, starting
from tests.performance.row import Row, seconds, timed

RESULTS = Path(__file__).parent / "RESULTS.md"
SEED = 7
MEASURES = ("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10", "recall_at_100", "rr")
PEER_MEASURES = {"ndcg_cut.10", "recall.1,5,10,100", "recip_rank"}


def synthetic_task(n_queries, n_documents, *, n_relevant):
    rng = np.random.default_rng(SEED)
    tags = ("en", "fr", "ja")
    documents = tuple(Document(f"d{n}", tags[n % 3], "", family=f"f{n}") for n in range(n_documents))
    queries = tuple(Query(f"q{n}", tags[n % 3], "", family=f"q{n}") for n in range(n_queries))
    judgements = tuple(
        Judgement(query.id, f"d{document}", 1.0)
        for query in queries
        for document in rng.choice(n_documents, n_relevant, replace=False)
    )
    return Task("main", "Synthetic", "Synthetic.", documents, queries, judgements, default=True)


def random_ranking(n_queries, n_documents, depth, *, seed):
    rng = np.random.default_rng(seed)
    document = np.concatenate([rng.choice(n_documents, depth, replace=False) for _ in range(n_queries)]).astype(
        np.int32
    )
    score = np.sort(rng.random((n_queries, depth)), axis=1)[:, ::-1].ravel()
    return Ranking(np.repeat(np.arange(n_queries, dtype=np.int32), depth), document, score, depth)


def per_query_measures(*, n_systems=10, n_queries=2000, n_documents=5000, depth=1000):
    task = synthetic_task(n_queries, n_documents, n_relevant=6)
    benchmark = Benchmark("bench", "1", "Synthetic", False, "", "", (), {}, (task,))
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        with write.writer(cache) as writer:
            writer.add_benchmark(benchmark)
        store = read.open_store(cache)
        row = store.tasks(store.benchmark("bench").benchmark_id)[0]
        count = facts(store, row.task_id)
        runs = []
        with write.writer(cache) as writer:
            for number in range(n_systems):
                ranking = random_ranking(n_queries, n_documents, depth, seed=number)
                name = f"s{number}"
                writer.add_system(name, title=name, short=name, paradigm="lexical")
                writer.add_run(
                    row.task_id, name, ranking=ranking, keep_hits=100, fingerprint=name, provenance={}, parents=[],
                    facts=count.of,
                )  # fmt: skip
                runs.append(as_dictionary(task, ranking))
        store = read.open_store(cache)

        def ours():
            evidence = Evidence.load(store, row, selection=Selection("bench"), labels=store.system_labels())
            return {key: evidence.values(key) for key in MEASURES}

        judge = pytrec_eval.RelevanceEvaluator(qrels_of(task), PEER_MEASURES)
        mine, theirs = timed(ours), timed(lambda: [judge.evaluate(run) for run in runs], times=1)
        check(ours()["ndcg_at_10"][0], judge.evaluate(runs[0]), task)
    return Row(
        f"per-query measures from the store, {n_systems} systems × {n_queries:,} queries × depth {depth:,}",
        "pytrec_eval on dictionaries in memory",
        theirs / mine,
        "≥ 20×",
        f"{mine:.2f} s against {theirs:.2f} s",
    )


def as_dictionary(task, ranking):
    run = {query.id: {} for query in task.queries}
    for query, document, score in zip(ranking.query, ranking.document, ranking.score, strict=True):
        run[task.queries[query].id][task.documents[document].id] = float(score)
    return run


def qrels_of(task):
    qrels = {}
    for judgement in task.judgements:
        qrels.setdefault(judgement.query_id, {})[judgement.document_id] = int(judgement.grade)
    return qrels


def check(values, evaluated, task):
    """A fast wrong answer is no result."""
    theirs = np.array([evaluated[query.id]["ndcg_cut_10"] for query in task.queries])
    np.testing.assert_allclose(values, theirs, atol=1e-5)


def intervals(*, n_queries=12_000, n_languages=6, n_columns=50):
    """BCa of every system and measure from one set of draws, against scipy column by column."""
    rng = np.random.default_rng(SEED)
    values = rng.beta(0.5, 0.8, size=(n_columns, n_queries))
    family, language = np.arange(n_queries), np.arange(n_queries) % n_languages

    def ours(language):
        draws = bootstrap.family_draws(n_queries, resamples=bca.RESAMPLES, seed=SEED)
        made = bca.resampled_balanced(
            values,
            family=family,
            strata=bootstrap.Strata(family, draws),
            language=language,
            n_languages=language.max() + 1,
        )
        return bca.interval(made)

    def theirs(column):
        result = stats.bootstrap((column,), np.mean, n_resamples=bca.RESAMPLES, method="BCa", batch=500, rng=SEED)
        return result.confidence_interval

    mine = timed(lambda: ours(language))
    began = time.perf_counter()
    peers = np.array([theirs(column) for column in values])
    peer = time.perf_counter() - began
    alone = ours(np.zeros_like(language))  # what scipy computes: one query a family, one language
    np.testing.assert_allclose(alone[:2], peers.T, atol=0.15 * values.std() / np.sqrt(n_queries))
    return Row(
        f"BCa, B = {bca.RESAMPLES:,}, {n_columns} columns × {n_queries:,} queries in {n_languages} languages",
        "scipy.stats.bootstrap column by column, one language",
        peer / mine,
        "≥ 30×",
        f"{mine:.2f} s against {peer:.0f} s, draws included",
    )


def mixed_texts(count):
    """Texts of 3 to 150 words, the short ones far more frequent, as in real corpora."""
    rng = np.random.default_rng(SEED)
    words = [
        "acute",
        "chronic",
        "pain",
        "of",
        "the",
        "lower",
        "back",
        "with",
        "fever",
        "and",
        "renal",
        "failure",
        "unspecified",
    ]
    lengths = np.clip(rng.lognormal(2.6, 0.9, count), 3, 150).astype(int)
    return [" ".join(rng.choice(words, length)) + f" {number}" for number, length in enumerate(lengths)]


def encoding(*, count=3000):
    entry = catalogue.entry("all-minilm-l6-v2")
    texts = mixed_texts(count)
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(Cache(Path(folder)))
        encoder = bench.encoder(entry)  # loading is not encoding
        began = time.perf_counter()
        ours = bench.vectors(entry, texts, role="document")
        mine = time.perf_counter() - began
    began = time.perf_counter()
    theirs = np.concatenate([encoder.encode(texts[at : at + 32], role="document") for at in range(0, count, 32)])
    peer = time.perf_counter() - began
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    return Row(
        f"encoding {count:,} texts of mixed length", "batches of 32 in corpus order", peer / mine, "≥ 2×",
        f"{count / mine:,.0f} against {count / peer:,.0f} texts/s; vectors equal to 1e-5",
    )  # fmt: skip


def live_probe(*, passages=80_049):
    encoder = load(catalogue.entry("all-minilm-l6-v2"), LoadOptions())
    rng = np.random.default_rng(SEED)
    vectors = rng.standard_normal((passages, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = Index(vectors)
    question = "what causes chest pain that spreads to the left arm"

    def encode():
        return encoder.encode([question], role="query")[0]

    known = rng.choice(passages, 6, replace=False).astype(np.int32)

    def ask():
        return index.wanted(encode(), depth=probe.OVERLAP_DEPTH, sought=known)

    check_ranks(index, encode(), known)
    pairs = [(timed(encode, times=1), timed(ask, times=1)) for _ in range(41)]  # in turn: both as busy a machine
    alone, both = (statistics.median(taken) for taken in zip(*pairs, strict=True))
    return Row(
        f"live probe over {passages:,} passages: the first {probe.OVERLAP_DEPTH} and the ranks of six right answers",
        "encode alone",
        both / alone,
        "≤ 2×",
        f"median {1000 * both:.0f} ms against {1000 * alone:.0f} ms",
    )


def check_ranks(index, vector, known):
    """A fast wrong rank is no result."""
    whole = index.one(vector, depth=len(index.tie_order))[0].tolist()
    assert index.wanted(vector, depth=1, sought=known)[2].tolist() == [whole.index(place) + 1 for place in known]


def opening(*, times=41):
    """Open one query among many, each one for the first time: what the server works before the page is drawn."""
    size = large_store.Size()
    with tempfile.TemporaryDirectory() as folder:
        store = large_store.build(Cache(Path(folder)), size)
        asked = np.random.default_rng(SEED).choice(size.queries, times + 1, replace=False)

        def opened(place):
            began = time.perf_counter()
            one_query.opened(store, Selection("large"), query_id=f"q{asked[place]}", shown=("s0", "s1", "s2", "s3"))
            return time.perf_counter() - began

        opened(times)  # opens the store
        taken = sorted(opened(place) for place in range(times))
    return Row(
        f"opening one query among {size.queries:,} ({size.systems} systems × {size.depth:,} hits), four lists",
        "–",
        None,
        "< 300 ms",
        f"median {1000 * statistics.median(taken):.0f} ms, 95 of 100 within {1000 * taken[int(0.95 * times)]:.0f} ms",
    )


def spoken_vectors(count):
    """Vectors of texts about two things: real ones of Bedside's texts, and beyond them sums of two in one language."""
    task = bedside.build().tasks[0]
    texts = [(row.text, row.language) for row in (*task.documents, *task.queries)]
    with tempfile.TemporaryDirectory() as folder:
        entry = catalogue.entry("all-minilm-l6-v2")
        single = Workbench(Cache(Path(folder))).vectors(entry, [text for text, _ in texts], role="document")
    rng = np.random.default_rng(SEED)
    language = np.array([tag for _, tag in texts])
    first = rng.integers(0, len(single), count - len(single))
    second = np.array([rng.choice(np.flatnonzero(language == language[row])) for row in first])
    rows = np.concatenate([single, single[first] + single[second]])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def mapping(*, count=12_000):
    """A map drawn from vectors, against umap-learn on the same with the same seed; compiled before either is timed."""
    import umap

    vectors = spoken_vectors(count)

    def ours(rows):
        near, cosines = neighbours(rows, k=projection.NEIGHBOURS)
        return projection.umap(rows, neighbours=near, cosines=cosines, dimensions=2, seed=1)

    def theirs(rows):
        return umap.UMAP(metric="cosine", random_state=1).fit_transform(rows)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # umap-learn says that a seed makes it slower
        small = vectors[:4200]  # above 4,096 rows, below which it does without its own search
        for draw in (ours, theirs):
            draw(small)
        pairs = [[seconds(lambda draw=draw: draw(vectors)) for draw in (ours, theirs)] for _ in range(3)]  # in turn
        mine, peer = (statistics.median(taken) for taken in zip(*pairs, strict=True))
        trust = [projection.trust(vectors, draw(vectors), seed=1).trustworthiness for draw in (ours, theirs)]
    return Row(
        f"UMAP of {len(vectors):,} × {vectors.shape[1]}",
        "umap-learn on the raw vectors, same seed",
        peer / mine,
        "≥ 2×",
        f"medians of 3 in turn: {mine:.2f} s against {peer:.2f} s; trustworthiness@15 {trust[0]:.3f} "
        f"against {trust[1]:.3f}",
    )


def importing(size=run_files.LARGE):
    """Run files to stored hits and per-query values: time and peak memory of whole processes."""
    mine, held, streamed = run_files.measured(size, peers=("all", "files"))
    work = f"run files to stored hits and per-query measures, {size.systems * size.queries * size.depth:,} lines"
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in mine.stages.items())
    return [
        Row(
            work,
            "pytrec_eval parse + evaluate",
            held.seconds / mine.seconds,
            "≥ 3×",
            f"{mine.seconds:.1f} s ({stages}) against {held.seconds:.1f} s; of all cores together {mine.cpu:.1f} s "
            f"against {held.cpu:.1f} s",
        ),
        Row(
            f"{work}: peak memory",
            "pytrec_eval, all runs held",
            held.peak / mine.peak,
            "≥ 3×",
            f"{mine.peak:,.0f} MB against {held.peak:,.0f} MB ({streamed.peak:,.0f} MB where each run is dropped after "
            "it is evaluated)",
        ),
    ]


def stored_bedside(cache):
    """Bedside with three systems, and the maps of two encoders."""
    address = build_bedside(cache, progress=silent)
    encoders = ("all-minilm-l6-v2", "use-multilingual-v3")
    run(cache, request=RunRequest(address, systems=("bm25", *encoders)), progress=silent)
    draw_map(cache, request=MapRequest(address, pages.MAPPED, encoders), progress=silent)


def starts():
    """The start path, and the page with maps, over the same store."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        stored_bedside(cache)
        return [starting.start_path(cache.root), pages.map_page(cache.root)]


def warm_pages():
    size = large_store.Size()
    with tempfile.TemporaryDirectory() as folder:
        deep, shallow = (Cache(Path(folder) / name) for name in ("deep", "shallow"))
        large_store.build(deep, size)
        large_store.build(shallow, size._replace(depth=10))
        work = f"{size.systems} systems × {size.queries:,} queries × {size.depth:,} hits"
        return pages.warm_pages(deep.root, shallow.root, work=work)


def growth():
    return ["How an import grows; seconds and peak memory of one process, its imports left out of the time:", "",
            *run_files.growth()]  # fmt: skip


ROWS = {
    "import": lambda: (importing(), growth()),
    "measures": per_query_measures,
    "intervals": intervals,
    "encoding": encoding,
    "probe": live_probe,
    "searching": searching.rows,
    "opening": opening,
    "map": mapping,
    "first-start": starting.first_start,
    "starts": starts,
    "pages": warm_pages,
}
"""Each gives a row or several, or rows and the lines of a table that stands below."""


def _ratio(row):
    return "–" if row.ratio is None else f"{row.ratio:.1f}×"


def measured(name):
    """The rows of one piece of work, and the lines below the table."""
    found = ROWS[name]()
    if isinstance(found, Row):
        return [found], []
    return (found, []) if isinstance(found, list) else found


def main(chosen):
    """Measure all rows and write them down, or measure some and print them.

    Raises:
        SystemExit: there is no such row.
    """
    if unknown := [name for name in chosen if name not in ROWS]:
        sys.exit(f"unknown row {unknown[0]!r}: expected some of {', '.join(ROWS)}")
    found = [measured(name) for name in chosen or ROWS]
    lines = [
        "# Measured",
        "",
        f"`make bench`, {datetime.date.today():%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} cores.",
        "Ratios within one run; absolute times only say how large the work was.",
        "",
        "| work | peer | ratio | bar | detail |",
        "|---|---|---|---|---|",
        *(
            f"| {row.work} | {row.peer} | {_ratio(row)} | {row.bar} | {row.detail} |"
            for rows, _ in found
            for row in rows
        ),
        *(line for _, below in found if below for line in ("", *below)),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if not chosen:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
