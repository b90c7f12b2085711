"""The language of a row, searched in its id."""

from __future__ import annotations

import re

from analysis.errors import InputError


def compiled(text: str | None) -> re.Pattern[str] | None:
    """What is searched in ids; None where nothing is.

    Raises:
        InputError: it is no regular expression.
    """
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise InputError(f"--language-pattern {text!r}: {error}; expected a regex") from error


def found(pattern: re.Pattern[str] | None, name: str) -> str | None:
    """The language that an id names, as written there: the first group of the pattern, or the whole match."""
    match = pattern.search(name) if pattern else None
    return match[min(match.re.groups, 1)] if match else None
