"""What of a benchmark occurs in files that something was trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.errors import InputError
from analysis.store import training as stored
from analysis.store.read import Store
from analysis.store.training import LEAST, SPAN, MatchRow
from analysis.text import counted
from analysis.views.selection import Sentence

__all__ = ["KINDS", "MatchRow", "Training", "TrainingConcepts", "TrainingTexts", "found_in", "matches", "trainings"]

KINDS: Mapping[str, str] = {
    "exact": "Letter by letter",
    "normalised": "Normalised",
    "inside": "Inside a text",
    "span": f"{SPAN} words shared",
}
"""How a text may occur, the surest first; each is counted once, where it stands first."""

NO_DOCUMENT = "no document does"

HOW = (
    f"Inside a text: all words of a query or document of {LEAST} words or more stand in a row in a longer text. "
    f"{SPAN} words shared: as many of its words in a row stand in one. Case and signs do not count; one Chinese "
    "character or Japanese kana is a word."
)


@dataclass(frozen=True)
class TrainingTexts:
    """The queries or documents of a task in one language, looked for in a file."""

    task: str  # by name
    item: str  # query | document
    language: str
    n: int
    short: int  # too short to be looked for inside texts; only whole texts can be found
    exact: int
    normalised: int  # not letter by letter
    inside: int  # neither, and so on: each text is counted once
    span: int

    @property
    def counts(self) -> list[int]:
        """As tables show them: all, those that occur in each of KINDS, and those too short."""
        return [self.n, *(getattr(self, kind) for kind in KINDS), self.short]

    @property
    def found(self) -> int:
        """Texts that occur in any of these ways."""
        return self.exact + self.normalised + self.inside + self.span


@dataclass(frozen=True)
class TrainingConcepts:
    """The concepts that the queries of a task are about, looked for in a column of a file."""

    task: str
    n: int
    found: int


@dataclass(frozen=True)
class Training:
    """A file that a benchmark was looked for in."""

    number: int  # of the search
    file: str
    checksum: str  # SHA-256
    n_bytes: int
    n_rows: int  # lines or records
    n_texts: int
    columns: tuple[str, ...]  # that were named; empty: by their usual names
    every: int  # of documents spans were looked for at every so manieth word; 1: at each
    made_at: str  # ISO time, UTC
    takeaway: Sentence
    texts: tuple[TrainingTexts, ...]
    concepts: tuple[TrainingConcepts, ...]

    @property
    def caption(self) -> str:
        """Which file it was, in a line."""
        sampled = f" · spans of documents at every {self.every}th word" if self.every > 1 else ""
        return (
            f"{counted(self.n_rows, 'line')} with {counted(self.n_texts, 'text')} · SHA-256 {self.checksum[:12]}… · "
            f"looked through {self.made_at.replace('T', ' ')[:16]} UTC{sampled}"
        )


def trainings(store: Store, benchmark_id: int) -> tuple[Training, ...]:
    """The files that a benchmark was looked for in, the latest first."""
    return tuple(map(_training, stored.trainings(store, benchmark_id)))


def found_in(store: Store, benchmark: str, file: str) -> Training:
    """What was found in a file, by its name or the beginning of its checksum; of several the latest.

    Raises:
        InputError: no such benchmark, or it was not looked for in such a file.
    """
    known = trainings(store, store.benchmark(benchmark).benchmark_id)
    found = next((row for row in known if row.file == file or row.checksum.startswith(file)), None)
    if found is None:
        names = ", ".join(row.file for row in known) or "no file yet"
        raise InputError(f"file {file!r}: {benchmark} was looked for in {names}")
    return found


def matches(store: Store, training: Training) -> list[MatchRow]:
    """All that occurs in a file, by task."""
    return stored.matches(store, training.number)


def _training(row: stored.TrainingRow) -> Training:
    texts = tuple(TrainingTexts(**found) for found in row.counts["texts"])
    concepts = tuple(TrainingConcepts(**found) for found in row.counts["concepts"])
    named = row.settings["concept"] or any(found.found for found in concepts)
    return Training(
        number=row.training_id,
        file=row.file,
        checksum=row.checksum,
        n_bytes=row.n_bytes,
        n_rows=row.n_rows,
        n_texts=row.n_texts,
        columns=tuple(row.settings["columns"]),
        every=row.settings["every"],
        made_at=row.made_at,
        takeaway=_takeaway(row.file, texts),
        texts=texts,
        concepts=concepts if named else (),
    )


def _takeaway(file: str, texts: Sequence[TrainingTexts]) -> Sentence:
    asked = [row for row in texts if row.item == "query"]
    held = [row for row in texts if row.item == "document"]
    found, n = sum(row.found for row in asked), sum(row.n for row in asked)
    bold = f"{found:,} of {n:,} queries occur in {file}." if found else f"None of {n:,} queries occurs in {file}."
    whole = sum(row.exact + row.normalised for row in asked)
    parts = [f"{whole:,} of them as a whole text"] if found else []
    if held:
        n_documents = sum(row.found for row in held)
        none = NO_DOCUMENT if found else f"{NO_DOCUMENT} either"
        parts.append(f"{n_documents:,} of {sum(row.n for row in held):,} documents do" if n_documents else none)
    rest = "; ".join(parts)
    return Sentence(bold, f"{rest[:1].upper()}{rest[1:]}." if rest else "")
