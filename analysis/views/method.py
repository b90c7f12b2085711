"""What does this number mean? Definitions with formulas and sources, seeds, versions and limits."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import analysis
from analysis.geometry import alignment
from analysis.model import SystemLabel
from analysis.stats import bca, bootstrap, permutation
from analysis.store.read import Store
from analysis.views.evidence import (
    LEVEL,
    SEED,
    benchmark_label,
    chosen_runs,
    chosen_tasks,
    measure_label,
    task_label,
)
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, TaskLabel

DEFINITIONS = Path(__file__).with_name("definitions.toml")
RANKING = "Ranking"
MEASURES = {  # section of each measure
    "ndcg_at_10": RANKING,
    "recall_at_10": RANKING,
    "hit_at_1": RANKING,
    "precision_at_10": RANKING,
    "rr": RANKING,
    "ap": RANKING,
    "judged_at_10": RANKING,
    "ndcg_exponential_at_10": RANKING,
    "recall_at_10_same": "Language routes",
    "recall_at_10_cross": "Language routes",
    "language_transfer": "Language routes",
    "same_language_at_10": "Language routes",
    "same_language_irrelevant_at_10": "Language routes",
    "jbc_at_100": "Depth",
}
LIMITS = (
    "Not for clinical decisions: it measures how systems order texts, not whether the texts are right or a patient is "
    "helped.",
    "Judgements are incomplete: a document nobody judged counts as not relevant. Judged@10 on the Overview says how "
    "much of the top is judged.",
    "A benchmark's queries are a sample; the intervals say how far another sample of its families would move a number, "
    "not how far another benchmark would.",
)


@dataclass(frozen=True)
class Definition:
    """One term."""

    name: str
    definition: str
    formula: str | None
    source: str
    mean: str | None  # which mean leads; None where it is not a mean over queries


@dataclass(frozen=True)
class Section:
    """Terms that belong together."""

    title: str
    terms: tuple[Definition, ...]


@dataclass(frozen=True)
class RunOrigin:
    """Where one run comes from."""

    task: str
    system: SystemLabel
    created_at: str  # UTC, ISO 8601
    depth: int
    settings: Mapping[str, object]
    libraries: Mapping[str, str]  # name -> version
    babelscope: str | None


@dataclass(frozen=True)
class MethodView:
    """The answer of the page *Method*."""

    benchmark: BenchmarkLabel
    tasks: tuple[TaskLabel, ...]
    sections: tuple[Section, ...]
    seeds: tuple[tuple[str, str], ...]  # what is drawn, and with which numbers
    runs: tuple[RunOrigin, ...]
    version: str  # of this program
    limits: tuple[str, ...]


def page(store: Store, selection: Selection) -> MethodView:
    """Definitions, and where the numbers of a benchmark come from.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    benchmark = benchmark_label(store.benchmark(selection.benchmark))
    return MethodView(
        benchmark=benchmark,
        tasks=tuple(task_label(task) for task in chosen_tasks(store, selection)),
        sections=sections(),
        seeds=_seeds(),
        runs=tuple(_runs(store, selection)),
        version=analysis.__version__,
        limits=(*LIMITS, *benchmark.notes),
    )


@functools.cache
def sections() -> tuple[Section, ...]:
    """Every definition, by section; measures of the catalogue first in theirs."""
    terms: dict[str, list[Definition]] = {}
    for key, title in MEASURES.items():
        terms.setdefault(title, []).append(_measure(measure_label(key)))
    for entry in tomllib.loads(DEFINITIONS.read_text(encoding="utf-8"))["entry"]:
        found = Definition(entry["name"], entry["definition"], entry.get("formula"), entry["source"], None)
        terms.setdefault(entry["section"], []).append(found)
    return tuple(Section(title, tuple(mine)) for title, mine in terms.items())


def _measure(label: MeasureLabel) -> Definition:
    mean = "over the query languages' means" if label.aggregate == "balanced" else "over all queries"
    return Definition(label.label, label.definition, label.formula, label.source, mean)


def _seeds() -> tuple[tuple[str, str], ...]:
    return (
        ("Level of intervals", f"{LEVEL:.0%}"),
        ("Seed", f"{SEED}, moved by a checksum of the families, so that tasks with the same families share draws"),
        ("Percentile bootstrap", f"B = {bootstrap.RESAMPLES:,}"),
        ("BCa bootstrap", f"B = {bca.RESAMPLES:,}; its first {bootstrap.RESAMPLES:,} draws are the percentile ones"),
        (
            "Vectors by language",
            f"at most {alignment.LARGEST_SAMPLE:,} texts, {alignment.FOLDS} folds of whole families; seed {SEED}",
        ),
        ("Sign flips", f"all assignments up to {permutation.EXACT} families, else B = {permutation.RESAMPLES:,}"),
    )


def _brought(facts: Mapping[str, Any]) -> Mapping[str, object]:
    """What stands for the settings of a run that was not made here."""
    if "vectors" in facts:
        ranked = f"{facts['dimension']:,} dimensions, exact search by {facts['similarity']}."
        return {"note": f"Vectors {facts['vectors']}: {ranked}", "files": facts["sha256"]}
    if "file" in facts:
        return {"note": f"Brought as {facts['file']}.", "sha256": facts["sha256"]}
    return {}


def _runs(store: Store, selection: Selection) -> Iterator[RunOrigin]:
    labels = store.system_labels()
    for task in chosen_tasks(store, selection):
        for run in chosen_runs(store, task, selection, labels):
            facts = run.provenance
            yield RunOrigin(
                task=task.name,
                system=labels[run.system],
                created_at=run.created_at.isoformat(),
                depth=run.depth,
                settings=facts.get("settings") or _brought(facts),
                libraries=facts.get("libraries", {}),
                babelscope=facts.get("babelscope"),
            )
