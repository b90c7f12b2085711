"""What is here: the card of the chosen benchmark, and everything that is stored, with the space it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from analysis.errors import StoreError
from analysis.views import benchmark_card, data
from analysis.views.data import Card, Stored, StoredResult, StoredRun, TaskCard, TextCounts
from analysis.views.plain import as_json
from pages.shared import (
    data_audits,
    data_documents,
    data_manage,
    data_separation,
    data_tagging,
    data_training,
    data_translations,
    leaderboard,
    tables,
    ui,
)
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

CARD_TERMS = (
    ("Word", data.COUNTED_AS),
    (
        "Cross-language",
        "Relevant pairs of a query and a document in another language. Relevant: grade 1 or more.",
    ),
    ("Family", "Queries that ask for the same thing, in whichever language: they share their right answers."),
    ("±", "The mean over all texts, and their standard deviation."),
    ("Vocabulary", "How many different words the documents of a task have."),
)
ROWS: tuple[tuple[str, Callable[[TaskCard], int | TextCounts | None]], ...] = (
    ("Documents", lambda task: task.task.n_documents),
    ("Queries", lambda task: task.task.n_queries),
    ("Query families", lambda task: task.n_families),
    ("Judgements", lambda task: task.n_judgements),
    ("of these relevant", lambda task: task.n_relevant),
    ("of these cross-language", lambda task: task.n_cross_language),
    ("Words a query", lambda task: task.query_tokens),
    ("Words a document", lambda task: task.document_tokens),
    ("Vocabulary", lambda task: task.vocabulary),
)


RUN_COLUMNS = {
    "System": "text",
    "Rows kept": "number",
    "Searched to rank": "number",
    "Size": "number",
    "Stored (UTC)": "stamp",
    "From": "text",
}


def show(frame: Frame) -> None:
    """The card, all that is stored, and what can be done with it."""
    stored = data.stored(ui.store(), ui.answer(data.benchmarks_stored))
    try:
        _card(ui.answer(data.card, frame.benchmark.address), frame)
    except StoreError as error:  # a damaged file of one benchmark: what is stored can still be looked at, and deleted
        st.error(tables.literal(str(error)))
    leaderboard.card(frame.benchmark)
    data_audits.show(frame)
    _stored(stored, frame)
    data_manage.show(stored, frame)


def _card(card: Card, frame: Frame) -> None:
    ui.takeaway(card.takeaway)
    if not card.tasks:
        return
    names = [task.task.title for task in card.tasks]
    ui.caption(f"{card.benchmark.title} · one column a task · counted over all its texts", more=CARD_TERMS)
    rows: list[Sequence[Cell]] = [[words, *(_number(count(task)) for task in card.tasks)] for words, count in ROWS]
    columns = {"": "text"} | dict.fromkeys(names, "number")
    tables.show(tables.table(columns, rows, caption="Benchmark card", style="narrow"))
    _downloads(card)
    _languages(card, frame)
    data_separation.texts(card, frame)
    if any(task.attributes for task in card.tasks):
        with st.expander("What is known of the queries"):
            _attributes(card)
    if card.separation:
        data_separation.show(card.separation, frame)
    data_training.show(card, frame)
    _reports(card, frame)


def _downloads(card: Card) -> None:
    """The card as numbers, and whole for an appendix or a program."""
    header = ["task", "what", "count", "mean", "standard deviation", "median"]
    name = f"card-{card.benchmark.name}"
    with st.container(horizontal=True):
        ui.download("CSV", header, _card_rows(card), file=f"{name}.csv")
        ui.download_text_later("Whole card (Markdown)", lambda: benchmark_card.markdown(card), file=f"{name}.md")
        json = "application/json"
        ui.download_text_later("Whole card (JSON)", lambda: as_json(card), file=f"{name}.json", mime=json)


def _reports(card: Card, frame: Frame) -> None:
    """What the programs that built its tasks have to report."""
    if any(task.tagging or task.translations or task.documents for task in card.tasks):
        st.subheader("How it was built", anchor=False)
        data_tagging.show(card, frame)
        data_translations.show(card, frame)
        data_documents.show(card, frame)


def _number(found: int | TextCounts | None) -> str:
    if found is None:
        return ""
    if isinstance(found, int):
        return f"{found:,}"
    spread = "" if found.deviation is None else f" ± {found.deviation:.1f}"
    return f"{found.mean:.1f}{spread}"


def _card_rows(card: Card) -> list[list[object]]:
    rows: list[list[object]] = []
    for task in card.tasks:
        for words, count in ROWS:
            found = count(task)
            numbers = [found, None, None, None] if isinstance(found, int) or found is None else list(found)
            rows.append([task.task.name, words, *numbers])
        for tag in task.languages:
            rows.append([task.task.name, f"queries in {tag.language}", tag.n_queries, None, None, None])
            rows.append([task.task.name, f"documents in {tag.language}", tag.n_documents, None, None, None])
    return rows


def _languages(card: Card, frame: Frame) -> None:
    """Queries and documents of each language; a blank where a task has none."""
    tags = dict.fromkeys(found.language for task in card.tasks for found in task.languages)
    found = [{row.language: row for row in task.languages} for task in card.tasks]
    heads = [f"{task.task.title}: {what}" for task in card.tasks for what in ("queries", "documents")]
    rows: list[list[str | int]] = []
    for tag in tags:
        row: list[str | int] = [tag]
        for of_task in found:
            counts = of_task.get(tag)
            row += (counts.n_queries, counts.n_documents) if counts else (0, 0)
        rows.append(row)
    with st.expander(f"Languages ({len(tags):,})"):
        caption = "Queries and documents of each language"
        tables.show(tables.by_language(heads, rows, caption=caption, dark=frame.dark, style=""))


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
    own, others, published = _kept(stored, frame)
    if own:
        tables.show(tables.table(RUN_COLUMNS, own, caption=f"Runs on {frame.tasks[0].title}"))
    if others:
        with st.expander("Runs on other tasks"):
            tables.show(tables.table(RUN_COLUMNS, others, caption="Runs on other tasks"))
    if published:
        with st.expander("Published results"):
            tables.show(tables.table({"System": "text", "Figures": "number"}, published, caption="Published results"))


def _kept(stored: Stored, frame: Frame) -> tuple[list[Sequence[Cell] | str], ...]:
    """Rows of runs on the chosen task, of runs on others, and of published results, each under its task."""
    own: list[Sequence[Cell] | str] = []
    others: list[Sequence[Cell] | str] = []
    published: list[Sequence[Cell] | str] = []
    for benchmark in stored.benchmarks:
        for task in benchmark.tasks:
            texts = "" if task.n_bytes is None else f", texts {data.size(task.n_bytes)}"
            name = f"{benchmark.benchmark.title} ({benchmark.benchmark.version}) · {task.task.title}"
            if task.runs or not task.published:
                here = benchmark.benchmark.address == frame.benchmark.address and task.task.name == frame.tasks[0].name
                rows = own if here else others
                rows.append(f"{name}{texts}")
                rows += [_run_row(run, frame) for run in task.runs] or [["no run yet", "", "", "", "", ""]]
            if task.published:
                published.append(name)
                published += [_result_row(found, frame) for found in task.published]
    return own, others, published


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
    return [tables.chip(found.system, dark=frame.dark), f"{found.n_figures:,}"]
