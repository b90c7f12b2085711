"""What the paper of a benchmark prints, beside what was measured of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.report.blocks import Block, Cell, Grey, Heading, Row, Table
from analysis.store.read import Store
from analysis.views import papers
from analysis.views.papers import PaperFigure
from analysis.views.selection import Selection

TITLES = {
    "overview": "leaderboard",
    "routes": "language routes",
    "recoverability": "depth",
    "tiers": "difficulty tiers",
    "fairness": "fairness",
    "significance": "tests",
}
"""What the figures of each page are about."""


def blocks(store: Store, selection: Selection) -> list[Block]:
    """The figures of the benchmark's paper, and whether they may be read against what was measured; empty without one.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    found = papers.figures(store, selection)
    if not found:
        return []
    builds = papers.builds(store, selection)
    beside = papers.beside(found, builds, where="in brackets")
    words = f"Published, as printed in {papers.source(found)} · {beside}"
    said: list[Block] = [Heading("Figures of the paper", 3), Grey(words)]
    for more in (papers.another_build(builds), papers.remarks(found)):
        said += [Grey(more)] if more else []
    return [*said, *tables(found)]


def tables(found: Sequence[PaperFigure]) -> Iterator[Table]:
    """One table a question, one row a system, by task: as printed, in brackets what was measured here."""
    for page, title in TITLES.items():
        mine = [figure for figure in found if figure.page == page]
        if mine:
            columns = papers.columns(mine)
            rows: list[Row] = []
            for task, systems in papers.lines(mine).items():
                rows.append(task)
                rows += [
                    [label, *(_cell(figures[column]) if column in figures else None for column in columns)]
                    for label, figures in systems
                ]
            heads = {"System": "text"} | dict.fromkeys(columns, "number")
            yield Table(f"Printed in {mine[0].paper}, in brackets measured here: {title}", heads, tuple(rows))


def _cell(figure: PaperFigure) -> Cell:
    return f"{figure.written} ({figure.measured_words})" if figure.measured_words else figure.written
