"""Translation memories: what a unit gives, what text is, and that nothing outside the file is ever fetched."""

import gzip
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.cli import main
from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports import tmx
from analysis.imports.faults import Faults
from analysis.imports.parts import Options
from tests.hand_made import state
from tests.imports.imported import grades, stored, task_of
from tests.imports.invented import sentences, shifted

DOCTYPE = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'


def unit(texts, *, tuid=None, inside=""):
    versions = "".join(f'<tuv xml:lang="{tag}"><seg>{text}</seg></tuv>' for tag, text in texts)
    name = "" if tuid is None else f' tuid="{tuid}"'
    return f"<tu{name}>{inside}{versions}</tu>"


def memory(*units, start=f'<?xml version="1.0" encoding="UTF-8"?>\n{DOCTYPE}\n'):
    header = '<header creationtool="x" srclang="en"><prop type="domain">all</prop></header>'
    return f'{start}<tmx version="1.4">{header}<body>\n' + "\n".join(units) + "\n</body></tmx>\n"


GOOD = memory(
    unit([("en", "the heart"), ("fr", "le cœur"), ("JA", "心臓")], tuid="a:1", inside='<prop type="doc">A</prop>'),
    unit([("en-US", "a fever &amp; a cough &lt;1&gt;"), ("fr-FR", "la fièvre")], inside='<prop type="doc">A</prop>'),
)


@pytest.fixture
def tmx_file(file):
    def made(content=GOOD, **options):
        return folders.read(file(content, "m.tmx"), options=Options(**{"format": "tmx", **options}))

    return made


def texts(found):
    return {row.id: row.text for row in found.documents}


# What is read


def test_units_are_rows(tmx_file):
    found = tmx_file()
    assert texts(found) == {
        "a:1:en": "the heart",
        "a:1:fr": "le cœur",
        "a:1:ja": "心臓",
        "2:en": "a fever & a cough <1>",
        "2:fr": "la fièvre",
    }
    assert {(row.query_id, row.document_id) for row in found.judgements if row.query_id.startswith("2:")} == {
        ("2:en", "2:fr"),
        ("2:fr", "2:en"),
    }
    assert dict(found.queries[0].attributes) == {"doc": "A"}
    assert found.queries[0].family == "a:1"
    assert found.notices == {"rows without a text in ja: nothing of it": 1}


def test_a_prop_may_name_the_document(tmx_file):
    found = tmx_file(family_column="doc")
    assert {row.family for row in found.queries} == {"A"}
    assert dict(found.queries[0].attributes) == {}


def test_languages_may_be_chosen(tmx_file):
    found = tmx_file(languages=("fra", "eng"))
    assert list(texts(found)) == ["a:1:fr", "a:1:en", "2:fr", "2:en"]


def test_codes_are_no_text_and_white_space_is_one_blank(tmx_file):
    text = (
        "The <bpt i='1'>&lt;b&gt;<sub>title</sub></bpt><hi type='x'>big</hi><ept i='1'>&lt;/b&gt;</ept>\n"
        "  heart<ph x='2'>{0}</ph> <it pos='begin'>[</it><ut>]</ut><![CDATA[<3]]> &#233;"
    )
    found = tmx_file(memory(unit([("en", text), ("fr", "x")])))
    assert texts(found)["1:en"] == "The big heart <3 é"


def test_older_files_say_lang(tmx_file):
    found = tmx_file(
        memory('<tu><tuv lang="EN"><seg>one</seg></tuv><tuv LANG="x" lang="DE"><seg>eins</seg></tuv></tu>')
    )
    assert texts(found) == {"1:en": "one", "1:de": "eins"}


def test_packed_and_other_encodings_are_the_same(tmx_file, file, cache):
    first = tmx_file()
    utf16 = GOOD.replace("UTF-8", "UTF-16").encode("utf-16")
    latin = memory(unit([("en", "a"), ("fr", "é")]), start='<?xml version="1.0" encoding="iso-8859-1"?>\n')
    for content in (gzip.compress(GOOD.encode(), mtime=0), pa.compress(GOOD.encode(), "zstd", asbytes=True), utf16,
                    b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "")):  # fmt: skip
        found = tmx_file(content)
        assert (found.queries, found.documents) == (first.queries, first.documents)
    assert texts(tmx_file(latin.encode("iso-8859-1")))["1:fr"] == "é"
    assert stored(cache, file(GOOD, "m.tmx"), format="tmx") == ("mine@1", True)
    assert len(grades(*task_of(cache))) == 8


def test_units_come_while_the_file_is_read(file, monkeypatch):
    path = file(memory(*(unit([("en", f"text {n}"), ("fr", f"texte {n}")]) for n in range(2000))), "m.tmx")
    monkeypatch.setattr(tmx, "PIECE", 1000)
    units = tmx._Units(path, None, None, Faults(lenient=False))
    rows = tmx._rows(path, units)
    first = next(rows)
    assert (first.name, dict(first.texts)) == ("1", {"en": "text 0", "fr": "texte 0"})
    assert len(units._done) < 20
    assert sum(1 for _ in rows) == 1999


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="￾￿"), max_size=30))
def test_any_text_comes_back_with_single_blanks(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("tmx") / "m.tmx"
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    path.write_text(memory(unit([("en", escaped), ("fr", "x"), ("de", "y")])), encoding="utf-8")
    found = folders.read(path, options=Options(format="tmx"))
    expected = re.sub(" +", " ", text).strip(" ")
    assert texts(found).get("1:en", "") == (expected if expected.strip() else "")


# What is refused

LAUGHS = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n'
FAULTS = [
    ("empty", "", {}, "{file}, line 1: no element found, expected TMX"),
    ("no XML", "en\tfr\n", {}, "{file}, line 1: syntax error, expected TMX"),
    ("other XML", "<html></html>", {}, "{file}, line 1: <html>, expected <tmx>"),
    ("cut off", GOOD[: GOOD.index("</body>")], {}, "{file}, line 6: no element found, expected TMX"),
    ("crossed", GOOD.replace("</seg></tuv>", "</tuv></seg>", 1), {}, "{file}, line 4: mismatched tag, expected TMX"),
    ("declared entity", memory(start=LAUGHS), {}, "{file}, line 1: entity 'a' is declared, expected none"),
    (
        "external entity",
        memory(unit([("en", "&x;")]), start='<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n'),
        {},
        "{file}, line 1: entity 'x' is declared, expected none",
    ),
    (
        "entity of HTML",
        memory(unit([("en", "caf&eacute;"), ("fr", "x")])),
        {},
        "{file}, line 4: entity 'eacute' is not known, expected the character itself",
    ),
    (
        "entity of HTML without a DTD",
        memory(unit([("en", "caf&eacute;"), ("fr", "x")]), start=""),
        {},
        "{file}, line 2: undefined entity, expected TMX",
    ),
    (
        "encoding",
        memory(start='<?xml version="1.0" encoding="klingon"?>'),
        {},
        "{file}, line 1: unknown encoding: klingon, expected TMX in UTF-8 or UTF-16",
    ),
    (
        "not what it declares",
        GOOD.encode("latin-1", errors="replace") + b"\xe9",
        {},
        "{file}, line 5: not well-formed (invalid token), expected TMX",
    ),
    ("no unit", memory(), {}, "{file}: no <tu> with a text, expected some"),
    (
        "one language",
        memory(unit([("en", "x")]), unit([("en-GB", "y")])),
        {},
        "{file}: texts in en only, expected two or more languages",
    ),
    (
        "a language that is not there",
        GOOD,
        {"languages": ("en", "zh")},
        "{file}: no row has a text in 'zh', expected some (--languages)",
    ),
    (
        "no language",
        memory(unit([("en", "x"), ("fr", "y")]), "<tu><tuv><seg>x</seg></tuv></tu>"),
        {},
        "{file}, unit 2: a <tuv> without xml:lang, expected a language",
    ),
    (
        "language code",
        memory(unit([("en", "x"), ("qq", "y")])),
        {},
        "{file}, unit 1: language 'qq': expected an ISO 639 code such as ru, with a script where needed (zh-Hant), or "
        "an English name such as Russian",
    ),
    (
        "language twice",
        memory(unit([("en-US", "x"), ("en-GB", "y"), ("fr", "z")])),
        {},
        "{file}, unit 1: two texts in en, expected one in each language",
    ),
    (
        "id twice",
        memory(*[unit([("en", "x"), ("fr", "y")], tuid="a")] * 3),
        {},
        "{file}, unit 2: row id 'a' again, as in unit 1; expected each id once (1 more faults)",
    ),
    ("blank id", memory(unit([("en", "x")], tuid=" ")), {}, "{file}, unit 1: tuid is blank, expected an id"),
    (
        "no document",
        GOOD,
        {"family_column": "source"},
        "{file}, unit 1: no <prop type='source'>, expected a document (1 more faults)",
    ),
    ("columns", GOOD, {"renamed": {"a": "en"}}, "--map a=en: TMX has no columns, expected none"),
    ("deep", "<tmx>" + "<a>" * 200, {}, "{file}, line 1: more than 100 elements inside each other, expected TMX"),
    (
        "attribute name",
        memory(unit([("en", "x"), ("fr", "y")], inside='<prop type="a=b">c</prop>')),
        {},
        "{file}, unit 1: field 'a=b', expected a name for an attribute that is not blank and has no = (1 more faults)",
    ),
    (
        "damaged",
        gzip.compress(GOOD.encode(), mtime=0)[:-20],
        {},
        "{file}: Compressed file ended before the end-of-stream marker was reached; expected a whole file, plain, "
        "gzip, Zstandard or LZ4",
    ),
]


@pytest.mark.parametrize(("content", "options", "message"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(file, kept, content, options, message):
    cache, before = kept
    path = file(content, "m.tmx")
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", **{"format": "tmx", **options})
    assert str(error.value) == message.replace("{file}", str(path))
    assert state(cache.root) == before


def test_a_text_without_end_is_refused(file, monkeypatch):
    monkeypatch.setattr(tmx, "BLOCK", 1000)
    path = file(memory(unit([("en", "x" * 2000), ("fr", "y")])), "m.tmx")
    with pytest.raises(InputError, match="a text of more than 1,000 characters, expected shorter ones"):
        folders.read(path, options=Options(format="tmx"))


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="no such file, expected TMX"):
        folders.read(tmp_path / "none.tmx", options=Options(format="tmx"))


def test_lenient_keeps_what_is_sound(tmx_file):
    units = [
        unit([("en", "a"), ("fr", "b"), ("qq", "c")]),
        unit([("en", "d"), ("en-GB", "e"), ("fr", "f")]),
        unit([("en", "g"), ("fr", "h")], tuid="1"),
    ]
    found = tmx_file(memory(*units), lenient=True)
    assert texts(found) == {"1:en": "a", "1:fr": "b", "2:en": "d", "2:fr": "f"}
    assert [(row.kind, row.n) for row in found.faults.mended()] == [
        ("text dropped", 2),
        ("row again: the first kept", 1),
    ]


# Rows that do not belong together, and out and in again


def test_misaligned_units_are_flagged(file, tmp_path, capsys):
    said = sentences(200, tags=("en", "ru"))
    said["ru"] = shifted(said["ru"], 100, 140, 1)
    path = file(memory(*(unit([(tag, said[tag][n]) for tag in said]) for n in range(200))), "m.tmx")
    arguments = ["import-benchmark", str(path), "--format", "tmx", "--languages", "en,ru", "--benchmark", "b"]
    assert main([*arguments, "--cache", str(tmp_path / "cache"), "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert '"alignment"' in out
    assert "1 row too late): a data fault, not a collapse" in err
    assert not (tmp_path / "cache").exists()


def test_out_as_beir_and_in_again_is_the_same_task(file, tmp_path, capsys, cache):
    stored(cache, file(GOOD, "m.tmx"), name="one", format="tmx", family_column="doc")
    arguments = ["export", "--benchmark", "one", "--format", "beir", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--cache", str(cache.root)]) == 0, capsys.readouterr().err
    stored(cache, tmp_path / "out", name="two")
    (store, one), (_, two) = task_of(cache, "one"), task_of(cache, "two")
    assert one.checksum == two.checksum
    assert grades(store, one) == grades(store, two)
