"""What each step of the story says: one sentence for the audience, and notes for whoever presents it.

In any language: who says it hands over a voice.
"""

from __future__ import annotations

from typing import Protocol

from analysis.views.selection import Interval, capitalised, language_name
from analysis.views.story import NEAR, StoryView, Version

PAGE = 10
"""Results on a page of a search engine."""


class Voice(Protocol):
    """Says words in a language; words are in English, constants, with ``{names}`` for the values."""

    def say(self, words: str, /, **values: object) -> str:
        """Words with their values put in, whole numbers as the language writes them."""

    def say_of(self, context: str, words: str, /, **values: object) -> str:
        """The same for words that mean several things."""

    def say_counted(self, one: str, many: str, n: int, /, **values: object) -> str:
        """Words about a number ``{n}``, in the form that the language has for it."""

    def sentences(self, *parts: str) -> str:
        """Sentences one after the other; empty ones are left out."""

    def number(self, value: float, digits: int = 0) -> str:
        """A number as the language writes it."""

    def language(self, tag: str) -> str:
        """The name of a language."""


class English:
    """The voice of what has one language only; as :class:`Voice` says."""

    def say(self, words: str, /, **values: object) -> str:
        """The words."""
        written = {name: self.number(value) if isinstance(value, int) else value for name, value in values.items()}
        return words.format_map(written) if written else words

    def say_of(self, context: str, words: str, /, **values: object) -> str:
        """The words, which the context tells from others for a translator only."""
        del context
        return self.say(words, **values)

    def say_counted(self, one: str, many: str, n: int, /, **values: object) -> str:
        """The words for one, or for any other number."""
        return self.say(one if n == 1 else many, n=n, **values)

    def sentences(self, *parts: str) -> str:
        """With a space between them."""
        return " ".join(part for part in parts if part)

    def number(self, value: float, digits: int = 0) -> str:
        """With commas and a point."""
        return f"{value:,.{digits}f}"

    def language(self, tag: str) -> str:
        """Its English name."""
        return language_name(tag)


def steps(voice: Voice, told: StoryView) -> tuple[str, ...]:
    """The sentence of each step."""
    return (
        voice.say("Someone asks {in_language}.", in_language=in_language(voice, told.first.language)),
        voice.say("The same concern, {in_language}.", in_language=in_language(voice, told.second.language)),
        voice.sentences(_finds(voice, told.first), _finds(voice, told.second)),
        _misses(voice, told.second),
        _how_often(voice, told),
        _what_helps(voice, told),
    )


def in_language(voice: Voice, tag: str) -> str:
    """As in "asked in Russian"; the languages of the usual benchmarks in the form that a language bends them to."""
    known = {
        "en": voice.say("in English"),
        "es": voice.say("in Spanish"),
        "fr": voice.say("in French"),
        "ja": voice.say("in Japanese"),
        "zh": voice.say("in Chinese"),
        "ru": voice.say("in Russian"),
        "de": voice.say("in German"),
    }
    return known.get(tag) or voice.say("in {language}", language=voice.language(tag))


def _finds(voice: Voice, version: Version) -> str:
    asked = in_language(voice, version.language)
    if version.best_rank is None or version.best_rank > NEAR:
        return voice.say("Asked {in_language}, none of the first {n} results is right.", in_language=asked, n=NEAR)
    if version.best_rank == 1:
        return voice.say("Asked {in_language}, the first result is right.", in_language=asked)
    return voice.say(
        "Asked {in_language}, the first right result is number {rank}.", in_language=asked, rank=version.best_rank
    )


def _misses(voice: Voice, version: Version) -> str:
    asked = in_language(voice, version.language)
    if not version.missed:
        return voice.say("Asked {in_language}, it misses nothing.", in_language=asked)
    if len(version.missed) == version.n_right:
        missed = voice.say_counted(
            "Asked {in_language}, it misses the only right answer.",
            "Asked {in_language}, it misses all {n} right answers.",
            version.n_right,
            in_language=asked,
        )
    else:
        missed = voice.say_counted(
            "Asked {in_language}, it misses {missed} of {n} right answers.",
            "Asked {in_language}, it misses {missed} of {n} right answers.",
            version.n_right,
            in_language=asked,
            missed=len(version.missed),
        )
    nearest = version.missed[0].rank
    if nearest is None:
        return voice.sentences(missed, voice.say("It lists them nowhere."))
    return voice.sentences(missed, voice.say("The nearest of them is on page {page}.", page=page_of(nearest)))


def page_of(rank: int) -> int:
    """The page of a search engine that a rank stands on."""
    return (rank - 1) // PAGE + 1


def _how_often(voice: Voice, told: StoryView) -> str:
    shares = {count.language: count.near for count in told.counts}
    return voice.say(
        "Asked {in_first}, {first} of 100 questions find an answer on the first page; {in_second}, {second} of 100.",
        in_first=in_language(voice, told.first.language),
        first=of_100(shares[told.first.language]),
        in_second=in_language(voice, told.second.language),
        second=of_100(shares[told.second.language]),
    )


def of_100(share: Interval) -> int:
    """A share as a count of a hundred."""
    return round(100 * (share.value or 0))


def everywhere(told: StoryView) -> Interval:
    """How often the shown system finds an answer, over all languages."""
    return next(one.everywhere for one in told.performers if one.system == told.system)


def _what_helps(voice: Voice, told: StoryView) -> str:
    if told.help:
        return voice.say(
            "Another search helps: {name} answers {other} of 100 questions over all languages, this one {this}.",
            name=told.help.performer.system.short,
            other=of_100(told.help.performer.everywhere),
            this=of_100(everywhere(told)),
        )
    if not told.compared:
        return voice.say("No other search has been tried here yet, so nothing can be said to help.")
    if told.untold:
        return voice.say("There are too few questions here to say what helps.")
    return voice.say("None of the other searches tried here is better by more than chance.")


def second_look(voice: Voice, told: StoryView) -> str:
    """What a re-ranker could reach at most, in the words of people."""
    return voice.say_counted(
        "Looking again, more closely, at the first result can reach {reach} of 100 at most; one drawn at random would "
        "reach {chance}.",
        "Looking again, more closely, at the first {n} results can reach {reach} of 100 at most; {n} drawn at random "
        "would reach {chance}.",
        told.deep,
        reach=of_100(told.everywhere_deep),
        chance=round(100 * told.chance),
    )


def source(voice: Voice, told: StoryView, *, live: bool) -> str:
    """Where the results on the screen come from."""
    if live:
        return voice.say("Asked live just now: {name}", name=told.system.short)
    return voice.say("Replayed from a stored run: {name}", name=told.system.short)


# For whoever presents


def notes(voice: Voice, told: StoryView, *, live: bool) -> tuple[str, ...]:
    """What stands behind the sentence of each step, with n and interval."""
    return (
        _about_the_question(voice, told),
        _about_the_versions(voice, told),
        voice.sentences(
            voice.say_counted(
                "{name} searches {n} document.",
                "{name} searches {n} documents.",
                told.task.n_documents,
                name=told.system.title,
            ),
            voice.say("A tick marks what the benchmark judges right."),
            _live_or_stored(voice, live),
        ),
        _about_the_ranks(voice, told),
        voice.sentences(
            *(
                _measured(voice, capitalised(voice.language(count.language)), count.near)
                for count in told.counts
                if count.language in {told.first.language, told.second.language}
            ),
            voice.say("A question counts as answered where a right answer, in any language, is among the first ten."),
        ),
        _about_the_help(voice, told),
    )


def _about_the_question(voice: Voice, told: StoryView) -> str:
    return voice.sentences(
        voice.say_counted(
            "This is the one question of {benchmark} that is asked in several languages.",
            "This is one of {n} questions of {benchmark} that are asked in several languages.",
            len(told.concepts),
            benchmark=told.benchmark.title,
        ),
        voice.say(
            "{alike} of the {n} that are asked in these two languages end the same way.",
            alike=told.outcome.alike,
            n=told.outcome.n,
        ),
        voice.say("Without a choice, the page shows one that ends as most do."),
    )


def _about_the_versions(voice: Voice, told: StoryView) -> str:
    return voice.sentences(
        voice.say_counted(
            "The question is asked in {n} language.",
            "The question is asked in {n} languages.",
            len(told.concept.languages),
        ),
        voice.say("Versions need not be translations of each other; their right answers are the same.")
        if told.same_answers
        else voice.say("Versions need not be translations of each other, and their right answers differ."),
    )


def _live_or_stored(voice: Voice, live: bool) -> str:
    if live:
        return voice.say("The two questions were put to it just now; how often and what helps come from stored runs.")
    return voice.say("The lists are those of the stored run, exactly.")


def _about_the_ranks(voice: Voice, told: StoryView) -> str:
    version = told.second
    ranks = [voice.number(one.rank) for one in version.missed if one.rank is not None]
    placed = voice.say("The missed answers stand at rank {ranks}.", ranks=", ".join(ranks)) if ranks else ""
    return voice.sentences(
        placed,
        voice.say(
            "A page is {n} results; the search was followed for {depth} results of {documents}.",
            n=PAGE,
            depth=version.depth,
            documents=told.task.n_documents,
        ),
    )


def _measured(voice: Voice, what: str, share: Interval) -> str:
    """A share with its interval and n."""
    return voice.say_of(
        "share",
        "{what}: {value} (95 % interval {low} to {high}, n = {n}).",
        what=what,
        value=voice.number(share.value or 0, 2),
        low=voice.number(share.low or 0, 2),
        high=voice.number(share.high or 0, 2),
        n=share.n,
    )


def _about_the_help(voice: Voice, told: StoryView) -> str:
    reach = _measured(
        voice, voice.say("A right answer among the first {n}, all languages", n=told.deep), told.everywhere_deep
    )
    if told.help is None:
        why = voice.say_counted(
            "{n} other system was compared on the same questions.",
            "{n} other systems were compared on the same questions.",
            told.compared,
        )
        return voice.sentences(why, reach)
    apart = told.help.difference
    return voice.sentences(
        voice.say(
            "Difference over all languages, on the same questions: {value} (95 % interval {low} to {high}, n = {n}), "
            "{p} after correction for {compared} comparisons.",
            value=voice.number(apart.value or 0, 2),
            low=voice.number(apart.low or 0, 2),
            high=voice.number(apart.high or 0, 2),
            n=apart.n,
            p=_p(voice, told.help.p),
            compared=told.compared,
        ),
        reach,
    )


def _p(voice: Voice, p: float) -> str:
    return f"p < {voice.number(0.001, 3)}" if p < 0.001 else f"p = {voice.number(p, 3)}"
