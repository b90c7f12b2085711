"""One system in full: what to type where it lacks something, and every fact that its scores stand on."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence

import streamlit as st

from analysis.views import data
from analysis.views.data import Runnable
from analysis.views.selection import capitalised
from analysis.views.system_facts import ModelFacts, system_facts
from pages.shared import address, tables, ui
from pages.shared.tables import Markup

POOLINGS = {
    "mean": "the mean of all tokens",
    "cls": "the first token, [CLS]",
    "last": "the last token",
    "max": "the maximum of all tokens",
}
PRECISIONS = {"float32": "single precision", "bfloat16": "half precision (bfloat16)", "int4": "4-bit weights"}
OWN = "as the model's own files say"


def show(systems: Sequence[Runnable]) -> None:
    """A select box of all systems, and the chosen one."""
    st.subheader("One system in full", anchor=False)
    rows = {row.system.name: row for row in systems}
    first = next((row.system.name for row in systems if row.missing), None)
    chosen = rows[
        address.select("System", {name: row.system.title for name, row in rows.items()}, name="about", default=first)
    ]
    if chosen.missing:
        ui.grey(f"{capitalised(chosen.missing)}.")
    if chosen.command:
        st.code(chosen.command.replace(" && ", "\n"), language=None, wrap_lines=True)
    facts = system_facts(chosen.system.name)
    own = {"Made of": ", then ".join(facts.parts), **dict(facts.settings), "What to know": chosen.note}
    alone = len(facts.models) == 1 and facts.models[0].name == facts.name
    if not alone:
        _card(own, title=facts.title)
    for model in facts.models:
        if len(facts.models) > 1 or facts.parts:
            tables.show(Markup(f"<h4>{tables.escaped(model.title)}</h4>"))
        said = {**dict(facts.settings), **_rows(model), "What to know": chosen.note} if alone else _rows(model)
        _card(said, title=model.title)


def _rows(model: ModelFacts) -> dict[str, str]:
    """Every fact in words; what does not apply is left out."""
    pairs = model.dimension is None and model.pooling is None
    return {
        "From": model.origin,
        "Commit": model.commit or "",
        "Its own code": model.code,
        "Licence": model.licence,
        "Size of the weights": data.size(model.size_mb * 1_000_000) if model.size_mb else "",
        "Vectors": f"{model.dimension:,} numbers" if model.dimension else "" if pairs else OWN,
        "Longest text": _length(model, pairs=pairs),
        "A text's vector": _pooling(model),
        "Before a query": "" if pairs else _prompt(model.query_prompt),
        "Before a document": "" if pairs else _prompt(model.document_prompt),
        "Computed in": PRECISIONS.get(model.precision, ""),
        "Languages it claims": ", ".join(model.languages) or "none that are asked about",
        "Where this is from": model.source,
        "What to know": model.note,
    }


def _length(model: ModelFacts, *, pairs: bool) -> str:
    if model.max_length is None:
        return "its own limit, if it has one"
    return f"{model.max_length:,} tokens, {'query and document together' if pairs else 'its prompt included'}"


def _pooling(model: ModelFacts) -> str:
    if model.pooling is None:
        return ""
    after = "".join(f", projected to {width:,} numbers" for width in model.projections)
    return f"{POOLINGS[model.pooling]}{after}"


def _prompt(prompt: str | None) -> str:
    """In quotation marks, so that its last blank is seen, and a new line as in JSON."""
    if prompt is None:
        return OWN
    return json.dumps(prompt, ensure_ascii=False) if prompt else "nothing"


def _card(rows: Mapping[str, str], *, title: str) -> None:
    body = "".join(
        f'<tr><th scope="row">{tables.escaped(name)}</th><td>{tables.escaped(text)}</td></tr>'
        for name, text in rows.items()
        if text
    )
    tables.show(Markup(f'<table class="card" aria-label="{html.escape(title)}"><tbody>{body}</tbody></table>'))
