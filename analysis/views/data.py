"""What is here: the card of a benchmark, what is stored with the space it takes, and which systems could run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis import benchmarks
from analysis.model import SystemLabel
from analysis.store.read import BenchmarkRow, RunRow, Storage, Store, TaskRow
from analysis.store.texts import Side, TextCounts, Words, looked_into
from analysis.systems import catalogue, own, truncation
from analysis.systems.made_by import CHANGED, made_by
from analysis.systems.readiness import NO_IMAGES, readiness
from analysis.text import counted
from analysis.views import slices
from analysis.views.evidence import benchmark_label, chosen_tasks, task_label
from analysis.views.heterogeneity import ITEMS, TaskTexts, heterogeneity
from analysis.views.parallel_documents import ParallelDocuments, parallel_documents
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel
from analysis.views.separation import Separation, separation
from analysis.views.tagging import Tagging, tagging
from analysis.views.training import Training, trainings
from analysis.views.translation_quality import TranslationQuality, translation_quality

__all__ = [  # what pages see of the nouns below it too
    "COUNTED_AS",
    "TRUNCATED",
    "Card",
    "LanguageCounts",
    "Stored",
    "StoredBenchmark",
    "StoredResult",
    "StoredRun",
    "StoredTask",
    "TaskCard",
    "TextCounts",
    "benchmarks_stored",
    "card",
    "runnable",
    "size",
    "stored",
]

TRUNCATED = truncation.KEY
COUNTED_AS = (
    "A run of letters and digits, lower-cased; each Chinese character and each Japanese kana counts as one of its own."
)
MOST_VALUES = 12  # of an attribute that the card names; the others are counted together
UNTOLD = {"family", "source_query", "language"}  # attributes whose values say nothing, or stand elsewhere


@dataclass(frozen=True)
class LanguageCounts:
    """One language of a task."""

    language: str
    n_queries: int
    n_documents: int


@dataclass(frozen=True)
class Distribution:
    """How often each value of a query attribute occurs in a task."""

    attribute: str
    values: tuple[tuple[str, int], ...]  # numbers by size and before words; of many, the most frequent
    n_more: int  # further values
    n_without: int  # queries without the attribute


@dataclass(frozen=True)
class TaskCard:
    """One task of a benchmark."""

    task: TaskLabel
    n_families: int
    n_judgements: int
    n_relevant: int  # with a grade of at least 1
    n_cross_language: int  # of the relevant ones, of a document in another language than the query
    query_tokens: TextCounts | None  # None: the task has no queries
    document_tokens: TextCounts | None  # None: no documents
    vocabulary: int  # different tokens in its documents
    languages: tuple[LanguageCounts, ...]
    attributes: tuple[Distribution, ...]
    tagging: Tagging | None = None  # None: nobody had to find that out
    translations: TranslationQuality | None = None  # None: nothing was translated for it
    documents: ParallelDocuments | None = None  # None: not made of tables of publications


@dataclass(frozen=True)
class Overlap:
    """How much of their words two corpora share."""

    a: str  # tasks, by title
    b: str
    shared: int  # tokens
    jaccard: float | None  # shared ÷ in either; None where neither has a token


@dataclass(frozen=True)
class Card:
    """What a benchmark is made of."""

    benchmark: BenchmarkLabel
    takeaway: Sentence
    tasks: tuple[TaskCard, ...]  # without those of which only published figures are known
    overlaps: tuple[Overlap, ...]
    texts: tuple[TaskTexts, ...] = ()  # one a task
    separation: Separation | None = None  # None: nothing is asked
    trainings: tuple[Training, ...] = ()  # files that it was looked for in, the latest first


@dataclass(frozen=True)
class StoredRun:
    """One run or refusal."""

    system: SystemLabel
    status: str  # complete | refused
    reason: str | None
    n_rows: int | None  # hits kept; None where the run keeps none
    depth: int | None
    n_bytes: int | None
    created_at: str  # ISO time, UTC
    imported: bool  # a run of somebody else: it can be renamed
    children: tuple[str, ...]  # systems whose runs of the task were composed from it
    read: tuple[str, ...]  # sentences: which texts its models did not read to their ends; empty where that is not known
    provenance: Mapping[str, object]


@dataclass(frozen=True)
class StoredResult:
    """What somebody published of a system on a task."""

    system: SystemLabel
    n_figures: int
    file: str  # that it was imported from
    evaluated_at: str | None  # ISO time, UTC; None where the file does not say


@dataclass(frozen=True)
class StoredTask:
    """One task with its runs and published results."""

    task: TaskLabel
    n_bytes: int | None  # of its texts
    runs: tuple[StoredRun, ...]
    published: tuple[StoredResult, ...]


@dataclass(frozen=True)
class StoredBenchmark:
    """One version of a benchmark with its tasks."""

    benchmark: BenchmarkLabel
    built_at: str  # ISO time, UTC
    imported: bool  # it can be renamed
    tasks: tuple[StoredTask, ...]
    n_bytes: int  # of texts and hits


@dataclass(frozen=True)
class Stored:
    """All that a store holds."""

    takeaway: Sentence
    storage: Storage
    benchmarks: tuple[StoredBenchmark, ...]


@dataclass(frozen=True)
class Runnable:
    """A system of the catalogue, and whether it could run here."""

    system: SystemLabel
    here: str  # what of it is on this machine, in words; empty where nothing is
    missing: str | None  # why it cannot run as it is; None where it can
    command: str | None  # what to type then; None where nothing is needed, or no command helps
    done: tuple[str, ...]  # tasks of the benchmark that it has run on as it is, by title
    outdated: tuple[str, ...]  # tasks whose stored run was made with other settings than it has now
    note: str
    leaves: bool  # it sends texts to a server


@dataclass(frozen=True)
class Runnables:
    """Which systems could run on a benchmark."""

    takeaway: Sentence
    systems: tuple[Runnable, ...]


@dataclass(frozen=True)
class DataView:
    """All that the page shows of a benchmark and of the store around it."""

    card: Card
    stored: Stored
    runnable: Runnables


def page(store: Store, selection: Selection) -> DataView:
    """All that the page shows.

    Raises:
        InputError: there is no such benchmark.
        StoreError: a file of its texts is missing or damaged.
    """
    held = stored(store, benchmarks_stored(store))
    return DataView(card(store, selection.benchmark), held, runnable(store, selection.benchmark))


def card(store: Store, benchmark: str) -> Card:
    """What a benchmark is made of.

    Raises:
        InputError: there is no such benchmark.
        StoreError: a file of its texts is missing or damaged.
    """
    row = store.benchmark(benchmark)
    known = chosen_tasks(store, Selection(benchmark))
    tasks = [task for task in known if not task_label(task).published_only]
    if not tasks:
        return Card(benchmark_label(row), _published_takeaway(row, known), (), ())
    with looked_into(store, [task.task_id for task in tasks]) as texts:
        lengths, words, scripts, answers = texts.lengths(), texts.words(), texts.scripts(), texts.answers()
        apart = separation(texts, tasks, lengths=lengths)
    cards = tuple(_task_card(store, task, row.settings, lengths=lengths, words=words) for task in tasks)
    told = tuple(
        heterogeneity(
            task,
            lengths=lengths,
            words=words,
            scripts=scripts,
            answers=answers,
            languages=[found.language for found in of.languages],
        )
        for task, of in zip(tasks, cards, strict=True)
    )
    return Card(
        benchmark_label(row),
        _card_takeaway(row, cards),
        cards,
        _overlaps(apart),
        told,
        apart,
        trainings(store, row.benchmark_id),
    )


def _task_card(
    store: Store,
    task: TaskRow,
    settings: Mapping[str, Any],
    *,
    lengths: Mapping[Side, TextCounts],
    words: Mapping[Side, Words],
) -> TaskCard:
    of_queries, of_documents = (Side(task.task_id, item, None) for item in ITEMS)
    queries = store.queries(task.task_id)
    judged = store.judgement_counts(task.task_id)
    asked, written = store.query_languages(task.task_id), store.corpus_languages(task.task_id)
    names = (name for name in slices.names(task, queries) if name not in UNTOLD)
    found = (_distribution(name, slices.column(store, task, queries, attribute=name)) for name in names)
    return TaskCard(
        task=task_label(task),
        n_families=len(set(queries.family)),
        n_judgements=judged.n,
        n_relevant=judged.relevant,
        n_cross_language=judged.cross_language,
        query_tokens=lengths.get(of_queries),
        document_tokens=lengths.get(of_documents),
        vocabulary=words[of_documents].vocabulary if of_documents in words else 0,
        languages=tuple(
            LanguageCounts(tag, asked.get(tag, 0), written.get(tag, 0)) for tag in dict.fromkeys((*asked, *written))
        ),
        attributes=tuple(distribution for distribution in found if distribution.values),
        tagging=tagging(settings, task.name),
        translations=translation_quality(settings, task.name),
        documents=parallel_documents(settings, task.name),
    )


def _distribution(name: str, found: slices.Column) -> Distribution:
    counts = Counter(str(value) for value in found if value is not None)
    kept = {value for value, _ in counts.most_common(MOST_VALUES)}
    values = tuple((value, counts[value]) for value in slices.values(found) if value in kept)
    return Distribution(name, values, len(counts) - len(kept), len(found) - counts.total())


def _overlaps(apart: Separation) -> tuple[Overlap, ...]:
    return tuple(
        Overlap(row.a, row.b, row.shared, row.jaccard)
        for row in apart.words
        if apart.between == "tasks" and row.language is None and row.a != row.b
        if row.a_item == row.b_item == "document"
    )


def _published_takeaway(row: BenchmarkRow, tasks: Sequence[TaskRow]) -> Sentence:
    results = counted(sum(task.n_published for task in tasks), "published result")
    bold = f"{row.title} holds {results} on {counted(len(tasks), 'task')}."
    return Sentence(bold, "Its queries and documents are not here, so no system can run on it.")


def _card_takeaway(row: BenchmarkRow, cards: Sequence[TaskCard]) -> Sentence:
    relevant, cross = sum(task.n_relevant for task in cards), sum(task.n_cross_language for task in cards)
    n_queries = sum(task.task.n_queries for task in cards)
    languages = {found.language for task in cards for found in task.languages if found.n_queries}
    bold = f"{row.title} asks {n_queries:,} queries in {counted(len(languages), 'language')}."
    if not any(task.task.n_documents for task in cards):
        return Sentence(bold, "It has figures computed elsewhere, and no documents.")
    if not relevant:
        return Sentence(bold, "No document is judged relevant.")
    return Sentence(bold, f"{cross:,} of {relevant:,} relevant pairs join a query to an answer in another language.")


def benchmarks_stored(store: Store) -> tuple[StoredBenchmark, ...]:
    """All that a generation of the store names, the benchmark built last first."""
    labels = store.system_labels()
    return tuple(_stored_benchmark(store, row, labels) for row in store.benchmarks())


def stored(store: Store, benchmarks: tuple[StoredBenchmark, ...]) -> Stored:
    """The same with the space that everything takes, which changes also while a job that stores nothing yet works."""
    storage = store.storage()
    tasks = [task for found in benchmarks for task in found.tasks]
    n_runs = sum(run.status == "complete" for task in tasks for run in task.runs)
    n_published = sum(len(task.published) for task in tasks)
    parts = [counted(len(benchmarks), "benchmark"), counted(n_runs, "run")]
    parts += [counted(n_published, "published result")] if n_published else []
    bold = f"{', '.join(parts[:-1])} and {parts[-1]} are stored here."
    return Stored(Sentence(bold, f"With everything around them they take {size(storage.total)}."), storage, benchmarks)


def _stored_benchmark(store: Store, row: BenchmarkRow, labels: Mapping[str, SystemLabel]) -> StoredBenchmark:
    tasks = tuple(_stored_task(store, task, labels) for task in store.tasks(row.benchmark_id))
    n_bytes = sum((task.n_bytes or 0) + sum(run.n_bytes or 0 for run in task.runs) for task in tasks)
    imported = row.name not in benchmarks.NAMES
    return StoredBenchmark(benchmark_label(row), row.built_at.isoformat(), imported, tasks, n_bytes)


def _stored_task(store: Store, task: TaskRow, labels: Mapping[str, SystemLabel]) -> StoredTask:
    runs = store.runs([task.task_id])
    return StoredTask(
        task=task_label(task),
        n_bytes=store.documents_bytes(task),
        runs=tuple(
            _stored_run(store, run, labels, sorted(other.system for other in runs if run.system in other.parents))
            for run in runs
        ),
        published=tuple(
            StoredResult(
                system=labels[row.system],
                n_figures=row.n_figures,
                file=row.file,
                evaluated_at=row.evaluated_at.isoformat() if row.evaluated_at else None,
            )
            for row in store.published_sources([task.task_id])
        ),
    )


def _stored_run(store: Store, run: RunRow, labels: Mapping[str, SystemLabel], children: Sequence[str]) -> StoredRun:
    keeps = run.hits_file is not None
    return StoredRun(
        system=labels[run.system],
        status=run.status,
        reason=run.reason,
        n_rows=run.n_hits if keeps else None,
        depth=run.depth if keeps else None,
        n_bytes=store.hits_bytes(run),
        created_at=run.created_at.isoformat(),
        imported=not catalogue.runs_here(run.system),
        children=tuple(children),
        read=truncation.sentences(run.system, truncation.recorded(run.provenance)),
        provenance=run.provenance,
    )


def runnable(store: Store, benchmark: str) -> Runnables:
    """Every system of the catalogue that ranks, in its order, and whether it could run here.

    Raises:
        InputError: there is no such benchmark.
    """
    tasks = chosen_tasks(store, Selection(benchmark))
    done, outdated = _ran(store, tasks)
    labels = store.system_labels()
    pictured = any(store.n_images(task.task_id).get("query") for task in tasks)
    systems = tuple(
        Runnable(
            labels.get(entry.name) or SystemLabel(entry.name, entry.title, entry.short_title, entry.paradigm, 0),
            needed.where,
            (NO_IMAGES if blind else needed.missing) or None,
            (None if blind else needed.command) or None,
            tuple(title for title, names in done.items() if entry.name in names),
            tuple(title for title, names in outdated.items() if entry.name in names),
            entry.note or f"Added here: {own.described(entry)}.",
            catalogue.leaves(entry),
        )
        for entry in catalogue.systems().values()
        for needed in [readiness(entry, benchmark=benchmark)]
        for blind in [catalogue.needs_images(entry) and not pictured]
    )
    ready = [row for row in systems if row.missing is None]
    whole = sum(len(row.done) == len(tasks) for row in ready)
    bold = f"{len(ready):,} of {counted(len(systems), 'system')} can run here as they are."
    title = benchmark_label(store.benchmark(benchmark)).title
    ran = f"{whole:,} of them" if whole else "None of them"
    rest = f"{ran} {'have' if whole > 1 else 'has'} run on every task of {title}."
    return Runnables(Sentence(bold, rest), systems)


def _ran(store: Store, tasks: Sequence[TaskRow]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """By title of each task, the systems that ran on it as they are now; and those that have changed since."""
    done: dict[str, set[str]] = {task.title: set() for task in tasks}
    outdated: dict[str, set[str]] = {task.title: set() for task in tasks}
    for task in tasks:
        for run in store.runs([task.task_id]):
            if run.status == "complete":
                changed = made_by(run).reason == CHANGED
                (outdated if changed else done)[task.title].add(run.system)
    return done, outdated


def size(n_bytes: int) -> str:
    """Bytes for people: 980 B, 12 kB, 3.4 MB."""
    number = float(n_bytes)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
