"""The hostile benchmark, stored once a test run."""

import pytest

from analysis.paths import Cache
from tests.report.hostile import hostile_store


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    return hostile_store(Cache(tmp_path_factory.mktemp("hostile")))
