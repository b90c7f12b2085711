"""Families of models that were trained with a prefix or an instruction before texts, told by the model's name.

Without it such a model gives plausible, lower scores. What each expects is what its model card says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from analysis.systems.entry import Prompts


class Family(NamedTuple):
    """Models that expect something before their texts."""

    called: str
    name: str  # a pattern searched in the name of a model, lower-cased
    query: str
    document: str = ""  # empty: nothing


_RETRIEVE = "Represent this sentence for searching relevant passages: "
_INSTRUCTION = "Instruct: what a query asks for\nQuery: "
FAMILIES = (
    Family("E5 instruct models", r"(^|[^a-z0-9])e5[-_].*instruct", _INSTRUCTION),
    Family("E5 models", r"(^|[^a-z0-9])e5([^a-z0-9]|$)", "query: ", "passage: "),
    Family("English BGE models", r"bge-(small|base|large)-en", _RETRIEVE),
    Family("Chinese BGE models", r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章："),
    Family("Nomic models", r"nomic-embed-text", "search_query: ", "search_document: "),
    Family("EmbeddingGemma models", r"embedding-?gemma", "task: search result | query: ", "title: none | text: "),
    Family("Qwen3 embedding models", r"qwen3-embedding", _INSTRUCTION.rstrip()),
    Family("Arctic models of version 2", r"arctic-embed.*v2", "query: "),
    Family("Arctic models", r"arctic-embed", _RETRIEVE),
    Family("mxbai models", r"mxbai-embed", _RETRIEVE),
    Family("instruct models", r"instruct", _INSTRUCTION),
)


def hint(names: Sequence[str], prompts: Prompts, *, files_known: bool) -> str:
    """One sentence where a model's family expects what no prompt says; empty else.

    Args:
        names: what the model may be told by: its id, its folder.
        prompts: in force.
        files_known: the model's files were read, so that a prompt that is not set is none.
    """
    family = next((kind for name in names for kind in FAMILIES if re.search(kind.name, name.casefold())), None)
    if family is None:
        return ""
    expected = {"query": family.query, "document": family.document}
    lacking = [role for role, text in expected.items() if text and not getattr(prompts, role)]
    if not lacking:
        return ""
    words = " and ".join(f"{expected[role]!r} before each {role}" for role in lacking)
    unknown = "" if files_known else ", and its files, which may say it, are not here"
    return (
        f"{family.called} expect {words}: none is set{unknown}. Without it, scores look plausible and may be too low."
    )
