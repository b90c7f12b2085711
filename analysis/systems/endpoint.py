"""Encoders behind an embedding endpoint of the kind that OpenAI made common: ``POST …/embeddings``.

A request holds ``{"model", "input": [texts], "encoding_format": "float"}``, an answer ``{"data": [{"index",
"embedding"}]}``. The key is read from an environment variable when it is needed; no file and no message holds it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError
from analysis.systems.entry import Entry

BATCH = 64
"""Texts of one request, where the system's table does not say."""

TIMEOUT = 60.0
"""Seconds that one request may take, where the table does not say."""

TRIES = 5
"""Requests made for one batch before it is given up."""

PAUSE = 1.0
"""Seconds before the second try; doubled before each further one."""

LONGEST_PAUSE = 60.0
"""Seconds waited at most, whatever the server asks for."""

BUSY = 429
SHOWN = 160  # characters of what a server says


class Endpoint:
    """A model behind a URL.

    Args:
        system: its table: url, model, dimension, and if there is one the name of the variable that holds the key.

    Raises:
        SystemLoadError: the variable is not set.
    """

    def __init__(self, system: Entry) -> None:
        self._system = system
        self._url = _address(system.url or "")
        self._key = _key(system)
        self._opener = urllib.request.build_opener(_NoRedirect)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One vector a text, in the order of the texts, ``(n, d)``.

        Raises:
            SystemLoadError: the server cannot be reached, refuses, or answers something else.
        """
        size = self._system.batch or BATCH
        found = [self._batch(texts[start : start + size]) for start in range(0, len(texts), size)]
        return np.concatenate(found) if found else np.zeros((0, self._system.dimension or 0))

    def _batch(self, texts: Sequence[str]) -> NDArray[np.float64]:
        asked = {"model": self._system.model, "input": list(texts), "encoding_format": "float"}
        return self._rows(self._answer(json.dumps(asked).encode("utf-8", "replace")), n=len(texts))

    def _answer(self, body: bytes) -> bytes:
        """What the server answers, asked again where it is busy, fails or is silent."""
        pause = PAUSE
        for attempt in range(TRIES):
            try:
                return self._asked(body)
            except _Passing as passing:
                if attempt == TRIES - 1:
                    raise self._fault(f"{passing}, {TRIES} times in a row") from passing
                time.sleep(min(LONGEST_PAUSE, max(pause, passing.wanted)))
                pause *= 2
        raise AssertionError("the last try returns or raises")

    def _asked(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "babelscope"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._system.timeout or TIMEOUT) as answer:
                read: bytes = answer.read()
                return read
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from error
        except (TimeoutError, http.client.HTTPException, ConnectionResetError) as error:
            raise _Passing(_words(error)) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError | ConnectionResetError):
                raise _Passing(_words(error.reason)) from error
            raise self._fault(f"cannot be reached: {error.reason}") from error

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        with error:
            told = self._told(error)
        if error.code == BUSY or error.code >= http.client.INTERNAL_SERVER_ERROR:
            return _Passing(f"answers HTTP {error.code}{told}", wanted=_seconds(error.headers.get("Retry-After")))
        if error.code in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
            where = f"the key in {self._system.key_variable}" if self._key else "a request without a key (key_variable)"
            return self._fault(f"refuses {where} (HTTP {error.code})")
        if 300 <= error.code < 400:
            return self._fault(f"sends requests elsewhere (HTTP {error.code}); expected the address itself")
        return self._fault(f"answers HTTP {error.code}{told}")

    def _told(self, error: urllib.error.HTTPError) -> str:
        """What the server says of it, on one line and without the key."""
        try:
            said = error.read(10_000).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return ""
        with contextlib.suppress(json.JSONDecodeError, KeyError, TypeError):  # else the words as they are
            said = str(json.loads(said)["error"]["message"])
        said = " ".join((said.replace(self._key, "…") if self._key else said).split())
        return f": {said[:SHOWN]}" if said else ""

    def _rows(self, answer: bytes, *, n: int) -> NDArray[np.float64]:
        try:
            data = json.loads(answer)["data"]
            rows = {int(row["index"]): row["embedding"] for row in data}
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
            raise self._fault(
                "answers something else than embeddings: expected JSON with data, index, embedding"
            ) from (error)
        if len(data) != n or sorted(rows) != list(range(n)):
            raise self._fault(f"answers {len(data)} vectors to {n} texts: expected one each, numbered from 0")
        widths = {len(row) if isinstance(row, list) else 0 for row in rows.values()}
        if widths != {self._system.dimension}:
            found = " and ".join(map(str, sorted(widths)))
            raise self._fault(f"answers vectors of {found} numbers: expected {self._system.dimension}")
        try:
            return np.array([rows[place] for place in range(n)], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._fault("answers vectors with something else than numbers in them") from error

    def _fault(self, words: str) -> SystemLoadError:
        return SystemLoadError(f"{self._system.name}: {self._url} {words}")


class _Passing(Exception):  # noqa: N818 (not an error yet: the next try may succeed)
    """A failure that may pass."""

    def __init__(self, words: str, *, wanted: float = 0.0) -> None:
        super().__init__(words)
        self.wanted = wanted  # seconds that the server asks to wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the key would go along."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _address(url: str) -> str:
    """The address that is asked: the endpoint's own, or the base that clients are given, such as ``…/v1``."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith("/embeddings") else f"{path}/embeddings").geturl()


def _key(system: Entry) -> str:
    if not system.key_variable:
        return ""
    key = os.environ.get(system.key_variable, "").strip()
    if not key:
        raise SystemLoadError(f"{system.name}: the environment variable {system.key_variable} holds no key")
    if not (key.isascii() and key.isprintable()):
        raise SystemLoadError(f"{system.name}: the key in {system.key_variable} has characters that no key has")
    return key


def _seconds(header: str | None) -> float:
    """Seconds of a ``Retry-After``; 0 where it names a date or nothing."""
    return float(header) if header and header.isascii() and header.isdecimal() else 0.0


def _words(error: BaseException) -> str:
    return "does not answer in time" if isinstance(error, TimeoutError) else "breaks off before its answer is whole"
