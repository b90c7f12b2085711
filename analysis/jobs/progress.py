"""How a job tells what it is doing: lines on stderr, a small file that pages read, and a lock that dies with it."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from analysis import paths
from analysis.errors import JobCancelledError
from analysis.paths import Cache
from analysis.store.connection import on_disk
from analysis.store.write import WAITING
from analysis.systems.devices import THREADS_VARIABLE, cores

FIRST_START = "first-start"
ADD_ICD10 = "add-icd10"
QUICK = "bm25,bm25-cjk,use-multilingual-v3,rrf-bm25-use"  # a quarter of the minute that all systems take
COMMANDS = {  # what a page may start, by the job's name
    FIRST_START: ("build", "bedside", "--run", QUICK, "--run", "all"),
    ADD_ICD10: ("build", "icd10", "--run", "all"),
}
DRY_RUN = "--dry-run"
JOB_VARIABLE = "BABELSCOPE_JOB"  # names the job whose lock this process inherited
STOPPED = "the job's process ended without finishing; start it again and it goes on where it stopped"
NAME = re.compile(r"[\w-]+")  # of a job; the other files of a job have a second suffix
SUFFIXES = ("json", "log", "cancel", "lock", "request.json", "result.json", "out")
SIGNALS = (signal.SIGTERM, signal.SIGINT)
INTERVAL = 0.25  # seconds between two writes of the progress file
KEPT_SECONDS = 7 * 86_400  # the reports of jobs that ended longer ago are removed
UPLOAD_SECONDS = 86_400  # uploaded files that no job has used up are removed after a day
LAST_BYTES = 4096  # of a log in which its last line is looked for
LINE_INTERVAL = 5.0  # seconds between two lines on stderr inside one step


@dataclass(frozen=True)
class JobState:
    """What a job last said of itself."""

    name: str
    status: str  # running | done | failed | cancelled | stopped (its process ended without a word)
    step: str  # what it is doing, in words
    done: int  # units finished in this step
    total: int  # units in this step; 0 when unknown
    per_second: float | None  # units a second in this step
    seconds_left: float | None  # in this step
    elapsed: float  # seconds since the job began
    finished: tuple[tuple[str, float], ...]  # steps behind it, with their seconds
    message: str | None  # the one clear last line of a job that ended badly


@dataclass(frozen=True)
class JobRequest:
    """How a job was asked for, so that it can be started again."""

    arguments: tuple[str, ...]  # of ``python -m analysis``
    saves: str | None = None  # what the job prints is kept, as a file of this name
    uploads: str | None = None  # the folder of uploaded files that it reads
    keeps_uploads: bool = False  # for another job; else they are removed once this one ended well

    @property
    def dry_run(self) -> bool:
        """Whether it checks only; what stands behind ``--`` may be called anything."""
        return DRY_RUN in itertools.takewhile(lambda text: text != "--", self.arguments)


@dataclass(frozen=True)
class JobResult:
    """What a job found or stored, for the page that started it."""

    outcome: str  # in words: "stored", "checked, nothing stored"
    benchmark: str | None  # its address
    task: str | None
    rows: tuple[tuple[str, str, str], ...]  # for people: what, how many, and the first few
    report: Mapping[str, Any]  # the same whole, as ``--dry-run`` prints it


@dataclass(frozen=True)
class Job:
    """A job that runs or ran, whoever started it."""

    state: JobState
    said_at: float  # when it last said something, in seconds since the epoch
    queued: bool  # it runs, and waits for another job that holds the store
    request: JobRequest | None  # None: started in a terminal

    @property
    def name(self) -> str:
        """As in the files under ``jobs/``."""
        return self.state.name

    @property
    def command(self) -> str:
        """What it does, as on the command line: ``import-run``."""
        return self.request.arguments[0] if self.request else re.sub(r"-\d{8}-\d{6}-\w+$", "", self.name)

    @property
    def dry_run(self) -> bool:
        """Whether a page had it check only."""
        return self.request is not None and self.request.dry_run


def _file(cache: Cache, name: str, suffix: str) -> Path:
    return cache.jobs / f"{name}.{suffix}"


def _save(cache: Cache, report: JobState) -> None:
    _write_json(_file(cache, report.name, "json"), asdict(report))


def _write_json(target: Path, value: object) -> None:
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    with on_disk(target):
        temporary.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        temporary.replace(target)


class JobProgress:
    """The progress of one job; call it as ``progress(step, done, total)`` between batches.

    Use it as a context manager: it writes how the job ended, whatever ended it. SIGTERM, the first SIGINT and a cancel
    file all make the next call raise JobCancelledError.
    """

    def __init__(self, cache: Cache, name: str, *, stream: IO[str] | None = None) -> None:
        self._cache = cache
        self._name = name
        self._stream = stream or sys.stderr
        self._began = self._step_began = time.monotonic()
        self._step, self._done, self._total = "start", 0, 0
        self._first_done = 0
        self._finished: list[tuple[str, float]] = []
        self._written = self._said = 0.0
        self._cancelled = False
        self._lock: IO[str] | None = None
        self._handlers: dict[signal.Signals, Any] = {}

    def __enter__(self) -> JobProgress:
        with on_disk(self._cache.root):
            self._cache.jobs.mkdir(parents=True, exist_ok=True)
        if os.environ.get(JOB_VARIABLE) != self._name:
            self._lock = _file(self._cache, self._name, "lock").open("a")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            _file(self._cache, self._name, "cancel").unlink(missing_ok=True)
        _sweep(self._cache)
        self._write("running")
        self._take_signals()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._give_signals_back()
        if error is None:
            self._end_step()
        status = "done" if kind is None else "cancelled" if kind in (JobCancelledError, KeyboardInterrupt) else "failed"
        if error is None:
            _drop_uploads(self._cache, self._name)
        self._write(status, message=None if error is None else str(error) or type(error).__name__)
        if self._lock:
            self._lock.close()  # the empty file stays: removing it would let two jobs hold locks of the same name

    def __call__(self, step: str, done: int, total: int) -> None:
        """Say how far the job is.

        Raises:
            JobCancelledError: the user has cancelled.
        """
        now = time.monotonic()
        begins, ends = step != self._step, 0 < total <= done
        if begins:
            self._end_step()
            self._step, self._step_began, self._first_done, self._said = step, now, done, now
        self._done, self._total = done, total
        if begins or ends or now - self._written >= INTERVAL:
            self._write("running")
            self._cancelled = self._cancelled or _file(self._cache, self._name, "cancel").exists()
        if self._cancelled:
            raise JobCancelledError(
                "cancelled: the results stored before are unchanged, and what was encoded will not be encoded again"
            )
        if ends or now - self._said >= LINE_INTERVAL:
            self._say()

    def result(self, found: JobResult) -> None:
        """Leave what the job found where the page that started it looks."""
        _write_json(_file(self._cache, self._name, "result.json"), asdict(found))

    def _take_signals(self) -> None:
        if threading.current_thread() is threading.main_thread():  # Python allows it nowhere else
            self._handlers = {number: signal.signal(number, self._on_signal) for number in SIGNALS}

    def _give_signals_back(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: object) -> None:
        if self._cancelled:
            raise KeyboardInterrupt
        self._cancelled = True

    def _end_step(self) -> None:
        if self._step != "start":
            self._finished.append((self._step, round(time.monotonic() - self._step_began, 2)))

    def _speed(self) -> tuple[float | None, float | None]:
        seconds, moved = time.monotonic() - self._step_began, self._done - self._first_done
        if moved <= 0 or seconds < INTERVAL:
            return None, None
        return moved / seconds, (self._total - self._done) * seconds / moved if self._total else None

    def _say(self) -> None:
        self._said = time.monotonic()
        speed, left = self._speed()
        unit = "texts/s" if self._step.startswith("encode") else "/s"
        tail = "" if speed is None or self._done >= self._total else f", {speed:,.0f} {unit}, {left:,.0f} s left"
        print(f"{self._step}: {self._done:,}/{self._total:,}{tail}", file=self._stream, flush=True)

    def _write(self, status: str, *, message: str | None = None) -> None:
        self._written = time.monotonic()
        speed, left = self._speed()
        elapsed, finished = self._written - self._began, tuple(self._finished)
        report = JobState(
            self._name, status, self._step, self._done, self._total, speed, left, elapsed, finished, message
        )
        _save(self._cache, report)


@contextlib.contextmanager
def heard(cache: Cache) -> Iterator[JobProgress | None]:
    """Around a command that is no job of its own: the page that started it hears that it runs, and how it ended.

    Yields None where no page started it: nothing is written then.
    """
    name = os.environ.get(JOB_VARIABLE)
    if name is None:
        yield None
        return
    with JobProgress(cache, name) as progress:
        yield progress


def _sweep(cache: Cache) -> None:
    """Remove what jobs of last week said, what-ifs of last week, and uploads of yesterday.

    Names of jobs and uploads carry time and process, so that none comes again; a what-if can be made anew.
    """
    for ranking in cache.what_if.glob("*"):
        if _older(ranking, KEPT_SECONDS):
            ranking.unlink(missing_ok=True)
    for report in cache.jobs.glob("*-*-*-*.json"):
        if NAME.fullmatch(report.stem) and _older(report, KEPT_SECONDS) and not alive(cache, report.stem):
            for suffix in SUFFIXES:
                _file(cache, report.stem, suffix).unlink(missing_ok=True)
    old = [folder for folder in cache.uploads.glob("*") if _older(folder, UPLOAD_SECONDS)]
    if old:
        kept = {job.request.uploads for job in _listed(cache) if job.state.status == "running" and job.request}
        for folder in old:
            if str(folder) not in kept:
                shutil.rmtree(folder, ignore_errors=True)


def _older(path: Path, seconds: float) -> bool:
    with contextlib.suppress(FileNotFoundError):  # another job removed it
        return time.time() - path.stat().st_mtime > seconds
    return False


def _drop_uploads(cache: Cache, name: str) -> None:
    """Remove the uploaded files of a job that ended well and was the last to need them."""
    request = asked_for(name, cache.root)
    if request and request.uploads and not request.keeps_uploads and Path(request.uploads).parent == cache.uploads:
        shutil.rmtree(request.uploads, ignore_errors=True)


def alive(cache: Cache, name: str) -> bool:
    """Whether a process still holds the job's lock."""
    try:
        with _file(cache, name, "lock").open("r") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def state(name: str, folder: str | Path | None = None) -> JobState | None:
    """What a job last said; None when there never was one.

    A job whose process is gone without a word is ``stopped``.
    """
    cache = paths.cache(folder)
    running = alive(cache, name)  # asked before the file is read, so that a job that ends in between reads as ended
    try:
        said = json.loads(_file(cache, name, "json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    said["finished"] = tuple((step, seconds) for step, seconds in said["finished"])
    if said["status"] == "running" and not running:
        said |= {"status": "stopped", "message": f"{STOPPED}; its last lines are in {_file(cache, name, 'log')}"}
    return JobState(**said)


def cancel(name: str, folder: str | Path | None = None) -> None:
    """Ask a job to stop at its next step; does nothing when it does not run.

    Raises:
        StoreError: the folder cannot be written.
    """
    cache = paths.cache(folder)
    if alive(cache, name):
        with on_disk(cache.root):
            _file(cache, name, "cancel").touch()


def listed(folder: str | Path | None = None) -> tuple[Job, ...]:
    """Every job of the last week, the one that said something last first."""
    return _listed(paths.cache(folder))


def _listed(cache: Cache) -> tuple[Job, ...]:
    found = (_job(cache, report) for report in cache.jobs.glob("*.json") if NAME.fullmatch(report.stem))
    return tuple(sorted((job for job in found if job), key=lambda job: -job.said_at))


def _job(cache: Cache, report: Path) -> Job | None:
    said = state(report.stem, cache.root)
    try:
        said_at = report.stat().st_mtime
    except FileNotFoundError:
        return None
    queued = said is not None and said.status == "running" and said.step == WAITING
    return Job(said, said_at, queued, asked_for(report.stem, cache.root)) if said else None


def asked_for(name: str, folder: str | Path | None = None) -> JobRequest | None:
    """How a job was asked for; None for one that was started in a terminal, or never was."""
    try:
        asked = json.loads(_file(paths.cache(folder), name, "request.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return JobRequest(tuple(asked.pop("arguments")), **asked)


def result(name: str, folder: str | Path | None = None) -> JobResult | None:
    """What a job found; None while it has found nothing, or is of a kind that tells nothing."""
    try:
        found = json.loads(_file(paths.cache(folder), name, "result.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return JobResult(**found | {"rows": tuple(tuple(row) for row in found["rows"])})


def saved(name: str, folder: str | Path | None = None) -> Path | None:
    """The file that a job has saved; None where it saves none."""
    file = _file(paths.cache(folder), name, "out")
    return file if file.is_file() else None


def last_words(name: str, folder: str | Path | None = None) -> str | None:
    """The last line that a job's process wrote, for a job that did not come to say how it ended; None without one."""
    try:
        with _file(paths.cache(folder), name, "log").open("rb") as log:
            log.seek(max(log.seek(0, os.SEEK_END) - LAST_BYTES, 0))
            lines = log.read().decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return None
    return next((line.strip() for line in reversed(lines) if line.strip()), None)


def again(name: str, folder: str | Path | None = None) -> None:
    """Start a job that ended once more, with the same arguments: what it has stored or encoded is not done again."""
    request = asked_for(name, folder)
    if request:
        start(name, request.arguments, folder, request=request)
    elif name in COMMANDS:
        begin(name, folder)


def begin(name: str, folder: str | Path | None = None) -> None:
    """Start one of the jobs of ``COMMANDS`` in a process of its own; does nothing when it runs already."""
    start(name, COMMANDS[name], folder)


def start(
    name: str, arguments: Sequence[str], folder: str | Path | None = None, *, request: JobRequest | None = None
) -> None:
    """Start ``python -m analysis …`` apart from this process: closing the browser or this server does not end it.

    The child inherits the lock that says the job is alive, so that two callers cannot both start it.

    Args:
        name: of the job.
        arguments: of the command line.
        folder: the cache folder; by default the one of the environment.
        request: kept beside the job, so that it can be started again.

    Raises:
        StoreError: the folder cannot be written.
    """
    cache = paths.cache(folder)
    with on_disk(cache.root):
        cache.jobs.mkdir(parents=True, exist_ok=True)
        _start(cache, name, arguments, request)


def _start(cache: Cache, name: str, arguments: Sequence[str], request: JobRequest | None) -> None:
    with _file(cache, name, "lock").open("a") as lock:
        if not _taken(lock):
            return
        for suffix in ("cancel", "result.json", "out"):
            _file(cache, name, suffix).unlink(missing_ok=True)
        if request:
            _write_json(_file(cache, name, "request.json"), asdict(request))
        _save(cache, JobState(name, "running", "start", 0, 0, None, None, 0.0, (), None))
        out = _file(cache, name, "out" if request and request.saves else "log")
        with _file(cache, name, "log").open("ab") as log, out.open("ab") as printed:
            log.truncate(0)
            subprocess.Popen(
                [sys.executable, "-m", "analysis", *arguments],
                cwd=paths.PROJECT,
                env=environment(cache, name),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock.fileno(),),
            )


def environment(cache: Cache, name: str) -> dict[str, str]:
    """That of a job which a page starts: it leaves one core to the pages, unless the reader has said how many it takes.

    The first start takes every core: until it ends the pages have little to show. Libraries that compute in threads
    read the variable, numba its own.
    """
    spared = 0 if name == FIRST_START else 1
    threads = os.environ.get(THREADS_VARIABLE) or str(max(1, cores() - spared))
    told = {THREADS_VARIABLE: threads, "NUMBA_NUM_THREADS": os.environ.get("NUMBA_NUM_THREADS", threads)}
    return {**os.environ, **told, paths.ENVIRONMENT_VARIABLE: str(cache.root), JOB_VARIABLE: name}


def _taken(lock: IO[str]) -> bool:
    """Take a job's lock unless the job runs; ``alive`` holds it for an instant only, and is waited for."""
    for _ in range(5):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.02)
    return False
