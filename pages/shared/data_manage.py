"""What can be done with what is stored: look at how a run came here, take it out in a file, rename it, delete it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.jobs import Job, Options
from analysis.views import data
from analysis.views.data import Stored, StoredBenchmark, StoredResult, StoredRun, StoredTask
from analysis.views.selection import counted
from pages.shared import address, data_jobs, job_box, tables, ui
from pages.shared.ui import Frame

SAVED = 5  # files that are offered


def show(stored: Stored, frame: Frame) -> None:
    """The chosen benchmark, and one of the runs or published results of the chosen task."""
    here = [
        (row, task)
        for row in stored.benchmarks
        for task in row.tasks
        if row.benchmark == frame.benchmark and task.task.name == frame.tasks[0].name
    ]
    if not here:
        return  # a job has just removed it, and the page is about to be drawn anew
    ((benchmark, task),) = here
    st.header("Take out, rename, delete", anchor=False)
    ui.grey(f"{frame.benchmark.title}, task {task.task.title} (both chosen on the left).")
    _saved()
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("One run or published result" if task.published else "One run", anchor=False)
        _one(benchmark, task)
    with right:
        st.subheader("The whole benchmark", anchor=False)
        _benchmark(benchmark, task)


def _one(benchmark: StoredBenchmark, task: StoredTask) -> None:
    kept: dict[str, StoredRun | StoredResult] = {f"run {run.system.name}": run for run in task.runs}
    kept |= {f"published {result.system.name}": result for result in task.published}
    if not kept:
        ui.grey("No system has run on this task yet.")
        return
    chosen = st.selectbox("Run", list(kept), format_func=lambda name: _title(kept[name]), key="managed-run")
    found = kept[chosen]
    if isinstance(found, StoredRun):
        _run(benchmark, task, found)
    else:
        _result(benchmark, task, found)


def _title(found: StoredRun | StoredResult) -> str:
    return found.system.title if isinstance(found, StoredRun) else f"{found.system.title}, published"


def _result(benchmark: StoredBenchmark, task: StoredTask, result: StoredResult) -> None:
    name = result.system.name
    when = f", evaluated {result.evaluated_at[:10]}" if result.evaluated_at else ""
    ui.grey(f"{counted(result.n_figures, 'published figure')} from {result.file}{when}.")
    _delete(
        f"published-{name}",
        name,
        "What was published of it on this task goes; its runs stay.",
        (),
        command="delete results",
        options={"benchmark": benchmark.benchmark.address, "task": task.task.name, "system": name},
    )


def _run(benchmark: StoredBenchmark, task: StoredTask, run: StoredRun) -> None:
    name = run.system.name
    if run.n_rows is not None:
        with st.container(horizontal=True):
            _export("Ranking (TREC)", benchmark, task, form="trec", file=f"{_file_name(name)}.trec", run=name)
            file = f"{_file_name(name)}-per-query.csv"
            _export("Per-query values (CSV)", benchmark, task, form="csv", file=file, run=name, flags=("per-query",))
    for words in run.read:
        ui.grey(words)
    with st.expander("How it came here"):
        _provenance(run)
    if run.imported:
        _rename("run", name, options={"system": name})
    _delete(
        f"run-{name}",
        name,
        f"Its rows ({data.size(run.n_bytes or 0)}) and everything counted from them go.",
        run.children,
        command="delete run",
        options={"benchmark": benchmark.benchmark.address, "task": task.task.name, "system": name},
    )


def _benchmark(benchmark: StoredBenchmark, task: StoredTask) -> None:
    label = benchmark.benchmark
    with st.container(horizontal=True):
        if task.task.n_documents:
            _export("Judgements (TREC)", benchmark, task, form="qrels", file=f"{_file_name(label.name)}.qrels")
        if st.button("Report of every page (HTML)"):
            _launch("report", options={"benchmark": label.address}, saves=f"{_file_name(label.name)}.html")
    if benchmark.imported:
        _rename("benchmark", label.name, positional=(label.name,))
    whole = f"{label.name}@{label.version}"
    n_runs = sum(run.status == "complete" for found in benchmark.tasks for run in found.runs)
    words = f"Its texts, its judgements and {n_runs:,} runs go ({data.size(benchmark.n_bytes)})."
    _delete(f"benchmark-{whole}", label.name, words, (), command="delete benchmark", positional=(whole,))


def _provenance(run: StoredRun) -> None:
    """The report of its import, or the settings it ran with."""
    st.download_button(
        "Whole record (JSON)",
        json.dumps(dict(run.provenance), ensure_ascii=False, indent=1),
        file_name=f"{_file_name(run.system.name)}.json",
        mime="application/json",
        on_click="ignore",
        key="provenance",
    )
    rows = [[name.replace("_", " "), tables.escaped(text)] for name, text in _flat(_told(run)) if text]
    tables.show(tables.table({"What": "text", "": "passage"}, rows, caption="How the run came here"))


def _told(run: StoredRun) -> dict[str, object]:
    """Its record without what is said in words above."""
    return {key: value for key, value in run.provenance.items() if key != data.TRUNCATED}


def _flat(found: object, name: str = "") -> list[tuple[str, str]]:
    """A record as rows: names of nested values joined."""
    if isinstance(found, dict):
        return [row for key, value in found.items() for row in _flat(value, f"{name} {key}".strip())]
    if isinstance(found, list):
        return [(name, ", ".join(item if isinstance(item, str) else json.dumps(item) for item in found))]
    return [(name, "" if found is None else str(found))]


def _export(
    words: str,
    benchmark: StoredBenchmark,
    task: StoredTask,
    *,
    form: str,
    file: str,
    run: str | None = None,
    flags: Sequence[str] = (),
) -> None:
    """A button that has a file made by a job; it is offered above once it is ready."""
    if st.button(words, key=f"export-{form}"):
        options: Options = {
            "benchmark": benchmark.benchmark.address,
            "task": task.task.name,
            "run": run,
            "format": form,
        }
        _launch("export", options=options, flags=flags, saves=file)


def _saved() -> None:
    """Files that jobs have made."""
    ready = [job for job in jobs.listed() if job.state.status == "done" and job.request and job.request.saves]
    for job in ready[:SAVED]:
        file = jobs.saved(job.name)
        if file and job.request and job.request.saves:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.download_button(
                    "Download",
                    file.read_bytes,
                    file_name=job.request.saves,
                    mime="application/octet-stream",
                    on_click="ignore",
                    key=f"saved-{job.name}",
                )
                size = data.size(file.stat().st_size)
                job_box.explain(f"{job.request.saves} · {size} · {_made(job)}", width="content")


def _made(job: Job) -> str:
    return f"{data_jobs.title(job)}, {data_jobs.when(job.said_at)}"


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).lstrip(".-") or "file"


def _rename(
    kind: str,
    name: str,
    *,
    options: Options | None = None,
    positional: Sequence[str] = (),
) -> None:
    with st.expander("Rename"), st.form(f"rename-{kind}-{name}", border=False):
        new = st.text_input("New name", value=name).strip()
        if st.form_submit_button("Rename") and new and new != name:
            _launch(f"rename {kind}", *positional, options={**(options or {}), "to": new})


def _delete(
    key: str,
    name: str,
    words: str,
    children: Sequence[str],
    *,
    command: str,
    options: Options | None = None,
    positional: Sequence[str] = (),
) -> None:
    """Deleting asks for the name to be typed."""
    with st.expander("Delete"), st.form(f"delete-{key}", border=False):
        ui.grey(f"{words} {jobs.LATER}")
        if children:
            ui.grey(f"Composed of it: {', '.join(children)}. They stay as they are, and their parent can be run again.")
        tables.show(tables.escaped(f"To confirm, type: {name}"))
        typed = st.text_input("Its name", placeholder="the name above")
        if st.form_submit_button("Delete for good"):
            if typed.strip() == name.strip():
                _launch(command, *positional, options=options or {}, flags=("yes",))
            else:
                ui.grey("Nothing was deleted: what was typed is not the name.")


def _launch(
    command: str, *positional: str, options: Options, flags: Sequence[str] = (), saves: str | None = None
) -> None:
    try:
        jobs.launch(command, *positional, options=options, flags=flags, saves=saves)
        if command in {"delete benchmark", "rename benchmark"}:
            address.put(benchmark=None, task=None)  # what the address names is about to go
    except BabelscopeError as error:
        st.error(tables.literal(str(error)))
        return
    st.rerun()
