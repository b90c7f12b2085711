"""Texts that run from the right, or whose signs differ by language, stand in their own direction and language."""

import json
from html.parser import HTMLParser

import pytest
from visits import Visit

from analysis.model import Benchmark, Document, Judgement, Query, Task, silent
from analysis.paths import Cache
from analysis.report import document
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of

TEXTS = {
    "ar": "ما جرعة الباراسيتامول (500 mg) لطفل عمره 3 سنوات؟",
    "he": "כאב בחזה מעל 20 דקות, לחץ דם 180/110 — מה עושים?",
    "ja": "直近3日間の骨折と発熱、体温39.5℃",
    "zh": "直近3天骨折并发热，体温39.5℃",
}
"""The last two share signs that are drawn differently in each language."""
VOID = ("br", "col", "link", "meta", "input", "img")


class Placed(HTMLParser):
    """Each text with the direction and the language of the nearest element that says it."""

    def __init__(self, markup):
        super().__init__()
        self.open, self.texts = [{}], []
        self.feed(markup)

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            said = {name: value for name, value in attributes if name in ("dir", "lang")}
            self.open.append(self.open[-1] | said | {"tag": tag})

    def handle_endtag(self, tag):
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        if self.open[-1].get("tag") not in ("script", "style"):
            self.texts.append((data, self.open[-1]))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One question in four scripts, each the id, family, name and attribute of something too."""
    documents = tuple(Document(f"d {tag}", tag, text, family=TEXTS["ar"]) for tag, text in TEXTS.items())
    queries = tuple(
        Query(f"q {tag}", tag, text, TEXTS["ar"], tier=TEXTS["he"], attributes={"قسم 7": text})
        for tag, text in TEXTS.items()
    )
    judgements = tuple(Judgement(query.id, document.id, 1.0) for query in queries for document in documents)
    task = Task("main", TEXTS["he"], TEXTS["ar"], documents, queries, judgements, default=True)
    made = Benchmark("scripts", "1", TEXTS["ar"], True, "CC0", TEXTS["he"], (TEXTS["ja"],), {}, (task,))
    lists = [[f"d {tag}" for tag in TEXTS]] * len(TEXTS)
    names = {"نظام 2": "lexical", "מערכת 3": "multilingual dense"}
    rankings = {(name, kind): ranking_of(task, lists, depth=10) for name, kind in names.items()}
    return put(Cache(tmp_path_factory.mktemp("scripts")), made, rankings)


@pytest.fixture
def visit(store, monkeypatch, first_start):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(store.cache.root))
    return Visit()


def other_scripts(text):
    return any("\u0590" <= sign <= "\u06ff" for sign in text)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("overview", {}),
        ("queries", {}),
        ("queries", {"query": "q he"}),
        ("routes", {"route": "ar,ja"}),
        ("tiers", {}),
        ("data", {}),
    ],
)
def test_what_runs_from_the_right_says_so(visit, name, parameters):
    app = visit.page(name, **parameters)
    assert [error.value for error in (*app.error, *app.exception)] == []
    placed = [one for element in app.get("html") for one in Placed(element.proto.body).texts]
    assert [text for text, around in placed if other_scripts(text) and around.get("dir") != "auto"] == []
    for tag in ("ja", "zh"):
        shown = [around for text, around in placed if text == TEXTS[tag] and "lang" in around]
        assert {around["lang"] for around in shown} <= {tag}


def test_the_list_of_queries_names_the_language_of_each(visit):
    placed = [one for element in visit.page("queries").get("html") for one in Placed(element.proto.body).texts]
    assert {around["lang"] for text, around in placed if text in TEXTS.values() and "lang" in around} == set(TEXTS)


def test_hovers_hold_whole_texts(visit):
    """Plotly wraps nothing: a name is neither cut nor split between its letters and its numbers."""
    (chart, *_) = visit.page("overview").get("plotly_chart")
    hovers = [text for trace in json.loads(chart.proto.spec)["data"] for text in trace.get("hovertext", ())]
    assert any("نظام 2" in text for text in hovers)
    assert any("מערכת 3" in text for text in hovers)


def test_the_report_places_them_too(store):
    placed = Placed(document.report(store, Selection("scripts"), silent)).texts
    found = [(text, around) for text, around in placed if other_scripts(text) and around["tag"] != "title"]
    assert len(found) >= 5
    assert [(text, around) for text, around in found if around.get("dir") != "auto"] == []
