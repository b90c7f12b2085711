"""What became of questions for which a program looked for a concept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Coverage:
    """What became of the questions of one language."""

    language: str
    lines: int  # questions of the test split
    repeated: int  # of these, with a text that came before
    exact: int  # tagged by a term that is all of the question
    substring: int  # by a term inside it
    nearest: int  # by the linker
    untagged: int
    ambiguous: int  # of these, with terms that several concepts have
    undefined: int  # tagged, and the concept has no definition
    answerable: int  # tagged with a concept that has one
    asked: int  # 0 where the language has too few
    definitions: int  # documents in this language
