"""The tables of the page Method."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping

from analysis.views.method import MethodView, RunOrigin, Section
from analysis.views.selection import Sentence
from pages.shared import tables
from pages.shared.tables import Cell, Markup


def summary(view: MethodView) -> Sentence:
    """What the numbers of this benchmark rest on."""
    systems = len({run.system.name for run in view.runs})
    drawn = "whole concepts across all languages" if view.benchmark.parallel else "whole families within each language"
    return Sentence(
        "Not for clinical decisions.",
        f"{view.benchmark.title}: {len(view.runs)} runs of {systems} systems, intervals over draws of {drawn}, "
        f"made with Babelscope {view.version}.",
    )


def outline(view: MethodView) -> str:
    """What the page holds."""
    terms = sum(len(section.terms) for section in view.sections)
    return f"{terms} terms with formula and source: {', '.join(section.title for section in view.sections)}"


def definitions(section: Section) -> Markup:
    """One row a term."""
    rows = []
    for term in section.terms:
        mean = f" Mean {term.mean}." if term.mean and "Averaged within" not in term.definition else ""
        formula = f'<br><span class="formula">{html.escape(term.formula)}</span>' if term.formula else ""
        rows.append((term.name, Markup(html.escape(term.definition + mean) + formula), term.source))
    return tables.table(
        {"Term": "text", "What it says": "passage", "Source": "text"}, rows, caption=section.title, style="method"
    )


def runs(view: MethodView, *, dark: bool) -> Markup:
    """One row a run, by task."""
    rows: list[tuple[Cell, ...] | str] = []
    task = None
    for run in view.runs:
        if run.task != task:
            rows.append(run.task)
            task = run.task
        rows.append(
            (
                tables.chip(run.system, dark=dark),
                _what(run),
                f"{run.depth:,}" if run.depth else "",
                run.created_at.replace("T", " ")[:16],
            )
        )
    columns = {"System": "text", "What ran": "passage", "Depth": "number", "Stored (UTC)": "text"}
    return tables.table(columns, rows, caption="Runs")


def _what(run: RunOrigin) -> Markup:
    settings: Mapping[str, object] = run.settings
    facts = [str(settings[key]) for key in ("model", "install", "licence", "dtype") if settings.get(key)]
    if settings.get("sha256"):
        facts.append(f"SHA-256 {str(settings['sha256'])[:12]}…")
    if settings.get("max_length"):
        facts.append(f"at most {settings['max_length']} tokens")
    soft = f'<br><span class="soft">{html.escape(" · ".join(facts))}</span>' if facts else ""
    return Markup(html.escape(str(settings.get("note", ""))) + soft)


def numbers(view: MethodView) -> tuple[list[str], list[list[object]]]:
    """The same with every setting and version, for a spreadsheet."""
    header = ["task", "system", "stored", "depth", "babelscope", "settings", "libraries"]
    rows: list[list[object]] = [
        [
            run.task,
            run.system.name,
            run.created_at,
            run.depth,
            run.babelscope,
            json.dumps(run.settings, ensure_ascii=False, sort_keys=True),
            json.dumps(run.libraries, sort_keys=True),
        ]
        for run in view.runs
    ]
    return header, rows


def limits(view: MethodView) -> Markup:
    """The limits of every number, and of this benchmark."""
    return Markup("<ul>" + "".join(f"<li>{tables.escaped(words)}</li>" for words in view.limits) + "</ul>")
