import math

import pytest
from chart_answers import BM25, E5, MINILM, SYSTEMS, USE
from hypothesis import given
from hypothesis import strategies as st

from analysis.charts import significance as charts
from analysis.charts import theme
from analysis.model import Interval
from analysis.views.significance import AgreementRow, FriedmanRow, PairRow, TaxRow


def interval(value, low, high, n=200):
    return Interval(value, "balanced", value, None, low, high, 0.95, "bca-joint, B = 10000", n)


def tax_row(label, value, low, high):
    return TaxRow("main", label, interval(value, low, high), 0.01, 0.02, 9, 2, 1, 0.8, 100, None)


def pair_row(a, b, value, p_bh, note=None):
    found = interval(value, value - 0.02, value + 0.03)
    return PairRow("main", a, b, found, None if p_bh is None else p_bh / 2, p_bh, {}, 100, note)


PAIRS = (
    pair_row(USE, E5, 0.04, 0.05),  # not below 0.05
    pair_row(USE, MINILM, 0.31, 0.004),
    pair_row(USE, BM25, 0.45, 0.001),
    pair_row(E5, MINILM, 0.27, 0.049),
    pair_row(E5, BM25, 0.41, 0.001),
    pair_row(MINILM, BM25, 0.14, None, "descriptive only: 12 paired queries, a test needs 30"),
)


def trace(figure, kind):
    return [one for one in figure.data if one.type == kind]


def test_tax_is_a_dot_a_system_with_its_interval_the_largest_on_top():
    rows = [tax_row(BM25, -0.02, -0.05, 0.01), tax_row(USE, 0.2, 0.15, 0.25), tax_row(E5, 0.47, 0.4, 0.5)]
    figure = charts.tax([*rows, tax_row(MINILM, None, None, None)])
    (dots,) = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["e5-small", "USE", "BM25"]
    assert list(dots.x) == [0.47, 0.2, -0.02]
    assert list(dots.y) == [0, -1, -2]
    assert list(dots.marker.color) == [theme.system_colour(label) for label in (E5, USE, BM25)]
    assert list(dots.error_x.array) == pytest.approx([0.03, 0.05, 0.03])
    assert list(dots.error_x.arrayminus) == pytest.approx([0.07, 0.05, 0.03])
    assert figure.layout.xaxis.zeroline
    assert figure.layout.xaxis.range[0] < -0.05 < 0.5 < figure.layout.xaxis.range[1]
    assert "0.4700 (0.4000 to 0.5000" in dots.hovertext[0]
    assert "Holm p 0.0200" in dots.hovertext[0]


def test_the_matrix_is_row_less_column_best_first_with_a_zero_in_the_middle():
    figure = charts.matrix(PAIRS, measure="R@10")
    assert list(figure.layout.yaxis.ticktext) == ["USE", "e5-small", "all-MiniLM", "BM25"]
    pale, deep = trace(figure, "heatmap")
    cells = {
        (line, column): (value, layer.text[line][column])
        for layer in (pale, deep)
        for line in range(4)
        for column in range(4)
        if (value := layer.z[line][column]) is not None
    }
    assert len(cells) == 12  # the diagonal is blank
    assert cells[0, 3] == (0.45, ".45")
    assert cells[3, 0] == (-0.45, "−.45")
    assert all(cells[a, b][0] == -cells[b, a][0] for a, b in cells)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-0.5, 0.5)
    assert list(figure.layout.coloraxis.colorbar.ticktext) == ["−0.50", "0 no difference", "+0.50"]


def test_what_is_not_below_005_is_hatched_on_both_sides():
    (hatched,) = trace(charts.matrix(PAIRS, measure="R@10"), "bar")
    assert hatched.marker.pattern.shape == "/"
    assert {(base + 0.5, column) for base, column in zip(hatched.base, hatched.x, strict=True)} == {
        (0, 1),
        (1, 0),
        (2, 3),
        (3, 2),
    }


def test_a_cell_says_its_interval_both_p_and_n_and_carries_its_systems():
    (targets,) = trace(charts.matrix(PAIRS, measure="R@10"), "scatter")
    hover = dict(zip([tuple(pair) for pair in targets.customdata], targets.hovertext, strict=True))
    there, back = hover[USE.name, E5.name], hover[E5.name, USE.name]
    assert there.startswith("<b>USE − e5-small</b><br>R@10 +0.0400 (0.0200 to 0.0700, bca-joint")
    assert back.startswith("<b>e5-small − USE</b><br>R@10 -0.0400 (-0.0700 to -0.0200, bca-joint")
    assert "p 0.0250, adjusted 0.0500" in there
    assert "n = 200 queries of 100 families" in there
    withheld = hover[BM25.name, MINILM.name]
    assert "descriptive only: 12 paired queries" in withheld
    assert "adjusted" not in withheld


def test_the_chosen_cell_is_outlined():
    figure = charts.matrix(PAIRS, measure="R@10", chosen=(BM25.name, USE.name))
    (shape,) = figure.layout.shapes
    assert (shape.x0 < 0 < shape.x1, shape.y0 < 3 < shape.y1) == (True, True)
    assert not charts.matrix(PAIRS, measure="R@10").layout.shapes


def friedman_row(ranked, joined=(), difference=0.9):
    return FriedmanRow("main", 30.0, len(ranked) - 1, 0.001, 40, tuple(ranked), difference, tuple(joined), None)


LABELS = {label.name: label for label in SYSTEMS}


def test_the_diagram_names_the_better_half_on_the_left_and_joins_what_is_close():
    ranked = [(USE.name, 1.2), (E5.name, 2.0), (MINILM.name, 2.8), (BM25.name, 4.0)]
    groups = [(USE.name, E5.name), (E5.name, MINILM.name)]
    figure = charts.critical_difference(friedman_row(ranked, groups), LABELS)
    assert list(figure.layout.yaxis.ticktext) == ["USE 1.20", "e5-small 2.00"]
    assert list(figure.layout.yaxis2.ticktext) == ["all-MiniLM 2.80", "BM25 4.00"]
    bars = sorted(
        one for one in ((*one.x, *one.y) for one in figure.data if one.mode == "lines" and one.line.width == 6)
    )
    assert [bar[:2] for bar in bars] == [pytest.approx((1.17, 2.03)), pytest.approx((1.97, 2.83))]
    assert bars[0][2] != bars[1][2]  # they overlap, so that they lie at different heights
    (marks,) = [one for one in figure.data if one.mode == "markers"]
    assert list(marks.x) == [1.2, 2.0, 2.8, 4.0]
    assert list(marks.marker.color) == [theme.system_colour(LABELS[name]) for name, _ in ranked]
    (words,) = figure.layout.annotations
    assert words.text.startswith("critical difference 0.90")
    assert words.x == pytest.approx(1.9)  # drawn from rank 1


def leaders(figure):
    return [one for one in figure.data if one.mode == "lines" and one.line.width == 1.2]


@given(st.lists(st.floats(1, 4), min_size=2, max_size=4))
def test_leaders_and_names_never_meet(values):
    ranked = list(zip(LABELS, sorted(values), strict=False))
    figure = charts.critical_difference(friedman_row(ranked), LABELS)
    for axis, outermost in (("y", 1), ("y2", -1)):
        mine = [one for one in leaders(figure) if one.yaxis == axis or (one.yaxis is None and axis == "y")]
        heights = [one.y[-1] for one in mine]
        assert len(set(heights)) == len(heights)
        assert all(abs(a - b) > 0.99 for place, a in enumerate(heights) for b in heights[:place])
        # The nearer a system is to its edge, the higher its name: no line crosses the stem of another one.
        by_edge = sorted(mine, key=lambda one: (outermost * one.x[0], -one.y[-1]))
        assert [one.y[-1] for one in by_edge] == sorted(heights, reverse=True)


def test_bars_that_do_not_meet_lie_at_one_height():
    ranked = [(USE.name, 1.0), (E5.name, 1.5), (MINILM.name, 3.0), (BM25.name, 3.5)]
    groups = [(USE.name, E5.name), (MINILM.name, BM25.name)]
    figure = charts.critical_difference(friedman_row(ranked, groups), LABELS)
    assert len({one.y[0] for one in figure.data if one.mode == "lines" and one.line.width == 6}) == 1


def test_both_coefficients_of_each_comparison_from_minus_one_to_one():
    rows = [
        AgreementRow("tasks", "one", "two", 0.8, 0.6, 5, (40, 60)),
        AgreementRow("subsets", "all", "part", None, None, 3, (40, 12)),
    ]
    figure = charts.order_agreement(rows, ["one · two", "all · part"])
    rho, tau = figure.data
    assert (list(rho.x), list(tau.x)) == ([0.8, None], [0.6, None])
    assert rho.marker.symbol != tau.marker.symbol
    assert list(figure.layout.yaxis.ticktext) == ["one · two", "all · part"]
    assert figure.layout.xaxis.range[0] <= -1
    assert figure.layout.xaxis.range[1] >= 1
    assert "5 systems; 40 and 60 queries" in rho.hovertext[0]
    assert math.isclose(rho.y[1], -1)
