"""What the papers of two benchmarks print, and beside it what was measured here of the same systems."""

from __future__ import annotations

import csv
import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.model import SystemLabel
from analysis.store.read import Store, TaskRow
from analysis.systems import catalogue
from analysis.systems.names import known_as
from analysis.views import papers_measured as measured
from analysis.views.evidence import chosen_tasks, measure_label
from analysis.views.selection import Selection

FILE = Path(__file__).with_name("papers.csv")
"""Facts from MMed-Bench-IR and ChemCLIR-Bench. No task: over all tasks; no system: none of the catalogue."""

LABELS = {
    "mmed_ir": "MMed-IR",
    "task_score": "task score",
    "fairness_gap": "fairness gap",
    "k80_same": "k80 same",
    "k80_cross": "k80 cross",
    "k80_both": "k80 both",
    "xrc_0.5": "XRC",
    "rrc_at_5": "RRC@5",
    "rrc_at_100": "RRC@100",
    "rrc_at_1000": "RRC@1,000",
    "floor": "floor",
    "friedman": "Friedman χ²",
}
"""Printed measures that the catalogue has under no key."""

OTHERS = {"colbert-xm": ("ColBERT-XM", "late interaction")}
"""Title and paradigm of systems that a paper names and a catalogue may lack."""

UNKNOWN = "unknown"
TEXT = "text"
"""The place of what is read from a paper's sentences."""
TEXT_ONLY = "from its text: the bodies of its tables are not known here"

TASKS = {
    "t1-alignment": "Task 1, cross-lingual alignment",
    "t2-discrimination": "Task 2, concept discrimination",
    "t3-evidence": "Task 3, evidence",
    "google-patents": "Google Patents",
    "epo": "EPO",
}
"""What the papers call their tasks."""

ALL_TASKS = "All tasks"

N_QUERIES = {
    ("mmed-bench-ir", "t1-alignment"): 6127,
    ("mmed-bench-ir", "t3-evidence"): 2040,
    ("chemclir-bench", "epo"): 198,
}
"""How many queries a paper says its task has, where that is known here."""


class PaperFigure(NamedTuple):
    """One printed figure."""

    paper: str
    place: str  # in the paper; empty where it is not known
    benchmark: str
    task: str | None  # None: over all tasks
    task_title: str
    system: SystemLabel  # as stored here, else of the catalogue, else by the paper's own name
    name: str  # what the paper calls it
    measure: str
    label: str  # of the measure, its route, language or tier with it
    query_language: str | None
    document_language: str | None
    tier: str | None
    printed: str  # as printed: "0.54", "> 1000"
    plus_minus: str  # printed beside it, or empty
    measured: float | None  # the same here; None where there is none, or another build stands under the name
    measured_words: str  # the same in words: "0.53", "> 642", or empty
    note: str
    page: str  # that answers the question behind it
    published: bool = True

    @property
    def written(self) -> str:
        """As printed, with what stands beside it."""
        return f"{self.printed} ± {self.plus_minus}" if self.plus_minus else self.printed

    @property
    def own_name(self) -> str:
        """What the paper calls the system, where the name of its label does not say it."""
        called, printed = (set(re.findall(r"\w+", name.casefold())) for name in (self.system.short, self.name))
        return "" if printed <= called else self.name


class Build(NamedTuple):
    """A stored task and the paper's of the same name."""

    task: str
    title: str
    n_queries: int
    n_printed: int | None  # queries that the paper says it has; None where that is not known here

    @property
    def is_another(self) -> bool:
        """Whether it cannot be the paper's."""
        return self.n_printed is not None and self.n_printed != self.n_queries


def everything(store: Store | None = None) -> tuple[PaperFigure, ...]:
    """Every figure of both papers, whatever is stored; nothing measured beside it."""
    del store  # a page asks every view with its store
    return tuple(_figure(row, _label(row)) for row in printed())


def figures(store: Store, selection: Selection, *, page: str | None = None) -> tuple[PaperFigure, ...]:
    """The figures of a benchmark's paper for the chosen tasks and systems, with what was measured here.

    Tasks of the paper that are not stored stand among them. Empty where no paper is known by the benchmark's name, or
    a part of the queries is asked for.

    Args:
        store: where the runs are.
        selection: tasks and systems; a system is the paper's by any of its names.
        page: only those that this page answers, one of PAGES of papers_measured.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    stored = {task.name: task for task in chosen_tasks(store, selection._replace(tasks=()))}
    chosen = {task.name for task in chosen_tasks(store, selection)}
    asked = {known_as(name) for name in selection.systems}
    another = {build.task for build in builds(store, selection._replace(tasks=())) if build.is_another}
    same = [task for name, task in stored.items() if name not in another]
    rows = [
        row
        for row in _of_benchmark(store, selection)
        if (page is None or page_of(row) == page)
        and (row["task"] in chosen or row["task"] not in stored)
        and (not asked or row["system"] in asked)
    ]
    if not rows:
        return ()
    labels = _labels_here(store, tuple(stored.values()))
    pooled = _pooled([task.name for task in same], rows[0]["benchmark"])
    found = measured.of(store, selection, same, pages={page_of(row) for row in rows}, pooled=pooled)
    shown = [(row, labels.get(row["system"]) or _label(row)) for row in rows]
    return tuple(_figure(row, label, found.get(_key(row, label), measured.NONE)) for row, label in shown)


def by_page(benchmark: str) -> dict[str, int]:
    """How many figures of a benchmark's paper each page answers; empty where no paper is known by its name."""
    return dict(Counter(page_of(row) for row in printed() if row["benchmark"] == benchmark))


def columns(found: Sequence[PaperFigure]) -> tuple[str, ...]:
    """The measures of some figures, as they head a table."""
    return tuple(dict.fromkeys(figure.label for figure in found))


def lines(found: Sequence[PaperFigure]) -> dict[str, list[tuple[SystemLabel, dict[str, PaperFigure]]]]:
    """The figures as the lines of a table: by the task's title, a system and its figures by their columns."""
    tasks: dict[str, dict[SystemLabel, dict[str, PaperFigure]]] = {}
    for figure in found:
        tasks.setdefault(figure.task_title, {}).setdefault(figure.system, {})[figure.label] = figure
    return {title: list(systems.items()) for title, systems in tasks.items()}


def remarks(found: Sequence[PaperFigure]) -> str:
    """What the paper, or where it stands in it, says beside single figures."""
    said: dict[str, None] = {}
    for figure in found:
        place = "" if figure.place == TEXT else figure.place
        if words := ", ".join(filter(None, [place, figure.note])):
            said[f"{figure.label} of {figure.system.short}: {words}"] = None
    return " · ".join(said)


def source(found: Sequence[PaperFigure]) -> str:
    """Where the figures of one paper are from."""
    return f"{found[0].paper}{', ' + TEXT_ONLY if of_text(found) else ''}"


def of_text(found: Sequence[PaperFigure]) -> bool:
    """Whether some are read from the sentences of a paper."""
    return any(figure.place for figure in found)


def builds(store: Store, selection: Selection) -> tuple[Build, ...]:
    """The chosen tasks that have the name of one of the paper's; empty where no paper is known by the benchmark's name.

    Raises:
        InputError: an unknown benchmark or task.
    """
    names = {(row["benchmark"], row["task"]) for row in printed()} | N_QUERIES.keys()
    benchmark = store.benchmark(selection.benchmark).name
    return tuple(
        Build(task.name, TASKS[task.name], task.n_queries, N_QUERIES.get((benchmark, task.name)))
        for task in chosen_tasks(store, selection)
        if (benchmark, task.name) in names and task.n_queries
    )


def another_build(found: Sequence[Build]) -> str:
    """Said aloud where a stored task cannot be the paper's; else empty."""
    sizes = [
        f"{build.title} asks {build.n_queries:,} queries and the paper’s {build.n_printed:,}"
        for build in found
        if build.is_another
    ]
    if not sizes:
        return ""
    return f"Another build than the paper’s: {'; '.join(sizes)}. Nothing measured on it stands beside printed figures."


def beside(figures: Sequence[PaperFigure], found: Sequence[Build], *, where: str) -> str:
    """What stands beside some figures, and what is known of the size of the stored tasks, for the grey line.

    Args:
        figures: the printed ones.
        found: the stored tasks.
        where: what was measured stands, such as "below in grey".
    """
    if not any(figure.measured_words for figure in figures):
        return "nothing measured here stands beside them"
    return f"{where}: measured here ({_sizes(found)})"


def _sizes(found: Sequence[Build]) -> str:
    unsure = [build.title for build in found if build.n_printed is None]
    if unsure:
        return f"not checked to be the paper’s build: its number of queries is not known for {', '.join(unsure)}"
    return "on as many queries as in the paper"


@functools.cache
def printed() -> tuple[dict[str, str], ...]:
    """The rows of the file."""
    with FILE.open(encoding="utf-8", newline="") as handle:
        return tuple(csv.DictReader(handle))


def page_of(row: Mapping[str, str]) -> str:
    """The page that answers the question behind a figure."""
    if row["document_language"]:
        return "routes"
    if row["tier"]:
        return "tiers"
    if row["measure"] == "friedman":
        return "significance"
    if row["measure"] == "fairness_gap" or row["query_language"]:
        return "fairness"
    return "recoverability" if row["measure"].startswith(("k80", "xrc", "rrc", "floor")) else "overview"


def _of_benchmark(store: Store, selection: Selection) -> list[dict[str, str]]:
    if selection.where or selection.without_flagged:
        return []
    name = store.benchmark(selection.benchmark).name
    return [row for row in printed() if row["benchmark"] == name]


def _pooled(names: Sequence[str], benchmark: str) -> tuple[str, ...]:
    """The paper's tasks, where all of them are stored as it built them."""
    every = tuple(dict.fromkeys(row["task"] for row in printed() if row["benchmark"] == benchmark and row["task"]))
    return every if set(every) <= set(names) else ()


def _key(row: Mapping[str, str], label: SystemLabel) -> measured.Key:
    return measured.Key(
        row["task"] or None,
        label.name if row["system"] else "",
        row["measure"],
        row["query_language"] or None,
        row["document_language"] or None,
        row["tier"] or None,
    )


def _figure(row: Mapping[str, str], label: SystemLabel, here: measured.Measured = measured.NONE) -> PaperFigure:
    return PaperFigure(
        paper=row["paper"],
        place=row["place"],
        benchmark=row["benchmark"],
        task=row["task"] or None,
        task_title=TASKS.get(row["task"], ALL_TASKS),
        system=label,
        name=row["name"],
        measure=row["measure"],
        label=_words(row),
        query_language=row["query_language"] or None,
        document_language=row["document_language"] or None,
        tier=row["tier"] or None,
        printed=row["value"],
        plus_minus=row["plus_minus"],
        measured=here.value,
        measured_words=here.words,
        note=row["note"],
        page=page_of(row),
    )


def _labels_here(store: Store, tasks: Sequence[TaskRow]) -> dict[str, SystemLabel]:
    """The stored systems by the catalogue's name; of several names of one the one that ran here, and first its own."""
    ran = {run.system for run in store.runs([task.task_id for task in tasks]) if run.status == "complete"}
    stored = store.system_labels()
    order = sorted(stored, key=lambda name: (name in ran, name == known_as(name)))
    return {known_as(name): stored[name] for name in order}


def _label(row: Mapping[str, str]) -> SystemLabel:
    """Of the catalogue, else by the paper's own name."""
    entries = catalogue.catalogue(catalogue.CATALOGUE)
    entry = entries.get(row["system"])
    if entry is None:
        title, paradigm = OTHERS.get(row["system"], (row["name"], UNKNOWN))
        return SystemLabel(row["system"] or row["name"], title, title, paradigm, 0)
    family = [name for name, other in entries.items() if other.paradigm == entry.paradigm]
    return SystemLabel(entry.name, entry.title, entry.short_title, entry.paradigm, family.index(entry.name))


def _words(row: Mapping[str, str]) -> str:
    """The measure with its route, language or tier."""
    label = LABELS.get(row["measure"]) or measure_label(row["measure"]).label
    route = " → ".join(tag for tag in (row["query_language"], row["document_language"]) if tag)
    return " ".join(part for part in (label, route, row["tier"]) if part)
