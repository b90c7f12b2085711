"""Servers asked over HTTP with JSON: the key, the tries, and what a refusal is called.

The key is read from an environment variable when it is needed; no file and no message holds it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from analysis.errors import SystemLoadError

TIMEOUT = 60.0
"""Seconds that one request may take, where nothing else is said."""

TRIES = 5
"""Requests made for one answer before it is given up."""

PAUSE = 1.0
"""Seconds before the second try; doubled before each further one."""

LONGEST_PAUSE = 60.0
"""Seconds waited at most, whatever the server asks for."""

BUSY = 429
SHOWN = 160  # characters of what a server says


def faults(url: str, key_variable: object = None) -> dict[str, str]:
    """What is wrong with an address and the name of a variable; neither is repeated, as it may hold a secret."""
    found = {}
    try:
        parts = urlsplit(url)
        told = [name for name, _ in parse_qsl(parts.query) if re.search("key|token|secret", name.lower())]
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc and not told
    except ValueError:
        sound = False
    if not sound:
        found["url"] = "expected http:// or https:// and a host, without a password or key in it"
    if key_variable is not None and not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", str(key_variable)):
        found["key_variable"] = "expected the name of an environment variable"
    return found


class Remote:
    """A server behind a URL.

    Args:
        name: what is asking, for messages.
        url: the endpoint's own address, or the base that clients are given, such as ``…/v1``.
        path: what the address ends with, such as "/embeddings".
        key_variable: of the environment, which holds the key; None: no key is sent.
        timeout: seconds that one request may take.

    Raises:
        SystemLoadError: the variable is not set.
    """

    def __init__(
        self, name: str, url: str, *, path: str, key_variable: str | None = None, timeout: float | None = None
    ) -> None:
        self._name = name
        self._url = _address(url, path)
        self._variable = key_variable
        self._timeout = timeout or TIMEOUT
        self._key = _key(name, key_variable)
        self._opener = urllib.request.build_opener(_NoRedirect)

    def answer(self, asked: object) -> bytes:
        """What the server answers to an object in JSON, asked again where it is busy, fails or is silent.

        Raises:
            SystemLoadError: the server cannot be reached, or refuses.
        """
        body, pause = json.dumps(asked).encode("utf-8", "replace"), PAUSE
        for attempt in range(TRIES):
            try:
                return self._asked(body)
            except _Passing as passing:
                if attempt == TRIES - 1:
                    raise self.fault(f"{passing}, {TRIES} times in a row") from passing
                time.sleep(min(LONGEST_PAUSE, max(pause, passing.wanted)))
                pause *= 2
        raise AssertionError("the last try returns or raises")

    def fault(self, words: str) -> SystemLoadError:
        """What is said of the server."""
        return SystemLoadError(f"{self._name}: {self._url} {words}")

    def _asked(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "User-Agent": "babelscope"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                read: bytes = answer.read()
                return read
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from error
        except (TimeoutError, http.client.HTTPException, ConnectionResetError) as error:
            raise _Passing(_words(error)) from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError | ConnectionResetError):
                raise _Passing(_words(error.reason)) from error
            raise self.fault(f"cannot be reached: {error.reason}") from error

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        with error:
            told = self._told(error)
        if error.code == BUSY or error.code >= http.client.INTERNAL_SERVER_ERROR:
            return _Passing(f"answers HTTP {error.code}{told}", wanted=_seconds(error.headers.get("Retry-After")))
        if error.code in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
            where = f"the key in {self._variable}" if self._key else "a request without a key (key_variable)"
            return self.fault(f"refuses {where} (HTTP {error.code})")
        if 300 <= error.code < 400:
            return self.fault(f"sends requests elsewhere (HTTP {error.code}); expected the address itself")
        return self.fault(f"answers HTTP {error.code}{told}")

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


class _Passing(Exception):  # noqa: N818 (not an error yet: the next try may succeed)
    """A failure that may pass."""

    def __init__(self, words: str, *, wanted: float = 0.0) -> None:
        super().__init__(words)
        self.wanted = wanted  # seconds that the server asks to wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the key would go along."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _address(url: str, end: str) -> str:
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(end) else path + end).geturl()


def _key(name: str, variable: str | None) -> str:
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SystemLoadError(f"{name}: the environment variable {variable} holds no key")
    if not (key.isascii() and key.isprintable()):
        raise SystemLoadError(f"{name}: the key in {variable} has characters that no key has")
    return key


def _seconds(header: str | None) -> float:
    """Seconds of a ``Retry-After``; 0 where it names a date or nothing."""
    return float(header) if header and header.isascii() and header.isdecimal() else 0.0


def _words(error: BaseException) -> str:
    return "does not answer in time" if isinstance(error, TimeoutError) else "breaks off before its answer is whole"
