"""What if a dense system had no prompts: from a run of a small local model to the ranking without them."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.jobs import what_if
from analysis.jobs.run import RunRequest, run
from analysis.jobs.what_if import WhatIf
from analysis.model import Document, Judgement, Query, silent
from analysis.paths import Cache
from analysis.store import rankings, read, write
from tests.hand_made import worked_example
from tests.systems.test_encoders import LOCAL, TEXTS, by_hand

QUESTIONS = ("fever", "pain in the knee", "kidney")


@pytest.mark.slow
def test_the_ranking_without_prompts_is_that_of_bare_texts(extend_catalogue, tiny_model, tmp_path):
    folder = tiny_model()
    prompts = {"query": "the patient has ", "document": ""}
    extend_catalogue("tiny", **LOCAL, folder=folder, pooling="mean", prompts=prompts)
    made = worked_example()
    task = replace(
        made.tasks[0],
        documents=tuple(Document(f"d{n}", "en", text, family=f"d{n}") for n, text in enumerate(TEXTS)),
        queries=tuple(Query(f"q{n}", "en", text, family=f"d{n}") for n, text in enumerate(QUESTIONS)),
        judgements=tuple(Judgement(f"q{n}", f"d{n}", 1.0) for n in range(len(QUESTIONS))),
    )
    cache = Cache(tmp_path / "cache")
    with write.writer(cache) as writer:
        writer.add_benchmark(replace(made, tasks=(task,)))
    run(cache, request=RunRequest("example", systems=("tiny",)), progress=silent)
    changed = what_if.answer(WhatIf("example", None, "prompts", ("tiny",)), cache.root).ranking
    store = read.open_store(cache)
    stored = rankings.of_run(store, store.runs([1])[0])
    for ranking, asked in ((stored, [prompts["query"] + text for text in QUESTIONS]), (changed, list(QUESTIONS))):
        vectors = [by_hand(folder, texts, pooling="mean") for texts in (asked, TEXTS)]
        similar = np.array(vectors[0]) @ np.array(vectors[1]).T
        np.testing.assert_array_equal(ranking.document.reshape(similar.shape), np.argsort(-similar, axis=1))
        np.testing.assert_allclose(ranking.score.reshape(similar.shape), -np.sort(-similar, axis=1), atol=1e-5)
    assert not np.allclose(stored.score, changed.score)
