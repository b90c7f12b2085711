"""Audits: how far people and models agree with a benchmark, where they do not, blind sheets out and back."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.jobs.audit_sheet import SheetRequest
from analysis.jobs.import_audit import AuditRequest
from analysis.views import audits, audits_export
from analysis.views.audits import Agreed, AuditCell, AuditsView, Disagreement
from analysis.views.selection import Selection, capitalised, counted
from pages.shared import address, glossary, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

SHOWN = 8  # disagreements on the page; all of them are in the CSV
EVERYBODY = "everybody"
ASKED = {
    "relevance": "Is the document an answer?",
    "translation": "Does a version say what its source says?",
    "tier": "Of which tier is the query?",
}
KINDS = {"human": "people", "model": "a model"}


def show(frame: Frame) -> None:
    """The section: numbers, disagreements, sheets."""
    st.header("Audits", anchor=False)
    view = ui.answer(audits.as_of, Selection(frame.benchmark.address), audits.version(ui.store()))
    ui.takeaway(view.takeaway)
    if view.cells:
        _numbers(view, frame)
        _apart(view, frame)
    else:
        _nothing_yet(frame)
    _sheets(view, frame)
    _bring(frame)


def _nothing_yet(frame: Frame) -> None:
    """What would be here, and the two commands that bring it."""
    ui.grey(
        "An audit asks people, or a model, what they make of a sample, without telling them what the benchmark says. "
        "Below, or in a terminal:"
    )
    name, task = frame.benchmark.address, frame.tasks[0].name
    commands = (
        f"python -m analysis export-audit --benchmark {name} --task {task} -o sheet.csv",
        f"python -m analysis import-audit sheet.csv --benchmark {name} --annotator NAME",
    )
    st.code("\n".join(commands), language=None, wrap_lines=True)


# Numbers


def _numbers(view: AuditsView, frame: Frame) -> None:
    ui.caption(
        f"accuracy: share judged as the benchmark does · intervals: Wilson, {100 * view.level:.0f} % · "
        f"grey with *: fewer than {audits.ENOUGH} judgements, descriptive only",
        more=glossary.AUDITS,
    )
    tables.show(_whole(view))
    tables.show(_by_language(view, dark=frame.dark))
    if view.statuses:
        tables.show(_by_status(view))
    if view.pairs:
        st.subheader("Do they agree with each other?", anchor=False)
        tables.show(_pairs(view))
    for words in view.remarks:
        ui.grey(words)
    if view.n_gone:
        ui.grey(f"{counted(view.n_gone, 'judgement')} on what is not stored any more: kept, and in no number.")
    name = f"audits-{view.benchmark.name}"
    with st.container(horizontal=True):
        _csv("CSV of the accuracies", audits_export.CELLS, audits_export.cells(view), file=f"{name}.csv")
        if view.pairs:
            _csv("CSV of the pairs", audits_export.PAIRS, audits_export.pairs(view), file=f"{name}-pairs.csv")
        ui.download_text("Markdown", audits_export.markdown(view), file=f"{name}.md")


def _csv(words: str, header: Sequence[str], rows: Sequence[Mapping[str, Any]], *, file: str) -> None:
    ui.download(words, header, [[row[name] for name in header] for row in rows], file=file)


def _group(view: AuditsView, task: str, question: str) -> str:
    titles = {label.name: label.title for label in view.tasks}
    return f"{titles.get(task, task)} · {ASKED[question]}"


def _whole(view: AuditsView) -> Markup:
    """Every rater over all languages."""
    rows: list[Sequence[Cell] | str] = []
    graded = any(cell.agreed.mae is not None for cell in view.cells)
    for cell in view.cells:
        if cell.language is None:
            _under(rows, _group(view, cell.task, cell.question))
            tied = f'<br><span class="soft">{cell.n_tied:,} tied</span>' if cell.n_tied else ""
            n = Markup(f"{cell.agreed.n:,}{tied}")
            rows.append([_who(cell.rater, cell.kind), n, *_agreement(cell.agreed, graded=graded)])
    columns = {"Who": "text", "Judgements": "number", "Accuracy": "number", **_beyond(graded)}
    return tables.table(columns, rows, caption="Accuracy of each rater", style="narrow")


def _beyond(graded: bool) -> dict[str, str]:
    """Columns of agreement beyond chance, and of grades where there are any."""
    return dict.fromkeys(("κ", "AC1", *(("MAE",) if graded else ())), "number")


def _under(rows: list[Sequence[Cell] | str], group: str) -> None:
    if group not in rows:
        rows.append(group)


def _who(name: str, kind: str) -> Markup:
    model = ' <span class="grey">a model</span>' if kind == "model" else ""
    return Markup(f"{tables.escaped(name)}{model}")


def _agreement(agreed: Agreed, *, graded: bool) -> list[Cell]:
    """Share over its interval, κ, AC1, and MAE where any row has one; blank where undefined."""
    values = (agreed.kappa, agreed.ac1, *((agreed.mae,) if graded else ()))
    numbers: list[Cell] = ["" if value is None else tables.signed(value) for value in values]
    return [_share(agreed), *numbers]


def _share(agreed: Agreed) -> Markup:
    if agreed.value is None:
        return Markup("")
    between = f"{agreed.low or 0:.2f}–{agreed.high or 0:.2f}"
    numbers = {"κ": agreed.kappa, "AC1": agreed.ac1, "MAE": agreed.mae}
    more = ", ".join(f"{name} {value:.4f}" for name, value in numbers.items() if value is not None)
    hover = f"{agreed.n_agreed:,} of {agreed.n:,}: {agreed.value:.4f}{'; ' if more else ''}{more}"
    value = f'<span class="grey">{agreed.value:.2f}*</span>' if agreed.few else f"{agreed.value:.2f}"
    return Markup(f'<span title="{hover}">{value}<br><span class="soft">{between}</span></span>')


def _by_language(view: AuditsView, *, dark: bool) -> Markup:
    """Raters down, query languages across, how many judgements over each share's interval in the hover."""
    tags = list(dict.fromkeys(cell.language for cell in view.cells if cell.language is not None))
    by_row: dict[tuple[str, ...], dict[str, AuditCell]] = {}
    for cell in view.cells:
        if cell.language is not None:
            by_row.setdefault((cell.task, cell.question, cell.rater, cell.kind), {})[cell.language] = cell
    rows: list[Sequence[Cell] | str] = []
    for (task, question, rater, kind), cells in by_row.items():
        _under(rows, _group(view, task, question))
        rows.append([_who(rater, kind), *(_share(cells[tag].agreed) if tag in cells else "" for tag in tags)])
    heads: list[tuple[Cell, str]] = [("Accuracy by query language", "text")]
    heads += [(tables.badge(tag, dark=dark), "number") for tag in tags]
    return tables.table(heads, rows, caption="Accuracy by query language", style="narrow")


def _by_status(view: AuditsView) -> Markup:
    """Raters down, audit statuses of the queries across."""
    statuses = sorted({cell.status for cell in view.statuses})
    by_row: dict[tuple[str, ...], dict[str, Agreed]] = {}
    for cell in view.statuses:
        by_row.setdefault(cell[:4], {})[cell.status] = cell.agreed
    rows: list[Sequence[Cell] | str] = []
    for (task, question, rater, kind), found in by_row.items():
        _under(rows, _group(view, task, question))
        shares = [_share(found[status]) if status in found else "" for status in statuses]
        rows.append([_who(rater, kind), *shares])
    columns = {"Accuracy by audit status": "text"} | dict.fromkeys(statuses, "number")
    return tables.table(columns, rows, caption="Accuracy by audit status", style="narrow")


def _pairs(view: AuditsView) -> Markup:
    rows: list[Sequence[Cell] | str] = []
    graded = any(pair.agreed.mae is not None for pair in view.pairs)
    for pair in view.pairs:
        _under(rows, _group(view, pair.task, pair.question))
        one, other = (_who(name, kind) for name, kind in zip((pair.first, pair.second), pair.kinds, strict=True))
        rows.append([one, other, f"{pair.agreed.n:,}", *_agreement(pair.agreed, graded=graded)])
    columns = {"One": "text", "The other": "text", "Both judged": "number", "Agreed": "number", **_beyond(graded)}
    return tables.table(columns, rows, caption="Agreement of two raters", style="narrow")


# Disagreements


def _apart(view: AuditsView, frame: Frame) -> None:
    """Items that somebody judges otherwise than the benchmark, with their texts; the way to one of them."""
    st.subheader("Where they disagree", anchor=False)
    if not view.disagreements:
        ui.grey("Nowhere: all say of every item what the benchmark says.")
        return
    names = [EVERYBODY, *(rater.name for rater in view.raters)]
    who = address.choose(st.selectbox, "Judged otherwise by", names, name="rater", default=EVERYBODY)
    chosen = [row for row in view.disagreements if who == EVERYBODY or _by(row, who)]
    if not chosen:
        ui.grey(f"{who} contradicts nobody.")
        return
    ui.grey(
        f"{len(chosen[:SHOWN]):,} of {counted(len(chosen), 'disagreement')}, those with most voices against the "
        "benchmark first"
    )
    tables.show(_listed(view, chosen[:SHOWN], dark=frame.dark))
    name = f"disagreements-{view.benchmark.name}.csv"
    with st.container(horizontal=True):
        _csv("CSV of all disagreements", audits_export.JUDGEMENTS, audits_export.disagreements(view), file=name)
    _one(chosen, frame)


def _by(row: Disagreement, who: str) -> bool:
    """Whether somebody says of an item what the benchmark does not."""
    return any(said.rater == who and said.differs for said in row.said)


def _listed(view: AuditsView, chosen: Sequence[Disagreement], *, dark: bool) -> Markup:
    rows: list[Sequence[Cell] | str] = []
    for row in sorted(chosen, key=lambda row: (row.task, row.question)):
        _under(rows, _group(view, row.task, row.question))
        rows.append(
            [
                tables.passage(row.query, language=row.query_language, dark=dark),
                tables.passage(row.other, language=row.other_language, dark=dark),
                row.told,
                _said(row),
            ]
        )
    columns = {"Query": "passage", "Document or source": "passage", "The benchmark": "text", "They say": "passage"}
    return tables.table(columns, rows, caption="Disagreements")


def _said(row: Disagreement) -> Markup:
    words = {"0": "no", "1": "yes"} if row.question != "tier" else {}
    lines = [
        f"{_who(said.rater, said.kind)}: <strong>"
        f"{tables.escaped(words.get(said.judgement, said.judgement))}</strong>"
        + (f' <span class="soft">{tables.escaped(said.comment)}</span>' if said.comment else "")
        for said in row.said
    ]
    return Markup("<br>".join(lines))


def _one(chosen: Sequence[Disagreement], frame: Frame) -> None:
    """The way to one of the queries."""
    numbers = {f"{row.query_id} · {row.other_id}": row for row in chosen}
    asked = st.selectbox(
        "Open one in the Query explorer", list(numbers), index=None, placeholder="Choose a query and document"
    )
    if asked:
        row = numbers[asked]
        parameters = {"benchmark": frame.benchmark.address, "task": row.task, "query": row.query_id}
        ui.go_to(ui.QUERIES, "Open the query, its answers and lists →", **parameters)


# Sheets out and back


def _sheets(view: AuditsView, frame: Frame) -> None:
    task = frame.tasks[0]
    with st.expander("A blind sheet"):
        ui.grey(
            f"A sample of {task.title} (the task chosen on the left), the same number in each query language, right "
            "answers and others mixed. Nothing in it says which is which; the key stays here."
        )
        with st.form("audit-sheet", border=False):
            first, second, third = st.columns((2, 1, 1))
            question = first.selectbox("What is asked", list(ASKED), format_func=ASKED.__getitem__)
            n = second.number_input("Rows of each query language", 1, 10_000, None, placeholder="30, or what there is")
            seed = third.number_input("Seed of the sample", 0, 2**31 - 1, 1)
            pressed = st.form_submit_button("Make the sheet")
        if pressed:
            request = SheetRequest(frame.benchmark.address, task.name, question, n, int(seed))
            if _done(lambda: jobs.audit_sheet.make(request)):
                st.rerun()
        for sheet in reversed(view.sheets):
            _sheet(view, sheet, frame)


def _sheet(view: AuditsView, sheet: audits.SheetLabel, frame: Frame) -> None:
    """One sheet that was made, to take along once more."""
    ui.grey(
        f"{sheet.sheet} · {_group(view, sheet.task, sheet.question)} · {counted(sheet.n_rows, 'row')}, "
        f"{sheet.n_judged:,} of them judged · seed {sheet.seed} · {sheet.created_at.replace('T', ' ')[:16]} (UTC)"
    )

    def text() -> bytes:
        return jobs.audit_sheet.again(sheet.sheet, frame.benchmark.address).text.encode()

    def instructions() -> bytes:
        return jobs.audit_sheet.again(sheet.sheet, frame.benchmark.address).instructions.encode()

    files = (
        ("Sheet (CSV)", text, f"{sheet.sheet}.csv", "text/csv"),
        ("Instructions", instructions, f"{sheet.sheet}.README.txt", "text/plain"),
    )
    with st.container(horizontal=True):
        for words, data, file, mime in files:
            st.download_button(words, data, file_name=file, mime=mime, on_click="ignore", key=f"sheet-{file}")


def _bring(frame: Frame) -> None:
    """A sheet that was filled in, or somebody's own table."""
    task = frame.tasks[0]
    with st.expander("Bring judgements back"):
        ui.grey(
            "A sheet that was filled in; or a table (CSV, TSV, JSON lines, Parquet) with the columns query_id, "
            f"document_id, judgement and annotator, then for {task.title}, the task chosen on the left. All of it is "
            "taken over, or nothing."
        )
        with st.form("audit-back", border=False):
            given = st.file_uploader("Judgements", type=["csv", "tsv", "jsonl", "parquet"])
            first, second, third = st.columns(3)
            name = first.text_input("Who judged, where no column says it")
            kind = second.selectbox("They are", list(KINDS), format_func=KINDS.__getitem__)
            question = third.selectbox("What a table answers", list(ASKED), format_func=ASKED.__getitem__)
            other = st.checkbox("Let other judgements of the same people take the place of theirs")
            checked, pressed = _buttons()
        if not (checked or pressed):
            return
        if given is None:
            ui.grey("Still needed: a file.")
        else:
            request = AuditRequest(
                jobs.receive([(given.name, given)])[1],
                frame.benchmark.address,
                question=question,
                kind=kind,
                annotator=name.strip() or None,
                replace=other,
                dry_run=not pressed,
            )
            _take(request, task.name)


def _buttons() -> tuple[bool, bool]:
    with st.container(horizontal=True):
        return st.form_submit_button("Check the file"), st.form_submit_button("Bring it in", type="primary")


def _take(request: AuditRequest, task: str) -> None:
    """Bring a file in; a sheet says its own task and question, a table is of the chosen ones."""
    folder = request.path.parent
    if jobs.import_audit.is_sheet(request.path):
        request = replace(request, question=None)
    else:
        request = replace(request, task=task)
    try:
        done = jobs.import_audit.import_audit(request)
    except BabelscopeError as error:
        st.error(tables.literal(str(error).replace(f"{folder}/", "")))
        return
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if request.dry_run:
        st.info(tables.literal(f"Checked, nothing stored: {done.words}."))
        return
    st.toast(tables.literal(f"Stored: {done.words}."))
    st.rerun()


def _done(act: Callable[[], object]) -> bool:
    """Whether something could be done; else the page says why not."""
    try:
        act()
    except BabelscopeError as error:
        st.error(tables.literal(capitalised(str(error))))
        return False
    return True
