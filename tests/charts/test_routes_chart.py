from dataclasses import replace

import pytest

from analysis.charts import routes, theme


def heatmap_layers(figure):
    return [trace for trace in figure.data if trace.type == "heatmap"]


def targets(figure):
    return [trace for trace in figure.data if trace.type == "scatter"]


def hatches(figure):
    return [trace for trace in figure.data if trace.type == "bar"]


def texts(figure):
    """What stands in the cells of each system, row by row, whichever layer holds it."""
    layers = heatmap_layers(figure)
    return [
        [[pale or deep for pale, deep in zip(*rows, strict=True)] for rows in zip(one.text, other.text, strict=True)]
        for one, other in zip(layers[::2], layers[1::2], strict=True)
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, ".00"), (0.004, ".00"), (0.42, ".42"), (1.0, "1.00"), (1.04, "1.04"), (-0.1, "−.10"), (-0.001, ".00")],
)
def test_a_cell_says_two_decimals_without_the_leading_zero(value, shown):
    assert theme.cell_text(value) == shown


def test_every_system_has_its_cells_and_missing_is_blank(routes_view):
    assert texts(routes.heatmaps(routes_view)) == [[[".42", ".00"], ["1.00", ""]]] * 4


def test_all_heatmaps_share_one_scale_from_0_to_1_and_one_colour_bar(routes_view):
    figure = routes.heatmaps(routes_view)
    assert {layer.coloraxis for layer in heatmap_layers(figure)} == {"coloraxis"}
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert figure.layout.coloraxis.colorbar.title.text == "R@10"


def test_document_languages_stand_on_top_and_query_languages_on_the_left(routes_view):
    layout = routes.heatmaps(routes_view).layout
    assert (layout.xaxis.side, layout.xaxis.title.text) == ("top", "document language")
    assert (layout.yaxis.side, layout.yaxis.title.text) == ("left", "query language")
    assert tuple(layout.xaxis.ticktext) == tuple(layout.yaxis4.ticktext) == ("en", "ja")
    assert layout.yaxis.range[0] > layout.yaxis.range[1]  # the first language is on top


def test_numbers_are_black_or_white_by_the_ink_under_them(routes_view, route_difference):
    for dark in (False, True):
        figures = [routes.heatmaps(routes_view, preference=preference, dark=dark) for preference in (False, True)]
        for figure in (*figures, routes.difference(route_difference, dark=dark)):
            axis = figure.layout.coloraxis
            for layer in heatmap_layers(figure):
                for value in (value for row in layer.z for value in row if value is not None):
                    ink = theme.colour_at(axis.colorscale, (value - axis.cmin) / (axis.cmax - axis.cmin))
                    assert layer.textfont.color == theme.text_on(ink)
        black, white = heatmap_layers(figures[0])[:2]
        assert (black.textfont.color, white.textfont.color) == (theme.BLACK, theme.WHITE)
        found, other = (black, white) if dark else (white, black)
        assert (found.text[1][0], other.text[1][0]) == ("1.00", "")


def test_a_click_reports_system_and_route_and_blank_cells_report_nothing(routes_view):
    first = targets(routes.heatmaps(routes_view))[0]
    assert [list(found) for found in first.customdata] == [
        ["all-minilm-l6-v2", "en", "en"],
        ["all-minilm-l6-v2", "en", "ja"],
        ["all-minilm-l6-v2", "ja", "en"],
    ]
    assert first.marker.color == theme.CLEAR
    assert first.marker.symbol == "square"
    assert {layer.hoverinfo for layer in heatmap_layers(routes.heatmaps(routes_view))} == {"skip"}


def test_clicking_is_switched_on_and_dragging_off(routes_view):
    layout = routes.heatmaps(routes_view).layout
    assert layout.clickmode == "event+select"
    assert layout.dragmode is False


def test_the_hover_has_four_decimals_the_interval_and_n(routes_view):
    words = targets(routes.heatmaps(routes_view))[0].hovertext[0]
    assert "English query → English document" in words
    assert "R@10 0.4200 (0.3700 to 0.4700, Wilson)" in words
    assert "n = 200" in words


def test_cells_with_fewer_than_30_queries_are_hatched(routes_view):
    hatched = hatches(routes.heatmaps(routes_view))
    assert len(hatched) == 4
    assert (list(hatched[0].x), list(hatched[0].base)) == ([0], [0.5])
    assert hatched[0].marker.pattern.shape == "/"
    assert "fewer than 30: hatched" in targets(routes.heatmaps(routes_view))[0].hovertext[2]


def test_the_diagonal_is_outlined_where_it_has_a_value(routes_view):
    shapes = routes.heatmaps(routes_view).layout.shapes
    assert len(shapes) == 4
    assert {(shape.x0, shape.y0) for shape in shapes} == {(-0.46, -0.46)}


def test_the_chosen_cell_has_a_thick_frame(routes_view):
    figure = routes.heatmaps(routes_view, chosen=("bm25", "en", "ja"))
    thick = [shape for shape in figure.layout.shapes if shape.line.width > 2]
    assert [(shape.xref, shape.x0, shape.y0) for shape in thick] == [("x4", 0.54, -0.46)]


def test_the_figure_grows_by_a_row_every_three_systems(routes_view):
    four = routes.heatmaps(routes_view)
    three = routes.heatmaps(_only(routes_view, 3))
    one = routes.heatmaps(_only(routes_view, 1))
    assert four.layout.height > three.layout.height == one.layout.height
    assert four.layout.yaxis4.domain[1] < four.layout.yaxis.domain[0]


def _only(view, count):
    kept = view.systems[:count]
    names = {label.name for label in kept}
    return type(view)(
        **{
            **vars(view),
            "systems": kept,
            "cells": tuple(cell for cell in view.cells if cell.system in names),
        }
    )


def test_retention_shows_retention_on_the_same_scale(routes_view):
    figure = routes.heatmaps(routes_view, retention=True)
    assert texts(figure)[0] == [["1.00", ".00"], ["", ""]]
    assert figure.layout.coloraxis.colorbar.title.text == "Retention"
    assert figure.layout.coloraxis.cmax == 1


def test_preference_has_its_zero_at_no_preference(routes_view):
    figure = routes.heatmaps(routes_view, preference=True)
    assert texts(figure)[0] == [["1.00", "0.25"], ["4.00", "2.00"]]
    axis = figure.layout.coloraxis
    assert axis.cmin == -axis.cmax
    assert dict(zip(axis.colorbar.tickvals, axis.colorbar.ticktext, strict=True))[0] == "1 = none"


def test_a_difference_has_a_labelled_zero_in_the_middle(route_difference):
    figure = routes.difference(route_difference)
    assert texts(figure) == [[[".30", "−.62"], [".00", ""]]]
    axis = figure.layout.coloraxis
    assert (axis.cmin, axis.cmax) == (-0.75, 0.75)
    words = dict(zip(axis.colorbar.tickvals, axis.colorbar.ticktext, strict=True))
    assert words == {-0.75: "−0.75 USE ahead", 0.0: "0 no difference", 0.75: "+0.75 all-MiniLM ahead"}
    assert list(targets(figure)[0].customdata[0]) == ["all-minilm-l6-v2", "en", "en"]


@pytest.mark.parametrize("dark", [False, True])
def test_both_themes_draw_on_the_page_itself(routes_view, dark):
    layout = routes.heatmaps(routes_view, dark=dark).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == theme.CLEAR
    assert layout.font.color == theme.paper(dark).text


def test_languages_without_documents_have_no_column(routes_view):
    cells = tuple(cell for cell in routes_view.cells if cell.document_language == "en")
    figure = routes.heatmaps(replace(routes_view, cells=cells))
    assert tuple(figure.layout.xaxis.ticktext) == ("en",)
    assert tuple(figure.layout.yaxis.ticktext) == ("en", "ja")
    assert texts(figure) == [[[".42"], ["1.00"]]] * 4
