import logging
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from analysis.errors import StoreError
from analysis.store.embeddings import DamageError, EmbeddingStore, Lengths, spans

TEXTS = ["knee pain", "糖尿病", "", "\ud800 lone"]
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def store(tmp_path):
    filled = EmbeddingStore(tmp_path)
    filled.put("space", TEXTS, vectors=VECTORS)
    return filled


def chunks(store, sort="vectors"):
    return sorted(store.folder("space").glob(f"{sort}-*.npz"))


def test_vectors_come_back_in_the_order_asked_for(store):
    asked = [TEXTS[2], TEXTS[0], TEXTS[2], TEXTS[3]]
    for reader in (store, EmbeddingStore(store.root)):
        assert reader.known("space", [*asked, "new"]).tolist() == [True] * 4 + [False]
        assert reader.get("space", asked).tolist() == VECTORS[[2, 0, 2, 3]].tolist()


def test_spaces_are_apart(store):
    assert not store.known("other", TEXTS).any()


def test_vectors_of_several_chunks(store):
    store.put("space", ["a", "b"], vectors=np.ones((2, 3), np.float32))
    assert store.get("space", ["b", TEXTS[1], "a"]).tolist() == [[1, 1, 1], [3, 4, 5], [1, 1, 1]]
    assert len(chunks(store)) == 2


def test_a_known_text_is_not_stored_twice(store):
    store.put("space", [TEXTS[0], "new", "new"], vectors=np.full((3, 3), 9, np.float32))
    assert store.get("space", [TEXTS[0], "new"]).tolist() == [[0, 1, 2], [9, 9, 9]]
    store.put("space", TEXTS, vectors=VECTORS)
    assert [len(np.load(path)["hashes"]) for path in chunks(store)] == [4, 1]


def test_an_unknown_text_is_an_error(store):
    with pytest.raises(StoreError, match="1 of 2 texts have no vectors yet"):
        store.get("space", [TEXTS[0], "new"])


def test_no_texts(store):
    assert store.known("space", []).tolist() == []
    assert store.get("space", []).shape == (0, 0)
    offsets, tokens = store.get_tokens("space", [])
    assert (offsets.tolist(), tokens.shape) == ([0], (0, 0))


def test_token_vectors_come_back_unpadded(store):
    tokens = np.arange(10, dtype=np.float16).reshape(5, 2)
    store.put_tokens("space", ["a", "b", "c"], offsets=np.array([0, 2, 2, 5]), tokens=tokens)
    store.put_tokens("space", ["c", "d"], offsets=np.array([0, 1, 2]), tokens=np.full((2, 2), 7, np.float16))
    assert store.known_tokens("space", ["a", "b", TEXTS[0]]).tolist() == [True, True, False]
    offsets, found = EmbeddingStore(store.root).get_tokens("space", ["d", "c", "b", "a", "c"])
    assert offsets.tolist() == [0, 1, 4, 4, 6, 9]
    assert found.tolist() == [[7, 7], *tokens[2:].tolist(), *tokens[:2].tolist(), *tokens[2:].tolist()]
    assert found.dtype == np.float16


def test_spans():
    assert spans(np.array([3, 9, 5]), np.array([2, 0, 1])).tolist() == [3, 4, 5]


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty"])
def test_a_damaged_chunk_is_set_aside(store, damage, caplog):
    store.put("space", ["sound"], vectors=np.ones((1, 3), np.float32))
    path = chunks(store)[0]
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[content.find(VECTORS.tobytes()) + 5] ^= 1
    path.write_bytes({"truncated": content[:150], "flipped": content, "empty": b""}[damage])
    with caplog.at_level(logging.WARNING):
        again = EmbeddingStore(store.root)
        assert again.known("space", [*TEXTS, "sound"]).tolist() == [False] * 4 + [True]
    assert "is damaged" in caplog.text
    assert path.with_suffix(".damaged").exists()
    again.put("space", TEXTS, vectors=VECTORS)
    assert again.get("space", TEXTS).tolist() == VECTORS.tolist()


def test_no_flipped_byte_is_ever_read_as_a_number(tmp_path):
    """Every byte of a chunk in turn: either the chunk is set aside, or the byte does not matter."""
    store = EmbeddingStore(tmp_path)
    store.put("space", TEXTS, vectors=VECTORS, lengths=Lengths(np.array([1, 2, 3, 4]), 9))
    (path,) = chunks(store)
    sound = path.read_bytes()
    n_found = 0
    for place in range(len(sound)):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x40]) + sound[place + 1 :])
        reader = EmbeddingStore(store.root)
        known = reader.known("space", TEXTS)
        if known.all():
            assert reader.get("space", TEXTS).tolist() == VECTORS.tolist()
        else:
            assert not known.any()
            n_found += 1
    assert n_found > len(sound) / 2


def test_lengths_are_kept_with_vectors_and_told_apart_from_none(store):
    store.put("space", ["a", "b"], vectors=np.ones((2, 3), np.float32), lengths=Lengths(np.array([7, 900]), 512))
    found = EmbeddingStore(store.root).lengths("space", ["b", TEXTS[0], "a"])
    assert (found.tokens.tolist(), found.limit) == ([900, -1, 7], 512)
    assert store.lengths("space", TEXTS).limit == 0


@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_chunk_that_breaks_while_in_use(store, damage):
    store.get("space", TEXTS)
    (path,) = chunks(store)
    content = path.read_bytes()
    place = content.find(VECTORS.tobytes()) + 5
    flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    path.write_bytes({"truncated": b"PK", "flipped": flipped}[damage])
    with pytest.raises(DamageError, match=f"{path} broke while it was in use"):
        store.get("space", TEXTS)
    assert path.with_suffix(".damaged").exists()
    assert not store.known("space", TEXTS).any()


def test_what_another_process_wrote_is_seen(store):
    other = EmbeddingStore(store.root)
    assert not other.known("space", ["late"]).any()
    store.put("space", ["late"], vectors=np.ones((1, 3), np.float32))
    assert other.known("space", ["late"]).all()
    chunks(store)[0].unlink()
    assert other.known("space", [TEXTS[0], "late"]).tolist() == [False, True]


def test_leftovers_of_a_killed_process_are_swept(store):
    old, young = store.folder("space") / "x.tmp", store.folder("space") / "y.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 90_000, time.time() - 90_000))
    EmbeddingStore(store.root).known("space", TEXTS)
    assert not old.exists()
    assert young.exists()
    assert not list(store.folder("space").glob("vectors*.tmp"))


def test_two_processes_write_into_one_space_at_once(tmp_path):
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from analysis.store.embeddings import EmbeddingStore\n"
        "store, start = EmbeddingStore(Path(sys.argv[1])), int(sys.argv[2])\n"
        "for i in range(start, start + 30):\n"
        "    store.put('space', [str(i)], vectors=np.full((1, 2), i, np.float32))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), start]) for start in ("0", "20")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    texts = [str(i) for i in range(50)]
    assert EmbeddingStore(tmp_path).get("space", texts)[:, 0].tolist() == list(range(50))


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        EmbeddingStore(tmp_path / "file").put("space", TEXTS, vectors=VECTORS)
