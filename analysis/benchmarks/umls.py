"""UMLS from the files of a licence holder: terms, definitions and relations, prepared once for every build.

``MRCONSO.RRF``, ``MRDEF.RRF`` and ``MRREL.RRF``, plain or gzip, become one Parquet file each in the cache folder, named
by the SHA-256 of its source. Nothing of UMLS comes with this program.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import uuid
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from analysis.errors import InputError
from analysis.languages import canonical
from analysis.model import Progress, silent
from analysis.store import rrf
from analysis.store.connection import on_disk, publish
from analysis.store.rrf import Layout, Rule
from analysis.store.terms import Terms

PREPARED = 1
"""Which form the prepared files have: another number prepares them anew."""

OLDER_CODES = {"SCR": "hr"}
"""Codes of languages that UMLS writes and ISO 639-2 has given up."""

CUI = Rule("CUI", r"C\d{7}", "C and seven digits")
SUPPRESS = Rule("SUPPRESS", "[NOEY]", "one of N, O, E, Y")
ATOM = r"A\d{7,8}"

CONCEPTS_COLUMNS = (
    "CUI", "LAT", "TS", "LUI", "STT", "SUI", "ISPREF", "AUI", "SAUI", "SCUI", "SDUI", "SAB", "TTY", "CODE", "STR",
    "SRL", "SUPPRESS", "CVF",
)  # fmt: skip
DEFINITIONS_COLUMNS = (
    "CUI", "AUI", "ATUI", "SATUI", "SAB", "DEF", "SUPPRESS", "CVF",
)  # fmt: skip
RELATIONS_COLUMNS = (
    "CUI1", "AUI1", "STYPE1", "REL", "CUI2", "AUI2", "STYPE2", "RELA", "RUI", "SRUI", "SAB", "SL", "RG", "DIR",
    "SUPPRESS", "CVF",
)  # fmt: skip

CONCEPTS = Layout(
    CONCEPTS_COLUMNS,
    (
        CUI,
        Rule("LAT", "[A-Z]{3}", "three capital letters"),
        Rule("AUI", ATOM, "A and seven or eight digits"),
        Rule("SAB", ".+", "a source vocabulary"),
        Rule("STR", "(?s).+", "a string"),
        SUPPRESS,
    ),
    {
        "cui": "CUI",
        "lat": "LAT",
        "preferred": "coalesce(TS = 'P' AND STT = 'PF' AND ISPREF = 'Y', false)",
        "aui": "AUI",
        "vocabulary": "SAB",
        "term_type": "coalesce(TTY, '')",
        "code": "coalesce(CODE, '')",
        "text": "STR",
        "key": "key_of(STR)",
        "suppress": "SUPPRESS",
    },
)
DEFINITIONS = Layout(
    DEFINITIONS_COLUMNS,
    (
        CUI,
        Rule("AUI", ATOM, "A and seven or eight digits"),
        Rule("ATUI", r"AT\d+", "AT and digits"),
        Rule("DEF", "(?s).+", "a definition"),
        SUPPRESS,
    ),
    {"cui": "CUI", "aui": "AUI", "atui": "ATUI", "vocabulary": "SAB", "text": "DEF", "suppress": "SUPPRESS"},
)
RELATIONS = Layout(
    RELATIONS_COLUMNS,
    (
        Rule("CUI1", CUI.pattern, CUI.expected),
        Rule("REL", "[A-Z]{2,3}", "two or three capital letters"),
        Rule("CUI2", CUI.pattern, CUI.expected),
        SUPPRESS,
    ),
    {
        "cui": "CUI1",
        "relation": "REL",
        "other": "CUI2",
        "kind": "coalesce(RELA, '')",
        "vocabulary": "coalesce(SAB, '')",
        "suppress": "SUPPRESS",
    },
)
FILES: Mapping[str, Layout] = {"MRCONSO": CONCEPTS, "MRDEF": DEFINITIONS, "MRREL": RELATIONS}

SUPPRESSED = {"N": "used", "O": "obsolete", "E": "suppressed by an editor", "Y": "suppressed by its source"}
"""What becomes of an atom, by what UMLS says with SUPPRESS."""


@dataclass(frozen=True)
class Source:
    """A file of UMLS as it was when it was prepared."""

    path: str
    size: int  # bytes
    modified: int  # nanoseconds since the epoch
    sha256: str


def prepare(folder: Path, cache: Path, *, progress: Progress = silent) -> Terms:
    """The prepared tables of the files in ``folder``; what was prepared before is taken as it is.

    Args:
        folder: has MRCONSO.RRF, MRDEF.RRF and MRREL.RRF, each plain or with ``.gz`` behind its name.
        cache: where prepared files are kept.
        progress: told how far it is; may raise JobCancelledError.

    Raises:
        InputError: a file is missing, a line is faulty, or a language is not known.
        StoreError: the disk is full.
    """
    sources = {name: _find(folder, name) for name in FILES}
    prepared = {name: _prepared(path, cache, name, progress) for name, path in sources.items()}
    found = Terms(
        cache,
        atoms=prepared["MRCONSO"][0],
        definitions=prepared["MRDEF"][0],
        relations=prepared["MRREL"][0],
        checksums={name: source.sha256 for name, (_, source) in prepared.items()},
    )
    languages = {lat: _language(lat, sources["MRCONSO"]) for lat in found.languages_as_written()}
    return found.spoken(languages)


def atom_counts(terms: Terms) -> dict[str, dict[str, int]]:
    """Atoms by language and by what becomes of them."""
    counted: dict[str, dict[str, int]] = {}
    for (language, suppress), n in terms.atom_counts().items():
        row = counted.setdefault(language, dict.fromkeys(SUPPRESSED.values(), 0))
        row[SUPPRESSED[suppress]] += n
    return counted


def _find(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.RRF", folder / f"{name}.RRF.gz"):
        if path.is_file():
            return path
    raise InputError(f"{folder}: holds no {name}.RRF or {name}.RRF.gz, expected the META folder of a UMLS release")


def _language(lat: str, path: Path) -> str:
    """The shortest tag of a language as UMLS writes it."""
    try:
        return OLDER_CODES.get(lat) or canonical(lat).tag
    except InputError as error:
        line = next(number for number, cells in _lines(path) if len(cells) > 1 and cells[1] == lat)
        raise InputError(f"{path}, line {line}: LAT {lat!r}, expected the ISO 639-2 code of a language") from error


def _prepared(path: Path, cache: Path, name: str, progress: Progress) -> tuple[Path, Source]:
    """The Parquet file of a source; known by size and time of change, else by its hash, else made."""
    for manifest in sorted(cache.glob(f"{name}-*.json")):
        known = _manifest(manifest)
        if known and (known.path, known.size, known.modified) == _seen(path):
            return manifest.with_suffix(".parquet"), known
    source = Source(*_seen(path), _sha256(path, progress, name))
    target = cache / f"{name}-{source.sha256[:16]}.parquet"
    if not _manifest(target.with_suffix(".json")):
        _convert(path, target, name, progress)
    _write_manifest(target.with_suffix(".json"), source)
    return target, source


def _seen(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return str(path.resolve()), status.st_size, status.st_mtime_ns


def _sha256(path: Path, progress: Progress, name: str) -> str:
    digest, total, done = hashlib.sha256(), path.stat().st_size, 0
    with path.open("rb") as handle:
        while data := handle.read(1 << 24):
            digest.update(data)
            done += len(data)
            progress(f"look at {name}", done >> 20, max(1, total >> 20))
    return digest.hexdigest()


def _manifest(path: Path) -> Source | None:
    """What a prepared file was made of; None where there is none, or it has another form."""
    try:
        said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    whole = said.pop("prepared", None) == PREPARED and path.with_suffix(".parquet").is_file()
    return Source(**said) if whole else None


def _write_manifest(path: Path, source: Source) -> None:
    """Last of all: without it the file beside it does not count."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.tmp")
    with on_disk(path):
        temporary.write_text(json.dumps({"prepared": PREPARED, **asdict(source)}), encoding="utf-8")
        publish(temporary, path)


def _convert(path: Path, target: Path, name: str, progress: Progress) -> None:
    layout = FILES[name]
    try:
        rrf.convert(path, target, layout=layout, progress=progress, step=f"read {name}")
    except InputError as error:
        raise _located(path, layout) or error from error


def _located(path: Path, layout: Layout) -> InputError | None:
    """The first line that breaks a rule, in words."""
    try:
        for number, cells in _lines(path):
            if fault := _fault(cells, layout):
                return InputError(f"{path}, line {number}: {fault}")
    except InputError as error:
        return error
    return None


def _fault(cells: list[str], layout: Layout) -> str | None:
    if len(cells) != len(layout.columns) + 1 or cells[-1]:
        found, behind = len(cells) - (not cells[-1]), " and no pipe at the end" if cells[-1] else ""
        return f"{found} columns{behind}, expected {len(layout.columns)}, each with a pipe behind it"
    if any("\r" in cell for cell in cells):
        return "a carriage return inside the line, expected lines that end with LF or CR LF"
    for rule in layout.rules:
        value = cells[layout.columns.index(rule.column)]
        if not re.fullmatch(rule.pattern, value):
            return f"{rule.column} {value!r}, expected {rule.expected}"
    return None


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line that is not empty.

    Raises:
        InputError: a line is no UTF-8, or a packed file ends too early.
    """
    number = 0
    with path.open("rb") as plain, gzip.GzipFile(fileobj=plain) as unpacked:
        stream = cast("IO[bytes]", unpacked if rrf.is_gzip(path) else plain)
        try:
            for number, line in enumerate(stream, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
                if text:
                    yield number, text.split("|")
        except UnicodeDecodeError as error:
            wrong = f"byte {error.object[error.start]:#04x}, expected UTF-8"
            raise InputError(f"{path}, line {number}: {wrong}") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"{path}, line {number + 1}: {error}, expected a whole gzip file") from error
