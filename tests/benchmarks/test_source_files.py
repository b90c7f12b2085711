"""Files of a source: damage is said in words, and what another program put beside them is none of theirs."""

import zipfile

import pytest

from analysis.benchmarks import source_files
from analysis.benchmarks.source_files import Wanted
from analysis.errors import InputError

TEXTS = Wanted(lambda path: path.name.endswith(".txt"), "holds no .txt file")


def read(path):
    return dict(source_files.files(path, in_folder=TEXTS, in_zip=TEXTS, expected="texts"))


@pytest.fixture
def packed(tmp_path):
    """A ZIP of two texts that are not compressed, made by a Mac."""
    path = tmp_path / "some.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("b/two.txt", "__MACOSX/b/._two.txt", "a/one.txt", "a/other.md"):
            archive.writestr(name, f"content of {name}")
    return path


def test_files_come_by_name_without_what_lies_beside_them(tmp_path, packed):
    assert read(packed) == {
        f"{packed}!a/one.txt": b"content of a/one.txt",
        f"{packed}!b/two.txt": b"content of b/two.txt",
    }
    folder = tmp_path / "folder"
    (folder / "deep.txt").mkdir(parents=True)
    for name in ("two.txt", "one.txt", "._one.txt"):
        (folder / name).write_text(name, encoding="utf-8")
    assert list(read(folder).items()) == [(f"{folder}/one.txt", b"one.txt"), (f"{folder}/two.txt", b"two.txt")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: holds no \.txt file"):
        read(tmp_path / "empty")
    with pytest.raises(InputError, match="nowhere: no such file or folder, expected texts"):
        read(tmp_path / "nowhere")


def test_a_damaged_zip_is_said_to_be_one(packed):
    data = packed.read_bytes()
    packed.write_bytes(data.replace(b"content of b/two", b"content of b/owt"))
    with pytest.raises(InputError, match=r"some\.zip!b/two\.txt: Bad CRC-32 .*expected a whole ZIP file"):
        read(packed)
    packed.write_bytes(data.replace(b"PK\x01\x02", b"PK\x01\x00", 1))
    with pytest.raises(InputError, match=r"some\.zip: Bad magic number .*expected a whole ZIP file"):
        read(packed)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "here: Expecting property name .*, expected a row"),
        (b'"\xff"', "here: 'utf-8' codec can't decode byte 0xff .*, expected a row"),
        ("9" * 5000, "here: Exceeds the limit .*, expected a row"),
        ("[" * 100_000, "here: nested too deep, expected a row"),
        (r'["half \ud83d"]', "here: half a surrogate pair, expected whole characters"),
    ],
)
def test_what_is_no_json_is_said(data, says):
    with pytest.raises(InputError, match=says):
        source_files.parsed(data, "here", expected="a row")
    assert source_files.parsed(rb'["\ud83d\ude00"]', "here", expected="a row") == ["😀"]
