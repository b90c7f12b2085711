"""The embedding map: its fields, the picture, and what is listed of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from analysis import jobs, probe
from analysis.charts import embedding_map as charts
from analysis.views import embedding_map
from analysis.views.embedding_map import COLOURS, OUTCOMES, Drawable, Listed, MapView, Near
from analysis.views.selection import SystemLabel, capitalised
from pages.shared import address, job_box, links, tables, ui
from pages.shared.tables import Cell, Markup
from pages.shared.ui import Frame

SHOWN = 50  # rows of a list; all are in its file
CORNERS = 40  # of an outline in the address
CHART = "map"
LASSO = {**ui.CHART, "modeBarButtonsToRemove": ["zoomIn", "zoomOut", "autoScale"], "scrollZoom": True}


class Asked(NamedTuple):
    """What is drawn."""

    systems: tuple[str, ...]
    colour: str
    dimensions: int
    turn: int


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
        colour = address.select("Colour", {key: capitalised(words) for key, words in COLOURS.items()}, name="colour")
    if dimensions == 3:
        turn = int(
            address.choose(st.select_slider, "Turned by", [str(n) for n in range(0, 360, 15)], name="turn", default="0")
        )
    return Asked((a, b) if b else (a,), colour, dimensions, turn)


def caption(view: MapView) -> str:
    """What is drawn, how many, and how it was made."""
    shown = f"{view.n:,} of {view.n_texts:,} texts" if view.n < view.n_texts else f"{view.n:,} texts"
    live = "" if len(view.live) == view.n else f" · {len(view.live):,} of them can be pointed at"
    made = dict.fromkeys(picture.made for picture in view.pictures)
    return f"Dots are documents, diamonds queries · {shown}{live} · {'; '.join(made)}"


def concept(view: MapView) -> str | None:
    """The concept whose texts are joined, and whether all are."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    families = sorted(dict.fromkeys(view.family.tolist()))
    with left:
        family: str = address.choose(
            st.selectbox,
            "Concept",
            ["", *families],
            name="concept",
            default="",
            format_func=lambda name: name or "choose one to see its translations",
        )
    with right:
        address.choose(
            st.segmented_control,
            "Join translations",
            ["", "all"],
            name="join",
            default="",
            format_func=lambda name: "all concepts" if name else "the chosen one",
        )
    return family or None


def chosen_rows(view: MapView) -> tuple[int, ...]:
    """The rows inside the outline that the address has."""
    corners = _corners()
    if corners is None or corners[0] >= len(view.pictures):
        return ()
    return embedding_map.selected(view, picture=corners[0], corners=corners[1])


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
            found.append(embedding_map.placed(ui.store(), frame.selection, view, picture=place, near=near))
    ui.grey(f"The star stands amid the {view.pictures[0].k} documents that are nearest to it in the space.")
    return [each for each in found if each is not None] if None not in found else []


def draw(
    view: MapView,
    *,
    rows: Sequence[int],
    family: str | None,
    placed: Sequence[tuple[float, float]] = (),
    dark: bool,
) -> None:
    """The picture; an outline or a click is written into the address."""
    point = _point(view)
    out = [*rows, *([point] if point is not None else [])]
    figure = charts.embedding_map(
        view, selected=out, family=family, joined=address.get("join") == "all", placed=placed, dark=dark
    )

    def selected() -> None:
        found = st.session_state[CHART].selection
        for kind in ("lasso", "box"):
            for outline in found.get(kind) or ():
                _keep(kind, outline)
                return
        if found.points:
            (row,) = found.points[0]["customdata"]
            address.put(point=_key(view, int(row)), area=None)

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


def _key(view: MapView, row: int) -> str:
    return f"{'q' if view.is_query[row] else 'd'}{view.position[row]}"


def _point(view: MapView) -> int | None:
    """The row of the text that the address names."""
    asked = address.get("point") or ""
    if asked[:1] not in {"q", "d"} or not asked[1:].isdecimal():
        return None
    hits = ((view.position == int(asked[1:])) & (view.is_query == (asked[0] == "q"))).nonzero()[0]
    return int(hits[0]) if len(hits) else None


def clear() -> None:
    """Nothing is chosen any more."""
    address.put(area=None, point=None)


def measures(view: MapView, *, dark: bool) -> Markup:
    """What the space itself says, beside its picture."""
    names = {
        "same_language": "Neighbours in own language",
        "translation_near": "Translation near",
        "alignment": "Alignment",
        "probe_accuracy": "Language told",
        "silhouette": "Silhouette by language",
    }
    rows: list[Sequence[Cell] | str] = [
        [
            tables.chip(picture.system, dark=dark),
            *(tables.spread(picture.numbers.get(key), words) for key, words in names.items()),
            *(_two(value) for value in (picture.skewness, picture.trustworthiness, picture.continuity)),
        ]
        for picture in view.pictures
    ]
    columns = {"System": "text"} | dict.fromkeys(names.values(), "number")
    columns |= dict.fromkeys(("Hubness", "Trustworthiness", "Continuity"), "number")
    return tables.table(columns, rows, caption="What the space says, and how far the picture can be trusted")


def _two(value: float | None) -> str:
    return "" if value is None else tables.signed(value)


def selection_list(frame: Frame, view: MapView, rows: Sequence[int]) -> None:
    """The texts inside the outline."""
    if not rows:
        ui.grey("Draw around points to list them; click one for its neighbours in the space itself.")
        return
    st.header(f"{len(rows):,} texts chosen", anchor=False)
    every = embedding_map.listed(ui.store(), frame.selection, view, rows)
    first = every[:SHOWN]
    if len(first) < len(rows):
        ui.grey(f"The first {len(first):,}; all are in the file.")
    tables.show(_texts(view, first, dark=frame.dark))
    with st.container(horizontal=True, vertical_alignment="center"):
        header = ["item", "id", "language", "family", "outcome", "text"]
        lines = [[_kind(one), one.id, one.language, one.family, one.outcome, one.text] for one in every]
        ui.download("CSV", header, lines, file=f"map-{view.task.name}.csv")
        queries = [str(view.position[row]) for row in rows if view.is_query[row]]
        if queries:
            words = f"{len(queries):,} queries in the Query explorer →"
            ui.go_to(ui.QUERIES, words, **ui.shared_choices(), among=",".join(queries))


def _kind(text: Listed) -> str:
    return "query" if text.is_query else "document"


def _to_point(view: MapView, text: Listed, *, dark: bool) -> Markup:
    """A text that becomes the chosen one when it is clicked."""
    words = tables.escaped(text.text or text.id, language=text.language)
    return Markup(tables.badge(text.language, dark=dark) + links.link(words, point=_key(view, text.row)))


def _texts(view: MapView, texts: Sequence[Listed], *, dark: bool) -> Markup:
    rows: list[Sequence[Cell] | str] = [
        [_to_point(view, text, dark=dark), _kind(text), tables.escaped(text.family), OUTCOMES[text.outcome]]
        for text in texts
    ]
    columns = {"Text": "passage", "Kind": "text", "Concept": "text", "What becomes of it": "text"}
    return tables.table(columns, rows, caption="Texts")


def _nearest(view: MapView, found: Sequence[Near], *, dark: bool) -> Markup:
    rows: list[Sequence[Cell] | str] = [
        [f"{near.cosine:.2f}", _to_point(view, near.text, dark=dark), tables.escaped(near.text.family)]
        for near in found
    ]
    return tables.table({"Cosine": "number", "Text": "passage", "Concept": "text"}, rows, caption="Nearest texts")


def neighbourhood(frame: Frame, view: MapView) -> None:
    """The nearest texts of the chosen one, in the space of each encoder."""
    row = _point(view)
    if row is None:
        return
    (text,) = embedding_map.listed(ui.store(), frame.selection, view, [row])
    st.header("Nearest in the space itself", anchor=False)
    tables.show(tables.passage(text.text, language=text.language, dark=frame.dark))
    if text.is_query:
        ui.go_to(ui.QUERIES, "Open it in the Query explorer →", **ui.shared_choices(), query=text.id)
    for place, (picture, column) in enumerate(zip(view.pictures, st.columns(len(view.pictures)), strict=True)):
        with column:
            st.subheader(tables.literal(picture.system.short), anchor=False)
            found = embedding_map.nearest(ui.store(), frame.selection, view, picture=place, row=row)
            if found:
                tables.show(_nearest(view, found, dark=frame.dark))
            else:
                ui.grey("Only coordinates are known of it, not the vectors.")


def displaced(frame: Frame, view: MapView) -> None:
    """The texts that the two encoders place farthest apart."""
    if not view.displaced:
        return
    first, second = (picture.system.short for picture in view.pictures)
    st.header("Placed most differently", anchor=False)
    ui.grey(tables.literal(
        f"{second}'s picture is turned, mirrored and scaled onto {first}'s; distances in radii of the picture."
    ))  # fmt: skip
    texts = embedding_map.listed(ui.store(), frame.selection, view, [each.row for each in view.displaced])
    rows: list[Sequence[Cell] | str] = [
        [f"{each.distance:.2f}", _to_point(view, text, dark=frame.dark), _kind(text)]
        for each, text in zip(view.displaced, texts, strict=True)
    ]
    columns = {"Distance": "number", "Text": "passage", "Kind": "text"}
    tables.show(tables.table(columns, rows, caption="Texts that are placed most differently"))


def offer(frame: Frame, known: Sequence[Drawable]) -> None:
    """What can still be drawn, as a job."""
    missing = [each.system for each in known if not each.dimensions and each.reason is None]
    never = [each.system.short for each in known if each.reason]
    if any(job.command == "map" and job_box.runs(job.state) for job in jobs.listed()):
        return
    if missing:
        _offer(frame, missing, first=not any(each.dimensions for each in known))
    flat = [each.system for each in known if each.dimensions == (2,) and each.by_job]
    if flat:
        act = _starts(frame, flat, dimensions=3)
        job_box.button("Draw it in three dimensions too", act, frame.tasks[0].name, key="map-deep")
    if never:
        ui.grey(tables.literal(f"No vector of a text, so nothing to draw: {', '.join(never)}."))


def _offer(frame: Frame, missing: Sequence[SystemLabel], *, first: bool) -> None:
    names = ", ".join(label.short for label in missing)
    with st.container(border=True):
        if first:
            job_box.explain("Nothing has been drawn on this task yet.", kind="takeaway")
        ui.grey(
            f"{names}: a job places the texts so that near ones stay near (UMAP). Texts that were encoded are not "
            "encoded again."
        )
        job_box.button("Draw the map", _starts(frame, missing), frame.tasks[0].name, key="map-draw", primary=True)


class _starts:  # noqa: N801 (reads as a verb)
    """Starts the job on one task of a benchmark."""

    def __init__(self, frame: Frame, systems: Sequence[SystemLabel], *, dimensions: int = 2) -> None:
        self._options: jobs.Options = {
            "benchmark": frame.benchmark.address,
            "system": [label.name for label in systems],
            "dimensions": str(dimensions),
        }

    def __call__(self, task: str) -> None:
        jobs.launch("map", options={**self._options, "task": task})
