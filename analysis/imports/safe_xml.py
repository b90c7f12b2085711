"""An XML parser that takes no entities: files of others neither declare nor fetch anything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from xml.parsers import expat

from analysis.errors import InputError


class SafeXml(ABC):
    """Hears of the elements and texts of a file, in their order.

    Attributes:
        path: the file, for messages.
        expected: what the file should be, for messages.
        parser: what reads it.
    """

    expected: str

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._skipped

    def parse(self, data: str | bytes, *, final: bool) -> None:
        """Hear of what is in the next piece of the file.

        Raises:
            InputError: it is no XML, declares an entity, or names one that XML does not know.
        """
        try:
            self.parser.Parse(data, final)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise InputError(f"{self.path}, line {error.lineno}: {reason}, expected {self.expected}") from error

    @abstractmethod
    def _start(self, name: str, attributes: dict[str, str]) -> None: ...

    @abstractmethod
    def _end(self, name: str) -> None: ...

    @abstractmethod
    def _characters(self, text: str) -> None: ...

    def _entity(self, name: str, *_: object) -> None:
        raise InputError(f"{self._line()}: entity {name!r} is declared, expected none")

    def _skipped(self, name: str, _: bool) -> None:
        raise InputError(f"{self._line()}: entity {name!r} is not known, expected the character itself")

    def _line(self) -> str:
        return f"{self.path}, line {self.parser.CurrentLineNumber}"
