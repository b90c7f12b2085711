"""What became of the translations of a task's questions, in one language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TranslationCounts:
    """One language that questions were translated into."""

    language: str
    questions: int  # asked in English
    missing: int  # without a translation
    passed: int
    flagged: int
    failed: int
    terms: int  # of the questions translated, those that could be looked for
    terms_kept: int
    unknown: int  # terms for which the lexicon has no word in the language
    abbreviations: int  # protected ones in the questions translated
    abbreviations_kept: int
    without_term: int  # translations with no term to look for: judged by the way back alone
    without_back: int  # translations that nobody translated back: they do not pass
    preservation: float | None  # mean over translations with a term; None: there was none
    f1: float | None  # mean over translations that were translated back

    @property
    def translated(self) -> int:
        """Questions asked in this language."""
        return self.questions - self.missing
