"""Parallel documents from generated tables to a stored benchmark: the same bytes again, whatever was killed."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from chat_server import ChatServer

from analysis.benchmarks.document_queries import Wanted
from analysis.benchmarks.invented import PLANTED
from analysis.benchmarks.invented.patents import best
from analysis.benchmarks.parallel_documents import Options
from analysis.cli import main
from analysis.errors import InputError, JobCancelledError
from analysis.jobs import build_documents, transcript
from analysis.jobs.build_documents import Request
from analysis.jobs.generate_queries import Generation
from analysis.model import silent
from analysis.paths import Cache
from analysis.store import read
from analysis.store.versions import Rules
from analysis.systems import remote

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-very-secret-1234"
NAME = "chemclir-bench-invented"


@pytest.fixture
def command(capsys):
    def call(*arguments, cache):
        code = main([*map(str, arguments), "--cache", str(cache)])
        return (code, *capsys.readouterr())

    return call


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("THEIR_KEY", KEY)
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    found = ChatServer()
    yield found
    found.close()


def build(sources, *more):
    files = ("--corpus", f"google={sources / 'google.jsonl'}", "--corpus", f"epo={sources / 'epo.csv'}")
    return ("build", "parallel-documents", *files, *more)


def tabled(sources, *more):
    tables = (f"google={sources / 'google-patents-queries.csv'}", f"epo={sources / 'epo-queries.csv'}")
    return build(sources, "--query-table", tables[0], "--query-table", tables[1], *more)


def planted(sources):
    return json.loads((sources / PLANTED).read_text("utf-8"))["planted"]


def exported(command, cache, folder, task, name=NAME):
    asked = ("export", "--benchmark", name, "--task", task, "--format", "beir", "-o", folder)
    assert command(*asked, cache=cache)[0] == 0
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


MEASURES = ("ndcg_at_10", "recall_at_1", "recall_at_10", "recall_at_10_same", "recall_at_10_cross", "rr", "ap")


def test_from_generated_tables_to_pages_and_back(command, invented_patents, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    code, out, err = command(*tabled(invented_patents, "--run", "bm25"), cache=one)
    assert code == 0, err
    made, counts = json.loads(out), planted(invented_patents)
    for task in ("google-patents", "epo"):
        facts, expected = made[task]["documents"], counts[task]
        assert facts["rows"] == expected["rows"]
        assert sum(row["kept"] for row in facts["languages"]) == expected["kept"]
        assert facts["publications"] == expected["publications kept"]
        assert facts["unclaimed"] == expected["no claim"]
        asked, left = facts["queries"]["asked"], facts["queries"]["left"]
        assert sum(row["queries"] for row in asked) == counts[f"{task} queries"]["asked"]
        reasons = {"its publication is not in the corpus": 0, "repeated": 0, "the corpus says another strategy": 0}
        for row in left:
            reasons[row["reason"]] += row["queries"]
        traps = counts[f"{task} queries"]
        assert list(reasons.values()) == [traps["publication not kept"], traps["repeated"], traps["other strategy"]]
    assert command(*tabled(invented_patents), cache=two)[0] == 0
    for task in ("google-patents", "epo"):
        first, second = (exported(command, cache, tmp_path / f"{cache.name}-{task}", task) for cache in (one, two))
        assert first == second
    beir = ("import-benchmark", tmp_path / "one-epo", "--benchmark", "back", "--task", "epo", "--format", "beir")
    assert command(*beir, cache=two)[0] == 0
    assert command("run", "--benchmark", "back", "--systems", "bm25", cache=two)[0] == 0
    before, after = (
        json.loads(command("per-query", "--benchmark", name, "--task", "epo", "--format", "json", cache=cache)[1])
        for name, cache in ((NAME, one), ("back", two))
    )
    assert len(before) == len(after) == counts["epo queries"]["asked"]
    for first, second in zip(before, after, strict=True):
        assert {name: first[name] for name in MEASURES} == {name: second[name] for name in MEASURES}
        assert [first[name] for name in ("query_id", "family", "mode")] == [
            second[name] for name in ("query_id", "family", "mode")
        ]


def test_relevant_is_every_version_of_the_publication(invented_patents, tmp_path):
    _, made = built(tmp_path, invented_patents)
    with (invented_patents / "epo-queries.csv").open(encoding="utf-8") as rows:
        told = {row["query_id"]: row for row in csv.DictReader(rows)}
    task = made.tasks[1]
    homes = {}
    for document in task.documents:
        homes.setdefault(document.family, {})[document.language] = document.id
    relevant = {}
    for judgement in task.judgements:
        relevant.setdefault(judgement.query_id, set()).add(judgement.document_id)
    assert relevant.keys() == {query.id for query in task.queries}
    for query in task.queries:
        row = told[query.id]
        assert (query.text, query.language) == (row["query"], row["query_language"])
        assert query.family == row["publication_number"]
        assert query.mode == {"semantic": "general"}.get(row["mode"], row["mode"])
        assert (query.language in homes[query.family]) == (query.strategy == "random-existing")
        assert relevant[query.id] == set(homes[query.family].values())
        assert len(relevant[query.id]) >= 2


def request_of(sources, *, generation=None, **options):
    files = (("google-patents", sources / "google.jsonl"), ("epo", sources / "epo.csv"))
    tables = (("google-patents", sources / "google-patents-queries.csv"), ("epo", sources / "epo-queries.csv"))
    options = Options(**options)
    return Request(files, () if generation else tables, options=options, generation=generation)


def built(folder, sources, **more):
    return build_documents.build(Cache(folder), request_of(sources, **more), progress=silent)


def test_evidence_has_the_first_claim_where_asked_for(invented_patents, tmp_path):
    plain, claims = (built(tmp_path, invented_patents, rules=Rules(claims=on))[1] for on in (False, True))
    assert plain.version != claims.version
    for before, after in zip(plain.tasks[0].documents, claims.tasks[0].documents, strict=True):
        assert after.text.startswith(before.text)
        extra = after.text.removeprefix(before.text)
        assert extra.startswith("\n1. ") or (extra == "" and before.language == "en")
        assert "2. " not in extra
    without = sum(a.text == b.text for a, b in zip(plain.tasks[0].documents, claims.tasks[0].documents, strict=True))
    assert without == planted(invented_patents)["google-patents"]["no claim"]


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
    assert f"{counts['calls']:,} calls (0 made now)" in err


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


def tables_of(folder):
    """Two publications, one of them without German: three languages with a home and one without, in two modes."""
    words = " ".join(["alpha beta gamma delta epsilon"] * 10)
    rows = [(1, "en"), (1, "de"), (2, "en"), (2, "fr"), (1, "fr")]
    path = folder / "small.csv"
    lines = [f"EP{n},{tag},Title {n} {tag},{n} {tag} {words},C01B" for n, tag in rows]
    path.write_text("\n".join(["publication_number,language,title,abstract,ipc", *lines]) + "\n", encoding="utf-8")
    return ("build", "parallel-documents", "--corpus", f"epo={path}", "--benchmark", "small")


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
    assert "48 calls (0 made now), 4,800 tokens in, 480 out" in err
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

    generation = Generation("writer", "judge", server.url, "THEIR_KEY")
    options = Options("small", wanted=Wanted(most=1, strategies=("random-existing", "random-missing")))
    tables_of(tmp_path)
    request = Request((("epo", tmp_path / "small.csv"),), options=options, generation=generation)
    with pytest.raises(JobCancelledError):
        build_documents.build(cache, request, progress=cancel)
    n = len(server.asked)
    assert 6 <= n < 48
    code, out, err = small(command, server, tmp_path, "--most-calls", "5")
    assert (code, out, len(server.asked)) == (1, "", n + 5)
    assert "5 calls were made (--most-calls 5) and their answers kept in" in err.splitlines()[-1]
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


TABLES = ("build", "parallel-documents", "--corpus", "x.csv")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("build", "parallel-documents"), "build parallel-documents needs --corpus"),
        (TABLES, "queries are missing: expected --query-table FILE, or --endpoint, --model and --verifier"),
        ((*TABLES, "--query-table", "y.csv"), "x.csv: No such file or directory; expected a table of patents"),
        ((*TABLES, "--query-table", "y.csv", "--model", "m"), "--model is for queries that models write"),
        ((*TABLES, "--model", "m"), "to write queries, expected --endpoint URL (or --transcript FILE), --model"),
        ((*TABLES, "--transcript", "none.jsonl"), "none.jsonl: No such file or directory; expected a transcript"),
        ((*TABLES, "--query-table", "y.csv", "--map", "a=b"), "--map 'a=b': expected COLUMN=FIELD"),
        ((*TABLES, "--query-table", "y.csv", "--mode", "odd"), "mode 'odd': expected technical or general"),
        ((*TABLES, "--query-table", "y.csv", "--classes", "C,9"), "--classes 'C,9': expected classes such as"),
        ((*TABLES, "--query-table", "y.csv", "--targets", "xx"), "language 'xx': expected an ISO 639 code"),
        ((*TABLES, "--query-table", "y.csv", "--per-language", "0"), "--per-language 0: expected 1 or more"),
        ((*TABLES, "--query-table", "y.csv", "--umls", "z"), "build parallel-documents takes no --umls"),
        ((*TABLES, "--corpus", "z.csv", "--query-table", "y.csv"), "--corpus: two files of no task"),
        (("build", "bedside", "--corpus", "x"), "build bedside takes no --corpus"),
    ],
)
def test_a_wrong_word_is_said(command, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*arguments, cache=tmp_path / "cache")
    assert (code, out) == (1, "")
    assert says in err.splitlines()[-1]


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


def test_nothing_that_is_kept_and_no_query_that_is_left_are_said(command, tmp_path):
    table = tables_of(tmp_path)
    (tmp_path / "queries.csv").write_text("query,language,mode,publication\nwhat,en,general,EP9\n", encoding="utf-8")
    asked = ("--query-table", tmp_path / "queries.csv")
    code, _, err = command(*table, *asked, cache=tmp_path / "cache")
    said = "task 'epo': no query is left (its publication is not in the corpus 1)"
    assert (code, err.splitlines()[-1]) == (1, f"babelscope: {said}")
    code, _, err = command(*table, *asked, "--least-words", "60", cache=tmp_path / "cache")
    said = "task 'epo': none of 5 rows is kept (abstract too short 5)"
    assert (code, err.splitlines()[-1]) == (1, f"babelscope: {said}")
    named = (("google-patents", tmp_path / "queries.csv"),)
    request = Request((("epo", tmp_path / "small.csv"),), named)
    with pytest.raises(InputError, match="no such task, expected one of epo"):
        build_documents.build(Cache(tmp_path / "cache"), request, progress=silent)


def test_two_scripts_of_a_language_are_asked_in_by_either_name(command, tmp_path):
    han = "化学组成物质方法制备用途" * 10
    lines = [
        f"US1,{tag},一,{text},C01" for tag, text in (("zh-TW", han), ("zh-CN", han), ("en", " ".join(["word"] * 50)))
    ]
    (tmp_path / "t.csv").write_text("\n".join(["publication,language,title,abstract,ipc", *lines]), encoding="utf-8")
    asked = [f"什么,{tag},general,US1" for tag in ("zh", "zh-Hant", "zh-Hans")]
    (tmp_path / "q.csv").write_text("\n".join(["query,language,mode,publication", *asked]), encoding="utf-8")
    flags = ("--corpus", f"t={tmp_path / 't.csv'}", "--query-table", tmp_path / "q.csv", "--targets", "zh,zh-TW")
    code, out, err = command("build", "parallel-documents", *flags, "--benchmark", "b", cache=tmp_path / "cache")
    assert code == 0, err
    facts = json.loads(out)["t"]["documents"]
    assert [(row["language"], row["kept"]) for row in facts["languages"]] == [("zh-Hans", 1), ("zh-Hant", 1), ("en", 0)]
    found = [(row["language"], row["strategy"], row["queries"]) for row in facts["queries"]["asked"]]
    assert found == [("zh-Hans", "random-existing", 1), ("zh-Hant", "random-existing", 1)]
    assert facts["queries"]["left"] == [{"language": "zh-Hans", "reason": "repeated", "queries": 1}]
