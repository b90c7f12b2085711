"""Runs of real models that are killed while they encode, and what each run says of the texts it cut."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from analysis.cli import main
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems import catalogue, truncation
from analysis.systems.made_by import made_by
from analysis.systems.truncation import Truncation
from analysis.views import data
from tests.hand_made import put, worked_example
from tests.systems import tiny_models

ROOT = Path(__file__).resolve().parents[2]
TABLES = """
[tiny]
title = "Tiny"
short_title = "Tiny"
paradigm = "multilingual dense"
kind = "dense"
backend = "sentence-transformers"
folder = "{folder}/tiny"
pooling = "mean"
max_length = 12

[pairs]
title = "Pairs"
short_title = "Pairs"
paradigm = "two-stage"
kind = "cross-encoder"
folder = "{folder}/pairs"
max_length = 24

[reranked]
title = "Reranked"
short_title = "Reranked"
paradigm = "two-stage"
kind = "two-stage"
parts = ["tiny", "pairs"]
pool = 3
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    tiny_models.backbone(folder / "tiny", architecture="bert", dimension=32, positions=64)
    tiny_models.backbone(folder / "pairs", architecture="pairs", dimension=32, positions=64)
    return folder


@pytest.fixture
def stored(models, tmp_path, monkeypatch):
    """Makes a store of the worked example whose own systems are the tiny models; the last one is in force."""

    def made(name):
        cache = Cache(tmp_path / name)
        put(cache, worked_example(), {})
        cache.own_systems.write_text(TABLES.format(folder=models), encoding="utf-8")
        monkeypatch.setenv("BABELSCOPE_CACHE", str(cache.root))
        return cache

    return made


def run_of(cache, system):
    store = read.open_store(cache)
    return next(row for row in store.runs([1]) if row.system == system)


# --- killed -----------------------------------------------------------------------------------------------------------

SERVER = """
import os, signal, sys
import sentence_transformers, transformers.models.bert.modeling_bert, transformers.models.xlm_roberta
from analysis.cli import main
from analysis.store.embeddings import EmbeddingStore
from analysis.systems import encoding
encoding.CHUNK_TEXTS = encoding.MOST_TEXTS = encoding.MOST_PAIRS = 2
real, puts = EmbeddingStore.put, 0

def put(self, *arguments, **rest):
    global puts
    puts += 1
    if puts == limit:
        os.kill(os.getpid(), signal.SIGKILL)
    real(self, *arguments, **rest)

EmbeddingStore.put = put
for line in sys.stdin:
    root, limit = line.split()[0], int(line.split()[1])
    child = os.fork()
    if not child:
        sys.stdin.close()
        os.environ["BABELSCOPE_CACHE"] = root
        os._exit(main(["run", "--benchmark", "example", "--systems", "reranked", "--device", "cpu", "--threads", "1"]))
    print(os.waitpid(child, 0)[1], flush=True)
"""


def kept(cache):
    """Every stored vector and score by space and text, and how many are stored twice."""
    found, n = {}, 0
    for file in sorted(cache.embeddings.rglob("vectors-*.npz")):
        arrays = np.load(file)
        for text, vector in zip(arrays["hashes"], arrays["vectors"], strict=True):
            found[file.parent.name, text.tobytes()] = vector
            n += 1
    return found, n - len(found)


def test_killed_while_it_encodes_and_while_it_scores_a_run_does_only_the_rest(stored):
    """11 documents, 2 queries and 6 pairs, two at a time; each kill comes before the chunk at hand is stored."""
    broken, whole = stored("broken"), stored("whole")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip

        def ended(cache, limit):
            server.stdin.write(f"{cache.root} {limit}\n")
            server.stdin.flush()
            return int(server.stdout.readline())

        assert ended(broken, 3) == signal.SIGKILL
        assert len(kept(broken)[0]) == 4
        assert ended(broken, 7) == signal.SIGKILL  # the other 7 documents, the queries, one chunk of pairs
        assert len(kept(broken)[0]) == 13 + 2
        assert [ended(broken, 0), ended(whole, 0)] == [0, 0]
        server.stdin.close()
    resumed, uninterrupted = (run_of(cache, "reranked").provenance for cache in (broken, whole))
    assert (resumed["encoded_texts"], uninterrupted["encoded_texts"]) == (4, 13 + 6)
    assert uninterrupted["texts_per_second"] == pytest.approx(19 / uninterrupted["encode_seconds"], rel=0.05)
    assert uninterrupted["devices"] == ["cpu"]
    (ours, twice), (expected, _) = kept(broken), kept(whole)
    assert (ours.keys(), twice) == (expected.keys(), 0)
    for key, vector in expected.items():
        assert ours[key] == pytest.approx(vector, abs=1e-6)
    assert resumed["truncated"] == uninterrupted["truncated"]
    hits = [read.open_store(cache).ranks([run_of(cache, "reranked").run_id]) for cache in (broken, whole)]
    assert np.array_equal(*hits)


# --- cut --------------------------------------------------------------------------------------------------------------

DOCUMENTS = (
    "80 % of the English and 80 % of the French documents are longer than 12 tokens; the rest of each was not read."
)


def without_lengths(cache):
    """Chunks as they were before lengths were kept with vectors."""
    for file in cache.embeddings.rglob("vectors-*.npz"):
        arrays = dict(np.load(file))
        np.savez(file, **{name: arrays[name] for name in ("hashes", "vectors")})


def test_every_run_says_what_was_cut_whether_or_not_it_encoded_anything(stored, capsys):
    cache = stored("store")
    assert main(["run", "--benchmark", "example", "--systems", "tiny,reranked,bm25", "--device", "cpu"]) == 0
    assert f"cut main: tiny: {DOCUMENTS}" in capsys.readouterr().err
    tiny = run_of(cache, "tiny").provenance["truncated"]
    document = {"en": {"cut": 4, "texts": 5}, "fr": {"cut": 4, "texts": 5}, "ja": {"cut": 0, "texts": 1}}
    query = {"en": {"cut": 1, "texts": 1}, "ja": {"cut": 0, "texts": 1}}
    sides = {"document": {"limit": 12, "languages": document}, "query": {"limit": 12, "languages": query}}
    assert tiny == {"tiny": sides}
    pairs = run_of(cache, "reranked").provenance["truncated"]
    assert pairs["tiny"] == sides
    assert pairs["pairs"]["pair"]["limit"] == 24
    read_pairs = pairs["pairs"]["pair"]["languages"].values()
    assert sum(row["texts"] for row in read_pairs) == 6
    assert sum(row["cut"] for row in read_pairs) == 3  # with the English question every one, with the Japanese none
    assert "truncated" not in run_of(cache, "bm25").provenance
    again = RunRequest("example", systems=("tiny", "reranked"), force=True)
    for change in (lambda: None, lambda: without_lengths(cache)):
        change()
        run(cache, request=again, progress=silent)
        assert run_of(cache, "tiny").provenance["encoded_texts"] == 0
        assert run_of(cache, "tiny").provenance["truncated"] == tiny
    assert "pairs" not in run_of(cache, "reranked").provenance["truncated"]  # old scores: nothing is known, not 0

    capsys.readouterr()
    assert main(["list", "runs", "--system", "tiny", "--format", "json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["read"] == [DOCUMENTS, "100 % of the English queries are longer than 12 tokens; the rest of each was "
                              "not read."]  # fmt: skip
    (benchmark,) = data.benchmarks_stored(read.open_store(cache))
    said = {found.system.name: found.read for found in benchmark.tasks[0].runs}
    assert said["tiny"][0] == DOCUMENTS
    assert said["reranked"][0] == f"Tiny: {DOCUMENTS}"
    assert said["bm25"] == ()
    page = AppTest.from_file(str(ROOT / "pages" / "data.py"), default_timeout=120).run()
    page = page.selectbox(key="managed-run").set_value("run tiny").run()
    shown = " ".join(element.proto.body for element in page.get("html"))
    assert DOCUMENTS in shown
    assert "encoded texts" in shown
    assert "languages ja cut" not in shown  # the record below says it in words only
    assert not page.exception


def test_the_words():
    def words(role="document", **languages):
        return Truncation("tiny", role, 2048, languages).words

    assert words(ja=(12, 100), en=(0, 9)) == (
        "12 % of the Japanese documents are longer than 2,048 tokens; the rest of each was not read."
    )
    assert words(en=(1, 1000)).startswith("under 1 % of the documents are longer")
    assert words(en=(999, 1000), ja=(0, 9)).startswith("over 99 % of the English documents")
    assert words(en=(2, 2), ja=(9, 9)) == "all documents are longer than 2,048 tokens; the rest of each was not read."
    assert words("query", ja=(5, 10), ru=(4, 10), en=(3, 10), fr=(0, 10)).startswith(
        "50 % of the Japanese, 40 % of the Russian and 30 % of the English queries are longer"
    )
    assert words(ja=(5, 10), ru=(4, 10), en=(3, 10), fr=(1, 10), de=(0, 10)) == (
        "26 % of the documents are longer than 2,048 tokens, from none of the German to 50 % of the Japanese; "
        "the rest of each was not read."
    )
    assert words("pair", ja=(1, 2), en=(0, 1)).startswith(
        "50 % of the Japanese documents are, together with the query they were read with, longer than 2,048 tokens"
    )
    assert words(ja=(0, 3)) == ""
    nothing = truncation.sentences("tiny", [Truncation("tiny", "query", 12, {"ja": (0, 3)})])
    assert nothing == ("Every text was read to its end: none is longer than 12 tokens.",)
    assert truncation.sentences("tiny", truncation.recorded({})) == ()


def test_a_run_in_bfloat16_is_known_by_its_settings(stored):
    cache = stored("store")
    flags = ["--benchmark", "example", "--systems", "reranked", "--dtype", "bfloat16", "--device", "cpu"]
    assert main(["run", *flags, "--max-length", "20"]) == 0
    made = run_of(cache, "reranked")
    parts = made.provenance["settings"]["parts"]
    assert {(part["dtype"], part["max_length"]) for part in parts.values()} == {("bfloat16", 20)}
    origin = made_by(made)
    assert (origin.entry, origin.max_length, origin.dtype) == (catalogue.entry("reranked"), 20, "bfloat16")
