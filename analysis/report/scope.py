"""Which of the chosen tasks can answer a question, and what is said where one cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.report.blocks import Block, Grey, Heading
from analysis.store.read import Store
from analysis.text import capitalised
from analysis.views.evidence import chosen_tasks, task_label
from analysis.views.selection import Selection, TaskLabel, published_only, scores_only

ROUTES = "language routes need rankings"
DEPTH = "depth needs rankings"
TIERS = "difficulty tiers need rankings"
FAIRNESS = "fairness needs the values of each query"
TESTS = "tests need the values of each query"
CAUSES = "the causes of failure need rankings"
MAP = "a map needs texts and an encoder's vectors"
STORY = "the story needs rankings"
RANKINGS = {ROUTES, DEPTH, TIERS, CAUSES, MAP, STORY}


def refused(task: TaskLabel, need: str) -> str | None:
    """Why a task cannot answer, in words; None where it can."""
    if task.published_only:
        return published_only(need)
    return scores_only(need) if need in RANKINGS and not task.n_documents else None


def answering(store: Store, selection: Selection, need: str) -> tuple[str, ...]:
    """The names of the chosen tasks that can answer.

    Raises:
        InputError: an unknown benchmark or task.
    """
    labels = [task_label(task) for task in chosen_tasks(store, selection)]
    return tuple(label.name for label in labels if refused(label, need) is None)


def refusals(store: Store, selection: Selection, need: str) -> Iterator[Block]:
    """A heading and the reason for each chosen task that cannot answer.

    Raises:
        InputError: an unknown benchmark or task.
    """
    for task in chosen_tasks(store, selection):
        label = task_label(task)
        words = refused(label, need)
        if words:
            yield from (Heading(label.title, 3), reason(words))


def by_task(
    store: Store, selection: Selection, answer: Callable[[Store, Selection, TaskLabel], Iterator[Block]]
) -> tuple[Block, ...]:
    """What is to say of each chosen task, under its heading.

    Raises:
        InputError: an unknown benchmark or task.
    """
    blocks: list[Block] = []
    for row in chosen_tasks(store, selection):
        task = task_label(row)
        blocks += [Heading(task.title, 3), *answer(store, selection, task)]
    return tuple(blocks)


def reason(words: str) -> Grey:
    """Why a task cannot answer, as a sentence."""
    return Grey(f"{capitalised(words)}.")
