"""The image that a query asks with: its path, and the picture where the file can be read."""

from __future__ import annotations

from typing import NamedTuple

from analysis.errors import InputError
from analysis.model import Image
from analysis.store.read import Store
from analysis.systems import images
from analysis.views.evidence import one_task
from analysis.views.selection import Selection


class Picture(NamedTuple):
    """What is known of an image."""

    path: str  # as imported
    png: bytes | None  # the picture, made smaller; None where it cannot be read
    trouble: str | None  # why not


def of_query(store: Store, selection: Selection, query_id: str) -> Picture | None:
    """The image of a query; None where it has none.

    Raises:
        InputError: not exactly one task.
    """
    task = one_task(store, selection)
    if not store.n_images(task.task_id).get("query"):
        return None
    wanted = (image for image in store.images(task.task_id) if (image.item, image.id) == ("query", query_id))
    found = next(wanted, None)
    return None if found is None else _picture(found)


def _picture(image: Image) -> Picture:
    try:
        return Picture(image.path, images.preview(images.located({0: image})[0]), None)
    except InputError as error:
        return Picture(image.path, None, str(error))
