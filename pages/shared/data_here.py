"""What is here: the card of the chosen benchmark, and everything that is stored, with the space it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from analysis.errors import StoreError
from analysis.views import data
from analysis.views.data import Card, Stored, StoredResult, StoredRun, TaskCard, TextCounts
from analysis.views.selection import counted
from pages.shared import data_audits, data_manage, data_tagging, data_translations, leaderboard, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

CARD_TERMS = (
    ("Token", data.COUNTED_AS),
    (
        "Cross-language",
        "Relevant pairs of a query and a document in another language. Relevant: grade 1 or more.",
    ),
    ("Family", "Queries that ask for the same thing, in whichever language: they share their right answers."),
    ("±", "The mean over all texts, and their standard deviation."),
    ("Vocabulary", "How many different tokens the documents of a task have."),
    ("Vocabulary shared", "Jaccard: tokens that both corpora have ÷ tokens that either has. 1 is the same vocabulary."),
)
ROWS: tuple[tuple[str, Callable[[TaskCard], int | TextCounts | None]], ...] = (
    ("Documents", lambda task: task.task.n_documents),
    ("Queries", lambda task: task.task.n_queries),
    ("Query families", lambda task: task.n_families),
    ("Judgements", lambda task: task.n_judgements),
    ("of these relevant", lambda task: task.n_relevant),
    ("of these cross-language", lambda task: task.n_cross_language),
    ("Tokens a query", lambda task: task.query_tokens),
    ("Tokens a document", lambda task: task.document_tokens),
    ("Vocabulary", lambda task: task.vocabulary),
)


def show(frame: Frame) -> None:
    """The card, all that is stored, and what can be done with it."""
    stored = data.stored(ui.store(), ui.answer(data.benchmarks_stored))
    try:
        _card(ui.answer(data.card, frame.benchmark.address), frame)
    except StoreError as error:  # a damaged file of one benchmark: what is stored can still be looked at, and deleted
        st.error(tables.literal(str(error)))
    data_audits.show(frame)
    _stored(stored, frame)
    data_manage.show(stored, frame)
    leaderboard.card(frame.benchmark)


def _card(card: Card, frame: Frame) -> None:
    ui.takeaway(card.takeaway)
    if not card.tasks:
        return
    names = [task.task.title for task in card.tasks]
    ui.caption(f"{card.benchmark.title} · one column a task · counted over all its texts", more=CARD_TERMS)
    rows: list[Sequence[Cell]] = [[words, *(_number(count(task)) for task in card.tasks)] for words, count in ROWS]
    columns = {"": "text"} | dict.fromkeys(names, "number")
    tables.show(tables.table(columns, rows, caption="Benchmark card", style="narrow"))
    header = ["task", "what", "count", "mean", "standard deviation"]
    ui.download("CSV", header, _card_rows(card), file=f"card-{card.benchmark.name}.csv")
    _languages(card, frame)
    data_tagging.show(card, frame)
    data_translations.show(card, frame)
    if any(task.attributes for task in card.tasks):
        with st.expander("What is known of the queries"):
            _attributes(card)
    if card.overlaps:
        with st.expander("Vocabulary that two tasks share"):
            shared = [[f"{row.a} and {row.b}", f"{row.shared:,}", _share(row.jaccard)] for row in card.overlaps]
            columns = {"Tasks": "text", "Tokens in both": "number", "Jaccard": "number"}
            tables.show(tables.table(columns, shared, caption="Vocabulary that two tasks share"))


def _number(found: int | TextCounts | None) -> str:
    if found is None:
        return ""
    if isinstance(found, int):
        return f"{found:,}"
    spread = "" if found.deviation is None else f" ± {found.deviation:.1f}"
    return f"{found.mean:.1f}{spread}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _card_rows(card: Card) -> list[list[object]]:
    rows: list[list[object]] = []
    for task in card.tasks:
        for words, count in ROWS:
            found = count(task)
            numbers = [found, None, None] if isinstance(found, int) or found is None else list(found)
            rows.append([task.task.name, words, *numbers])
        for tag in task.languages:
            rows.append([task.task.name, f"queries in {tag.language}", tag.n_queries, None, None])
            rows.append([task.task.name, f"documents in {tag.language}", tag.n_documents, None, None])
    return rows


def _languages(card: Card, frame: Frame) -> None:
    """Queries and documents of each language; a blank where a task has none."""
    tags = dict.fromkeys(found.language for task in card.tasks for found in task.languages)
    found = [{row.language: row for row in task.languages} for task in card.tasks]
    columns = {"Language": "text"}
    for task in card.tasks:
        columns |= {f"{task.task.title}: queries": "number", f"{task.task.title}: documents": "number"}
    rows: list[Sequence[Cell]] = []
    for tag in tags:
        cells: list[Cell] = [tables.badge(tag, dark=frame.dark)]
        for of_task in found:
            row = of_task.get(tag)
            counts = (row.n_queries, row.n_documents) if row else (0, 0)
            cells += [f"{number:,}" if number else "" for number in counts]
        rows.append(cells)
    with st.expander(f"Languages ({len(tags):,})", expanded=len(tags) <= 12):
        tables.show(tables.table(columns, rows, caption="Queries and documents of each language"))


def _attributes(card: Card) -> None:
    rows: list[Sequence[Cell] | str] = []
    for task in card.tasks:
        if task.attributes:
            rows.append(task.task.title)
        for found in task.attributes:
            values = [f"{value} ({n:,})" for value, n in found.values]
            values += [f"{found.n_more:,} further values"] if found.n_more else []
            values += [f"without: {found.n_without:,}"] if found.n_without else []
            rows.append([found.attribute.replace("_", " "), tables.escaped(" · ".join(values))])
    tables.show(tables.table({"Attribute": "text", "Values (queries)": "passage"}, rows, caption="Query attributes"))


def _stored(stored: Stored, frame: Frame) -> None:
    st.header("Everything stored here", anchor=False)
    ui.takeaway(stored.takeaway)
    space = stored.storage
    parts = (
        ("vectors, kept so that no text is encoded twice", space.embeddings),
        ("rankings", space.hits),
        ("texts", space.documents),
        ("facts that pages aggregate", space.generation),
        ("the state before the last job, sources, logs", space.rest),
    )
    ui.grey(" · ".join(f"{words} {data.size(n)}" for words, n in parts))
    rows: list[Sequence[Cell] | str] = []
    for benchmark in stored.benchmarks:
        for task in benchmark.tasks:
            texts = "" if task.n_bytes is None else f", texts {data.size(task.n_bytes)}"
            version = f"{benchmark.benchmark.title} ({benchmark.benchmark.version})"
            rows.append(f"{version} · {task.task.title}{texts}")
            kept = [_run_row(run, frame) for run in task.runs] + [_result_row(found, frame) for found in task.published]
            rows += kept or [["no run yet", "", "", "", "", ""]]
    columns = {
        "System": "text",
        "Rows kept": "number",
        "Searched to rank": "number",
        "Size": "number",
        "Stored (UTC)": "stamp",
        "From": "text",
    }
    tables.show(tables.table(columns, rows, caption="Everything stored"))


def _run_row(run: StoredRun, frame: Frame) -> list[Cell]:
    origin: Cell = "imported" if run.imported else "run here"
    if run.status == "refused":
        origin = Markup(f'<span class="grey">refused: </span>{tables.escaped(run.reason or "")}')
    return [
        tables.chip(run.system, dark=frame.dark),
        "" if run.n_rows is None else f"{run.n_rows:,}",
        "" if run.depth is None else f"{run.depth:,}",
        "" if run.n_bytes is None else data.size(run.n_bytes),
        run.created_at.replace("T", " ")[:16],
        origin,
    ]


def _result_row(found: StoredResult, frame: Frame) -> list[Cell]:
    return [tables.chip(found.system, dark=frame.dark), "", "", "", "", counted(found.n_figures, "published figure")]
