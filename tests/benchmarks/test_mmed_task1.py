"""Task 1 of MMed-Bench-IR: what each question is tagged with, who answers, who does not, and what is reported."""

import json

import numpy as np
import pytest
from rrf_rows import atom, definition, relation, write

from analysis.benchmarks import invented, mmed_task1
from analysis.benchmarks.coverage import Coverage
from analysis.benchmarks.invented import Request
from analysis.benchmarks.mmed_task1 import Options
from analysis.errors import InputError

ATOMS = (
    atom("C0000001", 1, "Bradolin morva"),
    atom("C0000001", 2, "Bradolín mórva", lat="SPA"),
    atom("C0000002", 3, "Sogofig"),
    atom("C0000003", 4, "Titar"),  # no definition
    atom("C0000004", 5, "Cold"),
    atom("C0000005", 6, "cold"),
    atom("C0000006", 7, "Pafo"),  # near Bradolin morva, and nobody asks
    atom("C0000007", 8, "Gede"),  # near Sogofig, as the next one
    atom("C0000008", 9, "Fane"),
    atom("C0000009", 10, "Tepo"),  # the letters of the next one
    atom("C0000010", 11, "Pote"),
)
DEFINITIONS = (
    definition("C0000001", 1, "A thing.", of=1),
    definition("C0000001", 2, "Una cosa.", of=2),
    definition("C0000002", 3, "Another.", of=3),
    definition("C0000004", 5, "Chilly.", of=5),
    definition("C0000006", 6, "Nearly a thing.", of=7),
    definition("C0000007", 7, "Nearly another.", of=8),
    definition("C0000008", 8, "Far off.", of=9),
    definition("C0000009", 9, "This.", of=10),
    definition("C0000010", 10, "That.", of=11),
)
RELATIONS = (
    relation("C0000001", "C0000006"),
    relation("C0000007", "C0000002"),
    relation("C0000002", "C0000008"),
    relation("C0000002", "C0000008", "RO"),
    relation("C0000001", "C0000002"),  # asked of: no negative
    relation("C0000001", "C0000003"),  # no definition: no document
)
QUESTIONS = {
    "English": (
        "Who has a bradolin morva?",
        "sogofig",
        "The titar?",
        "A cold?",
        "Nothing here",
        "sogofig",
        "Has a sogofig a bradolin morva?",
        "Topey",
    ),
    "Spanish": ("¿La bradolín mórva?", "Nada"),
    "French": ("Rien",),
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("task1")
    write(root / "META", ATOMS, DEFINITIONS, RELATIONS)
    (root / "Test").mkdir()
    for name, texts in QUESTIONS.items():
        rows = [json.dumps({"question": text, "options": {}}, ensure_ascii=False) + "\n" for text in texts]
        (root / "Test" / f"{name}.jsonl").write_text("".join(rows), encoding="utf-8")
    return root


def built(root, *, linker=None, **options):
    return mmed_task1.build(Options(root / "META", root, **options), root / "terms", linker=linker)


@pytest.fixture(scope="module")
def plain(sources):
    """The task with a single question a language enough, and no linker."""
    return built(sources, least=1).tasks[0]


def report(benchmark):
    return benchmark.settings["built"]["t1-alignment"]


class Letters:
    """A linker that counts letters: what has the same ones is near."""

    name = "letters"

    def nearest(self, texts, candidates, *, k, what):
        vectors = [
            np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in of], float)
            for of in (texts, candidates)
        ]
        first, second = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9) for rows in vectors)
        cosines = first @ second.T
        order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(cosines, order, axis=1)


def test_every_question_is_told_what_it_is_about(plain):
    asked = {query.id: (query.family, query.attributes["tagged_by"]) for query in plain.queries}
    assert asked == {
        "en-1": ("C0000001", "substring"),
        "en-2": ("C0000002", "exact"),
        "en-7": ("C0000001", "substring"),  # the longest term
        "es-1": ("C0000001", "substring"),
    }
    assert [query.text for query in plain.queries if query.id == "en-2"] == ["sogofig"]


def test_a_concept_is_one_positive_group_in_all_languages(plain):
    both = {"C0000001-en-AT1", "C0000001-es-AT2"}
    answers = {query.id: set() for query in plain.queries}
    for judgement in plain.judgements:
        answers[judgement.query_id].add(judgement.document_id)
    assert answers == {"en-1": both, "en-2": {"C0000002-en-AT3"}, "en-7": both, "es-1": both}


def test_hard_negatives_are_near_and_answer_nothing(sources, plain):
    # the nearest of each: C0000006 of C0000001, C0000008 (two relations) of C0000002; then the second: C0000007
    assert [document.id[:8] for document in plain.documents if document.family not in {"C0000001", "C0000002"}] == [
        "C0000006",
        "C0000007",
        "C0000008",
    ]
    (task,) = built(sources, least=1, negatives=2).tasks
    assert {document.family for document in task.documents} == {f"C000000{n}" for n in (1, 2, 6, 8)}
    (task,) = built(sources, least=1, negatives=0).tasks
    assert {document.family for document in task.documents} == {"C0000001", "C0000002"}


def test_the_report_counts_by_language_and_stage(sources):
    benchmark = built(sources, least=2)
    assert report(benchmark)["coverage"] == [
        vars(Coverage("en", 8, 1, 1, 3, 0, 3, 1, 1, 3, 3, 5)),  # untagged: a cold of two concepts, two of none
        vars(Coverage("es", 2, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1)),
        vars(Coverage("fr", 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0)),
    ]
    assert {query.language for query in benchmark.tasks[0].queries} == {"en"}
    assert benchmark.notes == (
        "Alignment: a program found the concept of 5 of 10 questions; no linker was used. "
        "No clinician has checked the tags.",
        "Alignment: 3 concepts of the corpus answer no question.",
        "Alignment: left out with fewer than 2 questions: Spanish (1), French (0).",
    )
    assert (benchmark.name, benchmark.title) == ("mmed-bench-ir", "MMed-Bench-IR")
    assert not benchmark.parallel


def test_the_linker_takes_what_no_term_tagged_from_its_limit_on(sources):
    benchmark = built(sources, least=1, linker=Letters())
    tags = {query.id: query for query in benchmark.tasks[0].queries}
    # "A cold?" has the letters of "Cold" and one more: cosine 4 / √(5 · 4) = 0.8944
    assert tags["en-4"].family == "C0000004"
    assert tags["en-4"].attributes == {"tagged_by": "nearest", "tag_confidence": "0.89"}
    assert report(benchmark)["linker"] == "letters"
    english = report(benchmark)["coverage"][0]
    assert english["nearest"] == 1
    assert (english["untagged"], english["ambiguous"]) == (2, 1)  # "Topey" is as near to "Tepo" as to "Pote"
    strict = built(sources, least=1, linker=Letters(), limits=mmed_task1.Limits(nearest=0.9))
    assert "en-4" not in {query.id for query in strict.tasks[0].queries}


def test_too_few_questions_are_said(sources):
    with pytest.raises(InputError, match=r"no language has 50 questions .* \(the most is 3\); --least N takes fewer"):
        built(sources)
    with pytest.raises(InputError, match="least 0"):
        built(sources, least=0)


KINDS = {"whole": "exact", "inside": "substring", "synonym": "substring", "undefined": "substring"}


def test_invented_questions_become_what_was_planted(tmp_path):
    """Each language's report against the counts of the generator."""
    seed = {"seed": 3, "concepts": 200}
    invented.write(tmp_path / "umls", Request("umls", **seed))
    planted = invented.write(tmp_path / "questions", Request("mmedbench", **seed, questions=100))
    names = {"en": "English", "es": "Spanish", "fr": "French", "ja": "Japanese", "ru": "Russian", "zh": "Chinese"}
    benchmark = mmed_task1.build(Options(tmp_path / "umls", tmp_path / "questions"), tmp_path / "terms")
    rows = {row["language"]: Coverage(**row) for row in report(benchmark)["coverage"]}
    assert rows.keys() == names.keys()
    for language, row in rows.items():
        counts = planted[names[language]]
        stages = dict.fromkeys(("exact", "substring", "untagged"), 0)
        for kind, n in counts.items():
            if kind not in ("lines", "repeated"):
                stages[KINDS.get(kind, "untagged")] += n
        assert (row.lines, row.repeated) == (counts["lines"], counts["repeated"])
        assert stages == {"exact": row.exact, "substring": row.substring, "untagged": row.untagged}
        assert (row.ambiguous, row.undefined) == (counts.get("shared", 0), counts["undefined"])
        assert row.answerable == counts["whole"] + counts["inside"] + counts["synonym"]
        assert row.asked == (0 if language == "ru" else row.answerable)  # 25 questions in Russian
    assert (benchmark.name, benchmark.title) == ("mmed-bench-ir-invented", "MMed-Bench-IR, invented rows")
    groups = {}
    for query in benchmark.tasks[0].queries:
        groups.setdefault(query.family, set()).add(query.language)
    assert max(map(len, groups.values())) == 5
