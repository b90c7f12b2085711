"""A small benchmark in which every text that others choose tries to become markup."""

from dataclasses import replace

from analysis.model import Document, Judgement, Query
from tests.hand_made import put, put_map, ranking_of, worked_example

SCRIPT = "<script>alert(1)</script>"
LINK = "[x](javascript:alert(1))"
ENDING = "</script><script>window.caught = 1</script><!--"
PICTURE = '"><img src=x onerror="window.caught = 2">'
ANCHOR = '<a href="https://example.org/">here</a> $x$ & 100%_^~#{}\\'
TEXTS = (SCRIPT, LINK, ENDING, PICTURE, ANCHOR)


def hostile_store(cache):
    """Twelve families in two languages, run by three systems with such names, one of them drawn; the store."""
    made = worked_example()
    documents = [
        Document(f"{SCRIPT}{n}-{tag}", tag, PICTURE, family=f"{LINK}{n}", sibling_group=f"g{n // 2}")
        for n in range(12)
        for tag in ("en", "fr")
    ]
    queries = [
        Query(
            f"{ENDING}{n}-{tag}",
            tag,
            SCRIPT,
            family=f"{LINK}{n}",
            sibling_group=f"g{n // 2}",
            tier=(PICTURE, ANCHOR)[n % 2],
            attributes={PICTURE: (ENDING, SCRIPT)[n % 2]},
        )
        for n in range(12)
        for tag in ("en", "fr")
    ]
    judgements = [
        Judgement(query.id, f"{SCRIPT}{n // 2}-{tag}", 1.0) for n, query in enumerate(queries) for tag in ("en", "fr")
    ]
    task = replace(
        made.tasks[0],
        title=ENDING,
        question=SCRIPT,
        documents=tuple(documents),
        queries=tuple(queries),
        judgements=tuple(judgements),
    )
    benchmark = replace(made, title=PICTURE, licence=ENDING, source=LINK, notes=(SCRIPT, ANCHOR), tasks=(task,))
    ids = [document.id for document in documents]
    rankings = {
        (name, paradigm): ranking_of(task, [_turned(ids, n * shift) for n in range(len(queries))], depth=24)
        for shift, (name, paradigm) in enumerate(((SCRIPT, ENDING), (PICTURE, PICTURE), (ANCHOR, "lexical")), start=1)
    }
    (row,) = (store := put(cache, benchmark, rankings)).tasks(store.benchmark(benchmark.name).benchmark_id)
    near = [[(n + 1) % 48, (n + 2) % 48] for n in range(48)]
    return put_map(cache, row, PICTURE, [(n % 7, n // 7) for n in range(48)], near)


def _turned(ids, by):
    return [*ids[by % len(ids) :], *ids[: by % len(ids)]]
