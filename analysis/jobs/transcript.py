"""What models answered, one line a call: kept as it comes, so that nothing is asked twice; or replayed from a file."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.benchmarks.query_calls import FIELDS, Call, line
from analysis.errors import BabelscopeError, InputError, JobCancelledError, StoreError
from analysis.store.connection import on_disk
from analysis.systems.chat import Answer, Chat, Message

BLOCK = 1 << 20  # bytes in which the last whole line is looked for


class Transcript:
    """Answers known so far, and where new ones come from; several threads may ask.

    Args:
        file: where they are kept.
        answers: by the key of their call.
        chat: asked for what is not known; None: such a call is an error.
        most: calls that may be made; None: any number.
    """

    def __init__(
        self, file: Path, answers: dict[str, Answer], chat: Chat | None = None, *, most: int | None = None
    ) -> None:
        self._file = file
        self._answers = answers
        self._chat = chat
        self._most = most
        self._state = threading.Condition()
        self._waiting: set[str] = set()  # keys of calls whose answers are on their way
        self._ended: BabelscopeError | None = None  # why nobody is asked any more
        self.n_asked = 0
        self.tokens_in = self.tokens_out = 0  # of the calls made now

    def knows(self, call: Call) -> bool:
        """Whether a call would ask nobody."""
        return call.key in self._answers

    def stop(self) -> None:
        """Ask nobody any more; what is on its way is still kept."""
        self._ended = self._ended or JobCancelledError("stopped: what was answered is kept")

    def ask(self, call: Call) -> Answer:
        """The answer to a call, which is kept before it is returned.

        Raises:
            InputError: a replayed transcript lacks it, or no more calls may be made.
            SystemLoadError: the endpoint cannot be reached, refuses, or answers something else.
            JobCancelledError: it was stopped.
        """
        with self._state:
            while call.key in self._waiting:
                self._state.wait()
            if call.key in self._answers:
                return self._answers[call.key]
            chat = self._may_ask(call)
            self.n_asked += 1
            self._waiting.add(call.key)
        try:
            said = [Message("system", call.prompt.system), Message("user", call.prompt.user)]
            answer = chat.ask(call.model, said)
            with self._state, on_disk(self._file):
                _append(self._file, line(call, answer.text, answer.tokens_in, answer.tokens_out))
                self._answers[call.key] = answer
                self.tokens_in += answer.tokens_in or 0
                self.tokens_out += answer.tokens_out or 0
        except BabelscopeError as error:
            self._ended = self._ended or error  # a refusal that each thread would meet
            raise
        finally:
            with self._state:
                self._waiting.discard(call.key)
                self._state.notify_all()
        return answer

    def _may_ask(self, call: Call) -> Chat:
        """Whom to ask for an answer that is not known."""
        if self._chat is None:
            raise InputError(f"{self._file}: holds no answer of {call.model} to the {call.role} for {call.wish}")
        if self._ended:
            raise self._ended
        if self._most is not None and self.n_asked >= self._most:
            raise InputError(
                f"{self.n_asked:,} calls were made (--most-calls {self._most}) and their answers kept in {self._file}; "
                "the same command goes on from there"
            )
        return self._chat


@contextmanager
def kept(file: Path, chat: Chat, *, most: int | None) -> Iterator[Transcript]:
    """A transcript that grows as models are asked; one job at a time has it.

    Raises:
        InputError: a line of it is broken, though not the last one, which a killed job may have begun.
        StoreError: another job has it.
    """
    with on_disk(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle = file.open("ab+")
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(f"{file}: another build asks models and keeps their answers here") from error
        with on_disk(file):
            _cut(file)
        yield Transcript(file, read(file), chat, most=most)


@contextmanager
def replayed(file: Path) -> Iterator[Transcript]:
    """A recorded transcript: nobody is asked.

    Raises:
        InputError: it cannot be read.
    """
    yield Transcript(file, read(file))


def read(file: Path) -> dict[str, Answer]:
    """The answers of a transcript, by key; of one call answered twice the first.

    Raises:
        InputError: it cannot be read, or a line is broken.
    """
    found: dict[str, Answer] = {}
    for number, row in _rows(file):
        answer = row["answer"]
        if not isinstance(row["key"], str) or not isinstance(answer, str):
            raise InputError(f"{file}, line {number}: expected a key and an answer in words")
        found.setdefault(row["key"], Answer(answer, _count(row["tokens_in"]), _count(row["tokens_out"])))
    return found


def models(file: Path) -> dict[str, str]:
    """The model of each role that answered in a transcript, where there is one.

    Raises:
        InputError: it cannot be read, or a line is broken.
    """
    names: dict[str, set[str]] = {}
    for _, row in _rows(file):
        names.setdefault(str(row["role"]), set()).add(str(row["model"]))
    return {role: next(iter(found)) for role, found in names.items() if len(found) == 1}


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, text in enumerate(lines, start=1):
                yield number, _row(file, number, text)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}; expected a transcript") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: {error.reason}, expected UTF-8") from error


def _row(file: Path, number: int, text: str) -> Mapping[str, Any]:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}, line {number}: {error.msg}, expected a JSON object") from error
    if not isinstance(row, dict) or not set(FIELDS) <= set(row):
        raise InputError(f"{file}, line {number}: expected an object with {', '.join(FIELDS)}")
    return row


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _append(file: Path, row: Mapping[str, Any]) -> None:
    """Add a line, which is on the disk when this returns."""
    with file.open("ab") as handle:
        handle.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def _cut(file: Path) -> None:
    """Remove what stands behind the last whole line: a killed job began it."""
    with file.open("rb+") as handle:
        end = handle.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - BLOCK)
            handle.seek(start)
            last = handle.read(end - start).rfind(b"\n")
            if last >= 0:
                end = start + last + 1
                break
            end = start
        handle.truncate(end)
