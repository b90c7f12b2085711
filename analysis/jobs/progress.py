"""How a job tells what it is doing: lines on stderr, a small file that pages read, and a lock that dies with it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from analysis import paths
from analysis.errors import JobCancelledError
from analysis.paths import Cache

FIRST_START = "first-start"
FIRST_START_COMMAND = ("build", "icd10", "--concepts", "200", "--run", "all")
JOB_VARIABLE = "BABELSCOPE_JOB"  # names the job whose lock this process inherited
INTERVAL = 0.25  # seconds between two writes of the progress file
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


def _file(cache: Cache, name: str, suffix: str) -> Path:
    return cache.jobs / f"{name}.{suffix}"


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

    def __enter__(self) -> JobProgress:
        self._cache.jobs.mkdir(parents=True, exist_ok=True)
        if os.environ.get(JOB_VARIABLE) != self._name:
            self._lock = _file(self._cache, self._name, "lock").open("a")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            _file(self._cache, self._name, "cancel").unlink(missing_ok=True)
        self._write("running")
        self._handle_signals(self._on_signal)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._handle_signals(None)
        self._end_step()
        status = "done" if kind is None else "cancelled" if kind in (JobCancelledError, KeyboardInterrupt) else "failed"
        self._write(status, message=None if error is None else str(error) or type(error).__name__)
        if self._lock:
            self._lock.close()
            _file(self._cache, self._name, "lock").unlink(missing_ok=True)

    def __call__(self, step: str, done: int, total: int) -> None:
        if step != self._step:
            self._end_step()
            self._step, self._step_began, self._first_done, self._said = step, time.monotonic(), done, time.monotonic()
        self._done, self._total = done, total
        now = time.monotonic()
        if now - self._written >= INTERVAL or done >= total:
            self._write("running")
            if self._cancelled or _file(self._cache, self._name, "cancel").exists():
                raise JobCancelledError(
                    "cancelled: the results stored before are unchanged, and what was encoded will not be encoded again"
                )
        if now - self._said >= LINE_INTERVAL or done >= total:
            self._say()

    def _handle_signals(self, handler: Callable[[int, object], None] | None) -> None:
        """Take over the two signals, or give them back; outside the main thread Python allows neither."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler or signal.SIG_DFL)
            signal.signal(signal.SIGINT, handler or signal.default_int_handler)

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
        return moved / seconds, (self._total - self._done) * seconds / moved

    def _say(self) -> None:
        self._said = time.monotonic()
        speed, left = self._speed()
        tail = "" if speed is None or self._done >= self._total else f", {speed:,.0f}/s, {left:,.0f} s left"
        print(f"{self._step}: {self._done:,}/{self._total:,}{tail}", file=self._stream, flush=True)

    def _write(self, status: str, *, message: str | None = None) -> None:
        self._written = time.monotonic()
        speed, left = self._speed()
        report = JobState(
            self._name,
            status,
            self._step,
            self._done,
            self._total,
            speed,
            left,
            self._written - self._began,
            tuple(self._finished),
            message,
        )
        target = _file(self._cache, self._name, "json")
        temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
        temporary.write_text(json.dumps(asdict(report)), encoding="utf-8")
        temporary.replace(target)


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
    """What a job last said; None when there never was one. A job whose process is gone without a word is ``stopped``."""
    cache = paths.cache(folder)
    running = alive(cache, name)  # asked before the file is read, so that a job that ends in between reads as ended
    try:
        said = json.loads(_file(cache, name, "json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return JobState(name, "running", "start", 0, 0, None, None, 0.0, (), None) if running else None
    said["finished"] = tuple((step, seconds) for step, seconds in said["finished"])
    if said["status"] == "running" and not running:
        said |= {
            "status": "stopped",
            "message": "the job's process ended without finishing; start it again and it goes on where it stopped",
        }
    return JobState(**said)


def cancel(name: str, folder: str | Path | None = None) -> None:
    """Ask a job to stop at its next step; does nothing when it does not run."""
    cache = paths.cache(folder)
    if alive(cache, name):
        _file(cache, name, "cancel").touch()


def start_first(folder: str | Path | None = None) -> None:
    """Build the small ICD-10 benchmark and run every system on it, in a process of its own; does nothing when that runs already."""
    start(FIRST_START, FIRST_START_COMMAND, folder)


def start(name: str, arguments: Sequence[str], folder: str | Path | None = None) -> None:
    """Start ``python -m analysis …`` apart from this process: closing the browser or this server does not end it.

    The child inherits the lock that says the job is alive, so that two callers cannot both start it.
    """
    cache = paths.cache(folder)
    cache.jobs.mkdir(parents=True, exist_ok=True)
    with _file(cache, name, "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        for stale in ("json", "cancel"):
            _file(cache, name, stale).unlink(missing_ok=True)
        environment = os.environ | {paths.ENVIRONMENT_VARIABLE: str(cache.root), JOB_VARIABLE: name}
        with _file(cache, name, "log").open("wb") as log:
            subprocess.Popen(
                [sys.executable, "-m", "analysis", *arguments],
                cwd=paths.PROJECT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock.fileno(),),
            )
