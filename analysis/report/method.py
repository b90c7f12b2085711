"""Definitions with formulas and sources, seeds and limits."""

from __future__ import annotations

from analysis.report.blocks import Block, Cell, Grey, Heading, Section, Table
from analysis.store.read import Store
from analysis.views import method
from analysis.views.method import Definition
from analysis.views.selection import BenchmarkLabel, Selection, Sentence


def section(store: Store, selection: Selection) -> Section:
    """The answer of the page *Method*.

    Raises:
        InputError: an unknown benchmark, task or system.
    """
    view = method.page(store, selection)
    blocks: list[Block] = [Sentence(view.limits[0], ""), *map(Grey, view.limits[1:]), _card(view.benchmark)]
    for part in view.sections:
        columns = {"Term": "text", "What it says": "passage", "Source": "text"}
        rows = tuple([term.name, _said(term), term.source] for term in part.terms)
        blocks += [Heading(part.title, 3), Table(part.title, columns, rows)]
    blocks += [Heading("Draws and seeds", 3), Table("Draws and seeds", {"What": "text", "How": "passage"}, view.seeds)]
    return Section("method", "Method", "What does this number mean?", tuple(blocks))


def _said(term: Definition) -> str:
    formula = f" Formula: {term.formula}." if term.formula else ""
    mean = f" Mean {term.mean}." if term.mean and "Averaged within" not in term.definition else ""
    return f"{term.definition}{mean}{formula}"


def _card(benchmark: BenchmarkLabel) -> Table:
    rows: list[list[Cell]] = [
        ["Benchmark", f"{benchmark.title} ({benchmark.version})"],
        ["Source", benchmark.source],
        ["Licence", benchmark.licence],
    ]
    return Table("About this benchmark", {"Fact": "text", "What it is": "passage"}, tuple(rows))
