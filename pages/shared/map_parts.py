"""The embedding map: its fields, the picture, and what is listed of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

import streamlit as st

from analysis import jobs, probe
from analysis.charts import embedding_map as charts
from analysis.views import embedding_map, map_lists
from analysis.views.embedding_map import Drawable, MapView
from analysis.views.map_colours import COLOURS, CONCEPT, CONCEPTS, DIFFERENCE, ERROR, LANGUAGE
from analysis.views.selection import SystemLabel, capitalised
from pages.shared import address, job_box, ui
from pages.shared.map_lists import key, point
from pages.shared.ui import Frame

CORNERS = 40  # of an outline in the address
CHART = "map"
HELP = (
    f"Up to {CONCEPTS} have a colour and a shape of their own; of one alone those nearest to it have too. Thousands "
    "could not be told apart, so the others are grey."
)
CAPTIONS = {
    CONCEPT: "Filled marks are documents, open ones queries; each concept has a colour and a shape",
    ERROR: "Dots are documents, diamonds queries; the emptier and larger, the more is missed",
    DIFFERENCE: "Dots are documents, diamonds queries; the larger, the farther apart the two systems",
}
LASSO = {**ui.CHART, "modeBarButtonsToRemove": ["zoomIn", "zoomOut", "autoScale"], "scrollZoom": True}


class Asked(NamedTuple):
    """What is drawn."""

    systems: tuple[str, ...]
    colour: str
    dimensions: int
    turn: int

    @property
    def remembered(self) -> str:
        """The colour in which the map is worked out; concepts are coloured afterwards."""
        return LANGUAGE if self.colour == CONCEPT else self.colour


def choose(known: Sequence[Drawable]) -> Asked | None:
    """The fields; None where nothing has been drawn."""
    drawn = {each.system.name: each for each in known if each.dimensions}
    if not drawn:
        return None
    titles = {name: each.system.short for name, each in drawn.items()}
    first, second, third, fourth = st.columns([1, 1, 1, 1])
    with first:
        a = address.select("System", titles, name="system", clears=("area", "point"))
    dimensions, turn = 2, 0
    with fourth:
        sizes = {str(n): f"{n} dimensions" for n in drawn[a].dimensions}
        if len(sizes) > 1 or "2" not in sizes:
            dimensions = int(address.select("Drawn in", sizes, name="dimensions", clears=("area",)))
    others = {name: words for name, words in titles.items() if name != a and dimensions in drawn[name].dimensions}
    with second:
        b = address.select("Beside it", {"": "nothing", **others}, name="beside", clears=("area",)) if others else ""
    with third:
        offered = {key: capitalised(words) for key, words in COLOURS.items() if b or key != DIFFERENCE}
        colour = address.select("Colour", offered, name="colour")
    if dimensions == 3:
        turn = int(
            address.choose(st.select_slider, "Turned by", [str(n) for n in range(0, 360, 15)], name="turn", default="0")
        )
    return Asked((a, b) if b else (a,), colour, dimensions, turn)


def caption(view: MapView) -> str:
    """What is drawn, how many, and how it was made."""
    marks = CAPTIONS.get(view.colour, "Dots are documents, diamonds queries")
    shown = f"{view.n:,} of {view.n_texts:,} texts" if view.n < view.n_texts else f"{view.n:,} texts"
    live = "" if len(view.live) == view.n else f" · {len(view.live):,} of them can be pointed at"
    made = dict.fromkeys(picture.made for picture in view.pictures)
    return f"{marks} · {shown}{live} · {'; '.join(made)}"


def coloured(view: MapView, asked: Asked) -> MapView:
    """The map in the colours of the chosen concepts, where colours stand for concepts."""
    return embedding_map.by_concept(view, _concepts(view)) if asked.colour == CONCEPT else view


def _concepts(view: MapView) -> tuple[str, ...]:
    """The concepts that the address names, as many as can be told apart."""
    return tuple(map(unquote, address.some(_families(view), name="concept")[:CONCEPTS]))


def _families(view: MapView) -> list[str]:
    """All concepts, as the address lists them."""
    return sorted(map(address.listable, dict.fromkeys(view.family.tolist())))


def joined(view: MapView) -> tuple[str, ...]:
    """The concepts whose texts are brought out and joined, and whether all are."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    by_concept = view.colour == CONCEPT
    with left:
        address.choose_some(
            st.multiselect,
            "Concepts",
            _families(view),
            name="concept",
            most=CONCEPTS,
            format_func=unquote,
            placeholder="Choose one to see its translations",
            help=HELP if by_concept else None,
        )
    with right:
        address.choose(
            st.segmented_control,
            "Join translations",
            ["", "all"],
            name="join",
            default="",
            format_func=lambda name: "all concepts" if name else "the chosen ones",
        )
    return _concepts(view) or ((view.groups[0].key,) if by_concept else ())


def chosen_rows(view: MapView) -> tuple[int, ...]:
    """The rows inside the outline that the address has."""
    corners = _corners()
    if corners is None or corners[0] >= len(view.pictures):
        return ()
    return map_lists.selected(view, picture=corners[0], corners=corners[1])


def _corners() -> tuple[int, list[tuple[float, float]]] | None:
    """The picture and the outline, where the address has one that can be read."""
    parts = address.many("area") or ()
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return None
    if len(numbers) < 7 or len(numbers) % 2 == 0 or numbers[0] not in {0, 1}:
        return None
    return int(numbers[0]), list(zip(numbers[1::2], numbers[2::2], strict=True))


def live(frame: Frame, view: MapView) -> list[tuple[float, float]]:
    """The field for a query of one's own, and where it stands in each picture; empty while nothing is asked."""
    here = {label.name for label in ui.answer(probe.encoders, frame.benchmark.address)}
    if not all(picture.system.name in here and picture.k for picture in view.pictures):
        return []
    words = "Place a query of your own"
    text = address.write(st.text_input, words, name="text", default="", placeholder="in any language")
    if not text.strip():
        return []
    found = []
    with st.spinner("Encoding it. The first query loads the encoder …"):
        for place, picture in enumerate(view.pictures):
            answer = ui.answer(
                probe.ask,
                text,
                system=picture.system.name,
                benchmark=frame.benchmark.address,
                task=frame.tasks[0].name,
                k=picture.k,
            )
            near = {hit.document_id: hit.score for hit in answer.hits}
            found.append(map_lists.placed(ui.store(), frame.selection, view, picture=place, near=near))
    ui.grey(f"The star stands amid the {view.pictures[0].k} documents that are nearest to it in the space.")
    return [each for each in found if each is not None] if None not in found else []


def draw(
    view: MapView,
    *,
    rows: Sequence[int],
    families: Sequence[str],
    placed: Sequence[tuple[float, float]] = (),
    dark: bool,
) -> None:
    """The picture; an outline or a click is written into the address."""
    chosen = point(view)
    out = [*rows, *([chosen] if chosen is not None else [])]
    figure = charts.embedding_map(
        view, selected=out, families=families, joined=address.get("join") == "all", placed=placed, dark=dark
    )

    def selected() -> None:
        found = st.session_state[CHART].selection
        for kind in ("lasso", "box"):
            for outline in found.get(kind) or ():
                _keep(kind, outline)
                return
        if found.points:
            (row,) = found.points[0]["customdata"]
            address.put(point=key(view, int(row)), area=None)

    st.plotly_chart(
        figure,
        key=CHART,
        theme=None,
        config=LASSO,
        alt=f"{view.takeaway.bold} {view.takeaway.rest}",
        on_select=selected,
        selection_mode=("points", "box", "lasso"),
    )


def _keep(kind: str, outline: dict[str, object]) -> None:
    """An outline in the address: the picture, then its corners."""
    x, y = (list(map(float, outline[name])) for name in ("x", "y"))  # type: ignore[call-overload]
    if kind == "box":
        x, y = [x[0], x[1], x[1], x[0]], [y[0], y[0], y[1], y[1]]
    step = max(1, -(-len(x) // CORNERS))
    picture = "1" if str(outline.get("xref", "x")).endswith("2") else "0"
    corners = [f"{number:.3f}" for pair in zip(x[::step], y[::step], strict=True) for number in pair]
    address.put(area=[picture, *corners], point=None)


def clear() -> None:
    """Nothing is chosen any more."""
    address.put(area=None, point=None)


def offer(frame: Frame, known: Sequence[Drawable], running: Sequence[jobs.Job]) -> None:
    """What can still be drawn, as a job; nothing while one of ``running`` draws."""
    missing = [each.system for each in known if not each.dimensions and each.reason is None]
    if any(job.command == "map" for job in running):
        return
    if missing:
        _offer(frame, missing, first=not any(each.dimensions for each in known))
    flat = [each.system for each in known if each.dimensions == (2,) and each.by_job]
    if flat:
        act = _draw(frame, flat, dimensions=3)
        job_box.button("Draw it in three dimensions too", act, frame.tasks[0].name, key="map-deep")
    never: dict[str, list[str]] = {}
    for each in known:
        if each.reason:
            never.setdefault(each.reason, []).append(each.system.short)
    for reason, names in never.items():
        ui.grey(f"Cannot be drawn: {', '.join(names)} ({reason}).")


def _offer(frame: Frame, missing: Sequence[SystemLabel], *, first: bool) -> None:
    names = ", ".join(label.short for label in missing)
    with st.container(border=True):
        if first:
            job_box.explain("Nothing has been drawn on this task yet.", kind="takeaway")
        ui.grey(
            f"{names}: a job places the texts so that near ones stay near (UMAP). Texts that were encoded are not "
            "encoded again."
        )
        job_box.button(
            "Draw the map", _draw(frame, missing, dimensions=2), frame.tasks[0].name, key="map-draw", primary=True
        )


def _draw(frame: Frame, systems: Sequence[SystemLabel], *, dimensions: int) -> Callable[[str], None]:
    """What a button does that draws some systems."""
    names = [label.name for label in systems]
    return job_box.on_task("map", benchmark=frame.benchmark.address, system=names, dimensions=str(dimensions))
