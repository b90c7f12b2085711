"""Which language pairs fail?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import InputError
from analysis.languages import language_name
from analysis.metrics import routes as metrics
from analysis.model import NEVER, SystemLabel
from analysis.stats import bootstrap
from analysis.stats.proportion import wilson
from analysis.store.read import Store
from analysis.views import language_choice
from analysis.views.evidence import (
    LEVEL,
    Evidence,
    Floats,
    benchmark_label,
    measure_label,
    number,
    of_100,
    one_task,
    task_label,
)
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel

SMALL_N = 30
NOTHING = 0.015  # shown as 0 or 1 of 100
CUTOFFS = (1, 5, 10, 25, 50, 100)


@dataclass(frozen=True)
class RouteCell:
    """One query language → document language, for one system."""

    task: str
    system: str
    query_language: str
    document_language: str
    measure: str  # recall_at_10
    value: float | None  # None where no query has such a document
    retention: float | None  # of the query language's own diagonal cell
    preference: (
        float | None
    )  # how often this language stands above the answer, against its share of the corpus; 1 = no preference
    low: float | None
    high: float | None
    method: str
    n: int  # queries


@dataclass(frozen=True)
class RoutesView:
    """The heatmaps of one task."""

    benchmark: BenchmarkLabel
    task: TaskLabel
    measure: MeasureLabel
    k: int
    languages: tuple[str, ...]  # shown, in the benchmark's order; by script where they are many
    language_names: tuple[str, ...]
    systems: tuple[SystemLabel, ...]
    cells: tuple[RouteCell, ...]
    takeaway: Sentence
    caption: str
    diagonal_reason: str | None  # why the diagonal is blank, where it is
    shallow: tuple[str, ...]  # systems whose run is less than k deep, with the words that say so
    scripts: tuple[str, ...] = ()  # of the languages where they are many, else empty


@dataclass(frozen=True)
class RouteDifference:
    """Cell by cell, one system minus another."""

    a: SystemLabel
    b: SystemLabel
    measure: MeasureLabel
    languages: tuple[str, ...]
    cells: tuple[RouteCell, ...]  # value, low and high are of the difference
    takeaway: Sentence
    scripts: tuple[str, ...] = ()  # of the languages where they are many, else empty


@dataclass(frozen=True)
class AnswerRank:
    """One relevant document of one query, and where each system put it."""

    query_id: str
    query_text: str
    query_language: str
    document_id: str
    document_text: str
    document_language: str
    ranks: tuple[int | None, ...]  # in the order of RouteQueries.systems; None beyond the run's depth


@dataclass(frozen=True)
class RouteQueries:
    """The queries behind one cell, the worst first."""

    system: SystemLabel  # the one whose cell was chosen
    systems: tuple[SystemLabel, ...]  # columns, the chosen one first
    depths: tuple[int, ...]  # of their runs
    query_language: str
    document_language: str
    k: int
    n_queries: int
    n_failing: int  # queries with no relevant document of that language in the top k
    rows: tuple[AnswerRank, ...]
    title: str  # "en → ja · all-MiniLM · 198 of 200 queries fail"


def routes(store: Store, selection: Selection, *, k: int = 10, languages: tuple[str, ...] = ()) -> RoutesView:
    """The route cells of one task for each chosen system.

    Args:
        store: where the runs are.
        selection: one task, systems and queries.
        k: of the recall.
        languages: those to show; empty for all.

    Raises:
        InputError: an unknown benchmark, task or system; not exactly one task; a task without rankings; a k below 1;
            or none of the languages.
    """
    evidence, labels = _evidence(store, selection, k)
    return of_evidence(evidence, labels, k=k, languages=languages)


def of_evidence(
    evidence: Evidence, labels: Mapping[str, SystemLabel], *, k: int, languages: tuple[str, ...] = ()
) -> RoutesView:
    """The route cells of the systems of some evidence; raises InputError where it has none of the languages."""
    chosen = tuple(labels[run.system] for run in evidence.runs)
    shown = language_choice.shown(evidence.languages, languages)
    cells = tuple(_cells(evidence, k, shown))
    return RoutesView(
        benchmark=benchmark_label(evidence.benchmark),
        task=task_label(evidence.task),
        measure=measure_label(f"recall_at_{k}"),
        k=k,
        languages=shown,
        language_names=tuple(language_name(tag) for tag in shown),
        systems=chosen,
        cells=cells,
        takeaway=_takeaway(cells, chosen),
        caption=_caption(evidence, cells, k, shown),
        diagonal_reason=_diagonal_reason(evidence),
        scripts=language_choice.scripts(shown),
        shallow=tuple(
            f"{labels[run.system].short}: run is only {run.depth} deep" for run in evidence.runs if run.depth < k
        ),
    )


def _evidence(store: Store, selection: Selection, k: int) -> tuple[Evidence, dict[str, SystemLabel]]:
    if k < 1:
        raise InputError(f"k {k}: expected 1 or more")
    task, labels = one_task(store, selection), store.system_labels()
    evidence = Evidence.load(store, task, selection=selection, labels=labels)
    evidence.need_ranks("language routes need rankings")
    return evidence, labels


def _by_language(evidence: Evidence, k: int, places: Sequence[int]) -> Floats:
    """``(S, Q, L)`` recall at k of the documents in each of some languages, NaN outside the slice."""
    found = metrics.recall_by_language(evidence.judged, evidence.ranks, k=k)[:, :, places]
    return np.where(evidence.mask[np.newaxis, :, np.newaxis], found, np.nan)


def _places(evidence: Evidence, languages: Sequence[str]) -> list[int]:
    return [evidence.languages.index(tag) for tag in languages]


def _cells(evidence: Evidence, k: int, languages: Sequence[str]) -> Iterator[RouteCell]:
    n_systems, n_languages = len(evidence.runs), len(languages)
    places = _places(evidence, languages)
    found = _by_language(evidence, k, places)
    preference = _preference(evidence)[:, places][:, :, places]
    means = np.full((n_systems, n_languages, n_languages), np.nan)
    counts = np.zeros((n_languages, n_languages), dtype=np.int64)
    bounds: dict[int, tuple[Floats, Floats, str]] = {}
    for asked, code in enumerate(places):
        columns = _columns(found, evidence.judged.query_language == code)
        mean = evidence.mean(columns, balanced=False)
        means[:, asked] = mean.value.reshape(n_systems, n_languages)
        counts[asked] = mean.n.reshape(n_systems, n_languages)[0] if n_systems else 0
        bounds[asked] = _bounds(evidence, columns, mean)
    retention = metrics.retention(means, counts)
    for place, run in enumerate(evidence.runs):
        for asked, source in enumerate(languages):
            low, high, method = bounds[asked]
            for answered, target in enumerate(languages):
                flat = place * n_languages + answered
                yield RouteCell(
                    evidence.task.name,
                    run.system,
                    source,
                    target,
                    f"recall_at_{k}",
                    number(means[place, asked, answered]),
                    number(retention[place, asked, answered]),
                    number(preference[place, asked, answered]),
                    number(low[flat]),
                    number(high[flat]),
                    method,
                    int(counts[asked, answered]),
                )


def _columns(found: Floats, asked: NDArray[np.bool_]) -> Floats:
    """``(S x L, Q)``: one row a system and document language, only the queries of one language."""
    spoken = np.where(asked[np.newaxis, :, np.newaxis], found, np.nan)
    return np.moveaxis(spoken, 2, 1).reshape(found.shape[0] * found.shape[2], found.shape[1])


def _bounds(evidence: Evidence, columns: Floats, mean: bootstrap.Mean) -> tuple[Floats, Floats, str]:
    """Wilson where every query has exactly one such document, so that each value is 0 or 1; else the bootstrap."""
    known = ~np.isnan(columns)
    if bool(np.isin(columns[known], (0.0, 1.0)).all()) and _one_answer_each(evidence, known):
        low, high = wilson(np.where(known, columns, 0.0).sum(axis=1), mean.n, level=LEVEL)
        return low, high, "wilson"
    low, high = bootstrap.interval_of_draws(evidence.draws(columns), level=LEVEL)
    return low, high, evidence.method


def _one_answer_each(evidence: Evidence, known: NDArray[np.bool_]) -> bool:
    counts = metrics.n_by_language(evidence.judged)[known.any(axis=0)]
    return bool((counts <= 1).all())


def _preference(evidence: Evidence) -> Floats:
    """``(S, Lq, Ld)`` how often a language stands above the answer, against its share of the corpus."""
    code = {tag: place for place, tag in enumerate(evidence.languages)}
    counts = np.zeros((len(evidence.runs), len(code), len(code)))
    runs, asked_for = [run.run_id for run in evidence.runs], np.flatnonzero(evidence.mask).tolist()
    for place, asked, language, count in evidence.store.language_above(runs, queries=asked_for):
        counts[place, code[asked], code[language]] = count
    corpus = evidence.store.corpus_languages(evidence.task.task_id)
    share = np.array([corpus.get(tag, 0) for tag in evidence.languages]) / max(sum(corpus.values()), 1)
    return metrics.preference(counts, share)


def _takeaway(cells: Sequence[RouteCell], systems: Sequence[SystemLabel]) -> Sentence:
    """The worst collapse between two document languages for one query language, and who does best where it ends.

    Where all answers are in one language it is the worst between two query languages.
    """
    solid = [cell for cell in cells if cell.value is not None and cell.n >= SMALL_N]
    falls = _falls(solid, _asked) or _falls(solid, _answered)
    if not falls:
        rest = "One route only rests on" if solid else "Every cell rests on fewer than"
        more = " or more" if solid else ""
        return Sentence("Too few queries to say which routes fail.", f"{rest} {SMALL_N}{more} queries.")
    best, worst = max(falls, key=_collapse)
    short = {label.name: label.short for label in systems}
    high, low = language_name(best.document_language), language_name(worst.document_language)
    other = f"{low} ones" if low != high else f"for {_a(worst.query_language)} one"
    bold = (
        f"{short[best.system]} finds {of_100(_value(best))} {high} answers for {_a(best.query_language)} query, "
        f"and {of_100(_value(worst))} {other}."
    )
    rivals = [
        cell
        for cell in solid
        if (cell.query_language, cell.document_language) == (worst.query_language, worst.document_language)
        and cell.system != worst.system
    ]
    if not rivals:
        return Sentence(bold, "")
    rival = max(rivals, key=_value)
    return Sentence(bold, f"{short[rival.system]} finds {of_100(_value(rival))} on the same route.")


def _falls(
    cells: Sequence[RouteCell], kind: Callable[[RouteCell], tuple[str, str]]
) -> list[tuple[RouteCell, RouteCell]]:
    """The best and the worst cell of each kind that has two or more."""
    alike: dict[tuple[str, str], list[RouteCell]] = {}
    for cell in cells:
        alike.setdefault(kind(cell), []).append(cell)
    return [(max(row, key=_value), min(row, key=_value)) for row in alike.values() if len(row) > 1]


def _asked(cell: RouteCell) -> tuple[str, str]:
    return cell.system, cell.query_language


def _answered(cell: RouteCell) -> tuple[str, str]:
    return cell.system, cell.document_language


def _a(language: str) -> str:
    """A language with its article."""
    name = language_name(language)
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _collapse(pair: tuple[RouteCell, RouteCell]) -> tuple[bool, float]:
    """How bad a fall is: one that ends at nothing is worse than any that does not."""
    high, low = _value(pair[0]), _value(pair[1])
    return low < NOTHING, high - low


def _value(cell: RouteCell) -> float:
    return cell.value if cell.value is not None else -1.0


def _diagonal_reason(evidence: Evidence) -> str | None:
    if evidence.judged.same.any():
        return None
    if evidence.task.exclude_self:
        return "a query's own text is left out and its answers are in other languages, so the diagonal is blank"
    return "no answer is in its query's own language, so the diagonal is blank"


def _caption(evidence: Evidence, cells: Sequence[RouteCell], k: int, languages: Sequence[str]) -> str:
    rows = {cell.query_language: cell.n for cell in cells if cell.n}
    span = (
        "no queries"
        if not rows
        else f"{min(rows.values()):,} queries a row"
        if len(set(rows.values())) == 1
        else f"{min(rows.values()):,} to {max(rows.values()):,} queries a row"
    )
    parts = [
        f"R@{k} by query language (rows) and document language (columns)",
        span,
        f"{evidence.task.n_documents:,} documents in one pool",
    ]
    parts += [_diagonal_reason(evidence) or "", language_choice.of_all(languages, evidence.languages)]
    return " · ".join(part for part in parts if part)


def route_difference(
    store: Store, selection: Selection, *, a: str, b: str, k: int = 10, languages: tuple[str, ...] = ()
) -> RouteDifference:
    """System ``a`` minus system ``b``, cell by cell, paired over queries.

    Raises:
        InputError: as for :func:`routes`, or a system without a run of the task.
    """
    evidence, labels = _evidence(store, selection._replace(systems=(a, b)), k)
    place = {run.system: index for index, run in enumerate(evidence.runs)}
    for name in (a, b):
        if name not in place:
            raise InputError(f"system {name!r} has no run of {evidence.task.name}")
    return difference_of(evidence, labels, a=a, b=b, k=k, languages=languages)


def difference_of(
    evidence: Evidence, labels: Mapping[str, SystemLabel], *, a: str, b: str, k: int, languages: tuple[str, ...] = ()
) -> RouteDifference:
    """One system of some evidence minus another, cell by cell."""
    place = {run.system: index for index, run in enumerate(evidence.runs)}
    shown = language_choice.shown(evidence.languages, languages)
    found = _by_language(evidence, k, _places(evidence, shown))
    apart = (found[place[a]] - found[place[b]])[np.newaxis]
    cells = tuple(_difference_cells(evidence, apart, f"{a} − {b}", k, shown))
    return RouteDifference(
        a=labels[a],
        b=labels[b],
        measure=measure_label(f"recall_at_{k}"),
        languages=shown,
        scripts=language_choice.scripts(shown),
        cells=cells,
        takeaway=_difference_takeaway(cells, labels[a], labels[b]),
    )


def _difference_cells(
    evidence: Evidence, apart: Floats, name: str, k: int, languages: Sequence[str]
) -> Iterator[RouteCell]:
    for code, source in zip(_places(evidence, languages), languages, strict=True):
        columns = _columns(apart, evidence.judged.query_language == code)
        mean = evidence.mean(columns, balanced=False)
        low, high = bootstrap.interval_of_draws(evidence.draws(columns), level=LEVEL)
        for answered, target in enumerate(languages):
            yield RouteCell(
                evidence.task.name,
                name,
                source,
                target,
                f"recall_at_{k}",
                number(mean.value[answered]),
                None,
                None,
                number(low[answered]),
                number(high[answered]),
                evidence.method,
                int(mean.n[answered]),
            )


def _difference_takeaway(cells: Sequence[RouteCell], a: SystemLabel, b: SystemLabel) -> Sentence:
    solid = [
        cell
        for cell in cells
        if cell.value is not None and cell.n >= SMALL_N and cell.low is not None and cell.high is not None
    ]
    if not solid:
        return Sentence("Too few queries to compare the two.", f"Every cell rests on fewer than {SMALL_N} queries.")
    ahead = sum(cell.low > 0 for cell in solid if cell.low is not None)
    behind = sum(cell.high < 0 for cell in solid if cell.high is not None)
    widest = max(solid, key=lambda cell: abs(cell.value or 0.0))
    winner = a if (widest.value or 0.0) > 0 else b
    bold = f"{a.short} is ahead of {b.short} on {ahead} of {len(solid)} routes and behind on {behind}."
    rest = (
        f"The widest gap is {widest.query_language} → {widest.document_language}, where {winner.short} finds "
        f"{round(100 * abs(widest.value or 0.0))} more of 100."
    )
    if ahead + behind < len(solid):
        rest += " The other routes cannot be told apart at 95 %."
    return Sentence(bold, rest)


def route_queries(
    store: Store, selection: Selection, *, system: str, query_language: str, document_language: str, k: int = 10
) -> RouteQueries:
    """The queries behind one cell with the rank that each chosen system gave each relevant document; the worst first.

    Raises:
        InputError: as for :func:`routes`, a language the task lacks, or a system without a run of the task.
    """
    evidence, labels = _evidence(store, selection, k)
    for tag in (query_language, document_language):
        if tag not in evidence.languages:
            raise InputError(f"language {tag!r}: {evidence.task.name} has {', '.join(evidence.languages)}")
    names = [run.system for run in evidence.runs]
    if system not in names:
        raise InputError(
            f"system {system!r} has no run of {evidence.task.name} among the chosen ones: {', '.join(names)}"
        )
    order = [names.index(system), *(place for place, name in enumerate(names) if name != system)]
    keep = _route_rows(evidence, query_language, document_language)
    rows = tuple(_answer_ranks(evidence, np.flatnonzero(keep), order))
    asked, failing = _failing(evidence, keep, order[0], k)
    chosen = tuple(labels[names[place]] for place in order)
    return RouteQueries(
        system=chosen[0],
        systems=chosen,
        depths=tuple(evidence.runs[place].depth for place in order),
        query_language=query_language,
        document_language=document_language,
        k=k,
        n_queries=asked,
        n_failing=failing,
        rows=rows,
        title=f"{query_language} → {document_language} · {chosen[0].short} · {failing:,} of {asked:,} queries fail",
    )


def _route_rows(evidence: Evidence, query_language: str, document_language: str) -> NDArray[np.bool_]:
    """``(J,)`` relevant documents of one language for the queries of another, inside the slice."""
    judged, languages = evidence.judged, evidence.languages
    asked = judged.query_language[judged.query] == languages.index(query_language)
    answered = judged.language == languages.index(document_language)
    return np.asarray(judged.reachable & asked & answered & evidence.mask[judged.query])


def _failing(evidence: Evidence, keep: NDArray[np.bool_], place: int, k: int) -> tuple[int, int]:
    """How many queries a cell has, and how many of them find nothing of that language in the top k."""
    first = evidence.judged.first(evidence.ranks[place : place + 1], among=keep)[0]
    asked = np.unique(evidence.judged.query[keep])
    return len(asked), int((first[asked] > k).sum())


def _answer_ranks(evidence: Evidence, rows: NDArray[np.intp], order: Sequence[int]) -> Iterator[AnswerRank]:
    judged, queries = evidence.judged, evidence.queries
    documents = evidence.document[rows]
    texts = evidence.store.texts(evidence.task.task_id, sorted(set(documents.tolist())))
    ids = evidence.store.documents(evidence.task.task_id).id
    worst_first = np.lexsort((rows, -evidence.ranks[order[0], rows].astype(np.int64)))
    for at in worst_first:
        row, query, document = int(rows[at]), int(judged.query[rows[at]]), int(documents[at])
        ranks = tuple(None if rank == NEVER else int(rank) for rank in evidence.ranks[list(order), row])
        yield AnswerRank(
            str(queries.id[query]),
            str(queries.text[query]),
            str(queries.language[query]),
            str(ids[document]),
            texts[document],
            evidence.languages[judged.language[row]],
            ranks,
        )
