"""One HTML file that answers every page's question, without a server and without a network."""

from __future__ import annotations

import datetime
import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from string import Template

from analysis.charts import inline, theme
from analysis.errors import InputError
from analysis.model import Progress
from analysis.report import (
    causes,
    data,
    embedding_map,
    fairness,
    manifest,
    markup,
    method,
    overview,
    recoverability,
    routes,
    significance,
    story,
    tiers,
)
from analysis.report.blocks import Section
from analysis.report.files import whole_file
from analysis.store.read import Store
from analysis.views import approximate, flags
from analysis.views.evidence import benchmark_label, chosen_tasks, task_label
from analysis.views.selection import Selection

PAGE = Path(__file__).with_name("page.html")
STYLE = Path(__file__).with_name("style.css")
SCRIPT = Path(__file__).with_name("script.js")
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
"""No connection of any kind: what the file needs is in it."""

SECTIONS: dict[str, Callable[[Store, Selection], Section]] = {
    "Overview": overview.section,
    "Language routes": routes.section,
    "Recoverability": recoverability.section,
    "Difficulty tiers": tiers.section,
    "Fairness": fairness.section,
    "Significance": significance.section,
    "Embedding map": embedding_map.section,
    "Why it fails": causes.section,
    "Clinician demo": story.section,
    "Data and runs": data.section,
    "Method": method.section,
}


def write(
    store: Store, selection: Selection, path: Path, progress: Progress, *, made_at: datetime.datetime | None = None
) -> None:
    """Write the report of a benchmark.

    Args:
        store: one generation, read throughout although a job may store another one meanwhile.
        selection: benchmark, tasks, systems and queries.
        path: of the HTML file; it appears once it is whole.
        progress: called before each section; it raises JobCancelledError once the user has cancelled.
        made_at: the time that the report names; now by default. All else is the same for the same store.

    Raises:
        InputError: an unknown benchmark, task or system, no run at all, or a path that cannot be written.
    """
    made = report(store, selection, progress, made_at=made_at)
    with whole_file(path) as handle:
        handle.write(made)


def report(store: Store, selection: Selection, progress: Progress, *, made_at: datetime.datetime | None = None) -> str:
    """The report of a benchmark as HTML; arguments and errors as for :func:`write`."""
    found = manifest.manifest(store, selection, made_at=made_at or datetime.datetime.now(datetime.UTC))
    if not found.runs and not found.published:
        names = ", ".join(task.task for task in found.tasks)
        raise InputError(f"{selection.benchmark}: no system has run on {names}, so there is nothing to report")
    sections = []
    for number, (title, made) in enumerate(SECTIONS.items()):
        progress(f"report: {title}", number, len(SECTIONS))
        sections.append(made(store, selection))
    progress("report: put together", len(SECTIONS), len(SECTIONS))
    sections.append(manifest.section(found))
    title = benchmark_label(store.benchmark(selection.benchmark)).title
    return _document(sections, found, title=title, about=_about(store, selection, found))


def _document(sections: Sequence[Section], found: manifest.Manifest, *, title: str, about: Iterable[str]) -> str:
    return Template(PAGE.read_text(encoding="utf-8")).substitute(
        policy=POLICY,
        title=html.escape(title),
        colours=_colours(),
        style=STYLE.read_text(encoding="utf-8"),
        heading=markup.escaped(title),
        about="\n".join(f'<p class="grey">{markup.escaped(words)}</p>' for words in about),
        contents=_contents(sections),
        sections="\n".join(_bodies(sections)),
        manifest=markup.embedded(asdict(found)),
        drawings=markup.embedded(_drawings(sections)),
        library=inline.library(),
        script=SCRIPT.read_text(encoding="utf-8"),
    )


def _bodies(sections: Sequence[Section]) -> Iterator[str]:
    first = 0
    for section in sections:
        yield markup.section(section, first=first)
        first += len(section.charts)


def _drawings(sections: Sequence[Section]) -> dict[str, object]:
    """Every chart in both themes, in the order of their numbers, and what all have in common."""
    charts = [chart for section in sections for chart in section.charts]
    return {
        "template": inline.template(charts[0].light) if charts else {},
        "charts": [[inline.drawing(chart.light), inline.drawing(chart.dark)] for chart in charts],
    }


def _colours() -> str:
    """The page's colours as custom properties, light and dark."""
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in asdict(theme.paper(is_dark)).items())
        for is_dark in (False, True)
    )
    return f":root{{{light}}}\n@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}"


def _about(store: Store, selection: Selection, found: manifest.Manifest) -> Iterator[str]:
    """What the report is about: how much of what, which part of the queries, and how much is doubtful."""
    systems = len({run.system for run in found.runs} | {row.system for row in found.published})
    queries = sum(task.queries for task in found.tasks)
    yield " · ".join(
        [
            f"{len(found.tasks)} {'task' if len(found.tasks) == 1 else 'tasks'}",
            f"{queries:,} queries" if queries else "published figures",
            f"{systems} {'system' if systems == 1 else 'systems'}",
            f"made {found.made_at[:10]} with Babelscope {found.versions['Babelscope']}",
            "not for clinical decisions",
        ]
    )
    if selection.where:
        yield f"Only queries with {', '.join(f'{name} = {value}' for name, value in selection.where)}"
    labels = [task_label(task) for task in chosen_tasks(store, selection)]
    if flags.total(labels).reasons:
        yield flags.sentence(labels, left_out=selection.without_flagged)
    if words := approximate.sentence(store, selection):
        yield words


def _contents(sections: Sequence[Section]) -> str:
    return "\n".join(
        f'<li><a href="#{html.escape(section.name)}">{html.escape(section.question)}</a> '
        f'<span class="soft">{html.escape(section.title)}</span></li>'
        for section in sections
    )
