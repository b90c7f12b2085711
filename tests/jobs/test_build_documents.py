"""Parallel documents from generated tables to a stored benchmark: the same bytes again, and what is refused."""

import csv
import json

import pytest
from document_builds import NAME, exported, planted, request_of, tabled, tables_of

from analysis.errors import InputError
from analysis.jobs import build_documents
from analysis.jobs.build_documents import Request
from analysis.model import silent
from analysis.paths import Cache
from analysis.store.versions import Rules

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
        (
            (*TABLES, "--query-table", "y.csv", "--benchmark", "a/b"),
            "--benchmark 'a/b': expected letters, digits",
        ),
        ((*TABLES, "--query-table", "y.csv", "--benchmark", "icd10"), "--benchmark 'icd10': the name is taken"),
        (("build", "bedside", "--corpus", "x"), "build bedside takes no --corpus"),
        (("build", "bedside", "--seed", "0"), "build bedside takes no --seed"),
        (("build", "bedside", "--concepts", "0"), "build bedside takes no --concepts: it is small"),
        ((*TABLES, "--query-table", "y.csv", "--price-in", "0"), "--price-in is for queries that models write"),
    ],
)
def test_a_wrong_word_is_said(command, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*arguments, cache=tmp_path / "cache")
    assert (code, out) == (1, "")
    assert says in err.splitlines()[-1]


def test_nothing_that_is_kept_and_no_query_that_is_left_are_said(command, tmp_path):
    table = tables_of(tmp_path)
    (tmp_path / "queries.csv").write_text("query,language,mode,publication\nwhat,en,general,EP9\n", encoding="utf-8")
    asked = ("--query-table", tmp_path / "queries.csv")
    code, _, err = command(*table, *asked, cache=tmp_path / "cache")
    said = "task 'epo': no query is left (its publication is not in the corpus 1)"
    assert (code, err.splitlines()[-1]) == (1, f"babelscope: {said}")
    lines = ["query,language,mode,publication", "what,en,general,EP9", "was,de,general,EP9", "x,sv,general,EP1"]
    (tmp_path / "more.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    flags = ("--query-table", tmp_path / "more.csv", "--targets", "en,de,fr")
    code, _, err = command(*table, *flags, cache=tmp_path / "cache")
    said = "task 'epo': no query is left (its publication is not in the corpus 2, language not asked for 1)"
    assert (code, err.splitlines()[-1]) == (1, f"babelscope: {said}")
    code, _, err = command(*table, "--query-table", tmp_path / "none.csv", cache=tmp_path / "cache")
    assert code == 1
    assert err.splitlines()[-1].endswith("none.csv: No such file or directory; expected a table of queries")
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
