"""The terms that a page defines behind its question mark."""

from __future__ import annotations

from pages.shared.interface import mark

RUN_ALL = "In a terminal: python -m analysis run --benchmark … --systems all"
CHOOSE_SYSTEM = mark("Choose at least one under Systems on the left.")
DEGENERATE = "finds almost nothing across languages"

FLAGGED = (
    "The import flagged these texts: empty, without letters, in another script than their language’s, or the like. "
    "Left out, a flagged query is in no number, and judgements of a flagged document do not count: it is neither an "
    "answer to find nor one that is missed. It still stands where a system ranked it, so ranks stay, and so does what "
    "was counted with all documents when the run was stored."
)

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
    (
        "nDCG@10 ties allow",
        "The lowest and highest value that another order among equals would give. Blank where it rests on judgements "
        "that are left out.",
    ),
    ("Judged in top 10", "Share of the first ten that somebody judged. Unjudged documents count as not relevant."),
    ("Answers not in the corpus", "Relevant documents that the corpus does not hold: no system can find them."),
    (
        "Different documents in top 10",
        "How many documents appear in any first ten, and how often the most frequent of them does. "
        "A few documents that come up everywhere (hubs) pull a system down.",
    ),
    ("Kept of depth", "How many documents a query are kept to look at, of those that were searched for ranks."),
)

AGREEMENT = (
    ("Items", "Queries that both have tagged, for the same system and route where one is named."),
    ("Agreed", "Share of these items on which both say the same: the same tag, or this tag given or not."),
    ("κ", "Cohen's kappa: agreement beyond what the two people's own frequencies make likely. 0 is chance, 1 is all."),
    ("AC1", "Gwet's: the same, but steady where nearly all items are alike, where κ collapses."),
)

AUDITS = (
    (
        "Accuracy",
        "Share of judgements that say what the benchmark says: relevant (a grade of 1 or more) or not; faithful; the "
        "same tier. A pair that nobody had judged is not relevant in the benchmark, here as everywhere.",
    ),
    ("κ", "Cohen's kappa: agreement beyond what the two sides' own frequencies make likely. 0 is chance, 1 is all."),
    ("AC1", "Gwet's: the same, but steady where nearly all items have one label, where κ collapses."),
    ("MAE", "Mean absolute error of grades, where there are others than 0 and 1. 0 is best."),
    (
        "People together",
        "Each item once, as the majority of the people who judged it says. Items without a majority are left out and "
        "counted as tied: of two people all on which they differ, so that this row looks better than either.",
    ),
)

WHAT_IF = (
    ("Subtract the mean", "From each vector the mean of all documents, or of all queries, in its language."),
    ("RRF", "A document's score sums 1 ÷ (k + its rank) over the lists. A small k trusts the first ranks most."),
    ("Scores added up", "Each list's scores are first brought to 0 to 1."),
    ("Other languages only", "Each query is asked of the corpus without the documents in its own language."),
    ("Difference", "After less before, over the same queries, with its 95 % interval."),
)

CHANGE = (
    ("Better, same, worse", "Queries whose R@10 on this route is higher, equal or lower in the second run."),
    ("After less before", "The mean difference over the route's queries, paired, with its 95 % interval."),
)

OPENED = (
    ("Rank", "Where the document stands in the system's list. Grey: deeper than the list was searched."),
    ("Score", "The system's own: scores of different systems have nothing to do with each other."),
    ("Grade", "What the document was judged to be for this query: right from 1 on."),
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
    ("Gap", "The value of the best query language less that of the worst. Chance alone makes it larger than zero."),
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

CHOOSE_SECOND = "It takes two systems with values of this measure: choose another under Systems or Measure on the left."

SIGNIFICANCE = (
    (
        "95 % interval",
        "Where the difference lies over draws of other concepts like these (bootstrap). Where it leaves out 0, "
        "the difference is more than chance.",
    ),
    ("p", "How often chance alone, flipping the signs of whole concepts, makes a difference this large."),
    (
        "Adjusted p",
        "Many tests find something by chance. Holm keeps the risk of a single false find at 5 %; Benjamini–Hochberg "
        "keeps the share of false finds among all finds at 5 %.",
    ),
    (
        "Descriptive only",
        "There are fewer than 30 paired queries, fewer than 10 concepts (families), or fewer than 10 that differ at "
        "all: no p is shown, as it would say nothing.",
    ),
)

TAX_CAPTION = (
    "R@10 of answers in the query’s own language less R@10 of answers in others, on queries that have both · right of "
    "zero: crossing costs · lines: 95 % intervals"
)
TAX = (
    ("Better / same / worse", "On how many queries answers in the own language are found better than the others."),
    (
        "Effect",
        "Rank-biserial correlation: 1.00 where every query that differs favours the own language, 0.00 where neither "
        "side is favoured. Source: Kerby (2014), Comprehensive Psychology 3.",
    ),
    ("Holm p", "By flipping the signs of whole concepts, adjusted over the systems of the task."),
)

PAIRS_CAPTION = (
    "Row less column, on the same queries · orange: the row is ahead · hatched: adjusted p not below 0.05, or too "
    "little to test · click a cell, or choose below"
)
PAIRS = (
    (
        "Friedman’s test",
        "Whether any system ranks differently from the others, query by query. Source: Friedman (1937), JASA 32(200).",
    ),
    ("Adjusted p, all pairs", "Benjamini and Hochberg (1995), JRSS B 57(1): over every pair of the task."),
    ("Holm p", "Over the best system against each other one, or over neighbours in the order of means."),
)

RANKS_CAPTION = "1 is best, ties share their rank · a thick bar joins systems that cannot be told apart"
RANKS = (
    (
        "Critical difference",
        "How far two average ranks must lie apart to differ by more than chance at 5 %, over all pairs (Nemenyi). "
        "Source: Demšar (2006), JMLR 7.",
    ),
)

GLOBAL_CAPTION = (
    "Odds that an answer in the query’s language is in the first ten, over the odds of one in another language · 1.00: "
    "no difference · every query language its own base rate"
)
GLOBAL = (
    (
        "Odds ratio",
        "From a binomial model of found or not by route type and query language, its errors clustered by concept. "
        "2.00: the odds are twice as high in the own language.",
    ),
)

ORDER_CAPTION = "Systems ordered by their means in both places · a part of the queries counts in “all queries” too"
ORDER = (
    ("Spearman ρ", "Correlation of the systems’ ranks in two places: 1 is the same order, −1 the reverse."),
    (
        "Kendall τ",
        "Share of pairs of systems in the same order less the share in the opposite one; ties are corrected.",
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
ANSWERS = (
    ("Tier", "How near in meaning a query and its answers are: synonym, sibling, related."),
    ("Answer", "A term of another concept of the query’s confusion set, or in the first tier of the same concept."),
    ("Hit@1", "Share of queries with an answer at rank 1; R@1 divides by the number of answers."),
    ("Sibling, related, unrelated", "What is no answer, by the codes of the source vocabulary."),
    ("Hatched", "What stands at rank 1 is in another language than the query."),
)
VALIDATION = (
    (
        "Confusion set",
        "The spellings of one concept (synonym), or concepts whose codes share their first three "
        "characters (sibling), or do not (related), in one source vocabulary.",
    ),
    (
        "Vote",
        "By the mean cosine over all pairs of a set: synonym from 0.70, sibling 0.40 to 0.75, related 0.15 to "
        "0.45. Where two fit, the tier the set was made for, else that of the nearer centre.",
    ),
    (
        "As made, as kept",
        "As made: every set, by the tier of its codes. As kept: sets on which two of three agree, by "
        "the tier they agree on; these lie within the bounds because of how they were chosen.",
    ),
    ("κ, AC1", "Agreement beyond chance of two validators, 1 is perfect; AC1 stays steady where one vote is frequent."),
    ("No vote", "Neither a validator nor made of one: its order of the tiers is evidence of its own."),
)

PUBLISHED = (
    (
        "Published",
        "Computed by others and taken over from their result files. It is a mean; the values of each query behind it "
        "are not known, so it has no interval, cannot be sliced, and is never ranked with what was measured here.",
    ),
    (
        "Subset",
        "A part of a task that its authors score on its own, mostly one language pair. Over several of them the plain "
        "mean is taken, as mteb does.",
    ),
)

PRINTED = (
    (
        "Published",
        "Printed by the authors of the paper, from their own runs of their own build of the benchmark. It takes no "
        "part in any mean, interval, test or order of what was measured here.",
    ),
    ("±", "Printed beside the figure."),
)
COUNTED_OTHERWISE = (
    "Nothing stands beside MMed-IR and the score of task 2: the paper counts discrimination by R@1 over three tiers, "
    "the leaderboard here by how often the answer stands above its neighbours."
)

NO_CROSS = "Choose another task, or other queries, on the left."
KNEES = (
    "▼ knee: from there on reading deeper pays less · ▲ late knee: from there on it pays more · bands: 95 % intervals"
)
STAGES = (
    "Shares of the queries with an answer in another language: the first stage leaves it out of the candidates, or it "
    "is among them and the second stage leaves it out of the top 10"
)

POOLED = (
    "k80 over the queries of every task that have answers in both, for systems that ran on all of these; each run is "
    "read down to the depth of the shallowest"
)

RECOVERABILITY = (
    (
        "RRC@K",
        "Share of the queries whose first answer in another language stands in the top K: what a perfect re-ranker of "
        "K documents could fix.",
    ),
    ("Floor", "Share of the queries whose answer is nowhere in the run: no re-ranker can reach it."),
    (
        "ARI@K",
        "The part of what the top K misses that no depth of the run mends. 0: every miss stands deeper; 1: reading "
        "deeper finds nothing more. Blank where nothing is missed.",
    ),
    (
        "Knee",
        "Where the curve is farthest from the straight line between its ends. Early: from there on reading deeper pays "
        "less. Late: it pays more. Below it: where 90 % of the draws put it.",
    ),
    ("K for 90 %", "The depth that reaches nine tenths of what the run finds at all."),
    (
        "XRC",
        "How many times deeper one must read for half of the answers in another language than for half of those in the "
        "query's own; at 0.8, for 80 %. ≥: beyond the end of the run. Undefined: the same-language answers are.",
    ),
    (
        "k80",
        "The depth by which 80 % of the queries with answers in both have their first one: in their own language, in "
        "another, both. ±: standard error. > N: beyond the end of the run.",
    ),
    ("Random order", "What the same K finds if the documents are shuffled."),
)

CAUSES_CAPTION = "The deeper a cell, the more is lost; blank where nothing is known, hatched below 30 queries or texts"
MAP = (
    (
        "The picture",
        "UMAP lays texts out so that those near in the encoder’s space stay near. Distances between far groups, their "
        "sizes and the axes mean nothing; the numbers under the picture are taken from the space itself.",
    ),
    (
        "How badly it is missed",
        "Of a query 1 − nDCG@10; of a document the share of the queries it answers that lack it among their first ten. "
        "1 is missed altogether. The difference of two systems is the second’s less the first’s.",
    ),
    ("Neighbours in own language", "Of each text’s nearest texts by cosine, the share in its own language."),
    ("Translation near", "Texts that have the same thing in another language among their nearest."),
    (
        "Alignment",
        "How much nearer a text is to its translation than to another text in that language (mean difference of "
        "cosines): 0 to about 1, higher is better.",
    ),
    ("Language told", "How often a linear classifier tells a text’s language from its vector alone."),
    ("Silhouette by language", "Near 1 each language is a cloud apart; near 0 they are one cloud."),
    (
        "Hubness",
        "Skewness of how often each text is among others’ nearest: well above 0, a few texts are near everything.",
    ),
    (
        "Trustworthiness, continuity",
        "Near in the picture is near in the space; near in the space is near in the picture. 1 is best. "
        "Venna & Kaski (2001).",
    ),
)

CAUSES = (
    (
        "Characters its tokeniser does not know",
        "Share of the characters of a language that the encoder’s own tokeniser replaces by one and the same “unknown” "
        "token: two texts of such tokens look alike. A byte-level vocabulary knows all, and its cells are blank.",
    ),
    (
        "No word in common",
        "For systems that compare words: queries that share no word with any answer in another language.",
    ),
    (
        "Way left to a translation",
        "0: a text and its translation have the same vector. 1: a translation is no nearer than any other text. "
        "Alignment is the same as a difference of cosines: of translations, less of other pairs in the same languages.",
    ),
    (
        "Wrong documents in the query’s language",
        "Among the wrong documents of the top ten. Its share of the corpus would be no bias; 1 is a system that looks "
        "for the language, not for the answer.",
    ),
    (
        "One and the same document",
        "Share of the lists in a language whose top ten holds the document that most of them hold: a hub.",
    ),
    (
        "Stands out",
        "From 10 % unknown characters on; from half of the queries on without a common word or any hit; where bias or "
        "the most frequent document are at least half way from chance to the worst; where less than a fifth of the way "
        "to a translation is made.",
    ),
)
SPACE_CAPTION = (
    "Large: a system over all languages, with 95 % intervals; small: its languages one by one · down and to the right "
    "is what retrieval across languages needs"
)
PAIRS_OF_LANGUAGES = (
    "Above the diagonal: alignment, how much nearer a translation is than any other text; the more ink, the better · "
    "below it: distance of the languages’ centres, 0 to 2"
)
HUBS_CAPTION = (
    "A hub stands in more top tens than the mean of all documents and three standard deviations · lines: 95 % intervals"
)

PROBE = (
    (
        "→ en",
        "The rank of the nearest right answer in that language among all documents. Right answers are those that the "
        "benchmark judges relevant to the chosen concept.",
    ),
    ("Best right answer", "The rank of the nearest right answer in any language, with the language of that document."),
    (
        "Agreement",
        "How alike a list is to that of the first language (rank-biased overlap, p = 0.9, over concepts): 1.00 is the "
        "same, 0.00 has nothing in common. Source: Webber et al. (2010), ACM TOIS 28(4).",
    ),
    (
        "Nearest known concept",
        "The concept with the query most like the words typed: by cosine in the space of a system that is asked, a "
        "multilingual one first, or by BM25 where no vectors of the queries are stored. Nothing is measured against it "
        "until it is chosen.",
    ),
    ("Score", "The system’s own number. It orders the documents of one list and compares nothing else."),
)
