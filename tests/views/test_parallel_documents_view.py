"""What became of tables and queries, from what a benchmark's settings keep."""

from analysis.views.parallel_documents import markdown, parallel_documents

RULES = {"least_words": 50, "least_languages": 2, "prefixes": ["C", "A61K"], "publications": [], "claims": True}
QUERIES = {
    "asked": [
        {"language": "en", "mode": "general", "strategy": "random-existing", "queries": 2},
        {"language": "ja", "mode": "general", "strategy": "random-missing", "queries": 1},
    ],
    "left": [{"language": "ja", "reason": "repeated", "queries": 3}],
}
MADE = {
    "rules": RULES,
    "rows": 1200,
    "publications": 1,
    "unclaimed": 4,
    "languages": [
        {"language": "en", "rows": 1190, "dropped": {"too few languages": 3, "abstract too short": 7}, "kept": 1180},
        {"language": "und", "rows": 10, "dropped": {"unknown language": 10}, "kept": 0},
    ],
    "first": {"unknown language": "line 3"},
    "queries": {**QUERIES, "from": "table", "rows": 6},
}


def of(**changes):
    return parallel_documents({"built": {"epo": {"documents": {**MADE, **changes}}}}, "epo")


def test_the_report_in_markdown():
    assert markdown(of(), title="EPO") == (
        "## EPO\n\n"
        "1,180 of 1,200 language versions kept, of 1 publication · text: title, abstract and first claim · abstracts "
        "of at least 50 words, publications in at least 2 languages · classes: C, A61K · 4 without a claim.\n\n"
        "| Language | Read | Unknown language | Abstract too short | Too few languages | Kept |\n"
        "| :-- | --: | --: | --: | --: | --: |\n"
        "| English | 1,190 | 0 | 7 | 3 | 1,180 |\n"
        "| Unknown language | 10 | 10 | 0 | 0 | 0 |\n\n"
        "3 of the table's 6 queries are asked.\n\n"
        "| Language | General, random-existing | General, random-missing | Repeated |\n"
        "| :-- | --: | --: | --: |\n"
        "| English | 2 | 0 | 0 |\n"
        "| Japanese | 0 | 1 | 3 |\n"
    )


def test_written_queries_say_by_whom_and_what_it_took():
    took = {"planned": 6, "model": "m", "verifier": "v", "candidates": 3, "calls": 36, "tokens_in": 3600}
    told = {**QUERIES, **took, "from": "generated", "tokens_out": 360, "cost": 0.125}
    said = "3 of 6 planned queries written by m, the best of 3 by v · 36 calls, 3,600 tokens in, 360 out"
    assert of(queries=told).query_sentence == f"{said}, cost 0.12"
    assert of(queries={**told, "cost": None}).query_sentence == said


def test_classes_and_publications_that_count_are_named():
    listed = of(rules={**RULES, "prefixes": [], "publications": ["EP1", "EP2"], "claims": False}).sentence
    assert "classes: 2 listed publications" in listed
    assert "without a claim" not in listed
    assert "classes: every class" in of(rules={**RULES, "prefixes": []}).sentence


def test_a_task_made_of_something_else_has_none():
    assert parallel_documents({"built": {"t1-alignment": {"coverage": []}}}, "t1-alignment") is None
    assert parallel_documents({}, "epo") is None
