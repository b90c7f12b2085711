"""What people say of queries: tags and notes, where they gather, and how far two people agree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from analysis import paths
from analysis.errors import InputError
from analysis.model import SystemLabel
from analysis.stats.agreement import accuracy, cohen_kappa, gwet_ac1
from analysis.store import notes as stored
from analysis.store.notes import EVERYTHING, LONGEST_NAME, LONGEST_NOTE, Annotation, NoteFilter, StoredQuery
from analysis.store.read import Store, TaskRow
from analysis.text import counted
from analysis.views.evidence import LEVEL, benchmark_label, chosen_tasks, number, task_label
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel

__all__ = [  # what pages see of the nouns below it too
    "LONGEST_NAME",
    "LONGEST_NOTE",
    "TAGS",
    "Agreement",
    "Annotation",
    "NoteFilter",
    "NotesView",
    "RouteCount",
    "SystemCount",
    "TagAgreement",
    "TagCount",
    "agreement",
    "notes",
    "of_query",
    "tagged",
    "version",
]

TAGS: Mapping[str, str] = {
    "language preference": "Documents of a favoured language stand above the answer, whatever they say.",
    "wrong sibling": "A close neighbour of the answer stands above it: another code of its group, another dose.",
    "tokenisation": "The words are cut into pieces that say little, or are unknown to the encoder.",
    "translation fault": "The query or the document is translated badly, so that the two do not mean the same.",
    "wrong judgement": "What was found is right, or what is judged relevant is not.",
    "ambiguous query": "The query can be understood in several ways.",
    "other": "None of these; a note says what.",
}
"""The starter taxonomy, each tag with what it means; any other tag may be given too."""

Key = TypeVar("Key", bound=Hashable)

UNKNOWN = "unknown"  # the paradigm of a system of which nothing is stored any more


class TagCount(NamedTuple):
    """How often a tag was given."""

    tag: str | None  # None: notes without a tag
    n: int  # annotations; several people may give one query the same tag
    n_queries: int


class SystemCount(NamedTuple):
    """How often a tag was given to answers of one system."""

    tag: str
    system: str | None  # None: said of the query itself
    n: int
    n_queries: int


class RouteCount(NamedTuple):
    """How often a tag was given on one route."""

    tag: str
    query_language: str
    document_language: str | None  # None: said of the query as a whole
    n: int
    n_queries: int


@dataclass(frozen=True)
class NotesView:
    """What was said of the queries of a benchmark."""

    benchmark: BenchmarkLabel
    tasks: tuple[TaskLabel, ...]  # asked for
    takeaway: Sentence
    rows: tuple[Annotation, ...]  # by task and query in the benchmark's order, the first said first
    texts: Mapping[tuple[str, str], str]  # (task, query id) -> text, of every query that is still stored
    systems: Mapping[str, SystemLabel]  # of the rows, by name
    by_tag: tuple[TagCount, ...]  # starter tags first, notes without a tag last
    by_system: tuple[SystemCount, ...]
    by_route: tuple[RouteCount, ...]
    offered: tuple[str, ...]  # the starter taxonomy, and every other tag given in these tasks whatever the filter
    used: tuple[str, ...]  # of those, the ones given in these tasks
    authors: tuple[str, ...]  # who said something in these tasks, whatever the filter


class TagAgreement(NamedTuple):
    """How far two people agree; None where undefined."""

    tag: str | None  # given or not; None: which tag was given, on items to which both gave exactly one
    kappa: float | None  # Cohen's
    ac1: float | None  # Gwet's
    agreed: float | None  # share of the items
    low: float | None  # Wilson's interval of it
    high: float | None
    n: int  # items
    n_first: int  # of them, those that got the tag from either; all where the tag is the label
    n_second: int
    reason: str | None  # why κ or all of it is undefined


@dataclass(frozen=True)
class Agreement:
    """How far two people agree on the items that both have tagged: a query, and where named a system and a route."""

    benchmark: BenchmarkLabel
    first: str
    second: str
    level: float  # of the intervals
    n_items: int  # that both have tagged
    takeaway: Sentence
    overall: TagAgreement
    tags: tuple[TagAgreement, ...]  # those that either gave to such an item, starter tags first


def version(folder: str | Path | None = None) -> str:
    """What changes whenever an annotation does, in whichever process, as a key for caches; empty before the first.

    Raises:
        analysis.errors.StoreError: the notes are damaged, or a newer program wrote them.
    """
    return stored.version(paths.cache(folder))


def of_query(store: Store, benchmark: str, task: str, query_id: str) -> tuple[Annotation, ...]:
    """What was said of one query, the first said first.

    Raises:
        InputError: an unknown benchmark.
    """
    wanted = NoteFilter(tasks=(task,), query_ids=(query_id,))
    return tuple(stored.listed(store.cache, store.benchmark(benchmark).name, wanted))


def tagged(
    store: Store, benchmark: str, task: str, *, tags: tuple[str, ...] = (), authors: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The ids of the queries of a task that have any of some tags, from any of some people; empty means all.

    Without tags a note alone counts too.

    Raises:
        InputError: an unknown benchmark.
    """
    wanted = NoteFilter(tasks=(task,), tags=tags, authors=authors)
    rows = stored.listed(store.cache, store.benchmark(benchmark).name, wanted)
    return tuple(dict.fromkeys(row.query_id for row in rows))


def notes(store: Store, benchmark: str, *, wanted: NoteFilter = EVERYTHING) -> NotesView:
    """The annotations of a benchmark with their counts.

    Without tasks in the filter, what was said of tasks that the benchmark no longer has is among them, at the end.

    Raises:
        InputError: an unknown benchmark or task.
    """
    row = store.benchmark(benchmark)
    tasks = chosen_tasks(store, Selection(benchmark, wanted.tasks))
    everything = stored.listed(store.cache, row.name, NoteFilter(tasks=wanted.tasks))
    found = stored.chosen(everything, wanted)
    queries = _queries_of(store, tasks, found)
    rows = tuple(sorted(found, key=_place(tasks, queries)))
    systems = _systems(store, rows)
    used = _in_order(said.tag for said in everything)
    return NotesView(
        benchmark=benchmark_label(row),
        tasks=tuple(task_label(task) for task in tasks),
        takeaway=_takeaway(rows, systems, n_said=len(everything)),
        rows=rows,
        texts={key: query.text for key, query in queries.items()},
        systems=systems,
        by_tag=_by_tag(rows),
        by_system=_by_system(rows, systems),
        by_route=_by_route(rows, _languages(store, tasks)),
        offered=tuple(dict.fromkeys([*TAGS, *used])),
        used=used,
        authors=tuple(sorted({said.author for said in everything})),
    )


def _systems(store: Store, rows: Iterable[Annotation]) -> dict[str, SystemLabel]:
    """The systems of annotations in the order of the store's labels, then by name those that it knows no more."""
    labels, names = store.system_labels(), {row.system for row in rows if row.system is not None}
    known = {name: label for name, label in labels.items() if name in names}
    return known | {name: SystemLabel(name, name, name, UNKNOWN, 0) for name in sorted(names - known.keys())}


def _queries_of(
    store: Store, tasks: Sequence[TaskRow], rows: Sequence[Annotation]
) -> dict[tuple[str, str], StoredQuery]:
    """The queries that annotations are about, by task and id, without those that are no longer stored."""
    return {
        (task.name, name): query
        for task in tasks
        for name, query in stored.stored_queries(
            store, task.task_id, (row.query_id for row in rows if row.task == task.name)
        ).items()
    }


def _place(
    tasks: Sequence[TaskRow], queries: Mapping[tuple[str, str], StoredQuery]
) -> Callable[[Annotation], tuple[int, str, bool, int, str, int]]:
    """Where an annotation stands in a list: what is not stored any more comes after what is."""
    order = {task.name: place for place, task in enumerate(tasks)}

    def place(row: Annotation) -> tuple[int, str, bool, int, str, int]:
        query = queries.get((row.task, row.query_id))
        position = query.position if query else 0
        return order.get(row.task, len(order)), row.task, query is None, position, row.query_id, row.id or 0

    return place


def _in_order(tags: Iterable[str | None]) -> tuple[str, ...]:
    """Different tags, those of the starter taxonomy first and the others by name."""
    given = {tag for tag in tags if tag is not None}
    return (*(tag for tag in TAGS if tag in given), *sorted(given - TAGS.keys()))


def _languages(store: Store, tasks: Sequence[TaskRow]) -> list[str]:
    """Languages as the corpora first show them, then those that only queries have."""
    corpora = [tag for task in tasks for tag in store.corpus_languages(task.task_id)]
    return list(dict.fromkeys([*corpora, *(tag for task in tasks for tag in store.query_languages(task.task_id))]))


# Counts


def _count(rows: Sequence[Annotation]) -> tuple[int, int]:
    """How many annotations, of how many queries."""
    return len(rows), len({(row.task, row.query_id) for row in rows})


def _grouped(rows: Iterable[Annotation], key: Callable[[Annotation], Key]) -> dict[Key, list[Annotation]]:
    groups: dict[Key, list[Annotation]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _ranked(known: Iterable[str]) -> Callable[[str | None], tuple[int, str]]:
    """Puts names in a known order, None before all and what is not known after, by name."""
    order: dict[str | None, int] = {name: place for place, name in enumerate(known, start=1)}
    return lambda name: (order.get(name, len(order) + 1) if name is not None else 0, name or "")


def _by_tag(rows: Sequence[Annotation]) -> tuple[TagCount, ...]:
    rank = _ranked(TAGS)
    groups = sorted(_grouped(rows, lambda row: row.tag).items(), key=lambda group: (group[0] is None, rank(group[0])))
    return tuple(TagCount(tag, *_count(group)) for tag, group in groups)


def _by_system(rows: Sequence[Annotation], known: Iterable[str]) -> tuple[SystemCount, ...]:
    rank, system_rank = _ranked(TAGS), _ranked(known)
    groups = _grouped((row for row in rows if row.tag is not None), lambda row: (row.tag or "", row.system))
    ordered = sorted(groups, key=lambda key: (rank(key[0]), system_rank(key[1])))
    return tuple(SystemCount(*key, *_count(groups[key])) for key in ordered)


def _by_route(rows: Sequence[Annotation], known: Iterable[str]) -> tuple[RouteCount, ...]:
    rank, language_rank = _ranked(TAGS), _ranked(known)
    groups = _grouped(
        (row for row in rows if row.tag is not None),
        lambda row: (row.tag or "", row.query_language, row.document_language),
    )
    ordered = sorted(groups, key=lambda key: (rank(key[0]), language_rank(key[1]), language_rank(key[2])))
    return tuple(RouteCount(*key, *_count(groups[key])) for key in ordered)


def _takeaway(rows: Sequence[Annotation], systems: Mapping[str, SystemLabel], *, n_said: int) -> Sentence:
    """The most frequent tag, and where it was given most.

    Args:
        rows: of the answer.
        systems: their labels.
        n_said: annotations without the filter.
    """
    if not n_said:
        return Sentence("Nobody has tagged a query or noted anything yet.", "")
    if not rows:
        return Sentence("Nothing matches.", f"Without the filter there {'is' if n_said == 1 else 'are'} {n_said:,}.")
    counts = [count for count in _by_tag(rows) if count.tag is not None]
    if not counts:
        return Sentence(f"{_queries(_count(rows)[1])} noted, none tagged.", "")
    most = max(count.n_queries for count in counts)
    first = [count.tag for count in counts if count.n_queries == most]
    of = f"{most:,} of {_queries(_count([row for row in rows if row.tag is not None])[1], 'tagged ')}"
    if len(first) == 1:
        where = _where([row for row in rows if row.tag == first[0]], systems)
        return Sentence(f"“{first[0]}” is the most frequent tag: {of}.", where)
    names = [f"“{tag}”" for tag in first]
    return Sentence(f"{', '.join(names[:-1])} and {names[-1]} are the most frequent tags: {of} each.", "")


def _queries(n: int, kind: str = "") -> str:
    return f"{n:,} {kind}{'query' if n == 1 else 'queries'}"


def _where(rows: Sequence[Annotation], systems: Mapping[str, SystemLabel]) -> str:
    """The route and the system with most queries of some annotations; empty where none stands out."""
    on = _most(
        (row for row in rows if row.document_language), lambda row: f"{row.query_language} → {row.document_language}"
    )
    of = _most((row for row in rows if row.system), lambda row: systems[row.system or ""].short)
    words = [f"{how} {found[0]} ({found[1]:,})" for how, found in (("on", on), ("with", of)) if found]
    return f"Most often {' and '.join(words)}." if words else ""


def _most(rows: Iterable[Annotation], key: Callable[[Annotation], str]) -> tuple[str, int] | None:
    """The group with most queries, and how many; None where two have as many."""
    found = sorted(((_count(group)[1], name) for name, group in _grouped(rows, key).items()), reverse=True)
    if not found or (len(found) > 1 and found[0][0] == found[1][0]):
        return None
    return found[0][1], found[0][0]


# Agreement


def agreement(store: Store, benchmark: str, *, first: str, second: str, tasks: tuple[str, ...] = ()) -> Agreement:
    """How far two people agree on what both have tagged; a note alone says nothing of tags.

    Args:
        store: where the benchmark is.
        benchmark: name, or name@version.
        first: an author.
        second: another one.
        tasks: whose queries; empty for all.

    Raises:
        InputError: an unknown benchmark or task, an author who has said nothing here, or the same author twice.
    """
    row = store.benchmark(benchmark)
    chosen_tasks(store, Selection(benchmark, tasks))
    rows = stored.listed(store.cache, row.name, NoteFilter(tasks=tasks))
    _check_authors(rows, first, second)
    ours, theirs = _given(rows, first), _given(rows, second)
    items = [item for item in ours if item in theirs]
    tags = _in_order(tag for item in items for tag in (*ours[item], *theirs[item]))
    single = [item for item in items if len(ours[item]) == len(theirs[item]) == 1]
    overall = _compared(None, [min(ours[item]) for item in single], [min(theirs[item]) for item in single])
    by_tag = tuple(
        _compared(tag, [tag in ours[item] for item in items], [tag in theirs[item] for item in items]) for tag in tags
    )
    return Agreement(
        benchmark=benchmark_label(row),
        first=first,
        second=second,
        level=LEVEL,
        n_items=len(items),
        takeaway=_agreement_takeaway(f"{first} and {second}", len(items), overall, by_tag),
        overall=overall,
        tags=by_tag,
    )


def _check_authors(rows: Sequence[Annotation], first: str, second: str) -> None:
    known = sorted({row.author for row in rows})
    for name in (first, second):
        if name not in known:
            raise InputError(f"unknown author {name!r}: notes are of {', '.join(known) or 'nobody'}")
    if first == second:
        raise InputError(f"author {first!r} twice: expected two different ones")


def _given(rows: Sequence[Annotation], author: str) -> dict[tuple[str | None, ...], frozenset[str]]:
    """The tags that an author gave to each item, of those with a tag."""
    groups = _grouped((row for row in rows if row.author == author and row.tag is not None), lambda row: row.item)
    return {item: frozenset(row.tag for row in group if row.tag is not None) for item, group in groups.items()}


def _compared(tag: str | None, first: Sequence[Hashable], second: Sequence[Hashable]) -> TagAgreement:
    """How far two people's labels agree, one an item: which tag, or for a tag whether it was given."""
    same = accuracy(first, second, level=LEVEL)
    kappa = number(cohen_kappa(first, second))
    reason = None
    if not same.n:
        reason = "there is no item to which both gave exactly one tag"
    elif kappa is None:
        given = "one and the same tag" if tag is None else "it"
        reason = f"both gave {given} to every item, as they would by chance: κ is not defined"
    return TagAgreement(
        tag=tag,
        kappa=kappa,
        ac1=number(gwet_ac1(first, second)),
        agreed=number(same.value),
        low=number(same.low),
        high=number(same.high),
        n=same.n,
        n_first=sum(map(bool, first)),
        n_second=sum(map(bool, second)),
        reason=reason,
    )


def _agreement_takeaway(who: str, n_items: int, overall: TagAgreement, tags: Sequence[TagAgreement]) -> Sentence:
    if not n_items:
        return Sentence(
            f"{who} have tagged nothing in common.",
            "Agreement needs queries that both have tagged, for the same system and route.",
        )
    defined = [row for row in tags if row.kappa is not None]
    least = min(defined, key=lambda row: row.kappa or 0.0) if len(defined) > 1 else None
    rest = f"They agree least on “{least.tag}” (κ {least.kappa:.2f})." if least else ""
    if not overall.n:
        return Sentence(f"{who} have both tagged {counted(n_items, 'item')}, none of them with one tag each.", rest)
    kappa = "not defined" if overall.kappa is None else f"{overall.kappa:.2f}"
    agreed = round((overall.agreed or 0.0) * overall.n)
    bold = (
        f"{who} chose the same tag for {agreed:,} of {counted(overall.n, 'item')} (κ {kappa}, AC1 {overall.ac1:.2f})."
    )
    return Sentence(bold, rest)
