"""Task 3 of MMed-Bench-IR on a lexicon, questions and translations small enough to count by hand."""

import json

import pytest
from rrf_rows import atom, write

from analysis.benchmarks import invented, mmed_task3, umls
from analysis.benchmarks.invented import Request, evidence
from analysis.benchmarks.mmed_task3 import Options
from analysis.benchmarks.translation_counts import TranslationCounts
from analysis.errors import InputError
from analysis.store import equivalents
from analysis.store.equivalents import Found, Looked

ATOMS = (
    atom("C0000001", 1, "Fever"),
    atom("C0000001", 2, "Fiebre", lat="SPA"),
    atom("C0000001", 3, "発熱", lat="JPN"),
    atom("C0000001", 4, "Calentura", lat="SPA", suppress="O"),  # does not count
    atom("C0000002", 5, "Fever blister"),
    atom("C0000002", 6, "Herpes labial", lat="SPA"),
    atom("C0000003", 7, "HIV infection"),
    atom("C0000003", 8, "Infección por VIH", lat="SPA"),
    atom("C0000003", 9, "HIV感染症", lat="JPN"),
    atom("C0000004", 10, "Cold"),
    atom("C0000005", 11, "cold"),  # of two concepts
    atom("C0000006", 12, "Ache"),  # in no other language
    atom("C0000007", 13, "Role of IL2", lat="JPN"),
    atom("C0000007", 14, "Interleukin"),
)
QUESTIONS = {
    "q1": ("Does fever blister follow fever?", ("One.", "Two.", "Three.")),
    "q2": ("MRI in HIV infection and ache?", ("Two.", "One.", "Two.")),
    "q3": ("Why a cold?", ("Four.",)),
    "q4": ("Nothing answers fever?", ()),
}
TRANSLATIONS = (
    ("q1", "es", "¿El herpes labial sigue a la fiebre?", "Does fever blister follow fever?"),  # 2 of 2, 1
    ("q1", "ja", "水ぶくれは発熱の後ですか", "Does fever follow"),  # 1 of 1; F1 6/8
    ("q2", "es", "¿IRM en infección por VIH y dolor?", "MRI in HIV infection and ache?"),  # 1 of 2
    ("q2", "ja", "HIV感染症におけるMRIと痛み", None),  # 2 of 2, not translated back
    ("q3", "es", "¿Por qué un resfriado?", "Why a cold?"),  # no term: of two concepts
    ("q4", "es", "¿Nada responde a la fiebre?", "Nothing answers fever?"),  # of a question that is not asked
)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("task3")
    write(root / "META", ATOMS)
    rows = [
        {
            "id": name,
            "type": "factoid",
            "body": body,
            "snippets": [
                {"document": f"http://www.ncbi.nlm.nih.gov/pubmed/{name[1]}{number}", "text": text}
                for number, text in enumerate(texts)
            ],
        }
        for name, (body, texts) in QUESTIONS.items()
    ]
    (root / "13b.json").write_text(json.dumps({"questions": rows}), encoding="utf-8")
    lines = [dict(zip(("id", "language", "text", "back_translation"), row, strict=True)) for row in TRANSLATIONS]
    (root / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def terms(sources):
    return umls.prepare(sources / "META", sources / "terms")


@pytest.fixture(scope="module")
def built(sources):
    options = Options(sources / "13b.json", sources / "t.jsonl", sources / "META", ("es", "ja"))
    return mmed_task3.build(options, sources / "terms")


def report(benchmark):
    return benchmark.settings["built"]["t3-evidence"]


def test_terms_of_a_text_are_the_longest_and_do_not_overlap(terms):
    texts = ["Does fever blister follow fever?", "Fever, ache; FEVER", "a cold", "hiv-infection", "feverish"]
    assert equivalents.all_terms(terms, texts, language="en", confidence=0.9) == [
        (Found("fever blister", "C0000002"), Found("fever", "C0000001")),
        (Found("fever", "C0000001"), Found("ache", "C0000006")),
        (),
        (Found("hiv infection", "C0000003"),),
        (),
    ]


@pytest.mark.parametrize(
    ("language", "text", "there"),
    [
        ("es", "la fiebre alta", {"C0000001"}),
        ("es", "las fiebres", set()),  # whole words
        ("es", "calentura", set()),  # suppressed
        ("ja", "高発熱時", {"C0000001"}),  # anywhere
        ("ja", "AHIV感染症", set()),  # cuts no Latin word
        ("ja", "role of il22", set()),
        ("ja", "はrole of IL2で", {"C0000007"}),
    ],
)
def test_a_word_stands_in_a_translation(terms, language, text, there):
    wanted = ["C0000001", "C0000003", "C0000006", "C0000007"]
    spoken = {"es": {"C0000001", "C0000003"}, "ja": {"C0000001", "C0000003", "C0000007"}}[language]
    assert equivalents.looked_for(terms, [text], language=language, concepts=[wanted]) == [Looked(spoken, there)]


def test_what_is_looked_for_is_asked_text_by_text_whatever_the_parts(terms, monkeypatch):
    monkeypatch.setattr(equivalents, "TEXTS", 1)
    texts, concepts = ["fiebre", "fiebre", ""], [["C0000001"], [], ["C0000001"]]
    assert equivalents.looked_for(terms, texts, language="es", concepts=concepts) == [
        Looked({"C0000001"}, {"C0000001"}),
        Looked(set(), set()),
        Looked({"C0000001"}, set()),
    ]
    assert len(equivalents.all_terms(terms, ["fever", "ache", ""], language="en", confidence=0.9)) == 3


def test_every_translation_is_judged(built):
    (task,) = built.tasks
    assert {query.id: (query.audit_status, *query.attributes.values()) for query in task.queries} == {
        "q1-en": ("source", "factoid"),
        "q2-en": ("source", "factoid"),
        "q3-en": ("source", "factoid"),
        "q1-es": ("pass", "factoid", "1.00", "1.00"),
        "q2-es": ("fail", "factoid", "0.50", "1.00"),
        "q3-es": ("pass", "factoid", "1.00"),
        "q1-ja": ("flag", "factoid", "1.00", "0.75"),
        "q2-ja": ("flag", "factoid", "1.00"),
    }
    assert {(query.family, query.source_query) for query in task.queries} == {
        (name, f"{name}-en") for name in ("q1", "q2", "q3")
    }


def test_each_passage_stands_once_and_answers_whoever_has_it(built):
    (task,) = built.tasks
    assert [(row.id, row.text, row.family, row.language) for row in task.documents] == [
        ("10-1", "One.", "10", "en"),
        ("11-1", "Two.", "11", "en"),
        ("12-1", "Three.", "12", "en"),
        ("30-1", "Four.", "30", "en"),
    ]
    answers = dict.fromkeys((query.id for query in task.queries), "")
    for judgement in task.judgements:
        answers[judgement.query_id] += f"{judgement.document_id} "
    assert answers == {
        **dict.fromkeys(("q1-en", "q1-es", "q1-ja"), "10-1 11-1 12-1 "),
        **dict.fromkeys(("q2-en", "q2-es", "q2-ja"), "11-1 10-1 "),
        **dict.fromkeys(("q3-en", "q3-es"), "30-1 "),
    }


def test_the_report_counts_by_language(built):
    made = report(built)
    assert made["translations"] == [
        vars(
            TranslationCounts(
                "es", questions=3, missing=0, passed=2, flagged=0, failed=1, terms=4, terms_kept=3, unknown=1,
                abbreviations=2, abbreviations_kept=0, without_term=1, without_back=0, preservation=0.75, f1=1.0,
            )
        ),
        vars(
            TranslationCounts(
                "ja", questions=3, missing=1, passed=0, flagged=2, failed=0, terms=3, terms_kept=3, unknown=2,
                abbreviations=2, abbreviations_kept=2, without_term=0, without_back=1, preservation=1.0, f1=0.75,
            )
        ),
    ]  # fmt: skip
    counted = {name: made[name] for name in made if name.startswith(("questions", "snippets"))}
    assert counted == {
        "questions": 4,
        "questions_without_snippet": 1,
        "questions_without_term": 1,
        "snippets": 7,
        "snippets_repeated": 3,
        "snippets_of_several_questions": 2,
    }
    assert built.notes[1:] == (
        "Evidence: 1 question without a snippet left out.",
        "Evidence: questions without a translation: Japanese (1).",
    )
    assert "2 pass, 2 flagged, 1 fail" in built.notes[0]


def test_without_a_lexicon_abbreviations_alone_are_looked_for(sources):
    made = mmed_task3.build(Options(sources / "13b.json", sources / "t.jsonl", languages=("es", "ja")), sources)
    spanish, japanese = report(made)["translations"]
    assert (spanish["terms"], spanish["terms_kept"], spanish["without_term"], spanish["failed"]) == (2, 0, 2, 1)
    assert (japanese["terms"], japanese["terms_kept"], japanese["flagged"]) == (2, 2, 2)
    assert "abbreviations alone, as no UMLS was given" in made.notes[0]
    assert (made.name, made.version[:7], made.settings["umls"]) == ("mmed-bench-ir", "bioasq-", {})


def test_what_was_planted_is_found(tmp_path):
    """By hand, of each twelve questions: four pass, three are flagged, three fail, one is not asked, one not told."""
    for source in ("umls", "bioasq"):
        planted = invented.write(tmp_path / source, Request(source, seed=5, concepts=60, questions=36))
    folder = tmp_path / "bioasq"
    options = Options(folder, folder / evidence.TRANSLATIONS, tmp_path / "umls")
    made = mmed_task3.build(options, tmp_path / "terms")
    found, kinds = report(made), planted["planted"]
    assert set(kinds.values()) == {3}
    for row in found["translations"]:
        assert row["passed"] == sum(
            kinds[kind] for kind in (evidence.PLAIN, evidence.REPEATING, evidence.SHARING, evidence.NAMELESS)
        )
        assert row["flagged"] == kinds[evidence.WORN] + kinds[evidence.ONE_WAY] + kinds[evidence.ONE_LOST]
        assert row["failed"] == kinds[evidence.SHORTENED] + kinds[evidence.LOST] + kinds[evidence.WORN_OUT]
        assert row["missing"] == kinds[evidence.ABSENT]
        assert row["without_back"] == kinds[evidence.ONE_WAY]
        assert row["abbreviations"] - row["abbreviations_kept"] == kinds[evidence.SHORTENED]
        assert row["terms"] - row["terms_kept"] == sum(
            kinds[kind] for kind in (evidence.SHORTENED, evidence.LOST, evidence.ONE_LOST)
        )
    assert found["questions_without_snippet"] == kinds[evidence.BARE]
    assert found["snippets"] == planted["snippets"] == 99
    assert found["snippets_repeated"] == kinds[evidence.REPEATING] + kinds[evidence.SHARING]
    assert found["snippets_of_several_questions"] == kinds[evidence.SHARING]
    assert found["questions_without_term"] == kinds[evidence.NAMELESS] == 3
    assert made.name == "mmed-bench-ir-invented"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"languages": ()}, "expected languages besides English, each once"),
        ({"languages": ("es", "en")}, "expected languages besides English"),
        ({"languages": ("es", "spa")}, "expected languages besides English"),
        ({"languages": ("ru",)}, "no question has a translation into one of ru"),
        ({"translations": None}, "no translations: expected a file of them, or a translator"),
    ],
)
def test_what_cannot_be_built_is_said(sources, given, says):
    usual = {"translations": sources / "t.jsonl", "languages": ("es",)}
    with pytest.raises(InputError, match=says):
        mmed_task3.build(Options(sources / "13b.json", **(usual | given)), sources)


def test_questions_without_any_snippet_are_refused(sources, tmp_path):
    rows = [{"id": "q1", "type": "list", "body": "What?", "snippets": []}]
    (tmp_path / "a.json").write_text(json.dumps({"questions": rows}))
    with pytest.raises(InputError, match="no question has a snippet"):
        mmed_task3.build(Options(tmp_path / "a.json", sources / "t.jsonl"), sources)
