"""The drawing of a map: no WebGL, the right marks, what is chosen brought out, an image where points are many."""

import base64
import io
import shutil

import numpy as np
import pytest
from PIL import Image

from analysis.charts import embedding_map as charts
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
    figure = charts.embedding_map(view, selected=[2], family="c", joined=True, dark=True)
    for axis in ("x", "x2"):
        large = {
            int(row[0])
            for trace in marks(figure, axis)
            for row, size in zip(trace.customdata, trace.marker.size, strict=True)
            if size == charts.LARGE
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
