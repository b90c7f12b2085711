"""A benchmark of two tasks with planted overlaps, and a training file in which some of it occurs."""

from analysis.model import Benchmark, Document, Judgement, Query, Task
from analysis.store import read, write

LONG = "one red fox met two grey wolves near the old stone bridge on monday"  # 14 words
FILE = (
    "Nothing of it is here.",
    "Does aspirin help against the pain of a broken arm? ",  # a1 letter by letter, b1 normalised
    "que faire",  # a2 normalised
    "so: one red fox met two grey wolves near the old stone bridge, they say",  # 12 words in a row: too few
    "One red fox met two grey wolves near the old stone bridge on the way",  # 13 words in a row of a3 and b3
    "then mix flour water salt and yeast in a large bowl today",  # a4 inside
    "I want to see the sea",  # a5, of two words, is too short
)


def overlapping():
    """Task A asks five questions and task B three.

    They share one concept (c1), one question in other case, two nearly the same, and a document.
    """
    a = (
        Query("a1", "en", "Does aspirin help against the pain of a broken arm?", "c1"),
        Query("a2", "fr", "Que faire ?", "c2"),
        Query("a3", "en", f"{LONG} morning", "c3"),
        Query("a4", "en", "Mix flour, water, salt and yeast in a large bowl", "c4"),
        Query("a5", "en", "To see", "c5"),
    )
    b = (
        Query("b1", "en", "DOES ASPIRIN help, against the pain of a broken arm", "c1"),
        Query("b2", "ja", "頭痛", "c9"),
        Query("b3", "en", LONG, "c8"),
    )
    of_a = (Document("d1", "en", "Aspirin is a drug", "c1"), Document("d2", "fr", "Un médicament", "c2"))
    of_b = (Document("e1", "en", "Aspirin is a drug", "c1"), Document("e2", "en", "A drug is nothing", "c8"))
    tasks = (
        Task("first", "First", "?", of_a, a, (Judgement("a1", "d1", 1.0), Judgement("a1", "d2", 1.0)), default=True),
        Task("second", "Second", "?", of_b, b, (Judgement("b1", "e1", 1.0),)),
    )
    return Benchmark("overlapping", "1", "Overlapping", False, "CC0", "by hand", ("A limit.",), {}, tasks)


def put_overlapping(cache):
    """Store it; the store."""
    with write.writer(cache) as writer:
        writer.add_benchmark(overlapping())
    return read.open_store(cache)
