"""Audits: how far people and models agree with a benchmark and with each other, in task × language cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from analysis.store import audits as stored
from analysis.store import notes
from analysis.store.audits import HUMAN, KINDS, MODEL, QUESTIONS, RELEVANCE, TIER, TRANSLATION, Audit, AuditSheet
from analysis.store.read import Store
from analysis.text import counted
from analysis.views import slices
from analysis.views.audit_agreement import (
    ENOUGH,
    PEOPLE,
    Agreed,
    AuditCell,
    AuditPair,
    Item,
    JudgedTask,
    Key,
    StatusCell,
    cells_of,
    label_of,
    pairs_of,
    statuses_of,
)
from analysis.views.evidence import LEVEL, benchmark_label, chosen_tasks, task_label
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel

__all__ = [  # what pages see of the nouns below it too
    "ENOUGH",
    "HUMAN",
    "KINDS",
    "MODEL",
    "PEOPLE",
    "QUESTIONS",
    "Agreed",
    "AuditCell",
    "AuditPair",
    "AuditsView",
    "Disagreement",
    "Rater",
    "Said",
    "SheetLabel",
    "as_of",
    "audits",
    "version",
]

NOUNS = {RELEVANCE: "relevance", TRANSLATION: "translation", TIER: "tier"}


class Rater(NamedTuple):
    """Who judged."""

    name: str
    kind: str  # human | model
    n: int  # judgements in the tasks asked for


class Said(NamedTuple):
    """What one rater says of an item."""

    rater: str
    kind: str
    judgement: str
    comment: str
    differs: bool  # from the benchmark


class Disagreement(NamedTuple):
    """An item of which somebody says otherwise than the benchmark."""

    task: str
    question: str
    query_id: str
    query_language: str
    query: str
    other_id: str  # the document; of a translation its source
    other_language: str
    other: str
    told: str  # what the benchmark says, in words
    said: tuple[Said, ...]


class SheetLabel(NamedTuple):
    """A blind sheet that was written."""

    sheet: str
    task: str
    question: str
    seed: int
    per_language: int
    n_rows: int
    n_judged: int  # rows on which somebody has judged
    created_at: str


@dataclass(frozen=True)
class AuditsView:
    """What was judged of a benchmark."""

    benchmark: BenchmarkLabel
    tasks: tuple[TaskLabel, ...]  # asked for
    takeaway: Sentence
    level: float  # of the intervals
    remarks: tuple[str, ...]  # what to keep in mind of these numbers
    raters: tuple[Rater, ...]
    cells: tuple[AuditCell, ...]  # by task, question and rater; first all languages, then each
    statuses: tuple[StatusCell, ...]  # the same by audit status of the query; empty where queries have none
    pairs: tuple[AuditPair, ...]
    disagreements: tuple[Disagreement, ...]  # those with most voices against the benchmark first
    sheets: tuple[SheetLabel, ...]
    n_gone: int  # judgements on queries or documents that are not stored any more


def audits(store: Store, asked: Selection) -> AuditsView:
    """How far raters agree with the benchmark and with each other, over the queries that are asked for.

    Relevance is compared as relevant (a grade of 1 or more) or not; a pair that nobody had judged counts as not
    relevant, as it does in every measure. A version of a query counts as faithful unless its audit status is "fail".

    Raises:
        InputError: an unknown benchmark, task or query attribute.
    """
    row = store.benchmark(asked.benchmark)
    tasks = chosen_tasks(store, asked)
    names = {task.name for task in tasks}
    everything = [audit for audit in stored.listed(store.cache, row.name) if audit.task in names]
    loaded = {
        task.name: JudgedTask.load(store, task)
        for task in tasks
        if any(audit.task == task.name for audit in everything)
    }
    items, found = _items(everything, loaded)
    if asked.where or asked.without_flagged:
        found = _of_slice(store, asked, found, items, loaded)
    cells = cells_of(found, items)
    pairs = pairs_of(found)
    disagreements = _disagreements(store, found, items, loaded)
    sheets = tuple(_sheet(store, sheet, everything) for sheet in stored.sheets(store.cache, row.name))
    return AuditsView(
        benchmark=benchmark_label(row),
        tasks=tuple(task_label(task) for task in tasks),
        takeaway=_takeaway(cells, pairs, n_said=len(everything)),
        level=LEVEL,
        remarks=_remarks(cells, pairs, found, items, loaded),
        raters=_raters(found),
        cells=cells,
        statuses=statuses_of(found, items),
        pairs=pairs,
        disagreements=disagreements,
        sheets=tuple(sheet for sheet in sheets if sheet.task in names),
        n_gone=sum(audit.item not in items for audit in everything),
    )


def _items(everything: Sequence[Audit], loaded: Mapping[str, JudgedTask]) -> tuple[dict[Key, Item], list[Audit]]:
    """What is judged, by its key, and the judgements on it."""
    items: dict[Key, Item] = {}
    for audit in everything:
        item = loaded[audit.task].item(audit)
        if item is not None:
            items[audit.item] = item
    return items, [audit for audit in everything if audit.item in items]


def _of_slice(
    store: Store,
    asked: Selection,
    found: Sequence[Audit],
    items: Mapping[Key, Item],
    loaded: Mapping[str, JudgedTask],
) -> list[Audit]:
    """The judgements on queries that a selection keeps."""
    masks = {
        name: slices.mask(store, task.row, task.queries, where=asked.where, without_flagged=asked.without_flagged)
        for name, task in loaded.items()
    }
    return [audit for audit in found if masks[audit.task][items[audit.item].query]]


def _sheet(store: Store, sheet: AuditSheet, everything: Iterable[Audit]) -> SheetLabel:
    judged = {audit.item for audit in everything if audit.sheet == sheet.sheet}
    n_rows = len(stored.rows_of(store.cache, sheet.sheet))
    return SheetLabel(
        sheet.sheet,
        sheet.task,
        sheet.question,
        sheet.seed,
        sheet.per_language,
        n_rows,
        len(judged),
        sheet.created_at,
    )


def _raters(found: Iterable[Audit]) -> tuple[Rater, ...]:
    n = Counter((audit.annotator, audit.kind) for audit in found)
    return tuple(Rater(name, kind, n[name, kind]) for name, kind in sorted(n, key=lambda one: (one[1], one[0])))


# Disagreements


def _disagreements(
    store: Store,
    found: Sequence[Audit],
    items: Mapping[Key, Item],
    loaded: Mapping[str, JudgedTask],
) -> tuple[Disagreement, ...]:
    by_item: dict[Key, list[Audit]] = {}
    for audit in found:
        by_item.setdefault(audit.item, []).append(audit)
    apart = {key: said for key, said in by_item.items() if {items[key].label} != {label_of(audit) for audit in said}}
    texts = _texts(store, [items[key] for key in apart], loaded)
    rows = [_disagreement(items[key], said, loaded[items[key].task], texts) for key, said in apart.items()]
    order = {task: place for place, task in enumerate(loaded)}
    return tuple(sorted(rows, key=lambda row: (-sum(said.differs for said in row.said), order[row.task])))


def _texts(store: Store, items: Iterable[Item], loaded: Mapping[str, JudgedTask]) -> dict[tuple[str, str], str]:
    """The texts of the documents of some items, by task and id."""
    wanted: dict[str, dict[str, int]] = {}
    for item in items:
        if item.question != TRANSLATION:
            wanted.setdefault(item.task, {})[item.other_id] = loaded[item.task].of_document[item.other_id]
    found: dict[tuple[str, str], str] = {}
    for task, places in wanted.items():
        texts = store.texts(loaded[task].row.task_id, list(places.values()))
        found |= {(task, name): texts.get(place, "") for name, place in places.items()}
    return found


def _disagreement(
    item: Item, said: Sequence[Audit], task: JudgedTask, texts: Mapping[tuple[str, str], str]
) -> Disagreement:
    queries = task.queries
    if item.question == TRANSLATION:
        place = task.of_query[item.other_id]
        other, language = str(queries.text[place]), str(queries.language[place])
    else:
        place = task.of_document[item.other_id]
        other, language = texts[item.task, item.other_id], str(task.documents.language[place] or "und")
    return Disagreement(
        task=item.task,
        question=item.question,
        query_id=item.query_id,
        query_language=item.language,
        query=str(queries.text[item.query]),
        other_id=item.other_id,
        other_language=language,
        other=other,
        told=_told(item, task),
        said=tuple(
            Said(audit.annotator, audit.kind, audit.judgement, audit.comment, label_of(audit) != item.label)
            for audit in said
        ),
    )


def _told(item: Item, task: JudgedTask) -> str:
    """What the benchmark says of an item, in words."""
    if item.question != RELEVANCE:
        return item.label
    if (item.query, task.of_document[item.other_id]) not in task.grades:
        return "not judged"
    return f"{item.label} ({item.grade:g})"


# Words


def _takeaway(cells: Sequence[AuditCell], pairs: Sequence[AuditPair], *, n_said: int) -> Sentence:
    """How often the question that most was said of is answered as the benchmark does, by people where there are some.

    Several people are added up judgement by judgement, without an interval: an item may be among them twice.
    """
    whole = [cell for cell in cells if cell.language is None and cell.rater != PEOPLE]
    if not whole:
        if not n_said:
            return Sentence("Nobody has audited this benchmark yet.", "")
        rest = f"Without the choice there are {counted(n_said, 'judgement')}."
        return Sentence("Nothing of these queries was audited.", rest)
    first = min(whole, key=lambda cell: (cell.kind != HUMAN, -cell.agreed.n))
    alike = [
        cell for cell in whole if (cell.task, cell.question, cell.kind) == (first.task, first.question, first.kind)
    ]
    agreed, n = sum(cell.agreed.n_agreed for cell in alike), sum(cell.agreed.n for cell in alike)
    what = f"the benchmark on {agreed:,} of {counted(n, 'judgement')} of {NOUNS[first.question]}"
    if len(alike) == 1:
        between = f"{100 * (first.agreed.low or 0):.0f} to {100 * (first.agreed.high or 0):.0f} %"
        bold = f"{first.rater} agrees with {what} ({between})."
    else:
        bold = f"{len(alike)} {'people' if first.kind == HUMAN else 'models'} agree with {what}."
    few = f"Fewer than {ENOUGH} judgements: descriptive only." if first.agreed.few else ""
    return Sentence(bold, " ".join(filter(None, (_least(alike, cells), _between(pairs), few))))


def _least(alike: Sequence[AuditCell], cells: Sequence[AuditCell]) -> str:
    """The language in which raters agree least; nothing where no other is better."""
    n: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for cell in cells:
        if cell.language is not None and any(cell[:4] == whole[:4] for whole in alike):
            n[cell.language] += cell.agreed.n
            agreed[cell.language] += cell.agreed.n_agreed
    order = sorted(n, key=lambda tag: agreed[tag] / n[tag])
    if len(order) < 2 or agreed[order[0]] / n[order[0]] == agreed[order[1]] / n[order[1]]:
        return ""
    return f"Least in {order[0]}: {agreed[order[0]]:,} of {n[order[0]]:,}."


def _between(pairs: Sequence[AuditPair]) -> str:
    """The two who share most items."""
    if not pairs:
        return ""
    most = max(pairs, key=lambda pair: pair.agreed.n)
    kappa = "not defined" if most.agreed.kappa is None else f"{most.agreed.kappa:.2f}"
    return (
        f"{most.first} and {most.second} say the same of {most.agreed.n_agreed:,} of {most.agreed.n:,} "
        f"(κ {kappa}, AC1 {most.agreed.ac1 or 0:.2f})."
    )


def _remarks(
    cells: Sequence[AuditCell],
    pairs: Sequence[AuditPair],
    found: Sequence[Audit],
    items: Mapping[Key, Item],
    loaded: Mapping[str, JudgedTask],
) -> tuple[str, ...]:
    """What to keep in mind: small cells, κ without meaning, documents that nobody had judged before."""
    few = sum(cell.agreed.few for cell in cells)
    words = [f"{counted(few, 'share')} of fewer than {ENOUGH} judgements: descriptive only." if few else ""]
    for cell in cells:
        if cell.language is None and cell.agreed.remark:
            words.append(f"{cell.rater} and the benchmark ({cell.question}): {cell.agreed.remark}.")
    words += [
        f"{pair.first} and {pair.second} ({pair.question}): {pair.agreed.remark}."
        for pair in pairs
        if pair.agreed.remark
    ]
    asked = {audit.item for audit in found if audit.question == RELEVANCE}
    unjudged = sum(
        (items[key].query, loaded[items[key].task].of_document[items[key].other_id])
        not in loaded[items[key].task].grades
        for key in asked
    )
    if unjudged:
        words.append(
            f"Of {counted(len(asked), 'pair')} {unjudged:,} had no judgement in the benchmark: not relevant there."
        )
    tied = sum(cell.n_tied for cell in cells)
    words.append(f"{counted(tied, 'item')} without a majority left out of “{PEOPLE}”." if tied else "")
    return tuple(filter(None, words))


def version(store: Store) -> str:
    """What changes whenever an audit does, as a key for caches."""
    return notes.version(store.cache)


def as_of(store: Store, asked: Selection, _version: str) -> AuditsView:
    """The same answer, which a cache may keep as long as the version stays."""
    return audits(store, asked)
