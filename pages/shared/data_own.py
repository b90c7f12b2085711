"""Systems of the reader's own: the form that adds one, and what takes one out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from analysis import jobs
from analysis.errors import BabelscopeError
from analysis.jobs.own_systems import DTYPES, K1, POOL, POOLINGS, READS, TOKENS, B, Entry, K, NewSystem
from pages.shared import address, tables, ui

SORTS = {
    "model": "A model of the model hub",
    "folder": "A model folder on the server",
    "bm25": "BM25 with other settings",
    "fusion": "Two systems fused",
    "two-stage": "One system re-ranked by another",
    "cross-encoder": "A cross-encoder, which re-ranks",
    "maxsim": "Token vectors compared one by one (MaxSim)",
}
TOKEN_WORDS = {"whitespace": "words between blanks", "cjk-bigrams": "and character bigrams for Chinese and Japanese"}
READ_WORDS = {"text": "its text", "image": "its image", "text-image-mean": "text and image: the mean of both vectors"}
PRECISIONS = [name for name in DTYPES if name != "int4"]
THEIRS = "as its files say"
SAID = "own-system-said"

Said = dict[str, Any]
"""What a form says, by the fields of a new system."""

Words = tuple[str, str]
"""What was done, and what may be wrong with it."""


def show() -> None:
    """The form, and what takes one out again."""
    if words := st.session_state.pop(SAID, None):
        _say(*words)
    _add()
    if names := [entry.name for entry in jobs.own_systems.added()]:
        _remove(names)


def _add() -> None:
    with st.expander("Add a system of your own", expanded=address.get("own") is not None):
        offered = {name: words for name, words in SORTS.items() if name != "folder" or jobs.folders()}
        sort = address.select("What it is", offered, name="own")
        with st.form(f"own-{sort}", border=False):
            name = st.text_input("Name", placeholder="lower-case letters, digits, - . + _").strip()
            said = FIELDS[sort]()
            with st.container(horizontal=True):
                added = st.form_submit_button("Add it", type="primary")
                checked = st.form_submit_button("Show what would be in force")
        if added:
            _act(lambda: _added(name, said))
        elif checked:
            _check(name, said)
        ui.grey("If you have vectors already: Bring your own, Vectors of a system.")


def _asked(name: str, said: Said) -> NewSystem:
    if "folder" in said:
        said = {**said, "folder": jobs.allowed(said["folder"])}
    return NewSystem(name, **said)


def _added(name: str, said: Said) -> Words:
    asked = _asked(name, said)
    entry = jobs.own_systems.add(asked)
    return f"Added {_described(entry)} {_ready(entry)}", jobs.own_systems.warning(asked, entry)


def _check(name: str, said: Said) -> None:
    """Say what the model's files and the form together make; keep nothing."""
    try:
        asked = _asked(name, said)
        entry = jobs.own_systems.checked(asked)
        _say(f"{_described(entry)} Nothing is kept yet.", jobs.own_systems.warning(asked, entry))
    except BabelscopeError as error:
        st.error(tables.literal(str(error)))


def _described(entry: Entry) -> str:
    note = f" {entry.note}" if entry.kind == "cross-encoder" and entry.note else ""
    return f"{entry.name}: {jobs.own_systems.described(entry)}.{note}"


def _ready(entry: Entry) -> str:
    if entry.kind == "cross-encoder":
        return "It ranks nothing by itself: let it re-rank another system, below."
    reason = jobs.own_systems.readiness(entry).missing
    return f"It cannot run yet: {reason}." if reason else "It can run now."


def _say(words: str, warning: str = "") -> None:
    ui.grey(words)
    if warning:
        st.warning(tables.literal(warning))


def _remove(names: list[str]) -> None:
    with st.expander("Remove a system of your own"), st.form("own-remove", border=False):
        name = st.selectbox("Which", names)
        ui.grey("Its stored runs stay.")
        if st.form_submit_button("Remove it"):
            _act(lambda: _removed(name))


def _removed(name: str) -> Words:
    jobs.own_systems.remove(name)
    return f"Removed {name}.", ""


def _act(change: Callable[[], Words]) -> None:
    """Make a change and draw the page anew, or say in one sentence why not."""
    try:
        st.session_state[SAID] = change()
    except BabelscopeError as error:
        st.error(tables.literal(str(error)))
        return
    st.rerun()


def _hub_model() -> Said:
    model = st.text_input("Model id", placeholder="organisation/model").strip()
    ui.grey("A run in a terminal downloads it where this machine lacks it; its dimension must then be said here.")
    return {"model": model, **_encoder()}


def _folder() -> Said:
    folder = st.text_input("Folder", placeholder="inside what this server allows").strip()
    return {"folder": folder, **_encoder()}


def _encoder() -> Said:
    first, second, third = st.columns(3)
    dimension = first.number_input("Dimension", min_value=1, value=None, placeholder=THEIRS)
    pooling = second.selectbox("Pooling", POOLINGS, index=None, placeholder=THEIRS)
    longest = third.number_input("Most tokens of a text", min_value=1, value=None, placeholder=THEIRS)
    query = first.text_input("Query prompt", value=None, placeholder=THEIRS, help="Put before every query.")
    document = second.text_input("Document prompt", value=None, placeholder=THEIRS, help="Put before every document.")
    reads = third.selectbox(
        "Read of a query",
        READS,
        index=None,
        format_func=READ_WORDS.__getitem__,
        placeholder="its text",
        help="Of a model that sees images, such as CLIP. Its documents are read whole: text, image, or both.",
    )
    return {
        "dimension": dimension,
        "pooling": pooling,
        "max_length": longest,
        "query_prompt": query,
        "document_prompt": document,
        "reads": reads,
    }


def _bm25() -> Said:
    first, second, third = st.columns(3)
    tokens = first.selectbox("Texts are cut into", TOKENS, format_func=lambda name: TOKEN_WORDS[name])
    k1 = second.number_input("k1", min_value=0.0, value=K1, help="How fast repeated words saturate.")
    b = third.number_input("b", min_value=0.0, max_value=1.0, value=B, help="How much long documents are discounted.")
    return {"tokens": tokens, "k1": k1, "b": b}


def _fusion() -> Said:
    systems = jobs.own_systems.parts()["first"]
    first, second, third = st.columns(3)
    one = first.selectbox("One", list(systems), format_func=systems.__getitem__, key="own-fused-one")
    other = second.selectbox(
        "The other", list(systems), index=1, format_func=systems.__getitem__, key="own-fused-other"
    )
    k = third.number_input("k", min_value=1, value=K, help="The constant of reciprocal rank fusion.")
    return {"fuse": (one, other), "k": k}


def _two_stage() -> Said:
    parts = jobs.own_systems.parts()
    firsts, seconds = parts["first"], parts["second"]
    first, second, third = st.columns(3)
    one = first.selectbox("Retrieves", list(firsts), format_func=firsts.__getitem__, key="own-first")
    other = second.selectbox("Re-ranks", list(seconds), format_func=seconds.__getitem__, key="own-second")
    pool = third.number_input("Documents re-ranked", min_value=1, value=POOL)
    return {"first": one, "second": other, "pool": pool}


def _cross_encoder() -> Said:
    first, second = st.columns(2)
    model = first.text_input("Model id", placeholder="organisation/model").strip()
    words = "Or a folder on the server"
    folder = second.text_input(words, placeholder="inside what it allows").strip() if jobs.folders() else ""
    longest = first.number_input("Most tokens of a pair", min_value=1, value=None, placeholder=THEIRS)
    dtype = second.selectbox("Precision", PRECISIONS, index=None, placeholder="float32")
    said: Said = {"cross_encoder": True, "model": model or None, "max_length": longest, "dtype": dtype}
    return {**said, "folder": folder} if folder else said


def _maxsim() -> Said:
    encoders = jobs.own_systems.parts()["tokens"]
    encoder = st.selectbox("Whose token vectors", list(encoders), format_func=encoders.__getitem__, key="own-tokens")
    return {"maxsim": encoder}


FIELDS: dict[str, Callable[[], Said]] = {
    "model": _hub_model,
    "folder": _folder,
    "bm25": _bm25,
    "fusion": _fusion,
    "two-stage": _two_stage,
    "cross-encoder": _cross_encoder,
    "maxsim": _maxsim,
}
