"""Every page has one name and one question: in the menu, the address, the README and the report."""

import ast
import re
from pathlib import Path

import pytest

from analysis.report import document
from pages.shared import ui
from tests.pages.visits import ROOT

WORDS = re.compile(r'Section\(\s*"(\w+)", "([^"]+)", "([^"]+)"')


def routed():
    """Script, title and address of each page that the router knows, but for the one that is no page."""
    for call in ast.walk(ast.parse((ROOT / "app.py").read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "Page":
            more = {word.arg: word.value.value for word in call.keywords}
            if "url_path" in more:
                yield call.args[0].value, more["url_path"], more["title"]


README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r'^\| <img src="([^"]+)" .+> \| \*\*([^*]+)\*\* · ([^|]+) \|$', re.MULTILINE)


def test_the_router_has_the_pages_of_the_menu_in_its_order():
    assert list(routed()) == [(page.script, page.address, page.title) for page in ui.PAGES]


@pytest.mark.parametrize("page", ui.PAGES, ids=lambda page: page.address)
def test_the_script_is_called_as_the_address(page):
    assert page.script == f"pages/{page.address}.py"


def test_the_readme_has_every_page_by_its_name_with_its_question_and_picture():
    rows = ROW.findall(README)
    assert [name for _, name, _ in rows] == [page.title for page in ui.PAGES]
    for (picture, _, words), page in zip(rows, ui.PAGES, strict=True):
        assert words.startswith(page.question)
        assert picture == f"docs/pictures/{page.address}.webp"
        assert (ROOT / picture).is_file()


def test_a_section_of_the_report_is_called_as_its_page():
    pages = {page.title: (page.address, page.title, page.question) for page in ui.PAGES}
    for name, made in document.SECTIONS.items():
        source = Path(made.__code__.co_filename).read_text(encoding="utf-8")
        assert WORDS.search(source).groups() == pages[name]
