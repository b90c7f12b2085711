"""Jobs that a page starts with what a person chose: every argument is checked, and none can become a flag."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from analysis.errors import InputError
from analysis.imports import folder as benchmark_files
from analysis.imports import run_rows, run_tables
from analysis.jobs.progress import DRY_RUN, JobRequest, asked_for, start

Value = str | Sequence[str] | None
Options = dict[str, Value]
"""What a person chose, by the name of the option."""


class Command(NamedTuple):
    """What a page may tell a command; everything else has to be said in a terminal."""

    options: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    positional: int = 0


COMMANDS = {
    "import-benchmark": Command(
        (
            "benchmark",
            "task",
            "format",
            "split",
            "map",
            "document-language",
            "query-language",
            "language-key",
            "language-pattern",
            "topic-field",
            "subset",
            "subset-languages",
            "relevant-by",
            "languages",
            "family",
            "queries",
        ),
        ("parallel-ids", "family-by-judgements", "exclude-self", "lenient", "dry-run"),
        1,
    ),
    "import-run": Command(
        ("benchmark", "task", "system", "format", "subset", "split", "map"),
        ("lenient", "allow-unknown-documents", "dry-run"),
        1,
    ),
    "import-vectors": Command(("benchmark", "task", "system", "paradigm"), ("inner-product", "dry-run"), 1),
    "import-scores": Command(("benchmark", "task"), ("family-from-id", "dry-run"), 1),
    "import-results": Command(("benchmark", "task", "system"), ("dry-run",), 1),
    "build": Command(("run",), (), 1),
    "run": Command(("benchmark", "task", "systems", "depth", "keep-hits"), ("force",)),
    "diagnose": Command(("benchmark", "task", "system")),
    "map": Command(("benchmark", "task", "system", "dimensions")),
    "separation": Command(("benchmark", "against", "columns", "concept"), ("lines",)),
    "what-if": Command(("benchmark", "task", "system", "k", "pool", "keep"), (), 1),
    "rename benchmark": Command(("to",), (), 1),
    "rename run": Command(("system", "to")),
    "delete benchmark": Command((), ("yes",), 1),
    "delete run": Command(("benchmark", "task", "system"), ("yes",)),
    "delete results": Command(("benchmark", "task", "system"), ("yes",)),
    "export": Command(("benchmark", "task", "run", "format"), ("per-query",)),
    "report": Command(("benchmark", "task", "system")),
}

FORMATS = {
    "import-benchmark": tuple(form for form in benchmark_files.FORMATS if form != "ir_datasets"),  # an id, not a file
    "import-run": run_rows.FORMATS,
}
"""The formats that each import reads from files."""

OWN_OPTIONS = {name.removeprefix("--"): formats for name, formats in benchmark_files.OWN_FORMATS.items()}
"""Options and flags of `import-benchmark` that only some formats have."""

LOOSE_JUDGEMENTS = ("beir", "trec")
"""Formats that keep judgements in a folder of their own: a browser that sends single files does not say so."""

FIELDS = {"import-benchmark": benchmark_files.FIELDS, "import-run": run_tables.FIELDS}
"""What a column of each import's files may be mapped to."""


def launch(
    command: str,
    *positional: str | Path,
    options: Mapping[str, Value] | None = None,
    flags: Sequence[str] = (),
    saves: str | None = None,
    uploads: Path | None = None,
    folder: Path | None = None,
) -> str:
    """Start a job and return its name.

    Args:
        command: one of ``COMMANDS``.
        positional: what the command acts on.
        options: by name without dashes; a list is given once each, None and empty texts are left out.
        flags: without dashes.
        saves: the name of the file that what the job prints is kept as.
        uploads: the folder of uploaded files that it reads; removed once it ended well, unless it is a dry run.
        folder: the cache folder; by default the one of the environment.

    Raises:
        InputError: a command, option or flag that no page may use, or a value with a control character.
    """
    request = JobRequest(
        arguments(command, *positional, options=options or {}, flags=flags),
        saves,
        None if uploads is None else str(uploads),
        keeps_uploads=DRY_RUN.lstrip("-") in flags,
    )
    return _started(request, folder)


def confirm(name: str, folder: Path | None = None) -> str:
    """Start the import that a dry run has checked, on the same files, and return the new job's name.

    Raises:
        InputError: there is no such dry run.
    """
    checked = asked_for(name, folder)
    if checked is None or not checked.dry_run:
        raise InputError(f"job {name!r}: expected one that has checked an import")
    place = checked.arguments.index(DRY_RUN)  # before the ``--``, behind which a path may be called anything
    request = replace(
        checked, arguments=(*checked.arguments[:place], *checked.arguments[place + 1 :]), keeps_uploads=False
    )
    return _started(request, folder)


def _started(request: JobRequest, folder: Path | None) -> str:
    name = f"{request.arguments[0]}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(4)}"
    start(name, request.arguments, folder, request=request)
    return name


def arguments(
    command: str,
    *positional: str | Path,
    options: Mapping[str, Value],
    flags: Sequence[str] = (),
) -> tuple[str, ...]:
    """The command line of a job: ``--name=value`` and ``--`` keep what begins with a dash from becoming a flag.

    Raises:
        InputError: as in :func:`launch`.
    """
    if command not in COMMANDS:
        raise InputError(f"command {command!r}: a page starts {', '.join(COMMANDS)} only")
    known = COMMANDS[command]
    refused = [*(set(options) - set(known.options)), *(set(flags) - set(known.flags))]
    if refused or len(positional) != known.positional:
        told = ", ".join(sorted(refused)) or f"{len(positional)} names"
        raise InputError(f"{command}: {told}: a page tells it {', '.join((*known.options, *known.flags))} only")
    given = [(name, text) for name, value in options.items() for text in _texts(value)]
    for text in (*(text for _, text in given), *map(str, positional)):
        if not text.isprintable() or text == "--":
            raise InputError(f"{command}: {text!r}: expected a text, not --, without control characters")
    return (
        *command.split(),
        *(f"--{name}={text}" for name, text in given),
        *(f"--{name}" for name in flags),
        *(("--", *map(str, positional)) if positional else ()),
    )


def _texts(value: Value) -> list[str]:
    texts = [value] if isinstance(value, str) else value or ()
    return [text for text in texts if text]
