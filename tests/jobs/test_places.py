"""What a browser may name or send: nothing outside the allowed folders, no name that leads anywhere."""

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.jobs import places


@pytest.fixture
def allowed(tmp_path, monkeypatch):
    """An allowed folder beside a secret one."""
    root = tmp_path / "open"
    (root / "inside").mkdir(parents=True)
    (root / "inside" / "run.trec").write_text("q Q0 d 1 1 s\n")
    (tmp_path / "open-not").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setenv(places.VARIABLE, str(root))
    return root


def test_without_the_variable_no_path_is_taken(monkeypatch):
    monkeypatch.delenv(places.VARIABLE, raising=False)
    assert places.folders() == ()
    with pytest.raises(InputError, match="this server takes no paths"):
        places.allowed("/etc/passwd")


@pytest.mark.parametrize("path", ["inside/run.trec", "inside", "."])
def test_a_path_inside_is_taken_relative_or_absolute(allowed, path):
    assert places.allowed(path) == (allowed / path).resolve()
    assert places.allowed(str(allowed / path)) == (allowed / path).resolve()


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "..",
        "../secret.txt",
        "inside/../../secret.txt",
        "../open-not",
        "/",
        "~/x",
        "inside/nothing",
        "../no",
    ],
)
def test_a_path_outside_is_refused(allowed, path):
    with pytest.raises(InputError, match=r"outside of what this server allows|nothing is there"):
        places.allowed(path)


def test_what_is_outside_is_not_told_apart_from_what_is_not_there(allowed):
    said = []
    for name in ("secret.txt", "no-such.txt"):
        with pytest.raises(InputError) as error:
            places.allowed(f"../{name}")
        said.append(str(error.value).replace(name, ""))
    assert said[0] == said[1]


@pytest.mark.parametrize("target", ["../secret.txt", "/etc", "inside/../../secret.txt"])
def test_a_link_that_leads_out_is_refused(allowed, target):
    (allowed / "link").symlink_to(target)
    with pytest.raises(InputError, match="outside of what this server allows"):
        places.allowed("link")
    with pytest.raises(InputError, match="its link 'link' leads out"):
        places.allowed(".")


def test_a_link_inside_a_folder_that_leads_out_is_refused(allowed):
    (allowed / "inside" / "corpus.jsonl").symlink_to(allowed.parent / "secret.txt")
    with pytest.raises(InputError, match=r"its link 'corpus\.jsonl' leads out"):
        places.allowed("inside")


def test_a_link_that_stays_inside_is_followed(allowed):
    (allowed / "link").symlink_to("inside")
    assert places.allowed("link/run.trec") == allowed / "inside" / "run.trec"


def test_the_root_itself_may_be_a_link(allowed, monkeypatch):
    (allowed.parent / "door").symlink_to(allowed)
    monkeypatch.setenv(places.VARIABLE, str(allowed.parent / "door") + os.pathsep + "/nowhere")
    assert places.allowed("inside/run.trec") == allowed / "inside" / "run.trec"


@pytest.mark.parametrize("path", ["", "  ", "inside\0"])
def test_what_is_no_path_is_refused(allowed, path):
    with pytest.raises(InputError, match="expected a file or folder inside"):
        places.allowed(path)


@given(st.text(max_size=300))
def test_a_sent_name_stays_below_its_folder(told):
    name = places.safe_name(told)
    assert not name.is_absolute()
    assert name.parts
    for part in name.parts:
        assert part not in {"..", "."}
        assert not part.startswith(("-", "."))
        assert len(part) <= places.LONGEST
        assert "\0" not in part


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\Users\\x\\corpus.jsonl", "C_/Users/x/corpus.jsonl"),
        ("/abs/run.trec", "abs/run.trec"),
        ("..", "file"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("心筋梗塞.trec", "心筋梗塞.trec"),
        ("<b>.csv", "_b_.csv"),
    ],
)
def test_names_that_would_like_to_lead_somewhere(told, kept):
    assert str(places.safe_name(told)) == kept


def sent(*names):
    return [(name, io.BytesIO(name.encode())) for name in names]


def test_one_file_is_handed_over_as_it_is(tmp_path):
    folder, path = places.receive(sent("my run.trec"), tmp_path)
    assert path == folder / "my run.trec"
    assert path.read_text() == "my run.trec"
    assert folder.parent == tmp_path.resolve() / "uploads"


def test_loose_files_of_a_beir_folder_find_their_places(tmp_path):
    files = sent("corpus.jsonl", "queries.jsonl.gz", "test.tsv", "dev.tsv")
    folder, path = places.receive(files, tmp_path, loose_judgements=True)
    assert path == folder
    assert sorted(str(file.relative_to(folder)) for file in folder.rglob("*.*")) == [
        "corpus.jsonl",
        "qrels/dev.tsv",
        "qrels/test.tsv",
        "queries.jsonl.gz",
    ]


def test_topics_and_qrels_of_trec_stay_where_they_are(tmp_path):
    files = sent("corpus.jsonl", "topics.tsv", "qrels.txt")
    folder, _ = places.receive(files, tmp_path, loose_judgements=True)
    assert {file.name for file in folder.iterdir()} == {"corpus.jsonl", "topics.tsv", "qrels.txt"}


def test_tables_stay_side_by_side(tmp_path):
    folder, _ = places.receive(sent("documents.tsv", "queries.tsv", "judgements.tsv"), tmp_path)
    assert {file.name for file in folder.iterdir()} == {"documents.tsv", "queries.tsv", "judgements.tsv"}


def test_a_dropped_folder_is_the_root(tmp_path):
    folder, path = places.receive(sent("mine/corpus.jsonl", "mine/qrels/test.tsv"), tmp_path)
    assert path == folder
    assert (folder / "qrels" / "test.tsv").is_file()


def test_a_dropped_folder_whose_name_matters_keeps_it(tmp_path):
    folder, path = places.receive(sent("org__m/1/Task.json", "org__m/1/Other.json"), tmp_path, names_matter=True)
    assert path == folder
    assert (folder / "org__m" / "1" / "Task.json").is_file()


def test_two_files_of_one_name_are_refused_and_nothing_stays(tmp_path):
    with pytest.raises(InputError, match="two files are called 'a_'"):
        places.receive(sent("a?", "a*"), tmp_path)
    with pytest.raises(InputError, match="no file was uploaded"):
        places.receive([], tmp_path)
    assert not list(tmp_path.rglob("*.*"))


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path):
    class Broken(io.BytesIO):
        def read(self, *size):
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        places.receive([("a", io.BytesIO(b"x")), ("b", Broken())], tmp_path)
    assert list((tmp_path / "uploads").iterdir()) == []
