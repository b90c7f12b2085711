"""Invented sources in the true formats, for trying the commands and for tests: no row is of UMLS or of anybody else."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from analysis.benchmarks.invented import evidence, m3retrieve, patents, questions, umls
from analysis.benchmarks.invented.concepts import Concepts
from analysis.errors import InputError
from analysis.model import Progress, silent

SOURCES = ("umls", "mmedbench", "bioasq", "patents", "m3retrieve")
README = "README.txt"
PLANTED = "planted.json"
ABOUT = """Every row here is invented: words were made of syllables by a program, with a seed.

Nothing comes from UMLS, MMedBench, BioASQ, M3Retrieve or a patent; only the layout of the files is theirs. None
of it is medical.
The files are dedicated to the public domain (CC0 1.0): use them as you like.

Made with: {command}
planted.json says how many rows of which kind there are.
"""


@dataclass(frozen=True)
class Request:
    """Which source is written, and how large."""

    source: str  # one of SOURCES
    seed: int = 1
    concepts: int = 500
    questions: int = 120  # of each language (patents: of each table too), of BioASQ, or of each of M3Retrieve's folders
    packed: bool = False  # umls: gzip
    carriage_returns: bool = False  # umls: lines end with CR LF
    malformed: bool = False  # umls: MRCONSO ends in a broken line; m3retrieve: images that are absent, other grades

    @property
    def command(self) -> str:
        """What to type for the same."""
        flags = {"gzip": self.packed, "crlf": self.carriage_returns, "malformed": self.malformed}
        given = "".join(f" --{name}" for name, on in flags.items() if on)
        asked = "" if self.source == "umls" else f" --questions {self.questions}"
        return (
            f"python -m analysis generate-sources {self.source} DIR --seed {self.seed} --concepts {self.concepts}"
            f"{asked}{given}"
        )


def write(folder: Path, request: Request, *, progress: Progress = silent) -> dict[str, object]:
    """Write a source into a new or empty folder, and return what was planted in it.

    The same request writes the same bytes. Questions are about the concepts of the same seed and number.

    Raises:
        InputError: an unknown source, the folder holds something, or a number is out of bounds.
    """
    if request.source not in SOURCES:
        raise InputError(f"source {request.source!r}: expected one of {', '.join(SOURCES)}")
    of = Concepts(request.seed, request.concepts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"{folder}: holds files already, expected a new or empty folder")
        planted = _write(folder, of, request, progress)
        (folder / README).write_text(ABOUT.format(command=request.command), encoding="utf-8")
        text = json.dumps({"request": asdict(request), "planted": planted}, ensure_ascii=False, indent=1)
        (folder / PLANTED).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{error.filename or folder}: {error.strerror}") from error
    return planted


def _write(folder: Path, of: Concepts, request: Request, progress: Progress) -> dict[str, object]:
    if request.source == "mmedbench":
        return questions.write_mmedbench(folder, of, questions=request.questions)
    if request.source == "m3retrieve":
        return m3retrieve.write(folder, of, questions=request.questions, malformed=request.malformed)
    if request.source == "bioasq":
        return evidence.write(folder, of, questions=request.questions)
    if request.source == "patents":
        return patents.write(folder, of, queries=request.questions)
    options = umls.Options(request.packed, request.carriage_returns, request.malformed)
    return umls.write(folder, of, options=options, progress=progress)
