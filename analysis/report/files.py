"""Files and folders that appear only once they are whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from analysis.errors import InputError
from analysis.store.connection import fsync_file, publish


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Around writing a target: what the system says about a full disk or a missing folder names it.

    Raises:
        InputError: it cannot be written there.
    """
    if not path.name:
        raise InputError(f"-o {path}: expected a name")
    if not path.parent.is_dir():
        raise InputError(f"-o {path}: there is no folder {path.parent}")
    try:
        yield
    except OSError as error:
        raise InputError(f"-o {path}: {error.strerror or error}") from error


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIOWrapper]:
    """A UTF-8 file written aside, forced to the disk and renamed; what stood there stays until then.

    Raises:
        InputError: it cannot be written there.
    """
    with named(path), _aside(path) as folder:
        temporary = folder / path.name
        with temporary.open("w", encoding="utf-8", newline="") as handle:
            yield handle
        publish(temporary, path)


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder filled aside, every file forced to the disk, and renamed.

    Raises:
        InputError: there is a folder that holds something, or a file, or it cannot be written there.
    """
    with named(path):
        if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
            raise InputError(f"-o {path}: expected a new or an empty folder")
        with _aside(path) as folder:
            temporary = folder / path.name
            temporary.mkdir()
            yield temporary
            for file in sorted(temporary.rglob("*")):
                fsync_file(file)
            publish(temporary, path)


@contextlib.contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A folder of our own beside the target, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix=f".{path.name[:100]}.", dir=path.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
