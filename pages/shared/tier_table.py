"""The table of the Difficulty tiers page, and the examples behind what stands at rank 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import NamedTuple

import streamlit as st

from analysis.views.selection import Interval, SystemLabel
from analysis.views.tiers import SAME_CONCEPT, Example, TierRow
from pages.shared import address, tables, ui
from pages.shared.leaderboard import NUMBERS
from pages.shared.tables import Cell, Markup


def table(rows: Sequence[TierRow], *, compares: bool = True, dark: bool) -> Markup:
    """How often the answer stands above its neighbours, with R@1, R@5 and Hit@1; by tier where queries carry one.

    Args:
        rows: all queries first.
        compares: whether the neighbours are no answers themselves.
        dark: for the dark theme.
    """
    lines: list[Sequence[Cell] | str] = []
    tiers = list(dict.fromkeys(row.tier for row in rows))
    for tier in tiers:
        if len(tiers) > 1:
            lines.append("all queries" if tier is None else tier)
        lines.extend(
            [
                tables.chip(row.system, dark=dark),
                *(tables.spread(found, words) for words, found in _named(row, compares=compares).items()),
            ]
            for row in rows
            if row.tier == tier
        )
    columns = {"System": "text"} | (dict.fromkeys(_named(rows[0], compares=compares), "number") if rows else {})
    return tables.table(columns, lines, caption="What stands above the answer")


def _named(row: TierRow, *, compares: bool) -> dict[str, Interval]:
    above = {} if not compares else {f"Above every {name}": found for name, found in row.discrimination.items()}
    return above | {"R@1": row.recall_at_1, "R@5": row.recall_at_5, "Hit@1": row.hit_at_1}


def numbers(rows: Sequence[TierRow], *, compares: bool = True) -> tuple[list[str], list[list[object]]]:
    """Everything the page shows, for a CSV file; shares at rank 1 have a value only. Arguments as of the table."""
    lines: list[list[object]] = []
    for row in rows:
        place = [row.task, row.system.name, row.tier or "all"]
        lines += [
            [*place, words, *(getattr(found, name) for name in NUMBERS)]
            for words, found in _named(row, compares=compares).items()
        ]
        lines += [
            [*place, f"at rank 1: {name}, {language} language", share, *[None] * (len(NUMBERS) - 1)]
            for name, shares in row.outcome_at_1.items()
            for language, share in shares.items()
        ]
    return ["task", "system", "tier", "number", *NUMBERS], lines


FEW = 15  # examples before one asks for all
OUTCOMES = {
    f"{relation},{language}": f"{relation}, {words}"
    for relation in ("sibling", "related", "unrelated", "same concept")
    for language, words in (("same", "in the query's language"), ("other", "in another language"))
}


class Chosen(NamedTuple):
    """Whose examples are shown, and of which outcome at rank 1."""

    system: SystemLabel
    relation: str
    language: str  # same | other


def choose_system(systems: Sequence[SystemLabel]) -> Callable[[list[str]], None]:
    """What a click on a system's bar does: its outcome becomes the chosen one."""
    names = {label.short: label.name for label in systems}

    def choose(part: list[str]) -> None:
        line, relation, language = part
        address.put(system=names[line], outcome=(relation, language))

    return choose


def choose_outcome(part: list[str]) -> None:
    """What a click on a language's bar does: the outcome becomes the chosen one."""
    _, relation, language = part
    address.put(outcome=(relation, language))


def pickers(systems: Sequence[SystemLabel], *, answer: str = SAME_CONCEPT) -> Chosen:
    """Select boxes that do what the clicks do."""
    known = {label.name: label for label in systems}
    left, right = st.columns(2)
    with left:
        name = address.choose(
            st.selectbox,
            "System",
            list(known),
            name="system",
            default=next(iter(known)),
            format_func=lambda name: known[name].short,
        )
    with right:
        outcome = address.choose(
            st.selectbox,
            "At rank 1 stands",
            list(OUTCOMES),
            name="outcome",
            default="sibling,same",
            format_func=lambda outcome: _words(outcome, answer),
        )
    return Chosen(known[name], *outcome.split(","))


def _words(outcome: str, answer: str) -> str:
    return OUTCOMES[outcome].replace(SAME_CONCEPT, answer)


def show_examples(found: Sequence[Example], chosen: Chosen, *, answer: str = SAME_CONCEPT, dark: bool) -> None:
    """The queries of the chosen outcome with what stands at rank 1, the worst answered first."""
    words = _words(f"{chosen.relation},{chosen.language}", answer)
    st.subheader(tables.literal(f"{chosen.system.short} · {words} · {len(found):,} queries"), anchor=False)
    if not found:
        ui.grey("No query of this part has that at rank 1.")
        return
    rows = found if len(found) <= FEW or address.get("rows") == "yes" else found[:FEW]
    columns = {"Query": "passage", "At rank 1": "passage", "First right answer": "number"}
    lines: list[Sequence[Cell] | str] = [
        [
            tables.passage(row.query_text, language=row.query_language, dark=dark),
            tables.passage(row.document_text, language=row.document_language, dark=dark),
            "not found" if row.answer_rank is None else f"{row.answer_rank:,}",
        ]
        for row in rows
    ]
    tables.show(tables.table(columns, lines, caption=words))
    if len(found) > FEW:
        address.switch(f"Show all {len(found):,}", name="rows")
    names = [field.name for field in fields(Example)]
    values = [[getattr(row, name) for name in names] for row in found]
    ui.download("CSV of these queries", names, values, file="examples.csv")
