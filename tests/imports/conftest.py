"""What the tests of importers share."""

import pytest

from analysis.paths import Cache
from tests.hand_made import state
from tests.imports.imported import GOOD, stored, written


@pytest.fixture
def file(tmp_path):
    """Write a file for an importer; its name decides nothing."""

    def made(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return made


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A store that no fault may touch."""
    root = tmp_path_factory.mktemp("kept")
    cache = Cache(root / "cache")
    stored(cache, written(root / "good", GOOD))
    return cache, state(cache.root)
