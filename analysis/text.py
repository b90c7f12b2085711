"""Texts: which count as the same one, and the small things of wording."""

from __future__ import annotations

import unicodedata


def same_text_key(text: str) -> str:
    """What two texts share when a reader would call them the same: NFC, trimmed."""
    return unicodedata.normalize("NFC", text).strip()


def id_key(name: str) -> str:
    """What ids share that were probably meant to be one: all but leading zeros, Unicode form, outer space and case."""
    return same_text_key(name).casefold().lstrip("0") or "0"


def counted(n: int, what: str) -> str:
    """A number with what it counts: 1 run, 1,200 runs."""
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def capitalised(words: str) -> str:
    """Words with their first letter as a sentence has it; the others stay as they are."""
    return words[:1].upper() + words[1:]
