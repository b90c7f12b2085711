"""Tables in LaTeX with booktabs: a whole document, or what another one takes in."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from analysis.report.blocks import Counts, Number, P, Row, Table, basis, counts, intervals, p_words
from analysis.views.selection import Interval, SystemLabel

MISSING = "--"
MOST_ROWS = 40
"""A table with more goes on over pages."""

HEADING = 18
"""Letters of a heading beyond which it is broken into lines."""

COLUMNS = {"number": "r", "passage": r"p{0.6\linewidth}"}
"""How columns are set that are no plain text."""

FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""A table that is wider than the page is made smaller, and no other."""

PER_CENT = 10
"""Values above it are per cent; shares, and odds in a readable table, stay below."""

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": r"$-$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\rightarrow$",
    "↓": r"$\downarrow$",
    "ρ": r"$\rho$",
    "χ": r"$\chi$",
    "τ": r"$\tau$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "’": "'",
    "‘": "`",
    "…": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
}
"""The ten special characters of TeX, what its usual fonts lack, and signs that we write ourselves."""

OTHER_SCRIPTS = (
    "% Some texts are in scripts that pdfLaTeX's fonts lack: compile with XeLaTeX or LuaLaTeX and choose a font that",
    "% has them, for example \\setmainfont{Noto Sans CJK SC}.",
)


def document(tables: Sequence[Table], *, fragment: bool = False) -> str:
    r"""A document that compiles as it is.

    Args:
        tables: in this order.
        fragment: the tables alone, for ``\input`` into a document that loads booktabs, longtable and graphicx.
    """
    body = "\n".join(line for table in tables for line in ["", *_table(table.without_empty())])
    notes = OTHER_SCRIPTS if any(_is_foreign(letter) for letter in body) else ()
    if fragment:
        return "\n".join([*notes, r"% Needs \usepackage{booktabs,longtable,graphicx}.", body, ""])
    head = [
        *notes,
        r"\documentclass{article}",
        r"\usepackage[landscape,margin=1.5cm]{geometry}",
        r"\usepackage{booktabs,longtable,graphicx,iftex}",
        r"\ifpdftex\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi",
        r"\begin{document}",
        r"\footnotesize",
    ]
    return "\n".join([*head, body, "", r"\end{document}", ""])


def _table(table: Table) -> Iterator[str]:
    """One table with its caption; over pages where it is long."""
    known = counts(table)
    letters = "".join(COLUMNS.get(kind, "l") for kind in table.columns.values())
    rest = basis(table)
    caption = escaped(f"{table.title} ({rest})." if rest else f"{table.title}.")
    head = [*_heads(table, known), r"\midrule"]
    digits = _digits(table)
    body = [_row(row, table, known, digits) for row in table.rows]
    if len(table.rows) > MOST_ROWS:
        yield rf"\begin{{longtable}}{{{letters}}}"
        yield rf"\caption{{{caption}}} \\"
        yield from [r"\toprule", *head, r"\endhead", *body, r"\bottomrule", r"\end{longtable}"]
        return
    yield from [r"\begin{table}[htbp]", r"\centering", rf"\caption{{{caption}}}", r"\setlength{\tabcolsep}{4pt}"]
    yield from [
        FITTED,
        rf"\begin{{tabular}}{{{letters}}}",
        r"\toprule",
        *head,
        *body,
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    yield r"\end{table}"


def _heads(table: Table, known: Counts) -> Iterator[str]:
    """The headings, and below them the queries behind each column where those differ."""
    yield _line([_heading(name, numeric=kind == "number") for name, kind in table.columns.items()])
    if known.columns:
        ns = [known.columns.get(name) for name in table.columns]
        yield _line(["" if n is None else rf"($n = {n}$)" for n in ns])


def _heading(name: str, *, numeric: bool) -> str:
    lines = [escaped(line) for line in textwrap.wrap(name, HEADING)]
    stacked = r" \\ ".join(lines)
    return stacked if len(lines) < 2 else rf"\shortstack[{'r' if numeric else 'l'}]{{{stacked}}}"


def _digits(table: Table) -> dict[str, int]:
    """Decimals of each column with intervals: one for per cent, two for shares."""
    largest: dict[str, float] = {}
    for name, found in intervals(table):
        largest[name] = max(largest.get(name, 0.0), abs(found.value or 0.0))
    return {name: 1 if value > PER_CENT else 2 for name, value in largest.items()}


def _row(row: Row, table: Table, known: Counts, digits: Mapping[str, int]) -> str:
    if isinstance(row, str):
        return rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\textit{{{escaped(row)}}}}} \\"
    said = known.whole is not None
    return _line(
        [
            _interval(cell, digits.get(name, 2), n_is_said=said or name in known.columns)
            if isinstance(cell, Interval)
            else _cell(cell, numeric=kind == "number")
            for cell, (name, kind) in zip(row, table.columns.items(), strict=True)
        ]
    )


def _line(cells: Sequence[str]) -> str:
    """One line; a first cell that begins like an argument of the line break before it is kept apart from that."""
    guard = "{}" if cells[0][:1] in {"[", "*"} else ""
    return guard + " & ".join(cells) + r" \\"


def _cell(cell: str | Number | P | SystemLabel | None, *, numeric: bool) -> str:
    if isinstance(cell, SystemLabel):
        return escaped(cell.short)
    if isinstance(cell, Number):
        return MISSING if cell.value is None else escaped(f"{cell.value:z.{cell.digits}f}".replace("-", "−"))
    if isinstance(cell, P):
        return escaped(p_words(cell)) or MISSING
    return escaped(cell or "") or (MISSING if numeric else "")


def _interval(found: Interval, digits: int, *, n_is_said: bool) -> str:
    """A value with its interval as a range; n where the table does not say it once."""
    if found.value is None:
        return MISSING
    words = f"{found.value:z.{digits}f}"
    if found.low is not None and found.high is not None:
        words += f" [{found.low:z.{digits}f}, {found.high:z.{digits}f}]"
    if not n_is_said:
        words += f" (n = {found.n})"
    return escaped(words.replace("-", "−"))


def escaped(text: str) -> str:
    """A text in which nothing is a command; line breaks and control characters become blanks."""
    return "".join(
        SPECIAL.get(letter, " " if unicodedata.category(letter) in {"Cc", "Zl", "Zp"} else letter) for letter in text
    )


def _is_foreign(letter: str) -> bool:
    """Whether the usual fonts of pdfLaTeX lack a letter."""
    return letter > "\u017f"
