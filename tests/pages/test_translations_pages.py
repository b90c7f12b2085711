"""Translated questions on Significance and on Data and runs."""

import pytest
from visits import Visit, words

from analysis.paths import Cache
from tests.hand_translated import stored


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("translated")
    stored(Cache(root))
    return root


@pytest.fixture
def visit(folder, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(folder))
    return Visit()


def test_significance_compares_the_subsets(visit):
    page = visit.page("significance", benchmark="translated")
    assert not page.exception
    said = words(page)
    assert "Does the order hold on trusted translations?" in said
    assert "The order of 3 systems changes between pass and all: Kendall τ = -0.33." in said
    assert "3 of 7 translations pass, 1 is flagged, 3 fail." in said
    for cell in ("Pass (3)", "Official (8)", "All (11)", "Pass and official", "0.81", "0.67"):
        assert cell in said
    assert "CSV of the subsets" in [button.proto.label for button in page.get("download_button")]


def test_data_says_how_far_translations_may_be_trusted(visit):
    page = visit.page("data", benchmark="translated")
    assert not page.exception
    said = words(page)
    assert "Evidence: how far the translations may be trusted" in [found.label for found in page.expander]
    assert "3 of 7 translations pass, 1 is flagged, 3 fail · translated by a hand" in said
    assert "2 (0.50)" in said
    assert "1,201 without a snippet left out" in said
    labels = [button.proto.label for button in page.get("download_button")]
    assert {"CSV", "Markdown"} <= set(labels)
