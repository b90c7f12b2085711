"""What a table says of its intervals, and which columns it keeps."""

import pytest

from analysis.model import Interval
from analysis.report.blocks import Number, P, Table, basis, counts, p_words


def interval(n, *, value=0.5, method="percentile-joint, B = 2000"):
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return Interval(value, "pooled", None, None, low, high, 0.95, method, n)


def table(*rows, columns=("a", "b")):
    return Table("t", {"System": "text"} | dict.fromkeys(columns, "number"), rows)


def test_one_n_is_said_once():
    made = table("group", ["x", interval(7), interval(7)], ["y", None, interval(7)])
    assert counts(made) == (7, {})
    assert basis(made) == "n = 7; 95 % intervals: percentile-joint, B = 2000; seed 20260101"


def test_an_n_of_its_own_stands_with_its_column_and_else_in_the_cells():
    made = table(["x", interval(7), interval(1)], ["y", interval(7), interval(2)])
    assert counts(made) == (None, {"a": 7})
    assert not basis(made).startswith("n =")


def test_what_is_undefined_counts_for_nothing():
    made = table(["x", interval(0, value=None), Number(3.0)])
    assert counts(made) == (None, {})
    assert basis(made) == ""


def test_methods_are_named_once_and_only_draws_have_a_seed():
    assert basis(table(["x", interval(7, method="wilson"), None])) == "n = 7; 95 % intervals: wilson"
    both = table(["x", interval(7, method="wilson"), interval(7)])
    assert basis(both) == "n = 7; 95 % intervals: wilson, percentile-joint, B = 2000; seed 20260101"


def test_columns_in_which_nothing_stands_are_left_out():
    made = table("group", ["x", interval(0, value=None), P(None)], ["y", None, Number(0.0)]).without_empty()
    assert list(made.columns) == ["System", "b"]
    assert made.rows == ("group", ["x", P(None)], ["y", Number(0.0)])


@pytest.mark.parametrize(("p", "words"), [(None, ""), (0.0004, "< 0.001"), (0.001, "0.001"), (1.0, "1.000")])
def test_p_in_words(p, words):
    assert p_words(P(p)) == words
