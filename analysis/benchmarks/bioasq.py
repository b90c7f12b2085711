"""Questions of BioASQ's task b with their snippets: JSON files, plain, gzip, or together in a ZIP or a folder."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from analysis.benchmarks import source_files
from analysis.benchmarks.source_files import Wanted
from analysis.errors import InputError
from analysis.text import same_text_key

ENDINGS = (".json", ".json.gz")
INVENTED = "invented"
"""Key of a file whose rows a program made up."""


class Snippet(NamedTuple):
    """A passage that answers a question."""

    document: str  # last part of its address: for an abstract of PubMed its number
    section: str  # where in the document it begins
    text: str


class Question(NamedTuple):
    """One question of an expert, in English."""

    id: str
    kind: str  # yesno, factoid, list or summary
    text: str
    snippets: tuple[Snippet, ...]  # as the file has them, repeated ones too


@dataclass(frozen=True)
class Questions:
    """What was read."""

    questions: tuple[Question, ...]  # in the order of files, by name, and of their rows
    checksum: str  # SHA-256 over every file, with its name
    invented: bool  # a file says so of itself


def read(path: Path) -> Questions:
    """Read a file, or several.

    Args:
        path: a JSON file as BioASQ has it (``training13b.json``, ``13B1_golden.json``), plain or gzip, or a folder or
            ZIP with such files: all of them are read.

    Raises:
        InputError: nothing to read there, or a faulty row, with file, place, value and what was expected.
    """
    found: dict[str, Question] = {}
    places: dict[str, str] = {}
    digest, invented = hashlib.sha256(), False
    expected = "a JSON file of BioASQ's task b, a ZIP or a folder"
    for name, packed in source_files.files(path, in_folder=WANTED, in_zip=WANTED, expected=expected):
        data = source_files.unpacked(name, packed)
        digest.update(f"{PurePosixPath(name).name.removesuffix('.gz')}\0{len(data)}\0".encode() + data)
        whole = _whole(name, data)
        invented = invented or bool(whole.get(INVENTED))
        for number, row in enumerate(whole["questions"], start=1):
            place = f"{name}, question {number}"
            question = _question(row, place)
            if question.id in found:
                raise InputError(f"{place}: id {question.id!r} is that of {places[question.id]} too, expected another")
            found[question.id], places[question.id] = question, place
    if not found:
        raise InputError(f"{path}: holds no question")
    return Questions(tuple(found.values()), digest.hexdigest(), invented)


def _is_one(path: PurePosixPath) -> bool:
    """Whether a file is meant, and not what says how invented ones were made."""
    return path.name.endswith(ENDINGS) and not path.name.startswith("planted")


WANTED = Wanted(_is_one, "holds no .json or .json.gz file, expected those of BioASQ's task b")


def _whole(name: str, data: bytes) -> dict[str, Any]:
    whole = source_files.parsed(data.removeprefix(source_files.MARK), name, expected="JSON in UTF-8")
    if not isinstance(whole, dict) or not isinstance(whole.get("questions"), list):
        raise InputError(f"{name}: {str(whole)[:60]!r}, expected an object with a list of questions")
    return whole


def _question(row: object, place: str) -> Question:
    if not isinstance(row, dict):
        raise InputError(f"{place}: {row!r:.60}, expected an object with id, body, type and snippets")
    snippets = row.get("snippets") or []  # none at all in the files of a first phase
    if not isinstance(snippets, list):
        raise InputError(f"{place}: snippets {snippets!r:.60}, expected a list")
    return Question(
        _text(row, "id", place),
        _text(row, "type", place),
        _text(row, "body", place),
        tuple(_snippet(found, f"{place}, snippet {number}") for number, found in enumerate(snippets, start=1)),
    )


def _snippet(row: object, place: str) -> Snippet:
    if not isinstance(row, dict):
        raise InputError(f"{place}: {row!r:.60}, expected an object with text and document")
    address = _text(row, "document", place)
    document = address.rstrip("/").rpartition("/")[2]
    if not address.startswith(("http://", "https://")) or not document:
        raise InputError(f"{place}: document {address!r:.80}, expected the address of an article in PubMed")
    return Snippet(document, str(row.get("beginSection", "")), _text(row, "text", place))


def _text(row: dict[str, Any], key: str, place: str) -> str:
    """A text that must be there, on one line."""
    found = row.get(key)
    if not isinstance(found, str) or not found.strip():
        raise InputError(f"{place}: {key} {found!r:.60}, expected a text")
    return same_text_key(" ".join(found.split()))
