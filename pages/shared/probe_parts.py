"""What the live probe asks and how it shows an answer: choices, tables, and where the known answers sit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from analysis import probe
from analysis.charts import probe as charts
from analysis.charts.probe import RankMark
from analysis.probe import Concept, ConceptProbe, KnownAnswer, ProbeAnswer
from analysis.views.selection import Sentence, SystemLabel
from pages.shared import address, tables, ui
from pages.shared.tables import Cell, Markup

TOP = 10
OWN = "own"
MODES = {"all": "Same concept in all languages", "one": "One query"}


@dataclass(frozen=True)
class Question:
    """What is asked: one text a language, and the concept whose answers are known."""

    texts: Mapping[str, str]  # one text in the mode "one"
    family: str | None  # None: no known answer


def encoder(offered: Sequence[SystemLabel]) -> SystemLabel:
    """The select box of the encoder, in the sidebar."""
    known = {label.name: label for label in offered}
    default = next((label.name for label in offered if label.paradigm != "lexical"), offered[0].name)
    with st.sidebar:
        name = address.choose(
            st.selectbox,
            "System",
            list(known),
            name="encoder",
            default=default,
            format_func=lambda name: known[name].short,
        )
        ui.grey(known[name].paradigm)
    return known[name]


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
        clears=("text", "language"),
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
    text = address.write(st.text_input, "Query", name="text", default=suggestion, placeholder="Type a query")
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
            )
    return {language: text for language, text in texts.items() if text.strip()}


def concept_table(found: ConceptProbe, *, dark: bool) -> Markup:
    """One row a language version: its text, its first hit, where the right answers stand, how far its list agrees."""
    targets = list(dict.fromkeys(answer.language for one in found.answers for answer in one.answers))
    columns = {"Asked as": "passage", "First hit": "passage"} | {f"→ {tag}": "number" for tag in targets}
    columns["agreement"] = "number"
    rows = [
        _concept_row(language, answer, overlap=overlap, targets=targets, dark=dark)
        for language, answer, overlap in zip(found.languages, found.answers, found.overlap, strict=True)
    ]
    return tables.table(columns, rows, caption="One concept asked in every language", style="inked")


def _concept_row(
    language: str, answer: ProbeAnswer, *, overlap: float | None, targets: Sequence[str], dark: bool
) -> list[Cell]:
    first = answer.hits[0] if answer.hits else None
    hit = (
        tables.passage(first.text, language=first.language, dark=dark)
        if first
        else Markup('<span class="grey">nothing found</span>')
    )
    ranks = [_best_rank(answer, language=tag, dark=dark) for tag in targets]
    agreement = "" if overlap is None else f"{overlap:.2f}"
    return [tables.passage(answer.query_text, language=language, dark=dark), hit, *ranks, agreement]


def _best_rank(answer: ProbeAnswer, *, language: str, dark: bool) -> Markup:
    """The rank of the nearest right answer in one language, on ink."""
    there = [known for known in answer.answers if known.language == language]
    if not there:
        return Markup("")
    found = [known.rank for known in there if known.rank is not None]
    if not found:
        return Markup('<span class="grey">not found</span>')
    return tables.inked_rank(min(found), last=answer.n_documents, dark=dark)


def hits(answer: ProbeAnswer, *, dark: bool) -> Markup:
    """The first documents with their languages; right answers are marked where they are known."""
    rows: list[Sequence[Cell] | str] = []
    for hit in answer.hits:
        words = tables.passage(hit.text, language=hit.language, dark=dark)
        rows.append(
            [
                f"{hit.rank}",
                Markup(f'<span class="found">{words}</span>') if hit.relevant else words,
                "right answer" if hit.relevant else "",
                f"{hit.score:.2f}",
            ]
        )
    return tables.table(
        {"Rank": "number", "Document": "passage", "": "text", "Score": "number"}, rows, caption="First documents"
    )


def lists(answers: Mapping[str, ProbeAnswer], *, dark: bool) -> None:
    """The first documents of each language version, one tab a language."""
    st.subheader(f"The first {TOP} documents", anchor=False)
    if len(answers) == 1:
        tables.show(hits(next(iter(answers.values())), dark=dark))
        return
    for tab, answer in zip(
        st.tabs([f"asked in {probe.language_name(language)}" for language in answers]), answers.values(), strict=True
    ):
        with tab:
            if answer.hits:
                tables.show(hits(answer, dark=dark))
            else:
                ui.grey("Nothing was found: no document shares a word with the query.")


def takeaway(answers: Mapping[str, ProbeAnswer], *, overlap: Mapping[str, float | None]) -> Sentence:
    """What the answers show in one sentence: right answers found by language, or how far the lists agree."""
    if any(answer.answers for answer in answers.values()):
        return _found_sentence(answers)
    if len(answers) == 1:
        return _language_sentence(next(iter(answers.values())))
    return _agreement_sentence(answers, overlap)


def _agreement_sentence(answers: Mapping[str, ProbeAnswer], overlap: Mapping[str, float | None]) -> Sentence:
    """In how many languages the same concept comes first, and whose list is farthest from the first one's."""
    first = next(iter(answers))
    short = answers[first].system.short
    leading = [answer.hits[0].family if answer.hits else None for answer in answers.values()]
    apart = {language: value for language, value in overlap.items() if value is not None and language != first}
    if not apart:
        return Sentence(f"{short} found nothing to compare.", "")
    farthest = min(apart, key=apart.__getitem__)
    alike = leading.count(leading[0])
    where = "all" if alike == len(answers) else f"{alike}"
    bold = (
        f"Asked in {len(answers)} languages, {short} puts the concept it finds first in {probe.language_name(first)} "
        f"first in {where} of them."
    )
    return Sentence(
        bold,
        f"Farthest from the {probe.language_name(first)} list is the {probe.language_name(farthest)} one: "
        f"agreement {apart[farthest]:.2f} of 1.",
    )


def _found_sentence(answers: Mapping[str, ProbeAnswer]) -> Sentence:
    counts = {
        language: sum(known.rank is not None and known.rank <= TOP for known in answer.answers)
        for language, answer in answers.items()
    }
    best, worst = max(counts, key=counts.__getitem__), min(counts, key=counts.__getitem__)
    total = len(answers[best].answers)
    short = answers[best].system.short
    bold = (
        f"Asked in {probe.language_name(best)}, {short} puts {counts[best]} of {total} right answers in the first {TOP}"
    )
    if counts[best] == counts[worst]:
        return Sentence(f"{bold}.", "It does so in every other language too." if len(counts) > 1 else "")
    return Sentence(
        f"{bold}; asked in {probe.language_name(worst)}, {counts[worst]} of {len(answers[worst].answers)}.", ""
    )


def _language_sentence(answer: ProbeAnswer) -> Sentence:
    if not answer.hits:
        return Sentence(f"{answer.system.short} finds nothing for these words.", "")
    tags = [hit.language for hit in answer.hits]
    commonest = max(dict.fromkeys(tags), key=tags.count)
    return Sentence(
        f"{tags.count(commonest)} of the first {len(tags)} documents are in {probe.language_name(commonest)}.", ""
    )


def where_answers_sit(answers: Mapping[str, ProbeAnswer], *, dark: bool) -> None:
    """The strip of ranks, where answers are known."""
    marks = [_mark(row, known, answer.n_documents) for row, answer in answers.items() for known in answer.answers]
    if not marks:
        ui.grey("No right answer is known for these words. Choose a concept above to see where its answers stand.")
        return
    size = next(iter(answers.values())).n_documents
    st.subheader("Where the right answers stand", anchor=False)
    ui.chart(
        charts.rank_strip(list(answers), marks, n_documents=size, top=TOP, dark=dark),
        key="strip",
        alt="Rank of each right answer by language of the query",
    )


def _mark(row: str, known: KnownAnswer, n_documents: int) -> RankMark:
    text = tables.escaped(known.text).split(">", 1)[1].removesuffix("</span>")
    place = f"rank {known.rank:,} of {n_documents:,}" if known.rank else "not in the ranking"
    return RankMark(row, known.language, known.rank, f"{known.language} · {text}<br>{place}")


def timing(answers: Sequence[ProbeAnswer]) -> str:
    """How long encoding and searching took, in words."""
    encode, search = (sum(getattr(answer, part) for answer in answers) for part in ("encode_ms", "search_ms"))
    count = "" if len(answers) == 1 else f" for {len(answers)} queries"
    return f"Encoding {encode:,.0f} ms, searching {answers[0].n_documents:,} documents {search:,.0f} ms{count}"


def tokens(answers: Mapping[str, ProbeAnswer], *, dark: bool) -> None:
    """What the system was given, piece by piece."""
    with st.expander("What the system saw"):
        rows = [
            [
                tables.badge(language, dark=dark),
                Markup(
                    "".join(f'<span class="token" dir="auto">{tables.escaped(token)}</span>' for token in answer.tokens)
                ),
                f"{len(answer.tokens):,}",
            ]
            for language, answer in answers.items()
        ]
        tables.show(tables.table({"Language": "text", "Pieces": "text", "Count": "number"}, rows, caption="Tokens"))
        ui.grey("[UNK] is a piece the system does not know: whatever stood there is lost before the search begins.")


def numbers(answers: Mapping[str, ProbeAnswer]) -> tuple[list[str], list[list[object]]]:
    """Everything the tables show, for a CSV file."""
    header = ["query_language", "query", "kind", "rank", "document_language", "document_id", "document", "score"]
    rows: list[list[object]] = []
    for language, answer in answers.items():
        asked = [language, answer.query_text]
        for hit in answer.hits:
            kind = "right answer" if hit.relevant else "hit"
            rows.append([*asked, kind, hit.rank, hit.language, hit.document_id, hit.text, hit.score])
        listed = {hit.document_id for hit in answer.hits}
        for known in answer.answers:
            if known.document_id not in listed:
                found = [known.rank, known.language, known.document_id, known.text, None]
                rows.append([*asked, "right answer", *found])
    return header, rows
