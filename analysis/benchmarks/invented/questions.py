"""Exam questions about invented concepts: MMedBench's JSON lines, with what a tagger must make of each."""

from __future__ import annotations

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
