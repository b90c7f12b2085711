"""What every task of MMed-Bench-IR says of itself: its name, its version, its sources and its licence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from analysis.benchmarks.invented.umls import MEDICAL
from analysis.model import Benchmark, Task
from analysis.store.terms import Terms

NAME, TITLE = "mmed-bench-ir", "MMed-Bench-IR"
INVENTED = "Made of invented rows for trying the commands: it measures nothing."


def carded(
    task: Task,
    *,
    terms: Terms | None,
    files: Mapping[str, str],
    licence: str,
    facts: Mapping[str, object],
    notes: Sequence[str],
    invented: bool = False,
) -> Benchmark:
    """The benchmark with one task alone.

    Args:
        task: see there.
        terms: the UMLS it was made of; None: of none.
        files: what else it was made of, with checksums.
        licence: of all that.
        facts: how it was made.
        notes: what a reader must know.
        invented: the other files say so of themselves; a UMLS is asked.
    """
    checksums = dict(terms.checksums) if terms else {}
    lexicon = {"UMLS": f"MRCONSO {checksums['MRCONSO'][:12]}"} if checksums else {}
    sources = lexicon | {name: checksum[:12] for name, checksum in files.items()}
    name, title, of = NAME, TITLE, ""
    if invented or (terms and MEDICAL in terms.vocabulary_counts()):
        # under a name of its own: what others published of the real one never stands beside it
        name, title, of = f"{NAME}-invented", f"{TITLE}, invented rows", "invented rows as those of "
        licence, notes = "CC0 1.0", (INVENTED, *notes)
    return Benchmark(
        name=name,
        version=_version(checksums, files),
        title=title,
        parallel=False,
        licence=licence,
        source=of + ", ".join(f"{what} ({which})" for what, which in sources.items()),
        notes=tuple(notes),
        settings={"umls": checksums, "built": {task.name: dict(facts)}},
        tasks=(task,),
    )


def _version(checksums: Mapping[str, str], files: Mapping[str, str]) -> str:
    """By the files of UMLS, so that tasks of the same one stand side by side; else by the others."""
    if checksums:
        return f"umls-{hashlib.sha256(repr(sorted(checksums.items())).encode()).hexdigest()[:6]}"
    return "-".join(f"{name.lower()}-{checksum[:6]}" for name, checksum in files.items())
