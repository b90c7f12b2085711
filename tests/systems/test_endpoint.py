"""Embedding endpoints, against a real server on this machine: what is sent, what is waited for, what is refused."""

import json
import time
import zlib

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError, SystemLoadError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.jobs.run import RunRequest, run
from analysis.model import silent
from analysis.paths import Cache
from analysis.systems import catalogue, encoders, endpoint, remote
from analysis.systems.assemble import build
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench
from tests.json_server import JsonServer

KEY = "sk-very-secret-1234"
DIMENSION = 12


def vector(text):
    return np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMENSION).tolist()


def answered(texts):
    rows = [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    return {"data": rows[::-1]}  # out of order, as the index allows


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server, and an empty cache folder in force."""
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("THEIR_KEY", KEY)
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    found = JsonServer(lambda body: answered(body["input"]))
    yield found
    found.close()


def added(server, **more):
    told = {"url": server.url, "model": "m", "dimension": DIMENSION, "key_variable": "THEIR_KEY", **more}
    return own_systems.add(NewSystem("remote", **told))


def test_texts_go_in_batches_with_prompt_and_key_and_come_back_in_order(server):
    encoder = encoders.load(added(server, batch=3, query_prompt="query: "), LoadOptions())
    server.asked.clear()
    vectors = encoder.encode(["a", "b", "c", "d"], role="query")
    expected = np.array([vector(f"query: {text}") for text in "abcd"])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert [(path, body["model"], body["input"]) for path, body, _ in server.asked] == [
        ("/v1/embeddings", "m", ["query: a", "query: b", "query: c"]),
        ("/v1/embeddings", "m", ["query: d"]),
    ]
    assert {headers["Authorization"] for _, _, headers in server.asked} == {f"Bearer {KEY}"}
    assert np.allclose(encoder.encode(["a"], role="document") @ vectors[0], np.dot(*unit("a", "query: a")), atol=1e-6)


def unit(*texts):
    return [np.array(vector(text)) / np.linalg.norm(vector(text)) for text in texts]


def test_a_busy_server_is_asked_again(server, monkeypatch):
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    encoder = endpoint.Endpoint(added(server))
    server.plan = [(429, {"Retry-After": "7"}, "slow down"), (503, {}, ""), (500, {"Retry-After": "99999"}, "")]
    assert np.allclose(encoder.vectors(["a"]), [vector("a")])
    assert waited == [7.0, 0.02, remote.LONGEST_PAUSE]


def test_an_answer_that_breaks_off_or_does_not_come_is_asked_for_again(server):
    encoder = endpoint.Endpoint(added(server, timeout=1))

    def breaks_off(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data"')

    server.plan = [breaks_off, lambda handler: time.sleep(1.3)]
    assert np.allclose(encoder.vectors(["a"]), [vector("a")])
    assert len(server.asked) == 3


ROW = {"index": 0, "embedding": vector("a")}
FAULTS = {
    "refuses the key in THEIR_KEY (HTTP 401)": (401, {}, {"error": {"message": f"bad key {KEY}"}}),
    "answers HTTP 400: no model m, said with …": (400, {}, {"error": {"message": f"no model m,\nsaid with {KEY}"}}),
    "answers HTTP 404: <h1>Not": (404, {}, "<h1>Not here</h1>"),
    "sends requests elsewhere (HTTP 302)": (302, {"Location": "http://127.0.0.1:1/"}, ""),
    "answers something else than embeddings": (200, {}, "<html>"),
    "answers something else than embeddings: expected": (200, {}, {"data": [{"embedding": [1.0]}]}),
    "answers 2 vectors to 1 texts": (200, {}, {"data": [ROW, ROW]}),
    "answers 1 vectors to 1 texts: expected one each, numbered": (200, {}, {"data": [{**ROW, "index": 5}]}),
    "answers vectors of 2 numbers: expected 12": (200, {}, {"data": [{**ROW, "embedding": [1, 2]}]}),
    "something else than numbers": (200, {}, {"data": [{**ROW, "embedding": ["x"] * DIMENSION}]}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence_without_the_key(server, fault):
    encoder = endpoint.Endpoint(added(server))
    server.plan = [FAULTS[fault]]
    with pytest.raises(SystemLoadError) as error:
        encoder.vectors(["a"])
    said = str(error.value)
    assert said.startswith("remote: http://127.0.0.1:")
    assert fault in said
    assert KEY not in said
    assert "\n" not in said
    assert len(server.asked) == 1  # nothing is tried again that cannot become better


def test_a_server_that_stays_busy_or_is_not_there_is_given_up(server):
    encoder = endpoint.Endpoint(added(server))
    server.plan = [(503, {}, f"out of order {KEY}")] * remote.TRIES
    with pytest.raises(SystemLoadError, match=r"answers HTTP 503: out of order …, 5 times in a row"):
        encoder.vectors(["a"])
    own_systems.remove("remote")
    nobody = endpoint.Endpoint(added(server, url="http://127.0.0.1:1/v1"))
    with pytest.raises(SystemLoadError, match=r"127\.0\.0\.1:1/v1/embeddings cannot be reached"):
        nobody.vectors(["a"])


def test_vectors_that_are_not_finite_or_all_alike_fail_the_load_check(server):
    system = added(server)
    server.plan = [(200, {}, json.dumps({"data": [{"index": i, "embedding": [float("nan")] * 12} for i in range(16)]}))]
    with pytest.raises(SystemLoadError, match="is not finite"):
        encoders.load(system, LoadOptions())
    server.plan = [(200, {}, {"data": [{"index": i, "embedding": vector("a")} for i in range(16)]})]
    with pytest.raises(SystemLoadError, match="every text gets the same vector"):
        encoders.load(system, LoadOptions())


def test_it_ranks_and_the_key_is_written_nowhere(server, small_task, tmp_path, capsys):
    told = ["--url", server.url, "--model", "m", "--dimension", str(DIMENSION), "--key-variable", "THEIR_KEY"]
    assert main(["add-system", "remote", *told]) == 0
    assert "12 dimensions, no query prompt, no document prompt" in capsys.readouterr().err
    corpus, questions = small_task
    bench = Workbench(Cache(tmp_path / "cache"))
    found = bench.rank(build("remote"), corpus, questions, depth=3)
    assert [corpus.ids[position] for position in found.document[found.query == 0][:2]] == ["f", "c"]  # the same text
    sent = sum(len(body["input"]) for _, body, _ in server.asked)
    bench.rank(build("remote"), corpus, questions, depth=2)
    assert sum(len(body["input"]) for _, body, _ in server.asked) == sent  # nothing is encoded twice
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_it_runs_by_name_only_and_not_without_its_key(server, example_store, monkeypatch):
    added(server)
    fused = own_systems.add(NewSystem("fused", fuse=("bm25", "remote")))
    assert {"remote", "fused"}.isdisjoint(catalogue.available_names())
    assert catalogue.available(fused)
    monkeypatch.delenv("THEIR_KEY")
    request = RunRequest("example", systems=("fused",))
    with pytest.raises(InputError, match="'fused': the environment variable THEIR_KEY, which holds its key"):
        run(example_store.cache, request=request, progress=silent)
    with pytest.raises(SystemLoadError, match="THEIR_KEY holds no key"):
        endpoint.Endpoint(catalogue.entry("remote"))


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"url": f"https://me:{KEY}@host/v1"}, "url: expected http:// or https:// and a host, without a password"),
        ({"url": f"https://host/v1?api-key={KEY}"}, "url: expected http:// or https://"),
        ({"url": "host/v1"}, "url: expected http:// or https://"),
        ({"key_variable": KEY}, "key_variable: expected the name of an environment variable"),
        ({"dimension": None}, "expected --dimension"),
        ({"model": None}, "model is missing"),
        ({"pooling": "mean"}, "--pooling does not go with --url"),
        ({"batch": 0}, "batch = 0: expected a whole number above 0"),
    ],
)
def test_what_does_not_make_an_endpoint_is_refused_without_repeating_a_secret(server, more, fault):
    with pytest.raises(InputError) as error:
        added(server, **more)
    assert fault in str(error.value)
    assert KEY not in str(error.value)


def test_another_address_is_another_system(server):
    one = added(server)
    own_systems.remove("remote")
    assert catalogue.fingerprint(added(server, batch=1)) == catalogue.fingerprint(one)
    own_systems.remove("remote")
    assert catalogue.fingerprint(added(server, url="http://other/v1")) != catalogue.fingerprint(one)
