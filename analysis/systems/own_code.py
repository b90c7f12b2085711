"""Python functions as encoders or scorers: found without running anything, imported only where that was asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import SystemLoadError

Function = Callable[..., Any]
"""Of the reader's own: ``(texts, role)``, the role ``query`` or ``document``, to one vector a text; or ``(queries,
documents)``, of equal length, to one score a pair."""


def locate(function: str, folder: str | None) -> Path | None:
    """The file of the module in ``module:function``, without importing it or a package above it; None without one.

    Args:
        function: the module, dotted, and the function in it.
        folder: where the module is; None where Python finds it.
    """
    places = [str(Path(folder).expanduser())] if folder else None
    parts = function.partition(":")[0].split(".")
    spec = None
    for place in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: place + 1]), places)
        places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(spec.origin) if spec and spec.origin else None


def vectors(name: str, function: Function, texts: Sequence[str], role: str, *, dimension: int) -> NDArray[np.float64]:
    """What the function makes of the texts, ``(n, dimension)``.

    Raises:
        SystemLoadError: it raises, or returns something else.
    """
    return _returned(name, function, list(texts), role, shape=(len(texts), dimension))


def scores(name: str, function: Function, queries: Sequence[str], documents: Sequence[str]) -> NDArray[np.float64]:
    """What the function makes of each query with the document in its place, ``(n,)``.

    Raises:
        SystemLoadError: it raises, or returns something else.
    """
    return _returned(name, function, list(queries), list(documents), shape=(len(queries),))


def _returned(name: str, function: Function, *arguments: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    expected = f"expected {shape} numbers"
    try:
        found = np.asarray(function(*arguments))
    except Exception as error:  # whatever the reader's code raises becomes a sentence
        raise SystemLoadError(f"{name}: its function raised {_words(error)}") from error
    if found.dtype.kind not in "fiu":
        raise SystemLoadError(f"{name}: its function returned {found.dtype} values: {expected}")
    if found.shape != shape:
        raise SystemLoadError(f"{name}: its function returned the shape {found.shape}: {expected}")
    return found.astype(np.float64)


def imported(name: str, function: str, folder: str | None, *, allowed: bool) -> Function:
    """The function itself; its module runs now.

    Args:
        name: of the system, for messages.
        function: the module, dotted, and the function in it.
        folder: where the module is; None where Python finds it.
        allowed: whoever started this said that it may run.

    Raises:
        SystemLoadError: it may not run; or the module is not there, does not import, or has no such function.
    """
    if not allowed:
        raise SystemLoadError(f"{name}: it runs code of your own ({function}); read it, then pass --allow-code")
    file = locate(function, folder)
    module_name, _, attribute = function.partition(":")
    if file is None:
        raise SystemLoadError(f"{name}: no module {module_name}{f' in {folder}' if folder else ''}")
    if folder and (place := str(Path(folder).expanduser())) not in sys.path:
        sys.path.insert(0, place)  # stays there: the function may import more when it is called
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # importing runs the reader's code
        raise SystemLoadError(f"{name}: importing {module_name} raised {_words(error)}") from error
    if Path(module.__file__ or "").resolve() != file.resolve():
        raise SystemLoadError(f"{name}: {module_name} is {module.__file__}, not {file}; expected a name of its own")
    found = getattr(module, attribute, None)
    if not callable(found):
        raise SystemLoadError(f"{name}: {file} has no function {attribute}")
    called: Function = found
    return called


def _words(error: Exception) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
