"""Unicode: what counts as the same text."""

from __future__ import annotations

import unicodedata


def same_text_key(text: str) -> str:
    """What two texts share when a reader would call them the same: NFC, trimmed."""
    return unicodedata.normalize("NFC", text).strip()


def id_key(name: str) -> str:
    """What ids share that were probably meant to be one: all but leading zeros, Unicode form, outer space and case."""
    return same_text_key(name).casefold().lstrip("0") or "0"
