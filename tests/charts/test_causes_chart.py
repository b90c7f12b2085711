from dataclasses import replace

import pytest
from chart_answers import BM25, MINILM, SAID, TASK, USE, interval

from analysis.charts import causes as charts
from analysis.charts import theme
from analysis.views.causes import CausesTask, LanguageCauses, SystemCauses


def row(language, **numbers):
    found = {key: interval(value) for key, value in numbers.items()}
    return LanguageCauses(language, found, 0.5, None, ())


def system(label, *rows):
    return SystemCauses(label, rows, SAID, {}, {}, (), 3, 40, 1.5, (), True, 256, None, None)


@pytest.fixture
def task():
    """all-MiniLM is blind to Japanese; USE is aligned; of BM25 nobody knows more than its lists."""
    bias = "same_language_irrelevant_at_10"
    return CausesTask(
        TASK,
        SAID,
        "caption",
        ("en", "ja"),
        (
            system(
                MINILM,
                row(None, hub_places=0.3, alignment=0.05, probe_accuracy=1.0),
                row(
                    "en", unknown_characters=0.0, alignment=0.1, alignment_share=0.1, probe_accuracy=1.0, **{bias: 0.5}
                ),
                row("ja", unknown_characters=0.71, alignment=0.0, alignment_share=-0.1, **{bias: 1.0}),
            ),
            system(
                USE,
                row(None, hub_places=0.1, alignment=0.4, probe_accuracy=0.6),
                row("en", unknown_characters=0.0, alignment_share=0.5),
            ),
            system(BM25, row(None), row("en", **{bias: 0.25})),
        ),
        (),
    )


def cells(figure, axis):
    """Column, line and text of the numbers in a panel."""
    return {
        (column, line, text)
        for trace in figure.data
        if trace.type == "heatmap" and trace.xaxis == axis
        for line, texts in enumerate(trace.text)
        for column, text in enumerate(texts)
        if text
    }


def test_a_panel_for_each_cause_that_is_known_of_any_system(task):
    figure = charts.cause_map(task)
    headings = [note.text.replace("<br>", " ") for note in figure.layout.annotations]
    assert headings == [
        "characters unknown to its tokeniser",
        "way left from a text to its translation",
        "wrong documents in the query's language",
    ]
    assert list(figure.layout.yaxis.ticktext) == ["all-MiniLM", "USE", "BM25"]
    assert list(figure.layout.xaxis2.ticktext) == ["en", "ja"]


def test_cells_carry_their_number_and_are_blank_where_nothing_is_known(task):
    figure = charts.cause_map(task)
    assert cells(figure, "x") == {(0, 0, ".00"), (1, 0, ".71"), (0, 1, ".00")}
    assert cells(figure, "x2") == {(0, 0, ".90"), (1, 0, "1.10"), (0, 1, ".50")}  # what is left of the way
    assert cells(figure, "x3") == {(0, 0, ".50"), (1, 0, "1.0"), (0, 2, ".25")}


def test_the_hover_has_four_decimals_interval_and_n(task):
    assert not [trace for trace in charts.cause_map(task).data if trace.type == "bar"]  # 60 queries are enough
    hovers = [text for trace in charts.cause_map(task).data if trace.type == "scatter" for text in trace.hovertext]
    (blind,) = [text for text in hovers if "0.7100" in text]
    assert blind == (
        "<b>all-MiniLM-L6-v2</b> · ja<br>characters unknown to its tokeniser: 0.7100<br>"
        "95% interval 0.6900 to 0.7300, percentile-joint, B = 2000<br>n = 60"
    )
    assert any("of all documents: 0.5000" in text for text in hovers)


def test_cells_of_few_queries_are_hatched(task):
    few = {"same_language_irrelevant_at_10": interval(1.0, n=29)}
    row_of_few = LanguageCauses("ja", few, 0.5, None, ())
    (hatched,) = [
        trace
        for trace in charts.cause_map(replace(task, systems=(system(BM25, row(None), row_of_few),))).data
        if trace.type == "bar"
    ]
    assert (list(hatched.x), list(hatched.base)) == ([1], [-0.5])


def test_what_is_lost_goes_from_paper_to_orange():
    for dark in (False, True):
        scale = charts.loss(dark)
        assert (scale[0][0], scale[-1][0]) == (0, 1)
        assert scale[0][1] == theme.difference_scale(dark)[3][1]


def test_hub_bars_start_at_zero_with_their_interval_and_value(task):
    figure = charts.hubs(task)
    (bars,) = figure.data
    assert list(bars.x) == [0.3, 0.1]
    assert figure.layout.xaxis.range[0] == 0
    assert [note.text for note in figure.layout.annotations] == ["0.30", "0.10"]
    assert list(bars.error_x.array) == pytest.approx([0.02, 0.02])
    assert list(figure.layout.yaxis.ticktext) == ["all-MiniLM", "USE"]


def test_the_space_has_a_mark_a_system_and_a_small_one_a_language(task):
    figure = charts.space(task)
    large = [trace for trace in figure.data if trace.marker.size == 13]
    assert [(trace.text[0], trace.x[0], trace.y[0]) for trace in large] == [
        ("all-MiniLM", 0.05, 1.0),
        ("USE", 0.4, 0.6),
    ]
    assert all(trace.error_x.array and trace.error_y.array for trace in large)
    small = [list(trace.text) for trace in figure.data if trace.marker.size == 7]
    assert small == [["en"], []]
    assert figure.layout.xaxis.title.text == "alignment: how much nearer a translation is than any other text"


def test_marks_that_lie_on_each_other_share_a_label():
    points = [(0.1, 0.9), (0.101, 0.91), (0.5, 0.9)]
    assert charts._grouped(["ja", "zh", "en"], points, reach=1.0) == ["ja, zh", "", "en"]


def test_a_name_stands_where_there_is_room():
    name = charts.Name(5, (0.5, 0.5), 1.0)
    assert name.side([(0.52, 0.55), (0.45, 0.55)]) == "bottom right"
    assert name.side([]) == "top right"
    assert name.covers("top right", (0.53, 0.55))
    assert not name.covers("top right", (0.55, 0.55))


@pytest.mark.parametrize("draw", [charts.cause_map, charts.hubs, charts.space])
def test_nothing_known_is_no_error(draw):
    nothing = CausesTask(TASK, SAID, "", ("en",), (system(BM25, row(None), row("en")),), ())
    for dark in (False, True):
        assert draw(nothing, dark=dark).layout.height


def test_many_languages_put_the_panels_below_each_other(task):
    few, height = charts._places(5, n_languages=6, n_systems=7)
    assert {place.top for place in few} == {few[0].top}
    assert [round(place.left, 2) for place in few] == [0, 0.2, 0.4, 0.6, 0.8]
    many, taller = charts._places(5, n_languages=12, n_systems=7)
    assert taller == 2 * height
    assert [round(place.left, 2) for place in many] == [0, 0.33, 0.67, 0, 0.33]
    assert many[3].top < many[0].bottom
    for n_systems in range(1, 30):
        assert all(
            0 <= place.bottom < place.top < 1 for place in charts._places(5, n_languages=6, n_systems=n_systems)[0]
        )
    (alone,), _ = charts._places(1, n_languages=90, n_systems=1)
    assert (alone.left, alone.right) == (0, 0.98)
