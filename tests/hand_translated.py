"""A benchmark of translated questions small enough to count by hand, and three systems whose order depends on them."""

from analysis.model import Benchmark, Document, Judgement, Query, Task
from tests.hand_made import put, ranking_of

TASK = "t3-evidence"
STATUS = {"en": ["source"] * 4, "es": ["pass", "pass", "flag", "fail"], "ja": ["pass", "fail", "fail"]}
FOUND = {  # rank of the one answer, by status
    "careful": {"pass": 1},
    "even": {"pass": 3, "flag": 1, "source": 1},
    "careless": {"source": 3, "fail": 1},
}
COUNTS = {
    "questions": 4, "terms": 8, "terms_kept": 6, "unknown": 1, "abbreviations": 3, "abbreviations_kept": 2,
    "without_term": 0, "without_back": 0, "f1": 0.9375,
}  # fmt: skip
BUILT = {
    "translations": [
        {"language": "es", "missing": 0, "passed": 2, "flagged": 1, "failed": 1, "preservation": 0.75, **COUNTS},
        {"language": "ja", "missing": 1, "passed": 1, "flagged": 0, "failed": 2, "preservation": None, **COUNTS},
    ],
    "translated_by": "a hand",
    "lexicon": "UMLS",
    "limits": {},
    "questions": 1205,
    "questions_without_snippet": 1201,
    "questions_without_term": 1,
    "snippets": 5,
    "snippets_repeated": 1,
    "snippets_of_several_questions": 1,
    "abbreviations": ["HIV", "MRI"],
}


def benchmark():
    """Four questions in English, four in Spanish, three in Japanese; each has one answer."""
    documents = tuple(Document(f"d{n}", "en", f"text {n}", family=f"p{n}") for n in range(8))
    queries = tuple(
        Query(
            f"q{n}-{tag}",
            tag,
            f"{n} {tag}?",
            family=f"q{n}",
            audit_status=status,
            source_query=f"q{n}-en",
            attributes={"preservation": "1.00" if n % 2 else "0.50", "question_type": "list" if n % 2 else "yesno"},
        )
        for tag, row in STATUS.items()
        for n, status in enumerate(row)
    )
    judgements = tuple(Judgement(query.id, f"d{query.family[1]}", 1.0) for query in queries)
    task = Task(TASK, "Evidence", "Asks for passages.", documents, queries, judgements, default=True)
    settings = {"built": {TASK: BUILT}}
    return Benchmark("translated", "1", "Translated", False, "CC0", "by hand", (), settings, (task,))


def stored(cache):
    """The store with the three systems."""
    made = benchmark()
    (task,) = made.tasks
    lists = {
        (name, "multilingual dense"): [
            _list(f"d{query.family[1]}", found.get(query.audit_status)) for query in task.queries
        ]
        for name, found in FOUND.items()
    }
    return put(cache, made, {key: ranking_of(task, rows, depth=8) for key, rows in lists.items()})


def _list(answer, rank):
    fillers = [f"d{n}" for n in range(4, 8)]
    return fillers if rank is None else [*fillers[: rank - 1], answer, *fillers[rank - 1 :]]
