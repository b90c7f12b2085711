"""Translations from files, and from whoever translates."""

import gzip
import json

import pytest

from analysis.benchmarks import translation_rows
from analysis.benchmarks.translation_rows import Translation
from analysis.errors import InputError

KNOWN = {"q1", "q2"}
ROWS = {
    ("q1", "es"): Translation('¿Qué es "eso"?', "What is that?"),
    ("q1", "ja"): Translation("それは何ですか、", None),
    ("q2", "zh"): Translation("什么", "What"),
}


def cells():
    return [(name, tag, row.text, row.back or "") for (name, tag), row in ROWS.items()]


def table(path, delimiter, quote=lambda text: text):
    lines = [("id", "language", "text", "back_translation"), *cells()]
    path.write_text("".join(delimiter.join(map(quote, line)) + "\r\n" for line in lines), encoding="utf-8-sig")
    return path


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def test_every_form_says_the_same(tmp_path):
    lines = [
        {"id": name, "language": tag, "text": row.text, "back_translation": row.back}
        for (name, tag), row in ROWS.items()
    ]
    (tmp_path / "t.jsonl").write_text("\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines))
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(table(tmp_path / "t.tsv", "\t").read_bytes()))
    table(tmp_path / "t.csv", ",", quoted)
    found = {name: translation_rows.read(tmp_path / f"t.{name}", known=KNOWN) for name in ("jsonl", "tsv", "csv")}
    assert [one.rows for one in found.values()] == [ROWS] * 3
    assert translation_rows.read(tmp_path / "t.tsv.gz", known=KNOWN) == found["tsv"]


def test_languages_have_their_shortest_tag_and_columns_any_order(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("language\tother\ttext\tid\nzho_Hans\tx\t 什么  \tq1\nSpanish\tx\tQué\tq1\n", encoding="utf-8")
    assert translation_rows.read(path, known=KNOWN).rows == {
        ("q1", "zh"): Translation("什么", None),
        ("q1", "es"): Translation("Qué", None),
    }


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.tsv", "id\tlanguage\nq1\tes\n", "line 1: no column text, expected id, language, text and perhaps"),
        ("t.tsv", "id\ttext\tlanguage\ttext\nq1\tx\tes\ty\n", "line 1: column text stands twice"),
        ("t.tsv", "id\tlanguage\ttext\nq1\tes\n", "line 2: 2 columns, expected 3"),
        ("t.tsv", "id\tlanguage\ttext\nq9\tes\tx\n", "line 2: id 'q9', expected that of a question"),
        ("t.tsv", "id\tlanguage\ttext\nq1\tes\tx\nq1\tspa\ty\n", "line 3: q1 in es stands in line 2 too"),
        ("t.tsv", "id\tlanguage\ttext\nq1\tqq9\tx\n", "line 2: language 'qq9'"),
        ("t.tsv", "id\tlanguage\ttext\nq1\teng\tx\n", "line 2: language 'eng' is that of the questions"),
        ("t.tsv", "id\tlanguage\ttext\nq1\tes\t \n", "line 2: text ' ', expected a text"),
        ("t.tsv", "id\tlanguage\ttext\n", "holds no translation"),
        ("t.csv", 'id,language,text\nq1,es,"x"y\n', "line 2: "),
        ("t.jsonl", '{"id": "q1"}\n', "line 1: language None, expected a text"),
        ("t.jsonl", '\n{"id": \n', "line 2: .*expected one JSON object"),
        ("t.jsonl", '{"id": "q1", "language": "es", "text": "x", "back_translation": 3}', "line 1: back_translation 3"),
        ("t.txt", "x", "expected a name that ends with .tsv, .csv or .jsonl"),
    ],
)
def test_a_fault_names_its_line(tmp_path, name, text, says):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        translation_rows.read(tmp_path / name, known=KNOWN)


def test_bytes_that_are_no_text_are_told(tmp_path):
    (tmp_path / "t.tsv").write_bytes(b"id\tlanguage\ttext\nq1\tes\tQu\xe9\n")
    with pytest.raises(InputError, match="line 2: byte 0xe9, expected UTF-8"):
        translation_rows.read(tmp_path / "t.tsv", known=KNOWN)
    with pytest.raises(InputError, match="no such file"):
        translation_rows.read(tmp_path / "u.tsv", known=KNOWN)


class Shouting:
    """Knows two languages."""

    name = "shouting"

    def check(self, *, source, target):
        if {source, target} - {"en", "es"}:
            raise InputError(f"no {target}")

    def translate(self, texts, *, source, target):
        return [text.upper() if target == "es" else text.lower() for text in texts]


def test_a_translator_translates_there_and_back():
    made = translation_rows.made(Shouting(), [("q1", "What is it"), ("q2", " ")], ["es"])
    assert made == {("q1", "es"): Translation("WHAT IS IT", "what is it")}
    with pytest.raises(InputError, match="no ja"):
        translation_rows.made(Shouting(), [], ["es", "ja"])
