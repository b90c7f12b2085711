"""What a module must offer that knows one build from licensed sources."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Protocol

from analysis.errors import InputError
from analysis.model import Progress
from analysis.paths import Cache
from analysis.systems.weights import LoadOptions

Make = Callable[[Cache, LoadOptions, Progress], str | None]
"""Builds a benchmark, prints what became of its sources as JSON, and returns its address; None: nothing was stored."""


class Build(Protocol):
    """A module that knows one build."""

    @property
    def FLAGS(self) -> tuple[str, ...]:  # noqa: N802
        """Names of the flags it takes: shared ones and its own."""

    def arguments(self, group: argparse._ArgumentGroup) -> None:
        """Add the flags that are its own."""

    def ready(self, options: argparse.Namespace) -> Make:
        """Check its flags; InputError for a wrong value or a source that is not named."""


def flag(name: str) -> str:
    """A flag as it is typed."""
    return f"--{name.replace('_', '-')}"


def given(options: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """The flags among these that were typed; a 0 was."""
    values = {name: getattr(options, name) for name in names}
    return [flag(name) for name, value in values.items() if value is not None and value is not False and value != []]


def need(options: argparse.Namespace, *names: str) -> None:
    """Refuse a build whose sources are not all named.

    Raises:
        InputError: one is not.
    """
    for name in names:
        if getattr(options, name) is None:
            raise InputError(f"build {options.name} needs {flag(name)}: docs/licensed-sources.md says what to download")
