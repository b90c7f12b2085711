"""Runs that were not searched exactly: their recall stands with them and on the pages."""

import json
import shutil

from visits import Visit, words

from analysis.cli import main
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems import index
from analysis.views.approximate import sentence
from analysis.views.selection import Selection


def test_the_recall_stands_with_the_run_and_on_the_pages(example_store, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(shutil.copytree(example_store.cache.root, tmp_path / "store")))
    monkeypatch.setattr(index, "EXACT_LIMIT", 1)
    cache = Cache(tmp_path / "store")
    store = read.open_store(cache)
    name = store.benchmarks()[0].name
    assert sentence(store, Selection(name)) == ""
    run(cache, request=RunRequest(name, systems=("rrf-bm25-use",)), progress=silent)
    said = sentence(read.open_store(cache), Selection(name))
    assert said.startswith("Searched approximately, as there are very many documents. RRF BM25 + USE on ")
    assert "100.0 % of the exact first 10 and 100.0 % of the first" in said
    assert sentence(read.open_store(cache), Selection(name, systems=("bm25",))) == ""
    assert main(["list", "runs", "--system", "rrf-bm25-use", "--format", "json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["provenance"]["approximate"]["use-multilingual-v3"]["recall_at_10"] == 1.0
    assert said in words(Visit().page("overview"))
