"""Queries that models write: asked once, kept at once, judged, replayed; whatever was killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from chat_server import ChatServer
from document_builds import build, exported, planted, request_of, tables_of

from analysis.benchmarks.document_queries import Wanted
from analysis.benchmarks.invented.patents import best
from analysis.benchmarks.parallel_documents import Options
from analysis.errors import JobCancelledError
from analysis.jobs import build_documents, generate_queries, transcript
from analysis.jobs.build_documents import Request
from analysis.jobs.generate_queries import Generation
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.systems import remote

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-very-secret-1234"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("THEIR_KEY", KEY)
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    found = ChatServer()
    yield found
    found.close()


REPLAY = ("--per-language", "2", "--price-in", "2", "--price-out", "8")


def test_a_recorded_transcript_makes_the_queries_that_were_planted(command, invented_patents, tmp_path):
    recorded = invented_patents / "transcript.jsonl"
    code, out, err = command(*build(invented_patents, "--transcript", recorded, *REPLAY), cache=tmp_path)
    assert code == 0, err
    made, counts = json.loads(out), planted(invented_patents)["transcript"]
    facts = [made[task]["documents"]["queries"] for task in ("google-patents", "epo")]
    assert sum(row["calls"] for row in facts) == counts["calls"]
    assert sum(row["tokens_in"] for row in facts) == counts["tokens in"]
    cost = (2 * counts["tokens in"] + 8 * counts["tokens out"]) / 1e6
    assert sum(row["cost"] for row in facts) == pytest.approx(cost)
    left = {"no candidate could be read": 0, "no candidate passed the verifier": 0}
    for row in (row for fact in facts for row in fact["left"]):
        left[row["reason"]] += row["queries"]
    assert list(left.values()) == [counts["nothing readable"], counts["none passed"]]
    asked = counts["asked again"] + counts["candidate unreadable"] + counts["without a trap"]
    assert sum(row["queries"] for fact in facts for row in fact["asked"]) == asked
    assert f"these queries took {counts['calls']:,} calls, {counts['tokens in']:,} tokens in" in err
    assert "made now: 0 calls, 0 tokens in, 0 out, cost 0.0000" in err
    address = err.splitlines()[-1]
    assert address.startswith("stored chemclir-bench-invented@documents-")
    (tmp_path / "moved.jsonl").write_bytes(recorded.read_bytes())
    free = ("--transcript", tmp_path / "moved.jsonl", "--per-language", "2")
    _, out, err = command(*build(invented_patents, *free), cache=tmp_path)
    assert err.splitlines()[-1] == address  # prices are no part of what is stored
    assert json.loads(out)["epo"]["documents"]["queries"]["cost"] is None


def test_the_verifiers_best_is_kept(invented_patents, tmp_path):
    recorded = invented_patents / "transcript.jsonl"
    generation = Generation("invented-writer", "invented-verifier", transcript=recorded)
    request = request_of(invented_patents, generation=generation, wanted=Wanted(most=2))
    corpus = build_documents.read(Cache(tmp_path), request, progress=silent)
    lines = [json.loads(line) for line in recorded.read_text("utf-8").splitlines()]
    texts = {}
    for row in lines:
        if row["role"] == "candidate" and row["answer"].startswith("{"):
            texts.setdefault(row["for"], []).append(json.loads(row["answer"])["query"])
    _, made = build_documents.build(Cache(tmp_path), request, progress=silent)
    kept = {(query.family, query.language, query.mode): query for task in made.tasks for query in task.queries}
    n = 0
    for task in corpus.rows:
        plans = [plan for plan in build_documents._plans(request, corpus) if plan.task == task]
        for place, plan in enumerate(plans):
            query = kept.get((plan.key, plan.language, plan.mode))
            if query and place % 8 != 3:  # there the best candidate cannot be read
                assert query.text == texts[f"{plan.key} {plan.language} {plan.mode}"][best(place) - 1]
                assert query.attributes["verifier_score"] == "25"
                n += 1
            elif query:
                assert query.attributes["verifier_score"] == "20"
    assert (
        n
        == planted(invented_patents)["transcript"]["asked again"]
        + planted(invented_patents)["transcript"]["without a trap"]
    )


def test_a_transcript_that_lacks_an_answer_says_which(command, invented_patents, tmp_path):
    lines = (invented_patents / "transcript.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_text("".join(lines[:9]), encoding="utf-8")
    code, out, err = command(*build(invented_patents, "--transcript", tmp_path / "cut.jsonl", *REPLAY), cache=tmp_path)
    assert (code, out) == (1, "")
    assert "cut.jsonl: holds no answer of invented-" in err.splitlines()[-1]
    assert read.open_store(Cache(tmp_path)) is None


def asking(server, *more):
    flags = ("--endpoint", server.url, "--model", "writer", "--verifier", "judge", "--key-variable", "THEIR_KEY")
    return (*flags, "--per-language", "1", "--strategy", "random-existing,random-missing", *more)


def test_models_are_asked_once_and_the_key_is_written_nowhere(command, server, tmp_path):
    cache = Cache(tmp_path / "cache")
    code, out, err = command(*tables_of(tmp_path), *asking(server), cache=cache.root)
    assert code == 0, err
    facts = json.loads(out)["epo"]["documents"]["queries"]
    homes = [("de", "random-existing"), ("de", "random-missing"), ("en", "random-existing"), ("fr", "random-existing")]
    assert sorted((row["language"], row["strategy"], row["mode"]) for row in facts["asked"]) == [
        (*home, mode) for home in homes for mode in ("general", "technical")
    ]
    assert len(server.asked) == facts["calls"] == 8 * 6
    assert {path for path, *_ in server.asked} == {"/v1/chat/completions"}
    assert {headers["Authorization"] for *_, headers in server.asked} == {f"Bearer {KEY}"}
    assert {tuple(body) for _, body, _ in server.asked} == {("model", "messages")}
    texts = [row["text"] for row in lines_of(command, cache, tmp_path)]
    assert all(text.startswith("what it is used") for text in texts)  # the angle that the verifier likes best
    n = len(server.asked)
    code, _, err = command(*tables_of(tmp_path), *asking(server), cache=cache.root)
    assert (code, len(server.asked)) == (0, n)
    assert "these queries took 48 calls, 4,800 tokens in, 480 out\nmade now: 0 calls, 0 tokens in, 0 out" in err
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert KEY.encode() not in path.read_bytes()


def lines_of(command, cache, folder):
    folder = folder / "beir"
    exported(command, cache.root, folder, "epo", name="small")
    return [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]


def small(command, server, folder, *more, name="cache"):
    return command(*tables_of(folder), *asking(server, *more), cache=folder / name)


def test_what_cannot_be_read_is_asked_once_again_and_then_given_up(command, server, tmp_path):
    good, bad = (200, {}, answered_with('{"query": "what is it"}')), (200, {}, answered_with("Sure: what is it"))
    scores = (200, {}, answered_with("five of five"))
    other = (200, {}, answered_with('{"query": "what is that"}'))
    server.plan = [bad, good, scores, scores, bad, bad, other]  # candidate 1 has no scores, 2 is none, 3 is judged
    code, out, err = small(command, server, tmp_path)
    assert code == 0, err
    facts = json.loads(out)["epo"]["documents"]["queries"]
    assert (facts["calls"], facts["asked_again"]) == (8 * 6 + 2, 3)
    assert facts["left"] == []
    first = server.asked[:7]
    assert first[0][1]["messages"] == first[1][1]["messages"]
    assert [body["model"] for _, body, _ in first] == [*["writer"] * 2, *["judge"] * 2, *["writer"] * 3]


def answered_with(text):
    return {"choices": [{"message": {"content": text}}]}


def test_cancelled_at_most_calls_and_killed_it_asks_nothing_twice(command, server, tmp_path):
    """Cancelled, ended by a limit, then killed in a call: what ends at last is the build of one left alone."""
    cache = Cache(tmp_path / "cache")

    def cancel(step, done, total):
        if step == "ask models for queries" and done == 1:
            raise JobCancelledError("cancelled")

    request = asking_request(server, tmp_path)
    with pytest.raises(JobCancelledError):
        build_documents.build(cache, request, progress=cancel)
    n = len(server.asked)
    assert 6 <= n < 48
    code, out, err = small(command, server, tmp_path, "--most-calls", "5")
    assert (code, out, len(server.asked)) == (1, "", n + 5)
    assert "5 calls were made (--most-calls 5) and their answers kept in" in err.splitlines()[-1]
    assert "made now: 5 calls, 500 tokens in, 50 out\n" in err
    assert read.open_store(cache) is None
    kept = cache.transcripts / "small.jsonl"
    server.most = n + 9
    arguments = [*map(str, (*tables_of(tmp_path), *asking(server))), "--cache", str(cache.root)]
    process = subprocess.Popen([sys.executable, "-m", "analysis", *arguments], cwd=ROOT, stderr=subprocess.DEVNULL)
    while len(server.asked) <= server.most:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert kept.read_bytes().count(b"\n") == server.most
    server.most = None
    server.go.set()
    with kept.open("ab") as handle:
        handle.write(b'{"key": "begun')  # what a kill in the middle of a line leaves
    assert read.open_store(cache) is None
    code, _, err = small(command, server, tmp_path)
    assert code == 0, err
    prompts = [json.dumps(body) for _, body, _ in server.asked]
    assert len(prompts) - len(set(prompts)) == 1  # the call that the kill broke off
    assert len(transcript.read(kept)) == 48
    assert small(command, server, tmp_path, name="alone")[0] == 0
    first = exported(command, cache.root, tmp_path / "beir", "epo", name="small")
    assert first == exported(command, tmp_path / "alone", tmp_path / "alone-beir", "epo", name="small")


def test_a_server_that_falls_silent_keeps_nobody_from_cancelling(server, tmp_path, monkeypatch):
    monkeypatch.setattr(generate_queries, "GRACE", 0.1)
    server.most = 7

    def cancel(step, done, total):
        if len(server.asked) > server.most:
            raise JobCancelledError("cancelled")

    cache, request = Cache(tmp_path / "cache"), asking_request(server, tmp_path)
    with pytest.raises(JobCancelledError):
        build_documents.build(cache, request, progress=cancel)
    assert len(transcript.read(cache.transcripts / "small.jsonl")) == 7


def asking_request(server, folder):
    tables_of(folder)
    generation = Generation("writer", "judge", server.url, "THEIR_KEY")
    options = Options("small", wanted=Wanted(most=1, strategies=("random-existing", "random-missing")))
    return Request((("epo", folder / "small.csv"),), options=options, generation=generation)


def test_several_at_once_make_the_same(command, server, tmp_path):
    assert small(command, server, tmp_path, name="one")[0] == 0
    n = len(server.asked)
    assert small(command, server, tmp_path, "--at-once", "8", name="many")[0] == 0
    assert len(server.asked) == 2 * n
    one, many = (tmp_path / name / "transcripts" / "small.jsonl" for name in ("one", "many"))
    assert sorted(one.read_bytes().splitlines()) == sorted(many.read_bytes().splitlines())
    first = exported(command, tmp_path / "one", tmp_path / "one-beir", "epo", name="small")
    assert first == exported(command, tmp_path / "many", tmp_path / "many-beir", "epo", name="small")


def test_a_dry_run_shows_plan_and_prompts_and_asks_nobody(command, server, tmp_path):
    code, out, err = small(command, server, tmp_path, "--dry-run", "--price-in", "1")
    assert code == 0, err
    told = json.loads(out)
    assert (told["queries"], told["calls"], server.asked) == (8, 48, [])
    assert told["estimated_cost"] == pytest.approx(told["estimated_tokens_in"] / 1e6)
    assert sum(row["queries"] for row in told["plan"]) == 8
    _, again, _ = small(
        command, server, tmp_path, "--dry-run", "--price-in", "1", "--mode", "technical,general,semantic"
    )
    assert again == out  # semantic is another word for general, which is asked for once
    kinds = {f"{role}, {mode}" for role in ("candidate", "verifier") for mode in ("technical", "general")}
    assert set(told["prompts"]) == kinds
    cache = Cache(tmp_path / "cache")
    assert read.open_store(cache) is None
    assert not cache.transcripts.exists()
    small(command, server, tmp_path)
    shown = told["prompts"]["candidate, technical"]
    assert [message["content"] for message in server.asked[0][1]["messages"]] == [shown["system"], shown["user"]]


def test_one_build_at_a_time_asks_models(command, server, tmp_path):
    with transcript.kept(Cache(tmp_path / "cache").transcripts / "small.jsonl", None, most=None):
        code, _, err = small(command, server, tmp_path)
    assert code == 1
    assert "another build asks models and keeps their answers here" in err.splitlines()[-1]
    assert server.asked == []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((401, {}, {"error": {"message": f"bad key {KEY}"}}), "refuses the key in THEIR_KEY (HTTP 401)"),
        ((400, {}, {"error": {"message": f"no model, said with {KEY}"}}), "answers HTTP 400: no model, said with …"),
        ((200, {}, "<html>"), "answers something else than chat: expected JSON with choices, message, content"),
        ((200, {}, {"choices": []}), "answers something else than chat"),
        ((302, {"Location": "http://127.0.0.1:1/"}, ""), "sends requests elsewhere (HTTP 302)"),
    ],
)
def test_a_refusal_is_one_sentence_without_the_key(command, server, tmp_path, answer, says):
    server.plan = [(503, {}, ""), answer]
    code, out, err = small(command, server, tmp_path)
    assert (code, out, len(server.asked)) == (1, "", 2)
    assert f"query generation: {server.url}/chat/completions {says}" in err.splitlines()[-1]
    assert KEY not in err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--endpoint", f"https://me:{KEY}@host/v1"), "--endpoint: expected http:// or https:// and a host"),
        (
            ("--endpoint", "http://host/v1", "--key-variable", KEY),
            "--key-variable: expected the name of an environment",
        ),
        (("--endpoint", "http://host/v1", "--price-in", "-1"), "--price-in -1: expected 0 or more"),
        (("--endpoint", "http://host/v1", "--key-variable", "NO_KEY_HERE"), "NO_KEY_HERE holds no key"),
    ],
)
def test_a_secret_is_not_repeated(command, tmp_path, more, says):
    models = ("--model", "writer", "--verifier", "judge")
    code, _, err = command(*tables_of(tmp_path), *models, *more, cache=tmp_path / "cache")
    assert code == 1
    assert says in err.splitlines()[-1]
    assert KEY not in err
