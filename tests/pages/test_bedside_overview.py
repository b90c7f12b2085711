"""The Overview of a benchmark that has the three tasks."""

import pytest
from visits import words


@pytest.mark.slow
def test_the_three_tasks_and_their_mean_lead_the_page(bedside):
    page = bedside.page("overview")
    assert not page.exception
    said = words(page)
    assert "USE multilingual has the highest MMed-IR" in said
    assert {"Alignment", "Discrimination", "Evidence"} <= set(said.replace("<", " ").replace(">", " ").split())
    assert "no clinician or native speaker has reviewed it" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["routes", "tiers", "fairness"])
def test_every_page_opens_on_it(bedside, name):
    for task in ("t1-alignment", "t2-discrimination", "t3-evidence"):
        page = bedside.page(name, task=task)
        assert not page.exception
        assert not page.error
