"""Audits as files: rows for CSV, and Markdown for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analysis.views.audits import Agreed, AuditsView
from analysis.views.notes_export import one_line

CELLS = ("task", "question", "rater", "kind", "language", *Agreed._fields)
PAIRS = ("task", "question", "first", "second", "first_kind", "second_kind", *Agreed._fields)
JUDGEMENTS = (
    "task",
    "question",
    "query_id",
    "query_language",
    "query",
    "other_id",
    "other_language",
    "other",
    "benchmark",
    "rater",
    "kind",
    "judgement",
    "comment",
    "differs",
)


def cells(view: AuditsView) -> list[dict[str, Any]]:
    """One row a rater and language; in all languages the language is empty."""
    return [
        dict(zip(CELLS, (cell.task, cell.question, cell.rater, cell.kind, cell.language, *cell.agreed), strict=True))
        for cell in view.cells
    ]


def pairs(view: AuditsView) -> list[dict[str, Any]]:
    """One row a pair of raters."""
    return [
        dict(zip(PAIRS, (pair.task, pair.question, pair.first, pair.second, *pair.kinds, *pair.agreed), strict=True))
        for pair in view.pairs
    ]


def disagreements(view: AuditsView) -> list[dict[str, Any]]:
    """One row a judgement on an item of which somebody says otherwise than the benchmark."""
    return [dict(zip(JUDGEMENTS, (*row[:-1], *said), strict=True)) for row in view.disagreements for said in row.said]


def markdown(view: AuditsView) -> str:
    """What the section shows, as text."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: AuditsView) -> Iterator[str]:
    yield f"# Audits of {one_line(view.benchmark.title)}"
    yield ""
    yield one_line(f"{view.takeaway.bold} {view.takeaway.rest}".strip())
    for words in view.remarks:
        yield f"* {one_line(words)}"
    yield from _table(
        ("Task", "Asked", "Who", "Language", "n", "Accuracy", "Wilson, 95 %", "κ", "AC1", "MAE"),
        [(cell.task, cell.question, cell.rater, cell.language or "all", *_numbers(cell.agreed)) for cell in view.cells],
    )
    yield from _table(
        ("Task", "Asked", "One", "The other", "n", "Agreed", "Wilson, 95 %", "κ", "AC1", "MAE"),
        [(pair.task, pair.question, pair.first, pair.second, *_numbers(pair.agreed)) for pair in view.pairs],
    )
    for row in view.disagreements:
        yield ""
        yield f"## {one_line(row.query_id)} · {one_line(row.other_id)}"
        yield ""
        yield f"> {one_line(row.query)}"
        yield ">"
        yield f"> {one_line(row.other)}"
        yield ""
        yield f"* the benchmark: {one_line(row.told)}"
        for said in row.said:
            comment = f": {said.comment}" if said.comment else ""
            yield f"* {one_line(f'{said.rater} ({said.kind}): {said.judgement}{comment}')}"


def _numbers(agreed: Agreed) -> tuple[str, ...]:
    between = "" if agreed.low is None or agreed.high is None else f"{agreed.low:.2f} to {agreed.high:.2f}"
    shown = ["" if value is None else f"{value:.2f}" for value in (agreed.value, agreed.kappa, agreed.ac1, agreed.mae)]
    return f"{agreed.n:,}{' (few)' if agreed.few else ''}", shown[0], between, *shown[1:]


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(map(one_line, row))} |"
