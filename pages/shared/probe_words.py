"""What the live probe says in words: one sentence that compares, the times, and what a note keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis import probe
from analysis.probe import ConceptProbe, ProbeAnswer
from analysis.views.selection import Sentence

TOP = 10


def remarks(found: Sequence[ConceptProbe]) -> list[str]:
    """What a typed query lacks of those that a system's runs ask, one sentence a system."""
    return [f"{one.system.short} {one.answers[0].remark}" for one in found if one.answers[0].remark]


def by_language(found: ConceptProbe) -> dict[str, ProbeAnswer]:
    """The answers of one system by the language that was asked in."""
    return dict(zip(found.languages, found.answers, strict=True))


def takeaway(found: Sequence[ConceptProbe]) -> Sentence:
    """What the answers show: right answers found, or else how far the lists agree, of one system or of several."""
    known = any(answer.answers for one in found for answer in one.answers)
    if len(found) == 1:
        return _alone(found[0], known=known)
    if known:
        return _compared(found)
    return _lists_compared(found) if len(found[0].languages) == 1 else _concepts_compared(found)


# One system


def _alone(found: ConceptProbe, *, known: bool) -> Sentence:
    if known:
        return _found_sentence(found)
    return _language_sentence(found.answers[0]) if len(found.answers) == 1 else _agreement_sentence(found)


def _agreement_sentence(found: ConceptProbe) -> Sentence:
    """In how many languages the same concept comes first, and whose list is farthest from the first one's."""
    first, *_ = found.languages
    short = found.system.short
    apart = _apart(found)
    if not apart:
        return Sentence(f"{short} found nothing to compare.", "")
    farthest = min(apart, key=apart.__getitem__)
    alike = _alike(found)
    where = "all" if alike == len(found.languages) else f"{alike}"
    bold = (
        f"Asked in {len(found.languages)} languages, {short} puts the concept it finds first in "
        f"{probe.language_name(first)} first in {where} of them."
    )
    return Sentence(
        bold,
        f"Farthest from the {probe.language_name(first)} list is the {probe.language_name(farthest)} one: "
        f"agreement {apart[farthest]:.2f} of 1.",
    )


def _apart(found: ConceptProbe) -> dict[str, float]:
    """How much each list agrees with the first one's, that one left out."""
    pairs = list(zip(found.languages, found.overlap, strict=True))[1:]
    return {language: value for language, value in pairs if value is not None}


def _alike(found: ConceptProbe) -> int:
    """In how many languages the concept comes first that does in the first of them; 0 where nothing is found there."""
    leading = [answer.hits[0].family if answer.hits else None for answer in found.answers]
    return 0 if leading[0] is None else leading.count(leading[0])


def _found_sentence(found: ConceptProbe) -> Sentence:
    counts, answers = _counts(found), by_language(found)
    best, worst = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    bold = (
        f"Asked in {probe.language_name(best)}, {found.system.short} puts {counts[best]} of "
        f"{len(answers[best].answers)} right answers in the first {TOP}"
    )
    if counts[best] == counts[worst]:
        return Sentence(f"{bold}.", "It does so in every other language too." if len(counts) > 1 else "")
    return Sentence(
        f"{bold}; asked in {probe.language_name(worst)}, {counts[worst]} of {len(answers[worst].answers)}.", ""
    )


def _counts(found: ConceptProbe) -> dict[str, int]:
    """Right answers in the first documents, by the language that was asked in."""
    return {
        language: sum(known.rank is not None and known.rank <= TOP for known in answer.answers)
        for language, answer in by_language(found).items()
    }


def _language_sentence(answer: ProbeAnswer) -> Sentence:
    if not answer.hits:
        return Sentence(f"{answer.system.short} finds nothing for these words.", "")
    tags = [hit.language for hit in answer.hits]
    commonest = max(dict.fromkeys(tags), key=tags.count)
    return Sentence(
        f"{tags.count(commonest)} of the first {len(tags)} documents are in {probe.language_name(commonest)}.", ""
    )


# Several systems


def _compared(found: Sequence[ConceptProbe]) -> Sentence:
    """Where the systems are farthest apart, and what each puts in the first documents over all languages asked."""
    counts = {one.system.short: _counts(one) for one in found}
    languages = found[0].languages
    total = {language: len(answer.answers) for language, answer in by_language(found[0]).items()}
    spread = {
        language: max(row[language] for row in counts.values()) - min(row[language] for row in counts.values())
        for language in languages
    }
    where = max(spread, key=spread.__getitem__)
    rest = f"Over all {len(languages)} languages: {_summed(counts, sum(total.values()))}." if len(languages) > 1 else ""
    asked, there = f"Asked in {probe.language_name(where)}", f"of {total[where]} right answers in the first {TOP}"
    best, *others = sorted(counts, key=lambda short: -counts[short][where])
    if not spread[where]:
        return Sentence(f"{asked}, {_all(found)} put {counts[best][where]} {there}.", rest)
    behind = ", ".join(f"{short} {counts[short][where]}" for short in others)
    return Sentence(f"{asked}, {best} puts {counts[best][where]} {there}, {behind}.", rest)


def _summed(counts: Mapping[str, Mapping[str, int]], total: int) -> str:
    return ", ".join(f"{short} {sum(row.values())} of {total}" for short, row in counts.items())


def _all(found: Sequence[ConceptProbe]) -> str:
    return "both systems" if len(found) == 2 else f"all {len(found)} systems"


def _concepts_compared(found: Sequence[ConceptProbe]) -> Sentence:
    """In how many languages each system finds first what it finds first in the first language."""
    first, n = found[0].languages[0], len(found[0].languages)
    alike = {one.system.short: _alike(one) for one in found}
    best, *others = sorted(alike, key=lambda short: -alike[short])
    behind = ", ".join(f"in {alike[short]} with {short}" for short in others)
    bold = f"The concept found first in {probe.language_name(first)} comes first in {alike[best]} of {n} languages"
    return Sentence(f"{bold} with {best}, {behind}.", _farthest(found))


def _farthest(found: Sequence[ConceptProbe]) -> str:
    """Which list of all agrees least with the one of its system in the first language."""
    apart = {(one.system.short, language): value for one in found for language, value in _apart(one).items()}
    if not apart:
        return ""
    short, language = min(apart, key=apart.__getitem__)
    first, other = (probe.language_name(tag) for tag in (found[0].languages[0], language))
    return f"Farthest from its {first} list is the {other} one of {short}: agreement {apart[short, language]:.2f} of 1."


def _lists_compared(found: Sequence[ConceptProbe]) -> Sentence:
    """How many of the first documents two systems share; of more systems, the two that share least."""
    lists = {one.system.short: {hit.document_id for hit in one.answers[0].hits} for one in found}
    names = list(lists)
    pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
    one, other = min(pairs, key=lambda pair: len(lists[pair[0]] & lists[pair[1]]))
    shared = len(lists[one] & lists[other])
    bold = f"{one} and {other} share {shared or 'none'} of their first {TOP} documents."
    return Sentence(bold, "" if len(pairs) == 1 else "No other two of these systems share fewer.")


# Times and notes


def timing(found: Sequence[ConceptProbe]) -> str:
    """How long encoding and searching took, in words."""
    answers = found[0].answers
    count = "" if len(answers) == 1 else f" for {len(answers)} queries"
    if len(found) == 1:
        encode, search = _spent(found[0])
        return f"Encoding {encode:,.0f} ms, searching {answers[0].n_documents:,} documents {search:,.0f} ms{count}"
    each = " · ".join(f"{one.system.short} {_spent(one)[0]:,.0f} + {_spent(one)[1]:,.0f} ms" for one in found)
    return f"{answers[0].n_documents:,} documents · encoding + searching{count}: {each}"


def _spent(found: ConceptProbe) -> tuple[float, float]:
    return sum(answer.encode_ms for answer in found.answers), sum(answer.search_ms for answer in found.answers)


def note(found: ConceptProbe, sentence: Sentence) -> str:
    """What is kept of one system's answers: what was typed, what came first, where the right answers stand."""
    lines = [_noted(language, answer) for language, answer in by_language(found).items()]
    said = f"{sentence.bold} {sentence.rest}".strip()
    lacking = f" It {found.answers[0].remark}" if found.answers[0].remark else ""
    return f"Live probe of {found.system.short}: {'; '.join(lines)}. {said}{lacking}"


def _noted(language: str, answer: ProbeAnswer) -> str:
    asked = f"“{answer.query_text}” ({language})"
    if not answer.hits:
        return f"{asked} finds nothing"
    first = answer.hits[0]
    ranks = [known.rank for known in answer.answers if known.rank is not None]
    best = f", the nearest right answer at rank {min(ranks):,} of {answer.n_documents:,}" if ranks else ""
    return f"{asked} finds first “{first.text}” ({first.language}){best}"
