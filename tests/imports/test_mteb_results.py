"""mteb's result files: every generation, every shape of folder, and what is wrong with each of many."""

import datetime
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.imports import mteb_results
from analysis.model import Figure, silent
from tests.published_files import LARGE, SMALL, pairs, put_file, put_results, result, subset


def read(path, **more):
    return mteb_results.read(path, progress=silent, **more)


def values(found, measure="main_score"):
    return {
        (figure.split, figure.subset): figure.value
        for item in found.found
        for figure in item.figures
        if figure.measure == measure
    }


def one(tmp_path, content, **more):
    (found,) = read(put_file(tmp_path, LARGE, "Clinic", content).parent, **more).found
    return found


def test_figures_keep_split_subset_and_direction(tmp_path):
    found = one(tmp_path, result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}))
    assert (found.task, found.system, found.program) == ("Clinic", LARGE, "mteb 1.36.32")
    assert (found.model_revision, found.dataset_revision, found.evaluated_at) == ("abc123", "d1", None)
    assert found.figures[3:6] == (
        Figure("all", "es", "es", "en", "ndcg_at_10", 0.5),
        Figure("all", "es", "es", "en", "rr_at_10", 0.25),  # mrr_at_10; nauc_… is left out
        Figure("all", "es", "es", "en", "main_score", 0.5),
    )


def test_bare_nan_infinity_and_null_are_missing(tmp_path):
    scores = {"test": [subset("en", ["eng-Latn", "eng-Latn"], float("nan")), subset("es", ["spa", "eng"], 0.1)]}
    scores["test"][1] |= {"recall_at_5": float("inf"), "recall_at_10": None}
    path = put_file(tmp_path, LARGE, "Clinic", result("Clinic", scores))
    assert "NaN" in path.read_text()
    (found,) = read(path).found
    assert [(figure.subset, figure.measure) for figure in found.figures] == [
        ("es", "ndcg_at_10"), ("es", "rr_at_10"), ("es", "main_score"),
    ]  # fmt: skip


@pytest.mark.parametrize("up", [0, 1, 2, 3])
def test_any_folder_above_the_files_will_do(tmp_path, up):
    root = put_results(tmp_path / "clone" / "results")
    folder = (root / "lab__large" / "abc123", root / "lab__large", root, root.parent)[up]
    systems = {found.system for found in read(folder).found}
    assert systems == ({LARGE} if up < 2 else {LARGE, SMALL, "other/words"})


def test_a_single_file_and_gzip(tmp_path):
    path = put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}))
    packed = path.with_name("Packed.json")
    packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    plain, unpacked = read(path).found[0], read(packed).found[0]
    assert (plain.figures, plain.checksum) == (unpacked.figures, unpacked.checksum)


def test_files_elsewhere_are_named_or_belong_to_the_system_that_is_said(tmp_path):
    put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "Clinic.json").write_text(json.dumps(result("Clinic", {"all": pairs(0.1, 0.1, 0.1)})))
    found = read(tmp_path)
    assert [item.system for item in found.found] == [LARGE]
    assert found.notices == ("1 file outside <org>__<model>/<revision>/ left out: mine/Clinic.json",)
    both = read(tmp_path, system="mine")
    assert [(item.system, item.model_revision) for item in both.found] == [(LARGE, "abc123"), ("mine", None)]
    with pytest.raises(
        InputError, match=r"mine: no result file, expected <org>__<model>/<revision>/<Task>.json, or --s"
    ):
        read(tmp_path / "mine")


def test_only_the_tasks_asked_for(tmp_path):
    found = read(put_results(tmp_path), tasks=("Many",))
    assert {item.task for item in found.found} == {"Many"}
    with pytest.raises(InputError, match="no result file of Few, Fewer"):
        read(tmp_path, tasks=("Few", "Fewer"))


def test_before_1_11_splits_stand_beside_the_name(tmp_path):
    flat = {"mteb_dataset_name": "Clinic", "mteb_version": "1.0.3", "dataset_revision": None,
            "test": {"ndcg_at_10": 0.4, "mrr_at_10": 0.3, "evaluation_time": 812.5},
            "dev": {"ndcg_at_10": 0.5}}  # fmt: skip
    found = one(tmp_path, flat)
    assert found.task == "Clinic"
    assert found.figures == (
        Figure("test", "default", "und", "und", "ndcg_at_10", 0.4),
        Figure("test", "default", "und", "und", "rr_at_10", 0.3),
        Figure("dev", "default", "und", "und", "ndcg_at_10", 0.5),
    )
    nested = flat | {"test": {"es": {"ndcg_at_10": 0.4}, "fr": {"ndcg_at_10": 0.2}, "evaluation_time": 9.0}, "dev": 3}
    found = read(put_file(tmp_path, SMALL, "Clinic", nested))
    assert values(found, "ndcg_at_10") == {("test", "es"): 0.4, ("test", "fr"): 0.2}
    assert found.notices == ("Clinic.json: 2 subsets do not tell their two languages, stored as und",)


@pytest.mark.parametrize(
    ("languages", "asked", "answered"),
    [
        (["spa-Latn", "eng-Latn"], "es", "en"),
        (["eng-Latn", "spa-Latn"], "en", "es"),
        (["jpn-Jpan"], "ja", "ja"),  # one language is that of queries and documents
        (["zho-Hans", "cmn"], "zh", "zh"),
        (["zho-Hant", "hin-Latn"], "zh-Hant", "hi-Latn"),
        (["English", "arb_Arab"], "en", "ar"),
        ([], "und", "und"),
        (["eng-Latn", "spa-Latn", "fra-Latn"], "und", "und"),
        (["eng-Latn", "python-Code"], "en", "und"),
    ],
)
def test_languages_are_a_direction_and_never_guessed(tmp_path, languages, asked, answered):
    found = read(put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"test": [subset("x", languages, 0.5)]})))
    assert {(figure.query_language, figure.document_language) for figure in found.found[0].figures} == {
        (asked, answered)
    }
    assert bool(found.notices) == ("und" in (asked, answered))


def test_what_is_not_about_rankings_is_left_out_and_named(tmp_path):
    put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}))
    other = {"accuracy": 0.9, "main_score": 0.9, "hf_subset": "default", "languages": ["eng-Latn"]}
    put_file(tmp_path, LARGE, "Moods", result("Moods", {"test": [other]}))
    found = read(tmp_path)
    assert [item.task for item in found.found] == ["Clinic"]
    assert found.notices == ("1 file without a figure of a ranking left out: lab__large/abc123/Moods.json",)
    with pytest.raises(InputError, match="no figure of a ranking in 1 file, expected such as ndcg_at_10"):
        read(tmp_path, tasks=("Moods",))


def both(tmp_path, first, second):
    put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}, **first), revision="1")
    put_file(tmp_path, LARGE, "Clinic", result("Clinic", {"all": pairs(0.7, 0.6, 0.5)}, **second), revision="2")
    return read(tmp_path)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ({"mteb_version": "1.9.0"}, {"mteb_version": "1.12.75"}, "2"),
        ({"mteb_version": "1.12.75"}, {"mteb_version": "1.9.0"}, "1"),
        ({"mteb_version": None}, {"mteb_version": "1.9.0"}, "2"),
        ({"date": 1_773_097_266.8}, {"mteb_version": "9.9"}, "1"),
        ({"date": 1_773_097_266.8}, {"date": "2026-08-04T12:00:00+02:00"}, "2"),
        ({"mteb_version": "2.18.12-2.18.13"}, {"mteb_version": "2.18.12"}, "1"),
    ],
)
def test_of_two_revisions_the_newest_evaluation_counts_whole(tmp_path, first, second, kept):
    found = both(tmp_path, first, second)
    assert [item.model_revision for item in found.found] == [kept]
    lost = "2" if kept == "1" else "1"
    assert found.notices == (
        f"lab__large/{lost}/Clinic.json: left out, lab__large/{kept}/Clinic.json is the newer evaluation",
    )


def test_two_revisions_of_one_age_that_differ_are_an_error(tmp_path):
    with pytest.raises(
        InputError, match=r"^lab__large/2/Clinic.json: lab/large on Clinic again with other figures than"
    ):
        both(tmp_path, {}, {})


def test_dates_are_utc(tmp_path):
    found = one(tmp_path, result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}, date=0.5))
    assert found.evaluated_at == datetime.datetime(1970, 1, 1, 0, 0, 0, 500_000)
    found = one(tmp_path, result("Clinic", {"all": pairs(0.6, 0.5, 0.4)}, date="2026-08-04T01:00:00+02:00"))
    assert found.evaluated_at == datetime.datetime(2026, 8, 3, 23)


GOOD = result("Clinic", {"all": pairs(0.6, 0.5, 0.4)})


def changed(**more):
    return json.dumps(GOOD | more)


def of_subset(**more):
    return changed(scores={"all": [subset("es", ["spa-Latn", "eng-Latn"], 0.5) | more]})


AT = ": split 'all', subset 'es'"
SHARE = "expected a number from 0 to 1"
AGAIN = "(es → en), expected each subset once"
MALFORMED = {
    "empty": ("", ", line 1: Expecting value at column 1, expected a JSON object"),
    "cut off": (
        json.dumps(GOOD, indent=1)[:60],
        ", line 4: Unterminated string starting at at column 2, expected a JSON object",
    ),
    "a list": ("[1, 2]", ": [1, 2], expected a JSON object in braces"),
    "a key twice": ('{"a": 1, "a": 2}', ": key 'a' stands twice in an object, expected it once"),
    "deep": ("[" * 100_000, ": nested too deep, expected a result of mteb"),
    "no name": (json.dumps({"scores": {}}), ": no task_name, expected a result of mteb"),
    "name is a number": (changed(task_name=3), ": task_name 3, expected a name"),
    "blank name": (changed(task_name=" "), ': task_name " ", expected a name'),
    "scores missing": (
        json.dumps({"task_name": "Clinic"}),
        ": scores null, expected an object with a list of subsets a split",
    ),
    "scores a list": (changed(scores=[1]), ": scores [1], expected an object with a list of subsets a split"),
    "split no list": (
        changed(scores={"all": {"en": 1}}),
        ": scores of split 'all': {\"en\": 1}, expected a list of subsets",
    ),
    "subset no object": (changed(scores={"all": [3]}), ": scores of split 'all': 3, expected an object a subset"),
    "no subset name": (changed(scores={"all": [{"ndcg_at_10": 0.1}]}), ": no hf_subset, expected a result of mteb"),
    "languages a word": (
        of_subset(languages="spa"),
        ': languages "spa", expected a list such as ["spa-Latn", "eng-Latn"]',
    ),
    "language a number": (of_subset(languages=[1, 2]), f"{AT}: language 1, expected a tag such as spa-Latn"),
    "unknown language": (
        of_subset(languages=["xyzzy", "eng"]),
        f"{AT}: language 'xyzzy': expected an ISO 639 code such as ru, with a script where needed (zh-Hant), or an "
        "English name such as Russian",
    ),
    "a text": (of_subset(ndcg_at_10="0.5"), f'{AT}: ndcg_at_10 "0.5", expected a number or NaN'),
    "a truth": (of_subset(main_score=True), f"{AT}: main_score true, expected a number or NaN"),
    "beyond one": (of_subset(ndcg_at_10=54.5), f"{AT}: ndcg_at_10 54.5, {SHARE}"),
    "below zero": (of_subset(mrr_at_10=-0.1), f"{AT}: mrr_at_10 -0.1, {SHARE}"),
    "too large": (
        of_subset(ndcg_at_10=1).replace('"ndcg_at_10": 1', '"ndcg_at_10": 1e999'),
        f"{AT}: ndcg_at_10 Infinity, expected a number or NaN",
    ),
    "subset twice": (
        changed(scores={"all": [*pairs(0.6, 0.5, 0.4), subset("es", ["spa-Latn", "eng-Latn"], 0.3)]}),
        f"{AT} again, with ndcg_at_10 0.3 (es → en) after 0.5 {AGAIN}",
    ),
    "other direction": (
        changed(scores={"all": [*pairs(0.6, 0.5, 0.4), subset("es", ["eng-Latn", "spa-Latn"], 0.5)]}),
        f"{AT} again, with ndcg_at_10 0.5 (en → es) after 0.5 {AGAIN}",
    ),
    "half a pair": (
        of_subset(hf_subset="a\ud800"),
        ': hf_subset "a\\ud800": half a surrogate pair, expected whole characters',
    ),
    "version a number": (changed(mteb_version=2), ": mteb_version 2, expected a name"),
    "date a word": (changed(date="yesterday"), ': date "yesterday", expected seconds since 1970'),
    "date too far": (changed(date=1e300), ": date 1e+300, expected seconds since 1970"),
    "Latin-1": (b'{"task_name": "Cl\xednica"}', ", line 1: byte 0xED, expected UTF-8"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_one_clear_error_that_names_it(tmp_path, name):
    content, says = MALFORMED[name]
    path = put_file(tmp_path, LARGE, "Clinic", "")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert str(caught.value) == f"{path}{says}"


def test_a_subset_that_is_repeated_alike_counts_once(tmp_path):
    found = one(tmp_path, result("Clinic", {"all": [*pairs(0.6, 0.5, 0.4), *pairs(0.6, 0.5, 0.4)]}))
    assert len(found.figures) == 9


def test_nothing_is_there(tmp_path):
    with pytest.raises(InputError, match="gone: not there, expected a folder of mteb results"):
        read(tmp_path / "gone")
    with pytest.raises(InputError, match="no result file, expected <org>__<model>"):
        read(tmp_path)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_every_figure_of_a_file_is_read_as_it_stands(tmp_path_factory, shares):
    root = tmp_path_factory.mktemp("many")
    listed = [subset(f"s{place}", ["spa-Latn", "eng-Latn"], share) for place, share in enumerate(shares)]
    found = read(put_file(root, LARGE, "Clinic", result("Clinic", {"test": listed})))
    assert values(found) == {("test", f"s{place}"): share for place, share in enumerate(shares)}
