"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence


def row(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, words: Collection[int] = (0,)) -> Iterator[str]:
    """The lines of a table.

    Args:
        header: what the columns are called.
        rows: their cells.
        words: places of the columns that hold words, which begin on the left; the others hold numbers.
    """
    yield row(*header)
    yield row(*(":--" if place in words else "--:" for place in range(len(header))))
    yield from (row(*cells) for cells in rows)
