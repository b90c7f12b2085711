"""The frame of every page: sidebar, one clear message when something is wrong, and the only caches of the app."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, TypeVar
from urllib.parse import unquote, urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException

from analysis.errors import BabelscopeError, InputError
from analysis.views import approximate, flags, overview, source
from analysis.views.overview import Contents
from analysis.views.selection import (
    BenchmarkLabel,
    MeasureLabel,
    Selection,
    Sentence,
    SystemLabel,
    TaskLabel,
    capitalised,
)
from pages.shared import address, first_start, glossary, interface, job_box, more_data, tables, theme_watch
from pages.shared.interface import mark, say
from pages.shared.tables import Markup, Width

T = TypeVar("T")
Part = tuple[str, str]
"""A query attribute and one of its values."""

Table = tuple[Sequence[str], Sequence[Sequence[object]]]
"""A header and rows."""

ALL_TASKS = "all"
CHOICES = ("benchmark", "task", "systems", "measure", "where", "flagged", "languages", "ui")
"""The parameters that every page understands; the others belong to one page."""

OF_TASK = ("where", "route", "concept", "against", "area", "point", "languages", "split")
"""Parameters that mean nothing on another task."""

WAITING = Markup('<p class="waiting" role="status">Working it out …</p>')

CHART = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["zoom", "pan", "select", "lasso", "zoomIn", "zoomOut", "autoScale", "resetScale"],
    "toImageButtonOptions": {"format": "svg", "filename": "babelscope"},
}


class PageLink(NamedTuple):
    """One page: where its script is, what the menu calls it, and the question it answers."""

    script: str
    address: str
    title: str
    question: str


OVERVIEW = PageLink(
    "pages/overview.py", "overview", mark("Overview"), mark("Which system, and can I trust the difference?")
)
ROUTES = PageLink("pages/routes.py", "routes", mark("Language routes"), mark("Which language pairs fail?"))
TIERS = PageLink("pages/tiers.py", "tiers", mark("Difficulty tiers"), mark("What does it confuse?"))
RECOVERABILITY = PageLink(
    "pages/recoverability.py", "recoverability", mark("Recoverability"), mark("Would a re-ranker fix it?")
)
FAIRNESS = PageLink("pages/fairness.py", "fairness", mark("Fairness"), mark("Who is left behind?"))
SIGNIFICANCE = PageLink("pages/significance.py", "significance", mark("Significance"), mark("Is it real?"))
QUERIES = PageLink("pages/queries.py", "queries", mark("Query explorer"), mark("Which queries fail?"))
MAP = PageLink("pages/map.py", "map", mark("Embedding map"), mark("What does the space look like?"))
CAUSES = PageLink("pages/causes.py", "causes", mark("Why it fails"), mark("What causes it?"))
DATA = PageLink("pages/data.py", "data", mark("Data and runs"), mark("What is here, and how do I bring my own?"))
METHOD = PageLink("pages/method.py", "method", mark("Method"), mark("What does this number mean?"))
PROBE = PageLink("pages/probe.py", "probe", mark("Live probe"), mark("What happens to my query?"))
STORY = PageLink("pages/story.py", "story", mark("Clinician demo"), mark("Why should I care?"))
PAGES = (
    OVERVIEW,
    ROUTES,
    TIERS,
    RECOVERABILITY,
    FAIRNESS,
    SIGNIFICANCE,
    QUERIES,
    MAP,
    CAUSES,
    PROBE,
    STORY,
    DATA,
    METHOD,
)


@dataclass(frozen=True)
class Frame:
    """What the sidebar chose."""

    offered: Contents  # what there was to choose from
    benchmark: BenchmarkLabel
    tasks: tuple[TaskLabel, ...]  # one, or all where the page offers that
    systems: tuple[SystemLabel, ...]  # the chosen ones that ran, or if none did those with published figures
    selection: Selection
    dark: bool
    measured: bool = True  # whether a chosen system has run; else there are published figures of it at most


# The frame


@contextmanager
def page(
    which: PageLink,
    *,
    every_task: bool = False,
    systems: bool = True,
    everything: bool = False,
    empty: Callable[[], None] | None = None,
) -> Iterator[Frame]:
    """Draw the frame of a page and hand over what the sidebar chose.

    Without data the page says what to do next and stops. An error meant for people is shown as its one sentence.

    Args:
        which: the page.
        every_task: also offer all tasks together.
        systems: let the sidebar choose systems.
        everything: the page is about all that is stored, so that doubtful items cannot be left out.
        empty: draws what the page offers where nothing is stored yet.
    """
    interface.begin()
    st.set_page_config(page_title=f"{say(which.title)} · Babelscope", layout="wide", initial_sidebar_state="expanded")
    address.open_page(which.address)
    tables.style(is_dark())
    with st.sidebar:
        _masthead(which)
        theme_watch.follow(dark=is_dark())
    st.title(say(which.question), anchor=False)
    if words := job_box.trouble():
        st.error(tables.literal(capitalised(words)))
    try:
        if _nothing_yet():
            first_start.show()
            if empty:
                empty()
            st.stop()
        first_start.show_rest()
        with st.sidebar:
            frame = _choices(every_task=every_task, systems=systems, everything=everything)
        if frame.selection.without_flagged:
            grey(flags.sentence(frame.tasks, left_out=True))
        if not everything and (words := answer(approximate.sentence, frame.selection._replace(tasks=(), where=()))):
            grey(words)
        yield frame
        with st.sidebar:
            first_start.offer_to_finish()
            more_data.offer(frame.offered.benchmarks, shown=frame.benchmark)
    except BabelscopeError as error:
        trouble(error)
        st.stop()


def _nothing_yet() -> bool:
    """Whether there is nothing to show: no benchmark, or only one that the first build is about to run systems on."""
    store = source.open_source()
    if store is None or not store.benchmarks():
        return True
    return first_start.running() and not answer(overview.contents, None).systems


def is_dark() -> bool:
    """Whether the viewer uses the dark theme."""
    return st.context.theme.type == "dark"


def _masthead(which: PageLink) -> None:
    with st.container(
        key=f"page-{which.address}", horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        tables.show(Markup('<div class="masthead">Babelscope</div>'), width="content")
        interface.offer()
    grey(say("where multilingual retrieval breaks"))
    with st.container(gap="xxsmall", key="menu"):
        for link in PAGES:
            go_to(link, say(link.title), **address.everything())
    st.space("small")


def _choices(*, every_task: bool, systems: bool, everything: bool) -> Frame:
    """The sidebar's select boxes, from benchmark to systems."""
    offered = answer(overview.contents, address.get("benchmark"))
    benchmark = _benchmark(offered)
    tasks = _tasks(offered.tasks, every_task=every_task)
    without_flagged = _without_flagged(tasks, everything=everything)
    names = tuple(task.name for task in tasks)
    here = answer(overview.contents, benchmark.address, tasks=names, without_flagged=without_flagged)
    ran = here.systems
    chosen = _systems(ran) if systems and ran else ran
    whole = Selection(benchmark.address, names, without_flagged=without_flagged)
    where = _slice(whole, here.slices) if systems else ()
    some = tuple(label.name for label in chosen) if len(chosen) < len(ran) else ()
    measured = tuple(label for label in chosen if label.name not in here.unmeasured)
    selection = whole._replace(systems=some, where=where)
    return Frame(offered, benchmark, tasks, measured or chosen, selection, is_dark(), bool(measured))


def _without_flagged(tasks: Sequence[TaskLabel], *, everything: bool) -> bool:
    """Whether doubtful items are left out; said only where there are some, and asked where they can be."""
    if not flags.total(tasks).reasons:
        return False
    left_out = not everything and address.switch(
        say("Leave out doubtful items"), name="flagged", on="out", help=glossary.FLAGGED
    )
    grey(flags.sentence(tasks, left_out=left_out))
    return left_out


def _slice(whole: Selection, offered: Sequence[Part]) -> tuple[Part, ...]:
    """The part of the queries that the page is about: any of the chosen values of each attribute; all by default.

    What the address asks for counts although an attribute has too many values to be offered.
    """
    asked = tuple(_part(text) for text in address.many("where") or ())
    absent = answer(overview.absent, whole._replace(where=asked)) if asked else ()
    if absent:
        words = ", ".join(f"{attribute}={value}" for attribute, value in offered)
        raise InputError(f"unknown part of the queries {'='.join(absent[0])!r}: this task has {words or 'none'}")
    known = {_part_name(part): part for part in dict.fromkeys([*offered, *asked])}
    chosen = address.choose_some(
        st.multiselect,
        say("Queries"),
        list(known),
        name="where",
        format_func=lambda name: " ".join(known[name]).replace("_", " "),
        placeholder=say("All"),
        help=say(
            "Several values of one attribute: queries with any of them. Several attributes: queries with all of them."
        ),
    )
    return tuple(known[name] for name in chosen)


def _part_name(part: Part) -> str:
    """An attribute and its value as they stand in the address, whose lists are separated by commas."""
    return "=".join(map(address.listable, part))


def _part(text: str) -> Part:
    attribute, separator, value = text.partition("=")
    if not separator:
        raise InputError(f"unknown part of the queries {text!r}: expected attribute=value, such as language=ja")
    return unquote(attribute), unquote(value)


def _benchmark(offered: Contents) -> BenchmarkLabel:
    known = {label.address: label for label in offered.benchmarks}
    chosen = offered.benchmark.address
    address.choose(
        st.selectbox,
        say("Benchmark"),
        list(known),
        name="benchmark",
        default=chosen,
        clears=(
            "task",
            "systems",
            "where",
            "route",
            "system",
            "concept",
            "against",
            "area",
            "point",
            "languages",
            "split",
        ),
        format_func=lambda name: _benchmark_name(known[name]),
    )
    return known[chosen]


def _benchmark_name(label: BenchmarkLabel) -> str:
    return label.title if label.address == label.name else f"{label.title} ({label.version})"


def _tasks(tasks: Sequence[TaskLabel], *, every_task: bool) -> tuple[TaskLabel, ...]:
    known = {label.name: label for label in tasks}
    asked = address.get("task")
    if asked is not None and asked not in (*known, ALL_TASKS):
        raise InputError(f"unknown task {asked!r}: this benchmark has {', '.join(known)}")
    name = address.choose(
        st.selectbox,
        say("Task"),
        [*known, ALL_TASKS] if every_task and len(known) > 1 else list(known),
        name="task",
        default=next((label.name for label in tasks if label.is_default), tasks[0].name),
        clears=OF_TASK,
        format_func=lambda name: known[name].title if name in known else say("All tasks"),
    )
    return (known[name],) if name in known else tuple(tasks)


def _systems(ran: Sequence[SystemLabel]) -> tuple[SystemLabel, ...]:
    known = {label.name: label for label in ran}
    unknown = [name for name in address.many("systems") or () if name not in known]
    chosen = address.choose_many(
        st.multiselect,
        say("Systems"),
        list(known),
        name="systems",
        format_func=lambda name: known[name].short,
        placeholder=say("Choose systems"),
    )
    if unknown:
        st.caption(tables.literal(say("Not run on this task: {names}", names=", ".join(unknown))))
    return tuple(known[name] for name in chosen)


def part(parts: Mapping[str, str]) -> str:
    """Which part of a page is shown, as its address says: the first by default.

    Args:
        parts: name in the address -> words.
    """
    return address.choose(
        st.segmented_control,
        say("Part of the page"),
        list(parts),
        name="part",
        default=next(iter(parts)),
        format_func=parts.__getitem__,
        label_visibility="collapsed",
    )


def sidebar_note(words: str) -> None:
    """A grey line at the end of the sidebar."""
    with st.sidebar:
        tables.show(Markup(f'<p class="caption">{tables.escaped(words)}</p>'))


# Answers, remembered


def answer(view: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """A view's frozen answer from the store in force, remembered until the store changes.

    Until it is there, its room is held where nothing stands yet.
    """
    room = st.empty()
    with room:
        tables.show(WAITING)
    found: T = _answer(
        view,
        f"{view.__module__}.{view.__qualname__}",
        source.generation() or "",
        arguments,
        tuple(sorted(options.items())),
    )
    room.empty()
    return found


@st.cache_resource(max_entries=200, show_spinner=False)
def _answer(
    _view: Callable[..., Any],
    name: str,
    generation: str,
    arguments: tuple[Any, ...],
    options: tuple[tuple[str, Any], ...],
) -> Any:
    return _view(source.open_source(), *arguments, **dict(options))


def store() -> Any:
    """The store in force, for what must not be remembered."""
    return source.open_source()


# Words


def takeaway(sentence: Sentence) -> None:
    """The sentence that answers the page's question, its surprising half in bold."""
    bold, rest = tables.escaped(sentence.bold), tables.escaped(sentence.rest)
    tables.show(Markup(f'<p class="takeaway"><strong>{bold}</strong> {rest}</p>'))


def caption(words: str, *, measures: Sequence[MeasureLabel] = (), more: Sequence[tuple[str, str]] = ()) -> None:
    """The grey line under it (what is drawn, n, caveat), with the definitions behind a question mark.

    Args:
        words: the line.
        measures: what the question mark defines.
        more: further terms with their definitions.
    """
    definitions = [*((measure.label, _definition(measure)) for measure in measures), *more]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        grey(words, width="content")
        if definitions:
            with st.popover("?", type="tertiary", help=say("What the numbers mean")):
                tables.show(_glossary(definitions))
                go_to(METHOD, say("All definitions"), **address.everything())


def _glossary(terms: Sequence[tuple[str, str]]) -> Markup:
    return Markup(
        "<dl>"
        + "".join(f"<dt>{tables.escaped(term)}</dt><dd>{tables.escaped(text)}</dd>" for term, text in terms)
        + "</dl>"
    )


def _definition(measure: MeasureLabel) -> str:
    mean = "Every query weighs the same." if measure.aggregate == "pooled" else "Every query language weighs the same."
    if "language" in measure.definition.split(". ")[-1]:
        mean = ""
    return f"{measure.definition} {mean} Source: {measure.source}."


def grey(words: str, *, width: Width = "stretch") -> None:
    """One line in the secondary colour."""
    tables.show(Markup(f'<p class="caption">{tables.escaped(words)}</p>'), width=width)


def trouble(error: BabelscopeError) -> None:
    """An error meant for people, as its one sentence, with a way on."""
    st.error(tables.literal(capitalised(str(error))))
    go_to(OVERVIEW, say("Open the Overview afresh"))


def no_systems(frame: Frame) -> NoReturn:
    """What a page says that has no system to show, and what to do about it; stops the page."""
    if address.many("systems") == ():
        nothing(say("No system is chosen."), next_step=say(glossary.CHOOSE_SYSTEM))
    elif first_start.cut_short():
        first_start.show()
    else:
        tasks = "".join(f" --task {task.name}" for task in frame.tasks)
        command = f"python -m analysis run --benchmark {frame.benchmark.address}{tasks} --systems all"
        nothing(say("No system has run on this task yet."), next_step=say("In a terminal: {command}", command=command))
        go_to(DATA, say("Or run systems from here →"), **shared_choices(), part="run")
    st.stop()


def need_rankings(frame: Frame, what: str) -> None:
    """Say why a page has no answer for imported scores or published figures, and stop it there.

    Args:
        frame: what the sidebar chose.
        what: as in "language routes need rankings".
    """
    need_values(frame, what)
    if any(task.n_documents for task in frame.tasks):
        return
    nothing(
        say("This benchmark has per-query scores only: {what}.", what=say(what)),
        next_step=say("Overview, Fairness and Significance show the imported scores."),
    )
    st.stop()


def need_values(frame: Frame, what: str) -> None:
    """Say why a page has no answer where there are published figures only, and stop it there.

    Args:
        frame: what the sidebar chose.
        what: as in "fairness needs the values of each query".
    """
    only = all(task.published_only for task in frame.tasks)
    if not only and (frame.measured or not frame.systems):
        return
    words = (
        say("This benchmark has published figures only: {what}.", what=say(what))
        if only
        else say("Of the chosen systems only published figures are known: {what}.", what=say(what))
    )
    nothing(words, next_step=say("Overview and Language routes show the published figures."))
    st.stop()


def nothing(words: str, *, next_step: str) -> None:
    """What a page says where there is nothing to show, and what to do about it."""
    with st.container(border=True):
        tables.show(Markup(f'<p class="takeaway"><strong>{tables.escaped(words)}</strong></p>'))
        grey(next_step)


# Ways on


def go_to(link: PageLink, words: str, /, **parameters: str) -> None:
    """A link to another page that carries its choices along."""
    try:
        st.page_link(link.script, label=words, query_params=parameters)
    except StreamlitAPIException:  # the page runs alone, without the menu of the app
        tables.show(Markup(f'<a href="{href(link, **parameters)}" target="_self">{tables.escaped(words)}</a>'))


def href(link: PageLink, /, **parameters: str) -> str:
    """The same as an address relative to the page, escaped for HTML."""
    return f"{link.address}?{urlencode(parameters)}".replace("&", "&amp;")


def shared_choices() -> dict[str, str]:
    """The parameters that every page understands."""
    return {name: value for name, value in address.everything().items() if name in CHOICES}


# Charts and numbers


def chart(figure: Any, *, key: str, alt: str, clicked: Callable[[list[str]], None] | None = None) -> None:
    """A figure in our own colours, with a download as SVG and, where asked, clicks.

    Args:
        figure: from ``analysis.charts``.
        key: its name on the page, which keeps zoom and selection.
        alt: what it shows, for those who cannot see it.
        clicked: called with the ``customdata`` of the mark that was clicked.
    """
    if clicked is None:
        st.plotly_chart(figure, key=key, theme=None, config=CHART, alt=alt)
        return

    def selected() -> None:
        points = st.session_state[key].selection.points
        if points:
            st.session_state[f"{key}-last"] = list(points[0]["customdata"])
        if again := st.session_state.get(f"{key}-last"):  # a second click on a mark takes its selection away
            clicked(again)

    st.plotly_chart(figure, key=key, theme=None, config=CHART, alt=alt, on_select=selected, selection_mode="points")


def download(words: str, header: Sequence[str], rows: Sequence[Sequence[object]], *, file: str) -> None:
    """A button that hands over the numbers shown, unrounded."""
    _download(words, tables.as_csv(header, rows), file=file)


def download_later(words: str, table: Callable[[], Table], *, file: str) -> None:
    """The same of what is long: its header and rows are put together once somebody asks for them."""
    _download(words, lambda: tables.as_csv(*table()), file=file)


def download_text(words: str, text: str, *, file: str) -> None:
    """A button that hands over a text, such as one in Markdown."""
    _download(words, text.encode(), file=file, mime="text/markdown")


def download_text_later(words: str, text: Callable[[], str], *, file: str, mime: str = "text/markdown") -> None:
    """The same of what is long: it is put together once somebody asks for it."""
    _download(words, lambda: text().encode(), file=file, mime=mime)


def _download(words: str, data: bytes | Callable[[], bytes], *, file: str, mime: str = "text/csv") -> None:
    st.download_button(words, data, file_name=file, mime=mime, on_click="ignore", key=f"download-{file}")
