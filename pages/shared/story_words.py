"""What each step of the story says: one sentence for the audience, and notes for whoever presents it."""

from __future__ import annotations

from analysis.views.selection import Interval, capitalised
from analysis.views.story import NEAR, StoryView, Version
from pages.shared import interface
from pages.shared.interface import number, say, say_counted, say_of, sentences

PAGE = 10
"""Results on a page of a search engine."""


def steps(told: StoryView) -> tuple[str, ...]:
    """The sentence of each step."""
    return (
        say("Someone asks {in_language}.", in_language=in_language(told.first.language)),
        say("The same concern, {in_language}.", in_language=in_language(told.second.language)),
        sentences(_finds(told.first), _finds(told.second)),
        _misses(told.second),
        _how_often(told),
        _what_helps(told),
    )


def in_language(tag: str) -> str:
    """As in "asked in Russian"; the languages of the usual benchmarks in the form that a language bends them to."""
    known = {
        "en": say("in English"),
        "es": say("in Spanish"),
        "fr": say("in French"),
        "ja": say("in Japanese"),
        "zh": say("in Chinese"),
        "ru": say("in Russian"),
        "de": say("in German"),
    }
    return known.get(tag) or say("in {language}", language=interface.language(tag))


def _finds(version: Version) -> str:
    asked = in_language(version.language)
    if version.best_rank is None or version.best_rank > NEAR:
        return say("Asked {in_language}, none of the first {n} results is right.", in_language=asked, n=NEAR)
    if version.best_rank == 1:
        return say("Asked {in_language}, the first result is right.", in_language=asked)
    return say(
        "Asked {in_language}, the first right result is number {rank}.", in_language=asked, rank=version.best_rank
    )


def _misses(version: Version) -> str:
    asked = in_language(version.language)
    if not version.missed:
        return say("Asked {in_language}, it misses nothing.", in_language=asked)
    if len(version.missed) == version.n_right:
        missed = say_counted(
            "Asked {in_language}, it misses the only right answer.",
            "Asked {in_language}, it misses all {n} right answers.",
            version.n_right,
            in_language=asked,
        )
    else:
        missed = say_counted(
            "Asked {in_language}, it misses {missed} of {n} right answers.",
            "Asked {in_language}, it misses {missed} of {n} right answers.",
            version.n_right,
            in_language=asked,
            missed=len(version.missed),
        )
    nearest = version.missed[0].rank
    if nearest is None:
        return sentences(missed, say("It lists them nowhere."))
    return sentences(missed, say("The nearest of them is on page {page}.", page=page_of(nearest)))


def page_of(rank: int) -> int:
    """The page of a search engine that a rank stands on."""
    return (rank - 1) // PAGE + 1


def _how_often(told: StoryView) -> str:
    shares = {count.language: count.near for count in told.counts}
    return say(
        "Asked {in_first}, {first} of 100 questions find an answer on the first page; {in_second}, {second} of 100.",
        in_first=in_language(told.first.language),
        first=of_100(shares[told.first.language]),
        in_second=in_language(told.second.language),
        second=of_100(shares[told.second.language]),
    )


def of_100(share: Interval) -> int:
    """A share as a count of a hundred."""
    return round(100 * (share.value or 0))


def everywhere(told: StoryView) -> Interval:
    """How often the shown system finds an answer, over all languages."""
    return next(one.everywhere for one in told.performers if one.system == told.system)


def _what_helps(told: StoryView) -> str:
    if told.help:
        return say(
            "Another search helps: {name} answers {other} of 100 questions over all languages, this one {this}.",
            name=told.help.performer.system.short,
            other=of_100(told.help.performer.everywhere),
            this=of_100(everywhere(told)),
        )
    if not told.compared:
        return say("No other search has been tried here yet, so nothing can be said to help.")
    if told.untold:
        return say("There are too few questions here to say what helps.")
    return say("None of the other searches tried here is better by more than chance.")


def second_look(told: StoryView) -> str:
    """What a re-ranker could reach at most, in the words of people."""
    return say_counted(
        "Looking again, more closely, at the first result can reach {reach} of 100 at most; one drawn at random would "
        "reach {chance}.",
        "Looking again, more closely, at the first {n} results can reach {reach} of 100 at most; {n} drawn at random "
        "would reach {chance}.",
        told.deep,
        reach=of_100(told.everywhere_deep),
        chance=round(100 * told.chance),
    )


def source(told: StoryView, *, live: bool) -> str:
    """Where the results on the screen come from."""
    if live:
        return say("Asked live just now: {name}", name=told.system.short)
    return say("Replayed from a stored run: {name}", name=told.system.short)


# For whoever presents


def notes(told: StoryView, *, live: bool) -> tuple[str, ...]:
    """What stands behind the sentence of each step, with n and interval."""
    return (
        _about_the_question(told),
        _about_the_versions(told),
        sentences(
            say_counted(
                "{name} searches {n} document.",
                "{name} searches {n} documents.",
                told.task.n_documents,
                name=told.system.title,
            ),
            say("A tick marks what the benchmark judges right."),
            _live_or_stored(live),
        ),
        _about_the_ranks(told),
        sentences(
            *(
                _measured(capitalised(interface.language(count.language)), count.near)
                for count in told.counts
                if count.language in {told.first.language, told.second.language}
            ),
            say("A question counts as answered where a right answer, in any language, is among the first ten."),
        ),
        _about_the_help(told),
    )


def _about_the_question(told: StoryView) -> str:
    return sentences(
        say_counted(
            "This is the one question of {benchmark} that is asked in several languages.",
            "This is one of {n} questions of {benchmark} that are asked in several languages.",
            len(told.concepts),
            benchmark=told.benchmark.title,
        ),
        say(
            "{alike} of the {n} that are asked in these two languages end the same way.",
            alike=told.outcome.alike,
            n=told.outcome.n,
        ),
        say("Without a choice, the page shows one that ends as most do."),
    )


def _about_the_versions(told: StoryView) -> str:
    return sentences(
        say_counted(
            "The question is asked in {n} language.",
            "The question is asked in {n} languages.",
            len(told.concept.languages),
        ),
        say("Versions need not be translations of each other; their right answers are the same.")
        if told.same_answers
        else say("Versions need not be translations of each other, and their right answers differ."),
    )


def _live_or_stored(live: bool) -> str:
    if live:
        return say("The two questions were put to it just now; how often and what helps come from stored runs.")
    return say("The lists are those of the stored run, exactly.")


def _about_the_ranks(told: StoryView) -> str:
    version = told.second
    ranks = [number(one.rank) for one in version.missed if one.rank is not None]
    placed = say("The missed answers stand at rank {ranks}.", ranks=", ".join(ranks)) if ranks else ""
    return sentences(
        placed,
        say(
            "A page is {n} results; the search was followed for {depth} results of {documents}.",
            n=PAGE,
            depth=version.depth,
            documents=told.task.n_documents,
        ),
    )


def _measured(what: str, share: Interval) -> str:
    """A share with its interval and n."""
    return say_of(
        "share",
        "{what}: {value} (95 % interval {low} to {high}, n = {n}).",
        what=what,
        value=number(share.value or 0, 2),
        low=number(share.low or 0, 2),
        high=number(share.high or 0, 2),
        n=share.n,
    )


def _about_the_help(told: StoryView) -> str:
    reach = _measured(say("A right answer among the first {n}, all languages", n=told.deep), told.everywhere_deep)
    if told.help is None:
        why = say_counted(
            "{n} other system was compared on the same questions.",
            "{n} other systems were compared on the same questions.",
            told.compared,
        )
        return sentences(why, reach)
    apart = told.help.difference
    return sentences(
        say(
            "Difference over all languages, on the same questions: {value} (95 % interval {low} to {high}, n = {n}), "
            "{p} after correction for {compared} comparisons.",
            value=number(apart.value or 0, 2),
            low=number(apart.low or 0, 2),
            high=number(apart.high or 0, 2),
            n=apart.n,
            p=_p(told.help.p),
            compared=told.compared,
        ),
        reach,
    )


def _p(p: float) -> str:
    return f"p < {number(0.001, 3)}" if p < 0.001 else f"p = {number(p, 3)}"
