"""Translations of questions: from a file of rows, or from whoever translates."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from analysis.benchmarks import source_files
from analysis.errors import InputError
from analysis.languages import canonical

SOURCE = "en"
COLUMNS = ("id", "language", "text")
BACK = "back_translation"
DELIMITERS = {".tsv": "\t", ".csv": ","}
LINES = (".jsonl", ".ndjson")


class Translation(NamedTuple):
    """A question in another language."""

    text: str
    back: str | None  # translated back into English; None: nobody did


Translations = dict[tuple[str, str], Translation]
"""By the id of the question and the language."""


class Translator(Protocol):
    """Who translates texts."""

    name: str

    def translate(self, texts: Sequence[str], *, source: str, target: str) -> list[str]:
        """Each text in another language.

        Raises:
            InputError: it does not know one of the languages.
        """
        ...

    def check(self, *, source: str, target: str) -> None:
        """Raise InputError where it does not know one of the languages: better known before hours of work."""
        ...


@dataclass(frozen=True)
class Supplied:
    """Translations that somebody supplies."""

    rows: Translations
    checksum: str  # SHA-256 of the file's content


def check(translator: Translator, languages: Sequence[str]) -> None:
    """Raise InputError where a translator does not know one of the languages, there and back."""
    for language in languages:
        translator.check(source=SOURCE, target=language)
        translator.check(source=language, target=SOURCE)


def made(translator: Translator, questions: Sequence[tuple[str, str]], languages: Sequence[str]) -> Translations:
    """Translate questions and translate the result back.

    Args:
        translator: see there.
        questions: ids and texts in English.
        languages: to translate into.

    Raises:
        InputError: the translator does not know a language.
    """
    check(translator, languages)
    found: Translations = {}
    texts = [text for _, text in questions]
    for language in languages:
        there = translator.translate(texts, source=SOURCE, target=language)
        back = translator.translate(there, source=language, target=SOURCE)
        for (name, _), text, again in zip(questions, there, back, strict=True):
            if text.strip():  # what it made nothing of is missing
                found[name, language] = Translation(text, again)
    return found


def read(path: Path, *, known: Collection[str]) -> Supplied:
    """Read a table of translations.

    Args:
        path: ``.tsv``, ``.csv`` or ``.jsonl``, plain or with ``.gz`` behind it; columns id, language, text and, if
            there is one, back_translation.
        known: ids of the questions.

    Raises:
        InputError: no such file, or a faulty row, with file, line, value and what was expected.
    """
    data = _data(path)
    found: Translations = {}
    lines: dict[tuple[str, str], int] = {}
    for number, row in _rows(path, data):
        place = f"{path}, line {number}"
        key, translation = _translation(row, place, known)
        if key in found:
            raise InputError(f"{place}: {' in '.join(key)} stands in line {lines[key]} too, expected it once")
        found[key], lines[key] = translation, number
    if not found:
        raise InputError(f"{path}: holds no translation")
    return Supplied(found, hashlib.sha256(data).hexdigest())


def _data(path: Path) -> bytes:
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected a table of translations (.tsv, .csv or .jsonl)")
    return source_files.unpacked(path, path.read_bytes())


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if ending not in (*DELIMITERS, *LINES):
        raise InputError(f"{path}: expected a name that ends with .tsv, .csv or .jsonl, or one of them and .gz")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: byte {data[error.start]:#04x}, expected UTF-8") from error
    return _objects(path, text) if ending in LINES else _cells(path, text, DELIMITERS[ending])


def _objects(path: Path, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        row = source_files.parsed(line, f"{path}, line {number}", expected="one JSON object")
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: {row!r:.60}, expected a JSON object")
        yield number, row


def _cells(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a table with a header; in a file with tabs quotes are ordinary characters."""
    lines = io.StringIO(text, newline="")
    reader = (
        csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
        if delimiter == "\t"
        else csv.reader(lines, delimiter=delimiter, strict=True)
    )
    try:
        header = [name.strip() for name in next(reader, [])]
        if lacking := [name for name in COLUMNS if name not in header]:
            raise InputError(
                f"{path}, line 1: no column {lacking[0]}, expected {', '.join(COLUMNS)} and perhaps {BACK}"
            )
        if twice := [name for name in (*COLUMNS, BACK) if header.count(name) > 1]:
            raise InputError(f"{path}, line 1: column {twice[0]} stands twice, expected it once")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise InputError(f"{path}, line {reader.line_num}: {len(cells)} columns, expected {len(header)}")
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error


def _translation(row: dict[str, Any], place: str, known: Collection[str]) -> tuple[tuple[str, str], Translation]:
    values = {name: row.get(name) for name in COLUMNS}
    for name, value in values.items():
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{place}: {name} {value!r:.60}, expected a text")
    name, raw, text = (" ".join(str(value).split()) for value in values.values())
    if name not in known:
        raise InputError(f"{place}: id {name!r}, expected that of a question")
    try:
        language = canonical(raw).tag
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    if language == SOURCE:
        raise InputError(f"{place}: language {raw!r} is that of the questions, expected another")
    back = row.get(BACK)
    if back is not None and not isinstance(back, str):
        raise InputError(f"{place}: {BACK} {back!r:.60}, expected a text or nothing")
    return (name, language), Translation(text, " ".join(back.split()) if back and back.strip() else None)
