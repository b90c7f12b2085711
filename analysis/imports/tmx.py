"""Parallel texts in TMX 1.4, the exchange format of translation memories; see :mod:`analysis.imports.parallel_rows`.

A ``<tu>`` is a row, named by its ``tuid`` or else by its number; its ``<prop>`` are attributes of its queries. The text
of a ``<seg>`` is what a reader sees: codes of the original file (``<bpt>``, ``<ept>``, ``<it>``, ``<ph>``, ``<ut>``,
with any ``<sub>`` in them) are left out, ``<hi>`` is not, and white space of XML counts as one blank. The DTD that a
file names is not fetched, entities other than the five of XML are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis.errors import InputError
from analysis.imports.faults import Faults, Place
from analysis.imports.lines import BLOCK, opened
from analysis.imports.parallel_rows import Row, chosen, unique
from analysis.imports.parallel_rows import parts as parts_of
from analysis.imports.parts import Options, Parts
from analysis.imports.safe_xml import SafeXml
from analysis.languages import canonical

CODES = ("bpt", "ept", "it", "ph", "ut")
DEEP = 100
"""Elements inside each other; TMX needs a dozen."""
PIECE = 1 << 16  # bytes parsed at a time
KIND = "text dropped"

_LAYOUT = re.compile(r"[ \t\r\n]+")  # white space of XML


def parts(path: Path, options: Options, faults: Faults) -> Parts:
    """The parts of a translation memory.

    Args:
        path: plain or packed, in any encoding that it declares.
        options: the languages, by default all in the order in which they come; which ``prop`` names a unit's document.
        faults: takes texts without a language or with one that the unit has already, and ids that come again.

    Raises:
        InputError: no such file, no XML, no TMX, entities, one language only, a language without any text.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected TMX")
    for column, name in options.renamed.items():
        raise InputError(f"--map {column}={name}: TMX has no columns, expected none")
    languages = chosen(options.languages) if options.languages else None
    rows = unique(_rows(path, _Units(path, options.family_column, languages, faults)), faults)
    faults.end()
    if not rows:
        raise InputError(f"{path}: no <tu> with a text, expected some")
    found = dict.fromkeys(tag for row in rows for tag in row.texts)
    if languages is None:
        if len(found) < 2:
            raise InputError(f"{path}: texts in {', '.join(found)} only, expected two or more languages")
        languages = {tag: tag for tag in found}
    return parts_of(rows, languages, path, options=options, faults=faults)


def _rows(path: Path, units: _Units) -> Iterator[Row]:
    with opened(path) as source:
        while True:
            data = source.read(PIECE)
            yield from units.feed(data)
            if not data:
                return


class _Units(SafeXml):
    """Gathers units."""

    expected = "TMX"

    def __init__(self, path: Path, family: str | None, languages: dict[str, str] | None, faults: Faults) -> None:
        super().__init__(path)
        self.parser.buffer_text = True
        self._family = family
        self._languages = languages
        self._faults = faults
        self._done: list[Row] = []
        self._inside: list[str] = []
        self._codes = 0
        self._n = 0
        self._id: str | None = None
        self._language: str | None = None
        self._texts: dict[str, str] = {}
        self._props: dict[str, str] = {}
        self._prop = ""
        self._text: list[str] | None = None
        self._size = 0

    def feed(self, data: bytes) -> Sequence[Row]:
        """Units that end in the next bytes; none are the end of the file."""
        self._done = []
        try:
            self.parse(data, final=not data)
        except (LookupError, ValueError) as error:  # of the encoding that the file declares
            raise InputError(f"{self.path}, line 1: {error}, expected TMX in UTF-8 or UTF-16") from error
        return self._done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._inside and name != "tmx":
            raise InputError(f"{self._line()}: <{name}>, expected <tmx>")
        if len(self._inside) >= DEEP:
            raise InputError(f"{self._line()}: more than {DEEP} elements inside each other, expected TMX")
        parent = self._inside[-1] if self._inside else ""
        self._inside.append(name)
        if name == "tu":
            self._n += 1
            self._id, self._texts, self._props = attributes.get("tuid"), {}, {}
        elif name == "tuv" and parent == "tu":
            self._language = attributes.get("xml:lang", attributes.get("lang"))
        elif (name == "seg" and parent == "tuv") or (name == "prop" and parent == "tu"):
            self._text, self._size, self._prop = [], 0, attributes.get("type", "")
        elif name in CODES:
            self._codes += 1

    def _end(self, name: str) -> None:
        self._inside.pop()
        parent = self._inside[-1] if self._inside else ""
        if name in CODES:
            self._codes -= 1
        elif name in ("seg", "prop") and self._text is not None:
            text, self._text = _LAYOUT.sub(" ", "".join(self._text)).strip(" "), None
            if name == "prop":
                self._props[self._prop] = text
            else:
                self._take(text)
        elif name == "tu" and parent != "tu":
            self._close()

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._codes:
            self._size += len(text)
            if self._size > BLOCK:
                raise InputError(f"{self._line()}: a text of more than {BLOCK:,} characters, expected shorter ones")
            self._text.append(text)

    def _take(self, text: str) -> None:
        """A text in the language of its ``<tuv>``."""
        if not self._language:
            self._fault("a <tuv> without xml:lang, expected a language")
            return
        try:
            tag = canonical(self._language).tag
        except InputError as error:
            if self._languages is None:
                self._fault(str(error))
            return
        if self._languages is not None and tag not in self._languages:
            return
        if tag in self._texts:
            self._fault(f"two texts in {tag}, expected one in each language")
        elif text.strip():
            self._texts[tag] = text

    def _close(self) -> None:
        document = None
        if self._family is not None:
            document = self._props.pop(self._family, None)
            if not document:
                self._fault(f"no <prop type={self._family!r}>, expected a document", kind="unit dropped")
                return
        name = str(self._n) if self._id is None else self._id
        if not name.strip():
            self._fault("tuid is blank, expected an id", kind="unit dropped")
            return
        self._done.append(Row(Place(self.path, self._n, "unit"), name, self._texts, document, self._props))

    def _fault(self, text: str, *, kind: str = KIND) -> None:
        self._faults.meet(Place(self.path, self._n, "unit"), text, kind=kind)
