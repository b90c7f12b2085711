"""Encoders behind an embedding endpoint of the kind that OpenAI made common: ``POST …/embeddings``.

A request holds ``{"model", "input": [texts], "encoding_format": "float"}``, an answer ``{"data": [{"index",
"embedding"}]}``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.systems.entry import Entry
from analysis.systems.remote import Remote

BATCH = 64
"""Texts of one request, where the system's table does not say."""

PATH = "/embeddings"


class Endpoint:
    """A model behind a URL.

    Args:
        system: its table: url, model, dimension, and if there is one the name of the variable that holds the key.

    Raises:
        SystemLoadError: the variable is not set.
    """

    def __init__(self, system: Entry) -> None:
        self._system = system
        self._server = Remote(
            system.name, system.url or "", path=PATH, key_variable=system.key_variable, timeout=system.timeout
        )

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
        return self._rows(self._server.answer(asked), n=len(texts))

    def _rows(self, answer: bytes, *, n: int) -> NDArray[np.float64]:
        try:
            data = json.loads(answer)["data"]
            rows = {int(row["index"]): row["embedding"] for row in data}
        except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
            raise self._server.fault(
                "answers something else than embeddings: expected JSON with data, index, embedding"
            ) from (error)
        if len(data) != n or sorted(rows) != list(range(n)):
            raise self._server.fault(f"answers {len(data)} vectors to {n} texts: expected one each, numbered from 0")
        widths = {len(row) if isinstance(row, list) else 0 for row in rows.values()}
        if widths != {self._system.dimension}:
            found = " and ".join(map(str, sorted(widths)))
            raise self._server.fault(f"answers vectors of {found} numbers: expected {self._system.dimension}")
        try:
            return np.array([rows[place] for place in range(n)], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._server.fault("answers vectors with something else than numbers in them") from error
