"""How a program found out what the questions of a task are about: counted, and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.benchmarks.coverage import Coverage
from analysis.languages import language_name
from analysis.text import counted
from analysis.views.markdown_table import table

__all__ = ["COLUMNS", "TITLE", "Coverage", "Tagging", "markdown", "tagging"]

TITLE = "how the concept of each question was found"

COLUMNS: Mapping[str, str] = {
    "lines": "Questions read",
    "repeated": "Repeated",
    "exact": "Exact",
    "substring": "Inside",
    "nearest": "Linked",
    "untagged": "Not found",
    "ambiguous": "of these ambiguous",
    "undefined": "No definition",
    "asked": "Asked",
    "definitions": "Definitions",
}
"""Of the table by language: what is counted, and what it is called."""


@dataclass(frozen=True)
class Tagging:
    """What became of questions and terms."""

    coverage: tuple[Coverage, ...]  # by language, those with the most questions asked first
    linker: str | None  # the system that linked what no term tagged; None: no such stage
    least: int  # questions that a language must have to be asked
    n_negatives: int  # concepts in the corpus that answer nothing
    atoms: Mapping[str, Mapping[str, int]]  # terms of the source by language and what became of them
    definitions: Mapping[str, int]  # its definitions by what became of them

    @property
    def sentence(self) -> str:
        """How many questions were found, and how."""
        read = sum(row.lines - row.repeated for row in self.coverage)
        found = read - sum(row.untagged for row in self.coverage)
        linker = f"linked by {self.linker}" if self.linker else "no encoder linked the others"
        return (
            f"The concept of {found:,} of {counted(read, 'question')} was found · {linker} · "
            f"{counted(self.n_negatives, 'concept')} in the corpus answer nothing"
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """What may become of a term."""
        return tuple(dict.fromkeys(reason for counts in self.atoms.values() for reason in counts))

    @property
    def told(self) -> str:
        """What became of the definitions."""
        return ", ".join(f"{n:,} {reason}" for reason, n in self.definitions.items())

    def asked(self, row: Coverage) -> str:
        """Questions asked in a language, or why none is."""
        return f"{row.asked:,}" if row.asked else f"left out, {row.answerable:,} of {self.least:,}"


def tagging(settings: Mapping[str, Any], task: str) -> Tagging | None:
    """What the settings of a benchmark say of a task; None where nobody had to find that out."""
    made = settings.get("built", {}).get(task, {})
    if "coverage" not in made:
        return None
    rows = tuple(Coverage(**row) for row in made["coverage"])
    return Tagging(rows, made["linker"], made["least"], made["hard_negatives"], made["atoms"], made["definitions"])


def markdown(found: Tagging, *, title: str) -> str:
    """The whole report, for a paper's appendix."""
    return "\n".join(_lines(found, title))


def _lines(found: Tagging, title: str) -> Iterator[str]:
    yield f"## {title}\n\n{found.sentence}.\n"
    yield from table(["Language", *COLUMNS.values()], (_cells(found, row) for row in found.coverage))
    yield f"\nTerms of the source; definitions: {found.told}.\n"
    terms = (
        [language_name(tag), *(f"{counts.get(reason, 0):,}" for reason in found.reasons)]
        for tag, counts in found.atoms.items()
    )
    yield from table(["Language", *found.reasons], terms)
    yield ""


def _cells(found: Tagging, row: Coverage) -> list[str]:
    numbers = (found.asked(row) if name == "asked" else f"{getattr(row, name):,}" for name in COLUMNS)
    return [language_name(row.language), *numbers]
