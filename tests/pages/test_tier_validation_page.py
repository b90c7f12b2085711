"""Difficulty tiers of a task made of confusion sets."""

import pytest
from visits import Visit, words

from tests.confusion import BENCHMARK, at_home


@pytest.fixture(scope="module")
def visit(confusion_folder):
    with at_home(confusion_folder):
        yield Visit()


def test_the_page_shows_tiers_votes_and_who_confirms_them(visit):
    page = visit.page("tiers", benchmark=BENCHMARK)
    assert not page.exception
    said = words(page)
    for part in (
        "puts an answer at rank 1 for",
        "Are the tiers what they say?",
        "of 120 confusion sets",
        "As made",
        "As kept",
        "With one validator left out",
        "nobody: two of three",
        "letters · pairs",
        "systems that had no vote",
    ):
        assert part in said, part
    assert "Above every sibling" not in said  # a sibling may be the answer
    assert len(page.get("plotly_chart")) == 4
    assert "an answer, in the query's language" in page.selectbox(key="tiers-outcome").options
