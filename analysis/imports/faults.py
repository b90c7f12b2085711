"""The faults of a file: strict ends at the first and counts the rest, lenient lists every row dropped or mended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from analysis.errors import InputError

LISTED = 1000
"""How many faults of a kind are listed one by one; all are counted."""


class Place(NamedTuple):
    """Where something stands."""

    file: Path
    number: int
    unit: str = "line"  # what the number counts, from 1

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.number}"

    def seen_from(self, other: Place) -> str:
        """The same without the file where that is the other's too."""
        return f"{self.unit} {self.number}" if self.file == other.file else str(self)


@dataclass(frozen=True)
class Mended:
    """What a lenient import did about one kind of fault."""

    kind: str  # such as "judgement dropped"
    n: int
    places: tuple[str, ...]  # file, line and fault of each, the first LISTED of them


@dataclass
class Faults:
    """The faults met so far."""

    lenient: bool
    first: str | None = None
    n: int = 0
    _counts: dict[str, int] = field(default_factory=dict)
    _places: dict[str, list[str]] = field(default_factory=dict)

    def meet(self, where: Place, fault: str, *, kind: str) -> None:
        """Count one fault; ``kind`` says what a lenient import does about it."""
        place = f"{where}: {fault}"
        self.n += 1
        self.first = self.first or place
        self._counts[kind] = self._counts.get(kind, 0) + 1
        listed = self._places.setdefault(kind, [])
        if len(listed) < LISTED:
            listed.append(place)

    def mended(self) -> tuple[Mended, ...]:
        """What was dropped or mended, by kind in the order met."""
        return tuple(Mended(kind, n, tuple(self._places[kind])) for kind, n in self._counts.items())

    def end(self) -> None:
        """End a strict import that met a fault.

        Raises:
            InputError: the first fault, and how many more there are.
        """
        if self.first and not self.lenient:
            more = self.n - 1
            raise InputError(self.first + (f" ({more:,} more faults)" if more else ""))
