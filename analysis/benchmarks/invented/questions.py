"""Questions about invented concepts: MMedBench's JSON lines and BioASQ's JSON, with what a tagger must make of each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from analysis.benchmarks.invented import concepts as traps
from analysis.benchmarks.invented.concepts import Concepts
from analysis.benchmarks.invented.words import ENGLISH, EVERY, Places, Speech
from analysis.errors import InputError

ASKED = ("English", "Spanish", "French", "Chinese", "Japanese", "Russian")
"""The files of MMedBench."""

RARE = "Russian"
"""A language with half as many questions as the others."""

KINDS = ("whole", "inside", "inside", "synonym", "inside", "shared", "former", "undefined", "misspelt", "short")
"""What a question asks with, over and over."""

ENGLISH_KINDS = ("shared", "short")
"""Only in English: in other languages such a question names nothing."""

PROTECTED = ("HIV", "MRI", "HbA1c")
"""Abbreviations that a translation keeps as they are."""

SNIPPETS = 3  # of a question of BioASQ


def write_mmedbench(folder: Path, of: Concepts, *, questions: int) -> dict[str, object]:
    """Write ``Test`` and ``Train`` with one file a language; how many questions of each kind ``Test`` has.

    The same line asks of the same concept in every language, where its kind allows; the last repeats the first.
    """
    if not len(KINDS) <= questions <= 2 * of.n:
        raise InputError(f"questions {questions}: expected {len(KINDS)} to {2 * of.n}, twice the concepts")
    planted: dict[str, object] = {}
    for speech in EVERY:
        if speech.file not in ASKED:
            continue
        n = questions // 2 if speech.file == RARE else questions
        kinds = _kinds(speech, n)
        rows = _rows(of, speech, kinds)
        _write_lines(folder / "Test" / f"{speech.file}.jsonl", [*rows, rows[0]])
        _write_lines(folder / "Train" / f"{speech.file}.jsonl", rows[: len(KINDS)])
        planted[speech.file] = {"lines": n + 1, "repeated": 1, **dict(sorted(Counter(kinds).items()))}
    return planted


def _kinds(speech: Speech, n: int) -> list[str]:
    every = [KINDS[place % len(KINDS)] for place in range(n)]
    return ["nothing" if kind in ENGLISH_KINDS and speech is not ENGLISH else kind for kind in every]


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _rows(of: Concepts, speech: Speech, kinds: list[str]) -> list[dict[str, Any]]:
    places = np.arange(len(kinds), dtype=np.int64)
    before, behind = speech.sentence(places + 3, 8).to_pylist(), speech.sentence(places + 5, 5).to_pylist()
    answers = speech.sentence(places, 2).to_pylist()
    able = {kind: _able(of, speech, kind) for kind in set(kinds)}
    named = [_named(of, speech, kind, able[kind], place) for place, kind in enumerate(kinds)]
    return [
        {
            "question": _question(speech, kind, named[place], before[place], behind[place]),
            "options": {letter: f"{answers[place]}{letter.lower()}" for letter in "ABCDE"},
            "answer": f"{answers[place]}a",
            "answer_idx": "A",
            "meta_info": "invented",
            "rationale": before[place],
        }
        for place, kind in enumerate(kinds)
    ]


def _question(speech: Speech, kind: str, named: str, before: str, behind: str) -> str:
    if kind in ("whole", "misspelt"):
        return named
    return speech.space.join(part for part in (before, named, behind) if part) + speech.mark


def _named(of: Concepts, speech: Speech, kind: str, able: Places, place: int) -> str:
    """What a question names its concept with."""
    if kind == "nothing":
        return ""
    chosen = able[[(place // len(KINDS) + 3 * (place % len(KINDS))) % len(able)]]
    named: str = _wording(of, speech, kind, chosen)[0].as_py()
    return named[1:] if kind == "misspelt" else named


def _able(of: Concepts, speech: Speech, kind: str) -> Places:
    """The concepts that a kind of question may ask of."""
    numbers = of.numbers
    fit = {
        "shared": traps.twins(numbers),
        "former": traps.formerly(numbers) & traps.everywhere(numbers),
        "undefined": traps.undefined(numbers) & of.spoken(speech),
        "short": traps.abbreviated(numbers),
    }.get(kind, traps.everywhere(numbers))
    return np.flatnonzero(fit)


def _wording(of: Concepts, speech: Speech, kind: str, chosen: Places) -> pa.Array:
    if kind == "short":
        return of.short(chosen)
    worded = {"synonym": of.synonym, "shared": of.shared, "former": of.former}
    return worded.get(kind, of.term)(speech, chosen)


def write_bioasq(path: Path, of: Concepts, *, questions: int) -> dict[str, object]:
    """Write one file as BioASQ's task b has it, in English; what is planted in it."""
    if questions < 1:
        raise InputError(f"questions {questions}: expected 1 or more")
    chosen = np.arange(questions, dtype=np.int64) % of.n
    terms = of.term(ENGLISH, chosen, capital=False).to_pylist()
    starts, ends = ENGLISH.sentence(chosen + 1, 4).to_pylist(), ENGLISH.sentence(chosen + 2, 3).to_pylist()
    rows = [_bioasq(place, terms[place], starts[place], ends[place]) for place in range(questions)]
    path.write_text(json.dumps({"questions": rows}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    protected = Counter(name for row in rows for name in PROTECTED if name in row["body"].split())
    return {"questions": questions, "snippets": SNIPPETS * questions, **dict(sorted(protected.items()))}


def _bioasq(place: int, term: str, start: str, end: str) -> dict[str, Any]:
    kept = [PROTECTED[place // 3 % len(PROTECTED)]] if place % 3 == 0 else []
    texts = [f"{end} {term} {start} {number}." for number in range(SNIPPETS)]
    documents = [f"http://www.ncbi.nlm.nih.gov/pubmed/9{place:06}{number}" for number in range(SNIPPETS)]
    return {
        "id": hashlib.sha256(f"invented {place}".encode()).hexdigest()[:24],
        "type": ("yesno", "factoid", "list", "summary")[place % 4],
        "body": " ".join([start.capitalize(), term, *kept, end]) + "?",
        "documents": documents,
        "concepts": [],
        "ideal_answer": [texts[0]],
        "snippets": [
            {
                "document": document,
                "text": text,
                "offsetInBeginSection": 0,
                "offsetInEndSection": len(text),
                "beginSection": "abstract",
                "endSection": "abstract",
            }
            for document, text in zip(documents, texts, strict=True)
        ],
    }
