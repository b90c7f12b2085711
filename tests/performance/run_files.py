"""Run files from disk to per-query values: ours against pytrec_eval, each in a process of its own.

As a program, ``python -m tests.performance.run_files ours|files|all FOLDER`` does the work once and says what it took.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

SEED = 7
MEASURES = ("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10", "recall_at_100", "rr")
PEER_MEASURES = ("ndcg_cut_10", "recall_1", "recall_5", "recall_10", "recall_100", "recip_rank")
RELEVANT = 6  # documents of a query, of which a run finds four


class Size(NamedTuple):
    systems: int
    queries: int
    depth: int
    documents: int = 20_000


LARGE, SMALL = Size(10, 2000, 1000), Size(2, 1000, 100)


class Taken(NamedTuple):
    """What one process took, after its imports."""

    seconds: float
    cpu: float  # seconds of all threads together
    peak: float  # MB, of the whole process
    stages: dict[str, float]  # seconds of each
    values: list[list[float]]  # of the first system: a list for each measure


def write_files(folder, size):
    """A store without runs, qrels, and a TREC run file for each system."""
    from analysis.model import Benchmark, Document, Judgement, Query, Task
    from analysis.paths import Cache
    from analysis.store import write

    rng = np.random.default_rng(SEED)
    relevant = np.stack([rng.choice(size.documents, RELEVANT, replace=False) for _ in range(size.queries)])
    documents = tuple(Document(f"d{n}", "en", "", family=f"f{n}") for n in range(size.documents))
    queries = tuple(Query(f"q{n}", "en", "", family=f"q{n}") for n in range(size.queries))
    judgements = tuple(
        Judgement(f"q{query}", f"d{document}", 1.0) for query, row in enumerate(relevant) for document in row
    )
    task = Task("main", "Synthetic", "Synthetic.", documents, queries, judgements, default=True)
    with write.writer(Cache(folder / "store")) as writer:
        writer.add_benchmark(Benchmark("bench", "1", "Synthetic", False, "", "", (), {}, (task,)))
    rows = (f"{judgement.query_id} 0 {judgement.document_id} 1\n" for judgement in judgements)
    (folder / "qrels").write_text("".join(rows))
    for system in range(size.systems):
        _write_run(folder / f"s{system}.trec", relevant, size, np.random.default_rng(system))


def _write_run(path, relevant, size, rng):
    import pyarrow as pa
    from pyarrow import csv

    found = np.empty((size.queries, size.depth), dtype=np.int64)
    for query in range(size.queries):
        some = rng.choice(size.documents, size.depth + RELEVANT, replace=False)
        found[query] = some[~np.isin(some, relevant[query])][: size.depth]
        found[query, rng.choice(size.depth, 4, replace=False)] = relevant[query, :4]
    score = np.sort(rng.random((size.queries, size.depth)), axis=1)[:, ::-1]
    names = np.array([f"d{n}" for n in range(size.documents)], dtype=object)
    table = pa.table(
        {
            "query": np.repeat([f"q{n}" for n in range(size.queries)], size.depth),
            "iteration": np.full(size.queries * size.depth, "Q0"),
            "document": pa.array(names[found.ravel()], pa.string()),
            "rank": np.tile(np.arange(1, size.depth + 1), size.queries),
            "score": np.round(score.ravel(), 6),
            "tag": np.full(size.queries * size.depth, path.stem),
        }
    )
    options = csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    csv.write_csv(table, path, options)


def runs_of(folder):
    return sorted(folder.glob("*.trec"))


def ours(folder):
    """Import every file into the store, then read the per-query values of all systems from it."""
    from analysis.jobs.import_run import ImportRequest, import_run
    from analysis.paths import Cache
    from analysis.store import read
    from analysis.views.evidence import Evidence
    from analysis.views.selection import Selection

    cache, clock = Cache(folder / "store"), Clock()
    for path in runs_of(folder):
        import_run(cache, request=ImportRequest(path, "bench", path.stem), progress=clock)
    clock.turn("values")
    store = read.open_store(cache)
    task = store.tasks(store.benchmark("bench").benchmark_id)[0]
    evidence = Evidence.load(store, task, selection=Selection("bench"), labels=store.system_labels())
    place = [run.system for run in evidence.runs].index("s0")
    values = [evidence.values(key)[place].tolist() for key in MEASURES]
    clock.turn("")
    return clock.stages, values


STAGES = {("read the run", 0): "read", ("store the run", 0): "facts and store"}
"""Steps of an import that begin one; what lies between them is opening and publishing the store."""


class Clock:
    """A progress callback that adds up how long each stage takes."""

    def __init__(self):
        self.stages = {}
        self.stage, self.began = "", time.perf_counter()

    def __call__(self, step, done, total):
        self.turn(STAGES.get((step, done), "open and publish"))

    def turn(self, stage):
        now = time.perf_counter()
        if self.stage:
            self.stages[self.stage] = self.stages.get(self.stage, 0.0) + now - self.began
        self.stage, self.began = stage, now


def peer(folder, *, at_once):
    """Parse and evaluate every file with pytrec_eval: all held at once, as a comparison needs, or one after another."""
    import pytrec_eval

    with (folder / "qrels").open() as handle:
        judge = pytrec_eval.RelevanceEvaluator(
            pytrec_eval.parse_qrel(handle), {"ndcg_cut.10", "recall.1,5,10,100", "recip_rank"}
        )
    clock, held, found = Clock(), [], {}
    for path in runs_of(folder):
        clock.turn("parse")
        with path.open() as handle:
            held.append((path.stem, pytrec_eval.parse_run(handle)))
        clock.turn("evaluate")
        if not at_once:
            name, run = held.pop()
            found[name] = judge.evaluate(run)
            del run
    found |= {name: judge.evaluate(run) for name, run in held}
    clock.turn("")
    queries = sorted(found["s0"], key=lambda name: int(name[1:]))
    return clock.stages, [[found["s0"][query][measure] for query in queries] for measure in PEER_MEASURES]


def taken(what, folder):
    """The work in a child process."""
    found = subprocess.run(
        [sys.executable, "-m", "tests.performance.run_files", what, str(folder)], check=True, capture_output=True
    )
    return Taken(*json.loads(found.stdout))


def measured(size, *, peers=("all",)):
    """What ours and each of the peers took for the same files, ours first; all give the same values."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, size)
        results = [taken(what, folder) for what in ("ours", *peers)]
    for other in results[1:]:
        np.testing.assert_allclose(results[0].values, other.values, atol=1e-6)
    return results


def growth(base=SMALL):
    """Lines of a table: what each stage takes, and how it grows with queries, depth and systems."""
    sizes = {
        f"{base.systems} systems × {base.queries:,} queries × depth {base.depth}": base,
        "queries × 2": base._replace(queries=2 * base.queries),
        "depth × 10": base._replace(depth=10 * base.depth),
        "systems × 2": base._replace(systems=2 * base.systems),
    }
    found = {name: measured(size) for name, size in sizes.items()}
    stages = ("read", "facts and store", "open and publish", "values")
    yield f"| run files | {' | '.join(stages)} | together | pytrec_eval | peak MB | of pytrec_eval |"
    yield "|---" * (len(stages) + 5) + "|"
    for name, (mine, theirs) in found.items():
        cells = [f"{mine.stages[stage]:.2f} s" for stage in stages]
        cells += [f"{mine.seconds:.2f} s", f"{theirs.seconds:.2f} s", f"{mine.peak:,.0f}", f"{theirs.peak:,.0f}"]
        yield f"| {name} | {' | '.join(cells)} |"


def main(what, folder):
    began, cpu = time.perf_counter(), time.process_time()
    if what == "ours":
        import analysis.jobs.import_run
        import analysis.views.evidence  # noqa: F401

        began, cpu = time.perf_counter(), time.process_time()
        stages, values = ours(folder)
    else:
        stages, values = peer(folder, at_once=what == "all")
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(json.dumps([seconds, cpu, peak_memory(), stages, values]))


def peak_memory():
    """The most that this process held, in MB; ``ru_maxrss`` would count what the parent held when it forked."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
