"""What of a system is on this machine, and what to type for the rest."""

from __future__ import annotations

import importlib.util
import shlex
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from analysis import paths
from analysis.systems.catalogue import available, below, brings_code, entry, in_hub_cache, runs_function
from analysis.systems.entry import Entry

INSTALLED = "installed"
IN_CACHE = "in the hub's cache"
IN_FOLDER = "in a local folder"
ON_SERVER = "on a server, to which its texts go"
NEEDS_IMAGES = "queries with images"
"""What a system that reads them needs of a benchmark."""

NO_IMAGES = "it reads the image of a query, and no query here has one"


class Readiness(NamedTuple):
    """Whether a system runs on this machine."""

    where: str  # what of it is here; empty where nothing is
    missing: str = ""  # why it cannot run as it is; empty where it can
    command: str = ""  # what to type; empty where nothing helps, or nothing is needed
    by_run: bool = True  # a run from a terminal brings what is missing

    @property
    def runs(self) -> bool:
        """Whether it runs as it is, by a button as by a command."""
        return not self.missing


def readiness(system: Entry, *, benchmark: str = "B") -> Readiness:
    """What of a system is here, and what it lacks; loads nothing and asks no network.

    Args:
        system: of the catalogue.
        benchmark: the one that the command to type shall run it on.
    """
    found = [_of_one(model, benchmark) for model in _models(system)]
    where = ", ".join(dict.fromkeys(state.where for state in found if state.where))
    missing = "; ".join(state.missing for state in found if state.missing)
    if not missing:
        return Readiness(where)
    commands = [state.command for state in found if state.command]
    if not any(state.lost for state in found):
        trust = " --trust-remote-code" if brings_code(system) else ""
        allow = " --allow-code" if runs_function(system) else ""
        commands.append(f"python -m analysis run --benchmark {benchmark} --systems {system.name}{trust}{allow}")
    by_run = not any(state.lost or state.command for state in found)
    return Readiness(where, missing, " && ".join(dict.fromkeys(commands)), by_run)


class Download(NamedTuple):
    """What is fetched of a repository of the hub; as text, the command that fetches it."""

    repository: str
    revision: str | None
    patterns: tuple[str, ...]

    def __str__(self) -> str:
        pinned = f" --revision {self.revision}" if self.revision else ""
        return f"hf download {self.repository}{pinned}" + "".join(f' --include "{one}"' for one in self.patterns)


def download(system: Entry, repository: str) -> Download:
    """What a model needs of its own repository, or of that of its code: never a pickle."""
    if repository == system.code:
        return Download(repository, system.code_revision, ("*.py", "*.json"))
    more = [
        *(["*.py"] if system.trust_remote_code else []),
        *(["*.metadata"] if system.kind == "late-interaction" else []),
        *(["*.spm"] if system.kind == "translator" else []),  # vocabularies of Marian
    ]
    return Download(repository, system.revision, ("*.json", "*.txt", "*.model", "*.safetensors", *more))


def conversion(system: Entry) -> str:
    """The commands that fetch a model whose repository has a pickle alone, and make it loadable."""
    folder = shlex.quote(_short(paths.models() / system.name))
    whole = Download(str(system.model), system.revision, ())
    return f'{whole} --exclude "onnx/*" --local-dir {folder} && python -m analysis convert-weights {folder}'


def _short(folder: Path) -> str:
    """A folder as it is typed here."""
    return str(folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder)


def _models(system: Entry) -> list[Entry]:
    """What a system stands on: itself, or its parts down to the last, each once."""
    own = [] if system.parts else [replace(system, images=None)]
    return list(dict.fromkeys((*own, *(model for part in below(system) for model in _models(entry(part))))))


class _State(NamedTuple):
    """One model: as :class:`Readiness`, with the command that comes before the run."""

    where: str
    missing: str = ""
    command: str = ""
    lost: bool = False  # no run can follow


def _of_one(system: Entry, benchmark: str) -> _State:
    here = available(system)
    if system.kind == "import-only":
        typed = f"python -m analysis import-run FILE --benchmark {benchmark} --task T --system {system.name}"
        return _State("", f"{system.short_title} comes by import: nothing here loads it", typed, lost=True)
    if system.kind == "bm25" or system.package:
        name = system.package or "bm25s"
        needed = f"python -m pip install {system.install or name}"
        return _State(INSTALLED) if here else _State("", f"the package {name} is not installed", needed)
    if system.url:
        unset = f"the environment variable {system.key_variable}, which holds its key, is not set"
        return _State(ON_SERVER) if here else _State("", unset, lost=True)
    return _of_function(system, here=here) if system.function else _of_files(system, here=here)


def _of_files(system: Entry, *, here: bool) -> _State:
    absent = [package for package in system.requires if importlib.util.find_spec(package) is None]
    if absent:
        command = f"python -m pip install {system.install or ' '.join(absent)}"
        fetched = "" if _place(system) else f"; {_to_download(system)}"
        return _State(_place(system), f"{system.short_title} imports {', '.join(absent)}{fetched}", command)
    if here and brings_code(system):
        return _State(_place(system), f"{system.short_title} brings code of its own, which runs only if you allow it")
    if here:
        return _State(_place(system))
    if system.folder:
        return _State("", f"the folder {_short(Path(system.folder))} is not there", lost=True)
    if system.pickle:
        once = f"{_to_download(system)}, and its pickle converted once"
        return _State("", once, conversion(system))
    return _State("", _to_download(system))


def _of_function(system: Entry, *, here: bool) -> _State:
    if here:
        what = f"{system.short_title} is code of your own ({system.function})"
        return _State("", f"{what}, which runs only if you allow it")
    module, place = str(system.function).partition(":")[0], system.folder or "what Python searches"
    return _State("", f"no module {module} is found in {place}", lost=True)


def _to_download(system: Entry) -> str:
    size = f" ({system.size_mb / 1000:.1f} GB)" if system.size_mb else ""
    return f"{system.short_title}{size} is to be downloaded"


def _place(system: Entry) -> str:
    if system.folder:
        return IN_FOLDER if Path(system.folder).is_dir() else ""
    return IN_CACHE if in_hub_cache(system) else ""
