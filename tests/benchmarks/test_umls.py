"""UMLS as it is read: every row, every character, every fault; prepared once, and never half."""

import gzip
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from rrf_rows import atom, definition, relation, write

from analysis.benchmarks import umls
from analysis.errors import InputError, JobCancelledError
from analysis.store import rrf
from analysis.store.terms import Definition, Near, Text

ROOT = Path(__file__).resolve().parents[2]
ATOMS = (
    atom("C0000001", 1, "Bradolin morva"),
    atom("C0000001", 2, '"morva" \\ of Bradolin', preferred=False),
    atom("C0000001", 3, "Bradolín mórva", lat="SPA"),
    atom("C0000002", 4, "Cold"),
    atom("C0000003", 5, "cold", vocabulary="LAY"),
    atom("C0000003", 6, "甲乙丙病", lat="CHI"),
    atom("C0000003", 7, "Former morva", suppress="O"),
    atom("C0000003", 8, "Forlorn morva", suppress="E"),
    atom("C0000003", 9, "Foreign morva", suppress="Y"),
    atom("C0000004", 10, "Ｘ２ ＤＩＳＥＡＳＥ"),
    atom("C0000004", 11, "XD"),
    atom("C0000005", 12, "Mòrva hrvatska", lat="SCR"),
)
DEFINITIONS = (
    definition("C0000001", 1, "A thing.", of=1),
    definition("C0000001", 2, "A thing.", of=2),
    definition("C0000001", 3, "Una cosa.", of=3),
    definition("C0000002", 4, "Old words.", of=4, suppress="O"),
    definition("C0000003", 5, "某物", of=6),
    definition("C0000003", 6, "Of an atom that is no more.", of=7),
    definition("C0000004", 7, "Of no atom.", of=99),
)
RELATIONS = (
    relation("C0000001", "C0000003"),
    relation("C0000003", "C0000001", "RO"),
    relation("C0000004", "C0000001"),
    relation("C0000001", "C0000002", suppress="O"),
    relation("C0000001", "C0000001", "RQ"),
)


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "META", ATOMS, DEFINITIONS, RELATIONS)


@pytest.fixture(scope="module")
def terms(tmp_path_factory):
    """The same files prepared once; nobody changes them."""
    root = tmp_path_factory.mktemp("prepared")
    return umls.prepare(write(root / "META", ATOMS, DEFINITIONS, RELATIONS), root / "terms")


def steps(heard):
    return lambda step, done, total: heard.append(step)


def test_atoms_are_counted_by_language_and_reason(terms):
    none = dict.fromkeys(umls.SUPPRESSED.values(), 0)
    assert umls.atom_counts(terms) == {
        "en": {"used": 6, "obsolete": 1, "suppressed by an editor": 1, "suppressed by its source": 1},
        "es": {**none, "used": 1},
        "hr": {**none, "used": 1},  # UMLS writes SCR
        "zh": {**none, "used": 1},
    }
    assert terms.vocabulary_counts() == {"INV": 8, "LAY": 1}
    assert terms.concept_count() == 5


def test_definitions_are_told_apart_and_speak_the_language_of_their_atom(terms):
    assert terms.definition_counts() == {
        "used": 4,
        "suppressed": 1,
        "of a suppressed atom": 1,
        "of an atom that is not there": 1,
    }
    assert terms.defined() == ["C0000001", "C0000003"]
    assert terms.meanings(["C0000001", "C0000002"]) == [
        Definition("C0000001", "AT1", "en", "A thing."),  # AT2 says the same
        Definition("C0000001", "AT3", "es", "Una cosa."),
    ]
    assert terms.gists(["C0000001", "C0000003"]) == {"C0000001": "A thing.", "C0000003": "某物"}


def test_near_are_those_that_most_relations_join(terms):
    near = terms.near(["C0000001"], among=["C0000002", "C0000003", "C0000004"], most=5)
    assert near == [Near("C0000001", "C0000003", 1), Near("C0000001", "C0000004", 2)]
    assert terms.near(["C0000001"], among=["C0000004"], most=5) == [Near("C0000001", "C0000004", 1)]


def test_preferred_terms_are_of_the_language_and_count(terms):
    assert terms.preferred_terms("en", ["C0000001", "C0000003"]) == [
        ("C0000001", "Bradolin morva"),
        ("C0000003", "cold"),
    ]
    assert terms.preferred_terms("zh", ["C0000001"]) == []


TEXTS = (
    ("en", "Has he BRADOLIN-morva, or what?", ("bradolin morva", "C0000001", False, True)),
    ("en", "bradolin  morva", ("bradolin morva", "C0000001", True, True)),
    ("en", "The morva of Bradolin, a bradolin morva", ("morva of bradolin", "C0000001", False, False)),
    ("en", "A bradolin morvas", None),  # words are whole
    ("en", "Bradolín mórva", None),  # Spanish
    ("es", "¿Qué es bradolín mórva?", ("bradolín mórva", "C0000001", False, True)),
    ("en", "Former morva, forlorn morva or foreign morva", None),  # suppressed
    ("en", "x2 disease", ("x2 disease", "C0000004", True, True)),  # full-width letters
    ("en", "it is XD", None),  # two characters
    ("en", "XD", ("xd", "C0000004", True, True)),  # which is all of it
    ("zh", "患者患甲乙丙病已久", ("甲乙丙病", "C0000003", False, True)),
    ("zh", "患甲乙丙，病者", None),  # a comma between
    ("en", "…", None),
    ("ru", "bradolin morva", None),  # no terms in Russian
)


@pytest.fixture(scope="module")
def matched(terms):
    return terms.matches([Text(language, text) for language, text, _ in TEXTS], confidence=0.9)


@pytest.mark.parametrize("place", range(len(TEXTS)), ids=[text for _, text, _ in TEXTS])
def test_the_best_term_of_a_text(matched, place):
    matches, doubtful = matched
    got = matches.get(place)
    assert (got and (got.key, got.cui, got.whole, got.preferred)) == TEXTS[place][2]
    assert not doubtful


def test_a_string_of_two_concepts_is_doubtful_until_most_atoms_are_of_one(tmp_path):
    one = [atom("C0000001", number, "Cold") for number in range(9)]
    terms = umls.prepare(write(tmp_path / "nine", [*one, atom("C0000002", 9, "cold")]), tmp_path / "terms")
    texts = [Text("en", "A cold?"), Text("en", "cold"), Text("en", "warm")]
    matches, doubtful = terms.matches(texts, confidence=0.9)
    assert ([matches[0].cui, matches[1].cui], doubtful) == (["C0000001"] * 2, set())
    assert matches[0].confidence == pytest.approx(0.9)
    matches, doubtful = terms.matches(texts, confidence=0.91)
    assert (matches, doubtful) == ({}, {0, 1})


def best_by_hand(text, terms, *, spaced):
    """Every term tried at every place of a text: key and concept of the best one."""
    found = []
    for key, concepts in terms.items():
        places = [place for place in range(len(text)) if text.startswith(key, place)]
        if spaced:
            places = [n for n in places if f" {text} "[n] == " " and f" {text} "[n + len(key) + 1] == " "]
        cui, n = max(Counter(concept for concept, _ in concepts).items(), key=lambda item: item[1])
        if places and n / len(concepts) >= 0.9 and (len(key) >= 3 or key == text):
            preferred = any(preferred for concept, preferred in concepts if concept == cui)
            found.append((key != text, -len(key), not preferred, places[0], cui, key))
    return (min(found)[5], min(found)[4]) if found else None


@pytest.mark.parametrize("lat", ["ENG", "CHI"])
def test_the_best_term_is_the_one_that_trying_all_finds(tmp_path, lat):
    """Few words, so that terms overlap, repeat and belong to several concepts."""
    random = np.random.default_rng(7)
    spaced, language = (True, "en") if lat == "ENG" else (False, "zh")
    words = ("ab", "cde", "f", "gh") if spaced else ("甲", "乙", "丙", "丁")
    glue = " " if spaced else ""

    def phrase(most):
        return glue.join(words[n] for n in random.integers(0, len(words), random.integers(1, most + 1)))

    lines, terms = [], {}
    for number in range(150):
        cui, key, preferred = f"C{random.integers(0, 40):07}", phrase(5), bool(random.integers(0, 2))
        lines.append(atom(cui, number, key.upper(), lat=lat, preferred=preferred))
        terms.setdefault(key, []).append((cui, preferred))
    texts = [phrase(9) for _ in range(300)]
    prepared = umls.prepare(write(tmp_path / "META", lines), tmp_path / "terms")
    matches, _ = prepared.matches([Text(language, text) for text in texts], confidence=0.9)
    got = [(matches[n].key, matches[n].cui) if n in matches else None for n in range(len(texts))]
    assert got == [best_by_hand(text, terms, spaced=spaced) for text in texts]
    assert 50 < sum(row is not None for row in got) < 300


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_gzip_change_nothing(terms, tmp_path, packed, end):
    again = write(tmp_path / "again", ATOMS, DEFINITIONS, RELATIONS, end=end)
    if packed:
        for path in list(again.glob("*.RRF")):
            (again / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    other = umls.prepare(again, tmp_path / "other")
    assert umls.atom_counts(other) == umls.atom_counts(terms)
    assert other.meanings(terms.defined()) == terms.meanings(terms.defined())


CHARACTERS = some.text(some.characters(exclude_characters="|\n\r", exclude_categories=["Cs"]), min_size=1, max_size=30)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=some.lists(CHARACTERS, min_size=1, max_size=40))
def test_a_string_comes_back_as_it_is(tmp_path, texts):
    """Quotes, backslashes, hashes, spaces at both ends, NUL, line separators that are no line ends."""
    import pyarrow.parquet as pq

    source, target = tmp_path / "MRCONSO.RRF", tmp_path / "atoms.parquet"
    lines = [atom(f"C{place:07}", place, text) for place, text in enumerate(texts)]
    source.write_bytes("".join(f"{line}\n" for line in lines).encode())
    rrf.convert(source, target, layout=umls.CONCEPTS)
    rows = sorted(pq.read_table(target, columns=["cui", "text"]).to_pylist(), key=lambda row: row["cui"])
    assert [row["text"] for row in rows] == texts


GOOD = ATOMS[0]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (GOOD.rsplit("|", 2)[0] + "|", "17 columns, expected 18, each with a pipe behind it"),
        (GOOD + "x|", "19 columns, expected 18"),
        (GOOD[:-1], "17 columns, expected 18"),
        (GOOD + "x", "19 columns and no pipe at the end"),
        (GOOD.replace("C0000001", "C1"), "CUI 'C1', expected C and seven digits"),
        (GOOD.replace("|ENG|", "|eng|"), "LAT 'eng', expected three capital letters"),
        (GOOD.replace("|ENG|", "|QQQ|"), "LAT 'QQQ', expected the ISO 639-2 code of a language"),
        (GOOD.replace("A0000001", ""), "AUI '', expected A and seven or eight digits"),
        (GOOD.replace("Bradolin morva", ""), "STR '', expected a string"),
        (GOOD.replace("|N|", "|X|"), "SUPPRESS 'X', expected one of N, O, E, Y"),
        (GOOD.replace("Bradolin morva", "Bradolin\rmorva"), "a carriage return inside the line"),
    ],
)
def test_a_faulty_line_is_named(folder, tmp_path, line, says):
    path = folder / "MRCONSO.RRF"
    path.write_bytes("\n".join([GOOD, line, *ATOMS[1:], ""]).encode())
    with pytest.raises(InputError) as caught:
        umls.prepare(folder, tmp_path / "terms")
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert says in str(caught.value)
    if "QQQ" not in says:
        assert not list((tmp_path / "terms").glob("*"))


def test_bytes_that_are_no_text_are_named(folder, tmp_path):
    path = folder / "MRDEF.RRF"
    path.write_bytes(path.read_bytes().replace("某".encode(), b"\xff\xfe\xfd"))
    with pytest.raises(InputError, match=r"MRDEF\.RRF, line 5: byte 0xff, expected UTF-8"):
        umls.prepare(folder, tmp_path / "terms")


def test_a_packed_file_that_ends_too_early_is_named(folder, tmp_path):
    path = folder / "MRREL.RRF"
    (folder / "MRREL.RRF.gz").write_bytes(gzip.compress(path.read_bytes())[:-12])
    path.unlink()
    with pytest.raises(InputError, match=r"MRREL\.RRF\.gz, line \d+: .*expected a whole gzip file"):
        umls.prepare(folder, tmp_path / "terms")


def test_a_missing_file_is_named(folder, tmp_path):
    (folder / "MRDEF.RRF").unlink()
    with pytest.raises(InputError, match=r"holds no MRDEF\.RRF or MRDEF\.RRF\.gz, expected the META folder"):
        umls.prepare(folder, tmp_path / "terms")


def test_what_was_prepared_is_known_by_size_and_time_else_by_its_bytes(folder, tmp_path):
    cache, heard = tmp_path / "terms", []
    first = umls.prepare(folder, cache)
    umls.prepare(folder, cache, progress=steps(heard))
    assert heard == []
    os.utime(folder / "MRCONSO.RRF", ns=(1, 1))  # copied, say
    again = umls.prepare(folder, cache, progress=steps(heard))
    assert set(heard) == {"look at MRCONSO"}
    assert again == first
    (folder / "MRCONSO.RRF").write_text("\n".join(ATOMS[:4]) + "\n", encoding="utf-8")
    heard.clear()
    assert umls.prepare(folder, cache, progress=steps(heard)).concept_count() == 2
    assert set(heard) == {"look at MRCONSO", "read MRCONSO"}


def test_half_a_file_is_never_taken_for_whole(folder, tmp_path):
    """A Parquet file counts once its manifest is there, which is written last."""
    terms = umls.prepare(folder, tmp_path / "terms")
    atoms, whole = terms.atoms, terms.atoms.read_bytes()
    atoms.with_suffix(".json").unlink()
    atoms.write_bytes(whole[: len(whole) // 2])
    assert umls.prepare(folder, tmp_path / "terms").concept_count() == 5
    atoms.with_suffix(".json").write_text("{", encoding="utf-8")
    atoms.write_bytes(b"")
    assert umls.prepare(folder, tmp_path / "terms").concept_count() == 5


def test_cancelled_while_it_reads_it_leaves_what_is_whole(folder, tmp_path):
    def cancel(step, done, total):
        if step == "read MRDEF":
            raise JobCancelledError("cancelled")

    cache, heard = tmp_path / "terms", []
    with pytest.raises(JobCancelledError):
        umls.prepare(folder, cache, progress=cancel)
    assert {path.name.split("-")[0] for path in cache.iterdir()} == {"MRCONSO"}
    umls.prepare(folder, cache, progress=steps(heard))
    assert {step for step in heard if step.startswith("read")} == {"read MRDEF", "read MRREL"}


def test_killed_while_it_reads_it_begins_that_file_again(tmp_path):
    """A real process, killed as soon as it writes a table; the next one has the same rows as one left alone."""
    atoms = [atom(f"C{n:07}", n, f"word{n} of many words that take some time to fold") for n in range(20_000)]
    folder, cache = write(tmp_path / "META", atoms), tmp_path / "terms"
    code = f"from pathlib import Path; from analysis.benchmarks import umls; umls.prepare(Path({str(folder)!r}), Path({str(cache)!r}))"  # noqa: E501
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    while not list(cache.glob("MRCONSO-*.parquet.*.tmp")):
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not list(cache.glob("*.json"))
    assert not list(cache.glob("*.parquet"))
    terms = umls.prepare(folder, cache)
    assert terms.concept_count() == 20_000
    leftover = next(cache.glob("*.tmp"))
    os.utime(leftover, (1, 1))
    rrf.convert(folder / "MRREL.RRF", tmp_path / "terms" / "x.parquet", layout=umls.RELATIONS)
    assert not leftover.exists()


def test_cancelled_in_the_middle_of_a_query_it_ends_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(rrf, "LOOK", 0.0005)
    folder = write(tmp_path / "META", [atom(f"C{n:07}", n, f"word{n} of many words") for n in range(10_000)])
    heard = []

    def cancel(step, done, total):
        heard.append(step)
        if heard.count("read MRCONSO") == 3:
            raise JobCancelledError("cancelled")

    with pytest.raises(JobCancelledError):
        umls.prepare(folder, tmp_path / "terms", progress=cancel)
    assert not list((tmp_path / "terms").iterdir())
