"""Bring your own: drop files or name a path, look at their first rows, have them checked, then import them as a job."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.jobs import Job, JobResult, Options, Preview
from analysis.views.selection import capitalised
from pages.shared import address, data_jobs, job_box, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

KINDS = {
    "import-benchmark": "A benchmark",
    "import-run": "A run of a system",
    "import-vectors": "Vectors of a system",
    "import-scores": "Per-query scores",
    "import-results": "Published results",
}
WANTED = {
    "import-benchmark": "Documents, queries and judgements: for BEIR corpus.jsonl, queries.jsonl and what is in qrels.",
    "import-run": "One ranking of the benchmark and task chosen on the left, by any tool; plain, .gz or .zst.",
    "import-vectors": (
        "One vector for each text of the task chosen on the left: documents.npy and queries.npy with a row a text, "
        "documents.txt and queries.txt with the ids of the rows, one a line."
    ),
    "import-scores": "One CSV: the columns model, query_id, query_language, and one a measure, such as recall_at_10.",
    "import-results": "The JSON files of mteb’s result folder: figures of systems without per-query values.",
}
OF_BENCHMARK = {
    "document-language": ("Language of documents that name none", "en"),
    "query-language": ("Language of queries that name none", "fr"),
    "language-key": ("Field that names the language", "metadata.lang"),
    "language-pattern": ("Pattern that finds it in the id", "-([a-z]{2})$"),
    "split": ("Which judgements (split)", "test"),
    "languages": ("Columns that hold the texts, the surest language first", "en,fr"),
    "family": ("Column that names the document a row is of", "document"),
    "queries": ("How many rows to ask", "all of them"),
    "topic-field": ("Which part of a topic is its text", ""),
    "subset": ("Only this subset", "all of them"),
    "subset-languages": ("Languages of subsets", "eng-fra=en:fr"),
    "relevant-by": ("No judgements: every document of a query’s family is relevant", ""),
}
OF_RUN = {
    "subset": ("Subset of an mteb file", "the only one"),
    "split": ("Split of an mteb file", "the only one"),
}
OF_A_TASK = ("import-run", "import-vectors")
SEVERAL = ("import-benchmark", "import-results", "import-vectors")
CHOICES = {"topic-field": ("title", "desc", "narr"), "relevant-by": ("", "family")}
QUESTIONS = {
    "parallel-ids": "Queries with one id in several languages’ folders or subsets are one question",
    "family-by-judgements": "Queries with the same relevant documents are one question",
}
OWN_TEXT = "Queries that are documents themselves: leave the document out of their ranking"
LENIENT = "Keep what is sound and list the rest (else the first fault ends the import)"
DENSE = "multilingual dense"
AUTOMATIC = "told by its first bytes"
PREVIEWED = 6  # files whose first rows are shown
LONGEST = 300  # characters of a cell of the preview


class Given(NamedTuple):
    """Files that somebody dropped or named."""

    uploaded: Sequence[Any]  # as Streamlit hands them over
    path: Path | None  # else

    @property
    def names(self) -> list[str]:
        """What the files are called."""
        return [file.name for file in self.uploaded or self._files()]

    def _files(self) -> list[Path]:
        if self.path is None or self.path.is_file():
            return [self.path] if self.path else []
        return sorted(path for path in self.path.rglob("*") if path.is_file())

    def previews(self) -> Iterator[tuple[str, Preview | None]]:
        """The name and the first rows of the first few files."""
        for file in self.uploaded[:PREVIEWED]:
            yield file.name, jobs.preview(file.name, file)
        for path in self._files()[:PREVIEWED]:
            with path.open("rb") as content:
                yield path.name, jobs.preview(path.name, content)


class Asked(NamedTuple):
    """What the form says of an import."""

    options: Options
    flags: list[str]
    missing: str | None  # what has to be filled in first


def show(frame: Frame | None) -> None:
    """The form, and below it what the last check or import that the address names has found.

    Args:
        frame: what the sidebar chose; None where nothing is stored yet.
    """
    kinds = [kind for kind in KINDS if frame or kind not in OF_A_TASK]
    kind = address.choose(
        st.segmented_control,
        "What do you bring?",
        kinds,
        name="kind",
        default=kinds[0],
        clears=("job",),
        format_func=KINDS.__getitem__,
    )
    ui.grey(WANTED[kind])
    given = _files(kind)
    previews = _previews(given) if given else []
    asked = _ask(kind, frame, given, previews)
    _start(kind, given, asked)
    job = next((job for job in jobs.listed() if job.name == address.get("job")), None)
    if job:
        _outcome(job)
    if frame and all(label.name != "bedside" for label in frame.offered.benchmarks):
        ui.grey("Bedside, the benchmark that Babelscope brings, is not stored here any more.")
        job_box.button("Build Bedside again", jobs.begin, jobs.FIRST_START)


def _files(kind: str) -> Given | None:
    """The uploader, and the path where the server's owner allows some."""
    whole = kind in SEVERAL and st.toggle("Choose a whole folder", key=f"folder-{kind}")
    limit = st.get_option("server.maxUploadSize")
    dropped = st.file_uploader(
        "A folder" if whole else "Files",
        accept_multiple_files="directory" if whole else kind in SEVERAL,
        key=f"files-{kind}-{whole}",
    )
    uploaded = dropped if isinstance(dropped, list) else [dropped] if dropped else []
    ui.grey(
        f"At most {limit:,} MB a file; larger ones in a terminal on the server: python -m analysis {kind}. "
        "What is stored is a copy: the dropped files are deleted once they are imported, or after a day."
    )
    roots = jobs.folders()
    if roots and not uploaded:
        text = st.text_input(
            "Or a path on the server",
            key=f"path-{kind}",
            placeholder=str(roots[0]),
            help=f"Inside {' or '.join(map(str, roots))}",
        )
        if text:
            try:
                return Given((), jobs.allowed(text))
            except BabelscopeError as error:
                ui.grey(capitalised(str(error)))
    return Given(uploaded, None) if uploaded else None


def _previews(given: Given) -> list[Preview]:
    """Show the first rows of the first few files."""
    previews = []
    with st.expander("The first rows", expanded=True):
        for name, found in list(given.previews()):
            ui.grey(name if found else f"{name}: no rows to show; the check says what is in it")
            if found:
                previews.append(found)
                rows: list[Sequence[Cell]] = [[tables.escaped(_clipped(cell)) for cell in row] for row in found.rows]
                columns = dict.fromkeys(found.columns, "text")
                tables.show(tables.table(columns, rows, caption=f"First rows of {name}"))
        if len(given.names) > PREVIEWED:
            ui.grey(f"and {len(given.names) - PREVIEWED:,} more files")
    return previews


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"


def _ask(kind: str, frame: Frame | None, given: Given | None, previews: Sequence[Preview]) -> Asked:
    if kind == "import-benchmark":
        return _ask_benchmark(previews)
    if kind == "import-run" and frame:
        return _ask_run(frame, given, previews)
    if kind == "import-vectors" and frame:
        return _ask_vectors(frame)
    name = st.text_input("Name of the benchmark", key=f"{kind}-name").strip()
    flags = []
    if kind == "import-scores":
        flags = _flags({"family-from-id": "Queries whose ids share all before the first _ are one question"})
    return Asked({"benchmark": name}, flags, None if name else "a name for the benchmark")


def _ask_benchmark(previews: Sequence[Preview]) -> Asked:
    first, second, third = st.columns(3)
    name = first.text_input("Name of the benchmark", key="benchmark-name").strip()
    task = second.text_input("Name of its task", value="main", key="benchmark-task").strip()
    form = third.selectbox("Format", jobs.FORMATS["import-benchmark"], key="benchmark-format")
    with st.expander("Languages, split and columns, where the files do not say"):
        options = _options({name: words for name, words in OF_BENCHMARK.items() if _has(form, name)})
        options["map"] = _mapping(previews, jobs.FIELDS["import-benchmark"])
        flags = _flags({flag: words for flag, words in QUESTIONS.items() if _has(form, flag)})
    flags += _flags({"exclude-self": OWN_TEXT, "lenient": LENIENT})
    options |= {"benchmark": name, "task": task, "format": form}
    return Asked(options, flags, None if name else "a name for the benchmark")


def _has(form: str, option: str) -> bool:
    return form in jobs.OWN_OPTIONS.get(option, (form,))


def _options(offered: Mapping[str, tuple[str, str]]) -> Options:
    """A field for each option, in two columns."""
    columns = st.columns(2)
    given: Options = {}
    for place, (name, (words, example)) in enumerate(offered.items()):
        if name in CHOICES:
            given[name] = columns[place % 2].selectbox(words, CHOICES[name], key=name, format_func=_choice)
        else:
            given[name] = columns[place % 2].text_input(words, key=name, placeholder=example).strip()
    return given


def _choice(value: str) -> str:
    return {"": "no", "family": "yes"}.get(value, value)


def _mapping(previews: Sequence[Preview], fields: Sequence[str]) -> list[str]:
    """For columns with names of their own: which field each stands for."""
    columns = dict.fromkeys(name for preview in previews if preview.named for name in preview.columns)
    unknown = [name for name in columns if name not in fields]
    if not unknown:
        return []
    ui.grey("Columns with other names than Babelscope’s stand for themselves, unless you say what they are.")
    places = st.columns(3)
    pairs = []
    for place, column in enumerate(unknown):
        field = places[place % 3].selectbox(
            f"{tables.literal(column)} stands for",
            ["", *fields],
            key=f"map-{column}",
            format_func=lambda name: name or "itself",
        )
        if field:
            pairs.append(f"{column}={field}")
    return pairs


def _ask_run(frame: Frame, given: Given | None, previews: Sequence[Preview]) -> Asked:
    first, second = st.columns(2)
    stem = PurePosixPath(given.names[0]).name.split(".")[0] if given else ""
    system = first.text_input("What the system is called", value=stem, key=f"run-system-{stem}").strip()
    form = second.selectbox("Format", [AUTOMATIC, *jobs.FORMATS["import-run"]], key="run-format")
    task = frame.tasks[0]
    ui.grey(f"For {frame.benchmark.title}, task {task.title} (both chosen on the left).")
    with st.expander("Subset, split and columns, where the file does not say"):
        options = _options(OF_RUN)
        options["map"] = _mapping(previews, jobs.FIELDS["import-run"])
    flags = _flags(
        {"lenient": LENIENT, "allow-unknown-documents": "Keep documents that the corpus lacks, as not relevant"}
    )
    options |= {"benchmark": frame.benchmark.address, "task": task.name, "system": system}
    options["format"] = None if form == AUTOMATIC else form
    return Asked(options, flags, None if system else "what the system is called")


def _ask_vectors(frame: Frame) -> Asked:
    first, second = st.columns(2)
    system = first.text_input("What the system is called", key="vectors-system").strip()
    sorts = jobs.PARADIGMS
    paradigm = second.selectbox("What it is", sorts, index=sorts.index(DENSE), key="vectors-paradigm")
    task = frame.tasks[0]
    ui.grey(f"For {frame.benchmark.title}, task {task.title} (both chosen on the left).")
    flags = _flags({"inner-product": "Rank by inner product: the vectors’ lengths count (else by cosine)"})
    options: Options = {"benchmark": frame.benchmark.address, "task": task.name, "system": system, "paradigm": paradigm}
    return Asked(options, flags, None if system else "what the system is called")


def _flags(offered: Mapping[str, str]) -> list[str]:
    return [flag for flag, words in offered.items() if st.checkbox(words, key=f"flag-{flag}")]


def _start(kind: str, given: Given | None, asked: Asked) -> None:
    missing = "files, dropped above" if given is None else asked.missing
    pressed = st.button("Check the files", type="primary", disabled=missing is not None, key=f"check-{kind}")
    ui.grey(f"Still needed: {missing}." if missing else "Nothing is stored yet: the check only reports what it finds.")
    if not pressed or given is None:
        return
    try:
        received = [(file.name, file) for file in given.uploaded]
        loose = asked.options.get("format") in jobs.LOOSE_JUDGEMENTS
        uploads, path = (
            (None, given.path)
            if given.path
            else jobs.receive(received, loose_judgements=loose, names_matter=kind == "import-results")
        )
        flags = [*asked.flags, "dry-run"]
        address.put(job=jobs.launch(kind, str(path), options=asked.options, flags=flags, uploads=uploads))
    except BabelscopeError as error:
        st.error(tables.literal(capitalised(str(error))))
        return
    st.rerun()


def look_back() -> None:
    """What one of the checks and imports of the last week has found."""
    told = {job.name: job for job in jobs.listed() if job.state.status == "done" and _has_report(job)}
    if not told:
        return
    chosen = st.selectbox(
        "What a check or an import found",
        list(told),
        index=None,
        format_func=lambda name: f"{data_jobs.title(told[name])}, {data_jobs.when(told[name].said_at)}",
        placeholder="Choose one",
    )
    if chosen:
        _outcome(told[chosen])


def _outcome(job: Job) -> None:
    """What a check has found, with the button that imports it; or what an import has stored."""
    if job_box.runs(job.state):
        return
    st.header("What was found" if job.dry_run else "What was imported", anchor=False)
    if job.state.status != "done":
        _refusal(job)
        return
    found = jobs.result(job.name)
    if found is None:
        return
    ui.grey(f"{data_jobs.title(job)}: {found.outcome}")
    if found.rows:
        tables.show(_report(found))
        st.download_button(
            "Report (JSON)",
            json.dumps(found.report, ensure_ascii=False, indent=1),
            file_name="import-report.json",
            mime="application/json",
            on_click="ignore",
        )
    if job.dry_run:
        job_box.button("Import", _confirm, job.name, primary=True)
    elif found.benchmark:
        name, task = found.benchmark.partition("@")[0], {"task": found.task} if found.task else {}
        ui.go_to(ui.OVERVIEW, "Open it in the Overview →", benchmark=name, **task)
        if job.command == "import-benchmark":
            ui.go_to(ui.DATA, "Run systems on it →", benchmark=name, part="run")


def _has_report(job: Job) -> bool:
    found = jobs.result(job.name)
    return found is not None and bool(found.rows)


def _report(found: JobResult) -> Markup:
    """What a job found, as rows."""
    columns = {"What was found": "passage", "How many": "text", "The first few, or details": "passage"}
    rows = [[what, number, tables.escaped(shown)] for what, number, shown in found.rows]
    return tables.table(columns, rows, caption="What was found in the files")


def _confirm(name: str) -> None:
    address.put(job=jobs.confirm(name), part="import")


def _refusal(job: Job) -> None:
    words = data_jobs.trouble(job)
    if words is None:
        ui.nothing("The check was cancelled; nothing was stored.", next_step="The files can be checked again above.")
        return
    st.error(tables.literal(words))
    ui.grey("Nothing was stored, and what was stored before is as it was. Mend the file and check it again.")
