"""What causes it?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analysis.geometry import hubness
from analysis.languages import language_name
from analysis.model import Interval, SystemLabel
from analysis.store.read import DiagnosisRow, RunRow, Store, TaskRow
from analysis.text import counted
from analysis.views import cause_numbers as numbers
from analysis.views import language_choice
from analysis.views.cause_numbers import BIAS, CROSS, Alignments, Numbers, Texts, TopTen
from analysis.views.evidence import Evidence, benchmark_label, chosen_tasks, number, of_100, task_label
from analysis.views.selection import BenchmarkLabel, Selection, Sentence, TaskLabel

BLIND_FROM = 0.10
"""Share of the characters that a tokeniser does not know from which on it is called blind to a language."""

STANDS_OUT = 0.5
"""How far of the way from what chance gives to the worst a bias or a hub must be to be called a cause; and the share
of queries without a word in common with an answer, or without any hit."""

FEWEST = 10
"""Queries, texts or translations from which on a number is enough to name a cause."""

SLIGHTLY = 1.2
"""Times its share that a language must stand above the answer to be named."""

UNALIGNED_BELOW = 0.20
"""Part of the way from a random text to an identical vector that a translation must at least come."""

MANY = 3
"""Languages that a sentence names at most."""

HUBS_SHOWN = 5
"""Hub documents of each system that are named."""

CAUSES = {
    "blind": "its tokeniser does not know the script",
    "words": "query and answer have no word in common",
    "empty": "it finds nothing at all",
    "bias": "wrong documents in the query's language come first",
    "hubs": "the same documents come up whatever is asked",
    "unaligned": "a translation is hardly nearer than any other text",
}
"""What can stand out, the root before what follows from it."""

NUMBERS = {
    "recall_at_10_cross": "R@10 cross",
    "unknown_characters": "Unknown characters",
    "characters_per_token": "Characters a token",
    "truncated": "Cut texts",
    "no_shared_word": "No shared word",
    "empty_list": "Nothing found",
    "same_language_irrelevant_at_10": "Wrong in own language",
    "largest_document": "One same document",
    "hub_places": "Places of hubs",
    "silhouette": "Silhouette",
    "probe_accuracy": "Language told",
    "alignment": "Alignment",
    "alignment_share": "Way to translation",
}
"""What is known of one system and language, and how tables call it."""
NO_CAUSE = "none of these causes stands out"


@dataclass(frozen=True)
class LanguageCauses:
    """What is known of one system and one language."""

    language: str | None  # None: all together
    numbers: Mapping[str, Interval]  # by name; what is undefined or not known has no entry
    own_share: float | None  # of the corpus, in the query's language: what BIAS would be by chance
    outranked_by: tuple[str, float] | None  # the language most above the right answer, in times its share; None of all
    causes: tuple[str, ...]  # keys of CAUSES that stand out


class Hub(NamedTuple):
    """A document that comes up whatever is asked."""

    document_id: str
    language: str
    text: str
    n_queries: int  # whose top 10 holds it
    share: float  # of the lists


class LanguagePair(NamedTuple):
    """Two languages in one space."""

    language: str
    other: str
    alignment: Interval | None
    distance: float | None  # of their mean vectors, 0 to 2


@dataclass(frozen=True)
class SystemCauses:
    """What is known of one system on one task."""

    system: SystemLabel
    rows: tuple[LanguageCauses, ...]  # all languages together first, then one by one
    verdict: Sentence
    sentences: Mapping[str, str]  # one a cause that something is known of
    causes: Mapping[str, tuple[str, ...]]  # key of CAUSES -> the languages in which it stands out
    hubs: tuple[Hub, ...]
    n_hubs: int
    distinct_documents: int  # in the top 10 of all queries
    skewness: float | None  # of N_10
    pairs: tuple[LanguagePair, ...]
    diagnosed: bool  # its tokens, vectors and words were looked at
    token_limit: int | None
    tokens_reason: str | None  # why its tokens are not told
    vectors_reason: str | None  # why nothing is said of its vectors

    def of(self, language: str | None) -> LanguageCauses | None:
        """What is known of one language."""
        return next((row for row in self.rows if row.language == language), None)


@dataclass(frozen=True)
class CausesTask:
    """One task of the page."""

    task: TaskLabel
    takeaway: Sentence
    caption: str
    languages: tuple[str, ...]  # shown, in the benchmark's order
    systems: tuple[SystemCauses, ...]
    pending: tuple[SystemLabel, ...]  # nobody has looked at their tokens, vectors and words yet


@dataclass(frozen=True)
class CausesView:
    """Why the chosen systems fail on the chosen tasks."""

    benchmark: BenchmarkLabel
    tasks: tuple[CausesTask, ...]


def page(store: Store, selection: Selection, *, languages: tuple[str, ...] = ()) -> CausesView:
    """The answer of the page *Why it fails*.

    Args:
        store: where the runs are.
        selection: tasks, systems and queries.
        languages: those to show; empty for all. What stands out is over all.

    Raises:
        InputError: an unknown benchmark, task or system, a task without rankings, or none of the languages.
    """
    labels = store.system_labels()
    tasks = tuple(_task(store, task, selection, labels, languages) for task in chosen_tasks(store, selection))
    return CausesView(benchmark_label(store.benchmark(selection.benchmark)), tasks)


def _task(
    store: Store, task: TaskRow, selection: Selection, labels: dict[str, SystemLabel], languages: tuple[str, ...]
) -> CausesTask:
    evidence = Evidence.load(store, task, selection=selection, labels=labels)
    evidence.need_ranks("the causes of failure need rankings")
    looked_at = store.diagnoses(task.task_id)
    tags = language_choice.shown(evidence.languages, languages)
    systems = tuple(_systems(evidence, selection, labels, looked_at, tags))
    return CausesTask(
        task=task_label(task),
        takeaway=_takeaway(systems),
        caption=_caption(evidence, tags),
        languages=tags,
        systems=systems,
        pending=tuple(labels[run.system] for run in evidence.runs if run.run_id not in looked_at),
    )


def _systems(
    evidence: Evidence,
    selection: Selection,
    labels: Mapping[str, SystemLabel],
    looked_at: Mapping[int, DiagnosisRow],
    tags: Sequence[str],
) -> Iterator[SystemCauses]:
    tops = [TopTen.of(evidence, run) for run in evidence.runs]
    texts = Texts.of(evidence, without_flagged=selection.without_flagged)
    of_lists, preferred = numbers.of_lists(evidence, tops), numbers.preferences(evidence)
    shares = _own_shares(evidence)
    for place, run in enumerate(evidence.runs):
        inside, pairs = _from_inside(evidence, run, texts, looked_at.get(run.run_id))
        found = _merged(of_lists[place], inside)
        if not shares:
            found = {tag: {key: one for key, one in named.items() if key != BIAS} for tag, named in found.items()}
        rows = tuple(
            LanguageCauses(
                tag,
                found.get(tag, {}),
                shares.get(tag),
                preferred[place].get(tag) if tag else None,
                _standing_out(found.get(tag, {}), shares.get(tag), n_documents=evidence.task.n_documents),
            )
            for tag in (None, *evidence.languages)
            if tag is None or tag in found
        )
        seen = _Seen(labels[run.system], rows, tops[place], looked_at.get(run.run_id), pairs)
        yield _system(evidence, seen, tags)


class _Seen(NamedTuple):
    """What was found of one system."""

    label: SystemLabel
    rows: tuple[LanguageCauses, ...]  # all languages together first
    top: TopTen
    looked_at: DiagnosisRow | None
    pairs: tuple[LanguagePair, ...]


def _system(evidence: Evidence, seen: _Seen, tags: Sequence[str]) -> SystemCauses:
    label, rows, top, looked_at, pairs = seen
    causes = {
        key: languages
        for key in CAUSES
        if (languages := tuple(row.language for row in rows if row.language and key in row.causes))
    }
    return SystemCauses(
        system=label,
        rows=tuple(row for row in rows if row.language is None or row.language in tags),
        verdict=_verdict(label.short, rows, causes),
        sentences=_sentences(seen),
        causes=causes,
        hubs=_hubs(evidence, top),
        n_hubs=len(top.hubs),
        distinct_documents=top.n_distinct,
        skewness=number(hubness.skewness(top.appearances)),
        pairs=tuple(pair for pair in pairs if {pair.language, pair.other} <= set(tags)),
        diagnosed=looked_at is not None,
        token_limit=looked_at.token_limit if looked_at else None,
        tokens_reason=looked_at.tokens_reason if looked_at else None,
        vectors_reason=looked_at.vectors_reason if looked_at else None,
    )


def _from_inside(
    evidence: Evidence, run: RunRow, texts: Texts, looked_at: DiagnosisRow | None
) -> tuple[Numbers, tuple[LanguagePair, ...]]:
    """What a diagnosis found of a run's tokens, vectors and words; nothing where nobody has looked."""
    if looked_at is None:
        return {}, ()
    store, found = evidence.store, []
    tokens, matches = store.text_tokens(run.run_id), store.word_matches(run.run_id)
    if len(tokens.tokens):
        found.append(numbers.of_tokens(texts, tokens))
    if len(matches["is_known"]):
        found.append(numbers.of_words(evidence, matches))
    space = store.text_space(run.run_id)
    if not len(space.position):
        return _merged(*found), ()
    aligned: Alignments = numbers.of_translations(texts, store.translations(run.run_id))
    by_language, by_pair = aligned.numbers()
    apart = store.centroid_distances(run.run_id)
    pairs = tuple(
        LanguagePair(first, second, by_pair.get(pair), apart[pair])
        for first, second in itertools.combinations(evidence.languages, 2)
        for pair in ((first, second), (second, first))
        if pair in apart
    )
    return _merged(*found, numbers.of_space(texts, space), by_language), pairs


def _merged(*parts: Numbers) -> Numbers:
    found: Numbers = {}
    for part in parts:
        for tag, named in part.items():
            found[tag] = {**found.get(tag, {}), **named}
    return found


def _own_shares(evidence: Evidence) -> dict[str | None, float]:
    """The share of the corpus that is in each query language; over all, its mean over the queries.

    Empty where the corpus is in one language: there is none to prefer.
    """
    corpus = evidence.store.corpus_languages(evidence.task.task_id)
    total, asked = sum(corpus.values()), evidence.judged.query_language[evidence.domain]
    if len(corpus) < 2 or not len(asked):
        return {}
    share_of = np.array([corpus.get(tag, 0) / total for tag in evidence.languages])
    spoken: dict[str | None, float] = {evidence.languages[code]: float(share_of[code]) for code in np.unique(asked)}
    return spoken | {None: float(share_of[asked].mean())}


def _hubs(evidence: Evidence, top: TopTen) -> tuple[Hub, ...]:
    chosen = top.hubs[:HUBS_SHOWN].tolist()
    texts = evidence.store.texts(evidence.task.task_id, chosen) if chosen else {}
    documents = evidence.store.documents(evidence.task.task_id) if chosen else None
    n_lists = len(np.unique(top.query))
    return tuple(
        Hub(
            str(documents.id[place]),
            str(documents.language[place]),
            texts[place],
            int(top.appearances[place]),
            float(top.appearances[place] / n_lists),
        )
        for place in chosen
        if documents is not None
    )


# --- what stands out --------------------------------------------------------------------------------------------------


def excess(share: float, expected: float) -> float | None:
    """How far a share is on the way from what chance gives to 1; None where chance gives 1 already."""
    return (share - expected) / (1 - expected) if expected < 1 else None


def _standing_out(found: Mapping[str, Interval], own_share: float | None, *, n_documents: int) -> tuple[str, ...]:
    """The causes of one language, roots first."""

    def value(key: str) -> float | None:
        return found[key].value if key in found and found[key].n >= FEWEST else None

    def beyond(key: str, expected: float | None) -> bool:
        share = value(key)
        if share is None or expected is None:
            return False
        over = excess(share, expected)
        return over is not None and over >= STANDS_OUT

    aligned, finds = value("alignment_share"), not beyond("empty_list", 0.0)  # else the lists left tell nothing
    evident = {
        "blind": (value("unknown_characters") or 0.0) >= BLIND_FROM,
        "words": beyond("no_shared_word", 0.0),
        "empty": not finds,
        "bias": finds and beyond(BIAS, own_share),
        "hubs": finds and beyond("largest_document", min(1.0, hubness.DEPTH / max(n_documents, 1))),
        "unaligned": aligned is not None and aligned < UNALIGNED_BELOW,
    }
    return tuple(key for key in CAUSES if evident[key])


def _verdict(short: str, rows: Sequence[LanguageCauses], causes: Mapping[str, tuple[str, ...]]) -> Sentence:
    """Everything that stands out, the root first, and how much the system finds across languages."""
    cross = rows[0].numbers.get(CROSS)
    found = f"It finds {of_100(cross.value)} answers in other languages." if cross and cross.value is not None else ""
    if not causes:
        return Sentence(f"{short}: {NO_CAUSE}.", found)
    asked = sum(row.language is not None for row in rows)
    parts = [f"{CAUSES[key]} ({_named(languages, asked)})" for key, languages in causes.items()]
    return Sentence(f"{short}: {parts[0]}.", " ".join([*(f"{_capital(part)}." for part in parts[1:]), found]).strip())


def _named(languages: Sequence[str], n_all: int) -> str:
    if len(languages) == n_all and n_all > 1:
        return "every language"
    return _listed([language_name(tag) for tag in languages])


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _takeaway(systems: Sequence[SystemCauses]) -> Sentence:
    """The system that fails worst across languages and why, then the best one."""
    if not systems:
        return Sentence("No system has run on this task yet.", "")
    worst = min(systems, key=_telling)
    if not worst.causes:
        return Sentence("No cause of failure stands out on this task.", worst.verdict.rest)
    key = next(iter(worst.causes))
    bold = worst.sentences.get(_SENTENCE_OF[key]) or worst.verdict.bold
    best = max(systems, key=_cross)
    rest = f"{best.verdict.bold} {best.verdict.rest}" if best is not worst else worst.verdict.rest
    return Sentence(bold, rest)


def _telling(system: SystemCauses) -> tuple[bool, bool, int, float]:
    """The order in which failures are worth telling: that words do not cross languages surprises nobody."""
    return not system.causes, system.system.paradigm == "lexical", -len(system.causes), _cross(system)


def _cross(system: SystemCauses) -> float:
    found = system.rows[0].numbers.get(CROSS)
    return found.value if found and found.value is not None else 0.0


# --- sentences --------------------------------------------------------------------------------------------------------

_SENTENCE_OF = {
    "blind": "unknown",
    "words": "words",
    "empty": "empty",
    "bias": "bias",
    "hubs": "hubs",
    "unaligned": "alignment",
}


def _sentences(seen: _Seen) -> dict[str, str]:
    """One sentence a cause, in counts a person can picture; without those of which nothing is known."""
    short, rows = seen.label.short, seen.rows
    limit = seen.looked_at.token_limit if seen.looked_at else None
    found = {
        "unknown": _unknown(short, rows),
        "fineness": _fineness(short, rows),
        "truncated": _truncated(short, rows, limit),
        "words": _words(short, rows),
        "empty": _empty(short, rows),
        "bias": _bias(short, rows),
        "preference": _preference(short, rows),
        "hubs": _hub_sentence(short, rows, seen.top),
        "separability": _separability(short, rows),
        "alignment": _alignment(short, rows),
        "distance": _distance(short, seen.pairs),
    }
    return {key: words for key, words in found.items() if words}


def _extreme(rows: Sequence[LanguageCauses], key: str, *, least: bool = False) -> tuple[str, float] | None:
    """The language with the largest or the smallest value of a number; None where no language has one."""
    known = [
        (row.language, value)
        for row in rows
        if row.language and key in row.numbers and (value := row.numbers[key].value) is not None
    ]
    if not known:
        return None
    return min(known, key=lambda pair: pair[1]) if least else max(known, key=lambda pair: pair[1])


def _overall(rows: Sequence[LanguageCauses], key: str) -> float | None:
    return rows[0].numbers[key].value if key in rows[0].numbers else None


def _unknown(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    worst = _extreme(rows, "unknown_characters")
    if worst is None:
        byte_level = _extreme(rows, "tokens_per_character") is not None
        return f"Nothing is unknown to {short}: it can spell every text byte by byte." if byte_level else None
    if worst[1] < 0.005:
        return f"{short} knows practically every character."
    shares = [(row.numbers["unknown_characters"].value or 0.0, row.language or "") for row in _told(rows)]
    named = sorted((pair for pair in shares if pair[0] >= BLIND_FROM), reverse=True)[:MANY] or [(worst[1], worst[0])]
    parts = [f"{_percent(share)} of {language_name(tag)}" for share, tag in named]
    return f"{short} sees {_listed(parts)} characters as unknown."


def _told(rows: Sequence[LanguageCauses]) -> list[LanguageCauses]:
    return [row for row in rows if row.language and "unknown_characters" in row.numbers]


def _fineness(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    most, least = _extreme(rows, "characters_per_token"), _extreme(rows, "characters_per_token", least=True)
    if most is None or least is None or most == least:
        return None
    return (
        f"A token of {short} covers {most[1]:.1f} characters of {language_name(most[0])} and {least[1]:.1f} of "
        f"{language_name(least[0])}."
    )


def _truncated(short: str, rows: Sequence[LanguageCauses], limit: int | None) -> str | None:
    worst = _extreme(rows, "truncated")
    if worst is None:
        return None
    if limit is None:
        return f"{short} reads whole texts."
    if worst[1] == 0:
        return f"No text is longer than the {limit:,} tokens that {short} reads."
    lost = f"the end of {_percent(worst[1])} of {language_name(worst[0])} texts is lost"
    return f"{short} reads {limit:,} tokens: {lost}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %"


def _words(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    share = _overall(rows, "no_shared_word")
    if share is None:
        return None
    return f"{of_100(share)} queries share no word with an answer in another language, so {short} cannot find it."


def _empty(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    worst = _extreme(rows, "empty_list")
    if worst is None or worst[1] == 0:
        return None
    return f"{short} finds nothing at all for {of_100(worst[1])} queries in {language_name(worst[0])}."


def _bias(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    share, own = _overall(rows, BIAS), rows[0].own_share
    if share is None or own is None:
        return None
    return (
        f"Of the wrong documents in {short}'s top ten, {of_100(share)} are in the query's language; {of_100(own)} of "
        "all documents are."
    )


def _preference(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    known = [(row.outranked_by[1], row.outranked_by[0], row.language) for row in rows if row.outranked_by]
    if not known:
        return None
    times, above, asked = max((times, above, asked or "") for times, above, asked in known)
    if rows[0].own_share is None or times < SLIGHTLY:
        return None
    return (
        f"Asked in {language_name(asked)}, {short} puts wrong documents in {language_name(above)} above the answer "
        f"{times:.1f} times as often as their number explains."
    )


def _hub_sentence(short: str, rows: Sequence[LanguageCauses], top: TopTen) -> str | None:
    worst = _extreme(rows, "largest_document")
    if worst is None:
        return None
    filled = f"{counted(top.n_distinct, 'document')} of {top.n_documents:,} fill all top tens"
    held = f"one document stands in {of_100(worst[1])} lists of {language_name(worst[0])} queries"
    return f"{_capital(filled)} of {short}; {held}."


def _separability(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    right, spread = _overall(rows, "probe_accuracy"), _overall(rows, "silhouette")
    if right is None or spread is None:
        return None
    return (
        f"From {short}'s vector alone a simple classifier tells the language of {of_100(right)} texts (silhouette "
        f"{spread:z.2f})."
    )


def _alignment(short: str, rows: Sequence[LanguageCauses]) -> str | None:
    share, worst = _overall(rows, "alignment_share"), _extreme(rows, "alignment_share", least=True)
    if share is None or worst is None:
        return None
    return (
        f"For {short} a translation comes {100 * share:.0f} % of the way from any text to the same vector, in "
        f"{language_name(worst[0])} {100 * worst[1]:.0f} %."
    )


def _distance(short: str, pairs: Sequence[LanguagePair]) -> str | None:
    known = [(pair.distance, pair) for pair in pairs if pair.distance is not None]
    if not known:
        return None
    far, pair = max(known, key=lambda item: item[0])
    names = f"{language_name(pair.language)} and {language_name(pair.other)}"
    return f"In {short}'s space {names} lie farthest apart: {far:.2f} of at most 2."


def _caption(evidence: Evidence, tags: Sequence[str]) -> str:
    some = language_choice.of_all(tags, evidence.languages)
    return (
        f"{int(evidence.domain.sum()):,} queries over {evidence.task.n_documents:,} documents"
        f"{f' · {some}' if some else ''} · intervals are 95 % bootstrap intervals"
    )
