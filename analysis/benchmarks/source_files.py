"""The files of a source as a licence holder has them: in a folder, in a ZIP, or one alone; gzip; JSON in them."""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from analysis.errors import InputError

GZIP = b"\x1f\x8b"
MARK = b"\xef\xbb\xbf"  # byte order mark
BESIDE = "._"
"""How files begin that another program put beside those of the source."""


class Wanted(NamedTuple):
    """Which files of a folder or ZIP are the source's."""

    fits: Callable[[PurePosixPath], bool]
    lacking: str  # what is said where there is none

    def among(self, names: list[str], where: Path) -> list[str]:
        """Those of some names, in order.

        Raises:
            InputError: there is none.
        """
        paths = {name: PurePosixPath(name) for name in sorted(names)}
        found = [name for name, path in paths.items() if not path.name.startswith(BESIDE) and self.fits(path)]
        if not found:
            raise InputError(f"{where}: {self.lacking}")
        return found


def files(path: Path, *, in_folder: Wanted, in_zip: Wanted, expected: str) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file, by name.

    Args:
        path: of a folder, a ZIP or one file.
        in_folder: which files of a folder are read.
        in_zip: which of a ZIP.
        expected: what is said to be expected where there is nothing.

    Raises:
        InputError: there is nothing, none of the files is wanted, or the ZIP is damaged.
    """
    if path.is_dir():
        names = [file.name for file in path.iterdir() if file.is_file()]
        for name in in_folder.among(names, path):
            yield str(path / name), (path / name).read_bytes()
    elif not path.is_file():
        raise InputError(f"{path}: no such file or folder, expected {expected}")
    elif zipfile.is_zipfile(path):
        yield from _members(path, in_zip)
    else:
        yield str(path), path.read_bytes()


def _members(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    place = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for name in wanted.among(archive.namelist(), path):
                place = f"{path}!{name}"
                yield place, archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(f"{place}: {error}, expected a whole ZIP file") from error


def unpacked(name: str | Path, data: bytes) -> bytes:
    """The content of a file, which may be gzip.

    Raises:
        InputError: it breaks off, or is damaged.
    """
    try:
        return gzip.decompress(data) if data.startswith(GZIP) else data
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: {error}, expected a whole gzip file") from error


def parsed(data: bytes | str, place: str, *, expected: str) -> Any:
    """A JSON document.

    Args:
        data: as text, or in UTF-8.
        place: where it stands.
        expected: what is said to be expected.

    Raises:
        InputError: it is none, is nested too deep, or has half a surrogate, which no UTF-8 text can have.
    """
    try:
        text = data if isinstance(data, str) else data.decode()
        found = json.loads(text)
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{place}: half a surrogate pair, expected whole characters") from error
    except RecursionError as error:
        raise InputError(f"{place}: nested too deep, expected {expected}") from error
    except ValueError as error:  # no UTF-8, no JSON, a number longer than Python reads
        raise InputError(f"{place}: {error}, expected {expected}") from error
    return found
