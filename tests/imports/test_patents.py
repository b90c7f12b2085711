"""Patents from tables: every layout, and which language versions are kept."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.benchmarks.invented import PLANTED
from analysis.errors import InputError
from analysis.imports import patents, query_table
from analysis.imports.patents import first_claim
from analysis.store import versions
from analysis.store.versions import Rules, key_of

WORDS = "alpha beta gamma delta epsilon"
LONG = " ".join([WORDS] * 10)  # 50 words
HAN = "化学组成物质方法制备用途" * 10  # 120 characters
KEPT = Rules()


def table(folder, *rows, name="rows.csv"):
    """A CSV of publication, language, abstract, classes."""
    lines = ["publication_number,language,title,abstract,ipc", *(",".join(row) for row in rows)]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def decided(folder, *tables, rules=KEPT, renamed=()):
    sources = {task: patents.versions(path, dict(renamed)) for task, path in tables}
    with versions.staged(folder / "stage", sources, by_office={"ep": "epo"}) as found:
        found.decide(rules)
        kept = [(row.task, row.key, row.language) for row in found.kept(rules)]
        dropped = {(row.language, row.reason): (row.n, row.first) for row in found.dropped()}
        assert sum(found.read().values()) == len(kept) + sum(n for n, _ in dropped.values())
    assert list((folder / "stage").iterdir()) == []
    return kept, dropped


def test_each_row_is_dropped_for_its_own_reason(tmp_path):
    path = table(
        tmp_path,
        ("US-1-A1", "en", "One", LONG, "C07D 401/12"),  # line 2
        ("US-1-A1", "zh", "一", HAN, "C07D 401/12"),
        ("US-1-B2", "en", "One", LONG, "C07D 401/12"),  # the grant says the same
        ("US-1-B2", "en", "One", f"{LONG} more", ""),  # and then something else
        ("US 1", "de", "Eins", LONG.rsplit(" ", 1)[0], ""),  # 49 words
        ("US1", "ja", "一", LONG, ""),  # letters of another script
        ("US1", "qq", "one", LONG, ""),
        ("US1", "", "one", LONG, ""),
        ("", "en", "none", LONG, "C07D"),
        ("US-2-A1", "en", "Two", LONG, "A61P 1/00"),
        ("US-3-A1", "en", "Three", LONG, "G06F"),
        ("US-3-A1", "zh", "三", HAN, "G06F"),
    )
    kept, dropped = decided(tmp_path, ("t", path))
    assert kept == [("t", "US1", "en"), ("t", "US1", "zh")]
    assert dropped == {
        ("en", versions.REPEATED): (1, "line 4"),
        ("en", versions.SECOND): (1, "line 5"),
        ("de", versions.SHORT): (1, "line 6"),
        ("ja", versions.OTHER_SCRIPT): (1, "line 7"),
        ("und", versions.NO_LANGUAGE): (2, "line 8"),
        ("en", versions.NO_PUBLICATION): (1, "line 10"),
        ("en", versions.ALONE): (1, "line 11"),
        ("en", versions.OTHER_CLASS): (1, "line 12"),
        ("zh", versions.OTHER_CLASS): (1, "line 13"),
    }


def test_rules_can_be_told(tmp_path):
    path = table(
        tmp_path,
        ("US1", "en", "One", WORDS, "G06F"),
        ("US1", "fr", "Un", WORDS, "G06F"),
        ("US1", "es", "Uno", WORDS, "G06F"),
        ("US2", "en", "Two", WORDS, "B01J"),
        ("US2", "fr", "Deux", WORDS, "B01J"),
    )
    rules = Rules(least_words=5, least_languages=2, languages=("en", "fr"), prefixes=("G06",))
    kept, dropped = decided(tmp_path, ("t", path), rules=rules)
    assert kept == [("t", "US1", "en"), ("t", "US1", "fr")]
    assert dropped["es", versions.OTHER_LANGUAGE] == (1, "line 4")
    listed = Rules(least_words=5, prefixes=(), publications=("US2",))
    assert {key for _, key, _ in decided(tmp_path, ("t", path), rules=listed)[0]} == {"US2"}
    everything = Rules(least_words=5, least_languages=3, prefixes=())
    assert {key for _, key, _ in decided(tmp_path, ("t", path), rules=everything)[0]} == {"US1"}


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("two words", 2),
        ("C07D-401/12 isn't", 5),  # runs of letters and digits
        ("化学组成", 2),
        ("化学组", 1),
        ("カルボン酸 pH 7", 4),  # five without spaces, and two
        ("", 0),
        ("ยาเม็ด", 3),
    ],
)
def test_words_are_counted_in_every_script(tmp_path, text, n):
    with versions.engine(tmp_path) as connection:
        assert connection.execute(f"SELECT {versions.words_sql('?')}", [text, text]).fetchall() == [(n,)]


def test_two_scripts_of_one_language_are_two_versions(tmp_path):
    path = table(tmp_path, ("US1", "zh-CN", "一", HAN, "C01"), ("US1", "zh-TW", "一", HAN, "C01"))
    assert [tag for *_, tag in decided(tmp_path, ("t", path))[0]] == ["zh-Hans", "zh-Hant"]


def test_a_table_without_a_task_goes_by_office(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{number},{office},{tag},{LONG},C01" for number, office in ((1, "EP"), (2, "US")) for tag in ("en", "fr")]
    path.write_text("\n".join(["publn_nr,publn_auth,language,abstract,ipc", *rows]), encoding="utf-8")
    kept, _ = decided(tmp_path, ("", path))
    assert kept == [("epo", "EP1", "en"), ("epo", "EP1", "fr"), ("us", "US2", "en"), ("us", "US2", "fr")]


LOCALISED = {
    "publication_number": "ZZ-12-A1",
    "title_localized": [{"text": "Title", "language": "en"}, {"text": "Titre", "language": "fr"}],
    "abstract_localized": [{"text": LONG, "language": "fr"}],
    "claims_localized": [{"text": "1. A thing. 2. The thing of claim 1.", "language": "fr"}],
    "ipc": [{"code": "C07D401/12"}, {"code": "A61K31/00"}],
    "cpc": [],
}


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_texts_in_lists_are_as_many_versions(tmp_path, form):
    path = tmp_path / f"google.{form}"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist([LOCALISED]), path)
    else:
        path.write_text(json.dumps(LOCALISED) + "\n", encoding="utf-8")
    french, english = patents.versions(path, {})
    assert (french.language, french.title, french.abstract, french.claim) == ("fr", "Titre", LONG, "1. A thing.")
    assert (english.language, english.title, english.abstract, english.claim) == ("en", "Title", "", "")
    assert {row.key for row in (french, english)} == {"ZZ12"}
    assert french.classes == "C07D401/12;A61K31/00"


def test_no_row_is_lost(tmp_path):
    rows = [
        {"publication_number": "ZZ-1-A1", "title_localized": [], "abstract_localized": []},
        {"publication_number": "ZZ-2-A1", "abstract": LONG, "language": "en", "claims_localized": []},
        {"publication_number": "ZZ-3-A1", "claims_localized": [{"text": "1. A thing.", "language": "fr"}]},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    kept, dropped = decided(tmp_path, ("t", path), rules=Rules(prefixes=(), least_languages=1))
    assert kept == [("t", "ZZ2", "en")]
    assert dropped == {("und", versions.NO_LANGUAGE): (1, "line 1"), ("fr", versions.SHORT): (1, "line 3")}


FULL_TEXT = [
    ("EP", "0000001", "A1", "2001-01-01", "en", "TITLE", "One &amp; only"),
    ("EP", "0000001", "A1", "2001-01-01", "de", "TITLE", "Eins"),
    ("EP", "0000001", "A1", "2001-01-01", "en", "ABSTR", f'<p id="pa01">{LONG}</p>'),
    ("EP", "0000001", "A1", "2001-01-01", "en", "CLAIM", "<claim num='1'>First<b>ly</b>.</claim><claim>2</claim>"),
    ("EP", "0000001", "A1", "2001-01-01", "en", "PDFEP", "https://example.org"),
    ("EP", "0000002", "A1", "2001-01-01", "fr", "TITLE", "Deux"),
]


def test_the_epo_s_full_text_is_read_without_a_header(tmp_path):
    path = tmp_path / "EP0000000.txt"
    path.write_text("".join("\t".join(row) + "\n" for row in FULL_TEXT), encoding="utf-8")
    english, german, french = patents.versions(path, {})
    assert (english.key, english.title, english.abstract, english.claim) == (
        "EP0000001", "One & only", LONG, "First ly ."
    )  # fmt: skip
    assert (german.language, german.title, german.place) == ("de", "Eins", "line 2")
    assert (french.key, french.office) == ("EP0000002", "EP")
    path.write_text("\t".join(FULL_TEXT[0]) + "\nEP\t1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: 2 cells, expected 7 as the EPO"):
        list(patents.versions(path, {}))


@pytest.mark.parametrize(
    ("publication", "office", "key"),
    [
        ("EP-1234567-A1", "", "EP1234567"),
        ("EP 1 234 567", "", "EP1234567"),
        ("ep1234567", "EP", "EP1234567"),
        ("1234567", "EP", "EP1234567"),
        ("JP-H0912345-A", "", "JPH0912345"),
        ("WO-2004012345-A2", "", "WO2004012345"),
        ("", "EP", ""),
    ],
)
def test_a_publication_has_one_number(publication, office, key):
    assert key_of(publication, office) == key


def test_the_first_claim_ends_where_the_second_begins():
    assert first_claim("1. A salt of 2. 5 parts. 2. The salt.") == "1. A salt of"  # a number alone cannot be told apart
    assert first_claim("What is claimed is: 1. A salt.\n2. The salt.") == "What is claimed is: 1. A salt."
    assert first_claim("A salt of 2.5 parts.") == "A salt of 2.5 parts."


def test_columns_can_be_named(tmp_path):
    path = tmp_path / "own.tsv"
    path.write_text(f"Nummer\tSprache\tZusammenfassung\nUS1\ten\t{LONG}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no column for the publication of a patent .* \(--map COLUMN=publication\)"):
        list(patents.versions(path, {}))
    renamed = {"Nummer": "publication", "Sprache": "language", "Zusammenfassung": "abstract"}
    (found,) = patents.versions(path, renamed)
    assert (found.key, found.language, found.abstract) == ("US1", "en", LONG)


def test_a_query_that_is_faulty_is_named(tmp_path):
    path = tmp_path / "queries.csv"
    head = "query,language,mode,strategy,publication"
    path.write_text(f"{head}\nwhat,en,semantic,random_missing,EP-1-A1\nwhat,en,odd,,EP1\nwhat,en,,,EP1\n", "utf-8")
    with pytest.raises(InputError, match=r"line 3: mode 'odd': expected technical or general .*\(1 more faults\)"):
        query_table.queries(path, {})
    path.write_text(f"{head}\nwhat,eng,semantic,random_missing,EP-1-A1\n", "utf-8")
    (asked,) = query_table.queries(path, {})
    assert (asked.key, asked.language, asked.mode, asked.strategy) == ("EP1", "en", "general", "random-missing")


OF_TRAPS = {
    "abstract too short": versions.SHORT,
    "one language": versions.ALONE,
    "publication repeated": versions.REPEATED,
    "second version": versions.SECOND,
    "other class": versions.OTHER_CLASS,
    "wrong language tag": versions.OTHER_SCRIPT,
    "unknown language": versions.NO_LANGUAGE,
    "no publication number": versions.NO_PUBLICATION,
}


@pytest.mark.parametrize(("task", "file"), [("google-patents", "google.jsonl"), ("epo", "epo.csv")])
def test_planted_traps_are_what_is_dropped(invented_patents, tmp_path, task, file):
    planted = json.loads((invented_patents / PLANTED).read_text("utf-8"))["planted"][task]
    kept, dropped = decided(tmp_path, (task, invented_patents / file))
    by_reason = dict.fromkeys(OF_TRAPS.values(), 0)
    for (_, reason), (n, _) in dropped.items():
        by_reason[reason] += n
    assert by_reason == {reason: planted[trap] for trap, reason in OF_TRAPS.items()}
    assert all(by_reason.values())
    assert len(kept) == planted["kept"]
    assert len({key for _, key, _ in kept}) == planted["publications kept"]
