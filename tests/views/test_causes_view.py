"""Constructed runs whose cause of failure is known: two systems lose Japanese, one by language bias, one to a hub."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.errors import InputError
from analysis.model import Benchmark, Document, Flag, Judgement, Query, Task
from analysis.paths import Cache
from analysis.store import read, write
from analysis.views import causes
from analysis.views.selection import Selection
from tests.hand_made import put, ranking_of

N = 20  # families, each a document and a query in either language; one more that nobody asks for
TAGS = ("en", "ja")
HUB = "d20-en"
EXAMPLE = Selection("built")
WORDS = {"en": "kneepain", "ja": "ひざいたみ"}


def built(*, flags=()):
    documents = tuple(
        Document(f"d{n:02}-{tag}", tag, f"{WORDS[tag]} {n:02}", family=f"f{n:02}") for n in range(N + 1) for tag in TAGS
    )
    queries = tuple(Query(f"q{n:02}-{tag}", tag, WORDS[tag], family=f"f{n:02}") for n in range(N) for tag in TAGS)
    judgements = tuple(Judgement(query.id, f"d{query.id[1:3]}-{tag}", 1.0) for query in queries for tag in TAGS)
    task = Task("main", "Built", "?", documents, queries, judgements, default=True, flags=tuple(flags))
    return Benchmark("built", "1", "Built", True, "CC0", "tests", (), {}, (task,))


def wrong(query, languages, count):
    """Documents of other families, going round all of them so that none comes up more often; never the hub."""
    n = int(query.id[1:3])
    pool = [f"d{m:02}-{tag}" for m in range(N) for tag in languages if m != n]
    start = (n * count) % len(pool)
    return [*pool[start:], *pool[:start]][:count]


def sound(query):
    """Both answers first, then both languages alike."""
    return [f"d{query.id[1:3]}-{tag}" for tag in TAGS] + wrong(query, TAGS, 8)


def biased(query):
    """Asked in Japanese it finds nothing but other Japanese documents."""
    return sound(query) if query.language == "en" else wrong(query, ("ja",), 10)


def hub(query):
    """Asked in Japanese it finds one English document every time, and beside it whatever comes."""
    return sound(query) if query.language == "en" else [HUB, *wrong(query, TAGS, 9)]


def silent_in_japanese(query):
    return sound(query) if query.language == "en" else []


def store_of(folder, *systems, flags=()):
    benchmark = built(flags=flags)
    task = benchmark.tasks[0]
    rankings = {
        (system.__name__, "multilingual dense"): ranking_of(task, [system(query) for query in task.queries], depth=10)
        for system in systems
    }
    return put(Cache(folder), benchmark, rankings)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return store_of(tmp_path_factory.mktemp("causes"), sound, biased, hub, silent_in_japanese)


def systems_of(store, selection=EXAMPLE, **options):
    (task,) = causes.page(store, selection, **options).tasks
    return {system.system.name: system for system in task.systems}


def value(system, key, language=None):
    row = system.of(language)
    return row.numbers[key].value if row and key in row.numbers else None


# --- lists ------------------------------------------------------------------------------------------------------------


def test_both_lose_japanese_alike(store):
    found = systems_of(store)
    for name in ("biased", "hub", "silent_in_japanese"):
        assert value(found[name], "recall_at_10_cross", "en") == 1
        assert value(found[name], "recall_at_10_cross", "ja") == 0
        assert value(found[name], "recall_at_10_cross") == 0.5


def test_language_bias_is_told_from_a_hub(store):
    found = systems_of(store)
    assert found["sound"].causes == {}
    assert found["biased"].causes == {"bias": ("ja",)}
    assert found["hub"].causes == {"hubs": ("ja",)}
    assert found["silent_in_japanese"].causes == {"empty": ("ja",)}
    assert found["biased"].verdict.bold == "biased: wrong documents in the query's language come first (Japanese)."
    assert found["hub"].verdict.bold == "hub: the same documents come up whatever is asked (Japanese)."
    assert found["sound"].verdict.bold == "sound: none of these causes stands out."
    assert found["hub"].verdict.rest == "It finds 50 of 100 answers in other languages."


def test_the_numbers_behind_it(store):
    found = systems_of(store)
    assert value(found["biased"], "same_language_irrelevant_at_10", "ja") == 1
    assert found["biased"].of("ja").own_share == 0.5
    assert value(found["biased"], "largest_document", "ja") < 0.7
    assert value(found["hub"], "same_language_irrelevant_at_10", "ja") < 0.6
    assert value(found["hub"], "largest_document", "ja") == 1
    assert value(found["hub"], "hub_places", "ja") == pytest.approx(1 / 10)
    assert value(found["silent_in_japanese"], "empty_list", "ja") == 1
    assert value(found["silent_in_japanese"], "largest_document", "ja") is None
    assert found["biased"].of("ja").outranked_by == ("ja", 2.0)  # all of them, against half of the documents


def test_each_mean_has_its_interval_and_n(store):
    for system in systems_of(store).values():
        for row in system.rows:
            for key, found in row.numbers.items():
                assert found.low <= found.value <= found.high, (system.system.name, row.language, key)
                empty = system.system.name == "silent_in_japanese" and key not in ("empty_list", "recall_at_10_cross")
                assert found.n == (N if row.language or empty else 2 * N)


def test_the_hub_is_named_with_its_text(store):
    found = systems_of(store)
    assert (found["hub"].n_hubs, found["biased"].n_hubs) == (1, 0)
    (named,) = found["hub"].hubs
    assert (named.document_id, named.language, named.text) == (HUB, "en", "kneepain 20")
    assert named.n_queries == N
    assert named.share == 0.5
    assert found["hub"].skewness > found["biased"].skewness


def test_every_cause_ends_in_a_sentence(store):
    found = systems_of(store)
    assert found["biased"].sentences["bias"] == (
        "Of the wrong documents in biased's top ten, 75 of 100 are in the query's language; 50 of 100 of all documents "
        "are."
    )
    assert found["biased"].sentences["preference"] == (
        "Asked in Japanese, biased puts wrong documents in Japanese above the answer 2.0 times as often as their "
        "number explains."
    )
    assert "one document stands in 100 of 100 lists of Japanese queries" in found["hub"].sentences["hubs"]
    assert found["silent_in_japanese"].sentences["empty"] == (
        "silent_in_japanese finds nothing at all for 100 of 100 queries in Japanese."
    )


def test_a_slice_moves_what_is_counted_over_queries(store):
    found = systems_of(store, Selection("built", where=(("language", "en"),)))
    assert found["hub"].causes == {}
    assert {row.language for row in found["hub"].rows} == {None, "en"}
    assert found["hub"].distinct_documents == 2 * N  # all but the family that nobody asks for


def test_some_languages_are_shown_and_what_stands_out_is_over_all(store):
    found = systems_of(store, languages=("en",))
    assert {row.language for row in found["hub"].rows} == {None, "en"}
    assert found["hub"].causes == {"hubs": ("ja",)}


def test_what_nobody_has_looked_at_is_not_told(store):
    (task,) = causes.page(store, EXAMPLE).tasks
    assert [label.name for label in task.pending] == ["biased", "hub", "silent_in_japanese", "sound"]
    for system in task.systems:
        assert not system.diagnosed
        assert not {"unknown_characters", "alignment", "no_shared_word"} & set(system.rows[0].numbers)
        assert not {"unknown", "alignment", "words"} & set(system.sentences)


def test_unknown_names_are_refused(store):
    with pytest.raises(InputError, match="unknown system"):
        causes.page(store, Selection("built", systems=("nope",)))
    with pytest.raises(InputError, match="languages fr"):
        causes.page(store, EXAMPLE, languages=("fr",))


def test_imported_scores_cannot_answer(imported_store):
    with pytest.raises(InputError, match="the causes of failure need rankings"):
        causes.page(imported_store, Selection("imported"))


# --- tokens, vectors, words -------------------------------------------------------------------------------------------


def tokens(unknown_in_japanese, *, cut=()):
    """Ten characters a text; in Japanese some of them are unknown. Documents first, then queries."""
    sizes = {"document": 2 * (N + 1), "query": 2 * N}
    position = np.concatenate([np.arange(size) for size in sizes.values()])
    japanese = position % 2 == 1
    return {
        "item": np.repeat(list(sizes), list(sizes.values())).astype(object),
        "position": position.astype(np.int32),
        "tokens": np.where(japanese, 10, 4),
        "unknown_tokens": np.where(japanese, unknown_in_japanese, 0).astype(float),
        "characters": np.full(len(position), 10),
        "unknown_characters": np.where(japanese, unknown_in_japanese, 0).astype(float),
        "truncated": np.isin(np.arange(len(position)), cut),
    }


def space(cosine, random, *, told=1.0):
    """All families alike; the probe is right for a share of the texts, the first ones."""
    guessed = np.array(["en", "ja"] * N, dtype=object)
    guessed[int(told * 2 * N) :] = guessed[int(told * 2 * N) :][::-1]
    return {
        "text_space": {
            "item": np.array(["document"] * 2 * N, dtype=object),
            "position": np.arange(2 * N, dtype=np.int32),
            "silhouette": np.tile([0.5, 0.3], N),
            "guessed_language": guessed,
        },
        "translation": {
            "item": np.array(["document"] * N, dtype=object),
            "language": np.array(["en"] * N, dtype=object),
            "other_language": np.array(["ja"] * N, dtype=object),
            "family": np.array([f"f{n:02}" for n in range(N)], dtype=object),
            "cosine": np.full(N, cosine),
            "random": np.full(N, random),
        },
        "centroid_distance": {
            "language": np.array(["en"], dtype=object),
            "other_language": np.array(["ja"], dtype=object),
            "distance": np.array([1.25]),
        },
    }


def diagnose(store, system, tables, *, limit=None):
    runs = {run.system: run.run_id for run in store.runs([1])}
    with write.writer(store.cache) as writer:
        writer.add_diagnosis(
            runs[system], token_limit=limit, tokens_reason=None, vectors_reason=None, seed=1, tables=tables
        )
    return read.open_store(store.cache)


def test_a_tokeniser_that_does_not_know_kana(tmp_path):
    store = store_of(tmp_path, sound, biased)
    diagnose(store, "sound", {"text_tokens": tokens(0)})
    store = diagnose(store, "biased", {"text_tokens": tokens(7, cut=(1, 3))}, limit=9)
    found = systems_of(store)
    assert found["sound"].causes == {}
    assert found["biased"].causes == {"blind": ("ja",), "bias": ("ja",)}  # the root comes first
    assert value(found["biased"], "unknown_characters", "ja") == pytest.approx(0.7)
    assert value(found["biased"], "unknown_characters", "en") == 0
    assert value(found["biased"], "unknown_characters") == pytest.approx(0.35)
    assert value(found["biased"], "unknown_tokens", "ja") == pytest.approx(0.7)
    assert value(found["biased"], "characters_per_token", "en") == pytest.approx(2.5)
    assert value(found["biased"], "tokens_per_character", "ja") == pytest.approx(1)
    assert value(found["biased"], "truncated", "ja") == pytest.approx(2 / 41)
    assert found["biased"].of("ja").numbers["unknown_characters"].n == 2 * N + 1
    assert found["biased"].sentences["unknown"] == "biased sees 70 % of Japanese characters as unknown."
    assert found["biased"].sentences["fineness"] == (
        "A token of biased covers 2.5 characters of English and 1.0 of Japanese."
    )
    assert found["biased"].sentences["truncated"] == (
        "biased reads 9 tokens: the end of 5 % of Japanese texts is lost."
    )
    assert found["sound"].sentences["unknown"] == "sound knows practically every character."
    assert found["sound"].sentences["truncated"] == "sound reads whole texts."
    (task,) = causes.page(store, EXAMPLE).tasks
    assert task.takeaway.bold == "biased sees 70 % of Japanese characters as unknown."
    assert task.pending == ()


def test_a_ratio_of_sums_has_the_interval_of_drawn_families(tmp_path):
    """Half of the families have no unknown character, half have only such: 0.5, and as wide as twenty coins are."""
    columns = tokens(0)
    odd = (columns["position"] // 2) % 2 == 1  # of the 21 families 10
    columns["unknown_characters"] = np.where(odd, 10.0, 0.0)
    store = diagnose(store_of(tmp_path, sound), "sound", {"text_tokens": columns})
    found = systems_of(store)["sound"].of("en").numbers["unknown_characters"]
    assert found.value == pytest.approx(20 / 41)  # the last family has a document only
    half = 1.96 * (0.25 / (N + 1)) ** 0.5
    assert (found.low, found.high) == (pytest.approx(0.5 - half, abs=0.05), pytest.approx(0.5 + half, abs=0.05))
    assert found.method == "percentile-joint, B = 2000"


def test_nothing_is_unknown_to_a_byte_level_vocabulary(tmp_path):
    columns = tokens(0) | dict.fromkeys(("unknown_tokens", "unknown_characters"), np.full(4 * N + 2, np.nan))
    store = diagnose(store_of(tmp_path, sound), "sound", {"text_tokens": columns})
    found = systems_of(store)["sound"]
    assert value(found, "unknown_characters") is None
    assert value(found, "tokens_per_character", "ja") == 1
    assert found.sentences["unknown"] == "Nothing is unknown to sound: it can spell every text byte by byte."


def test_a_space_that_keeps_languages_apart_and_one_that_keeps_meanings_together(tmp_path):
    store = store_of(tmp_path, sound, biased)
    diagnose(store, "sound", space(0.9, 0.2, told=0.5))
    found = systems_of(diagnose(store, "biased", space(0.25, 0.2)))
    apart, together = found["biased"], found["sound"]
    assert (value(together, "alignment"), value(apart, "alignment")) == (pytest.approx(0.7), pytest.approx(0.05))
    assert value(together, "alignment_share", "ja") == pytest.approx(0.7 / 0.8)
    assert value(apart, "alignment_share") == pytest.approx(0.05 / 0.8)
    assert (value(apart, "probe_accuracy"), value(together, "probe_accuracy")) == (1, 0.5)
    assert value(apart, "silhouette", "en") == pytest.approx(0.5)
    assert apart.causes == {"bias": ("ja",), "unaligned": ("en", "ja")}
    assert together.causes == {}
    (pair,) = apart.pairs
    assert (pair.language, pair.other, pair.distance) == ("en", "ja", 1.25)
    assert pair.alignment.value == pytest.approx(0.05)
    assert apart.sentences["alignment"] == (
        "For biased a translation comes 6 % of the way from any text to the same vector, in English 6 %."
    )
    assert apart.sentences["separability"].startswith(
        "From biased's vector alone a simple classifier tells the language of 100 of 100 texts"
    )
    assert (
        apart.sentences["distance"] == "In biased's space English and Japanese lie farthest apart: 1.25 of at most 2."
    )


def test_a_system_that_compares_words(tmp_path):
    words = {
        "query": np.arange(2 * N, dtype=np.int32),
        "is_known": np.tile([True, False], N),
        "is_shared": [True, False] * N,
    }
    found = systems_of(diagnose(store_of(tmp_path, sound), "sound", {"word_match": words}))["sound"]
    assert value(found, "no_shared_word", "ja") == 1
    assert value(found, "no_shared_word") == 0.5
    assert value(found, "no_known_word", "en") == 0
    assert found.causes == {"words": ("ja",)}
    assert found.sentences["words"] == (
        "50 of 100 queries share no word with an answer in another language, so sound cannot find it."
    )


def test_doubtful_items_are_left_out_of_every_number(tmp_path):
    flags = (Flag("query", "q00-ja", "no text"), Flag("document", "d01-ja", "no text"))
    store = store_of(tmp_path, biased, flags=flags)
    columns = tokens(7)
    columns["unknown_characters"][[3, 2 * (N + 1) + 1]] = 0  # of the flagged document and the flagged query
    near = space(0.9, 0.2)
    near["translation"]["cosine"][1] = -1.0  # of the flagged document's family
    store = diagnose(store, "biased", {"text_tokens": columns, **near})
    whole, without = systems_of(store)["biased"], systems_of(store, EXAMPLE._replace(without_flagged=True))["biased"]
    assert value(whole, "unknown_characters", "ja") == pytest.approx(0.7 * 39 / 41)
    assert value(without, "unknown_characters", "ja") == pytest.approx(0.7)
    assert without.of("ja").numbers["unknown_characters"].n == 2 * N - 1
    assert without.of("ja").numbers["same_language_irrelevant_at_10"].n == N - 1
    assert without.of("ja").numbers["silhouette"].n == N - 1
    assert value(whole, "alignment") == pytest.approx((19 * 0.9 - 1) / 20 - 0.2)
    assert value(without, "alignment") == pytest.approx(0.7)


def test_a_corpus_in_one_language_has_no_language_to_prefer(tmp_path):
    benchmark = built()
    task = benchmark.tasks[0]
    english = tuple(document for document in task.documents if document.language == "en")
    judged = tuple(row for row in task.judgements if row.document_id.endswith("en"))
    task = replace(task, documents=english, judgements=judged)
    lists = [[f"d{query.id[1:3]}-en", *wrong(query, ("en",), 9)] for query in task.queries]
    store = put(
        Cache(tmp_path), replace(benchmark, tasks=(task,)), {("one", "lexical"): ranking_of(task, lists, depth=10)}
    )
    found = systems_of(store)["one"]
    assert found.causes == {}
    assert not {"bias", "preference"} & set(found.sentences)
    assert value(found, "same_language_irrelevant_at_10", "en") is None


def test_two_queries_are_too_few_to_name_a_cause(example_store):
    found = systems_of(example_store, Selection("example"))
    assert {name: system.causes for name, system in found.items()} == {"good": {}, "bad": {}}
    assert value(found["bad"], "empty_list", "ja") == 1


def test_what_chance_gives_is_no_excess():
    assert causes.excess(0.5, 0.5) == 0
    assert causes.excess(1.0, 0.5) == 1
    assert causes.excess(0.75, 0.5) == 0.5
    assert causes.excess(1.0, 1.0) is None
