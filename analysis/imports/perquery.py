"""PyTerrier's per-query table, one row a system, query and measure, turned into one row a system and query."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from analysis.errors import InputError
from analysis.metrics import catalogue

LONG = ("name", "qid", "measure", "value")
NAMES = {
    "ndcg_at_{k}": ("nDCG@{k}", "NDCG@{k}", "ndcg_cut_{k}", "ndcg_cut.{k}"),
    "ndcg_exponential_at_{k}": ("nDCG(dcg='exp-log2')@{k}",),
    "recall_at_{k}": ("R@{k}", "recall_{k}", "recall.{k}"),
    "precision_at_{k}": ("P@{k}", "P_{k}", "P.{k}"),
    "hit_at_{k}": ("Success@{k}", "success_{k}", "success.{k}"),
    "rr_at_{k}": ("RR@{k}",),
    "rr": ("RR", "recip_rank"),
    "ap": ("AP", "map"),
}
"""Our keys, with what ir_measures and trec_eval call the same measure; {k} is its cut."""

KEYS = {theirs: ours for ours, names in NAMES.items() for theirs in names}

Record = tuple[int, list[str]]
"""Physical line and cells."""


def is_long(header: Sequence[str]) -> bool:
    """Whether a table has the columns that PyTerrier writes."""
    return set(LONG) <= set(header)


def measure_key(name: str) -> str:
    """Our key of a measure.

    Raises:
        InputError: it is none of ours; one with parameters, such as ``R(rel=2)@10``, is another measure.
    """
    cut = re.search(r"\d+$", name)
    k = cut[0] if cut else ""
    key = KEYS.get(name[: len(name) - len(k)] + "{k}" * bool(k))
    try:
        return catalogue.measure(key.format(k=k) if key else name).key
    except InputError as error:
        expected = "expected one such as nDCG@10, R@10, P@10, Success@10, RR or AP"
        raise InputError(f"measure {name!r}, {expected}") from error


class _Wide:
    """Rows so far: one a system and query, with what the table says of the query beside its measures."""

    def __init__(self, header: Sequence[str], check: Callable[[str, str], float]) -> None:
        self._header = header
        self._check = check
        self.others = [name for name in header if name and name not in LONG]  # pandas' index has no name
        self.measures: dict[str, None] = {}
        self.lines: dict[tuple[str, str], int] = {}  # system and query -> the first line that has both
        self.values: dict[tuple[str, str], dict[str, str]] = {}

    def take(self, line: int, cells: Sequence[str]) -> None:
        if len(cells) != len(self._header):
            raise InputError(f"{len(cells)} cells, expected {len(self._header)} as in the header")
        named = dict(zip(self._header, cells, strict=True))
        pair, key = (named["name"], named["qid"]), measure_key(named["measure"])
        self._check(named["measure"], named["value"])
        self.lines.setdefault(pair, line)
        row = self.values.setdefault(pair, {name: named[name] for name in self.others})
        if key in row:
            raise InputError(f"{pair[0]} and {pair[1]!r} have {key} again, expected it once")
        for name in self.others:
            if row[name] != named[name]:
                raise InputError(f"query {pair[1]!r} has {name} {named[name]!r} and before {row[name]!r}")
        self.measures[key] = None
        row[key] = named["value"]

    def rows(self) -> Iterator[Record]:
        """The header and the rows of a wide table."""
        columns = [*self.others, *self.measures]
        yield 1, ["model", "query_id", *columns]
        for (system, query), row in self.values.items():
            for key in self.measures:
                if key not in row:
                    raise InputError(f"{system} and {query!r} have no {key}, expected every measure for each query")
            yield self.lines[system, query], [system, query, *(row[name] for name in columns)]


def wide(
    path: Path, header: Sequence[str], records: Iterator[Record], *, check: Callable[[str, str], float]
) -> Iterator[Record]:
    """The records of a long table as those of a wide one, the header first.

    Args:
        path: the file, for messages.
        header: of the long table.
        records: the others.
        check: refuses a value of a measure that is none.

    Raises:
        InputError: the first fault, with its physical line, and how many more rows are faulty.
    """
    table = _Wide(header, check)
    fault, n_faults = "", 0
    for line, cells in records:
        try:
            table.take(line, cells)
        except InputError as error:
            fault, n_faults = fault or f"{path}, line {line}: {error}", n_faults + 1
    if fault:
        raise InputError(fault + (f" ({n_faults - 1} more rows are faulty)" if n_faults > 1 else ""))
    try:
        yield from table.rows()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
