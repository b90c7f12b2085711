"""What the tasks of a benchmark share, and how alike its texts are."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.charts import separation as charts
from analysis.views import benchmark_card as words
from analysis.views import separation
from analysis.views.data import Card
from analysis.views.heterogeneity import TaskTexts
from analysis.views.separation import Separation, Side
from pages.shared import tables, ui
from pages.shared.tables import Cell
from pages.shared.ui import Frame

TERMS = (
    ("Concept", separation.CONCEPTS),
    ("Normalised", separation.NORMALISED),
    ("Near-duplicate", separation.NEAR_QUERIES),
    ("Jaccard", "Words that both have ÷ words that either has. 1 is the same vocabulary."),
)
TEXT_TERMS = (
    ("Vocabulary", "Different words of all these texts."),
    ("Type/token", "Vocabulary ÷ words of all these texts: it falls as texts grow, so compare like with like."),
    (words.ACROSS, "Of the pairs of a query and a relevant document, those of two languages."),
    ("Scripts", "Shares of the letters; those below 0.01 are left out here, not in the JSON."),
)
DRAWN = 12
"""Sides that a square of numbers has room for."""


def texts(card: Card, frame: Frame) -> None:
    """Lengths, words and scripts of the texts of each task by language."""
    with st.expander("Texts by language: length, vocabulary, scripts"):
        for task in card.texts:
            if task.rows:
                st.subheader(tables.literal(task.task.title), anchor=False)
                ui.caption(" ".join(map(words.balanced, task.balances)), more=TEXT_TERMS)
                tables.show(_texts(task, frame))
        header = ["task", "texts", "language", "n", "share", "mean", "standard deviation", "median"]
        header += ["tokens", "vocabulary", "type/token", "relevant", "cross-language", "scripts"]
        ui.download("CSV", header, _text_rows(card.texts), file=f"texts-{card.benchmark.name}.csv")


def _texts(task: TaskTexts, frame: Frame) -> tables.Markup:
    rows: list[Sequence[Cell] | str] = []
    for found in task.rows:
        name, *cells = words.text_cells(found)
        if found.language is None:
            rows.append(name)
        language: Cell = tables.badge(found.language, dark=frame.dark) if found.language else "all"
        rows.append([language, *cells[1:]])
    columns = {"Language": "text"} | dict.fromkeys(("Texts", "Share", "Words ± sd", "Median", "Vocabulary"), "number")
    columns |= {"Type/token": "number", words.ACROSS: "number", "Scripts": "text"}
    return tables.table(columns, rows, caption=f"Texts of {task.task.title} by language")


def _text_rows(found: Sequence[TaskTexts]) -> list[list[object]]:
    return [
        [
            task.task.name,
            row.item,
            row.language or "all",
            row.words.n,
            row.share,
            row.words.mean,
            row.words.deviation,
            row.words.median,
            row.tokens,
            row.vocabulary,
            row.type_token,
            row.answers.relevant if row.answers else None,
            row.answers.cross_language if row.answers else None,
            words.scripts(row),
        ]
        for task in found
        for row in task.rows
    ]


def show(found: Separation, frame: Frame) -> None:
    """What every two parts share, and the square of their vocabularies."""
    st.subheader("Separation", anchor=False)
    ui.takeaway(found.takeaway)
    if not found.pairs:
        return
    ui.caption(found.note or f"{len(found.parts):,} tasks, every two of them", more=TERMS)
    with st.expander("What every two share", expanded=len(found.pairs) <= 3):
        _pairs(found)
    _vocabularies(found, frame)
    _by_language(found, frame)
    numbers = [
        [row.a, row.a_item, row.b, row.b_item, row.language or "all", row.shared, row.of_a, row.of_b, row.jaccard]
        for row in found.words
    ]
    header = ["a", "texts of a", "b", "texts of b", "language", "words in both", "in a", "in b", "jaccard"]
    ui.download("CSV of words", header, numbers, file=f"vocabularies-{frame.benchmark.name}.csv")


def _pairs(found: Separation) -> None:
    kinds = {kind: name for kind, name in separation.KINDS.items() if any(pair.of(kind) for pair in found.pairs)}
    columns = {found.between.capitalize(): "text"} | dict.fromkeys(kinds.values(), "number")
    columns |= {"Near-duplicate queries": "number"}
    rows: list[Sequence[Cell] | str] = []
    csv: list[list[object]] = []
    for pair in found.pairs:
        cells: list[Cell] = [f"{pair.a} · {pair.b}"]
        for kind in kinds:
            shared = pair.of(kind)
            cells.append("" if shared is None else f"{shared.shared:,} of {min(shared.of_a, shared.of_b):,}")
            if shared:
                csv.append([pair.a, pair.b, kind, shared.shared, shared.of_a, shared.of_b])
        near = pair.near
        cells.append("" if near is None else "{:,} of {:,}".format(*near.smaller))
        if near:
            csv.append([pair.a, pair.b, "near queries of a", near.of_a, near.n_a, None])
            csv.append([pair.a, pair.b, "near queries of b", near.of_b, None, near.n_b])
        rows.append(cells)
    tables.show(tables.table(columns, rows, caption="What every two share"))
    ui.grey(
        "Of the smaller of the two; the CSV has both. " + ("" if found.near_looked_for else separation.NOT_COMPARED)
    )
    ui.download("CSV", ["a", "b", "what", "shared", "of a", "of b"], csv, file="separation.csv")


def _by_language(found: Separation, frame: Frame) -> None:
    """The same within each language that both have, where tasks are compared."""
    rows = [row for row in found.words if row.language and (row.a, row.a_item) != (row.b, row.b_item)]
    if not rows:
        return
    tags = list(dict.fromkeys(row.language for row in rows if row.language))
    known: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        names = [separation.side_name(side) for side in (Side(row.a, row.a_item), Side(row.b, row.b_item))]
        known.setdefault((names[0], names[1]), {})[str(row.language)] = row.jaccard
    cells: list[Sequence[Cell] | str] = [
        [f"{a} · {b}", *(f"{shared[tag]:.2f}" if tag in shared else "" for tag in tags)]
        for (a, b), shared in known.items()
    ]
    with st.expander("Words shared within each language"):
        ui.grey("Jaccard of the words in one language; a blank where one of the two has none in it")
        columns = [("Words of", "text"), *((tables.badge(tag, dark=frame.dark), "number") for tag in tags)]
        tables.show(tables.table(columns, cells, caption="Words shared within each language"))


def _vocabularies(found: Separation, frame: Frame) -> None:
    sides = found.sides
    drawn = sides if len(sides) <= DRAWN else [side for side in sides if side.item == sides[0].item][:DRAWN]
    of = f" of their {drawn[0].words}" if len({side.item for side in drawn}) == 1 else ""
    left = f" · {len(drawn)} of {len(sides)} are drawn, the CSV has all" if len(drawn) < len(sides) else ""
    ui.grey(f"Words{of} that two share ÷ words of either (Jaccard), 0 to 1{left}")
    ui.chart(
        charts.vocabularies(found, drawn, dark=frame.dark),
        key="vocabularies",
        alt="How many words every two sides share; the CSV below has the numbers.",
    )
