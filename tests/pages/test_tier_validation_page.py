"""Difficulty tiers of a task made of confusion sets."""

import pytest
from visits import Visit, words

from analysis.model import Interval, SystemLabel
from analysis.views.tiers import TierRow
from pages.shared import tier_table
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


def test_the_csv_has_the_numbers_of_the_table():
    half = Interval(0.5, "pooled", None, None, 0.4, 0.6, 0.95, "by hand", 10)
    row = TierRow("t2", SystemLabel("s", "S", "S", "lexical", 0), None, half, half, half, {"sibling": half}, {})
    for compares, above in ((True, ["Above every sibling"]), (False, [])):
        _, lines = tier_table.numbers([row], compares=compares)
        assert [line[3] for line in lines] == [*above, "R@1", "R@5", "Hit@1"]
        shown = tier_table.table([row], compares=compares, dark=False)
        assert ("Above every sibling" in shown) is compares
