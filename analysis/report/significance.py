"""Which differences are more than chance, and whether orders hold elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analysis.charts import significance as charts
from analysis.report.blocks import Block, Cell, Chart, Grey, Heading, Number, P, Row, Section, Table, spoken
from analysis.report.scope import TESTS, answering, refusals
from analysis.store.read import Store
from analysis.views import significance
from analysis.views.selection import Selection, SystemLabel
from analysis.views.significance import ADJACENT, BEST, AgreementRow, FriedmanRow, SignificanceTask, SignificanceView


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Significance*.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    labels = store.system_labels()
    blocks: list[Block] = []
    view = answer(store, selection)
    for task in view.tasks if view else ():
        blocks += [Heading(task.task.title, 3), task.takeaway, Grey(task.caption), *map(Grey, task.notes)]
        blocks += [*_tax(task), *_pairs(task), *_ranks(task, labels), *_odds(task), *_subsets(task)]
    if view:
        blocks += _orders(readable(view))
    blocks += refusals(store, selection, TESTS)
    return Section("significance", "Significance", "Is it real?", tuple(blocks))


def answer(store: Store, selection: Selection) -> SignificanceView | None:
    """The view of the chosen tasks with values of queries; None where there are none.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    names = answering(store, selection, TESTS)
    return significance.significance(store, selection._replace(tasks=names)) if names else None


def _tax(task: SignificanceTask) -> Iterator[Block]:
    if not task.tax:
        return
    yield Heading("What does crossing languages cost?", 4)
    yield Chart.drawn(
        lambda dark: charts.tax(task.tax, dark=dark), alt=f"Loss across languages, by system. {spoken(task.takeaway)}"
    )
    yield tax(task)


def tax(task: SignificanceTask) -> Table:
    """What crossing languages costs each system, the largest cost first."""
    ordered = sorted(task.tax, key=lambda row: -(row.delta.value or 0.0))
    columns = {"System": "text", "R@10 same less cross": "number", "Better / same / worse": "number"}
    columns |= {"Effect": "number", "p": "number", "Holm p": "number", "Families": "number", "Note": "text"}
    rows: tuple[Row, ...] = tuple(
        [
            row.system,
            row.delta,
            f"{row.win:,} / {row.tie:,} / {row.loss:,}",
            Number(row.rank_biserial),
            P(row.p),
            P(row.p_holm),
            Number(row.n_families, 0),
            row.note or "",
        ]
        for row in ordered
    )
    return Table(f"What crossing languages costs: {task.task.title}", columns, rows)


def _pairs(task: SignificanceTask) -> Iterator[Block]:
    if not task.pairs:
        return
    yield Heading("Which systems differ?", 4)
    yield significance.friedman_sentence(task.friedman, task.measure.label)
    yield Grey("Row less column, on the same queries · hatched: adjusted p not below 0.05, or too little to test")
    yield Chart.drawn(
        lambda dark: charts.matrix(task.pairs, measure=task.measure.label, dark=dark),
        alt=f"Differences in {task.measure.label} between every two systems; the table below has them all.",
    )
    yield pairs(task, folded=True)


def pairs(task: SignificanceTask, *, folded: bool = False) -> Table:
    """Every pair of systems, the better one first."""
    columns = {"Ahead": "text", "Behind": "text", "Difference": "number", "p": "number"}
    columns |= {"Adjusted p, all pairs": "number", "Holm p, best against the rest": "number"}
    columns |= {"Holm p, neighbours": "number", "Note": "text"}
    rows: tuple[Row, ...] = tuple(
        [
            row.a,
            row.b,
            row.delta,
            *(P(p) for p in (row.p, row.p_bh, row.p_holm.get(BEST), row.p_holm.get(ADJACENT))),
            row.note or "",
        ]
        for row in task.pairs
    )
    return Table(f"Differences in {task.measure.label}: {task.task.title}", columns, rows, folded)


def _ranks(task: SignificanceTask, labels: dict[str, SystemLabel]) -> Iterator[Block]:
    found = task.friedman
    if not found.average_ranks:
        return
    yield Heading("Which systems rank alike?", 4)
    yield Grey("Average rank: 1 is best · a thick bar joins systems that cannot be told apart")
    for words in (found.note, found.caution):
        if words:
            yield Grey(words)
    best, rank = found.average_ranks[0]
    yield Chart.drawn(
        lambda dark: charts.critical_difference(found, labels, dark=dark),
        alt=f"Average ranks on a line. {labels[best].short} has the best, {rank:.2f}.",
    )
    yield _average_ranks(found, labels, title=f"Average ranks at {task.measure.label}: {task.task.title}")


def _average_ranks(found: FriedmanRow, labels: dict[str, SystemLabel], *, title: str) -> Table:
    columns = {"System": "text", "Average rank": "number", "Not told apart from": "text", "n": "number"}
    rows: list[list[Cell]] = []
    for name, rank in found.average_ranks:
        near = {other for group in found.joined if name in group for other in group} - {name}
        words = ", ".join(labels[other].short for other, _ in found.average_ranks if other in near)
        rows.append([labels[name], Number(rank), words, Number(found.n, 0)])
    return Table(title, columns, tuple(rows))


def _odds(task: SignificanceTask) -> Iterator[Block]:
    """How much easier an answer in the query's own language is found."""
    if not task.global_tax:
        return
    yield Heading("How much easier is an answer in one’s own language?", 4)
    yield Grey("Odds that an answer in the query’s language is in the first ten, over those of one in another language")
    columns = {"System": "text", "Odds ratio": "number", "Answers": "number", "Note": "text"}
    rows: tuple[Row, ...] = tuple(
        [row.system, row.odds_ratio, Number(row.n_answers, 0), row.note or ""] for row in task.global_tax
    )
    yield Table(f"Odds ratios: {task.task.title}", columns, rows)


def _subsets(task: SignificanceTask) -> Iterator[Block]:
    """Systems on the translations that may be trusted, and whether their order holds there."""
    found = task.qa_subsets
    if found is None:
        return
    yield Heading("Does the order hold on trusted translations?", 4)
    yield found.sentence
    columns = {"System": "text"} | {f"{name} ({n:,} queries)": "number" for name, n in found.n_queries.items()}
    rows: tuple[Row, ...] = tuple([row.system, *(row.means[name] for name in found.n_queries)] for row in found.rows)
    yield Table(f"{found.measure.label} by subset: {task.task.title}", columns, rows)
    columns = {"Subsets": "text", "Spearman ρ": "number", "Kendall τ": "number", "Systems": "number"}
    rows = tuple(
        [f"{row.a} and {row.b}", Number(row.spearman), Number(row.kendall), Number(row.n, 0)] for row in found.orders
    )
    yield Table(f"Order of systems between subsets: {task.task.title}", columns, rows)
    columns = {"Language": "text", "Pass": "number", "Flag": "number", "Fail": "number", "Pass, share": "number"}
    rows = tuple(
        [row.language, *(Number(n, 0) for n in (row.passed, row.flagged, row.failed)), Number(row.passed_share)]
        for row in found.languages
    )
    yield Table(f"Translations by language: {task.task.title}", columns, rows)


def _orders(rows: Sequence[AgreementRow]) -> Iterator[Block]:
    shown = [row for row in rows if row.kind != "subsets" or row.with_whole]
    yield Heading("Does the order hold elsewhere?", 3)
    sentence = significance.agreement_sentence(shown)
    yield sentence
    if not shown:
        return
    yield Grey("Systems ordered by their means in both places · a part of the queries counts in “all queries” too")
    names = [f"{row.a} · {row.b.removeprefix(row.a.partition(': ')[0] + ': ')}" for row in shown]
    yield Chart.drawn(lambda dark: charts.order_agreement(shown, names, dark=dark), alt=spoken(sentence))
    yield orders(rows, folded=True)


def readable(view: SignificanceView) -> list[AgreementRow]:
    """Comparisons of orders with their places as people read them."""
    titles = {task.task.name: task.task.title for task in view.tasks}

    def words(name: str) -> str:
        task, separator, part = name.partition(": ")
        title = titles.get(task, task)
        return f"{title}: {part.replace('=', ' ').replace('_', ' ')}" if separator else title

    return [replace(row, a=words(row.a), b=words(row.b)) for row in view.order_agreement]


def orders(rows: Sequence[AgreementRow], *, folded: bool = False) -> Table:
    """How far two places put systems in the same order."""
    columns = {"One place": "text", "Another": "text", "Spearman ρ": "number", "Kendall τ": "number"}
    columns |= {"Systems": "number", "Queries": "number"}
    lines: tuple[Row, ...] = tuple(
        [
            row.a,
            row.b,
            Number(row.spearman),
            Number(row.kendall),
            Number(row.n, 0),
            " · ".join(f"{n:,}" for n in row.n_queries),
        ]
        for row in rows
    )
    return Table("Does the order of systems hold elsewhere", columns, lines, folded)
