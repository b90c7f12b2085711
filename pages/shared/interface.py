"""The language of the interface: which one is chosen, its words from message catalogues, and its numbers.

A catalogue is ``catalogues/<tag>.po``, in gettext's format; English stands in the code and needs none. What a catalogue
does not have is said in English. Text of a corpus is never translated.
"""

from __future__ import annotations

import functools
import gettext
import io
from pathlib import Path
from typing import Any

import streamlit as st

from analysis.views.selection import language_name
from pages.shared import address

NAMES = {"en": "English", "es": "Español", "fr": "Français", "ja": "日本語", "zh": "中文", "ru": "Русский"}
"""The languages that are offered, by the names that they give themselves."""

ENGLISH = "en"
CATALOGUES = Path(__file__).with_name("catalogues")
_KEPT = "interface-language"


def begin() -> None:
    """Read the language off the address; where the address has none, take the one last chosen and put it there."""
    asked = address.get("ui")
    if asked in NAMES:
        st.session_state[_KEPT] = asked
    elif (kept := st.session_state.get(_KEPT, ENGLISH)) != ENGLISH:
        address.put(ui=kept)


def offer() -> None:
    """The select box of the interface's language."""
    address.choose(
        st.selectbox,
        say("Interface language"),
        list(NAMES),
        name="ui",
        default=ENGLISH,
        on_change=lambda tag: st.session_state.update({_KEPT: tag}),
        format_func=NAMES.__getitem__,
        label_visibility="collapsed",
        width=124,
    )


def chosen() -> str:
    """The language in force."""
    asked = address.get("ui")
    return asked if asked in NAMES else ENGLISH


def mark(words: str) -> str:
    """Words that are said later, by :func:`say`: catalogues have them too."""
    return words


def say(words: str, /, **values: object) -> str:
    """Words in the language in force.

    Args:
        words: in English, a constant, with ``{names}`` for the values.
        **values: put in as they are, whole numbers as the language writes them.
    """
    return _filled(_catalogue(chosen()).gettext(words), values)


def say_of(context: str, words: str, /, **values: object) -> str:
    """The same for words that mean several things.

    Args:
        context: what tells them apart, a constant.
        words: as for :func:`say`.
        **values: as for :func:`say`.
    """
    return _filled(_catalogue(chosen()).pgettext(context, words), values)


def say_counted(one: str, many: str, n: int, /, **values: object) -> str:
    """Words about a number, in the form that the language has for it.

    Args:
        one: in English for 1, a constant; ``{n}`` is the number.
        many: in English for other numbers.
        n: the number.
        **values: as for :func:`say`.
    """
    return _filled(_catalogue(chosen()).ngettext(one, many, n), {"n": n, **values})


def sentences(*parts: str) -> str:
    """Sentences one after the other, as the language joins them; empty ones are left out."""
    return ("" if chosen() in {"ja", "zh"} else " ").join(part for part in parts if part)


def number(value: float, digits: int = 0) -> str:
    """A number with so many decimals, as the language writes it."""
    from babel.numbers import format_decimal

    pattern = "#,##0" + (f".{'0' * digits}" if digits else "")
    return str(format_decimal(value, pattern, locale=chosen()))


def language(tag: str) -> str:
    """The name of a language in the language in force; in English where that has none for it."""
    from babel import Locale

    names, script = Locale.parse(chosen()), tag.partition("-")[2]
    name = names.languages.get(tag.partition("-")[0])
    if name is None:
        return language_name(tag)
    return f"{name} ({names.scripts.get(script, script)})" if script else str(name)


def own_name(tag: str) -> str:
    """The name that a language gives itself; in English where that is not known."""
    from babel import Locale
    from babel.core import UnknownLocaleError

    try:
        name = Locale.parse(tag, sep="-", resolve_likely_subtags=False).get_display_name()
    except (UnknownLocaleError, ValueError):
        name = None
    return name[:1].upper() + name[1:] if name else language_name(tag)


def _filled(words: str, values: dict[str, object]) -> str:
    written = {name: number(value) if isinstance(value, int) else value for name, value in values.items()}
    return words.format_map(written) if written else words


@functools.lru_cache(maxsize=len(NAMES))
def _catalogue(tag: str) -> gettext.NullTranslations:
    if tag == ENGLISH:
        return gettext.NullTranslations()
    return gettext.GNUTranslations(compiled(CATALOGUES / f"{tag}.po"))


def compiled(file: Path) -> Any:
    """A catalogue as gettext's machines read it."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    made = io.BytesIO()
    with file.open("rb") as source:
        write_mo(made, read_po(source, abort_invalid=True))
    made.seek(0)
    return made
