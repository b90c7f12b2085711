"""How alike the texts of a task are: lengths, words, languages and scripts, by language and over all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.store.read import TaskRow
from analysis.store.texts import Answers, Side, TextCounts, Words
from analysis.views.evidence import task_label
from analysis.views.selection import TaskLabel

ITEMS = ("query", "document")


@dataclass(frozen=True)
class LanguageTexts:
    """The queries or the documents of a task in one language, or in all."""

    item: str  # query | document
    language: str | None  # None: all
    share: float  # of the texts of its kind in the task, 0 to 1
    words: TextCounts  # a text
    tokens: int  # words of all texts
    vocabulary: int  # different words
    type_token: float | None  # vocabulary ÷ tokens; None without a word
    scripts: tuple[tuple[str, float], ...]  # share of the letters by script, the largest first
    answers: Answers | None  # None: documents


@dataclass(frozen=True)
class Balance:
    """How evenly some texts are spread over their languages."""

    item: str  # query | document
    n_languages: int
    largest: str  # language
    largest_share: float
    smallest: str
    smallest_share: float
    entropy: float  # bits; log2 of n_languages where all have as many


@dataclass(frozen=True)
class TaskTexts:
    """One task."""

    task: TaskLabel
    rows: tuple[LanguageTexts, ...]  # of each item all languages first
    balances: tuple[Balance, ...]

    def of(self, item: str, language: str | None = None) -> LanguageTexts | None:
        """The row of one side; None where it has no text."""
        return next((row for row in self.rows if (row.item, row.language) == (item, language)), None)


def heterogeneity(
    task: TaskRow,
    *,
    lengths: Mapping[Side, TextCounts],
    words: Mapping[Side, Words],
    scripts: Mapping[Side, Mapping[str, int]],
    answers: Mapping[Side, Answers],
    languages: Sequence[str],
) -> TaskTexts:
    """What is told of the texts of a task.

    Args:
        task: the task.
        lengths: how long texts are, by side.
        words: how many words they have, by side.
        scripts: their letters, by side, the most frequent script first.
        answers: right answers of queries, by side.
        languages: in the order in which they are shown.
    """
    rows: list[LanguageTexts] = []
    for item in ITEMS:
        whole = lengths.get(Side(task.task_id, item, None))
        for language in (None, *languages):
            side = Side(task.task_id, item, language)
            if whole and side in lengths:
                told = words.get(side, Words(0, 0)), scripts.get(side, {}), answers.get(side)
                rows.append(_row(side, lengths[side], *told, of=whole.n))
    balances = (_balance(item, [row for row in rows if row.item == item and row.language]) for item in ITEMS)
    return TaskTexts(task_label(task), tuple(rows), tuple(found for found in balances if found))


def _row(
    side: Side, counts: TextCounts, found: Words, letters: Mapping[str, int], answers: Answers | None, *, of: int
) -> LanguageTexts:
    total = sum(letters.values())
    return LanguageTexts(
        item=side.item,
        language=side.language,
        share=counts.n / of,
        words=counts,
        tokens=found.tokens,
        vocabulary=found.vocabulary,
        type_token=found.vocabulary / found.tokens if found.tokens else None,
        scripts=tuple((name, n / total) for name, n in letters.items()),
        answers=answers,
    )


def _balance(item: str, rows: Sequence[LanguageTexts]) -> Balance | None:
    if not rows:
        return None
    largest, smallest = max(rows, key=lambda row: row.share), min(rows, key=lambda row: row.share)
    return Balance(
        item=item,
        n_languages=len(rows),
        largest=str(largest.language),
        largest_share=largest.share,
        smallest=str(smallest.language),
        smallest_share=smallest.share,
        entropy=-sum(row.share * math.log2(row.share) for row in rows) + 0.0,
    )
