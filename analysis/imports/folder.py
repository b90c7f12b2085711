"""Benchmarks of others, whatever their format: from records and judgements to checked rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import InputError
from analysis.imports import (
    datasets_on_disk,
    id_languages,
    ir_datasets_source,
    language_folders,
    m3retrieve,
    mteb_task,
    parallel_table,
    records,
    table_folder,
    tmx,
)
from analysis.imports.alignment import Alignment
from analysis.imports.faults import Faults
from analysis.imports.flags import NO_TEXT, text_flags
from analysis.imports.parts import Options, Parts
from analysis.imports.qrels import Qrels
from analysis.imports.records import Languages, Placed, Reader
from analysis.languages import canonical, together
from analysis.model import Benchmark, Document, Flag, Image, Judgement, Query, Task, parallel
from analysis.store.write import file_checksum
from analysis.systems.images import missing
from analysis.text import same_text_key

READERS: Mapping[str, Callable[[Path, Options, Faults], Parts]] = {
    "beir": language_folders.parts,
    "trec": language_folders.parts,
    "table": table_folder.parts,
    "mteb": mteb_task.parts,
    "datasets": datasets_on_disk.parts,
    "ir_datasets": ir_datasets_source.parts,
    "m3retrieve": m3retrieve.parts,
    "parallel": parallel_table.parts,
    "tmx": tmx.parts,
}
"""What finds the parts of each format."""

FORMATS = tuple(READERS)
RELEVANT_BY = ("family",)
"""What judgements may be made from."""
SUBSETS = ("mteb", "datasets", "m3retrieve")
"""Formats with subsets."""
PARALLEL = ("parallel", "tmx")
"""Formats of rows in several languages, which say themselves what their columns may be called."""
OWN_FORMATS = {
    "--topic-field": ("trec",),
    "--parallel-ids": ("beir", "trec", *SUBSETS),
    "--subset": SUBSETS,
    "--subset-languages": SUBSETS,
    "--relevant-by": ("beir", "table", "ir_datasets", *SUBSETS),
    "--languages": PARALLEL,
    "--family": PARALLEL,
    "--queries": PARALLEL,
}
"""Options that only these formats have."""

ABSENT = "images that are not where the files say: no system that reads images can run until they are"
PAIRED = "queries that share a family because they have the same relevant documents"
JUDGEMENT_FIELDS = ("query-id", "corpus-id", "score")
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
        judged: queries that the judgements name, some with no document.
        without_text: judged queries that the queries lack.
        empty: documents without a text; some have a title, which is then their text.
        self_texts: queries whose id and text are also a document's.
        self_ids: queries whose id is also the id of a document with another text.
        flags: doubtful queries and documents.
        alignment: whether the rows of parallel texts belong together; None for other formats.
        source: where it comes from, for its card.
        images: where those of queries and documents are.
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
    judged: frozenset[str]
    without_text: tuple[str, ...]
    empty: tuple[str, ...]
    self_texts: tuple[str, ...]
    self_ids: tuple[str, ...]
    flags: tuple[Flag, ...]
    source: str
    alignment: Alignment | None = None
    images: tuple[Image, ...] = ()

    def checksums(self) -> dict[str, str]:
        """SHA-256 of each file, by its name, with as many of its folders' as tell all files apart."""
        files = dict.fromkeys(self.files)
        names, depth = [path.name for path in files], 1
        while len(set(names)) < len(names):
            depth += 1
            names = ["/".join(path.parts[-depth:]) for path in files]
        return {name: file_checksum(path) for name, path in zip(names, files, strict=True)}


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
    renamed = {} if options.format in PARALLEL else options.renamed
    known = {column: name for column, name in renamed.items() if name in FIELDS}
    reader = Reader(faults, known, with_images=parts.images is not None)
    asking, answering = _languages(options, "query"), _languages(options, "document")
    queries = reader.queries(parts.queries, languages=asking)
    documents = reader.documents(parts.documents, languages=answering, asked=queries.keys())
    judged = parts.judgements() if options.relevant_by is None else _versions(queries, documents, faults)
    absent = _absent(reader, judged, queries, asking)
    faults.end()
    _check_used(renamed, reader, documents, queries)
    rows = _Rows([placed.row for placed in documents.values()], [*(placed.row for placed in queries.values()), *absent])
    rows.tag_together()
    if options.family_by_judgements:
        reader.notices[PAIRED] = rows.pair(judged, among=queries)
    self_texts, self_ids = rows.own_documents(reader)
    if options.exclude_self:
        rows.exclude(self_texts)
    images = tuple(_images(parts.images, reader, queries, documents)) if parts.images else ()
    absent_images = Counter({ABSENT: len(missing(images))})
    return Folder(
        files=parts.files,
        documents=tuple(rows.documents),
        queries=tuple(rows.queries),
        judgements=tuple(rows.in_order(Judgement(*pair, row.grade) for pair, row in judged.grades.items())),
        faults=faults,
        notices=dict(reader.notices + parts.notices + absent_images),
        ignored=dict(reader.ignored),
        n_repeats=reader.n_repeats + judged.n_repeats,
        n_number_ids=reader.n_number_ids,
        judged=frozenset(judged.first),
        without_text=tuple(query.id for query in absent),
        empty=tuple(name for name in reader.empty if name not in reader.images),
        self_texts=tuple(self_texts),
        self_ids=tuple(self_ids),
        flags=(*_unseen(text_flags(rows.queries, rows.documents), images), *parts.flags),
        alignment=parts.alignment,
        source=parts.source or ", ".join(dict.fromkeys(path.name for path in parts.files)),
        images=images,
    )


def _unseen(flags: Iterable[Flag], images: Iterable[Image]) -> Iterator[Flag]:
    """Flags without those of what has no text but an image."""
    seen = {(image.item, image.id) for image in images}
    return (flag for flag in flags if flag.reason != NO_TEXT or (flag.item, flag.id) not in seen)


def _images(
    folder: Path, reader: Reader, queries: Mapping[str, Placed], documents: Mapping[str, Placed]
) -> Iterator[Image]:
    """Where the images of queries and documents are: beside the file that names them, or in the folder itself."""
    root = folder.resolve()

    def named(item: str, name: str, path: str, placed: Placed) -> Image:
        inside = placed.place.file.parent.resolve().relative_to(root).as_posix()
        return Image(item, name, path, str(root), "" if inside == "." else inside)

    for name, placed in queries.items():
        if path := placed.row.attributes.get(records.IMAGES):
            yield named("query", name, path, placed)
    for name, placed in documents.items():
        if name in reader.images:
            yield named("document", name, reader.images[name], placed)


def _absent(reader: Reader, judged: Qrels, queries: Collection[str], languages: Languages) -> list[Query]:
    """Judged queries that the queries lack."""
    return [
        reader.absent(place, name, languages=languages, said=judged.languages.get(name))
        for name, place in judged.first.items()
        if name not in queries
    ]


def _versions(queries: Mapping[str, Placed], documents: Mapping[str, Placed], faults: Faults) -> Qrels:
    """Judgements where none are kept: relevant is every document of the family that a query says.

    Raises:
        InputError: there is no such document for any query.
    """
    of_family: defaultdict[str, list[str]] = defaultdict(list)
    for name, placed in documents.items():
        of_family[placed.row.family].append(name)
    found = Qrels(())
    for name, placed in queries.items():
        if placed.row.family != name:  # a query that says no family has its id
            for document in of_family.get(placed.row.family, ()):
                found.add(name, document, 1.0, place=placed.place, faults=faults)
    if not found.grades and not faults.n:
        raise InputError(
            "--relevant-by family: no query says the family of a document, expected the field family in both "
            "(--map COLUMN=family)"
        )
    return found


def _check(options: Options) -> None:
    for column, name in options.renamed.items():
        if name not in FIELDS and options.format not in PARALLEL:
            raise InputError(f"--map {column}={name}: unknown field {name!r}, expected one of {', '.join(FIELDS)}")
    given_of = {
        "--topic-field": options.topic_field != "title",
        "--parallel-ids": options.parallel_ids,
        "--subset": options.subset is not None,
        "--subset-languages": bool(options.subset_languages),
        "--relevant-by": options.relevant_by is not None,
        "--languages": bool(options.languages),
        "--family": options.family_column is not None,
        "--queries": options.queries is not None,
    }
    for flag, given in given_of.items():
        if given and options.format not in (formats := OWN_FORMATS[flag]):
            raise InputError(f"{flag}: format {options.format}, expected {' or '.join(formats)}")
    for flag, tag in (("document", options.document_language), ("query", options.query_language)):
        try:
            canonical(tag or records.UNDETERMINED)
        except InputError as error:
            raise InputError(f"--{flag}-language: {error}") from error


def _check_used(
    renamed: Mapping[str, str], reader: Reader, documents: Mapping[str, Placed], queries: Mapping[str, Placed]
) -> None:
    """A column named by the user occurs, and there is something to ask and to find."""
    for column, name in renamed.items():
        if name not in JUDGEMENT_FIELDS and column not in reader.seen:
            raise InputError(f"--map {column}={name}: no document or query has {column!r}, expected it in one")
    if not documents or not queries:
        what = "queries" if documents else "documents"
        raise InputError(f"the files hold no sound {what}, expected at least one")


def _languages(options: Options, what: str) -> Languages:
    default = options.document_language if what == "document" else options.query_language
    pattern = id_languages.compiled(options.language_pattern)
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

    def pair(self, judged: Qrels, *, among: Collection[str]) -> int:
        """Make the queries that have the same relevant documents versions of one question, named by the first.

        Args:
            judged: the judgements.
            among: the queries that are paired.

        Returns:
            How many queries share a family now.

        Raises:
            InputError: a query says its family already, two of one language have the same relevant documents, or no
                two have.
        """
        relevant: defaultdict[str, set[str]] = defaultdict(set)
        for (name, document), judgement in judged.grades.items():
            if judgement.grade >= 1 and name in among:
                relevant[name].add(document)
        groups: defaultdict[frozenset[str], dict[str, Query]] = defaultdict(dict)
        for query in self.queries:
            if query.id in relevant:
                _join(groups[frozenset(relevant[query.id])], query)
        shared = [list(group.values()) for group in groups.values() if len(group) > 1]
        if not shared:
            raise InputError("--family-by-judgements: no two queries have the same relevant documents, expected some")
        family = {row.id: group[0].id for group in shared for row in group}
        self.queries = [row._replace(family=family.get(row.id, row.family)) for row in self.queries]
        return len(family)

    def own_documents(self, reader: Reader) -> tuple[list[str], list[str]]:
        """Queries that are documents themselves and find these, and queries that only share their id with another text.

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
                if query.id not in query.excluded_documents:
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


def _join(group: dict[str, Query], query: Query) -> None:
    """Add a query to those with the same relevant documents, by language."""
    if query.family != query.id:
        raise InputError(
            f"--family-by-judgements: query {query.id!r} says its family, {query.family!r}; expected none that does"
        )
    other = group.setdefault(query.language, query)
    if other is not query:
        raise InputError(
            f"--family-by-judgements: queries {other.id!r} and {query.id!r} are both in {query.language} and have the "
            "same relevant documents, expected one query in a language for each set"
        )


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
        flags=folder.flags,
        images=folder.images,
    )
    return Benchmark(
        name=name,
        version="1",
        title=name,
        parallel=parallel(folder.queries),
        licence="as the imported files",
        source=folder.source,
        notes=tuple(notes),
        settings=settings,
        tasks=(only,),
    )
