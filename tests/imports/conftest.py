"""What the tests of importers share."""

import pytest


@pytest.fixture
def file(tmp_path):
    """Write a file for an importer; its name decides nothing."""

    def made(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return made
