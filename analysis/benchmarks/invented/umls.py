"""MRCONSO, MRDEF and MRREL with invented rows: every column, every trap, millions of rows in seconds."""

from __future__ import annotations

import contextlib
import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.benchmarks.invented import concepts as traps
from analysis.benchmarks.invented.concepts import Concepts
from analysis.benchmarks.invented.words import ENGLISH, EVERY, Places, Speech, joined
from analysis.model import Progress, silent

BLOCK = 20_000  # concepts written at once: what bounds the memory
MEDICAL, LAY = "INVMED", "INVLAY"
CODED = ("INVCOD", "INVCLS")
"""Vocabularies whose codes are of one another's kind, by fifties of concepts."""
NO_ATOM = 99_999_999  # numbers counted down from here are of no atom
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Options:
    """How the files are written."""

    packed: bool = False  # gzip
    carriage_returns: bool = False  # lines end with CR LF
    malformed: bool = False  # the last line of MRCONSO lacks a column


class _Form(NamedTuple):
    """One kind of atom of a language."""

    chosen: Places
    text: pa.Array
    status: str  # TS
    string_type: str  # STT
    preferred: str  # ISPREF
    vocabulary: str | pa.Array
    term_type: str
    suppress: str | pa.Array = "N"


class _Atoms(NamedTuple):
    """The atoms of a block, sorted as MRCONSO is: by concept, language, form."""

    lines: pa.Array
    concept: Places
    lat: pa.Array
    atom: Places  # the number in AUI
    form: NDArray[np.int64]
    suppress: pa.Array


def write(folder: Path, of: Concepts, *, options: Options, progress: Progress = silent) -> dict[str, object]:
    """Write the three files and return what was planted in them."""
    planted: Counter[str] = Counter()
    end, suffix = ("\r\n" if options.carriage_returns else "\n"), (".gz" if options.packed else "")
    atoms = definitions = relations = 0
    with (
        _file(folder / f"MRCONSO.RRF{suffix}") as mrconso,
        _file(folder / f"MRDEF.RRF{suffix}") as mrdef,
        _file(folder / f"MRREL.RRF{suffix}") as mrrel,
    ):
        for start in range(0, of.n, BLOCK):
            progress("invent concepts", start, of.n)
            block = of.numbers[start : start + BLOCK]
            made = _atoms(of, block, first=atoms + 1)
            atoms += len(made.concept)
            _put(mrconso, made.lines, end)
            _count_atoms(planted, made)
            lines, reasons = _definitions(of, block, made, first=definitions + 1)
            definitions += len(lines)
            _put(mrdef, lines, end)
            planted.update(reasons)
            lines = _relations(of, block, first=relations + 1)
            relations += len(lines)
            _put(mrrel, lines, end)
        if options.malformed:
            mrconso.write(f"C0000000|ENG|P|L0000000|PF{end}".encode())
        progress("invent concepts", of.n, of.n)
    return {
        **dict(sorted(planted.items())),
        "atoms": atoms,
        "definitions": definitions,
        "relations": relations,
        "concepts": of.n,
        "concepts without a definition": int(traps.undefined(of.numbers).sum()),
        "strings of two concepts": int(traps.twins(of.numbers).sum() // 2),
        "strings of two letters": int(traps.abbreviated(of.numbers).sum()),
        "strings with quotes and backslashes": int(traps.in_quotes(of.numbers).sum()),
        "codes whose terms read alike": _alike(of),
        "concepts with English terms alone": int(traps.english(of.numbers).sum()),
    }


def _alike(of: Concepts) -> str:
    """Vocabulary and first characters of the codes whose English terms differ in one character: INVCOD AAD."""
    first = of.numbers[traps.alike(of.numbers)][:1]
    return f"{coding(first)[0]} {code(first)[0].as_py()[:3]}"


@contextlib.contextmanager
def _file(path: Path) -> Iterator[IO[bytes]]:
    """A new file; a packed one says no name and no time, so that the same rows are the same bytes."""
    with path.open("wb") as plain:
        if path.suffix != ".gz":
            yield plain
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=plain, compresslevel=3, mtime=0) as packed:
            yield cast("IO[bytes]", packed)


def _put(handle: IO[bytes], lines: pa.Array, end: str) -> None:
    """Write lines, whose bytes Arrow keeps one after the other."""
    whole = joined(lines, end).cast(pa.large_string())
    if len(whole):
        handle.write(memoryview(whole.buffers()[2])[: sum(pc.binary_length(whole).to_numpy())])


def cui(numbers: Places) -> pa.Array:
    """The identifiers of concepts."""
    return numbered("C", numbers + 1, 7)


def numbered(letter: str, numbers: Places, width: int) -> pa.Array:
    """A letter and a number with leading zeros."""
    return joined(letter, pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0"))


def code(numbers: Places) -> pa.Array:
    """A code such as ABC.4: ten concepts share its first three characters."""
    tens, letters = numbers // 10, pa.array(list(LETTERS))
    parts = [letters.take(pa.array(tens // 26**power % 26)) for power in (2, 1, 0)]
    return joined(*parts, ".", pa.array(numbers % 10).cast(pa.string()))


def coding(numbers: Places) -> pa.Array:
    """The vocabulary whose codes say something of each concept."""
    return pa.array(CODED).take(pa.array(numbers // 50 % len(CODED)))


def _forms(of: Concepts, speech: Speech, block: Places) -> Iterator[_Form]:
    chosen = block[of.spoken(speech)[block]]
    once = chosen[traps.formerly(chosen)]
    why = pa.array(["O", "E", "Y"]).take(pa.array(once // 4 % 3))
    yield _Form(chosen, of.term(speech, chosen), "P", "PF", "Y", MEDICAL, "PT")
    yield _Form(chosen, of.synonym(speech, chosen), "S", "PF", "Y", MEDICAL, "SY")
    yield _Form(once, of.former(speech, once), "S", "PF", "Y", MEDICAL, "OP", why)
    if speech is not ENGLISH:
        return
    yield _Form(chosen, of.term(speech, chosen), "P", "PF", "N", coding(chosen), "PX")
    yield _Form(chosen, of.term(speech, chosen, capital=False), "P", "VC", "Y", LAY, "LN")
    quoted = chosen[traps.in_quotes(chosen)]
    yield _Form(quoted, of.quoted(speech, quoted), "P", "VO", "Y", LAY, "SY")
    shared = chosen[traps.twins(chosen)]
    yield _Form(shared, of.shared(speech, shared), "S", "PF", "Y", LAY, "SY")
    brief = chosen[traps.abbreviated(chosen)]
    yield _Form(brief, of.short(brief), "S", "PF", "Y", coding(brief), "AB")


def _atoms(of: Concepts, block: Places, *, first: int) -> _Atoms:
    found = [
        (place, speech, number, form)
        for place, speech in enumerate(EVERY)
        for number, form in enumerate(_forms(of, speech, block))
    ]
    concept = np.concatenate([form.chosen for *_, form in found])
    language = np.concatenate([np.full(len(form.chosen), place) for place, _, _, form in found])
    form_number = np.concatenate([np.full(len(form.chosen), number) for _, _, number, form in found])
    order = np.lexsort((form_number, language, concept))
    taken = pa.array(order)

    def column(name: str) -> pa.Array:
        return pa.concat_arrays([_filled(getattr(form, name), len(form.chosen)) for *_, form in found]).take(taken)

    lat = pa.array([speech.lat for speech in EVERY]).take(pa.array(language[order]))
    atom = np.arange(first, first + len(order), dtype=np.int64)
    concept, suppress, vocabulary = concept[order], column("suppress"), column("vocabulary")
    own = pc.if_else(pc.is_in(vocabulary, pa.array(CODED)), code(concept), numbered("M", concept + 1, 8))
    lines = joined(
        cui(concept), lat, column("status"), numbered("L", atom, 8), column("string_type"), numbered("S", atom, 8),
        column("preferred"), numbered("A", atom, 8), "", own, "", vocabulary, column("term_type"), own,
        column("text"), "0", suppress, "", "", between="|",
    )  # fmt: skip
    return _Atoms(lines, concept, lat, atom, form_number[order], suppress)


def _filled(value: str | pa.Array, n: int) -> pa.Array:
    return pa.array([value] * n, pa.string()) if isinstance(value, str) else value


def _count_atoms(planted: Counter[str], made: _Atoms) -> None:
    for (lat, suppress), n in Counter(zip(made.lat.to_pylist(), made.suppress.to_pylist(), strict=True)).items():
        planted[f"atoms {lat} {suppress}"] += n


def _definitions(of: Concepts, block: Places, made: _Atoms, *, first: int) -> tuple[pa.Array, Counter[str]]:
    """Definitions of a block, sorted by concept, and how many of them are what."""
    rows: list[tuple[Places, Places, pa.Array, str, str]] = []
    reasons: Counter[str] = Counter()

    def add(chosen: Places, atom: Places, speech: Speech, *, vocabulary: str, suppress: str, reason: str) -> None:
        kind, size = speech.class_of(chosen), 9 if speech.space else 14
        text = joined(speech.sentence(chosen, size), kind, speech.sentence(chosen + 1, size), between=speech.space)
        rows.append((chosen, atom, text, vocabulary, suppress))
        reasons[f"definitions {reason}"] += len(chosen)

    lat, defined = np.array(made.lat.to_pylist()), ~traps.undefined(made.concept)
    for speech in EVERY:
        with_one = (lat == speech.lat) & (made.form == 0) & defined
        if speech is not ENGLISH:
            with_one &= made.concept % 3 < 2
        at = np.flatnonzero(with_one)
        add(made.concept[at], made.atom[at], speech, vocabulary=MEDICAL, suppress="N", reason="used")
    english = np.flatnonzero((lat == ENGLISH.lat) & (made.form == 0) & defined)
    numbers = made.concept[english]
    again, old, lost = english[numbers % 30 == 2], english[numbers % 25 == 3], english[numbers % 50 == 1]
    add(made.concept[again], made.atom[again], ENGLISH, vocabulary=LAY, suppress="N", reason="repeated")
    add(made.concept[old], made.atom[old], ENGLISH, vocabulary=LAY, suppress="O", reason="suppressed")
    add(made.concept[lost], NO_ATOM - made.atom[lost], ENGLISH, vocabulary=LAY, suppress="N", reason="without atom")
    dead = np.flatnonzero((lat == ENGLISH.lat) & (made.form == 2) & (made.concept % 40 == 0))
    add(made.concept[dead], made.atom[dead], ENGLISH, vocabulary=LAY, suppress="N", reason="of a suppressed atom")
    return _definition_lines(rows, first=first), reasons


def _definition_lines(rows: Sequence[tuple[Places, Places, pa.Array, str, str]], *, first: int) -> pa.Array:
    concept = np.concatenate([chosen for chosen, *_ in rows])
    order = np.argsort(concept, kind="stable")
    taken, n = pa.array(order), len(order)
    atom = np.concatenate([atoms for _, atoms, *_ in rows])[order]
    text = pa.concat_arrays([row[2] for row in rows]).take(taken)
    vocabulary, suppress = (
        pa.concat_arrays([_filled(value, len(row[0])) for row in rows for value in [row[place]]]).take(taken)
        for place in (3, 4)
    )
    number = numbered("AT", np.arange(first, first + n, dtype=np.int64), 8)
    return joined(
        cui(concept[order]), numbered("A", atom, 8), number, "", vocabulary, text, suppress, "", "", between="|"
    )


def _relations(of: Concepts, block: Places, *, first: int) -> pa.Array:
    """Each concept with its neighbour, with the first of its ten, and with one farther away."""
    beside, head, far = np.minimum(block ^ 1, of.n - 1), block // 10 * 10, (block + 7) % of.n
    kinds = (("SIB", "", beside), ("PAR", "inverse_isa", head), ("RO", "associated_with", far))
    lines, number = [], first
    for relation, kind, other in kinds:
        kept = block != other
        ids = numbered("R", np.arange(number, number + int(kept.sum()), dtype=np.int64), 8)
        number += int(kept.sum())
        suppress = pa.array(["O" if row % 11 == 0 else "N" for row in block[kept].tolist()])
        lines.append(
            joined(cui(block[kept]), "", "CUI", relation, cui(other[kept]), "", "CUI", kind, ids, "", MEDICAL,
                   MEDICAL, "", "", suppress, "", "", between="|")
        )  # fmt: skip
    return pa.concat_arrays(lines)
