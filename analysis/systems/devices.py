"""Where models compute: the processor or a graphics card, or several of them with a process each."""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from analysis.errors import InputError, SystemLoadError
from analysis.model import Progress, silent

AUTO = "auto"
THREADS_VARIABLE = "OMP_NUM_THREADS"  # read by torch, FAISS and the libraries below NumPy
PASSES = 2
"""Forward passes of each device in one call: while the others end theirs, none waits long."""

WATCH_SECONDS = 1.0
"""Between two looks of a process at whether the one that started it still lives."""

_ONE = re.compile(r"cpu|mps|cuda(:\d+)?")
_EXPECTED = "expected auto, cpu, cuda, cuda:N or mps, or several of them separated by commas"


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chosen(text: str) -> tuple[str, ...]:
    """The devices that ``--device`` names; ``auto`` is the first CUDA card, else MPS, else the processor.

    Raises:
        InputError: it names none, or one that this machine does not have.
    """
    if text == AUTO:
        return (next((name for name in ("cuda:0", "mps") if _is_here(name)), "cpu"),)
    names = tuple("cuda:0" if name == "cuda" else name for name in map(str.strip, text.split(",")))
    if not all(_ONE.fullmatch(name) for name in names):
        raise InputError(f"device {text!r}: {_EXPECTED}")
    for name in names:
        if not _is_here(name):
            raise InputError(f"device {name!r}: this machine has {', '.join(_here())}")
        if name != "cpu" and names.count(name) > 1:
            raise InputError(f"device {text!r}: {name} is named twice; one process a card is the most that helps")
    return names


def check(text: str) -> None:
    """Raise as :func:`chosen`; torch is imported only where a card is named."""
    if text != AUTO:
        chosen(text)


def _is_here(name: str) -> bool:
    return name == "cpu" or name in _here()


def _here() -> list[str]:
    """The devices of this machine."""
    import torch

    cards = [f"cuda:{number}" for number in range(torch.cuda.device_count() if torch.cuda.is_available() else 0)]
    return [*cards, *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]


@runtime_checkable
class Divisible(Protocol):
    """A loaded model that may compute on several devices at once."""

    device: str  # names separated by commas

    @property
    def passes(self) -> int:
        """Forward passes that one call is divided into; 1 outside :meth:`at_work`."""
        ...

    def at_work(self) -> AbstractContextManager[None]:
        """Its processes run inside, and have ended after it."""
        ...


@contextmanager
def at_work(model: object, progress: Progress = silent) -> Iterator[None]:
    """The processes of a model that has several devices; nothing of any other."""
    if not isinstance(model, Divisible) or "," not in model.device:
        yield
        return
    step = f"start processes on {model.device}"
    progress(step, 0, 1)
    with model.at_work():
        progress(step, 1, 1)
        yield


def passes(model: object) -> int:
    """Forward passes that one call of a model is divided into."""
    return model.passes if isinstance(model, Divisible) else 1


class Crew:
    """The devices of one model of sentence-transformers, and the processes of its pool while they work.

    Args:
        name: of the system.
        model: of sentence-transformers.
        devices: one or several.
        threads: of all processes on the processor together.
    """

    def __init__(self, name: str, model: Any, devices: tuple[str, ...], *, threads: int) -> None:
        self.devices = devices
        self._name = name
        self._model = model
        self._threads = max(1, threads // max(1, devices.count("cpu")))
        self._pool: Any = None

    @property
    def passes(self) -> int:
        """Forward passes that one call is divided into."""
        return PASSES * len(self.devices) if self._pool else 1

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Start a process for each device where there are several; they end however the block ends."""
        if len(self.devices) == 1 or self._pool:
            yield
            return
        try:
            self._start()
            yield
        finally:
            self._stop()

    def arguments(self, count: int) -> dict[str, Any]:
        """How the model is told to divide that many inputs."""
        if self._pool:
            return {"pool": self._pool, "chunk_size": math.ceil(count / self.passes)}
        return self.alone()

    def alone(self) -> dict[str, Any]:
        """How it is told to use the first device: where there are several, a pool has moved it to the processor."""
        return {"device": self.devices[0]} if len(self.devices) > 1 else {}

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Around a call of the model: where it is broken off, what its processes still send belongs to no other call.

        A full memory is told after every process has answered, so that smaller batches may follow.
        """
        try:
            yield
        except (MemoryError, RuntimeError) as error:
            if self._pool and "died unexpectedly" in str(error):
                self._stop()
                raise SystemLoadError(
                    f"{self._name}: a process on one of the devices {','.join(self.devices)} was ended from outside, "
                    "perhaps for want of memory; what was encoded is kept"
                ) from error
            raise
        except BaseException:
            self._stop()
            raise

    def _start(self) -> None:
        self._model._arrival = _Arrival(self._threads)
        try:
            with _deaf(), _nameless():
                self._pool = self._model.start_multi_process_pool(list(self.devices))
        finally:
            del self._model._arrival

    def _stop(self) -> None:
        pool, self._pool = self._pool, None
        if pool:
            self._model.stop_multi_process_pool(pool)


@contextmanager
def _nameless() -> Iterator[None]:
    """Without the script that this process was started with: a new process would run that again before its work."""
    script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


class _Arrival:
    """Sent with a model to another process, where it is settled as it is unpacked."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def __reduce__(self) -> tuple[Any, ...]:
        return settle, (os.getpid(), self.threads)


def settle(parent: int, threads: int) -> None:
    """In a process of a pool: take so many threads, leave errors to the parent, and end when it is gone."""
    import torch
    from tqdm import tqdm

    torch.set_num_threads(threads)
    tqdm.set_lock(threading.RLock())  # its own is a semaphore of the system, which the end of this process would leave
    logging.getLogger("sentence_transformers").setLevel(logging.CRITICAL)
    outlive_none(parent)


def outlive_none(parent: int) -> None:
    """End this process soon after its parent has ended, in whatever way: a kill closes nothing behind it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes started inside do not hear Ctrl-C, which a terminal sends to all: the parent ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
