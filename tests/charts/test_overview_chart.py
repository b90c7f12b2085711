import dataclasses
import itertools

from chart_answers import BM25, NDCG, TRANSFER, interval, overview_row

from analysis.charts import overview, theme
from analysis.views.composite import Composite


def points(figure, axis):
    return [trace for trace in figure.data if trace.mode == "markers" and trace.xaxis == axis]


def test_every_system_is_a_point_with_its_interval_and_its_number(task_overview):
    figure = overview.leaderboard(task_overview, NDCG)
    assert [trace.x[0] for trace in points(figure, "x")] == [0.62, 0.52, 0.33, 0.17]
    spans = [trace for trace in figure.data if trace.mode == "lines" and trace.xaxis == "x"]
    assert list(spans[0].x) == [0.6, 0.64]
    assert {"0.62", "0.52", "0.33", "0.17"} <= {note.text for note in figure.layout.annotations}


def test_systems_stand_grouped_under_their_paradigm_the_best_group_first(task_overview):
    words = [
        line.split(">")[-2].split("<")[0] if "<" in line else line
        for line in overview.leaderboard(task_overview, NDCG).layout.yaxis.ticktext
    ]
    assert words == ["multilingual dense", "USE", "e5-small", "English-centric dense", "all-MiniLM", "lexical", "BM25"]


def test_colours_are_those_of_the_paradigm_and_degenerate_systems_are_hollow(task_overview):
    marks = points(overview.leaderboard(task_overview, NDCG), "x")
    assert marks[2].marker.color == theme.PARADIGM_COLOURS["english-centric dense"]
    assert marks[3].marker.color == theme.LIGHT.background
    assert marks[3].marker.line.color == theme.system_colour(BM25)


def test_same_and_cross_stand_beside_it_on_a_scale_from_zero(task_overview):
    figure = overview.leaderboard(task_overview, NDCG)
    assert [trace.x[0] for trace in points(figure, "x2")][:2] == [0.77, 0.57]
    assert figure.layout.xaxis2.title.text == "R@10"
    assert figure.layout.xaxis2.range[0] == figure.layout.xaxis.range[0] == 0


def test_without_answers_in_other_languages_there_is_one_panel(task_overview):
    row = overview_row(BM25, ndcg=0.2, same=0.5, cross=None)
    figure = overview.leaderboard(dataclasses.replace(task_overview, rows=(row,)), NDCG)
    assert points(figure, "x2") == []


def test_the_axis_is_named_after_the_measure_and_per_cent_reach_100(task_overview):
    figure = overview.leaderboard(task_overview, TRANSFER)
    assert figure.layout.xaxis.title.text == "LT%"
    assert figure.layout.xaxis.range[1] >= 100


def test_an_undefined_value_is_not_drawn_as_zero(task_overview):
    row = overview_row(BM25, ndcg=0.2, same=None, cross=0.3)
    figure = overview.leaderboard(dataclasses.replace(task_overview, rows=(row,)), TRANSFER)
    assert points(figure, "x") == []
    assert "LT% is undefined on this task" in figure.layout.annotations[0].text
    assert figure.layout.xaxis2.domain[0] == 0


def test_nothing_ran(task_overview):
    assert overview.leaderboard(dataclasses.replace(task_overview, rows=()), NDCG, dark=True).layout.height > 0


def test_the_three_tasks_and_their_mean_stand_side_by_side_on_one_scale(task_overview):
    first, second = (row.system for row in task_overview.rows[:2])
    scores = {"t1-alignment": interval(0.4), "t2-discrimination": interval(0.7), "t3-evidence": interval(0.1)}
    whole = Composite(first, scores, interval(0.4))
    figure = overview.composites([whole, Composite(second, {"t1-alignment": interval(0.2)}, None)])
    assert [[trace.x[0] for trace in points(figure, axis)] for axis in ("x", "x2", "x3", "x4")] == [
        [0.4, 0.2], [0.7], [0.1], [0.4]
    ]  # fmt: skip
    axes = [figure.layout[name] for name in ("xaxis", "xaxis2", "xaxis3", "xaxis4")]
    assert len({axis.range for axis in axes}) == 1
    assert all(left.domain[1] < right.domain[0] for left, right in itertools.pairwise(axes))
    assert [note.text for note in figure.layout.annotations if note.yref == "paper"] == [
        "Alignment", "Discrimination", "Evidence", "<b>MMed-IR</b>"
    ]  # fmt: skip
