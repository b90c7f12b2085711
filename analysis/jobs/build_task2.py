"""Build task 2 of MMed-Bench-IR from a licence holder's files."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.benchmarks import mmed_task2
from analysis.jobs.build_mmed import stored
from analysis.jobs.validators import Validators
from analysis.model import Benchmark, Progress
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions


def build_task2(
    cache: Cache, *, options: mmed_task2.Options, validators: Sequence[str], load: LoadOptions, progress: Progress
) -> tuple[str, Benchmark]:
    """Build task 2 and return its address with what was built.

    Raises:
        InputError: a file is missing or faulty, validators are not three dense systems, or no set is kept.
        SystemLoadError: a validator does not load.
        JobCancelledError: the user cancelled; what was prepared and encoded is kept.
    """
    chosen = Validators(cache, validators, load=load, progress=progress)
    benchmark = mmed_task2.build(options, cache.terms, validators=chosen, progress=progress)
    return stored(cache, benchmark, progress=progress), benchmark
