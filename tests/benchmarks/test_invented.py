"""Invented sources: the same request writes the same bytes, in the true formats, and says what it planted."""

import gzip
import json
import math
from collections import Counter

import numpy as np
import pytest

from analysis.benchmarks import invented, umls
from analysis.benchmarks.invented import PLANTED, README, Request, evidence
from analysis.benchmarks.invented.concepts import MOST
from analysis.benchmarks.invented.words import EVERY, SCRAMBLE
from analysis.errors import InputError

LANGUAGES = {"CHI": "zh", "ENG": "en", "FRE": "fr", "GER": "de", "JPN": "ja", "POR": "pt", "RUS": "ru", "SPA": "es"}


def made(folder, source="umls", **options):
    return folder, invented.write(folder, Request(source, **options))


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return made(tmp_path_factory.mktemp("invented") / "umls", seed=3, concepts=100)


@pytest.mark.parametrize("speech", EVERY, ids=[speech.file for speech in EVERY])
def test_no_two_concepts_share_a_name_by_chance(speech):
    """A number is a name, so there must be as many names as concepts can have: now, before, and with another."""
    assert len(set(speech.names)) ** speech.length >= 3 * MOST
    assert math.gcd(SCRAMBLE, len(speech.names)) == 1
    assert len(set(speech.name(np.arange(50_000)).to_pylist())) == 50_000
    words = {letter for text in speech.fillers for letter in text}
    assert not any(set(text) <= words for text in speech.names)  # no filler is a name


@pytest.mark.parametrize("kind", invented.SOURCES)
def test_the_same_seed_is_the_same_bytes_and_another_is_not(tmp_path, kind):
    one, two, other = (
        contents(made(tmp_path / str(n), kind, seed=seed, concepts=40, questions=20)[0])
        for n, seed in enumerate((5, 5, 6))
    )
    assert one == two
    differing = {path.name for path in one if one[path] != other[path]}
    assert differing >= {"README.txt", "planted.json"}
    assert len(differing) > 3 or kind == "bioasq"
    assert b"invented" in one[next(path for path in one if path.name == README)]


def test_every_line_has_its_columns_and_a_pipe_behind_each(source):
    folder, planted = source
    for name, layout in umls.FILES.items():
        rows = [line.split("|") for line in (folder / f"{name}.RRF").read_text(encoding="utf-8").splitlines()]
        assert {len(row) for row in rows} == {len(layout.columns) + 1}
        assert {row[-1] for row in rows} == {""}
    rows = [line.split("|") for line in (folder / "MRCONSO.RRF").read_text(encoding="utf-8").splitlines()]
    assert rows == sorted(rows, key=lambda row: row[0])
    assert len({row[7] for row in rows}) == len(rows) == planted["atoms"]
    assert sum('"' in row[14] and "\\" in row[14] for row in rows) == planted["strings with quotes and backslashes"]
    assert sum(len(row[14]) == 2 for row in rows) == planted["strings of two letters"] == 20
    concepts = Counter((row[14], row[0]) for row in rows if row[12] == "SY" and row[11] == "INVLAY")
    shared = Counter(text for text, _ in concepts)
    assert sum(n == 2 for n in shared.values()) == planted["strings of two concepts"] == 5


def test_the_reader_counts_what_was_planted(source, tmp_path):
    """The generator counts as it writes; the reader counts what it reads."""
    folder, planted = source
    terms = umls.prepare(folder, tmp_path)
    atoms = umls.atom_counts(terms)
    for lat, tag in LANGUAGES.items():
        assert atoms[tag] == {words: planted.get(f"atoms {lat} {why}", 0) for why, words in umls.SUPPRESSED.items()}
    assert terms.definition_counts() == {
        "used": planted["definitions used"] + planted["definitions repeated"],
        "suppressed": planted["definitions suppressed"],
        "of a suppressed atom": planted["definitions of a suppressed atom"],
        "of an atom that is not there": planted["definitions without atom"],
    }
    meanings = terms.meanings(terms.defined())
    assert len(meanings) == planted["definitions used"]  # those repeated are left out
    assert terms.concept_count() - len(terms.defined()) == planted["concepts without a definition"] == 10


def test_written_otherwise_it_says_the_same(source, tmp_path):
    folder, _ = source
    packed, _ = made(tmp_path / "packed", seed=3, concepts=100, packed=True)
    other, _ = made(tmp_path / "crlf", seed=3, concepts=100, carriage_returns=True)
    for name in umls.FILES:
        plain = (folder / f"{name}.RRF").read_bytes()
        assert gzip.decompress((packed / f"{name}.RRF.gz").read_bytes()) == plain
        assert (other / f"{name}.RRF").read_bytes() == plain.replace(b"\n", b"\r\n")
    assert "--gzip" in (packed / README).read_text(encoding="utf-8")


def test_a_broken_line_is_found(tmp_path):
    folder, planted = made(tmp_path / "umls", concepts=40, malformed=True)
    with pytest.raises(InputError, match=rf"MRCONSO\.RRF, line {planted['atoms'] + 1}: 5 columns and no pipe"):
        umls.prepare(folder, tmp_path / "terms")


def test_questions_are_as_mmedbench_has_them(tmp_path):
    folder, planted = made(tmp_path / "m", "mmedbench", seed=3, concepts=100, questions=20)
    assert sorted(path.name for path in (folder / "Test").iterdir()) == sorted(f"{name}.jsonl" for name in planted)
    for name, counts in planted.items():
        rows = [json.loads(line) for line in (folder / "Test" / f"{name}.jsonl").read_text("utf-8").splitlines()]
        assert len(rows) == counts["lines"] == (11 if name == "Russian" else 21)
        assert rows[-1] == rows[0]
        assert {tuple(row) for row in rows} == {
            ("question", "options", "answer", "answer_idx", "meta_info", "rationale")
        }
    assert json.loads((folder / PLANTED).read_text("utf-8"))["planted"] == planted


def test_bioasq_plants_one_of_each_kind_in_twelve_questions(tmp_path):
    folder, planted = made(tmp_path / "b", "bioasq", concepts=40, questions=12)
    questions = json.loads((folder / "training13b.json").read_text("utf-8"))["questions"]
    assert len({question["id"] for question in questions}) == 12
    assert planted == {
        "questions": 12,
        "snippets": 33,  # one question has none
        "planted": dict.fromkeys(sorted(evidence.KINDS), 1),
        "abbreviations": {"HIV": 2, "HbA1c": 1, "MRI": 1},
        "translations": dict.fromkeys(("es", "fr", "ja", "ru", "zh"), 11),  # one question is not translated
    }
    for question in questions:
        for snippet in question["snippets"]:
            assert snippet["document"] in question["documents"]
            assert snippet["offsetInEndSection"] - snippet["offsetInBeginSection"] == len(snippet["text"])
    texts = [[snippet["text"] for snippet in question["snippets"]] for question in questions]
    assert [len(set(some)) for some in texts] == [3, 2, 3, 3, 3, 3, 3, 0, 3, 3, 3, 3]
    assert texts[2][2] == texts[1][0]


def test_translations_lose_what_they_are_said_to_lose(tmp_path):
    folder, _ = made(tmp_path / "b", "bioasq", concepts=40, questions=12)
    bodies = {row["id"]: row["body"] for row in json.loads((folder / "training13b.json").read_text())["questions"]}
    known = [line.split("\t") for line in (folder / "translations.tsv").read_text("utf-8").splitlines()[1:]]
    spanish = {name: (text, back) for name, language, text, back in known if language == "es"}
    by_place = [(body, *spanish.get(name, ("", ""))) for name, body in bodies.items()]
    assert ["MRI" in text for text in by_place[3]] == [True, False, True]
    assert [len(part.split()) for part in by_place[4]] == [9, 7, 9]  # a term of two words
    assert [len(part.split()) for part in by_place[5]] == [9, 9, 5]
    assert [len(part.split()) for part in by_place[6]] == [11, 10, 0]  # with an abbreviation, and in English a digit
    assert [len(part.split()) for part in by_place[8]] == [9, 9, 3]
    assert by_place[9][1:] == ("", "")
    assert [len(part.split()) for part in by_place[10]] == [15, 13, 15]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"source": "umls", "concepts": 39}, "concepts 39: expected 40 to"),
        ({"source": "umls", "seed": -1}, "seed -1"),
        ({"source": "nope"}, "source 'nope': expected one of umls, mmedbench, bioasq"),
        ({"source": "mmedbench", "questions": 9}, "questions 9: expected 10 to"),
        ({"source": "bioasq", "questions": 0}, "questions 0: expected 1"),
    ],
)
def test_what_cannot_be_written_is_said(tmp_path, options, says):
    with pytest.raises(InputError, match=says):
        invented.write(tmp_path / "new", Request(**options))
    assert not (tmp_path / "new" / PLANTED).exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(InputError, match="holds files already, expected a new or empty folder"):
        invented.write(tmp_path, Request("umls"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
