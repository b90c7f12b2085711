"""A cache folder with a name that SQL and globs would trip over."""

import pytest

from analysis.paths import Cache


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "rank=3 it's a [cache] 'folder' *" / "кэш")
