"""Why should I care?"""

from dataclasses import replace

import streamlit as st

from analysis import probe
from pages.shared import story_parts, ui
from pages.shared.interface import say

with ui.page(ui.STORY) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    ui.need_rankings(frame, say("the story needs rankings"))
    found = story_parts.told(frame)
    if found is None:
        story_parts.not_parallel(frame)
        st.stop()
    live = ui.answer(probe.encoders, frame.benchmark.address)
    asked = story_parts.asked_live(found, live)
    if asked:
        first, second = story_parts.ask(found, frame)
        found = replace(found, first=first, second=second)
    story_parts.style(dark=frame.dark)
    story_parts.show(found, live=asked, dark=frame.dark)
    story_parts.bar(found, live=live)
    story_parts.keys()
