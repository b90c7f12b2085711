"""The tables of the Significance page, and the choice of two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from analysis.charts import significance as charts
from analysis.views.selection import Interval, SystemLabel, TaskLabel
from analysis.views.significance import (
    ADJACENT,
    BEST,
    AgreementRow,
    FriedmanRow,
    GlobalTaxRow,
    PairRow,
    SignificanceTask,
    TaxRow,
)
from pages.shared import address, tables
from pages.shared.leaderboard import NUMBERS
from pages.shared.tables import Cell, Markup

Numbers = tuple[list[str], list[list[object]]]
"""Header and rows of a CSV file."""


# The choice of two systems


def choose(cell: Sequence[str]) -> None:
    """What a click on a cell does: its systems, of row and column, become the chosen pair."""
    a, b = cell
    address.put(a=a, b=b)


def pickers(pairs: Sequence[PairRow]) -> tuple[str, str]:
    """Select boxes that do what a click does; the two systems, of row and column."""
    known = {label.name: label.short for label in charts.in_order(pairs)}
    left, right = st.columns(2)
    with left:
        a = address.choose(
            st.selectbox, "Compare", list(known), name="a", default=next(iter(known)), format_func=known.__getitem__
        )
    with right:
        others = [name for name in known if name != a]
        b = address.choose(st.selectbox, "With", others, name="b", default=others[0], format_func=known.__getitem__)
    return a, b


def pair(pairs: Sequence[PairRow], chosen: tuple[str, str]) -> PairRow:
    """The row of two systems, whichever of them is ahead."""
    return next(row for row in pairs if {row.a.name, row.b.name} == set(chosen))


def withheld(task: SignificanceTask) -> bool:
    """Whether there is too little to test somewhere, so that a p is withheld or shown with a warning."""
    tested = task.friedman.statistic is not None and task.friedman.note is not None
    return tested or any(row.note for row in task.tax) or any(row.note for row in task.pairs)


# Tables and their CSV


def tax(rows: Sequence[TaxRow], *, dark: bool) -> Markup:
    """What crossing languages costs each system, the largest cost first."""
    columns = {
        "System": "text",
        "Lost across languages": "number",
        "Better / same / worse": "number",
        "Effect": "number",
        "Holm p": "number",
    }
    ordered = sorted(rows, key=lambda row: -(row.delta.value or 0.0))
    return _noted(
        columns,
        [
            (
                [
                    tables.chip(row.system, dark=dark),
                    tables.spread(row.delta, "R@10 same less R@10 cross"),
                    f"{row.win:,} / {row.tie:,} / {row.loss:,}",
                    "" if row.rank_biserial is None else f"{row.rank_biserial:.2f}",
                    tables.p_value(row.p_holm),
                ],
                row.note,
            )
            for row in ordered
        ],
        caption="What crossing languages costs",
    )


def _noted(columns: Mapping[str, str], rows: Sequence[tuple[list[Cell], str | None]], *, caption: str) -> Markup:
    """A table that has a column of notes where any row has one."""
    if not any(note for _, note in rows):
        return tables.table(columns, [cells for cells, _ in rows], caption=caption)
    shown = [[*cells, note or ""] for cells, note in rows]
    return tables.table({**columns, "Note": "text"}, shown, caption=caption)


def tax_numbers(rows: Sequence[TaxRow]) -> Numbers:
    """The same for a CSV file."""
    facts = ("p", "p_holm", "win", "tie", "loss", "rank_biserial", "n_families", "note")
    return ["task", "system", *NUMBERS, *facts], [
        [row.task, row.system.name, *_interval(row.delta), *(getattr(row, name) for name in facts)] for row in rows
    ]


def pairs(rows: Sequence[PairRow], *, measure: str, dark: bool) -> Markup:
    """Every pair, as the matrix shows it."""
    columns = {
        "Ahead": "text",
        "Behind": "text",
        "Difference": "number",
        "Adjusted p, all pairs": "number",
        "Holm p, best against the rest": "number",
        "Holm p, neighbours": "number",
    }
    return _noted(
        columns,
        [
            (
                [
                    tables.chip(row.a, dark=dark),
                    tables.chip(row.b, dark=dark),
                    tables.spread(row.delta, measure),
                    tables.p_value(row.p_bh),
                    tables.p_value(row.p_holm.get(BEST)),
                    tables.p_value(row.p_holm.get(ADJACENT)),
                ],
                row.note,
            )
            for row in rows
        ],
        caption=f"Differences in {measure}, every pair of systems",
    )


def pair_numbers(rows: Sequence[PairRow], *, measure: str) -> Numbers:
    """The same for a CSV file."""
    header = [
        "task",
        "a",
        "b",
        "measure",
        *NUMBERS,
        "p",
        "p_bh",
        "p_holm_best",
        "p_holm_adjacent",
        "n_families",
        "note",
    ]
    return header, [
        [
            row.task,
            row.a.name,
            row.b.name,
            measure,
            *_interval(row.delta),
            row.p,
            row.p_bh,
            row.p_holm.get(BEST),
            row.p_holm.get(ADJACENT),
            row.n_families,
            row.note,
        ]
        for row in rows
    ]


def ranks(row: FriedmanRow, labels: Mapping[str, SystemLabel], *, dark: bool) -> Markup:
    """Average ranks, best first, each with the systems that it cannot be told apart from."""
    lines: list[Sequence[Cell] | str] = [
        [
            tables.chip(labels[name], dark=dark),
            f"{rank:.2f}",
            ", ".join(labels[other].short for other in _near(row, name)),
        ]
        for name, rank in row.average_ranks
    ]
    columns = {"System": "text", "Average rank": "number", "Not told apart from": "text"}
    return tables.table(columns, lines, caption="Average ranks")


def _near(row: FriedmanRow, name: str) -> list[str]:
    """The other systems under a bar with this one, best first."""
    joined = {other for group in row.joined if name in group for other in group}
    return [other for other, _ in row.average_ranks if other in joined and other != name]


def rank_numbers(row: FriedmanRow) -> Numbers:
    """The same for a CSV file, with the test that stands behind it."""
    header = [
        "task",
        "system",
        "average_rank",
        "not_told_apart_from",
        "critical_difference",
        "chi_squared",
        "df",
        "p",
        "n",
        "note",
    ]
    test = [row.critical_difference, row.statistic, row.df, row.p, row.n, row.note]
    return header, [[row.task, name, rank, " ".join(_near(row, name)), *test] for name, rank in row.average_ranks]


def global_tax(rows: Sequence[GlobalTaxRow], *, dark: bool) -> Markup:
    """Odds ratios with their intervals; above 1 an answer in the own language is found more easily."""
    return _noted(
        {"System": "text", "Odds ratio": "number", "95 % interval": "number", "Answers": "number"},
        [
            (
                [
                    tables.chip(row.system, dark=dark),
                    _odds(row.odds_ratio.value),
                    _between(row.odds_ratio),
                    f"{row.n_answers:,}",
                ],
                row.note,
            )
            for row in rows
        ],
        caption="Odds that an answer in the query's language is found, against one in another",
    )


def _between(found: Interval) -> str:
    return "" if found.low is None else f"{_odds(found.low)} to {_odds(found.high)}"


def _odds(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def global_numbers(rows: Sequence[GlobalTaxRow]) -> Numbers:
    """The same for a CSV file."""
    return ["task", "system", *NUMBERS, "n_answers", "note"], [
        [row.task, row.system.name, *_interval(row.odds_ratio), row.n_answers, row.note] for row in rows
    ]


def readable(rows: Sequence[AgreementRow], chosen: TaskLabel, titles: Mapping[str, str]) -> list[AgreementRow]:
    """Comparisons with the names of their places as people read them.

    Args:
        rows: the comparisons of the page.
        chosen: the page's task, which goes without saying.
        titles: by name of a task.
    """

    def words(name: str) -> str:
        part = name.removeprefix(f"{chosen.name}: ")
        return titles.get(name) or (name if part == name else part.replace("=", " ").replace("_", " "))

    return [replace(row, a=words(row.a), b=words(row.b)) for row in rows]


def agreement_names(rows: Sequence[AgreementRow]) -> list[str]:
    """What each comparison is called on the page."""
    return [f"{row.a} · {row.b}" for row in rows]


def agreement(rows: Sequence[AgreementRow]) -> Markup:
    """How far two places put systems in the same order."""
    columns = {
        "One place": "text",
        "Another": "text",
        "Spearman ρ": "number",
        "Kendall τ": "number",
        "Systems": "number",
        "Queries": "number",
    }
    lines: list[Sequence[Cell] | str] = [
        [
            row.a,
            row.b,
            tables.signed(row.spearman),
            tables.signed(row.kendall),
            f"{row.n}",
            " · ".join(f"{n:,}" for n in row.n_queries),
        ]
        for row in rows
    ]
    return tables.table(columns, lines, caption="Does the order hold elsewhere")


def agreement_numbers(rows: Sequence[AgreementRow]) -> Numbers:
    """The same for a CSV file."""
    header = ["kind", "a", "b", "spearman", "kendall", "systems", "queries_a", "queries_b"]
    return header, [[row.kind, row.a, row.b, row.spearman, row.kendall, row.n, *row.n_queries] for row in rows]


def _interval(found: Interval) -> list[object]:
    return [getattr(found, name) for name in NUMBERS]
