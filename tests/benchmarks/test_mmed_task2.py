"""Task 2 over a UMLS of a few rows and validators whose cosines are known: every number by hand."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from analysis.benchmarks import mmed_task2
from analysis.benchmarks.confusion_sets import from_csv
from analysis.benchmarks.mmed_task2 import Options
from analysis.errors import InputError
from tests.benchmarks.rrf_rows import atom, write

ONE, TWO, THREE, FOUR = (f"C000000{n}" for n in range(1, 5))
ATOMS = [
    atom(ONE, 1, "Heart attack", code="A01.1"),
    atom(ONE, 2, "Myocardial infarction", code="A01.1", preferred=False),
    atom(ONE, 3, "heart attack!", code="A01.1", preferred=False),  # the same but for its signs
    atom(ONE, 4, "心肌梗死", lat="CHI", code="A01.1"),
    atom(TWO, 5, "Angina", code="A01.2"),
    atom(TWO, 6, "HEART ATTACK", code="A01.2", preferred=False),  # a term of two concepts
    atom(TWO, 7, "心绞痛", lat="CHI", code="A01.2"),
    atom(THREE, 8, "Flu", code="B02.1"),
    atom(THREE, 9, "流感", lat="CHI", code="B02.1"),
    atom(FOUR, 10, "Cold", code="B02.2"),
    atom("C0000005", 11, "Nowhere", code="NOCODE"),
    atom("C0000006", 12, "感冒", lat="CHI", code="A01.3"),  # no English term
    atom("C0000007", 13, "Gone", code="A01.4", suppress="O"),
    atom("C0000008", 14, "Short", code="A1"),
    atom("C0000009", 15, "Both", code="A01.5"),  # of two groups
    atom("C0000009", 16, "Both of them", code="B02.5", preferred=False),
]
COSINES = {
    frozenset({"Heart attack", "Myocardial infarction", "心肌梗死"}): (0.9, 0.9, 0.3),
    frozenset({"Angina", "HEART ATTACK", "心绞痛"}): (0.5, 0.5, 0.9),
    frozenset({"Flu", "流感"}): (0.1, 0.1, 0.1),
    frozenset({"Heart attack", "Angina"}): (0.6, 0.6, 0.6),
    frozenset({"Flu", "Cold"}): (0.3, 0.3, 0.6),
}
FAR = (0.2, 0.2, 0.9)


class Known:
    """Validators whose cosines stand above."""

    names = ("a", "b", "c")

    def cosines(self, members):
        return np.array([COSINES.get(frozenset(texts), FAR) for texts in members])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("task2")


@pytest.fixture(scope="module")
def built(folder):
    return mmed_task2.build(
        Options(write(folder / "umls", ATOMS), sets=10, size=2), folder / "terms", validators=Known()
    )


def of(benchmark):
    (task,) = benchmark.tasks
    return {query.id: query for query in task.queries}, Counter(query.tier for query in task.queries)


def answers(benchmark, query):
    return {row.document_id for row in benchmark.tasks[0].judgements if row.query_id == query}


def test_sets_by_codes_and_what_becomes_of_them(built):
    facts = built.settings["built"]["t2-discrimination"]
    verdicts = from_csv(facts["sets"])
    assert Counter((row.made, row.outcome, row.tier) for row in verdicts) == {
        ("synonym", "accepted", "synonym"): 1,
        ("synonym", "re-tiered", "sibling"): 1,
        ("synonym", "rejected", None): 1,
        ("sibling", "accepted", "sibling"): 1,
        ("sibling", "re-tiered", "related"): 1,
        ("related", "accepted", "related"): 2,
    }
    groups = {ONE: "A01", TWO: "A01", THREE: "B02", FOUR: "B02"}
    for row in verdicts:
        n = len({groups[cui] for cui in row.concepts})
        assert (len(row.concepts), n) == {"synonym": (1, 1), "sibling": (2, 1), "related": (2, 2)}[row.made]
    assert facts["outcomes"] == {
        "synonym": {"accepted": 1, "re-tiered": 1, "rejected": 1},
        "sibling": {"accepted": 1, "re-tiered": 1, "rejected": 0},
        "related": {"accepted": 2, "re-tiered": 0, "rejected": 0},
    }
    assert built.notes == (
        "Discrimination: of 7 confusion sets 4 were accepted, 2 moved to another tier and 1 rejected by a, b, c. "
        "No clinician has checked a set.",
    )


def test_one_query_for_each_set_and_concept_in_both_languages_over_one_pool(built):
    queries, tiers = of(built)
    assert {document.id for document in built.tasks[0].documents} == {
        *(f"{cui}-{rest}" for cui in (ONE, TWO) for rest in ("en-1", "en-2", "zh-1")),
        f"{THREE}-en-1",
        f"{THREE}-zh-1",
        f"{FOUR}-en-1",
    }
    # synonym: ONE in 2 languages. sibling: TWO (re-tiered) and ONE, TWO in 2 each. related: THREE in 2 and FOUR in 1,
    # and over the two sets made for it each of the four concepts once.
    assert tiers == {"synonym": 2, "sibling": 6, "related": 10}
    assert {query.language for query in queries.values()} == {"en", "zh"}
    texts = {(query.family, query.language): query.text for query in queries.values()}
    assert texts[ONE, "en"] == "Heart attack"
    assert texts[ONE, "zh"] == "心肌梗死"
    assert {query.attributes["validated"] for query in queries.values() if query.tier == "synonym"} == {"accepted"}


def test_the_own_form_leaves_and_the_other_members_answer(built):
    queries, _ = of(built)

    def asked(made, cui, language):
        (found,) = (
            query
            for query in queries.values()
            if (query.attributes["made"], query.family, query.language) == (made, cui, language)
        )
        return set(found.excluded_documents), answers(built, found.id)

    # The term of two concepts leaves for both.
    assert asked("synonym", ONE, "en") == ({f"{ONE}-en-1", f"{TWO}-en-2"}, {f"{ONE}-en-2", f"{ONE}-zh-1"})
    assert asked("synonym", ONE, "zh") == ({f"{ONE}-zh-1"}, {f"{ONE}-en-1", f"{ONE}-en-2"})
    own = {f"{ONE}-en-1", f"{ONE}-en-2", f"{ONE}-zh-1"}
    assert asked("sibling", ONE, "en") == (own | {f"{TWO}-en-2"}, {f"{TWO}-en-1", f"{TWO}-zh-1"})
    assert asked("sibling", FOUR, "en") == ({f"{FOUR}-en-1"}, {f"{THREE}-en-1", f"{THREE}-zh-1"})
    for query in queries.values():
        assert not answers(built, query.id) & set(query.excluded_documents)
        assert query.text not in {
            document.text
            for document in built.tasks[0].documents
            if document.id not in query.excluded_documents and document.language == query.language
        }


def test_asked_for_its_concept_a_term_keeps_the_others_of_it(folder):
    options = Options(folder / "umls", sets=10, size=2, answers="concept")
    made = mmed_task2.build(options, folder / "terms", validators=Known())
    for query in made.tasks[0].queries:
        assert {name.split("-")[0] for name in answers(made, query.id)} == {query.family}
    queries, tiers = of(made)
    assert {query.family for query in queries.values()} == {ONE, TWO, THREE}  # FOUR has one form: nothing answers it
    assert tiers["synonym"] == 2


def test_another_seed_makes_other_pairs_and_the_same_the_same(folder, built):
    options = Options(folder / "umls", sets=10, size=2)
    assert mmed_task2.build(options, folder / "terms", validators=Known()) == built
    pairs = set()
    for seed in range(8):
        made = mmed_task2.build(replace(options, seed=seed), folder / "terms", validators=Known())
        sets = from_csv(made.settings["built"]["t2-discrimination"]["sets"])
        pairs.add(frozenset(frozenset(row.concepts) for row in sets if row.made == "related"))
    assert len(pairs) > 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"sets": 0}, "sets 0: expected 1 to 20,000"),
        ({"size": 1}, "size 1: expected 2 to 20"),
        ({"vocabularies": ("ICD",)}, "vocabulary 'ICD': this UMLS has codes of INV"),
        ({"answers": "all"}, "answers 'all': expected one of set, concept"),
    ],
)
def test_what_cannot_be_built_is_said(folder, built, given, says):
    with pytest.raises(InputError, match=says):
        mmed_task2.build(Options(folder / "umls", **given), folder / "terms", validators=Known())


def test_validators_that_agree_on_nothing_keep_nothing(folder, built):
    class Lost(Known):
        def cosines(self, members):
            return np.zeros((len(members), 3))

    with pytest.raises(InputError, match="no set of 7 is one of which two of a, b, c agree on a tier"):
        mmed_task2.build(Options(folder / "umls", size=2), folder / "terms", validators=Lost())
