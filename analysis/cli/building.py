"""What a module must offer that knows one build from licensed sources, and what such modules share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol, cast

from analysis.cli import output
from analysis.errors import InputError
from analysis.jobs.build_mmed import BUILT
from analysis.model import Benchmark, Progress
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


def typed(options: argparse.Namespace, names: Iterable[str]) -> list[str]:
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


def given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Of some flags those that are given, by name; the others are as usual."""
    said = {name: getattr(options, name) for name in names}
    return {name: value for name, value in said.items() if value is not None}


def listed(text: str) -> tuple[str, ...]:
    """Words separated by commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def tell(benchmark: Benchmark, *, without: Collection[str] = ()) -> None:
    """Say what a reader must know of a benchmark, and print how its tasks were made as JSON, without some facts."""
    for note in benchmark.notes:
        print(note, file=sys.stderr)
    built = cast("Mapping[str, Mapping[str, Any]]", benchmark.settings[BUILT])
    output.write_json(
        {task: {name: fact for name, fact in facts.items() if name not in without} for task, facts in built.items()}
    )
