"""The commands `notes` and `import-notes`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from analysis.cli.output import plain, write_json, write_rows
from analysis.cli.read import opened
from analysis.cli.work import CHECKED
from analysis.errors import InputError
from analysis.jobs import annotate
from analysis.store.read import Store
from analysis.views import notes as view
from analysis.views import notes_export
from analysis.views.notes import NoteFilter, NotesView

FORMATS = ("json", "csv", "table", "markdown")


def notes(options: argparse.Namespace) -> None:
    """Tags and notes, their counts, or how far two people agree."""
    store = opened(options)
    if options.agreement is not None:
        _agreement(store, options)
        return
    wanted = NoteFilter(
        tasks=tuple(options.task),
        systems=tuple(options.system),
        tags=tuple(options.tag),
        authors=tuple(options.author),
    )
    found = view.notes(store, options.benchmark, wanted=wanted)
    (_counts if options.counts else _list)(found, options)


def _list(found: NotesView, options: argparse.Namespace) -> None:
    if options.format == "csv":
        sys.stdout.write(notes_export.as_csv(found))
    elif options.format == "markdown":
        sys.stdout.write(notes_export.as_markdown(found))
    else:
        rows = [{**plain(row), "query_text": found.texts.get((row.task, row.query_id))} for row in found.rows]
        write_rows(rows if options.format == "json" else [_in_one_line(row) for row in rows], options.format)


def _in_one_line(row: dict[str, Any]) -> dict[str, Any]:
    """A row for a terminal."""
    return {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in row.items()}


def _counts(found: NotesView, options: argparse.Namespace) -> None:
    """How often each tag was given: at all, to answers of each system, and on each route."""
    _need_rows(options, "--counts")
    parts = {"tags": found.by_tag, "systems": found.by_system, "routes": found.by_route}
    if options.format == "json":
        write_json(parts)
        return
    names = ("tag", "system", "query_language", "document_language", "n", "n_queries")
    rows = [{"by": part, **{name: row.get(name) for name in names}} for part, row in _flat(parts)]
    write_rows(rows, options.format)


def _flat(parts: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part, rows in parts.items():
        for row in rows:
            yield part, plain(row)


def _agreement(store: Store, options: argparse.Namespace) -> None:
    """How far two people agree; the first row is of items with one tag each."""
    _need_rows(options, "--agreement")
    for name in ("tag", "author", "system"):
        if given := getattr(options, name):
            raise InputError(f"--{name} {given[0]} with --agreement: expected --task alone beside it")
    first, separator, second = options.agreement.partition(",")
    if not separator:
        raise InputError(f"--agreement {options.agreement!r}: expected two authors, such as ann,bob")
    found = view.agreement(store, options.benchmark, first=first, second=second, tasks=tuple(options.task))
    if options.format == "json":
        write_json(found)
    else:
        print(f"{found.takeaway.bold} {found.takeaway.rest}".rstrip(), file=sys.stderr)
        write_rows([plain(row) for row in (found.overall, *found.tags)], options.format)


def _need_rows(options: argparse.Namespace, shown: str) -> None:
    if options.format == "markdown":
        raise InputError(f"--format markdown: expected json, csv or table for {shown}")


def import_notes(options: argparse.Namespace) -> None:
    """Bring in a file of tags and notes, or only count what is in it."""
    done = annotate.import_notes(
        options.file, benchmark=options.benchmark, dry_run=options.dry_run, folder=options.cache
    )
    outcome = CHECKED if options.dry_run else "stored"
    print(
        f"{outcome}: {done.added:,} added, {done.updated:,} updated, {done.kept:,} kept as they were", file=sys.stderr
    )
