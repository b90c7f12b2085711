"""Tables in LaTeX: balanced, of equal width, and with nothing of a text left to be a command."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.model import Interval, SystemLabel
from analysis.report import latex, papers, tables
from analysis.report.blocks import Number, P, Table
from analysis.views.papers import everything
from analysis.views.selection import Selection

COMMAND = re.compile(r"\\([a-zA-Z]+\*?|.)")
ENVIRONMENT = re.compile(r"\\(begin|end)\{([a-z]+)\}")
SIGNS = {r"\#": "#", r"\$": "$", r"\%": "%", r"\&": "&", r"\_": "_", r"\{": "{", r"\}": "}"}
NAMED = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}


def unescaped(text):
    """What TeX sets for the commands that stand for one character each."""
    text = re.sub(r"\\([a-z]+)\{\}", lambda found: "\0" + found[1] + "\0", text)
    text = re.sub(r"\\.", lambda found: SIGNS[found[0]], text)
    return re.sub("\0([a-z]+)\0", lambda found: NAMED[found[1]], text)


def widths(row):
    """Columns that a line of a table fills."""
    spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
    return len(re.split(r"(?<!\\)&", row)) + spanned


def check(text):
    """Braces and environments close, mathematics ends, and every line is as wide as its table."""
    open_ones, width = [], None
    for line in text.splitlines():
        if line.startswith("%"):
            continue
        if line == latex.FITTED:
            open_ones.append("fitted")
            continue
        if line == r"\end{tabular}}":
            assert (open_ones.pop(), open_ones.pop()) == ("tabular", "fitted")
            continue
        assert not re.search(r"(?<!\\)[%#]", line), line
        bare = COMMAND.sub("", line)
        assert bare.count("{") == bare.count("}"), line
        assert bare.count("$") % 2 == 0, line
        for kind, name in ENVIRONMENT.findall(line):
            if kind == "begin":
                open_ones.append(name)
            else:
                assert open_ones.pop() == name
        if begun := re.match(r"\\begin\{(?:tabular|longtable)\}\{((?:[lr]|p\{[^}]*\})+)\}", line):
            width = len(re.findall(r"[lr]|p\{[^}]*\}", begun[1]))
        elif line.endswith(r" \\") and not line.startswith(r"\caption"):
            assert widths(line) == width, line
            assert line[0] not in "[*"
    assert not open_ones


SELECTION = Selection("example")
ELSEWHERE = {"composites", "papers"}
"""Tables that only benchmarks of certain names have."""


@pytest.mark.parametrize("name", [name for name in tables.TABLES if name not in ELSEWHERE])
def test_every_table_of_hostile_names_is_a_document(hostile, name):
    made = latex.document(tables.tables(hostile, SELECTION, name=name))
    check(made)
    assert made.startswith("\\documentclass{article}")
    assert made.endswith("\\end{document}\n")
    assert "\\toprule" in made
    for text in ("<script", "$x$", "100%", "_^"):
        assert text not in made


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pdflatex", "xelatex"])
def test_tex_sets_every_table_of_hostile_names_inside_the_page(hostile, tmp_path, engine):
    if shutil.which(engine) is None:
        pytest.skip(f"no {engine} here (Debian: texlive-latex-recommended, texlive-xetex)")
    made = [
        table
        for name in tables.TABLES
        if name not in ELSEWHERE
        for table in tables.tables(hostile, SELECTION, name=name)
    ]
    printed = everything()
    for paper in {figure.paper for figure in printed}:
        made += papers.tables([figure for figure in printed if figure.paper == paper])
    (tmp_path / "all.tex").write_text(latex.document(made), encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(encoding="utf-8", errors="replace")
    assert "Missing character" not in log
    assert "Overfull" not in log


def test_the_worked_example_by_hand(example_store):
    """good: R@1 0 and 0; its routes are hits by rank 10 or not."""
    made = latex.document(tables.tables(example_store, SELECTION._replace(systems=("good",)), name="routes"))
    check(made)
    lines = [line for line in made.splitlines() if line.startswith(("en &", "fr &", "ja &"))]
    assert lines[0].startswith("en & 1.00 [")
    assert lines[1] == r"fr & -- & -- & -- \\"  # no query in French
    assert "one" not in made
    assert "n = 1" in made


def test_imported_scores_have_the_tables_they_can_have(imported_store):
    asked = Selection("imported")
    for name in ("overview", "fairness", "tax", "pairs"):
        check(latex.document(tables.tables(imported_store, asked, name=name)))
    for name in ("routes", "recoverability", "tiers"):
        with pytest.raises(InputError, match="per-query scores only"):
            tables.tables(imported_store, asked, name=name)
    with pytest.raises(InputError, match="--table composites: imported has nothing to show in it"):
        tables.tables(imported_store, asked, name="composites")


def label(short):
    return SystemLabel("s", "title", short, "lexical", 0)


def interval(value, low, high, n=7):
    return Interval(value, "pooled", None, None, low, high, 0.95, "wilson", n)


def test_cells_by_hand():
    rows = (
        "a_group",
        [label("[x]"), interval(0.5, 0.25, 0.75), Number(None), P(0.0001)],
        [label("y"), interval(-0.004, -0.5, 0.5), Number(-1.5, 1), P(None)],
        [label("z"), interval(None, None, None, 0), Number(12, 0), P(0.5)],
    )
    columns = {"System": "text", "R@1": "number", "N": "number", "p": "number"}
    made = latex.document([Table("A & B", columns, rows)], fragment=True)
    check(made)
    assert "\\documentclass" not in made
    assert r"\caption{A \& B (n = 7; 95 \% intervals: wilson).}" in made
    assert r"\multicolumn{4}{l}{\textit{a\_group}} \\" in made
    assert r"{}[x] & 0.50 [0.25, 0.75] & -- & \textless{} 0.001 \\" in made
    assert r"y & 0.00 [$-$0.50, 0.50] & $-$1.5 & -- \\" in made
    assert r"z & -- & 12 & 0.500 \\" in made


def test_per_cent_has_one_decimal_in_the_whole_column():
    rows = tuple([label("x"), interval(value, value, value)] for value in (71.66, 0.07))
    made = latex.document([Table("t", {"System": "text", "LT%": "number"}, rows)])
    assert "x & 71.7 [71.7, 71.7]" in made
    assert "x & 0.1 [0.1, 0.1]" in made


def test_a_long_table_goes_on_over_pages():
    rows = tuple([f"{n}"] for n in range(41))
    made = latex.document([Table("t", {"a": "text"}, rows)])
    check(made)
    assert "\\begin{longtable}{l}" in made
    assert "\\endhead" in made


@pytest.mark.parametrize(("text", "needs"), [("検索", True), ("поиск", True), ("é ñ ß – ≥ ρ", False)])
def test_other_scripts_stay_and_say_what_they_need(text, needs):
    made = latex.document([Table(text, {"a": "text"}, ([text],))])
    assert ("XeLaTeX" in made) is needs
    assert not needs or text in made


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=40))
def test_an_escaped_text_is_that_text_and_no_command(text):
    plain = "".join(letter for letter in text if letter not in latex.SPECIAL or letter in "\\{}#$%&_~^")
    made = latex.escaped(plain)
    assert unescaped(made) == plain
    check(latex.document([Table(plain, {plain or "a": "text"}, ([plain], plain))]))


@given(st.text(max_size=40))
def test_any_text_keeps_the_document_whole(text):
    check(latex.document([Table(text, {"a": "text", "b": "number"}, ([text, None], text, [text, text]))]))
