"""Questions of MMedBench without their options: the test split, from its ZIP, its folder, or one file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from analysis.benchmarks import source_files
from analysis.benchmarks.source_files import Wanted
from analysis.errors import InputError
from analysis.languages import canonical
from analysis.text import same_text_key

TEST = "test"
IN_FOLDER = Wanted(lambda path: path.name.endswith(".jsonl"), "holds no .jsonl file, expected those of MMedBench/Test")
IN_ZIP = Wanted(
    lambda path: path.name.endswith(".jsonl") and path.parent.name == "Test",
    "holds no Test/*.jsonl, expected MMedBench.zip",
)


class Stem(NamedTuple):
    """A question without its options."""

    id: str  # language and line
    language: str
    text: str


@dataclass(frozen=True)
class Stems:
    """What was read."""

    stems: tuple[Stem, ...]  # each text of a language once, in the order of files and lines
    lines: dict[str, int]  # questions read, by language
    checksum: str  # SHA-256 over every file read, with its name


def read(path: Path) -> Stems:
    """Read the test split.

    Args:
        path: ``MMedBench.zip``, the folder it unpacks to, or one file of JSON lines. A file is called after its
            language (``English.jsonl``), or its rows name their ``language``; rows that name a ``split`` count where
            it is ``test``.

    Raises:
        InputError: nothing to read there, or a faulty line, with file, line and value.
    """
    found: list[Stem] = []
    seen: set[tuple[str, str]] = set()
    lines: dict[str, int] = {}
    digest = hashlib.sha256()
    expected = "MMedBench.zip, its folder or a .jsonl file"
    for name, data in source_files.files(_test_folder(path), in_folder=IN_FOLDER, in_zip=IN_ZIP, expected=expected):
        digest.update(f"{PurePosixPath(name).name}\0{len(data)}\0".encode() + data)
        for stem in _stems(name, data):
            lines[stem.language] = lines.get(stem.language, 0) + 1
            key = (stem.language, same_text_key(stem.text))
            if key not in seen:
                seen.add(key)
                found.append(stem)
    if not found:
        raise InputError(f"{path}: holds no question of the test split")
    return Stems(tuple(found), lines, digest.hexdigest())


def _test_folder(path: Path) -> Path:
    """Where the files of the test split are, if anywhere, in the folder that the ZIP unpacks to."""
    return next((found for found in (path / "Test", path / "MMedBench" / "Test") if found.is_dir()), path)


def _stems(name: str, data: bytes) -> Iterator[Stem]:
    of_file: str | None = None
    for number, line in enumerate(data.removeprefix(source_files.MARK).split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        row = _row(place, line)
        if row.get("split", TEST) != TEST:
            continue
        text = row.get("question")
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{place}: question {text!r}, expected a text")
        if "language" in row:
            tag = _tag(str(row["language"]), place)
        else:
            tag = of_file = of_file or _tag(PurePosixPath(name).stem, name)
        yield Stem(f"{tag}-{number}", tag, text.strip())


def _row(place: str, line: bytes) -> dict[str, object]:
    row = source_files.parsed(line, place, expected="one JSON object in UTF-8")
    if not isinstance(row, dict):
        raise InputError(f"{place}: {row!r:.60}, expected a JSON object")
    return row


def _tag(raw: str, where: str) -> str:
    try:
        return canonical(raw).tag
    except InputError as error:
        raise InputError(
            f"{where}: {error} (files are called after their language, or rows name their language)"
        ) from error
