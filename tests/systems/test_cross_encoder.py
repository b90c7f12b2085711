import dataclasses
import subprocess

import numpy as np
import pytest

from analysis.cli import main
from analysis.errors import InputError, JobCancelledError, SystemLoadError
from analysis.paths import Cache
from analysis.systems import catalogue, cross_encoder
from analysis.systems.assemble import build
from analysis.systems.live import Wanted, open_live
from analysis.systems.readiness import readiness
from analysis.systems.weights import LoadOptions, convert
from analysis.systems.workbench import Workbench
from tests.systems import tiny_models

PAIRS = [("knee pain", "pain of the knee"), ("fever", "Fever"), ("fever", "The train leaves")]


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "pairs"
    tiny_models.backbone(folder, architecture="pairs", dimension=32, positions=200)
    return folder


@pytest.fixture
def reranked(extend_catalogue, weights):
    extend_catalogue("pairs", kind="cross-encoder", paradigm="two-stage", folder=weights, max_length=64)
    parts = {"parts": ["bm25", "pairs"], "pool": 2}
    extend_catalogue("reranked", kind="two-stage", paradigm="two-stage", **parts)
    return build("reranked")


def test_any_first_stage_is_rescored_by_any_cross_encoder(reranked, small_task, tmp_path):
    corpus, questions = small_task
    bench = Workbench(Cache(tmp_path / "cache"), options=LoadOptions(offline=True))
    stages = reranked.stages(corpus, questions, depth=5, workbench=bench)
    scorer = bench.scorer(catalogue.entry("pairs"))
    for query, document, score in zip(stages.ranking.query, stages.ranking.document, stages.second_score, strict=True):
        if not np.isnan(score):
            assert score == pytest.approx(scorer.score([(questions.texts[query], corpus.texts[document])])[0], abs=1e-6)
    assert np.bincount(stages.ranking.query[~np.isnan(stages.second_score)]).tolist() == [2, 1]
    falls = (np.diff(stages.ranking.score) <= 0) | (np.diff(stages.ranking.query) > 0)
    assert falls.all()
    assert bench.encoded(catalogue.entry("pairs")).texts == 2  # two of the three pairs read the same
    live = open_live(reranked, corpus, workbench=bench)
    answer = live.ask(questions.texts[1], Wanted(depth=5, excluded=questions.excluded[1]))
    assert answer.documents.tolist() == stages.ranking.document[stages.ranking.query == 1].tolist()
    assert answer.scores == pytest.approx(stages.ranking.score[stages.ranking.query == 1], abs=1e-6)


def test_no_pair_is_scored_twice(reranked, tmp_path, monkeypatch):
    system, cache = reranked.second.entry, Cache(tmp_path / "cache")
    monkeypatch.setattr("analysis.systems.encoding.MOST_PAIRS", 1)

    def cancel(step, done, total):
        if step == "rescore" and done == 2:
            raise JobCancelledError

    with pytest.raises(JobCancelledError):
        Workbench(cache, progress=cancel).pair_scores(system, PAIRS, step="rescore")
    bench = Workbench(cache)
    scores = bench.pair_scores(system, PAIRS, step="rescore")
    assert bench.encoded(system).texts == 1
    assert scores == pytest.approx(bench.scorer(system).score(PAIRS), abs=1e-6)
    again = Workbench(cache)
    assert again.pair_scores(system, PAIRS, step="rescore").tolist() == scores.tolist()
    assert again.encoded(system).texts == 0


def test_a_cross_encoder_ranks_nothing_by_itself(reranked):
    with pytest.raises(InputError, match="'pairs' only rescores what another system found"):
        build("pairs")


def test_a_cross_encoder_that_prefers_unrelated_answers_is_refused(reranked):
    system = dataclasses.replace(reranked.second.entry, languages=("en", "fr", "de", "es", "ja", "zh", "ru"))
    with pytest.raises(SystemLoadError, match="which it claims to know"):
        cross_encoder.load(system, LoadOptions(offline=True))


def test_half_the_precision_gives_nearly_the_same_scores(reranked):
    system = reranked.second.entry
    whole = cross_encoder.load(system, LoadOptions(offline=True)).score(PAIRS)
    half = cross_encoder.load(dataclasses.replace(system, dtype="bfloat16"), LoadOptions(offline=True))
    scores = half.score(PAIRS)
    assert str(next(half._model.parameters()).dtype) == "torch.bfloat16"
    assert scores == pytest.approx(whole, abs=0.05)
    assert scores.dtype == np.float64
    assert scores.tolist() != whole.tolist()
    assert np.unique(scores).size == len(PAIRS)


def test_an_encoder_is_no_cross_encoder(extend_catalogue, tmp_path):
    tiny_models.backbone(tmp_path / "plain", architecture="xlm-roberta", dimension=32, positions=64)
    system = extend_catalogue("plain", kind="cross-encoder", paradigm="two-stage", folder=tmp_path / "plain")
    with pytest.raises(SystemLoadError, match=r"weights \(classifier.*which were set at random"):
        cross_encoder.load(system, LoadOptions(offline=True))


def test_pairs_that_the_memory_does_not_hold_are_halved_and_one_that_it_does_not_is_one_sentence(
    reranked, tmp_path, monkeypatch
):
    system, options = reranked.second.entry, LoadOptions(device="cpu")
    expected = Workbench(Cache(tmp_path / "wide"), options=options).pair_scores(system, PAIRS, step="rescore")
    bench = Workbench(Cache(tmp_path / "narrow"), options=options)
    scorer, tried = bench.scorer(system), []
    real = scorer.score

    def score(pairs):
        tried.append(len(pairs))
        if len(pairs) > 1 or pairs[0][0] == "long":
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return real(pairs)

    monkeypatch.setattr(scorer, "score", score)
    assert bench.pair_scores(system, PAIRS, step="rescore") == pytest.approx(expected, abs=1e-6)
    assert tried == [3, 1, 2, 1, 1]
    with pytest.raises(SystemLoadError, match="the memory of cpu does not hold one pair of 14 characters"):
        bench.pair_scores(system, [("long", "x" * 9)], step="rescore")


def test_scores_of_eight_bits_are_near_finite_and_kept_apart(reranked, tmp_path, monkeypatch):
    system, cache = reranked.second.entry, Cache(tmp_path / "cache")
    single, rounded = Workbench(cache), Workbench(cache, options=LoadOptions(dtype="bfloat16"))
    expected, found = (bench.pair_scores(system, PAIRS, step="rescore") for bench in (single, rounded))
    assert found.tolist() != expected.tolist()
    assert found == pytest.approx(expected, abs=0.05)
    assert (rounded.encoded(system).texts, rounded.encoded(system).dtype) == (3, "bfloat16")
    scorer = rounded.scorer(system)
    monkeypatch.setattr(scorer._model, "predict", lambda pairs, **rest: np.array([0.5, np.nan], dtype=np.float32))
    with pytest.raises(SystemLoadError, match="the score of 'fever' is not finite"):
        scorer.score(PAIRS[:1] + PAIRS[2:])


class Stub:
    """Scores that depend on a seed and the pair."""

    fresh = ()

    def __init__(self, *, seed=0, same=False, restless=False):
        self.entry = dataclasses.replace(catalogue.entry("bge-reranker-v2-m3"), languages=())
        self.seed, self.same, self.restless = seed, same, restless

    def score(self, pairs):
        if self.restless:
            return np.random.default_rng(self.seed).random(len(pairs))
        seeds = [[self.seed, *"".join(pair).encode()] for pair in pairs]
        return np.array([0.5 if self.same else np.random.default_rng(seed).random() for seed in seeds])


def test_the_load_check_of_scores():
    cross_encoder.prove(Stub(), Stub)
    with pytest.raises(SystemLoadError, match="every pair gets the same score"):
        cross_encoder.prove(Stub(same=True), Stub)
    with pytest.raises(SystemLoadError, match="the same pair got two different scores"):
        cross_encoder.prove(Stub(restless=True), Stub)
    with pytest.raises(SystemLoadError, match="a second load of the same files gave other scores"):
        cross_encoder.prove(Stub(), lambda: Stub(seed=1))


def test_a_pickle_of_tensors_is_converted_and_code_in_one_is_not_run(reranked, weights, tmp_path, capsys):
    import torch
    from safetensors.torch import load_file

    folder = tmp_path / "pickled"
    folder.mkdir()
    for file in weights.glob("*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
    torch.save(load_file(weights / "model.safetensors"), folder / "pytorch_model.bin")
    system = dataclasses.replace(reranked.second.entry, folder=str(folder))
    with pytest.raises(SystemLoadError, match=r"only safetensors are loaded: python -m analysis convert-weights .*led"):
        cross_encoder.load(system, LoadOptions(offline=True))
    assert main(["convert-weights", str(folder)]) == 0
    assert capsys.readouterr().out.strip() == str(folder / "model.safetensors")
    before = cross_encoder.load(reranked.second.entry, LoadOptions(offline=True)).score(PAIRS)
    assert cross_encoder.load(system, LoadOptions(offline=True)).score(PAIRS).tolist() == before.tolist()
    with pytest.raises(InputError, match=r"no pytorch_model\.bin without a model\.safetensors"):
        convert(folder)
    (tmp_path / "evil").mkdir()
    torch.save({"a": subprocess.run}, tmp_path / "evil" / "pytorch_model.bin")
    with pytest.raises(InputError, match="not a pickle of tensors alone"):
        convert(tmp_path / "evil")


def test_what_a_composition_lacks_is_said_model_by_model(reranked, monkeypatch, tmp_path):
    assert readiness(reranked.entry) == ("installed, in a local folder", "", "", True)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("BABELSCOPE_MODELS", str(tmp_path / "models"))
    lacking = readiness(catalogue.entry("bge-m3-reranker"), benchmark="mine")
    once = "BGE-M3 (2.3 GB) is to be downloaded, and its pickle converted once"
    assert lacking.missing == f"{once}; BGE reranker (2.3 GB) is to be downloaded"
    fetch, convert, run = lacking.command.split(" && ")
    assert fetch.startswith("hf download BAAI/bge-m3 --revision 5617a9f61b028005a4858fdac845db406aefb181 --exclude")
    assert fetch.endswith(f'"onnx/*" --local-dir {tmp_path / "models" / "bge-m3"}')
    assert convert == f"python -m analysis convert-weights {tmp_path / 'models' / 'bge-m3'}"
    assert run == "python -m analysis run --benchmark mine --systems bge-m3-reranker"
    assert not lacking.by_run
    assert readiness(catalogue.entry("rrf-bm25-bge-m3")).where == "installed"
