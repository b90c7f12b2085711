"""Models trained for late interaction: random weights in ColBERT's folder layout, against calculations by hand."""

import json
import re
import shutil
import string
from dataclasses import asdict

import numpy as np
import pytest

from analysis.errors import InputError, SystemLoadError, SystemRefusedError
from analysis.jobs import own_systems
from analysis.model import Corpus, Questions
from analysis.paths import Cache
from analysis.systems import catalogue, late_interaction, multi_vector, rerank, tokenizers
from analysis.systems.assemble import build
from analysis.systems.live import Wanted, open_live
from analysis.systems.readiness import readiness
from analysis.systems.reading import Reading, adapter_of, recorded
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench
from tests.systems import tiny_models

PROVEN = ("colbert-xm",)

OPTIONS = LoadOptions(offline=True, threads=1)
ADAPTERS = {"en": "en_XX", "fr": "fr_XX", "zh-Hant": "zh_TW"}
TEXTS = ["knee pain, left (old)", "", "fever", "x" * 300, "the knee, " * 40]

MINE = """
[mine]
title = "Mine"
short_title = "Mine"
paradigm = "two-stage"
kind = "two-stage"
parts = ["bm25", "colbert-xm"]
pool = 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    tiny_models.colbert(home / "colbert-xm")
    return home / "colbert-xm"


@pytest.fixture(scope="module")
def colbert(folder):
    """The catalogue's own table; only the folder stands in for the hub, and random weights claim no language."""
    head, name, tail = catalogue.CATALOGUE.read_text(encoding="utf-8").partition("[colbert-xm]\n")
    silent = re.sub(r"^languages = .*\n", "", tail, count=1, flags=re.MULTILINE)
    file = folder.parent / "catalogue.toml"
    file.write_text(head + name + silent + MINE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "CATALOGUE", file)
        patch.setenv("BABELSCOPE_MODELS", str(folder.parent))
        yield catalogue.entry("colbert-xm")


@pytest.fixture(scope="module")
def model(colbert):
    return multi_vector.load(colbert, OPTIONS)


@pytest.fixture(scope="module")
def bench(colbert, tmp_path_factory):
    return Workbench(Cache(tmp_path_factory.mktemp("cache")), options=OPTIONS)


@pytest.fixture(scope="module")
def by_hand(folder):
    """Of one text alone, so without padding: ids written down, the adapter set as the model's default, projected."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, XmodModel

    tokenizer = AutoTokenizer.from_pretrained(folder)
    backbone = XmodModel.from_pretrained(folder).eval()
    projection = load_file(folder / "model.safetensors")["linear.weight"]
    start, end, unknown, mask = (tokenizer.convert_tokens_to_ids(name) for name in ("<s>", "</s>", "<unk>", "<mask>"))
    assert tokenizer.convert_tokens_to_ids("[unused0]") == unknown  # the marker that X-MOD's vocabulary lacks
    marks = {tokenizer.convert_tokens_to_ids(mark) for mark in string.punctuation}

    def vectors(text, role, language):
        letters = [tokenizer.convert_tokens_to_ids(letter) for letter in text]
        ids = [start, unknown, *letters[: (32 if role == "query" else 256) - 3], end]
        ids += [mask] * (32 - len(ids)) if role == "query" else []
        backbone.set_default_language(ADAPTERS[language])
        with torch.no_grad():
            hidden = backbone(input_ids=torch.tensor([ids])).last_hidden_state[0]
        found = torch.nn.functional.normalize(hidden @ projection.T, dim=1).numpy()
        return found if role == "query" else found[[code not in marks for code in ids]]

    return vectors


def test_the_table_says_what_the_authors_files_say(colbert, folder):
    said = (colbert.query_marker, colbert.document_marker, colbert.query_length, colbert.max_length, colbert.dimension)
    assert said == ("[unused0]", "[unused1]", 32, 256, 128)
    assert (colbert.attend_to_masks, colbert.skip_punctuation, colbert.adapters) == (True, True, True)
    assert colbert.folder == str(folder)
    facts = catalogue.settings(colbert)
    told = [facts[name] for name in ("query_marker", "document_marker", "query_length", "max_length", "dtype")]
    assert told == ["[unused0]", "[unused1]", 32, 256, "float32"]
    assert catalogue.fingerprint(colbert) != catalogue.fingerprint(colbert, max_length=128)
    kept = recorded(catalogue.entry("mine"), LoadOptions(max_length=64))
    assert kept == {"colbert-xm": asdict(Reading("[unused0]", "[unused1]", 32, 64, True, True))}


@pytest.mark.parametrize("language", ADAPTERS)
def test_token_vectors_are_those_of_a_calculation_by_hand(model, by_hand, language):
    reader = model.speaking(language)
    for role in ("query", "document"):
        none, found = reader.encode_tokens(TEXTS, role=role)
        assert none.shape == (len(TEXTS), 0)
        for text, matrix in zip(TEXTS, found, strict=True):
            expected = by_hand(text, role, language)
            assert matrix.shape == expected.shape
            assert matrix.astype(np.float32) == pytest.approx(expected, abs=1e-3)
            assert len(model.tokens(text, role=role)) == len(matrix)
    assert model.tokens("a, b", role="document") == ["<s>", "[unused1]", "a", " ", "b", "</s>"]
    assert model.tokens("ab", role="query") == ["<s>", "[unused0]", "a", "b", "</s>", *["<mask>"] * 27]


def test_the_same_text_in_another_language_has_other_vectors_in_the_cache_too(colbert, bench, by_hand):
    texts, languages = ["cold", "pain", "cold", "cold"], ["en", "en", "fr", "en"]
    found = bench.token_vectors(colbert, texts, role="document", languages=languages)
    for place, (text, language) in enumerate(zip(texts, languages, strict=True)):
        matrix = found.tokens[found.offsets[place] : found.offsets[place + 1]].astype(np.float32)
        assert matrix == pytest.approx(by_hand(text, "document", language), abs=1e-3)
    assert np.abs(by_hand("cold", "document", "en") - by_hand("cold", "document", "fr")).max() > 0.1
    assert bench.encoded(colbert).texts == 3
    kept = bench.token_vectors(colbert, texts, role="document", languages=languages)
    assert bench.encoded(colbert).texts == 3
    assert (kept.tokens == found.tokens).all()


CORPUS = Corpus.of(
    ("a", "b", "c", "d", "e", "f"),
    languages=("en", "fr", "fr", "en", "zh-Hant", "en"),
    texts=("knee pain", "knee pain", "mal de genou", "fever", "fever", "knee pain"),
)
QUESTIONS = Questions(("q", "r"), ("en", "fr"), ("fever of the knee", "fievre de genou"), {1: np.array([1], np.int32)})


def looped(by_hand, query):
    """MaxSim by two loops over tokens, of every document."""
    asked = by_hand(QUESTIONS.texts[query], "query", QUESTIONS.languages[query])
    documents = [by_hand(t, "document", tag) for t, tag in zip(CORPUS.texts, CORPUS.languages, strict=True)]
    return [sum(max(float(q @ d) for d in document) for q in asked) for document in documents]


@pytest.fixture(scope="module")
def expected(by_hand):
    return [looped(by_hand, query) for query in range(2)]


def test_alone_it_ranks_as_two_loops_do_asked_live_too(bench, expected):
    found = bench.rank(build("colbert-xm"), CORPUS, QUESTIONS, depth=6)
    live = open_live(build("colbert-xm"), CORPUS, workbench=bench)
    for query, language in enumerate(QUESTIONS.languages):
        scores, gone = expected[query], QUESTIONS.excluded.get(query, np.zeros(0, np.int32))
        kept = [place for place in range(6) if place not in gone]
        best = sorted(kept, key=lambda place: (-round(scores[place], 6), CORPUS.tie_order[place]))
        mine = found.query == query
        assert found.document[mine].tolist() == best
        assert found.score[mine] == pytest.approx([scores[place] for place in best], abs=5e-3)
        text = QUESTIONS.texts[query]
        assert live.ask(text, Wanted(excluded=gone, language=language)).documents.tolist() == best
        why = live.why(text, best[0], language=language)
        assert sum(share.value for share in why) == pytest.approx(scores[best[0]], abs=5e-3)


def test_as_second_stage_it_rescores_the_pool_of_another(bench, expected):
    stages = build("mine").stages(CORPUS, QUESTIONS, depth=6, workbench=bench)
    rescored = ~np.isnan(stages.second_score)
    pairs = list(zip(stages.ranking.query[rescored], stages.ranking.document[rescored], strict=True))
    assert [query for query, _ in pairs] == [0, 0, 1]  # the second question shares words with one document only
    assert stages.second_score[rescored] == pytest.approx([expected[q][d] for q, d in pairs], abs=5e-3)
    live = open_live(build("mine"), CORPUS, workbench=bench)
    top = stages.ranking.document[stages.ranking.query == 0]
    assert live.ask(QUESTIONS.texts[0], Wanted(language="en")).documents.tolist() == top.tolist()


def test_beyond_the_limit_it_is_a_second_stage_only(colbert, monkeypatch, tmp_path):
    for module in (late_interaction, rerank):
        monkeypatch.setattr(module, "LIMIT", 5)
    with pytest.raises(SystemRefusedError, match=r"declines 6 documents \(limit 5\); --force runs it"):
        build("colbert-xm").needs(CORPUS, QUESTIONS)
    forced = build("colbert-xm", force=True).needs(CORPUS, QUESTIONS)
    assert [need.language for need in forced] == ["en", "fr", "zh-Hant", "en", "fr"]  # documents, then questions
    assert own_systems.parts()["second"]["colbert-xm"] == "ColBERT-XM"
    asked = own_systems.NewSystem("own", first="bm25", second="colbert-xm", pool=5)
    assert own_systems.add(asked, tmp_path).parts == ("bm25", "colbert-xm")
    needs = build("mine").needs(CORPUS, QUESTIONS)
    assert {(need.role, need.language) for need in needs} == {("query", "en"), ("query", "fr")}


def test_a_language_without_an_adapter_is_refused_by_name(colbert, bench):
    japanese = Questions(("q",), ("ja",), ("膝",))
    said = "colbert-xm has an adapter for each language that it reads, and none for texts in Japanese \\(ja\\)"
    for name in ("colbert-xm", "bge-m3-colbert-xm"):
        with pytest.raises(SystemRefusedError, match=said):
            build(name).needs(CORPUS, japanese)
    with pytest.raises(SystemRefusedError, match=said):
        bench.token_vectors(colbert, ["膝"], role="query", languages=["ja"])
    live = open_live(build("colbert-xm"), CORPUS, workbench=bench)
    with pytest.raises(SystemRefusedError, match="an adapter for each language: say which the text is in"):
        live.ask("knee")
    assert adapter_of("nb", {"no": "no_XX"}) == "no_XX"
    assert adapter_of("zh-Hant", {"zh": "zh_CN"}) == "zh_CN"  # the language's, in another script


@pytest.fixture
def changed(colbert, folder, tmp_path, monkeypatch):
    """The same table with other files in its folder."""

    def change(how):
        home = tmp_path / "colbert-xm"
        shutil.copytree(folder, home)
        monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path))
        how(home)
        return catalogue.entry("colbert-xm")

    return change


def rewritten(home, how):
    from safetensors.torch import load_file, save_file

    weights = load_file(home / "model.safetensors")
    how(weights)
    save_file(weights, home / "model.safetensors", metadata={"format": "pt"})


def configured(home, **values):
    config = json.loads((home / "config.json").read_text())
    (home / "config.json").write_text(json.dumps(config | values))


FRENCH = "roberta.encoder.layer.0.output.adapter_modules.fr_XX.dense1.weight"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            lambda home: rewritten(home, lambda weights: weights.pop("linear.weight")),
            "has no projection of token vectors .linear.weight.: it was not trained for late interaction",
        ),
        (
            lambda home: configured(home, architectures=["XmodModel"]),
            "the files lack 1 of the model's weights .1.linear.weight., which were set at random",
        ),
        (
            lambda home: rewritten(home, lambda weights: weights.pop(FRENCH)),
            "the files lack 1 of the model's weights .encoder.layer.0.output.adapter_modules.fr_XX.dense1.weight.",
        ),
        (
            lambda home: configured(home, model_type="xlm-roberta"),
            "adapters = true, but the model has not an adapter for each language",
        ),
        (
            lambda home: (home / "model.safetensors").rename(home / "pytorch_model.bin"),
            "is a pickle; only safetensors are loaded",
        ),
    ],
)
def test_a_load_that_is_not_the_model_is_refused(changed, how, message):
    with pytest.raises(SystemLoadError, match=message):
        multi_vector.load(changed(how), OPTIONS)


def test_a_second_load_that_differs_is_refused(changed, model):
    turned = changed(lambda home: rewritten(home, lambda weights: weights["linear.weight"].neg_()))
    other = multi_vector.load(turned, OPTIONS)
    with pytest.raises(SystemLoadError, match="a second load of the same files gave other vectors"):
        multi_vector.prove(model, lambda: other)


def test_what_a_table_leaves_out_the_files_say_as_the_library_reads_them(extend_catalogue, tmp_path):
    """A BERT, whose vocabulary has both markers: there sentence-transformers does the whole of it."""
    from sentence_transformers import MultiVectorEncoder

    home = tmp_path / "plain"
    tiny_models.colbert(home, architecture="bert", query_maxlen=12, doc_maxlen=20, attend_to_mask_tokens=False)
    late = {"kind": "late-interaction", "paradigm": "late interaction", "folder": home, "dimension": 128}
    plain = multi_vector.load(extend_catalogue("plain", **late), OPTIONS)
    prompts = {"query": "[unused0]", "document": "[unused1]"}
    library = MultiVectorEncoder(str(home), local_files_only=True, prompts=prompts)
    texts = ["knee", "a, b; c", "fever and knee pain and more of it"]
    for role, encode in (("query", library.encode_query), ("document", library.encode_document)):
        theirs = encode(texts, convert_to_numpy=True)
        for mine, matrix in zip(plain.encode_tokens(texts, role=role)[1], theirs, strict=True):
            assert mine.astype(np.float32) == pytest.approx(matrix, abs=1e-3)
    blind = plain.encode_tokens(["knee"], role="query")[1][0].astype(np.float32)
    assert blind.shape == (12, 128)
    seeing = multi_vector.load(extend_catalogue("seeing", **late, attend_to_masks=True), OPTIONS)
    library[0].query_expansion = {"strategy": "fixed", "attend": True, "length": 12}
    found = seeing.encode_tokens(["knee"], role="query")[1][0].astype(np.float32)
    assert found == pytest.approx(library.encode_query("knee", convert_to_numpy=True), abs=1e-3)
    assert np.abs(found - blind).max() > 2e-3
    (home / "artifact.metadata").write_text('{"query_token_id": 7}')
    with pytest.raises(SystemLoadError, match="odd: query_token_id = 7 in artifact"):
        multi_vector.load(extend_catalogue("odd", **late), OPTIONS)
    (home / "artifact.metadata").unlink()
    with pytest.raises(SystemLoadError, match="query_marker is not in its table, nor is query_token_id in artifact"):
        multi_vector.load(extend_catalogue("mute", **late), OPTIONS)


def test_tokens_are_counted_against_the_limit_of_their_role(colbert):
    texts = ["x" * 29, "x" * 30, "x" * 254]
    queries, documents = (tokenizers.count(colbert, texts, role=role) for role in ("query", "document"))
    assert (queries.limit, queries.truncated.tolist()) == (32, [False, True, True])
    assert (documents.limit, documents.truncated.tolist()) == (256, [False, False, True])


def test_what_comes_by_import_is_named_and_never_run():
    flmr = catalogue.systems()["flmr"]
    assert all((flmr.source, flmr.licence, flmr.note))
    assert not catalogue.available(flmr)
    needed = readiness(flmr, benchmark="mine")
    assert needed.missing == "FLMR comes by import: nothing here loads it"
    assert needed.command == "python -m analysis import-run FILE --benchmark mine --task T --system flmr"
    assert (needed.by_run, needed.runs, catalogue.runs_here("flmr")) == (False, False, False)
    with pytest.raises(InputError, match="system 'flmr': nothing here loads it; its runs come by import-run"):
        build("flmr")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('kind = "import-only"\nlicence = "MIT"\nnote = "n"', "source is missing"),
        ('kind = "import-only"\nmodel = "a/b"', "only the keys of kind 'import-only'"),
        ('kind = "fusion"\nk = 60\nparts = ["bm25", "flmr"]', "expected systems that run here"),
        ('kind = "late-interaction"', "expected one dense system; or model or folder, trained for late interaction"),
        ('kind = "late-interaction"\nmodel = "a/b"', "dimension is missing"),
        ('kind = "late-interaction"\nmodel = "a/b"\ndimension = 8\nadapters = 1', "expected true or false"),
        ('kind = "late-interaction"\nparts = ["bm25"]\nquery_length = 3', "to be left out where there are parts"),
    ],
)
def test_the_rules_of_both_kinds(tmp_path, settings, message):
    file = tmp_path / "c.toml"
    table = f'\n[x]\ntitle = "X"\nshort_title = "X"\nparadigm = "hybrid"\n{settings}\n'
    file.write_text(catalogue.CATALOGUE.read_text(encoding="utf-8") + table, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        catalogue.catalogue(file)
