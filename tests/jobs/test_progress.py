"""How a job says what it does, and what is said of one that cannot speak any more."""

import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import analysis
from analysis import jobs
from analysis.errors import InputError, JobCancelledError
from analysis.jobs import progress
from analysis.jobs.progress import JobProgress, JobState
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 30  # until a test gives up waiting


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until a test moves it."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def state(cache, name="job"):
    return progress.state(name, cache.root)


def until(condition):
    """Wait for a condition, and return what it became."""
    end = time.time() + SECONDS
    while not (met := condition()):
        assert time.time() < end, "waited in vain"
        time.sleep(0.01)
    return met


def job(cache, body, *, name="job"):
    """Another process that runs a job; it says ``in`` when the job has begun."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from analysis.jobs.progress import JobProgress\n"
        "from analysis.paths import Cache\n"
        f"with JobProgress(Cache(Path(sys.argv[1])), {name!r}) as progress:\n"
        "    progress('encode', 0, 9)\n"
        "    print('in', flush=True)\n"
        f"    {body}"
    )
    done = subprocess.Popen(
        [sys.executable, "-c", code, str(cache.root)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert done.stdout.readline() == b"in\n"
    return done


LOOP = "while True: progress('encode', 3, 9); time.sleep(0.02)"


def test_a_job_that_never_was_has_no_state(cache):
    assert state(cache) is None
    assert not progress.alive(cache, "job")
    progress.cancel("job", cache.root)
    assert not list(cache.root.rglob("*.cancel"))


def test_a_running_job_says_how_far_it_is(cache, clock):
    with JobProgress(cache, "job", stream=io.StringIO()) as say:
        assert state(cache) == JobState("job", "running", "start", 0, 0, None, None, 0.0, (), None)
        assert progress.alive(cache, "job")
        say("encode", 100, 1000)  # a hundred were done before
        clock[0] += 2
        say("encode", 300, 1000)
        assert state(cache) == JobState("job", "running", "encode", 300, 1000, 100.0, 7.0, 2.0, (), None)
        clock[0] += 1
        say("search", 0, 50)
        now = state(cache)
        assert (now.step, now.done, now.total, now.per_second, now.seconds_left) == ("search", 0, 50, None, None)
        assert now.finished == (("encode", 3.0),)
        clock[0] += 4
    assert state(cache) == JobState(
        "job", "done", "search", 0, 50, None, None, 7.0, (("encode", 3.0), ("search", 4.0)), None
    )
    assert not progress.alive(cache, "job")


def test_a_total_may_be_unknown(cache, clock):
    words = io.StringIO()
    with JobProgress(cache, "job", stream=words) as say:
        for done in range(3):
            say("read", 10 * done, 0)
            clock[0] += 1
        now = state(cache)
        assert (now.done, now.total, now.per_second, now.seconds_left) == (20, 0, 10.0, None)
    assert words.getvalue() == ""


def test_the_file_is_written_four_times_a_second_at_most(cache, clock):
    with JobProgress(cache, "job", stream=io.StringIO()) as say:
        say("encode", 0, 1000)  # the beginning of a step is always written
        assert state(cache).step == "encode"
        seen = []
        for done in range(1, 9):
            clock[0] += 0.1
            say("encode", done, 1000)
            seen.append(state(cache).done)
        assert seen == [0, 0, 3, 3, 3, 6, 6, 6]
        say("encode", 1000, 1000)  # and its end
        assert state(cache).done == 1000


def test_lines_for_people_come_every_five_seconds_and_at_the_end_of_a_step(cache, clock):
    words = io.StringIO()
    with JobProgress(cache, "job", stream=words) as say:
        for done in range(0, 1201, 100):
            say("encode", done, 1200)
            clock[0] += 1
        say("search", 0, 1)
        say("search", 1, 1)
    assert words.getvalue().splitlines() == [
        "encode: 500/1,200, 100 texts/s, 7 s left",
        "encode: 1,000/1,200, 100 texts/s, 2 s left",
        "encode: 1,200/1,200",
        "search: 1/1",
    ]


def test_a_job_that_fails_leaves_its_message(cache):
    def fail(error):
        with JobProgress(cache, "job", stream=io.StringIO()) as say:
            say("read titles", 1, 5)
            raise error

    with pytest.raises(InputError):
        fail(InputError("titles.csv, line 3: no title"))
    now = state(cache)
    assert (now.status, now.step, now.message) == ("failed", "read titles", "titles.csv, line 3: no title")
    assert now.finished == ()  # the step it failed in is not behind it
    with pytest.raises(MemoryError):
        fail(MemoryError())
    assert state(cache).message == "MemoryError"


def test_a_cancelled_job_stops_at_its_next_call(cache, clock):
    def work():
        with JobProgress(cache, "job", stream=io.StringIO()) as say:
            say("encode", 1, 9)
            progress.cancel("job", cache.root)
            clock[0] += 1
            say("encode", 2, 9)
            pytest.fail("went on")

    with pytest.raises(JobCancelledError, match="results stored before are unchanged"):
        work()
    now = state(cache)
    assert (now.status, now.step, now.done) == ("cancelled", "encode", 2)
    assert now.message.startswith("cancelled: ")


def test_an_old_cancel_does_not_stop_a_new_job(cache):
    cache.jobs.mkdir()
    (cache.jobs / "job.cancel").touch()
    with JobProgress(cache, "job", stream=io.StringIO()) as say:
        say("encode", 9, 9)
    assert state(cache).status == "done"


def test_signal_handlers_are_given_back(cache):
    before = [signal.signal(number, lambda *_: None) for number in progress.SIGNALS]
    ours = [signal.getsignal(number) for number in progress.SIGNALS]
    try:
        with JobProgress(cache, "job"):
            assert [signal.getsignal(number) for number in progress.SIGNALS] != ours
        assert [signal.getsignal(number) for number in progress.SIGNALS] == ours
    finally:
        for number, handler in zip(progress.SIGNALS, before, strict=True):
            signal.signal(number, handler)


def test_a_job_may_run_in_a_thread(cache):
    def work():
        with JobProgress(cache, "job", stream=io.StringIO()) as say:
            say("encode", 1, 1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(SECONDS)
    assert state(cache).status == "done"


@pytest.mark.parametrize("number", progress.SIGNALS)
def test_a_signal_cancels(cache, number):
    done = job(cache, LOOP)
    running = until(lambda: (now := state(cache)).done == 3 and now)
    assert (running.status, running.step, running.total) == ("running", "encode", 9)
    done.send_signal(number)
    words = done.communicate(timeout=SECONDS)[1].decode()
    assert words.splitlines()[-1].startswith("analysis.errors.JobCancelledError: cancelled: ")
    assert (state(cache).status, state(cache).done) == ("cancelled", 3)


def test_a_second_interrupt_does_not_wait_for_the_next_call(cache):
    done = job(cache, "time.sleep(60)")
    for _ in range(2):
        done.send_signal(signal.SIGINT)
        time.sleep(0.1)
    done.communicate(timeout=SECONDS)
    now = state(cache)
    assert (now.status, now.message) == ("cancelled", "KeyboardInterrupt")


def test_a_killed_job_reads_as_stopped(cache):
    done = job(cache, "time.sleep(60)")
    assert state(cache).status == "running"
    done.kill()
    done.communicate(timeout=SECONDS)
    now = state(cache)
    assert (now.status, now.step, now.total) == ("stopped", "encode", 9)
    assert now.message.startswith("the job's process ended without finishing; start it again")


def test_the_same_job_waits_for_itself(cache):
    """Two processes with one job's name never run together."""
    first = job(cache, "time.sleep(60)")
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from analysis.jobs.progress import *\n"
        "print('up', flush=True)\n"
        "with JobProgress(Cache(Path(sys.argv[1])), 'job') as say: say('second', 1, 1)"
    )
    second = subprocess.Popen(
        [sys.executable, "-c", code, str(cache.root)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert second.stdout.readline() == b"up\n"
    time.sleep(0.2)
    assert (second.poll(), state(cache).step) == (None, "encode")
    first.kill()
    assert second.wait(SECONDS) == 0
    assert (state(cache).status, state(cache).step) == ("done", "second")
    first.communicate()
    second.communicate()


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Let ``start`` run a script of ours instead of Python with ``-m analysis``; children are ended with the test."""

    def become(body):
        script = tmp_path / "fake-python"
        script.write_text(f"#!{sys.executable}\nimport os, sys, time\nsys.path.insert(0, {str(ROOT)!r})\n{body}")
        script.chmod(0o755)
        monkeypatch.setattr(progress.sys, "executable", str(script))

    children = []
    real = subprocess.Popen
    monkeypatch.setattr(progress.subprocess, "Popen", lambda *a, **k: children.append(real(*a, **k)) or children[-1])
    yield become
    for child in children:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)  # its own session: no one else is in the group
        child.wait(SECONDS)


START = (
    "from analysis import paths\n"
    "from analysis.jobs.progress import JOB_VARIABLE, JobProgress\n"
    "with JobProgress(paths.cache(), os.environ[JOB_VARIABLE]) as progress:\n"
    "    print(sys.argv[1:], flush=True)\n"
    "    progress('work', 1, 3)\n"
)


def test_a_job_that_a_page_starts_leaves_it_a_core_unless_the_reader_says_otherwise(cache, monkeypatch):
    for variable in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        monkeypatch.delenv(variable, raising=False)
    for cores, threads in ((8, "7"), (2, "1"), (1, "1")):
        monkeypatch.setattr(progress, "cores", lambda cores=cores: cores)
        told = progress.environment(cache, "run")
        assert (told["OMP_NUM_THREADS"], told["NUMBA_NUM_THREADS"]) == (threads, threads)
        assert progress.environment(cache, progress.FIRST_START)["OMP_NUM_THREADS"] == str(cores)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert progress.environment(cache, "run")["OMP_NUM_THREADS"] == "3"
    assert LoadOptions().cores == 3  # of models and searches in such a job
    assert LoadOptions(threads=5).cores == 5


def test_a_started_job_runs_apart_and_ends(cache, fake):
    go = cache.root / "go"
    fake(START + f"    while not os.path.exists({str(go)!r}): time.sleep(0.01)\n    progress('work', 3, 3)")
    progress.start("job", ["build", "icd10"], cache.root)
    assert state(cache).status == "running"  # from the first moment on
    until(lambda: (now := state(cache)).step == "work" and now)
    go.touch()
    ended = until(lambda: (now := state(cache)).status != "running" and now)
    assert (ended.status, ended.done, ended.total, ended.message) == ("done", 3, 3, None)
    assert (cache.jobs / "job.log").read_text().splitlines() == ["['-m', 'analysis', 'build', 'icd10']", "work: 3/3"]


def test_starting_twice_starts_one_child(cache, fake):
    fake(f"open({str(cache.root / 'started')!r}, 'a').write('x')\n" + START + "    time.sleep(60)")
    threads = [threading.Thread(target=progress.start, args=("job", ["x"], cache.root)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    until(lambda: state(cache).step == "work")
    progress.start("job", ["x"], cache.root)
    assert (cache.root / "started").read_text() == "x"
    assert state(cache).status == "running"


def test_a_started_job_can_be_cancelled_and_started_again(cache, fake):
    fake(START + "    while True: progress('work', 2, 3); time.sleep(0.02)")
    for _ in range(2):
        progress.start("job", ["x"], cache.root)
        until(lambda: state(cache).step == "work")
        progress.cancel("job", cache.root)
        assert until(lambda: (now := state(cache).status) != "running" and now) == "cancelled"
        until(lambda: not progress.alive(cache, "job"))


def test_a_job_that_dies_before_its_first_word_is_stopped(cache, fake):
    """Not unknown: a page would start it again, and again."""
    fake("sys.exit('no module named x')")
    progress.start("job", ["x"], cache.root)
    ended = until(lambda: (now := state(cache)).status != "running" and now)
    assert (ended.status, ended.step) == ("stopped", "start")
    assert ended.message.endswith(f"its last lines are in {cache.jobs / 'job.log'}")
    assert (cache.jobs / "job.log").read_text() == "no module named x\n"


def test_a_started_job_outlives_who_started_it(cache):
    """Closing the server does not end it, and the lock is the job's own."""
    code = (
        "import sys\nfrom pathlib import Path\nfrom analysis.jobs import progress\n"
        "real = progress.subprocess.Popen\n"
        "def popen(command, **options):\n"
        "    child = real(['/bin/sleep', '60'], **options)\n"
        "    print(child.pid, flush=True)\n"
        "progress.subprocess.Popen = popen\n"
        "progress.start('job', ['x'], Path(sys.argv[1]))\n"
    )
    server = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(cache.root)], cwd=ROOT, capture_output=True, check=True
    )
    pid = int(server.stdout)
    try:
        assert progress.alive(cache, "job")
        assert state(cache).status == "running"
        assert os.getsid(pid) == pid
    finally:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not progress.alive(cache, "job"))
    assert state(cache).status == "stopped"


def test_asking_whether_a_job_runs_does_not_keep_it_from_starting(cache, fake):
    """Whoever asks holds the lock for an instant."""
    fake("time.sleep(60)")
    cache.jobs.mkdir()
    asker = (cache.jobs / "job.lock").open("w")
    fcntl.flock(asker, fcntl.LOCK_SH)
    threading.Timer(0.03, asker.close).start()
    progress.start("job", ["x"], cache.root)
    assert (cache.jobs / "job.log").exists()
    assert progress.alive(cache, "job")


def test_the_real_command_line_starts(cache):
    progress.start("job", ["--version"], cache.root)
    until(lambda: not progress.alive(cache, "job"))
    assert (cache.jobs / "job.log").read_text() == f"{analysis.__version__}\n"
    assert state(cache).status == "stopped"  # a version is no job: it said nothing of itself


def test_the_first_start_builds_bedside_and_stores_the_quick_systems_before_the_others(cache, fake):
    fake("print(sys.argv[1:])")
    jobs.begin(jobs.FIRST_START, cache.root)
    until(lambda: not progress.alive(cache, jobs.FIRST_START))
    words = (cache.jobs / "first-start.log").read_text()
    quick = "bm25,bm25-cjk,use-multilingual-v3,rrf-bm25-use"
    assert words == f"['-m', 'analysis', 'build', 'bedside', '--run', '{quick}', '--run', 'all']\n"


def test_the_state_is_plain_json(cache):
    with JobProgress(cache, "job", stream=io.StringIO()) as say:
        say("encode", 1, 1)
    said = json.loads((cache.jobs / "job.json").read_text())
    assert list(said) == list(JobState.__dataclass_fields__)
    assert [path.name for path in cache.jobs.iterdir() if path.suffix == ".tmp"] == []


def test_reports_of_long_ago_are_removed_and_the_first_start_is_not(cache):
    cache.jobs.mkdir()
    old = ["run-20260101-000000-1.json", "run-20260101-000000-1.lock", "first-start.json"]
    for name in [*old, "run-20260101-000000-2.json"]:
        (cache.jobs / name).touch()
        if name in old:
            os.utime(cache.jobs / name, (0, 0))
    with JobProgress(cache, "job", stream=io.StringIO()):
        pass
    left = {path.name for path in cache.jobs.iterdir()}
    assert left == {"first-start.json", "run-20260101-000000-2.json", "job.json", "job.lock"}


def test_what_ifs_of_long_ago_are_removed(cache):
    cache.what_if.mkdir(parents=True)
    for name in ("old.parquet", "new.parquet"):
        (cache.what_if / name).touch()
    os.utime(cache.what_if / "old.parquet", (0, 0))
    with JobProgress(cache, "job", stream=io.StringIO()):
        pass
    assert [path.name for path in cache.what_if.iterdir()] == ["new.parquet"]
