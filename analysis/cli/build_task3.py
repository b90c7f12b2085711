"""`build mmed-task3`: an expert's question, in English or translated, asks for English evidence."""

from __future__ import annotations

import argparse
from pathlib import Path

from analysis.benchmarks import mmed_task3
from analysis.cli.building import Make, listed, need, tell
from analysis.errors import InputError
from analysis.jobs import build_evidence
from analysis.model import Progress
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions

FLAGS = ("umls", "bioasq", "translations", "translator", "beams", "target_languages")


def arguments(group: argparse._ArgumentGroup) -> None:
    """Flags of its own."""
    group.add_argument(
        "--bioasq", type=Path, metavar="FILE", help="questions of BioASQ's task b: a JSON file, a folder or a ZIP"
    )
    group.add_argument(
        "--translations", type=Path, metavar="FILE", help="columns id, language, text, and perhaps back_translation"
    )
    group.add_argument(
        "--translator",
        action="append",
        default=[],
        metavar="MODEL",
        help="translates instead: a folder of transformers or a hub model; repeat for models of one pair of languages",
    )
    group.add_argument(
        "--beams", type=int, metavar="N", help=f"of a translator (default {build_evidence.BEAMS}; 1 is greedy)"
    )
    group.add_argument(
        "--target-languages",
        metavar="es,fr,…",
        help=f"that questions are translated into (default {','.join(mmed_task3.LANGUAGES)})",
    )


def ready(options: argparse.Namespace) -> Make:
    """What the flags ask for.

    Raises:
        InputError: a source is not named, or a value is wrong.
    """
    need(options, "bioasq")
    if bool(options.translations) == bool(options.translator):
        raise InputError(f"build {options.name} needs --translations FILE or --translator MODEL, one of the two")
    if options.beams is not None and not options.translator:
        raise InputError("--beams is of a --translator")
    languages = mmed_task3.LANGUAGES if options.target_languages is None else listed(options.target_languages)
    asked = mmed_task3.Options(options.bioasq, options.translations, options.umls, languages)
    beams = build_evidence.BEAMS if options.beams is None else options.beams

    def make(cache: Cache, load: LoadOptions, progress: Progress) -> str:
        address, benchmark = build_evidence.build_task3(
            cache, options=asked, models=options.translator, beams=beams, load=load, progress=progress
        )
        tell(benchmark)
        return address

    return make
