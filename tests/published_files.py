"""Result files in mteb's shapes, with figures a reader finds again."""

import json
from pathlib import Path

from analysis.jobs.import_results import ResultsRequest, read_results, store_results
from analysis.model import silent
from analysis.store import read

LARGE, SMALL, WORDS = "lab/large", "lab/small", "other/words"


def subset(name, languages, value, **more):
    """The figures of one subset; ``value`` is its main score and nDCG@10."""
    return {
        "ndcg_at_10": value,
        "mrr_at_10": value / 2,
        "nauc_ndcg_at_10_max": float("nan"),
        "main_score": value,
        "hf_subset": name,
        "languages": languages,
        **more,
    }


def result(task, scores, **more):
    """A result file of mteb 1.11 or later."""
    content = {"dataset_revision": "d1", "task_name": task, "mteb_version": "1.36.32", "scores": scores}
    return content | {"evaluation_time": 1.5, "kg_co2_emissions": None} | more


def put_file(root, system, task, content, *, revision="abc123"):
    """Write a file where mteb does; bare NaN included."""
    folder = Path(root) / system.replace("/", "__") / revision
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model_meta.json").write_text('{"name": "not a result"}')
    path = folder / f"{task}.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def pairs(en, es, fr):
    """Three query languages asking English documents."""
    return [
        subset("en", ["eng-Latn", "eng-Latn"], en),
        subset("es", ["spa-Latn", "eng-Latn"], es),
        subset("fr", ["fra-Latn", "eng-Latn"], fr),
    ]


def put_results(root):
    """Three systems on the task Clinic, of which ``words`` lacks French; two of them on Many, of fourteen languages."""
    put_file(root, LARGE, "Clinic", result("Clinic", {"all": pairs(0.6, 0.5, 0.4), "heart": pairs(0.7, 0.6, 0.5)}))
    put_file(root, SMALL, "Clinic", result("Clinic", {"all": pairs(0.5, 0.3, 0.1), "heart": pairs(0.4, 0.2, 0.0)}))
    put_file(root, WORDS, "Clinic", result("Clinic", {"all": pairs(0.8, 0.05, 0.0)[:2]}, mteb_version=None))
    tags = ["eng-Latn", "spa-Latn", "rus-Cyrl", "zho-Hans", "zho-Hant", "jpn-Jpan", "arb-Arab", "hin-Deva", "ben-Beng",
            "swh-Latn", "tha-Thai", "kor-Hang", "ukr-Cyrl", "fra-Latn"]  # fmt: skip
    many = [subset(f"{tag}-eng", [tag, "eng-Latn"], 0.9 - place / 20) for place, tag in enumerate(tags)]
    many += [subset(tag, [tag, tag], 0.5) for tag in tags[1:13]]
    for system in (LARGE, SMALL):
        put_file(root, system, "Many", result("Many", {"test": many}))
    return root


def put_published(cache, root, *, name="clinic", **more):
    """Store result files as a benchmark; the store."""
    request = ResultsRequest(Path(root), name, **more)
    store_results(cache, benchmark=name, results=read_results(request, progress=silent), progress=silent)
    return read.open_store(cache)
