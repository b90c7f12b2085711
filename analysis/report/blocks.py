"""What a report is made of: sections of sentences, charts and tables, before they become HTML or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from analysis.views.evidence import SEED
from analysis.views.selection import Interval, Sentence, SystemLabel


class Number(NamedTuple):
    """A number without an interval; None where undefined."""

    value: float | None
    digits: int = 2  # decimals shown


class P(NamedTuple):
    """A probability of chance; None where it is withheld."""

    value: float | None


class Hash(str):
    """A checksum, shown in a face that tells 0 from O."""

    __slots__ = ()


Cell = str | Interval | Number | P | SystemLabel | None
Row = Sequence[Cell] | str
"""One cell a column; a bare string is the name of a group of the rows below it."""


@dataclass(frozen=True)
class Table:
    """Rows under headings."""

    title: str
    columns: Mapping[str, str]  # heading -> "text", "passage" (room for sentences) or "number" (to the right)
    rows: tuple[Row, ...]
    folded: bool = False  # long, so that a reader opens it

    def without_empty(self) -> Table:
        """The same without the columns, but the first, in which nothing stands."""
        lines = [row for row in self.rows if not isinstance(row, str)]
        rest = range(1, len(self.columns))
        kept = [0, *(place for place in rest if any(not _is_empty(row[place]) for row in lines))]
        names = list(self.columns)
        columns = {names[place]: self.columns[names[place]] for place in kept}
        rows = tuple(row if isinstance(row, str) else [row[place] for place in kept] for row in self.rows)
        return Table(self.title, columns, rows, self.folded)


def _is_empty(cell: Cell) -> bool:
    if isinstance(cell, Interval | Number | P):
        return cell.value is None
    return cell is None or cell == ""


class Counts(NamedTuple):
    """The queries behind a table's intervals, where they need not stand in each cell."""

    whole: int | None  # behind every interval of the table
    columns: Mapping[str, int]  # else behind every interval of a column


@dataclass(frozen=True)
class Heading:
    """A title inside a section; level 3 a task, level 4 a part of it."""

    words: str
    level: int


@dataclass(frozen=True)
class Grey:
    """A line in the secondary colour: what is drawn, n, a caveat."""

    words: str


@dataclass(frozen=True)
class Chart:
    """A figure of ``analysis.charts`` in both themes."""

    light: Any
    dark: Any
    alt: str  # what it shows, for those who cannot see it

    @classmethod
    def drawn(cls, draw: Callable[[bool], Any], *, alt: str) -> Chart:
        """Draw a figure for the light and for the dark theme."""
        return cls(draw(False), draw(True), alt)


Block = Heading | Sentence | Grey | Chart | Table


@dataclass(frozen=True)
class Section:
    """The answer to one page's question."""

    name: str  # as in the page's address
    title: str  # as in the menu
    question: str
    blocks: tuple[Block, ...]

    @property
    def charts(self) -> list[Chart]:
        """Its figures in order."""
        return [block for block in self.blocks if isinstance(block, Chart)]


def spoken(sentence: Sentence) -> str:
    """A takeaway as plain words."""
    return f"{sentence.bold} {sentence.rest}".strip()


def intervals(table: Table) -> Iterator[tuple[str, Interval]]:
    """Every defined interval of a table with the heading of its column."""
    for row in table.rows:
        if isinstance(row, str):
            continue
        for heading, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Interval) and cell.value is not None:
                yield heading, cell


def counts(table: Table) -> Counts:
    """Where the n of a table's intervals can be said once."""
    found: dict[str, set[int]] = {}
    for heading, cell in intervals(table):
        found.setdefault(heading, set()).add(cell.n)
    every = set().union(*found.values())
    if len(every) == 1:
        return Counts(every.pop(), {})
    return Counts(None, {heading: min(ns) for heading, ns in found.items() if len(ns) == 1})


def p_words(found: P) -> str:
    """A p with three decimals; a bound where it is smaller than they show."""
    if found.value is None:
        return ""
    return "< 0.001" if found.value < 0.001 else f"{found.value:.3f}"


def basis(table: Table) -> str:
    """What the intervals of a table rest on: n, level, methods with their B, and the seed; empty without intervals."""
    found = [cell for _, cell in intervals(table)]
    n = counts(table).whole
    parts = [f"n = {n:,}"] if n is not None else []
    methods = dict.fromkeys(cell.method for cell in found if cell.low is not None)
    if methods:
        levels = " and ".join(dict.fromkeys(f"{100 * cell.level:.0f} %" for cell in found))
        parts.append(f"{levels} intervals: {', '.join(methods)}")
        if any("B =" in method for method in methods):
            parts.append(f"seed {SEED}")
    return "; ".join(parts)
