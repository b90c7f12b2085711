"""What the live probe asks and how it shows an answer: choices, tables, and where the known answers sit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from analysis import probe
from analysis.charts import probe as charts
from analysis.charts.probe import RankMark
from analysis.probe import Concept, ConceptProbe, KnownAnswer, ProbeAnswer
from analysis.views.selection import SystemLabel
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
    default = next(iter(known))
    with st.sidebar:
        name = address.choose(
            st.selectbox, "Encoder", list(known), name="encoder", default=default, format_func=lambda name: f"{known[name].short} · {known[name].paradigm}",
        )  # fmt: skip
    return known[name or default]


def question(concepts: Sequence[Concept], *, languages: Sequence[str], mode: str) -> Question:
    """The concept picker, or fields for one's own words.

    Args:
        concepts: of the benchmark's task.
        languages: of the benchmark.
        mode: "all" languages or "one" query.
    """
    known = {concept.family: concept for concept in concepts}
    family = address.choose(
        st.selectbox, "Concept", [OWN, *known], name="concept", default=OWN, clears=("text", "language"), filter_mode="contains",
        format_func=lambda name: known[name].label if name in known else "my own words (type to search the benchmark’s concepts)",
    )  # fmt: skip
    concept = known.get(family or OWN)
    if mode == "one":
        return _one(concept, concepts, languages=languages)
    if concept:
        return Question(dict(concept.texts), concept.family)
    return Question(_own_words(languages), None)


def _one(concept: Concept | None, concepts: Sequence[Concept], *, languages: Sequence[str]) -> Question:
    offered = list(concept.texts) if concept else list(languages)
    language = (
        address.choose(st.segmented_control, "Language", offered, name="language", default=offered[0], required=True)
        or offered[0]
    )
    suggestion = concept.texts[language] if concept else probe.HEART_ATTACK.get(language, "")
    if concept:
        tables.show(
            Markup(f'<p class="bs-takeaway">{tables.passage(suggestion, language=language, dark=ui.is_dark())}</p>')
        )
        return Question({language: suggestion}, concept.family)
    text = address.write(st.text_input, "Query", name="text", default=suggestion, placeholder="Type a query")
    return Question({language: text} if text.strip() else {}, _family_of(text, language=language, concepts=concepts))


def _family_of(text: str, *, language: str, concepts: Sequence[Concept]) -> str | None:
    """The concept that a text is a query of, so that its known answers can be shown."""
    return next((concept.family for concept in concepts if concept.texts.get(language) == text), None)


def _own_words(languages: Sequence[str]) -> dict[str, str]:
    columns = st.columns(3)
    texts = {}
    for place, language in enumerate(languages):
        with columns[place % 3]:
            texts[language] = address.write(
                st.text_input, language, name=f"text-{language}", default=probe.HEART_ATTACK.get(language, "")
            )
    return {language: text for language, text in texts.items() if text.strip()}


def concept_table(found: ConceptProbe, *, dark: bool) -> Markup:
    """One row a language version: its text, its first hit, where the right answers stand, how far its list agrees."""
    targets = list(dict.fromkeys(answer.language for one in found.answers for answer in one.answers))
    columns = {"Asked as": "text", "First hit": "text"} | {f"right answer in {tag}": "number" for tag in targets}
    columns[f"same list as {found.languages[0]}"] = "number"
    rows = [
        _concept_row(language, answer, overlap=overlap, targets=targets, dark=dark)
        for language, answer, overlap in zip(found.languages, found.answers, found.overlap, strict=True)
    ]
    return tables.table(columns, rows, caption="One concept asked in every language")


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
    return tables.rank(min(found), beyond=answer.n_documents, dark=dark, shaded=True)


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
        {"Rank": "number", "Document": "text", "": "text", "Score": "number"}, rows, caption="First documents"
    )


def where_answers_sit(answers: Mapping[str, ProbeAnswer], *, key: str, dark: bool) -> None:
    """The strip of ranks, where answers are known."""
    marks = [_mark(row, known, answer.n_documents) for row, answer in answers.items() for known in answer.answers]
    if not marks:
        ui.grey("No right answer is known for these words: choose a concept to see where its answers stand.")
        return
    size = next(iter(answers.values())).n_documents
    st.subheader("Where the right answers stand", anchor=False)
    ui.chart(
        charts.rank_strip(list(answers), marks, n_documents=size, top=TOP, dark=dark),
        key=key,
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
    """What the encoder was given, piece by piece."""
    with st.expander("What the encoder saw"):
        rows = [
            [tables.badge(language, dark=dark), Markup("".join(f'<span class="token" dir="auto">{tables.escaped(token)}</span>' for token in answer.tokens)), f"{len(answer.tokens):,}"]
            for language, answer in answers.items()
        ]  # fmt: skip
        tables.show(tables.table({"Language": "text", "Pieces": "text", "Count": "number"}, rows, caption="Tokens"))
        ui.grey("[UNK] is a piece the encoder does not know: whatever stood there is lost before the search begins.")


def numbers(answers: Mapping[str, ProbeAnswer]) -> tuple[list[str], list[list[object]]]:
    """Everything the tables show, for a CSV file."""
    header = [
        "query_language",
        "query",
        "kind",
        "rank",
        "document_language",
        "document_id",
        "document",
        "score",
        "right_answer",
    ]
    rows: list[list[object]] = []
    for language, answer in answers.items():
        rows += [
            [
                language,
                answer.query_text,
                "hit",
                hit.rank,
                hit.language,
                hit.document_id,
                hit.text,
                hit.score,
                hit.relevant,
            ]
            for hit in answer.hits
        ]
        rows += [
            [
                language,
                answer.query_text,
                "known answer",
                known.rank,
                known.language,
                known.document_id,
                known.text,
                None,
                True,
            ]
            for known in answer.answers
        ]
    return header, rows
