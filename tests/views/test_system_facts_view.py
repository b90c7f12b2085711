import json
import re

import pytest

from analysis.cli import main
from analysis.errors import InputError
from analysis.systems import catalogue
from analysis.systems.entry import DTYPES
from analysis.views.system_facts import system_facts


@pytest.mark.parametrize("name", catalogue.systems())
def test_every_fact_of_every_model_is_there(name):
    facts = system_facts(name)
    assert facts.note
    for model in facts.models:
        assert model.origin
        assert model.licence
        assert model.source.endswith(".")
        if catalogue.entry(model.name).kind != "import-only":
            assert model.precision in DTYPES
        if catalogue.entry(model.name).model:
            assert re.fullmatch("[0-9a-f]{40}", model.commit)
            assert model.size_mb > 10
        if catalogue.entry(model.name).kind == "dense":
            assert None not in (model.query_prompt, model.document_prompt)


def test_a_composition_names_what_it_is_made_of():
    facts = system_facts("bge-m3-reranker")
    assert facts.parts == ("BGE-M3 (dense vectors)", "BGE reranker v2 M3")
    assert facts.settings == (("Documents rescored", "30"),)
    assert [(model.name, model.dimension, model.max_length) for model in facts.models] == [
        ("bge-m3", 1024, 8192),
        ("bge-reranker-v2-m3", None, 512),
    ]
    assert system_facts("nomic-embed-text-v2-moe").models[0].code == (
        "nomic-ai/nomic-bert-2048 7710840340a098cfb869c4f65e87cf2b1b70caca"
    )
    words = "words between blanks, lower-cased"
    assert system_facts("bm25").settings == (("Texts are cut into", words), ("k1", "1.5"), ("b", "0.75"))
    assert [model.name for model in system_facts("use-maxsim").models] == ["use-multilingual-v3", "all-minilm-l6-v2"]


def test_an_unknown_system_is_named():
    with pytest.raises(InputError, match="'splade' is not in the catalogue"):
        system_facts("splade")


def test_the_command_line_has_the_same_facts(example_store, capsys):
    listing = ["list", "systems", "--cache", str(example_store.cache.root), "--format"]
    assert main([*listing, "json"]) == 0
    rows = {row["system"]: row["facts"] for row in json.loads(capsys.readouterr().out)}
    (labse,) = rows["labse"]["models"]
    assert (labse["pooling"], labse["projections"], labse["max_length"]) == ("cls", [768], 256)
    assert labse["commit"] == catalogue.entry("labse").revision
    assert rows["good"] is None  # a run of somebody else
    assert main([*listing, "table"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split()[-2:] == ["command", "needs"]
