"""How the live probe shows what systems found: by language version, where right answers stand, lists, and tokens."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis import probe
from analysis.charts import probe as charts
from analysis.charts.probe import RankMark
from analysis.probe import ConceptProbe, KnownAnswer, ProbeAnswer
from pages.shared import tables, ui
from pages.shared.probe_words import TOP, by_language
from pages.shared.tables import Cell, Markup

NOTHING_FOUND = Markup('<span class="grey">nothing found</span>')


def versions(found: Sequence[ConceptProbe], *, dark: bool) -> Markup:
    """One row a language version: what each system finds first or how near a right answer is, and how lists agree."""
    if len(found) == 1:
        return _of_one(found[0], dark=dark)
    known = any(answer.answers for one in found for answer in one.answers)
    each: list[tuple[Cell, str]] = [("Best right answer", "number") if known else ("First hit", "passage")]
    each.append(("Agreement", "number"))
    groups: list[tuple[Cell, int]] = [("", 1), *((tables.chip(one.system, dark=dark), len(each)) for one in found)]
    rows = [_compared_row(found, place, known=known, dark=dark) for place in range(len(found[0].languages))]
    columns: list[tuple[Cell, str]] = [("Asked as", "passage"), *(each * len(found))]
    return tables.table(
        columns, rows, groups=groups, caption="One concept asked in every language, by system", style="inked"
    )


def _compared_row(found: Sequence[ConceptProbe], place: int, *, known: bool, dark: bool) -> list[Cell]:
    language, text = found[0].languages[place], found[0].answers[place].query_text
    row: list[Cell] = [tables.passage(text, language=language, dark=dark)]
    for one in found:
        answer, overlap = one.answers[place], one.overlap[place]
        row.append(_nearest_right(answer, dark=dark) if known else _first(answer, dark=dark))
        row.append("" if overlap is None else f"{overlap:.2f}")
    return row


def _nearest_right(answer: ProbeAnswer, *, dark: bool) -> Markup:
    """The rank of the nearest right answer of all, on ink, and its language."""
    found = [known for known in answer.answers if known.rank is not None]
    if not found:
        return Markup('<span class="grey">not found</span>') if answer.answers else Markup("")
    best = min(found, key=lambda known: known.rank or 0)
    return Markup(
        tables.badge(best.language, dark=dark) + tables.inked_rank(best.rank or 1, last=answer.n_documents, dark=dark)
    )


def _first(answer: ProbeAnswer, *, dark: bool) -> Markup:
    if not answer.hits:
        return NOTHING_FOUND
    return tables.passage(answer.hits[0].text, language=answer.hits[0].language, dark=dark)


def _of_one(found: ConceptProbe, *, dark: bool) -> Markup:
    """The same of one system: what it finds first, and the nearest right answer in each language."""
    targets = list(dict.fromkeys(answer.language for one in found.answers for answer in one.answers))
    columns = {"Asked as": "passage", "First hit": "passage"} | {f"→ {tag}": "number" for tag in targets}
    columns["Agreement"] = "number"
    rows = [
        [
            tables.passage(answer.query_text, language=language, dark=dark),
            _first(answer, dark=dark),
            *(_best_rank(answer, language=tag, dark=dark) for tag in targets),
            "" if overlap is None else f"{overlap:.2f}",
        ]
        for language, answer, overlap in zip(found.languages, found.answers, found.overlap, strict=True)
    ]
    return tables.table(columns, rows, caption="One concept asked in every language", style="inked")


def _best_rank(answer: ProbeAnswer, *, language: str, dark: bool) -> Markup:
    """The rank of the nearest right answer in one language, on ink."""
    there = [known for known in answer.answers if known.language == language]
    if not there:
        return Markup("")
    found = [known.rank for known in there if known.rank is not None]
    if not found:
        return Markup('<span class="grey">not found</span>')
    return tables.inked_rank(min(found), last=answer.n_documents, dark=dark)


# Lists


def lists(found: Sequence[ConceptProbe], *, dark: bool) -> None:
    """The first documents of each language version, one tab a language."""
    st.header(f"The first {TOP} documents", anchor=False)
    languages = found[0].languages
    if len(languages) == 1:
        _list([one.answers[0] for one in found], dark=dark)
        return
    tabs = st.tabs([f"asked in {probe.language_name(language)}" for language in languages])
    for place, tab in enumerate(tabs):
        with tab:
            _list([one.answers[place] for one in found], dark=dark)


def _list(answers: Sequence[ProbeAnswer], *, dark: bool) -> None:
    if not any(answer.hits for answer in answers):
        ui.grey("Nothing was found: no document shares a word with the query.")
    elif len(answers) == 1:
        tables.show(hits(answers[0], dark=dark))
    else:
        tables.show(side_by_side(answers, dark=dark))


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


def side_by_side(answers: Sequence[ProbeAnswer], *, dark: bool) -> Markup:
    """The first documents of several systems, one column each, rank beside rank."""
    columns: list[tuple[Cell, str]] = [("Rank", "number")]
    columns += [(tables.chip(answer.system, dark=dark), "passage") for answer in answers]
    depth = max(len(answer.hits) for answer in answers)
    rows = [[f"{rank + 1}", *(_placed(answer, rank, dark=dark) for answer in answers)] for rank in range(depth)]
    return tables.table(columns, rows, caption="First documents side by side", style="inked beside")


def _placed(answer: ProbeAnswer, place: int, *, dark: bool) -> Markup:
    if place >= len(answer.hits):
        return Markup("") if answer.hits or place else NOTHING_FOUND
    hit = answer.hits[place]
    words = tables.passage(hit.text, language=hit.language, dark=dark)
    score = f"{hit.score:.2f}"
    if hit.relevant:
        return Markup(f'<span class="found">{words}</span><br><span class="soft">● right answer · {score}</span>')
    return Markup(f'{words}<br><span class="soft">{score}</span>')


# Where right answers stand


def where_answers_sit(found: Sequence[ConceptProbe], *, dark: bool) -> None:
    """The strips of ranks, where answers are known: one a system, or one for all where one query is asked."""
    if not any(answer.answers for one in found for answer in one.answers):
        ui.grey("No right answer is known for these words. Choose a concept above to see where its answers stand.")
        return
    st.header("Where the right answers stand", anchor=False)
    if len(found[0].languages) == 1:
        alone = len(found) == 1
        rows = {f"{one.languages[0]} query" if alone else one.system.short: one.answers[0] for one in found}
        _strip(rows, key="strip", words="system", dark=dark)
        return
    if len(found) == 1:
        _strip(_queries(found[0]), key="strip", words="language of the query", dark=dark)
        return
    for start in range(0, len(found), 2):
        for one, column in zip(found[start : start + 2], st.columns(2), strict=False):
            with column:
                tables.show(tables.chip(one.system, dark=dark))
                key = f"strip-{one.system.name}"
                _strip(_queries(one), key=key, words="language of the query", narrow=True, dark=dark)


def _queries(found: ConceptProbe) -> dict[str, ProbeAnswer]:
    return {f"{language} query": answer for language, answer in by_language(found).items()}


def _strip(rows: dict[str, ProbeAnswer], *, key: str, words: str, dark: bool, narrow: bool = False) -> None:
    marks = [_mark(row, known, answer.n_documents) for row, answer in rows.items() for known in answer.answers]
    size = next(iter(rows.values())).n_documents
    figure = charts.rank_strip(list(rows), marks, n_documents=size, top=TOP, narrow=narrow, dark=dark)
    ui.chart(figure, key=key, alt=f"Rank of each right answer by {words}")


def _mark(row: str, known: KnownAnswer, n_documents: int) -> RankMark:
    text = tables.escaped(known.text).split(">", 1)[1].removesuffix("</span>")
    place = f"rank {known.rank:,} of {n_documents:,}" if known.rank else "not in the ranking"
    return RankMark(row, known.language, known.rank, f"{known.language} · {text}<br>{place}")


# Tokens and numbers


def tokens(found: Sequence[ConceptProbe], *, dark: bool) -> None:
    """What each system was given, piece by piece."""
    rows: list[Sequence[Cell] | str] = []
    for one in found:
        if len(found) > 1:
            rows.append(one.system.short)
        rows += [_pieces(language, answer, dark=dark) for language, answer in by_language(one).items()]
    with st.expander("What the system saw" if len(found) == 1 else "What the systems saw"):
        tables.show(tables.table({"Language": "text", "Pieces": "text", "Count": "number"}, rows, caption="Tokens"))
        ui.grey("[UNK] is a piece the system does not know: whatever stood there is lost before the search begins.")


def _pieces(language: str, answer: ProbeAnswer, *, dark: bool) -> list[Cell]:
    pieces = (f'<span class="token" dir="auto">{tables.escaped(token)}</span>' for token in answer.tokens)
    return [tables.badge(language, dark=dark), Markup("".join(pieces)), f"{len(answer.tokens):,}"]


def numbers(found: Sequence[ConceptProbe]) -> tuple[list[str], list[list[object]]]:
    """Everything the tables show, for a CSV file."""
    header = ["system", "query_language", "query", "agreement", "kind", "rank", "document_language", "document_id"]
    rows: list[list[object]] = []
    for one in found:
        for language, answer, overlap in zip(one.languages, one.answers, one.overlap, strict=True):
            asked = [one.system.name, language, answer.query_text, overlap]
            rows += [[*asked, *row] for row in _numbers(answer)]
    return [*header, "document", "score"], rows


def _numbers(answer: ProbeAnswer) -> list[list[object]]:
    rows: list[list[object]] = []
    for hit in answer.hits:
        kind = "right answer" if hit.relevant else "hit"
        rows.append([kind, hit.rank, hit.language, hit.document_id, hit.text, hit.score])
    listed = {hit.document_id for hit in answer.hits}
    for known in answer.answers:
        if known.document_id not in listed:
            rows.append(["right answer", known.rank, known.language, known.document_id, known.text, None])
    return rows
