"""Why should I care?"""

from dataclasses import replace

import streamlit as st

from analysis import probe
from analysis.views import story
from pages.shared import story_parts, ui

with ui.page(ui.STORY) as frame:
    if not frame.systems:
        ui.no_systems(frame)
    told = frame.measured and ui.answer(story.can_tell, frame.selection)
    stage, below = st.container(), st.container()
    if not told:
        with below:
            story_parts.offer_others(frame)
    with stage:
        ui.need_rankings(frame, "the story needs rankings")
        if not told:
            story_parts.not_parallel(frame)
        found = story_parts.told(frame)
        live = ui.answer(probe.encoders, frame.benchmark.address)
        asked = story_parts.asked_live(found, live)
        story_parts.style(dark=frame.dark)
        if asked:
            first, second = story_parts.ask(found, frame)
            found = replace(found, first=first, second=second)
        story_parts.show(found, live=asked, dark=frame.dark)
        story_parts.bar(found, live=live)
        story_parts.keys()
