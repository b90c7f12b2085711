"""Real processes that are killed, starved of disk or refused a folder: what was stored before is there afterwards."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from analysis import paths
from analysis.paths import Cache
from analysis.store import connection, read, write
from tests.hand_made import put, ranking_of, score_rows, state, worked_example, write_scores

ROOT = Path(__file__).resolve().parents[2]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\n"

SERVER = """
import itertools, os, signal, sys
from analysis.cli import main
import analysis.jobs.run, duckdb, numpy, pyarrow.parquet  # so that a child has nothing left to import
root, arguments = sys.argv[1], sys.argv[2:]
WRITES = os.O_WRONLY | os.O_RDWR

def hook_after(limit):
    met = 0
    def hook(event, found):
        nonlocal met
        place = found[0] if found else ""
        changes = (event == "open" and found[2] & WRITES) or event in ("os.rename", "os.remove", "os.mkdir")
        if changes and str(place).startswith(root):
            met += 1
            if met == limit:
                os.kill(os.getpid(), signal.SIGKILL)
    return hook

for line in sys.stdin:
    limit, seconds = line.split()
    child = os.fork()
    if not child:
        sys.stdin.close()
        if int(limit):
            sys.addaudithook(hook_after(int(limit)))
        signal.setitimer(signal.ITIMER_REAL, float(seconds))  # SIGALRM ends a process that has no handler for it
        os._exit(main(arguments))
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Server:
    """A process that has imported everything, and starts a command that is killed at a chosen moment."""

    def __init__(self, cache, *arguments):
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(cache.root), *arguments, "--cache", str(cache.root)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, *, change=0, seconds=0.0):
        """Run it, killed just before its ``change``-th change of a file, or after some seconds; its wait status."""
        self._process.stdin.write(f"{change} {seconds}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@pytest.fixture
def cache(tmp_path):
    """A store with the worked example and one run of it."""
    made = Cache(tmp_path / "cache")
    benchmark = worked_example()
    put(made, benchmark, {("good", "lexical"): ranking_of(benchmark.tasks[0], [["c-en"], ["c-ja"]], depth=10)})
    return made


@pytest.fixture
def inputs(tmp_path):
    """Files to bring in."""
    folder = tmp_path / "mine"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "a heart", "language": "en"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "un cœur", "language": "fr"}\n')
    (folder / "qrels" / "test.tsv").write_text(QRELS)
    run = tmp_path / "run.txt"
    run.write_text("q1 Q0 c-fr 1 2.5 t\nq2 Q0 c-ja 1 2.5 t\n")
    return {"folder": folder, "run": run, "scores": write_scores(tmp_path / "scores.csv", score_rows())}


COMMANDS = {
    "import-run": lambda inputs: ("import-run", str(inputs["run"]), "--benchmark", "example", "--system", "new"),
    "import-benchmark": lambda inputs: (
        *("import-benchmark", str(inputs["folder"])),
        *("--benchmark", "mine", "--format", "beir"),
    ),
    "import-scores": lambda inputs: ("import-scores", str(inputs["scores"]), "--benchmark", "theirs"),
}


def command(*arguments, cache):
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "analysis", *arguments, "--cache", str(cache.root)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def contents(cache):
    """What a store says it holds."""
    store = read.open_store(cache)
    found = {row.name: [task.name for task in store.tasks(row.benchmark_id)] for row in store.benchmarks()}
    return found, sorted(run.system for run in store.runs(list(range(1, 9))))


def kept(cache):
    """Every file but those that only say how a job went."""
    return {name: digest for name, digest in state(cache.root).items() if not name.startswith(("jobs/", "store.lock"))}


def survived(cache, *, files, before, after):
    """A store after a kill: old or new and never between, every file of the old one as it was; whether it is old."""
    found = contents(cache)
    assert found in (before, after)
    assert read.open_store(cache).faults() == []
    left = kept(cache)
    if found == before:
        assert {name: left.get(name) for name in files} == files
    return found == before


def swept(cache, after):
    """The store is the new one, and the next job removes what the killed ones left."""
    assert contents(cache) == after
    with write.writer(cache):
        pass
    assert (contents(cache), read.open_store(cache).orphans()) == (after, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_killed_before_any_change_of_a_file_leaves_the_store(cache, inputs, name):
    """Killed before its first file, a later one, and so on until one comes to its end."""
    arguments = COMMANDS[name](inputs)
    twin = Cache(Path(shutil.copytree(cache.root, cache.root.with_name("twin"))))
    assert command(*arguments, cache=twin).returncode == 0
    before, after, files = contents(cache), contents(twin), kept(cache)
    assert before != after
    n_old = 0
    step = 1 if name == "import-run" else 3  # the others write through the same store
    with Server(cache, *arguments) as server:
        for change in itertools.count(1, step):
            status = server.run(change=change)
            if not os.WIFSIGNALED(status):
                break
            assert os.WTERMSIG(status) == signal.SIGKILL
            n_old += survived(cache, files=files, before=before, after=after)
    assert os.WEXITSTATUS(status) == 0
    assert n_old >= 8 / step
    swept(cache, after)


@pytest.mark.slow
def test_a_job_ended_at_any_moment_leaves_the_store(cache, inputs):
    """Ended by the clock, also in the middle of what DuckDB writes."""
    arguments = COMMANDS["import-run"](inputs)
    twin = Cache(Path(shutil.copytree(cache.root, cache.root.with_name("twin"))))
    with Server(twin, *arguments) as server:
        began = time.monotonic()
        assert server.run() == 0
        whole = time.monotonic() - began
    before, after, files = contents(cache), contents(twin), kept(cache)
    n_ended = 0
    for attempt in range(10):  # each until a job was quick enough to come to its end
        copy = Cache(Path(shutil.copytree(cache.root, cache.root.with_name(f"copy-{attempt}"))))
        with Server(copy, *arguments) as server:
            for part in range(1, 21):
                status = server.run(seconds=whole * part / 20)
                n_ended += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
                if not survived(copy, files=files, before=before, after=after):
                    break
            server.run()
        swept(copy, after)
        if n_ended >= 12:
            break
    assert n_ended >= 12


def test_two_jobs_at_once_both_end_well(cache, inputs):
    """They queue on the store's lock; neither loses what the other stored."""
    jobs = [
        subprocess.Popen(
            [sys.executable, "-m", "analysis", *COMMANDS[name](inputs), "--cache", str(cache.root)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name in COMMANDS
    ]
    assert [job.wait(120) for job in jobs] == [0, 0, 0]
    found, systems = contents(cache)
    assert found.keys() == {"example", "mine", "theirs"}
    assert {"good", "new", "large"} <= set(systems)
    assert read.open_store(cache).faults() == []


def namespace(code, *arguments):
    """Run Python code as root of a namespace of its own, where it may mount; skip where the machine forbids that."""
    for how in (["unshare", "--user", "--map-root-user", "--mount"], ["unshare", "--mount"]):
        if shutil.which("unshare") and subprocess.run([*how, "true"], capture_output=True, check=False).returncode == 0:
            done = subprocess.run(
                [*how, sys.executable, "-c", code, *map(str, arguments)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout.splitlines()[-1])
    pytest.skip("no namespace may be made here")


FULL = """
import json, shutil, subprocess, sys
from pathlib import Path
from analysis.paths import Cache
from tests.jobs.test_crashes import command, contents, kept
source, room, run, place = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
size = sum(-(-path.stat().st_size // 4096) * 4 + 4 for path in source.rglob("*")) + room
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(place)], check=True)
shutil.copytree(source, place, dirs_exist_ok=True)
cache = Cache(place)
before = kept(cache)
done = command("import-run", run, "--benchmark", "example", "--system", "new", cache=cache)
checked = command("check", cache=cache)
print(json.dumps([done.returncode, done.stderr, kept(cache) == before, contents(cache)[1], checked.returncode]))
"""


@pytest.mark.slow
def test_a_full_disk_is_one_clear_sentence(cache, inputs, tmp_path):
    """With room for a little more at each try, until there is enough: nothing stored is lost, and nothing is left."""
    place = tmp_path / "full"
    place.mkdir()
    store = read.open_store(cache).path.stat().st_size // 1024
    rooms = [16, store // 2, store + 256, store + 1024, 3 * store + 4096]
    tries = [namespace(FULL, cache.root, room, inputs["run"], place) for room in rooms]
    assert [code for code, *_ in tries] == [1, 1, 1, 1, 0]
    for code, said, unchanged, systems, checked in tries:
        assert checked == 0
        assert systems == (["good"] if code else ["good", "new"])
        if code:
            assert unchanged
            assert "No space left on device" in said.splitlines()[-1]
            assert said.splitlines()[-1].startswith("babelscope: ")
            assert "Traceback" not in said


READ_ONLY = """
import json, os, subprocess, sys
from pathlib import Path
from analysis.paths import Cache
from tests.jobs.test_crashes import command, opened
root, run = sys.argv[1:]
subprocess.run(["mount", "--bind", root, root], check=True)
subprocess.run(["mount", "-o", "remount,ro,bind", root], check=True)
cache = Cache(Path(root))
reading = [command(*words.split(), cache=cache).returncode for words in (
    "list runs", "scores --benchmark example", "show overview --benchmark example", "check")]
writing = command("import-run", run, "--benchmark", "example", "--system", "new", cache=cache)
os.environ["BABELSCOPE_CACHE"] = root
pages = [opened(name) for name in ("overview", "routes", "fairness", "data")]
pressed = [opened("overview", press="Add ICD-10"), opened("data", press="Ranking (TREC)"),
           opened("data", press="Build Bedside again", part="import")]
print(json.dumps([reading, writing.returncode, writing.stderr, pages, pressed]))
"""


def opened(name, *, press=None, **parameters):
    """A page by itself, on which a button may be pressed: its title, and what it complains about."""
    page = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=120)
    for parameter, value in parameters.items():
        page.query_params[parameter] = value
    page.run()
    if press:
        next(button for button in page.button if button.label == press).click().run()
    return [page.title[0].value, [error.value for error in page.error], [error.value for error in page.exception]]


@pytest.mark.slow
def test_a_read_only_cache_is_read_and_says_why_it_is_not_written(cache, inputs):
    reading, code, said, pages, pressed = namespace(READ_ONLY, cache.root, inputs["run"])
    assert reading == [0, 0, 0, 0]
    assert code == 1
    assert said.splitlines()[-1].startswith("babelscope: ")
    assert "Read-only file system" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert [(bool(title), errors, exceptions) for title, errors, exceptions in pages] == [(True, [], [])] * 4
    for title, (error,), exceptions in pressed:
        assert (bool(title), exceptions) == (True, [])
        assert "Read-only file system" in error


def test_a_store_newer_than_the_program_is_refused_in_every_way(tmp_path, monkeypatch):
    made = Cache(tmp_path / "cache")
    made.root.mkdir()
    with duckdb.connect(str(made.root / "store-5.duckdb")) as fresh:
        connection.migrate(fresh)
        fresh.execute("INSERT INTO migration VALUES (999, 'from the future', now()::TIMESTAMP)")
    made.current.write_text("store-5.duckdb\n")
    before = kept(made)
    for words in ("list benchmarks", "check", "build bedside"):
        done = command(*words.split(), cache=made)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("babelscope: the store has schema 999, written by a newer")
    assert kept(made) == before
    monkeypatch.setenv(paths.ENVIRONMENT_VARIABLE, str(made.root))
    for name in ("overview", "probe"):
        _, errors, exceptions = opened(name)
        assert exceptions == []
        assert [error.split(",")[0] for error in errors] == ["The store has schema 999"]


@pytest.mark.slow
def test_a_job_killed_while_it_brings_an_older_store_up_to_date_leaves_it(tmp_path):
    made = Cache(tmp_path / "cache")
    made.root.mkdir()
    with duckdb.connect(str(made.root / "store-5.duckdb")) as old:
        connection.migrate(old, upto=1)
    made.current.write_text("store-5.duckdb\n")
    with Server(made, "list", "benchmarks") as server:
        for change in itertools.count(1):
            status = server.run(change=change)
            if not os.WIFSIGNALED(status):
                break
            assert (made.root / "store-5.duckdb").exists()
    assert (os.WEXITSTATUS(status), change > 4) == (0, True)
    with duckdb.connect(str(made.root / made.current.read_text().strip()), read_only=True) as new:
        assert connection.schema_of(new) == connection.newest_schema()


def test_a_damaged_file_is_named_by_check_and_by_the_page_that_needs_it(cache, monkeypatch):
    """Everything else goes on working."""
    [file] = cache.documents.iterdir()
    damaged = bytearray(file.read_bytes())
    damaged[: len(damaged) // 2] = bytes(len(damaged) // 2)
    file.write_bytes(damaged)
    checked = command("check", cache=cache)
    assert (checked.returncode, str(file) in checked.stderr) == (1, True)
    monkeypatch.setenv(paths.ENVIRONMENT_VARIABLE, str(cache.root))
    assert opened("overview")[1:] == [[], []]
    assert opened("routes")[1:] == [[], []]
    _, errors, exceptions = opened("routes", route="en,ja", system="good")
    assert exceptions == []
    assert [str(file) in error for error in errors] == [True]
