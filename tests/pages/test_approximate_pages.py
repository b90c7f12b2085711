"""Runs that were not searched exactly: their recall stands with them and on the pages."""

import html
import json
import shutil

from visits import Visit, words

from analysis.cli import main
from analysis.jobs import own_systems, what_if
from analysis.jobs.own_systems import NewSystem
from analysis.jobs.run import RunRequest, run
from analysis.jobs.what_if import WhatIf
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems import approximate
from analysis.systems.encoders import LoadOptions
from analysis.views.approximate import sentence
from analysis.views.selection import Selection

LETTERS = """
import numpy as np

def encode(texts, role):
    return np.array([[1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts])
"""


def test_the_recall_stands_with_the_run_and_on_the_pages(example_store, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(shutil.copytree(example_store.cache.root, tmp_path / "store")))
    monkeypatch.setattr(approximate, "worthwhile", lambda documents, queries: True)
    monkeypatch.setattr(approximate, "MOST", 1.0)
    (tmp_path / "letters_of_pages.py").write_text(LETTERS, encoding="utf-8")
    told = NewSystem("letters", function="letters_of_pages:encode", folder=tmp_path, dimension=26)
    own_systems.add(told)
    own_systems.add(NewSystem("fused", title="Fused", fuse=("bm25", "letters")))
    cache = Cache(tmp_path / "store")
    store = read.open_store(cache)
    name = store.benchmarks()[0].name
    assert sentence(store, Selection(name)) == ""
    load = LoadOptions(allow_code=True)
    report = run(cache, request=RunRequest(name, systems=("fused",), load=load), progress=silent)
    assert report.approximate[0].startswith("main: fused: letters: 100.0 %")
    said = sentence(read.open_store(cache), Selection(name))
    assert said.startswith("Searched approximately, as there are very many documents: Fused on ")
    assert "100.0 % of the exact first 10 and 100.0 % of the first" in said
    assert sentence(read.open_store(cache), Selection(name, systems=("bm25",))) == ""
    assert main(["list", "runs", "--system", "fused", "--format", "json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["provenance"]["approximate"]["letters"]["recall_at_10"] == 1.0
    assert said in words(Visit().page("overview"))
    assert said not in words(Visit().page("data"))
    assert main(["report", "--benchmark", name]) == 0
    assert html.escape(said) in capsys.readouterr().out
    what_if.keep(WhatIf(name, "main", "rrf", ("fused", "good")), "both", cache.root)
    assert sentence(read.open_store(cache), Selection(name, systems=("both",))).startswith("Searched approximately")
