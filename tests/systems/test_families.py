"""Models whose family expects a prefix, told by name."""

import pytest

from analysis.systems.catalogue import catalogue
from analysis.systems.entry import Prompts
from analysis.systems.families import hint

NONE = Prompts()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "intfloat/multilingual-e5-base",
            "E5 models expect 'query: ' before each query and 'passage: ' before",
        ),
        ("intfloat/e5-mistral-7b-instruct", r"E5 instruct models expect 'Instruct: what a query asks for\nQuery: '"),
        ("BAAI/bge-base-en-v1.5", "English BGE models expect 'Represent this sentence for searching"),
        ("nomic-ai/nomic-embed-text-v1.5", "expect 'search_query: ' before each query and 'search_document: ' before"),
        ("Qwen/Qwen3-Embedding-0.6B", r"Query:' before each query: none is set"),
        ("Alibaba-NLP/gte-Qwen2-1.5B-instruct", "instruct models expect"),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "Arctic models of version 2 expect 'query: '"),
    ],
)
def test_a_family_is_told_by_its_name(name, expected):
    assert expected in hint([name], NONE, files_known=True)


@pytest.mark.parametrize("name", ["BAAI/bge-m3", "sentence-transformers/LaBSE", "my-model", "base5", "fe5ver"])
def test_others_are_not(name):
    assert hint([name], NONE, files_known=True) == ""


def test_what_is_set_is_not_asked_for():
    e5 = ["my-model", "intfloat/e5-base"]  # any of its names
    assert hint(e5, Prompts("query: ", "passage: "), files_known=True) == ""
    assert "expect 'passage: ' before each document: none is set. " in hint(e5, Prompts("query: "), files_known=True)
    assert "before each document: none is set" in hint(e5, Prompts("query: ", ""), files_known=True)
    assert "and its files, which may say it, are not here" in hint(e5, NONE, files_known=False)


def test_the_catalogue_gives_every_family_what_it_expects():
    for entry in catalogue().values():
        if entry.kind == "dense" and entry.model and entry.backend == "sentence-transformers" and not entry.package:
            assert hint([entry.model], entry.prompts, files_known=True) == "", entry.name
