"""Chat endpoints of the kind that OpenAI made common: ``POST …/chat/completions``.

A request holds ``{"model", "messages"}``, an answer ``{"choices": [{"message": {"content"}}], "usage":
{"prompt_tokens", "completion_tokens"}}``. Nothing else is asked for: some servers refuse a temperature, others a limit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from analysis.systems.remote import Remote

PATH = "/chat/completions"
TIMEOUT = 120.0
"""Seconds that one answer may take: models that think take their time."""


class Message(NamedTuple):
    """A part of a prompt."""

    role: str  # system | user
    content: str


class Answer(NamedTuple):
    """What a model said."""

    text: str
    tokens_in: int | None  # of the prompt, as the server counts; None: it does not say
    tokens_out: int | None


class Chat:
    """Models behind a URL.

    Args:
        url: the endpoint, or the base that clients are given, such as ``…/v1``.
        key_variable: of the environment, which holds the key.

    Raises:
        SystemLoadError: the variable is not set.
    """

    def __init__(self, url: str, *, key_variable: str | None = None) -> None:
        self._server = Remote("query generation", url, path=PATH, key_variable=key_variable, timeout=TIMEOUT)

    def ask(self, model: str, prompt: Sequence[Message]) -> Answer:
        """What a model answers.

        Raises:
            SystemLoadError: the server cannot be reached, refuses, or answers something else.
        """
        asked = {"model": model, "messages": [message._asdict() for message in prompt]}
        answer = self._server.answer(asked)
        try:
            found = json.loads(answer)
            text = found["choices"][0]["message"]["content"]
        except (json.JSONDecodeError, UnicodeDecodeError, LookupError, TypeError) as error:
            raise self._server.fault(
                "answers something else than chat: expected JSON with choices, message, content"
            ) from error
        usage = found.get("usage") or {}
        return Answer(
            text if isinstance(text, str) else "",
            _count(usage, "prompt_tokens"),
            _count(usage, "completion_tokens"),
        )


def _count(usage: Any, name: str) -> int | None:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
