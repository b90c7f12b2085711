"""What the papers of two benchmarks print, beside what was measured here; on Method all of it."""

from __future__ import annotations

import html
from collections.abc import Sequence

import streamlit as st

from analysis.views import papers
from analysis.views.papers import PaperFigure
from analysis.views.selection import SystemLabel
from pages.shared import glossary, tables, ui
from pages.shared.tables import Cell, Markup

PAGES = (ui.OVERVIEW, ui.ROUTES, ui.RECOVERABILITY, ui.TIERS, ui.FAIRNESS, ui.SIGNIFICANCE)
COUNTED_OTHERWISE = {"mmed_ir", "task_score"}


def show(frame: ui.Frame, page: ui.PageLink) -> None:
    """The figures of the benchmark's paper that one page's question is about, for the chosen tasks and systems."""
    found = ui.answer(papers.figures, frame.selection, page=page.address)
    if not found:
        return
    builds = ui.answer(papers.builds, frame.selection)
    st.header("Figures of the paper", anchor=False)
    beside = papers.beside(found, builds, where="below in grey")
    ui.caption(f"Published, as printed in {papers.source(found)} · {beside}", more=glossary.PRINTED)
    if words := papers.another_build(builds):
        st.warning(tables.literal(words))
    _show(found, file=f"paper-{page.address}-{frame.benchmark.name}.csv", name=frame.benchmark.title, dark=frame.dark)
    if COUNTED_OTHERWISE & {figure.measure for figure in found}:
        ui.grey(glossary.COUNTED_OTHERWISE)
    if page is ui.OVERVIEW:
        _elsewhere(frame.benchmark.name)


def _elsewhere(benchmark: str) -> None:
    """Where the paper's other figures stand."""
    counts = papers.by_page(benchmark)
    others = [f"{link.title} ({counts[link.address]})" for link in PAGES[1:] if link.address in counts]
    ui.grey(f"Other figures of this paper: {', '.join(others)}. Method lists all of them.")


def show_all(*, dark: bool) -> None:
    """Every figure of both papers, whatever is stored."""
    every = ui.answer(papers.everything)
    st.header("Figures of the papers", anchor=False)
    ui.caption(
        f"{len(every):,} published figures, as printed, none of them measured here · a stored benchmark with the name "
        "of a paper’s shows them beside its own numbers, page by page",
        more=glossary.PRINTED,
    )
    for paper in dict.fromkeys(figure.paper for figure in every):
        st.subheader(tables.literal(paper), anchor=False)
        mine = [figure for figure in every if figure.paper == paper]
        where = f" · {papers.TEXT_ONLY}" if papers.of_text(mine) else ""
        ui.grey(f"For a benchmark called {mine[0].benchmark}{where}")
        for page in PAGES:
            found = [figure for figure in mine if figure.page == page.address]
            if found:
                ui.grey(f"{page.title}: {page.question}")
                tables.show(_table(found, name=f"{paper}: {page.title}", dark=dark))
                _remarks(found)
    ui.download("CSV of the papers", *_numbers(every), file="papers.csv")


def _show(found: Sequence[PaperFigure], *, file: str, name: str, dark: bool) -> None:
    tables.show(_table(found, name=f"Figures of the paper: {name}", dark=dark))
    _remarks(found)
    ui.download("CSV of the paper", *_numbers(found), file=file)


def _remarks(found: Sequence[PaperFigure]) -> None:
    if words := papers.remarks(found):
        ui.grey(words)


def _table(found: Sequence[PaperFigure], *, name: str, dark: bool) -> Markup:
    """One row a system, by task; one column a measure."""
    columns = papers.columns(found)
    rows: list[Sequence[Cell] | str] = []
    for title, systems in papers.lines(found).items():
        rows.append(title)
        for label, figures in systems:
            cells = (_cell(figures[column]) if column in figures else "" for column in columns)
            rows.append([_system(label, next(iter(figures.values())), dark=dark), *cells])
    return tables.table({"System": "text"} | dict.fromkeys(columns, "number"), rows, caption=name)


def _system(label: SystemLabel, figure: PaperFigure, *, dark: bool) -> Markup:
    """The system, and the paper's own name of it where that is another."""
    own = f' <span class="soft">{html.escape(figure.own_name)}</span>' if figure.own_name else ""
    return Markup(tables.chip(label, dark=dark) + own)


def _cell(figure: PaperFigure) -> Markup:
    """As printed, over what was measured here; the hover says where it is from."""
    where = ", ".join(filter(None, [figure.paper, figure.place]))
    title = html.escape(f"{figure.label} {figure.written} of {figure.name}, {where}")
    here = f'<br><span class="soft">here {html.escape(figure.measured_words)}</span>' if figure.measured_words else ""
    kind = ' class="grey"' if figure.printed.startswith(">") else ""
    return Markup(f'<span title="{title}"{kind}>{html.escape(figure.written)}</span>{here}')


def _numbers(found: Sequence[PaperFigure]) -> ui.Table:
    header = ["paper", "place", "benchmark", "task", "system", "name", "measure", "query_language",
              "document_language", "tier", "printed", "plus_minus", "measured", "note"]  # fmt: skip
    rows = [[figure.system.name if name == "system" else getattr(figure, name) for name in header] for figure in found]
    return header, rows
