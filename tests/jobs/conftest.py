"""What the tests of jobs share."""

import pytest

from analysis.cli import main


@pytest.fixture
def command(capsys):
    """A command over a cache folder: its exit code, what it printed, and what it said."""

    def call(*arguments, cache):
        code = main([*map(str, arguments), "--cache", str(cache)])
        return (code, *capsys.readouterr())

    return call
