"""The Clinician demo from the first screen to the last by keyboard, without WebGL and without a network."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.running import bare, settle

INSIDE = """() => {
  const stage = document.querySelector('.story').getBoundingClientRect();
  const bar = document.querySelector('.st-key-story-bar').getBoundingClientRect();
  const picture = document.querySelector('.story .picture');
  return stage.left === 0 && stage.top === 0 && stage.width === innerWidth && Math.abs(stage.bottom - bar.top) <= 1
    && bar.bottom <= innerHeight && picture.scrollHeight <= picture.clientHeight + 1
    && document.querySelector('.sentence').getBoundingClientRect().top >= 0
    && document.scrollingElement.scrollHeight <= innerHeight;
}"""
TOP = "() => document.querySelector('.story .picture').getBoundingClientRect().top"
STEPS = ("Someone asks", "The same concern", "Asked in", "Asked in", "of 100 questions find an answer", "what helps")


@pytest.fixture
def story(chrome, running_app):
    """The demo in a session without WebGL; a request to anywhere else fails the test."""
    with bare(chrome, running_app, width=1280, height=720) as page:
        page.goto(f"{running_app}/story?system=all-minilm-l6-v2")
        expect(page.locator(".story .sentence")).to_be_visible(timeout=60_000)
        settle(page)
        yield page


def sentence(page):
    return page.locator(".story .sentence")


def test_the_story_is_told_by_keyboard(story):
    expect(story.locator('[data-testid="stSidebar"]')).to_be_hidden()
    tops = set()
    for step, words in enumerate(STEPS, start=1):
        expect(story.locator(f".story.step-{step}")).to_be_visible(timeout=30_000)
        expect(sentence(story)).to_contain_text(words)
        for size in ({"width": 1920, "height": 1080}, {"width": 1280, "height": 720}):
            story.set_viewport_size(size)
            story.wait_for_timeout(150)
            assert story.evaluate(INSIDE), (step, size)
        tops.add(story.evaluate(TOP))
        story.keyboard.press("Space" if step == 2 else "ArrowRight")
    assert len(tops) == 1  # nothing moves from step to step
    assert "step=6" in story.url
    story.keyboard.press("ArrowLeft")
    expect(story.locator(".story.step-5")).to_be_visible(timeout=30_000)
    story.keyboard.press("Home")
    expect(story.locator(".story.step-1")).to_be_visible(timeout=30_000)
    for _ in range(3):  # faster than the screen follows
        story.keyboard.press("ArrowRight")
    expect(story.locator(".story.step-4")).to_be_visible(timeout=30_000)
    story.keyboard.press("Escape")
    expect(story.locator('[data-testid="stSidebar"]')).to_be_visible(timeout=30_000)
    story.wait_for_function("location.search.includes('screen=page')", timeout=30_000)


def test_the_audience_chooses_the_question_and_the_language_of_the_interface(story):
    story.keyboard.press("ArrowRight")
    expect(story.locator(".story.step-2")).to_be_visible(timeout=30_000)
    asked = story.locator(".story .asked").first
    before = asked.inner_text()
    box = story.locator(".st-key-story-choices").get_by_role("combobox").first
    box.click()
    story.keyboard.press("ArrowDown")  # moves in the open list, not in the story
    expect(story.locator(".story.step-2")).to_be_visible()
    story.keyboard.press("ArrowDown")
    story.keyboard.press("Enter")
    expect(asked).not_to_have_text(before, timeout=30_000)
    story.wait_for_function("location.search.includes('concept=')", timeout=30_000)
    story.keyboard.press("ArrowRight")  # the closed list still has the focus
    expect(story.locator(".story.step-3")).to_be_visible(timeout=30_000)
    settle(story)
    story.locator(".st-key-story-choices").get_by_text("Notes").click()
    expect(story.locator(".note")).to_be_visible(timeout=30_000)
    story.keyboard.press("ArrowLeft")  # the switch has the focus
    expect(story.locator(".story.step-2")).to_be_visible(timeout=30_000)
    settle(story)
    assert story.evaluate(INSIDE)
    story.goto(f"{story.url}&ui=ja&step=3")
    expect(sentence(story)).to_contain_text(re.compile("尋ねると"), timeout=60_000)
    assert story.evaluate("() => document.querySelector('.story').lang") == "ja"
