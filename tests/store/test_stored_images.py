"""Images: what is stored of where they are, and what of it makes another benchmark."""

from dataclasses import replace

import pytest

from analysis.model import Image
from analysis.store import read, write
from tests.store.by_hand import TASK, benchmark, stored, tampered

IMAGES = (
    Image("query", "q-fr", "images/1.png", "/data/m3", "IT2I/heart"),
    Image("document", "b-en", "2.png", "/data/m3"),
)
SEEN = replace(TASK, images=IMAGES)


def test_images_come_back_by_position(cache):
    store, task = stored(cache, made=benchmark(SEEN))
    assert store.images(task.task_id) == IMAGES
    assert store.questions(task.task_id).images == {1: IMAGES[0]}
    corpus = store.corpus(task.task_id)
    assert {corpus.ids[position]: image for position, image in corpus.images.items()} == {"b-en": IMAGES[1]}
    assert store.n_images(task.task_id) == {"query": 1, "document": 1}
    assert store.faults() == []


def test_a_task_without_images_is_what_it_was(cache):
    store, task = stored(cache)
    assert store.images(task.task_id) == ()
    assert task.checksum == write.task_checksum(replace(TASK, images=IMAGES[:1]))  # a query's path is an attribute


def test_where_files_lie_is_no_part_of_a_checksum_and_can_change(cache):
    elsewhere = replace(SEEN, images=tuple(image._replace(folder="/moved") for image in IMAGES))
    other = replace(SEEN, images=(IMAGES[0], IMAGES[1]._replace(path="3.png")))
    sums = [write.task_checksum(task) for task in (SEEN, elsewhere, other)]
    assert sums[0] == sums[1] != sums[2]
    store, task = stored(cache, "bm25", made=benchmark(SEEN))
    with write.writer(cache) as writer:
        writer.add_benchmark(benchmark(elsewhere))
    store = read.open_store(cache)
    assert store.images(task.task_id) == elsewhere.images
    assert [run.system for run in store.runs([task.task_id])] == ["bm25"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("INSERT INTO image VALUES (1, 'query', 1, 'x', 'y', '')", "task 1: 2 images of query 1"),
        ("UPDATE image SET position = 77 WHERE item = 'document'", "1 images of document 77, which is not there"),
    ],
)
def test_check_finds_strange_rows(cache, damage, says):
    store, _ = stored(cache, made=benchmark(SEEN))
    with tampered(store.path) as cursor:
        cursor.execute(damage).fetchall()
    assert [fault for fault in store.faults() if says in fault]


def test_some_queries_take_their_images_along(cache):
    import numpy as np

    store, task = stored(cache, made=benchmark(SEEN))
    some = store.questions(task.task_id).take(np.array([1]))
    assert (some.ids, some.images) == (("q-fr",), {0: IMAGES[0]})
