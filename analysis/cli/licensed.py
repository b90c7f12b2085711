"""Benchmarks from sources that their licence keeps here: `build mmed-task1`, and `generate-sources`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.benchmarks import invented, mmed_task1
from analysis.cli import output
from analysis.errors import InputError
from analysis.jobs import build_mmed
from analysis.model import Progress
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions

BUILDS = ("mmed-task1",)
FLAGS = ("umls", "mmedbench", "tagger", "least", "negatives")
"""What only these builds may be told."""


def build_arguments(build: argparse.ArgumentParser) -> None:
    """Flags of the builds."""
    group = build.add_argument_group("from licensed sources (docs/licensed-sources.md)")
    group.add_argument("--umls", type=Path, metavar="DIR", help="the META folder of a UMLS release")
    group.add_argument(
        "--mmedbench", type=Path, metavar="FILE", help="MMedBench.zip, its folder, or one file of JSON lines"
    )
    group.add_argument(
        "--tagger", metavar="SYSTEM", help="a dense system that links questions in which no term stands (default: none)"
    )
    group.add_argument("--least", type=int, metavar="N", help="questions that a language must have (default 50)")
    group.add_argument(
        "--negatives",
        type=int,
        metavar="N",
        help=f"concepts whose definitions answer nothing (default {mmed_task1.PUBLISHED_NEGATIVES:,})",
    )
    group.add_argument("--offline", action="store_true", help="never ask a model hub")
    group.add_argument("--trust-remote-code", action="store_true", help="let a model's own code run")
    group.add_argument("--allow-code", action="store_true", help="let Python functions of your own run (add-system)")


def refuse(options: argparse.Namespace, flags: Sequence[str]) -> None:
    """Refuse flags of another build.

    Raises:
        InputError: one of them is given.
    """
    given = [f"--{name.replace('_', '-')}" for name in flags if getattr(options, name)]
    if given:
        raise InputError(f"build {options.name} takes no {given[0]}")


def build(options: argparse.Namespace, cache: Cache, load: LoadOptions, progress: Progress) -> str:
    """Build what the name says, print what became of the questions as JSON, and return the address."""
    address, benchmark = build_mmed.build_task1(
        cache,
        options=task1_options(options),
        tagger=options.tagger,
        load=load,
        progress=progress,
    )
    for note in benchmark.notes:
        print(note, file=sys.stderr)
    output.write_json(benchmark.settings[build_mmed.BUILT])
    return address


def task1_options(options: argparse.Namespace) -> mmed_task1.Options:
    """What the flags say.

    Raises:
        InputError: a source is not named.
    """
    for name in ("umls", "mmedbench"):
        if getattr(options, name) is None:
            raise InputError(f"build {options.name} needs --{name}: docs/licensed-sources.md says what to download")
    usual = mmed_task1.Options(options.umls, options.mmedbench)
    return mmed_task1.Options(
        options.umls,
        options.mmedbench,
        least=usual.least if options.least is None else options.least,
        negatives=usual.negatives if options.negatives is None else options.negatives,
    )


def generate_arguments(command: argparse.ArgumentParser) -> None:
    """Flags of `generate-sources`."""
    command.add_argument("source", choices=invented.SOURCES)
    command.add_argument("folder", type=Path, metavar="DIR", help="new or empty")
    command.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed, the same bytes (%(default)s)")
    command.add_argument(
        "--concepts", type=int, default=500, metavar="N", help="about 16 atoms each (default %(default)s)"
    )
    command.add_argument(
        "--questions", type=int, default=120, metavar="N", help="mmedbench: a language; bioasq: all (%(default)s)"
    )
    command.add_argument("--gzip", action="store_true", help="umls: packed files")
    command.add_argument("--crlf", action="store_true", help="umls: lines end with CR LF")
    command.add_argument("--malformed", action="store_true", help="umls: the last line of MRCONSO is broken off")


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
