"""Figures and the library that draws them, for a page without a server."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

PASSIVE: dict[str, Any] = {"clickmode": "none", "uirevision": None}
"""A page that answers no clicks."""


def library() -> str:
    """The JavaScript of Plotly, about 5 MB."""
    return str(get_plotlyjs())


def template(figure: go.Figure) -> dict[str, Any]:
    """What every figure of the project has in common."""
    return dict(json.loads(figure.to_json())["layout"].get("template", {}))


def drawing(figure: go.Figure) -> dict[str, Any]:
    """Data and layout of a figure as JSON knows them, without the common template and without clicks."""
    found = json.loads(figure.to_json())
    layout = {name: value for name, value in found["layout"].items() if name != "template"}
    return {"data": found["data"], "layout": layout | PASSIVE}
