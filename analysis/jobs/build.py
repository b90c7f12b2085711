"""Build a benchmark into the store."""

from __future__ import annotations

from analysis.benchmarks import bedside, icd10
from analysis.model import Benchmark, Progress
from analysis.paths import Cache
from analysis.store import write


def build_icd10(cache: Cache, *, options: icd10.Options, progress: Progress) -> str:
    """Build ICD-10 and return its address, ``icd10@version``.

    Raises:
        analysis.errors.InputError: no network, a changed source, or a wrong option.
    """
    return stored(cache, icd10.build(cache.sources, options=options, progress=progress), progress)


def build_bedside(cache: Cache, *, progress: Progress) -> str:
    """Build the built-in clinical benchmark and return its address, ``bedside@version``.

    Raises:
        analysis.errors.InputError: its data is faulty.
    """
    progress("read the questions", 0, 1)
    benchmark = bedside.build()
    progress("read the questions", 1, 1)
    return stored(cache, benchmark, progress)


def stored(cache: Cache, benchmark: Benchmark, progress: Progress) -> str:
    """Store a benchmark, and return its address."""
    progress("store the benchmark", 0, 1)
    with write.writer(cache, progress=progress) as writer:
        version = writer.add_benchmark(benchmark)
    progress("store the benchmark", 1, 1)
    return f"{benchmark.name}@{version}"
