"""Tags and notes written from a page, and brought back from a file."""

from __future__ import annotations

from pathlib import Path

from analysis import paths
from analysis.errors import InputError
from analysis.imports import notes as files
from analysis.imports.notes import KnownTask
from analysis.jobs.stored import only_task, opened
from analysis.store import notes
from analysis.store.notes import Annotation, Merged
from analysis.store.read import Store, TaskRow

__all__ = ["Annotation", "Merged", "add", "import_notes", "remove"]  # what pages see of the nouns below too

EMPTY = "a note is about a stored query"


def add(
    benchmark: str,
    task: str,
    query_id: str,
    *,
    author: str,
    tag: str | None = None,
    note: str = "",
    system: str | None = None,
    document_language: str | None = None,
    append: bool = False,
    folder: str | Path | None = None,
) -> Annotation:
    """Tag a query, note something about it, or both; the same tag again takes over the new note.

    Args:
        benchmark: name, or name@version.
        task: its name.
        query_id: of a stored query.
        author: who says it.
        tag: one of the starter taxonomy or any other; None for a note alone, of which an author has one an item.
        note: a text; may be empty where there is a tag.
        system: whose answer is spoken of; None for the query itself.
        document_language: of the route looked at; None for the query as a whole.
        append: the note follows what its author said before instead of taking its place.
        folder: the cache folder; by default the one of the environment.

    Raises:
        InputError: an unknown benchmark, task, query or language, an impossible tag, author or note, or neither tag
            nor note.
        StoreError: nothing is stored, or the notes cannot be written.
    """
    cache = paths.cache(folder)
    store = opened(cache, otherwise=EMPTY)
    found = only_task(store, benchmark, task)
    query = notes.stored_queries(store, found.task_id, [query_id]).get(query_id)
    if query is None:
        raise InputError(f"query {query_id!r}: {found.name} has none of this id")
    if document_language not in (None, *(tags := _languages(store, found))):
        raise InputError(f"language {document_language!r}: {found.name} has {', '.join(tags)}")
    said = (document_language, system, author, tag, note)
    times = (notes.now_text(),) * 2
    name = store.benchmark(benchmark).name
    row = notes.checked(Annotation(name, found.name, query_id, query.language, *said, *times))
    return notes.add(cache, row, append=append)


def remove(annotation_id: int, *, author: str, folder: str | Path | None = None) -> None:
    """Take back what an author said.

    Args:
        annotation_id: of one annotation.
        author: who said it; nobody takes back what somebody else said.
        folder: the cache folder; by default the one of the environment.

    Raises:
        InputError: the author has no annotation of this id, or has taken it back already.
        StoreError: the notes cannot be written.
    """
    if not notes.remove(paths.cache(folder), annotation_id, author=author):
        raise InputError(f"note {annotation_id}: {author!r} has none of this number, or none any more")


def import_notes(path: Path, *, benchmark: str, dry_run: bool = False, folder: str | Path | None = None) -> Merged:
    """Bring in a file of annotations, all of it or nothing.

    What is new is added; a note that is newer than the one there takes its place, and every other stays as it is.

    Args:
        path: a CSV as the command ``notes`` prints it.
        benchmark: name, or name@version; every row has to name it.
        dry_run: only count.
        folder: the cache folder; by default the one of the environment.

    Raises:
        InputError: a fault in the file, with its line; or an unknown benchmark.
        StoreError: nothing is stored, or the notes cannot be written.
    """
    cache = paths.cache(folder)
    store = opened(cache, otherwise=EMPTY)
    row = store.benchmark(benchmark)
    known = {task.name: _known(store, task) for task in store.tasks(row.benchmark_id)}
    found = files.read(path, benchmark=row.name, known=known)
    return notes.merge(cache, found, dry_run=dry_run)


def _known(store: Store, task: TaskRow) -> KnownTask:
    queries = store.queries(task.task_id)
    languages = dict(zip(queries.id.tolist(), queries.language.tolist(), strict=True))
    return KnownTask(languages, _languages(store, task))


def _languages(store: Store, task: TaskRow) -> tuple[str, ...]:
    """Those of a task's documents and queries, of either of which a route may be."""
    return tuple(dict.fromkeys([*store.corpus_languages(task.task_id), *store.query_languages(task.task_id)]))
