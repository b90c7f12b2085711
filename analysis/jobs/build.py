"""Build a benchmark into the store."""

from __future__ import annotations

from analysis.benchmarks import icd10
from analysis.model import Progress
from analysis.paths import Cache
from analysis.store import write


def build_icd10(cache: Cache, *, options: icd10.Options, progress: Progress) -> str:
    """Build ICD-10 and return its address, ``icd10@version``.

    Raises:
        analysis.errors.InputError: no network, a changed source, or a wrong option.
    """
    benchmark = icd10.build(cache.sources, options=options, progress=progress)
    progress("store the benchmark", 0, 1)
    with write.writer(cache, progress=progress) as writer:
        version = writer.add_benchmark(benchmark)
    progress("store the benchmark", 1, 1)
    return f"{benchmark.name}@{version}"
