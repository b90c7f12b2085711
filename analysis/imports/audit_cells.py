"""What stands in a blind sheet: its columns, its instructions, and texts that a spreadsheet leaves alone."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence

from analysis.store.audits import RELEVANCE, TIER, TRANSLATION

ROW, JUDGEMENT, ANNOTATOR, COMMENT = "row", "judgement", "annotator", "comment"
FILLED = (JUDGEMENT, ANNOTATOR, COMMENT)
"""The columns that are empty when a sheet is written."""

PAIR = ("query_language", "query", "document_language", "document")
COLUMNS = {RELEVANCE: PAIR, TRANSLATION: ("source_language", "source", "query_language", "query"), TIER: PAIR}
"""What each question shows, between the name of the row and what is filled in."""

TEXTS = ("source", "query", "document")
"""Columns whose texts have to come back as they were sent."""

IMAGE = "query_image"

FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a formula of a spreadsheet begins with; some take the wide forms too."""

ASKED = {
    RELEVANCE: (
        "Is the document an answer to the query? Judge what the texts say, whatever languages they are in.",
        "judgement: {scale}.",
    ),
    TRANSLATION: (
        "Does the query say what the source says, nothing left out, added or changed that matters?",
        "judgement: 1 for yes, 0 for no.",
    ),
    TIER: (
        "How are query and document related?",
        "judgement: one of {scale}, written as here.",
    ),
}
PICTURED = f"{IMAGE}: the file of an image that belongs to the query, in the folder of the benchmark's files."
RULES = (
    "annotator: your name, the same in every row. comment: whatever you want to say; may stay empty.",
    "Leave judgement empty where you cannot tell: such rows are counted and are in no number.",
    "Do not change row or the texts. Rows may be sorted as a whole, and left out.",
    "Judge alone: nothing here says what the benchmark, a system or anybody else thinks, and the order means nothing.",
    "A text that begins with = + - or @ has an apostrophe before it, so that no spreadsheet takes it for a formula.",
    "Save as CSV in UTF-8 (in Excel: “CSV UTF-8”); commas, semicolons or tabs may part the cells.",
)


def instructions(question: str, *, title: str, scale: str, pictured: bool = False) -> str:
    """What goes with a sheet, for the people who fill it in."""
    asked = [words.format(scale=scale) for words in ASKED[question]]
    asked += [PICTURED] if pictured else []
    return "\n\n".join([title, *asked, *RULES]) + "\n"


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def shown(text: str) -> str:
    """What a cell says, however a spreadsheet has kept it: no apostrophe before a formula, white space as one space."""
    text = text[1:] if text.startswith("'") and text[1:].startswith(FORMULA) else text
    return " ".join(unicodedata.normalize("NFC", text).split())


def checksum(texts: Sequence[str]) -> str:
    """What tells that the texts of a row are still those that were sent."""
    return hashlib.sha256("\0".join(map(shown, texts)).encode()).hexdigest()[:16]
