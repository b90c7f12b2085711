"""Task 2 from generated sources: the planted set, bytes that come again, interruptions, and there and back."""

import json
import shutil
from collections import Counter

import pytest
from mmed_builds import exported

from analysis.benchmarks import mmed_task1
from analysis.benchmarks.confusion_sets import from_csv
from analysis.benchmarks.mmed_task2 import Options
from analysis.errors import InputError, JobCancelledError
from analysis.jobs import build_mmed
from analysis.jobs.build_task2 import build_task2
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems.weights import LoadOptions
from analysis.views.selection import Selection
from analysis.views.validation import sets_table
from tests.confusion import BENCHMARK, VALIDATORS, at_home, told

LOAD = LoadOptions(allow_code=True)


@pytest.fixture
def own(confusion_folder, tmp_path):
    """A cache folder that knows the validators and has nothing built or encoded."""
    folder = tmp_path / "own"
    (folder / "cache").mkdir(parents=True)
    for path in (confusion_folder / "cache").glob("*.toml"):
        shutil.copy(path, folder / "cache")
    with at_home(folder):
        yield Cache(folder / "cache")


def options_of(folder):
    return Options(folder / "umls", sets=50)


def verdicts_of(folder):
    row = read.open_store(Cache(folder / "cache")).benchmark(BENCHMARK)
    return from_csv(row.settings["built"]["t2-discrimination"]["sets"])


def test_sets_of_every_tier_and_the_planted_one_is_found(confusion_folder):
    verdicts = verdicts_of(confusion_folder)
    assert Counter(row.made for row in verdicts) == {"synonym": 50, "sibling": 20, "related": 50}
    assert {row.vocabulary for row in verdicts} == {"INVCLS", "INVCOD"}
    planted = json.loads((confusion_folder / "umls" / "planted.json").read_text("utf-8"))["planted"]
    assert planted["codes whose terms read alike"] == "INVCOD AAD"
    alike = {f"C{number + 1:07}" for number in range(30, 40)}
    (found,) = (row for row in verdicts if row.made == "sibling" and set(row.concepts) <= alike)
    assert (found.tier, found.outcome) == ("synonym", "re-tiered")
    assert found.votes.count("synonym") >= 2
    english = {f"C{number + 1:07}" for number in range(200) if number // 10 % 10 == 4 and number % 5}
    drawn = {row.concepts[0] for row in verdicts if row.made == "synonym"} & english
    assert drawn
    assert {row.concepts[0] for row in verdicts if (row.made, row.outcome) == ("synonym", "accepted")} == drawn
    assert {row.outcome for row in verdicts} == {"accepted", "re-tiered", "rejected"}


def test_the_list_of_sets_comes_from_the_command_line(command, confusion_folder):
    cache = confusion_folder / "cache"
    code, out, _ = command("export", "--benchmark", BENCHMARK, "--format", "sets", cache=cache)
    assert code == 0
    assert from_csv(out) == verdicts_of(confusion_folder)
    header, rows = sets_table(read.open_store(Cache(cache)), Selection(BENCHMARK))
    assert header == out.splitlines()[0].split(",")
    assert [tuple(row[6:9]) for row in rows] == [verdict.cosines for verdict in verdicts_of(confusion_folder)]
    code, out, _ = command("show", "tiers", "--benchmark", BENCHMARK, cache=cache)
    (task,) = json.loads(out)["tasks"]
    assert [row["made"] for row in task["validation"]["counts"]][:3] == ["synonym", "sibling", "related"]
    assert {row["system"]["name"]: row["vote"] for row in task["validation"]["order"]} == {
        "bm25": "",
        "bm25-cjk": "",
        "letters": "voted",
    }
    code, out, _ = command("tiers", "--benchmark", BENCHMARK, "--format", "json", cache=cache)
    rows = [row["tier"] for row in json.loads(out)["systems"] if row["system"] == "bm25"]
    assert rows == [None, "synonym", "sibling", "related"]


def test_ended_in_the_middle_and_begun_again_it_ends_with_the_same_bytes(command, confusion_folder, own, tmp_path):
    """Ended while a validator reads, then before it is stored; the third time nothing is read again."""
    options = options_of(confusion_folder)

    def end_at(step):
        def progress(said, done, total):
            if said.startswith(step) and (done or total == 1):
                raise JobCancelledError("cancelled")

        return progress

    for step in ("encode pairs", "store the benchmark"):
        with pytest.raises(JobCancelledError):
            build_task2(own, options=options, validators=VALIDATORS, load=LOAD, progress=end_at(step))
        assert read.open_store(own) is None
    heard = []
    build_task2(own, options=options, validators=VALIDATORS, load=LOAD, progress=lambda said, *_: heard.append(said))
    assert not [said for said in heard if said.startswith(("encode", "read MR"))]
    first = exported(command, confusion_folder / "cache", tmp_path / "one")
    assert exported(command, own.root, tmp_path / "two") == first
    assert verdicts_of(own.root.parent) == verdicts_of(confusion_folder)
    address = build_task2(own, options=options, validators=VALIDATORS, load=LOAD, progress=silent)[0]
    told(tmp_path, "generate-sources", "mmedbench", tmp_path / "questions", "--seed", "3", "--concepts", "200")
    asked = mmed_task1.Options(confusion_folder / "umls", tmp_path / "questions", least=15, negatives=20)
    beside = build_mmed.build_task1(own, options=asked, tagger=None, load=LOAD, progress=silent)[0]
    store = read.open_store(own)
    (row,) = store.benchmarks()
    assert beside == address == f"{BENCHMARK}@{row.version}"
    assert {task.name for task in store.tasks(row.benchmark_id)} == {"t1-alignment", "t2-discrimination"}
    assert set(row.settings["built"]) == {"t1-alignment", "t2-discrimination"}
    assert {note.partition(":")[0] for note in row.notes} >= {"Alignment", "Discrimination"}


MEASURES = ("ndcg_at_10", "recall_at_1", "recall_at_5", "recall_at_10_same", "recall_at_10_cross", "rr", "ap")


def test_out_as_beir_and_in_again_it_measures_the_same(command, confusion_folder, own, tmp_path):
    exported(command, confusion_folder / "cache", tmp_path / "beir")
    flags = ("--benchmark", "back", "--task", "t2-discrimination", "--format", "beir")
    assert command("import-benchmark", tmp_path / "beir", *flags, cache=own.root)[0] == 0
    assert command("run", "--benchmark", "back", "--systems", "bm25", cache=own.root)[0] == 0
    before, after = (
        json.loads(command("per-query", "--benchmark", name, "--system", "bm25", "--format", "json", cache=cache)[1])
        for name, cache in ((BENCHMARK, confusion_folder / "cache"), ("back", own.root))
    )
    assert len(before) == len(after) > 100
    for first, second in zip(before, after, strict=True):
        for name in (*MEASURES, "query_id", "family", "tier", "vocabulary", "validated"):
            assert first[name] == second[name], name


@pytest.mark.parametrize(
    ("validators", "says"),
    [
        (("letters", "pairs"), "validators 'letters,pairs': expected three different dense systems, a,b,c"),
        (("letters", "pairs", "letters"), "validators 'letters,pairs,letters': expected three different"),
        (("letters", "pairs", "bm25"), "system 'bm25': expected a dense one"),
        (("letters", "pairs", "nobody"), "system 'nobody' is not in the catalogue"),
    ],
)
def test_three_different_encoders_are_needed(own, confusion_folder, validators, says):
    with pytest.raises(InputError, match=says):
        build_task2(own, options=options_of(confusion_folder), validators=validators, load=LOAD, progress=silent)
    assert read.open_store(own) is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "build mmed-task2 needs --umls"),
        (("--umls", "x"), "build mmed-task2 needs --validators"),
        (("--umls", "x", "--validators", "a,b,c", "--least", "3"), "build mmed-task2 takes no --least"),
        (("--umls", "x", "--validators", "bm25,a,c"), "system 'bm25': expected a dense one"),
    ],
)
def test_a_wrong_word_is_said(command, tmp_path, arguments, says):
    code, out, err = command("build", "mmed-task2", *arguments, cache=tmp_path)
    assert (code, out) == (1, "")
    assert says in err.splitlines()[-1]
