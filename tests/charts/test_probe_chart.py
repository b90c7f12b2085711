import math

from analysis.charts import probe, theme
from analysis.charts.probe import RankMark


def strip(marks, **more):
    return probe.rank_strip(["en", "ja"], marks, n_documents=1000, **more)


def test_ranks_stand_on_a_log_axis_that_says_so():
    figure = strip([RankMark("en", "en", 1, "one"), RankMark("en", "ja", 100, "two")])
    assert list(figure.data[0].x) == [0, 2]
    assert figure.layout.xaxis.title.text == "rank of the right answer, log scale"


def test_marks_carry_their_language_in_words_and_colour():
    figure = strip([RankMark("en", "ja", 7, "seven")])
    assert figure.data[0].text == ("ja",)
    assert figure.data[0].marker.color == (theme.language_colour("ja"),)
    assert figure.data[0].hovertext == ("seven",)


def test_what_is_not_in_the_ranking_stands_beyond_its_end():
    figure = strip([RankMark("ja", "en", None, "nowhere")])
    assert figure.data[1].x[0] > math.log10(1000)
    assert "not found" in figure.layout.xaxis.ticktext


def test_no_mark_covers_another_however_many_stand_in_one_place():
    tags = ("en", "fr", "ja", "zh", "es", "ru")
    for rank in (None, 7):
        row = strip([RankMark("en", tag, rank, "") for tag in tags[:5]]).data[0]
        assert len(set(zip(row.x, row.y, strict=True))) == 5
    lost = strip([RankMark("en", tag, None, "") for tag in tags])
    assert max(lost.data[0].x) < lost.layout.xaxis.range[1]
    narrow = strip([RankMark("en", "en", 100, ""), RankMark("en", "fr", 160, "")], narrow=True).data[0]
    assert len(set(narrow.y)) == 2
    assert len(set(strip([RankMark("en", "en", 100, ""), RankMark("en", "fr", 160, "")]).data[0].y)) == 1


def test_marks_that_would_cover_each_other_are_moved_apart():
    near = [RankMark("en", tag, rank, "") for tag, rank in (("en", 200), ("fr", 201), ("ja", 202), ("zh", 900))]
    heights = strip(near).data[0].y
    assert len(set(heights[:3])) == 3
    assert heights[3] == 0
