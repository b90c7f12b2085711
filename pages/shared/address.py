"""The page's address holds every choice: plain query parameters, lists as ``a,b``; a link reproduces the view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

MOST = 1_000_000
"""Numbers in the address stay below it."""


def get(name: str) -> str | None:
    """A parameter; None when the address does not have it."""
    return st.query_params.get(name)


def many(name: str) -> tuple[str, ...] | None:
    """A parameter that lists values; None when the address does not have it, empty when it lists none."""
    listed = get(name)
    return None if listed is None else tuple(part for part in listed.split(",") if part)


def whole(name: str) -> int:
    """A parameter that is a whole number from 0; 0 where it is none."""
    asked = get(name) or ""
    return int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 8 else 0


def put(**values: str | Sequence[str] | None) -> None:
    """Set parameters; None takes one out, so that the address stays short."""
    for name, value in values.items():
        if value is None:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = value if isinstance(value, str) else ",".join(value)


def listable(text: str) -> str:
    """A text as one of a list in the address, whose lists are separated by commas."""
    return text.replace("%", "%25").replace(",", "%2C")


def everything() -> dict[str, str]:
    """All parameters, for a link that keeps them."""
    return st.query_params.to_dict()


def choose(
    widget: Callable[..., Any],
    label: str,
    options: Sequence[str],
    *,
    name: str,
    default: str,
    clears: Sequence[str] = (),
    on_change: Callable[[str], None] | None = None,
    **more: Any,
) -> str:
    """A select box or segmented control whose value lives in the address.

    Args:
        widget: ``st.selectbox`` or ``st.segmented_control``, of the page or the sidebar.
        label: what stands above it.
        options: the values, as they stand in the address.
        name: of the parameter.
        default: the value while the address has none, or one that is not offered.
        clears: parameters that lose their meaning when this one changes.
        on_change: told the value that was chosen.
        **more: handed to the widget.
    """
    asked = get(name)
    value = asked if asked is not None and asked in options else default
    key = _hold(name, value)

    def changed() -> None:
        chosen = st.session_state[key]
        put(**{name: None if chosen == default else chosen}, **dict.fromkeys(clears))
        if on_change is not None:
            on_change(chosen)

    widget(label, options, key=key, on_change=changed, **more)
    return value


def select(
    label: str, words: Mapping[str, str], *, name: str, default: str | None = None, clears: Sequence[str] = ()
) -> str:
    """A select box of named values, whose value lives in the address: the first by default.

    Args:
        label: what stands above it.
        words: value as it stands in the address -> what is read, in the order in which they are offered.
        name: of the parameter.
        default: the value while the address has none, or one that is not offered.
        clears: parameters that lose their meaning when this one changes.
    """
    first = default or next(iter(words))
    return choose(
        st.selectbox, label, list(words), name=name, default=first, clears=clears, format_func=words.__getitem__
    )


def choose_many(
    widget: Callable[..., Any], label: str, options: Sequence[str], *, name: str, **more: Any
) -> tuple[str, ...]:
    """A multiselect whose values live in the address; all options while the address names none of them.

    Args:
        widget: ``st.multiselect``, of the page or the sidebar.
        label: what stands above it.
        options: the values, as they stand in the address.
        name: of the parameter.
        **more: handed to the widget.
    """
    asked = many(name)
    values = [option for option in options if asked is None or option in asked]
    if asked and not values:
        values = list(options)
    key = _hold(name, values)

    def changed() -> None:
        chosen = st.session_state[key]
        put(**{name: None if len(chosen) == len(options) else chosen})

    widget(label, options, key=key, on_change=changed, **more)
    return tuple(values)


def choose_default(
    widget: Callable[..., Any],
    label: str,
    options: Sequence[str],
    *,
    name: str,
    default: Sequence[str],
    most: int | None = None,
    **more: Any,
) -> tuple[str, ...]:
    """A multiselect whose values live in the address; the default ones while it names none that is offered.

    Args:
        widget: ``st.multiselect``, of the page or the sidebar.
        label: what stands above it.
        options: the values, as they stand in the address; without commas.
        name: of the parameter.
        default: the values to begin with, in the order of the options.
        most: values that can be chosen; what the address names beyond them is left out.
        **more: handed to the widget.
    """
    asked = many(name) or ()
    values = ([option for option in options if option in asked] or list(default))[:most]
    key = _hold(name, values)

    def changed() -> None:
        chosen = st.session_state[key]
        put(**{name: None if not chosen or set(chosen) == set(default) else chosen})

    widget(label, options, key=key, on_change=changed, max_selections=most, **more)
    return tuple(values)


def choose_some(
    widget: Callable[..., Any],
    label: str,
    options: Sequence[str],
    *,
    name: str,
    clears: Sequence[str] = (),
    most: int | None = None,
    **more: Any,
) -> tuple[str, ...]:
    """A multiselect whose values live in the address; none of the options while the address names none of them.

    Args:
        widget: ``st.multiselect``, of the page or the sidebar.
        label: what stands above it.
        options: the values, as they stand in the address; without commas.
        name: of the parameter.
        clears: parameters that lose their meaning when this one changes.
        most: values that can be chosen; what the address names beyond them is left out.
        **more: handed to the widget.
    """
    values = some(options, name=name)[:most]
    key = _hold(name, values)

    def changed() -> None:
        put(**{name: st.session_state[key] or None}, **dict.fromkeys(clears))

    widget(label, options, key=key, on_change=changed, max_selections=most, **more)
    return tuple(values)


def some(options: Sequence[str], *, name: str) -> list[str]:
    """The options that the address names, in the order of the options."""
    asked = many(name) or ()
    return [option for option in options if option in asked]


def write(
    widget: Callable[..., Any], label: str, *, name: str, default: str, clears: Sequence[str] = (), **more: Any
) -> str:
    """A text field whose value lives in the address.

    Args:
        widget: ``st.text_input`` or ``st.text_area``.
        label: what stands above it.
        name: of the parameter.
        default: the text while the address has none.
        clears: parameters that lose their meaning when this one changes.
        **more: handed to the widget.
    """
    asked = get(name)
    value = default if asked is None else asked
    key = _hold(name, value)

    def changed() -> None:
        text = st.session_state[key]
        put(**{name: None if text == default else text}, **dict.fromkeys(clears))

    widget(label, key=key, on_change=changed, **more)
    return value


def number(
    label: str, *, name: str, default: int | None, least: int, clears: Sequence[str] = (), **more: Any
) -> int | None:
    """A field for a whole number that lives in the address.

    Args:
        label: what stands above it.
        name: of the parameter.
        default: the number while the address has none, or something else; None for no number.
        least: the smallest number.
        clears: parameters that lose their meaning when this one changes.
        **more: handed to ``st.number_input``.
    """
    asked = get(name) or ""
    value = int(asked) if asked.isascii() and asked.isdecimal() and least <= int(asked) < MOST else default
    key = _hold(name, value)

    def changed() -> None:
        chosen = st.session_state[key]
        put(**{name: None if chosen in {default, None} else str(chosen)}, **dict.fromkeys(clears))

    st.number_input(label, min_value=least, max_value=MOST - 1, step=1, key=key, on_change=changed, **more)
    return value


def switch(label: str, *, name: str, on: str = "yes", **more: Any) -> bool:
    """A toggle, off by default, whose value lives in the address.

    Args:
        label: what stands beside it.
        name: of the parameter.
        on: the parameter's value while it is on.
        **more: handed to the widget.
    """
    value = get(name) == on
    key = _hold(name, value)

    def changed() -> None:
        put(**{name: on if st.session_state[key] else None})

    st.toggle(label, key=key, on_change=changed, **more)
    return value


def open_page(page: str) -> None:
    """Say which page is drawn: its widgets have keys of their own, as values outlive a page but widgets do not."""
    st.session_state["page"] = page


def _key(name: str) -> str:
    return f"{st.session_state.get('page', 'page')}-{name}"


def _hold(name: str, value: Any) -> str:
    """Make a widget show what the address says, touching it only where it does not; returns the widget's key."""
    key = _key(name)
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return key
