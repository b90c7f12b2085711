"""The square of vocabularies."""

import dataclasses

import pytest

from analysis.charts import separation as charts
from analysis.paths import Cache
from analysis.views import data
from tests.overlapping import put_overlapping


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return data.card(put_overlapping(Cache(tmp_path_factory.mktemp("overlapping"))), "overlapping").separation


@pytest.mark.parametrize("dark", [False, True])
def test_every_cell_has_its_number_and_the_diagonal_is_open(found, dark):
    figure = charts.vocabularies(found, found.sides, dark=dark)
    texts = ["" for _ in range(16)]
    for layer in figure.data[:2]:
        for place, text in enumerate(cell for row in layer.text for cell in row):
            texts[place] += text
    assert [place for place, text in enumerate(texts) if not text] == [0, 5, 10, 15]
    assert texts[1] == ".57"  # 4 of 7 words
    assert texts[1] == texts[4]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert figure.layout.xaxis.ticktext[0] == "First<br>documents"
    assert "<b>First, documents and Second, documents</b><br>Jaccard 0.5714<br>4 words in both, 7 in either" in (
        figure.data[2].hovertext
    )


def test_titles_stay_texts(found):
    named = dataclasses.replace(
        found,
        parts=("<b>x</b>", "Second"),
        words=tuple(
            dataclasses.replace(row, a=row.a.replace("First", "<b>x</b>"), b=row.b.replace("First", "<b>x</b>"))
            for row in found.words
        ),
    )
    figure = charts.vocabularies(named, named.sides)
    assert "<b>x" not in figure.layout.yaxis.ticktext[0]
