"""Questions with snippets as BioASQ has them, and translations of them, some of which lose something."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from analysis.benchmarks.invented import concepts as traps
from analysis.benchmarks.invented.concepts import Concepts
from analysis.benchmarks.invented.words import ENGLISH, EVERY, Speech
from analysis.errors import InputError

FILE = "training13b.json"
TRANSLATIONS = "translations.tsv"
COLUMNS = ("id", "language", "text", "back_translation")
TONGUES = {"SPA": "es", "FRE": "fr", "JPN": "ja", "RUS": "ru", "CHI": "zh"}
"""The languages translated into, as UMLS writes them and as the file does."""

PROTECTED = ("HIV", "MRI", "HbA1c")
"""Abbreviations that a translation keeps as they are."""

SNIPPETS = 3  # of a question
START, END = 4, 3  # words of a question before its terms and behind them

PLAIN, SHORTENED, LOST, WORN, BARE, ONE_WAY, WORN_OUT, ABSENT, ONE_LOST, NAMELESS, REPEATING, SHARING = (
    "plain",
    "mistranslated abbreviation",
    "missing concept",
    "back-translation that loses words",
    "question without snippets",
    "no back-translation",
    "back-translation that loses most words",
    "no translation",
    "one of four concepts missing",
    "question without a term",
    "repeated snippet",
    "snippet of two questions",
)
KINDS = (
    PLAIN, REPEATING, SHARING, SHORTENED, LOST, WORN, ONE_WAY, BARE, WORN_OUT, ABSENT, ONE_LOST, NAMELESS,
)  # fmt: skip
"""What is planted in a question, over and over; every third question has an abbreviation."""

KEPT_BACK = {WORN: 5, WORN_OUT: 3}
"""Of the nine words of such a question, or ten where its term ends with a digit, how many come back."""


class _Asked(NamedTuple):
    """A question as it is made."""

    kind: str
    concepts: tuple[int, ...]
    abbreviation: str | None


def write(folder: Path, of: Concepts, *, questions: int) -> dict[str, object]:
    """Write one file of questions as BioASQ's task b has it, in English, and one of translations.

    Returns:
        What is planted in them, each kind as often as it occurs, and the rows of the translations by language.
    """
    if questions < 1:
        raise InputError(f"questions {questions}: expected 1 or more")
    asked = [_asked(of, place) for place in range(questions)]
    rows = [_row(of, place, one) for place, one in enumerate(asked)]
    _share(rows, asked)
    whole = {"invented": True, "questions": rows}
    (folder / FILE).write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    table = [line for speech in EVERY if speech.lat in TONGUES for line in _translations(of, speech, rows, asked)]
    lines = ["\t".join(cells) + "\n" for cells in (COLUMNS, *table)]
    (folder / TRANSLATIONS).write_text("".join(lines), encoding="utf-8")
    return _planted(rows, asked, table)


def _planted(rows: list[dict[str, Any]], asked: list[_Asked], table: list[tuple[str, ...]]) -> dict[str, object]:
    return {
        "questions": len(rows),
        "snippets": sum(len(row["snippets"]) for row in rows),
        "planted": dict(sorted(Counter(one.kind for one in asked).items())),
        "abbreviations": dict(sorted(Counter(one.abbreviation for one in asked if one.abbreviation).items())),
        "translations": dict(sorted(Counter(cells[1] for cells in table).items())),
    }


def _asked(of: Concepts, place: int) -> _Asked:
    """What a question asks of: plain ones of any concept, the others of concepts that every language has a name for."""
    kind = KINDS[place % len(KINDS)]
    named = np.flatnonzero(traps.everywhere(of.numbers))
    several = [int(named[(place + number) % len(named)]) for number in range(4)]
    concepts = {PLAIN: [place % of.n], ONE_LOST: several, NAMELESS: []}.get(kind, several[:1])
    abbreviation = PROTECTED[place // 3 % len(PROTECTED)] if place % 3 == 0 else None
    return _Asked(kind, tuple(concepts), abbreviation)


def _sentence(speech: Speech, place: int, words: int) -> str:
    found: str = speech.sentence(np.array([place], np.int64), words)[0].as_py()
    return found


def _terms(of: Concepts, speech: Speech, numbers: tuple[int, ...]) -> list[str]:
    """What a language calls some concepts; one that it has no name for keeps the English one, set apart."""
    found = []
    for number in numbers:
        chosen = np.array([number], np.int64)
        spoken = speech if of.spoken(speech)[number] else ENGLISH
        term = of.term(spoken, chosen, capital=spoken is not ENGLISH)[0].as_py()
        found.append(term if spoken.space == speech.space else f" {term} ")
    return found


def _text(speech: Speech, place: int, terms: list[str], abbreviation: str | None) -> str:
    parts = [_sentence(speech, place + 1, START), *terms, abbreviation or "", _sentence(speech, place + 2, END)]
    return speech.space.join(part for part in parts if part) + speech.mark


def _row(of: Concepts, place: int, one: _Asked) -> dict[str, Any]:
    """A question as BioASQ has it."""
    terms = _terms(of, ENGLISH, one.concepts)
    body = _text(ENGLISH, place, terms, one.abbreviation)
    about = " ".join(terms)
    words = _sentence(ENGLISH, place + 5, END)
    texts = [f"{words} {about} {_sentence(ENGLISH, place + 7, START)} {place}x{number}." for number in range(SNIPPETS)]
    if one.kind == REPEATING:
        texts[-1] = texts[0]
    documents = [f"http://www.ncbi.nlm.nih.gov/pubmed/9{place:06}{number}" for number in range(SNIPPETS)]
    snippets = [_snippet(*pair) for pair in zip(documents, texts, strict=True)]
    return {
        "id": hashlib.sha256(f"invented {place}".encode()).hexdigest()[:24],
        "type": ("yesno", "factoid", "list", "summary")[place % 4],
        "body": body[0].upper() + body[1:],
        "documents": documents,
        "concepts": [],
        "ideal_answer": [texts[0]],
        "snippets": [] if one.kind == BARE else snippets,
    }


def _snippet(document: str, text: str) -> dict[str, Any]:
    return {
        "document": document,
        "text": text,
        "offsetInBeginSection": 0,
        "offsetInEndSection": len(text),
        "beginSection": "abstract",
        "endSection": "abstract",
    }


def _share(rows: list[dict[str, Any]], asked: list[_Asked]) -> None:
    """The last snippet of some questions is the first of the one before."""
    for place, one in enumerate(asked):
        if one.kind == SHARING:
            shared = rows[place - 1]["snippets"][0]
            rows[place]["snippets"][-1] = shared
            rows[place]["documents"][-1] = shared["document"]


def _translations(
    of: Concepts, speech: Speech, rows: list[dict[str, Any]], asked: list[_Asked]
) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for place, (row, one) in enumerate(zip(rows, asked, strict=True)):
        if one.kind == ABSENT:
            continue
        numbers = {LOST: (), ONE_LOST: one.concepts[1:]}.get(one.kind, one.concepts)
        short = one.abbreviation[::-1] if one.abbreviation and one.kind == SHORTENED else one.abbreviation
        text = _text(speech, place, _terms(of, speech, numbers), short)
        found.append((row["id"], TONGUES[speech.lat], text, _back(row["body"], one.kind)))
    return found


def _back(body: str, kind: str) -> str:
    """The question as it was, or with fewer words, or not at all."""
    if kind == ONE_WAY:
        return ""
    return " ".join(body.split()[: KEPT_BACK.get(kind)])
