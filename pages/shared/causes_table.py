"""The tables of Why it fails, the choice of one system, and the job that looks at tokens and vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from analysis import jobs
from analysis.charts import causes as charts
from analysis.jobs import Job
from analysis.views import causes
from analysis.views.causes import CausesTask, Hub, LanguageCauses, LanguagePair, SystemCauses
from analysis.views.selection import Interval, counted
from pages.shared import address, data_jobs, glossary, job_box, tables, ui
from pages.shared.leaderboard import NUMBERS
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

COMMAND = "diagnose"
QUIET = {"truncated", "empty_list", "no_shared_word"}
"""Columns that are left out where they are 0 in every language."""


def offer(frame: Frame, task: CausesTask) -> None:
    """A button where there is something to look at; the page shows the job that does while it runs."""
    job = _last(frame.benchmark.address)
    if not task.pending or (job and job_box.runs(job.state)):
        return
    with st.container(border=True):
        who = f"{counted(len(task.pending), 'system')} on this task {'sees' if len(task.pending) == 1 else 'see'}"
        job_box.explain(f"What {who} of a text has not been looked at yet.", kind="takeaway")
        ui.grey(
            "Tokens, vectors and words are looked at in the background; texts that were encoded are not encoded again. "
            "What the lists tell stands below already."
        )
        if job and job.state.status in {"failed", "stopped"}:
            ui.grey(f"The last time it ended badly: {data_jobs.trouble(job) or job.state.step}.")
        act = job_box.on_task(COMMAND, benchmark=frame.benchmark.address)
        job_box.button("Look at tokens and vectors", act, task.task.name, key="diagnose", primary=True)


def _last(benchmark: str) -> Job | None:
    """The job of this sort that said something last, of this benchmark or started in a terminal."""
    for job in jobs.listed():
        if job.command == COMMAND and (job.request is None or f"--benchmark={benchmark}" in job.request.arguments):
            return job
    return None


def spoken(task: CausesTask) -> str:
    """What the map shows, for those who cannot see it."""
    return " ".join(system.verdict.bold for system in task.systems)


def verdicts(task: CausesTask, *, dark: bool) -> Markup:
    """What stands out of each system, and how much it finds across languages."""
    rows = [
        [
            tables.chip(system.system, dark=dark),
            tables.spread(system.rows[0].numbers.get("recall_at_10_cross"), "R@10 cross"),
            _verdict(system),
        ]
        for system in task.systems
    ]
    columns = {"System": "text", "R@10 cross": "number", "What stands out": "passage"}
    return tables.table(columns, rows, caption=f"Causes on {task.task.title}")


def _verdict(system: SystemCauses) -> Markup:
    prefix = f"{system.system.short}: "
    words = system.verdict.bold.removeprefix(prefix)
    lead = Markup(f"<strong>{tables.escaped(words[:1].upper() + words[1:])}</strong> " if system.causes else "")
    text = system.verdict.rest if system.causes else words[:1].upper() + words[1:]
    return Markup(lead + tables.escaped(text))


def show_space(task: CausesTask, *, dark: bool) -> None:
    """Separability against alignment, or why there is none to show."""
    told = [system for system in task.systems if "probe_accuracy" in system.rows[0].numbers]
    if told:
        ui.grey(glossary.SPACE_CAPTION)
        words = " ".join(system.sentences.get("alignment", "") for system in told)
        ui.chart(charts.space(task, dark=dark), key="space", alt=words)
    reasons: dict[str, list[str]] = {}
    for system in task.systems:
        if system.vectors_reason:
            reasons.setdefault(system.vectors_reason, []).append(system.system.short)
    if reasons:
        ui.grey(f"Not drawn: {'; '.join(f'{_and(names)} ({reason})' for reason, names in reasons.items())}.")
    if not told and not reasons:
        ui.grey("Nobody has looked at the vectors yet.")


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def hubs_spoken(task: CausesTask) -> str:
    """What the bars show, for those who cannot see them."""
    return " ".join(system.sentences["hubs"] for system in task.systems if "hubs" in system.sentences)


def picker(task: CausesTask) -> SystemCauses:
    """The system to look at closely: the one of the address, else the one that the takeaway is about."""
    known = {system.system.name: system for system in task.systems}
    first = next((system for system in task.systems if task.takeaway.bold.startswith(system.system.short)), None)
    name = address.choose(
        st.selectbox,
        "Look at one system",
        list(known),
        name="system",
        default=(first or task.systems[0]).system.name,
        format_func=lambda name: known[name].system.short,
    )
    return known[name]


def show_system(system: SystemCauses, task: CausesTask, *, dark: bool) -> None:
    """One sentence a cause, the numbers by language, the languages two by two, and the documents in the way."""
    items = "".join(f"<li>{tables.escaped(words)}</li>" for words in system.sentences.values())
    tables.show(Markup(f"<ul>{items}</ul>"))
    if system.tokens_reason:
        ui.grey(f"Tokens: {system.tokens_reason}.")
    ui.go_to(
        ui.ROUTES,
        "Who outranks the answer, language by language →",
        **{**ui.shared_choices(), "measure": "preference"},
    )
    tables.show(_by_language(system, dark=dark))
    ui.grey("Below each value: its 95 % interval over draws of other concepts like these.")
    if system.pairs:
        st.subheader("Two languages in one space", anchor=False)
        ui.grey(glossary.PAIRS_OF_LANGUAGES)
        tables.show(_pairs(system, dark=dark))
    if system.hubs:
        st.subheader("The documents in the way", anchor=False)
        share = f"{system.n_hubs} of {task.task.n_documents:,} documents are hubs"
        skew = f" · skewness of N₁₀ {system.skewness:.2f}" if system.skewness is not None else ""
        ui.grey(f"{share}{skew} · {system.distinct_documents:,} documents stand in any top ten")
        tables.show(_hubs(system.hubs, dark=dark))


def _by_language(system: SystemCauses, *, dark: bool) -> Markup:
    shown = {key: words for key, words in causes.NUMBERS.items() if any(_tells(row, key) for row in system.rows)}
    rows: list[list[Cell]] = []
    for row in system.rows:
        name: Cell = tables.badge(row.language, dark=dark) if row.language else "all"
        above = f"{row.outranked_by[0]}, {row.outranked_by[1]:.1f} ×" if row.outranked_by else ""
        rows.append([name, *(tables.spread(row.numbers.get(key), words) for key, words in shown.items()), above])
    columns = {"Language": "text"} | dict.fromkeys(shown.values(), "number") | {"Outranked by": "number"}
    return tables.table(columns, rows, caption=f"{system.system.short} by language")


def _tells(row: LanguageCauses, key: str) -> bool:
    """Whether a number is known, and not the 0 that a sentence above says already."""
    return key in row.numbers and (key not in QUIET or bool(row.numbers[key].value))


def _pairs(system: SystemCauses, *, dark: bool) -> Markup:
    """A square: alignment above the diagonal, on ink; the distance of the centres below it."""
    tags = list(dict.fromkeys(tag for pair in system.pairs for tag in (pair.language, pair.other)))
    known = {frozenset((pair.language, pair.other)): pair for pair in system.pairs}
    rows: list[list[Cell]] = [
        [
            tables.badge(tag, dark=dark),
            *(
                _pair_cell(known.get(frozenset((tag, other))), above=row < column, dark=dark)
                for column, other in enumerate(tags)
            ),
        ]
        for row, tag in enumerate(tags)
    ]
    columns = {"": "text"} | dict.fromkeys(tags, "number")
    return tables.table(columns, rows, caption="Language pairs", style="narrow")


def _pair_cell(pair: LanguagePair | None, *, above: bool, dark: bool) -> Cell:
    if pair is None:
        return ""
    if not above:
        return "" if pair.distance is None else f"{pair.distance:.2f}"
    found = pair.alignment
    if found is None or found.value is None or found.low is None or found.high is None:
        return ""
    words = f"{found.value:.4f}, {found.level:.0%} interval {found.low:.4f} to {found.high:.4f}, n = {found.n:,}"
    return tables.inked_share(found.value, dark=dark, words=words)


def _hubs(found: tuple[Hub, ...], *, dark: bool) -> Markup:
    rows = [
        [
            f"{hub.n_queries:,}",
            f"{hub.share:.2f}",
            Markup(
                tables.passage(hub.text, language=hub.language, dark=dark)
                + f'<br><span class="soft">{tables.escaped(hub.document_id)}</span>'
            ),
        ]
        for hub in found
    ]
    columns = {"Lists": "number", "Share": "number", "Document": "passage"}
    return tables.table(columns, rows, caption="Hub documents")


def numbers(task: CausesTask) -> tuple[list[str], list[list[object]]]:
    """Everything the page shows of a task, for a CSV file."""
    rows = [row for system in task.systems for row in _csv_rows(task, system)]
    return ["task", "system", "language", "other_language", "cause", *NUMBERS], rows


def _csv_rows(task: CausesTask, system: SystemCauses) -> Iterator[list[object]]:
    def line(language: str | None, other: str | None, cause: str, found: Interval | float) -> list[object]:
        values = (
            [getattr(found, name) for name in NUMBERS]
            if isinstance(found, Interval)
            else [found if name == "value" else None for name in NUMBERS]
        )
        return [task.task.name, system.system.name, language, other, cause, *values]

    for row in system.rows:
        yield from (line(row.language, None, key, found) for key, found in row.numbers.items())
        if row.own_share is not None:
            yield line(row.language, None, "own_language_share_of_corpus", row.own_share)
        if row.outranked_by:
            yield line(row.language, row.outranked_by[0], "language_preference", row.outranked_by[1])
    for pair in system.pairs:
        if pair.alignment:
            yield line(pair.language, pair.other, "alignment", pair.alignment)
        if pair.distance is not None:
            yield line(pair.language, pair.other, "centroid_distance", pair.distance)
    if system.skewness is not None:
        yield line(None, None, "skewness_of_n_10", system.skewness)
    yield line(None, None, "hubs", float(system.n_hubs))
    yield line(None, None, "distinct_documents_at_10", float(system.distinct_documents))
