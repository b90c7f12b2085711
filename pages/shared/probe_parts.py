"""What the live probe asks: whom, which words, and against which concept words of one's own are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from analysis import probe
from analysis.errors import BabelscopeError
from analysis.probe import Concept, ConceptProbe, Nearest
from analysis.views.selection import SystemLabel, capitalised
from pages.shared import address, tables, ui
from pages.shared.probe_words import TOP
from pages.shared.tables import Markup

MOST = 4
"""Systems side by side."""

OWN = "own"
NOBODY = ""
MODES = {"all": "Same concept in all languages", "one": "One query"}


@dataclass(frozen=True)
class Question:
    """What is asked: one text a language, and the concept whose answers are known."""

    texts: Mapping[str, str]  # one text in the mode "one"
    family: str | None  # None: no known answer


def encoders(offered: Sequence[SystemLabel]) -> tuple[SystemLabel, ...]:
    """The systems asked, chosen in the sidebar."""
    known = {label.name: label for label in offered}
    with st.sidebar:
        names = address.choose_default(
            st.multiselect,
            "Systems",
            list(known),
            name="encoder",
            default=story(offered),
            most=MOST,
            format_func=lambda name: known[name].short,
            help=f"Up to {MOST}, side by side.",
        )
    return tuple(known[name] for name in names)


def story(offered: Sequence[SystemLabel]) -> list[str]:
    """Who is asked at first: an encoder, and beside it a multilingual one, so that one holds where the other breaks."""
    encoding = [label for label in offered if label.paradigm != "lexical"] or list(offered[:1])
    multilingual = [label for label in encoding if label.paradigm == "multilingual dense"]
    return list(dict.fromkeys(label.name for label in (encoding[0], *multilingual[:1])))


def question(concepts: Sequence[Concept], *, mode: str) -> Question:
    """The concept picker, or fields for one's own words.

    Args:
        concepts: of the benchmark's task.
        mode: "all" languages or "one" query.
    """
    known = {concept.family: concept for concept in concepts}
    languages = list(dict.fromkeys(language for concept in concepts for language in concept.languages))
    family = address.choose(
        st.selectbox,
        "Concept",
        [OWN, *known],
        name="concept",
        default=OWN,
        clears=("text", "language", "against"),
        filter_mode="contains",
        format_func=lambda name: (
            known[name].label if name in known else "my own words (type to search the benchmark’s concepts)"
        ),
    )
    concept = known.get(family)
    if mode == "one":
        return _one(concept, concepts, languages=languages)
    if concept:
        return Question(_texts(concept), concept.family)
    return Question(_own_words(languages), None)


def _one(concept: Concept | None, concepts: Sequence[Concept], *, languages: Sequence[str]) -> Question:
    offered = list(concept.languages if concept else languages)
    language = address.choose(
        st.segmented_control,
        "Language",
        offered,
        name="language",
        default=offered[0],
        format_func=probe.language_name,
        required=True,
    )
    suggestion = _texts(concept)[language] if concept else probe.HEART_ATTACK.get(language, "")
    if concept:
        tables.show(
            Markup(f'<p class="takeaway">{tables.passage(suggestion, language=language, dark=ui.is_dark())}</p>')
        )
        return Question({language: suggestion}, concept.family)
    text = address.write(
        st.text_input, "Query", name="text", default=suggestion, clears=("against",), placeholder="Type a query"
    )
    return Question({language: text} if text.strip() else {}, _family_of(text, language=language, concepts=concepts))


def _texts(concept: Concept) -> dict[str, str]:
    return dict(zip(concept.languages, concept.texts, strict=True))


def _family_of(text: str, *, language: str, concepts: Sequence[Concept]) -> str | None:
    """The concept that a text is a query of, so that its known answers can be shown."""
    return next((concept.family for concept in concepts if _texts(concept).get(language) == text), None)


def _own_words(languages: Sequence[str]) -> dict[str, str]:
    columns = st.columns(3)
    texts = {}
    for place, language in enumerate(languages):
        with columns[place % 3]:
            texts[language] = address.write(
                st.text_input,
                probe.language_name(language),
                name=f"text-{language}",
                default=probe.HEART_ATTACK.get(language, ""),
                clears=("against",),
            )
    return {language: text for language, text in texts.items() if text.strip()}


def measured(
    asked: Question,
    concepts: Sequence[Concept],
    *,
    systems: Sequence[SystemLabel],
    place: Mapping[str, str],
    without_flagged: bool,
) -> Question:
    """Say which concept is nearest to words of one's own, and let the reader measure them against it or another.

    Nothing is measured until it is chosen; a query of the benchmark is measured against its own concept anyway.
    """
    if asked.family is not None and address.get("concept") is None:
        ui.grey("These are the words of a query of the benchmark: its right answers are known.")
    if asked.family is not None or not concepts:
        return asked
    names = tuple(label.name for label in systems)
    text = next(iter(asked.texts.values()))
    near = ui.answer(probe.nearest, text, systems=names, without_flagged=without_flagged, **place)
    known = {concept.family: concept for concept in concepts}  # flagged ones left out, as they are from what is near
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        tables.show(_nearest_words(near[0] if near else None, known))
    said = {found.family: f"{_score(found)} · " for found in near}
    with right:
        family = address.choose(
            st.selectbox,
            "Measure against",
            [NOBODY, *said, *(name for name in known if name not in said)],
            name="against",
            default=NOBODY,
            filter_mode="contains",
            format_func=lambda name: (
                f"{said.get(name, '')}{known[name].label}" if name in known else "nothing: no right answer is known"
            ),
        )
    return replace(asked, family=family or None)


def _nearest_words(near: Nearest | None, known: Mapping[str, Concept]) -> Markup:
    if near is None:
        return Markup('<p class="caption">No known concept shares a word with this text.</p>')
    concept = known[near.family]
    language = "en" if "en" in concept.languages else concept.languages[0]
    words = tables.passage(concept.label, language=language, dark=ui.is_dark())
    how = f"{_score(near)} with its {probe.language_name(near.language)} version, {near.short}"
    return Markup(f'<p class="caption">Nearest known concept: {words} ({tables.escaped(how)})</p>')


def _score(near: Nearest) -> str:
    return f"{near.measure} {near.score:.2f}".replace("-", "−")


def answers(
    systems: Sequence[SystemLabel], asked: Question, *, place: Mapping[str, str], without_flagged: bool
) -> list[ConceptProbe]:
    """What each system finds; one that cannot answer says why, and the others are shown.

    Raises:
        BabelscopeError: none can answer.
    """
    found, errors = [], []
    for system in systems:
        try:
            found.append(
                ui.answer(
                    probe.ask_in_all_languages,
                    dict(asked.texts),
                    system=system.name,
                    k=TOP,
                    family=asked.family,
                    without_flagged=without_flagged,
                    **place,
                )
            )
        except BabelscopeError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    for words in map(str, errors):
        st.warning(tables.literal(capitalised(words)))
    return found
