"""`build mmed-task1`: an exam question asks for the definition of its concept."""

from __future__ import annotations

import argparse
from pathlib import Path

from analysis.benchmarks import mmed_task1
from analysis.cli.building import Make, given, need, tell
from analysis.jobs import build_mmed
from analysis.model import Progress
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions

FLAGS = ("umls", "mmedbench", "tagger", "least", "negatives")


def arguments(group: argparse._ArgumentGroup) -> None:
    """Flags of its own."""
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


def ready(options: argparse.Namespace) -> Make:
    """What the flags ask for.

    Raises:
        InputError: a source is not named.
    """
    need(options, "umls", "mmedbench")
    asked = mmed_task1.Options(options.umls, options.mmedbench, **given(options, "least", "negatives"))

    def make(cache: Cache, load: LoadOptions, progress: Progress) -> str:
        address, benchmark = build_mmed.build_task1(
            cache, options=asked, tagger=options.tagger, load=load, progress=progress
        )
        tell(benchmark)
        return address

    return make
