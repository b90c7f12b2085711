"""Is it real?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np

from analysis.model import Interval, SystemLabel
from analysis.stats import effects, ranks
from analysis.stats.clustered import odds_ratio
from analysis.stats.multiplicity import benjamini_hochberg, holm
from analysis.stats.permutation import sign_flip_ps
from analysis.store.read import Store, TaskRow
from analysis.text import capitalised
from analysis.views import slices
from analysis.views.evidence import (
    LEVEL,
    SEED,
    Evidence,
    Floats,
    benchmark_label,
    chosen_tasks,
    measure_label,
    number,
    one_task,
    parts,
    task_label,
)
from analysis.views.qa_subsets import QaSubsets, qa_subsets
from analysis.views.selection import BenchmarkLabel, MeasureLabel, Selection, Sentence, TaskLabel

MEASURE = "recall_at_10"
ROUTES = ("recall_at_10_same", "recall_at_10_cross")
BEST, ADJACENT, ALL_PAIRS = "best against the rest", "adjacent ranks", "all pairs"
HIT_AT = 10
ALPHA = 0.05  # an adjusted p below it is called more than chance
WHOLE = "all queries"
COMPARED = (MEASURE, "ndcg_at_10", "rr_at_10", "hit_at_1", *ROUTES)  # of rankings; imported scores say what they have
TOO_SURE = (
    "Friedman's test and the critical difference take queries as independent, although families have several: they are "
    "too sure. Intervals and p of pairs draw and flip whole families."
)
DECIMAL = re.compile(r"\d+\.\d+")  # values of a score: queries that share one are no subset that anybody means
FEW_VALUES = 6  # a query attribute with more values makes no subsets whose orders are compared


@dataclass(frozen=True)
class TaxRow:
    """What crossing languages costs one system on one task."""

    task: str
    system: SystemLabel
    delta: Interval  # R@10 same less R@10 cross, on queries that have both
    p: float | None  # by sign flips of whole families; None where the note says why
    p_holm: float | None  # over the systems of the task
    win: int  # queries on which the own language is found better
    tie: int
    loss: int
    rank_biserial: float | None  # from -1 to 1; None where all queries tie
    n_families: int
    note: str | None  # why p is withheld, or what to think of it


@dataclass(frozen=True)
class PairRow:
    """Two systems on one task, ``a`` the one with the higher mean."""

    task: str
    a: SystemLabel
    b: SystemLabel
    delta: Interval  # a less b, paired by query
    p: float | None
    p_bh: float | None  # over all pairs of the task
    p_holm: Mapping[str, float | None]  # by family of tests that the pair is in; the keys are BEST and ADJACENT
    n_families: int
    note: str | None


@dataclass(frozen=True)
class FriedmanRow:
    """Whether any system of a task ranks differently from the others, and by how much they must differ."""

    task: str
    statistic: float | None  # chi-squared; None where the note says why
    df: int | None
    p: float | None
    n: int  # queries with a value of every system
    average_ranks: tuple[tuple[str, float], ...]  # system and rank, best first
    critical_difference: float | None  # Nemenyi, 0.05
    joined: tuple[tuple[str, ...], ...]  # systems that a bar of the diagram joins
    note: str | None
    caution: str | None = None  # how far to trust it


@dataclass(frozen=True)
class GlobalTaxRow:
    """Odds that an answer in the query's language is found over the odds that one in another is."""

    task: str
    system: SystemLabel
    odds_ratio: Interval
    n_answers: int
    note: str | None


@dataclass(frozen=True)
class AgreementRow:
    """Whether two places put the same systems in the same order."""

    kind: str  # tasks | subsets | qa subsets | benchmarks
    a: str
    b: str
    spearman: float | None
    kendall: float | None
    n: int  # systems in common
    n_queries: tuple[int, int]  # behind the means of each

    @property
    def with_whole(self) -> bool:
        """Whether a subset is compared with all queries, its own among them."""
        return self.a.endswith(WHOLE)


@dataclass(frozen=True)
class SignificanceTask:
    """One task of the page."""

    task: TaskLabel
    measure: MeasureLabel  # what pairs and Friedman compare
    takeaway: Sentence
    caption: str
    tax: tuple[TaxRow, ...]
    pairs: tuple[PairRow, ...]
    friedman: FriedmanRow
    global_tax: tuple[GlobalTaxRow, ...]
    notes: tuple[str, ...]
    qa_subsets: QaSubsets | None = None  # None: its queries are no translations that were judged


@dataclass(frozen=True)
class SignificanceView:
    """Which differences between routes and systems are more than chance, and whether orders hold elsewhere."""

    benchmark: BenchmarkLabel
    tasks: tuple[SignificanceTask, ...]
    order_agreement: tuple[AgreementRow, ...]


class _Tested(NamedTuple):
    """C paired differences, tested."""

    deltas: list[Interval]
    p: Floats  # NaN where withheld
    families: list[int]
    notes: list[str | None]


def significance(
    store: Store, selection: Selection, *, measure: str | None = None, descriptive: bool = False
) -> SignificanceView:
    """The answer of the page *Significance*: tests on each chosen task, and whether the systems' order holds elsewhere.

    Args:
        store: where the runs are.
        selection: what is asked for.
        measure: what pairs and Friedman compare; R@10 if None, or of imported scores without it the leading measure.
        descriptive: show a p also where there is too little to test, beside the note that says so.

    Raises:
        InputError: an unknown benchmark, task, system or measure.
    """
    labels = store.system_labels()
    loaded = [Evidence.load(store, task, selection=selection, labels=labels) for task in chosen_tasks(store, selection)]
    tasks = tuple(_task(evidence, labels, measure, descriptive=descriptive) for evidence in loaded)
    agreement = [
        *_other_tasks(store, selection, measure, loaded, labels),
        *(row for evidence in loaded for row in _subsets(evidence, _measure(evidence, measure))),
        *(row for task in tasks for row in _trusted(task)),
        *_elsewhere(store, selection, measure, labels),
    ]
    return SignificanceView(benchmark_label(store.benchmark(selection.benchmark)), tasks, tuple(agreement))


def comparable(store: Store, selection: Selection) -> tuple[MeasureLabel, ...]:
    """The measures by which pairs of systems can be compared on the one chosen task, the usual one first.

    Raises:
        InputError: an unknown benchmark, task or system, or not exactly one task.
    """
    evidence = Evidence.load(store, one_task(store, selection), selection=selection, labels=store.system_labels())
    found = COMPARED if evidence.has_ranks else evidence.imported
    usual = _measure(evidence, None)
    return tuple(measure_label(key) for key in (usual, *(key for key in found if key != usual)))


def _measure(evidence: Evidence, asked: str | None) -> str:
    return asked or (MEASURE if MEASURE in evidence.measures((MEASURE,)) else evidence.lead)


def _task(
    evidence: Evidence, labels: Mapping[str, SystemLabel], asked: str | None, *, descriptive: bool
) -> SignificanceTask:
    measure = _measure(evidence, asked)
    label = measure_label(measure)
    values = evidence.values(measure)
    tax = _tax(evidence, labels, descriptive=descriptive)
    pairs = _pairs(evidence, labels, measure, values, descriptive=descriptive)
    friedman = _friedman(evidence, values, descriptive=descriptive)
    return SignificanceTask(
        task=task_label(evidence.task),
        measure=label,
        takeaway=_takeaway(tax, pairs, label.label),
        caption=_caption(evidence, values, label.label),
        tax=tax,
        pairs=pairs,
        friedman=friedman,
        global_tax=tuple(_global_tax(evidence, labels)),
        notes=tuple(_notes(evidence, tax)),
        qa_subsets=qa_subsets(evidence, labels),
    )


def _tested(evidence: Evidence, measure: str, apart: Floats, *, descriptive: bool) -> _Tested:
    """Interval and p of the mean of each row of ``apart`` ``(C, Q)``; NaN where a query lacks one of the two."""
    deltas = evidence.means_of(measure, apart)
    shares = evidence.family_shares(apart, balanced=measure_label(measure).aggregate == "balanced")
    p = sign_flip_ps(shares, seed=SEED)
    families = np.count_nonzero(~np.isnan(shares), axis=0)
    unequal = np.count_nonzero(np.abs(shares) > 1e-12, axis=0)
    notes = [
        effects.too_few(pairs=delta.n, families=int(some), unequal=int(other))
        for delta, some, other in zip(deltas, families, unequal, strict=True)
    ]
    if not descriptive:
        p[[note is not None for note in notes]] = np.nan
    return _Tested(deltas, p, families.tolist(), notes)


def _tax(evidence: Evidence, labels: Mapping[str, SystemLabel], *, descriptive: bool) -> tuple[TaxRow, ...]:
    """Empty where no query has an answer in its own language and one in another, or the scores do not tell."""
    if not set(ROUTES) <= set(evidence.measures(ROUTES)):
        return ()
    same, cross = (evidence.values(key) for key in ROUTES)
    apart = same - cross
    if np.isnan(apart).all():
        return ()
    tested = _tested(evidence, ROUTES[0], apart, descriptive=descriptive)
    adjusted = holm(tested.p)
    return tuple(
        TaxRow(
            evidence.task.name,
            labels[run.system],
            tested.deltas[place],
            number(tested.p[place]),
            number(adjusted[place]),
            *effects.win_tie_loss(apart[place]),
            number(effects.rank_biserial(apart[place])),
            tested.families[place],
            tested.notes[place],
        )
        for place, run in enumerate(evidence.runs)
    )


def _pairs(
    evidence: Evidence, labels: Mapping[str, SystemLabel], measure: str, values: Floats, *, descriptive: bool
) -> tuple[PairRow, ...]:
    """Every pair, the better system first; systems from the best mean to the worst."""
    means = evidence.mean(values, balanced=measure_label(measure).aggregate == "balanced").value
    ranked = np.argsort(-np.round(means, ranks.EXACT_DIGITS), kind="stable")
    order = [int(place) for place in ranked if not np.isnan(means[place])]
    chosen = list(combinations(order, 2))
    if not chosen:
        return ()
    tested = _tested(evidence, measure, np.stack([values[a] - values[b] for a, b in chosen]), descriptive=descriptive)
    families = {BEST: [pair for pair in chosen if pair[0] == order[0]], ADJACENT: list(pairwise(order))}
    in_family = {
        name: dict(zip(mine, holm(tested.p[[chosen.index(pair) for pair in mine]]), strict=True))
        for name, mine in families.items()
    }
    discoveries = benjamini_hochberg(tested.p)
    return tuple(
        PairRow(
            evidence.task.name,
            labels[evidence.runs[a].system],
            labels[evidence.runs[b].system],
            tested.deltas[row],
            number(tested.p[row]),
            number(discoveries[row]),
            {name: number(adjusted[a, b]) for name, adjusted in in_family.items() if (a, b) in adjusted},
            tested.families[row],
            tested.notes[row],
        )
        for row, (a, b) in enumerate(chosen)
    )


def _friedman(evidence: Evidence, values: Floats, *, descriptive: bool) -> FriedmanRow:
    complete = ~np.isnan(values).any(axis=0) & evidence.mask
    n = int(complete.sum()) if len(values) else 0
    found = ranks.friedman(values[:, complete])
    if found is None:
        few = len(values) < ranks.FEWEST_SYSTEMS
        reason = f"Friedman's test needs {ranks.FEWEST_SYSTEMS} systems" if few else "all systems tie on every query"
        return FriedmanRow(evidence.task.name, None, None, None, n, (), None, (), reason if n or few else "no queries")
    families = len(np.unique(evidence.family[complete]))
    unequal = len(np.unique(evidence.family[complete][np.ptp(values[:, complete], axis=0) > 0]))
    note = effects.too_few(pairs=n, families=families, unequal=unequal)
    critical = ranks.critical_difference(len(values), n)
    names = [run.system for run in evidence.runs]
    return FriedmanRow(
        task=evidence.task.name,
        statistic=found.statistic,
        df=found.df,
        p=None if note and not descriptive else found.p,
        n=n,
        average_ranks=tuple(
            (names[place], float(found.average_ranks[place]))
            for place in np.argsort(found.average_ranks, kind="stable")
        ),
        critical_difference=critical,
        joined=tuple(
            tuple(names[place] for place in group) for group in ranks.joined(found.average_ranks, difference=critical)
        ),
        note=note,
        caution=TOO_SURE if families < n else None,
    )


def _global_tax(evidence: Evidence, labels: Mapping[str, SystemLabel]) -> Iterator[GlobalTaxRow]:
    """One row a system; none without rankings."""
    judged = evidence.judged
    rows = judged.reachable & evidence.mask[judged.query]
    query = judged.query[rows]
    spoken = judged.query_language[query]
    for place, run in enumerate(evidence.runs if evidence.has_ranks else ()):
        found = odds_ratio(
            evidence.ranks[place, rows] <= HIT_AT,
            same=judged.same[rows],
            language=spoken,
            family=evidence.family[query],
            level=LEVEL,
        )
        left_out = ", ".join(evidence.languages[code] for code in found.left_out)
        note = found.reason or (f"without {left_out}: all answers or none are found there" if left_out else None)
        n = len(np.unique(query[~np.isin(spoken, found.left_out)]))
        method = "Wald on the log odds, clustered by family"
        yield GlobalTaxRow(
            evidence.task.name,
            labels[run.system],
            Interval(found.value, "pooled", None, None, found.low, found.high, LEVEL, method, n),
            found.n,
            note,
        )


class _Place(NamedTuple):
    """Where systems are ordered: their means there."""

    name: str
    means: Mapping[str, float]  # by system
    n_queries: int

    @classmethod
    def of(cls, evidence: Evidence, measure: str, name: str) -> _Place:
        values = evidence.values(measure)
        mean = evidence.mean(values, balanced=measure_label(measure).aggregate == "balanced")
        known = {
            run.system: round(float(value), ranks.EXACT_DIGITS)
            for run, value in zip(evidence.runs, mean.value, strict=True)
            if not np.isnan(value)
        }
        return cls(name, known, int(mean.n.max(initial=0)))


def _agreements(kind: str, places: Sequence[_Place]) -> Iterator[AgreementRow]:
    """Every two places that have at least three systems in common."""
    for a, b in combinations(places, 2):
        common = [name for name in a.means if name in b.means]
        if len(common) < ranks.FEWEST_SYSTEMS:
            continue
        first, second = ([place.means[name] for name in common] for place in (a, b))
        yield AgreementRow(
            kind,
            a.name,
            b.name,
            number(ranks.spearman(first, second)),
            number(ranks.kendall(first, second)),
            len(common),
            (a.n_queries, b.n_queries),
        )


def _other_tasks(
    store: Store, selection: Selection, measure: str | None, loaded: Sequence[Evidence], labels: dict[str, SystemLabel]
) -> Iterator[AgreementRow]:
    """The chosen tasks against each other and the benchmark's other ones; in a slice the chosen ones only."""
    chosen = {evidence.task.name for evidence in loaded}
    others = [
        Evidence.load(store, task, selection=selection, labels=labels)
        for task in (() if selection.where else _measured(store, store.benchmark(selection.benchmark).benchmark_id))
        if task.name not in chosen
    ]
    asked = [(evidence, _measure(evidence, measure)) for evidence in (*loaded, *others)]
    places = [
        _Place.of(evidence, key, evidence.task.name) for evidence, key in asked if key in evidence.measures((key,))
    ]
    yield from (row for row in _agreements("tasks", places) if row.a in chosen)


def _subsets(evidence: Evidence, measure: str) -> Iterator[AgreementRow]:
    """All queries of a task, and the subsets that each query attribute of few values makes of them."""
    task = evidence.task.name
    whole = _Place.of(evidence, measure, f"{task}: {WHOLE}")
    for attribute in slices.names(evidence.task, evidence.queries):
        found = slices.values(evidence.column(attribute)[evidence.mask])
        if 2 <= len(found) <= FEW_VALUES and not all(map(DECIMAL.fullmatch, found)):
            subsets = [
                _Place.of(part, measure, f"{task}: {attribute}={value}") for value, part in parts(evidence, attribute)
            ]
            yield from _agreements("subsets", [whole, *subsets])


def _trusted(task: SignificanceTask) -> Iterator[AgreementRow]:
    """The subsets by how far translations may be trusted, against each other; by nDCG@10 whatever else is compared."""
    for row in task.qa_subsets.orders if task.qa_subsets else ():
        if row.n >= ranks.FEWEST_SYSTEMS:
            a, b = (f"{task.task.name}: subset {name}" for name in (row.a, row.b))
            yield AgreementRow("qa subsets", a, b, row.spearman, row.kendall, row.n, row.n_queries)


def _elsewhere(
    store: Store, selection: Selection, measure: str | None, labels: dict[str, SystemLabel]
) -> Iterator[AgreementRow]:
    """The default task of this benchmark against that of every other stored one: all their queries, so in no slice."""
    here = store.benchmark(selection.benchmark)
    others = [other for other in store.benchmarks() if other.current and other.name != here.name]
    if selection.where or not others:
        return
    places = []
    for row in [here, *others]:
        address = benchmark_label(row).address
        tasks = _measured(store, row.benchmark_id)
        if not tasks:
            continue
        asked = Selection(address, systems=selection.systems, without_flagged=selection.without_flagged)
        evidence = Evidence.load(store, tasks[0], selection=asked, labels=labels)
        key = _measure(evidence, measure)
        if key in evidence.measures((key,)):
            places.append(_Place.of(evidence, key, f"{address}/{tasks[0].name}"))
    for other in places[1:]:
        yield from _agreements("benchmarks", [places[0], other])


def _measured(store: Store, benchmark_id: int) -> list[TaskRow]:
    """The tasks of a benchmark that have queries, not published figures only."""
    return [task for task in store.tasks(benchmark_id) if not task_label(task).published_only]


def _takeaway(tax: Sequence[TaxRow], pairs: Sequence[PairRow], measure: str) -> Sentence:
    """Whom crossing languages costs most, and whether the best system is really ahead."""
    sentences = [*_tax_sentence(tax), *_pair_sentence(pairs, measure)]
    if not sentences:
        return Sentence("There is nothing to compare.", "It takes two systems, or answers in two languages.")
    return Sentence(sentences[0], " ".join(sentences[1:]))


def _tax_sentence(tax: Sequence[TaxRow]) -> Iterator[str]:
    known = [(row.delta.value, row) for row in tax if row.delta.value is not None]
    if not known:
        return
    paying = [row for _, row in known if row.delta.low is not None and row.delta.low > 0]
    worst = max(known, key=lambda pair: pair[0])[1]
    if not paying:
        yield f"No system clearly finds less across languages; the largest loss is {_span(worst.delta)} of R@10."
        return
    whom = "the one system" if len(known) == 1 else f"{len(paying)} of {len(known)} systems"
    yield f"Crossing languages costs {whom} R@10, {worst.system.short} the most: {_span(worst.delta)}."


def _pair_sentence(pairs: Sequence[PairRow], measure: str) -> Iterator[str]:
    """The best system against the next."""
    first = pairs[0] if pairs else None
    if first is None or first.delta.low is None:
        return
    if first.delta.low <= 0:
        yield f"{first.a.short} and {first.b.short} cannot be told apart at {measure}: {_span(first.delta)}."
        return
    adjusted = first.p_holm.get(BEST)
    p = "" if adjusted is None else f", Holm {_p(adjusted)}"
    yield f"{first.a.short} is ahead of {first.b.short} at {measure} by {_span(first.delta)}{p}."


def pair_sentence(row: PairRow, measure: str, *, pairs: int) -> Sentence:
    """What is known of one pair, and how likely chance alone does that.

    Args:
        row: the pair.
        measure: what is compared, as it is called on screen.
        pairs: how many pairs there are.
    """
    bold = f"{row.a.short} is ahead of {row.b.short} at {measure} by {_span(row.delta)}."
    if row.delta.low is not None and row.delta.low <= 0:
        bold = f"{row.a.short} and {row.b.short} cannot be told apart at {measure}: {_span(row.delta)}."
    known = [f"{_p(row.p_bh)} among all {pairs} pairs (Benjamini–Hochberg)"] if row.p_bh is not None else []
    known += [f"{_p(p)} within “{name}” (Holm)" for name, p in row.p_holm.items() if p is not None]
    if known and not row.p_holm:
        known.append("no Holm p, as neither is the best and they are not neighbours in the order")
    parts = [f"Adjusted {', '.join(known)}." if known else "", f"{capitalised(row.note)}." if row.note else ""]
    queries = f"{row.delta.n:,} queries of {row.n_families:,} families."
    return Sentence(bold, " ".join([*filter(None, parts), queries]))


def friedman_sentence(row: FriedmanRow, measure: str) -> Sentence:
    """Friedman's test in words.

    Args:
        row: the test.
        measure: what is ranked, as it is called on screen.
    """
    if row.statistic is None:
        return Sentence("The systems were not tested together.", f"{capitalised(row.note or '')}.")
    test = f"χ² = {row.statistic:,.2f}, df = {row.df}, {row.n:,} queries"
    if row.p is None:
        return Sentence("Whether the systems differ at all is not tested.", f"{capitalised(row.note or '')}; {test}.")
    bold = f"Not all {len(row.average_ranks)} systems rank alike at {measure}."
    if row.p >= ALPHA:
        bold = f"The {len(row.average_ranks)} systems cannot be told apart by their ranks at {measure}."
    note = f" {capitalised(row.note)}." if row.note else ""
    return Sentence(bold, f"Friedman’s test: {_p(row.p)} ({test}).{note}")


def agreement_sentence(rows: Sequence[AgreementRow]) -> Sentence:
    """Where the order of systems holds least, and where most."""
    known = [(row.kendall, row) for row in rows if row.kendall is not None]
    if not known:
        needed = "It takes three systems, and a second task, benchmark or part of the queries."
        return Sentence("There is no second place to compare with.", needed)
    low, least = min(known, key=lambda pair: pair[0])
    high, most = max(known, key=lambda pair: pair[0])
    bold = f"The order of {least.n} systems holds least between {least.a} and {least.b}: Kendall τ = {low:.2f}."
    return Sentence(bold, "" if len(known) == 1 else f"It holds most between {most.a} and {most.b}: τ = {high:.2f}.")


def _span(delta: Interval) -> str:
    if delta.low is None or delta.high is None:
        return f"{delta.value:.2f}"
    return f"{delta.value:.2f} (95 % interval {delta.low:.2f} to {delta.high:.2f})"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _caption(evidence: Evidence, values: Floats, measure: str) -> str:
    known = ~np.isnan(values).all(axis=0) if len(values) else np.zeros(len(evidence.mask), dtype=bool)
    spoken = len(np.unique(evidence.judged.query_language[known]))
    return (
        f"{measure} · {int(known.sum()):,} queries of {len(np.unique(evidence.family[known])):,} families in "
        f"{spoken} {'language' if spoken == 1 else 'languages'} · paired differences with 95 % intervals · "
        "two-sided p by flipping the signs of whole families"
    )


def _notes(evidence: Evidence, tax: Sequence[TaxRow]) -> Iterator[str]:
    """What keeps a part of the answer empty, and how to read the rest."""
    lacking = [key for key in ROUTES if key not in evidence.measures(ROUTES)]
    if lacking:
        yield f"No cross-lingual tax: the imported scores lack {' and '.join(lacking)}."
    elif not tax and evidence.runs:
        yield "No cross-lingual tax: no query has an answer in its own language and one in another."
    if not evidence.has_ranks:
        yield "No global tax: it needs the rank of every answer, and only per-query scores were imported."
