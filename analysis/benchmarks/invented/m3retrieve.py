"""Questions with images in M3Retrieve's folders by task and specialty: invented words, tiny pictures, traps."""

from __future__ import annotations

import json
import struct
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from analysis.benchmarks.invented.concepts import Concepts
from analysis.benchmarks.invented.words import ENGLISH, Places
from analysis.errors import InputError

FOLDERS = (
    ("IT2I", "Cardiology"),
    ("IT2I", "Dermatology"),
    ("VisualContext", "Cardiology"),
    ("VisualContext", "Thorax and Lung"),
)
"""Task and specialty of each; a specialty may stand under several tasks."""

KINDS = ("plain", "caption", "listed", "plain", "missing", "outside", "graded", "dangling", "unjudged", "picture")
"""What is particular about a question, over and over."""

MALFORMED = ("missing", "outside", "graded")
"""Kinds that only malformed sources have: no system could read the images, and nDCG@10 would be no nNDCG@10."""

Row = dict[str, Any]
Judged = list[tuple[str, int]]
"""Of one question: a document and its grade each."""

SIDE = 24  # pixels of a picture
SHARED = "shared"  # a document that every folder has, word by word
PLANTED = {
    "caption": "queries whose text stands in caption",
    "listed": "queries whose image stands in a list",
    "missing": "queries whose image is not there",
    "outside": "queries whose image lies outside the folder",
    "graded": "judgements of grade 2",
    "dangling": "judged documents outside the corpus",
    "unjudged": "queries without judgements",
    "picture": "documents with an image and no text",
}


def write(folder: Path, of: Concepts, *, questions: int, malformed: bool) -> dict[str, object]:
    """Write every folder with as many questions, and return what was planted.

    Raises:
        InputError: too few questions, or more than concepts to ask of.
    """
    if not len(KINDS) <= questions <= of.n:
        raise InputError(f"questions {questions}: expected {len(KINDS)} to {of.n}, the number of concepts")
    planted: dict[str, object] = {
        "folders": len(FOLDERS),
        "queries": questions * len(FOLDERS),
        "documents": 0,
        "documents that every folder has": 1,
    }
    counts: Counter[str] = Counter()
    n_documents = 0
    kinds = [KINDS[row % len(KINDS)] for row in range(questions)]
    kinds = [kind if malformed or kind not in MALFORMED else "plain" for kind in kinds]
    for number, (task, specialty) in enumerate(FOLDERS):
        found, n = _write_folder(folder / task / specialty, of, number, kinds)
        counts += found
        n_documents += n
    planted["documents"] = n_documents
    return planted | {words: counts[kind] for kind, words in PLANTED.items()}


def _write_folder(place: Path, of: Concepts, number: int, kinds: list[str]) -> tuple[Counter[str], int]:
    """One folder: its kinds of questions, and how many documents it has beside the shared one."""
    (place / "images").mkdir(parents=True)
    (place / "qrels").mkdir()
    chosen = (np.arange(len(kinds), dtype=np.int64) * 7 + number * 11) % of.n
    documents, answers = _documents(of, chosen, kinds)
    queries = _queries(of, chosen, kinds)
    for row, kind in enumerate(kinds):
        if kind != "missing":
            (place / "images" / f"{row}.png").write_bytes(picture(of.seed, number * len(kinds) + row))
    rows = [f"q{row}\t{answer}\t{grade}" for row, pairs in enumerate(answers) for answer, grade in pairs]
    _write_lines(place / "corpus.jsonl", documents)
    _write_lines(place / "queries.jsonl", queries)
    text = "\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n"
    (place / "qrels" / "test.tsv").write_text(text, encoding="utf-8")
    return Counter(kinds), len(documents) - 1


def _documents(of: Concepts, chosen: Places, kinds: list[str]) -> tuple[list[Row], list[Judged]]:
    """An answer to each question, another document about the same kind of thing, the shared one; and the judgements."""
    terms = of.term(ENGLISH, chosen, capital=False).to_pylist()
    words, others = ENGLISH.sentence(chosen + 1, 9).to_pylist(), ENGLISH.sentence(chosen + 2, 9).to_pylist()
    documents: list[Row] = [{"_id": SHARED, "text": " ".join(ENGLISH.fillers[:12])}]
    answers: list[Judged] = []
    for row, kind in enumerate(kinds):
        answer = f"d{row}"
        if kind == "picture":
            documents.append({"_id": answer, "image_path": f"images/{row}.png"})
        else:
            documents.append({"_id": answer, "text": f"{words[row]} {terms[row]} {terms[row].split()[0]}"})
        documents.append({"_id": f"x{row}", "text": f"{others[row]} {terms[row].split()[-1]}"})
        grade = 2 if kind == "graded" else 1
        pairs = [("gone", grade), (answer, grade)] if kind == "dangling" else [(answer, grade)]
        answers.append([] if kind == "unjudged" else pairs)
    return documents, answers


def _queries(of: Concepts, chosen: Places, kinds: list[str]) -> list[Row]:
    terms = of.term(ENGLISH, chosen, capital=False).to_pylist()
    words = ENGLISH.sentence(chosen + 3, 2).to_pylist()
    found: list[Row] = []
    for row, kind in enumerate(kinds):
        text, image = f"{words[row]} {terms[row]}?", f"images/{row}.png"
        query: dict[str, Any] = {"_id": f"q{row}", "caption" if kind == "caption" else "text": text}
        query["image_path" if kind != "listed" else "img_path"] = {
            "listed": [image],
            "outside": "../../../outside.png",
        }.get(kind, image)
        found.append(query)
    return found


def _write_lines(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def picture(seed: int, number: int) -> bytes:
    """A PNG of a few coloured blocks, a different one for each number."""
    blocks = np.random.default_rng([seed, number, 2]).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    pixels = blocks.repeat(SIDE // 4, axis=0).repeat(SIDE // 4, axis=1)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
