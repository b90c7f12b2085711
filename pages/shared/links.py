"""Links inside a page: followed without leaving the session, and ordinary links for whoever opens them in a new tab."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.shared import address
from pages.shared.tables import Markup

KEY = "links"
FOLLOW = """
export default function ({ setTriggerValue }) {
  const follow = (event) => {
    const link = event.target.closest ? event.target.closest("a.inside") : null;
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    setTriggerValue("followed", link.getAttribute("href").split("?")[1] || "");
  };
  document.addEventListener("click", follow);
  return () => document.removeEventListener("click", follow);
}
"""
"""A plain click on such a link is told to the server: a constant, no text of anybody comes near it."""


def link(words: Markup, /, **parameters: str | None) -> Markup:
    """A link to the same page with these parameters changed; None takes one out.

    Args:
        words: what is clicked on, escaped where it was made.
        **parameters: as they stand in the address.
    """
    wanted = {name: value for name, value in (address.everything() | parameters).items() if value is not None}
    return Markup(f'<a class="inside" href="?{html.escape(urlencode(wanted))}">{words}</a>')


def follow() -> None:
    """Put this on a page that has such links."""
    _component()(key=KEY, on_followed_change=_followed)


@st.cache_resource
def _component() -> Any:
    return st.components.v2.component("babelscope_links", js=FOLLOW)


def _followed() -> None:
    asked = st.session_state[KEY].followed
    if asked is not None:
        go(dict(parse_qsl(asked)))


def go(parameters: Mapping[str, str]) -> None:
    """Make these all the parameters of the page."""
    gone = [name for name in address.everything() if name not in parameters]
    address.put(**dict.fromkeys(gone), **parameters)
