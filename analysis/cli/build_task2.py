"""`build mmed-task2`: a term asks for the others of its confusion set."""

from __future__ import annotations

import argparse

from analysis.benchmarks import mmed_task2
from analysis.cli.building import Make, given, listed, need, tell
from analysis.jobs.build_task2 import build_task2
from analysis.model import Progress
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions

FLAGS = ("umls", "validators", "sets", "size", "seed", "answers", "vocabularies")
LONG = "sets"
"""What is not printed: one line a set, which `export --format sets` writes."""


def arguments(group: argparse._ArgumentGroup) -> None:
    """Flags of its own."""
    group.add_argument("--validators", metavar="A,B,C", help="three dense systems that vote on each confusion set")
    group.add_argument(
        "--sets", type=int, metavar="N", help=f"confusion sets made for each tier (default {mmed_task2.SETS:,})"
    )
    group.add_argument(
        "--size", type=int, metavar="N", help=f"concepts of a set of siblings or related ones ({mmed_task2.SIZE})"
    )
    group.add_argument(
        "--answers",
        choices=mmed_task2.ANSWERS,
        help="what a term asks for: its set's other members (default), or its concept's other terms",
    )
    group.add_argument("--vocabularies", metavar="A,B", help="source vocabularies whose codes count (default: all)")


def ready(options: argparse.Namespace) -> Make:
    """What the flags ask for.

    Raises:
        InputError: a source or the validators are not named.
    """
    need(options, "umls", "validators")
    asked = mmed_task2.Options(
        options.umls,
        vocabularies=listed(options.vocabularies or ""),
        **given(options, "sets", "size", "seed", "answers"),
    )
    validators = listed(options.validators)

    def make(cache: Cache, load: LoadOptions, progress: Progress) -> str:
        address, benchmark = build_task2(cache, options=asked, validators=validators, load=load, progress=progress)
        tell(benchmark, without=(LONG,))
        return address

    return make
