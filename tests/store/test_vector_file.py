"""Vectors in a file without a name: what an array would give, and a disk that is full."""

import hashlib

import numpy as np
import pytest

from analysis.errors import StoreError
from analysis.store import vector_file
from analysis.store.embeddings import EmbeddingStore
from analysis.store.vector_file import VectorFile, blocks, checksum, room, taken

ROWS = np.arange(35, dtype=np.float32).reshape(7, 5)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(vector_file, "HELD", 0)
    monkeypatch.setattr(vector_file, "BLOCK", 4 * 5 * 3)


@pytest.fixture
def file(tmp_path):
    made = room(tmp_path, ROWS.shape)
    made[np.array([6, 1, 3])] = ROWS[[6, 1, 3]]
    made[4:6] = ROWS[4:6]
    made[np.array([2, 0])] = ROWS[[2, 0]]
    return made


def test_rows_are_read_as_from_an_array(file, tmp_path):
    assert isinstance(file, VectorFile)
    assert (len(file), file.shape, file.nbytes) == (7, (7, 5), 140)
    assert [block.stop - block.start for block in blocks(file)] == [3, 3, 1]
    for part in (slice(0, 7), slice(2, 5), slice(6, 99), slice(3, 3)):
        assert np.array_equal(file[part], ROWS[part])
    assert list(tmp_path.iterdir()) == []


def test_few_vectors_stay_in_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(vector_file, "HELD", 140)
    assert isinstance(room(tmp_path, ROWS.shape), np.ndarray)


def test_some_rows_of_several_parts_and_the_checksum_of_all(file):
    parts = [file, ROWS[:2], np.zeros((0, 0), np.float32)]
    whole = np.concatenate([ROWS, ROWS[:2]])
    assert np.array_equal(taken(parts, np.array([0, 2, 3, 6, 8])), whole[[0, 2, 3, 6, 8]])
    assert checksum(parts) == hashlib.sha256(whole.tobytes()).hexdigest()


def test_a_disk_without_room_is_one_sentence(monkeypatch, tmp_path):
    def full(descriptor, size):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vector_file, "reserve", full)
    with pytest.raises(StoreError, match=r"no room for 0.0 GB of vectors: .*No space left"):
        VectorFile(tmp_path, ROWS.shape)


def test_stored_vectors_come_into_a_file_in_the_order_of_the_texts(tmp_path):
    store = EmbeddingStore(tmp_path / "embeddings")
    texts = [f"text {number}" for number in range(7)]
    for chunk in ([5, 0, 3], [1], [6, 2, 4]):
        store.put("space", [texts[place] for place in chunk], vectors=ROWS[chunk])
    asked = [*texts, texts[3]]
    found = store.rows("space", asked, folder=tmp_path)
    assert isinstance(found, VectorFile)
    assert np.array_equal(found[:], store.get("space", asked))
    assert np.array_equal(found[7:], ROWS[3:4])
    assert store.rows("space", [], folder=tmp_path).shape == (0, 0)
