"""Translations that a model has made, kept in files so that no text is translated twice and a killed build goes on.

A *space* is everything that decides a translation except the text: model, languages, settings. Its folder holds files
of rows, each called after the SHA-256 of its content, written under a temporary name, renamed and never changed. A file
that does not fit its name is removed, and its texts are translated again.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from analysis.store.connection import on_disk, publish


class Made(NamedTuple):
    """What a model made of a text."""

    text: str
    cut: bool  # the model did not read the text to its end
    unfinished: bool  # it was stopped before it came to an end


class TranslationFiles:
    """Translations of one space.

    Args:
        folder: of all spaces.
        space: what decides a translation.
    """

    def __init__(self, folder: Path, space: Mapping[str, object]) -> None:
        key = json.dumps(space, sort_keys=True, ensure_ascii=False)
        self._folder = folder / hashlib.sha256(key.encode()).hexdigest()[:24]
        self._key = key
        self._known: dict[str, Made] = {}
        for path in sorted(self._folder.glob("*.jsonl")):
            data = path.read_bytes()
            if _name(data) == path.name:
                for line in data.decode("utf-8").splitlines():
                    text, *made = json.loads(line)
                    self._known.setdefault(text, Made(*made))
            else:
                path.unlink()

    def get(self, text: str) -> Made | None:
        """What was made of a text; None where nothing was yet."""
        return self._known.get(_hash(text))

    def add(self, rows: Mapping[str, Made]) -> None:
        """Keep what was made of some texts.

        Raises:
            StoreError: the disk is full, or the folder cannot be written.
        """
        hashed = {_hash(text): made for text, made in rows.items()}
        lines = [json.dumps([text, *made], ensure_ascii=True) + "\n" for text, made in hashed.items()]
        with on_disk(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            if not (self._folder / "space.json").exists():  # for people: what its translations are of
                self._publish("space.json", (self._key + "\n").encode())
            data = "".join(lines).encode()
            self._publish(_name(data), data)
        self._known |= hashed

    def _publish(self, name: str, data: bytes) -> None:
        temporary = self._folder / f"{name}.{uuid.uuid4().hex[:8]}.tmp"
        try:
            temporary.write_bytes(data)
            publish(temporary, self._folder / name)
        finally:
            temporary.unlink(missing_ok=True)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _name(data: bytes) -> str:
    return f"{hashlib.sha256(data).hexdigest()[:32]}.jsonl"
