"""The languages of the interface: every catalogue says everything, and nothing else; the choice is kept."""

import ast
import re

import pytest
from babel.messages.pofile import read_po
from visits import ROOT, parameters, words

from pages.shared import interface

SAID = {"say": 0, "mark": 0, "say_counted": 0, "say_of": 1, "need_rankings": 1, "need_values": 1}
"""What says words, and at which place its arguments have them."""

TRANSLATED = [tag for tag in interface.NAMES if tag != interface.ENGLISH]
FORMS = {"es": 2, "fr": 2, "ja": 1, "zh": 1, "ru": 3}


def said_in(tree):
    """(context, words) of everything that a file says in the language of the interface; words are two where counted."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in SAID:
            continue
        texts = [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]
        place = SAID[name]
        if len(texts) > place and texts[place] is not None:
            several = name == "say_counted"
            yield (texts[0] if name == "say_of" else None, (texts[0], texts[1]) if several else texts[place])


@pytest.fixture(scope="module")
def said():
    files = [*(ROOT / "pages").rglob("*.py"), ROOT / "analysis" / "views" / "story_words.py"]
    return {found for file in files for found in said_in(ast.parse(file.read_text(encoding="utf-8")))}


def catalogue(tag):
    with (interface.CATALOGUES / f"{tag}.po").open("rb") as file:
        return read_po(file, abort_invalid=True)


def holders(text):
    return set(re.findall(r"\{(\w+)\}", text))


def test_the_languages_are_those_that_have_a_catalogue():
    assert sorted(TRANSLATED) == sorted(file.stem for file in interface.CATALOGUES.glob("*.po"))
    assert list(interface.NAMES) == ["en", "es", "fr", "ja", "zh", "ru"]


@pytest.mark.parametrize("tag", TRANSLATED)
def test_a_catalogue_has_every_message_and_no_other(said, tag):
    listed = {(message.context, message.id) for message in catalogue(tag) if message.id}
    assert listed == said


@pytest.mark.parametrize("tag", TRANSLATED)
def test_every_message_is_translated_with_the_same_values(tag):
    for message in catalogue(tag):
        if not message.id:
            continue
        assert not message.fuzzy
        english = message.id if isinstance(message.id, tuple) else (message.id,)
        theirs = message.string if isinstance(message.string, tuple) else (message.string,)
        assert len(theirs) == (FORMS[tag] if len(english) == 2 else 1), message.id
        assert all(text.strip() for text in theirs), message.id
        for text in theirs:
            missing = holders(english[-1]) - holders(text)
            assert holders(text) <= holders(english[-1]), text
            assert missing <= ({"n"} if len(english) == 2 else set()), text  # one need not be a figure


def spoken(tag, monkeypatch):
    monkeypatch.setattr(interface, "chosen", lambda: tag)


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ("en", ["12,345", "0.82"]),
        ("es", ["12.345", "0,82"]),
        ("fr", ["12\u202f345", "0,82"]),
        ("ja", ["12,345", "0.82"]),
        ("zh", ["12,345", "0.82"]),
        ("ru", ["12\u00a0345", "0,82"]),
    ],
)
def test_numbers_are_written_as_the_language_does(tag, written, monkeypatch):
    spoken(tag, monkeypatch)
    assert [interface.number(12345), interface.number(0.8249, 2)] == written


def test_russian_has_three_forms(monkeypatch):
    spoken("ru", monkeypatch)
    one, many = (
        "{n} other system was compared on the same questions.",
        "{n} other systems were compared on the same questions.",
    )
    found = [interface.say_counted(one, many, n).split("ещё ")[1] for n in (1, 2, 5, 11, 21, 1000)]
    assert found == ["1 систему.", "2 системы.", "5 систем.", "11 систем.", "21 систему.", "1\u00a0000 систем."]


def test_languages_are_called_by_their_names(monkeypatch):
    assert [interface.own_name(tag) for tag in ("ja", "ru", "ar", "zh-Hant")] == [
        "日本語",
        "Русский",
        "العربية",
        "中文 (繁體)",
    ]
    assert interface.own_name("und") == "Unknown language"
    spoken("fr", monkeypatch)
    names = [interface.language(tag) for tag in ("ja", "zh-Hant", "qqq")]
    assert names == ["japonais", "chinois (traditionnel)", "qqq"]


def test_what_is_not_known_is_said_in_english(monkeypatch):
    spoken("ja", monkeypatch)
    assert interface.say("nobody says {this}", this=1) == "nobody says 1"
    assert interface.sentences("一。", "", "二。") == "一。二。"


def test_the_frame_speaks_the_language_of_the_address(example):
    page = example.page("overview", ui="fr")
    assert not page.exception
    assert page.title[0].value == "Quel système, et puis-je me fier à la différence\u202f?"
    assert page.selectbox(key="overview-benchmark").label == "Jeu d’évaluation"
    assert example.page("overview", ui="xx").title[0].value.startswith("Which system")


def test_the_language_is_kept_over_a_change_of_page(example):
    app = example.app()
    app.selectbox(key="overview-ui").select("ja").run()
    assert parameters(app)["ui"] == "ja"
    app.query_params.clear()
    app.switch_page("pages/fairness.py").run()
    assert app.title[0].value == "取り残されるのは誰か。"
    assert parameters(app)["ui"] == "ja"
    app.selectbox(key="fairness-ui").select("en").run()
    assert "ui" not in parameters(app)
    assert app.title[0].value == "Who is left behind?"


def test_empty_states_of_the_frame_are_translated(imported):
    assert "нужны ранжированные списки" in words(imported.page("routes", ui="ru"))
    assert "No hay ningún sistema elegido" in words(imported.page("overview", ui="es", systems=""))
