"""Every sort of first stage before every sort of second stage, all of the reader's own, on a corpus of six texts."""

import itertools
import json

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError, SystemLoadError
from analysis.jobs import own_systems
from analysis.jobs.own_systems import NewSystem
from analysis.paths import Cache
from analysis.systems import catalogue, cross_encoder, model_files
from analysis.systems.assemble import build
from analysis.systems.live import Wanted, open_live
from analysis.systems.readiness import readiness
from analysis.systems.weights import LoadOptions
from analysis.systems.workbench import Workbench
from tests.systems import tiny_models

POOL = 3
PAIRS = """
def shared(queries, documents):
    pairs = zip(queries, documents)
    return [len(set(query.split()) & set(document.split())) + len(document) / 1000 for query, document in pairs]
"""
ALLOWED = LoadOptions(offline=True, allow_code=True)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BABELSCOPE_CACHE", str(tmp_path / "cache"))
    return Cache(tmp_path / "cache")


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A folder with a module of its own name."""
    monkeypatch.syspath_prepend(tmp_path / "code")  # and gone afterwards
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "own_pairs.py").write_text(PAIRS, encoding="utf-8")
    return tmp_path / "code"


@pytest.fixture(scope="module")
def reranker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "pairs"
    tiny_models.backbone(folder, architecture="pairs", dimension=32, positions=200)
    return folder


@pytest.fixture
def stages(home, tiny_model, reranker, code):
    """Names of first and second stages."""
    own_systems.add(NewSystem("words", k1=0.9, b=0.4))
    own_systems.add(NewSystem("dense", folder=tiny_model("bert"), pooling="mean"))
    own_systems.add(NewSystem("tokens", maxsim="dense"))
    own_systems.add(NewSystem("fused", fuse=("words", "dense"), k=10))
    own_systems.add(NewSystem("pairs", cross_encoder=True, folder=reranker, max_length=64))
    own_systems.add(NewSystem("code", pair_function="own_pairs:shared", folder=code))
    own_systems.add(NewSystem("staged", first="words", second="tokens", pool=2))
    return ("words", "dense", "tokens", "fused", "staged"), ("pairs", "tokens", "code")


def test_any_first_stage_with_any_second(stages, home, small_task):
    corpus, questions = small_task
    bench = Workbench(home, options=ALLOWED)
    for one, other in itertools.product(*stages):
        name = f"{one}-{other}"
        own_systems.add(NewSystem(name, first=one, second=other, pool=POOL))
        first = bench.rank(build(one), corpus, questions, depth=6)
        found = build(name).stages(corpus, questions, depth=6, workbench=bench)
        live = open_live(build(name), corpus, workbench=bench)
        for query, text in enumerate(questions.texts):
            before = first.document[first.query == query].tolist()
            rows = found.ranking.query == query
            after, second = found.ranking.document[rows].tolist(), found.second_score[rows][:POOL]
            expected = expected_scores(bench, other, text, [corpus.texts[d] for d in after[:POOL]])
            assert set(after[:POOL]) == set(before[:POOL]), name  # the pool is the first stage's
            assert after[POOL:] == before[POOL:], name  # and below it its order follows
            assert second == pytest.approx(expected, abs=2e-3), name  # token vectors are kept in half precision
            assert (np.diff(second) <= 0).all(), name
            excluded = questions.excluded.get(query, np.zeros(0, np.int32))
            assert live.ask(text, Wanted(excluded=excluded)).documents.tolist() == after, name


def expected_scores(bench, second, query, documents):
    """By hand, from the model or the function itself."""
    if second == "code":
        return [len(set(query.split()) & set(text.split())) + len(text) / 1000 for text in documents]
    if second == "pairs":
        return bench.scorer(catalogue.entry("pairs")).score([(query, text) for text in documents])
    encoder = bench.encoder(catalogue.entry("dense"))
    ((asked,), answers) = (encoder.encode_tokens(texts, role="query")[1] for texts in ([query], documents))
    return [(asked.astype(float) @ answer.astype(float).T).max(axis=1).sum() for answer in answers]


def test_what_is_in_force_is_said_and_what_it_needs(stages, home):
    said = {entry.name: own_systems.described(entry) for entry in own_systems.added()}
    assert said["tokens"] == "late interaction, MaxSim over the token vectors of dense"
    assert said["pairs"].startswith("two-stage, re-ranks only, /")
    assert said["pairs"].endswith("pairs, 64 tokens")
    assert said["code"] == "two-stage, re-ranks only, own_pairs:shared"
    assert {"pairs", "code", "tokens"} <= set(own_systems.parts()["second"])
    assert {"pairs", "code"}.isdisjoint(own_systems.parts()["first"])
    entry = own_systems.add(NewSystem("reranked", first="words", second="code"))
    assert readiness(entry).missing == "code is code of your own (own_pairs:shared), which runs only if you allow it"
    assert readiness(entry).command.endswith("--systems reranked --allow-code")
    assert "reranked" not in catalogue.available_names()
    with pytest.raises(SystemLoadError, match=r"code: it runs code of your own \(own_pairs:shared\)"):
        Workbench(home).scorer(catalogue.entry("code"))


def test_changed_code_scores_again(stages, code):
    before = catalogue.fingerprint(catalogue.entry("code"))
    (code / "own_pairs.py").write_text(PAIRS + "\n", encoding="utf-8")
    assert catalogue.fingerprint(catalogue.entry("code")) != before


START = "def shared(queries, documents):\n    "
FAULTS = {
    r"its function raised KeyError: 'x'$": START + "raise KeyError('x')",
    r"returned the shape \(1,\): expected \(15,\) numbers": START + "return [0.5]",
    r"returned the shape \(15, 1\): expected \(15,\)": START + "return [[len(text)] for text in documents]",
    r"returned <U1 values": START + "return ['x' for _ in queries]",
    r"the score of 'Does the patient .* is not finite": START + "return [float('nan') for _ in queries]",
    r"every pair gets the same score": START + "return [1 for _ in queries]",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_function_of_pairs_is_one_sentence(home, code, fault):
    module = f"own_pair_fault{list(FAULTS).index(fault)}"
    (code / f"{module}.py").write_text(FAULTS[fault], encoding="utf-8")
    system = own_systems.add(NewSystem("code", pair_function=f"{module}:shared", folder=code))
    with pytest.raises(SystemLoadError, match=fault) as error:
        cross_encoder.load(system, ALLOWED)
    assert "\n" not in str(error.value)


def test_scores_go_through_what_the_folder_says(home, reranker, tmp_path, capsys):
    """A sigmoid where nothing is said, nothing where the folder says identity; the order is the same."""
    plain = tmp_path / "plain"
    plain.mkdir()
    for file in reranker.iterdir():
        (plain / file.name).write_bytes(file.read_bytes())
    config = json.loads((plain / "config.json").read_text())
    config["sentence_transformers"] = {"activation_fn": "torch.nn.modules.linear.Identity"}
    (plain / "config.json").write_text(json.dumps(config))
    for folder, words in ((reranker, "after its sigmoid"), (plain, "as they are")):
        assert main(["add-system", f"of-{folder.name}", "--cross-encoder", "--folder", str(folder)]) == 0
        said = capsys.readouterr().err
        assert f"its scores count {words}, as its files say" in said
        assert said.splitlines()[-1].endswith(f"next: add-system NAME --first A --second of-{folder.name}")
    pairs = [("fever", "Fever"), ("fever", "The train leaves"), ("knee pain", "pain of the knee")]
    squashed, raw = (
        cross_encoder.load(catalogue.entry(name), LoadOptions(offline=True)).score(pairs)
        for name in ("of-pairs", "of-plain")
    )
    assert squashed == pytest.approx(1 / (1 + np.exp(-raw)))
    assert np.ptp(raw) > 0


def test_a_model_of_the_other_sort_is_told_at_once(home, reranker, tiny_model, tmp_path):
    with pytest.raises(InputError, match=r"reads a query and a document together: it is a cross-encoder"):
        own_systems.add(NewSystem("x", folder=reranker, pooling="mean"))
    with pytest.raises(InputError, match=r"gives no score to a pair: it is no cross-encoder"):
        own_systems.add(NewSystem("x", folder=tiny_model("bert"), cross_encoder=True))
    config = json.loads((reranker / "config.json").read_text())
    del config["id2label"]  # as transformers writes a model of two labels
    (tmp_path / "classes").mkdir()
    (tmp_path / "classes" / "model.safetensors").touch()
    (tmp_path / "classes" / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="gives 2 scores a pair, expected one"):
        model_files.score_activation(tmp_path / "classes")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--cross-encoder", "a/b", "--model", "a/c"], "name a model each: expected one"),
        (["--cross-encoder"], "expected the id of a model, such as organisation/model"),
        (["--cross-encoder", "./nowhere"], "such as organisation/model, or a folder"),
        (["--cross-encoder", "a/b", "--pooling", "cls"], "--pooling does not go with --cross-encoder"),
        (["--maxsim", "bm25"], "expected one dense system of the backend sentence-transformers"),
        (["--maxsim", "nothing"], "'nothing' is none"),
        (["--pair-function", "module"], "expected module:function"),
        (["--pair-function", "m:f", "--dtype", "float32"], "--dtype does not go with --pair-function"),
    ],
)
def test_a_faulty_second_stage_is_one_sentence(home, capsys, flags, message):
    assert main(["add-system", "x", *flags]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert own_systems.added() == ()
