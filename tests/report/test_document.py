"""The HTML report: whole, alone, the same each time, and with every text a text."""

import datetime
import json
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from analysis.charts import inline
from analysis.errors import InputError, JobCancelledError
from analysis.model import Flag, silent
from analysis.paths import Cache
from analysis.report import document, embedding_map
from analysis.report.blocks import Grey, Table
from analysis.store import read, write
from analysis.views import embedding_map as map_views
from analysis.views.selection import Selection
from pages.shared import ui
from tests.hand_made import put, put_map, ranking_of, worked_example
from tests.published_files import LARGE, SMALL, put_published, put_results
from tests.report.hostile import ANCHOR, ENDING, LINK, PICTURE, SCRIPT

MADE_AT = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
QUESTIONS = {
    "overview": ui.OVERVIEW,
    "routes": ui.ROUTES,
    "recoverability": ui.RECOVERABILITY,
    "tiers": ui.TIERS,
    "fairness": ui.FAIRNESS,
    "significance": ui.SIGNIFICANCE,
    "map": ui.MAP,
    "causes": ui.CAUSES,
    "story": ui.STORY,
    "data": ui.DATA,
    "method": ui.METHOD,
}
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Elements in order, with their attributes; the text of each kind; and what stands in scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words, self.scripts = [], [], {}, []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + data)
        elif self.open and self.open[-1] != "style":
            for tag in set(self.open):
                self.words[tag] = self.words.get(tag, "") + data

    def json(self, name):
        (found,) = [text for attributes, text in self.scripts if attributes.get("id") == name]
        return json.loads(found)

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.elements if name in attrs]


def made(store, selection, **options):
    return document.report(store, selection, silent, made_at=MADE_AT, **options)


@pytest.fixture(scope="module")
def example(example_store):
    return Page(made(example_store, Selection("example")))


@pytest.fixture(scope="module")
def caught(hostile):
    return Page(made(hostile, Selection("example")))


def test_every_page_has_its_section_with_its_question(example):
    sections = [attrs["id"] for tag, attrs in example.elements if tag == "section"]
    assert sections == [*QUESTIONS, "manifest"]
    for name, page in QUESTIONS.items():
        assert page.address == name
        assert page.question in example.words["h2"]
        assert page.title in example.words["nav"]
    assert [f"#{name}" for name in sections] == example.attributes("href")


def test_the_file_asks_nothing_of_the_network(example, caught):
    for page in (example, caught):
        assert all(link.startswith("#") for link in page.attributes("href"))
        assert not page.attributes("src")
        assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in page.elements}
        (policy,) = [
            attrs["content"]
            for tag, attrs in page.elements
            if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policy.startswith("default-src 'none';")
        assert "http" not in policy
        assert "unsafe-eval" not in policy


def test_every_chart_has_a_place_words_and_two_themes(example):
    drawings = example.json("drawings")
    places = [attrs for _, attrs in example.elements if attrs.get("role") == "img"]
    assert [attrs["id"] for attrs in places] == [f"chart-{n}" for n in range(len(drawings["charts"]))]
    assert len(places) >= 8
    assert all(attrs["aria-label"].strip() for attrs in places)
    for light, dark in drawings["charts"]:
        assert light["layout"]["height"] == dark["layout"]["height"]
        assert light["layout"]["font"]["color"] != dark["layout"]["font"]["color"]
        assert light["data"]
        assert "template" not in light["layout"]
    assert drawings["template"]["data"]


def test_numbers_carry_interval_and_n(example, example_store):
    """good finds c-en and c-fr of three for q1 at ranks 1 and 4, c-ja and c-en for q2: R@10 is 2/3 for both."""
    assert "R@10 0.6667 (balanced mean)" in " ".join(example.attributes("title"))
    for title in example.attributes("title"):
        assert " mean)" not in title or "n = " in title
    assert "95 % intervals: " in example.words["p"]
    assert "seed 20260101" in example.words["p"]


def test_the_manifest_names_what_the_numbers_hang_on(example, example_store):
    found = example.json("manifest")
    (task,) = example_store.tasks(example_store.benchmark("example").benchmark_id)
    assert found["made_at"] == "2026-01-02T03:04:05+00:00"
    assert found["command"] == "python -m analysis report --benchmark example -o report.html"
    assert found["tasks"] == [{"task": "main", "documents": 11, "queries": 2, "sha256": task.checksum}]
    runs = {run.system: run for run in example_store.runs([task.task_id])}
    assert {run["system"]: run["fingerprint"] for run in found["runs"]} == {
        name: run.fingerprint for name, run in runs.items()
    }
    for run in found["runs"]:
        file = example_store.cache.hits / runs[run["system"]].hits_file
        assert run["hits_sha256"] == write.file_checksum(file)
        assert run["hits_sha256"] in example.words["code"]
    assert {"Babelscope", "Python", "duckdb", "numpy", "plotly"} <= set(found["versions"])
    assert (found["seed"], found["level"]) == (20_260_101, 0.95)


def test_the_command_repeats_what_was_asked_for(example_store):
    asked = Selection("example", ("main",), ("good",), (("language", "en"),))
    page = Page(made(example_store, asked))
    assert page.json("manifest")["command"] == (
        "python -m analysis report --benchmark example --task main --system good --where language=en -o report.html"
    )
    assert [run["system"] for run in page.json("manifest")["runs"]] == ["good"]


@pytest.mark.slow
def test_the_same_store_gives_the_same_file_but_for_the_time(example_store):
    asked = Selection("example")
    one = made(example_store, asked)
    assert made(example_store, asked) == one
    other = document.report(example_store, asked, silent, made_at=MADE_AT + datetime.timedelta(days=1))
    assert other != one
    assert other.replace("2026-01-03", "2026-01-02") == one


def test_texts_of_others_stay_texts(caught):
    """They are words of the page, inert values of attributes, or JSON; never elements, attributes or code."""
    assert {tag for tag, _ in caught.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "noscript", "script"),
        *("h1", "h2", "h3", "h4", "p", "ol", "li", "a", "span", "strong", "br", "code", "figure", "div", "details"),
        *("summary", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    }
    assert not [name for _, attrs in caught.elements for name in attrs if name.startswith("on")]
    assert len(caught.scripts) == 4
    assert [attrs.get("type") for attrs, _ in caught.scripts] == ["application/json", "application/json", None, None]
    program = "".join(text for attrs, text in caught.scripts if "type" not in attrs)
    for text in (SCRIPT, PICTURE, ENDING, LINK):
        assert text not in program
    for text, tag in ((PICTURE, "h1"), (ENDING, "h3"), (SCRIPT, "td"), (ANCHOR, "td"), (LINK, "td"), (ENDING, "td")):
        assert text in caught.words[tag]
    assert SCRIPT in {run["system"] for run in caught.json("manifest")["runs"]}


def test_charts_show_texts_of_others_as_texts(caught):
    """Plotly reads tags in labels and hovers: none of theirs reaches it."""
    for light, dark in caught.json("drawings")["charts"]:
        for figure in (light, dark):
            shown = json.dumps([figure["layout"], *({**trace, "customdata": None} for trace in figure["data"])])
            for tag in ("<script", "<img", "<a ", "</script", "<!--"):
                assert tag not in shown


def test_where_no_map_is_stored_the_report_says_how_to_draw_one(example):
    said = "No map of this task is stored; one is drawn by: python -m analysis map --benchmark example --task main"
    assert said in example.words["p"]
    assert "Neighbours in own language" not in example.words["th"]


def test_a_stored_map_is_drawn_with_what_its_space_says(example_store, tmp_path):
    """Each text is nearest to the next two of thirteen: N_k is 2 for all, so that hubness is undefined."""
    cache = Cache(shutil.copytree(example_store.cache.root, tmp_path / "store"))
    (task,) = example_store.tasks(example_store.benchmark("example").benchmark_id)
    points = [(n, -n) for n in range(13)]
    store = put_map(cache, task, "good", points, [[(n + 1) % 13, (n + 2) % 13] for n in range(13)])
    section = embedding_map.section(store, Selection("example"))
    (chart,) = section.charts
    assert {trace.type for trace in chart.light.data} == {"scatter"}
    drawn = [trace for trace in chart.light.data if trace.showlegend is False]
    assert sorted(number for trace in drawn for number in trace.x) == list(range(13))
    assert len(json.dumps(inline.drawing(chart.light))) < 10_000
    (table,) = [block for block in section.blocks if isinstance(block, Table)]
    (row,) = table.rows
    cells = dict(zip(table.columns, row, strict=True))
    assert cells["Trustworthiness"].value == 0.75
    assert cells["Continuity"].value == 0.5
    assert cells["Neighbours in own language"].n == 13
    assert cells["Neighbours in own language"].low is not None
    assert cells["Hubness"] is None
    assert "UMAP of 2 exact neighbours" in " ".join(block.words for block in section.blocks if isinstance(block, Grey))
    assert embedding_map.section(store, Selection("example", (), ("bad",))).charts == []


def test_many_points_are_one_image(hostile, monkeypatch):
    monkeypatch.setattr(map_views, "LIVE", 10)
    (chart,) = embedding_map.section(hostile, Selection("example")).charts
    assert [trace for trace in chart.light.data if trace.showlegend is False] == []
    (painted,) = chart.light.layout.images
    assert painted.source.startswith("data:image/png;base64,")


def test_the_demo_is_told_in_sentences_with_its_numbers(example):
    """bad has an answer among the first ten for q1, asked in English, and nothing at all for q2, in Japanese."""
    said = example.words["section"]
    for words in (
        "Someone asks in English. question one",
        "The same concern, in Japanese. 質問",
        "Asked in English, the first right result is number 2.",
        "Asked in Japanese, it misses all 3 right answers. It lists them nowhere.",
        "Replayed from a stored run: bad",
        "Asked in English, 100 of 100 questions find an answer on the first page; in Japanese, 0 of 100.",
    ):
        assert words in said
    assert "✓ answer en" in example.words["td"]
    assert "nothing is listed" in example.words["td"]


@pytest.mark.slow
def test_nothing_inside_the_json_ends_its_element(hostile):
    text = made(hostile, Selection("example"))
    assert text.count("<script") == text.count("</script>") == 4 + inline.library().count("<script")
    assert "</script" not in inline.library()
    assert "<!--" not in text


def test_imported_scores_say_what_they_cannot_answer(imported_store):
    page = Page(made(imported_store, Selection("imported")))
    for need in ("language routes need rankings", "depth needs rankings", "difficulty tiers need rankings"):
        assert f"This benchmark has per-query scores only: {need}." in page.words["p"]
    for need in ("a map needs texts", "the story needs rankings"):
        assert need in page.words["p"]
    assert len(page.json("drawings")["charts"]) >= 4  # overview, fairness, significance
    assert all(run["hits_sha256"] is None for run in page.json("manifest")["runs"])


@pytest.mark.slow
def test_published_figures_are_marked_and_say_what_they_cannot_answer(tmp_path):
    store = put_published(Cache(tmp_path / "cache"), put_results(tmp_path / "results"))
    page = Page(made(store, Selection("clinic")))
    assert "Published figures, not measured here" in page.words["p"]
    for need in (
        "depth needs rankings",
        "difficulty tiers need rankings",
        "fairness needs the values of each query",
        "tests need the values of each query",
    ):
        assert f"This benchmark has published figures only: {need}." in page.words["p"]
    assert "language routes need rankings" not in page.words["p"]
    found = page.json("manifest")
    assert found["runs"] == []
    assert {row["system"] for row in found["published"]} >= {LARGE, SMALL}
    assert all(row["sha256"] in page.words["code"] for row in found["published"])
    assert len(page.json("drawings")["charts"]) == 2 * len({row["task"] for row in found["published"]})
    flagless = Page(made(store, Selection("clinic", without_flagged=True)))  # means over all queries do not tell
    assert "This benchmark has published figures only: language routes need rankings." in flagless.words["p"]


@pytest.mark.slow
def test_doubtful_queries_and_the_chosen_part_are_said_first(tmp_path):
    example = worked_example()
    task = replace(example.tasks[0], flags=(Flag("query", "q2", "other script"),))
    store = put(
        Cache(tmp_path),
        replace(example, tasks=(task,)),
        {("good", "lexical"): ranking_of(task, [["c-en"], ["c-ja"]], depth=10)},
    )
    head = Page(made(store, Selection("example"))).words["header"]
    assert "1 of 2 queries is flagged" in head
    assert "counted" in head
    asked = Selection("example", where=(("language", "en"),), without_flagged=True)
    page = Page(made(store, asked))
    assert "Only queries with language = en" in page.words["header"]
    assert "left out" in page.words["header"]
    assert page.json("manifest")["command"].endswith("--where language=en --without-flagged -o report.html")


def test_what_is_not_there_is_one_error(example_store):
    for asked, says in (
        (Selection("nope"), "unknown benchmark 'nope'"),
        (Selection("example", ("nope",)), "unknown task 'nope'"),
        (Selection("example", (), ("nope",)), "unknown system 'nope'"),
        (Selection("example", (), (), (("nope", "1"),)), "unknown query attribute 'nope'"),
    ):
        with pytest.raises(InputError, match=says):
            made(example_store, asked)


def test_a_benchmark_without_runs_has_no_report(tmp_path):
    store = put(Cache(tmp_path), worked_example(), {})
    with pytest.raises(InputError, match="example: no system has run on main, so there is nothing to report"):
        made(store, Selection("example"))


def test_a_cancelled_report_leaves_what_stood_there(example_store, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("before")

    def cancelled(step, done, total):
        if done == 3:
            raise JobCancelledError("cancelled")

    with pytest.raises(JobCancelledError):
        document.write(example_store, Selection("example"), target, cancelled)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.slow
def test_the_file_appears_whole_and_steps_are_told(example_store, tmp_path):
    steps = []
    target = tmp_path / "report.html"
    document.write(example_store, Selection("example"), target, lambda *step: steps.append(step), made_at=MADE_AT)
    assert target.read_text(encoding="utf-8") == made(example_store, Selection("example"))
    assert list(tmp_path.iterdir()) == [target]
    assert [done for _, done, _ in steps] == list(range(len(document.SECTIONS) + 1))
    with pytest.raises(InputError, match="there is no folder"):
        document.write(example_store, Selection("example"), tmp_path / "nope" / "report.html", silent)


@pytest.mark.slow
def test_a_report_made_while_others_write_reads_one_generation(tmp_path):
    benchmark = worked_example()
    ranking = ranking_of(benchmark.tasks[0], [["c-en"], ["c-ja"]], depth=10)
    cache = Cache(tmp_path)
    store = put(cache, benchmark, {("good", "lexical"): ranking})
    before = made(store, Selection("example"))
    steps = 0

    def meanwhile(step, done, total):
        nonlocal steps
        steps += 1
        if steps in (2, 4, 6):  # three generations more: the one that is read is swept
            with write.writer(cache) as writer:
                writer.add_system(f"late-{steps}", title="late", short="late", paradigm="lexical")

    assert document.report(store, Selection("example"), meanwhile, made_at=MADE_AT) == before
    assert steps == len(document.SECTIONS) + 1
    assert "late-6" in read.open_store(cache).system_labels()
