"""The drawing of a map: no WebGL, the right marks, what is chosen brought out, an image where points are many."""

import base64
import io
import shutil

import numpy as np
import pytest
from PIL import Image

from analysis.charts import embedding_map as charts
from analysis.charts import map_marks, theme
from analysis.paths import Cache
from analysis.store import read
from analysis.views import embedding_map as views
from analysis.views.selection import Selection
from tests.views.test_embedding_map import put

ASKED = Selection("example")


@pytest.fixture(scope="module")
def store(example_store, tmp_path_factory):
    cache = Cache(shutil.copytree(example_store.cache.root, tmp_path_factory.mktemp("drawn") / "store"))
    put(cache, "good", [(n, n % 3) for n in range(8)])
    put(cache, "bad", [(n % 3, n) for n in range(8)])
    return read.open_store(cache)


def marks(figure, axis="x"):
    return [trace for trace in figure.data if trace.customdata is not None and (trace.xaxis or "x") == axis]


def test_dots_are_documents_and_diamonds_queries_in_their_languages_colours(store):
    view = views.embedding_map(store, ASKED, systems=("good",))
    figure = charts.embedding_map(view)
    assert {trace.type for trace in figure.data} == {"scatter"}
    assert [trace.name for trace in figure.data if trace.showlegend is None] == ["en (4)", "fr (2)", "ja (2)"]
    shapes = {
        int(row[0]): shape
        for trace in marks(figure)
        for row, shape in zip(trace.customdata, trace.marker.symbol, strict=True)
    }
    assert [shapes[row] for row in range(8)] == ["circle"] * 6 + ["diamond"] * 2
    assert figure.layout.yaxis.scaleanchor == "x"


def test_what_is_chosen_is_brought_out_on_both_sides_and_translations_are_joined(store):
    view = views.embedding_map(store, ASKED, systems=("good", "bad"))
    figure = charts.embedding_map(view, selected=[2], families=["c"], joined=True, dark=True)
    for axis in ("x", "x2"):
        large = {
            int(row[0])
            for trace in marks(figure, axis)
            for row, size in zip(trace.customdata, trace.marker.size, strict=True)
            if size == map_marks.LARGE
        }
        assert large == {0, 1, 2, 6, 7}
        lines = [trace for trace in figure.data if trace.mode == "lines" and (trace.xaxis or "x") == axis]
        assert [int(np.isnan(np.array(trace.x, dtype=float)).sum()) for trace in lines] == [2, 0]  # three concepts; one


def test_many_points_stand_in_an_image_and_some_can_be_pointed_at(store, monkeypatch):
    monkeypatch.setattr(views, "LIVE", 4)
    view = views.embedding_map(store, ASKED, systems=("good",), colour="outcome")
    figure = charts.embedding_map(view)
    assert sum(len(trace.x) for trace in marks(figure)) == len(view.live) <= 4 < view.n
    (painted,) = figure.layout.images
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(painted.source.split(",")[1]))))
    assert picture.shape == (charts.PIXELS, charts.PIXELS, 4)
    side = 2 * charts.DOT + 1
    assert np.count_nonzero(picture[:, :, 3]) == view.n * side * side  # every point, none over another
    chosen = charts.embedding_map(view, selected=[7])
    assert 7 in {int(row[0]) for trace in marks(chosen) for row in trace.customdata}


def test_a_live_query_is_marked(store):
    view = views.embedding_map(store, ASKED, systems=("good", "bad"))
    figure = charts.embedding_map(view, placed=[(1.0, 2.0), (3.0, 4.0)])
    stars = [trace for trace in figure.data if trace.text is not None]
    assert [(trace.x[0], trace.y[0]) for trace in stars] == [(1.0, 2.0), (3.0, 4.0)]


def test_each_concept_has_a_colour_and_a_shape_and_the_others_are_faint(store):
    view = views.embedding_map(store, ASKED, systems=("good",), colour="concept", concepts=("c", "f0"))
    found = {trace.legendgroup: trace for trace in marks(charts.embedding_map(view))}
    assert set(found) == {"c", "f0", ""}
    assert list(found["c"].marker.symbol) == ["circle"] * 3 + ["circle-open"] * 2
    assert set(found["f0"].marker.symbol) == {"square"}
    assert found["c"].marker.color != found["f0"].marker.color
    assert set(found[""].marker.opacity) == {map_marks.FAINT}
    named = [trace.name for trace in charts.embedding_map(view).data if trace.showlegend is None]
    assert named == ["c (5)", "f0 (2)", "other concepts (1)"]


def test_errors_are_holes_in_the_ink_that_grow_and_the_hover_has_the_number(store):
    view = views.embedding_map(store, ASKED, systems=("good",), colour="error")
    figure = charts.embedding_map(view)
    unknown, known = marks(figure)
    assert [row[0] for row in unknown.customdata] == [3, 4, 5]
    sizes = dict(zip([row[0] for row in known.customdata], known.marker.size, strict=True))
    assert sizes[0] == map_marks.SMALLEST < sizes[6] < sizes[1]
    assert list(known.marker.size) == sorted(known.marker.size, reverse=True)  # small ones on top
    hovers = dict(zip([row[0] for row in known.customdata], known.hovertemplate, strict=True))
    assert "missed by 0.5000 of the queries it answers" in hovers[1]
    assert "1 − nDCG@10 0.3286" in hovers[6]
    axis = figure.layout.coloraxis
    assert (axis.cmin, axis.cmax) == (0, 1)
    assert axis.colorscale[-1][1] == theme.ink(False)[0][1]
    assert [trace.name for trace in figure.data if trace.showlegend is None] == ["not judged (3)"]


def test_differences_have_a_labelled_zero_in_the_middle(store):
    view = views.embedding_map(store, ASKED, systems=("good", "bad"), colour="difference")
    figure = charts.embedding_map(view, dark=True)
    axis = figure.layout.coloraxis
    assert axis.cmin == -axis.cmax < 0
    assert list(axis.colorbar.tickvals) == [-axis.cmax, 0, axis.cmax]
    assert "no difference" in axis.colorbar.ticktext[1]
    assert "good ahead" in axis.colorbar.ticktext[2]
    assert {trace.marker.coloraxis for trace in marks(figure, "x2")} == {None, "coloraxis"}


@pytest.mark.parametrize("colour", ["error", "concept"])
def test_what_is_painted_has_the_colours_of_the_marks(store, monkeypatch, colour):
    monkeypatch.setattr(views, "LIVE", 4)
    view = views.embedding_map(store, ASKED, systems=("good",), colour=colour)
    painted = {tuple(colour) for colour in map_marks.channels(view, 0, dark=False)}
    assert len(painted) >= 2
    figure = charts.embedding_map(view)
    (source,) = figure.layout.images
    seen = np.asarray(Image.open(io.BytesIO(base64.b64decode(source.source.split(",")[1]))))[:, :, :3].reshape(-1, 3)
    assert painted <= {tuple(colour) for colour in seen}
