"""How concepts were found, from what a benchmark's settings keep."""

from analysis.views.tagging import markdown, tagging

ROW = {"repeated": 1, "exact": 2, "substring": 3, "nearest": 0, "ambiguous": 1, "undefined": 1, "definitions": 9}
SETTINGS = {
    "built": {
        "t1-alignment": {
            "coverage": [
                {"language": "en", "lines": 1300, "untagged": 1294, "answerable": 4, "asked": 4, **ROW},
                {"language": "ja", "lines": 8, "untagged": 2, "answerable": 4, "asked": 0, **ROW},
            ],
            "linker": "labse",
            "least": 50,
            "hard_negatives": 1262,
            "atoms": {"en": {"used": 1500, "obsolete": 5}, "ja": {"used": 7}},
            "definitions": {"used": 60, "suppressed": 3},
        },
        "t3-evidence": {"by": "hand"},
    }
}


def test_the_report_in_markdown():
    assert markdown(tagging(SETTINGS, "t1-alignment"), title="Alignment") == (
        "## Alignment\n\n"
        "The concept of 10 of 1,306 questions was found · linked by labse · "
        "1,262 concepts in the corpus answer nothing.\n\n"
        "| Language | Questions read | Repeated | Exact | Inside | Linked | Not found | of these ambiguous "
        "| No definition | Asked | Definitions |\n"
        "| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
        "| English | 1,300 | 1 | 2 | 3 | 0 | 1,294 | 1 | 1 | 4 | 9 |\n"
        "| Japanese | 8 | 1 | 2 | 3 | 0 | 2 | 1 | 1 | left out, 4 of 50 | 9 |\n\n"
        "Terms of the source; definitions: 60 used, 3 suppressed.\n\n"
        "| Language | used | obsolete |\n"
        "| :-- | --: | --: |\n"
        "| English | 1,500 | 5 |\n"
        "| Japanese | 7 | 0 |\n"
    )


def test_a_task_that_nobody_tagged_has_none():
    assert tagging(SETTINGS, "t3-evidence") is None
    assert tagging(SETTINGS, "other") is None
    assert tagging({}, "t1-alignment") is None
