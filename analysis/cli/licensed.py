"""Benchmarks from sources that their licence keeps here: which builds there are, and `generate-sources`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.benchmarks import invented
from analysis.cli import build_documents, build_task1, build_task2, build_task3, output
from analysis.cli.building import Build, Make, typed
from analysis.errors import InputError

BUILDS: Mapping[str, Build] = {
    "mmed-task1": build_task1,
    "mmed-task2": build_task2,
    "mmed-task3": build_task3,
    "parallel-documents": build_documents,
}
FLAGS = tuple(dict.fromkeys(flag for module in BUILDS.values() for flag in module.FLAGS))
"""What only these builds may be told."""


def build_arguments(build: argparse.ArgumentParser) -> None:
    """Flags of the builds."""
    group = build.add_argument_group("from licensed sources (docs/licensed-sources.md)")
    group.add_argument("--umls", type=Path, metavar="DIR", help="the META folder of a UMLS release")
    group.add_argument("--seed", type=int, metavar="N", help="of what is drawn: sets, queries (default 1)")
    for module in BUILDS.values():
        module.arguments(group)
    group.add_argument("--offline", action="store_true", help="never ask a model hub")
    group.add_argument("--trust-remote-code", action="store_true", help="let a model's own code run")
    group.add_argument("--allow-code", action="store_true", help="let Python functions of your own run (add-system)")


def refuse(options: argparse.Namespace, flags: Sequence[str]) -> None:
    """Refuse flags of another build.

    Raises:
        InputError: one of them is given.
    """
    wrong = typed(options, flags)
    if wrong:
        raise InputError(f"build {options.name} takes no {wrong[0]}")


def ready(options: argparse.Namespace) -> Make:
    """What builds the benchmark of this name, its flags checked.

    Raises:
        InputError: a flag of another build, a wrong value, or a source that is not named.
    """
    module = BUILDS[options.name]
    refuse(options, [flag for flag in FLAGS if flag not in module.FLAGS])
    return module.ready(options)


def generate_arguments(command: argparse.ArgumentParser) -> None:
    """Flags of `generate-sources`."""
    command.add_argument("source", choices=invented.SOURCES)
    command.add_argument("folder", type=Path, metavar="DIR", help="new or empty")
    command.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed, the same bytes (%(default)s)")
    command.add_argument(
        "--concepts",
        type=int,
        default=500,
        metavar="N",
        help="about 16 atoms each; or publications (%(default)s)",
    )
    command.add_argument(
        "--questions",
        type=int,
        default=120,
        metavar="N",
        help="of a language; m3retrieve: a folder; bioasq: all (default %(default)s)",
    )
    command.add_argument("--gzip", action="store_true", help="umls: packed files")
    command.add_argument("--crlf", action="store_true", help="umls: lines end with CR LF")
    command.add_argument(
        "--malformed",
        action="store_true",
        help="umls: the last line of MRCONSO is broken off; m3retrieve: absent images, other grades",
    )


def generate(options: argparse.Namespace) -> None:
    """Write invented sources, and print what was planted in them as JSON."""
    request = invented.Request(
        options.source,
        seed=options.seed,
        concepts=options.concepts,
        questions=options.questions,
        packed=options.gzip,
        carriage_returns=options.crlf,
        malformed=options.malformed,
    )
    output.write_json(invented.write(options.folder, request, progress=_say))


def _say(step: str, done: int, total: int) -> None:
    print(f"{step} ({done:,} of {total:,})", file=sys.stderr, flush=True)
