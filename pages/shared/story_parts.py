"""The stage of the story: choices, keys, the screen that fills the window, and a question asked live."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import streamlit as st

from analysis import probe
from analysis.charts import theme
from analysis.probe import ProbeAnswer
from analysis.views import story, story_words
from analysis.views.selection import SystemLabel
from analysis.views.story import FIRST, NEAR, Found, Missed, StoryView, Version
from pages.shared import address, interface, story_pictures, tables, ui
from pages.shared.interface import say
from pages.shared.tables import Markup

STEPS = 6
STYLE = Path(__file__).with_name("story.css")
FILLS = Path(__file__).with_name("story_fills.css")
KEY = "story-keys"
LISTEN = """
export default function ({ data, setTriggerValue }) {
  let step = data.step;
  const STEPS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
  const pressed = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const at = event.target, box = at.closest ? at.closest('[role="combobox"]') : null;
    const open = box && box.getAttribute("aria-expanded") === "true";
    const written = at.isContentEditable || (at.matches && at.matches("textarea, select, input:not([type=checkbox])"));
    if (open || ((written || box) && !(box && event.key.startsWith("Arrow")))) return;
    if (event.key === " " && at.closest && at.closest("button, input")) return;
    let wanted = step;
    if (event.key === "Home") wanted = 1;
    else if (event.key === "End") wanted = data.last;
    else if (event.key in STEPS) wanted = Math.min(data.last, Math.max(1, step + STEPS[event.key]));
    else if (event.key !== "Escape" || !data.full) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") setTriggerValue("left", true);
    else if (wanted !== step) setTriggerValue("turned", (step = wanted));
  };
  document.addEventListener("keydown", pressed, true);
  return () => document.removeEventListener("keydown", pressed, true);
}
"""
"""Keys turn the steps unless somebody types, a list is open or space presses a button.

A constant: no text of anybody comes near it.
"""


def step() -> int:
    """The step that the address asks for, from 1."""
    asked = address.whole("step")
    return asked if 1 <= asked <= STEPS else 1


def turn(to: int) -> None:
    """Go to a step."""
    address.put(step=None if to == 1 else str(to))


def fills() -> bool:
    """Whether the story fills the window."""
    return address.get("screen") != "page"


def fill(full: bool) -> None:
    """Let it fill the window, or bring menu and sidebar back."""
    address.put(screen=None if full else "page")


def style(*, dark: bool) -> None:
    """Put the style of the story on the page, and where it fills the window hide the rest."""
    page, ink = theme.paper(dark), theme.ink(dark)
    colours = {
        "paper": page.background,
        "panel": page.panel,
        "text": page.text,
        "soft": page.secondary,
        "line": page.lines,
        "ink": theme.colour_at(ink, 0.85),
        "mid": theme.colour_at(ink, 0.5),
        "on-ink": theme.text_on(theme.colour_at(ink, 0.85)),
        "bar": "12rem" if presenting() else "4.6rem",
    }
    st.html("<style>:root {" + "".join(f"--story-{name}:{value};" for name, value in colours.items()) + "}</style>")
    st.html(STYLE)
    if fills():
        st.html(FILLS)


def keys() -> None:
    """Turn the steps by arrow keys, space, Home and End; Escape brings the menu back."""
    _component()(
        key=KEY,
        data={"step": step(), "last": STEPS, "full": fills()},
        on_turned_change=_turned,
        on_left_change=lambda: fill(False),
    )


@st.cache_resource
def _component() -> Any:
    return st.components.v2.component("babelscope_story_keys", js=LISTEN)


def _turned() -> None:
    asked = st.session_state[KEY].turned
    if isinstance(asked, int) and 1 <= asked <= STEPS:
        turn(asked)


def told(frame: ui.Frame) -> StoryView:
    """The story that the address asks for."""
    return ui.answer(
        story.story,
        frame.selection,
        system=address.get("system"),
        family=address.get("concept"),
        languages=(address.get("first"), address.get("second")),
    )


def not_parallel(frame: ui.Frame) -> NoReturn:
    """What the page says of a task that asks nothing in several languages; stops the page."""
    ui.nothing(
        say("No question of {task} is asked in several languages.", task=frame.tasks[0].title),
        next_step=say("The story needs queries in several languages that share a family."),
    )
    st.stop()


def offer_others(frame: ui.Frame) -> None:
    """Links to benchmarks that are made of parallel questions."""
    for label in frame.offered.benchmarks:
        if label.parallel and label != frame.benchmark:
            words = tables.literal(say("Tell it with {benchmark} →", benchmark=label.title))
            ui.go_to(ui.STORY, words, benchmark=label.address, ui=interface.chosen())


def show(found: StoryView, *, live: bool, dark: bool) -> None:
    """The sentence and the picture of the step."""
    now = step()
    sentence = tables.escaped(story_words.steps(interface, found)[now - 1])
    picture = story_pictures.pictures(found, dark=dark)[now - 1]()
    foot = tables.escaped(story_words.source(interface, found, live=live and now in {3, 4}))
    st.html(
        f'<div class="story step-{now}" lang="{interface.chosen()}"><p class="sentence">{sentence}</p>'
        f'<div class="picture">{picture}</div><p class="foot">{foot}</p></div>'
    )


def bar(found: StoryView, *, live: tuple[SystemLabel, ...]) -> None:
    """Everything that is chosen, below the picture."""
    now = step()
    with st.container(key="story-bar", gap="xsmall"):
        if presenting():
            note = tables.escaped(story_words.notes(interface, found, live=asked_live(found, live))[now - 1])
            tables.show(Markup(f'<p class="note">{note}</p>'))
            with st.container(horizontal=True, vertical_alignment="center", key="story-presenter"):
                _system(found)
                if found.system in live:
                    address.switch(say("Ask it live"), name="live")
        with st.container(horizontal=True, vertical_alignment="center", key="story-choices"):
            st.button("←", key="story-back", help=say("Back"), disabled=now == 1, on_click=turn, args=(now - 1,))
            st.button("→", key="story-on", help=say("Forward"), disabled=now == STEPS, on_click=turn, args=(now + 1,))
            ui.grey(say("{step} of {steps}", step=now, steps=STEPS), width="content")
            _concept(found)
            _language(found, "first", found.first.language, other=found.second.language)
            _language(found, "second", found.second.language, other=found.first.language)
            address.switch(say("Notes"), name="notes", on="1")
            if fills():
                st.button(say("Menu"), key="story-menu", help=say("Brings the menu back"), on_click=fill, args=(False,))
            else:
                st.button(say("Full screen"), key="story-fill", type="primary", on_click=fill, args=(True,))


def presenting() -> bool:
    """Whether notes are shown."""
    return address.get("notes") == "1"


def _concept(found: StoryView) -> None:
    known = {
        concept.family: dict(zip(concept.languages, concept.texts, strict=True)).get(interface.chosen(), concept.label)
        for concept in found.concepts
    }
    address.choose(
        st.selectbox,
        say("Question"),
        list(known),
        name="concept",
        default=found.concept.family,
        filter_mode="contains",
        label_visibility="collapsed",
        format_func=known.__getitem__,
    )


def _language(found: StoryView, name: str, default: str, *, other: str) -> None:
    address.choose(
        st.selectbox,
        say("Language"),
        [tag for tag in found.concept.languages if tag != other],
        name=name,
        default=default,
        label_visibility="collapsed",
        format_func=interface.own_name,
        width=150,
    )


def _system(found: StoryView) -> None:
    known = {one.system.name: one.system.short for one in found.performers}
    address.choose(
        st.selectbox,
        say("Search"),
        list(known),
        name="system",
        default=found.system.name,
        label_visibility="collapsed",
        format_func=known.__getitem__,
        width=320,
    )


# Asked live


def asked_live(found: StoryView, offered: tuple[SystemLabel, ...]) -> bool:
    """Whether the question is to be put to the system now."""
    return address.get("live") == "yes" and found.system in offered


def ask(found: StoryView, frame: ui.Frame) -> tuple[Version, Version]:
    """Both versions as the system answers them now."""
    texts = {version.language: version.text for version in (found.first, found.second)}
    with st.container(key="story-asking"), st.spinner(tables.literal(say("Asking {name} …", name=found.system.short))):
        reply = probe.ask_in_all_languages(
            ui.store(),
            texts,
            system=found.system.name,
            benchmark=frame.benchmark.address,
            task=found.task.name,
            k=FIRST,
            family=found.concept.family,
            without_flagged=frame.selection.without_flagged,
        )
    first, second = (_version(answer) for answer in reply.answers)
    return first, second


def _version(answer: ProbeAnswer) -> Version:
    ranked = sorted(answer.answers, key=lambda known: (known.rank is None, known.rank or 0))
    return Version(
        language=answer.query_language or "und",
        text=answer.query_text,
        first=tuple(Found(hit.rank, hit.language, hit.text, bool(hit.relevant)) for hit in answer.hits[:FIRST]),
        missed=tuple(
            Missed(known.language, known.text, known.rank)
            for known in ranked
            if known.rank is None or known.rank > NEAR
        ),
        n_right=len(ranked),
        best_rank=ranked[0].rank if ranked else None,
        depth=answer.n_documents,
    )
