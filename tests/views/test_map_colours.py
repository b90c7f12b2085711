"""What the colours of a map stand for: concepts near each other, and whether failures gather."""

import numpy as np
import pytest

from analysis.geometry.hubness import skewness
from analysis.model import SystemLabel
from analysis.views import map_colours
from analysis.views.cause_numbers import Texts
from analysis.views.map_texts import MapTexts, hubness_of

LABEL = SystemLabel("one", "One", "One", "multilingual dense", 0)
FAMILY = np.array(["a", "a", "b", "b", "c", "c", "d"], dtype=object)
NEAR = np.array([[1, 2], [0, 2], [3, 1], [2, 1], [2, 3], [2, 6], [4, 5]], dtype=np.int32)
"""a and b are nearest to themselves; c to b, once to d."""
NOWHERE = np.zeros((7, 0), dtype=np.int32)


def keys(found):
    return [group.key for group in found.groups]


def test_of_one_concept_the_nearest_have_a_colour_too():
    found = map_colours.by_concept(FAMILY, NEAR, ["c"])
    assert keys(found) == ["c", "b", "d", ""]  # b stands among them three times, d once
    assert found.code.tolist() == [3, 3, 1, 1, 0, 0, 2]
    said = map_colours.told_of_concepts([(LABEL, NEAR)], found, FAMILY, picked=1)
    assert said.bold == "In One, 0 of 2 texts of c have another of the same concept among their 2 nearest."
    assert said.rest == "Nearest to it: b and d."


def test_of_several_concepts_each_has_a_colour_and_no_other():
    found = map_colours.by_concept(FAMILY, NEAR, ["b", "c"])
    assert keys(found) == ["b", "c", ""]
    other = LABEL._replace(short="Other")
    reverse = np.array([[1], [0], [0], [0], [5], [4], [0]], dtype=np.int32)
    said = map_colours.told_of_concepts([(LABEL, NEAR), (other, reverse)], found, FAMILY, picked=2)
    assert said.bold == "In One, 2 of 4 texts of b and c have another of the same concept among their 2 nearest."
    assert said.rest == "In Other, 2 have."


def test_without_a_choice_the_map_takes_the_concept_that_is_most_torn():
    found = map_colours.by_concept(FAMILY, NEAR, [])
    assert keys(found)[0] == "c"  # d has one text only, which nothing could be torn from
    said = map_colours.told_of_concepts([(LABEL, NEAR)], found, FAMILY, picked=0)
    assert said.rest == "No concept keeps its texts less together. Nearest to it: b and d."


def test_of_coordinates_alone_nothing_is_near():
    found = map_colours.by_concept(FAMILY, NOWHERE, ["c"])
    assert keys(found) == ["c", ""]
    said = map_colours.told_of_concepts([(LABEL, NOWHERE)], found, FAMILY, picked=1)
    assert said.bold == "2 texts of c; only coordinates are known of them."


@pytest.fixture
def texts():
    language = np.array(["en", "fr", "en", "fr", "en", "fr", "en"], dtype=object)
    everything = Texts(FAMILY, language, np.ones(7, dtype=bool), 7, True)
    return MapTexts.of(everything, np.arange(7))


def test_whether_failures_gather(texts):
    """a and b are missed, c is not, d is not judged: of a's nearest all are missed, of b's too."""
    error = np.array([1, 1, 1, 1, 0.5, 0, np.nan])
    said = map_colours.told_of_errors(LABEL, error, NEAR, texts)
    assert said.bold.startswith("Of the texts nearest to one that One misses altogether, 100 of 100 are missed")
    assert said.rest == "of all texts 67 of 100 are."
    lone = map_colours.told_of_errors(LABEL, np.array([0, 0, 0, 0, 0, 1, np.nan]), NEAR, texts)
    assert "altogether, 0 of 100 are" in lone.bold
    assert map_colours.told_of_errors(LABEL, error, NOWHERE, texts).bold == "One misses 67 of 100 texts altogether."


def test_a_difference_is_counted_from_the_better_side():
    other = LABEL._replace(short="Other")
    said = map_colours.told_of_difference([LABEL, other], np.array([0.2, -0.1, -0.3, 0, np.nan]))
    assert said.bold == "Other misses 2 of 4 texts less than One does;"
    assert said.rest == "One misses 1 less, and at 1 they are level."


def test_hubness_has_the_interval_of_drawn_texts(texts):
    """b's first text is nearest to five others; a draw without b has no hub."""
    found = hubness_of(NEAR, texts)
    assert found.value == pytest.approx(skewness(np.bincount(NEAR.ravel(), minlength=7)))
    assert found.low < found.value < found.high
    assert (found.n, found.method) == (7, "percentile-joint, B = 2000")
    assert hubness_of(NOWHERE, texts) is None
