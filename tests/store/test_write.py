"""One writer: a new generation appears whole or not at all, whatever ends the job."""

import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import JobCancelledError, StoreError
from analysis.model import NEVER, Ranking
from analysis.paths import Cache
from analysis.store import connection, read, write
from tests.store.by_hand import QUERIES, RANKING, TASK, add_run, benchmark, files, stored

ROOT = Path(__file__).resolve().parent.parent.parent


def names(cache):
    """The store's own files in the root of a cache."""
    return sorted(path.name for path in cache.root.iterdir() if path.is_file() and path != cache.lock)


def systems(cache):
    return [run.system for run in read.open_store(cache).runs([1])]


def child(cache, code):
    """Another Python process that runs code with ``cache`` and the names of this file's imports."""
    preamble = (
        "import os, signal, sys, time\n"
        "from pathlib import Path\n"
        "from analysis.paths import Cache\n"
        "from analysis.store import connection, read, write\n"
        "from tests.store.by_hand import *\n"
        "cache = Cache(Path(sys.argv[1]))\n"
        "def die(*arguments): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    return subprocess.Popen([sys.executable, "-c", preamble + code, str(cache.root)], cwd=ROOT, stdout=subprocess.PIPE)


def test_the_first_writer_makes_a_store(cache):
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark())
        assert read.open_store(cache) is None  # not before it has ended
    store = read.open_store(cache)
    assert names(cache) == sorted(["CURRENT", store.path.name])
    assert cache.current.read_text() == f"{store.path.name}\n"
    assert [row.name for row in store.benchmarks()] == ["hand"]


def test_the_generation_before_is_kept_and_older_ones_go(cache):
    numbers = []
    for version in ("1", "2", "3", "4"):
        with write.writer(cache) as writer:
            writer.add_benchmark(benchmark(version=version))
        numbers.append(connection.generation_number(read.open_store(cache).path))
    assert np.diff(numbers).tolist() == [1, 1, 1]
    assert names(cache) == ["CURRENT", f"store-{numbers[-2]}.duckdb", f"store-{numbers[-1]}.duckdb"]
    assert [row.version for row in read.open_store(cache).benchmarks()] == ["4", "3", "2", "1"]
    before = read.Store(cache, cache.root / f"store-{numbers[-2]}.duckdb")
    assert [row.version for row in before.benchmarks()] == ["3", "2", "1"]


def test_a_file_name_is_never_used_twice(cache, monkeypatch):
    """A dashboard keeps what it read under a name; the folder may be emptied meanwhile."""
    seen = []
    for now in (1_700_000_000.5, 1_700_000_060.5):
        monkeypatch.setattr(write.time, "time", lambda now=now: now)
        store, _ = stored(cache, made=benchmark(version=str(now)))
        seen.append(store.path.name)
        for path in (cache.current, store.path):
            path.unlink()
    assert seen == ["store-1700000000.duckdb", "store-1700000060.duckdb"]


def test_the_same_rows_are_one_version(cache):
    stored(cache, "bm25")
    reworded = benchmark(replace(TASK, title="Reworded", question="Which disease?"), title="Better", notes=("a", "b"))
    with write.writer(cache) as writer:
        assert writer.add_benchmark(reworded) == "1"
    store = read.open_store(cache)
    [row], [task] = store.benchmarks(), store.tasks(1)
    assert (row.title, row.notes) == ("Better", ("a", "b"))
    assert (task.title, task.question) == ("Reworded", "Which disease?")
    assert systems(cache) == ["bm25"]


def test_other_rows_under_a_version_get_a_version_of_their_own(cache):
    fewer = replace(TASK, judgements=TASK.judgements[:2])
    other = replace(TASK, exclude_self=False)
    with write.writer(cache) as writer:
        made = [writer.add_benchmark(benchmark(task)) for task in (TASK, fewer, other, fewer, TASK)]
        assert made == ["1", "1-2", "1-3", "1-2", "1"]
        assert writer.add_benchmark(benchmark(replace(TASK, queries=QUERIES[:1], judgements=()))) == "1-4"
        assert writer.add_benchmark(benchmark(fewer, version="1-2")) == "1-2-2"  # taken, and its name is in its rows
    assert len(read.open_store(cache).benchmarks()) == 5


def test_the_bare_name_is_the_version_built_last(cache):
    with write.writer(cache) as writer:
        for version in ("1", "2", "1"):  # within one second
            writer.add_benchmark(benchmark(version=version))
        writer.add_benchmark(benchmark(name="other"))
    store = read.open_store(cache)
    assert store.benchmark("hand").version == "1"
    assert {(row.name, row.version, row.current) for row in store.benchmarks()} == {
        ("hand", "1", True),
        ("hand", "2", False),
        ("other", "1", True),
    }


def test_a_run_takes_the_place_of_the_one_before(cache):
    _, task = stored(cache, "bm25", "dense")
    old = read.open_store(cache)
    [before] = [run for run in old.runs([1]) if run.system == "bm25"]
    turned = replace(RANKING, document=np.array([1, 3, 2, 2, 1], np.int32))
    with write.writer(cache) as writer:
        add_run(writer, task.task_id, "bm25", ranking=turned, fingerprint="g")
    store = read.open_store(cache)
    [after] = [run for run in store.runs([1]) if run.system == "bm25"]
    assert systems(cache) == ["bm25", "dense"]
    assert after.fingerprint == "g"
    assert store.ranks([after.run_id]).tolist() == [[NEVER, 1, NEVER, 1]]
    assert store.hits(after, [0]) == [(0, 1, 1, 0.9), (0, 2, 3, 0.8)]
    assert old.hits(before, [0], top=1) == [(0, 1, 2, 0.9)]  # the generation before still names its file
    assert (len(list(cache.hits.iterdir())), store.faults(), store.orphans()) == (3, [], [])
    with write.writer(cache):
        pass
    assert len(list(cache.hits.iterdir())) == 2
    assert not (cache.hits / before.hits_file).exists()


def test_a_refusal_is_recorded_until_the_system_runs(cache):
    _, task = stored(cache)
    with write.writer(cache) as writer:
        writer.add_system("maxsim", title="MaxSim", short="maxsim", paradigm="late interaction")
        for reason in ("too large", "still too large"):
            writer.add_refusal(task.task_id, "maxsim", reason=reason, fingerprint="f")
    [run] = read.open_store(cache).runs([1])
    assert (run.status, run.reason) == ("refused", "still too large")
    with write.writer(cache) as writer:
        add_run(writer, task.task_id, "maxsim")
    [run] = read.open_store(cache).runs([1])
    assert (run.status, run.reason, run.n_hits) == ("complete", None, 4)


def test_a_refusal_leaves_a_complete_run_alone(cache):
    _, task = stored(cache, "bm25")
    before = read.open_store(cache).runs([1])
    with write.writer(cache) as writer:
        writer.add_refusal(task.task_id, "bm25", reason="too large", fingerprint="f")
    assert read.open_store(cache).runs([1]) == before


def test_a_removed_run_takes_its_rows_along(cache):
    store, task = stored(cache, "bm25", "dense")
    gone, stays = (run.run_id for run in store.runs([1]))
    with write.writer(cache) as writer:
        writer.remove_run(task.task_id, "bm25")
        writer.remove_run(task.task_id, "never ran")
    store = read.open_store(cache)
    assert systems(cache) == ["dense"]
    assert store.faults() == []
    assert store.ranks([stays]).shape == (1, 4)
    assert store.concentration(gone) == {}
    with pytest.raises(StoreError, match="complete runs"):
        store.ranks([stays, gone])


def test_a_deep_ranking_keeps_its_ranks(cache):
    """Deeper than 16 bits count."""
    depth = 40_000
    deep = Ranking(np.zeros(depth, np.int32), np.arange(depth, dtype=np.int32)[::-1], -np.arange(depth) / 8, depth)
    _, task = stored(cache)
    with write.writer(cache) as writer:
        add_run(writer, task.task_id, ranking=deep, keep_hits=depth)
    store = read.open_store(cache)
    [run] = store.runs([1])
    assert store.hits(run)[-1] == (0, 40_000, 0, -39_999 / 8)
    assert store.ranks([run.run_id]).tolist() == [[40_000, 39_999, 39_996, NEVER]]


def test_an_exception_leaves_every_file_as_it_was(cache):
    _, task = stored(cache, "bm25")
    before = files(cache)

    def fail():
        with write.writer(cache) as writer:
            writer.add_benchmark(benchmark(name="other"))
            add_run(writer, task.task_id, "bm25", fingerprint="other")
            assert len(files(cache)) > len(before)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert files(cache) == before


def test_an_exception_in_the_first_writer_leaves_nothing(cache):
    def interrupted():
        with write.writer(cache) as writer:
            writer.add_benchmark(benchmark())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert files(cache) == {}
    assert read.open_store(cache) is None


KILLED = {
    "in the block": "pass",
    "before the copy has its name": "connection.fsync_file = die",
    "before CURRENT names it": "write._point_at = die",
    "while CURRENT is replaced": "write.generations.fsync_file = lambda path: path.name == 'CURRENT.tmp' and die()",
}


@pytest.mark.parametrize("where", KILLED)
def test_a_killed_writer_loses_nothing_stored_before(cache, where):
    stored(cache, "bm25")
    before = files(cache)
    last = "die()" if where == "in the block" else KILLED[where]
    done = child(
        cache,
        "with write.writer(cache) as writer:\n"
        "    add_run(writer, 1, 'dense')\n"
        "    print('in', flush=True)\n"
        f"    {last}",
    )
    assert done.communicate(timeout=60)[0] == b"in\n"
    assert done.returncode == -signal.SIGKILL
    after = files(cache)
    assert {name: after[name] for name in before} == before
    assert len(after) > len(before)  # the kill came in the middle
    assert systems(cache) == ["bm25"]
    assert read.open_store(cache).faults() == []
    with write.writer(cache) as writer:
        add_run(writer, 1, "dense")
    store = read.open_store(cache)
    assert systems(cache) == ["bm25", "dense"]
    assert len(list(cache.hits.iterdir())) == 2
    assert len(names(cache)) == 3  # CURRENT and two generations
    assert (store.faults(), store.orphans()) == ([], [])


def test_a_first_writer_killed_just_before_current_has_stored_its_work(cache):
    done = child(
        cache, "write._point_at = die\nwith write.writer(cache) as writer:\n    writer.add_benchmark(benchmark())"
    )
    assert done.wait(timeout=60) == -signal.SIGKILL
    assert not cache.current.exists()
    assert [row.name for row in read.open_store(cache).benchmarks()] == ["hand"]


def test_two_writers_queue(cache):
    """Both at once: the second waits, and starts from what the first has stored."""
    code = (
        "with write.writer(cache) as writer:\n"
        "    began = time.time()\n"
        "    writer.add_benchmark(benchmark(name=f'made by {os.getpid()}'))\n"
        "    time.sleep(0.4)\n"
        "    print(began, time.time())"
    )
    both = [child(cache, code) for _ in range(2)]
    (first_began, first_ended), (second_began, second_ended) = sorted(
        tuple(map(float, done.communicate(timeout=60)[0].split())) for done in both
    )
    assert first_began < first_ended <= second_began < second_ended
    made = {row.name for row in read.open_store(cache).benchmarks()}
    assert made == {f"made by {done.pid}" for done in both}


def test_a_queued_job_can_be_cancelled(cache):
    stored(cache)
    said = []

    def progress(step, done, total):
        said.append((step, done, total))
        if len(said) == 2:
            raise JobCancelledError("cancelled")

    with write.writer(cache) as writer:
        with pytest.raises(JobCancelledError), write.writer(cache, progress=progress):
            pytest.fail("two writers at once")
        writer.add_benchmark(benchmark(name="other"))
    assert said == [("wait for another job to end", 0, 1)] * 2
    assert len(read.open_store(cache).benchmarks()) == 2


def test_a_writer_goes_on_when_the_one_before_it_ends(cache):
    steps, entered = [], threading.Event()

    def second():
        with write.writer(cache, progress=lambda *said: steps.append(said)) as writer:
            writer.add_benchmark(benchmark(name="second"))

    with write.writer(cache) as writer:
        thread = threading.Thread(target=second)
        thread.start()
        while not steps:
            entered.wait(0.01)
        writer.add_benchmark(benchmark(name="first"))
    thread.join(timeout=30)
    assert [row.name for row in read.open_store(cache).benchmarks()] == ["second", "first"]


def test_a_reader_keeps_its_generation_while_writers_publish(cache):
    old, task = stored(cache, "bm25")
    [run] = old.runs([1])
    answer = old.ranks([run.run_id]).tolist(), old.hits(run)
    for system in ("dense", "maxsim", "rrf"):
        with write.writer(cache) as writer:
            assert (old.ranks([run.run_id]).tolist(), old.hits(run)) == answer
            add_run(writer, task.task_id, system)
        assert [row.system for row in old.runs([1])] == ["bm25"]
    assert not old.path.exists()  # swept, but open
    assert (old.ranks([run.run_id]).tolist(), old.hits(run)) == answer
    assert systems(cache) == ["bm25", "dense", "maxsim", "rrf"]


def test_another_process_reads_while_a_writer_publishes(cache):
    """A dashboard with a generation open does not keep a job from writing, and sees the next one when it asks."""
    stored(cache, "bm25")
    reader = child(
        cache,
        "store = read.open_store(cache)\n"
        "print(len(store.runs([1])), flush=True)\n"
        "while read.open_store(cache).path == store.path: time.sleep(0.02)\n"
        "print(len(store.runs([1])), len(read.open_store(cache).runs([1])))",
    )
    assert reader.stdout.readline() == b"1\n"
    with write.writer(cache) as writer:
        add_run(writer, 1, "dense")
    assert reader.communicate(timeout=30)[0] == b"1 2\n"


def test_other_peoples_files_are_left_alone(cache):
    store, _ = stored(cache, "bm25")
    theirs = [
        cache.root / "store-backup.duckdb",
        cache.root / f"{store.path.name}.bak",
        cache.root / "notes.tmp",
        cache.hits / "mine.parquet",
        cache.documents / "thesis.parquet",
    ]
    for path in theirs:
        path.write_text("keep")
    assert store.orphans() == []
    for _ in range(3):
        with write.writer(cache):
            pass
    assert [path.read_text() for path in theirs] == ["keep"] * 5


def test_a_damaged_generation_before_does_not_stop_a_writer(cache):
    store, task = stored(cache, "bm25")
    [before] = [path for path in connection.kept_generations(cache) if path != store.path]
    connection.shared_connection.cache_clear()
    before.write_bytes(b"damaged")
    orphan = cache.hits / f"{'0' * 32}.parquet"
    orphan.touch()
    with write.writer(cache) as writer:
        assert orphan.exists()  # it may be the damaged generation's
        add_run(writer, task.task_id, "dense")
    assert systems(cache) == ["bm25", "dense"]
    assert not orphan.exists()
    assert not before.exists()


def test_what_duckdb_refuses_is_a_store_error(cache):
    _, task = stored(cache)
    before = files(cache)
    with pytest.raises(StoreError, match="Constraint Error"), write.writer(cache) as writer:
        writer.add_system("bm25", title=None, short="bm25", paradigm="lexical")
    assert files(cache) == before
    assert task.name == "main"


def test_the_lock_is_free_after_a_writer(cache):
    assert not write.is_being_written(cache)
    with write.writer(cache):
        assert write.is_being_written(cache)
    assert not write.is_being_written(cache)


def test_a_lock_dies_with_its_holder(cache):
    holder = child(cache, "with write.writer(cache):\n    print('in', flush=True)\n    time.sleep(60)")
    assert holder.stdout.readline() == b"in\n"
    assert write.is_being_written(cache)
    holder.kill()
    holder.wait()
    began = time.monotonic()
    stored(cache)
    assert time.monotonic() - began < 20
    assert len(names(cache)) == 2


def test_a_checksum_is_of_the_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert write.file_checksum(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_folder_is_made(tmp_path):
    cache = Cache(tmp_path / "not" / "there" / "yet")
    with write.locked(cache):
        assert [path.name for path in cache.root.iterdir()] == ["store.lock"]
