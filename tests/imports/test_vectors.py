"""Vectors and coordinates that somebody brings: read whole, or refused with file, line and value."""

import numpy as np
import pytest

from analysis.errors import InputError
from analysis.imports.vectors import read_coordinates, read_vectors

KNOWN = {"a": 0, "b": 1, "c": 2}


def put(folder, matrix, ids):
    np.save(folder / "v.npy", matrix)
    (folder / "ids.txt").write_text(ids, encoding="utf-8")
    return folder / "v.npy", folder / "ids.txt"


def test_vectors_come_as_unit_rows_in_the_order_of_the_task(tmp_path):
    found = read_vectors(*put(tmp_path, np.array([[0, 2], [3, 4]]), "c\n\na\n"), known=KNOWN, kind="document")
    assert found.position.tolist() == [0, 2]
    np.testing.assert_allclose(found.vectors, [[0.6, 0.8], [0, 1]])


@pytest.mark.parametrize(
    ("matrix", "ids", "message"),
    [
        (np.ones((2, 2)), "a\n", "ids.txt: 1 ids, expected 2 as .*v.npy has rows"),
        (np.ones((2, 2)), "a\nx\n", "ids.txt, line 2: id 'x', expected a document of the task"),
        (np.ones((2, 2)), "a\na\n", "ids.txt, line 2: id 'a' again, first in line 1"),
        (
            np.array([[1, 1], [0, 0]]),
            "a\nb\n",
            "v.npy, row 2, id 'b': a vector of length 0.0, expected finite and above 0",
        ),
        (np.array([[np.nan, 1], [1, 0]]), "a\nb\n", "v.npy, row 1, id 'a': a vector of length nan"),
        (np.ones(3), "a\nb\nc\n", r"v.npy: shape \(3,\), expected a matrix"),
        (np.array([["x", "y"]]), "a\n", "v.npy: numbers of type <U1, expected real ones"),
    ],
)
def test_what_is_wrong_with_vectors_is_said(tmp_path, matrix, ids, message):
    with pytest.raises(InputError, match=message):
        read_vectors(*put(tmp_path, matrix, ids), known=KNOWN, kind="document")


def test_a_file_that_is_no_array_is_refused(tmp_path):
    (tmp_path / "v.npy").write_bytes(b"\x93NUMPY but no more")
    (tmp_path / "ids.txt").write_text("a\n")
    with pytest.raises(InputError, match=r"v.npy: .*expected a NumPy file \(.npy\) of numbers"):
        read_vectors(tmp_path / "v.npy", tmp_path / "ids.txt", known=KNOWN, kind="document")
    with pytest.raises(InputError, match="No such file"):
        read_vectors(tmp_path / "none.npy", tmp_path / "ids.txt", known=KNOWN, kind="document")


def test_pickles_are_never_opened(tmp_path):
    with pytest.raises(InputError, match="expected a NumPy file"):
        read_vectors(*put(tmp_path, np.array([[{}]]), "a\n"), known=KNOWN, kind="document")


def coordinates(folder, text, name="points.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return read_coordinates(folder / name, documents=KNOWN, queries={"q": 0, "c": 1})


def test_coordinates_of_documents_then_queries(tmp_path):
    found = coordinates(tmp_path, "id,x,y,item\nq,1,2,\nb,3,-4e-1,\nc,5,6,query\n")
    assert found.is_query.tolist() == [False, True, True]
    assert found.position.tolist() == [1, 0, 1]
    np.testing.assert_allclose(found.points, [[3, -0.4], [1, 2], [5, 6]])
    assert coordinates(tmp_path, "id,x,y,z\na,1,2,3\n").points.tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,x\na,1\n", "line 1: no column for the y of a point"),
        ("id,x,y\na,1,two\n", "line 2: y 'two', expected a finite number"),
        ("id,x,y\na,1,inf\n", "line 2: y 'inf', expected a finite number"),
        ("id,x,y\nz,1,2\n", "line 2: id 'z', expected a document or query of the task"),
        ("id,x,y\nc,1,2\n", "line 2: id 'c' is a document and a query"),
        ("id,x,y,item\na,1,2,query\n", "line 2: id 'a', expected a query of the task"),
        ("id,x,y,item\na,1,2,page\n", "line 2: item 'page', expected document or query"),
        ("id,x,y\na,1,2\na,3,4\n", "line 3: id 'a' again"),
        ("id,x,y,z\na,1,2,3\nb,1,2,\n", "some rows have a z and some have none"),
        ("id,x,y\n", "no row, expected a point for each text"),
        ("id,x,y\na,1\nb,x,y\n", r"line 2: 2 cells, expected 3 .*\(1 more faults\)"),
    ],
)
def test_what_is_wrong_with_coordinates_is_said(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        coordinates(tmp_path, text)
