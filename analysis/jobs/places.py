"""Files that a browser names or sends: paths only inside the folders that the server's owner allows, uploads aside."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from analysis import paths
from analysis.errors import InputError

VARIABLE = "BABELSCOPE_IMPORTS"
"""The environment variable that names the folders, separated as in PATH; without it no page takes a path."""

LONGEST = 120  # characters of a file's name
UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"\\|?*]')
QRELS = re.compile(r"(?!corpus|queries|topics|.*qrels).*\.(tsv|trec|txt)(\.gz|\.zst)?", re.IGNORECASE)
"""Judgements by the name of their split, which BEIR keeps in a folder ``qrels``."""


def folders() -> tuple[Path, ...]:
    """The folders that a page may read from; empty where the server's owner allows none."""
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    return tuple(Path(os.path.realpath(name)) for name in named if name)


def allowed(text: str) -> Path:
    """The file or folder that a path from a browser stands for, its links followed.

    Args:
        text: absolute, or relative to one of the allowed folders.

    Raises:
        InputError: no folder is allowed, the path or a link below it leads out of all of them, or nothing is there.
    """
    roots = folders()
    if not roots:
        raise InputError(f"path {text!r}: this server takes no paths ({VARIABLE} names no folder); upload the files")
    if not text.strip() or "\0" in text:
        raise InputError(f"path {text!r}: expected a file or folder inside {_words(roots)}")
    inside = [path for root in roots if _within(path := Path(os.path.realpath(root / text)), roots)]
    if not inside:
        raise InputError(f"path {text!r}: outside of what this server allows; expected one inside {_words(roots)}")
    found = next((path for path in inside if path.exists()), None)
    if found is None:
        raise InputError(f"path {text!r}: nothing is there; expected a file or folder inside {_words(roots)}")
    _check_links(found, text, roots)
    return found


def _check_links(folder: Path, text: str, roots: Sequence[Path]) -> None:
    """Refuse a folder in which a link leads out: a reader would follow it."""
    for parent, names, files in os.walk(folder):
        for name in (*names, *files):
            entry = Path(parent) / name
            if entry.is_symlink() and not _within(Path(os.path.realpath(entry)), roots):
                link = entry.relative_to(folder)
                raise InputError(f"path {text!r}: its link {str(link)!r} leads out of what this server allows")


def _within(path: Path, roots: Sequence[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _words(roots: Sequence[Path]) -> str:
    return " or ".join(map(str, roots))


def receive(
    files: Sequence[tuple[str, IO[bytes]]],
    folder: str | Path | None = None,
    *,
    loose_judgements: bool = False,
    names_matter: bool = False,
) -> tuple[Path, Path]:
    """Keep uploaded files for a job, whole or not at all.

    Args:
        files: the name of each as the browser says it, for a dropped folder with its path in it; and its content.
        loose_judgements: single files named after their split go into a folder ``qrels``, where BEIR has them.
        folder: the cache folder; by default the one of the environment.
        names_matter: a dropped folder keeps its name, which says what is in it; else what is in it is the root.

    Returns:
        The folder of this upload; and what was uploaded: the only file, or the folder of all.

    Raises:
        InputError: no file, or two of one name.
    """
    if not files:
        raise InputError("no file was uploaded: expected one or several")
    uploads = paths.cache(folder).uploads
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
    aside, kept = uploads / f"{name}.tmp", uploads / name
    placed = _placed(
        [safe_name(told) for told, _ in files], loose_judgements=loose_judgements, names_matter=names_matter
    )
    try:
        for place, (_, content) in zip(placed, files, strict=True):
            target = aside / place
            target.parent.mkdir(parents=True, exist_ok=True)
            content.seek(0)
            with target.open("xb") as handle:
                shutil.copyfileobj(content, handle)
        aside.replace(kept)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return kept, kept / placed[0] if len(placed) == 1 and len(placed[0].parts) == 1 else kept


def safe_name(told: str) -> PurePosixPath:
    """A relative path below an upload, made of what a browser called a file: no ``..``, no root, nothing hidden."""
    parts = [_safe(part) for part in told.replace("\\", "/").split("/") if part.strip() not in {"", ".", ".."}]
    return PurePosixPath(*parts) if parts else PurePosixPath("file")


def _safe(part: str) -> str:
    name = UNSAFE.sub("_", unicodedata.normalize("NFC", part)).strip().lstrip(".-") or "file"
    return name if len(name) <= LONGEST else name[: LONGEST - 20] + name[-20:]


def _placed(names: Sequence[PurePosixPath], *, loose_judgements: bool, names_matter: bool) -> list[PurePosixPath]:
    """Where each file goes.

    Raises:
        InputError: two of one name.
    """
    tops = {name.parts[0] for name in names}
    if not names_matter and len(tops) == 1 and all(len(name.parts) > 1 for name in names) and tops != {"qrels"}:
        names = [PurePosixPath(*name.parts[1:]) for name in names]
    apart = loose_judgements and len(names) > 1
    placed = [
        PurePosixPath("qrels", name) if apart and len(name.parts) == 1 and QRELS.fullmatch(name.name) else name
        for name in names
    ]
    twice = next((name for name in placed if placed.count(name) > 1), None)
    if twice:
        raise InputError(f"two files are called {str(twice)!r}: expected different names")
    return placed
