"""How far the translations of a task's questions may be trusted: counted, and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.benchmarks.translation_counts import TranslationCounts
from analysis.languages import language_name
from analysis.text import counted
from analysis.views.markdown_table import table

TITLE = "how far the translations may be trusted"

COLUMNS: Mapping[str, str] = {
    "questions": "Questions",
    "missing": "Not translated",
    "passed": "Pass",
    "flagged": "Flag",
    "failed": "Fail",
    "terms": "Terms",
    "terms_kept": "Terms kept",
    "unknown": "Terms unknown",
    "abbreviations": "Abbreviations",
    "abbreviations_kept": "Abbreviations kept",
    "without_term": "No term",
    "without_back": "Not translated back",
    "preservation": "Terms kept, mean share",
    "f1": "Words back, mean F1",
}
"""Of the table by language: what is counted, and what it is called."""

SHARES = ("preservation", "f1")
STATUSES = ("passed", "flagged", "failed")


@dataclass(frozen=True)
class TranslationQuality:
    """What became of questions, snippets and translations."""

    languages: tuple[TranslationCounts, ...]
    translated_by: str
    lexicon: str | None  # where terms were looked up; None: abbreviations alone
    limits: Mapping[str, float]
    n_questions: int  # read
    n_without_snippet: int  # left out
    n_without_term: int  # asked, with nothing that a translation must keep
    n_snippets: int  # of the questions asked
    n_repeated: int  # snippets that stand in the corpus already
    n_shared: int  # passages that answer several questions
    abbreviations: tuple[str, ...]  # the protected ones

    @property
    def sentence(self) -> str:
        """How many translations pass, and by what."""
        passed, flagged, failed = (sum(getattr(row, name) for row in self.languages) for name in STATUSES)
        terms = f"terms of {self.lexicon}" if self.lexicon else "abbreviations alone, as no lexicon was given"
        return f"{tally(passed, flagged, failed)} · translated by {self.translated_by} · checked on {terms}"

    @property
    def told(self) -> str:
        """What became of questions and snippets."""
        return (
            f"{counted(self.n_questions, 'question')} read, {self.n_without_snippet:,} without a snippet left out, "
            f"{self.n_without_term:,} without a term · {counted(self.n_snippets, 'snippet')}, {self.n_repeated:,} "
            f"repeated, {counted(self.n_shared, 'passage')} for several questions"
        )


def tally(passed: int, flagged: int, failed: int) -> str:
    """How many translations pass."""
    made = counted(passed + flagged + failed, "translation")
    are = "is" if flagged == 1 else "are"
    return f"{passed:,} of {made} {'passes' if passed == 1 else 'pass'}, {flagged:,} {are} flagged, {failed:,} fail"


def translation_quality(settings: Mapping[str, Any], task: str) -> TranslationQuality | None:
    """What the settings of a benchmark say of a task; None where nothing was translated for it."""
    made = settings.get("built", {}).get(task, {})
    if "translations" not in made:
        return None
    return TranslationQuality(
        tuple(TranslationCounts(**row) for row in made["translations"]),
        made["translated_by"],
        made["lexicon"],
        made["limits"],
        made["questions"],
        made["questions_without_snippet"],
        made["questions_without_term"],
        made["snippets"],
        made["snippets_repeated"],
        made["snippets_of_several_questions"],
        tuple(made["abbreviations"]),
    )


def cell(row: TranslationCounts, name: str) -> str:
    """One number of the table; with its share of the translations where it is of a status; blank where undefined."""
    value = getattr(row, name)
    if value is None:
        return ""
    if name in SHARES:
        return f"{value:.2f}"
    share = f" ({value / row.translated:.2f})" if name in STATUSES and row.translated else ""
    return f"{value:,}{share}"


def markdown(found: TranslationQuality, *, title: str) -> str:
    """The whole report, for a paper's appendix."""
    return "\n".join(_lines(found, title))


def _lines(found: TranslationQuality, title: str) -> Iterator[str]:
    yield f"## {title}\n\n{found.sentence}.\n\n{found.told}.\n"
    rows = ([language_name(row.language), *(cell(row, name) for name in COLUMNS)] for row in found.languages)
    yield from table(["Language", *COLUMNS.values()], rows)
    yield f"\nProtected abbreviations: {', '.join(found.abbreviations)}.\n"
