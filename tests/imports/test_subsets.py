"""Subsets put together: whatever ids they share, each keeps its own questions, texts and judgements."""

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.imports import folder as folders
from analysis.imports.parts import Options
from tests.imports.imported import lines, written

IDS = st.sampled_from("123")
TEXTS = st.dictionaries(IDS, st.sampled_from(["same", "other"]), min_size=1)
JUDGED = st.dictionaries(st.tuples(st.sampled_from("1239"), st.sampled_from("1239")), st.integers(0, 2), min_size=1)
SUBSETS = st.lists(st.tuples(TEXTS, TEXTS, JUDGED), min_size=2, max_size=3)


def files_of(subsets):
    found = {}
    for label, (corpus, asked, judged) in zip("abc", subsets, strict=False):
        found |= {
            f"{label}-corpus.jsonl": lines([{"_id": name, "text": text} for name, text in corpus.items()]),
            f"{label}-queries.jsonl": lines([{"_id": name, "text": text} for name, text in asked.items()]),
            f"{label}-qrels.jsonl": lines(
                [{"query-id": q, "corpus-id": d, "score": grade} for (q, d), grade in judged.items()]
            ),
        }
    return found


@settings(max_examples=40, deadline=None)
@given(SUBSETS)
def test_every_subset_finds_its_own_again(tmp_path_factory, subsets):
    path = written(tmp_path_factory.mktemp("subsets"), files_of(subsets))
    found = folders.read(path, options=Options(format="mteb", query_language="und", document_language="und"))
    queries = {row.id: row for row in found.queries}
    documents = {row.id: row for row in found.documents}
    grades = {(row.query_id, row.document_id): row.grade for row in found.judgements}

    def named(label, name, among):
        """How a prediction of a subset finds what an id means: as it is, else after the subset."""
        return name if name in among else f"{label}:{name}"

    for label, (corpus, asked, judged) in zip("abc", subsets, strict=False):
        for name, text in asked.items():
            row = queries[named(label, name, queries)]
            assert (row.text, row.attributes["subset"]) == (text, label)
        for name, text in corpus.items():
            assert documents[named(label, name, documents)].text == text
        for (query, document), grade in judged.items():
            if query in asked and document in corpus:
                assert grades[named(label, query, queries), named(label, document, documents)] == grade
            if query in asked and document not in corpus:  # a document of another subset is not taken for it
                own = {d for q, d in grades if q == named(label, query, queries)}
                assert f"{label}:{document}" in own or (document in own and document not in documents)
    assert len(found.queries) - len(found.without_text) == sum(len(asked) for _, asked, _ in subsets)
    assert len(grades) == sum(len(judged) for *_, judged in subsets)
    assert len(documents) <= sum(len(corpus) for corpus, *_ in subsets)


@settings(max_examples=20, deadline=None)
@given(TEXTS, st.lists(TEXTS, min_size=2, max_size=3), JUDGED)
def test_what_is_shared_is_read_once(tmp_path_factory, corpus, asked, judged):
    files = {
        "corpus.jsonl": lines([{"_id": name, "text": text} for name, text in corpus.items()]),
        "qrels.jsonl": lines([{"query-id": q, "corpus-id": d, "score": grade} for (q, d), grade in judged.items()]),
    }
    for label, texts in zip("abc", asked, strict=False):
        files[f"queries-{label}.jsonl"] = lines([{"_id": name, "text": text} for name, text in texts.items()])
    path = written(tmp_path_factory.mktemp("shared"), files)
    found = folders.read(path, options=Options(format="mteb", query_language="und", document_language="und"))
    assert [row.id for row in found.documents] == list(corpus)
    sizes = {name: sum(name in texts for texts in asked) for name in "1239"}
    assert len(found.judgements) == sum(max(1, sizes[query]) for query, _ in judged)
    assert found.n_repeats == 0
