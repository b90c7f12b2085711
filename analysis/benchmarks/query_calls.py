"""One question put to a model that writes or judges queries, and its line in a transcript."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from analysis.benchmarks.query_prompts import Prompt

FIELDS = ("key", "role", "model", "for", "attempt", "system", "user", "answer", "tokens_in", "tokens_out")
"""Of a line."""

CANDIDATE, VERIFIER = "candidate", "verifier"


class Call(NamedTuple):
    """One question put to a model."""

    role: str  # candidate | verifier
    model: str
    wish: str  # what it is for, in words
    prompt: Prompt
    attempt: int = 1  # 2: asked once again, the first answer could not be read

    @property
    def key(self) -> str:
        """What two calls share that need one answer: model, prompt and attempt."""
        said = json.dumps([self.model, *self.prompt, self.attempt], ensure_ascii=False)
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def line(call: Call, answer: str, tokens_in: int | None, tokens_out: int | None) -> dict[str, Any]:
    """One call and its answer as a transcript has them."""
    values = (
        *(call.key, call.role, call.model, call.wish, call.attempt),
        *call.prompt,
        *(answer, tokens_in, tokens_out),
    )
    return dict(zip(FIELDS, values, strict=True))
