import itertools

import pytest
from chart_answers import BM25, E5, MINILM, USE, interval
from hypothesis import given
from hypothesis import strategies as st

from analysis.charts import reading_cost
from analysis.charts import recoverability as charts
from analysis.views.recoverability import DepthCurve, DepthPart, DepthPoint, DepthRow, Knee, Reach, ReadingCost
from analysis.views.selection import Sentence

KS = (1, 10, 100)


def curve(shares, *, knee=None, at=1):
    """RRC at 1, 10 and 100, where the run ends."""
    floor = 1 - shares[-1]
    points = tuple(
        DepthPoint(k, rrc, max(rrc - 0.05, 0), min(rrc + 0.05, 1), k / 200, shares[-1] - rrc, ari(floor, rrc), None)
        for k, rrc in zip(KS, shares, strict=True)
    )
    return DepthCurve(points, points[at], knee, 10, floor, 60, 0.95, "percentile-joint, B = 2000")


def ari(floor, rrc):
    return None if rrc == 1 else floor / (1 - rrc)


def row(label, found, *, degenerate=False, half=(2.0, "exact"), most=(3.0, "exact"), cross=0.4, frontier=False):
    costs = {"0.5": ReadingCost(*half), "0.8": ReadingCost(*most)}
    reach = Reach(12, False, 1.5, 60)
    gain = interval(cross)
    said = Sentence("It can fix most.", "")
    return DepthRow(
        "category", label, None, None, degenerate, 100, 5000, False, found, None, costs, reach, reach, reach, gain,
        frontier, None, None, said,
    )  # fmt: skip


EARLY = Knee(10, 0.8, late=False, clear=True, spread=(10, 10))
LATE = Knee(10, 0.2, late=True, clear=True, spread=(1, 10))


@pytest.fixture
def rows():
    """An early knee, a late one, an unclear one, and a degenerate system with a lower bound and no cost at 0.8."""
    return (
        row(USE, curve((0.5, 0.8, 1.0), knee=EARLY), half=(0.5, "exact"), cross=0.6, frontier=True),
        row(MINILM, curve((0.1, 0.2, 1.0), knee=LATE), half=(5.0, "exact"), cross=0.3),
        row(E5, curve((0.4, 0.6, 1.0), knee=Knee(10, 0.6, late=False, clear=False, spread=(1, 100))), cross=0.6),
        row(
            BM25,
            curve((0.0, 0.1, 0.2), knee=Knee(10, 0.1, late=False, clear=True, spread=(10, 10))),
            degenerate=True,
            half=(50.0, "at_least"),
            most=(None, "undefined"),
            cross=0.05,
        ),
    )


def traces(figure, word):
    return [trace for trace in figure.data if word in (trace.name or "")]


class TestCurves:
    def test_a_line_a_system_in_its_dash_over_a_logarithmic_axis_in_words(self, rows):
        figure = charts.curves(rows, k=10)
        assert figure.layout.xaxis.type == "log"
        assert figure.layout.xaxis.title.text == "documents read for each query (log scale)"
        lines = {trace.name: trace for trace in figure.data if trace.mode == "lines" and trace.fill is None}
        assert list(lines) == ["random order", USE.short, MINILM.short, E5.short, BM25.short]
        assert lines[USE.short].y == (0.5, 0.8, 1.0)
        assert lines[USE.short].line.dash != lines[E5.short].line.dash  # one paradigm
        assert lines["random order"].line.dash == "dot"
        assert "RRC@10 0.8000" in lines[USE.short].hovertext[1]
        assert "n = 60" in lines[USE.short].hovertext[1]

    def test_a_band_runs_along_the_low_ends_and_back_along_the_high_ones(self, rows):
        band = traces(charts.curves(rows, k=10), f"{USE.short}: band")[0]
        assert band.x == (*KS, *reversed(KS))
        assert band.y == pytest.approx((0.45, 0.75, 0.95, 1.0, 0.85, 0.55))

    def test_knees_are_told_apart_by_their_mark_and_unclear_ones_left_out(self, rows):
        knees = {trace.name: trace.marker for trace in traces(charts.curves(rows, k=10), "knee")}
        assert {name: mark.symbol for name, mark in knees.items()} == {
            f"{USE.short}: early knee": "triangle-down",
            f"{MINILM.short}: late knee": "triangle-up",
            f"{BM25.short}: early knee": "triangle-down",
        }
        hollow = knees[f"{BM25.short}: early knee"]
        assert hollow.color != hollow.line.color == "#7A7F85"

    def test_the_readers_k_is_a_line_with_its_number(self, rows):
        figure = charts.curves(rows, k=10)
        assert [shape.x0 for shape in figure.layout.shapes if shape.yref == "paper"] == [10]
        assert "K = 10" in [note.text for note in figure.layout.annotations]

    def test_no_two_names_at_the_ends_overlap(self, rows):
        figure = charts.curves(rows, k=10)
        heights = sorted(note.y for note in figure.layout.annotations if note.xref == "paper")
        assert len(heights) == 5
        assert min(later - first for first, later in itertools.pairwise(heights)) >= charts.LABEL_STEP - 1e-9
        assert heights[-1] <= 1 + 1e-9

    def test_a_system_without_a_curve_is_left_out(self, rows):
        figure = charts.curves([rows[0], row(BM25, None)], k=10)
        assert not traces(figure, BM25.short)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15))
def test_names_keep_their_order_and_their_distance(heights):
    wanted = sorted(heights)
    found = charts.spread_out(wanted, step=0.05, low=0.0, high=1.0)
    assert all(later - first >= 0.05 - 1e-9 for first, later in itertools.pairwise(found))
    assert min(found) >= -1e-9
    assert max(found) <= 1 + 1e-9


def test_names_with_room_stay_where_their_lines_end():
    assert charts.spread_out([0.2, 0.5, 0.9], step=0.05, low=0.0, high=1.0) == pytest.approx([0.2, 0.5, 0.9])


class TestStack:
    def test_three_parts_make_a_whole(self, rows):
        figure = charts.stack(rows)
        assert [trace.name for trace in figure.data] == ["in the top 10", "deeper in the run", "not in the run"]
        for place in range(4):
            assert sum(trace.x[place] for trace in figure.data) == pytest.approx(1)
        assert [trace.x[3] for trace in figure.data] == pytest.approx([0.1, 0.1, 0.8])

    def test_the_more_is_found_the_more_ink(self, rows):
        for dark in (False, True):
            colours = [trace.marker.color for trace in charts.stack(rows, dark=dark).data]
            depth = [abs(int(colour[1:3], 16) - (27 if dark else 244)) for colour in colours]
            assert depth == sorted(depth, reverse=True)

    def test_a_part_too_narrow_for_words_has_none(self, rows):
        assert charts.stack(rows).data[2].text == ("", "", "", "0.80")


class TestReadingCost:
    def test_bars_start_at_no_deeper_and_go_either_way(self, rows):
        bars = {trace.name: trace for trace in reading_cost.bars(rows).data}
        below, above = bars[f"{USE.short}: XRC at 0.5"], bars[f"{MINILM.short}: XRC at 0.5"]
        assert (below.base[0], below.base[0] + below.x[0]) == (1, 0.5)
        assert (above.base[0], above.base[0] + above.x[0]) == (1, 5)

    def test_a_bound_is_hatched_and_said_and_a_degenerate_system_is_hollow(self, rows):
        figure = reading_cost.bars(rows)
        bars = {trace.name: trace for trace in figure.data}
        hollow = bars[f"{BM25.short}: XRC at 0.5"]
        assert hollow.marker.pattern.shape == "/"
        assert hollow.marker.color != hollow.marker.line.color
        assert "not interpretable" in hollow.hovertext[0]
        assert bars[f"{USE.short}: XRC at 0.5"].marker.pattern.shape is None
        said = [note.text for note in figure.layout.annotations]
        assert "≥ 50.00" in said

    def test_what_is_undefined_is_said_and_not_drawn(self, rows):
        figure = reading_cost.bars(rows)
        assert f"{BM25.short}: XRC at 0.8" not in [trace.name for trace in figure.data]
        assert [note.text for note in figure.layout.annotations].count("undefined") == 1

    def test_whether_there_is_anything_to_draw(self, rows):
        assert reading_cost.has_cost(rows)
        assert not reading_cost.has_cost([row(BM25, None, half=(None, "undefined"), most=(None, "undefined"))])


class TestAgainstCapability:
    def test_marks_stand_at_cost_and_capability_with_intervals(self, rows):
        figure = reading_cost.against_capability(rows)
        assert figure.layout.xaxis.type == "log"
        inked = next(trace for trace in figure.data if trace.marker.colorbar.title.text)
        assert (inked.x, inked.y) == ((0.5, 5.0, 2.0), (0.6, 0.3, 0.6))
        assert inked.error_y.array == pytest.approx((0.02, 0.02, 0.02))
        assert (inked.marker.cmin, inked.marker.cmax) == (0, 1)
        assert inked.marker.color == (0, 0, 0)  # every miss of these stands deeper
        assert sum(bool(trace.marker.showscale or trace.marker.colorbar.title.text) for trace in figure.data) == 1

    def test_a_degenerate_system_is_hollow_and_a_bound_points_onwards(self, rows):
        dim = reading_cost.against_capability(rows).data[-1]
        assert dim.x == (50,)
        assert dim.marker.color == "#FCFBF9"
        assert dim.marker.symbol == ("triangle-right",)

    def test_the_line_joins_the_frontier_alone(self, rows):
        line = traces(reading_cost.against_capability(rows), "Pareto frontier")[0]
        assert (line.x, line.y) == ((0.5,), (0.6,))

    def test_where_nothing_is_missed_there_is_no_ari_to_colour_by(self):
        figure = reading_cost.against_capability([row(USE, curve((0.5, 1.0, 1.0)))])
        assert [trace.marker.color for trace in figure.data if trace.mode == "markers"] == ["#E3DED4"]

    def test_names_on_one_spot_do_not_cover_each_other(self):
        rows = [row(label, curve((0.4, 0.6, 1.0))) for label in (USE, E5, MINILM, BM25)]
        notes = reading_cost.against_capability(rows).layout.annotations
        assert len({(note.ax, note.ay) for note in notes}) == 4


def test_small_curves_have_one_panel_a_part_and_one_entry_a_system(rows):
    parts = [DepthPart(tag, 60, rows) for tag in ("en", "ja", "fr", "de")] + [DepthPart("zh", 0, ())]
    figure = charts.small_curves(parts, k=10)
    assert {trace.xaxis for trace in figure.data} == {"x", "x2", "x3", "x4"}
    assert [trace.name for trace in figure.data if trace.showlegend] == [one.system.short for one in rows]
    assert figure.layout.annotations[0].text == "<b>en</b>  n = 60"
    shown = [figure.layout[axis].showticklabels for axis in ("xaxis", "xaxis2", "xaxis3", "xaxis4")]
    assert shown == [False, True, True, True]  # the lowest of each column


@pytest.mark.parametrize("dark", [False, True])
def test_figures_are_valid_in_both_themes(rows, dark):
    for figure in (
        charts.curves(rows, k=10, dark=dark),
        charts.stack(rows, dark=dark),
        reading_cost.bars(rows, dark=dark),
        reading_cost.against_capability(rows, dark=dark),
    ):
        assert figure.to_json()
