"""Figures that others published, drawn: always marked, never with an interval."""

import pytest

from analysis.charts import published as charts
from analysis.charts import routes as route_charts
from analysis.charts import theme
from analysis.paths import Cache
from analysis.views import published
from analysis.views.selection import Selection
from tests.published_files import put_published, put_results


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("published")
    return put_published(Cache(root / "cache"), put_results(root / "results"))


@pytest.mark.parametrize("dark", [False, True])
def test_a_bar_a_system_from_zero(store, dark):
    (board,) = published.boards(store, Selection("clinic", ("Clinic",)))
    figure = charts.leaderboard(board, dark=dark)
    assert [(bar.name, bar.x[0]) for bar in figure.data] == [
        ("large", pytest.approx(0.55)),
        ("words", pytest.approx(0.425)),
        ("small", pytest.approx(0.4)),
    ]
    assert figure.layout.xaxis.range[0] == 0
    assert figure.layout.xaxis.title.text == "main score, published"
    assert list(figure.layout.yaxis.ticktext) == ["large", "words", "small"]
    assert all(bar.error_x.array is None and "published" in bar.hovertext[0] for bar in figure.data)
    assert "0.5000 over all 3 of its own" in figure.data[0].hovertext[0]


@pytest.mark.parametrize("dark", [False, True])
def test_heatmaps_say_that_they_are_published(store, dark):
    view = published.routes(store, Selection("clinic", ("Clinic",)))
    figure = route_charts.published(view, dark=dark)
    titles = [note.text for note in figure.layout.annotations]
    assert len(titles) == 3
    assert all("published" in title for title in titles)
    numbers = {cell for heat in figure.data if heat.type == "heatmap" for row in heat.text for cell in row if cell}
    assert {".60", ".50", ".40", ".05"} <= numbers
    hovers = [words for marks in figure.data if marks.type == "scatter" for words in marks.hovertext]
    assert len(hovers) == 8
    assert all("no interval, n unknown" in words for words in hovers)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)


def test_labels_have_the_colour_of_their_script_where_languages_are_many(store):
    view = published.routes(store, Selection("clinic", ("Many",)))
    labels = route_charts.published(view).layout.xaxis.ticktext
    assert labels[0] == f'<span style="color:{theme.script_colour("Latin")}">en</span>'
    assert len({label[:30] for label in labels}) > 5
    few = published.routes(store, Selection("clinic", ("Many",)), languages=("en", "ja"))
    assert list(route_charts.published(few).layout.xaxis.ticktext) == ["en", "ja"]


def test_long_tags_stand_upright_with_room_above(store):
    short = route_charts.published(published.routes(store, Selection("clinic", ("Many",)), languages=("en", "ja")))
    long = route_charts.published(published.routes(store, Selection("clinic", ("Many",)), languages=("en", "zh-Hant")))
    assert (short.layout.xaxis.tickangle, long.layout.xaxis.tickangle) == (0, -90)
    assert long.layout.height > short.layout.height


def test_a_script_has_always_the_same_colour():
    assert theme.script_colour("Thai") == theme.script_colour("Thai") != theme.script_colour("Latin")
    assert theme.script_colour("Thai", dark=True) != theme.script_colour("Thai")
