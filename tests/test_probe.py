"""The live probe must reproduce the stored runs."""

from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest

from analysis import probe
from analysis.errors import InputError, SystemLoadError
from analysis.model import NEVER, Flag, Query
from analysis.paths import Cache
from analysis.probe import asking, near
from analysis.probe.seats import Seats
from analysis.store import read
from analysis.systems import encoders
from tests.hand_made import put, worked_example

SYSTEMS = (
    "bm25",
    "bm25-cjk",
    "all-minilm-l6-v2",
    "use-multilingual-v3",
    "rrf-bm25-use",
    "maxsim-all-minilm",
    "use-maxsim",
)


@pytest.fixture(scope="module")
def store(real_store):
    return read.open_store(Cache(real_store))


def ranks_stored(store, task, system, query_id):
    row = next(row for row in store.tasks(store.benchmark("icd10").benchmark_id) if row.name == task)
    run = next(run for run in store.runs([row.task_id]) if run.system == system)
    query = list(store.queries(row.task_id).id).index(query_id)
    judged, ids = store.judgements(row.task_id), store.documents(row.task_id).id
    here = judged.query == query
    ranks = store.ranks([run.run_id])[0][here]
    return {
        ids[document]: None if rank == NEVER else int(rank)
        for document, rank in zip(judged.document[here], ranks, strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize(("task", "language"), [("category", "en"), ("category", "ja"), ("parallel-titles", "fr")])
def test_it_reproduces_the_stored_ranks(store, system, task, language):
    concept = next(
        concept
        for concept in probe.concepts(store, benchmark="icd10", task=task)
        if concept.family.startswith("I21") and len(concept.family) == 4
    )
    text = concept.texts[concept.languages.index(language)]
    answer = probe.ask(
        store, text, system=system, benchmark="icd10", task=task, language=language, family=concept.family
    )
    assert {known.document_id: known.rank for known in answer.answers} == ranks_stored(
        store, task, system, f"{concept.family}-{language}"
    )
    assert answer.tokens
    seat = asking.SEATS.take(store, asking.find_task(store, "icd10", task), system)
    assert 0 < seat.live.nbytes < 2**26
    assert [hit.rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))
    assert all(np.diff([hit.score for hit in answer.hits]) <= 0)
    assert {hit.document_id for hit in answer.hits if hit.relevant} == {
        known.document_id for known in answer.answers if known.rank and known.rank <= 10
    }


@pytest.mark.slow
def test_heart_attack_in_six_languages(store):
    texts = {tag: text for tag, text in probe.HEART_ATTACK.items() if tag != "ru"}
    found = probe.ask_in_all_languages(store, texts, system="use-multilingual-v3", benchmark="icd10")
    assert found.languages == tuple(texts)
    assert found.overlap[0] == pytest.approx(1)
    assert all(answer.hits[0].document_id.startswith("I21") for answer in found.answers)
    collapse = probe.ask_in_all_languages(store, texts, system="all-minilm-l6-v2", benchmark="icd10")
    assert collapse.answers[0].hits[0].document_id.startswith("I21")
    ja = collapse.languages.index("ja")
    assert collapse.overlap[ja] < found.overlap[ja]


@pytest.mark.slow
def test_free_text_has_no_known_answers(store):
    answer = probe.ask(store, "heart attack", system="bm25", benchmark="icd10")
    assert answer.answers == ()
    assert all(hit.relevant is None for hit in answer.hits)
    assert answer.encode_ms == 0


@pytest.mark.slow
@pytest.mark.parametrize("system", ["all-minilm-l6-v2", "rrf-bm25-use", "maxsim-all-minilm"])
def test_the_nearest_concept_of_a_stored_query_is_its_own(store, system):
    task = store.tasks(store.benchmark("icd10").benchmark_id)[0]
    queries = store.queries(task.task_id)
    found = probe.nearest(store, str(queries.text[7]), systems=[system], benchmark="icd10")
    assert found[0].text == queries.text[7]
    assert (found[0].measure, found[0].score) == ("cosine", pytest.approx(1, abs=1e-5))
    assert len({one.family for one in found}) == 3
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.slow
def test_of_several_encoders_a_multilingual_one_says_what_is_near(store):
    found = probe.nearest(
        store, "Herzinfarkt", systems=["bm25", "all-minilm-l6-v2", "use-multilingual-v3"], benchmark="icd10"
    )
    assert found[0].short == "USE multilingual"


def words_in_queries(cache, *flags):
    """The worked example with more queries, so that a word can be rare."""
    made = worked_example()
    others = tuple(Query(f"o{n}", "en", f"other thing {n}", family=f"f{n}") for n in range(4))
    return put(
        cache, replace(made, tasks=(replace(made.tasks[0], queries=made.tasks[0].queries + others, flags=flags),)), {}
    )


@pytest.mark.slow
def test_an_encoder_that_does_not_load_leaves_the_next_one_to_compare(store, monkeypatch):
    def load(system, options):
        raise SystemLoadError(f"{system.name}: broken")

    monkeypatch.setattr(encoders, "load", load)
    monkeypatch.setattr(near, "SEATS", Seats())
    monkeypatch.setattr(near, "_kept", OrderedDict())
    text = probe.concepts(store, benchmark="icd10")[0].label
    (found, *_) = probe.nearest(store, text, systems=["use-multilingual-v3"], benchmark="icd10")
    assert (found.measure, found.text) == ("BM25", text)


def test_without_an_encoder_words_say_what_is_near(tmp_path):
    store, asked = words_in_queries(Cache(tmp_path)), {"systems": ["bm25"], "benchmark": "example"}
    (found,) = probe.nearest(store, "another QUESTION", **asked)
    assert (found.family, found.query_id, found.measure, found.short) == ("c", "q1", "BM25", "BM25 CJK")
    assert found.score > 0
    assert probe.nearest(store, "nothing alike", **asked) == ()
    (han,) = probe.nearest(store, "質問です", **asked)
    assert han.query_id == "q2"
    (encoded,) = probe.nearest(store, "question", systems=["all-minilm-l6-v2"], benchmark="example")
    assert encoded.measure == "BM25"  # no vector of a query is stored, and none is made
    with pytest.raises(InputError, match="empty"):
        probe.nearest(store, " ", **asked)


def test_what_is_flagged_is_not_near(tmp_path):
    store = words_in_queries(Cache(tmp_path), Flag("query", "q1", "other script"))
    for without, ids in ((False, ["q1"]), (True, [])):
        found = probe.nearest(store, "question", systems=["bm25"], benchmark="example", without_flagged=without)
        assert [one.query_id for one in found] == ids


@pytest.mark.slow
def test_bad_questions_are_refused(store):
    with pytest.raises(InputError, match="empty"):
        probe.ask(store, "  ", system="bm25", benchmark="icd10")
    with pytest.raises(InputError, match="known:"):
        probe.ask(store, "x", system="nope", benchmark="icd10")
    with pytest.raises(InputError, match="category"):
        probe.ask(store, "x", system="bm25", benchmark="icd10", task="nope")
    with pytest.raises(InputError, match="at least one"):
        probe.ask_in_all_languages(store, {"en": " "}, system="bm25", benchmark="icd10")


@pytest.mark.slow
def test_encoders_are_those_that_ran(store):
    assert {label.name for label in probe.encoders(store, "icd10")} >= set(SYSTEMS)


def test_what_is_flagged_is_neither_asked_nor_an_answer_but_still_found(tmp_path):
    made = worked_example()
    flags = (Flag("query", "q2", "other script"), Flag("document", "c-fr", "no text"))
    store = put(Cache(tmp_path), replace(made, tasks=(replace(made.tasks[0], flags=flags),)), {})
    (whole,), (left,) = (
        probe.concepts(store, benchmark="example", without_flagged=without) for without in (False, True)
    )
    assert (whole.languages, left.languages) == (("en", "ja"), ("en",))
    asked = {"system": "bm25", "benchmark": "example", "language": "en", "family": "c"}
    answers = [probe.ask(store, "answer fr", **asked, without_flagged=without) for without in (False, True)]
    assert [known.document_id for known in answers[0].answers] == ["c-en", "c-fr", "c-ja"]
    assert [known.document_id for known in answers[1].answers] == ["c-en", "c-ja"]
    assert [hit.document_id for hit in answers[1].hits] == [hit.document_id for hit in answers[0].hits]
    assert answers[1].hits[0].document_id == "c-fr"
    assert (answers[0].hits[0].relevant, answers[1].hits[0].relevant) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize("system", ["bm25", "maxsim-all-minilm"])
def test_what_the_parts_of_a_query_add_sums_to_the_stored_score(store, system):
    row = next(row for row in store.tasks(store.benchmark("icd10").benchmark_id) if row.name == "category")
    run = next(run for run in store.runs([row.task_id]) if run.system == system)
    queries, ids = store.queries(row.task_id), store.documents(row.task_id).id
    for hit in store.hits(run, [3, 40], top=3):
        told = probe.why(
            store, system=system, benchmark="icd10", task="category",
            query_text=str(queries.text[hit.query]), document_id=str(ids[hit.document]),
        )  # fmt: skip
        assert sum(share.value for share in told.shares) == pytest.approx(hit.score, abs=2e-3)


@pytest.mark.slow
def test_what_can_be_told_of_the_other_kinds(store):
    asked = {"benchmark": "icd10", "task": "category", "query_text": "acute myocardial infarction"}
    document = str(store.documents(store.tasks(store.benchmark("icd10").benchmark_id)[0].task_id).id[0])
    dense = probe.why(store, system="all-minilm-l6-v2", document_id=document, **asked)
    assert [share.part for share in dense.shares if share.match is None]
    assert probe.why(store, system="rrf-bm25-use", document_id=document, **asked).shares == ()
    assert probe.why(store, system="use-maxsim", document_id=document, **asked).shares
    with pytest.raises(InputError, match="document 'x': the corpus of category has no such document"):
        probe.why(store, system="bm25", document_id="x", **asked)
