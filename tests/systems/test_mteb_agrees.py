"""What the tables of the catalogue say, against mteb's own catalogue of models, where mteb is installed.

It is no requirement: ``pip install mteb`` in an environment of its own, then pytest this file with ``--noconftest``.
"""

import pytest

from analysis.systems import catalogue

mteb = pytest.importorskip("mteb", reason="mteb is not installed")

KINDS = ("dense", "cross-encoder")
TABLES = {table.model: table for table in catalogue.catalogue().values() if table.model and table.kind in KINDS}
DENSE = {name for name, table in TABLES.items() if table.kind == "dense"}
UNKNOWN = {  # to mteb
    "cambridgeltl/SapBERT-from-PubMedBERT-fulltext",
    "cambridgeltl/SapBERT-UMLS-2020AB-all-lang-from-XLMR",
    "FremyCompany/BioLORD-2023",
}
NEWER = {  # tables whose commit is newer than mteb's
    "intfloat/multilingual-e5-large-instruct",
    "google/embeddinggemma-300m",
    "Qwen/Qwen3-Embedding-0.6B",
    "sentence-transformers/LaBSE",
}
MORE_LANGUAGES = {"BAAI/bge-m3"}  # those of its paper
TERMS = {"Gemma terms of use": "gemma"}
TASK = "Given a web search query, retrieve relevant passages that answer the query"
LETTERS = {  # mteb's codes of three letters
    "ar": {"ara", "arb"},
    "zh": {"zho", "cmn"},
    **{"cs": {"ces"}, "de": {"deu"}, "en": {"eng"}, "es": {"spa"}, "fr": {"fra"}, "hi": {"hin"}, "it": {"ita"}},
    **{"ja": {"jpn"}, "ko": {"kor"}, "nl": {"nld"}, "pl": {"pol"}, "pt": {"por"}, "ru": {"rus"}, "th": {"tha"}},
    "tr": {"tur"},
}


@pytest.fixture(scope="module")
def theirs():
    """mteb's entry of each model of the catalogue."""
    return {meta.name: meta for meta in mteb.get_model_metas() if meta.name in TABLES}


def models(*without):
    left_out = set().union(UNKNOWN, *without)
    return [name for name in TABLES if name not in left_out]


def told(meta, *names):
    """The first of the names that the entry has: they changed between versions."""
    return next((value for name in names if (value := getattr(meta, name, None)) is not None), None)


def test_mteb_knows_the_same_models_as_ever(theirs):
    assert set(TABLES) - set(theirs) - UNKNOWN == set()


@pytest.mark.parametrize("name", models(NEWER))
def test_the_commit_is_mtebs(theirs, name):
    assert TABLES[name].revision == theirs[name].revision


@pytest.mark.parametrize("name", models())
def test_size_dimension_and_length_are_mtebs(theirs, name):
    table, meta = TABLES[name], theirs[name]
    if (megabytes := told(meta, "memory_usage_mb")) is not None:
        assert table.size_mb == pytest.approx(megabytes * 2**20 / 1e6, rel=0.005)
    if table.kind == "dense":
        assert table.dimension == told(meta, "embed_dim")
        assert table.max_length <= told(meta, "max_tokens")


@pytest.mark.parametrize("name", models())
def test_the_licence_is_mtebs(theirs, name):
    licence = told(theirs[name], "license")
    if licence is None:
        pytest.skip("mteb names none")
    assert TERMS.get(TABLES[name].licence, TABLES[name].licence.lower()) == licence


@pytest.mark.parametrize("name", models(MORE_LANGUAGES))
def test_no_language_is_claimed_that_mteb_does_not_list(theirs, name):
    known = {str(code)[:3] for code in theirs[name].languages}
    assert [code for code in TABLES[name].languages if not LETTERS[code] & known] == []


@pytest.mark.parametrize("name", models({"google/embeddinggemma-300m"}, TABLES.keys() - DENSE))
def test_the_prompts_are_mtebs(theirs, name):
    """mteb leaves EmbeddingGemma's to the model's own configuration."""
    table = TABLES[name]
    assert (table.prompts.query, table.prompts.document) == prompts(theirs[name])


def prompts(meta):
    """Query's and document's, of an entry that lists them, or that has an instruction to be filled in, or neither."""
    arguments = getattr(meta, "loader_kwargs", None) or {}
    if given := arguments.get("model_prompts"):
        return given["query"], given["document"]
    if not told(meta, "use_instructions"):
        return "", ""
    template = arguments.get("instruction_template") or template_of(meta)
    filled = template(TASK) if callable(template) else template.format(instruction=TASK)
    assert arguments.get("apply_instruction_to_passages", False) is False
    return filled, ""


def template_of(meta):
    """The function beside the loader of an entry that fills an instruction in."""
    return meta.loader.__globals__["instruction_template"]
