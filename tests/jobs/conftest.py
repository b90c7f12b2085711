"""What tests of jobs share."""

import pytest

from analysis.cli import main


@pytest.fixture
def command(capsys):
    def call(*arguments, cache):
        code = main([*map(str, arguments), "--cache", str(cache)])
        return (code, *capsys.readouterr())

    return call
