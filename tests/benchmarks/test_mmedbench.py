"""Questions of MMedBench: its ZIP, its folder or one file; the test split; each text once; faults by line."""

import json
import zipfile

import pytest

from analysis.benchmarks import mmedbench
from analysis.benchmarks.mmedbench import Stem
from analysis.errors import InputError


def lines(*questions, **more):
    return "".join(
        json.dumps({"question": text, "options": {"A": "secret"}, **more}, ensure_ascii=False) + "\n"
        for text in questions
    )


@pytest.fixture
def folder(tmp_path):
    """As the ZIP unpacks."""
    for split, texts in (("Test", ("What?", " Which one? ", "What?")), ("Train", ("Not me",))):
        (tmp_path / "MMedBench" / split).mkdir(parents=True)
        (tmp_path / "MMedBench" / split / "English.jsonl").write_text(lines(*texts), encoding="utf-8")
        (tmp_path / "MMedBench" / split / "Chinese.jsonl").write_text(lines("什么？"), encoding="utf-8")
    return tmp_path


STEMS = (Stem("zh-1", "zh", "什么？"), Stem("en-1", "en", "What?"), Stem("en-2", "en", "Which one?"))


def test_the_test_split_without_options_each_text_once(folder):
    found = mmedbench.read(folder)
    assert found.stems == STEMS
    assert found.lines == {"en": 3, "zh": 1}
    assert mmedbench.read(folder / "MMedBench") == found
    assert mmedbench.read(folder / "MMedBench" / "Test") == found


def test_the_zip_says_the_same_as_its_folder(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "MMedBench.zip", "w") as archive:
        for path in sorted((folder / "MMedBench").rglob("*.jsonl")):
            archive.write(path, path.relative_to(folder))
        archive.writestr("__MACOSX/MMedBench/Test/._English.jsonl", b"\0")
    found = mmedbench.read(tmp_path / "MMedBench.zip")
    assert found == mmedbench.read(folder)  # its checksum too: it is that of the files
    damaged = (tmp_path / "MMedBench.zip").read_bytes().replace(b"What?", b"Whom?", 1)
    (tmp_path / "MMedBench.zip").write_bytes(damaged)
    with pytest.raises(InputError, match=r"MMedBench/Test/English\.jsonl: .*expected a whole ZIP file"):
        mmedbench.read(tmp_path / "MMedBench.zip")


def test_one_file_is_called_after_its_language_or_its_rows_name_it(folder, tmp_path):
    assert mmedbench.read(folder / "MMedBench" / "Test" / "Chinese.jsonl").stems == STEMS[:1]
    path = tmp_path / "all.jsonl"
    rows = lines("Was?", language="German", split="test") + lines("Nein", language="de", split="train")
    path.write_text(rows + "\n" + lines("Quoi ?", language="fra"), encoding="utf-8")
    assert mmedbench.read(path).stems == (Stem("de-1", "de", "Was?"), Stem("fr-4", "fr", "Quoi ?"))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("English.jsonl", lines("What?") + "{", "English.jsonl, line 2: "),
        ("English.jsonl", lines("What?") + "[1]\n", "line 2: [1], expected a JSON object"),
        ("English.jsonl", lines("What?", " "), "line 2: question ' ', expected a text"),
        ("English.jsonl", '{"stem": "What?"}\n', "line 1: question None, expected a text"),
        ("Elvish.jsonl", lines("What?"), "Elvish.jsonl: language 'Elvish': expected an ISO 639 code"),
        ("all.jsonl", lines("What?", language="xx"), "all.jsonl, line 1: language 'xx'"),
        ("English.jsonl", "", "holds no question of the test split"),
        ("English.jsonl", lines("What?", split="train"), "holds no question of the test split"),
    ],
)
def test_a_fault_is_named(tmp_path, name, content, says):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        mmedbench.read(tmp_path / name)
    assert says in str(caught.value)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        mmedbench.read(tmp_path / "MMedBench.zip")
    with pytest.raises(InputError, match=r"holds no \.jsonl file"):
        mmedbench.read(tmp_path)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("Train/English.jsonl", lines("What?"))
    with pytest.raises(InputError, match=r"holds no Test/\*\.jsonl"):
        mmedbench.read(tmp_path / "other.zip")
