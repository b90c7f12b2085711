import numpy as np
import pytest

from analysis.errors import InputError, SystemLoadError
from analysis.paths import Cache
from analysis.systems import dense
from analysis.systems.assemble import build
from analysis.systems.catalogue import available_names
from analysis.systems.late_interaction import maxsim
from analysis.systems.workbench import Workbench


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """One bench for the module, so that each real encoder loads once."""
    return Workbench(Cache(tmp_path_factory.mktemp("cache")))


def rows(found, query, ids):
    return [ids[document] for document in found.document[found.query == query]]


@pytest.mark.slow
def test_every_available_system_ranks_in_exact_order(bench, small_task):
    corpus, questions = small_task
    systems = [build(name) for name in available_names()]
    bench.prepare([need for system in systems for need in system.needs(corpus, questions)])
    for system in systems:
        found = bench.rank(system, corpus, questions, depth=4)
        assert found.depth == 4
        assert (found.rank() <= 4).all()
        assert (np.diff(found.query) >= 0).all()
        falls = (np.diff(found.score) <= 0) | (np.diff(found.query) > 0)
        assert falls.all(), system.entry.name
        assert rows(found, 0, corpus.ids)[:2] == ["f", "c"], system.entry.name  # one text twice: the larger id first
        assert "a" not in rows(found, 1, corpus.ids)  # excluded
        assert (found.query.dtype, found.document.dtype, found.score.dtype) == (np.int32, np.int32, np.float64)


def test_use_finds_the_translation(bench, small_task):
    corpus, questions = small_task
    found = bench.rank(build("use-multilingual-v3"), corpus, questions, depth=3)
    assert rows(found, 0, corpus.ids) == ["f", "c", "d"]
    assert rows(found, 1, corpus.ids)[0] == "b"


def test_a_composition_uses_the_rankings_of_its_parts(bench, small_task, monkeypatch):
    corpus, questions = small_task
    bench.rank(build("use-multilingual-v3"), corpus, questions, depth=40)
    monkeypatch.setattr(dense.Dense, "rank", lambda *_, **__: pytest.fail("searched again"))
    bench.rank(build("rrf-bm25-use"), corpus, questions, depth=40)
    bench.rank(build("use-maxsim"), corpus, questions, depth=40)


def test_the_second_stage_scores_by_maxsim(bench, small_task):
    corpus, questions = small_task
    system = build("use-maxsim")
    stages = system.stages(corpus, questions, depth=5, workbench=bench)
    encoder = system.second.encoder
    documents = bench.token_vectors(encoder, corpus.texts, role="document")
    queries = bench.token_vectors(encoder, questions.texts, role="query")
    for query, document, score in zip(stages.ranking.query, stages.ranking.document, stages.second_score, strict=True):
        one = queries.tokens[queries.offsets[query] : queries.offsets[query + 1]]
        assert score == pytest.approx(maxsim(one, documents)[document], abs=1e-4)
    assert stages.ranking.score.tolist() == stages.second_score.tolist()  # the pool is larger than the corpus


def test_a_new_table_is_a_new_system(extend_catalogue, tiny_model, bench, small_task):
    corpus, questions = small_task
    extend_catalogue(
        "tiny", backend="sentence-transformers", folder=tiny_model(), dimension=32, pooling="cls", max_length=16
    )
    found = build("tiny").rank(corpus, questions, depth=2, workbench=bench)
    assert rows(found, 0, corpus.ids) == ["f", "c"]


def test_names_that_cannot_be_built(extend_catalogue):
    with pytest.raises(InputError, match="'nope' is not in the catalogue"):
        build("nope")
    extend_catalogue("gone", backend="use", package="no_such_package", dimension=8, install="gone==1")
    with pytest.raises(SystemLoadError, match="no_such_package is missing; pip install gone==1"):
        build("gone")
