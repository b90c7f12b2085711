"""The theme of the browser, followed: charts and inked cells are drawn on the server, in the theme it was told of."""

from __future__ import annotations

from typing import Any

import streamlit as st

KEY = "theme"
WATCH = """
export default function ({ data, setTriggerValue }) {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app) return;
  const scheme = () => (getComputedStyle(app).colorScheme === "dark" ? "dark" : "light");
  let told = data.drawn;
  const look = () => {
    if (scheme() === told) return;
    told = scheme();
    setTriggerValue("changed", told);
  };
  const watch = new MutationObserver(look);
  watch.observe(app, { attributes: true, attributeFilter: ["class", "style"] });
  look();
  return () => watch.disconnect();
}
"""
"""Tells the server once when the page's colours are no longer those it drew in; the run that follows draws anew."""


def follow(*, dark: bool) -> None:
    """Draw the page anew when the viewer changes the theme.

    Args:
        dark: the theme of this run.
    """
    _component()(key=KEY, data={"drawn": "dark" if dark else "light"}, on_changed_change=lambda: None)


@st.cache_resource
def _component() -> Any:
    return st.components.v2.component("babelscope_theme", js=WATCH)
