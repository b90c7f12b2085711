"""BioASQ's files: what is read of them, however they are packed, and what is said of a fault."""

import gzip
import json
import zipfile

import pytest

from analysis.benchmarks import bioasq
from analysis.benchmarks.bioasq import Question, Snippet
from analysis.errors import InputError

ADDRESS = "http://www.ncbi.nlm.nih.gov/pubmed/23959273"


def snippet(text="A  thing\nhelps.", document=ADDRESS, **more):
    return {"document": document, "text": text, "beginSection": "abstract", "offsetInBeginSection": 3, **more}


def question(name="q1", *, body="Does it\nhelp? ", snippets=None):
    rows = [snippet(), snippet("Another.", "https://pubmed.ncbi.nlm.nih.gov/12/")] if snippets is None else snippets
    return {"id": name, "type": "yesno", "body": body, "documents": [ADDRESS], "snippets": rows, "ideal_answer": ["x"]}


def written(path, *questions, **more):
    path.write_text(json.dumps({"questions": list(questions), **more}), encoding="utf-8")
    return path


def test_a_file_is_read(tmp_path):
    found = bioasq.read(written(tmp_path / "13B1_golden.json", question(), question("q2", snippets=[])))
    assert found.questions == (
        Question(
            "q1",
            "yesno",
            "Does it help?",
            (Snippet("23959273", "abstract", "A thing helps."), Snippet("12", "abstract", "Another.")),
        ),
        Question("q2", "yesno", "Does it help?", ()),
    )
    assert not found.invented


def test_a_file_of_the_first_phase_has_no_snippets(tmp_path):
    unanswered = question()
    del unanswered["snippets"]
    found = bioasq.read(written(tmp_path / "b.json", unanswered, invented=True))
    assert found.questions == (Question("q1", "yesno", "Does it help?", ()),)
    assert found.invented


def test_gzip_zip_and_folder_are_the_same(tmp_path):
    (tmp_path / "folder").mkdir()
    one = written(tmp_path / "folder" / "13B1_golden.json", question())
    written(tmp_path / "folder" / "13B2_golden.json", question("q2"))
    (tmp_path / "folder" / "planted.json").write_text("{}")
    both = bioasq.read(tmp_path / "folder")
    assert [row.id for row in both.questions] == ["q1", "q2"]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in (tmp_path / "folder").iterdir():
            archive.write(path, f"Task13BGoldenEnriched/{path.name}")
        archive.writestr("__MACOSX/._13B1_golden.json", b"\0")
    assert bioasq.read(tmp_path / "all.zip") == both
    (tmp_path / "packed").mkdir()
    packed = tmp_path / "packed" / "13B1_golden.json.gz"
    packed.write_bytes(gzip.compress(one.read_bytes()))
    assert bioasq.read(packed) == bioasq.read(one)
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"13B1_golden\.json\.gz: .*expected a whole gzip file"):
        bioasq.read(packed)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([question(), question()], "question 2: id 'q1' is that of .*f.json, question 1 too"),
        ([question(body=" ")], "question 1: body ' ', expected a text"),
        ([{**question(), "id": 7}], "question 1: id 7, expected a text"),
        ([question(snippets="none")], "question 1: snippets 'none', expected a list"),
        ([question(snippets=[snippet(), snippet(text="")])], "question 1, snippet 2: text '', expected a text"),
        ([question(snippets=[snippet(document="23959273")])], "snippet 1: document '23959273', expected the address"),
        ([question(snippets=["x"])], "question 1, snippet 1: 'x', expected an object"),
        (["x"], "question 1: 'x', expected an object with id"),
        ([], "holds no question"),
    ],
)
def test_a_fault_names_its_place(tmp_path, rows, says):
    with pytest.raises(InputError, match=rf"f\.json.*{says}"):
        bioasq.read(written(tmp_path / "f.json", *rows))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "expected JSON in UTF-8"),
        (b"\xff\xfe", "expected JSON in UTF-8"),
        (b"[]", "expected an object with a list of questions"),
    ],
)
def test_another_file_is_refused(tmp_path, data, says):
    path = tmp_path / "f.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=says):
        bioasq.read(path)
    with pytest.raises(InputError, match="no such file or folder"):
        bioasq.read(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds no \.json"):
        bioasq.read(tmp_path / "empty")
