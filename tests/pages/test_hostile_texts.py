"""Texts of files are texts: none of them becomes markup, a link or a script, on any page or in any hover."""

import json
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from visits import ROOT, Visit

from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read
from tests.hand_made import put, put_map, ranking_of

SCRIPT = "<script>alert('1')</script>"
LINK = "[mark](javascript:alert(2))"
ANCHOR = '<a href="https://evil.example/">mark</a>'
IMAGE = '"><img src=x onerror=alert(3)>'
FORMULA = "=HYPERLINK(1) $x^2$ :red[mark] **mark** <b>mark</b>"
HOSTILE = (SCRIPT, LINK, ANCHOR, IMAGE, FORMULA)
TAGS = {"a", "b", "br", "code", "dd", "div", "dl", "dt", "em", "h2", "h3", "p", "small", "span", "strong", "style"} | {
    *(
        "caption",
        "col",
        "colgroup",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "sub",
        "sup",
        "ol",
        "ul",
        "li",
    )
}
OWN_SCRIPTS = ("document.querySelector('.st-key-route')", "document.querySelector('.st-key-")


def hostile():
    """Two languages, five families, every text and name a different sort of markup."""
    documents = tuple(
        Document(f"{text} {tag}", tag, f"{text} answer", family=text, sibling_group=text, related_group=SCRIPT)
        for text in HOSTILE
        for tag in ("en", "fr")
    )
    queries = tuple(
        Query(f"q {text} {tag}", tag, text, text, tier=text, mode=LINK, attributes={ANCHOR: text})
        for text in HOSTILE
        for tag in ("en", "fr")
    )
    judgements = tuple(
        Judgement(query.id, document.id, 1.0)
        for query in queries
        for document in documents
        if query.family == document.family
    )
    task = Task(SCRIPT, ANCHOR, LINK, documents, queries, judgements, default=True)
    return Benchmark(SCRIPT, IMAGE, ANCHOR, True, SCRIPT, LINK, HOSTILE, {}, (task,))


@pytest.fixture(scope="module")
def hostile_store(tmp_path_factory):
    made = hostile()
    [task] = made.tasks
    names = [document.id for document in task.documents]
    lists = [names[place:] + names[:place] for place in range(len(task.queries))]
    rankings = {
        (SCRIPT, "lexical"): ranking_of(task, lists, depth=10),
        (ANCHOR, "unknown"): ranking_of(task, lists[::-1], depth=10),
        (IMAGE, "multilingual dense"): ranking_of(task, [names] * len(lists), depth=10),
    }
    store = put(cache := Cache(tmp_path_factory.mktemp("hostile")), made, rankings)
    (row,) = store.tasks(store.benchmark(SCRIPT).benchmark_id)
    n = row.n_documents + row.n_queries
    return put_map(cache, row, IMAGE, [(place, 0) for place in range(n)], [[(k + 1) % n] for k in range(n)]).cache.root


@pytest.fixture
def visit(hostile_store, monkeypatch, first_start):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(hostile_store))
    return Visit()


class Checked(HTMLParser):
    """Collects what is not one of our own harmless tags."""

    def __init__(self):
        super().__init__()
        self.wrong = []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag not in TAGS or any(name.startswith("on") for name in found):
            self.wrong.append((tag, attributes))
        if ":" in (found.get("href") or "").partition("?")[0]:
            self.wrong.append((tag, attributes))


def wrong_in(markup):
    checked = Checked()
    checked.feed(markup)
    return checked.wrong


def texts(value):
    """Every string of a figure that is drawn; ``customdata`` is only what a click answers with."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from texts(inner) if name != "customdata" else ()
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


NAMES = sorted(path.stem for path in (ROOT / "pages").glob("*.py") if path.stem not in ("__init__", "start"))


NO_BOX = "<extra></extra>"  # Plotly's own, at the end of a hover
CONCEPTS = ",".join(text.replace("%", "%25").replace(",", "%2C") for text in HOSTILE)
MAPS = ({"colour": "concept", "concept": CONCEPTS}, {"colour": "error"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "choices"),
    [*((name, {}) for name in NAMES), *(("map", choices) for choices in MAPS)],
)
def test_no_text_becomes_markup(visit, name, choices):
    app = visit.page(name, **choices)
    if "concept" in choices:
        assert sorted(map(unquote, app.multiselect(key="map-concept").value)) == sorted(HOSTILE)
    assert [error.value for error in (*app.error, *app.exception)] == []
    for element in app.get("html"):
        body = element.proto.body
        if not body.startswith(("<script>", "<style>")) or HOSTILE[0] in body:
            assert wrong_in(body) == [], body[:500]
    for chart in app.get("plotly_chart"):
        for text in texts(json.loads(chart.proto.spec)):
            assert wrong_in(text.removesuffix(NO_BOX)) == [], text[:300]
            assert "<a " not in text
            assert "<b>mark" not in text


def literal_only(text):
    """Whether Markdown would read a text as nothing but text."""
    return not any(sign in text for sign in ("](", "<script", "<img", "<a ", "<b>", ":red[", "**mark"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_text_becomes_markdown(visit, name):
    """Labels, captions, titles and buttons are read as Markdown by Streamlit."""
    app = visit.page(name)
    for kind in ("markdown", "caption", "title", "header", "subheader", "button", "warning", "info"):
        for element in app.get(kind):
            shown = getattr(element, "value", None) or getattr(element, "label", "")
            if isinstance(shown, str):
                assert literal_only(shown.replace("\\", "\0")) or "\\" in shown, (kind, shown)


def test_hostile_names_are_found_again_as_they_were(hostile_store):
    store = read.open_store(Cache(hostile_store))
    [benchmark] = store.benchmarks()
    [task] = store.tasks(benchmark.benchmark_id)
    assert (benchmark.name, benchmark.version, task.name) == (SCRIPT, IMAGE, SCRIPT)
    assert set(store.queries(task.task_id).attributes[ANCHOR]) == set(HOSTILE)
    assert {run.system for run in store.runs([task.task_id])} == {SCRIPT, ANCHOR, IMAGE}
