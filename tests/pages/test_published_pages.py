"""Pages over figures that others published, and the choice of languages where they are many."""

import json
from dataclasses import replace

import pytest
from visits import Visit, parameters, words

from analysis.jobs.imports import ScoresRequest, import_scores
from analysis.model import silent
from analysis.paths import Cache
from tests.hand_made import put, ranking_of, score_rows, worked_example, write_scores
from tests.published_files import LARGE, SMALL, pairs, put_file, put_published, put_results, result


@pytest.fixture(scope="module")
def published_folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("published")
    put_published(Cache(root / "cache"), put_results(root / "results"))
    return root / "cache"


@pytest.fixture
def published(published_folder, monkeypatch, first_start):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(published_folder))
    return Visit()


def spec(page, place=0):
    return json.loads(page.get("plotly_chart")[place].proto.spec)


def test_the_overview_ranks_them_and_marks_them(published):
    page = published.page("overview")
    assert not page.exception
    said = words(page)
    assert "large has the highest published main score, 0.55, 0.12 above words." in said
    assert "Published figures, not measured here" in said
    assert "Not every system was evaluated on the same language pairs" in page.warning[0].value
    assert len(page.get("plotly_chart")) == 1
    assert "lab__large/abc123/Clinic.json" in said  # where it comes from
    assert "0.50 over its own 3" in said
    assert "published figures" in said


def test_measure_and_split_live_in_the_address(published):
    page = published.page("overview", systems=f"{LARGE},{SMALL}")
    page.selectbox(key="overview-figure").select("rr_at_10").run()
    page.selectbox(key="overview-split").select("heart").run()
    assert parameters(page) == {"systems": f"{LARGE},{SMALL}", "figure": "rr_at_10", "split": "heart"}
    assert "large has the highest published RR@10, 0.30" in words(page)
    assert words(published.page("overview", **parameters(page))) == words(page)


def test_all_tasks_together(published):
    page = published.page("overview", task="all")
    assert [header.value for header in page.header][:2] == ["Published figures: Clinic", "Published figures: Many"]
    assert len(page.get("plotly_chart")) == 2


def test_routes_show_a_heatmap_a_system(published):
    page = published.page("routes")
    assert not page.exception
    assert "words reaches main score 0.80 on English documents when asked in English, and 0.05" in words(page)
    titles = [note["text"] for note in spec(page)["layout"]["annotations"]]
    assert len(titles) == 3
    assert all("published" in title for title in titles)
    assert not [box for box in page.multiselect if box.label == "Languages"]  # three fit


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("tiers", "difficulty tiers need rankings"),
        ("causes", "the causes of failure need rankings"),
        ("fairness", "fairness needs the values of each query"),
        ("recoverability", "depth needs rankings"),
        ("significance", "tests need the values of each query"),
        ("probe", "a live query needs documents to search"),
    ],
)
def test_a_page_that_needs_queries_says_why(published, name, why):
    page = published.page(name)
    assert not page.exception
    assert not page.error
    assert f"This benchmark has published figures only: {why}." in words(page)
    assert not page.get("plotly_chart")


def languages(page):
    (box,) = [box for box in page.multiselect if box.label == "Languages"]
    return box


def test_more_than_twelve_languages_are_picked(published):
    page = published.page("routes", task="Many")
    box = languages(page)
    assert (len(box.options), len(box.value)) == (14, 12)
    assert "12 of 14 languages shown" in words(page)
    box.set_value(["en", "zh-Hans", "zh-Hant"]).run()
    assert parameters(page)["languages"] == "en,zh-Hans,zh-Hant"
    assert spec(page)["layout"]["xaxis"]["ticktext"] == ["en", "zh-Hans", "zh-Hant"]
    again = published.page("routes", task="Many", languages="zh-Hant,en,zh-Hans")
    assert languages(again).value == ["en", "zh-Hans", "zh-Hant"]
    languages(page).set_value([]).run()
    assert "languages" not in parameters(page)


def test_beyond_twelve_colours_tell_scripts(published):
    every = "en,es,ru,zh-Hans,zh-Hant,ja,ar,hi,bn,sw,th,ko,uk"
    page = published.page("routes", task="Many", languages=every)
    said = words(page)
    assert "Languages by script:" in said
    assert "Cyrillic" in said
    assert "13 of 14 languages shown" in said


@pytest.fixture
def beside(tmp_path, monkeypatch, first_start):
    """The worked example with published figures of its task, of one system with a hostile name."""
    made = worked_example()
    lists = [["c-en", "c-fr"], ["c-ja", "c-en"]]
    put(Cache(tmp_path / "cache"), made, {("good", "lexical"): ranking_of(made.tasks[0], lists, depth=10)})
    put_file(tmp_path / "r", LARGE, "main", result("main", {"<b>test": pairs(0.6, 0.5, 0.4)}))
    put_file(tmp_path / "r", "lab/<script>alert(1)<", "main", result("main", {"<b>test": pairs(0.6, 0.5, 0.4)}))
    put_published(Cache(tmp_path / "cache"), tmp_path / "r", name="example")
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    return Visit()


def test_published_figures_stand_below_the_measured_ones(beside):
    page = beside.page("overview")
    assert not page.exception
    assert next(header.value for header in page.header) == "Published figures: Worked example"
    said = words(page)
    assert "good reaches nDCG@10" in said
    assert "highest published main score, 0.50" in said
    assert "<script>alert" not in said.replace("&lt;script&gt;alert", "")
    assert len(page.get("plotly_chart")) == 2
    page = beside.page("routes")
    assert not page.exception
    assert len(page.get("plotly_chart")) == 2
    assert "Published figures" in [header.value for header in page.header]


def test_a_system_with_published_figures_only_is_not_measured(beside):
    for name, why in (
        ("fairness", "fairness needs the values of each query"),
        ("recoverability", "depth needs rankings"),
    ):
        page = beside.page(name, systems=LARGE)
        assert not page.exception
        assert f"Of the chosen systems only published figures are known: {why}." in words(page)
    page = beside.page("routes", systems=LARGE)
    assert len(page.get("plotly_chart")) == 1
    page = beside.page("overview", systems=LARGE)
    assert not page.exception
    assert "highest published main score" in words(page)


@pytest.mark.parametrize("name", ["tiers", "fairness", "recoverability", "significance", "method", "data"])
def test_other_pages_are_about_the_measured_systems(beside, name):
    page = beside.page(name)
    assert not page.exception
    assert not page.error
    assert "published figures only" not in words(page)


def test_routes_of_measured_systems_alone(beside):
    for chosen in ({"systems": "good"}, {"where": "language=en"}):
        page = beside.page("routes", **chosen)
        assert not page.exception
        assert not page.error
        assert len(page.get("plotly_chart")) == 1
        assert "Published figures" not in [header.value for header in page.header]


def test_a_part_of_the_queries_leaves_them_out(beside):
    page = beside.page("overview", where="language=en")
    assert not page.exception
    assert "they are left out while a part of them is chosen" in words(page)
    assert len(page.get("plotly_chart")) == 1


@pytest.fixture(scope="module")
def paper_folder(tmp_path_factory):
    """Invented scores of two systems as a task of a paper's benchmark, which another build has under that name."""
    root = tmp_path_factory.mktemp("paper")
    names = {"large": "BAAI/bge-m3", "small": "sentence-transformers/LaBSE"}
    rows = [row | {"model": names[row["model"]]} for row in score_rows() if row["model"] in names]
    path = write_scores(root / "s.csv", rows)
    for task, name in (("google-patents", "chemclir-bench"), ("t3-evidence", "mmed-bench-ir")):
        import_scores(Cache(root / "cache"), request=ScoresRequest(path, name, task=task), progress=silent)
    return root / "cache"


@pytest.fixture
def paper(paper_folder, monkeypatch, first_start):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(paper_folder))
    return Visit()


def test_printed_figures_stand_under_the_measured_ones(paper):
    page = paper.page("overview", benchmark="chemclir-bench")
    assert not page.exception
    said = words(page)
    assert "Figures of the paper" in [header.value for header in page.header]
    assert "Published, as printed in ChemCLIR-Bench · below in grey: measured here (not checked to be the" in said
    assert 'R@10 cross 0.47 of bge-m3, ChemCLIR-Bench">0.47</span><br><span class="soft">here 0.' in said
    assert "SapBERT-XLMR" in said  # which is not stored
    assert "Other figures of this paper: Language routes (6), Recoverability (34), Significance (2)." in said


def test_another_build_is_a_warning_and_stands_beside_nothing(paper):
    page = paper.page("fairness", benchmark="mmed-bench-ir")
    assert not page.exception
    assert "Task 3, evidence asks 40 queries and the paper’s 2,040" in page.warning[-1].value
    assert "0.24 ± 0.05" in words(page)
    assert '<span class="soft">here' not in words(page)


def test_printed_figures_show_before_any_system_has_run(tmp_path, monkeypatch, first_start):
    made = worked_example()
    made = replace(made, name="chemclir-bench", tasks=(replace(made.tasks[0], name="google-patents"),))
    put(Cache(tmp_path), made, {})
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path))
    page = Visit().page("overview")
    assert not page.exception
    said = words(page)
    assert "nothing measured here stands beside them" in said
    assert "No system has run on this task yet." in said
    assert said.count(', ChemCLIR-Bench"') == 96


def test_method_has_every_printed_figure_whatever_is_stored(published):
    page = published.page("method")
    assert not page.exception
    said = words(page)
    assert "159 published figures, as printed" in said
    assert said.count(', ChemCLIR-Bench"') == 138
    assert said.count(", MMed-Bench-IR (arXiv 2606.24200), ") == 21
