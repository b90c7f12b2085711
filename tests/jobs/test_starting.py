"""Jobs that pages start: what they are told, how they are known, taken up again, and what they leave behind."""

import contextlib
import io
import json
import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import jobs
from analysis.cli.main import parser
from analysis.errors import InputError
from analysis.jobs import progress, starting
from analysis.jobs.progress import JobProgress, JobRequest, JobResult
from analysis.paths import Cache
from analysis.store import read, write
from tests.hand_made import put, ranking_of, worked_example

SECONDS = 60
TEXT = st.text(st.characters(categories=("L", "M", "N", "P", "S", "Zs")), min_size=1).filter(
    lambda text: text.isprintable() and text != "--"
)


@pytest.fixture
def cache(tmp_path):
    """The worked example with a run called mine."""
    cache = Cache(tmp_path / "cache")
    made = worked_example()
    put(cache, made, {("mine", "lexical"): ranking_of(made.tasks[0], [["c-en"], ["c-ja"]], depth=10)})
    return cache


def until(condition):
    end = time.time() + SECONDS
    while not (met := condition()):
        assert time.time() < end, "waited in vain"
        time.sleep(0.05)
    return met


def ended(cache, name):
    """A job once it has ended."""
    return until(lambda: next((job for job in jobs.listed(cache.root) if job.name == name
                               and job.state.status != "running"), None))  # fmt: skip


@pytest.mark.slow
@given(benchmark=TEXT, system=TEXT, path=TEXT)
def test_no_text_becomes_a_flag(benchmark, system, path):
    told = starting.arguments(
        "import-run", path, options={"benchmark": benchmark, "system": system, "task": None}, flags=("dry-run",)
    )
    read_back = parser().parse_args(list(told))
    assert (read_back.benchmark, read_back.system, read_back.file) == (benchmark, system, Path(path))
    assert (read_back.dry_run, read_back.lenient, read_back.cache, read_back.task) == (True, False, None, None)


@pytest.mark.parametrize("name", ["--yes", "-x", "--cache=/etc", "a b", "---", "x@1"])
def test_names_that_look_like_flags_stay_names(name):
    told = parser().parse_args(list(starting.arguments("delete benchmark", name, options={}, flags=())))
    assert (told.benchmark, told.yes, told.cache) == (name, False, None)
    told = parser().parse_args(list(starting.arguments("rename benchmark", name, options={"to": name})))
    assert (told.benchmark, told.to) == (name, name)


def test_every_option_that_a_page_may_use_exists():
    for command, known in starting.COMMANDS.items():
        needed = dict.fromkeys(("depth", "keep-hits", "queries", "k", "pool"), "5")
        needed |= {
            "dimensions": "2",
            "format": "csv",
            "topic-field": "title",
            "relevant-by": "family",
            "paradigm": "hybrid",
        }
        if command == "import-benchmark":
            needed["format"] = "beir"
        options = {name: needed.get(name, "a=b") for name in known.options}
        positional = ("rrf" if command == "what-if" else "bedside",) * known.positional
        parser().parse_args(list(starting.arguments(command, *positional, options=options, flags=known.flags)))


@pytest.mark.parametrize(
    ("command", "positional", "options", "flags", "message"),
    [
        ("check", (), {}, (), "command 'check': a page starts"),
        ("import-run", ("f",), {"cache": "/etc"}, (), "import-run: cache: a page tells it benchmark"),
        ("run", (), {"benchmark": "b"}, ("trust-remote-code",), "run: trust-remote-code: a page tells it"),
        ("import-run", (), {"benchmark": "b"}, (), "import-run: 0 names"),
        ("import-run", ("f",), {"benchmark": "a\nb"}, (), r"import-run: 'a\\nb': expected a text, not --"),
        ("import-run", ("f\0",), {"benchmark": "b"}, (), r"import-run: 'f\\x00': expected a text, not --"),
        ("import-run", ("f",), {"benchmark": "--"}, (), "import-run: '--': expected a text, not --"),
    ],
)
def test_what_no_page_may_ask_is_refused(tmp_path, command, positional, options, flags, message):
    with pytest.raises(InputError, match=message):
        starting.launch(command, *positional, options=options, flags=flags, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def uploaded(cache, text):
    return jobs.receive([("own.trec", io.BytesIO(text.encode()))], cache.root)


RUN = "q1 Q0 c-en 0 2 own\nq2 Q0 c-ja 0 1 own\n"


def import_run(cache, text, *, dry=True):
    folder, path = uploaded(cache, text)
    name = starting.launch(
        "import-run",
        path,
        options={"benchmark": "example", "task": "main", "system": "own"},
        flags=("dry-run",) if dry else (),
        uploads=folder,
        folder=cache.root,
    )
    return ended(cache, name), folder


@pytest.mark.slow
def test_a_check_tells_what_it_found_and_is_confirmed_into_an_import(cache):
    checked, folder = import_run(cache, RUN)
    assert checked.state.status == "done"
    found = jobs.result(checked.name, cache.root)
    assert (found.outcome, found.benchmark, found.task) == ("checked, nothing stored", "example", "main")
    assert ("rows", "2 read, 2 ranked", "") in found.rows
    assert found.report["file"]["n_ranked"] == 2
    assert not read.open_store(cache).has_results_of("own")
    assert folder.is_dir()  # for the import

    imported = ended(cache, starting.confirm(checked.name, cache.root))
    assert imported.state.status == "done"
    assert jobs.result(imported.name, cache.root).outcome == "stored"
    assert read.open_store(cache).has_results_of("own")
    assert not folder.exists()  # used up
    assert [job.name for job in jobs.listed(cache.root)] == [imported.name, checked.name]
    with pytest.raises(InputError, match="expected one that has checked an import"):
        starting.confirm(imported.name, cache.root)


@pytest.mark.slow
def test_a_faulty_file_ends_in_its_one_sentence_and_is_kept_to_be_tried_again(cache):
    failed, folder = import_run(cache, "q1 Q0 c-en 0 two own\n", dry=False)
    assert failed.state.status == "failed"
    assert "line 1: score 'two'" in failed.state.message
    assert jobs.result(failed.name, cache.root) is None
    assert folder.is_dir()
    assert not read.open_store(cache).has_results_of("own")
    jobs.again(failed.name, cache.root)
    again = ended(cache, failed.name)
    assert again.state.message == failed.state.message
    assert len(jobs.listed(cache.root)) == 1


@pytest.mark.slow
def test_a_queued_job_is_known_as_such_and_can_be_cancelled(cache):
    with write.locked(cache):
        name = starting.launch("delete benchmark", "example", flags=("yes",), folder=cache.root)
        job = until(lambda: next((job for job in jobs.listed(cache.root) if job.queued), None))
        assert (job.name, job.command, job.state.status) == (name, "delete", "running")
        jobs.cancel(name, cache.root)
        assert ended(cache, name).state.status == "cancelled"
    assert len(read.open_store(cache).benchmarks()) == 1


@pytest.mark.slow
def test_a_killed_job_is_stopped_and_goes_on_when_started_again(cache):
    with write.locked(cache):
        name = starting.launch("delete benchmark", "example", flags=("yes",), folder=cache.root)
        until(lambda: any(job.queued for job in jobs.listed(cache.root)))
        os.kill(_pid_of(name), signal.SIGKILL)
        assert ended(cache, name).state.status == "stopped"
    assert len(read.open_store(cache).benchmarks()) == 1
    jobs.again(name, cache.root)
    assert ended(cache, name).state.status == "done"
    assert read.open_store(cache).benchmarks() == []


def _pid_of(job):
    """The process whose environment names the job; zombies are told apart by their empty environment."""
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{progress.JOB_VARIABLE}={job}".encode() in entry.read_bytes().split(b"\0"):
                return int(entry.parent.name)
    raise AssertionError("no such process")


def test_wrong_usage_is_heard_of_too(cache):
    name = "import-run-20260101-000000-aa"
    progress.start(name, ("import-run", "--no-such"), cache.root, request=JobRequest(("import-run", "--no-such")))
    assert ended(cache, name).state.status == "stopped"
    assert "the following arguments are required" in jobs.last_words(name, cache.root)


def test_what_a_job_prints_is_saved_as_a_file(cache):
    options = {"benchmark": "example", "task": "main", "run": "mine", "format": "trec"}
    name = starting.launch("export", options=options, saves="mine.trec", folder=cache.root)
    assert ended(cache, name).state.status == "done"
    assert jobs.saved(name, cache.root).read_text().splitlines()[0].split() == ["q1", "Q0", "c-en", "1", "1.0", "mine"]
    assert jobs.saved("nothing", cache.root) is None
    assert jobs.last_words("nothing", cache.root) is None


def test_jobs_of_last_week_and_uploads_of_yesterday_are_swept(cache):
    folder, _ = uploaded(cache, RUN)
    kept, _ = uploaded(cache, RUN)
    cache.jobs.mkdir(exist_ok=True)
    old = time.time() - 8 * 86_400
    name = "import-run-20260101-000000-ab12"
    for suffix in progress.SUFFIXES:
        file = cache.jobs / f"{name}.{suffix}"
        file.write_text("{}")
        os.utime(file, (old, old))
    os.utime(folder, (old, old))
    with JobProgress(cache, "job", stream=io.StringIO()):
        pass
    assert sorted(path.name for path in cache.jobs.iterdir()) == ["job.json", "job.lock"]
    assert list(cache.uploads.iterdir()) == [kept]


def test_uploads_that_a_running_job_reads_are_kept(cache):
    folder, _ = uploaded(cache, RUN)
    cache.jobs.mkdir(exist_ok=True)
    request = {"arguments": ["import-run"], "saves": None, "uploads": str(folder), "keeps_uploads": True}
    with JobProgress(cache, "one", stream=io.StringIO()):
        (cache.jobs / "one.request.json").write_text(json.dumps(request))
        os.utime(folder, (0, 0))
        with JobProgress(cache, "two", stream=io.StringIO()):
            pass
        assert folder.is_dir()
    with JobProgress(cache, "three", stream=io.StringIO()):
        pass
    assert not folder.exists()


def test_only_folders_of_uploads_are_ever_removed(cache, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    cache.jobs.mkdir(exist_ok=True)
    for place, path in enumerate((precious, cache.uploads / ".." / ".." / "precious", cache.root)):
        request = {"arguments": ["import-run"], "saves": None, "uploads": str(path), "keeps_uploads": False}
        (cache.jobs / f"j{place}.request.json").write_text(json.dumps(request))
        with JobProgress(cache, f"j{place}", stream=io.StringIO()):
            pass
    assert precious.is_dir()
    assert cache.current.is_file()


def test_a_result_comes_back_as_it_was(cache):
    told = JobResult("stored", "b@1", "main", (("a", "1", "x"), ("心", "", "")), {"n": 1, "none": None})
    with JobProgress(cache, "job", stream=io.StringIO()) as job:
        job.result(told)
    assert jobs.result("job", cache.root) == told
