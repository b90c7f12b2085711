"""Unicode and language codes."""

from __future__ import annotations

import re
import unicodedata

from analysis.errors import InputError

LANGUAGE_NAMES = {
    "ar": "Arabic", "bn": "Bengali", "cs": "Czech", "de": "German", "el": "Greek", "en": "English",
    "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish",
    "pt": "Portuguese", "ru": "Russian", "sw": "Swahili", "te": "Telugu", "th": "Thai", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "yo": "Yoruba", "zh": "Chinese",
}  # fmt: skip
_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?")


def language_name(tag: str) -> str:
    """The English name of a language for people; the tag itself where we know none."""
    return LANGUAGE_NAMES.get(tag, tag)


def language_tag(raw: str) -> str:
    """Check the form of a language tag.

    Raises:
        InputError: it is not a lower-case ISO 639 code with an optional script.
    """
    if not _TAG.fullmatch(raw):
        raise InputError(f"language {raw!r}: expected an ISO 639 code such as ru, with a script where needed (zh-Hant)")
    return raw


def same_text_key(text: str) -> str:
    """What two texts share when a reader would call them the same: NFC, trimmed."""
    return unicodedata.normalize("NFC", text).strip()
