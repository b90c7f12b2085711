"""The terms that a page defines behind its question mark."""

from __future__ import annotations

RUN_ALL = "In a terminal: python -m analysis run --benchmark … --systems all"
CHOOSE_SYSTEM = "Choose at least one under Systems on the left."
DEGENERATE = "finds almost nothing across languages"

OVERVIEW = (
    ("Range", "Below each value: its 95 % interval over draws of other concepts like these (bootstrap)."),
    (
        DEGENERATE.capitalize(),
        "R@10 cross is below 0.10. What a page says about the depth of such a system means little.",
    ),
)

COMPOSITES = (
    ("Alignment", "A question in a patient's words against definitions: the mean of nDCG@10 and R@1."),
    (
        "Discrimination",
        "A term against all other terms: how often an answer stands above every sibling, above every related and above "
        "every unrelated disease, averaged. Not comparable with the tier scores of the paper.",
    ),
    ("Evidence", "A question in exam style against English evidence: R@5."),
    ("MMed-IR", "The mean of the three. The hover names the ceiling: with several right answers R@1 cannot reach 1."),
)

HEALTH = (
    ("Missing queries", "Judged queries that the system did not answer. They count 0, so that failing never pays."),
    ("Tied at rank 10", "Queries in which documents with equal scores stand on both sides of rank 10."),
    ("nDCG@10 ties allow", "The lowest and highest value that another order among equals would give."),
    ("Judged in top 10", "Share of the first ten that somebody judged. Unjudged documents count as not relevant."),
    ("Answers not in the corpus", "Relevant documents that the corpus does not hold: no system can find them."),
    (
        "Different documents in top 10",
        "How many documents appear in any first ten, and how often the most frequent of them does. "
        "A few documents that come up everywhere (hubs) pull a system down.",
    ),
    ("Kept of depth", "How many documents a query are kept to look at, of those that were searched for ranks."),
)

ROUTES = (
    (
        "Route",
        "The language of the query → the language of the right answer. A cell is the mean over the queries of its row "
        "that have such an answer.",
    ),
    (
        "Retention",
        "A cell divided by the cell of its row in which query and answer share a language: what is left when the "
        "answer is in another language.",
    ),
    (
        "Who outranks",
        "Share of each language among the wrong documents above the first right one (at most ten), divided by its "
        "share of all documents.",
    ),
    ("Hatched", "Fewer than 30 queries: read it as a hint. Blank: no query has such an answer."),
)

ROUTES_CAPTIONS = {
    "retention": "Retention: R@10 of a route divided by the same-language cell of its row; 1.00 loses nothing · blank "
    "where that cell is below 0.05 or rests on fewer than 30 queries",
    "preference": "Who outranks: how often a language (columns) stands above the right answer, against its share of "
    "the documents; 1.00 is no preference, 2.00 is twice its share",
}

FAIRNESS = (
    ("Gap", "nDCG@10 of the best query language less that of the worst. Chance alone makes it larger than zero."),
    (
        "Their difference",
        "The same two languages compared on the same concepts, with its interval. Blank where the languages are not "
        "asked the same things.",
    ),
    (
        "p",
        "How often flipping the signs of whole concepts gives such a difference. Blank where too few can be flipped.",
    ),
)

TIERS = (
    (
        "Sibling",
        "A document on a near neighbour: of the same ICD-10 category or a declared confusable group.",
    ),
    ("Related", "A document of the same chapter, but no sibling."),
    ("Unrelated", "Any other document that is not an answer."),
    (
        "Above every sibling",
        "Share of queries whose first right answer stands above the first sibling. Only queries whose concept has a "
        "sibling in the corpus are counted; a system that finds nothing fails.",
    ),
    ("Hatched", "What stands at rank 1 is in another language than the query."),
)

PROBE = (
    (
        "→ en",
        "The rank of the nearest right answer in that language among all documents. Right answers are those that the "
        "benchmark judges relevant to the chosen concept.",
    ),
    (
        "Agreement",
        "How alike a list is to that of the first language (rank-biased overlap, p = 0.9, over concepts): 1.00 is the "
        "same, 0.00 has nothing in common. Source: Webber et al. (2010), ACM TOIS 28(4).",
    ),
    ("Score", "The system’s own number. It orders the documents of one list and compares nothing else."),
)
