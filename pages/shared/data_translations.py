"""How far the translations of a benchmark's questions may be trusted, language by language."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis.views import translation_quality
from analysis.views.data import Card
from analysis.views.translation_quality import COLUMNS, TranslationQuality
from pages.shared import tables, ui
from pages.shared.tables import Markup
from pages.shared.ui import Frame

TERMS = (
    (
        "Terms",
        "Of the English question: the longest terms of the lexicon, and the protected abbreviations. A term is kept "
        "where a word of the lexicon for it stands in the translation, or its abbreviation as it is written.",
    ),
    ("Terms unknown", "The lexicon has no word for them in the language: they could not be looked for."),
    ("No term", "Translations with no term to look for: the way back alone decides."),
    ("Words back, mean F1", "Words of the English question and of the translation back into English: their overlap."),
    ("Pass", "At least 0.9 of the terms kept and an F1 of at least 0.8. Behind it the share of the translations."),
    ("Fail", "Less than 0.7 of the terms kept, or an F1 below 0.6. It stays in the benchmark."),
    ("Flag", "Neither, or not translated back."),
)
PARTS = (
    ("Translations by what was found of them", ("questions", "missing", "passed", "flagged", "failed")),
    ("What was kept", tuple(list(COLUMNS)[5:])),
)


def show(card: Card, frame: Frame) -> None:
    """Two tables for each task whose questions were translated; nothing where none were."""
    for task in card.tasks:
        found = task.translations
        if found is None:
            continue
        title = f"{task.task.title}: {translation_quality.TITLE}"
        with st.expander(title):
            ui.caption(found.sentence, more=TERMS)
            for words, columns in PARTS:
                tables.show(_table(found, columns, words, dark=frame.dark))
            ui.grey(found.told)
            with st.container(horizontal=True):
                rows = [[row.language, *(getattr(row, name) for name in COLUMNS)] for row in found.languages]
                name = f"translations-{card.benchmark.name}-{task.task.name}"
                ui.download("CSV", ["language", *COLUMNS], rows, file=f"{name}.csv")
                ui.download_text("Markdown", translation_quality.markdown(found, title=title), file=f"{name}.md")


def _table(found: TranslationQuality, names: Sequence[str], words: str, *, dark: bool) -> Markup:
    rows = ([row.language, *(translation_quality.cell(row, name) for name in names)] for row in found.languages)
    return tables.by_language([COLUMNS[name] for name in names], rows, caption=words, dark=dark)
