"""Benchmarks of others, whatever their format: from records and judgements to checked rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import InputError
from analysis.imports import beir, records
from analysis.imports.faults import Faults
from analysis.imports.parts import Options, Parts
from analysis.imports.records import Languages, Placed, Reader
from analysis.languages import canonical, script_of, suspicious, together
from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.store.write import file_checksum
from analysis.text import same_text_key

READERS: Mapping[str, Callable[[Path, Options, Faults], Parts]] = {
    "beir": beir.parts,
    "trec": beir.parts,
}
"""What finds the parts of each format."""

FORMATS = tuple(READERS)
JUDGEMENT_FIELDS = ("query-id", "corpus-id", "score")
TEXT_CHECK = "text_check"
"""The attribute that says what is doubtful about the text of a query."""
SOUND = "ok"
LATIN = re.compile("[A-Za-z]+")
FIELDS = tuple(dict.fromkeys((*records.DOCUMENT_FIELDS, *records.QUERY_FIELDS, *JUDGEMENT_FIELDS)))
"""What ``--map`` may name."""


@dataclass(frozen=True)
class Folder:
    """What the files hold, checked.

    Attributes:
        files: all that was read.
        documents: in the order of the file.
        queries: in the order of the file; judged ones without text come last.
        judgements: in the order of the queries, then of the documents; documents outside the corpus last, by id.
        faults: what a lenient import dropped or mended.
        notices: what was repaired in language codes, with the number of rows.
        ignored: fields of documents that are not kept, with the number of documents.
        n_repeats: rows that repeat another exactly: documents, queries and judgements.
        n_number_ids: ids that are numbers in the file; they are kept as written.
        without_text: judged queries that the queries lack.
        empty: documents without a text; some have a title, which is then their text.
        self_texts: queries whose id and text are also a document's.
        self_ids: queries whose id is also the id of a document with another text.
    """

    files: tuple[Path, ...]
    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    judgements: tuple[Judgement, ...]
    faults: Faults
    notices: Mapping[str, int]
    ignored: Mapping[str, int]
    n_repeats: int
    n_number_ids: int
    without_text: tuple[str, ...]
    empty: tuple[str, ...]
    self_texts: tuple[str, ...]
    self_ids: tuple[str, ...]

    def checksums(self) -> dict[str, str]:
        """SHA-256 of each file, by its name, with its folder's where two files have one name."""
        names = [path.name for path in self.files]
        distinct = (
            names if len(set(names)) == len(names) else [f"{path.parent.name}/{path.name}" for path in self.files]
        )
        return {name: file_checksum(path) for name, path in zip(distinct, self.files, strict=True)}


def read(path: Path, *, options: Options) -> Folder:
    """Read a benchmark, each of its files plain or packed.

    Args:
        path: what the format expects: for most a folder.
        options: how it is read.

    Raises:
        InputError: a file is missing or cannot be read, an option fits nothing, or (unless lenient) the first fault
            with its file, line and value, what was expected, and how many more there are.
    """
    _check(options)
    faults = Faults(options.lenient)
    parts = READERS[options.format](path, options, faults)
    reader = Reader(faults, {column: name for column, name in options.renamed.items() if name in FIELDS})
    asking, answering = _languages(options, "query"), _languages(options, "document")
    queries = reader.queries(parts.queries, languages=asking)
    documents = reader.documents(parts.documents, languages=answering, asked=queries.keys())
    judged = parts.judgements()
    absent = [
        reader.absent(place, name, languages=asking) for name, place in judged.first.items() if name not in queries
    ]
    faults.end()
    _check_used(options, reader, documents, queries)
    rows = _Rows([placed.row for placed in documents.values()], [*(placed.row for placed in queries.values()), *absent])
    rows.tag_together()
    rows.check_texts()
    self_texts, self_ids = rows.own_documents(reader)
    if options.exclude_self:
        rows.exclude(self_texts)
    return Folder(
        files=parts.files,
        documents=tuple(rows.documents),
        queries=tuple(rows.queries),
        judgements=tuple(rows.in_order(Judgement(*pair, row.grade) for pair, row in judged.grades.items())),
        faults=faults,
        notices=dict(reader.notices),
        ignored=dict(reader.ignored),
        n_repeats=reader.n_repeats + judged.n_repeats,
        n_number_ids=reader.n_number_ids,
        without_text=tuple(query.id for query in absent),
        empty=tuple(reader.empty),
        self_texts=tuple(self_texts),
        self_ids=tuple(self_ids),
    )


def _check(options: Options) -> None:
    for column, name in options.renamed.items():
        if name not in FIELDS:
            raise InputError(f"--map {column}={name}: unknown field {name!r}, expected one of {', '.join(FIELDS)}")
    for flag, tag in (("document", options.document_language), ("query", options.query_language)):
        try:
            canonical(tag or records.UNDETERMINED)
        except InputError as error:
            raise InputError(f"--{flag}-language: {error}") from error


def _check_used(
    options: Options, reader: Reader, documents: Mapping[str, Placed], queries: Mapping[str, Placed]
) -> None:
    """A column named by the user occurs, and there is something to ask and to find."""
    for column, name in options.renamed.items():
        if name not in JUDGEMENT_FIELDS and column not in reader.seen:
            raise InputError(f"--map {column}={name}: no document or query has {column!r}, expected it in one")
    if not documents or not queries:
        what = "queries" if documents else "documents"
        raise InputError(f"the files hold no sound {what}, expected at least one")


def _languages(options: Options, what: str) -> Languages:
    default = options.document_language if what == "document" else options.query_language
    try:
        pattern = re.compile(options.language_pattern) if options.language_pattern else None
    except re.error as error:
        raise InputError(f"--language-pattern {options.language_pattern!r}: {error}; expected a regex") from error
    return Languages(options.language_key, pattern, default, f"--{what}-language")


@dataclass
class _Rows:
    """Rows of both files, and what only both together settle."""

    documents: list[Document]
    queries: list[Query]

    def tag_together(self) -> None:
        """Write scripts where two of one language meet."""
        tags = together({row.language for row in self.documents} | {row.language for row in self.queries})
        self.documents = [row._replace(language=tags[row.language]) for row in self.documents]
        self.queries = [row._replace(language=tags[row.language]) for row in self.queries]

    def check_texts(self) -> None:
        """Where the text of some query is doubtful, say of every query whether its own is: a slice leaves them out."""
        verdicts = [_verdict(row) for row in self.queries]
        if any(verdict != SOUND for verdict in verdicts):
            self.queries = [
                row._replace(attributes={**row.attributes, TEXT_CHECK: verdict})
                for row, verdict in zip(self.queries, verdicts, strict=True)
            ]

    def own_documents(self, reader: Reader) -> tuple[list[str], list[str]]:
        """Queries that are documents themselves, and queries that only share their id with another text.

        The latter document is no version of the query: where it says no family it gets one that no query has.
        """
        place = {row.id: number for number, row in enumerate(self.documents)}
        own: list[str] = []
        other: list[str] = []
        for query in self.queries:
            if query.id not in place:
                continue
            document = self.documents[place[query.id]]
            texts = {same_text_key(text) for text in (document.text, reader.bodies.get(query.id, document.text))}
            if query.text.strip() and same_text_key(query.text) in texts:
                own.append(query.id)
                continue
            other.append(query.id)
            if document.id in reader.no_family:
                self.documents[place[query.id]] = document._replace(family=f"document {document.id}")
        return own, other

    def in_order(self, judgements: Iterable[Judgement]) -> list[Judgement]:
        """Judgements as a store keeps them, so that their order in a file makes no other benchmark."""
        queries = {row.id: number for number, row in enumerate(self.queries)}
        documents = {row.id: number for number, row in enumerate(self.documents)}

        def place(row: Judgement) -> tuple[int, int, str]:
            return queries[row.query_id], documents.get(row.document_id, len(documents)), row.document_id

        return sorted(judgements, key=place)

    def exclude(self, names: Sequence[str]) -> None:
        """Let each of these queries' own document leave its ranking."""
        leaving = set(names)
        self.queries = [
            row._replace(excluded_documents=tuple(dict.fromkeys((*row.excluded_documents, row.id))))
            if row.id in leaving
            else row
            for row in self.queries
        ]


def _verdict(query: Query) -> str:
    if not query.text.strip():
        return "no text"
    if script_of(query.text) is None:
        return "no letters"
    return "other script" if foreign(query.text, query.language) else SOUND


def foreign(text: str, language: str) -> str | None:
    """Why no word of a text seems to be in its language; Latin names stand in texts of every script."""
    found = suspicious(text, language)
    rest = LATIN.sub("", text)
    return suspicious(rest, language) if found and script_of(rest) else found


def asked_in(queries: Iterable[Query]) -> dict[str, set[str]]:
    """The languages that each family is asked in."""
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for query in queries:
        asked[query.family].add(query.language)
    return dict(asked)


def parallel(queries: Sequence[Query]) -> bool:
    """Whether every family is asked in every query language, and there is more than one."""
    languages = {query.language for query in queries}
    return len(languages) > 1 and all(found == languages for found in asked_in(queries).values())


def benchmark(
    folder: Folder, *, name: str, task: str, notes: Sequence[str], settings: Mapping[str, object]
) -> Benchmark:
    """The benchmark that a folder stands for, with its one task.

    Args:
        folder: what was read.
        name: of the benchmark.
        task: of its task.
        notes: limits that its card states.
        settings: how it was read, and the report of that.
    """
    only = Task(
        name=task,
        title=task,
        question="Queries, documents and judgements as imported.",
        documents=folder.documents,
        queries=folder.queries,
        judgements=folder.judgements,
        exclude_self=any(query.excluded_documents for query in folder.queries),
        default=True,
    )
    return Benchmark(
        name=name,
        version="1",
        title=name,
        parallel=parallel(folder.queries),
        licence="as the imported files",
        source=", ".join(path.name for path in folder.files),
        notes=tuple(notes),
        settings=settings,
        tasks=(only,),
    )
