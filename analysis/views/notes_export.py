"""Tags and notes as a file: a CSV that can be brought back, and Markdown for people."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from analysis.store.notes import COLUMNS
from analysis.text import counted
from analysis.views.delimited import write_csv
from analysis.views.notes import Annotation, NotesView

UNTAGGED = "notes without a tag"
MARKS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&=^@])")
"""What means something in any dialect of Markdown; a backslash before it takes the meaning away."""

SPACE = re.compile("[ \t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
"""White space that ends a line in some reader, or that Markdown takes for one space."""

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def as_csv(view: NotesView) -> str:
    """The annotations with the columns that ``import-notes`` reads.

    Texts stay as they are, also those that a spreadsheet takes for formulas: they have to come back unchanged.
    """
    out = io.StringIO(newline="")
    write_csv(out, [COLUMNS, *(row[: len(COLUMNS)] for row in view.rows)])
    return out.getvalue()


def as_markdown(view: NotesView) -> str:
    """The annotations by task, tag and query, each query with its text; all that was typed or imported stays text."""
    return "\n".join(_lines(view)) + "\n"


def _lines(view: NotesView) -> Iterator[str]:
    authors = sorted({row.author for row in view.rows})
    yield f"# Notes on {one_line(view.benchmark.title)}"
    yield ""
    yield f"{counted(len(view.rows), 'note')} by {', '.join(map(one_line, authors)) or 'nobody'}"
    titles = {task.name: task.title for task in view.tasks}
    for task in dict.fromkeys(row.task for row in view.rows):
        yield ""
        yield f"## {one_line(titles.get(task, task))}"
        rows = [row for row in view.rows if row.task == task]
        for count in view.by_tag:
            yield from _tag_lines(view, count.tag, [row for row in rows if row.tag == count.tag])


def _tag_lines(view: NotesView, tag: str | None, rows: Sequence[Annotation]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"### {UNTAGGED if tag is None else one_line(tag)} ({len(rows):,})"
    for name, group in groupby(rows, key=lambda row: row.query_id):  # they stand together
        said = list(group)
        yield ""
        yield f"#### {one_line(name)} · {one_line(said[0].query_language)}"
        yield from _query_lines(view.texts.get((said[0].task, name)))
        yield ""
        for row in said:
            yield f"* {' · '.join(_facts(view, row))}"
            yield from _note_lines(row.note)


def _query_lines(text: str | None) -> Iterator[str]:
    if text is None:
        yield from ("", "*The query is not stored any more.*")
    elif text.strip():
        yield from ("", f"> {one_line(text)}")


def _facts(view: NotesView, row: Annotation) -> Iterator[str]:
    """Badges in words: route, system, author and day."""
    if row.document_language is not None:
        yield f"{one_line(row.query_language)} → {one_line(row.document_language)}"
    if row.system is not None:
        yield one_line(view.systems[row.system].short)
    yield one_line(row.author)
    yield row.updated_at[:10]


def _note_lines(note: str) -> Iterator[str]:
    """A note as a quotation inside its point of the list, line by line; empty lines part paragraphs."""
    lines = [one_line(line) for line in note.splitlines()]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        yield f"  > {line}" + ("\\" if line and following else "") if line else "  >"


def one_line(text: str) -> str:
    """A text as one line of Markdown that reads the same and does nothing."""
    return MARKS.sub(r"\\\1", CONTROL.sub("\ufffd", SPACE.sub(" ", text)).strip())
