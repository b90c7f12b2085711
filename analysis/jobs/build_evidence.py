"""Build task 3 of MMed-Bench-IR: translate questions where no file has that, check the result, and store the task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.benchmarks import mmed_task3
from analysis.jobs.build_mmed import stored
from analysis.model import Benchmark, Progress
from analysis.paths import Cache
from analysis.systems.translator import Settings, Translators
from analysis.systems.weights import LoadOptions
from analysis.text import counted

BEAMS = 4


def build_task3(
    cache: Cache,
    *,
    options: mmed_task3.Options,
    models: Sequence[str],
    beams: int,
    load: LoadOptions,
    progress: Progress,
) -> tuple[str, Benchmark]:
    """Build task 3 and return its address with what was built.

    Args:
        cache: where it is stored, and translations are kept.
        options: see there.
        models: that translate where the options name no file.
        beams: of the search for a translation; 1 is greedy.
        load: how models are loaded.
        progress: may raise JobCancelledError; what was translated until then is kept.

    Raises:
        InputError: a file is missing or faulty, or no model knows a language.
        SystemLoadError: a model does not load.
    """
    settings = Settings(beams)
    by = Translators(models, cache.translations, settings=settings, load=load, progress=progress) if models else None
    benchmark = mmed_task3.build(options, cache.terms, translator=by, progress=progress)
    if by and (by.cut or by.unfinished):
        note = (
            f"{mmed_task3.TITLE}: {counted(by.cut, 'text')} longer than the translator reads, "
            f"{counted(by.unfinished, 'translation')} stopped before an end."
        )
        benchmark = replace(benchmark, notes=(*benchmark.notes, note))
    return stored(cache, benchmark, progress=progress), benchmark
